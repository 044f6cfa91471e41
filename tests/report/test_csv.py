"""Records as CSV."""

from __future__ import annotations

import csv
import io
import re

import pytest

from fourfifths._report.csv import records_csv


def test_the_first_line_names_the_columns():
    assert records_csv([{"a": 1, "b": 2.5}]) == "a,b\n1,2.5\n"


def test_undefined_is_an_empty_field():
    assert records_csv([{"a": None, "b": ""}]) == "a,b\n,\n"


@pytest.mark.parametrize("text", ["a,b", 'say "no"', "two\nlines", "a\rb", " x ", "李", "-1"])
def test_what_is_written_is_read_back(text):
    written = records_csv([{"name": text, "n": 1}])
    assert list(csv.DictReader(io.StringIO(written, newline=""))) == [{"name": text, "n": "1"}]


def test_nothing_is_no_text():
    assert records_csv([]) == ""


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "-", "'=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_begins_as_a_formula_does(text):
    rows = list(csv.reader(io.StringIO(records_csv([{text: text, "n": 1}]), newline="")))
    assert rows == [["'" + text, "n"], ["'" + text, "1"]]


@pytest.mark.parametrize("text", [*FORMULAS, "''=", "it's", "'", "'a'", "a=b", "-1", "+1.5e-3", ""])
def test_one_apostrophe_less_is_what_was_meant(text):
    (row,) = csv.DictReader(io.StringIO(records_csv([{"name": text}]) or "name\n", newline=""))
    read = re.sub(r"^'(?='*[=+\-@\t\r])", "", row["name"])
    assert read == text


@pytest.mark.parametrize("value", [-1, -0.25, 1e-300, -1e300])
def test_a_number_is_written_as_it_is(value):
    (row,) = csv.DictReader(io.StringIO(records_csv([{"z": value}])))
    assert float(row["z"]) == value
