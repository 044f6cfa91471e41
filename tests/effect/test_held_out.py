"""Rows repaired out of fold: no row is repaired by a fit that has seen it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from certificates import Asked

from fourfifths import Repairer
from fourfifths._effect.files import FileRepair, repair_file
from fourfifths._effect.held_out import (
    MAX_AUDITED_ROWS,
    audited_rows,
    fitted_folds,
    repaired_folds,
)
from fourfifths._effect.roles import AuditRoles
from fourfifths.errors import GroupError

ROWS = 200
random = np.random.default_rng(0)
GROUP = random.permutation(["A"] * 80 + ["B"] * 120)
X = random.normal(size=ROWS) + (GROUP == "B")
# Its whole numbers are all different, so that a written value tells which rows it came from.
TABLE = pd.DataFrame(
    {
        "id": [f"n{row}" for row in range(ROWS)],
        "g": GROUP,
        "x": X,
        "y": random.permutation(ROWS),
        "hired": np.where(X + random.normal(size=ROWS) > 0.5, "yes", "no"),
    }
)
SCOPES = pytest.mark.parametrize("scope", ["blocks", "column"])


def fitted(
    table: Any, scope: str, *, repairer: type[Repairer] = Repairer, **options: Any
) -> Repairer:
    """Return a repair of x and y that was fitted to all rows."""
    if scope == "blocks":
        options = {"keep": "hired", "blocks": 4} | options
    return repairer("g", columns=["x", "y"], scope=scope, **options).fit(table)


def framed(table: Any) -> nw.DataFrame[Any]:
    return nw.from_native(table, eager_only=True)


@SCOPES
def test_no_row_is_repaired_by_a_fit_that_saw_it(scope: str) -> None:
    seen = []

    class Watched(Repairer):
        def fit(self, table: Any, *more: Any, **options: Any) -> Watched:
            seen.append(set(table["id"]))
            super().fit(table, *more, **options)
            return self

    repairer = fitted(TABLE, scope, repairer=Watched)
    seen.clear()
    folds = fitted_folds(framed(TABLE), repairer, random_state=0)
    everyone = set(TABLE["id"])
    assert len(folds) == len(seen) == 5
    for fold, fitted_to in zip(folds, seen, strict=True):
        held_out = set(fold.held_out["id"])
        assert held_out.isdisjoint(fitted_to)
        assert held_out | fitted_to == everyone
    positions = np.concatenate([fold.positions for fold in folds])
    assert sorted(positions) == list(range(ROWS))


@SCOPES
def test_a_strange_row_does_not_move_its_own_fold(scope: str) -> None:
    # Row 0 cannot change how the rows of its own fold are repaired, but it can for the others.
    strange = TABLE.copy()
    strange.loc[0, "x"] = 1e6
    strange.loc[0, "hired"] = {"yes": "no", "no": "yes"}[TABLE.loc[0, "hired"]]
    found = []
    for table in (TABLE, strange):
        folds = fitted_folds(framed(table), fitted(table, scope), random_state=0)
        found.append(repaired_folds(folds, amount=1.0).to_native())
    [fold] = [fold for fold in folds if 0 in fold.positions]
    others = fold.positions[fold.positions != 0]
    pd.testing.assert_frame_equal(found[0].loc[others, ["x"]], found[1].loc[others, ["x"]])
    # The strange value itself is written by what other rows are like.
    assert found[1].loc[0, "x"] < X.max() + 1e-9


@SCOPES
def test_the_groups_have_their_shares_in_every_fold(scope: str) -> None:
    folds = fitted_folds(framed(TABLE), fitted(TABLE, scope), random_state=3)
    for fold in folds:
        assert fold.held_out["g"].value_counts().to_dict() == {"A": 16, "B": 24}


@SCOPES
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_order_of_the_rows_is_kept(scope: str, library: str) -> None:
    convert = {"pandas": lambda table: table, "polars": pl.from_pandas, "pyarrow": pa.table}
    native = convert[library](TABLE)
    folds = fitted_folds(framed(native), fitted(native, scope), random_state=0)
    repaired = repaired_folds(folds, amount=1.0)
    assert repaired["id"].to_list() == TABLE["id"].tolist()
    assert repaired["g"].to_list() == TABLE["g"].tolist()
    assert repaired["x"].to_list() != TABLE["x"].tolist()
    unrepaired = repaired_folds(folds, amount=0.0)
    assert unrepaired["x"].to_list() == TABLE["x"].tolist()


def test_every_fold_has_the_blocks_of_the_fit_to_all_rows() -> None:
    repairer = fitted(TABLE, "blocks", blocks=3)
    for fold in fitted_folds(framed(TABLE), repairer, random_state=0):
        assert fold.repairer.model_.blocks.tree.block_count == 3
        assert fold.repairer.model_.guide is not repairer.model_.guide


def test_the_seed_splits_the_rows() -> None:
    repairer = fitted(TABLE, "column")
    splits = [
        [fold.positions.tolist() for fold in fitted_folds(framed(TABLE), repairer, random_state=s)]
        for s in (1, 1, 2)
    ]
    assert splits[0] == splits[1]
    assert splits[0] != splits[2]


def test_a_stratum_needs_a_row_for_each_fold() -> None:
    few = pd.DataFrame({"g": ["A"] * 20 + ["B"] * 4, "x": range(24)})
    repairer = Repairer("g", columns=["x"], scope="column").fit(few)
    says = "too few rows to hold a fifth out: a stratum has 4, and 5 are needed"
    with pytest.raises(GroupError, match=says):
        fitted_folds(framed(few), repairer, random_state=0)


def test_a_fit_to_four_fifths_needs_rows_too() -> None:
    # Of the five rows of B four have a value; with one of those held out there are three.
    few = pd.DataFrame({"g": ["A"] * 20 + ["B"] * 5, "x": [*range(24), None]})
    repairer = Repairer("g", columns=["x"], scope="column").fit(few)
    says = "too few rows to hold a fifth out: column 'x': fewer than 4 values"
    with pytest.raises(GroupError, match=says):
        fitted_folds(framed(few), repairer, random_state=0)


def test_an_outcome_that_a_fold_hardly_has() -> None:
    # Half of 24 rows teach the score, and it needs 10; with a fifth held out there are 9.
    few = TABLE.head(24)
    repairer = fitted(few, "blocks", blocks=2)
    with pytest.raises(GroupError, match="too few rows to hold a fifth out: keep: outcome 'hired'"):
        fitted_folds(framed(few), repairer, random_state=0)


@SCOPES
def test_a_row_without_a_group_is_in_some_fold(scope: str) -> None:
    table = TABLE.copy()
    table.loc[7, "g"] = None
    repairer = fitted(table, scope, unseen="keep")
    repaired = repaired_folds(fitted_folds(framed(table), repairer, random_state=0), amount=1.0)
    assert repaired["id"].to_list() == TABLE["id"].tolist()
    assert repaired["x"].to_list()[7] == TABLE["x"][7]


# --- the effect of a repaired file ---


def repaired_file(tmp_path: Any, table: pd.DataFrame, **options: Any) -> FileRepair:
    table.to_csv(tmp_path / "in.csv", index=False)
    return repair_file(
        str(tmp_path / "in.csv"),
        protected=["g"],
        columns=["x", "y"],
        roles=AuditRoles(outcome="hired", favorable="yes"),
        options=options or {"blocks": 4},
    )


def test_rows_of_the_file_are_audited_out_of_fold(tmp_path: Any) -> None:
    certify = Asked()
    repaired = repaired_file(tmp_path, TABLE)
    repaired.effect(certify=certify, model_impact=lambda *_, **__: None)
    before, after = (call["table"] for call in certify.calls)
    assert [float(x) for x in before["x"].to_pylist()] == pytest.approx(TABLE["x"].tolist())
    # Five fits of four blocks write more values than the four that are in the file.
    assert len(set(repaired.after.dataframe["x"].to_list())) <= 4
    assert 4 < len(set(after["x"].to_pylist())) <= 20
    assert after["g"].to_pylist() == TABLE["g"].tolist()


def test_too_few_rows_to_hold_out_are_a_note_and_no_error(tmp_path: Any) -> None:
    few = pd.concat([TABLE[TABLE["g"] == "A"], TABLE[TABLE["g"] == "B"].head(4)])
    effect = repaired_file(tmp_path, few, scope="column").effect()
    assert (effect.before, effect.after) == (None, None)
    assert effect.notes[0] == (
        "not audited: too few rows to hold a fifth out: a stratum has 4, and 5 are needed"
    )


MANY = 5 * MAX_AUDITED_ROWS  # the fewest rows of which a sample is audited


def test_every_stratum_has_its_share_of_a_sample() -> None:
    # Shares of 40,000: 32,000 of A; of B 1,600; of C 40, which is raised to 1,000, and of these a
    # fifth of its 200 rows may be held out. Rows without a stratum are never sampled.
    codes = np.repeat(np.array([0, 1, 2, -1], dtype=np.int16), [160_000, 8_000, 200, 31_800])
    codes = np.random.default_rng(0).permutation(codes)
    positions = audited_rows(codes, random_state=0)
    assert positions is not None
    assert np.bincount(codes[positions]).tolist() == [32_000, 1_600, 40]
    assert np.all(np.diff(positions) > 0)
    again = audited_rows(codes, random_state=1)
    assert again is not None
    assert set(again.tolist()) != set(positions.tolist())


def test_a_sample_of_a_small_stratum_is_raised() -> None:
    codes = np.repeat(np.array([0, 1], dtype=np.int16), [MANY, 10_000])
    positions = audited_rows(codes, random_state=0)
    assert positions is not None
    # 40,000 times 20 / 21 of all rows, and times 1 / 21.
    assert np.bincount(codes[positions]).tolist() == [38_095, 1_905]
    codes = np.repeat(np.array([0, 1], dtype=np.int16), [MANY, 5_000])
    positions = audited_rows(codes, random_state=0)
    assert positions is not None
    # Its share of 40,000 would be 976.
    assert np.bincount(codes[positions]).tolist() == [39_024, 1_000]


def test_of_few_rows_all_are_audited() -> None:
    assert audited_rows(np.zeros(MANY - 1, dtype=np.int16), random_state=0) is None


@pytest.mark.slow
def test_a_sample_of_many_rows_is_repaired_by_a_fit_to_the_others() -> None:
    random = np.random.default_rng(1)
    group = random.permutation(np.repeat(["A", "B"], MANY // 2))
    table = pd.DataFrame({"id": np.arange(MANY), "g": group, "x": random.normal(size=MANY)})
    fitted_to: list[set[int]] = []

    class Watched(Repairer):
        def fit(self, table: Any, *more: Any, **options: Any) -> Watched:
            fitted_to.append(set(table["id"]))
            super().fit(table, *more, **options)
            return self

    asked = Asked()
    repaired = repair_file(
        table, protected=["g"], columns=["x"], options={"scope": "column", "key": "id"}
    )
    watched = Watched(**repaired.repairer.get_params()).fit(table)
    fitted_to.clear()
    effect = replace(repaired, repairer=watched).effect(certify=asked)
    assert sum(repaired.repairer.strata_.rows) == MANY
    (others,) = fitted_to
    assert len(others) == MANY - MAX_AUDITED_ROWS
    before, after = (call["table"] for call in asked.calls)
    held_out = sorted(set(table["id"]) - others)
    assert list(before["x"]) == table["x"].iloc[held_out].tolist()
    assert len(after) == len(held_out)
    assert list(after["g"]) == table["g"].iloc[held_out].tolist()
    assert "auditors saw a sample of 40,000 of the 200,000 rows" in effect.notes
