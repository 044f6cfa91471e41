from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, norm
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from fourfifths._stats.proportions import standard_deviations
from fourfifths._stats.ratio import (
    RatioTest,
    exact_interval,
    ratio_interval,
    score_interval,
    score_statistic,
)

Z = norm.ppf(0.975)
INTERIOR = [
    (26, 48, 206, 259),
    (3, 8, 16, 25),
    (6, 19, 25, 43),
    (12, 40, 48, 80),
    (1, 10, 3, 20),
    (2, 10, 15, 25),
    (555, 1181, 667, 1390),
    (1, 1000, 900, 1000),
    (7, 9, 1, 3),
]
BOUNDARY = [
    (0, 10, 3, 20),
    (0, 1, 1, 2),
    (10, 10, 3, 20),
    (4, 10, 20, 20),
    (10, 10, 20, 20),
    (0, 10, 20, 20),
    (0, 500, 480, 500),
]


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("table", INTERIOR)
def test_score_limits_agree_with_statsmodels_inside(table, confidence):
    expected = confint_proportions_2indep(
        *table, compare="ratio", method="score", correction=True, alpha=1 - confidence
    )
    assert score_limits(*table, confidence=confidence) == pytest.approx(expected, rel=1e-6)


def score_limits(*table, confidence=0.95):
    arrays = (np.array(cell, dtype=float) for cell in table)
    return score_interval(*arrays, confidence=confidence)


def score_by_numerical_likelihood(ratio, x, n, x_r, n_r):
    """The score statistic with the constrained rate found by a search, not by a formula."""
    top = min(1.0, 1 / ratio)

    def minus_log_likelihood(share):
        q = share * top
        return -(
            x * np.log(max(ratio * q, 1e-300))
            + (n - x) * np.log(max(1 - ratio * q, 1e-300))
            + x_r * np.log(max(q, 1e-300))
            + (n_r - x_r) * np.log(max(1 - q, 1e-300))
        )

    inner = minimize_scalar(
        minus_log_likelihood, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}
    ).x
    q = min((inner, 1.0), key=minus_log_likelihood) * top
    p = ratio * q
    total = n + n_r
    variance = p * (1 - p) / n + ratio**2 * q * (1 - q) / n_r
    return (x / n - ratio * x_r / n_r) / np.sqrt(max(variance, 1e-300) * total / (total - 1))


@pytest.mark.parametrize("ratio", [0.2, 0.8, 1.0, 1.7])
@pytest.mark.parametrize("table", BOUNDARY + INTERIOR)
def test_the_score_statistic_has_the_most_likely_rates_of_that_ratio(table, ratio):
    statistic = score_statistic(np.array(ratio), *(np.array(cell, dtype=float) for cell in table))
    expected = score_by_numerical_likelihood(ratio, *table)
    # Where everyone is selected and the ratio is 1, both are 0 / 0 up to rounding.
    if (table, ratio) != ((10, 10, 20, 20), 1.0):
        assert float(statistic) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("table", INTERIOR)
def test_at_ratio_one_the_score_statistic_is_the_hypergeometric_one(table):
    statistic = score_statistic(np.array(1.0), *(np.array(cell, dtype=float) for cell in table))
    assert float(statistic) == pytest.approx(float(standard_deviations(*table)))


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR[:3])
def test_the_upper_limit_is_where_the_score_test_begins_to_reject(table):
    _, high = score_limits(*table)
    found = brentq(lambda ratio: score_by_numerical_likelihood(ratio, *table) + Z, 0.001, 1000)
    assert float(high) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("table", [table for table in BOUNDARY if table[0] > 0] + INTERIOR[:3])
def test_the_lower_limit_is_where_the_score_test_begins_to_reject(table):
    low, _ = score_limits(*table)
    found = brentq(lambda ratio: score_by_numerical_likelihood(ratio, *table) - Z, 0.001, 1000)
    assert float(low) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize(("n", "n_reference"), [(1, 1), (5, 8), (10, 20), (300, 7)])
