"""The ROC hull and the impact floor, against two Gaussians and against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from fourfifths._stats.roc import hull, hull_of_counts

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
