from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, log

import numpy as np
import pytest
from counted import printed
from scipy.optimize import bisect as halve
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import (
    binom,
    chi2_contingency,
    fisher_exact,
    hypergeom,
    norm,
    studentized_range,
)
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    power_proportions_2indep,
    proportion_confint,
    proportion_effectsize,
    proportions_ztest,
)

from fourfifths._stats.proportions import (
    FisherPower,
    RatioTest,
    bisect,
    chosen_reference_p,
    clopper_pearson,
    cohen_h,
    detectable_ratio,
    exact_interval,
    find_root,
    fisher_test,
    holm,
    largest_pair_statistic,
    linearised_size,
    phi,
    range_p,
    range_z,
    ratio_interval,
    score_interval,
    score_statistic,
    standard_deviations,
    two_sided_p,
    z_statistic,
    z_test_power,
)


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


# Several groups.
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


def pair_statistic(x, n, y, m):
    """The likelihood ratio of two rates, each count half a person nearer to the common rate."""
    expected = n * (x + y) / (n + m)
    if abs(x - expected) <= 0.5:
        return None  # nothing is left of the difference
    move = 0.5 if x < expected else -0.5
    observed = [x + move, n - x - move, y - move, m - y + move]
    both, rest = (x + y) / (n + m), 1 - (x + y) / (n + m)
    at_equal_rates = [n * both, n * rest, m * both, m * rest]
    return 2 * sum(o * log(o / e) for o, e in zip(observed, at_equal_rates, strict=True) if o > 0)


@pytest.mark.parametrize(
    ("selected", "n"),
    [
        ([1, 4], [5, 5]),
        ([0, 3], [1, 3]),
        ([3, 40, 12], [9, 50, 41]),
        ([0, 0, 7, 2], [10, 3, 7, 2]),
        ([200, 30_000, 400_000], [1_000, 100_000, 900_000]),
    ],
)
def test_the_statistic_is_the_largest_likelihood_ratio_of_a_pair(selected, n):
    pairs = [
        pair_statistic(selected[i], n[i], selected[j], n[j])
        for i, j in combinations(range(len(n)), 2)
    ]
    found = largest_pair_statistic(np.array(selected)[:, np.newaxis], np.array(n))
    largest = max(pair for pair in pairs if pair is not None)
    assert float(found[0]) == pytest.approx(largest, rel=1e-6)


def test_the_statistic_is_zero_where_no_one_or_everyone_is_selected():
    n = np.array([4, 1, 9])
    tables = np.array([[0, 4], [0, 1], [0, 9]])
    assert largest_pair_statistic(tables, n).tolist() == [0, 0]


def test_many_tables_at_once_are_as_one_by_one():
    n = np.array([7, 11, 20])
    tables = np.random.default_rng(5).binomial(n[:, np.newaxis], 0.4, size=(3, 50))
    one_by_one = [float(largest_pair_statistic(tables[:, [k]], n)[0]) for k in range(50)]
    assert largest_pair_statistic(tables, n).tolist() == pytest.approx(one_by_one)


@pytest.mark.parametrize("table", [(9, 30, 17, 30), (7, 11, 11, 11), (0, 4, 90, 100), (0, 5, 0, 7)])
def test_a_choice_between_two_groups_costs_nothing(table):
    x, n, y, m = table
    p = chosen_reference_p([x, y], [n, m], reference=1)
    assert float(p[0]) == pytest.approx(fisher_exact([[x, n - x], [y, m - y]]).pvalue)
    assert np.isnan(p[1])


def tables_of(n, total):
    """Every table with these sizes and this total, and its probability if all rows are alike."""
    for selected in product(*(range(size + 1) for size in n)):
        if sum(selected) == total:
            ways = np.prod([comb(size, x) for size, x in zip(n, selected, strict=True)])
            yield selected, ways / comb(sum(n), total)


