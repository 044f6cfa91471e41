"""A fitted repair as a file: exact, readable, and checked when it comes back."""

from __future__ import annotations

import errno
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from jsonschema import Draft202012Validator
from sklearn.linear_model import LinearRegression

from fourfifths import Repairer
from fourfifths._repair.columns.categories import CategoryColumn
from fourfifths._repair.reader import Reader
from fourfifths._repair.saved import (
    KIND,
    SETTINGS,
    check_header,
    check_names,
    column_document,
    json_text,
    plain_setting,
    read_column,
    read_ranks,
    read_settings,
    read_strata,
    read_type,
)
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import ColumnType
from fourfifths.errors import OutputError, RepairError

ROWS = 120
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "x": np.append(RANDOM.normal(size=60), RANDOM.normal(2, 0.1, size=60)),
        "n": np.append(RANDOM.integers(0, 4, 60), RANDOM.integers(2, 9, 60)),
        "c": np.append(RANDOM.choice(["u", "v"], 60), RANDOM.choice(["v", "ß\n李"], 60)),
        "o": pd.Categorical(
            np.append(RANDOM.choice(["low", "mid"], 60), RANDOM.choice(["mid", "high"], 60)),
            categories=["low", "mid", "high"],
            ordered=True,
        ),
        "b": np.append(RANDOM.random(60) < 0.2, RANDOM.random(60) < 0.7),
        "h": np.where(np.arange(ROWS) % 7 == 0, np.nan, np.arange(ROWS) / 3),
        "g": np.repeat(["f", "m"], 60),
        "r": np.tile(["p", "q"], 60),
        "d": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(ROWS) % 50, unit="D"),
    }
)
FRAME["y"] = FRAME["x"] + RANDOM.normal(size=ROWS) > 1
FRAME["z"] = RANDOM.choice(["s", "t", "u"], ROWS)
COLUMNS = ["x", "n", "c", "o", "b", "h"]
BY_COLUMN: dict[str, Any] = {"columns": COLUMNS, "scope": "column"}
# One of each kind: by column, by blocks of the columns themselves, and of an outcome.
KINDS: dict[str, dict[str, Any]] = {
    "combinatorial": {**BY_COLUMN, "method": "combinatorial", "amount": 0.7},
    "geometric": {**BY_COLUMN, "method": "geometric", "amount": 0.7},
    "definition": {**BY_COLUMN, "method": "definition", "amount": 0.7},
    "random": {**BY_COLUMN, "amount": 0.7},
    "blocks": {"columns": [*COLUMNS, "d"], "blocks": 4},
    "blocks, outcome": {"columns": [*COLUMNS, "d"], "keep": "y", "blocks": 4, "amount": 0.7},
    "blocks, outcomes": {"columns": COLUMNS, "keep": ["y", "z"], "blocks": 3, "variety": 2},
}
EVERY_KIND = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs" / "schema" / "repair.schema.json").read_text())
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "repair.json"


# --- there and back ---


@EVERY_KIND
def test_a_saved_repair_repairs_as_before(path: Path, options: dict[str, Any]) -> None:
    repairer = Repairer(["g", "r"], **options).fit(FRAME)
    repairer.save(path)
    loaded = Repairer.load(path)
    out = repairer.transform(FRAME)
    pd.testing.assert_frame_equal(loaded.transform(FRAME), out)
    assert not out.equals(FRAME)
    assert loaded.strata_ == repairer.strata_
    assert loaded.column_types_ == repairer.column_types_
    assert list(loaded.get_feature_names_out()) == list(FRAME.columns)
    settings = loaded.get_params()
    assert settings == {**repairer.get_params(), "protected": ["g", "r"]}
    # As text, because NaN is not equal to itself.
    assert repr(loaded.proof_) == repr(repairer.proof_)
    assert str(loaded.explain(FRAME.iloc[[7]])) == str(repairer.explain(FRAME.iloc[[7]]))


