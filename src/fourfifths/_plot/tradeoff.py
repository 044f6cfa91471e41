"""A `Tradeoff` as a picture: impact ratio against utility, with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fourfifths._plot.style import LINE, literal
from fourfifths._tables.files import replace_file
from fourfifths._tradeoff.result import Point, Tradeoff

THRESHOLD = 0.8
MARKERS = {"combinatorial": "o", "geometric": "s", "random": "^", "none": "D"}
SOLID, DASHED = "-", "--"


def tradeoff_plot(curve: Tradeoff, path: str | PathLike[str] | None = None) -> Figure:
    """Draw a panel for each model; write it to `path`, whole or not at all."""
    models = list(dict.fromkeys(point.model for point in curve.points))
    figure = Figure(figsize=(1 + 3.6 * len(models), 4.0), layout="constrained")
    axes = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    for axis, model in zip(axes, models, strict=True):
        _draw(axis, curve.select(model=model))
        axis.set_title(literal(model), fontsize="medium")
        axis.set_xlabel(literal(f"impact ratio, against {curve.reference}"))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("utility (1 - BER of the outcome)")
    axes[0].legend(frameon=False, fontsize="small")
    figure.suptitle(
        literal(f"{curve.table}: {curve.outcome} by {' & '.join(curve.protected)}"),
        fontsize="medium",
    )
    if path is not None:
        replace_file(path, lambda temporary: figure.savefig(temporary, dpi=200))
    return figure


def _draw(axis: Any, points: Sequence[Point]) -> None:
    axis.axvspan(THRESHOLD, 1 / THRESHOLD, color="#f2f2f2", zorder=0)
    axis.axvline(1, color=LINE, linewidth=0.8)
    raw = [point for point in points if point.method == "none"]
    kinds = dict.fromkeys((p.scope, p.method) for p in points if p.method != "none")
    for place, (scope, method) in enumerate(kinds):
        own = [p for p in points if (p.scope, p.method) == (scope, method)]
        own = sorted(raw + own, key=lambda point: point.amount)
        line = SOLID if scope == "column" else DASHED
        _line(axis, own, MARKERS[method], line, f"C{place}", f"{method}, {scope}")
    if raw:
        axis.plot(
            raw[0].impact_ratio, raw[0].utility, "D", color="black", markersize=5, label="no repair"
        )


def _line(
    axis: Any, points: Sequence[Point], marker: str, line: str, color: str, label: str
) -> None:
    x = np.array([point.impact_ratio for point in points])
    y = np.array([point.utility for point in points])
    across = np.array([point.impact_ratio_interval for point in points]).T
    up = np.array([point.utility_interval for point in points]).T
    axis.errorbar(
        x,
        y,
        xerr=np.abs(across - x),
        yerr=np.abs(up - y),
        marker=marker,
        linestyle=line,
        color=color,
        markersize=3.5,
        linewidth=1,
        elinewidth=0.4,
        label=label,
    )
