"""What a reader is told besides the figures, and in which order."""

from __future__ import annotations

import pandas as pd
import pytest
from counted import frame, measure, stratified

import fourfifths
from fourfifths._impact.impact import (
    outcome_notes,
    reference_not_highest,
    simpsons_paradox,
    unknown_notes,
)
from fourfifths._tables.counts import count
from fourfifths._tables.roles import assign_roles
from fourfifths._tables.table import open_table

# Bickel, Hammel and O'Connell, Science 187 (1975): admitted, applied.
BERKELEY = {
    "A": {"men": (512, 825), "women": (89, 108)},
    "B": {"men": (353, 560), "women": (17, 25)},
    "C": {"men": (120, 325), "women": (202, 593)},
    "D": {"men": (138, 417), "women": (131, 375)},
    "E": {"men": (53, 191), "women": (94, 393)},
    "F": {"men": (22, 373), "women": (24, 341)},
}
RICCI = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}
PAIR = {"A": (3, 8), "B": (16, 25)}
THREE = {"A": (10, 40), "B": (20, 40), "C": (30, 50)}


def impact(table, **options):
    return fourfifths.impact(table, protected="group", outcome="hired", **options)


def only(result, words):
    """Return the only note that holds these words."""
    (note,) = [note for note in result.notes if words in note]
    return note


def test_a_plain_comparison_needs_no_note():
    assert measure(PAIR).notes == ()


def test_berkeley_is_simpsons_paradox():
    result = impact(stratified(BERKELEY), within="job", reference="men")
    women = result["women"]
    assert women.impact_ratio < 1 < women.stratified.odds_ratio
    note = only(result, "Simpson's paradox")
    assert f"the ratio of women to men is {(557 / 1835) / (1198 / 2691):.3f}" in note
    assert "but within job the common odds ratio is" in note
    assert result.notes[0] == note


def test_strata_that_agree_with_the_pool_need_no_note():
    result = impact(stratified(RICCI), within="job", reference="White")
    assert not any("Simpson" in note for note in result.notes)


def test_a_designated_reference_below_the_highest_rate_is_noted():
    note = only(measure(THREE, reference="B"), "highest rate")
    assert "which is C's" in note
    assert "the reference is B, because B was designated" in note


def test_a_designated_reference_that_ties_for_the_highest_rate_needs_no_note():
    result = measure({"A": (5, 10), "B": (5, 10), "C": (4, 10)}, reference="B")
    assert not any("highest rate" in note for note in result.notes)


def test_a_rule_that_asks_for_a_designated_reference_needs_no_note():
    result = measure(THREE, reference="B", rule="feldman2015")
    assert not any("highest rate" in note for note in result.notes)


def test_a_group_too_small_to_be_the_reference_is_noted():
    note = only(measure({"tiny": (9, 10), "men": (300, 500), "women": (250, 490)}), "highest rate")
    assert "which is tiny's" in note
    assert "the reference is men, because tiny is under 2% of the rows" in note


def test_a_group_all_of_whose_outcomes_are_missing_is_named():
    table = frame(PAIR | {"C": (0, 4)})
    table.loc[table["group"] == "C", "hired"] = None
    assert only(impact(table), "not compared") == (
        "no row of group = 'C' has an outcome; it is not compared"
    )


def test_an_outcome_of_several_values_says_what_they_count_as():
    table = frame(PAIR)
    table.loc[0, "hired"] = "maybe"
    note = only(impact(table, favorable="yes"), "hired has 3 values")
    assert "the 2 that are not favorable all count as not selected" in note


@pytest.mark.parametrize(("rows", "words"), [(1, "1 row has"), (5, "5 rows have")])
def test_rows_without_an_outcome_are_counted(rows, words):
    table = frame(PAIR)
    table.loc[: rows - 1, "hired"] = None
    assert only(impact(table), "no hired") == f"{words} no hired and could not be counted"


def test_rows_of_unknown_membership_are_counted():
    note = only(impact(frame(PAIR | {"?": (2, 5)}), unknown=["?"]), "known group")
    assert "5 rows have no known group (2 of them selected)" in note
    assert "the bounds show how far this could change the ratios" in note


def test_rows_of_unknown_membership_are_counted_for_every_attribute():
    table = pd.DataFrame(
        {
            "sex": ["F", "F", "M", "M", None, "M"],
            "race": ["B", "W", "B", None, "W", "W"],
            "hired": ["yes", "no", "yes", "no", "yes", "yes"],
        }
    )
    result = fourfifths.impact(table, protected=["sex", "race"], outcome="hired")
    assert only(result, "no known sex (").startswith("1 row has")
    assert only(result, "no known race (").startswith("1 row has")
    assert only(result, "no known sex & race (").startswith("2 rows have")


@pytest.mark.parametrize("value", ["None", "NA", " not applicable "])
def test_a_value_that_looks_unknown_is_a_group_until_one_says_so(value):
    result = measure(PAIR | {value: (2, 5)})
    assert result[value].n == 5
    assert f"pass unknown=[{value!r}]" in only(result, "is counted as a group")


def test_a_note_names_python_arguments_and_no_shell_options():
    table = frame(PAIR | {"?": (2, 5)}).assign(w=1.5)
    assert not any("--" in note for note in impact(table, weights="w").notes)


def test_rows_of_unknown_stratum_are_counted():
    table = stratified(RICCI)
    table.loc[[0, 1, 2], "job"] = None
    note = only(impact(table, within="job"), "no job")
    assert note == "3 rows have no job and could not be compared within it"


def test_sampling_weights_are_explained_and_counts_are_not():
    table = frame(PAIR).assign(w=2)
    note = only(impact(table, weights="w"), "taken as sampling weights")
    assert note.startswith("w is taken")
    assert "pass weights_are='counts'" in note
    assert impact(table, weights="w", weights_are="counts").notes == ()


def test_several_comparisons_are_counted():
    assert only(measure(THREE), "comparisons") == (
        "2 comparisons were made; Holm's p is adjusted for all of them"
    )


def test_each_kind_of_note_alone():
    """Three groups, B designated; C has the highest rate, and nothing is missing."""
    result = measure(THREE, reference="B")
    table = open_table(frame(THREE))
    roles = assign_roles(
        table, protected="group", outcome="hired", favorable=None, reference="B", bands=None
    )
    counts = count(table, ["group", "hired"])
    measured = result.attributes
    assert list(simpsons_paradox(measured, roles)) == []
    assert list(reference_not_highest(measured, roles, rule=result.rule)) == [
        "ugesp compares with the highest rate, which is C's; here the reference is B, because B "
        "was designated"
    ]
    assert list(outcome_notes(measured, counts, roles=roles, outcome_missing=1)) == [
        "1 row has no hired and could not be counted"
    ]
    assert list(unknown_notes(measured, counts, roles=roles)) == []
