"""A report as Markdown: charts are described in words."""

from __future__ import annotations

from collections.abc import Iterator

from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.document import Sheet
from fourfifths._report.markdown import escape_markdown


def report_markdown(report: Report) -> str:
    """Return the report as Markdown."""
    return "\n".join(report_lines(report)).rstrip() + "\n"


def report_lines(report: Report) -> Iterator[str]:
    """Yield the lines of a report."""
    yield from (f"# {escape_markdown(report.title)}", "")
    yield from field_lines(report.cover)
    if report.finding:
        yield from (f"## {escape_markdown(report.finding_title)}", "")
        for paragraph in report.finding:
            yield from (escape_markdown(paragraph), "")
    for part in report.parts:
        yield from part_lines(part)
    for title, texts in (("Limits", report.limits), ("Method and sources", report.method)):
        if texts:
            yield from (f"## {title}", "", *(f"- {escape_markdown(text)}" for text in texts), "")
    if report.terms:
        yield from ("## Glossary", "")
        for term in report.terms:
            yield f"- **{escape_markdown(term.name)}**: {escape_markdown(term.definition)}"
        yield ""
    if report.provenance:
        yield from ("## Provenance", "")
        yield from field_lines(report.provenance)


def field_lines(fields: tuple[Field, ...]) -> Iterator[str]:
    """Yield labels and texts as a list."""
    for field in fields:
        yield f"- {escape_markdown(field.label)}: {escape_markdown(field.text)}"
    yield ""


def part_lines(part: Part) -> Iterator[str]:
    """Yield the lines of a part."""
    yield from (f"## {escape_markdown(part.title)}", "")
    if part.problem:
        yield from (f"This part could not be made: {escape_markdown(part.problem)}.", "")
        return
    for paragraph in part.paragraphs:
        yield from (escape_markdown(paragraph), "")
    for chart in part.charts:
        yield from (f"{escape_markdown(chart.title)}. {escape_markdown(chart.alt)}", "")
    for section in part.sections:
        for sheet in section.sheets:
            yield from sheet_lines(sheet)
        if section.sentences:
            yield from (f"- {escape_markdown(sentence.text)}" for sentence in section.sentences)
            yield ""
    if part.notes:
        yield from (f"- Note: {escape_markdown(note)}." for note in part.notes)
        yield ""
    for paragraph in part.explanations:
        yield from (escape_markdown(paragraph), "")


def sheet_lines(sheet: Sheet) -> Iterator[str]:
    """Yield a table below its title."""
    yield from (f"### {escape_markdown(sheet.title)}", "")
    head, *rows = (
        "| " + " | ".join(escape_markdown(cell) for cell in row) + " |"
        for row in (sheet.headers, *sheet.rows)
    )
    numbers = len(sheet.headers) - sheet.name_columns
    yield from (head, "|" + " --- |" * sheet.name_columns + " ---: |" * numbers, *rows, "")
