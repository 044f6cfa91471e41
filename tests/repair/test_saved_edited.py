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
from fourfifths._json import sealed
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
        "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400) % 50, unit="D"),
    }
)
FRAME["y"] = FRAME["x"] + RANDOM.normal(size=400) > 1
COLUMNS = ["x", "n", "c", "o"]
# "columns": blocks without an outcome, of the columns themselves; "trees": blocks of an outcome.
OPTIONS: dict[str, dict[str, Any]] = {
    "column": {"columns": COLUMNS, "scope": "column"},
    "columns": {"columns": [*COLUMNS, "d"], "blocks": 4},
    "trees": {"columns": [*COLUMNS, "d"], "keep": "y", "blocks": 3, "variety": 2},
}
X, N, C, O = (("columns", place) for place in range(4))  # noqa: E741


@cache
def saved(kind: str, folder: Path) -> str:
    """Return the text of a saved repair."""
    Repairer("g", **OPTIONS[kind]).fit(FRAME).save(folder / "saved.json")
    return (folder / "saved.json").read_text(encoding="utf-8")


def edited(document: Any, place: Place, value: Any) -> str:
    """Return the document with one place changed by a value or a function, or taken out.

    Its hash is that of the changed content, as a forger would write it.
    """
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value(inner[place[-1]]) if callable(value) else value
    try:
        return json.dumps(sealed(document))
    except ValueError:  # JSON knows no infinity, but a number may be too large for a float
        return json.dumps(document).replace("Infinity", "1e999")


def load(folder: Path, kind: str, place: Place, value: Any) -> Repairer:
    path = folder / "edited.json"
    text = saved(kind, Path(folder.parent))
    path.write_text(edited(json.loads(text), place, value), encoding="utf-8")
    return Repairer.load(path)