def test_where_everyone_is_selected_both_limits_have_closed_forms(n, n_reference):
    # At a ratio t < 1 the likeliest rates are t and 1: (1 - t) / sqrt(t (1 - t) N / (n (N - 1))).
    inflation = (n + n_reference) / (n + n_reference - 1)
    low, high = score_limits(n, n, n_reference, n_reference)
    assert float(low) == pytest.approx(1 / (1 + Z**2 * inflation / n))
    assert float(high) == pytest.approx(1 + Z**2 * inflation / n_reference)


@pytest.mark.parametrize(("n", "n_reference"), [(20, 20), (50, 30), (200, 400)])
def test_no_one_against_everyone_has_a_closed_form(n, n_reference):
    # At t <= n' / (n + n') the likeliest rates are t and 1: t / sqrt(t (1 - t) N / (n (N - 1))).
    inflation = Z**2 * (n + n_reference) / (n + n_reference - 1)
    low, high = score_limits(0, n, n_reference, n_reference)
    assert low == 0
    assert float(high) == pytest.approx(inflation / (n + inflation))


def test_no_selection_in_the_group_gives_lower_limit_zero_and_a_finite_upper_one():
    low, high = ratio_interval([0, 0, 0], [1, 10, 1000], [1, 5, 999], [1, 10, 1000])
    assert low.tolist() == [0, 0, 0]
    assert np.all(np.isfinite(high))
    assert np.all(high > 0)


def test_no_selection_in_the_reference_leaves_the_upper_limit_open():
    low, high = ratio_interval([3, 10], [10, 10], [0, 0], [20, 20])
    assert np.all(np.isnan(high))
    assert np.all(low > 0)


def test_no_selection_at_all_excludes_no_ratio():
    low, high = ratio_interval(0, 10, 0, 20)
    assert low == 0
    assert np.isnan(high)


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR)
def test_swapping_the_sides_inverts_the_ratio_interval(table):
    x, n, x_r, n_r = table
    low, high = ratio_interval(x, n, x_r, n_r)
    swapped_low, swapped_high = ratio_interval(x_r, n_r, x, n)
    assert 1 / high == pytest.approx(swapped_low, rel=1e-9)
    if x > 0:
        assert 1 / low == pytest.approx(swapped_high, rel=1e-9)
    else:
        assert np.isnan(swapped_high)


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR)
def test_the_ratio_interval_holds_the_ratio(table):
    x, n, x_r, n_r = table
    low, high = ratio_interval(*table)
    assert low <= (x / n) / (x_r / n_r) <= high


@pytest.mark.parametrize("table", INTERIOR)
def test_the_score_limits_exclude_one_exactly_when_the_standard_deviations_exceed_z(table):
    low, high = score_limits(*table)
    assert (not low <= 1 <= high) == (abs(standard_deviations(*table)) > Z)


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR)
def test_more_confidence_makes_a_wider_ratio_interval(table):
    low, high = ratio_interval(*table, confidence=0.95)
    wider_low, wider_high = ratio_interval(*table, confidence=0.99)
    assert wider_low <= low
    assert high < wider_high


def coverage(n, n_reference, *, rates, ratios, confidence=0.95):
    """How probable it is that the interval contains the ratio, at each pair of rates."""
    x, x_r = np.indices((n + 1, n_reference + 1))
    low, high = ratio_interval(x, n, x_r, n_reference, confidence=confidence)
    high = np.where(np.isnan(high), np.inf, high)
    covered = []
    for rate in rates:
        for ratio in ratios:
            if ratio * rate <= 1:
                probability = np.outer(
                    binom.pmf(np.arange(n + 1), n, ratio * rate),
                    binom.pmf(np.arange(n_reference + 1), n_reference, rate),
                )
                covered.append(float(probability[(low <= ratio) & (ratio <= high)].sum()))
    return np.array(covered)


