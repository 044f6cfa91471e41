from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from counted import printed
from scipy.stats import fisher_exact, norm
from scipy.stats.contingency import odds_ratio as conditional_odds_ratio
from statsmodels.stats.contingency_tables import StratifiedTable

from fourfifths._stats.mantel_haenszel import (
    common_risk_difference,
    common_risk_ratio,
    compare_within,
    exact_conditional,
    fitted_selections,
    mantel_haenszel,
)
from fourfifths._stats.proportions import standard_deviations

# Selected of n in the group, then in the reference, per stratum.
# Ricci v. DeStefano, 557 U.S. 557 (2009): Black and White candidates of the two exams.
RICCI = [(3, 8, 16, 25), (6, 19, 25, 43)]
# Bickel, Hammel and O'Connell, Science 187 (1975): women and men admitted, by department.
BERKELEY = [
    (89, 108, 512, 825),
    (17, 25, 353, 560),
    (202, 593, 120, 325),
    (131, 375, 138, 417),
    (94, 393, 53, 191),
    (24, 341, 22, 373),
]


def compare(tables, **options):
    """Compare from tables of (selected, n, selected_reference, n_reference)."""
    names = ("selected", "n", "selected_reference", "n_reference")
    columns = [np.array(column, dtype=float) for column in zip(*tables, strict=True)]
    arrays = dict(zip(names, columns, strict=True))
    return compare_within(range(len(tables)), **{"confidence": 0.95, **arrays, **options})


def statsmodels_table(tables):
    cells = [[[x, n - x], [x_r, n_r - x_r]] for x, n, x_r, n_r in tables]
    return StratifiedTable([np.array(cell, dtype=float) for cell in cells])


def random_tables(seed):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(5, 80, size=(generator.integers(2, 7), 2))
    return [
        (int(generator.integers(1, n)), int(n), int(generator.integers(1, n_r)), int(n_r))
        for n, n_r in sizes
    ]


CASES = [RICCI, BERKELEY, *(random_tables(seed) for seed in range(6))]


def test_ricci_by_exam():
    within = compare(RICCI)
    assert within.odds_ratio == printed("0.33395")
    assert within.cmh == printed("5.348")
    assert within.cmh_p == printed("0.0207")
    assert within.breslow_day_p == printed("0.988")
    assert not within.reversal


def test_berkeley_shows_the_reversal():
    within = compare(BERKELEY)
    selected, n, selected_reference, n_reference = np.sum(BERKELEY, axis=0)
    assert selected / n < selected_reference / n_reference
    assert within.odds_ratio > 1
    assert within.reversal


def test_each_stratum_is_listed_with_its_counts_and_ratio():
    captain, lieutenant = compare(RICCI).strata
    assert captain == {
        "stratum": 0,
        "n": 8,
        "selected": 3,
        "n_reference": 25,
        "selected_reference": 16,
        "impact_ratio": pytest.approx((3 / 8) / (16 / 25)),
    }
    assert lieutenant["impact_ratio"] == pytest.approx((6 / 19) / (25 / 43))


@pytest.mark.parametrize("tables", CASES)
def test_the_common_odds_ratio_and_its_interval_agree_with_statsmodels(tables):
    within, expected = compare(tables, confidence=0.9), statsmodels_table(tables)
    assert within.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    assert within.odds_ratio_interval == pytest.approx(expected.oddsratio_pooled_confint(0.1))


@pytest.mark.parametrize("tables", CASES)
def test_cmh_agrees_with_statsmodels(tables):
    within, expected = compare(tables), statsmodels_table(tables).test_null_odds(correction=False)
    assert (within.cmh, within.cmh_p) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("tables", CASES)
def test_breslow_day_agrees_with_statsmodels(tables):
    within, expected = compare(tables), statsmodels_table(tables).test_equal_odds()
    assert (within.breslow_day, within.breslow_day_p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )


@pytest.mark.parametrize("tables", CASES)
def test_tarones_correction_agrees_with_statsmodels(tables):
    within, expected = compare(tables), statsmodels_table(tables).test_equal_odds(adjust=True)
    assert (within.tarone, within.tarone_p) == pytest.approx((expected.statistic, expected.pvalue))


