"""A result as a page, before it is known where it is shown: headline, tables, sentences, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
