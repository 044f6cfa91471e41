from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import power_proportions_2indep

from fourfifths._stats.power import detectable_ratio, z_test_power

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
