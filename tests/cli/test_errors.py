"""Bad input: one line on stderr, exit code 2, nothing on stdout, nothing written."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

COMMAND = str(Path(sys.executable).with_name("fourfifths"))
CSV = "race,hired,w,zero,age\n" + "".join(
    f"{race},{hired},1,0,{age}\n"
    for age, (race, hired) in enumerate(
        [("B", "yes"), ("B", "no"), ("W", "yes"), ("W", "yes")] * 50
    )
)
AUDIT = ("audit", "t.csv", "--protected", "race", "--outcome", "hired")
PACKED = gzip.compress(CSV.encode())
THREE = CSV.replace("B,no", "B,maybe", 1)

# What is asked, of a file with which name and content, and what the line says.
BAD = {
    "a column that does not exist": (
        ("audit", "t.csv", "--protected", "rase", "--outcome", "hired"),
        CSV,
        "no such column in t.csv; did you mean 'race'?",
    ),
    "an outcome that does not exist": (
        ("audit", "t.csv", "--protected", "race", "--outcome", "hierd"),
        CSV,
        "did you mean 'hired'?",
    ),
    "weights that do not exist": ((*AUDIT, "--weights", "ww"), CSV, "--weights ww: no such column"),
    "strata that do not exist": ((*AUDIT, "--within", "job"), CSV, "--within job: no such column"),
    "a score that does not exist": (
        ("audit", "t.csv", "--protected", "race", "--score", "points", "--rule", "nyc-ll144"),
        CSV,
        "--score points: no such column",
    ),
    "a favorable value that never occurs": (
        (*AUDIT, "--favorable", "yess"),
        CSV,
        "--favorable yess: never occurs in outcome 'hired'; did you mean 'yes'?",
    ),
    "more than two outcomes and no favorable one": (
        AUDIT,
        THREE,
        "holds 3 values, 'maybe', 'no', 'yes'; say which one is favorable",
    ),
    "one group only": (AUDIT, CSV.replace("W,", "B,"), "holds only 'B'; expected at least two"),
    "a reference not among the groups": (
        (*AUDIT, "--reference", "race=Martian"),
        CSV,
        "--reference Martian: not among the groups of 'race'",
    ),
    "a reference of another column": (
        (*AUDIT, "--reference", "sex=F"),
        CSV,
        "'sex' is not a protected column",
    ),
    "a reference twice": (
        (*AUDIT, "--reference", "race=W", "--reference", "race=B"),
        CSV,
        "'race' has a value already",
    ),
    "an outcome twice": ((*AUDIT, "--outcome", "race"), CSV, "--outcome: was given 2 times"),
    "a reference without a value": ((*AUDIT, "--reference", "race="), CSV, "expected COL=V"),
    "no designated reference": (
        (*AUDIT, "--rule", "feldman2015"),
        CSV,
        "compares with a designated group",
    ),
    "an empty file": (AUDIT, "", "t.csv: the file is empty"),
    "a header and no rows": (AUDIT, "race,hired\n", "t.csv: there are no rows"),
    "no file": (("audit", "nothing.csv", "--protected", "race"), CSV, "nothing.csv: no such file"),
    "a misspelt data set": (("audit", "adlut"), CSV, "did you mean 'adult'?"),
    "a file of another ending": (("audit", "t.doc"), CSV, "unknown kind of file"),
    "a csv that is parquet": (AUDIT, b"PAR1\x15\x00", "its name says CSV, but the file looks like"),
    "a csv that is excel": (AUDIT, b"PK\x03\x04\x14\x00", "looks like an Excel workbook"),
    "a csv that is json": (AUDIT, '{"race": "B"}\n', "looks like JSON"),
    "a csv with a long row": (AUDIT, CSV + "B,yes,1,0,3,9\n", "has 6 fields, and the header has 5"),
    "a csv with an escape code in a bad row": (
        AUDIT,
        CSV + "B,\x1b[31mred,1,0,3,9\n",
        "has 6 fields, and the header has 5",
    ),
    "a csv of one byte order mark": (AUDIT, "\ufeff", "empty"),
    "protected and outcome the same": (
        ("audit", "t.csv", "--protected", "hired", "--outcome", "hired"),
        CSV,
        "the same column cannot be both",
    ),
    "negative weights": (
        (*AUDIT, "--weights", "w"),
        CSV.replace(",1,", ",-1,", 2),
        "2 weights are negative",
    ),
    "missing weights": (
        (*AUDIT, "--weights", "w"),
        CSV.replace(",1,", ",,", 3),
        "3 weights are missing",
    ),
    "weights that are words": (
        (*AUDIT, "--weights", "w"),
        CSV.replace(",1,", ",one,", 1),
        "expected numbers, found 'one'",
    ),
    "weights of nothing": ((*AUDIT, "--weights", "zero"), CSV, "every weight is 0"),
    "counts that are not whole": (
        (*AUDIT, "--weights", "w", "--weights-are", "counts"),
        CSV.replace(",1,", ",1.5,", 1),
        "takes whole numbers of persons",
    ),
    "a numeric column with hundreds of values": (
        ("audit", "t.csv", "--protected", "age", "--outcome", "hired"),
        CSV,
        "a numeric column with 200 different values; make groups of it",
    ),
    "bands that are words": ((*AUDIT, "--band", "race=a,b"), CSV, "expected numbers separated by"),
    "bands that fall": (
        ("audit", "t.csv", "--protected", "age", "--outcome", "hired", "--band", "age=40,25"),
        CSV,
        "each larger than the one before",
    ),
    "no protected column": (
        ("audit", "t.csv", "--outcome", "hired"),
        CSV,
        "--protected: name at least one column",
    ),
    "no outcome": (("audit", "t.csv", "--protected", "race"), CSV, "--outcome: name the column"),
    "a score under a rule without one": (
        (*AUDIT, "--score", "age"),
        CSV,
        "rule 'ugesp' takes no score",
    ),
    "a rule that does not exist": (
        (*AUDIT, "--rule", "ugsep"),
        CSV,
        "--rule ugsep: no such rule; expected one of 'feldman2015', 'ugesp', 'ofccp', 'nyc-ll144', "
        "'lending-air', 'nydfs-cl7', 'co-insurance', 'nj-lad', 'ca-feha', 'il-ihra', and 5 more; "
        "did you mean 'ugesp'?",
    ),
    "two rules": ((*AUDIT, "--rule", "ugesp", "--rule", "ofccp"), CSV, "--rule: was given 2 times"),
    "a format that does not exist": (
        (*AUDIT, "--format", "x"),
        CSV,
        "--format x: expected one of 'table'",
    ),
    "an option that does not exist": ((*AUDIT, "--colour"), CSV, "--colour"),
    "an option without a value": ((*AUDIT, "--weights"), CSV, "--weights"),
    "no file named": (("audit",), CSV, "FILE|DATASET"),
    "a command that does not exist": (("aduit",), CSV, "aduit"),
}
OTHER_FILES = {
    "a parquet that is csv": ("t.parquet", CSV.encode(), "not Parquet"),
    "a cut parquet": ("t.parquet", b"PAR1" + b"\0" * 64, "not readable as PARQUET"),
    "an empty parquet": ("t.parquet", b"", "the file is empty"),
    "a jsonl that is csv": ("t.jsonl", CSV.encode(), "one JSON object per line"),
    "a broken jsonl": ("t.jsonl", b'{"race": "B", "hired": 1}\n{"ra', "not readable as JSON"),
    "json objects as groups": (
        "t.jsonl",
        b'{"race": {"a": 1}, "hired": 1}\n{"race": {"a": 2}, "hired": 0}\n',
        "race",
    ),
    "json lists as groups": (
        "t.jsonl",
        b'{"race": ["a"], "hired": 1}\n{"race": ["b"], "hired": 0}\n',
        "race",
    ),
    "not gzip": ("t.csv.gz", CSV.encode(), "not readable as gzip"),
    "cut gzip": ("t.csv.gz", PACKED[:40], "t.csv.gz"),
    "broken gzip": ("t.csv.gz", PACKED[:40] + b"\xff" * 8 + PACKED[48:], "t.csv.gz"),
}


def assert_refused(answer, says):
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("fourfifths: ")
    assert answer.err.endswith("\n")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert "\x1b" not in answer.err
    assert says in answer.err


@pytest.mark.parametrize(("arguments", "content", "says"), BAD.values(), ids=BAD)
def test_bad_input(shell, tmp_path, arguments, content, says):
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "t.csv").write_bytes(content)
    command, *rest = arguments
    answer = shell(command, *(("--out", "result") if rest else ()), *rest)
    assert_refused(answer, says)
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(("name", "content", "says"), OTHER_FILES.values(), ids=OTHER_FILES)
def test_bad_file(shell, tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    answer = shell("audit", name, "--protected", "race", "--outcome", "hired", "--out", "result")
    assert_refused(answer, says)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_infinite_groups_are_told_or_refused(shell, tmp_path):
    pl.DataFrame({"g": [1.0, float("inf")] * 2, "y": [0, 1, 1, 1]}).write_parquet(
        tmp_path / "t.parquet"
    )
    answer = shell("audit", "t.parquet", "--protected", "g", "--outcome", "y", "--format", "json")
    assert answer.code in (0, 2)
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("out", ["nowhere/result.json", "t.csv/result.json", "folder"])
def test_a_result_that_cannot_be_written(shell, tmp_path, out):
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "folder").mkdir()
    answer = shell(*AUDIT, "--out", out)
    assert_refused(answer, "cannot be written")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "t.csv"]
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_file_whose_name_holds_an_escape_code_is_named_without_it(shell, tmp_path):
    (tmp_path / "\x1b[31mred.csv").write_text(CSV)
    answer = shell("audit", "\x1b[31mred.csv", "--protected", "x", "--outcome", "hired")
    assert_refused(answer, "no such column")


def test_a_bad_file_leaves_an_earlier_result_as_it_was(shell, tmp_path):
    (tmp_path / "t.csv").write_text("")
    (tmp_path / "result.json").write_text("as it was")
    assert_refused(shell(*AUDIT, "--out", "result.json"), "the file is empty")
    assert (tmp_path / "result.json").read_text() == "as it was"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("audit", "ricci", "--protected", "rase"), "did you mean 'race'?"),
        (("audit", "nothing.csv", "--protected", "race"), "no such file"),
        (("audit", "german", "--protected", "credit_amount"), "make groups of it"),
        (("audit", "ricci", "--format", "xml"), "--format xml: expected one of 'table'"),
    ],
)
def test_the_real_command_refuses(tmp_path, arguments, says):
    done = subprocess.run(
        [COMMAND, *arguments, "--out", "result"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []
