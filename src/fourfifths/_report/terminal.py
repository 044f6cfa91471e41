"""A page on a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TextIO

from fourfifths._report.document import Document, Sheet
from fourfifths._text import printable

if TYPE_CHECKING:
    from rich.console import Console
TEXT_WIDTH = 100


def document_text(document: Document, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's page without colour."""
    stream = io.StringIO()
    print_document(document, stream, width=width)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


def print_document(document: Document, stream: TextIO, width: int | None = None) -> None:
    """Print the page; in colour if the stream is a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, width=width, highlight=False)
    console.print(Text(printable(document.headline), style=document.style))
    for section in document.sections:
        for sheet in section.sheets:
            console.print()
            print_sheet(console, sheet)
        console.print()
        for line, marked in section.lines:
            console.print(Text(printable(line), style="red" if marked else ""))
    console.print()
    for note in document.notes:
        console.print(Text(printable(f"Note: {note}.")))
    for paragraph in document.closing:
        console.print(Text(printable(paragraph), style="dim"))


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
