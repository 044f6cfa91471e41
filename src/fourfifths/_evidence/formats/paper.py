"""What the formats for paper share: the date, the running title, tables that fit the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time

from fourfifths._evidence.report import Report
from fourfifths._report.document import Sheet
from fourfifths._text import printable

NO_DATE = datetime(1980, 1, 1)  # the earliest of a zip file, for a report that states no date
MAX_COLUMNS = 9
MAX_HEAD = 80  # letters above a column
MAX_WHOLE_ROWS = 14  # a table of at most so many rows stays on one page
MAX_RUNNING_TITLE = 90  # letters at the head of a page


def report_date(report: Report) -> date | None:
    """Return the day on which the report was made, if its provenance says it."""
    for line in report.provenance:
        if line.key == "date":
            try:
                return date.fromisoformat(line.text[:10])
            except ValueError:
                return None
    return None


def file_date(report: Report) -> datetime:
    """Return the date in the properties of an office file, which must have one."""
    day = report_date(report)
    return NO_DATE if day is None else datetime.combine(day, time())


def running_title(report: Report) -> str:
    """Return the title, cut to the head of a page."""
    return cut_off(printable(report.title), MAX_RUNNING_TITLE)


def cut_off(text: str, length: int) -> str:
    """Return a text of at most so many letters.

    Examples
    --------
    >>> cut_off("abc", 3), cut_off("abcd", 3)
    ('abc', 'ab…')
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def narrow_sheets(sheet: Sheet) -> Iterator[Sheet]:
    """Yield a table that fits the page; a wide one in parts, with the names of the rows in each.

    A head that would fill the page is cut off, since each page repeats it.

    Examples
    --------
    >>> wide = Sheet(title="t", headers=("name", *"abcdefghijkl"), rows=())
    >>> [(part.title, "".join(part.headers[1:])) for part in narrow_sheets(wide)]
    [('t', 'abcdef'), ('t (continued)', 'ghijkl')]
    """
    names = sheet.name_columns
    count = len(sheet.headers) - names
    room = max(MAX_COLUMNS - names, 1)
    sheet_count = -(-count // room) or 1
    for number in range(sheet_count):
        start, end = (names + count * edge // sheet_count for edge in (number, number + 1))
        yield replace(
            sheet,
            title=sheet.title if number == 0 else f"{sheet.title} (continued)",
            headers=tuple(
                cut_off(header, MAX_HEAD)
                for header in (*sheet.headers[:names], *sheet.headers[start:end])
            ),
            rows=tuple((*row[:names], *row[start:end]) for row in sheet.rows),
        )
