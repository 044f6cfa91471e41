"""What a report is made of: the audit must succeed, and the rest says why it could not be made."""

from __future__ import annotations

import pandas as pd
import pytest
from counted import aggregated, frame

from fourfifths._evidence.evidence import feature_columns, gather, of_column
from fourfifths._tables.table import open_table
from fourfifths.errors import ColumnError, OptionError

TEAL = {"Black": (26, 48), "White": (206, 259)}


def test_a_part_that_cannot_be_made_says_why():
    # There is no column that a rule could use.
    evidence = gather(
        frame(TEAL), parts=("certificate", "repair"), protected="group", outcome="hired"
    )
    assert evidence.impact["Black"].selected == 26
    assert set(evidence.problems) == {"certificate by group", "repair"}
    assert "column" in evidence.problems["repair"]
    assert not evidence.certificates


@pytest.mark.slow
def test_rows_of_unknown_membership_stay_as_they_are_in_the_repair():
    groups = ["a"] * 60 + ["b"] * 60 + [None] * 5
    people = pd.DataFrame(
        {
            "group": groups,
            "score": [*range(60), *range(20, 80), *range(5)],
            "hired": ["yes" if number % 3 else "no" for number in range(125)],
        }
    )
    evidence = gather(people, parts=("repair",), protected="group", outcome="hired")
    assert evidence.problems == {}
    assert any(
        "5 rows have a stratum that is missing" in text for text in evidence.repaired.effect.notes
    )
    assert any("nothing is proven of them" in text for text in evidence.repaired.proof.assumptions)


def test_counts_and_weights_leave_nothing_but_the_audit():
    evidence = gather(
        aggregated(TEAL),
        parts=("repair",),
        protected="group",
        outcome="hired",
        audit_options={"weights": "count", "weights_are": "counts"},
    )
    assert evidence.problems == {"repair": "the audit has weights, which this analysis cannot use"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"score": "skore"}, ColumnError, r"score='skore': no such column"),
        ({"stage_columns": ["x"]}, ColumnError, r"stages='x': no such column"),
        ({"columns": ["x"]}, ColumnError, r"columns='x': no such column"),
        ({"parts": ["proof"]}, OptionError, r"parts='proof': expected one of 'certificate'"),
    ],
)
def test_a_misspelt_name_is_an_error(options, error, message):
    with pytest.raises(error, match=message):
        gather(frame(TEAL), protected="group", outcome="hired", **options)


def test_what_happened_later_is_no_column_for_a_rule():
    table = open_table("ricci")
    roles = ["race", "passed"]
    assert feature_columns(table, None, left_out=[None], roles=roles) is None
    assert feature_columns(table, ["oral"], left_out=["oral"], roles=roles) == ["oral"]
    found = feature_columns(table, None, left_out=["combined"], roles=roles)
    assert found == ["position", "oral", "written"]


def test_a_choice_for_several_columns_is_cut_to_one():
    assert of_column({"a": 1, "b": 2}, "b") == {"b": 2}
    assert of_column({"a": 1}, "b") is None
    assert of_column("White", "race") == "White"
    assert of_column(None, "race", is_mapping=True) is None
