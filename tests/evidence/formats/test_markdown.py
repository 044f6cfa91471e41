"""Reports as Markdown."""

from __future__ import annotations

from fourfifths._evidence.formats.markdown import report_markdown
from fourfifths._evidence.report import Field, Part, Report, Term
from fourfifths._report.charts.chart import DotChart
from fourfifths._report.document import Section, Sentence, Sheet


def test_everything_is_there_in_its_order():
    sheet = Sheet(title="rates", headers=("group", "n"), rows=(("a|b", "1"),))
    report = Report(
        title="T",
        template="full",
        cover=(Field(key="tool", label="Tool", text="<A>"),),
        finding=("Nothing.",),
        parts=(
            Part(
                id="p",
                title="P",
                paragraphs=("Said.",),
                charts=(DotChart(title="C", alt="A: 1.", axis="", marks=(), limits=(0, 1)),),
                sections=(Section(sheets=(sheet,), sentences=(Sentence(text="So."),)),),
                notes=("so",),
                explanations=("Small print.",),
            ),
        ),
        limits=("Limit.",),
        method=("Formula.",),
        terms=(Term(name="n", definition="Number."),),
        provenance=(Field(key="file", label="File", text="f.csv"),),
    )
    lines = [line for line in report_markdown(report).splitlines() if line]
    assert lines == [
        "# T",
        "- Tool: &lt;A&gt;",
        "## Finding",
        "Nothing.",
        "## P",
        "Said.",
        "C. A: 1.",
        "### rates",
        "| group | n |",
        "| --- | ---: |",
        "| a\\|b | 1 |",
        "- So.",
        "- Note: so.",
        "Small print.",
        "## Limits",
        "- Limit.",
        "## Method and sources",
        "- Formula.",
        "## Glossary",
        "- **n**: Number.",
        "## Provenance",
        "- File: f.csv",
    ]
