"""A report as one HTML file that works offline."""

from __future__ import annotations

from pathlib import Path

from fourfifths._evidence.report import Part, Report, anchor
from fourfifths._report.html.page import render_page

HERE = Path(__file__).parent
MIN_PARTS_FOR_CONTENTS = 4
SUBTITLES = {
    "full": "Measured selection rates, impact ratios, tests, and what they rest on",
    "ll144": "New York City Local Law 144, 6 RCNY 5-303(a)",
    "ugesp": "Uniform Guidelines on Employee Selection Procedures, 29 CFR part 1607",
    "model-card": "Section of a model card",
}


def report_html(report: Report) -> str:
    """Return the page: contents beside it, tables that sort, definitions that open."""
    return render_page(
        "report.html.j2",
        title=report.title,
        language=report.language,
        folders=(HERE,),
        report=report,
        subtitle=SUBTITLES[report.template],
        contents=contents_of(report),
        heads=term_heads(report),
        term_ids=term_ids(report),
        has_contents=len(report.parts) >= MIN_PARTS_FOR_CONTENTS,
        is_lead=is_lead,
    )


def term_ids(report: Report) -> dict[str, str]:
    """Return the anchor of each term."""
    return {term.name: f"term-{anchor(term.name)}" for term in report.terms}


def term_heads(report: Report) -> dict[str, str]:
    """Return the anchor of the term that each head of a table means."""
    ids = term_ids(report)
    return {head: ids[term.name] for term in report.terms for head in term.heads}


def contents_of(report: Report) -> list[tuple[str, str]]:
    """Return the anchors and titles of everything that has a heading."""
    ends = (
        ("limits", "Limits", report.limits),
        ("method", "Method and sources", report.method),
        ("glossary", "Glossary", report.terms),
        ("provenance", "Provenance", report.provenance),
    )
    return [
        *([("finding", report.finding_title)] if report.finding else []),
        *((part.id, part.title) for part in report.parts),
        *((name, title) for name, title, content in ends if content),
    ]


def is_lead(part: Part) -> bool:
    """Return whether the first paragraph is a verdict, to be set off."""
    return part.result is not None and bool(part.paragraphs)
