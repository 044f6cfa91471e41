"""A report as PDF, set by typst: tagged (PDF/UA-1), with bookmarks, and archivable (PDF/A-2a).

The template beside this module holds the layout; texts reach it as JSON and are never read as
markup. The same report gives the same bytes; its date is that of the report's provenance. A report
without a date cannot be PDF/A, which requires one; it is PDF/UA all the same.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from fourfifths._evidence.formats.html import SUBTITLES, is_lead
from fourfifths._evidence.formats.paper import (
    MAX_CELL_WIDTH,
    MAX_WHOLE_ROWS,
    PAGE_LETTERS,
    SMALL_TABLE,
    column_letters,
    full_widths,
    narrow_sheets,
    report_date,
    running_title,
)
from fourfifths._evidence.formats.registry import Paper
from fourfifths._evidence.formats.typesetting import Standard, chart_drawing, typeset
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.document import Sheet
from fourfifths._text import printable

TEMPLATE = Path(__file__).with_name("report.typ")
TYPST_PAPER: dict[Paper, str] = {"letter": "us-letter", "a4": "a4"}
CODE_FIELDS = ("command", "sha256", "data_sha256")
MAX_UNBROKEN = 24  # letters; a longer word may be broken, every so many letters
MAX_WHOLE_CELL = 120  # letters; a table with a longer text may be broken over pages
BREAK = "\N{ZERO WIDTH SPACE}"


def report_pdf(report: Report, *, paper: Paper = "letter") -> bytes:
    """Return the report as PDF."""
    content = json.dumps(report_content(report, paper), ensure_ascii=False)
    standards: tuple[Standard, ...] = ("ua-1",) if report_date(report) is None else ("ua-1", "a-2a")
    return typeset(TEMPLATE.read_bytes(), content, standards=standards).pdf


def report_content(report: Report, paper: Paper) -> dict[str, Any]:
    """Return what the template shows, ready for JSON."""
    day = report_date(report)
    return {
        "paper": TYPST_PAPER[paper],
        "language": report.language,
        "date": None if day is None else [day.year, day.month, day.day],
        "title": breakable(report.title),
        "running-title": running_title(report),
        "subtitle": SUBTITLES[report.template],
        "cover": fields_content(report.cover),
        "finding-title": breakable(report.finding_title),
        "finding": [breakable(text) for text in report.finding],
        "tone": report.tone,
        "parts": [part_content(part) for part in report.parts],
        "limits": [breakable(text) for text in report.limits],
        "method": [breakable(text) for text in report.method],
        "terms": [
            {"name": breakable(term.name), "definition": breakable(term.definition)}
            for term in report.terms
        ],
        "provenance": fields_content(report.provenance),
    }


def fields_content(fields: tuple[Field, ...]) -> list[dict[str, Any]]:
    """Return the lines of the cover or of the provenance."""
    return [
        {
            "label": breakable(field.label),
            "text": breakable(field.text),
            "is-stated": field.is_stated,
            "is-code": field.key in CODE_FIELDS,
        }
        for field in fields
    ]


def part_content(part: Part) -> dict[str, Any]:
    """Return a part; a chart comes with its drawing and with its text alternative."""
    return {
        "id": part.id,
        "title": breakable(part.title),
        "problem": breakable(part.problem),
        "is-lead": is_lead(part),
        "paragraphs": [breakable(text) for text in part.paragraphs],
        "charts": [
            {
                "title": breakable(chart.title),
                "alt": printable(chart.alt),
                "svg": chart_drawing(chart),
            }
            for chart in part.charts
        ],
        "sections": [
            {
                "sheets": [
                    sheet_content(part) for sheet in section.sheets for part in narrow_sheets(sheet)
                ],
                "sentences": [
                    {"text": breakable(sentence.text), "is-marked": sentence.is_marked}
                    for sentence in section.sentences
                ],
            }
            for section in part.sections
        ],
        "notes": [breakable(text) for text in part.notes],
        "explanations": [breakable(text) for text in part.explanations],
    }


def sheet_content(sheet: Sheet) -> dict[str, Any]:
    """Return a table."""
    return {
        "title": breakable(sheet.title),
        "headers": [breakable(header) for header in sheet.headers],
        "rows": [[breakable(cell) for cell in row] for row in sheet.rows],
        "marked": list(sheet.marked),
        "widths": column_shares(sheet),
        "is-whole": len(sheet.rows) <= MAX_WHOLE_ROWS
        and all(len(cell) <= MAX_WHOLE_CELL for row in sheet.rows for cell in row),
        "name-columns": sheet.name_columns,
    }


def column_shares(sheet: Sheet) -> list[float]:
    """Return the columns' shares of the page; 0 for a column as wide as its longest text.

    Names and long texts share what is left. In a table with too little room for its heads every
    column has a share, since the heads would take what the names need.
    """
    longest = [
        max((len(row[column]) for row in sheet.rows), default=0)
        for column in range(len(sheet.headers))
    ]
    if sum(full_widths(sheet)) > PAGE_LETTERS:
        return [*column_letters(sheet)]
    if sum(full_widths(sheet)) <= SMALL_TABLE and max(longest, default=0) <= MAX_CELL_WIDTH:
        return [0.0] * len(longest)
    return [
        float(column < sheet.name_columns or length > MAX_CELL_WIDTH)
        for column, length in enumerate(longest)
    ]


def breakable(text: str) -> str:
    """Return a text as it is shown; a very long word may be broken, so that it stays on the page.

    Examples
    --------
    >>> breakable("a" * 30).split(BREAK)
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaa']
    """
    return re.sub(rf"(\S{{{MAX_UNBROKEN}}})(?=\S)", rf"\1{BREAK}", printable(text))
