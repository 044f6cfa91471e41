"""An `Impact` as text: tables for a terminal, Markdown, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, TextIO

from fourfifths.findings import NOT_INDICATED, REFERENCE
from fourfifths.impact_result import AttributeImpact, GroupImpact, Impact
from fourfifths.render import (
    UNDEFINED,
    Sheet,
    escape_markdown,
    interval,
    number,
    p_value,
    print_sheet,
    printable,
    sheet_markdown,
)

TEXT_WIDTH = 100


def impact_text(result: Impact, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    stream = io.StringIO()
    print_impact(result, stream, width=width)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


def print_impact(result: Impact, stream: TextIO, width: int | None = None) -> None:
    """Print the tables, the findings and the notes; in colour if the stream is a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, width=width, highlight=False)
    console.print(Text(printable(_headline(result)), style="bold"))
    for attribute in result.attributes:
        for sheet in impact_sheets(result, attribute):
            console.print()
            print_sheet(console, sheet)
        console.print()
        for line, marked in finding_lines(attribute):
            console.print(Text(printable(line), style="red" if marked else ""))
    if result.notes:
        console.print()
    for note in result.notes:
        console.print(Text(printable(f"Note: {note}.")))


def impact_markdown(result: Impact) -> str:
    """Return the tables, the findings and the notes as Markdown."""
    lines = [f"# {escape_markdown(_headline(result))}", ""]
    for attribute in result.attributes:
        for sheet in (*impact_sheets(result, attribute), _further_sheet(attribute)):
            lines += [*sheet_markdown(sheet), ""]
        lines += [f"- {escape_markdown(line)}" for line, _ in finding_lines(attribute)] + [""]
    lines += [f"> {escape_markdown(note)}." for note in result.notes]
    lines += [
        "",
        f"Rule: {escape_markdown(result.rule.title)}. {escape_markdown(result.rule.source)}.",
    ]
    lines += [escape_markdown(result.rule.status), ""]
    return "\n".join(lines)


def impact_csv(result: Impact) -> str:
    """Return one row per group, undefined figures empty."""
    records = impact_records(result)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


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
    """Yield the tables of one attribute: rates and ratios, tests, strata."""
    marked = tuple(_stands_out(group) for group in attribute.groups)
    names = " & ".join(attribute.protected)
    percent = f"{result.confidence:.0%}"
    unknown = attribute.unknown > 0
    rows = [_rate_row(group, result, unknown=unknown) for group in attribute.groups]
    headers = ["group", "n", "selected", "rate", percent, "ratio", percent]
    if unknown:
        rows.append(_unknown_row(attribute))
        headers.append("with unknown")
    legend = "; < marks what falls below the line" if any(" <" in row[5] for row in rows) else ""
    yield Sheet(
        f"{names}, compared with {attribute.reference}{legend}",
        tuple(headers),
        tuple(rows),
        marked + (False,) * unknown,
    )
    others = [group for group in attribute.groups if group.finding != REFERENCE]
    marked = tuple(_stands_out(group) for group in others)
    yield Sheet(
        f"{names}: tests and sizes",
        ("group", "points", "z", "Fisher p", "Holm p", "shortfall", "one moved", "could tell"),
        tuple(_test_row(group) for group in others),
        marked,
    )
    if any(group.stratified for group in others):
        yield Sheet(
            f"{names}: within {result.strata}",
            ("group", "odds ratio", percent, "CMH", "p", "Breslow-Day", "p"),
            tuple(_strata_row(group) for group in others),
            marked,
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
    """Whether adverse impact is indicated or the ratio is under four fifths."""
    quiet = group.finding in (REFERENCE, NOT_INDICATED)
    return not quiet and (group.impact_ratio < 0.8 or "is indicated" in group.finding)


def _rate_row(group: GroupImpact, result: Impact, *, unknown: bool) -> tuple[str, ...]:
    line = float(result.rule.lines[0]) if result.rule.lines else 0.0
    mark = " <" if _stands_out(group) and group.impact_ratio <= line else ""
    return (
        group.group,
        f"{group.n:,}",
        f"{group.selected:,}",
        number(group.selection_rate),
        interval(group.selection_rate_interval),
        number(group.impact_ratio) + mark,
        interval(group.impact_ratio_interval),
        *((interval(group.impact_ratio_bounds),) if unknown else ()),
    )


def _unknown_row(attribute: AttributeImpact) -> tuple[str, ...]:
    rate = attribute.unknown_selected / attribute.unknown
    counts = (f"{attribute.unknown:,}", f"{attribute.unknown_selected:,}", number(rate))
    return ("(unknown)", *counts, *(UNDEFINED,) * 4)


def _test_row(group: GroupImpact) -> tuple[str, ...]:
    return (
        group.group,
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
    headers = ("group", *tests, "LR+", "sensitivity", "specificity", "BER")
    others = [group for group in attribute.groups if group.finding != REFERENCE]
    rows = tuple(
        (
            group.group,
            number(group.standard_deviations, 2),
            p_value(group.fisher_p_less),
            p_value(group.mid_p),
            number(group.expected, 1),
            number(group.shortfall.to_pooled, 1),
            *(number(value) for value in (group.phi, group.h, group.likelihood_ratio)),
            *(number(value) for value in (group.sensitivity, group.specificity)),
            number(group.balanced_error_rate),
        )
        for group in others
    )
    title = f"{' & '.join(attribute.protected)}: further figures"
    return Sheet(title, headers, rows, (False,) * len(rows))


def _strata_row(group: GroupImpact) -> tuple[str, ...]:
    within = group.stratified
    if within is None:
        return (group.group, *(UNDEFINED,) * 6)
    return (
        group.group,
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
