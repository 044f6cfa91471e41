"""The picture of `Adjusted`: the ratio of each group without and with controls, with intervals."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from fourfifths._impact.analyses.adjusted import Adjusted, AttributeAdjusted
from fourfifths._plot.style import LINE, OTHER, draw, literal, tidy
from fourfifths._text import alternatives
from fourfifths.errors import OptionError

UNADJUSTED_COLOR = "#888888"
# Unadjusted above, adjusted below, this far from the middle of a group's line.
OFFSET = 0.16
TICKS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20)
MAX_TICKS = 8


@draw.register
def draw_adjusted(result: Adjusted, ax: Axes | None = None) -> Figure | Axes:
    """Draw one panel for each attribute; with `ax`, that of the only one."""
    if ax is not None:
        if len(result.attributes) > 1:
            raise OptionError(
                f"plot(ax=ax): the result has {len(result.attributes)} attributes, and one panel "
                f"shows one of them; use result[{result.attributes[0].name!r}].plot(ax=ax)"
            )
        draw_attribute(ax, result.attributes[0])
        return ax
    figure = attributes_figure(result.attributes)
    controls = ", ".join(control.name for control in result.controls)
    figure.suptitle(
        literal(
            f"{result.table}: {result.outcome} = {alternatives(result.favorable)}, adjusted for "
            f"{controls}"
        ),
        fontsize="medium",
    )
    return figure


@draw.register
def draw_one_attribute(attribute: AttributeAdjusted, ax: Axes | None = None) -> Figure | Axes:
    """Draw one attribute."""
    if ax is None:
        return attributes_figure((attribute,))
    draw_attribute(ax, attribute)
    return ax


def attributes_figure(attributes: tuple[AttributeAdjusted, ...]) -> Figure:
    """Return a figure with a panel for each attribute."""
    heights = [1.5 + 0.4 * len(attribute.groups) for attribute in attributes]
    figure = Figure(figsize=(7.5, 0.4 + sum(heights)), layout="constrained")
    axes = figure.subplots(len(attributes), 1, squeeze=False, height_ratios=heights)
    for axis, attribute in zip(axes[:, 0], attributes, strict=True):
        draw_attribute(axis, attribute)
    return figure


def draw_attribute(axis: Axes, attribute: AttributeAdjusted) -> None:
    """Draw the two ratios of each group on a logarithmic scale: 1/2 is as far from 1 as 2 is."""
    compared = [group for group in attribute.groups if not group.why]
    ends = [1.0]
    for position, group in enumerate(compared):
        for ratio, (low, high), color, marker, name, offset in (
            (
                group.unadjusted_ratio,
                group.unadjusted_ratio_interval,
                UNADJUSTED_COLOR,
                "o",
                "unadjusted",
                -OFFSET,
            ),
            (group.ratio, group.ratio_interval, OTHER, "D", "adjusted", OFFSET),
        ):
            axis.plot([low, high], [position + offset] * 2, color=color, linewidth=2)
            label = name if position == 0 else None
            axis.plot(
                [ratio],
                [position + offset],
                marker,
                color=color,
                markersize=6,
                label=label,
            )
            ends += [low, high]
    axis.axvline(1, color=LINE, linewidth=0.8)
    low, high = 0.95 * min(ends), 1.05 * max(ends)
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    # Always with 1, which divides the two sides.
    step = -(-len(ticks) // MAX_TICKS)
    axis.set_xticks(ticks[ticks.index(1) % step :: step])
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.minorticks_off()
    axis.set_yticks(range(len(compared)), [literal(group.group) for group in compared])
    axis.set_ylim(len(compared) - 0.5, -0.5)
    axis.set_xlabel(
        literal(
            f"ratio of the selection rate to that of {attribute.reference} "
            f"({100 * attribute.confidence:g}% intervals)"
        )
    )
    axis.set_title(literal(attribute.name), loc="left", fontsize="medium")
    axis.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    tidy(axis, grid="x")
