"""A report as an Excel workbook: numbers as numbers, and formulas that compute them again.

The first sheet holds the texts. Each result has a sheet with all of its figures, unrounded and
under the names that they have in JSON and CSV; where these are counts and rates of groups, rate,
impact ratio and shortfall stand there a second time, as live formulas of the counts. Each table of
the report has a sheet as well, rounded as the table is. No text of the report is ever a formula.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from fourfifths._evidence.formats.html import SUBTITLES
from fourfifths._evidence.formats.paper import file_date, running_title
from fourfifths._evidence.report import Part, Report
from fourfifths._report.csv import FORMULA_START
from fourfifths._report.document import Sheet
from fourfifths._results import Record
from fourfifths._text import printable

TEXTS = "Report"
MAX_SHEET_NAME = 31
MAX_CELL = 32_767  # letters; Excel refuses a file with more
MAX_RECORDS = 20_000  # of a result; JSON has the rest
WIDTH_LIMITS = (9, 44)  # of a column, in letters
TEXT_WIDTH = 100  # letters of a line of the sheet of texts
LABEL_WIDTH = 34
LINE_HEIGHT = 15  # points
MAX_ROW_HEIGHT = 409  # points, Excel's limit
MAX_PAGE_LETTERS = 200  # in a row of a sheet that is printed one page wide
FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\]")
RESERVED_NAMES = ("history",)
# A number as tables write it, with the decimals that it was rounded to.
SHOWN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,2}(?:,\d{3})*|[1-9]\d*)(?:\.\d+)?")
COUNTED = ("group", "reference", "n", "selected", "selection_rate", "impact_ratio")
# Within these, a group is compared with its reference.
CONTEXT = ("step", "protected", "cut")
FORMULA_MARK = "(formula)"
# Formulas of the counts and of the formulas before: name of the figure, and the formula with the
# cells of the group and of its reference.
FORMULAS = {
    "selection_rate": "={selected}/{n}",
    "impact_ratio": "={rate}/{reference_rate}",
    "shortfall_to_reference": "={n}*{reference_rate}-{selected}",
}
CLOSE = 1e-9


def report_xlsx(report: Report) -> bytes:
    """Return the report as an Excel workbook."""
    stream = io.BytesIO()
    workbook = xlsxwriter.Workbook(stream, {"in_memory": True})
    workbook.set_properties(
        {
            "title": printable(report.title)[:255],
            "subject": SUBTITLES[report.template],
            "created": file_date(report),
        }
    )
    _Writer(workbook, report).write()
    workbook.close()
    return stream.getvalue()


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula, and its value for readers that do not compute."""

    text: str
    value: float


