"""Reports as HTML: anchors, contents, definitions."""

from __future__ import annotations

from parsed_html import ParsedPage

from fourfifths._evidence.formats.html import contents_of, report_html, term_heads
from fourfifths._evidence.report import Field, Part, Report, Term
from fourfifths._report.document import Section, Sheet

SHEET = Sheet(title="rates", headers=("group", "ratio", ""), rows=(("A", "0.5", "x"),), marked=(0,))
REPORT = Report(
    title="T",
    template="full",
    cover=(Field(key="auditor", label="Auditor"),),
    finding=("First.", "Second."),
    tone="bad",
    parts=tuple(
        Part(id=f"p{number}", title=f"P{number}", sections=(Section(sheets=(SHEET,)),))
        for number in range(3)
    ),
    terms=(Term(name="impact ratio", definition="A quotient.", heads=("ratio",)),),
)


def test_a_head_leads_to_its_definition():
    assert term_heads(REPORT) == {"ratio": "term-impact-ratio"}
    page = ParsedPage(report_html(REPORT))
    links = [attributes for tag, attributes in page.tags if attributes.get("class") == "term"]
    assert [link["href"] for link in links] == ["#term-impact-ratio"] * 3
    assert any(attributes.get("id") == "term-impact-ratio" for _, attributes in page.tags)


def test_the_contents_have_everything_with_a_heading():
    assert [name for name, _ in contents_of(REPORT)] == ["finding", "p0", "p1", "p2", "glossary"]


def test_what_stands_out_does_so_by_its_class_and_not_by_colour_alone():
    page = report_html(REPORT)
    assert '<tr class="marked">' in page
    assert '.marked>.name:first-child::before{content:"' in page
    assert '<dd class="unstated">not stated</dd>' in page
    assert '<div class="finding bad">' in page


def test_a_part_that_could_not_be_made_has_its_reason():
    report = Report(title="T", template="full", parts=(Part(id="a", title="A", problem="no <x>"),))
    assert "This part could not be made:</strong> no &lt;x&gt;." in report_html(report)
