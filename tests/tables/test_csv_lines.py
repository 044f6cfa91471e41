"""Tables of texts become the lines that DuckDB writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from fourfifths._tables.csv_lines import can_be_joined, csv_lines
from fourfifths._tables.text_bytes import ROWS_PER_PIECE

WORDS = [
    *(
        "x",
        "",
        None,
        " ",
        "a b",
        "a,b",
        "a;b",
        "a\tb",
        "a|b",
        '"',
        'a"b',
        '""',
        "'",
        "#",
        "a#",
        "-",
    ),
    *(
        "a\nb",
        "a\rb",
        "\r\n",
        "NULL",
        "nan",
        "0.5",
        "-7",
        "\N{EURO SIGN}5",
        "Z\u00fcrich, CH",
        "\\",
    ),
    *("\u2028", "\ufeff", "\x00", "\x0b", "~", "$1,200", "true", "^", "]", "a]b", ".", "*"),
]


def lines_of(table: pa.Table, *, delimiter: str = ",", line_end: str = "\n") -> bytes:
    """Return all lines of a table, without its header."""
    return b"".join(csv_lines(table, delimiter=delimiter, line_end=line_end))


def test_texts_are_quoted_where_they_must_be() -> None:
    table = pa.table(
        {
            "name": ["Ann", "Lee, Bo", 'the "one"', "two\nlines", None, ""],
            "note": ["a;b", "#1", None, "\r", " x ", "0"],
        }
    )
    assert lines_of(table) == (
        b'Ann,a;b\n"Lee, Bo","#1"\n"the ""one""",\n"two\nlines","\r"\n, x \n"",0\n'
    )
    assert lines_of(table.slice(0, 2), delimiter=";", line_end="\r\n") == (
        b'Ann;"a;b"\r\nLee, Bo;"#1"\r\n'
    )


@pytest.mark.parametrize("delimiter", [*",;\t| #^]:~.*"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("text_type", ["string", "large_string"])
def test_lines_are_those_of_duckdb(
    tmp_path: Path, delimiter: str, line_end: str, text_type: Any
) -> None:
    texts = [*WORDS, f"a{delimiter}b", delimiter]
    columns = {
        "all": texts,
        "reversed": texts[::-1],
        "number": ["0.25"] * len(texts),
        "missing": [None] * len(texts),
    }
    table = pa.table({name: pa.array(column, text_type) for name, column in columns.items()})
    file, new_line = tmp_path / "rows.csv", line_end.replace("\r", r"\r").replace("\n", r"\n")
    with duckdb.connect() as connection:
        connection.register("texts", table)
        connection.execute(
            f"COPY (FROM texts) TO '{file}' "
            f"(FORMAT csv, HEADER false, DELIMITER '{delimiter}', NEW_LINE '{new_line}')"
        )
    assert lines_of(table, delimiter=delimiter, line_end=line_end) == file.read_bytes()
    only = table.select(["all"])
    with duckdb.connect() as connection:
        connection.register("texts", only)
        connection.execute(
            f"COPY (FROM texts) TO '{file}' "
            f"(FORMAT csv, HEADER false, DELIMITER '{delimiter}', NEW_LINE '{new_line}')"
        )
    assert lines_of(only, delimiter=delimiter, line_end=line_end) == file.read_bytes()


def test_columns_may_come_in_different_parts_and_many_rows() -> None:
    count = ROWS_PER_PIECE + 2
    left = pa.chunked_array([["1"], [], ["2"] * (count - 2), ["3"]])
    right = pa.chunked_array([["a"] * (count - 1), ["b,c"]])
    table = pa.table({"left": left, "right": right})
    expected = b"1,a\n" + b"2,a\n" * (count - 2) + b'3,"b,c"\n'
    assert lines_of(table) == expected
    assert lines_of(table.slice(1, 2)) == b"2,a\n2,a\n"
    assert lines_of(table.slice(0, 0)) == b""


@pytest.mark.parametrize(
    ("table", "delimiter", "expected"),
    [
        (pa.table({"a": ["x"], "b": pa.array(["y"], pa.large_string())}), ",", True),
        (pa.table({"a": ["x"], "b": [1]}), ",", False),
        (pa.table({"a": pa.array(["x"]).dictionary_encode()}), ",", False),
        (pa.table([["x"]], names=[""]), ",", False),
        (pa.table({"a": ["x"]}), "\N{SECTION SIGN}", False),
    ],
)
def test_only_named_columns_of_texts_are_joined(
    table: pa.Table, delimiter: str, expected: bool
) -> None:
    assert can_be_joined(table, delimiter) is expected
