"""`fourfifths repair`: what a repair does not own comes out as it came in, cell by cell."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

Shell = Callable[..., Any]
QUICK = ("--effect", "quick")
GROUP = ("--protected", "group", *QUICK)
ROLES = (*GROUP, "--scope", "column")
SCOPES = pytest.mark.parametrize("scope", ["blocks", "column"])


def read(path: str, separator: str = ",") -> list[list[str]]:
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream, delimiter=separator))


def columns(*names: str) -> tuple[str, ...]:
    return tuple(part for name in names for part in ("--columns", name))


# --- text ---


# Numbers in every spelling that CSVs have. Both groups have the same, so that full repair finds
# every number where it belongs already.
SPELT = ["01", "3.50", "1e1", "-0", ".5", "7.", "2.0", "", " 6 ", "1E+2", "-3.25", "0.30"]
TEXT = "group,number,note\n" + "".join(
    f'{group},{number},"{at}, ""so"" {at:03d}"\n'
    for group in "AB"
    for at, number in enumerate(SPELT)
)


@pytest.mark.parametrize("amount", ["0", "1"])
def test_a_table_whose_strata_are_alike_comes_out_byte_for_byte(
    shell: Shell, tmp_path: Path, amount: str
) -> None:
    (tmp_path / "in.csv").write_text(TEXT, encoding="utf-8")
    answer = shell("repair", "in.csv", "out.csv", *ROLES, *columns("number"), "--amount", amount)
    assert answer.out.startswith("in.csv: 0 of 24 rows and 0 of 24 cells changed\n")
    assert re.search(r"^ *number +number +0 ", answer.out, re.M)  # a column of numbers
    assert Path("out.csv").read_text(encoding="utf-8") == TEXT


def test_cells_that_do_not_change_stand_as_they_were_written(shell: Shell, tmp_path: Path) -> None:
    # By hand: the median of three strata at each level is A's value, where B lies between.
    rows = {
        "A": ["010", "2e1", "30.0", "40"],
        "B": ["010.0", "20.00", "3e1", "040.0"],
        "C": ["11", "21", "31", "41.5"],
    }
    lines = [f"{group},{number}" for group, own in rows.items() for number in own]
    (tmp_path / "in.csv").write_text("\n".join(["group,x", *lines]) + "\n", encoding="utf-8")
    assert shell("repair", "in.csv", "out.csv", *ROLES, *columns("x")).code == 0
    found = [number for _, number in read("out.csv")[1:]]
    assert found[:8] == rows["A"] + rows["B"]
    assert [float(number) for number in found[8:]] == [10, 20, 30, 40]


ODD = [
    'comma, quote " and\nline end',
    "=1+1",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "[red]x[/red]",
    "NULL",
    "NaN",
    " spaces ",
    "'single'",
    "ünïcode 李",
    "\t",
    "a;b|c",
    "\\n",
    "-",
    '""',
    "007",
]


@pytest.mark.parametrize(("name", "separator"), [("out.csv", ","), ("out.tsv", "\t")])
def test_other_columns_hold_what_they_held(
    shell: Shell, tmp_path: Path, name: str, separator: str
) -> None:
    rows = [["group", "x", "text", "more"]]
    for at, text in enumerate(ODD * 2):
        rows.append(["AB"[at % 2], str(at * (1 + at % 2)), text, f"{at:04d}"])
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    (tmp_path / f"in{name[3:]}").write_text(stream.getvalue(), encoding="utf-8")
    assert shell("repair", f"in{name[3:]}", name, *ROLES, *columns("x")).code == 0
    found = read(name, separator)
    assert [row[:1] + row[2:] for row in found] == [row[:1] + row[2:] for row in rows]
    assert [row[1] for row in found] != [row[1] for row in rows]


def test_missing_texts_stay_missing(shell: Shell, tmp_path: Path) -> None:
    body = "".join(f"{g},{x},{'z' if x else ''},\n" for x in range(4) for g in "AB")
    text = "group,x,text,more\n" + body
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    assert shell("repair", "in.csv", "out.csv", *ROLES, *columns("x")).code == 0
    assert Path("out.csv").read_text(encoding="utf-8") == text
    shell("repair", "in.csv", "out.parquet", *ROLES, *columns("x"))
    found = parquet.read_table("out.parquet")
    assert found["text"].to_pylist() == [None] * 2 + ["z"] * 6
    assert found["more"].null_count == 8


def test_an_empty_text_in_quotes_is_missing_as_in_an_audit(shell: Shell, tmp_path: Path) -> None:
    text = "group,x,text\n" + "".join(f'{g},{x},""\n' for x in range(4) for g in "AB")
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    assert shell("repair", "in.csv", "out.csv", *ROLES, *columns("x")).code == 0
    assert Path("out.csv").read_text(encoding="utf-8") == text.replace('""', "")


def test_missing_numbers_stay_missing(shell: Shell, tmp_path: Path) -> None:
    numbers = ["", "1", "2", "", "3", "4", ""]
    body = "".join(f"{g},{x if g == 'A' or not x else 9}\n" for g in "AB" for x in numbers)
    (tmp_path / "in.csv").write_text("group,x\n" + body, encoding="utf-8")
    assert shell("repair", "in.csv", "out.csv", *ROLES, *columns("x")).code == 0
    found = [x for _, x in read("out.csv")[1:]]
    assert [at for at, x in enumerate(found) if not x] == [0, 3, 6, 7, 10, 13]


def test_a_csv_with_semicolons_comes_out_with_semicolons(shell: Shell, tmp_path: Path) -> None:
    body = "".join(f"{g};{x};1,5\n" for x in range(4) for g in "AB")
    (tmp_path / "in.csv").write_text("group;x;price\n" + body, encoding="utf-8")
    assert shell("repair", "in.csv", "out.csv", *ROLES, *columns("x")).code == 0
    assert {row[2] for row in read("out.csv", ";")[1:]} == {"1,5"}
    assert shell("repair", "in.csv", "out.tsv", *ROLES, *columns("x")).code == 0
    assert {row[2] for row in read("out.tsv", "\t")[1:]} == {"1,5"}


def test_a_plus_sign(shell: Shell, tmp_path: Path) -> None:
    body = "".join(f"{g},+{x}\n" for x in range(4) for g in "AB")
    (tmp_path / "in.csv").write_text("group,x\n" + body, encoding="utf-8")
    answer = shell("repair", "in.csv", "out.csv", *ROLES, *columns("x"))
    assert answer.code == 0
    assert re.search(r"^ *x +integer +0 ", answer.out, re.M)
    assert Path("out.csv").read_bytes() == Path("in.csv").read_bytes()


# --- names ---


NAMES = [
    'quo"te',
    "com,ma",
    "do.t",
    "*",
    "c0",
    "ünï 李",
    "=1+1",
    "<b>x</b>",
    "[red]x[/red]",
    " space",
    "|p|",
    "%s {x}",
    "number",
    "\x1b[31mz",
    "line\nend",
    "protected",
]


def named_table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            **{name: random.integers(0, 9, 20) + at for at, name in enumerate(NAMES)},
            "kept; \"'": [f"=cmd({at})" for at in range(20)],
            "gr,oup\n": ["<i>A", "[b]B"] * 10,
        }
    )


@pytest.mark.parametrize("shown", ["table", "markdown", "json"])
def test_any_name_can_be_repaired_and_applied(shell: Shell, tmp_path: Path, shown: str) -> None:
    table = named_table()
    table.to_parquet(tmp_path / "in.parquet")
    roles = (
        "--protected",
        "gr,oup\n",
        *columns(*NAMES),
        *QUICK,
        "--format",
        shown,
        "--save",
        "r.json",
    )
    answer = shell("repair", "in.parquet", "out.csv", *roles)
    assert answer.code == 0
    assert "\x1b" not in answer.out
    found = read("out.csv")
    assert found[0] == list(table.columns)
    assert [row[-2:] for row in found[1:]] == table.iloc[:, -2:].to_numpy().tolist()
    again = shell("repair", "in.parquet", "again.csv", "--apply", "r.json")
    assert again.code == 0
    assert read("again.csv")[0] == list(table.columns)
    if shown == "json":
        assert [each["column"] for each in json.loads(answer.out)["columns"]] == NAMES
    elif shown == "markdown":
        for text in ("| \\* |", "&lt;b&gt;x&lt;/b&gt;", "\\[red\\]x\\[/red\\]", "\\|p\\|"):
            assert text in answer.out
    else:
        for text in ("[red]x[/red]", "<b>x</b>", "\\x1b[31mz", "line\\nend", "=1+1"):
            assert text in answer.out


@SCOPES
def test_any_name_in_a_csv(shell: Shell, tmp_path: Path, scope: str) -> None:
    table = named_table()[["line\nend", *(name for name in NAMES if "\n" not in name)]]
    table.assign(group=["A", "B"] * 10).to_csv(tmp_path / "in.csv", index=False)
    roles = (*GROUP, *columns(*table.columns), "--scope", scope)
    assert shell("repair", "in.csv", "out.csv", *roles).code == 0
    assert read("out.csv")[0] == [*table.columns, "group"]


@SCOPES
def test_a_line_end_in_the_second_name(shell: Shell, tmp_path: Path, scope: str) -> None:
    body = "".join(f"{g},{x}\n" for x in range(4) for g in "AB")
    (tmp_path / "in.csv").write_text('group,"line\nend"\n' + body, encoding="utf-8")
    roles = (*GROUP, *columns("line\nend"), "--scope", scope)
    assert shell("repair", "in.csv", "out.csv", *roles).code == 0


def test_names_that_differ_in_case_only(shell: Shell, tmp_path: Path) -> None:
    table = pd.DataFrame({"group": ["A", "B"] * 4, "x": range(8), "X": range(8)})
    table.to_parquet(tmp_path / "in.parquet")
    answer = shell("repair", "in.parquet", "out.csv", *ROLES, *columns("x"))
    assert answer.code == 2 or read("out.csv")[0] == ["group", "x", "X"]


# --- types ---


def typed_table() -> pa.Table:
    random = np.random.default_rng(0)
    n = 24
    days = [datetime.date(2020, 1, 1 + at) for at in range(n)]
    texts = pa.array(["lo", "hi", "mid", "mid"] * 6)
    whole = pa.array(random.integers(0, 99, n) * np.tile([1, 2], 12), pa.int16())
    return pa.table(
        {
            "int16": whole,
            "uint8": pa.array([None, *random.integers(0, 255, n - 1).tolist()], pa.uint8()),
            "float32": pa.array(random.normal(size=n), pa.float32()),
            "dictionary": texts.dictionary_encode(),
            "text": texts,
            "large": texts.cast(pa.large_string()),
            "bool": pa.array(random.random(n) < np.tile([0.2, 0.8], 12)),
            "group": pa.array(["A", "B"] * 12).dictionary_encode(),
            "day": pa.array(days, pa.date32()),
            "moment": pa.array(range(n), pa.timestamp("ns", "Europe/Paris")),
            "price": pa.array([Decimal(at) / 4 for at in range(n)], pa.decimal128(9, 3)),
            "wide": pa.array([Decimal(at) / 4 for at in range(n)], pa.decimal256(50, 3)),
            "list": pa.array([[at, None] for at in range(n)]),
            "struct": pa.array([{"a": at} for at in range(n)]),
            "binary": pa.array([bytes([at]) for at in range(n)]),
            "nothing": pa.nulls(n),
            "id": pa.array(range(2**60, 2**60 + n)),
            "kept": texts.dictionary_encode(),
        }
    )


OWNED = ("int16", "uint8", "float32", "dictionary", "text", "large", "bool")


@pytest.mark.parametrize("method", ["random", "combinatorial"])
def test_parquet_types_are_kept(shell: Shell, tmp_path: Path, method: str) -> None:
    table = typed_table()
    parquet.write_table(table, tmp_path / "in.parquet")
    before = parquet.read_table(tmp_path / "in.parquet")
    roles = (*ROLES, *columns(*OWNED), "--method", method, "--amount", "0.7")
    assert shell("repair", "in.parquet", "out.parquet", *roles).code == 0
    found = parquet.read_table("out.parquet")
    assert found.schema.equals(before.schema)
    for name in set(table.column_names) - set(OWNED):
        assert found[name].equals(before[name]), name
    for name in OWNED:
        assert found[name].null_count == before[name].null_count
        assert not found[name].equals(before[name]), name
        assert set(found[name].to_pylist()) <= set(before[name].to_pylist()) or name == "float32"


def test_parquet_types_are_kept_by_blocks(shell: Shell, tmp_path: Path) -> None:
    table = typed_table()
    owned = (*OWNED, "day", "moment", "price")
    parquet.write_table(table, tmp_path / "in.parquet")
    before = parquet.read_table(tmp_path / "in.parquet")
    assert shell("repair", "in.parquet", "out.parquet", *GROUP, *columns(*owned)).code == 0
    found = parquet.read_table("out.parquet")
    assert found.schema.equals(before.schema)
    for name in set(table.column_names) - set(owned):
        assert found[name].equals(before[name]), name
    for name in owned:
        assert not found[name].equals(before[name]), name


def test_a_csv_by_blocks_has_missing_values_dates_and_numbers_as_text(
    shell: Shell, tmp_path: Path
) -> None:
    # Each score from 1 to 5 stands for one record, so blocks can be no finer than these.
    record = {
        "1": ("1", "007.50", "2024-01-31", "low"),
        "2": ("2", "", "2024-02-29", ""),
        "3": ("3", "+8", "", "low"),
        "4": ("4", "1e1", "2024-12-01", "high"),
        "5": ("5", "", "1999-12-31", ""),
    }
    rows = [(group, *record[score]) for score in record for group in "AB" for _ in range(8)]
    text = "\n".join(["group,score,number,day,kind", *(",".join(row) for row in rows)]) + "\n"
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    names = columns("score", "number", "day", "kind")
    answer = shell("repair", "in.csv", "out.csv", *GROUP, *names, "--blocks", "4")
    assert answer.code == 0
    found = [tuple(row) for row in read("out.csv")[1:]]
    assert [row[0] for row in found] == [row[0] for row in rows]
    assert 1 < len({row[1:] for row in found}) <= 4
    for place, name in enumerate(("score", "number", "day", "kind"), start=1):
        written = {row[place] for row in found}
        if name in ("day", "kind"):
            assert written <= {row[place] for row in rows}, name
        else:
            assert all(cell == "" or 1 <= float(cell) <= 10 for cell in written), name
    assert "" in {row[2] for row in found}


def test_geometric_repair_makes_floats_of_whole_numbers_only(shell: Shell, tmp_path: Path) -> None:
    table = typed_table()
    parquet.write_table(table, tmp_path / "in.parquet")
    roles = (*ROLES, *columns("int16", "float32"), "--method", "geometric", "--amount", "0.5")
    assert shell("repair", "in.parquet", "out.parquet", *roles).code == 0
    before, found = parquet.read_table("in.parquet"), parquet.read_table("out.parquet")
    changed = [name for name in before.column_names if found[name].type != before[name].type]
    assert changed == ["int16"]
    assert found["int16"].type == pa.float64()


def test_nan_and_null_are_missing_and_stay_what_they_are(shell: Shell, tmp_path: Path) -> None:
    numbers = [float("nan"), None, *map(float, range(8))]
    table = pl.DataFrame({"group": ["A"] * 10 + ["B"] * 10, "x": [*numbers, *reversed(numbers)]})
    table.write_parquet(tmp_path / "in.parquet")
    assert shell("repair", "in.parquet", "out.parquet", *ROLES, *columns("x")).code == 0
    found = pl.read_parquet("out.parquet")["x"]
    assert found.is_nan().to_list() == table["x"].is_nan().to_list()
    assert found.is_null().to_list() == table["x"].is_null().to_list()


def test_parquet_to_csv_spells_types_plainly(shell: Shell, tmp_path: Path) -> None:
    table = typed_table().drop_columns(["wide", "binary"])
    parquet.write_table(table, tmp_path / "in.parquet")
    assert shell("repair", "in.parquet", "out.csv", *ROLES, *columns("int16")).code == 0
    names, first = read("out.csv")[:2]
    found = dict(zip(names, first, strict=True))
    assert names == table.column_names
    assert found["day"] == "2020-01-01"
    assert found["price"] == "0.000"
    assert found["id"] == str(2**60)
    assert found["nothing"] == ""


def test_what_pandas_keeps_of_its_types_and_index(shell: Shell, tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "group": ["A", "B"] * 10,
            "x": pd.array([None, *range(19)], dtype="Int32"),
            "kind": pd.Categorical(["u", "v", "v", "w"] * 5, ["w", "v", "u"]),
        },
        index=pd.Index([f"id{at}" for at in range(20)], name="who"),
    )
    table.to_parquet(tmp_path / "in.parquet")
    assert shell("repair", "in.parquet", "out.parquet", *ROLES, *columns("x", "kind")).code == 0
    found = pd.read_parquet("out.parquet")
    pd.testing.assert_series_equal(found["group"], table["group"])
    assert found.dtypes.to_dict() == table.dtypes.to_dict()
    assert found["x"].isna().tolist() == table["x"].isna().tolist()


def test_pandas_reads_whole_numbers_that_became_floats(shell: Shell, tmp_path: Path) -> None:
    table = pd.DataFrame({"group": ["A", "B"] * 4, "x": pd.array(range(8), dtype="Int32")})
    table.to_parquet(tmp_path / "in.parquet")
    roles = (*ROLES, *columns("x"), "--method", "geometric", "--amount", "0.5")
    assert shell("repair", "in.parquet", "out.parquet", *roles).code == 0
    # By hand: the levels are 0 and 1, 2 and 3, ...; halfway to their midpoints.
    assert pd.read_parquet("out.parquet")["x"].tolist() == [
        step + half for step in range(0, 8, 2) for half in (0.25, 0.75)
    ]


@SCOPES
def test_by_default_the_index_of_pandas_is_not_repaired(
    shell: Shell, tmp_path: Path, scope: str
) -> None:
    index = [f"id{at}" for at in range(40)]
    table = pd.DataFrame({"group": ["A", "B"] * 20, "x": [*range(20)] * 2}, index=index)
    table["hired"] = ["yes", "no", "no", "yes"] * 10
    table.to_parquet(tmp_path / "in.parquet")
    roles = (*GROUP, "--outcome", "hired", "--scope", scope)
    assert shell("repair", "in.parquet", "out.parquet", *roles).code == 0
    found = pd.read_parquet("out.parquet")
    assert found.index.tolist() == index
    assert found["x"].tolist() != table["x"].tolist()


def test_ordered_categories_of_pandas_are_ordered(shell: Shell, tmp_path: Path) -> None:
    # As by --order: the places of A are 0, 0, 1, 1, of B 1, 1, 2, 2.
    kinds = pd.Categorical(["lo", "hi", "mid", "mid"] * 2, ["lo", "mid", "hi"], ordered=True)
    table = pd.DataFrame({"group": ["A", "B", "A", "B"] * 2, "kind": kinds})
    table.to_parquet(tmp_path / "in.parquet")
    assert shell("repair", "in.parquet", "out.parquet", *ROLES, *columns("kind")).code == 0
    assert pd.read_parquet("out.parquet")["kind"].tolist() == ["lo", "mid", "mid", "lo"] * 2


@SCOPES
def test_repaired_numbers_of_a_csv_are_numbers_in_parquet(
    shell: Shell, tmp_path: Path, scope: str
) -> None:
    body = "".join(f"{g},{x}.5\n" for x in range(4) for g in "AB")
    (tmp_path / "in.csv").write_text("group,x\n" + body, encoding="utf-8")
    roles = (*GROUP, *columns("x"), "--scope", scope)
    assert shell("repair", "in.csv", "out.parquet", *roles).code == 0
    assert parquet.read_table("out.parquet")["x"].type == pa.float64()


@pytest.mark.parametrize("method", ["random", "geometric"])
def test_decimals_stay_decimals(shell: Shell, tmp_path: Path, method: str) -> None:
    # By hand: A has 1.25 to 4.25, B 10.30 to 40.30; the midpoints 5.775 and so on to two places.
    prices = [*(f"{at}.25" for at in range(1, 5)), *(f"{at}0.30" for at in range(1, 5))]
    price = pa.array([Decimal(each) for each in prices], pa.decimal128(9, 2))
    parquet.write_table(pa.table({"group": list("AAAABBBB"), "price": price}), "in.parquet")
    roles = (*ROLES, *columns("price"), "--method", method)
    assert shell("repair", "in.parquet", "out.parquet", *roles).code == 0
    found = parquet.read_table("out.parquet")["price"]
    assert found.type == pa.decimal128(9, 2)
    assert [float(each) for each in found.to_pylist()] == pytest.approx(
        [5.775, 11.275, 16.775, 22.275] * 2, abs=0.0051
    )


@pytest.mark.parametrize("numbers", [pa.int8(), pa.float64()])
def test_strata_of_a_csv_are_those_of_a_parquet(
    shell: Shell, tmp_path: Path, numbers: pa.DataType
) -> None:
    body = "".join(f"{g},{x * (1 + 9 * g)}\n" for x in range(1, 5) for g in (0, 1))
    (tmp_path / "in.csv").write_text("group,x\n" + body, encoding="utf-8")
    roles = (*ROLES, *columns("x"))
    assert shell("repair", "in.csv", "out.csv", *roles, "--save", "repair.json").code == 0
    table = pa.table({"group": pa.array([0, 1], numbers), "x": [1, 10]})
    parquet.write_table(table, "new.parquet")
    assert shell("repair", "new.parquet", "new.csv", "--apply", "repair.json").code == 0
    assert read("new.csv")[1][1] == read("new.csv")[2][1]
    parquet.write_table(table.set_column(0, "group", pa.array([0, 7], numbers)), "odd.parquet")
    answer = shell("repair", "odd.parquet", "odd.csv", "--apply", "repair.json")
    assert answer.code == 2
    assert "not one of the strata that were fitted" in answer.err
