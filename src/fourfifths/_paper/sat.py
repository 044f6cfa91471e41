"""The paper's figure of SAT scores: two Gaussians, and their repair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import fourfifths
from fourfifths._paper.panels import Curves, Row, new_figure

LEVELS = 4_000


def sat_rows(_: Curves) -> list[Row]:
    """Return the quantiles of the paper's two Gaussians and of their repair.

    The full repair of both is N(475, 75): the means and the standard deviations of N(550, 100) and
    N(400, 50) are averaged. Half a repair of A lies halfway between A and that.
    """
    level = (np.arange(LEVELS) + 0.5) / LEVELS
    high, low = norm.ppf(level, 550, 100), norm.ppf(level, 400, 50)
    scores = np.concatenate([high, low])[:, None]
    group = np.repeat(["A", "B"], LEVELS)
    repairer = fourfifths.Repairer(method="geometric", scope="column")
    full = repairer.fit_transform(scores, protected=group).ravel()
    half = repairer.set_params(amount=0.5).transform(scores, protected=group).ravel()
    # A comes first, and after full repair both groups have the same quantiles.
    columns = (level, high, low, full[:LEVELS], half[:LEVELS])
    names = ("level", "A", "B", "full repair of both", "half repair of A")
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def draw_sat(rows: Sequence[Row]) -> Figure:
    """Draw the densities: the slope of the level along the quantiles."""
    figure, axes = new_figure(1)
    level = np.array([row["level"] for row in rows])
    for name, color in zip(list(rows[0])[1:], ("C0", "C1", "black", "C2"), strict=True):
        value = np.array([row[name] for row in rows])
        density = np.gradient(level, value)
        axes[0].plot(value, density, color=color, label=name)
    axes[0].set(xlabel="SAT score", ylabel="density")
    axes[0].legend(frameon=False, fontsize="small")
    return figure
