"""A saved repair that somebody edited: what does not hang together is an error, with its place."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fourfifths import Repairer
from fourfifths.errors import FourfifthsError, RepairError

Place = tuple[str | int, ...]
GONE = object()
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "x": np.append(RANDOM.normal(size=200), RANDOM.normal(2, 1, size=200)),
        "n": np.append(RANDOM.integers(0, 4, 200), RANDOM.integers(2, 9, 200)),
        "c": np.append(RANDOM.choice(["u", "v"], 200), RANDOM.choice(["v", "w"], 200)),
        "o": pd.Categorical(RANDOM.choice(["hi", "lo"], 400), ["lo", "hi"], ordered=True),
        "g": np.repeat(["f", "m"], 200),
    }
)
X, N, C, O = (("columns", place) for place in range(4))  # noqa: E741


@cache
def saved(scope: str, folder: Path) -> str:
    """Return the text of a saved repair."""
    Repairer("g", scope=scope).fit(FRAME).save(folder / "saved.json")
    return (folder / "saved.json").read_text(encoding="utf-8")


def edited(document: Any, place: Place, value: Any) -> str:
    """Return the document with one place changed by a value or a function, or taken out."""
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value(inner[place[-1]]) if callable(value) else value
    return json.dumps(document)


def load(folder: Path, scope: str, place: Place, value: Any) -> Repairer:
    path = folder / "edited.json"
    text = saved(scope, Path(folder.parent))
    path.write_text(edited(json.loads(text), place, value), encoding="utf-8")
    return Repairer.load(path)


def named(place: Place) -> str:
    """Return a place as errors name it: columns[0].values."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    return re.escape(text.removeprefix("."))


def test_a_file_that_is_written_anew_still_loads(tmp_path: Path) -> None:
    assert load(tmp_path, "column", ("caution",), "none").transform(FRAME).shape == FRAME.shape


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("caution",), GONE, "this entry, which is missing"),
        (("caution",), "", "the text that save wrote"),
        (("caution",), 5, "the text that save wrote"),
        (("settings", "columns"), "nonsense", "the columns that are repaired"),
        (("settings", "columns"), ["x"], "the columns that are repaired"),
        ((*C, "categories", 0), True, "different texts, or false and true"),
        ((*O, "categories"), [0, 1], "different texts, or false and true"),
    ],
)
def test_what_was_taken_out_or_put_in_is_named(
    tmp_path: Path, place: Place, value: Any, expected: str
) -> None:
    at = place[:3] if "categories" in place else place
    with pytest.raises(
        RepairError, match=f"{named(at)}: expected {expected}; save the repair again"
    ):
        load(tmp_path, "column", place, value)


def test_what_is_not_of_a_repair_is_named(tmp_path: Path) -> None:
    document = json.loads(saved("column", Path(tmp_path.parent))) | {"notes": "mine"}
    (tmp_path / "more.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RepairError, match="notes: expected no such entry; save the repair again"):
        Repairer.load(tmp_path / "more.json")


# --- schema ---


@pytest.mark.parametrize("schema", [2, 99])
def test_a_newer_schema_is_an_error_that_says_so(tmp_path: Path, schema: int) -> None:
    expected = f"written by a newer fourfifths .schema {schema}; this one reads up to 1.; install"
    with pytest.raises(RepairError, match=expected):
        load(tmp_path, "column", ("schema",), schema)


@pytest.mark.parametrize("text", ["[]", "null", "5", '"fourfifths repair"', "{}", '[{"kind": 1}]'])
def test_json_that_is_no_repair_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "repair.json"
    path.write_text(text)
    with pytest.raises(RepairError, match="not a valid saved repair: kind: expected"):
        Repairer.load(path)


# --- what is missing ---

REQUIRED: list[Place] = [
    ("kind",),
    ("schema",),
    ("settings",),
    ("names",),
    ("n_features",),
    ("strata",),
    ("columns",),
    ("seed",),
    *[("strata", key) for key in ("by", "groups", "pooled", "rows")],
    *[(*X, key) for key in ("name", "kind", "categories", "consensus", "values", "strata")],
    *[(*X, "strata", 1, key) for key in ("size", "knots", "below", "upto")],
    (*C, "shares"),
]


@pytest.mark.parametrize("place", REQUIRED, ids=named)
def test_what_is_missing_is_named(tmp_path: Path, place: Place) -> None:
    with pytest.raises(RepairError, match=rf"{named(place)}: expected .*; save the repair again"):
        load(tmp_path, "column", place, GONE)


@pytest.mark.parametrize("setting", sorted(Repairer().get_params()))
def test_a_setting_that_is_missing_is_named(tmp_path: Path, setting: str) -> None:
    with pytest.raises(RepairError, match=rf"settings\.{setting}: expected"):
        load(tmp_path, "column", ("settings", setting), GONE)


def test_a_setting_too_many_is_named(tmp_path: Path) -> None:
    with pytest.raises(RepairError, match=r"settings\.speed: expected the options of a Repairer"):
        load(tmp_path, "column", ("settings", "speed"), 3)


# --- settings ---


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("amount", 2),
        ("amount", -0.1),
        ("amount", "all"),
        ("amount", None),
        ("amount", float("nan")),
        ("amount", True),
        ("method", "geometrical"),
        ("method", ["random"]),
        ("scope", "row"),
        ("scope", None),
        ("levels", 1),
        ("levels", 2.5),
        ("ties", "spilt"),
        ("unseen", 0),
        ("small", "merge"),
        ("key", "gone"),
        ("stratify_by", "g"),
    ],
)
def test_a_setting_that_is_no_choice_is_named(tmp_path: Path, setting: str, value: Any) -> None:
    with pytest.raises(FourfifthsError, match=rf"{setting}.*: (expected|give)"):
        load(tmp_path, "column", ("settings", setting), value)


# --- types that are wrong everywhere ---

LISTS: list[Place] = [
    ("columns",),
    ("strata", "by"),
    ("strata", "groups"),
    ("strata", "pooled"),
    ("strata", "rows"),
    (*X, "consensus"),
    (*X, "values"),
    (*X, "strata"),
    (*X, "strata", 0, "knots"),
    (*X, "strata", 0, "below"),
    (*X, "strata", 0, "upto"),
    (*C, "shares"),
    (*C, "consensus"),
]


@pytest.mark.parametrize("value", [None, 5, "text", {}, [None], ["a", 1], [[1], [1, 2]], True])
@pytest.mark.parametrize("place", LISTS, ids=named)
def test_what_is_no_list_of_its_kind_is_named(tmp_path: Path, place: Place, value: Any) -> None:
    if place == ("strata", "pooled") and value == [[1], [1, 2]]:
        value = [[1, 2]]
    with pytest.raises(RepairError, match=r"not a valid saved repair: .*: expected .*; save"):
        load(tmp_path, "column", place, value)


@pytest.mark.parametrize("place", [place for place in LISTS if place[-1] not in ("by", "groups")])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400])
def test_numbers_that_are_not_finite_are_named(tmp_path: Path, place: Place, number: float) -> None:
    def spoil(found: Any) -> Any:
        if not isinstance(found, list) or not found or isinstance(found[0], dict):
            return number
        return [spoil(found[0]), *found[1:]] if isinstance(found[0], list) else [number, *found[1:]]

    with pytest.raises(RepairError, match=r"not a valid saved repair: .*: expected"):
        load(tmp_path, "column", place, spoil)


# --- what does not hang together ---


def reverse(found: list[Any]) -> list[Any]:
    return found[::-1]


def shorter(found: list[Any]) -> list[Any]:
    return found[:-1]


def repeat(found: list[Any]) -> list[Any]:
    return [found[0], *found[:-1]]


def first(value: Any) -> Any:
    return lambda found: [value, *found[1:]]


def last(value: Any) -> Any:
    return lambda found: [*found[:-1], value]


