from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact, hypergeom
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import (
    power_proportions_2indep,
    proportion_effectsize,
    proportions_ztest,
)

from fourfifths._stats.significance import (
    cohen_h,
    detectable_ratio,
    first_true,
    fisher_test,
    holm,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
    z_test_power,
)

TABLES = [
    (26, 48, 206, 259),
    (3, 8, 16, 25),
    (6, 19, 25, 43),
    (12, 40, 48, 80),
    (1, 10, 3, 20),
    (2, 10, 15, 25),
    (0, 10, 3, 20),
    (10, 10, 3, 20),
    (555, 1181, 667, 1390),
]
NO_VARIATION = [(0, 5, 0, 7), (5, 5, 7, 7)]


@pytest.mark.parametrize("table", TABLES)
def test_z_and_its_p_agree_with_statsmodels(table):
    x, n, x_r, n_r = table
    z, p = proportions_ztest([x, x_r], [n, n_r])
    assert float(z_statistic(*table)) == pytest.approx(z)
    assert float(two_sided_p(z_statistic(*table))) == pytest.approx(p)


@pytest.mark.parametrize("table", TABLES)
def test_z_squared_is_pearsons_chi_squared(table):
    x, n, x_r, n_r = table
    chi2 = chi2_contingency([[x, n - x], [x_r, n_r - x_r]], correction=False).statistic
    assert float(z_statistic(*table)) ** 2 == pytest.approx(chi2)


@pytest.mark.parametrize("table", TABLES)
def test_standard_deviations_are_those_of_the_hypergeometric_distribution(table):
    x, n, x_r, n_r = table
    drawn = hypergeom(n + n_r, x + x_r, n)
    assert float(standard_deviations(*table)) == pytest.approx((x - drawn.mean()) / drawn.std())


@pytest.mark.parametrize("statistic", [z_statistic, standard_deviations, phi])
@pytest.mark.parametrize("table", NO_VARIATION)
def test_there_is_no_statistic_where_everyone_or_no_one_is_selected(statistic, table):
    assert np.isnan(statistic(*table))


@pytest.mark.parametrize("table", TABLES)
def test_phi_is_the_correlation_of_membership_and_selection(table):
    x, n, x_r, n_r = table
    member = [1] * n + [0] * n_r
    selected = [1] * x + [0] * (n - x) + [1] * x_r + [0] * (n_r - x_r)
    assert float(phi(*table)) == pytest.approx(np.corrcoef(member, selected)[0, 1])


@pytest.mark.parametrize("table", TABLES)
def test_h_agrees_with_statsmodels(table):
    x, n, x_r, n_r = table
    assert float(cohen_h(*table)) == pytest.approx(proportion_effectsize(x / n, x_r / n_r))


def exact_fisher(x, n, x_r, n_r):
    """Every table with the same margins, in whole numbers: p, p_less and the observed one."""
    total, chosen = n + n_r, x + x_r
    ways = {
        k: comb(n, k) * comb(n_r, chosen - k)
        for k in range(max(0, chosen - n_r), min(n, chosen) + 1)
    }
    p = Fraction(sum(way for way in ways.values() if way <= ways[x]), comb(total, chosen))
    p_less = Fraction(sum(way for k, way in ways.items() if k <= x), comb(total, chosen))
    return float(p), float(p_less), float(p - Fraction(ways[x], 2 * comb(total, chosen)))


@pytest.mark.parametrize("table", [*TABLES, *NO_VARIATION, (5, 10, 5, 10), (1, 4, 3, 4)])
def test_fisher_agrees_with_counting_the_tables(table):
    test = fisher_test(*table)
    assert (test.p, test.p_less, test.mid_p) == pytest.approx(exact_fisher(*table))


@pytest.mark.parametrize("table", TABLES)
def test_fisher_agrees_with_scipy(table):
    x, n, x_r, n_r = table
    cells = [[x, n - x], [x_r, n_r - x_r]]
    assert fisher_test(*table).p == pytest.approx(fisher_exact(cells).pvalue)


def test_fisher_answers_for_ten_million_rows():
    test = fisher_test(2_000_000, 5_000_000, 2_001_000, 5_000_000)
    z_p = float(two_sided_p(z_statistic(2_000_000, 5_000_000, 2_001_000, 5_000_000)))
    assert test.p == pytest.approx(z_p, rel=0.01)


