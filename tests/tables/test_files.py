from __future__ import annotations

import csv
import gc
import gzip
import io
import os
import platform
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds_of_tables import DATAFRAMES
from messy_files import (
    COUNTS as TRUE_COUNTS,
)
from messy_files import CSV as MESSY_CSV
from messy_files import NAMES, OTHER_FILES, ROWS, TEXT_FILES, csv_text
from pyarrow import parquet

import fourfifths
from fourfifths._effect.files import repair_file
from fourfifths._effect.roles import AuditRoles
from fourfifths._tables.files import (
    CsvStyle,
    NamelessFile,
    can_be_joined,
    check_output,
    csv_lines,
    find_header,
    kind_of,
    open_file,
    parquet_files,
    replace_file,
    write_table,
    write_whole,
)
from fourfifths._tables.load import load_rows
from fourfifths._tables.table import open_table
from fourfifths._tables.values import ROWS_PER_PIECE, Reading
from fourfifths._tables.workbook import read_workbook
from fourfifths.errors import OptionError, OutputError, TableError

CSV = "race,hired\nB,yes\nB,no\nW,yes\nW,yes\n"
COUNTS = {"B": (1, 2), "W": (2, 2)}


def audit(path, **options):
    return fourfifths.impact(path, protected="race", outcome="hired", **options)


def counts(result):
    return {group.group: (group.selected, group.n) for group in result.attributes[0].groups}


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.b.csv.gz", "csv"),
        ("a.tsv", "csv"),
        ("a.parquet", "parquet"),
        ("a.jsonl", "json"),
        ("a.ndjson", "json"),
        ("a.json", "json"),
    ],
)
def test_the_ending_says_the_kind(name, kind):
    assert kind_of(Path(name)) == kind


@pytest.mark.parametrize("name", ["a", "csv", "a.csv.zip", "a.pdf"])
def test_another_ending_is_an_error(name):
    with pytest.raises(TableError, match=r"unknown kind of file; expected a name ending in"):
        kind_of(Path(name))


READABLE = {
    "line ends of Windows": CSV.replace("\n", "\r\n"),
    "line ends of old Macs": CSV.replace("\n", "\r"),
    "no line end at the end": CSV.rstrip(),
    "a byte order mark": "\ufeff" + CSV,
    "semicolons": CSV.replace(",", ";"),
    "tabs": CSV.replace(",", "\t"),
    "bars": CSV.replace(",", "|"),
    "quotes": '"race","hired"\n"B","yes"\n"B","no"\n"W","yes"\n"W","yes"\n',
    "blank lines between": CSV.replace("no\n", "no\n\n"),
    "another column first without a name, as pandas writes its index": (
        ",race,hired\n0,B,yes\n1,B,no\n2,W,yes\n3,W,yes\n"
    ),
}


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE)
def test_a_csv_may_have(content, tmp_path):
    assert counts(audit(put(tmp_path / "t.csv", content))) == COUNTS


def test_values_of_a_csv_stay_as_written(tmp_path):
    path = put(tmp_path / "t.csv", "race,hired\n01,yes\n1,no\n 1,yes\n1.0,no\nNA,yes\ntrue,no\n")
    assert set(counts(audit(path))) == {"01", "1", "1.0", "NA", "true"}


def test_only_an_empty_field_is_missing(tmp_path):
    path = put(tmp_path / "t.csv", 'race,hired\nB,yes\n,no\n"",no\nW,no\nnone,yes\n')
    result = audit(path)
    assert result.attributes[0].unknown + sum(n for _, n in counts(result).values()) == 5
    assert result.attributes[0].unknown >= 1
    assert "none" in counts(result)


def test_a_quoted_value_may_hold_line_ends_and_quotes(tmp_path):
    path = put(tmp_path / "t.csv", 'race,hired\n"a\nb",yes\n"a\nb",no\n"c""d",yes\n"c,d",no\n')
    assert counts(audit(path)) == {"a\nb": (1, 2), 'c"d': (1, 1), "c,d": (0, 1)}


@pytest.mark.parametrize(
    "name", ["with space.csv", "star*.csv", "ques?tion.csv", "[ab].csv", "{a,b}.csv", "quo'te.csv"]
)
def test_a_file_may_have_any_name(name, tmp_path):
    put(tmp_path / "a.csv", CSV.replace("B", "X"))
    put(tmp_path / "starry.csv", CSV.replace("B", "X"))
    assert counts(audit(put(tmp_path / name, CSV))) == COUNTS


@pytest.mark.parametrize("name", ["t.csv.gz", "T.CSV.GZ", "t.tsv.gz"])
def test_gzip_is_read(name, tmp_path):
    assert counts(audit(put(tmp_path / name, gzip.compress(CSV.encode())))) == COUNTS


PACKED = gzip.compress(CSV.encode())
UNREADABLE = {
    "no file": ("t.csv", None, "no such file"),
    "an empty csv": ("t.csv", "", "the file is empty"),
    "an empty parquet": ("t.parquet", "", "the file is empty"),
    "an empty jsonl": ("t.jsonl", "", "the file is empty"),
    "white space only": ("t.csv", " \n\n  \n", "the file is empty"),
    "a byte order mark only": ("t.csv", "\ufeff", "empty"),
    "a header only": ("t.csv", "race,hired\n", "there are no rows"),
    "parquet named csv": ("t.csv", b"PAR1\x15\x04", r"says CSV, .* looks like Parquet"),
    "excel named csv": ("t.csv", b"PK\x03\x04....", r"says CSV, .* looks like an Excel workbook"),
    "pdf named csv": ("t.csv", b"%PDF-1.7", r"says CSV, .* looks like PDF"),
    "json named csv": ("t.csv", '{"race": "B", "hired": "yes"}\n', r"says CSV, .* like JSON"),
    "json array named csv": ("t.csv", '[{"race": "B", "hired": "yes"}]\n', r"CSV, .* like JSON"),
    "html named csv": ("t.csv", "<!doctype html>\n<html></html>\n", r"says CSV, .* like HTML"),
    "csv named parquet": ("t.parquet", CSV, "says Parquet, but the file is not Parquet"),
    "cut parquet": ("t.parquet", b"PAR1" + b"\0" * 50, "not readable as PARQUET"),
    "csv named jsonl": ("t.jsonl", CSV, "expected one JSON object per line"),
    "an array named json": ("t.json", '[{"race": "B"}]', "expected one JSON object per line"),
    "an object over lines": ("t.json", '{\n"race": "B"\n}\n', "not readable as JSON"),
    "cut jsonl": ("t.jsonl", '{"race": "B", "hired": "yes"}\n{"race":', "not readable as JSON"),
    "not gzip": ("t.csv.gz", CSV, "not readable as gzip: Not a gzipped file"),
    "cut gzip": ("t.csv.gz", PACKED[:-12], "not readable as gzip: Compressed file ended"),
    "cut gzip in UTF-16": ("t.csv.gz", gzip.compress(CSV.encode("utf-16"))[:-12], "file ended"),
    "broken gzip": ("t.csv.gz", PACKED[:12] + b"\xff\xff\xff" + PACKED[15:], "as gzip: Error -3"),
    # One letter of it has changed: the rows can be unpacked, and add up to something else.
    "damaged gzip": ("t.csv.gz", PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], "CRC check failed"),
    "a row too short": ("t.csv", CSV + "B\n", "line 6 has 1 field, and the header has 2"),
    "a row too long": ("t.csv", CSV + "B,yes,3\n", "line 6 has 3 fields, and the header has 2"),
    "an open quote": ("t.csv", 'race,hired\n"B,yes\nW,no\n', r"t\.csv"),
}


