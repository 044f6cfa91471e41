"""The SAT figure against its closed form: N(550, 100) and N(400, 50) become N(475, 75)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from fourfifths._paper.sat import draw_sat, sat_rows


@pytest.fixture(scope="module")
def rows():
    return sat_rows({})


def column(rows, name):
    return np.array([row[name] for row in rows])


def test_full_repair_is_the_gaussian_between_the_two(rows):
    level = column(rows, "level")
    expected = norm.ppf(level, 475, 75)
    np.testing.assert_allclose(column(rows, "full repair of both"), expected, atol=0.05)


def test_half_a_repair_lies_halfway(rows):
    # Halfway between N(550, 100) and N(475, 75), quantile by quantile.
    expected = norm.ppf(column(rows, "level"), 512.5, 87.5)
    np.testing.assert_allclose(column(rows, "half repair of A"), expected, atol=0.05)


def test_the_densities_drawn_are_those_of_the_gaussians(rows):
    lines = draw_sat(rows).axes[0].get_lines()
    assert [line.get_label() for line in lines] == [
        "A",
        "B",
        "full repair of both",
        "half repair of A",
    ]
    for line, mean, sd in zip(lines, (550, 400, 475, 512.5), (100, 50, 75, 87.5), strict=True):
        inner = slice(400, 3_600)  # where quantiles lie close together
        expected = norm.pdf(line.get_xdata()[inner], mean, sd)
        np.testing.assert_allclose(line.get_ydata()[inner], expected, rtol=0.02)
