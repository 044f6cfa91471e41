"""The picture of an `Impact`: rates on the left, ratios on the right, the rule's line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._arrays import Interval
from fourfifths._impact.result import AttributeImpact, Impact
from fourfifths._impact.rules import EXCLUDED, REFERENCE
from fourfifths._plot.style import BELOW, LINE, MAX_RATIO, OTHER, draw, label_line, literal, tidy
from fourfifths._text import alternatives
from fourfifths.errors import OptionError

# An interval without an upper limit is drawn to beyond the right edge.
OPEN_END = 10 * MAX_RATIO


@draw.register
def draw_impact(result: Impact, ax: Axes | None = None) -> Figure | Axes:
    """Draw rates and ratios with their intervals, one row of panels per attribute."""
    if ax is None:
        title = literal(f"{result.table}: {result.outcome} = {alternatives(result.favorable)}")
        return _figure(result.attributes, f"{title}\n")
    if len(result.attributes) > 1:
        first = result.attributes[0].name
        raise OptionError(
            f"plot(ax=ax): the result has {len(result.attributes)} attributes, and one panel shows "
            f"one of them; use result[{first!r}].plot(ax=ax)"
        )
    return draw_attribute(result.attributes[0], ax)


@draw.register
def draw_attribute(attribute: AttributeImpact, ax: Axes | None = None) -> Figure | Axes:
    """Draw one attribute; with `ax`, its ratios only."""
    if ax is None:
        return _figure([attribute], "")
    _draw_ratios(ax, attribute, [attribute])
    _label_groups(ax, attribute)
    ax.set_title(literal(_title(attribute)), loc="left", fontsize="medium")
    return ax


def _figure(attributes: Sequence[AttributeImpact], title: str) -> Figure:
    heights = [len(attribute.groups_and_total) + 1.5 for attribute in attributes]
    figure = Figure(figsize=(9, 1 + 0.38 * sum(heights)), layout="constrained")
    axes = figure.subplots(
        len(attributes), 2, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for (left, right), attribute in zip(axes, attributes, strict=True):
        for row, group in enumerate(attribute.groups_and_total):
            _draw_interval(
                left,
                row,
                value=group.selection_rate,
                limits=group.selection_rate_interval,
                color=OTHER,
            )
        _label_groups(left, attribute)
        if attribute.total is not None:
            _set_apart(left, attribute)
        left.set_xlim(0, 1)
        left.set_xlabel("selection rate")
        left.set_title(literal(_title(attribute)), loc="left", fontsize="medium")
        tidy(left, grid="x")
        # All panels of ratios have the same scale, so that attributes can be compared.
        _draw_ratios(right, attribute, attributes)
        right.set_yticks(
            range(len(attribute.groups_and_total)), [""] * len(attribute.groups_and_total)
        )
    confidence, rule = attributes[0].confidence, attributes[0].rule.name
    figure.suptitle(f"{title}intervals {100 * confidence:g}%; rule {rule}", fontsize="medium")
    return figure


def _draw_ratios(
    axis: Axes, attribute: AttributeImpact, scaled_with: Sequence[AttributeImpact]
) -> None:
    for row, group in enumerate(attribute.groups_and_total):
        _draw_interval(
            axis,
            row,
            value=group.impact_ratio,
            limits=group.impact_ratio_interval,
            color=BELOW if group.below_line else OTHER,
        )
    if attribute.total is not None:
        _set_apart(axis, attribute)
    for line in attribute.rule.lines:
        axis.axvline(float(line), color=LINE, linestyle="--", linewidth=1)
        label_line(axis, str(line), x=float(line))
    axis.axvline(1, color=LINE, linewidth=0.8)
    ratios = [
        ratio
        for panel in scaled_with
        for group in panel.groups_and_total
        for ratio in (group.impact_ratio, group.impact_ratio_interval[1])
        if not math.isnan(ratio)
    ]
    axis.set_xlim(0, min(max([1.15, *(1.05 * ratio for ratio in ratios)]), MAX_RATIO))
    axis.set_ylim(len(attribute.groups_and_total) - 0.5, -0.5)
    axis.set_xlabel("impact ratio")
    tidy(axis, grid="x")


def _draw_interval(axis: Axes, row: int, *, value: float, limits: Interval, color: str) -> None:
    lower, upper = limits
    if not math.isnan(lower):
        upper = OPEN_END if math.isnan(upper) else upper
        axis.plot([lower, upper], [row, row], color=color, linewidth=2, solid_capstyle="butt")
    if not math.isnan(value):
        axis.plot([value], [row], "o", color=color, markersize=5)


def _set_apart(axis: Axes, attribute: AttributeImpact) -> None:
    """Draw a line between the groups and their total, which is not a group."""
    axis.axhline(len(attribute.groups) - 0.5, color=LINE, linewidth=0.6, linestyle=":")


def _label_groups(axis: Axes, attribute: AttributeImpact) -> None:
    labels = []
    for group in attribute.groups_and_total:
        suffix = {REFERENCE: " (reference)", EXCLUDED: " (excluded)"}.get(group.finding, "")
        labels.append(literal(f"{group.group}{suffix}  {group.selected:,}/{group.n:,}"))
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)


def _title(attribute: AttributeImpact) -> str:
    return f"{attribute.name}, compared with {attribute.reference}"
