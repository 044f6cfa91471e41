from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from counted import printed
from scipy.optimize import bisect as halve
from scipy.stats import binom, chi2_contingency, fisher_exact, hypergeom, norm
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.proportion import (
    power_proportions_2indep,
    proportion_confint,
    proportion_effectsize,
    proportions_ztest,
)

from fourfifths._stats.proportions import (
    FisherPower,
    bisect,
    clopper_pearson,
    cohen_h,
    detectable_ratio,
    find_root,
    fisher_test,
    linearised_size,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
    z_test_power,
)
from fourfifths._stats.ratio import score_interval


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


def test_bisect_finds_each_elements_own_point():
    roots = bisect(
        lambda x: x**2 < np.array([2.0, 9.0]), low=np.zeros(2), high=np.full(2, 10.0), halvings=60
    )
    assert roots.tolist() == pytest.approx([2**0.5, 3.0])


Z = norm.ppf(0.975)
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
        critical_z=norm.ppf((1 + confidence) / 2),
    )
    expected = power_at(ratio, n, n_reference, rate, alpha=1 - confidence)
    assert float(power) == pytest.approx(expected, abs=1e-9)


def test_at_equal_rates_the_power_is_the_significance_level():
    power = z_test_power(
        np.array(1.0),
        n=np.array(70.0),
        n_reference=np.array(30.0),
        rate_reference=np.array(0.4),
        critical_z=Z,
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
        critical_z=Z,
    )
    assert float(power) == 1
    assert detectable_ratio(10, 10, rate_reference=1.0) > 0


def fisher_power(ratio, n, n_reference, rate, *, level=0.05):
    """The power of Fisher's test by going through every table with SciPy's."""
    chance = 0.0
    for x in range(n + 1):
        for x_r in range(n_reference + 1):
            cells = [[x, n - x], [x_r, n_reference - x_r]]
            if fisher_exact(cells).pvalue < level:
                chance += binom.pmf(x, n, ratio * rate) * binom.pmf(x_r, n_reference, rate)
    return chance


@pytest.mark.parametrize(
    ("n", "n_reference", "rate"), [(8, 25, 0.64), (12, 5, 0.9), (12, 12, 0.7), (5, 5, 1.0)]
)
def test_at_the_detectable_ratio_fishers_test_has_a_power_of_08(n, n_reference, rate):
    ratio = float(detectable_ratio(n, n_reference, rate_reference=rate, is_exact=True))
    assert fisher_power(ratio, n, n_reference, rate) == pytest.approx(0.8, abs=1e-6)
    assert ratio < float(detectable_ratio(n, n_reference, rate_reference=rate))


def test_fishers_test_at_another_level():
    ratio = float(
        detectable_ratio(9, 14, rate_reference=0.8, is_exact=True, confidence=0.99, power=0.6)
    )
    assert fisher_power(ratio, 9, 14, 0.8, level=0.01) == pytest.approx(0.6, abs=1e-6)


def test_where_fishers_test_never_reaches_the_power_nothing_is_detectable():
    # Three of a group of three, all rejected, against half of a million: 1/8 is not below .05.
    assert np.isnan(detectable_ratio(3, 1_000_000, rate_reference=0.5, is_exact=True))


def test_with_a_huge_reference_fishers_test_is_a_binomial_one():
    # Against a rate of .9, none or one of three selected is significant (.001, .028), two are not.
    ratio = float(detectable_ratio(3, 1_000_000, rate_reference=0.9, is_exact=True))
    assert binom.cdf(1, 3, ratio * 0.9) == pytest.approx(0.8, abs=1e-4)


def test_with_many_rows_the_power_of_fishers_test_is_that_of_a_corrected_z():
    exact = FisherPower.of(400, 600, 0.3, level=0.05)
    ratio = exact.detectable_ratio(0.8)
    power = z_test_power(
        np.array(ratio),
        n=np.array(400.0),
        n_reference=np.array(600.0),
        rate_reference=np.array(0.3),
        critical_z=Z,
        correction=(1 / 400 + 1 / 600) / 2,
    )
    assert float(power) == pytest.approx(0.8, abs=0.02)
    assert FisherPower.of(5_000, 5_000, 0.3, level=0.05) is None
    by_fisher = detectable_ratio(5_000, 5_000, rate_reference=0.3, is_exact=True)
    assert 0 < float(detectable_ratio(5_000, 5_000, rate_reference=0.3) - by_fisher) < 0.002


def test_each_group_has_the_test_that_decides_for_it():
    ratios = detectable_ratio([8, 400], 500, rate_reference=0.6, is_exact=[True, False])
    alone = detectable_ratio(8, 500, rate_reference=0.6, is_exact=True)
    assert ratios.tolist() == [float(alone), float(detectable_ratio(400, 500, rate_reference=0.6))]


def test_more_standard_deviations_need_a_larger_effect():
    ratio = float(detectable_ratio(200, 300, rate_reference=0.6, critical_z=3.0))
    assert power_at(ratio, 200, 300, 0.6, alpha=2 * norm.sf(3)) == pytest.approx(0.8, abs=1e-6)