def homogeneity_to_fifty_digits(tables):
    """Breslow and Day's statistic, and Tarone's, with the quadratic solved in fifty digits."""
    with localcontext(prec=50):
        cells = [
            [Decimal(cell) for cell in (x, n - x, x_r, n_r - x_r)] for x, n, x_r, n_r in tables
        ]
        odds_ratio = sum(a * d / (a + b + c + d) for a, b, c, d in cells) / sum(
            b * c / (a + b + c + d) for a, b, c, d in cells
        )
        statistic = differences = variances = Decimal(0)
        for a, b, c, d in cells:
            n, m, t = a + b, c + d, a + c
            square, linear = 1 - odds_ratio, m - t + odds_ratio * (n + t)
            root = (linear**2 + 4 * square * odds_ratio * n * t).sqrt()
            fitted = next(
                x
                for x in ((-linear + root) / (2 * square), (-linear - root) / (2 * square))
                if max(Decimal(0), t - m) < x < min(n, t)
            )
            variance = 1 / (1 / fitted + 1 / (n - fitted) + 1 / (t - fitted) + 1 / (m - t + fitted))
            statistic += (a - fitted) ** 2 / variance
            differences, variances = differences + a - fitted, variances + variance
        return float(statistic), float(statistic - differences**2 / variances)


@pytest.mark.parametrize(
    "tables",
    [
        RICCI,
        BERKELEY,
        # Odds ratios near 1e10, and near its inverse: all but one selected here, one there.
        [(99_999, 100_000, 1, 100_000), (99_990, 100_000, 3, 100_000), (50, 60, 2, 900)],
        [(1, 100_000, 99_999, 100_000), (3, 100_000, 99_990, 100_000), (2, 900, 50, 60)],
        # An odds ratio of 1 + 3e-7, and sizes that differ by a factor of a million.
        [(500_000, 1_000_000, 499_999, 1_000_001), (3, 7, 3_000_000, 7_000_001)],
        [(4_999_999, 5_000_000, 4_999_000, 5_000_000), (9, 10, 4_000_000, 5_000_000)],
        [(1, 2, 1_000_000, 9_000_000), (5, 5_000_000, 2, 3), (7, 20, 9, 31)],
        # Differences of cells were wrong by factors of 2 to 1,700 here.
        [(80_469, 80_477, 2, 2), (88, 2_553_584, 82_379, 90_199)],
        [(1, 151_104, 585_048, 585_211), (1_702_963, 1_702_967, 3, 5), (3_243, 38_452, 1, 618)],
    ],
)
def test_homogeneity_keeps_its_digits(tables):
    within = compare(tables)
    expected = homogeneity_to_fifty_digits(tables)
    assert (within.breslow_day, within.tarone) == pytest.approx(expected, rel=1e-9)


def test_breslow_day_is_zero_where_every_odds_ratio_is_one():
    within = compare([(5, 10, 10, 20), (2, 8, 3, 12)])
    assert within.odds_ratio == pytest.approx(1)
    assert within.breslow_day == pytest.approx(0, abs=1e-12)
    assert within.breslow_day_p == pytest.approx(1)


@pytest.mark.parametrize("table", [(26, 48, 206, 259), (3, 8, 16, 25), (0, 5, 3, 9)])
def test_with_one_stratum_cmh_is_the_square_of_the_standard_deviations(table):
    assert compare([table]).cmh == pytest.approx(float(standard_deviations(*table)) ** 2)


def test_a_stratum_with_one_side_only_says_nothing():
    alone, joined = compare(RICCI), compare([*RICCI, (4, 9, 0, 0), (0, 0, 7, 7)])
    for figure in ("odds_ratio", "cmh", "cmh_p", "breslow_day", "breslow_day_p"):
        assert getattr(joined, figure) == pytest.approx(getattr(alone, figure))


def test_no_selection_in_a_stratums_reference_leaves_its_ratio_undefined():
    assert compare([(1, 2, 0, 3), (1, 2, 1, 3)]).strata[0]["impact_ratio"] is None


def test_both_directions_of_berkeley_and_their_tests():
    within = compare(BERKELEY)
    pooled = np.sum(BERKELEY, axis=0)
    assert (within.direction, within.pooled_direction) == (1, -1)
    assert within.pooled_p == pytest.approx(2 * norm.sf(abs(float(standard_deviations(*pooled)))))
    # Pooled the difference is beyond doubt; within departments it is not even significant.
    assert within.pooled_p < 1e-15
    assert within.cmh_p > 0.05


def test_the_pooled_direction_is_that_of_strata_with_both_groups():
    # 9/29 against 17/20 over all rows; where both were, 9/19 against 7/20.
    within = compare([(8, 10, 3, 4), (1, 9, 4, 16), (0, 10, 0, 0), (0, 0, 10, 10)])
    assert within.pooled_direction == 1
    assert within.pooled_p == pytest.approx(2 * norm.sf(float(standard_deviations(9, 19, 7, 20))))


