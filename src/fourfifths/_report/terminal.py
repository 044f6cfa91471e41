"""A page on a terminal."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from fourfifths._report.document import Document, Sheet, Tone
from fourfifths._text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

TEXT_WIDTH = 100
# The name of a group may be long, also where it heads a column of numbers: then it is wrapped.
MAX_COLUMN_NAME_WIDTH = 26
# Wide enough for any table: what a table would need if the terminal set no limit.
MAX_TABLE_WIDTH = 1000
STYLES: Mapping[Tone, str] = {
    "plain": "bold",
    "good": "bold green",
    "bad": "bold red",
    "open": "bold yellow",
}


def document_text(document: Document, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's page without colour."""
    stream = io.StringIO()
    print_document(document, stream, width=width)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


def print_document(document: Document, stream: TextIO, *, width: int | None = None) -> None:
    """Print the page, without its details; in colour if the stream is a terminal."""
    from rich.console import Console
    from rich.text import Text

    class LastingConsole(Console):
        """A console that leaves it to the caller what to do when its reader has gone."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = LastingConsole(file=stream, width=width, highlight=False)
    console.print(Text(printable(document.headline), style=STYLES[document.tone]))
    for section in document.sections:
        for sheet in section.sheets:
            if not sheet.is_detail:
                console.print()
                print_sheet(sheet, console)
        console.print()
        for sentence in section.sentences:
            style = "red" if sentence.is_marked else ""
            console.print(Text(printable(sentence.text), style=style))
    console.print()
    for note in document.notes:
        console.print(Text(printable(f"Note: {note}.")))
    for paragraph in document.closing:
        console.print(Text(printable(paragraph), style="dim"))


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Print a table; one that is too wide for the terminal in parts, below each other."""
    from rich.measure import Measurement

    unlimited = console.options.update(max_width=MAX_TABLE_WIDTH)

    def width(columns: Sequence[int]) -> int:
        return Measurement.get(console, unlimited, rich_table(sheet, columns)).maximum

    names = list(range(sheet.name_columns))
    blocks = [names]
    for column in range(sheet.name_columns, len(sheet.headers)):
        if len(blocks[-1]) > len(names) and width([*blocks[-1], column]) > console.width:
            blocks.append(names)
        blocks[-1] = [*blocks[-1], column]
    for index, columns in enumerate(blocks):
        table = rich_table(sheet, columns, title=sheet.title if index == 0 else None)
        # Never narrower than its numbers: a cut number is a wrong number.
        usual_width, console.width = console.width, max(width(columns), console.width)
        console.print(table)
        console.width = usual_width


def rich_table(sheet: Sheet, columns: Sequence[int], *, title: str | None = None) -> Table:
    """Return some columns of a sheet as a table of rich; names are text, never markup."""
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        title=None if title is None else Text(printable(title)),
        title_justify="left",
        padding=(0, 1, 0, 0),
    )
    name_widths = (len(printable(row[0])) for row in sheet.rows)
    first_width = min(max((len(sheet.headers[0]), *name_widths)), sheet.name_width)
    for column in columns:
        header = Text(printable(sheet.headers[column]))
        if column == 0:
            table.add_column(header, overflow="fold", width=first_width)
            continue
        cells_width = max((cell_len(printable(row[column])) for row in sheet.rows), default=0)
        names_width = max(header.cell_len, cells_width)
        if column < sheet.name_columns and names_width > MAX_COLUMN_NAME_WIDTH:
            table.add_column(header, justify="right", overflow="fold", width=MAX_COLUMN_NAME_WIDTH)
        elif header.cell_len > max(MAX_COLUMN_NAME_WIDTH, cells_width):
            # The numbers below it stay whole: the column is as wide as they are at least.
            table.add_column(
                header,
                justify="right",
                overflow="fold",
                width=max(MAX_COLUMN_NAME_WIDTH, cells_width),
            )
        else:
            table.add_column(header, justify="right", no_wrap=True)
    for index, row in enumerate(sheet.rows):
        style = "red" if index in sheet.marked else ""
        table.add_row(*(Text(printable(row[column])) for column in columns), style=style)
    return table
