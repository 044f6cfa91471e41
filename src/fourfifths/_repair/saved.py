"""A fitted repair as a JSON file: written by `save_repair`, read and checked by `load_repair`.

Somebody may have edited the file, so nothing in it is trusted. Every value is checked when it is
read, and an error names where in the file it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.blocks import LEAF, Blocks, Cuts, CutTree
from fourfifths._repair.columns.categories import CategoryColumn
from fourfifths._repair.columns.model import Column, Model
from fourfifths._repair.columns.ordered import OrderedColumn, Ties
from fourfifths._repair.columns.quantiles import Ranks
from fourfifths._repair.draws import SEED_LIMIT
from fourfifths._repair.fitted import Scope
from fourfifths._repair.guide import ColumnGuide, Guide, TreeGuide
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.files import write_whole
from fourfifths._tables.strata import Strata, stratum_names, written
from fourfifths._tables.types import ColumnType, Kind
from fourfifths.errors import RepairError, listed

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
)
SETTINGS = (
    "protected",
    "stratify_by",
    "bands",
    "columns",
    "keep",
    "favorable",
    "unknown",
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
SAME_SHAPE = "as many as there are nodes, strata, blocks and columns"


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
                column_document(typed, column)
                for typed, column in zip(saved.typed, saved.model.columns, strict=True)
            ],
            "blocks": None,
        }
    write_whole(path, json_text(document | {"seed": saved.seed}) + "\n")


def type_document(typed: ColumnType) -> dict[str, Any]:
    """Return what a column is as an object of the file."""
    return {"name": typed.name, "kind": typed.kind, "categories": list(typed.categories)}


def blocks_document(model: BlockModel) -> dict[str, Any]:
    """Return fitted blocks as an object of the file; NaN is null there."""
    blocks = model.blocks
    guide: dict[str, Any]
    if isinstance(model.guide, TreeGuide):
        # Line by line, so that a reader can follow the trees and compare two files.
        guide = {"kind": "trees", "models": [text.split("\n") for text in model.guide.models]}
    else:
        assert isinstance(model.guide, ColumnGuide)
        guide = {"kind": "columns", "orders": [list(order) for order in model.guide.orders]}
    return {
        "beta": model.beta,
        "tree": {
            field.name: getattr(blocks.tree, field.name).tolist() for field in fields(CutTree)
        },
        "cuts": {
            "score": with_nulls(blocks.cuts.score),
            "content": with_nulls(blocks.cuts.content),
            "draw": with_nulls(blocks.cuts.draw),
            "depth": blocks.cuts.depth.tolist(),
        },
        "laws": [
            {"spacings": law.spacings.tolist(), "leaves": law.leaves.tolist(), "tied": law.tied}
            for law in blocks.laws
        ],
        "records": with_nulls(blocks.records),
        "counts": model.counts.tolist(),
        "guide": guide,
    }


def with_nulls(array: FloatArray) -> Any:
    """Return an array as lists, with None for NaN."""
    cells: Any = array.astype(object)
    cells[np.isnan(array)] = None
    return cells.tolist()


def column_document(typed: ColumnType, column: Column) -> dict[str, Any]:
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
    return document | {"values": column.values.tolist(), "strata": strata}


def plain_setting(value: Any) -> Any:
    """Return a setting with the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain_setting(entry) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain_setting(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def json_text(value: Any, indent: str = "") -> str:
    """Return JSON with each list of plain values on one line, so that two files compare well."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [
            f"{inner}{json.dumps(key)}: {json_text(entry, inner)}" for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, list | dict) for entry in value):
        lines = [inner + json_text(entry, inner) for entry in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


# --- reading ---


def load_repair(path: str | PathLike[str]) -> Saved:
    """Read a repair and check that its parts fit together."""
    name = fspath(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RepairError(f"{name}: no such file") from None
    except OSError as error:
        raise RepairError(f"{name}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RepairError(f"{name}: not JSON: {error}") from None
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
            reader.inside("blocks"), column_types=typed, stratum_count=len(strata.groups)
        )
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
    for key in ("protected", "stratify_by"):
        names = settings[key]
        is_list = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        reader.require(
            names is None or isinstance(names, str) or bool(is_list),
            key,
            expected="the names of columns",
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
    bands = settings["bands"]
    are_edges = isinstance(bands, dict) and all(isinstance(e, list) for e in bands.values())
    reader.require(bands is None or are_edges, "bands", expected="a list of edges for each column")
    return settings


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
    return ColumnType(name=name, kind=kind, categories=tuple(categories))


def read_blocks(
    reader: Reader, *, column_types: Sequence[ColumnType], stratum_count: int
) -> BlockModel:
    """Read fitted blocks, and check that their parts fit together."""
    tree_reader = reader.inside("tree")
    tree = CutTree(
        **{
            field.name: tree_reader.array(field.name, 1, dtype=np.int64)
            for field in fields(CutTree)
        }
    )
    check_tree(tree_reader, tree)
    guide, score_count = read_guide(reader.inside("guide"), column_types)
    tree_reader.require(
        bool(np.all(tree.score < score_count)), "score", expected="the numbers of the scores"
    )
    cuts_reader = reader.inside("cuts")
    cuts = Cuts(
        score=cuts_reader.numbers_or_null("score", 2),
        content=cuts_reader.numbers_or_null("content", 2),
        draw=cuts_reader.numbers_or_null("draw", 2),
        depth=cuts_reader.array("depth", 1, dtype=np.int64),
    )
    shape = (stratum_count, tree.score.size)
    for key, array in (("score", cuts.score), ("content", cuts.content), ("draw", cuts.draw)):
        cuts_reader.require(array.shape == shape, key, expected=SAME_SHAPE)
    depth = cuts.depth
    cuts_reader.require(
        depth.size == stratum_count and bool(np.all((depth >= 0) & (depth <= tree.height))),
        "depth",
        expected="how often each stratum is cut",
    )
    is_cut = (tree.score != LEAF) & (tree.depth < depth[:, None])
    cuts_reader.require(
        not bool(np.isnan(cuts.score[is_cut]).any()), "score", expected="a number at each cut"
    )
    laws = []
    for law, stratum_depth in zip(reader.objects("laws"), depth, strict=False):
        spacings, leaves = (law.array(key, 1, dtype=np.int64) for key in ("spacings", "leaves"))
        cells = tree.cells(int(stratum_depth))
        law.require(bool(np.array_equal(leaves, tree.leaves[cells])), "leaves", expected=SAME_SHAPE)
        law.require(
            spacings.size == leaves.size and bool(np.all(spacings > 0)),
            "spacings",
            expected="a number above 0 for each cell",
        )
        tied = None if law.value_of("tied") is None else law.integer("tied", minimum=0)
        laws.append(BlockLaw(spacings=spacings, leaves=leaves, tied=tied))
    reader.require(len(laws) == stratum_count, "laws", expected="one for each stratum")
    records = reader.numbers_or_null("records", 3)
    reader.require(
        records.shape[::2] == (tree.block_count, len(column_types)) and records.size > 0,
        "records",
        expected=SAME_SHAPE,
    )
    for index, column_type in enumerate(column_types):
        values = records[:, :, index]
        if column_type.kind in ("ordered", "category"):
            is_code = np.isnan(values) | np.isin(values, range(len(column_type.categories)))
            reader.require(bool(is_code.all()), "records", expected="the numbers of categories")
    counts = reader.array("counts", 2, dtype=np.int64)
    reader.require(
        counts.shape == (stratum_count, tree.block_count) and bool(np.all(counts >= 0)),
        "counts",
        expected=SAME_SHAPE,
    )
    beta = reader.value_of("beta")
    reader.require(
        isinstance(beta, float) and 0 < beta < 1, "beta", expected="a number between 0 and 1"
    )
    return BlockModel(
        guide=guide,
        blocks=Blocks(tree=tree, cuts=cuts, laws=tuple(laws), records=records),
        counts=counts,
        beta=beta,
    )


def check_tree(reader: Reader, tree: CutTree) -> None:
    """Raise unless the nodes make one tree, each with the blocks of its two sides."""
    size = tree.score.size
    same_size = all(getattr(tree, field.name).size == size for field in fields(CutTree))
    reader.require(size > 0 and same_size, "score", expected="a number for each node")
    inner = np.flatnonzero(tree.score != LEAF)
    reader.require(bool(np.all(tree.score >= LEAF)), "score", expected="numbers from -1 on")
    left, right = tree.left[inner], tree.right[inner]
    # Every node comes before those that follow it, so the walk from the root ends.
    follow = np.all((left > inner) & (right > left) & (right < size))
    reader.require(bool(follow), "left", expected="nodes that come later")
    adds_up = (
        tree.first[0] == 0
        and tree.depth[0] == 0
        and np.array_equal(np.sort(np.concatenate([left, right])), np.arange(1, size))
        and np.all(tree.leaves[left] + tree.leaves[right] == tree.leaves[inner])
        and np.all(tree.first[left] == tree.first[inner])
        and np.all(tree.first[right] == tree.first[inner] + tree.leaves[left])
        and np.all(tree.depth[left] == tree.depth[inner] + 1)
        and np.all(tree.depth[right] == tree.depth[inner] + 1)
        and np.all(tree.leaves[tree.score == LEAF] == 1)
    )
    reader.require(bool(adds_up), "leaves", expected="the blocks of both sides together")


def read_guide(reader: Reader, column_types: Sequence[ColumnType]) -> tuple[Guide, int]:
    """Read what orders the rows, and how many scores it gives."""
    if reader.choice("kind", ("trees", "columns")) == "columns":
        orders = [tuple(order) for order in reader.lists("orders")]
        fits = len(orders) == len(column_types) and all(
            len(order) == (len(typed.categories) if typed.kind == "category" else 0)
            and all(isinstance(place, int | float) for place in order)
            for order, typed in zip(orders, column_types, strict=True)
        )
        reader.require(fits, "orders", expected="a place of each category")
        return ColumnGuide(orders=tuple(orders)), len(column_types)
    models = tuple("\n".join(map(str, lines)) for lines in reader.lists("models"))
    reader.require(bool(models), "models", expected="at least one model")
    guide = TreeGuide(models=models)
    try:
        boosters = guide.boosters
    except Exception:  # LightGBM has errors of its own
        raise reader.error("models", expected="what LightGBM wrote") from None
    reader.require(
        all(booster.num_feature() == len(column_types) for booster in boosters),
        "models",
        expected="trees of the columns that are repaired",
    )
    return guide, sum(booster.num_model_per_iteration() for booster in boosters)


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
    return OrderedColumn(
        name=name,
        kind=kind,
        categories=categories,
        values=values,
        consensus=consensus,
        strata=strata,
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


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One object of a JSON file, which checks what is read from it.

    Attributes
    ----------
    file : str
    value : Any
        The object.
    path : str
        Where it is in the file, for errors: ``"columns[0]."``.
    """

    file: str
    value: Any
    path: str = ""

    def value_of(self, key: str) -> Any:
        """Return the value of a key that must be present."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            raise self.error(key, expected="this entry, which is missing")
        return self.value[key]

    def inside(self, key: str) -> Reader:
        """Return the object of a key."""
        value = self.value_of(key)
        self.require(isinstance(value, Mapping), key, expected="an object")
        return Reader(file=self.file, value=value, path=f"{self.path}{key}.")

    def objects(self, key: str) -> list[Reader]:
        """Return the objects of a list."""
        values = self.value_of(key)
        self.require(isinstance(values, list), key, expected="a list")
        return [
            Reader(file=self.file, value=value, path=f"{self.path}{key}[{index}].")
            for index, value in enumerate(values)
        ]

    def lists(self, key: str) -> list[list[Any]]:
        """Return a list of lists of plain values."""
        rows = self.value_of(key)
        are_lists = isinstance(rows, list) and all(
            isinstance(row, list)
            and all(isinstance(value, str | int | float | bool) for value in row)
            for row in rows
        )
        self.require(are_lists, key, expected="lists of texts, numbers or booleans")
        return list(rows)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        texts = self.value_of(key)
        are_texts = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        self.require(are_texts, key, expected="a list of texts")
        return tuple(texts)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return a value that is one of the choices."""
        value = self.value_of(key)
        self.require(value in choices, key, expected=f"one of {listed(choices)}")
        return str(value)

    def integer(self, key: str, *, minimum: int) -> int:
        """Return a whole number."""
        value = self.value_of(key)
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        self.require(
            is_integer and value >= minimum, key, expected=f"a whole number, {minimum} or more"
        )
        return int(value)

    def array(self, key: str, dimensions: int, *, dtype: type[np.generic]) -> NDArray[Any]:
        """Return finite numbers as an array."""
        expected = f"numbers in {dimensions} dimensions"
        try:
            array = np.array(self.value_of(key))
        except ValueError:  # lists of unequal length
            raise self.error(key, expected=expected) from None
        kinds = "iu" if np.issubdtype(dtype, np.integer) else "iuf"
        are_numbers = array.dtype.kind in kinds and array.ndim == dimensions
        self.require(are_numbers and bool(np.all(np.isfinite(array))), key, expected=expected)
        return array.astype(dtype)

    def numbers_or_null(self, key: str, dimensions: int) -> FloatArray:
        """Return finite numbers as an array, with NaN where there is none."""
        expected = f"numbers or nulls in {dimensions} dimensions"
        try:
            array: Any = np.array(self.value_of(key), dtype=object)
            is_null = array == None  # noqa: E711 - element by element
            are_numbers = all(
                isinstance(value, int | float) and not isinstance(value, bool)
                for value in array[~is_null]
            )
            numbers = np.where(is_null, np.nan, array).astype(np.float64)
        except (ValueError, TypeError):
            raise self.error(key, expected=expected) from None
        self.require(
            are_numbers and numbers.ndim == dimensions and not np.isinf(numbers).any(),
            key,
            expected=expected,
        )
        return numbers

    def require(self, condition: bool, key: str, *, expected: str) -> None:  # noqa: FBT001
        """Raise unless the condition holds."""
        if not condition:
            raise self.error(key, expected=expected)

    def error(self, key: str, *, expected: str) -> RepairError:
        """Return the error that names the file and the entry."""
        return RepairError(
            f"{self.file}: not a valid saved repair: {self.path}{key}: expected {expected}; save "
            "the repair again"
        )
