"""Reading JSON that somebody may have edited: each value checked, each error with its place."""

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

from fourfifths._repair.categories import CategoryColumn
from fourfifths._repair.model import Column, Model, Scope
from fourfifths._repair.ordered import OrderedColumn, Ties
from fourfifths._repair.profiles import LEAF, Profiles
from fourfifths._repair.quantiles import Ranks
from fourfifths._tables.files import write_whole
from fourfifths._tables.strata import Strata, strata_names, written
from fourfifths._tables.types import Kind, Typed
from fourfifths.errors import RepairError, listed


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One object of a JSON file, and where it stands."""

    file: str
    value: Any
    place: str = ""

    def value_of(self, key: str) -> Any:
        """Return the value of a key that must be there."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            raise self.wrong(key, "to be there")
        return self.value[key]

    def inside(self, key: str) -> Reader:
        """Return the object of a key."""
        found = Reader(file=self.file, value=self.value_of(key), place=f"{self.place}{key}.")
        self.require(isinstance(found.value, Mapping), key, "an object")
        return found

    def items(self, key: str) -> list[Reader]:
        """Return the objects of a list."""
        found = self.value_of(key)
        self.require(isinstance(found, list), key, "a list")
        return [
            Reader(file=self.file, value=item, place=f"{self.place}{key}[{at}].")
            for at, item in enumerate(found)
        ]

    def lists(self, key: str) -> list[list[Any]]:
        """Return a list of lists of plain values."""
        found = self.value_of(key)
        good = isinstance(found, list) and all(
            isinstance(item, list)
            and all(isinstance(each, str | int | float | bool) for each in item)
            for item in found
        )
        self.require(good, key, "lists of plain values")
        return list(found)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = self.value_of(key)
        good = isinstance(found, list) and all(isinstance(item, str) for item in found)
        self.require(good, key, "a list of texts")
        return tuple(found)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return one of the choices."""
        found = self.value_of(key)
        self.require(found in choices, key, f"one of {listed(choices)}")
        return str(found)

    def whole(self, key: str, *, least: int) -> int:
        """Return a whole number."""
        found = self.value_of(key)
        good = isinstance(found, int) and not isinstance(found, bool) and found >= least
        self.require(good, key, f"a whole number, {least} or more")
        return int(found)

    def array(self, key: str, dimensions: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return finite numbers as an array."""
        expected = f"numbers in {dimensions} dimensions"
        try:
            found = np.array(self.value_of(key))
        except ValueError:  # lists of unequal length
            raise self.wrong(key, expected) from None
        kinds = "iu" if np.issubdtype(dtype, np.integer) else "iuf"
        good = found.dtype.kind in kinds and found.ndim == dimensions
        self.require(good and bool(np.all(np.isfinite(found))), key, expected)
        return found.astype(dtype)

    def require(self, condition: bool, key: str, expected: str) -> None:  # noqa: FBT001
        """Raise unless the condition holds."""
        if not condition:
            raise self.wrong(key, expected)

    def wrong(self, key: str, expected: str) -> RepairError:
        """Return the error that names the place."""
        return RepairError(
            f"{self.file}: not a repair as it was saved: {self.place}{key}: expected {expected}; "
            "save it anew"
        )


KIND = "fourfifths repair"
SCHEMA = 1
CAUTION = (
    "This repair treats rows by the strata named below. Changing scores or other data by race, sex "
    "or another protected attribute can itself be disparate treatment: see Ricci v. DeStefano, 557 "
    "U.S. 557 (2009), the Civil Rights Act of 1991 on adjusting test scores (42 U.S.C. 2000e-2(l)) "
    "and the appendix of Feldman et al. (2015). Ask a lawyer before it is used to decide about "
    "people."
)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """Everything of a fitted repair."""

    settings: Mapping[str, Any]
    names: tuple[str, ...] | None
    n_features: int
    strata: Strata
    typed: tuple[Typed, ...]
    model: Model


