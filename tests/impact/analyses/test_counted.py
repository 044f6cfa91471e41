"""Counting once and comparing several times."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fourfifths._impact.analyses.counted import (
    count_persons,
    merged_notes,
    without_missing_values,
)
from fourfifths._tables.counts import MISSING, count
from fourfifths._tables.roles import assign_roles
from fourfifths._tables.table import open_table

COLUMNS = {
    "text": ["a", " ", "", None, "?", " ? ", "-9", "-9.0", "b"],
    "number": [1.0, float("nan"), None, -9.0, 2.0, 2.0, 3.0, 1.0, 1.0],
    "whole": [1, 1, -9, 2, 3, 3, 1, 0, 0],
    "truth": [True, False, None, True, True, False, False, True, None],
}


@pytest.mark.parametrize("unknown", [(), ("?", -9), ("false", "-9.00")])
@pytest.mark.parametrize("column", COLUMNS)
def test_the_same_values_are_missing_as_row_by_row(column, unknown):
    table = open_table(pl.DataFrame({column: COLUMNS[column]}))
    by_row = count(table.with_missing([column], unknown), [column])
    by_value = without_missing_values(count(table, [column]), [column], unknown)
    assert by_value.values[column] == by_row.values[column]
    for code in range(MISSING, len(by_row.values[column])):
        rows = [counts.rows[counts.codes[column] == code].sum() for counts in (by_row, by_value)]
        assert rows[0] == rows[1]


def test_a_date_is_missing_if_a_token_names_it():
    table = open_table(pl.DataFrame({"day": [date(1900, 1, 1), date(2024, 1, 1), None]}))
    counts = without_missing_values(count(table, ["day"]), ["day"], ["1900-01-01"])
    assert counts.values["day"] == (date(2024, 1, 1),)


def test_bands_and_numbers_of_persons():
    frame = pd.DataFrame({"age": ["20", "50", "?"], "stage": ["x", "y", "y"], "n": ["2", "3", "4"]})
    table = open_table(frame)
    roles = assign_roles(
        table,
        protected="age",
        outcome=None,
        favorable=None,
        reference=None,
        bands={"age": [40]},
        unknown=["?"],
        weights="n",
        outcome_is="optional",
    )
    counts = count_persons(table, ["stage"], roles=roles)
    assert len(counts.values["age"]) == 2
    assert counts.rows.sum() == 9
    assert counts.rows[counts.codes["age"] == MISSING].tolist() == [4]
    assert np.all(counts.codes["stage"] != MISSING)


def test_what_all_say_is_said_once():
    assert merged_notes({"a": ["x", "y"], "b": ["x"]}) == ("x", "a: y")
    assert merged_notes({}) == ()
