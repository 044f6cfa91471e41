from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, norm
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from fourfifths._stats.intervals import (
    bisect,
    clopper_pearson,
    ratio_interval,
    score_statistic,
)
from fourfifths._stats.significance import standard_deviations

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
@pytest.mark.parametrize(("selected", "n"), [(0, 1), (0, 10), (1, 10), (5, 10), (10, 10), (41, 68)])
def test_clopper_pearson_agrees_with_statsmodels(selected, n, confidence):
    expected = proportion_confint(selected, n, alpha=1 - confidence, method="beta")
    assert clopper_pearson(selected, n, confidence=confidence) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_clopper_pearson_has_its_closed_form_where_no_one_is_selected(n):
    low, high = clopper_pearson(0, n)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / n))


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_clopper_pearson_has_its_closed_form_where_everyone_is_selected(n):
    low, high = clopper_pearson(n, n)
    assert low == pytest.approx(0.025 ** (1 / n))
    assert high == 1


@pytest.mark.parametrize("n", [1, 7, 30])
def test_clopper_pearson_never_covers_less_than_it_says(n):
    x = np.arange(n + 1)
    low, high = clopper_pearson(x, n)
    for rate in np.linspace(0.01, 0.99, 99):
        covered = (low <= rate) & (rate <= high)
        assert binom.pmf(x, n, rate)[covered].sum() >= 0.95


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("table", INTERIOR)
def test_ratio_interval_agrees_with_statsmodels_inside(table, confidence):
    expected = confint_proportions_2indep(
        *table, compare="ratio", method="score", correction=True, alpha=1 - confidence
    )
    assert ratio_interval(*table, confidence=confidence) == pytest.approx(expected, rel=1e-6)


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


def test_bisect_finds_each_elements_own_point():
    roots = bisect(
        lambda x: x**2 < np.array([2.0, 9.0]), low=np.zeros(2), high=np.full(2, 10.0), halvings=60
    )
    assert roots.tolist() == pytest.approx([2**0.5, 3.0])


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR[:3])
def test_the_upper_limit_is_where_the_score_test_begins_to_reject(table):
    _, high = ratio_interval(*table)
    found = brentq(lambda ratio: score_by_numerical_likelihood(ratio, *table) + Z, 0.001, 1000)
    assert float(high) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("table", [table for table in BOUNDARY if table[0] > 0] + INTERIOR[:3])
def test_the_lower_limit_is_where_the_score_test_begins_to_reject(table):
    low, _ = ratio_interval(*table)
    found = brentq(lambda ratio: score_by_numerical_likelihood(ratio, *table) - Z, 0.001, 1000)
    assert float(low) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize(("n", "n_reference"), [(1, 1), (5, 8), (10, 20), (300, 7)])
def test_where_everyone_is_selected_both_limits_have_closed_forms(n, n_reference):
    # At a ratio t < 1 the likeliest rates are t and 1: (1 - t) / sqrt(t (1 - t) N / (n (N - 1))).
    inflation = (n + n_reference) / (n + n_reference - 1)
    low, high = ratio_interval(n, n, n_reference, n_reference)
    assert float(low) == pytest.approx(1 / (1 + Z**2 * inflation / n))
    assert float(high) == pytest.approx(1 + Z**2 * inflation / n_reference)


@pytest.mark.parametrize(("n", "n_reference"), [(20, 20), (50, 30), (200, 400)])
def test_no_one_against_everyone_has_a_closed_form(n, n_reference):
    # At t <= n' / (n + n') the likeliest rates are t and 1: t / sqrt(t (1 - t) N / (n (N - 1))).
    inflation = Z**2 * (n + n_reference) / (n + n_reference - 1)
    low, high = ratio_interval(0, n, n_reference, n_reference)
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
def test_the_ratio_interval_excludes_one_exactly_when_the_standard_deviations_exceed_z(table):
    low, high = ratio_interval(*table)
    assert (not low <= 1 <= high) == (abs(standard_deviations(*table)) > Z)


@pytest.mark.parametrize("table", BOUNDARY + INTERIOR)
def test_more_confidence_makes_a_wider_ratio_interval(table):
    low, high = ratio_interval(*table, confidence=0.95)
    wider_low, wider_high = ratio_interval(*table, confidence=0.99)
    assert wider_low <= low
    assert high < wider_high


@pytest.mark.parametrize(
    ("n", "n_reference"), [(5, 5), (8, 20), (20, 8), (10, 10), (10, 40), (30, 30), (50, 12)]
)
def test_the_ratio_interval_covers_095_on_average_and_090_at_worst(n, n_reference):
    x, x_r = np.meshgrid(np.arange(n + 1), np.arange(n_reference + 1), indexing="ij")
    low, high = ratio_interval(x, n, x_r, n_reference)
    high = np.where(np.isnan(high), np.inf, high)
    coverage = []
    for rate_reference in np.arange(0.05, 0.96, 0.05):
        for ratio in (0.1, 0.25, 0.5, 0.667, 0.8, 0.9, 1, 1.25, 1.5, 2, 4):
            if ratio * rate_reference > 1:
                continue
            probability = np.outer(
                binom.pmf(np.arange(n + 1), n, ratio * rate_reference),
                binom.pmf(np.arange(n_reference + 1), n_reference, rate_reference),
            )
            coverage.append(probability[(low <= ratio) & (ratio <= high)].sum())
    assert np.mean(coverage) >= 0.95
    assert np.min(coverage) >= 0.90


@pytest.mark.parametrize(("n", "n_reference"), [(8, 25), (3, 100)])
def test_coverage_at_extreme_rates_is_less_than_stated_but_not_below_80_percent(n, n_reference):
    # Rates from .01 to .99 and ratios from .02 on: the corners that the grid above leaves out.
    x, xr = np.meshgrid(np.arange(n + 1), np.arange(n_reference + 1), indexing="ij")
    low, high = ratio_interval(x, n, xr, n_reference)
    high = np.where(np.isnan(high), np.inf, high)
    covered = []
    for rate in np.linspace(0.01, 0.99, 50):
        for ratio in np.linspace(0.02, 1.0, 50):
            table = np.outer(
                binom.pmf(np.arange(n + 1), n, ratio * rate),
                binom.pmf(np.arange(n_reference + 1), n_reference, rate),
            )
            covered.append(float((table * ((low <= ratio) & (ratio <= high))).sum()))
    assert 0.80 <= min(covered) < 0.90
