"""The picture of `Stages`: how much of each group is left, and the ratio of each step."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.analyses.stages import BOTTOM_LINE, Stages
from fourfifths._impact.result import AttributeImpact
from fourfifths._impact.rules import REFERENCE
from fourfifths._plot.style import LINE, MAX_RATIO, draw, label_line, literal, tidy
from fourfifths.errors import OptionError

# The groups of a step lie this far apart, as a share of the distance to the next step.
GROUP_SPREAD = 0.6


@draw.register
def draw_stages(result: Stages, ax: Axes | None = None) -> Figure | Axes:
    """Draw the funnel and the ratios of each attribute; with `ax`, the ratios of the only one."""
    names = [attribute.name for attribute in result.bottom_line.impact or ()]
    if ax is not None:
        if len(names) > 1:
            raise OptionError(
                f"plot(ax=ax): the result has {len(names)} attributes, and one panel shows one of "
                f"them; use result['bottom line'][{names[0]!r}].plot(ax=ax)"
            )
        draw_ratios(ax, result, names[0])
        return ax
    group_counts = [
        len(attribute.groups) * len(result.parts) for attribute in result.bottom_line.impact or ()
    ]
    heights = [max(2.6, 0.8 + 0.17 * count) for count in group_counts]
    figure = Figure(figsize=(9.5, 0.6 + sum(heights)), layout="constrained")
    axes = figure.subplots(len(names), 2, squeeze=False, gridspec_kw={"height_ratios": heights})
    for (left, right), name in zip(axes, names, strict=True):
        draw_funnel(left, result, name)
        draw_ratios(right, result, name)
    figure.suptitle(
        literal(f"{result.table}: intervals {100 * result.confidence:g}%; rule {result.rule.name}"),
        fontsize="medium",
    )
    return figure


def group_colors(result: Stages, name: str) -> dict[str, str]:
    """Return a colour for each group of an attribute, the same at every step."""
    labels = dict.fromkeys(
        group.group
        for step in result.parts
        for attribute in step.impact or ()
        if attribute.name == name
        for group in attribute.groups
    )
    return {label: f"C{index % 10}" for index, label in enumerate(labels)}


def attribute_of(result: Stages, index: int, name: str) -> AttributeImpact | None:
    """Return an attribute at a step, or at the bottom line; None where it was not compared."""
    for attribute in result.parts[index].impact or ():
        if attribute.name == name:
            return attribute
    return None


def draw_funnel(axis: Axes, result: Stages, name: str) -> None:
    """Draw the share of each group that reached each stage: the product of the steps' rates."""
    colors = group_colors(result, name)
    for label, color in colors.items():
        shares = [1.0]
        for index in range(len(result.steps)):
            attribute = attribute_of(result, index, name)
            groups = () if attribute is None else attribute.groups
            rates = {group.group: group.selection_rate for group in groups}
            shares.append(shares[-1] * rates.get(label, math.nan))
        axis.plot(range(len(shares)), shares, "o-", color=color, markersize=4, label=literal(label))
    stage_names = [result.steps[0].after, *(step.stage for step in result.steps)]
    axis.set_xticks(range(len(stage_names)), [literal(stage) for stage in stage_names])
    axis.set_ylim(0, 1.05)
    axis.set_ylabel("share of the group")
    axis.set_title(literal(f"{name}: who is left"), loc="left", fontsize="medium")
    axis.legend(frameon=False, fontsize="small")
    tidy(axis, grid="y")


def draw_ratios(axis: Axes, result: Stages, name: str) -> None:
    """Draw the impact ratio of each group at each step, and of the bottom line, with intervals."""
    colors = group_colors(result, name)
    largest = 1.15
    for index in range(len(result.parts)):
        attribute = attribute_of(result, index, name)
        if attribute is None:
            continue
        compared = [group for group in attribute.groups if group.finding != REFERENCE]
        for position, group in enumerate(compared):
            offset = (position - (len(compared) - 1) / 2) / max(len(compared), 2) * GROUP_SPREAD
            low, high = group.impact_ratio_interval
            if not math.isnan(low):
                end = 10 * MAX_RATIO if math.isnan(high) else high
                axis.plot([low, end], [index + offset] * 2, color=colors[group.group], linewidth=2)
            marker = "s" if group.below_line else "o"
            axis.plot(
                [group.impact_ratio],
                [index + offset],
                marker,
                color=colors[group.group],
                markersize=5,
            )
            largest = max(largest, *(1.05 * x for x in (group.impact_ratio, high) if x == x))
    for line in result.rule.lines:
        axis.axvline(float(line), color=LINE, linestyle="--", linewidth=1)
        label_line(axis, str(line), x=float(line))
    axis.axvline(1, color=LINE, linewidth=0.8)
    labels = [*(step.title for step in result.steps), BOTTOM_LINE]
    axis.set_yticks(range(len(labels)), [literal(label) for label in labels])
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.set_xlim(0, min(largest, MAX_RATIO))
    axis.set_xlabel("impact ratio (square: beyond the rule's line)")
    tidy(axis, grid="x")
