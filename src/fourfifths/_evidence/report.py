"""A report as data, before it is known in which format it is filed.

A `Report` is to a file what a `Document` is to a screen: everything that is said, in its order, and
nothing about how it looks. Builders (`templates`) make one from results; renderers (`html`, and one
file for each further format) know only Reports. All texts are data: a renderer escapes every one of
them, and passes it through `printable`.

The order of a rendered report: title, cover, finding, parts, limits, method, glossary, provenance.
A tuple that is empty has no heading either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from fourfifths._evidence.formats.registry import (
    PACK_ENDING,
    Paper,
    check_all_formats,
    format_of,
    render,
)
from fourfifths._evidence.pack import report_files, write_pack
from fourfifths._evidence.signing import Subject, load_private_key
from fourfifths._report.charts.chart import Chart
from fourfifths._report.document import Document, Section, Sheet, Tone
from fourfifths._results import Result
from fourfifths._tables.files import replace_file
from fourfifths.errors import OptionError

TemplateName = Literal["full", "ll144", "ugesp", "model-card"]
NOT_STATED = "not stated"
SCHEMA = "fourfifths/report/1"


@dataclass(frozen=True, kw_only=True)
class Field:
    """One line of the cover, or of the provenance.

    Attributes
    ----------
    key : str
        Its name in ``--field key=value``, in TOML and in JSON.
    label : str
        Its name on the page.
    text : str
        What it says; `NOT_STATED` where nobody said it.
    """

    key: str
    label: str
    text: str = NOT_STATED

    @property
    def is_stated(self) -> bool:
        """Whether somebody stated it. An unstated field is shown, and shown as such."""
        return self.text != NOT_STATED


@dataclass(frozen=True, kw_only=True)
class Term:
    """A word of the tables, and what it means in plain English.

    Attributes
    ----------
    name : str
    definition : str
        One or two sentences.
    heads : tuple of str
        The heads of tables that mean this term, as in ``Sheet.headers``. A renderer that can links
        them to the glossary; there is no need to.
    """

    name: str
    definition: str
    heads: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Part:
    """One question of the report, answered.

    Shown in this order: title, paragraphs, charts, sections, notes, explanations.

    Attributes
    ----------
    id : str
        Unique in the report, of small letters, digits and hyphens: an anchor, a bookmark, the name
        of a sheet, and the key of the part's figures in JSON.
    title : str
    paragraphs : tuple of str
        The answer, in sentences.
    charts : tuple of Chart
        Each has a title and a text alternative, which a format without pictures shows instead.
    sections : tuple of Section
        Tables (`Sheet`) and the sentences about them, as in a `Document`. Rows in ``Sheet.marked``
        and sentences with ``is_marked`` stand out, and not by colour alone.
    notes : tuple of str
        What a reader must know besides the figures; without a full stop.
    explanations : tuple of str
        What the heads of the tables mean, in small print.
    result : Result or None
        Where the figures come from. A format that holds numbers (JSON, XLSX) takes them from here,
        with ``result.to_dict()`` or ``result.to_records()``, since tables are rounded.
    problem : str
        Why the part could not be made; empty if it was. Shown instead of everything but the title.
    """

    id: str
    title: str
    paragraphs: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    result: Result | None = None
    problem: str = ""

    @property
    def sheets(self) -> Iterator[Sheet]:
        """The tables of all sections."""
        return (sheet for section in self.sections for sheet in section.sheets)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is filed.

    Attributes
    ----------
    title : str
        Also the title of the file's window, and the head of each printed page.
    template : {"full", "ll144", "ugesp", "model-card"}
    cover : tuple of Field
        Who, which tool, which period, where the data come from, who audited: as stated by the user.
    finding_title : str
        The heading of the finding: "Finding", "Short answer".
    finding : tuple of str
        Paragraphs: what was found, under which rule, with its legal status and the date on which
        that was checked.
    tone : {"plain", "good", "bad", "open"}
        What the finding says; a renderer may set it off, and not by colour alone.
    parts : tuple of Part
    limits : tuple of str
        What the report does not show; a list.
    method : tuple of str
        How the figures are computed, with formulas and sources; a list.
    terms : tuple of Term
        The glossary, in alphabetical order.
    provenance : tuple of Field
        File, SHA-256, versions, seed, command: how to make the report again. It is the only place
        where the date and the version are, so that two runs differ only there.
    language : str
        The language of the texts, for readers that speak: "en".
    command : str
        The command that made it, for the manifest of a pack.
    data : Subject or None
        The file that it is about, for the manifest of a pack; None if the table is not a file.
    """

    title: str
    template: TemplateName
    cover: tuple[Field, ...] = ()
    finding_title: str = "Finding"
    finding: tuple[str, ...] = ()
    tone: Tone = "plain"
    parts: tuple[Part, ...] = ()
    limits: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    provenance: tuple[Field, ...] = ()
    language: str = "en"
    command: str = ""
    data: Subject | None = None

    def save(
        self,
        path: str | PathLike[str],
        *,
        paper: Paper = "letter",
        sign: str | PathLike[str] | None = None,
    ) -> None:
        """Write the report; the ending of the name says the format. It appears whole or not at all.

        Parameters
        ----------
        path : str or path
            A name ending in .html, .pdf, .docx, .xlsx, .md or .json; or in .zip: a pack of all of
            them, which `verify_file` checks.
        paper : {"letter", "a4"}
            The size of the pages of .pdf and .docx.
        sign : path, optional
            A private key, as `make_keys` writes it, that signs a pack.

        Raises
        ------
        OptionError
            If there is no such format or paper, or what the format needs is not installed.
        OutputError
            If the file cannot be written.
        """
        target = Path(path)
        is_pack = target.suffix.lower() == PACK_ENDING
        if sign is not None and not is_pack:
            raise OptionError(f"sign={str(sign)!r}: signs a pack; name one, as in report.zip")
        if is_pack:
            check_all_formats(target)
            key = None if sign is None else load_private_key(Path(sign))
            files = report_files(self, paper=paper)
            write_pack(target, files, command=self.command, data=self.data, key=key)
            return
        content = render(self, format_of(target), paper=paper)
        replace_file(target, lambda temporary: temporary.write_bytes(content))

    def to_dict(self) -> dict[str, Any]:
        """Return the report, ready for JSON: the fields, the texts, and the figures of each part.

        The figures are those that each result has in its own JSON.
        """
        return {
            "schema": SCHEMA,
            "title": self.title,
            "template": self.template,
            "cover": {field.key: field.text if field.is_stated else None for field in self.cover},
            "finding": list(self.finding),
            "parts": [
                {
                    "id": part.id,
                    "title": part.title,
                    "problem": part.problem,
                    "result": None if part.result is None else part.result.to_dict(),
                }
                for part in self.parts
            ],
            "limits": list(self.limits),
            "method": list(self.method),
            "provenance": provenance_texts(self.provenance),
        }


