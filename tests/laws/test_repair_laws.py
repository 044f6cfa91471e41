"""What must hold of a repair whatever the values, the strata's sizes and the amount are."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths import Repairer
from fourfifths._arrays import FloatArray

METHODS = st.sampled_from(["combinatorial", "definition", "geometric", "random"])
SCOPES = st.sampled_from(["column"])
KEEP_RANKS = st.sampled_from(["combinatorial", "geometric"])
AMOUNTS = st.floats(0, 1)
LEVELS = st.sampled_from([2, 3, 7, 16_384])


@st.composite
def tied(draw: Any, most: int = 4) -> list[FloatArray]:
    """Strata of unequal sizes, with many ties."""
    own = st.lists(st.integers(-6, 6), min_size=4, max_size=30)
    return [np.array(each, dtype=float) for each in draw(st.lists(own, min_size=2, max_size=most))]


@st.composite
def distinct(draw: Any, most: int = 4) -> list[FloatArray]:
    """Strata of unequal sizes, in which no value occurs twice."""
    own = st.lists(st.integers(-1_000, 1_000), min_size=4, max_size=30, unique=True)
    return [np.array(each, dtype=float) for each in draw(st.lists(own, min_size=2, max_size=most))]


def stacked(strata: list[FloatArray]) -> tuple[FloatArray, Any]:
    group = np.repeat(np.arange(len(strata)), [own.size for own in strata])
    return np.concatenate(strata)[:, None], group


def repair(strata: list[FloatArray], **options: Any) -> list[FloatArray]:
    """Return the strata of one column after per-column repair."""
    values, group = stacked(strata)
    out = Repairer(**{"scope": "column", **options}).fit_transform(values, protected=group)
    return [out[group == place, 0] for place in range(len(strata))]


def fully_repaired(strata: list[FloatArray], levels: int) -> list[list[float]]:
    """Return the definition of full repair, sorted: the median over strata of the medians."""
    number = min(levels, *(own.size for own in strata))
    by_level: list[list[list[float]]] = []
    for own in strata:
        buckets: list[list[float]] = [[] for _ in range(number)]
        for place, value in enumerate(sorted(own.tolist())):
            buckets[place * number // own.size].append(value)
        by_level.append(buckets)
    consensus = [median(median(own[level]) for own in by_level) for level in range(number)]
    return [[consensus[place * number // own.size] for place in range(own.size)] for own in strata]


def distance(first: FloatArray, second: FloatArray) -> float:
    """Return Kolmogorov's and Smirnov's distance."""
    return float(stats.ks_2samp(first, second, method="asymp").statistic)


# --- amount 0 ---


@given(tied(), METHODS, SCOPES, LEVELS, st.booleans())
def test_amount_0_returns_the_input(
    strata: list[FloatArray], method: str, scope: str, levels: int, whole: bool
) -> None:
    values, group = stacked(strata)
    values = np.column_stack([values, values**2]).astype(int if whole else float)
    repairer = Repairer(method=method, scope=scope, levels=levels, amount=0)
    out = repairer.fit_transform(values, protected=group)
    assert np.array_equal(out, values)
    assert out.dtype == values.dtype


# --- full repair ---


@given(tied(), st.sampled_from(["geometric", "random"]), LEVELS)
def test_full_repair_is_its_definition(strata: list[FloatArray], method: str, levels: int) -> None:
    found = repair(strata, method=method, levels=levels)
    expected = fully_repaired(strata, levels)
    assert [np.sort(own) for own in found] == [pytest.approx(own) for own in expected]


@given(tied(), METHODS, LEVELS, st.booleans())
def test_full_repair_makes_the_strata_alike(
    strata: list[FloatArray], method: str, levels: int, whole: bool
) -> None:
    given_strata = [own.astype(int) if whole else own for own in strata]
    found = repair(given_strata, method=method, levels=levels)
    smallest = min(levels, *(own.size for own in strata))
    for first, second in combinations(found, 2):
        assert distance(first, second) <= 2 / smallest + 1e-12


@given(distinct(), METHODS)
def test_strata_that_are_alike_are_left_as_they_are(strata: list[FloatArray], method: str) -> None:
    found = repair([strata[0]] * 3, method=method)
    for own in found:
        assert own == pytest.approx(strata[0])


# --- ranks ---


def inverted(before: FloatArray, after: FloatArray) -> bool:
    """Say whether a smaller value became larger than a larger one."""
    return any(
        after[before == low].max() > after[before == high].min()
        for low, high in zip(np.unique(before)[:-1], np.unique(before)[1:], strict=True)
    )


@given(tied(), KEEP_RANKS, AMOUNTS, LEVELS, st.booleans())
def test_ranks_are_never_inverted(
    strata: list[FloatArray], method: str, amount: float, levels: int, whole: bool
) -> None:
    given_strata = [own.astype(int) if whole else own for own in strata]
    found = repair(given_strata, method=method, amount=amount, levels=levels)
    assert not any(inverted(own, new) for own, new in zip(strata, found, strict=True))


@given(tied(), KEEP_RANKS, AMOUNTS, st.lists(st.floats(-9, 9), min_size=1, max_size=50))
def test_ranks_of_new_rows_are_never_inverted(
    strata: list[FloatArray], method: str, amount: float, new: list[float]
) -> None:
    values, group = stacked(strata)
    rows = np.sort(new)
    repairer = Repairer(scope="column", method=method, amount=amount, ties="mid")
    repairer.fit(values, protected=group)
    for place in range(len(strata)):
        out = repairer.transform(rows[:, None], protected=np.full(rows.size, place))
        assert not inverted(rows, out[:, 0])


# --- geometric repair ---


@given(tied(), AMOUNTS, LEVELS)
def test_the_earthmover_distance_is_linear_in_the_amount(
    strata: list[FloatArray], amount: float, levels: int
) -> None:
    partly = repair(strata, method="geometric", amount=amount, levels=levels)
    full = repair(strata, method="geometric", levels=levels)
    for own, some, whole in zip(strata, partly, full, strict=True):
        expected = amount * stats.wasserstein_distance(own, whole)
        assert stats.wasserstein_distance(own, some) == pytest.approx(expected, abs=1e-9)


# --- what does not matter ---


@given(distinct(), METHODS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    strata: list[FloatArray], method: str, random: Any
) -> None:
    values, group = stacked(strata)
    order = np.array(random.sample(range(values.size), values.size))
    amount = 1 if method == "random" else 0.5  # the coin goes by the row
    repairer = Repairer(scope="column", method=method, amount=amount)
    out = repairer.fit_transform(values, protected=group)
    again = repairer.fit_transform(values[order], protected=group[order])
    assert np.array_equal(again, out[order])


@given(tied(), METHODS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_to_what_is_written(
    strata: list[FloatArray], method: str, random: Any
) -> None:
    shuffled = [np.array(random.sample(own.tolist(), own.size)) for own in strata]
    first, second = repair(strata, method=method), repair(shuffled, method=method)
    for own, other in zip(first, second, strict=True):
        assert np.sort(own) == pytest.approx(np.sort(other))


@given(distinct(), METHODS, st.randoms(use_true_random=False))
def test_the_names_of_groups_do_not_matter(
    strata: list[FloatArray], method: str, random: Any
) -> None:
    values, group = stacked(strata)
    names = np.array(random.sample(["z", "a", "É", "10"], 4))
    amount = 1 if method == "random" else 0.5
    repairer = Repairer(scope="column", method=method, amount=amount)
    out = repairer.fit_transform(values, protected=group)
    assert np.array_equal(repairer.fit_transform(values, protected=names[group]), out)
    assert np.array_equal(repairer.fit_transform(values, protected=-group), out)


@given(tied(), METHODS, SCOPES, AMOUNTS, st.integers(-3, 9), st.integers(-100, 100))
def test_units_do_not_matter(
    strata: list[FloatArray], method: str, scope: str, amount: float, power: int, shift: int
) -> None:
    # By powers of two and whole numbers, so that nothing but the last addition is rounded.
    # With a key: without one, it is the values that say which of the equals gets which level.
    values, group = stacked(strata)
    frame = pd.DataFrame({"x": values[:, 0], "g": group, "id": np.arange(group.size)})
    repairer = Repairer("g", columns=["x"], key="id", scope=scope, method=method, amount=amount)
    out = repairer.fit_transform(frame)["x"]
    again = repairer.fit_transform(frame.assign(x=frame["x"] * 2.0**power + shift))["x"]
    assert np.allclose(again, out * 2.0**power + shift, rtol=0, atol=1e-9 * 2.0**power)


# --- random repair ---


@given(st.integers(0, 2**32), st.floats(0.5, 3), st.sampled_from([1, 3, 10]))
def test_random_repair_hides_the_group_in_step_with_the_amount(
    seed: int, apart: float, width: int
) -> None:
    # The best threshold's BER is (1 - KS) / 2; a mixture's KS is at most the mixture of the KS.
    random = np.random.default_rng(seed)
    strata = [random.normal(size=1_500), random.normal(apart, width, size=1_000)]
    amounts = [0, 0.25, 0.5, 0.75, 1]
    found = [distance(*repair(strata, amount=amount, random_state=seed)) for amount in amounts]
    noise = 0.05  # two standard errors of a share, twice
    assert np.all(np.diff(found) <= noise)
    for amount, gap in zip(amounts, found, strict=True):
        assert gap <= (1 - amount) * found[0] + amount * found[-1] + noise
    assert found[-1] <= 2 / 1_000


# --- categories ---


@given(st.lists(st.lists(st.integers(0, 12), min_size=4, max_size=4), min_size=2, max_size=4))
def test_categories_reach_the_consensus_by_the_fewest_changes(counts: list[list[int]]) -> None:
    tally = np.array(counts) + np.array([4, 0, 0, 0])  # at least four rows
    shares = tally / tally.sum(axis=1, keepdims=True)
    consensus = np.median(shares, axis=0) / np.median(shares, axis=0).sum()
    cells = [(row, place) for row in range(len(tally)) for place in range(4)]
    frame = pd.DataFrame(
        [(f"g{row}", "uvwx"[place]) for row, place in cells for _ in range(tally[row, place])],
        columns=["g", "c"],
    )
    out = Repairer("g", columns=["c"], scope="column").fit_transform(frame)
    for row, own in enumerate(shares):
        mine = frame["g"] == f"g{row}"
        found = [int((out.loc[mine, "c"] == each).sum()) for each in "uvwx"]
        assert np.abs(found - consensus * mine.sum()).max() <= 4  # rounded, cell by cell
        changed = int((out["c"] != frame["c"])[mine].sum())
        assert changed == pytest.approx(np.abs(own - consensus).sum() / 2 * mine.sum(), abs=4)


# --- files ---


@given(tied(), METHODS, SCOPES, AMOUNTS, st.booleans())
def test_a_saved_repair_gives_the_same(
    strata: list[FloatArray], method: str, scope: str, amount: float, whole: bool
) -> None:
    values, group = stacked(strata)
    values = (values / 3).astype(int if whole else float)
    repairer = Repairer(scope=scope, method=method, amount=amount).fit(values, protected=group)
    with tempfile.TemporaryDirectory() as folder:
        repairer.save(Path(folder) / "repair.json")
        loaded = Repairer.load(Path(folder) / "repair.json")
    out = repairer.transform(values, protected=group)
    assert np.array_equal(loaded.transform(values, protected=group), out)
