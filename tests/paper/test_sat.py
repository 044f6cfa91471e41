"""The SAT figure against its closed form: N(550, 100) and N(400, 50) become N(475, 75)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from fourfifths._paper.experiments import Settings
from fourfifths._paper.sat import draw_sat, sat_rows

SETTINGS = Settings(amounts=(0.0, 1.0), repeats=1, n_jobs=1, cells=Path())


@pytest.fixture(scope="module")
def rows():
    return sat_rows({}, SETTINGS)


def column(rows, name):
    return np.array([row[name] for row in rows])


def test_full_repair_is_the_gaussian_between_the_two(rows):
    level = column(rows, "level")
    expected = norm.ppf(level, 475, 75)
    np.testing.assert_allclose(column(rows, "full repair of both"), expected, atol=0.05)


def test_half_a_repair_lies_halfway(rows):
    # Halfway between N(550, 100) and N(475, 75), quantile by quantile.
    expected = norm.ppf(column(rows, "level"), 512.5, 87.5)
    np.testing.assert_allclose(column(rows, "half repair of female"), expected, atol=0.05)


def test_the_densities_drawn_are_those_of_the_gaussians(rows):
    lines = draw_sat(rows).axes[0].get_lines()
    assert [line.get_label() for line in lines] == [
        "female",
        "male",
        "full repair of both",
        "half repair of female",
    ]
    for line, mean, sd in zip(lines, (550, 400, 475, 512.5), (100, 50, 75, 87.5), strict=True):
        inner = slice(400, 3_600)  # where quantiles lie close together
        expected = norm.pdf(line.get_xdata()[inner], mean, sd)
        np.testing.assert_allclose(line.get_ydata()[inner], expected, rtol=0.02)


def test_scores_of_one_rank_are_marked(rows):
    # Two standard deviations above the mean: 550 + 200, 400 + 100, and 475 + 150 of both.
    axis = draw_sat(rows).axes[0]
    texts = {text.get_text(): text.xy[0] for text in axis.texts}
    assert (texts["500"], texts["625"], texts["750"]) == (500, 625, 750)
    level = column(rows, "level")
    for name, score in (("male", 500), ("female", 750), ("full repair of both", 625)):
        rank = np.interp(score, column(rows, name), level)
        assert rank == pytest.approx(norm.cdf(2), abs=5e-4)
