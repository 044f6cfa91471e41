"""A fitted repair as a JSON file: written by `save_repair`, read and checked by `load_repair`.

Somebody may have edited the file, so nothing in it is trusted. Every value is checked when it is
read, and an error names where in the file it is. A hash of the content notices what still looks
like a repair, but is not the one that was saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from os import PathLike, fspath
from typing import Any, cast, get_args

import numpy as np

from fourfifths._json import CONTENT_HASH, is_intact, read_json, sealed
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.columns.categories import CategoryColumn
from fourfifths._repair.columns.model import Column, Model
from fourfifths._repair.columns.ordered import Method, OrderedColumn, Ties
from fourfifths._repair.columns.quantiles import Ranks
from fourfifths._repair.draws import SEED_LIMIT
from fourfifths._repair.fitted import Scope
from fourfifths._repair.reader import Reader
from fourfifths._repair.saved_blocks import blocks_document, read_blocks
from fourfifths._tables.files import write_whole
from fourfifths._tables.strata import Strata, stratum_names, written
from fourfifths._tables.types import ColumnType, Kind
from fourfifths._tables.values import PLAIN, DecimalMark, NumberFormat
from fourfifths.errors import RepairError

KIND = "fourfifths repair"
SCHEMA = 1
CAUTION = (
    "This repair treats rows by the strata named below. Changing scores or other data by race, sex "
    "or another protected attribute can itself be disparate treatment: see Ricci v. DeStefano, 557 "
    "U.S. 557 (2009), the Civil Rights Act of 1991 on adjusting test scores (42 U.S.C. 2000e-2(l)) "
    "and the appendix of Feldman et al. (2015). Ask a lawyer before it is used to decide about "
    "people."
)
KEYS = (
    "kind",
    "schema",
    "fourfifths",
    "caution",
    "settings",
    "names",
    "n_features",
    "strata",
    "columns",
    "blocks",
    "seed",
    CONTENT_HASH,
)
MAX_REPAIR_BYTES = 2**30
MAX_TEXTS_OF_A_LINE = 1_000  # letters
SETTINGS = (
    "protected",
    "stratify_by",
    "bands",
    "ages",
    "columns",
    "keep",
    "favorable",
    "unknown",
    "known",
    "exact_values",
    "decimal",
    "scope",
    "blocks",
    "variety",
    "beta",
    "threshold",
    "confidence",
    "amount",
    "method",
    "levels",
    "ties",
    "unseen",
    "small",
    "drop_protected",
    "key",
    "random_state",
)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Everything that makes up a fitted repair."""

    settings: Mapping[str, Any]
    names: tuple[str, ...] | None
    n_features: int
    strata: Strata
    typed: tuple[ColumnType, ...]
    model: BlockModel | Model
    seed: int


# --- writing ---


def save_repair(path: str | PathLike[str], saved: Saved) -> None:
    """Write a repair; if that fails, an older file stays as it was."""
    document = {
        "kind": KIND,
        "schema": SCHEMA,
        "fourfifths": version("fourfifths"),
        "caution": CAUTION,
        "settings": {name: plain_setting(value) for name, value in saved.settings.items()},
        "names": None if saved.names is None else list(saved.names),
        "n_features": saved.n_features,
        "strata": {
            "by": list(saved.strata.by),
            "groups": [list(group) for group in saved.strata.groups],
            "pooled": [list(group) for group in saved.strata.pooled],
            "rows": list(saved.strata.rows),
        },
    }
    if isinstance(saved.model, BlockModel):
        document |= {
            "columns": [type_document(typed) for typed in saved.typed],
            "blocks": blocks_document(saved.model),
        }
    else:
        document |= {
            "columns": [
                column_document(typed, column, method=saved.settings["method"])
                for typed, column in zip(saved.typed, saved.model.columns, strict=True)
            ],
            "blocks": None,
        }
    write_whole(path, json_text(sealed(document | {"seed": saved.seed})) + "\n")


def type_document(typed: ColumnType) -> dict[str, Any]:
    """Return what a column is as an object of the file."""
    document = {"name": typed.name, "kind": typed.kind, "categories": list(typed.categories)}
    if typed.number_format != PLAIN:
        document["number_format"] = {
            "decimal": typed.number_format.decimal,
            "is_percent": typed.number_format.is_percent,
        }
    return document


def column_document(typed: ColumnType, column: Column, *, method: Method) -> dict[str, Any]:
    """Return a fitted column as an object of the file."""
    document = type_document(typed) | {"consensus": column.consensus.tolist()}
    if isinstance(column, CategoryColumn):
        return document | {"shares": column.shares.tolist()}
    strata = [
        {
            "size": ranks.size,
            "knots": ranks.knots.tolist(),
            "below": ranks.below.tolist(),
            "upto": ranks.upto.tolist(),
        }
        for ranks in column.strata
    ]
    document |= {"values": column.values.tolist(), "strata": strata}
    if method == "definition" and column.representatives is not None:
        document["representatives"] = column.representatives.tolist()
    return document