def save_repair(path: str | PathLike[str], saved: Saved) -> None:
    """Write a repair, whole or not at all."""
    document = {
        "kind": KIND,
        "schema": SCHEMA,
        "fourfifths": version("fourfifths"),
        "caution": CAUTION,
        "settings": {name: _plain(value) for name, value in saved.settings.items()},
        "names": None if saved.names is None else list(saved.names),
        "n_features": saved.n_features,
        "strata": {
            "by": list(saved.strata.by),
            "groups": [list(group) for group in saved.strata.groups],
            "pooled": [list(group) for group in saved.strata.pooled],
            "rows": list(saved.strata.rows),
        },
        "columns": [
            _column(typed, column)
            for typed, column in zip(saved.typed, saved.model.columns, strict=True)
        ],
        "profiles": None if saved.model.profiles is None else _profiles(saved.model.profiles),
    }
    write_whole(path, _text(document) + "\n")


def _column(typed: Typed, column: Column) -> dict[str, Any]:
    document = {
        "name": typed.name,
        "kind": typed.kind,
        "categories": list(typed.categories),
        "consensus": column.consensus.tolist(),
    }
    if isinstance(column, CategoryColumn):
        return document | {"shares": column.shares.tolist()}
    strata = [
        {
            "size": each.size,
            "knots": each.knots.tolist(),
            "below": each.below.tolist(),
            "upto": each.upto.tolist(),
        }
        for each in column.strata
    ]
    return document | {"values": column.values.tolist(), "strata": strata}


def _profiles(profiles: Profiles) -> dict[str, Any]:
    return {each.name: getattr(profiles, each.name).tolist() for each in fields(profiles)}


