"""Figures of a sweep, by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fourfifths._tradeoff.points import area, area_interval, bootstrap, figures, spread_of, tally

# Group 0: 10 rows, 4 selected, 3 rightly; group 1, the reference: 20 rows, 10 selected, 8 rightly.
COUNTS = np.array([[3, 2, 1, 4], [8, 2, 2, 8]])


def test_the_four_figures_by_hand() -> None:
    found = figures(COUNTS, 1)
    assert found["impact_ratio"] == pytest.approx((4 / 10) / (10 / 20))
    # Of 15 with the outcome 4 are missed; of 15 without it 3 are selected.
    assert found["utility"] == pytest.approx(1 - (4 / 15 + 3 / 15) / 2)
    assert found["accuracy"] == pytest.approx(23 / 30)
    assert found["parity"] == pytest.approx(1 - (0.5 - 0.4))


def test_of_several_groups_the_lowest_rate_counts() -> None:
    counts = np.array([[2, 0, 0, 8], [5, 0, 0, 5], [3, 0, 0, 7]])
    assert figures(counts, 1)["impact_ratio"] == pytest.approx(0.2 / 0.5)


def test_a_reference_that_is_never_selected_has_no_ratio() -> None:
    assert np.isnan(figures(np.array([[1, 0, 0, 1], [0, 1, 0, 1]]), 1)["impact_ratio"])


def test_stacked_tables_are_figured_one_by_one() -> None:
    both = figures(np.stack([COUNTS, COUNTS[::-1]]), 1)["impact_ratio"]
    assert both == pytest.approx([0.8, 1.25])


def test_tally_counts_the_four_ways() -> None:
    predicted = np.array([True, False, True, False])
    truth = np.array([True, True, False, False])
    assert tally(predicted, truth, np.zeros(4, dtype=np.int16), 2).tolist() == [
        [1, 1, 1, 1],
        [0, 0, 0, 0],
    ]


def test_the_bootstrap_has_the_spread_of_the_binomial() -> None:
    # One group of each kind, rates 1/2 of 10,000: accuracy is a mean of 20,000 coin tosses.
    counts = np.full((2, 4), 2_500)
    low, high = bootstrap(counts, 1, 0.95, np.random.default_rng(0))["accuracy"]
    sd = 0.5 / np.sqrt(20_000)
    assert low == pytest.approx(0.5 - 1.96 * sd, abs=0.3 * sd)
    assert high == pytest.approx(0.5 + 1.96 * sd, abs=0.3 * sd)


def test_the_area_is_scikit_learns_ties_included() -> None:
    random = np.random.default_rng(1)
    truth = random.random(500) < 0.4
    score = np.round(random.normal(size=500) + truth, 1)
    assert area(score, truth).value == pytest.approx(roc_auc_score(truth, score))


def test_the_areas_interval_covers() -> None:
    # P(X > Y) for X ~ N(1, 1), Y ~ N(0, 1) is Phi(1 / sqrt 2).
    from scipy.stats import norm

    true, random = norm.cdf(1 / np.sqrt(2)), np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        score = np.concatenate([random.normal(1, 1, 80), random.normal(0, 1, 120)])
        low, high = area_interval(area(score, np.arange(200) < 80), 0.9)
        hits += low <= true <= high
    assert 0.86 <= hits / 400 <= 0.94


def test_spread_leaves_undefined_values_out() -> None:
    values = np.array([np.nan, *np.linspace(0, 1, 101)])
    assert spread_of(values, 0.9) == pytest.approx((0.05, 0.95))
    assert np.isnan(spread_of(np.array([np.nan]), 0.9)).all()
