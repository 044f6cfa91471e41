"""Names and values are data: never markup, never SQL, never a pattern, never a terminal's code."""

from __future__ import annotations

import csv
import functools
import io
import json
import re

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fourfifths
from fourfifths._report.csv import records_csv

HOSTILE = [
    'double "quotes"',
    "single 'quotes'",
    "line\nend",
    "carriage\rreturn",
    "comma, semicolon; bar|",
    "[red]",
    "[/]",
    "$x$",
    "$x_1^",
    "a|b",
    "<script>alert(1)</script>",
    "'; DROP TABLE t; --",
    "=1+1",
    "*",
    "^.*$",
    "^hired$",
    "a.b",
    "{0}",
    "\\",
    "\\n",
    "`x`",
    "Señora 李 🙂",
    "\x1b[31mred",
    "\x9b31m",
    "\u202eright to left",
    " padded ",
    "len",
    "(unknown)",
]
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}
pytestmark = pytest.mark.slow
TERMINAL_CODES = ("\x1b", "\x9b", "\r", "\u202e")


def as_csv(columns, path):
    """Write with every field in quotes: the way to write anything at all."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def counts(result):
    return [(group.group, group.selected, group.n) for group in result.attributes[0].groups]


def named(column):
    return {column: ["A", "A", "B", "B"], "hired": ["yes", "no", "yes", "yes"]}


def holding(value):
    return {"group": [value, value, "zz", "zz"], "hired": ["yes", "no", "yes", "yes"]}


@pytest.mark.parametrize("kind", ["pandas", "polars lazy", "duckdb"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_column_of_a_frame_may_have_any_name(name, kind):
    result = fourfifths.impact(FRAMES[kind](named(name)), protected=name, outcome="hired")
    assert counts(result) == [("A", 1, 2), ("B", 2, 2)]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", ["*", "^.*$", "a.b", 'say "hi"', "'; DROP TABLE t; --"])
def test_columns_of_every_role_may_have_any_name(name, kind):
    columns = {
        "group": ["A", "A", "B", "B"],
        f"{name} 1": ["yes", "no", "yes", "yes"],
        f"{name} 2": [1.0, 1.0, 2.0, 1.0],
        f"{name} 3": [3, 4, 5, 6],
    }
    result = fourfifths.impact(
        FRAMES[kind](columns),
        protected="group",
        outcome=f"{name} 1",
        weights=f"{name} 2",
        score=f"{name} 3",
        reference="B",
        rule="lending-air",
    )
    assert counts(result) == [("A", 1, 2), ("B", 2, 2)]


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\r" not in name])
def test_a_column_of_a_csv_may_have_any_name(name, tmp_path):
    path = as_csv(named(name), tmp_path / "t.csv")
    result = fourfifths.impact(path, protected=name, outcome="hired")
    assert counts(result) == [("A", 1, 2), ("B", 2, 2)]


@pytest.mark.parametrize("name", ["[red]", "<script>", "{a}", "%PDF"])
def test_a_csv_may_begin_with_a_name_that_is_not_quoted(name, tmp_path):
    (tmp_path / "t.csv").write_text(f"{name},hired\nA,yes\nA,no\nB,yes\nB,yes\n")
    result = fourfifths.impact(tmp_path / "t.csv", protected=name, outcome="hired")
    assert counts(result) == [("A", 1, 2), ("B", 2, 2)]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_of_a_csv_may_be_anything(value, tmp_path):
    path = as_csv(holding(value), tmp_path / "t.csv")
    table = fourfifths.read_table(path, known=value)
    result = fourfifths.impact(table, protected="group", outcome="hired", reference=value)
    assert (value, 1, 2) in counts(result)
    assert result.attributes[0].reference == value


@pytest.mark.parametrize("value", HOSTILE)
def test_a_favorable_value_may_be_anything(value):
    table = pd.DataFrame({"group": ["A", "A", "B", "B"], "hired": [value, "no", value, value]})
    table = fourfifths.read_table(table, known=value)
    result = fourfifths.impact(table, protected="group", outcome="hired", favorable=value)
    assert counts(result) == [("A", 1, 2), ("B", 2, 2)]


@functools.cache
def everywhere(text):
    """An audit in which the text is a column, a value, an outcome and a stratum."""
    table = pd.DataFrame(
        {
            text: [text, text, "zz", "zz", None, text],
            f"{text} outcome": [text, "no", text, text, "no", None],
            f"{text} strata": [text, "other"] * 3,
        }
    )
    return fourfifths.impact(
        fourfifths.read_table(table, known=text),
        protected=text,
        outcome=f"{text} outcome",
        favorable=text,
        within=f"{text} strata",
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_the_terminals_tables_drive_no_terminal(text):
    shown = str(everywhere(text))
    assert not [code for code in TERMINAL_CODES if code in shown]


@pytest.mark.parametrize("text", ["[red]", "[/]", "$x$", "<script>", "*", "^.*$", "a|b"])
def test_the_terminals_tables_show_the_text_as_it_is(text):
    assert text in str(everywhere(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_holds_no_live_markup(text):
    shown = everywhere(text).to_markdown()
    assert not [code for code in TERMINAL_CODES if code in shown]
    assert "<script" not in shown
    bare = shown.replace("\\\\", "").replace("\\|", "")
    for table in re.findall(r"(?:^\|.*\n)+", bare, flags=re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_csv_comes_back_as_it_went_in(text):
    written = records_csv(everywhere(text).to_records())
    records = list(csv.DictReader(io.StringIO(written, newline="")))
    # A text that begins as a formula does is written after an apostrophe.
    groups = [re.sub(r"^'(?='*[=+\-@\t\r])", "", record["group"]) for record in records]
    assert text in groups


@pytest.mark.parametrize("text", HOSTILE)
def test_json_comes_back_as_it_went_in(text):
    answer = json.loads(everywhere(text).to_json())
    assert answer["attributes"][0]["protected"] == [text]
    assert text in [group["group"] for group in answer["attributes"][0]["groups"]]


@pytest.mark.parametrize(
    "text", ["$x$", "$x_1^", "\\", "_x_", "%s", "{0}", "<script>", "\n$", "Señora"]
)
def test_a_picture_shows_anything(text):
    everywhere(text).plot().canvas.draw()


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x9b31m", "line\nend", "[red]", "\u202ex"])
def test_the_command_line_shows_anything(shell, tmp_path, text):
    as_csv(holding(text), tmp_path / "t.csv")
    answer = shell("audit", "t.csv", "--protected", "group", "--outcome", "hired")
    assert answer.code == 0
    assert not [code for code in TERMINAL_CODES if code in answer.out]


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x9b31m", "line\nend", "[red]", "\u202ex"])
def test_an_error_of_the_command_line_names_anything_in_one_line(shell, tmp_path, text):
    as_csv(holding(text), tmp_path / "t.csv")
    for arguments in (
        ("--protected", text, "--outcome", "hired"),
        ("--protected", "group", "--outcome", "hired", "--favorable", text),
        ("--protected", "group", "--outcome", "hired", "--reference", f"group={text}x"),
        ("--protected", "group", "--outcome", "hired", "--reference", f"{text}?"),
        ("--protected", "group", "--outcome", "hired", "--band", f"group={text}"),
    ):
        answer = shell("audit", "t.csv", *arguments)
        assert answer.code == 2
        assert answer.err.count("\n") == 1
        assert not [code for code in TERMINAL_CODES if code in answer.err]


@pytest.mark.parametrize("name", ["a b.csv", "[ab]*.csv", "$x$.csv", "\x1b[31m.csv", "a'b.csv"])
def test_a_file_of_any_name_is_audited_and_named(shell, tmp_path, name):
    as_csv(holding("A"), tmp_path / name)
    for form in ("table", "markdown", "json"):
        answer = shell(
            "audit", name, "--protected", "group", "--outcome", "hired", "--format", form
        )
        assert answer.code == 0
        assert "\x1b" not in answer.out


def test_an_output_file_of_any_name_is_written_and_named_without_codes(shell, tmp_path):
    as_csv(holding("A"), tmp_path / "t.csv")
    answer = shell(
        "audit", "t.csv", "--protected", "group", "--outcome", "hired", "--out", "[a]*\x1b[31m.txt"
    )
    assert (tmp_path / "[a]*\x1b[31m.txt").read_text()
    assert "\x1b" not in answer.err
