"""A file that is read in chunks."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fourfifths._tables.counts import MISSING
from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.load import Rows, load_rows
from fourfifths._tables.strata import fit_strata
from fourfifths._tables.table import open_table
from fourfifths._tables.values import NumberFormat, Reading
from fourfifths.errors import ColumnError, FourfifthsError, OptionError

nan = float("nan")


def engine(path, text, unknown=()):
    path.write_text(text)
    source = ChunkedTable(
        table=open_table(path), unknown=unknown, reading=Reading(), rows_per_chunk=2
    )
    return ChunkEngine(source=source)


def test_cells_of_all_chunks_are_counted(tmp_path):
    people = engine(tmp_path / "a.csv", "sex,score\nF,1\nM,2\nF,3\nF,3\nM,1\n")
    people.scan(["sex"], ["score"])
    values, row_counts = people.values("sex")
    assert dict(zip(values.to_list(), row_counts.tolist(), strict=True)) == {"F": 3, "M": 2}
    assert people.row_count == 5


def test_different_values_are_counted_over_chunks_as_texts_or_as_numbers(tmp_path):
    people = engine(tmp_path / "a.csv", "sex,score\nF,1\nM,1.0\nF,3\nF,1\nM,\n")
    people.scan(["sex"], ["score"])
    assert people.count_distinct("score", None) == 3
    assert people.count_distinct("score", NumberFormat()) == 2


def test_a_token_that_occurs_in_a_later_chunk_is_found(tmp_path):
    text = "sex,score\nF,1\nM,2\nF,3\n?,4\n"
    people = engine(tmp_path / "a.csv", text, unknown=("?",))
    people.scan(["sex"], ["score"])
    people.check_tokens()
    others = engine(tmp_path / "b.csv", text, unknown=("n/a",))
    others.scan(["sex"], ["score"])
    with pytest.raises(OptionError, match="unknown='n/a': never occurs"):
        others.check_tokens()


# --- numbers: what is read in chunks, in memory, and by hand ---

PLAIN = ["3", "1", "20", "-4", "5", "6", "7", "8"]
PLAIN_NUMBERS = [3, 1, 20, -4, 5, 6, 7, 8]
FRACTIONS = ["3.5", "1", "20", "-4", "5", "6", "7", "8"]
FRACTION_NUMBERS = [3.5, 1, 20, -4, 5, 6, 7, 8]
# The texts of the chunks that follow two chunks of plain numbers, and what they mean.
LATER_TEXTS: dict[str, tuple[list[str], list[float]]] = {
    "plain": (["9", "10"], [9, 10]),
    "thousands": (["1,234,567", "5,678,901"], [1_234_567, 5_678_901]),
    "a currency": (["$5", "$1,200.50"], [5, 1_200.5]),
    "spaces around": ([" 7 ", "  8"], [7, 8]),
    "spaces within": (["1 234 567", "2 000"], [1_234_567, 2_000]),
    "exponents": (["1e5", "2E-1"], [100_000, 0.2]),
    "a plus": (["+5", "+0.5"], [5, 0.5]),
    "brackets": (["(5)", "6"], [-5, 6]),
    "a decimal point alone": ([".5", "5."], [0.5, 5]),
    "negative zero": (["-0", "-0.0"], [0, 0]),
    "empty": (["", "", "", "4"], [nan, nan, nan, 4]),
    "a chunk of empty cells": (["", "", "", ""], [nan] * 4),
    "blanks": (["  ", "4"], [nan, 4]),
    "not known": (["n/a", "4", "?", "NA"], [nan, 4, nan, nan]),
    "a chunk of cells not known": (["n/a"] * 4, [nan] * 4),
    "texts for NaN": (["nan", "NaN", "1"], [nan, nan, 1]),
    "zeros before fractions": (["007.5", "00.25"], [7.5, 0.25]),
}
CHUNK_ROWS = 4


def write_csv(path: Path, texts: list[str]) -> Path:
    """Write a CSV with a column `v` of these texts, beside one that is complete."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = [[text, "FM"[row % 2]] for row, text in enumerate(texts)]
        csv.writer(stream).writerows([["v", "sex"], *rows])
    return path


def scanned(path: Path, unknown: tuple[Any, ...] = ()) -> ChunkEngine:
    """Return a file that was looked at in chunks."""
    source = ChunkedTable(table=open_table(path), unknown=unknown, rows_per_chunk=CHUNK_ROWS)
    people = ChunkEngine(source=source)
    people.scan(["sex"], ["v"])
    return people


def numbers_in_memory(path: Path, asked: Any = None, unknown: tuple[Any, ...] = ()) -> Any:
    """Return the type of the column, its numbers, and the notes, read in memory."""
    rows = load_rows(path, unknown)
    types = rows.types({"v": asked})
    return types, rows.checked_numbers(types)[0], rows.value_notes


def numbers_in_chunks(path: Path, asked: Any = None, unknown: tuple[Any, ...] = ()) -> Any:
    """Return the same, read in chunks; each number is read in both ways that chunks are."""
    people, notes = scanned(path, unknown), []
    types = people.types({"v": asked}, notes)
    people.read_numbers(types)
    advanced = []
    chunks = [
        columns[0]
        for columns in people.number_chunks(types, advance=lambda _, rows: advanced.append(rows))
    ]
    assert [chunk.size for chunk in chunks] == people.sizes == advanced
    numbers = np.concatenate(chunks)
    # The pass that writes takes the numbers that were kept, or reads the texts again.
    again = [rows.numbers(types)[0] for rows in people.source.chunks()]
    np.testing.assert_array_equal(np.concatenate(again), numbers)
    return types, numbers, notes


@pytest.mark.parametrize("name", LATER_TEXTS)
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "fractions"])
@pytest.mark.parametrize("is_later", [True, False], ids=["later", "first"])
def test_numbers_are_read_as_in_memory(
    name: str, is_whole: bool, is_later: bool, tmp_path: Path
) -> None:
    texts, expected = LATER_TEXTS[name]
    plain = (PLAIN, PLAIN_NUMBERS) if is_whole else (FRACTIONS, FRACTION_NUMBERS)
    # Chunks of four rows: what is odd never shares one with the plain numbers.
    odd = ([*texts, *texts] * 2)[:CHUNK_ROWS], ([*expected, *expected] * 2)[:CHUNK_ROWS]
    parts = [plain, odd] if is_later else [odd, plain]
    path = write_csv(tmp_path / "t.csv", [text for part in parts for text in part[0]])
    values = [number for part in parts for number in part[1]]
    types, in_memory, notes = numbers_in_memory(path)
    np.testing.assert_array_equal(in_memory, values)
    assert types[0].kind == ("integer" if all_whole(path) else "number")
    types_in_chunks, in_chunks, notes_in_chunks = numbers_in_chunks(path)
    np.testing.assert_array_equal(in_chunks, values)
    assert types_in_chunks == types
    assert notes_in_chunks == notes


def all_whole(path: Path) -> bool:
    """Return whether no cell of the first column has a decimal point or an exponent."""
    with path.open(newline="", encoding="utf-8") as stream:
        return not any("." in row[0] or "e" in row[0].lower() for row in csv.reader(stream))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3%", "4.5%", "0%", "7%", "1%", "2.5%"], [3, 4.5, 0, 7, 1, 2.5]),
        (["1,5", "2", "3", "4", "1.234", "1.234,5"], [1.5, 2, 3, 4, 1_234, 1_234.5]),
        (["1.234", "5", "6", "7", "8,5", "9"], [1_234, 5, 6, 7, 8.5, 9]),
        (["1.234", "5", "6", "7", "8.5", "9"], [1.234, 5, 6, 7, 8.5, 9]),
    ],
    ids=["percent", "decimal commas", "the comma comes later", "the point comes later"],
)
def test_one_format_holds_for_all_chunks(
    texts: list[str], expected: list[float], tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", texts)
    for numbers_of in (numbers_in_memory, numbers_in_chunks):
        np.testing.assert_array_equal(numbers_of(path)[1], expected)


@pytest.mark.parametrize("token", ["n/a", "-999", -999, "lost"])
@pytest.mark.parametrize("written", ["{}", " {} "], ids=["bare", "with spaces"])
def test_unknown_values_are_missing_in_each_chunk(token: Any, written: str, tmp_path: Path) -> None:
    texts = [*PLAIN, "9", written.format(token), written.format(token), "10"]
    path = write_csv(tmp_path / "t.csv", texts)
    for numbers_of in (numbers_in_memory, numbers_in_chunks):
        types, numbers, _ = numbers_of(path, unknown=(token,))
        np.testing.assert_array_equal(numbers, [*PLAIN_NUMBERS, 9, nan, nan, 10])
        assert types[0].kind == "integer"


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ([*PLAIN, "", "1e5"], True),
        ([*PLAIN, "$5"], False),
        ([*PLAIN[:4], "$5", *PLAIN[4:]], False),
        (["$5", *PLAIN, *PLAIN], False),
        (["$5", *PLAIN[:3], "$5", *PLAIN], False),
        ([*PLAIN, "nan"], False),
    ],
)
def test_the_scan_keeps_numbers_only_if_all_texts_are_plain(
    texts: list[str], kept: bool, tmp_path: Path
) -> None:
    people = scanned(write_csv(tmp_path / "t.csv", texts))
    assert people.source.numbers.held(1) == (["v"] if kept else [])
    assert people.source.numbers.holds("v", len(texts)) == kept
    assert not people.source.numbers.holds("v", len(texts) + 1)


@pytest.mark.parametrize("whole", [str(2**53 + 1), "12345678901234567", "1" * 25, "-" + "9" * 30])
def test_a_chunk_of_long_numbers_is_read_where_others_have_fractions(
    whole: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", [*FRACTIONS, *[whole] * CHUNK_ROWS])
    for numbers_of in (numbers_in_memory, numbers_in_chunks):
        types, numbers, _ = numbers_of(path)
        np.testing.assert_array_equal(numbers, [*FRACTION_NUMBERS, *[float(whole)] * CHUNK_ROWS])
        assert types[0].kind == "number"


# --- numbers that are taken as categories ---


@pytest.mark.parametrize(
    ("texts", "asked", "expected"),
    [
        # In alphabetical order: "10" before "9".
        (["9", "10", "9", "10", "9", "", "10", "9"], "category", [1, 0, 1, 0, 1, nan, 0, 1]),
        (["9", "10", "9", "10", "9", "9", "10"], ["10", "9"], [1, 0, 1, 0, 1, 1, 0]),
        # Codes with leading zeros are categories by themselves, also if they come late.
        (["12", "34", "12", "34", "007", "12", "34"], None, [1, 2, 1, 2, 0, 1, 2]),
        # So are numbers among many words.
        (["1", "2", "1", "2", "a", "0x1F", "b", "a"], None, [1, 2, 1, 2, 3, 0, 4, 3]),
    ],
    ids=["asked", "in order", "codes", "words"],
)
def test_numbers_that_are_categories_are_not_kept_as_numbers(
    texts: list[str], asked: Any, expected: list[float], tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", texts)
    types, in_memory, notes = numbers_in_memory(path, asked)
    np.testing.assert_array_equal(in_memory, expected)
    types_in_chunks, in_chunks, notes_in_chunks = numbers_in_chunks(path, asked)
    np.testing.assert_array_equal(in_chunks, expected)
    assert types_in_chunks == types
    assert notes_in_chunks == notes


# --- errors ---


@pytest.mark.parametrize(
    ("later", "asked", "match"),
    [
        (["inf"], None, "expected finite numbers, found 'inf'"),
        (["-Infinity"], None, "expected finite numbers, found '-Infinity'"),
        (["0x1F"], "number", "expected numbers, found '0x1F'; convert"),
        (["word", "other"], "number", "expected numbers, found 'other', 'word'; convert"),
        (["3%"], None, "are in different units; write all"),
        (["$5", "6 €"], None, "are in different units; write all"),
        (["1.5", "1,5"], None, "'1.5' has a decimal point and '1,5' a decimal comma"),
        (["1.234"], None, "'1.234' may be 1.234 or 1,?234"),
        (["1,234"], None, "'1,234' may be 1,?234 or 1.234"),
        ([str(2**53)], None, r"holds whole numbers beyond 2\*\*53"),
        (["1" * 30], None, r"holds whole numbers beyond 2\*\*53"),
        (["1e400"], None, "row 8 is infinite; expected finite numbers"),
    ],
)
def test_errors_are_those_of_memory(
    later: list[str], asked: Any, match: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", [*PLAIN, *later])
    messages = []
    for numbers_of in (numbers_in_memory, numbers_in_chunks):
        with pytest.raises(ColumnError, match=match) as error:
            numbers_of(path, asked)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_few_words_among_many_numbers_are_an_error_that_counts_all_rows(tmp_path: Path) -> None:
    texts = [str(number % 7) for number in range(100)]
    texts[57], texts[91] = "0x1F", "lost"
    path = write_csv(tmp_path / "t.csv", texts)
    for numbers_of in (numbers_in_memory, numbers_in_chunks):
        with pytest.raises(FourfifthsError, match="98 of 100 values are numbers, but '0x1F', 'lo"):
            numbers_of(path)


# --- strata ---


def write_row_groups(path: Path, groups: list[list[str | None]], *, is_coded: bool) -> Path:
    """Write a Parquet file in which each row group has a dictionary of its own."""
    text = pa.dictionary(pa.int32(), pa.string()) if is_coded else pa.string()
    schema = pa.schema([("sex", text), ("job", text), ("v", pa.float64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for number, sexes in enumerate(groups):
            jobs = [f"job {row % 2}" if row % 5 else None for row in range(len(sexes))]
            columns = [pa.array(texts, pa.string()) for texts in (sexes, jobs)]
            if is_coded:
                columns = [column.dictionary_encode() for column in columns]
            scores = pa.array([number + row / 8 for row in range(len(sexes))])
            writer.write_table(pa.table([*columns, scores], schema=schema))
    return path


ROW_GROUPS: list[list[str | None]] = [
    ["F", "M", None, "F", "M", "F"],
    ["X", "M", "X", "F", "X"],
    [None, None, None],
    [],
    ["M", "X", "X", "M", "F", "M", "F", "F", None, "M", "F"],
]
SEXES = [sex for group in ROW_GROUPS for sex in group]


@pytest.mark.parametrize("is_coded", [False, True], ids=["text", "dictionaries"])
@pytest.mark.parametrize("chunk_rows", [1, 4, 7, 100])
@pytest.mark.parametrize("by", [["sex"], ["sex", "job"]])
def test_strata_of_row_groups_with_their_own_dictionaries(
    is_coded: bool, chunk_rows: int, by: list[str], tmp_path: Path
) -> None:
    path = write_row_groups(tmp_path / "t.parquet", ROW_GROUPS, is_coded=is_coded)
    people = ChunkEngine(source=ChunkedTable(table=open_table(path), rows_per_chunk=chunk_rows))
    people.scan(["sex", "job"], ["v"])
    rows: Rows = load_rows(path)
    strata, in_memory = fit_strata(rows, by, bands={}, unseen="keep", small="pool")
    codes = list(people.stratum_codes(strata))
    assert [chunk.size for chunk in codes] == people.sizes
    assert max(people.sizes) <= chunk_rows
    np.testing.assert_array_equal(np.concatenate(codes), in_memory)
    # A second pass over the file gives the same.
    np.testing.assert_array_equal(np.concatenate(list(people.stratum_codes(strata))), in_memory)
    if by == ["sex"]:
        expected = [MISSING if sex is None else "FMX".index(sex) for sex in SEXES]
        assert in_memory.tolist() == expected


def test_strata_that_were_not_fitted_have_no_code(tmp_path: Path) -> None:
    fitted = load_rows(write_csv(tmp_path / "a.csv", ["1"] * 12))
    strata, _ = fit_strata(fitted, ["sex"], bands={}, unseen="error", small="error")
    text = "v,sex\n1,F\n1,X\n1,M\n1,\n1, f \n1,unknown\n"
    people = engine(tmp_path / "b.csv", text)
    people.scan(["sex"], ["v"])
    codes = [chunk.tolist() for chunk in people.stratum_codes(strata)]
    assert codes == [[0, -1], [1, -1], [0, -1]]


@pytest.mark.parametrize("is_coded", [False, True], ids=["text", "dictionaries"])
def test_numbers_of_a_parquet_file_come_from_the_file(is_coded: bool, tmp_path: Path) -> None:
    path = write_row_groups(tmp_path / "t.parquet", ROW_GROUPS, is_coded=is_coded)
    people = ChunkEngine(source=ChunkedTable(table=open_table(path), rows_per_chunk=CHUNK_ROWS))
    people.scan(["job"], ["v", "sex"])
    types = people.types({"v": None, "sex": None}, [])
    people.read_numbers(types)
    chunks = list(people.number_chunks(types, advance=lambda *_: None))
    scores = [n + row / 8 for n, group in enumerate(ROW_GROUPS) for row in range(len(group))]
    np.testing.assert_array_equal(np.concatenate([chunk[0] for chunk in chunks]), scores)
    codes = [nan if sex is None else float("FMX".index(sex)) for sex in SEXES]
    np.testing.assert_array_equal(np.concatenate([chunk[1] for chunk in chunks]), codes)
