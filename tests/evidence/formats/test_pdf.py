"""Reports as PDF."""

from __future__ import annotations

import io
import re
import time
from dataclasses import replace

import pytest
from filed_reports import HOSTILE, hostile_report
from pypdf import PdfReader

from fourfifths._evidence.compose import report
from fourfifths._evidence.formats.pdf import report_pdf
from fourfifths._evidence.formats.registry import FORMATS, render
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.document import Section, Sheet
from fourfifths._text import printable

DATE = Field(key="date", label="Made on", text="2026-11-18 10:00 UTC")


@pytest.fixture(scope="module")
def memo():
    return report("ricci", template="ugesp")


@pytest.fixture(scope="module")
def pdf(memo):
    return PdfReader(io.BytesIO(report_pdf(replace(memo, provenance=(DATE,)))))


def text_of(pdf):
    return "\n".join(page.extract_text() for page in pdf.pages)


def letters(text):
    """Return a text without spaces: where lines are broken does not matter."""
    return re.sub(r"[\s\u200b\xad]", "", text)


def tags_of(pdf):
    """Yield every element of the structure of a document."""
    waiting = [pdf.trailer["/Root"]["/StructTreeRoot"]]
    while waiting:
        element = waiting.pop().get_object()
        if isinstance(element, list):
            waiting.extend(element)
        elif isinstance(element, dict):
            yield element
            if "/K" in element:
                waiting.append(element["/K"])


@pytest.mark.slow
def test_numbers_are_those_of_the_report(memo, pdf):
    text = text_of(pdf)
    cells = [
        cell for part in memo.parts for sheet in part.sheets for row in sheet.rows for cell in row
    ]
    assert len(cells) > 50
    assert [cell for cell in cells if letters(cell) not in letters(text)] == []
    # As JSON has them: 9 of 27 is a third.
    (part,) = (part for part in memo.to_dict()["parts"] if part["id"] == "by-race")
    figures = part["result"]["groups"][0]
    row = re.search(r"^B 27 9 (\S+) \S+ to \S+ (\S+) <", text, flags=re.MULTILINE)
    assert float(row[1]) == round(figures["selection_rate"], 3) == 0.333
    assert float(row[2]) == round(figures["impact_ratio"], 3) == 0.553


def test_it_is_tagged_titled_and_has_bookmarks(memo, pdf):
    root = pdf.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert pdf.metadata.title == memo.title
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    bookmarks = [entry.title for entry in pdf.outline]
    titles = [memo.finding_title, *(part.title for part in memo.parts)]
    assert bookmarks[: len(titles)] == titles


def test_it_states_its_standards(memo, pdf):
    metadata = pdf.trailer["/Root"]["/Metadata"].get_object().get_data()
    assert b"<pdfuaid:part>1<" in metadata
    assert b"<pdfaid:part>2<" in metadata
    undated = PdfReader(io.BytesIO(report_pdf(replace(memo, provenance=()))))
    metadata = undated.trailer["/Root"]["/Metadata"].get_object().get_data()
    assert b"<pdfuaid:part>1<" in metadata
    assert b"pdfaid" not in metadata
    assert "/CreationDate" not in (undated.metadata or {})


def test_tables_have_heads_and_charts_have_alternatives(memo, pdf):
    kinds = [element.get("/S") for element in tags_of(pdf)]
    assert kinds.count("/TH") >= 20
    (chart,) = (chart for part in memo.parts for chart in part.charts)
    alternatives = [element["/Alt"] for element in tags_of(pdf) if "/Alt" in element]
    assert chart.alt in alternatives


def test_charts_are_drawings_and_not_pictures(pdf):
    images = [
        entry
        for page in pdf.pages
        for entry in page["/Resources"].get("/XObject", {}).values()
        if entry.get_object()["/Subtype"] == "/Image"
    ]
    assert images == []


