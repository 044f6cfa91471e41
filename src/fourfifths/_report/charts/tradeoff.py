"""The charts of a `Tradeoff`: utility against impact ratio, for each model."""

from __future__ import annotations

from fourfifths._report.charts.chart import Curve, CurveChart, Line, to_charts
from fourfifths._text import number
from fourfifths._tradeoff.result import THRESHOLD, Tradeoff


@to_charts.register
def tradeoff_charts(curve: Tradeoff) -> tuple[CurveChart, ...]:
    """Return one chart for each model."""
    models = dict.fromkeys(point.model for point in curve.points)
    return tuple(model_chart(curve, model) for model in models)


def model_chart(curve: Tradeoff, model: str) -> CurveChart:
    """Return the points of one model: a line for each repair, from no repair to full repair."""
    points = curve.select(model=model)
    raw = [point for point in points if point.method == "none"]
    repairs = dict.fromkeys(
        (point.scope, point.method) for point in points if point.method != "none"
    )
    lines = []
    for scope, method in repairs:
        same = [point for point in points if (point.scope, point.method) == (scope, method)]
        ordered = sorted([*raw, *same], key=lambda point: point.amount)
        lines.append(
            Curve(
                label=f"{scope}, {method}: from no repair to amount {ordered[-1].amount:g}",
                x=tuple(point.impact_ratio for point in ordered),
                y=tuple(point.utility for point in ordered),
            )
        )
    ratios = [ratio for line in lines for ratio in line.x if ratio == ratio]
    utilities = [utility for line in lines for utility in line.y if utility == utility]
    # A ratio above 1 is as far from 1 as its inverse.
    best = max(
        points,
        key=lambda point: 1 / point.impact_ratio if point.impact_ratio > 1 else point.impact_ratio,
    )
    return CurveChart(
        title=(
            f"{model}: the impact ratio goes from "
            f"{number(raw[0].impact_ratio) if raw else '-'} to {number(best.impact_ratio)}, the "
            f"utility from {number(raw[0].utility) if raw else '-'} to {number(best.utility)}"
        ),
        alt=" ".join(
            f"{point.scope}, {point.method}, amount {point.amount:g}: impact ratio "
            f"{number(point.impact_ratio)}, utility {number(point.utility)}."
            for point in points
        ),
        x_axis=f"impact ratio, against {curve.reference}",
        y_axis="utility: 1 - balanced error rate of the outcome",
        curves=tuple(lines),
        x_lines=(
            Line(value=THRESHOLD, label="4/5", is_threshold=True),
            Line(value=1, label="1"),
        ),
        x_limits=(0, max([1.15, *(1.05 * ratio for ratio in ratios)])),
        y_limits=(min([0.5, *utilities]), max([0.55, *utilities]) + 0.02),
    )