def effective_size(weights, selected):
    """The effective size of rows with these weights, and their weighted rate."""
    rate = weights[selected].sum() / weights.sum()
    size = linearised_size(
        rate,
        squares_selected=np.sum(weights[selected] ** 2),
        squares_not_selected=np.sum(weights[~selected] ** 2),
        weight=weights.sum(),
    )
    return float(size), float(rate)


def test_the_effective_size_of_equal_weights_is_the_number_of_rows():
    selected = np.arange(50) < 13
    assert effective_size(np.full(50, 3.7), selected)[0] == pytest.approx(50)


def test_the_effective_size_follows_from_the_variance_of_a_weighted_mean():
    # statsmodels' variance of a weighted mean is the sum of w^2 (y - mean)^2 over W^2 as well: the
    # heteroskedasticity-robust (HC0) variance of a regression on a constant alone.
    random = np.random.default_rng(8)
    weights, selected = random.gamma(2, size=200), random.random(200) < 0.3
    fit = WLS(selected.astype(float), np.ones(200), weights=weights).fit(cov_type="HC0")
    size, rate = effective_size(weights, selected)
    assert rate == pytest.approx(float(fit.params[0]))
    assert rate * (1 - rate) / size == pytest.approx(float(fit.bse[0]) ** 2)


@pytest.mark.parametrize("is_selected", [True, False])
def test_where_all_or_none_are_selected_the_effective_size_is_kishs(is_selected):
    weights = np.array([1.0, 2.0, 5.0])
    size, _ = effective_size(weights, np.full(3, is_selected))
    assert size == pytest.approx(64 / 30)
    # A rate that rounding keeps from being quite 1.
    size = linearised_size(1 - 1e-16, squares_selected=30, squares_not_selected=0, weight=8)
    assert float(size) == pytest.approx(64 / 30)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.3, 0.5])
def test_with_weights_that_go_with_the_outcome_the_ratio_interval_still_covers(rate):
    # Selected rows are sampled a quarter as often as others in the group, and as often in the
    # reference, and weighted back. With Kish's size the coverage was .73.
    random = np.random.default_rng(21)
    repeats, n = 4_000, 400
    tables = []
    for sampled in (0.25, 1.0):
        in_sample = rate * sampled / (rate * sampled + 1 - rate)
        x = random.binomial(n, in_sample, size=repeats).astype(float)
        weight_selected, total = 1 / sampled, x / sampled + (n - x)
        p = x * weight_selected / total
        size = linearised_size(
            p, squares_selected=x / sampled**2, squares_not_selected=n - x, weight=total
        )
        tables += [p * size, size]
    low, high = score_interval(*tables, confidence=0.95)
    covered = np.mean((low <= 1) & (high >= 1))
    significant = np.mean(two_sided_p(z_statistic(*tables)) < 0.05)
    assert 0.94 <= covered <= 0.97
    assert 0.03 <= significant <= 0.06


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 2 - x**2,
        lambda x: np.exp(-x) - 0.3,
        lambda x: 1e-9 * (3 - x),
        lambda x: np.where(x < 1, 1.0, -1e6),
        lambda x: (1.5 - x) ** 9,
        lambda x: np.tanh(50 * (0.1 - x)),
    ],
)
def test_roots_are_those_of_halving(function):
    low, high = np.array([0.0, 0.05]), np.array([4.0, 7.0])
    roots = find_root(function, low=low, high=high, tolerance=1e-11)
    for root, start, end in zip(roots, low, high, strict=True):
        expected = halve(lambda x: float(function(x)), start, end, xtol=1e-13)
        # A flat root is only known as well as its function.
        assert root == pytest.approx(expected, abs=1e-11) or abs(function(root)) < 1e-25


def test_a_function_that_does_not_cross_ends_at_the_limit():
    low, high = np.zeros(2), np.ones(2)
    sign = np.array([1.0, -1.0])
    assert find_root(lambda x: sign, low=low, high=high, tolerance=1e-9).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("x", "n", "y", "m"),
    [
        (120, 2_000, 190, 2_100),
        (3, 4_000, 30, 4_000),
        (0, 3_000, 40, 2_500),
        (2_990, 3_000, 2_400, 2_500),
        (1, 9_000, 1, 30),
        (12, 12, 700, 5_000),
        (10, 3_000, 200, 3_000),  # p is about 2e-48
    ],
)
def test_tables_that_are_left_out_change_no_digit(x, n, y, m):
    ways = [comb(n, k) * comb(m, x + y - k) for k in range(max(0, x + y - m), min(n, x + y) + 1)]
    observed, total = ways[x - max(0, x + y - m)], sum(ways)
    fisher = fisher_test(x, n, y, m)
    p = Fraction(sum(way for way in ways if way <= observed), total)
    p_less = Fraction(sum(ways[: x - max(0, x + y - m) + 1]), total)
    assert float(fisher.p) == pytest.approx(float(p), rel=1e-11, abs=0)
    assert float(fisher.p_less) == pytest.approx(float(p_less), rel=1e-11, abs=0)
