"""A page as Markdown."""

from __future__ import annotations

from fourfifths._report.document import Document
from fourfifths._text import printable


def document_markdown(document: Document) -> str:
    """Return the page as Markdown, with its details."""
    lines = [f"# {escape_markdown(document.headline)}", ""]
    for section in document.sections:
        for sheet in section.sheets:
            head, *rows = (
                "| " + " | ".join(escape_markdown(cell) for cell in row) + " |"
                for row in (sheet.headers, *sheet.rows)
            )
            number_columns = len(sheet.headers) - sheet.name_columns
            alignment = "|" + " --- |" * sheet.name_columns + " ---: |" * number_columns
            lines += [f"## {escape_markdown(sheet.title)}", "", head, alignment, *rows, ""]
        if section.sentences:
            lines += [f"- {escape_markdown(sentence.text)}" for sentence in section.sentences]
            lines += [""]
    lines += [f"- Note: {escape_markdown(note)}." for note in document.notes]
    for paragraph in (*document.details, *document.closing):
        lines += ["", escape_markdown(paragraph)]
    return "\n".join(lines).rstrip() + "\n"


def escape_markdown(text: str) -> str:
    r"""Escape what Markdown or HTML would read.

    Examples
    --------
    >>> escape_markdown("a|b <c>")
    'a\\|b &lt;c&gt;'
    """
    # The backslash before the other marks, and & before < and >: nothing is escaped twice.
    escaped = printable(text).replace("\\", "\\\\")
    for mark in "|*_`[]":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
