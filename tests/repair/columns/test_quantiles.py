"""Sorting against np.sort, levels against their definition, the grid against searchsorted."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pytest
from drawn_rows import cell_draws
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths._arrays import FloatArray
from fourfifths._repair.columns.kernels import VALUES_PER_LOOKUP_CHUNK
from fourfifths._repair.columns.quantiles import (
    count_whole_numbers,
    distinct_values,
    level_middles,
    level_starts,
    make_grid,
    median_over_strata,
    rank_table,
    representatives,
    sort_in_strata,
)

SIZES = [(1, 1), (4, 4), (8, 4), (7, 3), (10, 7), (100, 16), (101, 64)]


def buckets(values: list[float], levels: int) -> list[list[float]]:
    """Return the sorted values of each level: place r is at level floor(r m / n)."""
    found: list[list[float]] = [[] for _ in range(levels)]
    for place, value in enumerate(sorted(values)):
        found[place * levels // len(values)].append(value)
    return found


# --- sorting ---

WHOLE = st.integers(-40, 40).map(float)
ODD = st.sampled_from([0.5, -1e9, 2.0**53, 1e300, np.inf, -np.inf, np.nan])


def check_sorted(values: FloatArray, codes: Any, strata: int) -> None:
    """Compare with each stratum's own sort; the values themselves are not changed."""
    codes, before = np.asarray(codes, dtype=np.int16), values.copy()
    order = np.argsort(codes, kind="stable")
    sizes = [int(np.sum(codes == stratum)) for stratum in range(strata)]
    ordered = sort_in_strata(values, codes, rows=order[order.size - sum(sizes) :], sizes=sizes)
    assert len(ordered) == strata
    for stratum, stratum_values in enumerate(ordered):
        np.testing.assert_array_equal(stratum_values, np.sort(before[codes == stratum]))
    np.testing.assert_array_equal(values, before)


@given(st.lists(WHOLE, min_size=1, max_size=200), st.lists(ODD, max_size=2), st.integers(1, 4))
def test_values_are_in_order_whether_they_are_counted_or_sorted(
    whole: list[float], odd: list[float], strata: int
) -> None:
    values = np.array(whole + odd)
    check_sorted(values, np.arange(values.size) % (strata + 1) - 1, strata)


@pytest.mark.parametrize("chunk_values", [64, 131_072])
def test_whole_numbers_are_counted(chunk_values: int) -> None:
    values = np.random.default_rng(0).integers(-10, 10, 1_000).astype(np.float64)
    codes = (np.arange(1_000) % 3 - 1).astype(np.int16)
    counts = count_whole_numbers(values, codes, stratum_count=2, chunk_values=chunk_values)
    assert counts is not None
    numbers = np.arange(-10.0, 10)
    for stratum in range(2):
        expected = [np.sum(values[codes == stratum] == number) for number in numbers]
        assert counts[stratum].tolist() == expected
    check_sorted(values, codes, 2)


@pytest.mark.parametrize("chunk_values", [64, 131_072])
@pytest.mark.parametrize("last", [2.5, np.nan, np.inf, -np.inf, 1e18])
def test_what_cannot_be_counted_is_seen_far_down(chunk_values: int, last: float) -> None:
    values = np.append(np.arange(1_000.0) % 7, last)
    codes = (np.arange(1_001) % 2).astype(np.int16)
    counts = count_whole_numbers(values, codes, stratum_count=2, chunk_values=chunk_values)
    assert counts is None
    check_sorted(values, codes, 2)


@pytest.mark.parametrize("least", [-(2.0**52), 2.0**52, 2.0**62])
def test_large_whole_numbers_keep_every_digit(least: float) -> None:
    step = max(np.spacing(least), 1)
    values = least + step * np.tile([5.0, 1, 3, 1, 0, 9, 2, 2, 4, 8], 2_000)
    check_sorted(values, np.arange(values.size) % 2, 2)


def test_fractions_are_seen_where_only_the_least_differs_by_whole_numbers() -> None:
    check_sorted(np.array([0.1, 1.1, 2.1, 3.1, 0.1, 4.1]), [0, 1, 0, 1, 0, 1], 2)


