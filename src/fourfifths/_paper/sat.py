"""The paper's figure of SAT scores: two Gaussians, and their repair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import fourfifths
from fourfifths._paper.experiments import Settings
from fourfifths._paper.panels import Curves, Row, new_figure
from fourfifths._plot.style import LINE

LEVELS = 4_000
FEMALE, MALE, FULL, HALF = "female", "male", "full repair of both", "half repair of female"
COLORS = {FEMALE: "#2166ac", MALE: "#b2182b", FULL: "black", HALF: "#92c5de"}
# Two standard deviations above the mean: a male score, a female one, and what both become.
MALE_SCORE, REPAIRED_SCORE, FEMALE_SCORE = 500, 625, 750


def sat_rows(_: Curves, __: Settings) -> list[Row]:
    """Return the quantiles of the paper's two Gaussians and of their repair.

    The full repair of both is N(475, 75): the means and the standard deviations of N(550, 100) and
    N(400, 50) are averaged. Half a repair of one lies halfway between it and that.
    """
    level = (np.arange(LEVELS) + 0.5) / LEVELS
    female, male = norm.ppf(level, 550, 100), norm.ppf(level, 400, 50)
    scores = np.concatenate([female, male])[:, None]
    group = np.repeat([FEMALE, MALE], LEVELS)
    repairer = fourfifths.Repairer(method="geometric", scope="column")
    full = repairer.fit_transform(scores, protected=group).ravel()
    half = repairer.set_params(amount=0.5).transform(scores, protected=group).ravel()
    # Women come first, and after full repair both groups have the same quantiles.
    columns = (level, female, male, full[:LEVELS], half[:LEVELS])
    names = ("level", FEMALE, MALE, FULL, HALF)
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def draw_sat(rows: Sequence[Row]) -> Figure:
    """Draw the densities: the slope of the level along the quantiles."""
    figure, (axis,) = new_figure(1, answers="figure 1")
    level = np.array([row["level"] for row in rows])
    density = {}
    for name, color in COLORS.items():
        value = np.array([row[name] for row in rows])
        density[name] = np.gradient(level, value)
        style = "--" if name == HALF else "-"
        axis.plot(value, density[name], style, color=color, linewidth=1.2, label=name)
    height = 0.0006
    for score, name in ((MALE_SCORE, MALE), (FEMALE_SCORE, FEMALE)):
        arrow = {"arrowstyle": "->", "color": COLORS[name], "linewidth": 1}
        axis.annotate("", (REPAIRED_SCORE, height), xytext=(score, height), arrowprops=arrow)
    marks = ((MALE_SCORE, MALE), (REPAIRED_SCORE, FULL), (FEMALE_SCORE, FEMALE))
    for score, name in marks:
        axis.vlines(score, 0, 2 * height, color=COLORS[name], linewidth=0.8)
        axis.annotate(
            str(score),
            (score, 2 * height),
            xytext=(0, 1),
            textcoords="offset points",
            ha="center",
            fontsize="x-small",
            color=COLORS[name],
            # The curves pass behind the numbers.
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axis.set(xlabel="SAT score", ylabel="density", ylim=(0, None))
    axis.annotate(
        "the same rank:\nmean + 2 sd",
        (690, 4 * height),  # above the curve of the women
        ha="left",
        fontsize="x-small",
        color=LINE,
    )
    figure.legend(loc="outside lower center", frameon=False, ncols=2)
    return figure
