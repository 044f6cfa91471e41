"""A result as a page: headline, tables, sentences, notes; for a terminal or in Markdown."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TextIO

from fourfifths.render import Sheet, escape_markdown, print_sheet, printable, sheet_markdown

TEXT_WIDTH = 100


@dataclass(frozen=True)
class Section:
    """Tables, and what is to be said of them.

    Attributes
    ----------
    sheets : tuple of Sheet
    lines : tuple of (str, bool)
        Sentences, and whether each stands out.
    """

    sheets: tuple[Sheet, ...]
    lines: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class Document:
    """A page.

    Attributes
    ----------
    headline : str
    sections : tuple of Section
    notes : tuple of str
    closing : tuple of str
        Paragraphs at the end.
    style : str
        Of the headline on a terminal.
    """

    headline: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    closing: tuple[str, ...]
    style: str = "bold"


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


def document_markdown(document: Document) -> str:
    """Return the page as Markdown."""
    lines = [f"# {escape_markdown(document.headline)}", ""]
    for section in document.sections:
        for sheet in section.sheets:
            lines += [*sheet_markdown(sheet), ""]
        if section.lines:
            lines += [f"- {escape_markdown(line)}" for line, _ in section.lines] + [""]
    lines += [f"- Note: {escape_markdown(note)}." for note in document.notes]
    for paragraph in document.closing:
        lines += ["", escape_markdown(paragraph)]
    return "\n".join([*lines, ""])
