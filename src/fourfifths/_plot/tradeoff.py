"""The picture of a `Tradeoff`: impact ratio against utility, with error bars."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._plot.style import LINE, draw, literal
from fourfifths._text import listed
from fourfifths._tradeoff.result import THRESHOLD, Tradeoff
from fourfifths.errors import OptionError

MARKERS = {"combinatorial": "o", "geometric": "s", "definition": "v", "random": "^", "none": "D"}
LINE_STYLES = {"column": "-", "blocks": "--"}


@draw.register
def draw_tradeoff(curve: Tradeoff, ax: Axes | None = None) -> Figure | Axes:
    """Draw a panel for each model; with `ax`, the panel of the only one."""
    models = list(dict.fromkeys(point.model for point in curve.points))
    if ax is not None and len(models) > 1:
        raise OptionError(
            f"plot(ax=ax): the result has {len(models)} models, {listed(models)}, and one panel "
            f"shows one of them; run tradeoff(..., models=[{models[0]!r}]), or keep the points of "
            f"one: dataclasses.replace(result, points=result.select(model={models[0]!r}))"
            ".plot(ax=ax)"
        )
    figure = None
    axes: list[Axes]
    if ax is None:
        figure = Figure(figsize=(1 + 3.6 * len(models), 4.0), layout="constrained")
        axes = list(figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0])
    else:
        axes = [ax]
    for axis, model in zip(axes, models, strict=True):
        draw_panel(axis, curve, model)
    axes[0].set_ylabel("utility (1 - BER of the outcome)")
    axes[0].legend(frameon=False, fontsize="small")
    if figure is None:
        return axes[0]
    figure.suptitle(
        literal(f"{curve.table}: {curve.outcome} by {' & '.join(curve.protected)}"),
        fontsize="medium",
    )
    return figure


def draw_panel(axis: Axes, curve: Tradeoff, model: str) -> None:
    """Draw one line per repair of a model, from no repair to full repair."""
    points = curve.select(model=model)
    axis.axvspan(THRESHOLD, 1 / THRESHOLD, color="#f2f2f2", zorder=0)
    axis.axvline(1, color=LINE, linewidth=0.8)
    raw = [point for point in points if point.method == "none"]
    repairs = dict.fromkeys(
        (point.scope, point.method) for point in points if point.method != "none"
    )
    for index, (scope, method) in enumerate(repairs):
        same = [point for point in points if (point.scope, point.method) == (scope, method)]
        line = sorted(raw + same, key=lambda point: point.amount)
        x = np.array([point.impact_ratio for point in line])
        y = np.array([point.utility for point in line])
        x_limits = np.array([point.impact_ratio_interval for point in line]).T
        y_limits = np.array([point.utility_interval for point in line]).T
        axis.errorbar(
            x,
            y,
            xerr=np.abs(x_limits - x),
            yerr=np.abs(y_limits - y),
            marker=MARKERS[method],
            linestyle=LINE_STYLES[scope],
            color=f"C{index}",
            markersize=3.5,
            linewidth=1,
            elinewidth=0.4,
            label=f"{method}, {scope}",
        )
    if raw:
        axis.plot(
            raw[0].impact_ratio, raw[0].utility, "D", color="black", markersize=5, label="no repair"
        )
    axis.set_title(literal(model), fontsize="medium")
    axis.set_xlabel(literal(f"impact ratio, against {curve.reference}"))
    axis.spines[["top", "right"]].set_visible(False)
