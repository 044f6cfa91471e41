"""A result as a page, before it is known where it is shown: headline, tables, sentences, notes.

`to_document` turns a result into a `Document`; each kind of result registers its own version in
the file of its name, and `pages.py` lists these files. Renderers (`terminal`, `markdown`) know only
Documents, so a new format is one new file. A renderer passes every text through `printable`, since
names are data, begins each note with "Note: " and ends it with a full stop. Only a terminal leaves
details out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from fourfifths._report.pages import PAGES, is_loaded_now
from fourfifths._results import Result

Tone = Literal["plain", "good", "bad", "open"]
SheetTopic = Literal["", "rates", "unknown", "tests", "pairs", "strata", "scores"]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table of texts.

    Attributes
    ----------
    title : str
    headers : tuple of str
        The columns that name a row are texts; the others are numbers and set flush right.
    rows : tuple of tuple of str
    marked : tuple of int
        The numbers of the rows that stand out, from 0.
    name_width : int
        The first column's largest width on a terminal; longer texts are folded.
    name_columns : int
        How many columns say what a row is about. A terminal too narrow for the table shows it in
        parts, and repeats these columns in each.
    is_detail : bool
        Whether a terminal leaves the table out.
    topic : str
        What the table is about, for a report that gathers tables of one topic; empty if nobody
        asks.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...] = ()
    name_width: int = 26
    name_columns: int = 1
    is_detail: bool = False
    topic: SheetTopic = ""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence, and whether it stands out."""

    text: str
    is_marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """Tables, and what is to be said about them."""

    sheets: tuple[Sheet, ...] = ()
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    """A page.

    Attributes
    ----------
    headline : str
    sections : tuple of Section
    notes : tuple of str
        What a reader must know besides the figures; without a full stop.
    details : tuple of str
        Paragraphs that a terminal leaves out: sources, the standing of a rule in law.
    closing : tuple of str
        Paragraphs at the end: what the heads of the tables mean.
    tone : {"plain", "good", "bad", "open"}
        What the headline says: a verdict that holds, one that does not, or an open one.
    """

    headline: str
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    tone: Tone = "plain"


@singledispatch
def to_document(result: Result) -> Document:
    """Return a result as a page.

    A kind of result without a page of its own says what it has to say in a few lines of text:
    the first is the headline, the others are sentences.
    """
    if is_loaded_now(result, PAGES):
        return to_document(result)
    if type(result).__str__ is Result.__str__:
        raise TypeError(f"{type(result).__name__} has neither a page nor a text of its own")
    headline, *lines = str(result).splitlines()
    sentences = tuple(Sentence(text=line) for line in lines)
    return Document(headline=headline, sections=(Section(sentences=sentences),))
