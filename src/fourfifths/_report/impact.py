"""An `Impact` as text: tables for a terminal, Markdown, CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact
from fourfifths._impact.rules import NOT_INDICATED, REFERENCE
from fourfifths._report.document import Document, Section, Sheet
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import TEXT_WIDTH, document_text, print_document
from fourfifths._text import UNDEFINED, interval, number, p_value

MARKS = {
    " <": "; < marks what falls below the line",
    " >": "; > marks where the reference falls below it",
}
LEGEND = (
    "points: difference of the rates; shortfall: selections missing at the reference's rate; one "
    "moved: the ratio if one selection had gone to the lower side; could tell: the ratio nearest "
    "to 1 that so many rows could tell from 1. A finding rests on the raw p, not on Holm's. Not "
    "legal advice."
)


def impact_text(result: Impact, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    return document_text(impact_document(result), width)


def print_impact(result: Impact, stream: TextIO) -> None:
    """Print the tables, the findings and the notes; in colour if the stream is a terminal."""
    print_document(impact_document(result), stream)


def impact_markdown(result: Impact) -> str:
    """Return the tables, with further figures, the findings and the notes as Markdown."""
    page = impact_document(result)
    further = tuple(
        replace(section, sheets=(*section.sheets, _further_sheet(attribute)))
        for section, attribute in zip(page.sections, result.attributes, strict=True)
    )
    rule = f"Rule: {result.rule.title}. {result.rule.source}."
    closing = (rule, result.rule.status, *page.closing)
    return document_markdown(replace(page, sections=further, closing=closing))


def impact_document(result: Impact) -> Document:
    """Return the page of a terminal: for each attribute its tables and findings."""
    sections = tuple(
        Section(
            sheets=tuple(impact_sheets(result, attribute)), lines=tuple(finding_lines(attribute))
        )
        for attribute in result.attributes
    )
    return Document(
        headline=_headline(result), sections=sections, notes=result.notes, closing=(LEGEND,)
    )


def impact_csv(result: Impact) -> str:
    """Return one row per group, undefined figures empty."""
    records = impact_records(result)
    rows = [list(records[0]), *(list(record.values()) for record in records)]
    return "".join(_csv_line(row) for row in rows)


def _csv_line(row: list[Any]) -> str:
    stream = io.StringIO()
    # Written with both line ends, so that either of them in a value is quoted.
    csv.writer(stream, lineterminator="\r\n").writerow(row)
    return stream.getvalue().removesuffix("\r\n") + "\n"


def impact_records(result: Impact) -> list[dict[str, Any]]:
    """Return one flat record per group: intervals and nested figures spread over columns."""
    records = []
    for attribute in result.attributes:
        for group in attribute.groups:
            flat: dict[str, Any] = {
                "rule": result.rule.name,
                "protected": " & ".join(attribute.protected),
                "reference": attribute.reference,
                "unknown": attribute.unknown,
            }
            for name, value in group.to_dict().items():
                flat |= _flatten(name, value, getattr(group, name))
            records.append(flat)
    return records


def impact_sheets(result: Impact, attribute: AttributeImpact) -> Iterator[Sheet]:
    """Yield the tables of one attribute: rates and ratios, tests, and what else there is."""
    names = " & ".join(attribute.protected)
    percent = f"{100 * result.confidence:g}%"
    rows = [_rate_row(group) for group in attribute.groups]
    marked = [_stands_out(group) for group in attribute.groups]
    if attribute.unknown:
        rows.append(_unknown_row(attribute))
        marked.append(False)
    legend = "".join(text for mark, text in MARKS.items() if any(mark in row[5] for row in rows))
    yield Sheet(
        title=f"{names}, compared with {attribute.reference}{legend}",
        headers=("group", "n", "selected", "rate", percent, "ratio", percent),
        rows=tuple(rows),
        marked=tuple(marked),
    )
    others = tuple(group for group in attribute.groups if group.finding != REFERENCE)
    tests = ("points", "z", "Fisher p", "Holm p", "shortfall", "one moved", "could tell")
    yield _sheet(f"{names}: tests and sizes", tests, others, _test_row)
    if attribute.unknown:
        bounds = ("ratio", "at least", "at most")
        yield _sheet(f"{names}: what the unknown could make", bounds, others, _bounds_row)
    if any(group.stratified for group in others):
        within = ("odds ratio", percent, "CMH", "p", "Breslow-Day", "p")
        yield _sheet(f"{names}: within {result.within}", within, others, _strata_row)
    if not all(math.isnan(group.mean_difference) for group in others):
        yield _sheet(f"{names}: mean score", ("standardised difference",), others, _score_row)


def _sheet(
    title: str,
    headers: tuple[str, ...],
    groups: tuple[GroupImpact, ...],
    row: Callable[[GroupImpact], tuple[str, ...]],
) -> Sheet:
    rows = tuple((group.group, *row(group)) for group in groups)
    return Sheet(
        title=title,
        headers=("group", *headers),
        rows=rows,
        marked=tuple(_stands_out(group) for group in groups),
    )


def finding_lines(attribute: AttributeImpact) -> Iterator[tuple[str, bool]]:
    """Yield each finding with its grounds as a sentence, and whether it stands out.

    Groups of which the same is to be said share a sentence.
    """
    alike: dict[tuple[str, str], list[GroupImpact]] = {}
    for group in attribute.groups:
        if group.finding != REFERENCE:
            alike.setdefault((group.finding, group.because), []).append(group)
    for (finding, because), groups in alike.items():
        names = ", ".join(group.group for group in groups)
        yield f"{names}: {finding}: {because}.", any(_stands_out(group) for group in groups)


def _headline(result: Impact) -> str:
    return (
        f"{result.table}: {result.outcome} = {result.favorable}, rule {result.rule.name}, "
        f"{result.rows:,} rows"
    )


def _stands_out(group: GroupImpact) -> bool:
    return "is indicated" in group.finding and group.finding != NOT_INDICATED


def _rate_row(group: GroupImpact) -> tuple[str, ...]:
    return (
        group.group,
        f"{group.n:,}",
        f"{group.selected:,}",
        number(group.selection_rate),
        interval(group.selection_rate_interval),
        number(group.impact_ratio) + _mark(group),
        interval(group.impact_ratio_interval),
    )


def _mark(group: GroupImpact) -> str:
    if not group.below_line:
        return ""
    return " <" if group.impact_ratio < 1 else " >"


def _unknown_row(attribute: AttributeImpact) -> tuple[str, ...]:
    rate = number(attribute.unknown_selected / attribute.unknown)
    counts = (f"{attribute.unknown:,}", f"{attribute.unknown_selected:,}", rate)
    return ("(unknown)", *counts, *(UNDEFINED,) * 3)


def _bounds_row(group: GroupImpact) -> tuple[str, ...]:
    return (number(group.impact_ratio), *(number(bound) for bound in group.impact_ratio_bounds))


def _score_row(group: GroupImpact) -> tuple[str, ...]:
    return (number(group.mean_difference),)


def _test_row(group: GroupImpact) -> tuple[str, ...]:
    return (
        number(100 * group.difference, 1),
        number(group.z, 2),
        p_value(group.fisher_p),
        p_value(group.holm_p),
        number(group.shortfall.to_reference, 1),
        number(group.flip),
        number(group.detectable_ratio),
    )


def _further_sheet(attribute: AttributeImpact) -> Sheet:
    tests = ("SD", "one-sided p", "mid-p", "expected", "shortfall to pooled", "phi", "h")
    others = tuple(group for group in attribute.groups if group.finding != REFERENCE)
    title = f"{' & '.join(attribute.protected)}: further figures"
    headers = (*tests, "LR+", "sensitivity", "specificity", "BER")
    return _sheet(title, headers, others, _further_row)


def _further_row(group: GroupImpact) -> tuple[str, ...]:
    return (
        number(group.standard_deviations, 2),
        p_value(group.fisher_p_less),
        p_value(group.mid_p),
        number(group.expected, 1),
        number(group.shortfall.to_pooled, 1),
        *(number(value) for value in (group.phi, group.h, group.likelihood_ratio)),
        *(number(value) for value in (group.sensitivity, group.specificity)),
        number(group.balanced_error_rate),
    )


def _strata_row(group: GroupImpact) -> tuple[str, ...]:
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


def _flatten(name: str, value: Any, original: Any) -> dict[str, Any]:
    """Spread one figure over the columns of a flat table."""
    if isinstance(original, tuple):
        low, high = value or (None, None)
        return {f"{name}_low": low, f"{name}_high": high}
    if name == "shortfall":
        return {f"shortfall_{part}": amount for part, amount in value.items()}
    if name == "stratified":
        keep = ("odds_ratio", "cmh", "cmh_p", "breslow_day", "breslow_day_p")
        return {f"stratified_{part}": (value or {}).get(part) for part in keep}
    if name in ("values", "why"):
        return {name: "; ".join(f"{key}: {text}" for key, text in value.items())}
    return {name: value}
