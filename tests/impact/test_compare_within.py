"""Groups compared within the values of a further column, through the public function."""

from __future__ import annotations

import pytest
from counted import printed, stratified

import fourfifths

RICCI = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}


def measure(strata, **options):
    return fourfifths.impact(
        stratified(strata), protected="group", outcome="hired", within="job", **options
    )


def test_ricci_by_exam():
    result = measure(RICCI, reference="White")
    within = result["Black"].stratified
    assert within.odds_ratio == printed("0.33395")
    assert within.cmh == printed("5.348")
    assert within.cmh_p == printed("0.0207")
    assert within.breslow_day_p == printed("0.988")


def test_each_stratum_is_listed_by_its_name():
    captain, lieutenant = measure(RICCI, reference="White")["Black"].stratified.strata
    assert (captain["stratum"], captain["selected"], captain["n"]) == ("captain", 3, 8)
    assert (captain["selected_reference"], captain["n_reference"]) == (16, 25)
    assert lieutenant["stratum"] == "lieutenant"


def test_the_reference_is_not_compared_with_itself_within_strata():
    reference = measure(RICCI, reference="White")["White"]
    assert reference.stratified is None
    assert reference.why["stratified"] == "this is the reference group"


def test_without_a_column_to_compare_within_the_reason_is_given_for_every_group():
    result = fourfifths.impact(stratified(RICCI), protected="group", outcome="hired")
    reason = "no column to compare within was named"
    assert [group.why["stratified"] for group in result.attributes[0].groups] == [reason] * 2


def test_rows_of_unknown_stratum_are_left_out_of_it():
    table = stratified(RICCI)
    table.loc[[0, 1, 2], "job"] = None
    result = fourfifths.impact(table, protected="group", outcome="hired", within="job")
    strata = result["Black"].stratified.strata
    assert sum(stratum["n"] for stratum in strata) == 27 - 3
    assert result["Black"].n == 27


def test_a_group_without_any_known_stratum_is_not_compared_within():
    table = stratified(RICCI)
    table.loc[table["group"] == "Black", "job"] = None
    result = fourfifths.impact(
        table, protected="group", outcome="hired", within="job", reference="White"
    )
    assert result["Black"].stratified is None
    assert result["Black"].why["stratified"] == "no row of the group has a known job"


def test_sampling_weights_leave_no_comparison_within_strata():
    result = fourfifths.impact(
        stratified(RICCI).assign(w=1.5),
        protected="group",
        outcome="hired",
        within="job",
        weights="w",
    )
    assert result["Black"].stratified is None
    assert "sampling weights" in result["Black"].why["stratified"]


def test_strata_may_have_any_type_of_value():
    result = measure({2019: RICCI["captain"], 2020: RICCI["lieutenant"]})
    assert result["Black"].stratified.odds_ratio == printed("0.33395")
    assert [stratum["stratum"] for stratum in result["Black"].stratified.strata] == [2019, 2020]


@pytest.mark.parametrize("reference", ["Black", "White"])
def test_swapping_the_groups_inverts_the_odds_ratio(reference):
    other = {"Black": "White", "White": "Black"}[reference]
    odds_ratio = measure(RICCI, reference=reference)[other].stratified.odds_ratio
    expected = 0.33395 if reference == "White" else 1 / 0.33395
    assert odds_ratio == pytest.approx(expected, rel=1e-4)
