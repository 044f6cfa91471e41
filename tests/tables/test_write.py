"""Tables into files: every cell as it is, whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds_of_tables import DATAFRAMES
from pyarrow import parquet

from fourfifths._tables.load import load_rows
from fourfifths._tables.files import CsvStyle, check_output, write_table
from fourfifths.errors import OutputError

COLUMNS = {"t": ["u", None, 'say "hi", or; so'], "n": [1, -2, None], "f": [0.5, 1e300, None]}
LINES = ["t,n,f", "u,1,0.5", ",-2,1e+300", '"say ""hi"", or; so",,']


def frame_of(table):
    return nw.from_native(table, eager_only=True)


@pytest.mark.parametrize("name", ["t.csv", "t.TSV", "a b.parquet", ".csv", Path("x/t.csv")])
def test_endings_that_a_table_can_be_written_as(name):
    check_output(name)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl", "t", "csv", "t.xlsx", ""])
def test_other_endings_are_refused(name):
    with pytest.raises(OutputError, match=r"expected a name ending in \.csv, \.tsv, \.parquet"):
        check_output(name)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "pandas, nullable", "pandas, pyarrow"])
def test_a_csv_is_the_same_whatever_wrote_it(kind, tmp_path):
    write_table(tmp_path / "out.csv", frame_of(DATAFRAMES[kind](COLUMNS, tmp_path)))
    assert (tmp_path / "out.csv").read_text().splitlines() == LINES


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_a_csv_has_the_separator_that_it_is_given(separator, tmp_path):
    table = pl.DataFrame({"a": ["x", f"y{separator}z"], "b": [1, 2]})
    write_table(tmp_path / "out.csv", frame_of(table), CsvStyle(delimiter=separator))
    expected = [f"a{separator}b", f"x{separator}1", f'"y{separator}z"{separator}2']
    assert (tmp_path / "out.csv").read_text().splitlines() == expected


def test_a_tsv_has_tabs_whatever_the_separator(tmp_path):
    write_table(tmp_path / "out.tsv", frame_of(pl.DataFrame({"a": [1], "b": [2]})), CsvStyle(delimiter=";"))
    assert (tmp_path / "out.tsv").read_text() == "a\tb\n1\t2\n"


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_what_was_read_is_written_again(ending, tmp_path):
    text = "t,n\n 007 ,+1\n,1.50\n1e5,n/a\n".replace(",", "\t" if ending == ".tsv" else ",")
    (tmp_path / f"in{ending}").write_text(text)
    rows = load_rows(tmp_path / f"in{ending}")
    write_table(tmp_path / f"out{ending}", rows.dataframe, rows.style)
    assert (tmp_path / f"out{ending}").read_text() == text


@pytest.mark.parametrize("kind", DATAFRAMES)
def test_a_parquet_file_keeps_types_and_values(kind, tmp_path):
    write_table(tmp_path / "out.parquet", frame_of(DATAFRAMES[kind](COLUMNS, tmp_path)))
    written = pl.read_parquet(tmp_path / "out.parquet")
    assert written["t"].to_list() == COLUMNS["t"]
    assert written["n"].to_list() == COLUMNS["n"]
    assert written["f"].to_list() == COLUMNS["f"]
    if kind != "pandas":  # whose whole numbers are floats beside missing ones
        assert written.schema["n"] == pl.Int64


@pytest.mark.parametrize(
    ("dtype", "expected"), [("int64", "float64"), ("Int64", "Float64"), ("int8", "float64")]
)
def test_repaired_whole_numbers_are_not_rounded_when_pandas_reads_them(dtype, expected, tmp_path):
    table = pa.Table.from_pandas(
        pd.DataFrame({"n": pd.array([1, 2], dtype=dtype), "t": ["u", "v"]})
    )
    repaired = table.set_column(0, "n", pa.array([1.5, 2.0]))
    write_table(tmp_path / "out.parquet", frame_of(repaired))
    read = pd.read_parquet(tmp_path / "out.parquet")
    assert read["n"].tolist() == [1.5, 2.0]
    assert str(read["n"].dtype) == expected


def test_columns_that_differ_in_case_are_refused_in_csv_alone(tmp_path):
    table = frame_of(pl.DataFrame({"a": [1], "A": [2]}))
    with pytest.raises(OutputError, match=r"out\.csv: columns differ only in case; rename one"):
        write_table(tmp_path / "out.csv", table)
    write_table(tmp_path / "out.parquet", table)
    assert parquet.read_table(tmp_path / "out.parquet").column_names == ["a", "A"]


def test_a_table_without_rows_has_a_header(tmp_path):
    write_table(tmp_path / "out.csv", frame_of(pl.DataFrame({"a": [], "b": []})))
    assert (tmp_path / "out.csv").read_text() == "a,b\n"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "out.csv").write_text("as it was")
    with pytest.raises(OutputError, match=r"out\.csv: cannot be written"):
        write_table(tmp_path / "out.csv", frame_of(pl.DataFrame({"a": [1]})), CsvStyle(delimiter="too long"))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("out.csv", "as it was")
    ]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_folder_that_does_not_exist_is_an_error(ending, tmp_path):
    with pytest.raises(OutputError, match="cannot be written: there is no folder"):
        write_table(tmp_path / "nowhere" / f"out{ending}", frame_of(pl.DataFrame({"a": [1]})))


def test_a_pipe_gets_the_whole_table_and_stays(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_table(pipe, frame_of(pl.DataFrame({"a": [1, 2]})))
    reader.join(timeout=10)
    assert received == ["a\n1\n2\n"]
    assert pipe.is_fifo()


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_table(tmp_path / "link.csv", frame_of(pl.DataFrame({"a": [1]})))
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "a\n1\n"
