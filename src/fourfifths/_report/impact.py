"""An `Impact`, one of its attributes, or one of its groups, as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact
from fourfifths._impact.rules import NOT_INDICATED, REFERENCE, Rule
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import UNDEFINED, interval, number, p_value

BELOW_MARK, REFERENCE_BELOW_MARK = " <", " >"
MARKS = {
    BELOW_MARK: "; < marks a ratio below the line",
    REFERENCE_BELOW_MARK: "; > marks where the reference is below the line",
}
LEGEND = (
    "points: difference between the selection rates, in percentage points; shortfall: how many "
    "more would have been selected at the reference's rate; one moved: the ratio if one selection "
    "had gone to the group with the lower rate; detectable: the smallest detectable effect: with "
    "this many rows, a ratio closer to 1 than this would probably go unnoticed. A finding uses "
    "the unadjusted p, not Holm's. Not legal advice."
)


@to_document.register
def impact_document(result: Impact) -> Document:
    """Return the page of an audit: the tables and findings of each attribute."""
    return Document(
        headline=(
            f"{result.table}: {result.outcome} = {result.favorable}, rule {result.rule.name}, "
            f"{result.rows:,} rows"
        ),
        sections=tuple(attribute_section(attribute) for attribute in result.attributes),
        notes=result.notes,
        details=rule_paragraphs(result.rule),
        closing=(LEGEND,),
    )


@to_document.register
def attribute_document(attribute: AttributeImpact) -> Document:
    """Return the page of one attribute: its own tables and findings."""
    rows = attribute.unknown + sum(group.n for group in attribute.groups)
    return Document(
        headline=f"{attribute.name}: rule {attribute.rule.name}, {rows:,} rows",
        sections=(attribute_section(attribute),),
        details=rule_paragraphs(attribute.rule),
        closing=(LEGEND,),
    )


@to_document.register
def group_document(group: GroupImpact) -> Document:
    """Return the page of one group: its figures below each other."""
    figures = (
        ("selection rate", number(group.selection_rate), interval(group.selection_rate_interval)),
        ("impact ratio", number(group.impact_ratio), interval(group.impact_ratio_interval)),
        *((name, figure(group), "") for name, figure in TEST_FIGURES.items()),
        *((name, figure(group), "") for name, figure in FURTHER_FIGURES.items()),
    )
    return Document(
        headline=f"{group.group}: {group.selected:,} of {group.n:,} selected",
        sections=(
            Section(
                sheets=(Sheet(title="figures", headers=("", "value", "limits"), rows=figures),),
                sentences=tuple(finding_sentences([group])),
            ),
        ),
        closing=(LEGEND,),
    )


# The heads of the tables, and how each figure is written.
TEST_FIGURES: dict[str, Callable[[GroupImpact], str]] = {
    "points": lambda group: number(100 * group.difference, 1),
    "z": lambda group: number(group.z, 2),
    "Fisher p": lambda group: p_value(group.fisher_p),
    "Holm p": lambda group: p_value(group.holm_p),
    "shortfall": lambda group: number(group.shortfall.to_reference, 1),
    "one moved": lambda group: number(group.flip),
    "detectable": lambda group: number(group.detectable_ratio),
}
FURTHER_FIGURES: dict[str, Callable[[GroupImpact], str]] = {
    "SD": lambda group: number(group.standard_deviations, 2),
    "one-sided p": lambda group: p_value(group.fisher_p_less),
    "mid-p": lambda group: p_value(group.mid_p),
    "expected": lambda group: number(group.expected, 1),
    "shortfall to pooled": lambda group: number(group.shortfall.to_pooled, 1),
    "phi": lambda group: number(group.phi),
    "h": lambda group: number(group.h),
    "LR+": lambda group: number(group.likelihood_ratio),
    "sensitivity": lambda group: number(group.sensitivity),
    "specificity": lambda group: number(group.specificity),
    "BER": lambda group: number(group.balanced_error_rate),
}


def attribute_section(attribute: AttributeImpact) -> Section:
    """Return the tables of one attribute (rates and ratios first) and its findings."""
    percent = f"{100 * attribute.confidence:g}%"
    compared = [group for group in attribute.groups if group.finding != REFERENCE]
    marked = tuple(index for index, group in enumerate(compared) if is_indicated(group))

    def sheet(
        title: str,
        headers: Sequence[str],
        cells: Callable[[GroupImpact], Sequence[str]],
        *,
        is_detail: bool = False,
    ) -> Sheet:
        return Sheet(
            title=f"{attribute.name}: {title}",
            headers=("group", *headers),
            rows=tuple((group.group, *cells(group)) for group in compared),
            marked=marked,
            is_detail=is_detail,
        )

    sheets = [
        rates_sheet(attribute),
        sheet(
            "tests and sizes",
            tuple(TEST_FIGURES),
            lambda group: [figure(group) for figure in TEST_FIGURES.values()],
        ),
    ]
    if attribute.unknown:
        sheets.append(
            sheet(
                "ratios that rows of unknown membership could make",
                ("ratio", "at least", "at most"),
                lambda group: (
                    number(group.impact_ratio),
                    *(number(bound) for bound in group.impact_ratio_bounds),
                ),
            )
        )
    if any(group.stratified for group in compared):
        heads = ("odds ratio", percent, "CMH", "p", "Breslow-Day", "p")
        sheets.append(sheet(f"within {attribute.within}", heads, within_cells))
    if not all(math.isnan(group.mean_difference) for group in compared):
        sheets.append(
            sheet(
                "mean score",
                ("standardised difference",),
                lambda group: (number(group.mean_difference),),
            )
        )
    sheets.append(
        sheet(
            "further figures",
            tuple(FURTHER_FIGURES),
            lambda group: [figure(group) for figure in FURTHER_FIGURES.values()],
            is_detail=True,
        )
    )
    return Section(sheets=tuple(sheets), sentences=tuple(finding_sentences(attribute.groups)))


def rates_sheet(attribute: AttributeImpact) -> Sheet:
    """Return the table of counts, rates and ratios; a mark shows who is below the line."""
    percent = f"{100 * attribute.confidence:g}%"
    rows = []
    for group in attribute.groups:
        mark = ""
        if group.below_line:
            mark = BELOW_MARK if group.impact_ratio < 1 else REFERENCE_BELOW_MARK
        rows.append(
            (
                group.group,
                f"{group.n:,}",
                f"{group.selected:,}",
                number(group.selection_rate),
                interval(group.selection_rate_interval),
                number(group.impact_ratio) + mark,
                interval(group.impact_ratio_interval),
            )
        )
    if attribute.unknown:
        rate = number(attribute.unknown_selected / attribute.unknown)
        counts = (f"{attribute.unknown:,}", f"{attribute.unknown_selected:,}", rate)
        rows.append(("(unknown)", *counts, UNDEFINED, UNDEFINED, UNDEFINED))
    # Only marks that the table has are explained.
    legend = "".join(text for mark, text in MARKS.items() if any(mark in row[5] for row in rows))
    return Sheet(
        title=f"{attribute.name}, compared with {attribute.reference}{legend}",
        headers=("group", "n", "selected", "rate", percent, "ratio", percent),
        rows=tuple(rows),
        marked=tuple(index for index, group in enumerate(attribute.groups) if is_indicated(group)),
    )


def finding_sentences(groups: Sequence[GroupImpact]) -> list[Sentence]:
    """Return each finding with its grounds; groups with the same finding share a sentence."""
    alike: dict[tuple[str, str], list[GroupImpact]] = {}
    for group in groups:
        if group.finding != REFERENCE:
            alike.setdefault((group.finding, group.because), []).append(group)
    return [
        Sentence(
            text=f"{', '.join(group.group for group in same)}: {finding}: {because}.",
            is_marked=any(is_indicated(group) for group in same),
        )
        for (finding, because), same in alike.items()
    ]


def rule_paragraphs(rule: Rule) -> tuple[str, str]:
    """Return where a rule comes from, and its standing in law."""
    return f"Rule: {rule.title}. {rule.source}.", rule.status


def is_indicated(group: GroupImpact) -> bool:
    """Return whether the finding is adverse impact, on the group or on the reference."""
    return "is indicated" in group.finding and group.finding != NOT_INDICATED


def within_cells(group: GroupImpact) -> tuple[str, ...]:
    """Return the figures of a group from comparisons within strata; dashes if there were none."""
    within = group.stratified
    if within is None:
        return (UNDEFINED,) * 6
    return (
        number(within.odds_ratio),
        interval(within.odds_ratio_interval),
        number(within.cmh),
        p_value(within.cmh_p),
        number(within.breslow_day),
        p_value(within.breslow_day_p),
    )
