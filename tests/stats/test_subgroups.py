"""Limits and p-values that hold for all subgroups of a search."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom, hypergeom

from fourfifths._stats.subgroups import (
    LowerTails,
    bonferroni_p,
    lower_rate_limit,
    permutation_p,
    permuted_selections,
    ratio_upper_limits,
    upper_rate_limit,
)

# Two columns of two values each: four cells, and the eight subgroups of one or two columns.
SQUARE = csr_array(
    np.array(
        [
            *([1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]),
            *([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]),
        ]
    )
)


def poisson_binomial(chances):
    """Return the probabilities of 0, 1, ... successes."""
    probability = np.ones(1)
    for chance in chances:
        probability = np.convolve(probability, [1 - chance, chance])
    return probability


def test_the_tails_are_those_of_scipy():
    n = np.array([5, 30, 300, 4000])
    tails = LowerTails.of(n, all_selected=1200, all_n=5000)
    for index, size in enumerate(n):
        for x in range(tails.first[index], tails.last[index] + 1):
            counts = tails.first.copy()
            counts[index] = x
            expected = hypergeom.cdf(x, 5000, 1200, size)
            assert tails.of_counts(counts)[index] == pytest.approx(expected, rel=1e-8, abs=1e-20)
    # Far below the mean 0, which makes a permutation count against a finding; above it 1.
    assert tails.of_counts(np.array([5, 30, 300, 500])).tolist() == [1, 1, 1, 0]


def test_a_rate_limit_is_the_rate_at_which_so_few_have_the_probability_of_the_error():
    for x, n in ((0, 20), (3, 20), (40, 300)):
        limit = upper_rate_limit(np.array([x]), np.array([n]), error=0.01)[0]
        assert binom.cdf(x, n, limit) == pytest.approx(0.01)
        limit = lower_rate_limit(np.array([n - x]), np.array([n]), error=0.01)[0]
        assert binom.sf(n - x - 1, n, limit) == pytest.approx(0.01)
    assert upper_rate_limit(np.array([19, 20]), np.array([20, 20]), error=0.01).tolist() == [1, 1]
    assert lower_rate_limit(np.array([0, 1]), np.array([20, 20]), error=0.01).tolist() == [0, 0]


@pytest.mark.parametrize("error", [0.2, 0.05, 1e-4])
def test_the_limit_of_a_mean_chance_holds_for_any_chances(error):
    """Enumerated: all multisets of six chances on a grid that reaches 0 and 1."""
    grid = (0, 0.02, 0.2, 0.5, 0.8, 0.98, 0.999, 1)
    limits = upper_rate_limit(np.arange(7.0), np.full(7, 6.0), error=error)
    for chances in itertools.combinations_with_replacement(grid, 6):
        misses = poisson_binomial(chances)[np.mean(chances) > limits + 1e-12].sum()
        assert misses <= error + 1e-12


def test_a_ratio_limit_by_hand():
    """One subgroup, none of 50 selected; 300 of the 950 others. 5% = 4.5 + 0.25 + 0.25."""
    limit = ratio_upper_limits(
        np.array([0.0]), np.array([50.0]), all_selected=300, all_n=1000, confidence=0.95
    )
    high = 1 - 0.045 ** (1 / 50)
    others_low = next(p for p in np.arange(0.2, 0.4, 1e-5) if binom.sf(299, 950, p) > 0.0025)
    overall_low = next(p for p in np.arange(0.2, 0.4, 1e-5) if binom.sf(299, 1000, p) > 0.0025)
    low = max(others_low, (1000 * overall_low - 50 * high) / 950)
    assert limit[0] == pytest.approx(high / low, abs=1e-4)


def test_there_is_no_limit_if_the_others_may_have_no_selections():
    limit = ratio_upper_limits(
        np.array([1.0]), np.array([10.0]), all_selected=1, all_n=20, confidence=0.95
    )
    assert np.isnan(limit[0])


def exact_tail(x, n, all_selected, all_n):
    ways = sum(math.comb(n, k) * math.comb(all_n - n, all_selected - k) for k in range(x + 1))
    return Fraction(ways, math.comb(all_n, all_selected))


def tiny_table():
    """Return eight rows in four cells, three selected: all 56 permutations, by brute force."""
    cell_of_row = [0, 0, 1, 1, 2, 2, 3, 3]
    members = SQUARE.toarray()
    n = members @ np.array([2, 2, 2, 2])
    draws = np.array(
        [
            np.bincount([cell_of_row[row] for row in rows], minlength=4)
            for rows in itertools.combinations(range(8), 3)
        ]
    ).T

    def p_values(cells):
        x = [int(count) for count in members @ cells]
        # A number of selections above the mean is no finding: its p-value counts as 1.
        return [
            exact_tail(count, int(size), 3, 8) if count <= 3 * size / 8 else Fraction(1)
            for count, size in zip(x, n, strict=True)
        ]

    smallest = [min(p_values(cells)) for cells in draws.T]
    return n, draws, p_values, smallest


def test_the_permutation_p_of_a_tiny_table_is_that_of_all_permutations():
    n, draws, p_values, smallest = tiny_table()
    for observed in draws.T:
        adjusted = permutation_p(
            SQUARE,
            SQUARE @ observed,
            n,
            all_selected=3,
            all_n=8,
            draw=lambda _: draws,
            permutations=56,
        )
        expected = [(sum(s <= p for s in smallest) + 1) / 57 for p in p_values(observed)]
        assert adjusted == pytest.approx(expected)


def test_drawn_permutations_come_near_to_all_of_them():
    n, draws, p_values, smallest = tiny_table()
    observed = np.array([0, 0, 1, 2])
    draw = permuted_selections(np.full(4, 2), 3, random_state=1)
    options = {"all_selected": 3, "all_n": 8, "draw": draw}
    adjusted = permutation_p(SQUARE, SQUARE @ observed, n, **options)
    expected = [sum(s <= p for s in smallest) / 56 for p in p_values(observed)]
    assert adjusted == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 1999))
    assert draws.shape == (4, 56)


def test_bonferroni_multiplies_by_the_number_searched():
    p = bonferroni_p(np.array([0, 4]), np.array([10, 10]), all_selected=10, all_n=40)
    assert p == pytest.approx([2 * hypergeom.cdf(0, 40, 10, 10), 1])


def test_the_search_of_an_unrelated_outcome_seldom_ends_in_a_finding():
    """The type I error of the smallest adjusted p, in 400 tables: 5% and its own error."""
    rng = np.random.default_rng(5)
    cells = np.array([40, 60, 25, 75])
    n = SQUARE @ cells
    options = {"all_selected": 60, "all_n": 200, "permutations": 99}
    findings = 0
    for table in range(400):
        x = SQUARE @ rng.multivariate_hypergeometric(cells, 60)
        draw = permuted_selections(cells, 60, random_state=table)
        findings += permutation_p(SQUARE, x, n, **options, draw=draw).min() <= 0.05
    assert findings / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    "chances",
    [
        [0.3, 0.3, 0.3, 0.3],
        [0.05, 0.4, 0.4, 0.4],
        [0.02, 0.58, 0.55, 0.05],
        [0.9, 0.95, 0.9, 0.97],
    ],
)
@pytest.mark.parametrize("is_mixed", [False, True])
def test_the_limits_hold_together(chances, is_mixed):
    """In 4,000 tables, how often the ratio of any of the eight subgroups is above its limit.

    Mixed: the rows of a cell have two chances, as different as their mean allows.
    """
    rng = np.random.default_rng(7)
    cells, mean = np.array([40, 60, 30, 70]), np.array(chances)
    reach = np.minimum(mean, 1 - mean) if is_mixed else np.zeros(4)
    halves = cells // 2
    x_cells = rng.binomial(halves, mean - reach, (4000, 4)) + rng.binomial(
        cells - halves, mean + reach, (4000, 4)
    )
    sums = halves * (mean - reach) + (cells - halves) * (mean + reach)
    n, x = SQUARE @ cells, x_cells @ SQUARE.T
    rates, others = SQUARE @ sums / n, (sums.sum() - SQUARE @ sums) / (200 - n)
    limits = np.array(
        [
            ratio_upper_limits(
                row.astype(float), n.astype(float), all_selected=total, all_n=200, confidence=0.9
            )
            for row, total in zip(x, x_cells.sum(axis=1), strict=True)
        ]
    )
    misses = np.mean(np.any(rates / others > limits, axis=1))  # NaN: no limit, so none is missed
    assert misses <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 4000)
