"""What a column of a large table holds, in little memory: enough to say what it is repaired as.

What a column is depends on its different values and on how many rows have each, never on where they
are. So a digest keeps the different values with their counts. Of numbers that are written as text,
which may all differ, it keeps one of each shape instead: whether a text is a plain number, whole,
or a code with leading zeros is all that its type depends on. Digests of chunks add up to that of
the table, whatever the chunks are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._tables.engines.number_texts import PlainNumbers, plain_and_other
from fourfifths._tables.load import Rows
from fourfifths._tables.types import (
    DATE_TEXT,
    GROUP_WORDS,
    IDENTIFIER_NAME,
    MAX_CATEGORIES,
    MAX_CATEGORIES_OF_FEW_ROWS,
    ColumnType,
)
from fourfifths._tables.values import (
    CLEAR_NUMBER,
    CODE_TEXT,
    MAX_WHOLE_DIGITS,
    PLAIN,
    WHOLE_NUMBER,
    NumberFormat,
    NumberTexts,
    Reading,
    are_codes,
    is_date,
    is_text,
    known_values,
    numbers_and_format,
)
from fourfifths.errors import ColumnError, TableError

CountDistinct = Callable[[str, NumberFormat | None], int]
MAX_DISTINCT = 20_000  # different values that a digest keeps


@dataclass(kw_only=True)
class ColumnDigest:
    """A column's values and how many rows have each.

    Attributes
    ----------
    name : str
    column : series
        No values, but the type of the column.
    example : series or None
        The first value of a column that holds neither numbers, texts nor truth values.
    counts : Counter
        The different values that are not missing. Once they are many, only texts that are not
        plain numbers, and one text of each shape.
    shapes : mapping of tuple to str
        One plain number of each shape, once values are many.
    is_complete : bool
        Whether `counts` has all values.
    rows, known_rows : int
    low, high : int or None
        Of whole numbers.
    max_distinct : int
        Values are many if there are more different ones.
    """

    name: str
    column: nw.Series[Any]
    example: nw.Series[Any] | None = None
    counts: Counter[Any] = field(default_factory=Counter)
    shapes: dict[tuple[bool, ...], str] = field(default_factory=dict)
    is_complete: bool = True
    rows: int = 0
    known_rows: int = 0
    low: int | None = None
    high: int | None = None
    max_distinct: int = MAX_DISTINCT
    _dictionaries: list[Any] = field(default_factory=list)

    def add(self, rows: Rows, numbers: FloatArray | None = None) -> None:
        """Count the values of further rows.

        Parameters
        ----------
        rows : Rows
        numbers : float array, optional
            The texts of the column as `plain_numbers`, if somebody has read them already.
        """
        self.rows += len(rows)
        column = rows.dataframe[self.name]
        if self.is_complete and numbers is not None:
            # Texts of different numbers differ, and a few rows often show that values are many.
            first_numbers = numbers[: 2 * self.max_distinct]
            if np.unique(first_numbers[~np.isnan(first_numbers)]).size > self.max_distinct:
                self._shorten()
        if not self.is_complete and column.dtype == nw.String and not rows.unknown:
            # Most are plain numbers, and only what is not can mean that a value is missing.
            pieces, rest = plain_and_other(column, are_numbers=numbers is not None)
            if pieces:
                self.known_rows += sum(len(plain.texts) for plain in pieces)
                self._note(pieces)
                column = known_values(rest)
                self.known_rows += len(column) - int(column.null_count())
                self._add_values(column)
                return
        if numbers is None:  # no number means that a value is missing
            column = rows.column(self.name)
        self.known_rows += len(column) - int(column.null_count())
        if column.dtype == nw.Categorical:
            native: Any = rows.dataframe[self.name].to_native()
            self._dictionaries += [chunk.slice(0, 0) for chunk in native.chunks]
        if is_text(column.dtype) or column.dtype == nw.Boolean:
            self._add_values(column)
        elif column.dtype.is_integer() and len(column) > int(column.null_count()):
            self._widen(int(column.min()), int(column.max()))
        elif self.example is None and len(column) > int(column.null_count()):
            self.example = column.filter(~column.is_null()).head(1)

    def merge(self, digest: ColumnDigest) -> None:
        """Add the digest of further rows."""
        self.rows += digest.rows
        self.known_rows += digest.known_rows
        if digest.low is not None and digest.high is not None:
            self._widen(digest.low, digest.high)
        self._dictionaries += digest._dictionaries
        self.example = digest.example if self.example is None else self.example
        if self.is_complete and not digest.is_complete:
            self._shorten()
        for shape, text in digest.shapes.items():
            self.shapes.setdefault(shape, text)
        self._count(digest.counts.items(), may_be_numbers=digest.is_complete)

    def _widen(self, low: int, high: int) -> None:
        self.low = low if self.low is None else min(low, self.low)
        self.high = high if self.high is None else max(high, self.high)

    def _add_values(self, column: nw.Series[Any]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        values: Any = column.to_arrow()
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        values = values.drop_null()
        if not self.is_complete:
            values = self._without_numbers(values)
        counted = pc.value_counts(values)
        if self.is_complete and len(counted) > self.max_distinct:
            # Not one by one in Python, if most of them are numbers.
            if pa.types.is_boolean(values.type):
                raise AssertionError
            self._shorten()
            series: nw.Series[Any] = nw.from_native(pa.chunked_array([values]), series_only=True)
            pieces, rest = plain_and_other(series)
            if pieces:  # in far less time than by patterns
                self._note(pieces)
                values = rest.to_native().combine_chunks()
            counted = pc.value_counts(self._without_numbers(values))
        if len(counted) > 10 * self.max_distinct:
            counted = counted.slice(0, 10 * self.max_distinct)
        pairs = zip(
            counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True
        )
        self._count(pairs, may_be_numbers=False)

    def _count(self, pairs: Iterable[tuple[Any, int]], *, may_be_numbers: bool) -> None:
        """Add counts of values; once values are many, plain numbers among them are left out."""
        added = dict(pairs)
        if may_be_numbers and not self.is_complete:
            import pyarrow as pa

            rest = {*self._without_numbers(pa.array(list(added), type=pa.string())).to_pylist()}
            added = {value: count for value, count in added.items() if value in rest}
        for value, count in added.items():
            self.counts[value] += count
        if len(self.counts) > self.max_distinct and self.is_complete:
            self._shorten()
        if len(self.counts) > 10 * self.max_distinct:
            # An identifier, or texts that nobody could share: what they are is not needed.
            self.counts = Counter(dict(self.counts.most_common(10 * self.max_distinct)))

    def _shorten(self) -> None:
        """From now on, keep only one plain number of each shape."""
        import pyarrow as pa

        self.is_complete = False
        values, counts = list(self.counts), list(self.counts.values())
        self.counts = Counter()
        texts = pa.array(values, type=pa.string())
        rest = {*self._without_numbers(texts).to_pylist()}
        for value, count in zip(values, counts, strict=True):
            if value in rest:
                self.counts[value] += count

    def _without_numbers(self, texts: Any) -> Any:
        """Return the texts that are not plain numbers, and take note of the shapes of the rest."""
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(texts.cast(pa.string()))
        is_clear = pc.match_substring_regex(trimmed, CLEAR_NUMBER)
        rest = texts.filter(pc.invert(is_clear))
        clear = trimmed.filter(is_clear)
        if len(clear):
            plain = pc.replace_substring_regex(clear, r"^\+", "")
            marks = [
                pc.match_substring_regex(clear, WHOLE_NUMBER),
                pc.match_substring(clear, "."),
                pc.match_substring_regex(clear, CODE_TEXT),
                pc.greater(pc.utf8_length(plain), MAX_WHOLE_DIGITS),
            ]
            arrays = [mark.to_numpy(zero_copy_only=False) for mark in marks]
            self._note([PlainNumbers(texts=plain, marks=arrays)])
        return rest

    def _note(self, pieces: Iterable[PlainNumbers]) -> None:
        """Take note of the shapes and of the range of plain numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        first_texts: dict[tuple[bool, ...], str] = {}
        for plain in pieces:
            shape = np.zeros(len(plain.texts), dtype=np.uint8)
            for mark in plain.marks:
                shape = 2 * shape + mark
            for code in np.flatnonzero(np.bincount(shape)):
                bits = tuple(
                    bool(int(code) >> shift & 1) for shift in reversed(range(len(plain.marks)))
                )
                if bits not in first_texts:
                    first = int(np.argmax(shape == code))
                    first_texts[bits] = plain.texts[first].as_py()
            is_whole, _, _, is_long = plain.marks
            is_integer = is_whole & ~is_long
            if is_integer.any():
                integers = plain.texts.filter(pa.array(is_integer))
                limits = pc.min_max(integers.cast(pa.int64()))
                self._widen(limits["min"].as_py(), limits["max"].as_py())
        # In an order of their own, so that it does not matter where pieces end.
        for bits, text in sorted(first_texts.items()):
            self.shapes.setdefault(bits, text)

    def values(self) -> tuple[nw.Series[Any], IntArray]:
        """Return the values, or one of each shape, and for how many rows each stands.

        Of plain numbers it is not known how many rows have which shape: the first stands for all.
        """
        import pyarrow as pa

        if not (is_text(self.column.dtype) or self.column.dtype == nw.Boolean):
            if self.example is not None:
                return self.example, np.array([self.known_rows])
            return self.column, np.zeros(0, dtype=np.int64)
        texts = [*self.counts, *self.shapes.values()]
        number_rows = self.known_rows - sum(self.counts.values())
        shape_rows = [number_rows, *[0] * len(self.shapes)][: len(self.shapes)]
        missing_rows = self.rows - self.known_rows
        cells = [*texts, *[None][: min(missing_rows, 1)]]
        counts = [*self.counts.values(), *shape_rows, *[missing_rows][: min(missing_rows, 1)]]
        native: Any = self.column.to_native()
        if pa.types.is_dictionary(native.type):
            coded = pa.array(cells, type=pa.string()).dictionary_encode()
            coded = coded.cast(native.type) if coded.type != native.type else coded
            ordered = pa.DictionaryArray.from_arrays(
                coded.indices, coded.dictionary, ordered=native.type.ordered
            ).cast(native.type)
            array = pa.chunked_array([*self._dictionaries, ordered], type=native.type)
            array = array.unify_dictionaries()
        else:
            array = pa.chunked_array([pa.array(cells, type=native.type)])
        series: nw.Series[Any] = nw.from_native(array, series_only=True)
        return series.alias(self.name), np.array(counts, dtype=np.int64)

    def number_notes(self, column_type: ColumnType, reading: Reading) -> list[str]:
        """Return what is assumed about the texts where they are read as a fitted repair reads them.

        The note of a chunk names the rows and an example of the chunk, and not of the table.
        """
        values, row_counts = self.values()
        notes: list[str] = []
        numbers_and_format(
            values,
            must=True,
            reading=reading,
            number_format=column_type.number_format,
            notes=notes,
            row_counts=row_counts,
            may_round=column_type.kind == "number",
        )
        return notes

    @property
    def holds_too_many_texts(self) -> bool:
        """Whether the column has more texts that are not plain numbers than are kept."""
        return len(self.counts) >= 10 * self.max_distinct

    def check(self) -> None:
        """Raise if the digest does not show what the column holds."""
        if not self.holds_too_many_texts:
            return
        texts = NumberTexts.of(list(self.counts)[: self.max_distinct])
        if texts.words:
            raise ColumnError(
                f"columns: {self.name!r} has more than {10 * self.max_distinct:,} different texts: "
                "an identifier, not categories that strata could share; name the columns to "
                "repair, without it"
            )
        raise TableError(
            f"column {self.name!r}: more than {10 * self.max_distinct:,} different numbers that "
            "are not plain, for example with a currency sign or a decimal comma; write plain "
            "numbers, or repair in memory with a larger memory="
        )

    def is_not_repaired(self, *, reading: Reading, count_distinct: CountDistinct) -> bool:
        """Return whether the column is repaired only if it is named.

        As `fourfifths._tables.types.is_not_repaired`.

        Parameters
        ----------
        reading : Reading
        count_distinct : callable
            Returns how many different values a column has: of texts in a number format, how many
            different numbers. It reads the whole table, so it is called only for what may be an
            identifier.
        """
        name, dtype = self.name.strip(), self.column.dtype
        if is_date(dtype) or name.lower() in GROUP_WORDS:
            return True
        number_rows, number_format = self.known_rows, None
        is_whole = dtype.is_integer()
        if dtype == nw.String:
            numbers, number_format, counts = self._numbers(reading)
            if numbers is None:
                return self._is_date_or_identifier(count_distinct)
            known = numbers.filter(~numbers.is_null())
            is_whole = bool(len(known)) and known.dtype.is_integer()
            if is_whole:
                self._widen(int(known.min()), int(known.max()))
            # A text such as n/a among numbers is missing.
            number_rows = int(counts[~np.asarray(numbers.is_null().to_numpy(), bool)].sum())
        if not is_whole or self.low is None or self.high is None:
            return False
        span = self.high - self.low + 1
        is_close = number_rows > MAX_CATEGORIES_OF_FEW_ROWS and span < 2 * number_rows
        if span < number_rows or not (is_close or IDENTIFIER_NAME.search(name)):
            return False
        return count_distinct(self.name, number_format) == number_rows

    def _numbers(self, reading: Reading) -> tuple[nw.Series[Any] | None, NumberFormat, IntArray]:
        """Return the texts as numbers, or None if they are words, and how many rows have each."""
        values, counts = self.values()
        if self.holds_too_many_texts:
            if not NumberTexts.of(list(self.counts)[: self.max_distinct]).words:
                self.check()
            return None, PLAIN, counts
        if are_codes(values, reading.known):
            return None, PLAIN, counts
        try:
            numbers, number_format = numbers_and_format(values, reading=reading, row_counts=counts)
        except ColumnError:  # a few words among numbers, or numbers that can be read in two ways
            return None, PLAIN, counts
        return numbers, number_format, counts

    def _is_date_or_identifier(self, count_distinct: CountDistinct) -> bool:
        """Return whether texts that are not numbers are dates, or differ in most rows."""
        if self.holds_too_many_texts:
            return True
        values, _ = self.values()
        present = values.filter(~values.is_null())
        if len(present) and bool(present.str.contains(DATE_TEXT).all()):
            return True
        distinct = len(self.counts) if self.is_complete else count_distinct(self.name, None)
        is_mostly_own = distinct > MAX_CATEGORIES_OF_FEW_ROWS and 2 * distinct > self.known_rows
        return is_mostly_own or distinct > MAX_CATEGORIES
