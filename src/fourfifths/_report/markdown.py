"""A page as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fourfifths._report.document import Document, Sheet
from fourfifths._text import printable

if TYPE_CHECKING:
    pass


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


def sheet_markdown(sheet: Sheet) -> Iterator[str]:
    """Yield the lines of one table."""
    yield f"## {escape_markdown(sheet.title)}"
    yield ""
    yield "| " + " | ".join(sheet.headers) + " |"
    yield "| --- |" + " ---: |" * (len(sheet.headers) - 1)
    for row in sheet.rows:
        yield "| " + " | ".join(escape_markdown(cell) for cell in row) + " |"


def escape_markdown(text: str) -> str:
    """Escape what Markdown or HTML would read."""
    escaped = printable(text).replace("\\", "\\\\")
    for mark in "|*_`[]":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
