"""The ROC hull, the impact floor and its limits: by hand, by brute force, on known curves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.proportion import proportion_confint

from fourfifths._stats.roc import (
    MIN_ROWS_TO_ADD_SQUARES,
    Cuts,
    best_slope,
    floor_limit,
    half_width,
    half_widths,
    hull,
    hull_of_counts,
    line_slopes,
    score_counts,
)

BETAS = np.linspace(0.02, 1, 50)


def gaussians(n, d, seed, n_reference=None):
    """Return scores N(0, 1) of the group and N(d, 1) of the reference."""
    random = np.random.default_rng(seed)
    n_reference = n_reference or n
    scores = np.append(random.normal(size=n), random.normal(d, size=n_reference))
    return scores, np.append(np.zeros(n, bool), np.ones(n_reference, bool))


def true_floor(beta, d):
    return beta / norm.cdf(d + norm.ppf(beta))


def roc_points(scores, is_reference):
    """Return the rates of every threshold rule, and of the rule that selects no one."""
    cuts = [*np.unique(scores), np.inf]
    return [
        (float(np.mean(scores[~is_reference] >= cut)), float(np.mean(scores[is_reference] >= cut)))
        for cut in cuts
    ]


def best_mixture(points, beta):
    """Return the highest rate on the reference of two mixed points at rate beta on the group."""
    best = max((y for x, y in points if x == beta), default=0.0)
    for (x0, y0), (x1, y1) in combinations(sorted(points), 2):
        if x0 < x1 and x0 <= beta <= x1:
            best = max(best, y0 + (y1 - y0) * (beta - x0) / (x1 - x0))
    return best


def test_hull_by_hand():
    # From the top: R, G, R, R, G. The point after "R, G" lies below the chord.
    curve = hull([5, 4, 3, 2, 1], np.array([True, False, True, True, False]))
    np.testing.assert_allclose(curve.group, [0, 0, 1 / 2, 1])
    np.testing.assert_allclose(curve.reference, [0, 1 / 3, 1, 1])
    assert (curve.n, curve.n_reference) == (2, 3)


def test_best_rate_by_hand():
    curve = hull([5, 4, 3, 2, 1], np.array([True, False, True, True, False]))
    np.testing.assert_allclose(curve.best_rate([0, 0.25, 0.5, 0.75, 1]), [1 / 3, 2 / 3, 1, 1, 1])


def test_floor_by_hand():
    curve = hull([5, 4, 3, 2, 1], np.array([True, False, True, True, False]))
    np.testing.assert_allclose(curve.floor([0.25, 0.5, 1]), [0.375, 0.5, 1])


def test_floor_is_undefined_at_zero():
    curve = hull([2, 1], np.array([True, False]))
    assert np.isnan(curve.floor(0))


def test_a_score_that_says_nothing_has_floor_one():
    curve = hull(np.zeros(20), np.arange(20) < 10)
    np.testing.assert_allclose(curve.floor(BETAS), 1)


def test_a_score_that_errs_always_has_floor_one():
    curve = hull(np.arange(20), np.arange(20) < 10)
    np.testing.assert_allclose(curve.floor(BETAS), 1)


def test_a_perfect_score_has_the_floor_beta():
    curve = hull(np.arange(20), np.arange(20) >= 10)
    np.testing.assert_allclose(curve.floor(BETAS), BETAS)


def test_rows_of_equal_score_are_selected_together():
    curve = hull([1, 1, 0, 0], np.array([True, False, True, False]))
    np.testing.assert_allclose(curve.best_rate(BETAS), BETAS)


def test_hull_of_counts_is_that_of_the_rows():
    counts = np.array([[3.0, 1, 4, 0, 2], [5.0, 2, 2, 0, 1]])
    scores = np.repeat(np.tile(np.arange(5, 0, -1), 2), counts.ravel().astype(int))
    labels = np.repeat([False, True], counts.sum(1).astype(int))
    from_counts, from_rows = hull_of_counts(*counts), hull(scores, labels)
    np.testing.assert_allclose(from_counts.best_rate(BETAS), from_rows.best_rate(BETAS))


@pytest.mark.parametrize("seed", range(20))
def test_hull_is_the_best_mixture_of_two_cuts(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(4, 25))
    scores = random.integers(0, 8, size).astype(float)
    labels = np.append([True, False], random.random(size - 2) < 0.5)
    curve, points = hull(scores, labels), roc_points(scores, labels)
    for beta in BETAS:
        assert curve.best_rate(beta) == pytest.approx(best_mixture(points, beta), abs=1e-12)


@pytest.mark.parametrize("d", [0.0, 0.05, 0.2, 1.0])
def test_floor_is_the_closed_form_for_many_rows(d):
    """Six standard errors of a rate at 200,000 rows a group are under .007 at any beta."""
    curve = hull(*gaussians(200_000, d, seed=1))
    betas = np.linspace(0.1, 1, 19)
    np.testing.assert_allclose(
        curve.best_rate(betas), norm.cdf(d + norm.ppf(betas)), atol=0.007, rtol=0
    )
    np.testing.assert_allclose(curve.floor(betas), true_floor(betas, d), atol=0.03, rtol=0)


def passing_counts(n, n_reference, *, slope, distance, alpha):
    """Return which counts of one cut pass: their limit of r - s b is at most `distance`."""
    widths = []
    for size in (n, n_reference):
        count = np.arange(size + 1)
        low, high = proportion_confint(count, size, alpha=2 * alpha, method="beta")
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
        widths.append(np.maximum(high - count / size, count / size - low))
    rate, best = np.arange(n + 1) / n, np.arange(n_reference + 1) / n_reference
    reach = np.hypot(slope * widths[0][:, None], widths[1])
    return best - slope * rate[:, None] + reach <= distance


def largest_error_rate(n, n_reference, *, beta, threshold, alpha, slope_beta=None):
    """Return the largest probability that a cut on the line passes, over all such cuts.

    A table of two cells has one cut, with rates b and r = s b + beta (1 / tau - s). Its impact
    ratio at beta is just tau; every harder table has a cut that passes less often.
    """
    slope = best_slope(slope_beta or beta, threshold)
    distance = beta / threshold - slope * beta
    passes = passing_counts(n, n_reference, slope=slope, distance=distance, alpha=alpha)
    rates = np.unique(np.concatenate([np.linspace(0, 1, 60), np.linspace(0, 0.1, 25)]))
    rates = rates[distance + slope * rates <= 1]
    chance = binom.pmf(np.arange(n + 1), n, rates[:, None])
    best = distance + slope * rates
    chance_reference = binom.pmf(np.arange(n_reference + 1), n_reference, best[:, None])
    return float(np.max(np.sum((chance @ passes) * chance_reference, axis=1)))


SMALLEST = MIN_ROWS_TO_ADD_SQUARES
SIZES = [(SMALLEST, SMALLEST), (25, 400), (400, 25), (60, 60), (300, 300), (200, 500)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_the_error_rate_of_a_cut_is_at_most_alpha_by_enumeration(sizes, alpha):
    for threshold in (0.8, 0.9, 0.5):
        for share in (0.7, 0.5, 0.25, 0.1, 0.04):
            beta = share * threshold
            rate = largest_error_rate(*sizes, beta=beta, threshold=threshold, alpha=alpha)
            assert rate <= alpha


@pytest.mark.parametrize("sizes", SIZES)
def test_it_is_so_with_the_slope_for_a_beta_that_is_estimated(sizes):
    for beta in (0.03, 0.1, 0.3, 0.5, 0.6):
        rate = largest_error_rate(*sizes, beta=beta, threshold=0.8, alpha=0.04, slope_beta=0.2)
        assert rate <= 0.04


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(20, 3000), (3000, 20), (100, 2000), (2000, 100), (1500, 1500)])
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.02, 0.01])
def test_the_error_rate_of_a_cut_is_at_most_alpha_with_more_rows(sizes, alpha):
    for threshold in (0.8, 0.9, 0.5):
        for share in (0.7, 0.5, 0.25, 0.1, 0.04):
            beta = share * threshold
            rate = largest_error_rate(*sizes, beta=beta, threshold=threshold, alpha=alpha)
            assert rate <= alpha


def test_the_enumeration_is_of_the_line_that_is_used():
    # Two cells: the cuts select nobody, the first cell, or everybody. The other two pass here.
    n, n_reference, slope, alpha = 40, 60, 1.05, 0.05
    passes = passing_counts(n, n_reference, slope=slope, distance=0.3, alpha=alpha)
    for selected, selected_reference in ((3, 5), (20, 30), (20, 38), (35, 60), (10, 26), (0, 14)):
        cuts = Cuts(
            selected=np.array([selected]),
            selected_reference=np.array([selected_reference]),
            n=n,
            n_reference=n_reference,
        )
        is_under = cuts.line(slope, alpha=alpha) <= 0.3
        assert is_under == passes[selected, selected_reference]


def test_squares_alone_would_not_do():
    """With each half width on its own side, as MOVER has it, 20 and 500 rows err too often."""
    n, n_reference, beta, alpha = 20, 500, 0.4, 0.01
    slope = best_slope(beta, 0.8)
    distance = beta / 0.8 - slope * beta
    rate, best = np.arange(n + 1) / n, np.arange(n_reference + 1) / n_reference
    low = proportion_confint(rate * n, n, alpha=2 * alpha, method="beta")[0]
    high = proportion_confint(best * n_reference, n_reference, alpha=2 * alpha, method="beta")[1]
    width, reference_width = rate - np.nan_to_num(low), np.nan_to_num(high, nan=1.0) - best
    reach = np.hypot(slope * width[:, None], reference_width)
    passes = best - slope * rate[:, None] + reach <= distance
    b = 0.01
    error_rate = (
        binom.pmf(np.arange(n + 1), n, b)
        @ passes
        @ binom.pmf(np.arange(n_reference + 1), n_reference, distance + slope * b)
    )
    assert error_rate > 1.5 * alpha


def test_with_few_rows_the_limits_hold_together():
    # Half of alpha for each limit, and the widths are added.
    cuts = Cuts(selected=np.array([4]), selected_reference=np.array([9]), n=10, n_reference=12)
    low, high = proportion_confint(4, 10, alpha=0.05, method="beta")
    low_r, high_r = proportion_confint(9, 12, alpha=0.05, method="beta")
    reach = 1.1 * max(high - 0.4, 0.4 - low) + max(high_r - 0.75, 0.75 - low_r)
    assert cuts.line(1.1, alpha=0.05) == pytest.approx(0.75 - 0.44 + reach)


@pytest.mark.parametrize("n", [1, 7, 200])
def test_half_widths_are_those_of_each_count(n):
    counts = np.arange(n + 1)
    low, high = proportion_confint(counts, n, alpha=0.06, method="beta")
    expected = np.maximum(
        np.nan_to_num(high, nan=1.0) - counts / n, counts / n - np.nan_to_num(low)
    )
    np.testing.assert_allclose(half_widths(n, 0.03), expected, atol=1e-12)
    np.testing.assert_allclose(half_width(counts.astype(float), n, 0.03), expected, atol=1e-12)


@pytest.mark.parametrize("beta", [0.02, 0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
def test_the_best_slope_needs_the_fewest_rows(beta, threshold):
    if beta >= threshold:
        assert best_slope(beta, threshold) == 0
        return

    def rows(slope):
        """Return n, from the worst p on a fine grid, with one standard error."""
        p = np.linspace(0, 1, 20_001)
        room = beta * (1 / threshold - slope) + (slope - 1) * p
        if np.any(room <= 0):
            return np.inf
        return np.max((1 + slope**2) * p * (1 - p) / room**2)

    best = best_slope(beta, threshold)
    assert rows(best) <= min(rows(best - 0.01), rows(best + 0.01))


def test_other_slopes_are_spread_where_a_limit_can_reach_the_threshold():
    slopes = line_slopes(0.5, 0.8)
    assert slopes[0] == best_slope(0.5, 0.8)
    # From (1 - .625) / .5 = .75 to 1.25.
    np.testing.assert_allclose(slopes[1:], 0.75 + 0.0625 * (np.arange(8) + 0.5))
    np.testing.assert_allclose(line_slopes(0.2, 0.8, widest=0.5)[1:], slopes[1:])


def limit_of(scores, is_reference, *, beta=0.3, confidence=0.95):
    group, reference = score_counts(scores, is_reference)
    return floor_limit(
        hull_of_counts(group.astype(float), reference.astype(float)),
        np.append(0, np.cumsum(group)),
        np.append(0, np.cumsum(reference)),
        n=int(group.sum()),
        n_reference=int(reference.sum()),
        slopes=line_slopes(beta, 0.8),
        confidence=confidence,
    )


def test_the_floor_limit_by_hand():
    # One line, r <= .2 + b: the floor is b / (.2 + b), and at least b.
    limit = limit_of(np.zeros(40), np.arange(40) < 20)
    one = type(limit)(
        curve=limit.curve, slopes=np.array([1.0]), intercepts=np.array([0.2]), confidence=0.95
    )
    np.testing.assert_allclose(one.at([0.3, 0.8, 0.9]), [0.6, 0.8, 0.9])
    assert np.isnan(one.at(0.0))


@pytest.mark.parametrize("d", [0.0, 0.3, 1.0])
def test_the_limit_holds_at_every_beta_at_once(d):
    """150 runs at confidence .8: with a true error of 20%, over 42 failures is rarer than 1%."""
    runs, n = 150, 200
    assert binom.sf(42, runs, 0.2) < 0.01
    betas = np.linspace(0.02, 0.98, 49)
    floor = betas / norm.cdf(d + norm.ppf(betas))
    labels = np.arange(2 * n) >= n
    failures = 0
    for seed in range(runs):
        scores = np.random.default_rng(seed).normal(size=2 * n) + d * labels
        failures += np.any(limit_of(scores, labels, confidence=0.8).at(betas) > floor)
    assert failures <= 42


def test_the_limit_comes_close_to_a_corner_with_many_rows():
    # .6 and .7 of the rows have the mark: R(.3) = .35, a floor of .857.
    n = 200_000
    labels = np.arange(2 * n) >= n
    mark = np.append(np.arange(n) < 0.6 * n, np.arange(n) < 0.7 * n).astype(float)
    assert 0.82 < float(limit_of(mark, labels).at(0.3)) < 0.3 / 0.35
