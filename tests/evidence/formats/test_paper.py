"""Tables that are too wide for a page."""

from __future__ import annotations

import pytest

from fourfifths._evidence.formats.paper import (
    COLUMN_GAP,
    MAX_COLUMNS,
    PAGE_LETTERS,
    column_letters,
    narrow_sheets,
)
from fourfifths._report.document import Sheet


@pytest.mark.parametrize("count", [1, 5, 9, 12, 30])
def test_every_column_is_shown_once_and_names_each_time(count):
    headers = ("name", *(f"h{number}" for number in range(count)))
    sheet = Sheet(title="t", headers=headers, rows=(tuple(f"{head}!" for head in headers),))
    sheets = [*narrow_sheets(sheet)]
    assert all(narrow.headers[0] == "name" for narrow in sheets)
    assert [head for narrow in sheets for head in narrow.headers[1:]] == [*headers[1:]]
    assert all(len(narrow.headers) <= MAX_COLUMNS for narrow in sheets)
    for narrow in sheets:
        assert narrow.rows == (tuple(f"{head}!" for head in narrow.headers),)
    assert [narrow.title for narrow in sheets[1:]] == ["t (continued)"] * (len(sheets) - 1)


# The cuts of a score, by race: names and figures of a real audit.
RACES = ("Asian", "Black or African American", "Native Hawaiian or Pacific Islander", "White")
CUTS = Sheet(
    title="cuts",
    headers=(">=", "selected", "share", *RACES, *RACES),
    rows=(("20.7", "1,200", "1.000", *(["0.986 (0.916 to 1.040)"] * 8)),),
)


def test_figures_of_a_wide_table_are_never_broken():
    sheets = [*narrow_sheets(CUTS)]
    assert len(sheets) > 1
    assert [head for sheet in sheets for head in sheet.headers[1:]] == [*CUTS.headers[1:]]
    for sheet in sheets:
        widths = column_letters(sheet)
        assert sum(widths) <= PAGE_LETTERS
        for column, width in enumerate(widths):
            words = sheet.headers[column].split()
            longest = max(len(text) for text in (sheet.rows[0][column], *words))
            assert width >= longest + COLUMN_GAP


def test_the_parts_of_a_wide_table_are_of_like_width():
    widths = [sum(column_letters(sheet)) for sheet in narrow_sheets(CUTS)]
    assert min(widths) > max(widths) / 2
    # A column takes 16 of 106 letters, so six of them fit: four and four, not six and two.
    eight = Sheet(title="t", headers=("", *"abcdefgh"), rows=(("", *["0.986 +/- 0.1"] * 8),))
    assert [len(part.headers) - 1 for part in narrow_sheets(eight)] == [4, 4]


def test_a_word_of_a_head_is_not_broken():
    # Figures of one letter, below words of 24. A column takes 27 of 106 letters, so three fit.
    word = "antidisestablishmentaria"
    sheet = Sheet(title="t", headers=("", *[word] * 4), rows=(("", *"1234"),))
    assert [part.headers[1:] for part in narrow_sheets(sheet)] == [(word, word), (word, word)]


def test_long_names_of_rows_give_way_to_figures():
    name = "Female & Native Hawaiian or Pacific Islander"
    figures = ("-12.8", "-1.47", "0.1531", "0.8636", "1.0000", "5.6", "0.269")
    heads = ("points", "z", "Fisher p", "choice p", "Holm p", "shortfall", "detectable")
    sheet = Sheet(title="t", headers=("group", *heads), rows=((name, *figures),))
    (whole,) = narrow_sheets(sheet)
    assert whole == sheet
    assert sum(column_letters(whole)) <= PAGE_LETTERS + 1e-9


def test_very_long_figures_are_broken_and_count_only_so_much():
    sheet = Sheet(title="t", headers=("name", "a", "b"), rows=(("x", "y" * 500, "z" * 500),))
    assert [part.headers for part in narrow_sheets(sheet)] == [("name", "a", "b")]
    many = Sheet(title="t", headers=("name", *"abcd"), rows=(("x", *["y" * 500] * 4),))
    assert [part.headers[1:] for part in narrow_sheets(many)] == [("a", "b"), ("c", "d")]
