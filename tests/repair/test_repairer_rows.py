"""New rows, single rows, missing values, arrays, chance and its seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from fourfifths import Repairer
from fourfifths._arrays import FloatArray

A, B = [1.0, 2, 3, 4], [10.0, 20, 30, 40]
FULL = [5.5, 11, 16.5, 22]
HAND = pd.DataFrame({"x": A + B, "g": list("aaaabbbb")})
COLUMN: dict[str, Any] = {"scope": "column"}
JOINT: dict[str, Any] = {"scope": "joint"}


def five_levels(rows: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return a column of 1 to 5 whose two groups lie far apart, and the groups."""
    random = np.random.default_rng(seed)
    group = np.arange(rows) % 2
    low, high = [0.5, 0.3, 0.1, 0.06, 0.04], [0.02, 0.08, 0.2, 0.3, 0.4]
    values = np.where(group, random.choice(5, rows, p=high), random.choice(5, rows, p=low)) + 1.0
    return values[:, None], group


# --- new rows ---


def test_new_rows_are_repaired_by_what_was_fitted() -> None:
    repairer = Repairer("g", **COLUMN).fit(HAND)
    new = pd.DataFrame({"x": [0.0, 2.5, 99, 35, -5], "g": list("aaabb")})
    # Below all and above all: the first and the last level; between two: the level of the lower.
    assert repairer.transform(new)["x"].tolist() == [5.5, 11, 22, 16.5, 5.5]


def test_new_rows_change_nothing_that_was_fitted() -> None:
    repairer = Repairer("g", **COLUMN).fit(HAND)
    before = repr(repairer.model_.columns), repairer.strata_
    far = pd.DataFrame({"x": np.arange(100) * 1e6, "g": ["a"] * 100})
    assert set(repairer.transform(far)["x"]) == {5.5, 22.0}
    assert (repr(repairer.model_.columns), repairer.strata_) == before
    assert repairer.transform(HAND)["x"].tolist() == FULL * 2


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    random = np.random.default_rng(0)
    values, group = random.normal(size=(100, 1)), np.arange(100) % 2
    repairer = Repairer(**COLUMN).fit(values, protected=group)
    together = repairer.transform(values, protected=group)
    alone = [repairer.transform(values[[row]], protected=group[[row]])[0] for row in range(100)]
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("scope", ["column", "joint"])
def test_rows_one_by_one_are_distributed_as_rows_together(scope: str) -> None:
    values, group = five_levels(1_200)
    repairer = Repairer(scope=scope, levels=20).fit(values, protected=group)
    together = repairer.transform(values, protected=group)
    singly = [repairer.transform(values[[row]], protected=group[[row]])[0, 0] for row in range(600)]
    for own in (0, 1):
        known, counts = np.unique(together[group == own], return_counts=True)
        found = [np.sum(np.array(singly)[group[:600] == own] == value) for value in known]
        assert sum(found) == 300  # nothing else is written
        assert stats.chisquare(found, 300 * counts / counts.sum()).pvalue > 0.001


@pytest.mark.parametrize("spread", [5, 2_000], ids=["few values", "many"])
def test_columns_of_equals_are_split_apart_from_each_other(spread: int) -> None:
    # Whoever has zeros only is spread over what the others have, in each column by its own draws.
    others = np.random.default_rng(0).integers(0, spread, (2_000, 3))
    values = np.concatenate([np.zeros((2_000, 3)), others])
    group = np.repeat([0, 1], 2_000)
    found = Repairer(method="geometric", **COLUMN).fit_transform(values, protected=group)[:2_000]
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert stats.spearmanr(found[:, one], found[:, other]).pvalue > 0.01
    assert np.ptp(found, axis=0) == pytest.approx((spread - 1) / 2, rel=0.01)


def test_single_rows_are_chosen_by_random_repair_in_the_share_of_the_amount() -> None:
    values = np.array(A + B)[:, None]
    repairer = Repairer(amount=0.3, **COLUMN).fit(values, protected=list("aaaabbbb"))
    found = [repairer.transform(values[:1], protected=["a"]).item() for _ in range(400)]
    assert set(found) == {1.0, 5.5}
    assert stats.binomtest(found.count(5.5), 400, 0.3).pvalue > 0.01


def test_single_categories_move_in_the_share_of_the_distance() -> None:
    # a has u only, b half of each: the consensus is (3/4, 1/4), so a quarter of a moves.
    frame = pd.DataFrame({"c": ["u"] * 20 + ["u", "v"] * 10, "g": ["a"] * 20 + ["b"] * 20})
    repairer = Repairer("g", **COLUMN).fit(frame)
    row = pl.DataFrame({"c": ["u"], "g": ["a"]})
    found = [repairer.transform(row)["c"].item() for _ in range(200)]
    assert stats.binomtest(found.count("v"), 200, 0.25).pvalue > 0.01


