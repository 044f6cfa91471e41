"""A report as a Word document, for counsel to edit: real headings, tables, captions and pictures.

The same report gives the same bytes: nothing in the file, nor in the zip file that it is, has
another date than the report's provenance.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

from docx import Document
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor

from fourfifths._evidence.formats.html import SUBTITLES, is_lead
from fourfifths._evidence.formats.paper import (
    MAX_WHOLE_ROWS,
    NO_DATE,
    PAGE_LETTERS,
    SMALL_TABLE,
    column_letters,
    file_date,
    narrow_sheets,
    running_title,
)
from fourfifths._evidence.formats.registry import Paper
from fourfifths._evidence.formats.typesetting import chart_png
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.charts.chart import Chart
from fourfifths._report.document import Sheet
from fourfifths._text import printable

PAGE_SIZES = {"letter": (Cm(21.59), Cm(27.94)), "a4": (Cm(21.0), Cm(29.7))}
MARGIN = Cm(2.2)
CHART_WIDTH = Cm(13)
FIELD_WIDTH = Cm(4.6)
INK, MUTED = RGBColor(0x1B, 0x1F, 0x24), RGBColor(0x4B, 0x53, 0x5D)
FONT = "Times New Roman"
RULE_COLOR, MARKED_COLOR = "C4CBD3", "FBE9E7"
LANGUAGES = {"en": "en-US"}  # Word proofreads a language of a country


def report_docx(report: Report, *, paper: Paper = "letter") -> bytes:
    """Return the report as a Word document."""
    return _Writer(report, paper).content()


class _Writer:
    """Writes one report; tables and figures are numbered as they come."""

    def __init__(self, report: Report, paper: Paper) -> None:
        self.report = report
        self.document = Document()
        self.width = PAGE_SIZES[paper][0] - 2 * MARGIN
        self.counts = {"Table": 0, "Figure": 0}
        self.set_up(paper)

    def content(self) -> bytes:
        """Write everything; return the file."""
        report = self.report
        self.paragraph(SUBTITLES[report.template], color=MUTED)
        self.document.add_paragraph(printable(report.title), style="Title")
        self.fields(report.cover)
        if report.finding:
            self.heading(report.finding_title)
            for index, text in enumerate(report.finding):
                self.paragraph(text, is_bold=index == 0)
        for part in report.parts:
            self.part(part)
        for title, texts in (("Limits", report.limits), ("Method and sources", report.method)):
            if texts:
                self.heading(title)
                self.bullets(texts)
        if report.terms:
            self.heading("Glossary")
            for term in report.terms:
                line = self.paragraph(term.name, is_bold=True)
                line.add_run(f"  {printable(term.definition)}")
        if report.provenance:
            self.heading("Provenance")
            self.fields(report.provenance)
        stream = io.BytesIO()
        self.document.save(stream)
        return without_dates(stream.getvalue())

    # --- the page ---

    def set_up(self, paper: Paper) -> None:
        """Set the page, the styles, the head and foot of pages, and the properties."""
        section = self.document.sections[0]
        section.page_width, section.page_height = PAGE_SIZES[paper]
        section.left_margin = section.right_margin = MARGIN
        section.top_margin = section.bottom_margin = MARGIN
        styles = self.document.styles
        normal = styles["Normal"]
        normal.font.name, normal.font.size = FONT, Pt(11)
        normal.paragraph_format.space_after = Pt(6)
        for name, size in (("Title", 20), ("Heading 1", 14), ("Caption", 9)):
            style = styles[name]
            style.font.name, style.font.size = FONT, Pt(size)
            style.font.color.rgb, style.font.bold = INK, True
            fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
            # The theme's font would win over the name.
            for attribute in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
                fonts.attrib.pop(qn(f"w:{attribute}"), None)
            style.paragraph_format.keep_with_next = name != "Title"
        borders = styles["Title"].element.pPr.find(qn("w:pBdr"))
        if borders is not None:
            styles["Title"].element.pPr.remove(borders)
        styles["Caption"].paragraph_format.space_before = Pt(10)
        styles["Caption"].paragraph_format.space_after = Pt(3)
        language = LANGUAGES.get(self.report.language, self.report.language)
        for element in styles.element.iter(qn("w:lang")):
            element.set(qn("w:val"), language)
        head = section.header.paragraphs[0]
        self.run(head, running_title(self.report), size=8, color=MUTED)
        foot = section.footer.paragraphs[0]
        self.run(foot, "Made with fourfifths. Not legal advice.  Page ", size=8, color=MUTED)
        self.field(foot, "PAGE", "1", size=8)
        self.run(foot, " of ", size=8, color=MUTED)
        self.field(foot, "NUMPAGES", "1", size=8)
        properties = self.document.core_properties
        properties.title = printable(self.report.title)[:255]
        properties.subject = SUBTITLES[self.report.template]
        properties.language = language
        properties.author = properties.last_modified_by = properties.comments = ""
        properties.created = properties.modified = file_date(self.report)

    # --- pieces of text ---

    def run(
        self,
        paragraph: Any,
        text: str,
        *,
        is_bold: bool = False,
        is_italic: bool = False,
        size: float | None = None,
        color: RGBColor | None = None,
    ) -> None:
        """Add a text to a paragraph."""
        run = paragraph.add_run(printable(text))
        run.bold, run.italic = is_bold or None, is_italic or None
        if size is not None:
            run.font.size = Pt(size)
        if color is not None:
            run.font.color.rgb = color

    def field(self, paragraph: Any, code: str, text: str, *, size: float | None = None) -> None:
        """Add what Word computes, as the number of the page, and what it shows until then."""
        field = OxmlElement("w:fldSimple")
        field.set(qn("w:instr"), code)
        self.run(paragraph, text, size=size, color=None if size is None else MUTED)
        field.append(paragraph.runs[-1]._r)
        paragraph._p.append(field)

    def heading(self, text: str) -> None:
        """Add a heading, which is also an entry of Word's navigation."""
        self.document.add_paragraph(printable(text), style="Heading 1")

    def paragraph(
        self,
        text: str,
        *,
        is_bold: bool = False,
        size: float | None = None,
        color: RGBColor | None = None,
    ) -> Any:
        """Add a paragraph."""
        paragraph = self.document.add_paragraph()
        self.run(paragraph, text, is_bold=is_bold, size=size, color=color)
        return paragraph

    def bullets(self, texts: Sequence[str], *, marked: Sequence[int] = ()) -> None:
        """Add a list; entries that are marked stand out."""
        for index, text in enumerate(texts):
            entry = self.document.add_paragraph(style="List Bullet")
            self.run(entry, text, is_bold=index in marked)
            entry.paragraph_format.space_after = Pt(3)

    def caption(self, kind: str, text: str) -> None:
        """Add a caption; Word keeps the numbers in order when a table is moved or deleted."""
        self.counts[kind] += 1
        caption = self.document.add_paragraph(style="Caption")
        self.run(caption, f"{kind} ")
        self.field(caption, f"SEQ {kind} \\* ARABIC", str(self.counts[kind]))
        self.run(caption, f": {text}")

    # --- the report ---

    def part(self, part: Part) -> None:
        """Add a part."""
        self.heading(part.title)
        if part.problem:
            line = self.paragraph("This part could not be made: ", is_bold=True)
            self.run(line, f"{part.problem}.")
            return
        for index, text in enumerate(part.paragraphs):
            self.paragraph(text, is_bold=index == 0 and is_lead(part))
        for chart in part.charts:
            self.chart(chart)
        for section in part.sections:
            for sheet in section.sheets:
                for narrow in narrow_sheets(sheet):
                    self.sheet(narrow)
            marked = [index for index, line in enumerate(section.sentences) if line.is_marked]
            self.bullets([line.text for line in section.sentences], marked=marked)
        self.bullets([f"Note: {note}." for note in part.notes])
        for text in part.explanations:
            self.paragraph(text, size=8.5, color=MUTED)

    def chart(self, chart: Chart) -> None:
        """Add a picture with its text alternative, below its caption."""
        self.caption("Figure", chart.title)
        paragraph = self.document.add_paragraph()
        shape = paragraph.add_run().add_picture(io.BytesIO(chart_png(chart)), width=CHART_WIDTH)
        properties = shape._inline.docPr
        properties.set("descr", printable(f"{chart.title}. {chart.alt}"))
        properties.set("name", f"Figure {self.counts['Figure']}")

    def sheet(self, sheet: Sheet) -> None:
        """Add a table; its head is repeated on each page."""
        self.caption("Table", sheet.title)
        size = 8.5 if len(sheet.headers) > 7 else 9
        table = self.table(len(sheet.rows) + 1, len(sheet.headers))
        # Cells are asked for once: each time python-docx goes through the whole table.
        cells = table._cells
        width = len(sheet.headers)
        table.autofit = False
        widths = column_widths(sheet, self.width)
        for column, column_width in zip(table.columns, widths, strict=True):
            column.width = column_width
        # A short table stays on one page; of a long one, the head stays with the first row.
        last_kept = len(sheet.rows) if len(sheet.rows) <= MAX_WHOLE_ROWS else 1
        for index, row in enumerate((sheet.headers, *sheet.rows)):
            is_marked = index - 1 in sheet.marked
            for column, text in enumerate(row):
                cell = cells[index * width + column]
                cell.width = widths[column]
                line = cell.paragraphs[0]
                line.paragraph_format.space_after = Pt(0)
                line.paragraph_format.keep_with_next = index < last_kept
                if column >= sheet.name_columns:
                    line.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                self.run(line, text, is_bold=index == 0 or is_marked, size=size)
                if is_marked:
                    shade(cell)
        mark_head(table)
        self.document.add_paragraph().paragraph_format.space_after = Pt(0)

    def fields(self, fields: Sequence[Field]) -> None:
        """Add labels and texts beside each other."""
        if not fields:
            return
        table = self.table(len(fields), 2)
        table.autofit = False
        for field, row in zip(fields, table.rows, strict=True):
            label, text = row.cells
            label.width, text.width = FIELD_WIDTH, self.width - FIELD_WIDTH
            for cell in (label, text):
                cell.paragraphs[0].paragraph_format.space_after = Pt(0)
            self.run(label.paragraphs[0], field.label, size=9.5, color=MUTED)
            self.run(text.paragraphs[0], field.text, size=9.5, is_italic=not field.is_stated)
        self.document.add_paragraph().paragraph_format.space_after = Pt(0)

    def table(self, rows: int, columns: int) -> Any:
        """Add an empty table of the width of the page, with lines between its rows."""
        table = self.document.add_table(rows, columns)
        table.alignment = WD_TABLE_ALIGNMENT.LEFT
        properties = table._tbl.tblPr
        borders = OxmlElement("w:tblBorders")
        for side in ("top", "bottom", "insideH"):
            border = OxmlElement(f"w:{side}")
            for name, value in (("val", "single"), ("sz", "4"), ("color", RULE_COLOR)):
                border.set(qn(f"w:{name}"), value)
            borders.append(border)
        properties.append(borders)
        return table


def column_widths(sheet: Sheet, width: int) -> list[int]:
    """Return the widths of columns, which fill the page; a small table takes what it needs."""
    letters = column_letters(sheet)
    total = sum(letters)
    room = PAGE_LETTERS if total <= SMALL_TABLE else total
    return [int(width * length / room) for length in letters]


def mark_head(table: Any) -> None:
    """Make the first row the head that each page repeats; keep rows whole."""
    for index, row in enumerate(table.rows):
        properties = row._tr.get_or_add_trPr()
        properties.append(OxmlElement("w:cantSplit"))
        if index == 0:
            properties.append(OxmlElement("w:tblHeader"))


def shade(cell: Any) -> None:
    """Give a cell the colour of rows that stand out."""
    shading = OxmlElement("w:shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", MARKED_COLOR)):
        shading.set(qn(f"w:{name}"), value)
    cell._tc.get_or_add_tcPr().append(shading)


def without_dates(content: bytes) -> bytes:
    """Return a zip file in which no entry has a date."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            info = zipfile.ZipInfo(name, date_time=NO_DATE.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 0
            target.writestr(info, source.read(name))
    return stream.getvalue()