def test_the_simulated_p_agrees_with_counting_every_table():
    n, selected, reference = (5, 6, 7), (1, 2, 6), 2
    tables = [
        (max(pair_statistic(x, a, y, b) or 0 for (x, a), (y, b) in pairs), probability)
        for table, probability in tables_of(n, sum(selected))
        for pairs in [list(combinations(zip(table, n, strict=True), 2))]
    ]
    found = chosen_reference_p(selected, n, reference=reference)
    for group in (0, 1):
        observed = pair_statistic(selected[group], n[group], selected[2], n[2])
        expected = sum(chance for largest, chance in tables if largest >= observed - 1e-9)
        assert float(found[group]) == pytest.approx(expected, abs=4 * 0.5 / 100)
        fisher = fisher_exact(
            [[selected[group], n[group] - selected[group]], [selected[2], n[2] - selected[2]]]
        )
        assert found[group] >= fisher.pvalue


@pytest.mark.parametrize(("n", "total"), [((6, 8, 10), 9), ((2, 5, 20), 12), ((1, 1, 9, 9), 8)])
def test_counted_over_every_table_at_most_five_percent_have_a_small_p(n, total):
    false = 0.0
    for selected, probability in tables_of(n, total):
        reference = int(np.argmax(np.array(selected) / n))
        p = chosen_reference_p(selected, n, reference=reference)
        false += probability * (np.nanmin(p) <= 0.05)
    # The simulation itself may misplace a table whose p is near .05.
    assert false <= 0.05 + 2 * (0.05 * 0.95 / 9_999) ** 0.5


def share_of_false_alarms(n, rates, *, repeats, seed, tables, among=slice(None)):
    """How often the highest of these groups is significantly above another one of them."""
    random = np.random.default_rng(seed)
    alarms = 0
    for repeat in range(repeats):
        selected = random.binomial(n, rates)
        reference = int(np.argmax(selected / n))
        p = chosen_reference_p(selected, n, reference=reference, random_state=repeat, tables=tables)
        is_tested = np.arange(n.size)[among]
        if reference in is_tested:
            alarms += bool(np.nanmin(p[is_tested]) < 0.05)
    return alarms / repeats


def at_most_five_percent(share, repeats):
    return share <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5


def test_of_six_equal_groups_the_lowest_is_rarely_significant():
    n = np.full(6, 100)
    share = share_of_false_alarms(n, 0.3, repeats=400, seed=11, tables=499)
    assert at_most_five_percent(share, 400)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(
    "n", [[100] * 6, [20, 100, 400], [10, 30, 1000], [100, 100, 100, 2, 2, 1, 1, 3]]
)
def test_with_equal_rates_at_most_five_percent_have_a_small_p(n, rate):
    share = share_of_false_alarms(np.array(n), rate, repeats=3_000, seed=12, tables=999)
    assert at_most_five_percent(share, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rates"),
    [([100, 100, 100, 100], [0.6, 0.6, 0.2, 0.1]), ([30, 400, 2000, 50], [0.1, 0.1, 0.02, 0.01])],
)
def test_two_equal_groups_above_others_rarely_differ(n, rates):
    share = share_of_false_alarms(
        np.array(n), rates, repeats=3_000, seed=13, tables=999, among=slice(0, 2)
    )
    assert at_most_five_percent(share, 3_000)


def test_a_tiny_p_is_fishers_times_the_number_of_pairs():
    fisher = fisher_exact([[10, 190], [90, 110]]).pvalue
    p = chosen_reference_p([10, 60, 70, 90], [200] * 4, reference=3)
    assert float(p[0]) == pytest.approx(6 * fisher, rel=1e-9, abs=0)
    assert float(p[0]) < 1e-15


def test_allowing_for_the_choice_never_makes_a_p_smaller():
    # The third group can hardly differ from anyone, and Fisher's p is coarser than the simulated.
    p = chosen_reference_p([30, 14, 2], [50, 46, 2], reference=0)
    assert float(p[1]) == pytest.approx(fisher_exact([[30, 20], [14, 32]]).pvalue)


