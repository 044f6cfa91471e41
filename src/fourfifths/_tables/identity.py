"""What tells rows apart: a 64-bit number for a row's key, or for its content.

Draws that belong to a row are made of these numbers (`fourfifths._repair.draws`), so they must be
the same for the same row in every call, in every kind of table, on every machine. Python's own
`hash` is not: it changes with the process. A key is hashed as text, so that 7 in a Parquet file and
"7" in a CSV are one key; content is hashed as the numbers that a repair reads. Libraries have
several types for one moment and for one decimal: the text of a key depends on the value alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray, HashArray, IntArray
from fourfifths._tables.load import Rows
from fourfifths._tables.table import clock_texts
from fourfifths._tables.types import DIGITS_OF_FLOATS, MAX_DECIMAL_DIGITS
from fourfifths._tables.values import is_nested
from fourfifths.errors import ColumnError

BYTES_PER_WORD = 8
MISSING_BITS = np.uint64(0x7FF8_0000_0000_0000)  # one of the many ways to write NaN
# Numbers up to here are written without an exponent, and floats hold each of them.
MAX_WHOLE_FLOAT = 1e15
# A chunk of rows and its intermediate arrays stay in the processor's cache.
ROWS_PER_HASH_CHUNK = 16_384
# How many microseconds the units of a duration are.
DURATION_UNITS = {
    "s": Decimal(1_000_000),
    "ms": Decimal(1_000),
    "us": Decimal(1),
    "ns": Decimal("0.001"),
}
DIGIT_BITS = 16  # numpy sorts numbers of 16 bits stably in two passes


def mix(words: HashArray) -> HashArray:
    """Return a well-mixed word for each word: the last step of splitmix64 (Steele et al. 2014).

    Each bit of a word changes about half of the bits of the result, and no two words have the same
    result.

    Examples
    --------
    >>> mix(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    mixed = words + np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D0_49BB_1331_11EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def content_hash(columns: Iterable[FloatArray], row_count: int) -> HashArray:
    """Return a word for each row that depends on all of its values, and on nothing else.

    Every kind of NaN is the same, and so are 0.0 and -0.0.

    Examples
    --------
    >>> first, second, third = content_hash([np.array([0.0, -0.0, 1.0])], 3)
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    all_columns = list(columns)
    words = np.zeros(row_count, dtype=np.uint64)
    for start in range(0, row_count, ROWS_PER_HASH_CHUNK):
        chunk = slice(start, start + ROWS_PER_HASH_CHUNK)
        for column in all_columns:
            values = np.add(column[chunk], 0.0, dtype=np.float64)
            bits = values.view(np.uint64)
            bits[np.isnan(values)] = MISSING_BITS
            words[chunk] = mix(words[chunk] ^ bits)
    return words


def places_among_equals(words: HashArray) -> IntArray:
    """Return for each row how many rows before it have the same word.

    Examples
    --------
    >>> places_among_equals(np.array([7, 8, 7, 7], dtype=np.uint64))
    array([0, 0, 1, 2])
    """
    order, ordered = equals_together(words)
    positions = np.arange(words.size)
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: words.size]
    first = np.maximum.accumulate(np.where(is_first, positions, 0))
    ranks = np.empty(words.size, dtype=np.int64)
    ranks[order] = positions - first
    return ranks


def equals_together(words: HashArray) -> tuple[IntArray, HashArray]:
    """Return an order of the rows in which equal words follow each other, and the words in it.

    Rows with equal words keep their order. The words are sorted by one digit of 16 bits after the
    other (a radix sort), until no two words are taken for equals that are not. Of many words this
    takes half the time of a sort by comparison, or less.

    Examples
    --------
    >>> order, ordered = equals_together(np.array([7, 2**60, 7, 2**60 + 7], dtype=np.uint64))
    >>> order.tolist()
    [0, 2, 1, 3]
    """
    order = np.argsort(words.astype(np.uint16), kind="stable")
    for shift in range(DIGIT_BITS, 64, DIGIT_BITS):
        digits = (words >> np.uint64(shift)).astype(np.uint16)
        order = order.take(np.argsort(digits.take(order), kind="stable"))
        ordered = words.take(order)
        differing = ordered[1:] ^ ordered[:-1]
        sorted_bits = np.uint64(2 ** (shift + DIGIT_BITS) - 1)
        if not np.any((differing & sorted_bits == 0) & (differing != 0)):
            break
    return order, ordered


def key_hash(rows: Rows, key: str) -> HashArray:
    """Return a word for the key of each row; two rows with the same key are an error.

    Parameters
    ----------
    rows : Rows
    key : str
        The name of the column.
    """
    words = key_words(rows, key)
    # Rows whose words collide by chance are as rare as a wrong word in memory.
    repeated = np.flatnonzero(places_among_equals(words))
    if repeated.size:
        value = rows.column(key)[int(repeated[0]) :].head(1).to_list()[0]
        raise repeated_key(key, value, repeated_rows=repeated.size)
    return words


def key_words(rows: Rows, key: str) -> HashArray:
    """Return a word for the key of each row, without looking for rows of the same key."""
    return text_hash(checked_key(rows, key))


def checked_key(rows: Rows, key: str) -> nw.Series[Any]:
    """Return the key of each row; a row without one is an error."""
    if rows.frame is None:
        raise ColumnError(f"key={key!r}: X is an array, whose columns have no names")
    column = rows.column(rows.check_columns([key], "key")[0])
    if is_nested(column):
        raise no_key(column)
    missing = np.flatnonzero(column.is_null().to_numpy())
    if missing.size:
        raise ColumnError(
            f"key={key!r}: row {rows.first_row + int(missing[0])} has no key; expected one in each "
            "row; leave these rows out, or take another column"
        )
    return column


def no_key(column: nw.Series[Any]) -> ColumnError:
    """Return the error for a column whose values cannot be keys."""
    return ColumnError(
        f"key={column.name!r}: expected texts, numbers, dates or bytes, found {column.dtype}; "
        "name another column, or make it text"
    )


def repeated_key(key: str, value: Any, *, repeated_rows: int) -> ColumnError:
    """Return the error for a key that several rows have."""
    return ColumnError(
        f"key={key!r}: the key {value!r} occurs more than once (rows that repeat a key: "
        f"{repeated_rows:,}); expected a different key in each row"
    )


def text_hash(column: nw.Series[Any]) -> HashArray:
    """Return a word for each value of a column without missing values, by the value's text."""
    import pyarrow as pa

    try:
        texts: Any = plain_texts(column.to_arrow())
    except (pa.ArrowException, TypeError) as error:
        raise no_key(column) from error
    _, offset_buffer, byte_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset :][: len(texts) + 1]
    content = b"" if byte_buffer is None else byte_buffer.to_pybytes()
    return bytes_hash(np.frombuffer(content, dtype=np.uint8), offsets)


def plain_texts(values: Any) -> Any:
    """Return the values of an Arrow column as texts that depend on the values, not on their type.

    A moment is that of UTC, or the one of its clock if it has no zone. Durations are microseconds,
    and bytes stay bytes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from datetime import datetime
    >>> moments = [datetime(2020, 3, 8, 7, 30, 5, 500_000), datetime(2020, 3, 8)]
    >>> plain_texts(pa.array(moments, pa.timestamp("ns", "America/New_York"))).to_pylist()
    ['2020-03-08 07:30:05.5', '2020-03-08']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    types, kind = pa.types, values.type
    if types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return values.cast(pa.large_binary())
    if types.is_floating(kind):
        values = float_texts(values)
    elif types.is_decimal(kind):
        values = decimal_texts(values)
    elif types.is_duration(kind):
        per_microsecond = pa.scalar(DURATION_UNITS[kind.unit])
        values = decimal_texts(pc.multiply(values.cast(pa.int64()), per_microsecond))
    elif types.is_timestamp(kind):
        # The number of a moment is that of UTC, whatever its zone.
        moments = values.cast(pa.int64()).cast(pa.timestamp(kind.unit))
        texts = clock_texts(moments.cast(pa.string()))
        values = pc.replace_substring_regex(texts, " 00:00:00$", "")
    elif types.is_time(kind):
        values = clock_texts(values.cast(pa.string()))
    elif types.is_date(kind):
        values = values.cast(pa.date32())
    return values.cast(pa.large_string())


def decimal_texts(values: Any) -> Any:
    """Return Arrow decimals as the texts of the floats that are written alike, if there are any.

    pandas has floats for them. A decimal with more digits than a float tells apart keeps them all,
    without zeros at the end.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    floats = values.cast(pa.string()).cast(pa.float64())
    wide = pa.decimal256(MAX_DECIMAL_DIGITS, values.type.scale + DIGITS_OF_FLOATS + 1)
    is_alike = pc.equal(floats.cast(pa.string()).cast(wide), values.cast(wide))
    texts = values.cast(pa.string())
    shortened = pc.replace_substring_regex(texts, r"\.?0+(E|$)", r"\1")
    texts = pc.if_else(pc.match_substring(texts, "."), shortened, texts)
    return pc.if_else(is_alike, float_texts(floats), texts)


def float_texts(values: Any) -> Any:
    """Return floats as texts, whole ones as those of whole numbers: pandas has 7.0 beside NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = values.cast(pa.float64())
    floats = numbers.to_numpy(zero_copy_only=False)
    is_whole = (np.floor(floats) == floats) & (np.abs(floats) < MAX_WHOLE_FLOAT)
    integers = pa.array(np.where(is_whole, floats, 0.0).astype(np.int64)).cast(pa.string())
    return pc.if_else(pa.array(is_whole), integers, numbers.cast(pa.string()))


def bytes_hash(content: np.ndarray[Any, Any], offsets: IntArray) -> HashArray:
    """Return a word for each stretch of bytes, eight bytes at a time for all rows at once."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    words = mix(lengths.astype(np.uint64))
    padded = np.append(content, np.zeros(BYTES_PER_WORD, dtype=np.uint8))
    # All stretches of eight bytes, each a little-endian number; they overlap, so nothing is copied.
    windows: Any = np.ndarray(
        shape=(content.size + 1,), dtype="<u8", buffer=padded.data, strides=(1,)
    )
    rows = np.flatnonzero(lengths > 0)
    position = 0
    while rows.size:
        left = np.minimum(lengths[rows] - position, BYTES_PER_WORD)
        shift = (8 * (BYTES_PER_WORD - left)).astype(np.uint64)
        chunk = windows[starts[rows] + position].astype(np.uint64) << shift
        words[rows] = mix(words[rows] ^ chunk)
        position += BYTES_PER_WORD
        rows = rows[lengths[rows] > position]
    return words