RATES = np.concatenate([[0.001, 0.01], np.linspace(0.05, 0.95, 19), [0.99, 0.999, 1.0]])
RATIOS = np.concatenate([np.geomspace(0.02, 50, 41), [0.8, 0.9, 1.0, 1.25]])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_reference"), [(1, 6), (5, 5)])
def test_the_interval_contains_the_ratio_at_least_as_often_as_stated(n, n_reference):
    assert coverage(n, n_reference, rates=RATES, ratios=RATIOS).min() >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_reference", "confidence"),
    [
        (5, 20, 0.95),
        (20, 5, 0.95),
        (8, 13, 0.95),
        (10, 10, 0.8),
        (12, 17, 0.99),
        (20, 20, 0.95),
        (3, 60, 0.95),
    ],
)
def test_the_interval_contains_the_ratio_as_often_on_a_finer_grid(n, n_reference, confidence):
    rates = np.sin(np.linspace(0.01, np.pi / 2, 60)) ** 2
    ratios = np.geomspace(0.02, 50, 301)
    covered = coverage(n, n_reference, rates=rates, ratios=ratios, confidence=confidence)
    assert covered.min() >= confidence


@pytest.mark.parametrize(("n", "n_reference", "least"), [(101, 100, 0.94), (5, 196, 0.85)])
def test_with_more_than_200_rows_the_interval_is_approximate(n, n_reference, least):
    covered = coverage(
        n, n_reference, rates=np.linspace(0.05, 0.95, 19), ratios=(0.1, 0.5, 0.8, 1, 1.25, 2)
    )
    assert covered.mean() >= 0.95
    assert least <= covered.min() < 0.95


def largest_chance(ratio, table, *, intervals=((0, 1), (0, 1)), rate_count=4_001):
    """The largest probability of tables as extreme, from its definition, over many rates."""
    x, n, x_r, n_r = table
    statistic = np.abs(score_by_formula(ratio, n, n_r))
    is_extreme = statistic >= statistic[x, x_r] * (1 - 1e-9)
    (low, high), (low_r, high_r) = intervals
    first, last = max(low, ratio * low_r), min(high, ratio * high_r)
    rate = np.linspace(first, last, rate_count if first <= last else 0)
    group = binom.pmf(np.arange(n + 1), n, rate[:, np.newaxis])
    reference = binom.pmf(np.arange(n_r + 1), n_r, rate[:, np.newaxis] / ratio)
    return float(np.max(np.sum((group @ is_extreme) * reference, axis=1), initial=0.0))


def score_by_formula(ratio, n, m):
    """Miettinen and Nurminen's statistic of all tables, with the textbook root of the quadratic."""
    x, y = np.indices((n + 1, m + 1))
    total = n + m
    b = -(ratio * (n + y) + x + m)
    root = np.sqrt(np.maximum(b**2 - 4 * ratio * total * (x + y), 0))
    q = (-b - root) / (2 * ratio * total)
    p = np.minimum(ratio * q, 1.0)
    variance = (p * (1 - p) / n + ratio**2 * q * (1 - q) / m) * total / (total - 1)
    difference = x / n - ratio * y / m
    return np.where(
        np.abs(difference) < 1e-12, 0.0, difference / np.sqrt(np.maximum(variance, 1e-20))
    )


def p_value(ratio, table, alpha):
    """The p-value over plausible rates, and what these miss: alpha / 500, a half for each rate."""
    x, n, x_r, n_r = table
    intervals = [
        proportion_confint(*side, alpha=alpha / 1000, method="beta")
        for side in ((x, n), (x_r, n_r))
    ]
    return largest_chance(ratio, table, intervals=intervals) + alpha / 500