@pytest.mark.parametrize(
    "p", [[0.01], [0.01, 0.04, 0.03], [0.5, 0.9, 0.7], [0.02, 0.02, 0.02], [1e-9, 0.2, 0.04, 1.0]]
)
def test_holm_agrees_with_statsmodels(p):
    assert holm(p).tolist() == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_holm_takes_no_account_of_what_was_not_compared():
    adjusted = holm([0.04, np.nan, 0.01, np.nan])
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.04, 0.02])
    assert np.isnan(adjusted[[1, 3]]).all()


def test_holm_of_nothing_is_nothing():
    assert holm([]).tolist() == []


def test_the_first_true_integer_is_found_for_each_element():
    limits = np.array([0.0, 3.0, 7.5, 10.0])
    low, high = np.zeros(4), np.full(4, 9.0)
    first = first_true(lambda k: k >= limits, low=low, high=high)
    # The last test is never true below 9, which counts as true.
    assert first.tolist() == [0, 3, 8, 9]
    assert (low.tolist(), high.tolist()) == ([0] * 4, [9] * 4)


SIZES = [(48, 259, 0.795), (100, 100, 0.5), (1000, 200, 0.1), (30, 3000, 0.9), (48, 259, 0.3)]


def power_at(ratio, n, n_reference, rate, alpha=0.05):
    return float(
        power_proportions_2indep(
            rate * ratio - rate,
            rate,
            n,
            ratio=n_reference / n,
            alpha=alpha,
            return_results=False,
        )
    )


@pytest.mark.parametrize(("n", "n_reference", "rate"), SIZES)
@pytest.mark.parametrize("ratio", [0.3, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_the_power_of_the_z_test_agrees_with_statsmodels(n, n_reference, rate, ratio, confidence):
    power = z_test_power(
        np.array(ratio),
        n=np.array(n),
        n_reference=np.array(n_reference),
        rate_reference=np.array(rate),
        confidence=confidence,
    )
    expected = power_at(ratio, n, n_reference, rate, alpha=1 - confidence)
    assert float(power) == pytest.approx(expected, abs=1e-9)


def test_at_equal_rates_the_power_is_the_significance_level():
    power = z_test_power(
        np.array(1.0),
        n=np.array(70.0),
        n_reference=np.array(30.0),
        rate_reference=np.array(0.4),
        confidence=0.95,
    )
    assert float(power) == pytest.approx(0.05)


@pytest.mark.parametrize(("n", "n_reference", "rate"), SIZES)
def test_at_the_detectable_ratio_statsmodels_finds_a_power_of_08(n, n_reference, rate):
    ratio = float(detectable_ratio(n, n_reference, rate_reference=rate))
    assert power_at(ratio, n, n_reference, rate) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("n", "n_reference", "rate"), SIZES)
def test_a_ratio_closer_to_one_has_less_power(n, n_reference, rate):
    ratio = float(detectable_ratio(n, n_reference, rate_reference=rate))
    assert power_at((1 + ratio) / 2, n, n_reference, rate) < 0.8


def test_another_power_and_another_confidence_are_kept():
    ratio = float(detectable_ratio(200, 300, rate_reference=0.6, confidence=0.99, power=0.9))
    assert power_at(ratio, 200, 300, 0.6, alpha=0.01) == pytest.approx(0.9, abs=1e-6)


def test_with_more_rows_ratios_closer_to_one_are_detectable():
    sizes = [50, 100, 1000, 100_000]
    ratios = detectable_ratio(sizes, sizes, rate_reference=0.5)
    assert np.all(np.diff(ratios) > 0)
    assert ratios[-1] > 0.98


def test_with_too_few_rows_nothing_is_detectable():
    assert np.isnan(detectable_ratio(2, 3, rate_reference=0.3))


def test_nothing_is_detectable_where_no_one_in_the_reference_is_selected():
    assert np.isnan(detectable_ratio(100, 100, rate_reference=0.0))


def test_rates_of_0_and_1_are_told_apart_with_certainty():
    power = z_test_power(
        np.array(0.0),
        n=np.array(10.0),
        n_reference=np.array(10.0),
        rate_reference=np.array(1.0),
        confidence=0.95,
    )
    assert float(power) == 1
    assert detectable_ratio(10, 10, rate_reference=1.0) > 0
