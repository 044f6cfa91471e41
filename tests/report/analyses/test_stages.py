"""The page of a selection in stages."""

from __future__ import annotations

import pandas as pd

import fourfifths
from fourfifths._report import document_text, to_document


def teal(**options):
    table = pd.DataFrame(
        {
            "race": ["Black"] * 3 + ["White"] * 3,
            "passed": ["yes", "yes", "no"] * 2,
            "promoted": ["yes", "no", None] * 2,
            "n": [11, 15, 22, 35, 171, 53],
        }
    )
    return fourfifths.stages(
        table, protected="race", stages=["passed", "promoted"], persons="n", **options
    )


def test_the_page_shows_the_funnel_the_ratios_and_each_step():
    document = to_document(teal(reference="White"))
    assert document.headline == "the table: all rows -> passed -> promoted, rule ugesp, 307 rows"
    (funnel,) = document.sections[0].sheets
    assert funnel.rows[0] == ("passed, of all rows", "307", "232", "0.756", "0")
    assert funnel.rows[-1][0] == "bottom line: promoted, of all rows"
    ratios, *steps = document.sections[1].sheets
    assert ratios.rows == (
        ("passed, of all rows", "0.681 *", "reference"),
        ("promoted, of passed", "2.490", "reference"),
        ("bottom line: promoted, of all rows", "1.696", "reference"),
    )
    assert "* marks" in ratios.title
    assert [sheet.title.partition(";")[0] for sheet in steps] == [row[0] for row in ratios.rows]


def test_a_finding_names_its_step_and_stands_out():
    sentences = to_document(teal(reference="White")).sections[1].sentences
    assert sentences[0].is_marked
    assert sentences[0].text.startswith(
        "passed, of all rows: Black: adverse impact is indicated under ugesp"
    )
    assert not sentences[-1].is_marked


def test_the_page_fits_80_columns():
    text = document_text(to_document(teal()), width=80)
    assert max(map(len, text.splitlines())) <= 80


def test_the_page_of_one_step():
    step = teal(reference="White").steps[0]
    assert to_document(step).headline == "passed, of all rows: 232 of 307"
    table = pd.DataFrame({"sex": list("FFMM"), "a": list("nnyy"), "b": ["", "", "y", "n"]})
    late = fourfifths.stages(table, protected="sex", stages=["a", "b"]).steps[1]
    assert "were not compared" in str(late)


def test_under_a_law_without_a_number_the_page_has_a_checklist_and_no_finding():
    document = to_document(teal(reference="White", rule="nj-lad"))
    findings = [sentence.text for sentence in document.sections[1].sentences]
    assert all(": no finding: nj-lad has no number" in finding for finding in findings)
    assert document.sections[-1].sentences[0].text.startswith("nj-lad has no number")
    assert "*" not in document.sections[1].sheets[0].title