EXACT = [(3, 8, 16, 25), (24, 40, 17, 20), (0, 10, 3, 20), (4, 10, 20, 20), (1, 1, 1, 1)]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("table", EXACT)
def test_the_exact_limits_are_where_the_p_value_crosses_the_level(table, confidence):
    low, high = exact_interval(*table, confidence=confidence)
    alpha = 1 - confidence
    assert p_value(high * 1.0002, table, alpha) <= alpha
    assert p_value(high * 0.9998, table, alpha) > alpha
    if table[0] > 0:
        assert p_value(low * 0.9998, table, alpha) <= alpha
        assert p_value(low * 1.0002, table, alpha) > alpha


@pytest.mark.slow
@pytest.mark.parametrize("table", [(0, 2, 28, 30), (1, 3, 5, 9), (9, 27, 41, 68), (2, 2, 13, 15)])
def test_no_ratio_outside_the_limits_is_accepted_although_the_p_value_jumps(table):
    low, high = exact_interval(*table, confidence=0.95)
    ratios = np.geomspace(0.05, 10, 400)
    accepted = [ratio for ratio in ratios if p_value(ratio, table, 0.05) > 0.05]
    assert low <= min(accepted)
    assert max(accepted) <= high


def test_one_of_one_has_closed_forms():
    # At a ratio t, 0/1 against 1/1 has probability (1 - t q) q, at most 1 / (4 t).
    level = 0.05 - 0.05 / 500
    limits = exact_interval(0, 1, 1, 1, confidence=0.95)
    assert limits == pytest.approx((0, 1 / (4 * level)), rel=1e-4)
    # 1/1 against 1/1 has t q^2, at most 1 / t.
    limits = exact_interval(1, 1, 1, 1, confidence=0.95)
    assert limits == pytest.approx((level, 1 / level), rel=1e-4)


@pytest.mark.parametrize(
    "table",
    [
        (20, 40, 33, 41),
        pytest.param((1, 3, 90, 100), marks=pytest.mark.slow),
        pytest.param((60, 99, 70, 101), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("ratio", [0.3, 0.79, 1.04, 1.6])
def test_the_largest_probability_over_the_rates_is_not_missed(table, ratio):
    x, n, x_r, n_r = table
    largest = largest_chance(ratio, table, rate_count=20_001)
    test = RatioTest(ratio, (x, n), (x_r, n_r))
    assert test.exceeds(largest * 0.9999, test.extreme(0.0))
    assert not test.exceeds(largest * 1.0001 + 1e-12, test.extreme(0.0))


def test_a_ratio_that_no_plausible_rates_have_is_rejected():
    test = RatioTest(0.5, (9, 10), (9, 10), plausible=[(0.6, 1.0), (0.6, 1.0)])
    assert not test.exceeds(1e-9, test.extreme(0.0))


@pytest.mark.parametrize(("n", "n_reference"), [(1, 1), (3, 40), (25, 17)])
@pytest.mark.parametrize("ratio", [0.03, 0.5, 0.97, 1.0, 1.3, 20.0])
def test_the_statistic_falls_as_the_selections_of_the_reference_grow(n, n_reference, ratio):
    statistic = RatioTest(ratio, (0, n), (1, n_reference)).statistic
    assert np.all(np.diff(statistic, axis=1) <= 1e-9)


def test_effective_sizes_and_more_than_200_rows_have_the_score_limits():
    for table in [(10.5, 30.2, 20.0, 41.0), (26, 48, 206, 259), (1, 1, 100, 200)]:
        assert [float(limit) for limit in ratio_interval(*table)] == pytest.approx(
            [float(limit) for limit in score_limits(*table)], rel=1e-12
        )


def test_each_table_of_an_array_has_the_interval_that_it_has_alone():
    tables = [(26, 48, 206, 259), (3, 8, 16, 25), (0, 10, 3, 20), (2.5, 7.5, 3, 9), (4, 5, 0, 6)]
    low, high = ratio_interval(*np.array(tables).T)
    alone = [ratio_interval(*table) for table in tables]
    assert low.tolist() == pytest.approx([float(limits[0]) for limits in alone])
    assert high.tolist() == pytest.approx([float(limits[1]) for limits in alone], nan_ok=True)
