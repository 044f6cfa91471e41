"""A report as PDF, set by typst: tagged (PDF/UA-1), with bookmarks, and archivable (PDF/A-2a).

The template beside this module holds the layout; texts reach it as JSON and are never read as
markup. The same report gives the same bytes: the fonts are those that typst brings along, and the
date is that of the report's provenance. A report without a date cannot be PDF/A, which requires
one; it is PDF/UA all the same.
"""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any, Literal

import typst

from fourfifths._evidence.formats.html import SUBTITLES, is_lead
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.charts.svg import chart_svg
from fourfifths._report.document import Sheet
from fourfifths._text import printable
from fourfifths.errors import OutputError

Paper = Literal["letter", "a4"]
TEMPLATE = Path(__file__).with_name("report.typ")
TYPST_PAPER: dict[Paper, str] = {"letter": "us-letter", "a4": "a4"}
CODE_FIELDS = ("command", "sha256", "data_sha256")
MAX_RUNNING_TITLE = 90  # letters at the head of a page
MAX_UNBROKEN = 24  # letters; a longer word may be broken, every so many letters
BREAK = "\N{ZERO WIDTH SPACE}"
# What typst says of a sign that no font has, quoted as Rust quotes texts.
NO_GLYPH = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
RUST_ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")


def report_pdf(report: Report, *, paper: Paper = "letter") -> bytes:
    r"""Return the report as PDF.

    A sign that is in none of typst's fonts is looked for in those of the system. One that is not
    there either is written as its code, as in ``\u5e74``.
    """
    content = json.dumps(report_content(report, paper), ensure_ascii=False)
    standards = ["ua-1"] if report_date(report) is None else ["ua-1", "a-2a"]
    codes: dict[str, str] = {}
    problem = ""
    for ignore_system_fonts in (True, False, False):
        compiler = typst.Compiler(
            TEMPLATE.read_bytes(),
            ignore_system_fonts=ignore_system_fonts,
            sys_inputs={"report": content.translate(str.maketrans(codes))},
        )
        try:
            pdf: bytes = compiler.compile(format="pdf", pdf_standards=standards)
        except typst.TypstError as error:
            problem = str(error)
            if not ignore_system_fonts:
                codes |= sign_codes(error.diagnostic)
        else:
            return pdf
    raise OutputError(f"the report cannot be written as PDF: typst says {problem!r}")


def sign_codes(diagnostic: str) -> dict[str, str]:
    r"""Return the code of each sign that typst could not display, as it is written in JSON.

    Examples
    --------
    >>> sign_codes('error: the text `"年"` could not be displayed with font `"Libertinus Serif"`')
    {'年': '\\\\u5e74'}
    """
    texts = [
        RUST_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text)
        for text in NO_GLYPH.findall(diagnostic)
    ]
    signs = sorted({sign for text in texts for sign in text if not sign.isascii()})
    return {sign: ascii(sign)[1:-1].replace("\\", r"\\") for sign in signs}


def report_date(report: Report) -> date | None:
    """Return the day on which the report was made, if its provenance says it."""
    for line in report.provenance:
        if line.key == "date":
            try:
                return date.fromisoformat(line.text[:10])
            except ValueError:
                return None
    return None


def report_content(report: Report, paper: Paper) -> dict[str, Any]:
    """Return what the template shows, ready for JSON."""
    day = report_date(report)
    title = printable(report.title)
    return {
        "paper": TYPST_PAPER[paper],
        "language": report.language,
        "date": None if day is None else [day.year, day.month, day.day],
        "title": breakable(title),
        "running-title": title
        if len(title) <= MAX_RUNNING_TITLE
        else f"{title[: MAX_RUNNING_TITLE - 1]}…",
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
                "svg": str(chart_svg(chart, is_standalone=True)),
            }
            for chart in part.charts
        ],
        "sections": [
            {
                "sheets": [sheet_content(sheet) for sheet in section.sheets],
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
        "name-columns": sheet.name_columns,
    }


def breakable(text: str) -> str:
    """Return a text as it is shown; a very long word may be broken, so that it stays on the page.

    Examples
    --------
    >>> breakable("a" * 30).split(BREAK)
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaa']
    """
    return re.sub(rf"(\S{{{MAX_UNBROKEN}}})(?=\S)", rf"\1{BREAK}", printable(text))
