"""The picture of `Cuts`: the impact ratio as the cut moves, with its interval and its band."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.analyses.cuts import MAX_DENOMINATOR, AttributeCuts, Cuts
from fourfifths._plot.style import LINE, draw, literal, tidy
from fourfifths.errors import OptionError

MAX_RATIO = 2.0
MAX_FILLED_GROUPS = 4


@draw.register
def draw_cuts(result: Cuts, ax: Axes | None = None) -> Figure | Axes:
    """Draw a panel for each attribute; with `ax`, that of the only one."""
    if ax is not None:
        if len(result.attributes) > 1:
            raise OptionError(
                f"plot(ax=ax): the result has {len(result.attributes)} attributes, and one panel "
                "shows one of them; measure one protected column"
            )
        draw_panel(ax, result, result.attributes[0])
        return ax
    figure = Figure(figsize=(9, 0.5 + 3.6 * len(result.attributes)), layout="constrained")
    axes = figure.subplots(len(result.attributes), 1, squeeze=False)[:, 0]
    for axis, attribute in zip(axes, result.attributes, strict=True):
        draw_panel(axis, result, attribute)
    percent = f"{100 * result.confidence:g}%"
    figure.suptitle(
        literal(f"{result.table}: {result.score}\n")
        + f"filled: {percent} interval at a fixed cut; dotted: {percent} band over all cuts",
        fontsize="medium",
    )
    return figure


def draw_panel(axis: Axes, result: Cuts, attribute: AttributeCuts) -> None:
    """Draw each group's ratio as steps: between one cut and the next it stays the same."""
    compared = [group for group in attribute.groups if group.group != attribute.reference]
    for index, group in enumerate(compared):
        color = f"C{index % 10}"
        axis.plot(
            result.cuts,
            group.impact_ratio,
            drawstyle="steps-pre",
            color=color,
            linewidth=1.4,
            label=literal(group.group),
        )
        # With many groups, the intervals would hide each other.
        if len(compared) > MAX_FILLED_GROUPS:
            continue
        high = np.where(np.isnan(group.impact_ratio_high), MAX_RATIO, group.impact_ratio_high)
        axis.fill_between(
            result.cuts,
            group.impact_ratio_low,
            np.where(np.isnan(group.impact_ratio_low), np.nan, high),
            step="pre",
            color=color,
            alpha=0.15,
            linewidth=0,
        )
        for limits in (group.band_low, group.band_high):
            axis.plot(
                result.cuts,
                limits,
                drawstyle="steps-pre",
                color=color,
                linestyle=":",
                linewidth=0.8,
            )
    axis.axhline(result.threshold, color=LINE, linestyle="--", linewidth=1)
    line = str(Fraction(str(result.threshold)).limit_denominator(MAX_DENOMINATOR))
    axis.text(1.005, result.threshold, line, transform=axis.get_yaxis_transform(), va="center")
    axis.axhline(1, color=LINE, linewidth=0.8)
    if attribute.reference is not None:
        axis.axhline(1 / result.threshold, color=LINE, linestyle="--", linewidth=1)
    if result.chosen_cut == result.chosen_cut:
        axis.axvline(result.chosen_cut, color=LINE, linewidth=0.8, linestyle="-.")
    highest = MAX_RATIO if attribute.reference is not None else 1.5
    axis.set_ylim(0, highest)
    axis.set_xlabel(literal(f"cut: selected if {result.score} {result.sign} cut"))
    axis.set_ylabel("impact ratio")
    reference = attribute.reference or "the highest rate at each cut"
    axis.set_title(
        literal(f"{attribute.name}, compared with {reference}"), loc="left", fontsize="medium"
    )
    # Beside the panel: inside it there is no corner that ratios leave free.
    axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.04, 1))
    tidy(axis)