def test_groups_of_one_do_not_hide_what_large_groups_show():
    # Fisher's p times 45 pairs would be above .05; eight of the groups cannot differ from anyone.
    n = np.array([1_000, 1_000] + [1] * 8)
    selected = np.array([50, 86] + [0] * 8)
    fisher = fisher_exact([[50, 950], [86, 914]]).pvalue
    assert 45 * fisher > 0.05
    assert float(chosen_reference_p(selected, n, reference=1)[0]) < 0.02


def test_the_same_state_gives_the_same_p_and_another_one_nearly_so():
    selected, n = [20, 22, 24, 28, 31, 37], [100] * 6
    first, again = (chosen_reference_p(selected, n, reference=5) for _ in range(2))
    other = chosen_reference_p(selected, n, reference=5, random_state=99)
    assert first[:5].tolist() == again[:5].tolist()
    # After 1,000 extreme tables the standard error is 3% of p: 4 of them, of a difference.
    assert first[:5] == pytest.approx(other[:5], rel=4 * 2**0.5 * 0.032)
    assert first[:5].tolist() != other[:5].tolist()


def test_a_simulation_that_stops_early_agrees_with_one_that_does_not():
    selected, n = [20, 22, 24, 28, 31, 37], [100] * 6
    early = chosen_reference_p(selected, n, reference=5)
    rng = np.random.default_rng(4)
    tables = rng.multivariate_hypergeometric(n, sum(selected), size=100_000, method="marginals")
    largest = largest_pair_statistic(np.ascontiguousarray(tables.T), np.array(n))
    observed = [
        largest_pair_statistic(np.array([[x], [37]]), np.array([100, 100]))[0] for x in selected[:5]
    ]
    every_table = [float(np.mean(largest >= statistic - 1e-5)) for statistic in observed]
    assert early[:5] == pytest.approx(every_table, rel=4 * 0.032)


def p_from_every_table(selected, n, *, reference, tables):
    """The p-values from simulated tables, counted one by one without stopping."""
    statistic = [
        0.0
        if group == reference
        else pair_statistic(selected[group], n[group], selected[reference], n[reference]) or 0.0
        for group in range(len(n))
    ]
    largest = largest_pair_statistic(np.ascontiguousarray(tables.T), np.array(n))
    return [float(np.mean(largest >= observed - 1e-5)) for observed in statistic]


def test_a_large_p_stops_sooner_and_still_agrees():
    # The smallest p is about .3: 200 extreme tables are among the first 1,000.
    selected, n = [52, 55, 58, 61, 68], [200, 210, 190, 205, 195]
    early = chosen_reference_p(selected, n, reference=4)
    tables = np.random.default_rng(6).multivariate_hypergeometric(
        n, sum(selected), size=100_000, method="marginals"
    )
    every_table = p_from_every_table(selected, n, reference=4, tables=tables)
    assert min(every_table[:4]) > 0.2
    # After 200 extreme tables the standard error is 7% of p at most; 4 of them.
    assert early[:4] == pytest.approx(every_table[:4], rel=4 * 0.071)
    # By the definition: 200 over the number of tables up to the 200th that is as extreme.
    first = np.random.default_rng(0).multivariate_hypergeometric(
        n, sum(selected), size=2_000, method="marginals"
    )
    largest = largest_pair_statistic(np.ascontiguousarray(first.T), np.array(n))
    observed = pair_statistic(selected[0], n[0], selected[4], n[4])
    drawn = int(np.flatnonzero(largest >= observed - 1e-5)[199]) + 1
    assert early[0] == pytest.approx(200 / drawn)


# The p-values are .0042, .0027 and .037: more than 200 tables are as extreme in the last case.
@pytest.mark.parametrize(
    "selected",
    [[18, 22, 24, 28, 31, 41], [16, 22, 24, 28, 31, 40], [19, 22, 24, 28, 31, 38]],
)
def test_stopping_sooner_changes_no_p_below_five_percent(selected):
    n = [100] * 6
    tables = np.random.default_rng(0).multivariate_hypergeometric(
        n, sum(selected), size=9_999, method="marginals"
    )
    every_table = p_from_every_table(selected, n, reference=5, tables=tables)
    p = float(chosen_reference_p(selected, n, reference=5)[0])
    assert 0.001 < p < 0.05
    assert p == pytest.approx((1 + 9_999 * every_table[0]) / 10_000, abs=1e-9)


