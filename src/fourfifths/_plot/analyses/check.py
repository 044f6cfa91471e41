"""The picture of a `Check`: each printed ratio beside the recomputed one."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.analyses.check import Check
from fourfifths._plot.style import BELOW, LINE, OTHER, draw, literal, tidy


@draw.register
def draw_check(result: Check, ax: Axes | None = None) -> Figure | Axes:
    """Draw the recomputed ratios as dots, their bounds as lines, the printed ones as crosses."""
    figure = None
    if ax is None:
        figure = Figure(figsize=(8, 1.6 + 0.42 * len(result.groups)), layout="constrained")
        ax = figure.subplots()
    for row, group in enumerate(result.groups):
        low, high = group.impact_ratio_bounds
        ax.plot([low, high], [row, row], color=OTHER, linewidth=2, solid_capstyle="butt")
        ax.plot([group.impact_ratio], [row], "o", color=OTHER, markersize=5)
        if group.ratio_number is not None:
            is_wrong = group.ratio_verdict == "does not follow"
            color = BELOW if is_wrong else LINE
            ax.plot([group.ratio_number], [row], "x", color=color, markersize=8, markeredgewidth=2)
    # Empty series, so that the legend has one of each.
    ax.plot([], [], "o", color=OTHER, markersize=5, label="recomputed, with bounds")
    ax.plot([], [], "x", color=LINE, markersize=8, markeredgewidth=2, label="printed, follows")
    ax.plot([], [], "x", color=BELOW, markersize=8, markeredgewidth=2, label="does not follow")
    ax.axvline(1, color=LINE, linewidth=0.8)
    labels = [literal(f"{group.group}, n\u00a0=\u00a0{group.n:,}") for group in result.groups]
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(literal(f"impact ratio to {result.highest}"))
    if figure is None:
        ax.legend(loc="best", fontsize="small")
    else:
        figure.legend(loc="outside upper center", ncols=3, fontsize="small", frameon=False)
    tidy(ax, grid="x")
    return ax if figure is None else figure
