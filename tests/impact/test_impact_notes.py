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
    small_group_notes,
    unknown_notes,
)
from fourfifths._tables.counts import count
from fourfifths._tables.groups import assign_roles
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


# Kidney stones, Charig and others, BMJ 292 (1986), ten times as many patients for significance.
STONES = {
    "small": {"open": (810, 870), "closed": (2340, 2700)},
    "large": {"open": (1920, 2630), "closed": (550, 800)},
}


def test_a_reversal_with_both_directions_significant_is_simpsons_paradox():
    result = impact(stratified(STONES), within="job", reference="closed")
    note = only(result, "Simpson's paradox")
    assert result.notes[0] == note
    ratio = (2730 / 3500) / (2890 / 3500)
    assert "over all 7,000 rows of open and closed in values of job that have both, the" in note
    assert f"is {ratio:.3f} (p < 0.0001), but within job the common odds ratio is" in note


def test_berkeley_changes_direction_within_departments_but_may_be_chance():
    """R's mantelhaen.test(UCBAdmissions, correct = FALSE): 1.5246, p 0.2169."""
    result = impact(stratified(BERKELEY), within="job", reference="men")
    women = result["women"]
    assert women.impact_ratio < 1 < women.stratified.odds_ratio
    assert not any("paradox" in note for note in result.notes)
    note = only(result, "in the opposite direction")
    assert f"is {(557 / 1835) / (1198 / 2691):.3f} (p < 0.0001)" in note
    assert "(p 0.2169), in the opposite direction" in note
    assert note.endswith("not both are significant, so this may be chance")
    assert result.notes[0] == note


def test_both_directions_are_about_the_rows_whose_stratum_is_known():
    """Rows without a stratum reverse the ratio over all rows; those with one all agree."""
    table = pd.concat(
        [
            stratified(RICCI),
            frame({"Black": (400, 400), "White": (0, 400)}).assign(job=None),
        ],
        ignore_index=True,
    )
    result = impact(table, within="job", reference="White")
    assert result["Black"].impact_ratio > 1 > result["Black"].stratified.odds_ratio
    assert not any("opposite direction" in note for note in result.notes)


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
    assert note.endswith("; pairs='all' compares every two groups")


def test_a_group_of_too_few_rows_to_be_the_reference_is_noted():
    note = only(measure({"A": (30, 50), "B": (14, 46), "C": (2, 2)}), "highest rate")
    assert "which is C's; here the reference is A, because C has under 10 rows" in note


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
    assert list(small_group_notes(measured, result.rule)) == []
    assert list(reference_not_highest(measured, result.rule)) == [
        "ugesp compares with the highest rate, which is C's; here the reference is B, because B "
        "was designated"
    ]
    assert list(
        outcome_notes(measured, counts, roles=roles, favorable=["yes"], outcome_missing=1)
    ) == ["1 row has no hired and could not be counted"]
    assert list(unknown_notes(measured, counts, roles=roles)) == []


def test_rejection_rates_that_disagree_are_explained_by_hand():
    # 98% against 99% selected: 2% against 1% rejected, of 3,000 each.
    note = only(measure({"women": (2940, 3000), "men": (2970, 3000)}), "rejection rates disagree")
    assert note.startswith(
        "the ratios of selection rates and of rejection rates disagree: women against men 0.990 "
        "and 2.000 (2.0% against 1.0% rejected). Where most"
    )
    assert "29 CFR 1607.4(D) speaks of selection rates" in note
    # As a note it is no verdict: the rule reads the selection rates.
    women = measure({"women": (2940, 3000), "men": (2970, 3000)})["women"]
    assert women.finding == "significant although above four fifths"


@pytest.mark.parametrize(
    "groups",
    [
        {"women": (98, 100), "men": (99, 100)},  # not significant
        {"women": (60, 3000), "men": (120, 3000)},  # rare selections: 0.5, and 0.98
        {"women": (500, 1000), "men": (1000, 1000)},  # both disagree with four fifths
        {"women": (2760, 3000), "men": (2808, 3000)},  # 8% against 6.4%: exactly four fifths
    ],
    ids=["few rows", "rare", "both", "on the line"],
)
def test_rejection_rates_are_not_mentioned_where_this_does_not_help(groups):
    assert not any("rejection" in note for note in measure(groups).notes)


def test_rejection_rates_of_a_reference_that_rejects_nobody():
    note = only(measure({"women": (980, 1000), "men": (1000, 1000)}), "rejection rates disagree")
    assert "women against men 0.980 and - (2.0% against 0.0% rejected)" in note


def test_rejection_rates_of_many_groups_are_one_note():
    groups = dict.fromkeys("ABCDEFG", (2700, 3000)) | {"Z": (2900, 3000)}
    note = only(measure(groups), "rejection rates disagree")
    assert "E against Z" in note
    assert "; and 2 more. Where most" in note


def test_a_total_says_who_is_in_it():
    result = measure(THREE, total_minority=True)
    assert only(result, "(all others)") == (
        "(all others) of group: all groups but C, as one; Holm's p leaves this comparison out. C "
        "was chosen by its rate: for a total minority designate the majority as the reference"
    )
    assert "chosen by its rate" not in only(
        measure(THREE, total_minority=True, reference="C"), "(all others)"
    )
    assert "comparisons were made" in only(result, "2 comparisons")
    table = pd.concat([frame(THREE | {"D": (1, 2)}), frame({"?": (1, 4)})])
    options = {"rule": "nyc-ll144", "small_groups": "exclude", "unknown": "?"}
    note = only(impact(table, total_minority=True, **options), "(all others)")
    assert "all groups but C, as one, also 'D', without the rows of no known group;" in note


def test_a_total_of_two_groups_is_not_made_and_a_note_says_so_if_it_was_asked_for():
    asked = measure(PAIR, total_minority=True)
    assert asked.notes == ("group has two groups: all but the reference are one already",)
    assert measure(PAIR, rule="ofccp").notes == ()
