"""Tables of texts, for a terminal or in Markdown.

What stands in a table is data: shown as it is, never read as markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNDEFINED = "-"


@dataclass(frozen=True)
class Sheet:
    """A table of texts: what is shown, before it is known where.

    Attributes
    ----------
    title : str
    headers : tuple of str
        The first column is text; the others are numbers and set flush right.
    rows : tuple of tuple of str
    marked : tuple of bool
        The rows that stand out.
    name_width : int
        The first column's largest width; longer texts are folded.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[bool, ...]
    name_width: int = 26


def print_sheet(console: Console, sheet: Sheet) -> None:
    """Print one table."""
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        title=Text(printable(sheet.title)),
        title_justify="left",
        padding=(0, 1, 0, 0),
    )
    longest = max(len(printable(row[0])) for row in sheet.rows) if sheet.rows else 0
    first = min(max(longest, len(sheet.headers[0])), sheet.name_width)
    table.add_column(Text(sheet.headers[0]), overflow="fold", width=first)
    for header in sheet.headers[1:]:
        table.add_column(Text(header), justify="right", no_wrap=True)
    for row, marked in zip(sheet.rows, sheet.marked, strict=True):
        table.add_row(*(Text(printable(cell)) for cell in row), style="red" if marked else "")
    # Never narrower than its numbers: a cut number is a wrong number.
    needed = Measurement.get(console, console.options.update(max_width=1000), table).maximum
    width, console.width = console.width, max(needed, console.width)
    console.print(table)
    console.width = width


def sheet_markdown(sheet: Sheet) -> Iterator[str]:
    """Yield the lines of one table."""
    yield f"## {escape_markdown(sheet.title)}"
    yield ""
    yield "| " + " | ".join(sheet.headers) + " |"
    yield "| --- |" + " ---: |" * (len(sheet.headers) - 1)
    for row in sheet.rows:
        yield "| " + " | ".join(escape_markdown(cell) for cell in row) + " |"


def number(value: float, digits: int = 3) -> str:
    """Return a number for people; undefined is a dash."""
    return UNDEFINED if math.isnan(value) else f"{value:,.{digits}f}"


def p_value(p: float) -> str:
    """Return a p-value for people; undefined is a dash.

    Examples
    --------
    >>> p_value(0.0404), p_value(0.00001)
    ('0.0404', '< 0.0001')
    """
    if math.isnan(p):
        return UNDEFINED
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def interval(limits: tuple[float, float], digits: int = 3) -> str:
    """Return an interval for people; a missing limit is left open."""
    low, high = limits
    if math.isnan(low) and math.isnan(high):
        return UNDEFINED
    return f"{number(low, digits)} to {'...' if math.isnan(high) else number(high, digits)}"


def printable(text: str) -> str:
    r"""Return text in which nothing can drive the terminal.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def escape_markdown(text: str) -> str:
    """Escape what Markdown or HTML would read."""
    escaped = printable(text).replace("\\", "\\\\")
    for mark in "|*_`[]":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
