"""The chart of `Cuts`: the impact ratio as the cut moves, with its interval."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from fourfifths._impact.analyses.cuts import MAX_DENOMINATOR, AttributeCuts, Cuts
from fourfifths._report.analyses.cuts import shown_cuts
from fourfifths._report.charts.chart import MAX_CURVES, Curve, CurveChart, Line, to_charts
from fourfifths._text import number, number_text

MAX_CUTS_DRAWN = 150
MAX_RATIO = 1.5
# With more groups, the intervals would hide each other.
MAX_BANDS = 3


@to_charts.register
def cuts_charts(result: Cuts) -> tuple[CurveChart, ...]:
    """Return one chart for each attribute."""
    return tuple(cuts_chart(result, attribute) for attribute in result.attributes)


def cuts_chart(result: Cuts, attribute: AttributeCuts) -> CurveChart:
    """Return the impact ratios of an attribute's groups over the cuts."""
    line = str(Fraction(str(result.threshold)).limit_denominator(MAX_DENOMINATOR))
    indices = shown_cuts(result.selected, limit=MAX_CUTS_DRAWN)
    compared = [group for group in attribute.groups if group.group != attribute.reference]
    below = {group.group: sum(run.cuts for run in group.below) for group in compared}
    most_below = sorted(below, key=below.__getitem__, reverse=True)[:MAX_CURVES]
    drawn = [group for group in compared if group.group in most_below]
    has_bands = len(drawn) <= MAX_BANDS
    curves = []
    for group in drawn:
        high = np.where(np.isnan(group.impact_ratio_high), MAX_RATIO, group.impact_ratio_high)
        curves.append(
            Curve(
                label=group.group,
                x=tuple(result.cuts[indices].tolist()),
                y=tuple(group.impact_ratio[indices].tolist()),
                low=tuple(group.impact_ratio_low[indices].tolist()) if has_bands else (),
                high=tuple(high[indices].tolist()) if has_bands else (),
                is_stepped=True,
            )
        )
    worst = most_below[0]
    left_out = len(compared) - len(drawn)
    chosen = () if math.isnan(result.chosen_cut) else (result.chosen_cut,)
    return CurveChart(
        title=(
            f"{attribute.name}: {worst} is below {line} at {below[worst]:,} of "
            f"{result.cuts.size:,} cuts"
            + (f"; of {len(compared)} groups the lowest {len(drawn)} are drawn" if left_out else "")
        ),
        alt=" ".join(
            f"{group.group}: below {line} at {below[group.group]:,} of {result.cuts.size:,} cuts, "
            f"lowest ratio {number(float(np.nanmin(group.impact_ratio)))}."
            for group in compared
            if not np.isnan(group.impact_ratio).all()
        ),
        x_axis=f"cut: selected if {result.score} {result.sign} cut",
        y_axis="impact ratio",
        curves=tuple(curves),
        x_lines=tuple(Line(value=cut, label=f"chosen: {number_text(cut)}") for cut in chosen),
        y_lines=(
            Line(value=result.threshold, label=line, is_threshold=True),
            Line(value=1, label="1"),
        ),
        x_limits=(float(result.cuts.min()), float(result.cuts.max())),
        y_limits=(0, MAX_RATIO),
    )
