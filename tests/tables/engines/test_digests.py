"""The digest of a column says of it what the whole column does."""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.load import Rows
from fourfifths._tables.types import is_not_repaired, type_of
from fourfifths._tables.values import Reading
from fourfifths.errors import ColumnError, FourfifthsError, TableError

COLUMNS: dict[str, list[Any]] = {
    "whole": [str(number) for number in range(60)],
    "fractions": [f"{number}.5" for number in range(60)],
    "signed": [f"+{number}" for number in range(60)],
    "codes": [f"{number:03}" for number in range(60)],
    "words": ["a", "b", "c"] * 20,
    "numbers and a word": [*map(str, range(59)), "x"],
    "a word before the numbers": ["x", *["0"] * 20, *map(str, range(39))],
    "numbers and words": [*map(str, range(30)), *"xyz" * 10],
    "missing": [*map(str, range(50)), *["n/a"] * 10],
    "currency": [f"${number},000" for number in range(100, 160)],
    "comma": [f"{number},5" for number in range(60)],
    "ambiguous": [f"{number}.500" for number in range(1, 61)],
    "long": [*map(str, range(59)), "1234567890123456789"],
    "dates": [f"2024-01-{1 + number % 30:02}" for number in range(60)],
    "texts of their own": [f"text {number}" for number in range(60)],
    "nothing": [None] * 60,
    "spaces": [f" {number} " for number in range(60)],
    "infinite": [*map(str, range(59)), "inf"],
    "applicant_id": [str(number * 1000) for number in range(60)],
}


def column_of(texts: list[Any]) -> nw.Series[Any]:
    """Return texts as a column x."""
    table = pa.table({"x": pa.array(texts, type=pa.string())})
    return nw.from_native(table, eager_only=True)["x"]


def digest_of(name: str, values: list[Any], *, max_distinct: int) -> ColumnDigest:
    """Return the digest of a column that comes in chunks of 17 rows."""
    table = pa.table({name: pa.array(values, type=pa.string())})
    frame: Any = nw.from_native(table, eager_only=True)
    digest = ColumnDigest(name=name, column=frame[name].head(0), max_distinct=max_distinct)
    for start in range(0, len(values), 17):
        digest.add(Rows(frame=frame[start : start + 17]))
    return digest


def answer(ask: Any) -> Any:
    """Return an answer, or the message of the error in its place."""
    try:
        return ask()
    except FourfifthsError as error:
        return str(error)


@pytest.mark.parametrize("most", [5, 1000])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_type_is_that_of_the_whole_column(name: str, most: int) -> None:
    column: Any = nw.from_native(
        pa.chunked_array([pa.array(COLUMNS[name], type=pa.string())]), series_only=True
    ).alias(name)
    digest = digest_of(name, COLUMNS[name], max_distinct=most)
    values, counts = digest.values()
    if not digest.is_complete and digest.holds_too_many_texts:
        with pytest.raises((ColumnError, TableError), match=f"more than {10 * most}"):
            digest.check()
        return
    notes: tuple[list[str], list[str]] = ([], [])
    expected = answer(lambda: type_of(column, None, notes=notes[0]))
    found = answer(lambda: type_of(values, None, notes=notes[1], row_counts=counts))
    is_of_numbers = getattr(expected, "kind", "") in ("integer", "number")
    # A shortened digest does not count different texts, but it knows the words among numbers.
    if digest.is_complete or is_of_numbers or "values are numbers, but" in str(expected):
        assert found == expected
        assert notes[0] == notes[1]

    def count_distinct(_: str, number_format: Any) -> int:
        texts = {text.strip() for text in COLUMNS[name] if text is not None}
        return len(texts if number_format is None else texts - {"n/a"})

    found = digest.is_not_repaired(reading=Reading(), count_distinct=count_distinct)
    assert found == is_not_repaired(column)


@pytest.mark.parametrize("is_read", [False, True])
def test_many_numbers_are_known_by_their_shapes(is_read: bool) -> None:
    # (whole, with a point, a code, long) and the first text of each shape, in a fixed order
    chunks = [
        ["12", "-40", "1.5", None, "2e-05"],
        ["007", "-0.1234567890123456789", "8", "1.500", None],
    ]
    digest = ColumnDigest(name="x", column=column_of([]), max_distinct=3)
    for chunk in chunks:
        rows = Rows(frame=column_of(chunk).to_frame())
        numbers = np.array([math.nan if text is None else float(text) for text in chunk])
        digest.add(rows, numbers if is_read else None)
    assert list(digest.shapes.items()) == [
        ((False, True, False, False), "1.5"),
        ((True, False, False, False), "12"),
        ((False, False, False, False), "2e-05"),
        ((False, True, False, True), "-0.1234567890123456789"),
        ((True, False, True, False), "007"),
    ]
    assert (digest.low, digest.high) == (-40, 12)
    assert dict(digest.counts) == {"1.500": 1}
    assert (digest.rows, digest.known_rows, digest.is_complete) == (10, 8, False)


@pytest.mark.parametrize("is_read", [False, True])
def test_few_numbers_are_counted(is_read: bool) -> None:
    texts = ["7", "7", None, "1.0", "1.00", "7"]
    digest = ColumnDigest(name="x", column=column_of([]), max_distinct=3)
    numbers = np.array([7.0, 7.0, math.nan, 1.0, 1.0, 7.0])
    digest.add(Rows(frame=column_of(texts).to_frame()), numbers if is_read else None)
    assert dict(digest.counts) == {"7": 3, "1.0": 1, "1.00": 1}
    assert (digest.known_rows, digest.is_complete, digest.shapes) == (5, True, {})


def test_where_pieces_of_a_chunk_end_does_not_matter() -> None:
    table = pa.table({"x": pa.chunked_array([["12", "13"], ["1.5", "1.6"]])})
    digest = ColumnDigest(name="x", column=column_of([]), max_distinct=3)
    digest.add(Rows(frame=nw.from_native(table, eager_only=True)), np.array([12, 13, 1.5, 1.6]))
    assert list(digest.shapes.values()) == ["1.5", "12"]
