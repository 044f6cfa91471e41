"""Rates at every cut at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstwo

from fourfifths._stats.cuts import rate_margin, ratio_band, runs


def test_the_margin_is_massarts():
    margins = rate_margin([50, 200], confidence=0.9)
    # Two groups share a failure probability of 0.1.
    assert margins == pytest.approx(
        [math.sqrt(math.log(2 / 0.05) / 100), math.sqrt(math.log(2 / 0.05) / 400)]
    )


@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 1000])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_margin_covers_by_the_exact_distribution_of_kolmogorov(n, confidence):
    margin = float(rate_margin([n], confidence=confidence)[0])
    assert kstwo.sf(margin, n) <= 1 - confidence


@pytest.mark.parametrize("draw", ["continuous", "five values"])
def test_the_band_holds_at_all_cuts_and_references_together(draw):
    rng = np.random.default_rng(4)
    sizes, repeats, failures = (30, 60, 45), 400, 0
    cuts = np.linspace(0.1, 0.9, 17)
    margin = rate_margin(sizes, confidence=0.95)
    true = np.stack([1 - cuts ** (group + 1) for group in range(3)])
    if draw == "five values":
        cuts = np.array([0.2, 0.4, 0.6, 0.8])
        true = np.stack([1 - cuts ** (group + 1) for group in range(3)])
    for _ in range(repeats):
        rates = []
        for group, n in enumerate(sizes):
            scores = rng.random(n) ** (1 / (group + 1))  # P(score < c) = c^(group + 1)
            if draw == "five values":
                scores = np.floor(scores * 5) / 5
            rates.append((scores[:, None] >= cuts - 1e-12).mean(axis=0))
        rates = np.stack(rates)
        reference = rates.argmax(axis=0)
        columns = np.arange(cuts.size)
        low, high = ratio_band(
            rates,
            rates[reference, columns],
            margin=margin[:, None],
            margin_reference=margin[reference],
        )
        ratio = true / true[reference, columns]
        # Without an upper limit nothing is too large; the reference itself has no band.
        outside = (ratio < low - 1e-12) | (ratio > high + 1e-12)
        failures += bool(np.any(outside & (np.arange(3)[:, None] != reference)))
    standard_error = math.sqrt(0.05 * 0.95 / repeats)
    assert failures / repeats <= 0.05 + 3 * standard_error


def test_the_limits_of_a_ratio_by_hand():
    low, high = ratio_band(
        np.array([0.2, 0.2, 0.95]),
        np.array([0.4, 0.1, 1.0]),
        margin=np.array([0.1]),
        margin_reference=np.array([0.15]),
    )
    assert low == pytest.approx([0.1 / 0.55, 0.1 / 0.25, 0.85])
    assert high[[0, 2]] == pytest.approx([0.3 / 0.25, 1 / 0.85])
    assert math.isnan(high[1])  # the reference's rate may be 0


@pytest.mark.parametrize(
    ("marks", "expected"),
    [([], []), ([0, 0], []), ([1], [(0, 0)]), ([1, 1, 0, 1], [(0, 1), (3, 3)])],
)
def test_runs(marks, expected):
    assert runs(np.array(marks, dtype=bool)) == expected
