"""The picture of a `Monitor`: the evidence, and the limits of the ratio, after each batch."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fourfifths._impact.analyses.monitor import Monitor, MonitoredGroup
from fourfifths._plot.style import BELOW, LINE, OTHER, draw, literal, tidy
from fourfifths._text import number_text

MAX_RATIO = 2.0
MAX_TICKS = 4
LEAST_EVIDENCE = 1e-3  # less is drawn here: it says that the bets were lost, not by how much


@draw.register
def draw_monitor(result: Monitor, ax: Axes | None = None) -> Figure | Axes:
    """Draw a row of two panels for each group; with `ax`, the first group's evidence."""
    if ax is not None:
        draw_evidence(ax, result.groups[0], result)
        return ax
    rows = len(result.groups)
    figure = Figure(figsize=(10, 0.7 + 2.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 2, squeeze=False, sharex=True)
    for (left, right), group in zip(axes, result.groups, strict=True):
        draw_evidence(left, group, result)
        draw_limits(right, group, result)
    for axis in axes[-1]:
        axis.set_xlabel("batch")
    title = f"{result.protected} compared with {result.reference}"
    figure.suptitle(literal(title), fontsize="medium")
    return figure


def draw_evidence(axis: Axes, group: MonitoredGroup, result: Monitor) -> None:
    """Draw both e-processes on a logarithmic scale, and the line above which they are enough."""
    batches = range(len(group.looks))
    line = number_text(result.threshold)
    for color, word, values in (
        (BELOW, "below", [look.evidence_below for look in group.looks]),
        (OTHER, "above", [look.evidence_above for look in group.looks]),
    ):
        drawn = [max(value, LEAST_EVIDENCE) for value in values]
        axis.plot(batches, drawn, color=color, marker=".", label=f"ratio {word} {line}")
    enough = len(result.groups) / (1 - result.confidence)
    axis.axhline(enough, color=LINE, linestyle="--", linewidth=1, label="enough")
    axis.set_yscale("log")
    axis.set_ylabel("evidence (e)")
    axis.set_title(literal(group.group), loc="left", fontsize="medium")
    axis.legend(loc="best", fontsize="small", frameon=False)
    name_batches(axis, result)
    tidy(axis)


def draw_limits(axis: Axes, group: MonitoredGroup, result: Monitor) -> None:
    """Draw the pooled ratio and its confidence sequence."""
    batches = list(range(len(group.looks)))
    upper = [
        MAX_RATIO * 10 if math.isnan(look.ratio_interval[1]) else look.ratio_interval[1]
        for look in group.looks
    ]
    lower = [look.ratio_interval[0] for look in group.looks]
    axis.fill_between(batches, lower, upper, color=OTHER, alpha=0.2, linewidth=0)
    ratios = [look.impact_ratio for look in group.looks]
    axis.plot(batches, ratios, color=OTHER, marker=".")
    axis.axhline(result.threshold, color=LINE, linestyle="--", linewidth=1)
    axis.set_ylim(0, MAX_RATIO)
    axis.set_ylabel("impact ratio so far")
    axis.set_title(
        f"{100 * result.confidence:g}% confidence sequence", loc="left", fontsize="medium"
    )
    name_batches(axis, result)
    tidy(axis)


def name_batches(axis: Axes, result: Monitor) -> None:
    """Write the names of a few batches below the axis."""
    last = len(result.batches) - 1
    ticks = sorted(
        {int(tick) for tick in MaxNLocator(MAX_TICKS, integer=True).tick_values(0, max(last, 1))}
        & set(range(last + 1))
    )
    axis.set_xticks(ticks, [literal(result.batches[tick]) for tick in ticks], fontsize="small")
