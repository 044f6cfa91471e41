"""Reports for tests of the formats that are filed."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fourfifths._evidence.report import Field, Part, Report, Term
from fourfifths._impact.impact import impact
from fourfifths._impact.result import AttributeImpact
from fourfifths._report.charts.chart import DotChart, Mark
from fourfifths._report.document import Section, Sentence, Sheet

# Texts that are something else to HTML, typst, SQL, spreadsheets, Word, terminals or paper.
HOSTILE = {
    "html": "<script>alert(1)</script>&amp;<!--",
    "typst call": '#panic("no") #read("/etc/passwd") #{1+1}',
    "typst markup": "= head *bold* _slant_ $x^2$ @ref `raw` [c] // c",
    "typst escape": r"\u{41} \# \ ~ --- ... 'q' \"",
    "sql": "Robert'); DROP TABLE students;--",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(A1:A9)",
    "excel escape": "_x0041_",
    "field code": "{ INCLUDETEXT c:/x } &P &A",
    "long": "x" * 10_000,
    "long words": "word " * 2_000,
    "hebrew": "שלום עולם",
    "arabic": "مرحبا",
    "chinese": "年龄",
    "emoji": "😀👩‍👩‍👧",
    "reversed": "a\u202eb\u200f",
    "control": "a\x00\x07\x1b[31m\x0b\ufffe\ud800",
    "lines": "a\nb\r\tc\u2028d",
    "private": "\ue000",
    "spaces": "  a  b  ",
}


def hostile_report(text: str) -> Report:
    """Return a report in which every text is this one."""
    chart = DotChart(
        title=text,
        alt=text,
        axis=text,
        marks=(Mark(label=text, detail="1 of 2", value=0.5, low=0.4, high=0.6),),
        limits=(0, 1),
    )
    sheet = Sheet(title=text, headers=(text, text), rows=((text, text), (text, "1")), marked=(1,))
    return Report(
        title=text,
        template="full",
        cover=(Field(key="auditor", label=text, text=text),),
        finding_title=text,
        finding=(text, text),
        parts=(
            Part(
                id="part",
                title=text,
                paragraphs=(text,),
                charts=(chart,),
                sections=(Section(sheets=(sheet,), sentences=(Sentence(text=text),)),),
                notes=(text,),
                explanations=(text,),
                result=audit_of(text),
            ),
            Part(id="problem", title=text, problem=text),
        ),
        limits=(text,),
        method=(text,),
        terms=(Term(name=text, definition=text),),
        provenance=(Field(key="date", label=text, text=text),),
    )


def audit_of(name: str) -> AttributeImpact:
    """Return an audit: 3 of 6 of the group of this name are selected, and 4 of 5 of "ref"."""
    table = {"g": ["a"] * 6 + ["ref"] * 5, "y": ["1"] * 3 + ["0"] * 3 + ["1"] * 4 + ["0"]}
    audit = impact(pl.DataFrame(table), protected="g", outcome="y", favorable="1").attributes[0]
    groups = tuple(
        replace(group, group=name if group.group == "a" else "ref") for group in audit.groups
    )
    return replace(audit, groups=groups)
