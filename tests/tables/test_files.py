from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import polars as pl
import pytest

import fourfifths
from fourfifths._tables.files import kind_of, read, replace_file, write_whole
from fourfifths.errors import OutputError, TableError

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


@pytest.mark.parametrize("name", ["a.xlsx", "a", "csv", "a.csv.zip"])
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
    "a header only": ("t.csv", "race,hired\n", "the table has no rows"),
    "parquet named csv": ("t.csv", b"PAR1\x15\x04", r"says CSV, .* looks like Parquet"),
    "excel named csv": ("t.csv", b"PK\x03\x04....", r"says CSV, .* looks like an Excel workbook"),
    "pdf named csv": ("t.csv", b"%PDF-1.7", r"says CSV, .* looks like PDF"),
    "json named csv": ("t.csv", '{"race": "B", "hired": "yes"}\n', r"says CSV, .* like JSON"),
    "json array named csv": ("t.csv", '[{"race": "B", "hired": "yes"}]\n', r"CSV, .* like JSON"),
    "html named csv": ("t.csv", "<!doctype html>\n<html></html>\n", r"says CSV, .* like HTML"),
    "utf-16": ("t.csv", CSV.encode("utf-16"), "binary or not UTF-8"),
    "latin-1": ("t.csv", CSV.replace("B", "É").encode("latin-1"), "not UTF-8"),
    "csv named parquet": ("t.parquet", CSV, "says Parquet, but the file is not Parquet"),
    "cut parquet": ("t.parquet", b"PAR1" + b"\0" * 50, "not readable as PARQUET"),
    "csv named jsonl": ("t.jsonl", CSV, "expected one JSON object per line"),
    "an array named json": ("t.json", '[{"race": "B"}]', "expected one JSON object per line"),
    "an object over lines": ("t.json", '{\n"race": "B"\n}\n', "not readable as JSON"),
    "cut jsonl": ("t.jsonl", '{"race": "B", "hired": "yes"}\n{"race":', "not readable as JSON"),
    "not gzip": ("t.csv.gz", CSV, r"ends in .gz, but it is not gzip"),
    "cut gzip": ("t.csv.gz", PACKED[:-12], "t.csv.gz"),
    "broken gzip": ("t.csv.gz", PACKED[:12] + b"\xff\xff\xff" + PACKED[15:], "t.csv.gz"),
    "a row too short": ("t.csv", CSV + "B\n", r"Expected Number of Columns: 2 Found: 1"),
    "a row too long": ("t.csv", CSV + "B,yes,3\n", r"Expected Number of Columns: 2 Found: 3"),
    "an open quote": ("t.csv", 'race,hired\n"B,yes\nW,no\n', r"t\.csv"),
    "a name twice": ("t.csv", "race,hired,race\nB,yes,1\n", r"names column 'race' more than once"),
    "names that differ in case only": (
        "t.csv",
        "race,Race,hired\nB,x,yes\nW,x,no\n",
        r"'Race'.* case|case .*'Race'",
    ),
    "a blank first line": ("t.csv", "\n" + CSV, r"first line|header|column"),
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
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        audit(tmp_path / "t.csv")


def test_reading_makes_no_rows(tmp_path):
    relation = read(put(tmp_path / "t.csv", CSV))
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


@pytest.mark.parametrize("before", [None, "as it was"])
def test_a_failure_in_the_middle_leaves_everything_as_it_was(before, tmp_path):
    path = tmp_path / "out.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(KeyError, match="in the middle"):
        replace_file(path, fail_in_the_middle)
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["out.txt"])
    assert before is None or path.read_text() == before


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
