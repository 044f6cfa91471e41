"""Records as CSV."""

from __future__ import annotations

import csv
import io

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
