"""The picture of an `Impact`: rates on the left, ratios on the right, the rule's line."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.result import GroupImpact, Impact
from fourfifths._impact.rules import REFERENCE
from fourfifths._plot.style import BELOW, LINE, OTHER, literal

MAX_RATIO = 4.0


def plot_impact(result: Impact) -> Figure:
    """Draw rates and ratios with their intervals, one block per attribute."""
    blocks = result.attributes
    heights = [len(block.groups) + 1.5 for block in blocks]
    figure = Figure(figsize=(9, 1 + 0.38 * sum(heights)), layout="constrained")
    axes = figure.subplots(len(blocks), 2, squeeze=False, gridspec_kw={"height_ratios": heights})
    for (left, right), block in zip(axes, blocks, strict=True):
        names = [literal(_named(group)) for group in block.groups]
        places = list(range(len(names)))
        for place, group in zip(places, block.groups, strict=True):
            _draw(left, place, group.selection_rate, group.selection_rate_interval, OTHER)
            _draw_ratio(right, place, group)
        left.set_yticks(places, names)
        right.set_yticks(places, [""] * len(places))
        for axis in (left, right):
            axis.set_ylim(len(places) - 0.5, -0.5)
            axis.spines[["top", "right"]].set_visible(False)
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
        left.set_xlim(0, 1)
        left.set_xlabel("selection rate")
        title = f"{' & '.join(block.protected)}, compared with {block.reference}"
        left.set_title(literal(title), loc="left", fontsize="medium")
        right.set_xlabel("impact ratio")
        _draw_lines(right, result)
    percent = f"{100 * result.confidence:g}%"
    figure.suptitle(
        literal(f"{result.table}: {result.outcome} = {result.favorable}")
        + f"\nintervals {percent}; rule {result.rule.name}",
        fontsize="medium",
    )
    return figure


def _draw(axis: Axes, place: int, value: float, limits: tuple[float, float], color: str) -> None:
    low, high = limits
    high = MAX_RATIO * 10 if math.isnan(high) else high
    if not math.isnan(low):
        axis.plot([low, high], [place, place], color=color, linewidth=2, solid_capstyle="butt")
    if not math.isnan(value):
        axis.plot([value], [place], "o", color=color, markersize=5)


def _draw_ratio(axis: Axes, place: int, group: GroupImpact) -> None:
    color = BELOW if group.below_line else OTHER
    _draw(axis, place, group.impact_ratio, group.impact_ratio_interval, color)


def _draw_lines(axis: Axes, result: Impact) -> None:
    for line in result.rule.lines:
        axis.axvline(float(line), color=LINE, linestyle="--", linewidth=1)
        axis.annotate(
            str(line),
            (float(line), 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize="small",
            color=LINE,
        )
    axis.axvline(1, color=LINE, linewidth=0.8)
    ratios = [
        limit
        for attribute in result.attributes
        for group in attribute.groups
        for limit in (group.impact_ratio, group.impact_ratio_interval[1])
        if not math.isnan(limit)
    ]
    axis.set_xlim(0, min(max([1.15, *(1.05 * ratio for ratio in ratios)]), MAX_RATIO))


def _named(group: GroupImpact) -> str:
    suffix = " (reference)" if group.finding == REFERENCE else ""
    return f"{group.group}{suffix}  {group.selected:,}/{group.n:,}"
