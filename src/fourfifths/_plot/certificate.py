"""The picture of a `Certificate`: the impact floor, and the auditors on the axis of the BER."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._certify.result import Certificate, PairCertificate
from fourfifths._plot.style import BELOW, LINE, OTHER, literal

GRID = np.linspace(0.005, 1, 400)


def plot_certificate(certificate: Certificate) -> Figure:
    """Draw the worst pair: its floor with the band, beta and threshold; every auditor's BER."""
    pair = certificate.worst
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_floor(left, certificate, pair)
    _draw_auditors(right, pair)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    names = f"{pair.group} against {pair.reference}"
    figure.suptitle(literal(f"{certificate.table}, {names}: {pair.verdict}"), fontsize="medium")
    return figure


def _draw_floor(axis: Axes, certificate: Certificate, pair: PairCertificate) -> None:
    corrected = 1 - (1 - certificate.confidence) / len(pair.auditors)
    low, high = pair.curve.floor_band(GRID, corrected)
    axis.fill_between(GRID, low, high, color=OTHER, alpha=0.2, linewidth=0, label="band")
    axis.plot(GRID, pair.curve.floor(GRID), color=OTHER, label=f"floor, {pair.strongest}")
    axis.axhline(certificate.threshold, color=LINE, linestyle="--", linewidth=1)
    axis.axvspan(*pair.beta_interval, color=LINE, alpha=0.15, linewidth=0)
    axis.axvline(pair.beta, color=LINE, linewidth=1)
    decisive = min(pair.auditors, key=lambda each: each.impact_floor_interval[1])
    axis.plot(
        [pair.beta, pair.beta],
        decisive.impact_floor_interval,
        color=BELOW if decisive.impact_floor_interval[1] < certificate.threshold else OTHER,
        linewidth=4,
        solid_capstyle="butt",
        label=f"limits at beta, {decisive.name}",
    )
    axis.annotate(
        f"threshold {certificate.threshold:g}",
        (0.02, certificate.threshold),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize="small",
        color=LINE,
    )
    axis.annotate(
        f"beta {pair.beta:.3f}",
        (pair.beta, 0),
        xytext=(4, 4),
        textcoords="offset points",
        fontsize="small",
        color=LINE,
    )
    axis.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="least impact ratio of any rule")
    axis.set_xlabel(literal(f"share of {pair.group} selected"))
    axis.legend(loc="lower right", frameon=False, fontsize="small")


def _draw_auditors(axis: Axes, pair: PairCertificate) -> None:
    for place, found in enumerate(pair.auditors):
        color = OTHER if found.interval[0] > pair.ber_threshold else LINE
        color = BELOW if found.interval[1] <= pair.ber_threshold else color
        axis.plot(found.interval, [place, place], color=color, linewidth=2, solid_capstyle="butt")
        axis.plot([found.balanced_error_rate], [place], "o", color=color, markersize=5)
    axis.axvline(pair.ber_threshold, color=LINE, linestyle="--", linewidth=1)
    axis.annotate(
        f"threshold {pair.ber_threshold:.3f}",
        (pair.ber_threshold, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize="small",
        color=LINE,
    )
    axis.axvline(0.5, color=LINE, linewidth=0.8)
    axis.set_yticks(range(len(pair.auditors)), [literal(each.name) for each in pair.auditors])
    axis.set_ylim(len(pair.auditors) - 0.5, -0.5)
    highest = max(each.interval[1] for each in pair.auditors)
    axis.set_xlim(0, max(0.55, highest + 0.02))
    axis.set_xlabel("balanced error rate of predicting membership")