def named(place: Place) -> str:
    """Return a place as errors name it: columns[0].values."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    return re.escape(text.removeprefix("."))


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_file_that_is_written_anew_still_loads(tmp_path: Path, kind: str) -> None:
    assert load(tmp_path, kind, ("caution",), "none").transform(FRAME).shape == FRAME.shape


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


@pytest.mark.parametrize("setting", sorted({*Repairer().get_params()} - {"guide"}))
def test_a_setting_that_is_missing_is_named(tmp_path: Path, setting: str) -> None:
    with pytest.raises(RepairError, match=rf"settings\.{setting}: expected"):
        load(tmp_path, "column", ("settings", setting), GONE)


@pytest.mark.parametrize(
    "damage",
    [
        lambda document: (document["columns"].pop(), document["settings"].update(columns=None)),
        lambda document: document["columns"][0]["consensus"].__setitem__(0, -1e3),
        lambda document: document["settings"].update(unseen="keep"),
        lambda document: document.update(caution="none"),
        lambda document: document.pop("content_sha256"),
        lambda document: document.update(content_sha256=None),
    ],
    ids=["a column less", "a number", "a setting", "the caution", "no hash", "null"],
)
def test_what_still_looks_like_a_repair_has_another_hash(tmp_path: Path, damage: Any) -> None:
    document = json.loads(saved("column", Path(tmp_path.parent)))
    damage(document)
    (tmp_path / "damaged.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RepairError, match="content_sha256: expected the SHA-256 of the content"):
        Repairer.load(tmp_path / "damaged.json")


def test_how_the_file_is_laid_out_does_not_matter(tmp_path: Path) -> None:
    document = json.loads(saved("trees", Path(tmp_path.parent)))
    reversed_keys = dict(reversed(document.items()))
    (tmp_path / "other.json").write_text(json.dumps(reversed_keys, indent=3), encoding="utf-8")
    assert Repairer.load(tmp_path / "other.json").transform(FRAME).shape == FRAME.shape


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    text = saved("column", Path(tmp_path.parent)).rstrip().removesuffix("}")
    (tmp_path / "twice.json").write_text(f'{text}, "seed": 1}}', encoding="utf-8")
    with pytest.raises(RepairError, match="not JSON: the key 'seed' occurs twice"):
        Repairer.load(tmp_path / "twice.json")


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
        ("drop_protected", "yes"),
        ("drop_protected", None),
        ("keep", 5),
        ("keep", ["x"]),
        ("threshold", 1.0),
        ("confidence", "high"),
        ("blocks", 1),
        ("variety", 0),
        ("beta", 0),
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
@pytest.mark.parametrize("number", [float("inf"), 10**400])
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
    (("n_features",), 8),
    (("blocks",), {}),
    ((*X, "kind"), "date"),
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
    (("names",), ["x", "n", "c", "o", "h", "d", "y"]),
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


# --- blocks ---

TREE: Place = ("blocks", "tree")
CUTS: Place = ("blocks", "cuts")
LAW: Place = ("blocks", "laws", 0)
RECORD: Place = ("blocks", "records", 0, 0)
MODEL: Place = ("blocks", "guide", "models", 0)
BLOCK_ENTRIES: list[Place] = [
    *[("blocks", key) for key in ("beta", "tree", "cuts", "laws", "records", "counts", "guide")],
    *[(*TREE, key) for key in ("score", "first", "leaves", "left", "right", "depth")],
    *[(*CUTS, key) for key in ("score", "content", "draw", "depth")],
    *[(*LAW, key) for key in ("spacings", "leaves", "tied")],
    ("blocks", "guide", "kind"),
]


@pytest.mark.parametrize("place", BLOCK_ENTRIES, ids=named)
@pytest.mark.parametrize(
    "value",
    [GONE, 5, -1, 0.5, True, "text", {}, [], [None], [0.5], [[1], [1, 2]], [{}], 10**400],
)
def test_an_entry_of_blocks_that_is_another_is_named(
    tmp_path: Path, place: Place, value: Any
) -> None:
    if place[-1] == "beta" and value == 0.5:
        value = 1.5
    if place[-1] == "tied" and value == 5:
        value = 500
    with pytest.raises(RepairError, match=rf"{named(place)}.*: expected .*; save the repair again"):
        load(tmp_path, "columns", place, value)


@pytest.mark.parametrize(
    "place", [*[(*CUTS, key) for key in ("score", "content", "draw")], ("blocks", "records")]
)
@pytest.mark.parametrize("number", [float("inf"), 10**400, "5", True, None])
def test_a_number_of_blocks_that_is_none_is_named(
    tmp_path: Path, place: Place, number: Any
) -> None:
    if place[-1] == "records":
        inner: Place = (*RECORD, 3)
        number = 0.5 if number is None else number
    else:
        inner = (*place, 0, 0)
    with pytest.raises(RepairError, match=rf"{named(place)}: expected .*; save the repair again"):
        load(tmp_path, "columns", inner, number)


# Of four blocks, the nodes are 0 (1 (2 3) 4 (5 6)).
WRONG_BLOCKS: list[tuple[Place, Any, str]] = [
    # A node that leads back, to itself, nowhere, or to where another leads.
    ((*TREE, "left", 0), 0, "blocks.tree.left: expected nodes that come later"),
    ((*TREE, "left", 1), 0, "blocks.tree.left: expected nodes that come later"),
    ((*TREE, "right", 4), 7, "blocks.tree.left: expected nodes that come later"),
    ((*TREE, "right", 0), -1, "blocks.tree.left: expected nodes that come later"),
    ((*TREE, "right", 1), 5, "blocks.tree.right: expected each node once"),
    ((*TREE, "left", 6), 2, "blocks.tree.right: expected each node once, and -1 at leaves"),
    ((*TREE, "score", 0), 5, "blocks.tree.score: expected the numbers of the scores"),
    ((*TREE, "score", 0), -2, "blocks.tree.score: expected the numbers of the scores"),
    ((*TREE, "score", 1), -1, "blocks.tree.right: expected each node once"),
    ((*TREE, "score", 2), 0, "blocks.tree.left: expected nodes that come later"),
    ((*TREE, "leaves", 1), 3, "blocks.tree.leaves: expected the blocks of both sides together"),
    ((*TREE, "leaves", 2), 2, "blocks.tree.leaves: expected the blocks of both sides together"),
    ((*TREE, "first", 4), 1, "blocks.tree.first: expected the first block below each node"),
    ((*TREE, "depth", 6), 1, "blocks.tree.depth: expected one more than that of the node above"),
    ((*TREE, "depth"), shorter, "blocks.tree.depth: expected a number for each node"),
    # A cut too few, too many, or of a stratum too few.
    ((*CUTS, "score", 0), shorter, "blocks.cuts.score: expected numbers or nulls in 2 dim"),
    ((*CUTS, "score"), lambda rows: [row[:-1] for row in rows], "blocks.cuts.score: expected as"),
    ((*CUTS, "draw"), shorter, "blocks.cuts.draw: expected as many as there are nodes, strata"),
    ((*CUTS, "score", 1, 0), None, "blocks.cuts.score: expected a number at each cut, and null"),
    ((*CUTS, "draw", 0, 6), 0.5, "blocks.cuts.draw: expected a number at each cut, and null"),
    ((*CUTS, "depth", 0), 3, "blocks.cuts.depth: expected how often each stratum is cut"),
    ((*CUTS, "depth", 0), -1, "blocks.cuts.depth: expected how often each stratum is cut"),
    ((*CUTS, "depth"), shorter, "blocks.cuts.depth: expected how often each stratum is cut"),
    ((*CUTS, "depth", 0), 1, "blocks.cuts.score: expected a number at each cut, and null"),
    # A law that claims more rows, or other shares, than there are.
    (("blocks", "laws"), shorter, "blocks.laws: expected one for each stratum"),
    (("blocks", "laws"), lambda laws: [*laws, laws[0]], "blocks.laws: expected one for each strat"),
    ((*LAW, "spacings"), [10**6] * 4, r"blocks.laws\[0\].spacings: expected one more than the pl"),
    ((*LAW, "spacings"), [2**62] * 4, r"blocks.laws\[0\].spacings: expected one more than the pl"),
    ((*LAW, "spacings"), [0, 0, 0, 0], r"blocks.laws\[0\].spacings: expected one more than the"),
    ((*LAW, "spacings"), [1, 2, 97, 1], r"blocks.laws\[0\].spacings: expected the same share"),
    ((*LAW, "spacings"), [-50, 50, 50, 51], r"blocks.laws\[0\].spacings: expected the same share"),
    ((*LAW, "leaves"), [1, 1, 1, 2], r"blocks.laws\[0\].leaves: expected the blocks of each cell"),
    ((*LAW, "tied"), -1, r"blocks.laws\[0\].tied: expected a whole number, 0 or more"),
    ((*LAW, "tied"), 0.0, r"blocks.laws\[0\].tied: expected a whole number, 0 or more"),
    ((*LAW, "tied"), 10**6, r"blocks.laws\[0\].tied: expected not more than the placing rows"),
    ((*LAW, "tied"), None, r"blocks.laws\[0\].tied: expected null if rows have a key, and other"),
    # A record of a column that cannot hold it: x, n, c, o, d.
    ((*RECORD, 1), 0.5, "blocks.records: expected whole numbers .* for column 'n'"),
    ((*RECORD, 1), 1e300, "blocks.records: expected whole numbers .* for column 'n'"),
    ((*RECORD, 2), 3, "blocks.records: expected whole numbers from 0 to 2 for column 'c'"),
    ((*RECORD, 2), -1, "blocks.records: expected whole numbers from 0 to 2 for column 'c'"),
    ((*RECORD, 3), 2, "blocks.records: expected whole numbers from 0 to 1 for column 'o'"),
    ((*RECORD, 4), 1e300, "blocks.records: expected whole numbers .* for column 'd'"),
    (RECORD, shorter, "blocks.records: expected numbers or nulls in 3 dimensions"),
    (("blocks", "records"), shorter, "blocks.records: expected as many as there are nodes, strata"),
    (("blocks", "counts"), shorter, "blocks.counts: expected the rows of each stratum with"),
    (("blocks", "counts", 0, 0), -1, "blocks.counts: expected the rows of each stratum with"),
    (("blocks", "counts", 0, 0), 0, "blocks.counts: expected the rows of each stratum with"),
    (("blocks", "beta"), 1.0, "blocks.beta: expected a number between 0 and 1"),
    (("blocks", "beta"), float("inf"), "blocks.beta: expected a number between 0 and 1"),
    (("blocks", "guide", "kind"), "trees", "blocks.guide.models: expected this entry, which is"),
    (("blocks", "guide", "orders"), shorter, "blocks.guide.orders: expected a place of each cat"),
    (("blocks", "guide", "orders", 2), [0, 1, 1], "blocks.guide.orders: expected a place of each"),
    (("blocks", "guide", "orders", 2), [0, 1, "2"], "blocks.guide.orders: expected a place of e"),
    (
        ("blocks", "guide", "orders", 2),
        [0, 1, float("inf")],
        "blocks.guide.orders: expected a place of each category",
    ),
    (("blocks", "guide", "orders", 0), [0], "blocks.guide.orders: expected a place of each categ"),
    # What the blocks were fitted with.
    (("blocks",), None, "blocks: expected blocks if settings.scope is 'blocks', and otherwise"),
    (("settings", "scope"), "column", "blocks: expected blocks if settings.scope is 'blocks'"),
    (("settings", "blocks"), 8, "settings.blocks: expected what the blocks were fitted with"),
    (("settings", "variety"), 2, "settings.variety: expected what the blocks were fitted with"),
    (("settings", "beta"), 0.3, "settings.beta: expected what the blocks were fitted with"),
    (("settings", "keep"), "n", "settings.keep: expected outcomes, which are not repaired"),
    (("strata", "rows"), [200, 199], "blocks.counts: expected the rows of each stratum with"),
    ((*C, "categories"), ["u", "v"], "blocks.*: expected"),
]


@pytest.mark.parametrize(
    ("place", "value", "message"), WRONG_BLOCKS, ids=[plainly(edit[:2]) for edit in WRONG_BLOCKS]
)
def test_blocks_that_do_not_hang_together_are_named(
    tmp_path: Path, place: Place, value: Any, message: str
) -> None:
    with pytest.raises(RepairError, match=rf"edited\.json: not a valid saved repair: {message}"):
        load(tmp_path, "columns", place, value)


def edited_model(start: str, value: str) -> Any:
    """Return a function of a model's lines that replaces the first one that starts so."""

    def edit(lines: list[str]) -> list[str]:
        at = next(index for index, line in enumerate(lines) if line.startswith(start))
        return [*lines[:at], value, *lines[at + 1 :]]

    return edit


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ([], "what LightGBM wrote"),
        (["tree"], "what LightGBM wrote"),
        (lambda lines: lines[: len(lines) // 2], "what LightGBM wrote"),
        (lambda lines: [line + "é" for line in lines], "what LightGBM wrote"),
        (lambda lines: [*lines[:40], *lines[41:]], "the sizes of the trees"),
        (edited_model("tree_sizes", "tree_sizes=9"), "a number for each node and each leaf"),
        (edited_model("max_feature_idx", "max_feature_idx=2"), "trees of the columns that are"),
        (edited_model("num_class", "num_class=0"), "at least one class"),
        (edited_model("objective", "objective=custom"), "an objective that is learned here"),
        (edited_model("left_child", "left_child=0"), "the sizes of the trees"),
    ],
)
def test_trees_that_lightgbm_did_not_write_are_named(
    tmp_path: Path, edit: Any, expected: str
) -> None:
    # LightGBM itself would end the process.
    with pytest.raises(RepairError, match=rf"{named(MODEL)}: expected {expected}"):
        load(tmp_path, "trees", MODEL, edit)


@pytest.mark.parametrize("value", [[], None, 5, [[]], [[None]], ["tree"]])
def test_models_that_are_no_texts_are_named(tmp_path: Path, value: Any) -> None:
    with pytest.raises(RepairError, match=r"blocks\.guide\.models.*: expected"):
        load(tmp_path, "trees", MODEL[:-1], value)


def test_a_key_that_is_taken_out_leaves_laws_without_ties(tmp_path: Path) -> None:
    # Without a key, rows that tie with a cut count against the proof.
    path = tmp_path / "edited.json"
    frame = FRAME.assign(id=range(400))
    Repairer("g", key="id", **OPTIONS["columns"]).fit(frame).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(edited(document, ("settings", "key"), None), encoding="utf-8")
    with pytest.raises(RepairError, match=r"blocks\.laws\[0\]\.tied: expected null if rows have"):
        Repairer.load(path)
