"""The page of the worst subgroups."""

from __future__ import annotations

import pandas as pd

import fourfifths
from fourfifths._report import document_text, to_document


def crossed(**options):
    table = pd.DataFrame(
        {
            "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
            "age": ["older", "older", "younger", "younger"] * 2,
            "hired": ["yes", "no"] * 4,
            "n": [10, 90, 90, 10, 90, 10, 10, 90],
        }
    )
    roles = {"protected": "sex", "columns": "age", "outcome": "hired", "persons": "n"}
    return fourfifths.subgroups(table, **roles | options)


def test_the_page_shows_the_worst_and_the_search():
    document = to_document(crossed(show=2))
    assert document.headline == "the table: hired = yes, 200 of 400 rows, the worst subgroups"
    (section,) = document.sections
    (sheet,) = section.sheets
    assert sheet.rows[0][:6] == ("sex F & age older", "100", "10", "0.100", "0.633", "0.158")
    assert sheet.marked == (0, 1)
    texts = [sentence.text for sentence in section.sentences]
    assert texts[0] == "6 subgroups of up to 3 columns searched, each with sex."
    assert texts[1].startswith("2 of them have an upper limit below 0.8.")
    assert section.sentences[1].is_marked


def test_what_was_not_searched_is_said():
    (section,) = to_document(crossed(min_rows=150, order="limit")).sections
    assert "Not searched: 4 have fewer than 150 rows, or others." in section.sentences[0].text
    assert section.sheets[0].title.startswith("lowest upper limit first")
    assert not section.sentences[1].is_marked


def test_the_page_fits_80_columns():
    text = document_text(to_document(crossed()), width=80)
    assert max(map(len, text.splitlines())) <= 80
