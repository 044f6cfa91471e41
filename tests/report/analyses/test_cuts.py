"""The page of the cuts of a score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._impact.analyses.cuts import CutRange
from fourfifths._report import document_text, to_document
from fourfifths._report.analyses.cuts import MAX_CUTS_SHOWN, in_words, shown_cuts

HAND = pd.DataFrame({"group": ["women"] * 4 + ["men"] * 4, "score": [1, 2, 3, 5, 2, 4, 4, 5]})


def hand(**options):
    return fourfifths.cuts(HAND, protected="group", score="score", **options)


def test_the_page_shows_the_ratios_and_where_they_cross():
    document = to_document(hand(reference="men"))
    (section,) = document.sections
    (sheet,) = section.sheets
    assert sheet.headers == (">=", "selected", "share", "women")
    assert sheet.rows[1][:3] == ("2", "7", "0.875")
    assert sheet.rows[1][3].startswith("0.750 (")
    assert [sentence.text for sentence in section.sentences] == [
        "women: below 4/5 at 3 of 5 cuts: 2 to 4."
    ]


def test_an_attribute_has_a_page_of_its_own():
    attribute = hand(reference="men")["group"]
    assert str(attribute).splitlines() == [
        "group: 5 cuts, compared with men",
        "",
        "women: below the line at 3 of 5 cuts: 2 to 4.",
    ]
    assert attribute.to_markdown().startswith("# group: 5 cuts")
    assert "women: at no cut below the line." in str(hand(reference="men", threshold=0.1)["group"])


def test_the_reference_at_each_cut_is_named():
    (sheet,) = to_document(hand()).sections[0].sheets
    assert sheet.rows[1][3] == "reference"


def test_bands_and_the_chosen_cut():
    section = to_document(hand(select=4, score_bands=[2, 5])).sections[0]
    _, bands, chosen = section.sheets
    # The best band first.
    assert bands.rows[0] == ("5 and over", "0.250", "1", "0.250", "1")
    assert bands.rows[-1] == ("under 2", "0.000", "0", "0.250", "1")
    assert chosen.title.startswith("the chosen cut, score >= 4;")
    assert any(sentence.text.startswith("score >= 4: women: ") for sentence in section.sentences)
    lower = to_document(hand(score_bands=[2, 5], lower_is_better=True)).sections[0]
    assert lower.sheets[1].rows[0][0] == "under 2"


def test_at_no_cut():
    even = pd.DataFrame({"group": list("aabb"), "score": [1, 2, 1, 2]})
    result = fourfifths.cuts(even, protected="group", score="score", reference="a")
    assert "b: at no cut below 4/5." in str(result)


def test_the_page_is_thinned_and_fits_80_columns():
    adult = fourfifths.cuts("adult", protected="sex", score="age")
    document = to_document(adult)
    assert adult.cuts.size == 74
    assert 40 < len(document.sections[0].sheets[0].rows) <= MAX_CUTS_SHOWN
    text = document_text(document, width=80)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("size", [1, 2, 50, 51, 1000])
def test_the_first_and_the_last_cut_are_shown(size):
    shown = shown_cuts(np.arange(size, 0, -1))
    assert (shown[0], shown[-1]) == (0, size - 1)
    assert len(shown) <= MAX_CUTS_SHOWN


def test_many_ranges_are_cut_short():
    ranges = tuple(
        CutRange(first=index, last=index, cuts=1 + (index < 5), lower="group", smallest=0.5)
        for index in range(8)
    )
    assert in_words(ranges) == "0, 1, 2, 3, 4, and 3 shorter ranges"
    assert in_words(ranges[:6]) == "0, 1, 2, 3, 4, and 1 shorter range"
    mirrored = CutRange(first=1.5, last=2.0, cuts=2, lower="reference", smallest=0.5)
    assert in_words((mirrored,)) == "1.5 to 2, where the reference is lower"


def test_under_a_law_without_a_number_the_page_has_a_checklist_and_no_finding():
    text = document_text(to_document(hand(rule="uk-ea-19")), width=100)
    assert "uk-ea-19 has no number, so this page has figures and a checklist" in text
    assert "indicated" not in text