def test_no_rows_are_no_rows() -> None:
    repairer = Repairer("g", **COLUMN).fit(HAND)
    out = repairer.transform(HAND.iloc[:0])
    pd.testing.assert_frame_equal(out, HAND.iloc[:0])


def test_joint_repair_of_a_value_above_all_is_that_of_the_largest() -> None:
    # Half of each group is at the cap of 60: whoever is above it is no lower than they are.
    values = np.concatenate([np.repeat(np.arange(50.0), 2), np.full(100, 60.0)])[:, None]
    group = np.arange(200) % 2
    repairer = Repairer(**JOINT).fit(values, protected=group)
    assert repairer.transform(np.array([[1_000.0]]), protected=[0]).item() == 60


# --- missing values ---


def test_missing_stays_missing_and_the_rest_is_as_without() -> None:
    values = np.array([*A, np.nan, *B, np.nan, np.nan])[:, None]
    out = Repairer(**COLUMN).fit_transform(values, protected=list("aaaaabbbbbb")).ravel()
    assert np.isnan(out).tolist() == np.isnan(values).ravel().tolist()
    assert out[:4].tolist() == out[5:9].tolist() == FULL


def test_joint_repair_equalises_what_is_there_beside_what_is_missing() -> None:
    random = np.random.default_rng(0)
    group = np.arange(4_000) % 2
    common = random.normal(group, 1)
    values = common[:, None] + random.normal(0, 0.5, size=(4_000, 2))
    values[random.random(4_000) < np.where(group, 0, 0.8), 0] = np.nan
    out = Repairer(**JOINT).fit_transform(values, protected=group)
    assert np.array_equal(np.isnan(out), np.isnan(values))
    for own, noise in zip(out.T, (0.06, 0.02), strict=True):
        first, second = (own[(group == place) & ~np.isnan(own)] for place in (0, 1))
        assert stats.ks_2samp(first, second).statistic < noise


def test_new_rows_may_be_missing_where_none_were_before() -> None:
    repairer = Repairer("g", **COLUMN).fit(HAND)
    out = repairer.transform(pd.DataFrame({"x": [np.nan, 10], "g": ["a", "b"]}))
    assert math.isnan(out["x"][0])
    assert out["x"][1] == 5.5


# --- arrays ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint16, bool])
def test_an_array_keeps_its_type(dtype: Any) -> None:
    values, group = five_levels(40)
    values = (values > 2 if dtype is bool else values).astype(dtype)
    for method in ("combinatorial", "random"):
        out = Repairer(method=method, **COLUMN).fit_transform(values, protected=group)
        assert out.dtype == dtype
        assert sorted(out[group == 0, 0]) == sorted(out[group == 1, 0])


def test_geometric_repair_makes_whole_numbers_floats() -> None:
    values = np.array(A + B, dtype=int)[:, None]
    repairer = Repairer(method="geometric", **COLUMN).fit(values, protected=list("aaaabbbb"))
    assert repairer.transform(values, protected=list("aaaabbbb")).ravel().tolist() == FULL * 2
    still = repairer.set_params(amount=0).transform(values, protected=list("aaaabbbb"))
    assert still.dtype == values.dtype


def test_only_the_columns_that_are_named_change_and_the_input_does_not() -> None:
    values = np.column_stack([A + B, A + B, np.arange(8)])
    kept = values.copy()
    repairer = Repairer(columns=[1], **COLUMN)
    for given in (values, np.asfortranarray(values), values[::-1][::-1], values.tolist()):
        out = repairer.fit_transform(given, protected=list("aaaabbbb"))
        assert out[:, 1].tolist() == FULL * 2
        assert np.array_equal(out[:, [0, 2]], kept[:, [0, 2]])
    assert np.array_equal(values, kept)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_protected_values_come_in_any_shape(kind: Any) -> None:
    for values in ("aaaabbbb", [0, 0, 0, 0, 1, 1, 1, 1], [True] * 4 + [False] * 4):
        out = Repairer(**COLUMN).fit_transform(HAND[["x"]], protected=kind(list(values)))
        assert out["x"].tolist() == FULL * 2


# --- chance ---


@pytest.mark.parametrize("options", [COLUMN, JOINT])
@pytest.mark.parametrize("method", ["combinatorial", "geometric", "random"])
def test_the_same_seed_gives_the_same_numbers(options: dict[str, Any], method: str) -> None:
    values, group = five_levels(300)

    def run(seed: int) -> list[FloatArray]:
        repairer = Repairer(method=method, amount=0.7, random_state=seed, **options)
        repairer.fit(values, protected=group)
        return [repairer.transform(values, protected=group) for _ in range(2)]

    assert np.array_equal(run(1), run(1))
    first, second = run(1)
    assert not np.array_equal(first, second)  # each call draws anew
    assert not np.array_equal(first, run(2)[0])


def test_no_seed_is_a_new_one_each_time() -> None:
    values, group = five_levels(300)
    found = [
        Repairer(random_state=None, **COLUMN).fit_transform(values, protected=group)
        for _ in range(2)
    ]
    assert not np.array_equal(*found)
