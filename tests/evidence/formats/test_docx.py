"""Reports as Word documents."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest
from docx import Document
from docx.oxml.ns import qn
from filed_reports import HOSTILE, hostile_report

from fourfifths._evidence.compose import report
from fourfifths._evidence.formats.docx import report_docx
from fourfifths._evidence.formats.paper import MAX_HEAD, cut_off, narrow_sheets
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.document import Section, Sheet
from fourfifths._text import printable


@pytest.fixture(scope="module")
def memo():
    return report("ricci", template="ugesp")


@pytest.fixture(scope="module")
def document(memo):
    return Document(io.BytesIO(report_docx(memo)))


def cells_of(table):
    return tuple(tuple(cell.text for cell in row.cells) for row in table.rows)


def test_tables_hold_what_the_report_holds(memo, document):
    tables = [cells_of(table) for table in document.tables]
    sheets = [
        part for filed in memo.parts for sheet in filed.sheets for part in narrow_sheets(sheet)
    ]
    assert len(sheets) == 4
    for sheet in sheets:
        assert (sheet.headers, *sheet.rows) in tables
    # And that is what JSON says: 9 of 27, and the rate of 1/3.
    (part,) = (part for part in memo.to_dict()["parts"] if part["id"] == "by-race")
    figures = part["result"]["groups"][0]
    row = next(row for table in tables for row in table if row[:2] == ("B", "27"))
    assert (int(row[1]), int(row[2])) == (figures["n"], figures["selected"]) == (27, 9)
    assert float(row[3]) == round(figures["selection_rate"], 3) == 0.333
    assert float(row[5].removesuffix(" <")) == round(figures["impact_ratio"], 3) == 0.553


def test_headings_captions_and_texts_are_real_ones(memo, document):
    styles: dict[str, list[str]] = {}
    for paragraph in document.paragraphs:
        styles.setdefault(paragraph.style.name, []).append(paragraph.text)
    assert styles["Title"] == [memo.title]
    assert styles["Heading 1"][:2] == [memo.finding_title, memo.parts[0].title]
    assert styles["Heading 1"][-1] == "Provenance"
    assert [line for line in styles["Caption"] if line.startswith("Table")]
    assert memo.finding[0] in styles["Normal"]
    codes = [field.get(qn("w:instr")) for field in document.element.iter(qn("w:fldSimple"))]
    assert codes.count("SEQ Table \\* ARABIC") == 4
    assert codes.count("SEQ Figure \\* ARABIC") == 1


def test_heads_are_repeated_and_marked_rows_are_bold(memo, document):
    heads = [
        table.rows[0]._tr.trPr.find(qn("w:tblHeader"))
        for table in document.tables
        if table.rows[0].cells[0].text == "group"
    ]
    assert len(heads) == 4
    assert None not in heads
    rates = next(table for table in document.tables if table.rows[0].cells[1].text == "n")
    bold = [row.cells[0].paragraphs[0].runs[0].bold for row in rates.rows]
    assert bold == [True, True, True, None]  # the head, B and H; not W


def test_a_chart_is_a_picture_whose_alternative_states_the_numbers(memo, document):
    (chart,) = (chart for part in memo.parts for chart in part.charts)
    (picture,) = document.inline_shapes
    assert picture._inline.docPr.get("descr") == f"{chart.title}. {chart.alt}"
    assert "0.553" in chart.alt


def test_language_and_properties(memo, document):
    languages = {entry.get(qn("w:val")) for entry in document.styles.element.iter(qn("w:lang"))}
    assert languages == {"en-US"}
    properties = document.core_properties
    assert (properties.title, properties.author) == (memo.title, "")


@pytest.mark.parametrize(("paper", "inches"), [("letter", (8.5, 11)), ("a4", (8.268, 11.693))])
def test_paper(memo, paper, inches):
    (section,) = Document(io.BytesIO(report_docx(memo, paper=paper))).sections
    size = (section.page_width.inches, section.page_height.inches)
    assert size == pytest.approx(inches, abs=0.01)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_stay_texts(text):
    document = Document(io.BytesIO(report_docx(hostile_report(text))))
    shown = printable(text)
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts.count(shown) >= 7
    # python-docx leaves out the number, which is a field.
    assert f"Table : {shown}" in texts
    codes = {field.get(qn("w:instr")) for field in document.element.iter(qn("w:fldSimple"))}
    assert codes == {"SEQ Table \\* ARABIC", "SEQ Figure \\* ARABIC"}
    head = printable(cut_off(text, MAX_HEAD))
    assert cells_of(document.tables[1]) == ((head, head), (shown, shown), (shown, "1"))


def test_a_wide_table_is_shown_in_parts():
    sheet = Sheet(
        title="wide",
        headers=("name", *(f"h{index}" for index in range(20))),
        rows=(("a", *map(str, range(20))),),
    )
    part = Part(id="p", title="p", sections=(Section(sheets=(sheet,)),))
    filed = Report(title="t", template="full", parts=(part,))
    tables = [cells_of(table) for table in Document(io.BytesIO(report_docx(filed))).tables]
    assert len(tables) == 3
    assert all(head[0] == "name" and row[0] == "a" for head, row in tables)
    assert [cell for _, row in tables for cell in row[1:]] == [*map(str, range(20))]


def test_the_same_report_gives_the_same_bytes(memo):
    dated = replace(memo, provenance=(Field(key="date", label="d", text="2026-11-18 10:00 UTC"),))
    content = report_docx(dated)
    assert content == report_docx(dated)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = archive.read("docProps/core.xml")
    assert core.count(b"2026-11-18T00:00:00Z") == 2
