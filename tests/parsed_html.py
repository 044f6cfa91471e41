"""A page of HTML, read back with a parser: its tags, and its tables by caption."""

from __future__ import annotations

from html.parser import HTMLParser


class ParsedPage(HTMLParser):
    """What a browser would read.

    `tags` holds each tag with its attributes, `tables` the rows of each table by its caption, and
    `text` all texts outside of style and script.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self._rows: list[list[str]] = []
        self._open: list[str] = []
        self._piece = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th", "caption"):
            self._piece = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "caption":
            self.tables[self._piece] = self._rows
        elif tag in ("td", "th"):
            self._rows[-1].append(self._piece)

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.text += data
        self._piece += data
