"""Figures of a point, by hand and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import roc_auc_score

from fourfifths._tradeoff.points import (
    Auc,
    auc_interval,
    bootstrap,
    central_interval,
    confusion_counts,
    delong_auc,
    figures,
    make_point,
    mean_of_defined,
)

RECORD: dict[str, Any] = {
    "model": "GNB",
    "method": "none",
    "scope": "none",
    "amount": 0.0,
    "auc": [0.5, 0.0],
    "auditor": {"naive-bayes": [1, 2, 1, 2]},
    "rows": 8,
    "changed": 0,
    "proven_floor": float("nan"),
}
SETTINGS: dict[str, Any] = {"confidence": 0.95, "random_state": 0}

# Group 0: 10 rows, 4 selected, 3 rightly; group 1, the reference: 20 rows, 10 selected, 8 rightly.
COUNTS = np.array([[3, 2, 1, 4], [8, 2, 2, 8]])


def test_the_four_figures_by_hand() -> None:
    by_name = figures(COUNTS, 1)
    assert by_name["impact_ratio"] == pytest.approx((4 / 10) / (10 / 20))
    # Of 15 with the outcome 4 are missed; of 15 without it 3 are selected.
    assert by_name["utility"] == pytest.approx(1 - (4 / 15 + 3 / 15) / 2)
    assert by_name["accuracy"] == pytest.approx(23 / 30)
    assert by_name["parity"] == pytest.approx(1 - (0.5 - 0.4))


def test_of_several_groups_the_lowest_rate_counts() -> None:
    counts = np.array([[2, 0, 0, 8], [5, 0, 0, 5], [3, 0, 0, 7]])
    assert figures(counts, 1)["impact_ratio"] == pytest.approx(0.2 / 0.5)


def test_a_reference_that_is_never_selected_has_no_ratio() -> None:
    assert np.isnan(figures(np.array([[1, 0, 0, 1], [0, 1, 0, 1]]), 1)["impact_ratio"])


def test_stacked_tables_are_figured_one_by_one() -> None:
    both = figures(np.stack([COUNTS, COUNTS[::-1]]), 1)["impact_ratio"]
    assert both == pytest.approx([0.8, 1.25])


def test_confusion_counts_are_selected_missed_wrong_and_passed_over() -> None:
    predicted = np.array([True, False, True, False])
    truth = np.array([True, True, False, False])
    assert confusion_counts(
        predicted, truth, group=np.zeros(4, dtype=np.int16), group_count=2
    ).tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]


def test_the_bootstrap_has_the_central_interval_the_binomial() -> None:
    # One group of each kind, rates 1/2 of 10,000: accuracy is a mean of 20,000 coin tosses.
    counts = np.full((2, 4), 2_500)
    low, high = bootstrap(counts, 1, confidence=0.95, random=np.random.default_rng(0))["accuracy"]
    sd = 0.5 / np.sqrt(20_000)
    assert low == pytest.approx(0.5 - 1.96 * sd, abs=0.3 * sd)
    assert high == pytest.approx(0.5 + 1.96 * sd, abs=0.3 * sd)


def test_the_area_is_scikit_learns_ties_included() -> None:
    random = np.random.default_rng(1)
    truth = random.random(500) < 0.4
    score = np.round(random.normal(size=500) + truth, 1)
    assert delong_auc(score, truth).value == pytest.approx(roc_auc_score(truth, score))


def test_the_areas_interval_covers() -> None:
    # P(X > Y) for X ~ N(1, 1), Y ~ N(0, 1) is Phi(1 / sqrt 2).
    true, random = norm.cdf(1 / np.sqrt(2)), np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        score = np.concatenate([random.normal(1, 1, 80), random.normal(0, 1, 120)])
        low, high = auc_interval(delong_auc(score, np.arange(200) < 80), 0.9)
        hits += low <= true <= high
    assert 0.86 <= hits / 400 <= 0.94


def test_spread_leaves_undefined_values_out() -> None:
    values = np.array([np.nan, *np.linspace(0, 1, 101)])
    assert central_interval(values, 0.9) == pytest.approx((0.05, 0.95))
    assert np.isnan(central_interval(np.array([np.nan]), 0.9)).all()


def test_a_named_group_is_compared_even_if_another_has_a_lower_rate() -> None:
    counts = np.array([[2, 0, 0, 8], [5, 0, 0, 5], [3, 0, 0, 7]])
    assert figures(counts, 1, group=2)["impact_ratio"] == pytest.approx(0.3 / 0.5)


def test_the_variance_of_the_area_by_hand() -> None:
    # Selected rows score 2 and 4, the others 1 and 3: they beat 1 and 2 of 2, are beaten by 2 and
    # 1 of 2. Both components have variance 1/8, over 2 rows each.
    auc = delong_auc(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))
    assert auc == Auc(value=0.75, variance=1 / 8 / 2 + 1 / 8 / 2)


def test_the_area_of_a_single_selected_row_has_no_variance() -> None:
    auc = delong_auc(np.array([1.0, 2.0, 3.0]), np.array([False, True, False]))
    assert auc.value == 0.5
    assert np.isnan(auc.variance)


def test_the_areas_interval_is_cut_at_one() -> None:
    low, high = auc_interval(Auc(value=0.95, variance=0.01), 0.95)
    assert (low, high) == (pytest.approx(0.95 - 1.959964 * 0.1), 1)


def test_one_split_has_intervals_over_its_rows() -> None:
    record = {
        **RECORD,
        "counts": COUNTS.tolist(),
        "rows": 30,
        "changed": 12,
        "auc": [0.7, 0.0025],
        "auditor": {"trees": [3, 10, 4, 20], "svm": [5, 10, 10, 20]},
    }
    point = make_point([record], ["a", "b"], reference=1, **SETTINGS)
    exact = binomtest(12, 30).proportion_ci(0.95)
    assert point.changed == pytest.approx(0.4)
    assert point.changed_interval == pytest.approx((exact.low, exact.high))
    assert point.auc_interval == pytest.approx((0.7 - 1.959964 * 0.05, 0.7 + 1.959964 * 0.05))
    assert (point.auditor, point.balanced_error_rate) == ("trees", pytest.approx(0.25))
    assert point.auditors == {"trees": pytest.approx(0.25), "svm": pytest.approx(0.5)}
    low, high = point.impact_ratio_interval
    assert point.impact_ratio == pytest.approx(0.8)
    assert low < 0.8 < high


def test_over_splits_aucs_are_averaged_where_they_are_defined() -> None:
    splits = [
        {**RECORD, "counts": COUNTS.tolist(), "auc": [value, 0.0]}
        for value in (0.6, float("nan"), 0.8)
    ]
    point = make_point(splits, ["a", "b"], reference=1, **SETTINGS)
    assert point.auc == pytest.approx(0.7)


def test_a_ratio_over_splits_is_that_of_their_rows_together() -> None:
    # 1 of 4 against 2 of 4, then 4 of 4 against 1 of 4: together 5 of 8 against 3 of 8.
    first, second = [[1, 0, 0, 3], [2, 0, 0, 2]], [[4, 0, 0, 0], [1, 0, 0, 3]]
    splits = [{**RECORD, "counts": counts} for counts in (first, second)]
    point = make_point(splits, ["a", "b"], reference=1, **SETTINGS)
    assert point.impact_ratio == pytest.approx((5 / 8) / (3 / 8))  # the mean would be 2.25
    assert point.impact_ratios == {"a": pytest.approx(5 / 3)}
    assert point.parity == pytest.approx(1 - (3 / 8 - 5 / 8))


def test_the_interval_over_splits_is_that_of_the_group_with_the_lowest_ratio() -> None:
    # Group a has 2 of 4 in both splits, group b 1 and 4 of 4, the reference 4 of 4: a is lowest,
    # though b has the lowest rate of one split.
    splits = [{**RECORD, "counts": [[2, 0, 0, 2], [b, 0, 0, 4 - b], [4, 0, 0, 0]]} for b in (1, 4)]
    point = make_point(splits, ["a", "b", "c"], reference=2, **SETTINGS)
    assert point.impact_ratio == pytest.approx(0.5)
    assert point.impact_ratio_interval == pytest.approx((0.5, 0.5))


def test_the_mean_leaves_undefined_values_out() -> None:
    assert mean_of_defined(np.array([0.2, np.nan, 0.6])) == pytest.approx(0.4)
    assert np.isnan(mean_of_defined(np.array([np.nan, np.nan])))


def test_one_split_has_the_exact_interval_of_the_strongest_auditor() -> None:
    record = {
        **RECORD,
        "counts": COUNTS.tolist(),
        "auditor": {"svm": [5, 9, 5, 9], "trees": [0, 20, 0, 30]},
    }
    point = make_point([record], ["a", "b"], reference=1, **SETTINGS)
    assert (point.auditor, point.balanced_error_rate) == ("trees", 0)
    low, high = point.balanced_error_rate_interval
    # No error in 20 rows nor in 30: the exact limits of the two rates bound their mean.
    assert low == 0
    assert 0 < high <= 1 - 0.0125 ** (1 / 20)


def test_what_is_proven_is_the_lowest_over_the_splits_and_undefined_if_one_is() -> None:
    records: Any = [
        RECORD | {"counts": COUNTS.tolist(), "proven_floor": floor} for floor in (0.85, 0.82, 0.9)
    ]
    assert make_point(records, ["a", "b"], reference=1, **SETTINGS).proven_floor == 0.82
    records[0]["proven_floor"] = float("nan")
    assert np.isnan(make_point(records, ["a", "b"], reference=1, **SETTINGS).proven_floor)