class _Writer:
    """Writes the sheets of one report."""

    def __init__(self, workbook: Any, report: Report) -> None:
        self.workbook, self.report = workbook, report
        self.names: list[str] = []
        self.formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def write(self) -> None:
        """Write all sheets; the first lists the others."""
        texts = self.add_sheet(TEXTS)
        contents: list[tuple[str, str]] = []
        for part in self.report.parts:
            if part.problem:
                continue
            records = [] if part.result is None else part.result.to_records()
            if records:
                name = sheet_name(part.title, self.names)
                about = f"{part.title}: all figures, unrounded"
                if len(records) > MAX_RECORDS:
                    about += f" (the first {MAX_RECORDS:,} of {len(records):,} rows; JSON has all)"
                contents.append((name, about))
                self.records(self.add_sheet(name), records[:MAX_RECORDS])
            for sheet in part.sheets:
                name = sheet_name(sheet.title, self.names)
                contents.append((name, f"{sheet.title}: as shown, rounded"))
                self.table(self.add_sheet(name), sheet)
        self.texts(texts, contents)

    def add_sheet(self, name: str) -> Any:
        """Add a sheet, with the title at the head of its pages."""
        self.names.append(name)
        sheet = self.workbook.add_worksheet(name)
        sheet.set_landscape()
        # An ampersand begins a code of the page's head.
        title = running_title(self.report).replace("&", "&&")
        sheet.set_header(f"&L{title}&R&A", {"margin": 0.3})
        sheet.set_footer("&LMade with fourfifths. Not legal advice.&RPage &P of &N")
        return sheet

    def fit_page(self, sheet: Any, widths: Sequence[float], *, fixed: int) -> None:
        """Set the columns' widths; print one page wide, or a wide sheet in parts that can be read.

        Each part has the first columns, which say what a row is about.
        """
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        if sum(widths) <= MAX_PAGE_LETTERS:
            sheet.fit_to_pages(1, 0)
        else:
            sheet.print_across()
            sheet.repeat_columns(0, fixed - 1)

    def format(self, **properties: Any) -> Any:
        """Return a format; the same properties are one format."""
        key = tuple(sorted(properties.items()))
        if key not in self.formats:
            self.formats[key] = self.workbook.add_format(properties)
        return self.formats[key]

    def cell(self, sheet: Any, row: int, column: int, value: Any, **look: Any) -> None:
        """Write a value as what it is: a number, a truth value, a formula, a text or nothing."""
        if value is None:
            if look:
                sheet.write_blank(row, column, None, self.format(**look))
        elif isinstance(value, bool):
            sheet.write_boolean(row, column, value, self.format(**look))
        elif isinstance(value, int | float):
            sheet.write_number(row, column, value, self.format(**look))
        elif isinstance(value, Formula):
            sheet.write_formula(row, column, value.text, self.format(**look), value.value)
        else:
            text = printable(str(value))
            if len(text) > MAX_CELL:
                text = f"{text[: MAX_CELL - 1]}…"
            if FORMULA_START.match(text):
                # Stays a text when somebody edits the cell.
                look["quote_prefix"] = True
            sheet.write_string(row, column, text, self.format(**look))

    def head(self, sheet: Any, names: Sequence[str], *, fixed: int) -> None:
        """Write the names of columns, which stay in sight and are on every page."""
        for column, name in enumerate(names):
            self.cell(sheet, 0, column, name, bold=True, bottom=1, text_wrap=True, valign="top")
        sheet.freeze_panes(1, fixed)
        sheet.repeat_rows(0)

    def records(self, sheet: Any, records: Sequence[Record]) -> None:
        """Write the figures of a result, with formulas beside those that follow from counts."""
        rows = with_formulas(records)
        names = list(rows[0])
        fixed = names.index("group") + 1 if "group" in names else 1
        self.head(sheet, names, fixed=fixed)
        for index, row in enumerate(rows, start=1):
            for column, value in enumerate(row.values()):
                look = {"bg_color": "#EEF4FB"} if isinstance(value, Formula) else {}
                self.cell(sheet, index, column, value, **look)
        widths = []
        for name in names:
            texts = [row[name] for row in rows if isinstance(row[name], str)]
            # A number needs no more room: Excel shows as many digits as fit.
            widths.append(column_width(name, max(map(len, texts), default=0)))
        self.fit_page(sheet, widths, fixed=fixed)
        sheet.autofilter(0, 0, len(rows), len(names) - 1)

    def table(self, sheet: Any, table: Sheet) -> None:
        """Write a table as the report shows it; a cell that is a number becomes one."""
        self.head(sheet, table.headers, fixed=table.name_columns)
        for index, row in enumerate(table.rows):
            look: dict[str, Any] = {}
            if index in table.marked:
                look = {"bold": True, "bg_color": "#FBE9E7"}
            for column, text in enumerate(row):
                is_name = column < table.name_columns
                number = None if is_name else shown_number(text)
                if number is None:
                    side = {} if is_name else {"align": "right"}
                    self.cell(sheet, index + 1, column, text, **look, **side)
                else:
                    value, pattern = number
                    self.cell(sheet, index + 1, column, value, **look, num_format=pattern)
        widths = [
            column_width(name, max((len(row[column]) for row in table.rows), default=0))
            for column, name in enumerate(table.headers)
        ]
        self.fit_page(sheet, widths, fixed=table.name_columns)

    def texts(self, sheet: Any, contents: Sequence[tuple[str, str]]) -> None:
        """Write what is said in words, and which sheet holds what."""
        sheet.set_column(0, 0, LABEL_WIDTH, self.format(valign="top", text_wrap=True))
        sheet.set_column(1, 1, TEXT_WIDTH, self.format(valign="top", text_wrap=True))
        sheet.fit_to_pages(1, 0)
        look = {"valign": "top", "text_wrap": True}
        self.cell(sheet, 0, 0, self.report.title, bold=True, font_size=16)
        row = 1
        for heading, lines in text_lines(self.report, contents):
            row += 1
            self.cell(sheet, row, 0, heading, bold=True, font_size=12, bottom=1)
            row += 1
            for label, text in lines:
                self.cell(sheet, row, 0, label, **look)
                self.cell(sheet, row, 1, text, **look)
                sheet.set_row(row, text_height(label, text))
                row += 1