NONSENSE: list[tuple[Place, Any]] = [
    (("kind",), "fourfifths certificate"),
    (("schema",), 0),
    (("schema",), "1"),
    (("schema",), True),
    (("n_features",), 0),
    (("n_features",), 2.5),
    (("names",), "xncog"),
    (("names",), [1, 2]),
    (("columns",), []),
    (("strata", "by"), ["g", "r"]),
    (("strata", "groups"), [["f"]]),
    (("strata", "groups"), [["f"], ["f"]]),
    (("strata", "groups"), [["f"], ["m"], ["x"]]),
    (("strata", "groups"), [["f"], ["m", "x"]]),
    (("strata", "rows"), [200]),
    (("strata", "rows"), [200, 0]),
    (("strata", "rows"), [200, 1.5]),
    ((*X, "name"), None),
    ((*X, "name"), 1.5),
    ((*X, "kind"), "text"),
    ((*X, "kind"), "category"),
    ((*C, "kind"), "ordered"),
    ((*X, "consensus"), reverse),
    ((*X, "consensus"), lambda found: found * 3),
    ((*X, "consensus"), last(float("inf"))),
    ((*X, "values"), last(float("inf"))),
    ((*X, "values"), reverse),
    ((*X, "values"), repeat),
    ((*X, "values"), []),
    ((*X, "strata"), shorter),
    ((*X, "strata"), []),
    ((*X, "strata", 0, "size"), 1),
    ((*X, "strata", 0, "size"), 1_000),
    ((*X, "strata", 0, "size"), -200),
    ((*X, "strata", 0, "size"), 10**400),
    ((*X, "strata", 0, "size"), 200.0),
    ((*X, "strata", 0, "knots"), reverse),
    ((*X, "strata", 0, "knots"), repeat),
    ((*X, "strata", 0, "knots"), shorter),
    ((*X, "strata", 0, "knots"), last(float("inf"))),
    ((*X, "strata", 0, "below"), reverse),
    ((*X, "strata", 0, "below"), first(1)),
    ((*X, "strata", 0, "below"), first(-1)),
    ((*X, "strata", 0, "upto"), first(0)),
    ((*X, "strata", 0, "upto"), last(199)),
    ((*X, "strata", 0, "upto"), shorter),
    ((*C, "shares"), shorter),
    ((*C, "shares", 0), first(0.9)),
    ((*C, "shares", 0), [1.5, -0.5, 0.0]),
    ((*C, "consensus"), [0.5, 0.5]),
    ((*C, "consensus"), [0.2, 0.2, 0.2]),
    ((*O, "categories"), ["lo"]),
    ((*O, "values"), [0, 5]),
    ((*O, "values"), [-1, 1]),
    (("seed",), -1),
    (("seed",), 0.5),
    (("seed",), 2**64),
    (("seed",), 1),  # settings.random_state is 0
    (("settings", "key"), "x"),
    (("settings", "key"), 5),
    (("settings", "protected"), 5),
    (("settings", "protected"), []),
    (("names",), []),
    (("names",), None),
    (("n_features",), 7),
    (("strata", "pooled"), [["f"]]),
    ((*X, "name"), "gone"),
    ((*X, "name"), "n"),
    ((*X, "name"), 5),
    ((*X, "name"), True),
    ((*X, "categories"), 5),
    ((*X, "categories"), ["a"]),
    ((*X, "consensus"), []),
    ((*C, "categories"), "uvw"),
    ((*C, "categories"), ["u", "u", "v"]),
    ((*C, "categories"), ["u", "v", 3]),
    ((*C, "categories"), [["u"], "v", "w"]),
    ((*O, "categories"), {"lo": 1, "hi": 2}),
]
# What hangs together wrongly.
CROOKED: list[tuple[Place, Any]] = [
    (("settings", "protected"), "x"),
    (("settings", "amount"), 10**400),
    (("names",), ["x", "n", "c", "o", "h"]),
    (("strata", "by"), ["x"]),
    ((*X, "name"), "g"),
    ((*N, "values"), [0.5, 1.5]),
    ((*O, "values"), [0.5, 1]),
]


def plainly(edit: tuple[Place, Any]) -> str:
    return named(edit[0]).replace("\\", "")


@pytest.mark.parametrize(("place", "value"), NONSENSE, ids=map(plainly, NONSENSE))
def test_nonsense_is_an_error_with_its_place(tmp_path: Path, place: Place, value: Any) -> None:
    with pytest.raises(RepairError, match=r"edited\.json: .*: expected .*; save the repair again"):
        load(tmp_path, "column", place, value)


@pytest.mark.parametrize(("place", "value"), CROOKED, ids=map(plainly, CROOKED))
def test_more_nonsense_is_an_error_too(tmp_path: Path, place: Place, value: Any) -> None:
    with pytest.raises(FourfifthsError, match="expected"):
        load(tmp_path, "column", place, value)
