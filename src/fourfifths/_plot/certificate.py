"""The picture of a `Certificate`: the impact floor, and the auditors on the axis of the BER."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._certify.result import Certificate, PairCertificate
from fourfifths._plot.style import (
    BELOW,
    LINE,
    OTHER,
    draw,
    label_line,
    label_point,
    literal,
    tidy,
)

# Rules that select nobody have no ratio, so the curve starts just above 0.
SELECTION_RATES = np.linspace(0.005, 1, 400)


@draw.register
def draw_certificate(certificate: Certificate, ax: Axes | None = None) -> Figure | Axes:
    """Draw the worst pair: its impact floor, and every auditor's BER; with `ax`, the floor only."""
    pair = certificate.worst
    title = literal(f"{certificate.table}, {pair.group} against {pair.reference}: {pair.verdict}")
    if ax is not None:
        draw_floor(ax, certificate, pair)
        ax.set_title(title, loc="left", fontsize="medium")
        return ax
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_floor(left, certificate, pair)
    draw_auditors(right, pair)
    figure.suptitle(title, fontsize="medium")
    return figure


def draw_floor(axis: Axes, certificate: Certificate, pair: PairCertificate) -> None:
    """Draw the floor with its lower limit, the limits that decide, beta and the threshold."""
    floor = pair.floor_limit.curve.floor(SELECTION_RATES)
    lower_limit = np.minimum(pair.floor_limit.at(SELECTION_RATES), floor)
    axis.fill_between(
        SELECTION_RATES,
        lower_limit,
        floor,
        color=OTHER,
        alpha=0.2,
        linewidth=0,
        label="down to its lower limit",
    )
    axis.plot(SELECTION_RATES, floor, color=OTHER, label=literal(f"floor, {pair.strongest}"))
    axis.axhline(certificate.threshold, color=LINE, linestyle="--", linewidth=1)
    axis.axvspan(*pair.beta_interval, color=LINE, alpha=0.15, linewidth=0)
    axis.axvline(pair.beta, color=LINE, linewidth=1)
    decisive = min(pair.auditors, key=lambda auditor: auditor.impact_floor_interval[1])
    axis.plot(
        [pair.beta, pair.beta],
        decisive.impact_floor_interval,
        color=BELOW if decisive.impact_floor_interval[1] < certificate.threshold else OTHER,
        linewidth=4,
        solid_capstyle="butt",
        label=literal(f"limits at beta, {decisive.name}"),
    )
    for text, position, offset in (
        (f"threshold {certificate.threshold:g}", (0.02, certificate.threshold), (0, 3)),
        (f"beta {pair.beta:.3f}", (pair.beta, 0), (4, 4)),
    ):
        label_point(axis, text, position, offset=offset)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="smallest impact ratio found")
    axis.set_xlabel(literal(f"share of {pair.group} selected"))
    axis.legend(loc="lower right", frameon=False, fontsize="small")
    tidy(axis)


def draw_auditors(axis: Axes, pair: PairCertificate) -> None:
    """Draw every auditor's BER with its interval, in the colour of its side of the threshold."""
    for row, auditor in enumerate(pair.auditors):
        lower, upper = auditor.interval
        color = OTHER if lower > pair.ber_threshold else LINE
        color = BELOW if upper <= pair.ber_threshold else color
        axis.plot(auditor.interval, [row, row], color=color, linewidth=2, solid_capstyle="butt")
        axis.plot([auditor.balanced_error_rate], [row], "o", color=color, markersize=5)
    axis.axvline(pair.ber_threshold, color=LINE, linestyle="--", linewidth=1)
    label_line(axis, f"threshold {pair.ber_threshold:.3f}", x=pair.ber_threshold, align="right")
    axis.axvline(0.5, color=LINE, linewidth=0.8)
    axis.set_yticks(range(len(pair.auditors)), [literal(auditor.name) for auditor in pair.auditors])
    axis.set_ylim(len(pair.auditors) - 0.5, -0.5)
    highest = max(auditor.interval[1] for auditor in pair.auditors)
    axis.set_xlim(0, max(0.55, highest + 0.02))
    axis.set_xlabel("balanced error rate of predicting membership")
    tidy(axis)
