"""The bytes of texts say which of them are plain numbers."""

from __future__ import annotations

import re
from typing import Any

import narwhals as nw
import pyarrow as pa
import pytest

from fourfifths._tables.engines.number_texts import plain_and_other
from fourfifths._tables.values import CLEAR_NUMBER, CODE_TEXT, ROWS_PER_PIECE, WHOLE_NUMBER


def column_of(*chunks: list[Any], text_type: str = "string") -> nw.Series[Any]:
    """Return an Arrow column of texts in chunks."""
    arrays = [pa.array(chunk, type=text_type) for chunk in chunks]
    return nw.from_native(pa.chunked_array(arrays, type=text_type), series_only=True)


@pytest.mark.parametrize("text_type", ["string", "large_string"])
def test_bytes_say_of_plain_numbers_what_regular_expressions_say(text_type: str) -> None:
    whole = ["0", "7", "-7", "007", "-007", "12345", "123456789012345678", "-123456789012345678"]
    parts = ["", "0", "1", "12", "123", "1234", "01", "012"]
    decimals = ["", "5", "50", "500", "5000"]
    points = [f"{sign}{part}.{tail}" for sign in ("", "-") for part in parts for tail in decimals]
    odd = ["+5", "1e5", "1.5E-3", " 5", "x", "1/2", "", "\N{MINUS SIGN}5"]
    texts = [*whole, *[point for point in points if point.strip("-.")], *odd, None]
    column = column_of(texts[:9], [], texts[9:], text_type=text_type)
    pieces, rest = plain_and_other(column)
    expected = [text for text in texts if text and re.match(CLEAR_NUMBER, text) and text not in odd]
    assert [text for plain in pieces for text in plain.texts.to_pylist()] == expected
    assert sorted([*expected, *rest.to_list()]) == sorted(
        text for text in texts if text is not None
    )
    for index, pattern in enumerate([WHOLE_NUMBER, r"\.", CODE_TEXT, r"^.{19,}$"]):
        marks = [bool(re.search(pattern, text)) for text in expected]
        found = [mark for plain in pieces for mark in plain.marks[index].tolist()]
        assert found == marks, pattern


@pytest.mark.parametrize(
    "texts", [["1-2", "3"], ["1.2.3"], ["-"], [None, None], ["a"], [""], ["1.500"], []]
)
def test_what_is_not_plainly_numbers_is_left_alone(texts: list[Any]) -> None:
    pieces, rest = plain_and_other(column_of(texts))
    assert pieces == []
    assert rest.to_list() == texts


def test_a_text_that_is_no_number_in_a_later_piece_leaves_all_alone() -> None:
    texts = ["1.5", "n/a", *["2"] * ROWS_PER_PIECE, "1-2"]
    pieces, rest = plain_and_other(column_of(texts))
    assert pieces == []
    assert rest.to_list() == texts


def test_other_texts_come_in_the_order_of_their_rows() -> None:
    first = ["x", *["1.5"] * ROWS_PER_PIECE, "123.500"]
    pieces, rest = plain_and_other(column_of(first, ["-20", "", "7e1"]))
    assert [len(plain.texts) for plain in pieces] == [ROWS_PER_PIECE - 1, 1, 1]
    assert rest.to_list() == ["x", "123.500", "", "7e1"]


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (["0.5", "-12.25", "1234.500", "-0.500", ".500"], []),
        (["1.500", "0.5", "-123.500", "2e-05", "5E3", "inf"], [0, 2, 3, 4, 5]),
        (["12", "007", "-7"], []),
        (["12", "1.5", None, "-7.", "1.50"], []),
    ],
)
def test_texts_that_are_numbers_are_not_read_again(texts: list[Any], others: list[int]) -> None:
    pieces, rest = plain_and_other(column_of(texts), are_numbers=True)
    plain = [text for row, text in enumerate(texts) if text is not None and row not in others]
    assert [text for piece in pieces for text in piece.texts.to_pylist()] == plain
    assert rest.to_list() == [texts[row] for row in others]
