"""A report as data."""

from __future__ import annotations

import pytest
from counted import measure

from fourfifths._evidence.report import Field, Part, Report, anchor, document_part
from fourfifths._report.document import Section, Sheet, to_document


@pytest.mark.parametrize(
    ("text", "taken", "expected"),
    [
        ("By sex & race", (), "by-sex-race"),
        ("Sex", ("sex",), "sex-2"),
        ("<sex>", ("sex", "sex-2"), "sex-3"),
        ("年龄", (), "part"),
        ("x" * 100, (), "x" * 40),
    ],
)
def test_an_anchor_is_plain_and_its_own(text, taken, expected):
    assert anchor(text, taken) == expected


def test_unstated_fields_are_null_in_json():
    report = Report(
        title="t",
        template="full",
        cover=(Field(key="tool", label="Tool", text="A"), Field(key="auditor", label="Auditor")),
        parts=(Part(id="a", title="A", problem="no column"),),
    )
    content = report.to_dict()
    assert content["cover"] == {"tool": "A", "auditor": None}
    assert content["parts"] == [{"id": "a", "title": "A", "problem": "no column", "result": None}]


def test_a_page_becomes_a_part_with_its_figures():
    result = measure({"A": (3, 5), "B": (6, 8)})
    part = document_part(to_document(result), id="audit", title="Audit", result=result)
    assert part.paragraphs == (to_document(result).headline,)
    assert [sheet.topic for sheet in part.sheets][:2] == ["rates", "tests"]
    assert Report(title="t", template="full", parts=(part,)).to_dict()["parts"][0]["result"] == (
        result.to_dict()
    )


def test_the_sheets_of_a_part_are_those_of_its_sections():
    sheets = [Sheet(title=title, headers=("a",), rows=()) for title in "AB"]
    part = Part(id="p", title="P", sections=tuple(Section(sheets=(sheet,)) for sheet in sheets))
    assert list(part.sheets) == sheets