def test_heads_and_page_numbers_are_on_every_page():
    sheet = Sheet(
        title="long", headers=("name", "figure"), rows=tuple((f"r{i}", str(i)) for i in range(150))
    )
    part = Part(id="p", title="p", sections=(Section(sheets=(sheet,)),))
    pages = PdfReader(
        io.BytesIO(report_pdf(Report(title="Of many rows", template="full", parts=(part,))))
    ).pages
    texts = [page.extract_text() for page in pages]
    assert len(texts) > 2
    for number, text in enumerate(texts, start=1):
        assert f"Page {number} of {len(texts)}" in text
        assert "figure" in text
        assert "Of many rows" in text


@pytest.mark.parametrize(("paper", "points"), [("letter", (612, 792)), ("a4", (595.28, 841.89))])
def test_paper(memo, paper, points):
    box = PdfReader(io.BytesIO(report_pdf(memo, paper=paper))).pages[0].mediabox
    assert (float(box.width), float(box.height)) == pytest.approx(points, abs=0.1)


# Signs that are read from right to left come back in another order, those that no font has come
# back as codes, and long texts take pypdf long: see below.
LEFT_TO_RIGHT = [
    name
    for name in HOSTILE
    if name not in ("hebrew", "arabic", "chinese", "emoji", "long", "long words")
]


@pytest.mark.parametrize("name", LEFT_TO_RIGHT)
def test_hostile_texts_stay_texts(name):
    pdf = PdfReader(io.BytesIO(report_pdf(hostile_report(HOSTILE[name]))))
    shown = letters(printable(HOSTILE[name]))
    assert letters(text_of(pdf)).count(shown) >= 10


@pytest.mark.parametrize(("name", "letter"), [("hebrew", "ש"), ("arabic", "م")])
def test_names_in_other_scripts_are_shown(name, letter):
    assert letter in text_of(PdfReader(io.BytesIO(report_pdf(hostile_report(HOSTILE[name])))))


@pytest.mark.parametrize(("name", "sign"), [("chinese", "年"), ("emoji", "😀")])
def test_a_sign_that_no_font_has_is_shown_as_its_code(name, sign):
    text = letters(text_of(PdfReader(io.BytesIO(report_pdf(hostile_report(HOSTILE[name]))))))
    # A machine may have a font for it.
    assert ascii(sign)[1:-1] in text or sign in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["long", "long words"])
def test_long_texts_are_written_whole_wherever_they_stand(name):
    pdf = PdfReader(io.BytesIO(report_pdf(hostile_report(HOSTILE[name]))))
    assert letters(text_of(pdf)).count(letters(HOSTILE[name])[:1000]) > 50


@pytest.mark.slow
def test_a_long_name_stays_on_the_page_and_is_whole():
    sheet = Sheet(title="t", headers=("name", "n"), rows=(("x" * 10_000, "1"),))
    part = Part(id="p", title="p", sections=(Section(sheets=(sheet,)),))
    filed = Report(title="t", template="full", parts=(part,))
    positions: list[float] = []
    written = 0

    def visit(text, _, matrix, *rest):
        if text.startswith("xxx"):
            positions.append(matrix[4])

    for page in PdfReader(io.BytesIO(report_pdf(filed))).pages:
        written += page.extract_text(visitor_text=visit).count("x")
    assert written == 10_000
    assert len(positions) > 20
    assert max(positions) < 400


def test_the_same_report_gives_the_same_bytes(memo):
    assert report_pdf(memo) == report_pdf(memo)
    dated = replace(memo, provenance=(DATE,))
    assert report_pdf(dated) == report_pdf(dated)


@pytest.mark.slow
def test_adults_report_is_rendered_within_two_seconds():
    filed = report("adult", protected=["sex", "race"], parts=[])
    for ending in (".pdf", ".docx", ".xlsx"):
        render(hostile_report("warm"), FORMATS[ending])
        started = time.process_time()
        render(filed, FORMATS[ending])
        assert time.process_time() - started < 2, ending


def test_emoji_of_several_parts_can_be_written():
    # A font of the system may have the parts, and no glyph for the sign that joins them; typst
    # then names no sign.
    text = "\N{WHITE FLAG}\N{VARIATION SELECTOR-16}\N{ZERO WIDTH JOINER}\N{RAINBOW}"
    pages = PdfReader(io.BytesIO(report_pdf(hostile_report(f"{text} end")))).pages
    assert "end" in pages[0].extract_text()