def with_formulas(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return records with a formula beside each figure that follows from counts of groups.

    There are formulas only if they give the computed values. With sampling weights they would not:
    rates are weighted, and counts are of rows.
    """
    if not all(name in records[0] for name in COUNTED):
        return [dict(record) for record in records]
    figures = [name for name in FORMULAS if name in records[0]]
    columns = [
        column
        for name in records[0]
        for column in ((name, f"{name} {FORMULA_MARK}") if name in figures else (name,))
    ]
    column_numbers = {name: columns.index(name) for name in columns}
    references = {
        (*context_of(record), record["group"]): index for index, record in enumerate(records)
    }
    rows = []
    for index, record in enumerate(records):
        reference = references.get((*context_of(record), record["reference"]))
        row = {name: record.get(name) for name in columns}
        if reference is not None:
            for name in figures:
                formula = formula_of(name, records, index, reference, column_numbers)
                if formula is None or record[name] is None:
                    continue
                if not math.isclose(formula.value, record[name], rel_tol=CLOSE, abs_tol=CLOSE):
                    return [dict(record) for record in records]
                row[f"{name} {FORMULA_MARK}"] = formula
        rows.append(row)
    return rows


def context_of(record: Record) -> tuple[Any, ...]:
    """Return what a group and its reference have in common."""
    return tuple(record.get(name) for name in CONTEXT)


def formula_of(
    name: str,
    records: Sequence[Record],
    index: int,
    reference: int,
    column_numbers: Mapping[str, int],
) -> Formula | None:
    """Return the formula of a figure in a row, with its value; None where it would divide by 0."""
    n, selected = records[index]["n"], records[index]["selected"]
    n_reference, selected_reference = records[reference]["n"], records[reference]["selected"]
    if not n or not n_reference or (name == "impact_ratio" and not selected_reference):
        return None
    values = {
        "selection_rate": selected / n,
        "impact_ratio": (selected / n) / (selected_reference / n_reference)
        if selected_reference
        else math.nan,
        "shortfall_to_reference": n * (selected_reference / n_reference) - selected,
    }

    def cell(column: str, row: int) -> str:
        text: str = xl_rowcol_to_cell(row + 1, column_numbers[column])
        return text

    rate = f"selection_rate {FORMULA_MARK}"
    text = FORMULAS[name].format(
        n=cell("n", index),
        selected=cell("selected", index),
        rate=cell(rate, index),
        reference_rate=cell(rate, reference),
    )
    return Formula(text=text, value=values[name])


def text_lines(
    report: Report, contents: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield headings, and the lines below them: a label and a text."""
    if report.cover:
        yield "Cover", [(field.label, field.text) for field in report.cover]
    if report.finding:
        yield report.finding_title, [("", text) for text in report.finding]
    yield "Sheets", list(contents)
    for part in report.parts:
        if lines := part_lines(part):
            yield part.title, lines
    for title, texts in (("Limits", report.limits), ("Method and sources", report.method)):
        if texts:
            yield title, [("", text) for text in texts]
    if report.terms:
        yield "Glossary", [(term.name, term.definition) for term in report.terms]
    if report.provenance:
        yield "Provenance", [(field.label, field.text) for field in report.provenance]


def part_lines(part: Part) -> list[tuple[str, str]]:
    """Return what a part says in words; charts are described in words too."""
    if part.problem:
        return [("could not be made", f"{part.problem}.")]
    return [
        *(("", text) for text in part.paragraphs),
        *(("chart", f"{chart.title}. {chart.alt}") for chart in part.charts),
        *(
            ("stands out" if sentence.is_marked else "", sentence.text)
            for section in part.sections
            for sentence in section.sentences
        ),
        *(("note", f"{note}.") for note in part.notes),
        *(("", text) for text in part.explanations),
    ]


def beginning(text: str, length: int) -> str:
    """Return the beginning of a text as long as Excel counts: a sign like an emoji is two.

    Examples
    --------
    >>> beginning("abc", 2), beginning("\N{WAVING HAND SIGN}bc", 2)
    ('ab', '\N{WAVING HAND SIGN}')
    """
    return text.encode("utf-16-le")[: 2 * length].decode("utf-16-le", errors="ignore")


def sheet_name(title: str, taken: Sequence[str]) -> str:
    """Return a title as the name of a sheet that differs from all names so far.

    Examples
    --------
    >>> sheet_name("sex: tests/sizes", []), sheet_name("BY RACE", ["By race"]), sheet_name("?", [])
    ('sex tests sizes', 'BY RACE 2', 'Sheet')
    """
    # What follows a semicolon explains marks in the table.
    text = FORBIDDEN_IN_NAMES.sub(" ", printable(title.partition(";")[0]))
    text = beginning(" ".join(text.split()), MAX_SHEET_NAME).strip(" '") or "Sheet"
    lowered = {name.lower() for name in (*taken, *RESERVED_NAMES)}
    name, number = text, 1
    while name.lower() in lowered:
        number += 1
        ending = f" {number}"
        name = beginning(text, MAX_SHEET_NAME - len(ending)).rstrip(" '") + ending
    return name


def shown_number(text: str) -> tuple[float, str] | None:
    """Return a number that a table shows, and the format that shows it the same way; or None.

    Examples
    --------
    >>> shown_number("16,192"), shown_number("0.360"), shown_number("0.360 <"), shown_number("-")
    ((16192.0, '#,##0'), (0.36, '#,##0.000'), None, None)
    """
    match = SHOWN_NUMBER.fullmatch(text)
    if match is None:
        return None
    decimals = len(text.partition(".")[2])
    return float(text.replace(",", "")), "#,##0" + (f".{'0' * decimals}" if decimals else "")


def text_height(label: str, text: str) -> float:
    """Return the height of a row of texts: not every reader makes room for lines that it wraps.

    Examples
    --------
    >>> text_height("note", "short"), text_height("note", "word " * 45)
    (15, 45)
    """
    lines = max(
        len(textwrap.wrap(printable(cell)[: MAX_ROW_HEIGHT * width], width))
        for cell, width in ((label, LABEL_WIDTH), (text, TEXT_WIDTH))
    )
    return min(LINE_HEIGHT * max(lines, 1), MAX_ROW_HEIGHT)


def column_width(name: str, widest: int) -> float:
    """Return the width of a column: of its head's longest word, or of its widest value."""
    longest_word = max(map(len, re.split(r"[ _]", name)), default=0)
    low, high = WIDTH_LIMITS
    return float(min(max(longest_word + 2, min(widest + 2, high), low), high))
