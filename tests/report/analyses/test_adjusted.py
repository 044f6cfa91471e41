"""The page of the disparity beside controls."""

from __future__ import annotations

import pandas as pd

import fourfifths
from fourfifths._report import document_text, to_document


def berkeley():
    """Departments A and C."""
    table = pd.DataFrame(
        {
            "sex": ["F", "F", "M", "M"] * 2,
            "department": ["A"] * 4 + ["C"] * 4,
            "admitted": ["yes", "no"] * 4,
            "n": [89, 19, 512, 313, 202, 391, 120, 205],
        }
    )
    return fourfifths.adjusted(
        table,
        protected="sex",
        outcome="admitted",
        controls="department",
        persons="n",
        reference="M",
    )


def test_the_page_shows_controls_rates_ratios_and_the_change():
    document = to_document(berkeley())
    controls, (rates, ratios, differences, odds) = (part.sheets for part in document.sections)
    assert controls[0].rows == (("department", "category", "2", "0"),)
    assert [row[:4] for row in rates.rows] == [
        ("F", "701", "291", "0.415"),
        ("M", "1,150", "632", "0.550"),
    ]
    assert [row[0] for sheet in (ratios, differences, odds) for row in sheet.rows] == ["F"] * 3
    # 291/701 against 632/1150.
    (sentence,) = document.sections[1].sentences
    assert sentence.text.startswith("F: the ratio goes from 0.755 to ")
    assert "the difference from -13.4 to +" in sentence.text
    assert "tainted" in document.notes[0]


def test_an_attribute_has_a_page_and_lines_keep_to_the_width():
    result = berkeley()
    assert "sex, adjusted, 1,851 rows" in str(result["sex"])
    assert max(map(len, document_text(to_document(result), width=80).splitlines())) <= 80