@pytest.mark.parametrize("level", [0.1, 0.2, 0.5])
def test_large_p_values_are_valid_too(level):
    n, total, false = (6, 8, 10), 9, 0.0
    for selected, probability in tables_of(n, total):
        reference = int(np.argmax(np.array(selected) / n))
        p = chosen_reference_p(selected, n, reference=reference)
        false += probability * (np.nanmin(p) <= level)
    # The simulation may misplace tables whose p is near the level: 4 standard errors of 200.
    tables = list(tables_of(n, total))
    largest = [
        max(
            pair_statistic(x, a, y, b) or 0
            for (x, a), (y, b) in combinations(zip(table, n, strict=True), 2)
        )
        for table, _ in tables
    ]
    chances = np.array([chance for _, chance in tables])
    p_of = [float(chances[np.array(largest) >= value - 1e-9].sum()) for value in largest]
    near = sum(
        chance
        for chance, p in zip(chances, p_of, strict=True)
        if level < p <= level * (1 + 4 * 0.071)
    )
    assert false <= level + near


@pytest.mark.parametrize("selected", [[0, 0, 0], [5, 5, 6]])
def test_no_variation_is_no_difference(selected):
    assert chosen_reference_p(selected, [5, 5, 6], reference=0)[1:].tolist() == [1, 1]


def test_a_billion_rows_have_the_union_bound():
    n = [600_000_000, 300_000_000, 200_000_000]
    p = chosen_reference_p([300_000_000, 150_020_000, 100_000_000], n, reference=1)
    # z = (20000 / 3e8) / sqrt(.25 (1 / 6e8 + 1 / 3e8)) = 1.886
    assert float(p[0]) == pytest.approx(min(1, 3 * 2 * norm.sf(1.8856)), rel=0.01)


@pytest.mark.parametrize("groups", [2, 3, 6, 20])
@pytest.mark.parametrize("z", [0.0, 0.5, 1.96, 3.5, 5.0])
def test_the_range_of_normals_agrees_with_scipy(groups, z):
    expected = studentized_range.sf(2**0.5 * z, groups, np.inf)
    assert float(range_p(-z, group_count=groups)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("z", [8.0, 20.0, 35.0])
def test_far_out_the_range_is_the_sum_over_the_pairs(z):
    assert float(range_p(z, group_count=6)) == pytest.approx(15 * 2 * norm.sf(z), rel=1e-4, abs=0)


@pytest.mark.parametrize("z", [0.1, 1.0, 1.96, 6.0, 30.0])
def test_of_two_groups_the_range_is_the_two_sided_p(z):
    assert float(range_p(z, group_count=2)) == pytest.approx(2 * norm.sf(z), rel=1e-9, abs=0)


@pytest.mark.parametrize(("groups", "confidence"), [(2, 0.95), (6, 0.95), (20, 0.99)])
def test_the_critical_z_agrees_with_scipy(groups, confidence):
    expected = studentized_range.ppf(confidence, groups, np.inf) / 2**0.5
    assert range_z(groups, confidence=confidence) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_the_range_is_valid_for_unequal_variances():
    random = np.random.default_rng(4)
    deviation = np.array([1.0, 0.3, 0.1, 2.0])
    means = random.normal(size=(20_000, 4)) * deviation
    z = [
        np.abs(means[:, i] - means[:, j]) / np.hypot(deviation[i], deviation[j])
        for i, j in combinations(range(4), 2)
    ]
    share = np.mean(np.max(z, axis=0) > range_z(4))
    assert 0.03 < share <= 0.05 + 2 * (0.05 * 0.95 / 20_000) ** 0.5