def _plain(value: Any) -> Any:
    """Return a setting as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each list of plain values, so that two repairs compare well."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return "[\n" + ",\n".join(inner + _text(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


SAME = "as many as there are nodes, strata, columns and profiles"
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
    "profiles",
)
SETTINGS = (
    "protected",
    "stratify_by",
    "bands",
    "columns",
    "method",
    "scope",
    "amount",
    "levels",
    "ties",
    "unseen",
    "small",
    "random_state",
)


def load_repair(path: str | PathLike[str]) -> Saved:
    """Read a repair and check that it hangs together."""
    name = fspath(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RepairError(f"{name}: no such file") from None
    except OSError as error:
        raise RepairError(f"{name}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RepairError(f"{name}: not JSON: {error}") from None
    return _read(Reader(file=name, value=document))


def _read(reader: Reader) -> Saved:
    _check_kind(reader)
    settings = reader.inside("settings")
    strata = _read_strata(reader.inside("strata"))
    columns = [_read_column(each, len(strata.groups)) for each in reader.items("columns")]
    reader.require(bool(columns), "columns", "at least one column")
    joint = settings.choice("scope", get_args(Scope)) == "joint"
    reader.require((reader.value_of("profiles") is not None) == joint, "profiles", "as the scope")
    profiles = None
    if joint:
        profiles = _read_profiles(reader.inside("profiles"), len(columns), len(strata.groups))
    names = reader.texts("names") if reader.value_of("names") is not None else None
    number = reader.whole("n_features", least=1)
    reader.require(names is None or len(names) == number, "n_features", "as many as names")
    typed = tuple(each for each, _ in columns)
    given = _read_settings(settings, [each.name for each in typed])
    _check_names(reader, given, strata, names, number, [each.name for each in typed])
    ties = cast(Ties, settings.choice("ties", get_args(Ties)))
    model = Model(columns=tuple(column for _, column in columns), profiles=profiles, ties=ties)
    return Saved(
        settings=given, names=names, n_features=number, strata=strata, typed=typed, model=model
    )


def _check_kind(reader: Reader) -> None:
    """Raise unless it is a repair that this version can read, with its caution."""
    reader.require(reader.value_of("kind") == KIND, "kind", f"{KIND!r}, as save writes it")
    schema = reader.whole("schema", least=1)
    if schema > SCHEMA:
        raise RepairError(
            f"{reader.file}: written by a newer fourfifths (schema {schema}; this one reads up to "
            f"{SCHEMA}); install a newer fourfifths"
        )
    strange = sorted({*reader.value} - {*KEYS})
    reader.require(not strange, strange[0] if strange else "", "no such entry")
    caution = reader.value_of("caution")
    reader.require(
        isinstance(caution, str) and bool(caution), "caution", "the text that save wrote"
    )


def _check_names(
    reader: Reader,
    settings: Mapping[str, Any],
    strata: Strata,
    names: tuple[str, ...] | None,
    number: int,
    known: Sequence[Any],
) -> None:
    """Raise unless columns and strata are those of the table that the repair was fitted to."""
    possible = range(number) if names is None else names
    there = all(name in possible and not isinstance(name, bool) for name in known)
    reader.require(
        there and len({*known}) == len(known), "columns", "names of the table, once each"
    )
    by = strata_names(settings["protected"], settings["stratify_by"])
    of_them = by is None or by == strata.by
    reader.inside("settings").require(of_them, "protected", "what the strata are made of")
    inside = by is None or (names is not None and {*by} <= {*names} and not {*by} & {*known})
    reader.require(inside, "names", "the stratifying columns, and not among those repaired")


def _read_settings(reader: Reader, known: Sequence[Any]) -> dict[str, Any]:
    settings = dict(reader.value)
    unknown = set(settings) ^ set(SETTINGS)
    reader.require(not unknown, sorted(unknown)[0] if unknown else "", "the options of a Repairer")
    for name in ("protected", "stratify_by"):
        given = settings[name]
        texts = isinstance(given, list) and given and all(isinstance(e, str) for e in given)
        reader.require(given is None or isinstance(given, str) or bool(texts), name, "names")
    columns = settings["columns"]
    columns = [columns] if isinstance(columns, str) else columns
    listed = isinstance(columns, list | dict) and {*map(str, columns)} == {*map(str, known)}
    reader.require(columns is None or listed, "columns", "those that are repaired")
    bands = settings["bands"]
    fits = bands is None or (
        isinstance(bands, dict) and all(isinstance(edges, list) for edges in bands.values())
    )
    reader.require(fits, "bands", "edges of columns")
    return settings


def _read_strata(reader: Reader) -> Strata:
    groups = tuple(tuple(group) for group in reader.lists("groups"))
    pooled = tuple(tuple(group) for group in reader.lists("pooled"))
    rows = tuple(int(size) for size in reader.array("rows", 1, np.int64))
    by = reader.texts("by")
    differ = len({written(group) for group in groups}) == len(groups)
    reader.require(len(groups) > 1 and differ, "groups", "two or more, all different")
    reader.require(all(len(each) == len(by) for each in groups + pooled), "groups", "as many as by")
    reader.require(len(rows) == len(groups) and min(rows) > 0, "rows", "one for each stratum")
    spelt = [written(group) for group in (groups[:-1] if pooled else groups)]
    alone = {written(group) for group in pooled} & {*spelt}
    fits = not pooled or (pooled[0] == groups[-1] and len({*pooled}) == len(pooled))
    reader.require(fits and not alone, "pooled", "the groups of the last stratum, and no others")
    return Strata(by=by, groups=groups, pooled=pooled, rows=rows)


def _read_column(reader: Reader, strata: int) -> tuple[Typed, Column]:
    kind = cast(Kind, reader.choice("kind", get_args(Kind)))
    name: Any = reader.value_of("name")
    reader.require(isinstance(name, str | int), "name", "a name, or a place in an array")
    categories = _read_categories(reader)
    reader.require(bool(categories) == (kind in ("ordered", "category")), "categories", "as kind")
    typed = Typed(name=name, kind=kind, categories=categories)
    consensus = reader.array("consensus", 1, np.float64)
    reader.require(consensus.size > 0, "consensus", "at least one level")
    if kind == "category":
        shares = reader.array("shares", 2, np.float64)
        reader.require(shares.shape == (strata, len(categories)), "shares", "strata by categories")
        reader.require(consensus.size == len(categories), "consensus", "one for each category")
        for key, found in (("shares", shares), ("consensus", consensus)):
            whole = np.all(found >= 0) and np.allclose(found.sum(axis=-1), 1)
            reader.require(bool(whole), key, "shares that sum to 1")
        return typed, CategoryColumn(
            name=name, categories=categories, shares=shares, consensus=consensus
        )
    values = reader.array("values", 1, np.float64)
    reader.require(values.size > 0 and bool(np.all(np.diff(values) > 0)), "values", "increasing")
    reader.require(bool(np.all(np.diff(consensus) >= 0)), "consensus", "never decreasing")
    if kind in ("integer", "ordered"):
        whole = bool(np.all(values == np.floor(values)))
        reader.require(whole, "values", "whole numbers")
    if kind == "ordered":
        inside = values[0] >= 0 and values[-1] < len(categories)
        reader.require(bool(inside), "values", "places among the categories")
    tables = tuple(_read_ranks(each, consensus.size) for each in reader.items("strata"))
    reader.require(len(tables) == strata, "strata", "one for each stratum")
    return typed, OrderedColumn(
        name=name,
        kind=kind,
        categories=categories,
        values=values,
        consensus=consensus,
        strata=tables,
    )


def _read_categories(reader: Reader) -> tuple[Any, ...]:
    found = reader.value_of("categories")
    good = isinstance(found, list) and all(isinstance(each, str) for each in found)
    truths = found == [False, True] and all(isinstance(each, bool) for each in found)
    differ = truths or (good and len({*found}) == len(found))
    reader.require(differ, "categories", "different texts, or false and true")
    return tuple(found)


def _read_ranks(reader: Reader, levels: int) -> Ranks:
    knots = reader.array("knots", 1, np.float64)
    below, upto = (reader.array(key, 1, np.int64) for key in ("below", "upto"))
    size = reader.whole("size", least=levels)
    reader.require(knots.size > 0 and bool(np.all(np.diff(knots) > 0)), "knots", "increasing")
    reader.require(below.size == upto.size == knots.size, "below", "one for each knot")
    steps = np.column_stack([below, upto]).ravel()
    fits = bool(np.all(np.diff(steps) >= 0)) and bool(np.all(below < upto))
    reader.require(fits and below[0] == 0 and upto[-1] == size, "upto", "counts up to the size")
    return Ranks(knots=knots, below=below, upto=upto, size=size, levels=levels)


def _read_profiles(reader: Reader, columns: int, strata: int) -> Profiles:
    column, left, right = (reader.array(key, 1, np.int64) for key in ("column", "left", "right"))
    share, cuts = reader.array("share", 1, np.float64), reader.array("cuts", 2, np.float64)
    bounds = reader.array("bounds", 4, np.float64)
    consensus = reader.array("consensus", 3, np.float64)
    nodes, ends = column.size, column == LEAF
    known = np.all((column >= LEAF) & (column < columns))
    reader.require(nodes > 0 and bool(known), "column", "columns of the repair")
    reader.require(left.size == right.size == share.size == nodes, "left", SAME)
    reader.require(cuts.shape == (nodes, strata), "cuts", SAME)
    after = np.arange(nodes)[~ends]
    forward = np.all((left[~ends] > after) & (right[~ends] > after))
    within = np.all((left[~ends] < nodes) & (right[~ends] < nodes))
    reader.require(bool(forward and within), "left", "nodes that follow")
    profiles = int(ends.sum())
    reader.require(sorted(left[ends]) == list(range(profiles)), "left", "each profile once")
    reader.require(consensus.shape[:2] == (columns, profiles), "consensus", SAME)
    reader.require(bounds.shape == (strata, *consensus.shape), "bounds", SAME)
    ranks = {"share": share, "cuts": cuts, "bounds": bounds, "consensus": consensus}
    for key, found in ranks.items():
        reader.require(bool(np.all((found >= 0) & (found <= 1))), key, "ranks from 0 to 1")
    rising = np.all(np.diff(bounds) >= 0) and np.all(np.diff(consensus) >= 0)
    reader.require(bool(rising), "bounds", "never decreasing")
    return Profiles(
        column=column,
        share=share,
        cuts=cuts,
        left=left,
        right=right,
        bounds=bounds,
        consensus=consensus,
    )