@pytest.mark.parametrize("scope", [{"blocks": 4}, {"scope": "column"}], ids=["blocks", "column"])
@pytest.mark.parametrize("has_outcome", [False, True])
def test_a_saved_repair_of_an_array_repairs_as_before(
    path: Path, scope: dict[str, Any], has_outcome: bool
) -> None:
    values, group = FRAME[["x", "h", "n"]].to_numpy(), FRAME["g"].to_numpy()
    repairer = Repairer(columns=[0, 1], **scope)
    repairer.fit(values, FRAME["y"] if has_outcome else None, protected=group)
    repairer.save(path)
    loaded = Repairer.load(path)
    out = repairer.transform(values, protected=group)
    assert np.array_equal(loaded.transform(values, protected=group), out, equal_nan=True)
    assert loaded.n_features_in_ == 3
    explained = str(loaded.explain(values[:1], protected=["f"]))
    assert explained.startswith("stratum f: ")
    assert explained == str(repairer.explain(values[:1], protected=["f"]))


def test_every_number_comes_back_to_the_last_digit(path: Path) -> None:
    odd = np.array([0.1 + 0.2, 1 / 3, 5e-324, -1e300, 2**53 - 1.0, -0.1, np.pi, 1e-17])
    repairer = Repairer(scope="column").fit(odd[:, None], protected=list("aaaabbbb"))
    repairer.save(path)
    (before,), (after,) = repairer.model_.columns, Repairer.load(path).model_.columns
    for name in ("values", "consensus"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    for own, again in zip(before.strata, after.strata, strict=True):
        assert np.array_equal(own.knots, again.knots)


@EVERY_KIND
def test_saving_again_writes_the_same_file(path: Path, options: dict[str, Any]) -> None:
    Repairer("g", **options).fit(FRAME).save(path)
    first = path.read_text()
    Repairer.load(path).save(path)
    assert path.read_text() == first
    Repairer("g", **options).fit(FRAME).save(path)
    assert path.read_text() == first


@pytest.mark.parametrize("scope", [{"blocks": 2}, {"scope": "column"}], ids=["blocks", "column"])
def test_strata_of_every_kind_come_back(path: Path, scope: dict[str, Any]) -> None:
    frame = FRAME[["x"]].assign(a=np.arange(ROWS) % 3, t=FRAME["b"], w=np.arange(ROWS) % 2 / 2)
    frame.loc[:1, "a"], frame.loc[2:4, "a"] = 7, 8
    options: dict[str, Any] = scope | {"small": "pool"}
    repairer = Repairer(["a", "t", "w"], columns=["x"], **options).fit(frame)
    repairer.save(path)
    assert Repairer.load(path).strata_ == repairer.strata_
    assert repairer.strata_.pooled


@pytest.mark.parametrize("key", [None, "id"])
@pytest.mark.parametrize("seed", [7, None])
@pytest.mark.parametrize("scope", [{"blocks": 4}, {"scope": "column"}], ids=["blocks", "column"])
def test_a_loaded_repair_keeps_the_seed_and_the_key(
    path: Path, seed: int | None, key: str | None, scope: dict[str, Any]
) -> None:
    frame = FRAME.assign(id=np.arange(ROWS))
    options: dict[str, Any] = scope | {"random_state": seed, "key": key}
    repairer = Repairer("g", columns=COLUMNS, **options).fit(frame)
    repairer.save(path)
    loaded = Repairer.load(path)
    assert loaded.seed_ == repairer.seed_ == json.loads(path.read_text())["seed"]
    assert (loaded.random_state, loaded.key) == (seed, key)
    pd.testing.assert_frame_equal(loaded.transform(frame), repairer.transform(frame))


def test_a_loaded_repair_takes_another_library_and_another_amount(path: Path) -> None:
    Repairer("g", **BY_COLUMN).fit(FRAME).save(path)
    loaded = Repairer.load(path)
    other = loaded.set_params(amount=0).transform(pl.from_pandas(FRAME))
    assert other.equals(pl.from_pandas(FRAME))


# --- the file ---


@EVERY_KIND
def test_the_file_is_json_with_the_caution_and_no_more_lines_than_needed(
    path: Path, options: dict[str, Any]
) -> None:
    repairer = Repairer("g", **options).fit(FRAME)
    repairer.save(path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert (document["kind"], document["schema"]) == ("fourfifths repair", 1)
    assert "Ricci v. DeStefano" in document["caution"]
    assert "disparate treatment" in document["caution"]
    assert document["strata"]["groups"] == [["f"], ["m"]]
    assert max(map(len, text.splitlines())) < 5_000
    # A reviewer sees what changed: one line, and the hash.
    repairer.set_params(amount=0.5).save(path)
    lines = zip(text.splitlines(), path.read_text(encoding="utf-8").splitlines(), strict=True)
    amount, content_hash = (new.strip() for old, new in lines if old != new)
    assert amount == '"amount": 0.5,'
    assert content_hash.startswith('"content_sha256": ')


@EVERY_KIND
def test_a_file_is_as_its_schema_says(path: Path, options: dict[str, Any]) -> None:
    for key in (None, "id"):
        Repairer(["g", "r"], key=key, **options).fit(FRAME.assign(id=range(ROWS))).save(path)
        document = json.loads(path.read_text(encoding="utf-8"))
        SCHEMA.validate(document)
        scope = document["settings"]["scope"]
        assert (document["blocks"] is None) == (scope == "column")
        # Each object of it is described, and nothing else may be in it.
        for edited in (
            {**document, "notes": ""},
            {**document, "blocks": None if document["blocks"] else {}},
            {**document, "settings": {**document["settings"], "scope": "row"}},
            {**document, "columns": [{**document["columns"][0], "notes": ""}]},
        ):
            assert not SCHEMA.is_valid(edited)


@pytest.mark.parametrize("options", [KINDS["blocks"], KINDS["blocks, outcomes"]])
def test_every_entry_of_blocks_is_in_the_schema(path: Path, options: dict[str, Any]) -> None:
    Repairer("g", **options).fit(FRAME).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    blocks = document["blocks"]
    parts = [blocks, blocks["tree"], blocks["cuts"], blocks["laws"][0], blocks["guide"]]
    for part in parts:
        for entry in [*part]:
            kept = part.pop(entry)
            assert not SCHEMA.is_valid(document), entry
            part[entry] = kept
        part["notes"] = ""
        assert not SCHEMA.is_valid(document)
        del part["notes"]
    SCHEMA.validate(document)


def test_a_repair_by_ones_own_estimator_is_not_saved(path: Path) -> None:
    guide = LinearRegression().fit(FRAME[["x", "n"]], FRAME["y"])
    repairer = Repairer("g", columns=["x", "n"], blocks=4, guide=guide).fit(FRAME)
    with pytest.raises(RepairError, match="guide: a repair that was ordered by your own estimator"):
        repairer.save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    "columns",
    [
        {0: None, 1: "number"},
        range(2),
        {0: None}.keys(),
        np.array([0, 1]),
    ],
    ids=["mapping of places", "range", "keys", "numpy"],
)
def test_columns_named_in_any_way_are_saved(path: Path, columns: Any) -> None:
    values, group = FRAME[["x", "h"]].to_numpy(), FRAME["g"].to_numpy()
    repairer = Repairer(scope="column", columns=columns).fit(values, protected=group)
    repairer.save(path)
    loaded = Repairer.load(path)
    out = repairer.transform(values, protected=group)
    assert np.array_equal(loaded.transform(values, protected=group), out, equal_nan=True)


def test_columns_taken_from_pandas_are_saved(path: Path) -> None:
    Repairer("g", scope="column", columns=FRAME.columns[:2]).fit(FRAME).save(path)
    assert Repairer.load(path).get_params()["columns"] == ["x", "n"]


# --- files that cannot be read ---


def test_what_is_not_there_or_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepairError, match=r"gone\.json: no such file"):
        Repairer.load(tmp_path / "gone.json")
    with pytest.raises(RepairError, match="cannot be read: Is a directory"):
        Repairer.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"name,age\n", b"\x80\x04\x95", b'{"kind": "fourfif'])