def test_an_odds_ratio_of_zero_within_can_reverse_the_pooled_direction():
    # Pooled 10/11 against 6/55; within strata only the reference is ever selected more often.
    within = compare([(10, 10, 5, 5), (0, 1, 1, 50)])
    assert within.odds_ratio == 0
    assert within.reversal


def test_an_infinite_odds_ratio_within_can_reverse_the_pooled_direction():
    # Pooled 6/55 against 10/11; within strata only the group is ever selected more often.
    within = compare([(5, 5, 10, 10), (1, 50, 0, 1)])
    assert np.isnan(within.odds_ratio)
    assert within.reversal


def test_strata_that_inform_on_nothing_leave_everything_undefined():
    within = compare([(2, 2, 3, 3), (0, 4, 0, 5)])
    figures = (within.odds_ratio, within.cmh, within.cmh_p, within.breslow_day)
    assert np.isnan(figures).all()
    assert not within.reversal
    assert within.why["cmh"] == "no stratum has both groups and both outcomes"


def test_every_undefined_figure_has_a_reason_and_no_other():
    assert compare(RICCI).why == {}
    # One stratum: the odds ratio is defined, and there is nothing to be homogeneous with.
    alone = {"breslow_day", "breslow_day_p", "tarone", "tarone_p"}
    assert compare(RICCI[:1]).why.keys() == alone
    # No one of the group is selected: the odds ratio is 0, and has no interval.
    zero = compare([(0, 5, 3, 9), (0, 4, 2, 7)])
    assert zero.odds_ratio == 0
    assert zero.why.keys() == {"odds_ratio_interval", "risk_ratio_interval", *alone}


@pytest.mark.parametrize("odds_ratio", [0.05, 0.9, 1.0, 1 + 1e-9, 4.0, 200.0])
def test_the_fitted_table_has_the_margins_and_the_odds_ratio(odds_ratio):
    n, n_reference = np.array([9.0, 20.0, 5.0]), np.array([9.0, 35.0, 400.0])
    selected = np.array([9.0, 11.0, 3.0])
    a = fitted_selections(n, n_reference, selected=selected, odds_ratio=odds_ratio)
    b, c, d = n - a, selected - a, n_reference - (selected - a)
    assert np.all((a > 0) & (b > 0) & (c > 0) & (d > 0))
    np.testing.assert_allclose(a * d / (b * c), odds_ratio, rtol=1e-7)


@pytest.mark.parametrize("tables", CASES)
def test_the_common_ratio_of_rates_agrees_with_statsmodels(tables):
    assert compare(tables).risk_ratio == pytest.approx(statsmodels_table(tables).riskratio_pooled)


def test_berkeley_by_department():
    # R's mantelhaen.test(UCBAdmissions, correct = FALSE): 1.5246, and an odds ratio of 1.105 once
    # women come first. The rates over all departments are 30.4% and 44.5%.
    within = compare(BERKELEY)
    selected, n, selected_reference, n_reference = np.sum(BERKELEY, axis=0)
    assert round(100 * selected / n, 1) == 30.4
    assert round(100 * selected_reference / n_reference, 1) == 44.5
    assert within.odds_ratio == printed("1.105")
    assert within.cmh == printed("1.5246")
    # Department A differs from the others: Breslow and Day's p is .002.
    assert within.pooling == "doubtful"
    weights = [n * n_r / (n + n_r) for _, n, _, n_r in BERKELEY]
    differences = [x / n - x_r / n_r for x, n, x_r, n_r in BERKELEY]
    assert within.risk_difference == pytest.approx(np.average(differences, weights=weights))


@pytest.mark.parametrize("table", [(30, 100, 50, 140), (1, 9, 3, 4), (7, 7, 3, 9)])
def test_the_intervals_of_one_stratum_are_those_of_two_rates(table):
    x, n, x_r, n_r = table
    within, z = compare([table]), norm.ppf(0.975)
    ratio, log_distance = x / n / (x_r / n_r), z * sqrt(1 / x - 1 / n + 1 / x_r - 1 / n_r)
    assert within.risk_ratio_interval == pytest.approx(
        (ratio * np.exp(-log_distance), ratio * np.exp(log_distance))
    )
    p, q = x / n, x_r / n_r
    distance = z * sqrt(p * (1 - p) / n + q * (1 - q) / n_r)
    assert within.risk_difference_interval == pytest.approx(
        (max(p - q - distance, -1), min(p - q + distance, 1))
    )


