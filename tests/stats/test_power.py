from __future__ import annotations

import numpy as np
import pytest
from counted import measure, measure_aggregated
from statsmodels.stats.proportion import power_proportions_2indep

from fourfifths._stats.power import detectable_ratio

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
def test_at_the_detectable_ratio_statsmodels_finds_a_power_of_08(n, n_reference, rate):
    ratio = float(detectable_ratio(n, n_reference, rate))
    assert power_at(ratio, n, n_reference, rate) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("n", "n_reference", "rate"), SIZES)
def test_nearer_to_one_the_power_is_less(n, n_reference, rate):
    ratio = float(detectable_ratio(n, n_reference, rate))
    assert power_at((1 + ratio) / 2, n, n_reference, rate) < 0.8


def test_another_power_and_another_confidence_are_kept():
    ratio = float(detectable_ratio(200, 300, 0.6, confidence=0.99, power=0.9))
    assert power_at(ratio, 200, 300, 0.6, alpha=0.01) == pytest.approx(0.9, abs=1e-6)


def test_more_rows_tell_ratios_nearer_to_one():
    ratios = detectable_ratio([50, 100, 1000, 100_000], [50, 100, 1000, 100_000], 0.5)
    assert np.all(np.diff(ratios) > 0)
    assert ratios[-1] > 0.98


def test_too_few_rows_can_tell_nothing():
    assert np.isnan(detectable_ratio(2, 3, 0.3))


def test_a_reference_of_whom_no_one_is_selected_can_tell_nothing():
    assert np.isnan(detectable_ratio(100, 100, 0.0))


def test_where_rates_of_0_and_1_differ_the_test_is_certain():
    assert detectable_ratio(10, 10, 1.0) > 0


def test_the_result_carries_the_detectable_ratio():
    group = measure({"women": (40, 100), "men": (50, 100)})["women"]
    assert power_at(group.detectable_ratio, 100, 100, 0.5) == pytest.approx(0.8, abs=1e-6)


def test_the_reason_names_the_reference_and_not_the_rows_where_its_rate_is_zero():
    group = measure_aggregated({"women": (0, 500), "men": (0, 500)}, reference="men")["women"]
    assert "selected" in group.why["detectable_ratio"]