def test_what_is_not_json_is_an_error(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RepairError, match=r"repair\.json: not JSON"):
        Repairer.load(path)


def test_json_without_end_is_an_error(path: Path) -> None:
    path.write_text("[" * 200_000)
    with pytest.raises(RepairError, match=r"repair\.json: not JSON"):
        Repairer.load(path)


class Trap:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, ("trapped",)


def test_a_pickle_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("repair.json").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(RepairError, match="not JSON"):
        Repairer.load("repair.json")
    assert not Path("trapped").exists()


# --- files that cannot be written ---


def test_a_save_that_fails_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repairer = Repairer("g", **BY_COLUMN).fit(FRAME)
    repairer.save(path)
    before = path.read_bytes()

    def full_disk(self: Path, text: str, **_: Any) -> int:
        self.write_bytes(text.encode()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OutputError, match=r"repair\.json: cannot be written: No space left"):
        repairer.set_params(amount=0.5).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        Repairer("g", **BY_COLUMN).fit(FRAME).save(tmp_path / "gone" / "repair.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_an_error(path: Path) -> None:
    repairer = Repairer("g", **BY_COLUMN).fit(FRAME)
    repairer.save(path)
    before = path.read_bytes()
    path.parent.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written: Permission denied"):
            repairer.save(path)
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == before


# --- the parts of the file ---


def reader(value: Any) -> Reader:
    return Reader(file="repair.json", value=value)


NUMBERS = {"size": 5, "knots": [1.0, 2.5], "below": [0, 3], "upto": [3, 5]}
COLUMN: dict[str, Any] = {
    "name": "score",
    "kind": "number",
    "categories": [],
    "consensus": [1.0, 2.0],
    "values": [1.0, 2.0, 2.5],
    "strata": [NUMBERS, NUMBERS],
}
SHARES: dict[str, Any] = {
    "name": "region",
    "kind": "category",
    "categories": ["n", "s"],
    "consensus": [0.5, 0.5],
    "shares": [[0.25, 0.75], [0.75, 0.25]],
}
STRATA = {"by": ["g"], "groups": [["f"], ["m"]], "pooled": [], "rows": [7, 5]}
OPTIONS: dict[str, Any] = {
    **dict.fromkeys(SETTINGS),
    "protected": "g",
    "unknown": ["?"],
    "bands": {"age": [40]},
    "known": [],
}


def test_a_setting_has_the_types_of_json() -> None:
    setting = {1: np.int64(3), "edges": (1, np.float64(0.5)), "names": range(2), "none": None}
    assert plain_setting(setting) == {
        "1": 3,
        "edges": [1, 0.5],
        "names": [0, 1],
        "none": None,
    }
    assert type(plain_setting(np.int64(3))) is int


def test_a_list_of_plain_values_is_on_one_line() -> None:
    text = json_text({"rows": [1, 2], "groups": [["f"], ["m"]], "none": {}})
    assert text == ('{\n "rows": [1, 2],\n "groups": [\n  ["f"],\n  ["m"]\n ],\n "none": {}\n}')
    long = ["a" * 600, "b" * 600]
    assert json_text(long) == f'[\n "{long[0]}",\n "{long[1]}"\n]'
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text([float("nan")])


def test_a_header_names_its_kind_a_schema_that_can_be_read_and_its_caution() -> None:
    header = {"kind": KIND, "schema": 1, "caution": "Ask a lawyer."}
    check_header(reader(header))
    with pytest.raises(RepairError, match="kind: expected 'fourfifths repair'"):
        check_header(reader({**header, "kind": "model"}))
    with pytest.raises(RepairError, match=r"newer fourfifths \(schema 2; this one reads up to 1\)"):
        check_header(reader({**header, "schema": 2}))
    with pytest.raises(RepairError, match="extra: expected no such entry"):
        check_header(reader({**header, "extra": 1}))
    with pytest.raises(RepairError, match="caution: expected the text that save wrote"):
        check_header(reader({**header, "caution": ""}))


@pytest.mark.parametrize(
    ("repaired", "by", "message"),
    [
        (["x", "x"], ("g",), "columns: expected names of the table, each once"),
        (["z"], ("g",), "columns: expected names of the table, each once"),
        (["x"], ("r",), "settings.protected: expected the columns that the strata are made of"),
        (["x", "g"], ("g",), "names: expected the stratifying columns, which are not repaired"),
    ],
)
def test_names_must_fit_together(repaired: list[str], by: tuple[str, ...], message: str) -> None:
    strata = Strata(by=("g",), groups=(("f",), ("m",)), pooled=(), rows=(7, 5))
    table: dict[str, Any] = {"table_names": ["x", "g", "id"], "strata": strata}
    settings = reader({"settings": {}})
    check_names(settings, ["x"], by=("g",), key="id", **table)
    # Strata that came with the array.
    check_names(settings, ["x", "g"], by=None, key=None, **table)
    with pytest.raises(RepairError, match=message):
        check_names(settings, repaired, by=by, key=None, **table)


@pytest.mark.parametrize("key", ["x", "gone", 1, True, ["id"]])
def test_the_key_is_a_column_that_is_not_repaired(key: Any) -> None:
    strata = Strata(by=("g",), groups=(("f",), ("m",)), pooled=(), rows=(7, 5))
    with pytest.raises(
        RepairError, match=r"settings\.key: expected a name of the table that is not"
    ):
        check_names(
            reader({"settings": {}}),
            ["x"],
            table_names=["x", "g", "id"],
            strata=strata,
            by=("g",),
            key=key,
        )


def test_settings_are_read_as_a_repairer_has_them() -> None:
    settings = read_settings(reader({**OPTIONS, "columns": ["x"]}), ["x"])
    assert settings == {**OPTIONS, "columns": ["x"], "unknown": ("?",), "known": ()}
    for edit, message in (
        ({"extra": 1}, "extra: expected the options of a Repairer, and no others"),
        ({"protected": []}, "protected: expected the names of columns"),
        ({"keep": [1]}, "keep: expected the names of columns"),
        ({"keep": ["y", "x"]}, "keep: expected outcomes, which are not repaired"),
        ({"columns": ["z"]}, "columns: expected the columns that are repaired"),
        ({"unknown": 3}, "unknown: expected a list of values that mean missing"),
        ({"bands": {"age": 40}}, "bands: expected a list of edges for each column"),
        ({"ages": {"born": 2026}}, "ages: expected a day for each column"),
        ({"known": 3}, "known: expected a list of values"),
    ):
        with pytest.raises(RepairError, match=message):
            read_settings(reader({**OPTIONS, **edit}), ["x"])


def test_strata_are_read_with_their_pooled_groups() -> None:
    pooled = {**STRATA, "pooled": [["m"], ["x"]]}
    assert read_strata(reader(pooled)) == Strata(
        by=("g",), groups=(("f",), ("m",)), pooled=(("m",), ("x",)), rows=(7, 5)
    )
    for edit, message in (
        ({"groups": [["f"], ["f"]]}, "groups: expected two or more groups, all different"),
        ({"by": ["g", "r"]}, "groups: expected a value for each column in 'by'"),
        ({"rows": [7, 0]}, "rows: expected a number above 0 for each stratum"),
        ({"pooled": [["x"]]}, "pooled: expected the groups of the last stratum, and no others"),
    ):
        with pytest.raises(RepairError, match=message):
            read_strata(reader({**STRATA, **edit}))


def test_ranks_are_read_with_their_counts() -> None:
    ranks = read_ranks(reader(NUMBERS), level_count=2)
    # Three of five values equal the first knot: its rows are at positions 0 to 2.
    assert ranks.ranks_of(np.array([1.0, 2.5])).tolist() == [0.3, 0.8]
    for edit, message in (
        ({"knots": [2.5, 1.0]}, "knots: expected increasing numbers"),
        ({"below": [0]}, "below: expected one count for each knot"),
        ({"upto": [3, 4]}, "upto: expected increasing counts, from 0 in 'below' to the size"),
        ({"size": 1}, "size: expected a whole number, 2 or more"),
    ):
        with pytest.raises(RepairError, match=message):
            read_ranks(reader({**NUMBERS, **edit}), level_count=2)


RANKED = {**COLUMN, "representatives": [[1.0] * len(COLUMN["consensus"])] * 2}


@pytest.mark.parametrize(
    ("document", "method"),
    [(COLUMN, "random"), (SHARES, "random"), (RANKED, "definition")],
    ids=["numbers", "categories", "by the definition"],
)
def test_a_column_is_written_as_it_was_read(document: dict[str, Any], method: Any) -> None:
    typed = read_type(reader(document))
    column = read_column(reader(document), column_type=typed, stratum_count=2)
    assert (typed.name, typed.kind) == (document["name"], document["kind"])
    assert column_document(typed, column, method=method) == document


def test_the_definition_needs_what_the_strata_have_at_each_level(tmp_path: Path) -> None:
    for method in ("random", "definition"):
        repairer = Repairer("g", columns=["x"], scope="column", method=method).fit(FRAME)
        repairer.save(tmp_path / f"{method}.json")
    loaded = Repairer.load(tmp_path / "random.json").set_params(method="definition")
    with pytest.raises(RepairError, match="column 'x' of this saved repair lacks what the strata"):
        loaded.transform(FRAME)
    again = Repairer.load(tmp_path / "definition.json").transform(FRAME)
    assert again.equals(repairer.transform(FRAME))


def test_the_document_of_categories_has_their_shares() -> None:
    column = CategoryColumn(
        name="region",
        categories=("n", "s"),
        shares=np.array([[0.25, 0.75], [0.75, 0.25]]),
        consensus=np.array([0.5, 0.5]),
    )
    typed = ColumnType(name="region", kind="category", categories=("n", "s"))
    assert column_document(typed, column, method="random") == SHARES


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({**COLUMN, "categories": ["a"]}, "categories: expected categories if the kind is"),
        ({**COLUMN, "values": [2.0, 1.0]}, "values: expected increasing numbers"),
        ({**COLUMN, "consensus": [2.0, 1.0]}, "consensus: expected numbers that never decrease"),
        ({**COLUMN, "kind": "integer"}, "values: expected whole numbers"),
        ({**COLUMN, "kind": "date"}, "kind: expected numbers or categories, which have ranks"),
        ({**COLUMN, "strata": [NUMBERS]}, "strata: expected one for each stratum"),
        ({**COLUMN, "representatives": [[1.0]]}, "representatives: expected for each stratum a"),
        ({**SHARES, "categories": ["n", "n"]}, "categories: expected different texts"),
        ({**SHARES, "shares": [[0.5, 0.5]]}, "shares: expected a share of each category in each"),
        ({**SHARES, "consensus": [0.5, 0.6]}, "consensus: expected shares that sum to 1"),
    ],
)
def test_a_column_must_fit_together(document: dict[str, Any], message: str) -> None:
    with pytest.raises(RepairError, match=message):
        read_column(reader(document), column_type=read_type(reader(document)), stratum_count=2)