@pytest.mark.parametrize("table", [(3, 4, 1, 4), (3, 8, 16, 25), (0, 5, 3, 9), (9, 9, 2, 7)])
def test_the_exact_test_of_one_stratum_is_fishers(table):
    x, n, x_r, n_r = table
    cells = [[x, n - x], [x_r, n_r - x_r]]
    within = compare([table])
    assert within.exact_p == pytest.approx(fisher_exact(cells).pvalue)
    low, high = conditional_odds_ratio(cells).confidence_interval(0.95)
    expected = (low, np.nan if np.isinf(high) else high)
    assert within.exact_interval == pytest.approx(expected, rel=1e-5, nan_ok=True)


def sums_by_enumeration(tables):
    """The probability of each sum of the group's selections, every combination of tables listed."""
    margins = [(n, n_r, x + x_r) for x, n, x_r, n_r in tables]
    ranges = [range(max(0, t - m), min(n, t) + 1) for n, m, t in margins]
    sums = {}
    for cells in itertools.product(*ranges):
        ways = Fraction(1)
        for x, (n, m, t) in zip(cells, margins, strict=True):
            ways *= Fraction(comb(n, x) * comb(m, t - x), comb(n + m, t))
        sums[sum(cells)] = sums.get(sum(cells), Fraction(0)) + ways
    return sums


@pytest.mark.parametrize(
    "tables", [RICCI, [(1, 4, 3, 5), (0, 3, 2, 6), (2, 7, 4, 4)], [(0, 2, 3, 4), (0, 3, 1, 5)]]
)
def test_the_exact_test_agrees_with_an_enumeration(tables):
    sums = sums_by_enumeration(tables)
    observed = sum(x for x, *_ in tables)
    expected = sum(chance for chance in sums.values() if chance <= sums[observed])
    within = compare(tables)
    assert within.exact_p == pytest.approx(float(expected), rel=1e-9)
    # At a limit, the tail beyond the table has half of what remains: 2.5%.
    low, high = within.exact_interval
    tails = [(low, lambda s: s >= observed)] * (low > 0) + [(high, lambda s: s <= observed)]
    for limit, in_tail in tails:
        weights = {s: float(chance) * limit**s for s, chance in sums.items()}
        tail = sum(weight for s, weight in weights.items() if in_tail(s))
        assert tail / sum(weights.values()) == pytest.approx(0.025, rel=1e-6)


def test_the_exact_test_is_left_out_where_it_would_take_too_long():
    within = compare([(50_000, 100_000, 49_000, 100_000)] * 3)
    assert np.isnan(within.exact_p)
    assert "too many persons" in within.why["exact_p"]


def test_where_everyone_is_selected_there_is_no_interval():
    within = compare([(3, 3, 4, 4), (2, 2, 5, 5)])
    assert (within.risk_ratio, within.risk_difference) == (1, 0)
    assert {"risk_ratio_interval", "risk_difference_interval"} <= within.why.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strata", "size"), [(3, 200), (150, 5)], ids=["few large strata", "many small strata"]
)
def test_the_intervals_cover(strata, size):
    """A common ratio, difference and odds ratio are covered by about 95% of 2,000 intervals."""
    generator = np.random.default_rng(8)
    base = generator.uniform(0.3, 0.6, strata)
    odds = 0.6 * base / (1 - base)
    n, n_reference = np.full(strata, float(size)), np.full(strata, 2.0 * size)
    truths = {
        common_risk_ratio: (0.7, 0.7 * base, 2000),
        common_risk_difference: (-0.15, base - 0.15, 2000),
        mantel_haenszel: (0.6, odds / (1 + odds), 2000),
        exact_conditional: (0.6, odds / (1 + odds), 200),
    }
    for method, (truth, rates, trials) in truths.items():
        covered = 0
        for _ in range(trials):
            a = generator.binomial(size, rates).astype(float)
            c = generator.binomial(2 * size, base).astype(float)
            _, (low, high) = method(a, n - a, c, n_reference - c)
            covered += low <= truth <= high
        # Three standard errors; the exact interval may cover more.
        error = 3 * sqrt(0.95 * 0.05 / trials)
        assert covered / trials >= 0.95 - error, method
        assert covered / trials <= 0.95 + error or method is exact_conditional, method
