"""The picture of `Subgroups`: the ratio of each of the worst, and its upper limit."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.analyses.subgroups import Subgroups
from fourfifths._plot.style import BELOW, LINE, MAX_RATIO, OTHER, draw, label_line, literal, tidy
from fourfifths._text import alternatives, number_text

# So that the dot of a ratio of 0 is whole.
LEFT_EDGE = -0.02


@draw.register
def draw_subgroups(result: Subgroups, ax: Axes | None = None) -> Figure | Axes:
    """Draw a dot for each ratio, and a line from it to its upper limit."""
    figure = None
    if ax is None:
        figure = Figure(figsize=(9, 1.5 + 0.36 * len(result.subgroups)), layout="constrained")
        ax = figure.subplots()
    largest = 1.1
    for position, subgroup in enumerate(result):
        color = BELOW if subgroup.ratio_limit < result.threshold else OTHER
        ax.plot([subgroup.ratio], [position], "o", color=color, markersize=6)
        # A subgroup without an upper limit has a line to the edge of the panel and no end.
        has_limit = not math.isnan(subgroup.ratio_limit)
        end = subgroup.ratio_limit if has_limit else 10 * MAX_RATIO
        ax.plot([subgroup.ratio, end], [position] * 2, color=color, linewidth=2)
        if has_limit:
            ax.plot([end], [position], "|", color=color, markersize=10, markeredgewidth=2)
        largest = max(largest, *(1.05 * x for x in (subgroup.ratio, end) if not math.isnan(x)))
    labels = [f"{subgroup.label}  {subgroup.selected:,}/{subgroup.n:,}" for subgroup in result]
    ax.set_yticks(range(len(labels)), [literal(label) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(LEFT_EDGE, min(largest, MAX_RATIO))
    ax.axvline(1, color=LINE, linewidth=0.8)
    if result.threshold < 1:
        ax.axvline(result.threshold, color=LINE, linestyle="--", linewidth=1)
        label_line(ax, number_text(result.threshold), x=result.threshold)
    ax.set_xlabel("ratio to the rate of all others, and its upper limit")
    tidy(ax, grid="x")
    if figure is None:
        return ax
    figure.suptitle(
        literal(
            f"{result.table}: {result.outcome} = {alternatives(result.favorable)}\n"
            f"limits hold for all {result.searched:,} subgroups searched, "
            f"{100 * result.confidence:g}%; red: below {number_text(result.threshold)}"
        ),
        fontsize="medium",
    )
    return figure