def provenance_texts(fields: tuple[Field, ...]) -> dict[str, str | list[str]]:
    """Return the lines of the provenance by key; a key of several lines has a list.

    Examples
    --------
    >>> hashes = [Field(key="data_sha256", label="", text=text) for text in ("1f", "2e")]
    >>> provenance_texts((Field(key="table", label="", text="loans"), *hashes))
    {'table': 'loans', 'data_sha256': ['1f', '2e']}
    """
    texts: dict[str, list[str]] = {}
    for field in fields:
        texts.setdefault(field.key, []).append(field.text)
    return {key: lines[0] if len(lines) == 1 else lines for key, lines in texts.items()}


def document_part(
    document: Document,
    *,
    id: str,  # noqa: A002 - the name that HTML and PDF have for it
    title: str,
    charts: tuple[Chart, ...] = (),
    result: Result | None = None,
) -> Part:
    """Return a page, as a terminal shows it, as a part of a report; its details are shown too.

    Examples
    --------
    >>> part = document_part(Document(headline="no harm found"), id="audit", title="Audit")
    >>> part.paragraphs
    ('no harm found',)
    """
    return Part(
        id=id,
        title=title,
        paragraphs=(document.headline,),
        charts=charts,
        sections=document.sections,
        notes=document.notes,
        explanations=(*document.details, *document.closing),
        result=result,
    )


def anchor(text: str, taken: tuple[str, ...] = ()) -> str:
    """Return a text as the id of a part that differs from all ids so far.

    Examples
    --------
    >>> anchor("sex & race"), anchor("<script>", taken=("script",)), anchor("年龄")
    ('sex-race', 'script-2', 'part')
    """
    stem = "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:40].strip("-") or "part"
    names = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)
