"""The digest of a column says of it what the whole column does."""

from __future__ import annotations

import re
from typing import Any

import narwhals as nw
import pyarrow as pa
import pytest

from fourfifths._tables.engines.digests import ColumnDigest, plain_and_other
from fourfifths._tables.load import Rows
from fourfifths._tables.types import CODE_TEXT, is_not_repaired, type_of
from fourfifths._tables.values import CLEAR_NUMBER, WHOLE_NUMBER, Reading
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


def test_bytes_say_of_plain_numbers_what_regular_expressions_say() -> None:
    whole = ["0", "7", "-7", "007", "-007", "12345", "123456789012345678", "-123456789012345678"]
    parts = ["", "0", "1", "12", "123", "1234", "01", "012"]
    decimals = ["", "5", "50", "500", "5000"]
    points = [f"{sign}{part}.{tail}" for sign in ("", "-") for part in parts for tail in decimals]
    odd = ["+5", "1e5", "1.5E-3", " 5", "x", "1/2", "", "\N{MINUS SIGN}5", None]
    texts = [*whole, *[point for point in points if point.strip("-.")], *odd]
    column: nw.Series[Any] = nw.from_native(
        pa.chunked_array([texts[:9], texts[9:]]), series_only=True
    )
    plain, rest = plain_and_other(column)
    assert plain is not None
    expected = [text for text in texts if text and re.match(CLEAR_NUMBER, text) and text not in odd]
    assert plain.texts.to_pylist() == expected
    assert sorted(map(str, [*expected, *rest.to_list()])) == sorted(map(str, texts))
    for index, pattern in enumerate([WHOLE_NUMBER, r"\.", CODE_TEXT, r"^.{19,}$"]):
        marks = [bool(re.search(pattern, text)) for text in expected]
        assert plain.marks[index].tolist() == marks, pattern


@pytest.mark.parametrize("texts", [["1-2", "3"], ["1.2.3"], ["-"], [None, None], ["a"], []])
def test_what_is_not_plainly_numbers_is_left_alone(texts: list[Any]) -> None:
    column: nw.Series[Any] = nw.from_native(
        pa.chunked_array([pa.array(texts, type=pa.string())]), series_only=True
    )
    plain, rest = plain_and_other(column)
    assert plain is None
    assert rest.to_list() == texts