@pytest.mark.parametrize("size", [6_000, 60_000])
def test_many_fractions_are_sorted_in_each_stratum(size: int) -> None:
    values = np.random.default_rng(1).normal(size=size)
    values[::50] = np.nan
    check_sorted(values, np.arange(size) % 4 - 1, 3)


@pytest.mark.parametrize("other", [1.0, 0.5], ids=["counted", "sorted"])
def test_there_is_one_zero(other: float) -> None:
    values, codes = np.array([-0.0, other, 0.0, -0.0, 1.0]), np.zeros(5, dtype=np.int16)
    (ordered,) = sort_in_strata(values, codes, rows=np.arange(5), sizes=[5])
    assert not np.signbit(ordered).any()


# --- levels ---


@pytest.mark.parametrize(("size", "levels"), SIZES)
def test_a_level_starts_at_the_least_place_that_belongs_to_it(size: int, levels: int) -> None:
    of_place = [place * levels // size for place in range(size)]
    assert level_starts(size, levels).tolist() == [of_place.index(level) for level in range(levels)]


@pytest.mark.parametrize(("size", "levels"), SIZES)
def test_each_place_has_the_level_of_its_definition(size: int, levels: int) -> None:
    ordered = np.arange(size) ** 2.0
    found = rank_table(ordered, levels).levels_of(ordered, cell_draws(size))
    assert found.tolist() == [place * levels // size for place in range(size)]


def test_values_outside_have_the_first_and_the_last_level() -> None:
    table = rank_table(np.array([1.0, 2, 3, 4]), 4)
    assert table.levels_of(np.array([-1e300, 0.99, 4.01, 1e300]), None).tolist() == [0, 0, 3, 3]


def test_values_between_two_have_the_level_of_the_lower() -> None:
    table = rank_table(np.array([1.0, 2, 3, 4]), 2)
    assert table.levels_of(np.array([1.5, 2.5, 3.5]), None).tolist() == [0, 0, 1]


def test_equals_are_split_over_their_levels_in_their_shares() -> None:
    # Places 0 to 5 hold 5, so levels floor(r 4 / 8) = 0 0 1 1 2 2; places 6 and 7 hold 9.
    values = np.array([5.0] * 6 + [9.0] * 2)
    for seed in range(20):
        found = rank_table(values, 4).levels_of(values, cell_draws(8, seed))
        assert sorted(found[:6]) == [0, 0, 1, 1, 2, 2]
        assert found[6:].tolist() == [3, 3]


def test_equals_in_the_middle_take_the_level_of_the_middle_place() -> None:
    # The middle of places 2 to 7 is 5, at level floor(5 5 / 10) = 2.
    values = np.array([1.0] * 2 + [5.0] * 6 + [9.0] * 2)
    assert rank_table(values, 5).levels_of(values, None).tolist() == [0] * 2 + [2] * 6 + [4] * 2


@pytest.mark.slow
def test_a_row_alone_is_at_each_level_in_its_share() -> None:
    # 5 stands at places 0 to 5 of 8: of four levels, a third at each of the first three.
    table = rank_table(np.array([5.0] * 6 + [9.0] * 2), 4)
    alone = np.array([5.0])
    for is_keyed in (False, True):
        draws = (cell_draws(1, seed, is_keyed=is_keyed) for seed in range(3_000))
        found = [int(table.levels_of(alone, draw)[0]) for draw in draws]
        assert stats.chisquare(np.bincount(found, minlength=3)).pvalue > 0.01
        assert max(found) == 2


# --- ranks ---


def test_the_rank_of_a_place_is_its_middle() -> None:
    ordered = np.array([3.0, 5, 8, 11, 12])
    found = rank_table(ordered, 5).ranks_of(ordered)
    assert found.tolist() == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


def test_the_rank_of_equals_is_the_middle_of_their_places() -> None:
    # scipy: mean of the ranks from 1, so less a half.
    values = np.array([1.0, 1, 1, 2, 7, 7, 9, 9, 9, 9])
    found = rank_table(values, 10).ranks_of(values)
    assert found == pytest.approx((stats.rankdata(values) - 0.5) / 10)


def test_the_rank_grows_between_knots_and_stays_inside() -> None:
    ordered = np.array([0.0, 10, 20, 30, 40, 50])
    table = rank_table(ordered, 2)  # knots 0, 30, 50: the rest is interpolated
    found = table.ranks_of(np.linspace(-10, 50, 61))
    assert np.all(np.diff(found) >= 0)
    assert found[0] == pytest.approx(0.5 / 6)
    assert found[-1] == pytest.approx(5.5 / 6)
    # After the one value up to 0 stand the three up to 30: 15 is half way between places 1 and 3.
    assert table.ranks_of(np.array([15.0]))[0] == pytest.approx(2 / 6)


@pytest.mark.parametrize("above", [50.5, 51, 60, 1e300])
def test_the_rank_of_a_value_above_all_is_the_highest(above: float) -> None:
    table = rank_table(np.array([0.0, 10, 20, 50, 50, 50]), 6)
    assert table.ranks_of(np.array([above]))[0] == pytest.approx(5.5 / 6)


@pytest.mark.parametrize("seed", range(5))
def test_positions_are_where_the_equals_of_a_value_stand(seed: int) -> None:
    values = np.sort(np.random.default_rng(seed).integers(0, 9, 30).astype(np.float64))
    table = rank_table(values, 30)
    first, end = table.position_ranges(values)
    assert first.tolist() == [values.tolist().index(value) for value in values]
    assert (end - first).tolist() == [np.sum(values == value) for value in values]


def test_a_value_between_two_has_the_last_position_of_the_lower() -> None:
    first, end = rank_table(np.array([2.0, 2, 5, 5]), 4).position_ranges(np.array([1.0, 3, 9]))
    assert (first.tolist(), end.tolist()) == ([0, 1, 3], [1, 2, 4])


# --- representatives and medians ---


@pytest.mark.parametrize(("size", "levels"), SIZES)
def test_a_representative_is_the_median_of_its_level(size: int, levels: int) -> None:
    values = np.sort(np.random.default_rng(size).normal(size=size))
    expected = [median(own) for own in buckets(values.tolist(), levels)]
    assert representatives(values, levels) == pytest.approx(expected)


def test_representatives_by_hand() -> None:
    assert representatives(np.array([10.0, 10, 20, 40]), 2).tolist() == [10, 30]
    assert representatives(np.array([1.0, 2, 9]), 1).tolist() == [2]


def test_the_consensus_is_the_middle_stratum_or_the_midpoint_of_two() -> None:
    first, second, third = np.array([1.0, 2]), np.array([10.0, 20]), np.array([4.0, 100])
    assert median_over_strata([first, second]).tolist() == [5.5, 11]
    assert median_over_strata([first, second, third]).tolist() == [4, 20]
    assert median_over_strata([first, second, third, third]).tolist() == [4, 60]


def test_midpoints_are_not_off_by_a_digit() -> None:
    low, high = np.array([62.0, 0.1, -1.7e308, 1.7e308]), np.array([62.1, 0.2, 1.7e308, 1.7e308])
    assert median_over_strata([low, high]).tolist() == [62.05, (0.1 + 0.2) / 2, 0, 1.7e308]


def test_distinct_values_are_all_or_so_many_with_both_ends() -> None:
    assert distinct_values(np.array([1.0, 1, 2, 5, 5]), 9).tolist() == [1, 2, 5]
    assert distinct_values(np.arange(100.0), 4).tolist() == [0, 33, 66, 99]


# --- the grid ---

RANDOM = np.random.default_rng(0)
KNOTS = {
    "normal": RANDOM.normal(size=16_384),
    "heavy tails": RANDOM.standard_cauchy(16_384),
    "heavier tails": np.exp(RANDOM.normal(size=4_096) * 40),
    "one": np.array([3.0]),
    "two": np.array([-3.0, 3.0]),
    "neighbours": np.array([1.0, np.nextafter(1, 2), 1 + 2**-51]),
    "negative": -RANDOM.exponential(size=1_000),
    "tiny": RANDOM.integers(1, 10_000, 1_000) * 5e-324,
    "huge": RANDOM.normal(size=1_000) * 1e300,
    "far from zero": 1e15 + RANDOM.integers(0, 1_000, 500),
    "a lump and outliers": np.append(RANDOM.normal(size=1_000) * 1e-9, [-1e9, 1e9, 1e12]),
    "two lumps": np.append(RANDOM.normal(size=500), 1e12 + RANDOM.normal(size=500)),
    "whole numbers": np.arange(-50.0, 50),
}


def around(knots: FloatArray) -> FloatArray:
    """Return each knot, its neighbours, what lies between, and what lies outside."""
    between = knots[:-1] / 2 + knots[1:] / 2
    sides = [np.nextafter(knots, side) for side in (-np.inf, np.inf)]
    ends = np.array([-0.0, 0.0, knots[0] - abs(knots[0]) / 9, knots[-1] + abs(knots[-1]) / 99])
    found = np.concatenate([knots, between, *sides, ends])
    return RANDOM.permutation(found[np.isfinite(found)])


@pytest.mark.parametrize("name", KNOTS)
def test_the_grid_finds_what_searchsorted_finds(name: str) -> None:
    knots = np.unique(KNOTS[name])
    with np.errstate(over="ignore"):
        values = around(knots)
    found = make_grid(knots).knots_up_to(values)
    assert np.array_equal(found, np.searchsorted(knots, values, side="right"))


def test_the_grid_finds_the_same_in_more_than_one_block() -> None:
    knots = np.unique(RANDOM.normal(size=1_000))
    values = RANDOM.normal(size=2 * VALUES_PER_LOOKUP_CHUNK + 3)
    found = make_grid(knots).knots_up_to(values)
    assert np.array_equal(found, np.searchsorted(knots, values, side="right"))
    assert make_grid(knots).knots_up_to(np.empty(0)).tolist() == []


@pytest.mark.parametrize("name", KNOTS)
def test_the_grid_knows_its_own_knots(name: str) -> None:
    knots = np.unique(KNOTS[name])
    places = RANDOM.permutation(knots.size)
    assert np.array_equal(make_grid(knots).exact_knots(knots[places]), places)
    strange = np.nextafter(knots[-1], np.inf)
    assert make_grid(knots).exact_knots(np.append(knots, strange)) is None


@pytest.mark.parametrize("strange", [-51.0, -49.5, 0.25, 49.01, 1e300])
def test_the_grid_says_no_knot_for_what_is_none(strange: float) -> None:
    grid = make_grid(KNOTS["whole numbers"])
    assert grid.exact_knots(np.array([-50.0, 0, 49])).tolist() == [0, 50, 99]
    assert grid.exact_knots(np.array([-50.0, strange, 49])) is None


@pytest.mark.parametrize("outside", [-1.7e308, 1.7e308])
def test_the_grid_takes_values_far_outside_without_a_warning(outside: float) -> None:
    knots = np.unique(RANDOM.normal(size=1_000))
    found = make_grid(knots).knots_up_to(np.array([outside]))
    assert found.tolist() == [0 if outside < 0 else 1_000]


def test_the_grid_takes_lumps_that_are_too_far_apart_to_subtract() -> None:
    lump = 1.6e308 + RANDOM.random(20) * 1e306
    knots = np.unique(np.concatenate([-lump, lump, RANDOM.normal(size=20)]))
    found = make_grid(knots).knots_up_to(knots)
    assert np.array_equal(found, np.arange(1, knots.size + 1))


@pytest.mark.parametrize(("size", "level_count"), [(7, 3), (16, 4), (100, 9), (5, 5), (1000, 1)])
def test_the_middles_of_a_level_are_those_of_its_positions(size: int, level_count: int) -> None:
    lower, upper = level_middles(size, level_count)
    position = np.arange(size)
    for level in range(level_count):
        members = position[position * level_count // size == level]
        assert lower[level] + upper[level] == 2 * np.median(members)
        assert upper[level] - lower[level] == (members.size + 1) % 2