@pytest.mark.parametrize(("name", "content", "match"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_a_table_error_in_one_line(name, content, match, tmp_path):
    path = tmp_path / name
    if content is not None:
        put(path, content)
    with pytest.raises(TableError, match=match) as caught:
        audit(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_column_of_objects_in_json_lines_is_an_error(tmp_path):
    path = put(
        tmp_path / "t.jsonl", '{"race": {"a": 1}, "hired": 1}\n{"race": {"a": 2}, "hired": 0}\n'
    )
    with pytest.raises(fourfifths.FourfifthsError, match="race"):
        audit(path)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(TableError, match="cannot be read: it is a folder"):
        audit(tmp_path / "t.csv")


def test_reading_makes_no_rows(tmp_path):
    relation = open_file(
        put(tmp_path / "t.csv", CSV), Reading(), read_workbook=read_workbook
    ).relation
    assert relation.columns == ["race", "hired"]


def test_a_parquet_file_keeps_its_types(tmp_path):
    pl.DataFrame({"race": [1, 1, 2], "hired": [True, False, True]}).write_parquet(
        tmp_path / "t.parquet"
    )
    assert counts(audit(tmp_path / "t.parquet")) == {"1": (1, 2), "2": (1, 1)}


def test_a_file_is_written_with_the_usual_permissions(tmp_path):
    write_whole(tmp_path / "out.txt", "é\n")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "é\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o666 & ~mask


def fail_in_the_middle(temporary: Path) -> None:
    temporary.write_text("half")
    raise KeyError("in the middle")


@pytest.fixture(params=["nameless", "named"])
def temporary_kind(request, monkeypatch):
    """Run a test with files without a name, and as on a system that has none."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


@pytest.mark.parametrize("before", [None, "as it was"])
def test_a_failure_in_the_middle_leaves_everything_as_it_was(before, temporary_kind, tmp_path):
    path = tmp_path / "out.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(KeyError, match="in the middle"):
        replace_file(path, fail_in_the_middle)
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["out.txt"])
    assert before is None or path.read_text() == before


@pytest.mark.parametrize("before", [None, "as it was"])
def test_a_file_appears_in_one_step(before, temporary_kind, tmp_path):
    path = tmp_path / "out.txt"
    if before is not None:
        path.write_text(before)
        path.chmod(0o640)
    seen = []

    def write(temporary: Path) -> None:
        temporary.write_text("after")
        names = [file.name for file in tmp_path.iterdir() if file != path]
        seen.append((len(names), path.read_text() if path.exists() else None))

    replace_file(path, write)
    has_name = temporary_kind == "named" or not Path("/proc/self/fd").exists()
    assert seen == [(int(has_name), before)]
    assert path.read_text() == "after"
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]
    assert before is None or stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_a_killed_run_left_is_removed_and_what_another_writes_is_not(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    remains, other = (
        put(tmp_path / f".out-{platform.node()}-{process}-0a1b.txt", "half")
        for process in (ended.pid, os.getpid())
    )
    write_whole(tmp_path / "out.txt", "content")
    assert not remains.exists()
    assert other.exists()


def test_a_name_that_is_too_long_leaves_nothing(temporary_kind, tmp_path):
    with pytest.raises(OutputError, match="cannot be written: File name too long"):
        write_whole(tmp_path / f"{'x' * 300}.txt", "content")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_name_goes_with_the_last_that_refers_to_it(temporary_kind, tmp_path):
    file = NamelessFile(tmp_path)
    path = file.path
    path.write_text("content")
    assert path.read_text() == "content"
    del file
    gc.collect()
    assert not path.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_is_an_output_error(tmp_path, monkeypatch):
    def full(self, *_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match=r"out\.txt: cannot be written: No space left on device"):
        write_whole(tmp_path / "out.txt", "content")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: there is no folder"):
        write_whole(tmp_path / "nowhere" / "out.txt", "content")


def test_a_folder_in_the_place_of_the_file_is_an_output_error(tmp_path):
    (tmp_path / "out.txt").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        write_whole(tmp_path / "out.txt", "content")
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


# ---------------------------------------------------------------- files as offices have them


@pytest.mark.parametrize("case", [*TEXT_FILES, *OTHER_FILES])
def test_a_messy_file_gives_the_truth_or_one_line(case, tmp_path):
    file = (TEXT_FILES | OTHER_FILES)[case]
    path = file.put(tmp_path)
    start = time.perf_counter()
    if file.error:
        with pytest.raises(fourfifths.FourfifthsError, match=file.error) as caught:
            audit(fourfifths.read_table(path, **file.reading or {}))
        assert "\n" not in str(caught.value)
        assert time.perf_counter() - start < 2
        return
    result = audit(fourfifths.read_table(path, **file.reading or {}))
    assert counts(result) == TRUE_COUNTS
    assumed = [note for note in result.notes if "was read with" in note]
    assert len(assumed) == (1 if file.note else 0)
    assert not file.note or re.search(file.note, assumed[0])


def test_a_folder_called_tilde_is_not_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    put(tmp_path / "~" / "t.csv", CSV)
    put(tmp_path / "home" / "t.csv", CSV.replace("B", "X"))
    assert counts(audit("~/t.csv")) == COUNTS


@pytest.mark.parametrize("address", ["http://host/t.csv", "s3://bucket/t.parquet"])
def test_an_address_is_refused(address):
    with pytest.raises(TableError, match="is an address; download the file first"):
        audit(address)


def test_how_to_read_belongs_to_files_that_can_be_read_so(tmp_path):
    with pytest.raises(OptionError, match=r"sheet='a': .*t\.csv is not a workbook"):
        fourfifths.read_table(put(tmp_path / "t.csv", CSV), sheet="a")
    with pytest.raises(OptionError, match=r"header_row=2: .*t\.jsonl has no line of names"):
        fourfifths.read_table(put(tmp_path / "t.jsonl", '{"a": 1}\n'), header_row=2)
    with pytest.raises(OptionError, match="header_row=2: the table is not a file"):
        fourfifths.read_table(pl.DataFrame({"a": [1]}), header_row=2)
    with pytest.raises(OptionError, match="hive=True: the table is not a file"):
        fourfifths.read_table(pl.DataFrame({"a": [1]}), hive=True)


def test_columns_that_share_a_name_are_called_by_their_positions(tmp_path):
    table = csv_text([[row[4], *row] for row in ROWS], names=["race", *NAMES])
    result = fourfifths.impact(
        put(tmp_path / "t.csv", table), protected="race (column 2)", outcome="hired"
    )
    assert counts(result) == TRUE_COUNTS


@pytest.mark.parametrize(
    ("records", "index"),
    [
        # An ordinary table never loses a row, whatever its rows are.
        ([["race", "hired"], ["B", "yes"], ["W", "no"]], 0),
        ([["race"], ["B"], ["W"]], 0),
        ([["", "hired"], ["0", "yes"], ["1", "no"], ["2", "no"]], 0),
        ([["race", "", "hired"], ["B", "x", "yes"], ["B", "y", "no"], ["W", "z", "no"]], 0),
        ([["a", "", "", ""], ["B", "x", "y", "yes"], ["B", "x", "y", "yes"]], 0),
        ([["a", "b"]], 0),
        # Titles.
        ([["Report"], ["race", "n"], ["B", "1"], ["W", "2"]], 1),
        ([["Report", "", ""], ["race", "n", "m"], ["B", "1", "x"], ["W", "2", "x"]], 1),
        ([["Report"], ["by", "me"], [], ["a", "b", "c", "d"], *[["u", "v", "w", "1"]] * 3], 3),
        # No evidence: the second line may be a row.
        ([["Report"], ["B", "yes"], ["W", "no"]], None),
        ([["Report"], ["B", "yes"], ["B", "no"], ["W", "no"]], None),
        ([["Report"], ["B", "1"], ["W", "2"]], None),
    ],
)
def test_where_the_names_of_the_columns_are(records, index):
    header = find_header(records)
    assert (header and header.index) == index


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_repaired_csv_looks_like_the_one_that_came(encoding, line_end, delimiter, tmp_path):
    names = ["", "note", "Note", *NAMES]
    rows = [[index, "007", 'say "é", so', *row] for index, row in enumerate(ROWS)]
    content = csv_text(rows, names=names, delimiter=delimiter, line_end=line_end)
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode(encoding))
    repaired = repair_file(
        str(path), protected=["race"], columns=["score"], options={"scope": "column"}
    )
    repaired.write(path)
    written = path.read_bytes().decode(encoding)
    assert path.read_bytes() == written.encode(encoding)
    assert written.count(line_end) == len(ROWS) + 1
    records = list(csv.reader(io.StringIO(written, newline=""), delimiter=delimiter))
    assert records[0] == names
    unrepaired = [[*record[:4], *record[5:]] for record in records[1:]]
    assert unrepaired == [[str(cell) for cell in [*row[:4], *row[5:]]] for row in rows]


def test_codes_with_leading_zeros_stay_codes(tmp_path):
    path = put(tmp_path / "t.csv", MESSY_CSV)
    repaired = repair_file(
        str(path), protected=["race"], columns=["zip"], options={"scope": "column"}
    )
    after = set(repaired.after.dataframe["zip"].to_list())
    assert after <= {row[2] for row in ROWS}
    assert any("'zip' holds codes with leading zeros" in note for note in repaired.notes)


# ---------------------------------------------------------------- whole files


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = put(tmp_path / "out.txt", "old")
    path.chmod(0o600)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []
    rename = Path.replace
    monkeypatch.setattr(os, "fsync", lambda _: steps.append("synced"))
    monkeypatch.setattr(
        Path, "replace", lambda self, target: (steps.append("named"), rename(self, target))[1]
    )
    write_whole(tmp_path / "out.txt", "new")
    assert steps == ["synced", "named"]


def test_the_next_run_removes_what_killed_runs_left(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    start = f".out-{platform.node()}-"
    left = put(tmp_path / f"{start}{killed.pid}-abc.csv", "half")
    kept = [
        put(tmp_path / f"{start}{os.getpid()}-abc.csv", "in work"),
        put(tmp_path / f"{start}{killed.pid}-abc.txt", "of another file"),
        put(tmp_path / f".out-elsewhere-{killed.pid}-abc.csv", "of another machine"),
    ]
    write_whole(tmp_path / "out.csv", "whole")
    assert not left.exists()
    assert all(path.exists() for path in kept)


# ---------------------------------------------------------------- tables into files

COLUMNS = {"t": ["u", None, 'say "hi", or; so'], "n": [1, -2, None], "f": [0.5, 1e300, None]}
LINES = ["t,n,f", "u,1,0.5", ",-2,1e+300", '"say ""hi"", or; so",,']


def frame_of(table):
    return nw.from_native(table, eager_only=True)


@pytest.mark.parametrize("name", ["t.csv", "t.TSV", "a b.parquet", ".csv", Path("x/t.csv")])
def test_endings_that_a_table_can_be_written_as(name):
    check_output(name)


@pytest.mark.parametrize("name", ["t.csv.gz", "t", "csv", "t.xlsx", ""])
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
    write_table(
        tmp_path / "out.tsv", frame_of(pl.DataFrame({"a": [1], "b": [2]})), CsvStyle(delimiter=";")
    )
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


@pytest.mark.parametrize("values", [["x", "y,z"], [1, 2]])
def test_names_of_columns_are_quoted_like_texts(values, tmp_path):
    table = pa.table({"a,b": values, 'the "A"': values, "#": values, "c;d": values})
    write_table(tmp_path / "out.csv", frame_of(table))
    header, row = (tmp_path / "out.csv").read_text().splitlines()[:2]
    assert header == '"a,b","the ""A""","#",c;d'
    assert row == ",".join([str(values[0])] * 4)


def test_a_table_of_one_column_keeps_missing_and_empty_apart(tmp_path):
    write_table(tmp_path / "out.csv", frame_of(pa.table({"a": ["x", None, ""]})))
    assert (tmp_path / "out.csv").read_text() == 'a\nx\n\n""\n'


def test_a_table_of_texts_without_rows_has_a_header(tmp_path):
    write_table(tmp_path / "out.csv", frame_of(pa.table({"a": pa.array([], pa.string())})))
    assert (tmp_path / "out.csv").read_text() == "a\n"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "out.csv").write_text("as it was")
    with pytest.raises(OutputError, match=r"out\.csv: cannot be written"):
        write_table(
            tmp_path / "out.csv", frame_of(pl.DataFrame({"a": [1]})), CsvStyle(delimiter="too long")
        )
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


# --- tables of texts become the lines that DuckDB writes ---


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


FIRST = {"race": ["B", "W"] * 2, "hired": [1, 0] * 2, "age": [30, 40] * 2}


@pytest.mark.parametrize(
    ("columns", "difference"),
    [
        # The case of a tester: 0.6 became the whole number 1, and so was selected.
        ({**FIRST, "hired": [0.4, 0.6] * 2}, "'hired' of type double, not 'hired' of type int64"),
        ({**FIRST, "age": pa.array([30, 40] * 2, pa.int32())}, "'age' of type int32, not 'age' of"),
        ({**FIRST, "pay": [1, 2] * 2}, r"\(4 columns, not 3\)"),
        ({"race": FIRST["race"], "hired": FIRST["hired"]}, r"\(2 columns, not 3\)"),
        (dict(reversed(FIRST.items())), "'age' of type int64, not 'race' of type string"),
    ],
    ids=["outcome", "narrow", "extra", "lacking", "order"],
)
@pytest.mark.parametrize("name", ["days", "days/*.parquet"])
def test_files_of_a_folder_have_the_same_columns(columns, difference, name, tmp_path):
    (tmp_path / "days").mkdir()
    parquet.write_table(pa.table(FIRST), tmp_path / "days" / "a.parquet")
    parquet.write_table(pa.table(FIRST), tmp_path / "days" / "b.parquet")
    parquet.write_table(pa.table(columns), tmp_path / "days" / "c.parquet")
    message = f"c.parquet: its columns differ from those of .*a.parquet .*{difference}"
    roles = {"protected": "race", "outcome": "hired", "favorable": 1}
    with pytest.raises(TableError, match=message):
        fourfifths.impact(tmp_path / name, **roles)
    with pytest.raises(TableError, match=message):
        fourfifths.certify(tmp_path / name, **roles)
    with pytest.raises(TableError, match=message):
        repair_file(str(tmp_path / name), protected=["race"], columns=["age"])


def put_first(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table(FIRST), path)


def rows_read(path, **reading):
    return fourfifths.impact(
        fourfifths.read_table(path, **reading), protected="race", outcome="hired", favorable=1
    ).rows


def test_a_folder_is_read_whole_and_without_what_programs_keep_in_it(tmp_path):
    days, elsewhere = tmp_path / "days", tmp_path / "elsewhere"
    put_first(days / "a.parquet", days / "b.PARQUET", days / "sub" / "c.parquet")
    put_first(elsewhere / "d.parquet")
    (days / "link").symlink_to(elsewhere)
    (days / "sub" / "loop").symlink_to(days)
    (days / "latest.parquet").symlink_to(days / "a.parquet")
    put_first(days / "_temporary" / "0" / "a.parquet", days / ".hid" / "a.parquet")
    put_first(days / "_b.parquet", days / "e.pq")
    put(days / "f.csv", CSV)
    put(days / "notes.txt", "no data")
    assert [file.name for file in open_table(days).file.paths] == [
        *("a.parquet", "b.PARQUET", "d.parquet", "c.parquet")
    ]
    assert rows_read(days) == 4 * 4
    note = open_table(days).notes[0]
    assert note.startswith(f"not read below {days}: ")
    for name in (".hid/a.parquet", "_b.parquet", "_temporary/0/a.parquet", "e.pq", "f.csv"):
        assert name in note
    assert "notes.txt" not in note
    # A pattern names its files itself.
    assert rows_read(str(days / "**" / "*.parquet")) == 3 * 4
    assert rows_read(str(days / "_temporary" / "*" / "*.parquet")) == 4
    assert open_table(str(days / "*.parquet")).notes == ()


def test_a_folder_without_parquet_files_names_what_is_there(tmp_path):
    put(tmp_path / "t.csv", CSV)
    with pytest.raises(TableError, match=r"a folder without Parquet files; name a .* as 't\.csv'"):
        open_table(tmp_path)


def test_a_folder_in_the_names_of_which_are_columns_keeps_its_links(tmp_path):
    put_first(tmp_path / "days" / "_year=2024" / "a.parquet", tmp_path / "else" / "b.parquet")
    (tmp_path / "days" / "_year=2025").symlink_to(tmp_path / "else")
    table = fourfifths.read_table(tmp_path / "days", hive=True)
    years = fourfifths.impact(table, protected="_year", outcome="hired", favorable=1)
    assert counts(years) == {"2024": (2, 4), "2025": (2, 4)}
    (tmp_path / "days" / "_year=2026").symlink_to(tmp_path / "else")
    with pytest.raises(TableError, match=r"_year=2026.*is the same file as .*_year=2025"):
        fourfifths.read_table(tmp_path / "days", hive=True)


def test_only_folders_below_the_one_that_is_named_are_columns(tmp_path):
    days = tmp_path / "run=5" / "days"
    put_first(days / "a.parquet", days / "b.parquet")
    assert rows_read(days) == rows_read(str(days / "*.parquet")) == 8
    put_first(tmp_path / "by" / "run=5" / "a.parquet")
    with pytest.raises(TableError, match="the names of its folders are columns, as in run=5; say"):
        rows_read(tmp_path / "by")
    assert rows_read(tmp_path / "by" / "run=5") == rows_read(tmp_path / "by", hive=True) == 4
    with pytest.raises(TableError, match="hive=True: expected folders with names like year=2025 b"):
        rows_read(days, hive=True)
    with pytest.raises(OptionError, match=r"hive=True: .* is one file, and not a folder"):
        rows_read(days / "a.parquet", hive=True)


def test_a_column_of_a_folder_above_is_not_taken_for_that_of_the_files(tmp_path):
    put_first(tmp_path / "hired=0" / "days" / "year=1" / "a.parquet")
    with pytest.raises(TableError, match="'hired' is a column of the files and of folders"):
        rows_read(tmp_path / "hired=0" / "days", hive=True)


def test_the_name_of_a_folder_must_be_text(tmp_path):
    put_first(tmp_path / "sex=%FF" / "a.parquet", tmp_path / "sex=M" / "a.parquet")
    with pytest.raises(TableError, match=r"sex=%FF/a\.parquet: the name of a folder is not UTF-8"):
        fourfifths.read_table(tmp_path, hive=True)


@pytest.mark.parametrize("memory", [10**12, 0])
def test_columns_of_folders_may_be_protected_and_missing(memory, tmp_path):
    for sex in ("F", "M", "__HIVE_DEFAULT_PARTITION__"):
        for hired in "01":
            path = tmp_path / "by" / f"sex={sex}" / f"hired={hired}" / "a.parquet"
            path.parent.mkdir(parents=True)
            scores = [float(len(sex) + i * (1 + int(hired))) for i in range(20)]
            parquet.write_table(pa.table({"score": scores}), path)
    table = fourfifths.read_table(tmp_path / "by", hive=True)
    for scope in ("column", "blocks"):
        repair = repair_file(
            table,
            protected=["sex"],
            columns=["score"],
            roles=AuditRoles(outcome="hired", favorable=["1"]),
            options={"scope": scope, "unseen": "keep"},
            memory=memory,
        )
        assert repair.repairer.strata_.groups == (("F",), ("M",))
        assert repair.repairer.strata_.rows == (40, 40)
        repair.write(tmp_path / "out.parquet")
        written = parquet.read_table(tmp_path / "out.parquet")
        assert written.column_names == ["score", "sex", "hired"]
        assert written["sex"].null_count == 40
        assert written["hired"].to_pylist() == (["0"] * 20 + ["1"] * 20) * 3


@pytest.mark.parametrize("name", ["days", "days/*.parquet"])
def test_a_folder_of_one_file_is_repaired_in_memory(name, tmp_path):
    (tmp_path / "days").mkdir()
    table = pa.table({name: values * 4 for name, values in FIRST.items()})
    parquet.write_table(table, tmp_path / "days" / "a.parquet")
    options = {"scope": "column", "method": "geometric"}
    repair = repair_file(
        str(tmp_path / name), protected=["race"], columns=["age"], options=options, memory=10**12
    )
    # The ages are 30 and 40 in each of two groups, so all become 35.
    assert repair.after.dataframe["age"].to_list() == [35] * 16


def test_columns_of_a_folder_that_differ_in_case_keep_their_names(tmp_path):
    for name in "ab":
        table = pa.table({**FIRST, "Pay": [1, 2] * 2, "pay": [3, 4] * 2})
        (tmp_path / "days").mkdir(exist_ok=True)
        parquet.write_table(table, tmp_path / "days" / f"{name}.parquet")
    for memory in (10**12, 0):
        repair = repair_file(
            str(tmp_path / "days"),
            protected=["race"],
            columns=["age"],
            options={"scope": "column"},
            memory=memory,
        )
        repair.write(tmp_path / "out.parquet")
        written = parquet.read_table(tmp_path / "out.parquet")
        assert written.column_names == ["race", "hired", "age", "Pay", "pay"]
        assert written.column(4).to_pylist() == [3, 4] * 4


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("_delta_log/00000000000000000000.json", "a Delta table"),
        (".hoodie/hoodie.properties", "a Hudi table"),
        ("metadata/v1.metadata.json", "an Iceberg table"),
    ],
)
@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_the_folder_of_a_table_with_versions_is_refused(log, kind, pattern, tmp_path):
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / log).parent.mkdir()
    (tmp_path / log).touch()
    with pytest.raises(TableError, match=f"is the folder of {kind} .*files of earlier versions"):
        parquet_files(tmp_path / pattern)
