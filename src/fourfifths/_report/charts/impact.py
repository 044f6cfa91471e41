"""The charts of an `Impact`: the impact ratio of each group with its interval, and the line."""

from __future__ import annotations

import math

from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact
from fourfifths._impact.rules import (
    EXCLUDED,
    INCONCLUSIVE,
    NO_FINDING,
    NO_LINE,
    NOT_JUDGED,
    REFERENCE,
    SMALL_NUMBERS,
    UNDEFINED_RATIO,
)
from fourfifths._report.charts.chart import DotChart, Line, Mark, MarkKind, to_charts
from fourfifths._report.impact import is_indicated
from fourfifths._text import interval, number

MAX_RATIO = 4.0
MAX_NAMED_GROUPS = 3
OPEN_FINDINGS = (EXCLUDED, INCONCLUSIVE, NOT_JUDGED, SMALL_NUMBERS, UNDEFINED_RATIO)
MEANINGS: dict[MarkKind, str] = {
    "indicated": "adverse impact is indicated",
    "judged": "not indicated",
    "not judged": "not judged, or inconclusive",
    "reference": "reference",
}


@to_charts.register
def impact_charts(result: Impact) -> tuple[DotChart, ...]:
    """Return one chart for each attribute."""
    return tuple(ratio_chart(attribute) for attribute in result.attributes)


@to_charts.register
def attribute_charts(attribute: AttributeImpact) -> tuple[DotChart, ...]:
    """Return the chart of one attribute."""
    return (ratio_chart(attribute),)


def ratio_chart(attribute: AttributeImpact) -> DotChart:
    """Return the impact ratios of an attribute; the shape of a mark says what the rule found."""
    marks = tuple(
        Mark(
            label=group.group,
            detail=f"{group.selected:,} of {group.n:,} selected",
            value=group.impact_ratio,
            low=group.impact_ratio_interval[0],
            high=group.impact_ratio_interval[1],
            kind=mark_kind(group),
        )
        for group in attribute.groups_and_total
    )
    meanings = MEANINGS | ({"judged": "no line is drawn"} if not attribute.rule.lines else {})
    shown_kinds = {mark.kind for mark in marks}
    ratios = [ratio for mark in marks for ratio in (mark.value, mark.high) if ratio == ratio]
    return DotChart(
        title=chart_title(attribute),
        alt=" ".join(
            group_in_words(group, attribute.confidence) for group in attribute.groups_and_total
        ),
        axis=f"impact ratio, compared with {attribute.reference}",
        marks=marks,
        lines=(
            *(
                Line(value=float(line), label=str(line), is_threshold=True)
                for line in attribute.rule.lines
            ),
            Line(value=1, label="1"),
        ),
        limits=(0, min(max([1.15, *(1.05 * ratio for ratio in ratios)]), MAX_RATIO)),
        meanings=tuple((kind, text) for kind, text in meanings.items() if kind in shown_kinds),
    )


def mark_kind(group: GroupImpact) -> MarkKind:
    """Return the shape of a group's mark."""
    if group.finding == REFERENCE:
        return "reference"
    if is_indicated(group):
        return "indicated"
    return "not judged" if group.finding in OPEN_FINDINGS else "judged"


def chart_title(attribute: AttributeImpact) -> str:
    """Return what an attribute's chart shows."""
    harmed = [group.group for group in attribute.groups_and_total if is_indicated(group)]
    if harmed:
        names = listed_briefly(harmed)
        return f"{attribute.name}: adverse impact is indicated for {names}"
    compared = [
        group
        for group in attribute.groups_and_total
        if group.finding != REFERENCE and not math.isnan(group.impact_ratio)
    ]
    if not compared:
        return f"{attribute.name}: no impact ratio could be computed"
    lowest = min(compared, key=lambda group: group.impact_ratio)
    ratio = f"lowest impact ratio {number(lowest.impact_ratio)} ({lowest.group})"
    if any(group.finding in (NO_LINE, NO_FINDING) for group in compared):
        return f"{attribute.name}: {ratio}"
    if all(group.finding in OPEN_FINDINGS for group in compared):
        return f"{attribute.name}: inconclusive or not judged; {ratio}"
    return f"{attribute.name}: adverse impact is not indicated; {ratio}"


def listed_briefly(names: list[str]) -> str:
    """Return the first few names, and how many more there are.

    Examples
    --------
    >>> listed_briefly(["A", "B", "C", "D", "E"])
    'A, B, C and 2 more'
    """
    rest = len(names) - MAX_NAMED_GROUPS
    if rest > 0:
        return f"{', '.join(names[:MAX_NAMED_GROUPS])} and {rest} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def group_in_words(group: GroupImpact, confidence: float) -> str:
    """Return the figures of a group's mark in a sentence."""
    rate = f"{group.group}: {group.selected:,} of {group.n:,} selected"
    if group.finding == REFERENCE:
        return f"{rate}, the reference."
    if math.isnan(group.impact_ratio):
        return f"{rate}, no impact ratio, {group.finding}."
    return (
        f"{rate}, impact ratio {number(group.impact_ratio)}, {100 * confidence:g}% interval "
        f"{interval(group.impact_ratio_interval)}, {group.finding}."
    )
