"""Texts of a column that can only be read as numbers, found by their bytes.

A regular expression takes longer for a text than everything else that is done with it. So bytes of
many texts are looked at together, and only what is left over is left to regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, IntArray
from fourfifths._tables.values import MAX_WHOLE_DIGITS, ROWS_PER_PIECE, bytes_and_offsets

MINUS, POINT, SLASH, ZERO, NINE = (np.uint8(ord(letter)) for letter in "-./09")
MIN_THOUSANDS, MAX_THOUSANDS = len("1.500"), len("-123.500")


@dataclass(frozen=True, kw_only=True)
class PlainNumbers:
    """Texts that can only be read as numbers.

    Attributes
    ----------
    texts : Arrow array
        Without a plus sign.
    marks : sequence of bool array
        Whether a text is a whole number, has a decimal point, is a code with leading zeros, and is
        too long for a 64-bit integer.
    """

    texts: Any
    marks: Sequence[BoolArray]


def plain_and_other(
    column: nw.Series[Any], *, are_numbers: bool = False
) -> tuple[list[PlainNumbers], nw.Series[Any]]:
    """Return the texts of a column that are plain numbers, in pieces, and the other texts.

    Only texts of digits, a point and a minus are taken for plain, so some numbers are among the
    others. There are no pieces if no text is plain, or if one of digits, points and minuses is not
    a number.

    Parameters
    ----------
    column : series
        Texts of an Arrow column.
    are_numbers : bool
        Whether Arrow has read all texts as numbers already.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.chunked_array([["1.5", "-20", "n/a", "1.500", None, "007"]])
    >>> pieces, others = plain_and_other(nw.from_native(texts, series_only=True))
    >>> [piece.texts.to_pylist() for piece in pieces], others.to_list()
    ([['1.5', '-20', '007']], ['n/a', '1.500'])
    """
    import pyarrow as pa

    pieces, others = [], []
    for texts in pieces_of(column):
        other_rows = other_rows_of(texts)
        plain = texts
        if other_rows.size:
            is_plain = np.ones(len(texts), dtype=np.bool_)
            is_plain[other_rows] = False
            plain = texts.filter(pa.array(is_plain))
            others.append(texts.filter(pa.array(~is_plain)))
        if not len(plain):
            continue
        if not are_numbers:
            try:
                plain.cast(pa.float64())
            except pa.ArrowInvalid:  # such as 1-2
                return [], column
        pieces.append(PlainNumbers(texts=plain, marks=marks_of(plain)))
    if not pieces:
        return [], column
    rest: nw.Series[Any] = nw.from_native(
        pa.chunked_array(others, type=column.to_native().type), series_only=True
    )
    return pieces, rest.alias(column.name)


def pieces_of(column: nw.Series[Any]) -> Iterator[Any]:
    """Yield the texts of an Arrow column that are not missing, as arrays of a few rows."""
    for chunk in column.to_native().chunks:
        for start in range(0, len(chunk), ROWS_PER_PIECE):
            texts = chunk.slice(start, ROWS_PER_PIECE).drop_null()
            if len(texts):
                yield texts


def other_rows_of(texts: Any) -> IntArray:
    """Return the numbers of the texts that are more than digits, or may not mean what they say."""
    content, offsets = bytes_and_offsets(texts)
    starts, ends = offsets[:-1], offsets[1:]
    length = ends - starts
    # From the minus to the digit nine there are only points, the slash and digits.
    is_odd = (content - MINUS > NINE - MINUS) | (content == SLASH)
    odd_rows = np.searchsorted(offsets, np.flatnonzero(is_odd), side="right") - 1
    empty_rows = np.flatnonzero(length == 0)
    # 1.500 may mean 1500; 0.500 and 1234.500 may not.
    short_rows = np.flatnonzero((length >= MIN_THOUSANDS) & (length <= MAX_THOUSANDS))
    rows = short_rows[content[ends[short_rows] - 4] == POINT]
    is_negative = content[starts[rows]] == MINUS
    whole_digits = length[rows] - 4 - is_negative
    is_split = (whole_digits >= 1) & (whole_digits <= 3)
    thousands = rows[is_split & (content[starts[rows] + is_negative] != ZERO)]
    return np.concatenate([odd_rows, empty_rows, thousands])


def marks_of(plain: Any) -> list[BoolArray]:
    """Return the marks of plain numbers, as in `PlainNumbers`."""
    import pyarrow.compute as pc

    content, offsets = bytes_and_offsets(plain)
    length = np.diff(offsets)
    # A number has one point at most, so their sum says whether all have one, or none.
    point_count = np.count_nonzero(content == POINT)
    if point_count in (0, len(plain)):
        has_point = np.full(len(plain), point_count > 0)
    else:
        has_point = pc.match_substring(plain, ".").to_numpy(zero_copy_only=False)
    is_code = ~has_point
    if point_count < len(plain):
        is_code &= (length > 1) & (content[offsets[:-1]] == ZERO)
    return [~has_point, has_point, is_code, length > MAX_WHOLE_DIGITS]
