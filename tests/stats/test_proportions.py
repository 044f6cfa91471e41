from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from counted import printed
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, binomtest, chi2_contingency, fisher_exact, hypergeom, norm
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    power_proportions_2indep,
    proportion_confint,
    proportion_effectsize,
    proportions_ztest,
)

import fourfifths
from fourfifths._stats.proportions import (
    bisect,
    clopper_pearson,
    cohen_h,
    detectable_ratio,
    fisher_test,
    phi,
    ratio_interval,
    score_statistic,
    standard_deviations,
    two_sided_p,
    z_statistic,
    z_test_power,
)
from fourfifths.errors import OptionError

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
    """Every table with the same margins, in whole numbers: p, p_less, mid_p and mid_p_less."""
    chosen = x + x_r
    ways = {
        k: comb(n, k) * comb(n_r, chosen - k)
        for k in range(max(0, chosen - n_r), min(n, chosen) + 1)
    }
    less_likely = sum(way for way in ways.values() if way < ways[x])
    equally = sum(way for way in ways.values() if way == ways[x])
    fewer = sum(way for k, way in ways.items() if k < x)
    total = comb(n + n_r, chosen)
    return [
        float(Fraction(part, total))
        for part in (
            less_likely + equally,
            fewer + ways[x],
            less_likely + Fraction(equally, 2),
            fewer + Fraction(ways[x], 2),
        )
    ]


def figures_of(test):
    return [float(figure) for figure in (test.p, test.p_less, test.mid_p, test.mid_p_less)]


@pytest.mark.parametrize(
    "table", [*TABLES, *NO_VARIATION, (5, 10, 5, 10), (1, 4, 3, 4), (0, 1, 1, 1), (1, 1, 500, 999)]
)
def test_fisher_agrees_with_counting_the_tables(table):
    assert figures_of(fisher_test(*table)) == pytest.approx(exact_fisher(*table), rel=1e-12)


@pytest.mark.parametrize(("n", "n_r"), [(4, 4), (6, 9), (12, 3), (1, 13), (10, 20)])
def test_fisher_agrees_with_counting_the_tables_on_every_table(n, n_r):
    # Mirrored tables and coincidences: which ones are equally likely must not hang on rounding.
    x, x_r = np.indices((n + 1, n_r + 1))
    test = fisher_test(x, n, x_r, n_r)
    for index in np.ndindex(x.shape):
        expected = exact_fisher(int(x[index]), n, int(x_r[index]), n_r)
        found = [test.p[index], test.p_less[index], test.mid_p[index], test.mid_p_less[index]]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("table", "mid_p"), [((9, 30, 17, 30), "0.0428"), ((7, 11, 11, 11), "0.0451")]
)
def test_the_mid_p_counts_half_of_every_equally_likely_table(table, mid_p):
    assert float(fisher_test(*table).mid_p) == printed(mid_p)


def test_of_two_groups_of_ten_thousand_the_mirrored_table_is_equally_likely():
    test = fisher_test(4_900, 10_000, 5_000, 10_000)
    assert float(test.mid_p) == pytest.approx(2 * float(test.mid_p_less), rel=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_fisher_agrees_with_scipy(table):
    x, n, x_r, n_r = table
    cells = [[x, n - x], [x_r, n_r - x_r]]
    assert fisher_test(*table).p == pytest.approx(fisher_exact(cells).pvalue)


def test_fisher_answers_for_ten_million_rows():
    test = fisher_test(2_000_000, 5_000_000, 2_001_000, 5_000_000)
    z_p = float(two_sided_p(z_statistic(2_000_000, 5_000_000, 2_001_000, 5_000_000)))
    assert test.p == pytest.approx(z_p, rel=0.01)


def test_a_huge_difference_in_ten_million_rows_has_a_p_of_zero():
    test = fisher_test(0, 5_000_000, 5_000_000, 5_000_000)
    assert figures_of(test) == [0, 0, 0, 0]
    assert fisher_test(5_000_000, 5_000_000, 0, 5_000_000).p_less == pytest.approx(1)


@pytest.mark.parametrize(
    ("observed", "n", "share"),
    [(0, 1, 0.5), (1, 1, 0.3), (0, 30, 0.1), (30, 30, 0.9), (5, 10, 0.5), (40, 1000, 0.05)],
)
def test_the_binomial_p_agrees_with_scipy(observed, n, share):
    expected = binomtest(observed, n, share).pvalue
    assert fourfifths.against_share(observed, n, share=share).p == pytest.approx(expected)


def test_the_binomial_test_answers_for_ten_million_rows():
    found = fourfifths.against_share(5_003_000, 10_000_000, share=0.5)
    assert found.p == pytest.approx(2 * norm.sf(6_000 / 10_000_000**0.5), rel=0.01)


def test_castaneda():
    castaneda = fourfifths.against_share(339, 870, share=0.791)
    assert castaneda.expected == printed("688.17")
    assert castaneda.standard_deviations == printed("-29.11")
    assert castaneda.shortfall == printed("349.17")
    assert castaneda.p == pytest.approx(binomtest(339, 870, 0.791).pvalue)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.1, float("nan")])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(OptionError, match=r"share=.*expected a share between 0 and 1"):
        fourfifths.against_share(1, 2, share=share)


@pytest.mark.parametrize(("observed", "n"), [(3, 2), (-1, 2), (0, 0)])
def test_observed_is_part_of_n(observed, n):
    with pytest.raises(OptionError, match=r"expected 0 <= observed <= n"):
        fourfifths.against_share(observed, n, share=0.5)


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
