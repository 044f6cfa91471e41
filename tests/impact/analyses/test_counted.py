"""Counting once and comparing several times."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fourfifths._impact.analyses.counted import (
    count_persons,
    merged_notes,
    with_meant_values,
)
from fourfifths._tables.counts import MISSING
from fourfifths._tables.groups import assign_roles
from fourfifths._tables.table import open_table


@pytest.mark.parametrize("unknown", [(), ("?",)])
def test_values_are_as_people_mean_them(unknown):
    frame = pl.DataFrame(
        {
            "sex": ["F", "f ", "M", "", None, "M"],
            "stage": ["Yes", "yes", "N/A", "no", "?" if unknown else " ", "no "],
        }
    )
    table = open_table(frame)
    roles = assign_roles(
        table,
        protected="sex",
        outcome=None,
        favorable=None,
        reference=None,
        bands=None,
        unknown=unknown,
        outcome_is="optional",
    )
    counts = count_persons(table, ["stage"], roles=roles)
    counts = with_meant_values(counts, ["stage"], roles=roles, table=table)
    assert counts.rows_of("sex") == {"F": 2, "M": 2}
    assert sorted(counts.rows_of("stage").values()) == [2, 2]
    assert counts.rows[counts.codes["stage"] == MISSING].sum() == 2
    assert sum("'N/A' is taken for not known" in note for note in counts.notes) == 1


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
