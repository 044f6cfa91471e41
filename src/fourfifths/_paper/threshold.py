"""The picture behind theorem 4.1: impact ratio and BER over the two selection rates.

The paper describes it in words (section 4.1) and does not print it. A rule is a point: the rate of
the group across, that of the reference upwards. Rules of one impact ratio lie on a line through the
origin, rules of one BER on a line of slope 1. The two lines cross at the group's rate beta, and
that gives the threshold 1/2 - beta/8.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

import fourfifths
from fourfifths._paper.experiments import Settings
from fourfifths._paper.panels import THRESHOLD, Curves, Row, new_figure
from fourfifths._plot.style import BELOW, LINE, OTHER

BETAS = np.linspace(0, THRESHOLD, 81)
MARKED_BETAS = (0.1, 0.3, 0.5)
CONTOURS = (0.1, 0.2, 0.3, 0.4)


def threshold_rows(_: Curves, __: Settings) -> list[Row]:
    """Return, for each rate of the group, where the BER contour meets the four-fifths line.

    Examples
    --------
    >>> from pathlib import Path
    >>> settings = Settings(amounts=(0.0,), repeats=1, n_jobs=1, cells=Path())
    >>> threshold_rows({}, settings)[10]
    {'beta': 0.1, 'reference_rate': 0.125, 'ber_threshold': 0.4875}
    """
    return [
        {
            "beta": round(float(beta), 4),
            "reference_rate": round(float(beta) / THRESHOLD, 6),
            "ber_threshold": round(float(fourfifths.ber_threshold(beta, THRESHOLD)), 6),
        }
        for beta in BETAS
    ]


def draw_threshold(rows: Sequence[Row]) -> Figure:
    """Draw the contours of the BER, the four-fifths line, and the threshold at three rates."""
    figure, (axis,) = new_figure(1, answers="the contours of section 4.1", height=3.2)
    rate = np.linspace(0, 1, 101)
    group, reference = np.meshgrid(rate, rate)
    lines = axis.contour(
        group,
        reference,
        (1 + group - reference) / 2,
        levels=CONTOURS,
        colors="0.75",
        linewidths=0.8,
    )
    axis.clabel(
        lines,
        fmt=lambda ber: f"BER {ber:.1f}",
        manual=[(ber, 1 - ber) for ber in CONTOURS],  # across the contours
        fontsize="x-small",
        colors="0.4",
    )
    axis.plot([0, 1], [0, 1], color=LINE, linewidth=0.8, label="impact ratio 1, BER .5")
    betas = [row["beta"] for row in rows]
    line = [row["reference_rate"] for row in rows]
    axis.fill_between(betas, line, 1, color=BELOW, alpha=0.12, linewidth=0)
    axis.plot(betas, line, color=BELOW, label="impact ratio .8 (shaded: below)")
    for row in rows:
        beta, height, ber = row["beta"], row["reference_rate"], row["ber_threshold"]
        if beta not in MARKED_BETAS:
            continue
        # The contour of this BER goes up to the right, until the rate of the reference is 1.
        ends = np.array([0, 2 * ber])
        axis.plot(ends, ends + 1 - 2 * ber, color=OTHER, linewidth=1)
        axis.plot(beta, height, "o", color=OTHER, markersize=4)
        axis.annotate(
            f"beta {beta:g}: BER {ber:.4f}",
            (beta, height),
            xytext=(0.63, height - 0.07),
            arrowprops={"arrowstyle": "-", "color": OTHER, "linewidth": 0.6},
            va="center",
            fontsize="x-small",
            color=OTHER,
        )
    axis.set(
        xlabel="selection rate of the group, pi_0",
        ylabel="selection rate of the reference, pi_1",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
    )
    axis.legend(frameon=False, fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure
