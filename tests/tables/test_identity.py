"""What tells rows apart: hashes of keys and of content, the same in any table and any call."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths._tables.identity import (
    ROWS_PER_HASH_CHUNK,
    content_hash,
    equals_together,
    key_hash,
    mix,
    places_among_equals,
    text_hash,
)
from fourfifths._tables.load import rows_of
from fourfifths.errors import ColumnError

# --- mixing ---


def test_mixing_is_the_step_of_splitmix64() -> None:
    # The published first outputs of splitmix64 for the seeds 0 and 1 (Vigna's splitmix64.c).
    mixed = mix(np.array([0, 1], dtype=np.uint64))
    assert [hex(word) for word in mixed.tolist()] == ["0xe220a8397b1dcdaf", "0x910a2dec89025cc1"]


def test_mixing_goes_on_as_splitmix64_does() -> None:
    # Its state grows by the same constant each time; the second and third output for seed 0.
    step = 0x9E3779B97F4A7C15
    states = np.array([step, 2 * step % 2**64], dtype=np.uint64)
    assert [hex(word) for word in mix(states).tolist()] == [
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_mixing_changes_nothing_that_is_passed_in() -> None:
    words = np.arange(5, dtype=np.uint64)
    mix(words)
    assert words.tolist() == [0, 1, 2, 3, 4]


def test_one_bit_changes_half_of_the_bits() -> None:
    words = np.random.default_rng(0).integers(0, 2**64, 2_000, dtype=np.uint64)
    for bit in (0, 17, 63):
        differing = mix(words) ^ mix(words ^ np.uint64(1 << bit))
        share = np.unpackbits(differing.view(np.uint8)).mean()
        assert share == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(2_000 * 64))


def test_mixed_words_are_uniform() -> None:
    mixed = mix(np.arange(20_000, dtype=np.uint64)).astype(np.float64) / 2**64
    assert stats.kstest(mixed, "uniform").pvalue > 0.01


# --- content ---


def test_content_is_equal_where_values_are() -> None:
    missing = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    column = np.array([0.0, -0.0, 1.0, np.nan, *missing])
    words = content_hash([column], 6).tolist()
    assert words[0] == words[1]
    assert words[3] == words[4] == words[5]
    assert len({*words}) == 3
    assert np.signbit(column[1])  # what is passed in is not changed


def test_content_depends_on_the_order_of_columns() -> None:
    first, second = np.array([1.0, 2.0, 0.0]), np.array([2.0, 1.0, 0.0])
    forth, back = content_hash([first, second], 3), content_hash([second, first], 3)
    assert forth[0] == back[1]
    assert forth[0] != back[0]
    assert len({*forth.tolist()}) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_content_is_that_of_the_numbers_whatever_their_type(dtype: Any) -> None:
    numbers = np.arange(-4, 5)
    expected = content_hash([numbers.astype(np.float64)], 9)
    assert content_hash([numbers.astype(dtype)], 9).tolist() == expected.tolist()


def test_content_is_the_same_in_chunks_and_row_by_row() -> None:
    random = np.random.default_rng(0)
    size = ROWS_PER_HASH_CHUNK + 50
    table = random.integers(0, 9, (size, 3)).astype(np.float64)  # columns that are not contiguous
    table[::7, 1] = np.nan
    words = content_hash(table.T, size)
    for row in (0, 1, ROWS_PER_HASH_CHUNK - 1, ROWS_PER_HASH_CHUNK, size - 1):
        assert content_hash(table[[row]].T, 1)[0] == words[row]
    assert np.unique(words).size == np.unique(np.nan_to_num(table, nan=-1), axis=0).shape[0]


def test_no_rows_and_no_columns_have_content_too() -> None:
    assert content_hash([np.empty(0)], 0).tolist() == []
    assert len({*content_hash([], 4).tolist()}) == 1


# --- places ---


@given(st.lists(st.sampled_from([0, 1, 2**16, 2**32, 2**48, 2**63, 2**63 + 1]), max_size=60))
def test_the_place_of_a_row_is_how_many_equals_are_before_it(words: list[int]) -> None:
    places = places_among_equals(np.array(words, dtype=np.uint64))
    assert places.tolist() == [words[:row].count(word) for row, word in enumerate(words)]


def test_places_of_many_words_are_those_of_pandas() -> None:
    random = np.random.default_rng(0)
    words = mix(random.integers(0, 30_000, 100_000).astype(np.uint64))
    expected = pd.Series(words).groupby(words).cumcount()
    assert np.array_equal(places_among_equals(words), expected)


@pytest.mark.parametrize("shift", [16, 32, 48])
def test_words_that_begin_or_end_alike_are_not_taken_for_equals(shift: int) -> None:
    words = np.array([5, 5 + (1 << shift), 5, 5 + (2 << shift), 5 + (1 << shift)], dtype=np.uint64)
    order, ordered = equals_together(words)
    assert ordered.tolist() == words[order].tolist()
    assert places_among_equals(words).tolist() == [0, 0, 1, 0, 1]


# --- text ---


def hashes(*texts: str) -> list[int]:
    return text_hash(nw.from_native(pl.Series(texts), series_only=True)).tolist()


def test_texts_that_differ_have_different_words() -> None:
    texts = [
        "",
        "\0",
        "a",
        "a\0",
        "a\0\0",
        "\0a",
        "12345678",
        "12345678\0",
        "123456781",
        "123456782",  # only the ninth byte differs
        "1234567812345678",
        "12345678" * 3,
        "é",
        "e\u0301",
        "李",
    ]
    assert len({*hashes(*texts)}) == len(texts)


def test_the_word_of_a_text_does_not_depend_on_its_neighbours() -> None:
    texts = ["x", "a longer text than eight bytes", "", "12345678", "x"]
    words = hashes(*texts)
    assert words[0] == words[4]
    for text, word in zip(texts, words, strict=True):
        assert hashes(text) == [word]


def test_many_texts_have_as_many_words() -> None:
    assert len({*hashes(*map(str, range(50_000)))}) == 50_000


def test_words_are_the_same_in_another_process() -> None:
    script = (
        "import polars as pl, narwhals as nw;"
        "from fourfifths._tables.identity import text_hash;"
        "print(text_hash(nw.from_native(pl.Series(['a', 'b']), series_only=True)).tolist())"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(hashes("a", "b"))


SERIES: dict[str, Any] = {
    "polars whole numbers": pl.Series([7, 10, -3]),
    "polars small whole numbers": pl.Series([7, 10, -3], dtype=pl.Int8),
    "polars floats": pl.Series([7.0, 10.0, -3.0]),
    "polars text": pl.Series(["7", "10", "-3"]),
    "polars categories": pl.Series(["7", "10", "-3"], dtype=pl.Categorical),
    "pandas whole numbers": pd.Series([7, 10, -3]),
    "pandas floats": pd.Series([7.0, 10.0, -3.0]),
    "pandas nullable": pd.Series([7, 10, -3], dtype="Int64"),
    "pandas text": pd.Series(["7", "10", "-3"]),
    "pandas objects": pd.Series(["7", "10", "-3"], dtype=object),
    "pandas categories": pd.Series(["7", "10", "-3"], dtype="category"),
    "pandas with another index": pd.Series([7, 10, -3], index=[5, 5, 1]),
    "arrow": pa.chunked_array([["7", "10", "-3"]]),
    "arrow in chunks": pa.chunked_array([["7"], ["10", "-3"]]),
    "arrow slice": pa.chunked_array([["0", "7", "10", "-3", "9"]]).slice(1, 3),
    # Its Arrow array begins in the middle of a buffer.
    "pandas slice of text": pd.Series(["0", "7", "10", "-3", "9"], dtype="str")[1:4],
    "pandas slice of numbers": pd.Series([0, 7, 10, -3, 9])[1:4],
    "polars slice": pl.Series(["0", "7", "10", "-3", "9"])[1:4],
    "arrow slice of numbers": pa.chunked_array([[0, 7, 10, -3, 9]]).slice(1, 3),
    "arrow slice of floats": pa.chunked_array([[0.0, 7.0, 10.0, -3.0]]).slice(1, 3),
    "arrow dictionary": pa.chunked_array([pa.array(["7", "10", "-3"]).dictionary_encode()]),
}


@pytest.mark.parametrize("kind", SERIES)
def test_a_key_has_one_word_in_any_type_and_any_table(kind: str) -> None:
    series = nw.from_native(SERIES[kind], series_only=True)
    assert text_hash(series).tolist() == hashes("7", "10", "-3")


def test_floats_that_are_not_whole_are_told_apart() -> None:
    floats = [0.1, 0.1 + 2**-55, 0.30000000000000004, 0.3, 1e300, -1e300, 1e15, 1e16, 7.5]
    words = text_hash(nw.from_native(pl.Series(floats), series_only=True)).tolist()
    assert len({*words}) == len({*floats})


def test_no_keys_have_no_words() -> None:
    for empty in (pl.Series([], dtype=pl.String), pd.Series([], dtype=float)):
        assert text_hash(nw.from_native(empty, series_only=True)).tolist() == []


# --- keys ---


def test_a_key_is_a_column_with_a_different_value_in_each_row() -> None:
    frame = pd.DataFrame({"id": ["u", "v", "u", "w", "u"], "n": [1, 2, 3, 4, 5]})
    rows = rows_of(frame)
    assert len({*key_hash(rows, "n").tolist()}) == 5
    expected = r"key='id': the key 'u' occurs more than once \(rows that repeat a key: 2\); exp"
    with pytest.raises(ColumnError, match=expected):
        key_hash(rows, "id")


@pytest.mark.parametrize("gap", [None, "", "?"])
def test_a_row_without_a_key_is_named(gap: Any) -> None:
    rows = rows_of(pd.DataFrame({"id": ["u", gap, "w"]}), ("?",))
    with pytest.raises(ColumnError, match="key='id': row 1 has no key; expected one in each row"):
        key_hash(rows, "id")


def test_a_key_that_is_no_column_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ColumnError, match="key: no column 'ID' in the table"):
        key_hash(rows_of(pd.DataFrame({"id": ["u"]})), "ID")
    with pytest.raises(ColumnError, match="key='id': X is an array, whose columns have no names"):
        key_hash(rows_of(np.zeros((2, 1))), "id")


# --- the same key in every type ---

MOMENTS = [datetime(2020, 3, 8, 7, 30, 5, 500_000), datetime(2020, 3, 8), datetime(1969, 1, 1, 23)]


def words_of(values: Any, kind: pa.DataType) -> list[int]:
    column = pa.chunked_array([pa.array(values, kind)])
    return text_hash(nw.from_native(column, series_only=True)).tolist()


def words_of_texts(texts: list[str]) -> list[int]:
    return words_of(texts, pa.string())


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_a_moment_is_one_key_in_every_unit_and_zone(unit: Any, zone: str | None) -> None:
    texts = ["2020-03-08 07:30:05.5", "2020-03-08", "1969-01-01 23:00:00"]
    assert words_of(MOMENTS, pa.timestamp(unit, zone)) == words_of_texts(texts)
    frame = pa.table({"key": pa.array(MOMENTS, pa.timestamp(unit, zone))})
    for table in (frame.to_pandas(), pl.DataFrame(frame)):
        column = nw.from_native(table, eager_only=True)["key"]
        assert text_hash(column).tolist() == words_of_texts(texts)


def test_a_decimal_is_the_key_that_its_float_is() -> None:
    numbers = [7.0, 7.25, -0.5, 0.0, 1e-7, 100.0, 0.1]
    expected = words_of(numbers, pa.float64())
    for scale in (7, 10, 25):
        decimals = [Decimal(repr(number)) for number in numbers]
        assert words_of(decimals, pa.decimal128(38, scale)) == expected
    assert words_of([Decimal("7.00")], pa.decimal128(9, 2)) == words_of_texts(["7"])


def test_decimals_that_share_a_float_are_different_keys() -> None:
    decimals = [Decimal(2**80 + step) for step in range(50)]
    words = words_of(decimals, pa.decimal128(38, 0))
    assert words == words_of_texts([str(decimal) for decimal in decimals])
    long = [Decimal("12345678901234567890.1230")]
    assert words_of(long, pa.decimal128(38, 4)) == words_of_texts(["12345678901234567890.123"])


def test_a_time_of_day_and_a_duration_are_one_key_in_every_unit() -> None:
    times = [time(1, 2, 3), time(10, 20), time(0)]
    expected = words_of_texts(["01:02:03", "10:20:00", "00:00:00"])
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        assert words_of(times, kind) == expected
    assert words_of([time(1, 2, 3, 500_000)], pa.time64("us")) == words_of_texts(["01:02:03.5"])
    # As microseconds, which is what a Parquet file has for durations in microseconds.
    seconds = [timedelta(seconds=1), timedelta(days=10)]
    microseconds = words_of([1_000_000, 864_000_000_000], pa.int64())
    for unit in ("s", "ms", "us", "ns"):
        assert words_of(seconds, pa.duration(unit)) == microseconds


def test_a_date_is_one_key_in_every_type() -> None:
    days = [date(2020, 3, 8), date(1969, 12, 31)]
    expected = words_of_texts(["2020-03-08", "1969-12-31"])
    for kind in (pa.date32(), pa.date64()):
        assert words_of(days, kind) == expected
    midnights = [datetime(2020, 3, 8), datetime(1969, 12, 31)]
    assert words_of(midnights, pa.timestamp("s")) == expected


def test_bytes_that_are_no_text_are_keys() -> None:
    keys = [b"\xffa", b"\xffb", b""]
    words = words_of(keys, pa.binary())
    assert len(set(words)) == 3
    assert words_of(keys, pa.large_binary()) == words
    assert words_of([b"ab"], pa.binary(2)) == words_of_texts(["ab"])


@pytest.mark.parametrize("unknown", [(), ("?",)])
@pytest.mark.parametrize("keys", [[[1], [2]], [{"a": 1}, {"a": 2}]], ids=["lists", "structs"])
@pytest.mark.parametrize("library", [pa.table, pl.DataFrame, pd.DataFrame])
def test_nested_keys_are_one_clear_error(library: Any, keys: Any, unknown: Any) -> None:
    rows = rows_of(library({"id": keys}), unknown=unknown)
    with pytest.raises(ColumnError, match=r"^key='id': expected texts, numbers, dates or bytes"):
        key_hash(rows, "id")
