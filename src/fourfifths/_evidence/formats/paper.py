"""What the formats for paper share: the date, the running title, tables that fit the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time

from fourfifths._evidence.report import Report
from fourfifths._report.document import Sheet
from fourfifths._text import printable

NO_DATE = datetime(1980, 1, 1)  # the earliest of a zip file, for a report that states no date
MAX_COLUMNS = 9
MAX_HEAD = 80  # letters above a column
PAGE_LETTERS = 106  # of small print, that fit beside each other on the narrower paper
COLUMN_GAP = 3  # letters between two columns
MAX_NAME_WIDTH = 34  # letters; a longer name of a row is broken
MIN_NAME_WIDTH = 20  # letters of a long name that stay together where room is scarce
MAX_CELL_WIDTH = 40  # letters; a longer figure is broken
MAX_WORD_WIDTH = 24  # letters; a longer word of a head is broken
SMALL_TABLE = 60  # letters; a table up to this width is not stretched over the page
MAX_WHOLE_ROWS = 14  # a table of at most this many rows stays on one page
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
    """Return the title, cut off to fit the head of a page."""
    return cut_off(printable(report.title), MAX_RUNNING_TITLE)


def cut_off(text: str, length: int) -> str:
    """Return a text, cut off if it is longer than `length` letters.

    Examples
    --------
    >>> cut_off("abc", 3), cut_off("abcd", 3)
    ('abc', 'ab…')
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def narrow_sheets(sheet: Sheet) -> Iterator[Sheet]:
    """Yield a table that fits the page; a wide one in parts, with the names of the rows in each.

    A figure stays on one line, so a table of long figures has fewer columns in each part. A head
    that would fill the page is cut off, since each page repeats it.

    Examples
    --------
    >>> wide = Sheet(title="t", headers=("name", *"abcdefghijkl"), rows=())
    >>> [(part.title, "".join(part.headers[1:])) for part in narrow_sheets(wide)]
    [('t', 'abcdef'), ('t (continued)', 'ghijkl')]
    """
    names = sheet.name_columns
    widths = least_widths(sheet)
    room = PAGE_LETTERS - sum(widths[:names])
    part_count = len(filled(widths[names:], room, names=names))
    # Of all ways to make that few parts, the one whose widest part is least wide.
    divisions = (filled(widths[names:], limit, names=names) for limit in range(1, max(room, 1) + 1))
    runs = next(runs for runs in divisions if len(runs) == part_count)
    start = names
    for number, run in enumerate(runs):
        part = columns_of(sheet, start, start + run)
        yield part if number == 0 else replace(part, title=f"{sheet.title} (continued)")
        start += run


def filled(widths: Sequence[int], room: int, *, names: int) -> list[int]:
    """Return how many columns each part has, if each is filled before the next is begun.

    Examples
    --------
    >>> filled([5, 5, 20, 5], 10, names=1)
    [2, 1, 1]
    """
    counts, used_letters = [0], 0
    for width in widths:
        is_full = used_letters + width > room or counts[-1] >= max(MAX_COLUMNS - names, 1)
        if counts[-1] and is_full:
            counts.append(0)
            used_letters = 0
        counts[-1] += 1
        used_letters += width
    return counts


def columns_of(sheet: Sheet, start: int, end: int) -> Sheet:
    """Return some columns of a table, after those that name its rows."""
    names = sheet.name_columns
    return replace(
        sheet,
        headers=tuple(
            cut_off(header, MAX_HEAD)
            for header in (*sheet.headers[:names], *sheet.headers[start:end])
        ),
        rows=tuple((*row[:names], *row[start:end]) for row in sheet.rows),
    )


def least_widths(sheet: Sheet) -> list[int]:
    """Return the letters that each column needs: figures are not broken, heads and names may be."""
    widths = []
    for column, header in enumerate(sheet.headers):
        cell = max((len(row[column]) for row in sheet.rows), default=0)
        cell = min(cell, MIN_NAME_WIDTH if column < sheet.name_columns else MAX_CELL_WIDTH)
        word = max(map(len, header.split()), default=0)
        widths.append(COLUMN_GAP + max(cell, min(word, MAX_WORD_WIDTH)))
    return widths


def full_widths(sheet: Sheet) -> list[int]:
    """Return the letters of each column where the heads and most names are on one line."""
    widths = []
    for column, least in enumerate(least_widths(sheet)):
        longest = max(len(row[column]) for row in (sheet.headers, *sheet.rows))
        widths.append(max(least, COLUMN_GAP + min(longest, MAX_NAME_WIDTH)))
    return widths


def column_letters(sheet: Sheet) -> Sequence[float]:
    """Return the widths of columns in letters: what each needs, and the rest where texts are long.

    Examples
    --------
    >>> column_letters(Sheet(title="t", headers=("name", "n"), rows=(("a", "1,000"),)))
    [7, 8]
    """
    least, full = least_widths(sheet), full_widths(sheet)
    missing = sum(full) - sum(least)
    rest = PAGE_LETTERS - sum(least)
    if not missing or rest >= missing:
        return full
    share = max(rest, 0) / missing
    return [low + share * (high - low) for low, high in zip(least, full, strict=True)]
