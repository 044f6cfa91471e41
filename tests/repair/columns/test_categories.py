"""Categories without order: the fewest rows that must change do, and shares come out as meant."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_rows import cell_draws
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths._repair.columns.categories import CategoryColumn, fit_categories

# Shares (.6, .4, 0) and (.2, .4, .4): the medians (.4, .4, .2) sum to 1.
COUNTS = [np.array([60, 40, 0]), np.array([20, 40, 40])]


def column(counts: list[np.ndarray]) -> CategoryColumn:
    categories = tuple("uvwxyz"[: counts[0].size])
    return fit_categories("c", categories, counts=counts)


def values_of(counts: np.ndarray, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(counts.size), counts) + 0.0)


# --- fitting ---


def test_the_consensus_is_the_median_share() -> None:
    fitted = column(COUNTS)
    assert fitted.shares.tolist() == [[0.6, 0.4, 0], [0.2, 0.4, 0.4]]
    assert fitted.consensus == pytest.approx([0.4, 0.4, 0.2])
    assert fitted.upper == pytest.approx([0.4, 0.8, 1])


def test_medians_that_do_not_sum_to_one_are_scaled() -> None:
    # Medians .5, .3 and .1 of nine tenths.
    fitted = column([np.array([5, 4, 1]), np.array([8, 1, 1]), np.array([3, 3, 4])])
    assert fitted.consensus == pytest.approx([5 / 9, 3 / 9, 1 / 9])


def test_strata_that_share_nothing_get_the_mean_share() -> None:
    fitted = column([np.array([9, 0, 0]), np.array([0, 4, 0]), np.array([0, 0, 2])])
    assert fitted.consensus == pytest.approx([1 / 3] * 3)


# --- full repair ---


def test_rows_leave_what_is_too_many_for_what_is_too_few() -> None:
    fitted = column(COUNTS)
    # Of 60 "u" 40 stay, and 20 go to "w", the only category that lacks rows.
    assert fitted.stay_probability[0] == pytest.approx([2 / 3, 1, 1])
    assert fitted.target_cumulative[0] == pytest.approx([0, 0, 1])
    values = values_of(COUNTS[0])
    level = fitted.levels_of(values, 0, draws=cell_draws(values.size))
    assert np.bincount(level, minlength=3).tolist() == [40, 40, 20]
    assert np.sum(level != values) == 20


@given(
    st.lists(
        st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(sum), min_size=2, max_size=4
    ),
    st.integers(0, 9),
)
def test_as_few_rows_change_as_the_total_variation_distance_asks(
    tallies: list[list[int]], seed: int
) -> None:
    counts = [np.array(tally) for tally in tallies]
    fitted = column(counts)
    for stratum, tally in enumerate(counts):
        values = values_of(tally, seed)
        level = fitted.levels_of(values, stratum, draws=cell_draws(values.size, seed))
        shares = tally / tally.sum()
        distance = np.abs(shares - fitted.consensus).sum() / 2
        # Draws are even within a category, so each is off by less than a row.
        assert abs(np.sum(level != values) - distance * tally.sum()) < 3
        after = np.bincount(level, minlength=3)
        assert np.abs(after - fitted.consensus * tally.sum()).max() < 4


def test_a_category_that_the_stratum_did_not_have_is_drawn_from_the_consensus() -> None:
    fitted = column(COUNTS)
    unseen = np.full(3_000, 2.0)
    level = fitted.levels_of(unseen, 0, draws=cell_draws(3_000))
    assert np.bincount(level, minlength=3).tolist() == pytest.approx([1_200, 1_200, 600], abs=1)


def test_each_rank_has_the_category_whose_part_it_is_in() -> None:
    ranks = np.array([0.0, 0.39, 0.41, 0.79, 0.81, 1.0])
    assert column(COUNTS).levels_at_ranks(ranks).tolist() == [0, 0, 1, 1, 2, 2]


def test_with_a_key_a_row_moves_by_its_own_draw_in_the_shares_of_the_distance() -> None:
    # Of the stratum's "u" two thirds stay and a third goes to "w".
    fitted, draws = column(COUNTS), cell_draws(3_000, is_keyed=True)
    level = fitted.levels_of(np.zeros(3_000), 0, draws=draws)
    assert stats.binomtest(int(np.sum(level == 2)), 3_000, 1 / 3).pvalue > 0.01
    assert set(level.tolist()) == {0, 2}
    some = np.arange(0, 3_000, 7)
    again = fitted.levels_of(np.zeros(some.size), 0, draws=draws.take(some))
    assert again.tolist() == level[some].tolist()


# --- part of the way ---


@pytest.mark.parametrize("amount", [0.25, 0.5])
def test_a_share_of_the_rows_that_should_change_does(amount: float) -> None:
    fitted = column(COUNTS)
    values = values_of(COUNTS[0])
    level = fitted.levels_of(values, 0, draws=cell_draws(values.size, index=0))
    draws = cell_draws(values.size, index=1)
    repaired = fitted.repaired(values, level, method="geometric", amount=amount, draws=draws)
    assert np.sum(repaired != values) == 20 * amount
    assert np.all((repaired == values) | (repaired == level))


@pytest.mark.parametrize(("method", "amount"), [("random", 0.3), ("combinatorial", 1.0)])
def test_rows_that_were_drawn_and_full_repair_take_the_level(method: str, amount: float) -> None:
    values, level = np.array([0.0, 1, 2]), np.array([2, 1, 0])
    draws = cell_draws(3)
    repaired = column(COUNTS).repaired(values, level, method=method, amount=amount, draws=draws)
    assert repaired.tolist() == [2, 1, 0]
