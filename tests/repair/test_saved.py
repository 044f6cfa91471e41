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

from fourfifths import Repairer
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
    }
)
SCOPES = ["column", "joint"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "repair.json"


# --- there and back ---


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("method", ["combinatorial", "geometric", "random"])
def test_a_saved_repair_repairs_as_before(path: Path, scope: str, method: str) -> None:
    repairer = Repairer(["g", "r"], scope=scope, method=method, amount=0.7).fit(FRAME)
    repairer.save(path)
    loaded = Repairer.load(path, random_state=0)
    out = repairer.transform(FRAME)
    pd.testing.assert_frame_equal(loaded.transform(FRAME), out)
    assert not out.equals(FRAME)
    assert loaded.strata_ == repairer.strata_
    assert loaded.column_types_ == repairer.column_types_
    assert list(loaded.get_feature_names_out()) == list(FRAME.columns)
    settings = loaded.get_params()
    assert settings == {**repairer.get_params(), "protected": ["g", "r"]}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_saved_repair_of_an_array_repairs_as_before(path: Path, scope: str) -> None:
    values, group = FRAME[["x", "h", "n"]].to_numpy(), FRAME["g"].to_numpy()
    repairer = Repairer(scope=scope, columns=[0, 1]).fit(values, protected=group)
    repairer.save(path)
    loaded = Repairer.load(path, random_state=0)
    out = repairer.transform(values, protected=group)
    assert np.array_equal(loaded.transform(values, protected=group), out, equal_nan=True)
    assert loaded.n_features_in_ == 3
    assert str(loaded.explain(values[:1], protected=["f"])).startswith("stratum f: full repair")


def test_every_number_comes_back_to_the_last_digit(path: Path) -> None:
    odd = np.array([0.1 + 0.2, 1 / 3, 5e-324, -1e300, 2**53 - 1.0, -0.1, np.pi, 1e-17])
    repairer = Repairer(scope="column").fit(odd[:, None], protected=list("aaaabbbb"))
    repairer.save(path)
    (before,), (after,) = repairer.model_.columns, Repairer.load(path).model_.columns
    for name in ("values", "consensus"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    for own, again in zip(before.strata, after.strata, strict=True):
        assert np.array_equal(own.knots, again.knots)


@pytest.mark.parametrize("scope", SCOPES)
def test_saving_again_writes_the_same_file(path: Path, scope: str) -> None:
    Repairer("g", scope=scope).fit(FRAME).save(path)
    first = path.read_text()
    Repairer.load(path, random_state=0).save(path)
    assert path.read_text() == first
    Repairer("g", scope=scope).fit(FRAME).save(path)
    assert path.read_text() == first


def test_strata_of_every_kind_come_back(path: Path) -> None:
    frame = FRAME[["x"]].assign(a=np.arange(ROWS) % 3, t=FRAME["b"], w=np.arange(ROWS) % 2 / 2)
    frame.loc[:1, "a"], frame.loc[2:4, "a"] = 7, 8
    repairer = Repairer(["a", "t", "w"], small="pool", scope="column").fit(frame)
    repairer.save(path)
    assert Repairer.load(path).strata_ == repairer.strata_
    assert repairer.strata_.pooled


def test_a_loaded_repair_draws_anew_unless_it_is_given_a_seed(path: Path) -> None:
    Repairer("g", scope="column").fit(FRAME).save(path)
    seeded = [Repairer.load(path, random_state=5).transform(FRAME) for _ in range(2)]
    fresh = [Repairer.load(path).transform(FRAME) for _ in range(2)]
    assert seeded[0].equals(seeded[1])
    assert not fresh[0].equals(fresh[1])


def test_a_loaded_repair_takes_another_library_and_another_amount(path: Path) -> None:
    Repairer("g", scope="column").fit(FRAME).save(path)
    loaded = Repairer.load(path, random_state=0)
    other = loaded.set_params(amount=0).transform(pl.from_pandas(FRAME))
    assert other.equals(pl.from_pandas(FRAME))


# --- the file ---


def test_the_file_is_json_with_the_caution_and_no_more_lines_than_needed(path: Path) -> None:
    repairer = Repairer("g").fit(FRAME)
    repairer.save(path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert (document["kind"], document["schema"]) == ("fourfifths repair", 1)
    assert "Ricci v. DeStefano" in document["caution"]
    assert "disparate treatment" in document["caution"]
    assert document["strata"]["groups"] == [["f"], ["m"]]
    assert max(map(len, text.splitlines())) < 20_000
    # A reviewer sees what changed: one line.
    repairer.set_params(amount=0.5).save(path)
    lines = zip(text.splitlines(), path.read_text(encoding="utf-8").splitlines(), strict=True)
    assert [new.strip() for old, new in lines if old != new] == ['"amount": 0.5,']


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
    loaded = Repairer.load(path, random_state=0)
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
    repairer = Repairer("g", scope="column").fit(FRAME)
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
        Repairer("g", scope="column").fit(FRAME).save(tmp_path / "gone" / "repair.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_an_error(path: Path) -> None:
    repairer = Repairer("g", scope="column").fit(FRAME)
    repairer.save(path)
    before = path.read_bytes()
    path.parent.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written: Permission denied"):
            repairer.save(path)
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == before
