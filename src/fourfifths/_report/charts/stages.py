"""The charts of `Stages`: how much of each group is left, and the bottom line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fourfifths._impact.analyses.stages import Stages
from fourfifths._report.charts.chart import MAX_CURVES, Chart, Curve, CurveChart, to_charts
from fourfifths._report.charts.impact import ratio_chart


@to_charts.register
def stages_charts(result: Stages) -> tuple[Chart, ...]:
    """Return for each attribute the funnel, and the ratios of the bottom line."""
    charts: list[Chart] = []
    for attribute in result.bottom_line.impact or ():
        charts += [funnel_chart(result, attribute.name), ratio_chart(attribute)]
    return tuple(charts)


def funnel_chart(result: Stages, name: str) -> CurveChart:
    """Return the share of each group that reached each stage: the product of the steps' rates."""
    step_rates = [
        {
            group.group: group.selection_rate
            for attribute in step.impact or ()
            if attribute.name == name
            for group in attribute.groups
        }
        for step in result.steps
    ]
    labels = dict.fromkeys(label for rates in step_rates for label in rates)
    curves = []
    for label in labels:
        shares = [1.0]
        for rates in step_rates:
            shares.append(shares[-1] * rates.get(label, math.nan))
        curves.append(Curve(label=label, x=tuple(map(float, range(len(shares)))), y=tuple(shares)))
    names = [result.steps[0].after, *(step.stage for step in result.steps)]
    final = {curve.label: curve.y[-1] for curve in curves if not math.isnan(curve.y[-1])}
    title = f"{name}: who is left after each stage"
    if final:
        lowest, highest = min(final, key=final.__getitem__), max(final, key=final.__getitem__)
        title = (
            f"{name}: {final[lowest]:.1%} of {lowest} and {final[highest]:.1%} of {highest} reach "
            "the last stage"
        )
    drawn = extreme_curves(curves)
    if len(drawn) < len(curves):
        title += f"; the highest and the lowest {len(drawn) - 1} of {len(curves)} groups are drawn"
    return CurveChart(
        title=title,
        alt=" ".join(
            f"{curve.label}: "
            + ", ".join(
                f"{stage} {'not known' if math.isnan(share) else f'{share:.1%}'}"
                for stage, share in zip(names, curve.y, strict=True)
            )
            + "."
            for curve in curves
        ),
        x_axis="stage",
        y_axis="share of the group that reached it",
        curves=drawn,
        x_limits=(0, len(names) - 1),
        y_limits=(0, 1),
        x_labels=tuple((float(index), stage) for index, stage in enumerate(names)),
    )


def extreme_curves(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Return the curve that ends highest and those that end lowest, in their order."""
    if len(curves) <= MAX_CURVES:
        return tuple(curves)
    ending = sorted(
        (curve for curve in curves if not math.isnan(curve.y[-1])), key=lambda curve: curve.y[-1]
    )
    labels = {curve.label for curve in (*ending[: MAX_CURVES - 1], *ending[-1:])}
    return tuple(curve for curve in curves if curve.label in labels)
