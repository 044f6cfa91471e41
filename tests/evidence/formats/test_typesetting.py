"""What typst sets, and what it does with signs that no font has."""

from __future__ import annotations

import json

import pytest

from fourfifths._evidence.formats.typesetting import chart_drawing, chart_png, sign_codes, typeset
from fourfifths._report.charts.chart import DotChart, Mark
from fourfifths.errors import OutputError

TEXT = b"""#let content = json(bytes(sys.inputs.content))
#set document(title: "t", date: none)
#content.text"""


def chart(label):
    mark = Mark(label=label, value=0.5)
    return DotChart(title="t", alt="a", axis="x", marks=(mark,), limits=(0, 1))


def test_the_same_content_gives_the_same_bytes():
    content = json.dumps({"text": "a"})
    assert typeset(TEXT, content).pdf == typeset(TEXT, content).pdf


def test_a_template_that_cannot_be_set_is_an_error_of_the_output():
    with pytest.raises(OutputError, match="cannot be written as PDF: typst says"):
        typeset(b"#panic()", "{}")


def test_only_signs_that_typst_names_become_codes():
    diagnostic = 'the text `"a\\u{5e74}"` could not be displayed with font `"X"`'
    assert sign_codes(diagnostic) == {0x5E74: "\\\\u5e74"}
    assert sign_codes("error: something else") == {}


def test_a_chart_is_drawn_with_its_names_as_texts():
    assert "&lt;b&gt;" in chart_drawing(chart("<b>"))
    assert chart_png(chart("A")).startswith(b"\x89PNG\r\n")