def plain_setting(value: Any) -> Any:
    """Return a setting with the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain_setting(entry) for key, entry in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain_setting(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def json_text(value: Any, indent: str = "") -> str:
    """Return JSON that compares well: a line for each list of plain values.

    Long texts have a line each: those of a model are too many for one.
    """
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [
            f"{inner}{json.dumps(key)}: {json_text(entry, inner)}" for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and (
        any(isinstance(entry, list | dict) for entry in value)
        or sum(len(entry) for entry in value if isinstance(entry, str)) > MAX_TEXTS_OF_A_LINE
    ):
        lines = [inner + json_text(entry, inner) for entry in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


# --- reading ---


def load_repair(path: str | PathLike[str]) -> Saved:
    """Read a repair and check that its parts fit together."""
    name = fspath(path)
    document = read_json(
        path, max_bytes=MAX_REPAIR_BYTES, error=RepairError, expected="a saved repair"
    )
    reader = Reader(file=name, value=document)
    check_header(reader)
    settings_reader = reader.inside("settings")
    scope = settings_reader.choice("scope", get_args(Scope))
    strata = read_strata(reader.inside("strata"))
    column_readers = reader.objects("columns")
    reader.require(bool(column_readers), "columns", expected="at least one column")
    reader.require(
        (reader.value_of("blocks") is not None) == (scope == "blocks"),
        "blocks",
        expected="blocks if settings.scope is 'blocks', and otherwise null",
    )
    typed = tuple(read_type(column) for column in column_readers)
    names = reader.texts("names") if reader.value_of("names") is not None else None
    n_features = reader.integer("n_features", minimum=1)
    reader.require(
        names is None or len(names) == n_features, "n_features", expected="the number of names"
    )
    repaired_names = [column_type.name for column_type in typed]
    settings = read_settings(settings_reader, repaired_names)
    check_names(
        reader,
        repaired_names,
        table_names=range(n_features) if names is None else names,
        strata=strata,
        by=stratum_names(settings["protected"], settings["stratify_by"]),
        key=settings["key"],
    )
    ties = cast(Ties, settings_reader.choice("ties", get_args(Ties)))
    model: BlockModel | Model
    if scope == "blocks":
        model = read_blocks(
            reader.inside("blocks"),
            column_types=typed,
            stratum_rows=strata.rows,
            is_keyed=settings["key"] is not None,
        )
        check_block_settings(settings_reader, model)
    else:
        columns = [
            read_column(column, column_type=column_type, stratum_count=len(strata.groups))
            for column, column_type in zip(column_readers, typed, strict=True)
        ]
        model = Model(columns=tuple(columns), ties=ties)
    seed = reader.integer("seed", minimum=0)
    reader.require(
        seed < SEED_LIMIT and settings["random_state"] in (None, seed),
        "seed",
        expected=f"a number below {SEED_LIMIT}, and settings.random_state unless that is null",
    )
    # Last, since an error above names the place. An entry less can look like a smaller repair.
    reader.require(
        is_intact(document),
        CONTENT_HASH,
        expected="the SHA-256 of the content; the file was changed after it was saved",
    )
    return Saved(
        settings=settings,
        names=names,
        n_features=n_features,
        strata=strata,
        typed=typed,
        model=model,
        seed=seed,
    )


def check_header(reader: Reader) -> None:
    """Raise unless it is a repair that this version can read, with its caution."""
    reader.require(reader.value_of("kind") == KIND, "kind", expected=f"{KIND!r}, which save writes")
    schema = reader.integer("schema", minimum=1)
    if schema > SCHEMA:
        raise RepairError(
            f"{reader.file}: written by a newer fourfifths (schema {schema}; this one reads up to "
            f"{SCHEMA}); install a newer fourfifths"
        )
    unknown = sorted({*reader.value} - {*KEYS})
    reader.require(not unknown, unknown[0] if unknown else "", expected="no such entry")
    caution = reader.value_of("caution")
    reader.require(
        isinstance(caution, str) and bool(caution), "caution", expected="the text that save wrote"
    )


def check_names(
    reader: Reader,
    repaired_names: Sequence[Any],
    *,
    table_names: Sequence[Any],
    strata: Strata,
    by: tuple[str, ...] | None,
    key: Any,
) -> None:
    """Raise unless repaired and stratifying columns are columns of the table, and differ."""
    # True would be found among the column numbers of an array, since it equals 1.
    are_columns = all(name in table_names and not isinstance(name, bool) for name in repaired_names)
    reader.require(
        are_columns and len({*repaired_names}) == len(repaired_names),
        "columns",
        expected="names of the table, each once",
    )
    reader.inside("settings").require(
        key is None or (isinstance(key, str) and key in table_names and key not in repaired_names),
        "key",
        expected="a name of the table that is not repaired, or null",
    )
    if by is None:
        return
    reader.inside("settings").require(
        by == strata.by, "protected", expected="the columns that the strata are made of"
    )
    is_apart = {*by} <= {*table_names} and not {*by} & {*repaired_names}
    reader.require(
        is_apart, "names", expected="the stratifying columns, which are not repaired themselves"
    )


def read_settings(reader: Reader, repaired_names: Sequence[Any]) -> dict[str, Any]:
    """Read the options of the repairer; the columns among them are those that are repaired."""
    settings = dict(reader.value)
    mismatched = sorted(set(settings) ^ set(SETTINGS))
    reader.require(
        not mismatched,
        mismatched[0] if mismatched else "",
        expected="the options of a Repairer, and no others",
    )
    for key in ("protected", "stratify_by", "keep"):
        names = settings[key]
        is_list = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        reader.require(
            names is None or isinstance(names, str) or bool(is_list),
            key,
            expected="the names of columns",
        )
    outcomes = [settings["keep"]] if isinstance(settings["keep"], str) else settings["keep"] or []
    reader.require(
        not {*outcomes} & {*repaired_names}, "keep", expected="outcomes, which are not repaired"
    )
    columns = settings["columns"]
    columns = [columns] if isinstance(columns, str) else columns
    are_repaired = isinstance(columns, list | dict) and (
        {*map(str, columns)} == {*map(str, repaired_names)}
    )
    reader.require(
        columns is None or are_repaired, "columns", expected="the columns that are repaired"
    )
    unknown = settings["unknown"]
    reader.require(
        isinstance(unknown, list | str), "unknown", expected="a list of values that mean missing"
    )
    settings["unknown"] = tuple(unknown) if isinstance(unknown, list) else unknown
    known_tokens = settings["known"]
    reader.require(isinstance(known_tokens, list | str), "known", expected="a list of values")
    settings["known"] = tuple(known_tokens) if isinstance(known_tokens, list) else known_tokens
    ages = settings["ages"]
    are_days = isinstance(ages, dict) and all(isinstance(day, str) for day in ages.values())
    reader.require(ages is None or are_days, "ages", expected="a day for each column")
    bands = settings["bands"]
    are_edges = isinstance(bands, dict) and all(isinstance(e, list) for e in bands.values())
    reader.require(bands is None or are_edges, "bands", expected="a list of edges for each column")
    return settings


def check_block_settings(reader: Reader, model: BlockModel) -> None:
    """Raise unless the options are those that the blocks were fitted with."""
    blocks = model.blocks
    for key, possible in (
        ("blocks", ("certified", blocks.tree.block_count)),
        ("variety", (blocks.variety,)),
        ("beta", (None, model.beta)),
    ):
        reader.require(
            reader.value_of(key) in possible, key, expected="what the blocks were fitted with"
        )


def read_strata(reader: Reader) -> Strata:
    """Read the strata: two or more, all different, each with its number of rows."""
    groups = tuple(tuple(group) for group in reader.lists("groups"))
    pooled = tuple(tuple(group) for group in reader.lists("pooled"))
    rows = tuple(int(size) for size in reader.array("rows", 1, dtype=np.int64))
    by = reader.texts("by")
    texts = [written(group) for group in groups]
    reader.require(
        len(groups) > 1 and len({*texts}) == len(groups),
        "groups",
        expected="two or more groups, all different",
    )
    reader.require(
        all(len(group) == len(by) for group in groups + pooled),
        "groups",
        expected="a value for each column in 'by'",
    )
    reader.require(
        len(rows) == len(groups) and min(rows) > 0,
        "rows",
        expected="a number above 0 for each stratum",
    )
    if pooled:
        is_also_alone = {written(group) for group in pooled} & {*texts[:-1]}
        are_last = pooled[0] == groups[-1] and len({*pooled}) == len(pooled)
        reader.require(
            are_last and not is_also_alone,
            "pooled",
            expected="the groups of the last stratum, and no others",
        )
    return Strata(by=by, groups=groups, pooled=pooled, rows=rows)


def read_type(reader: Reader) -> ColumnType:
    """Read what a column is repaired as."""
    kind = cast(Kind, reader.choice("kind", get_args(Kind)))
    name: Any = reader.value_of("name")
    reader.require(
        isinstance(name, str | int), "name", expected="a name, or the number of a column"
    )
    categories = reader.value_of("categories")
    are_texts = isinstance(categories, list) and all(isinstance(text, str) for text in categories)
    # [0, 1] equals [False, True], so the types are looked at too.
    are_booleans = categories == [False, True] and all(isinstance(v, bool) for v in categories)
    are_different = are_booleans or (are_texts and len({*categories}) == len(categories))
    reader.require(are_different, "categories", expected="different texts, or false and true")
    # A column that is all missing has no categories.
    reader.require(
        kind == "category" or bool(categories) == (kind == "ordered"),
        "categories",
        expected="categories if the kind is 'ordered' or 'category', and otherwise none",
    )
    number_format = PLAIN
    if "number_format" in reader.value:
        format_reader = reader.inside("number_format")
        is_percent = format_reader.value_of("is_percent")
        format_reader.require(isinstance(is_percent, bool), "is_percent", expected="true or false")
        decimal = cast(DecimalMark, format_reader.choice("decimal", get_args(DecimalMark)))
        number_format = NumberFormat(decimal=decimal, is_percent=is_percent)
    return ColumnType(
        name=name, kind=kind, categories=tuple(categories), number_format=number_format
    )


def read_column(reader: Reader, *, column_type: ColumnType, stratum_count: int) -> Column:
    """Read a fitted column, of numbers or of categories."""
    name, kind, categories = column_type.name, column_type.kind, column_type.categories
    reader.require(kind != "date", "kind", expected="numbers or categories, which have ranks")
    assert kind != "date"
    consensus = reader.array("consensus", 1, dtype=np.float64)
    reader.require(consensus.size > 0, "consensus", expected="at least one level")
    if kind == "category":
        shares = reader.array("shares", 2, dtype=np.float64)
        reader.require(
            shares.shape == (stratum_count, len(categories)),
            "shares",
            expected="a share of each category in each stratum",
        )
        reader.require(
            consensus.size == len(categories), "consensus", expected="a share of each category"
        )
        for key, distribution in (("shares", shares), ("consensus", consensus)):
            sums_to_one = np.all(distribution >= 0) and np.allclose(distribution.sum(axis=-1), 1)
            reader.require(bool(sums_to_one), key, expected="shares that sum to 1")
        return CategoryColumn(name=name, categories=categories, shares=shares, consensus=consensus)
    values = reader.array("values", 1, dtype=np.float64)
    reader.require(
        values.size > 0 and bool(np.all(np.diff(values) > 0)),
        "values",
        expected="increasing numbers",
    )
    reader.require(
        bool(np.all(np.diff(consensus) >= 0)),
        "consensus",
        expected="numbers that never decrease",
    )
    if kind in ("integer", "ordered"):
        reader.require(bool(np.all(values == np.floor(values))), "values", expected="whole numbers")
    if kind == "ordered":
        are_indices = values[0] >= 0 and values[-1] < len(categories)
        reader.require(bool(are_indices), "values", expected="indices of the categories")
    strata = tuple(
        read_ranks(ranks, level_count=consensus.size) for ranks in reader.objects("strata")
    )
    reader.require(len(strata) == stratum_count, "strata", expected="one for each stratum")
    representatives = None
    if "representatives" in reader.value:  # only the method "definition" needs them
        representatives = reader.array("representatives", 2, dtype=np.float64)
        reader.require(
            representatives.shape == (stratum_count, consensus.size)
            and bool(np.all(np.diff(representatives) >= 0)),
            "representatives",
            expected="for each stratum a number for each level, which never decrease",
        )
    return OrderedColumn(
        name=name,
        kind=kind,
        categories=categories,
        values=values,
        consensus=consensus,
        strata=strata,
        representatives=representatives,
    )


def read_ranks(reader: Reader, *, level_count: int) -> Ranks:
    """Read where values stand in one stratum of a column."""
    knots = reader.array("knots", 1, dtype=np.float64)
    below, upto = (reader.array(key, 1, dtype=np.int64) for key in ("below", "upto"))
    size = reader.integer("size", minimum=level_count)
    reader.require(
        knots.size > 0 and bool(np.all(np.diff(knots) > 0)), "knots", expected="increasing numbers"
    )
    reader.require(
        below.size == upto.size == knots.size, "below", expected="one count for each knot"
    )
    interleaved = np.column_stack([below, upto]).ravel()
    are_counts = bool(np.all(np.diff(interleaved) >= 0)) and bool(np.all(below < upto))
    reader.require(
        are_counts and below[0] == 0 and upto[-1] == size,
        "upto",
        expected="increasing counts, from 0 in 'below' to the size in 'upto'",
    )
    return Ranks(knots=knots, below=below, upto=upto, size=size, levels=level_count)
