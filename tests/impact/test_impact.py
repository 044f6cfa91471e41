"""The goldens of the law and its literature, through the public function."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from counted import aggregated, frame, measure, measure_aggregated, printed, stratified
from scipy.stats import fisher_exact

import fourfifths
from fourfifths._impact.impact import count_outcomes, get_rule
from fourfifths._tables.groups import assign_roles
from fourfifths._tables.table import open_table
from fourfifths.errors import OptionError, OutcomeError

DOORS = pytest.mark.parametrize(
    "measured", [measure, measure_aggregated], ids=["rows", "aggregated"]
)
# group, reference, figure: what is printed.
GOLDENS = {
    "Connecticut v. Teal": (
        (26, 48),
        (206, 259),
        {"impact_ratio": "0.68103", "z": "-3.757", "fisher_p": "0.000404"},
        ("12.178", "10.274"),
    ),
    "Ricci captain, Black": (
        (3, 8),
        (16, 25),
        {"impact_ratio": "0.58594", "z": "-1.320", "fisher_p": "0.23787"},
        None,
    ),
    "Ricci lieutenant, Black": (
        (6, 19),
        (25, 43),
        {
            "impact_ratio": "0.54316",
            "z": "-1.928",
            "fisher_p": "0.09708",
            "fisher_p_less": "0.04854",
        },
        None,
    ),
    "UGESP questions and answers": (
        (12, 40),
        (48, 80),
        {"impact_ratio": "0.5", "z": "-3.098", "fisher_p": "0.00341"},
        ("12", "8"),
    ),
    "flip": ((1, 10), (3, 20), {"impact_ratio": "0.667", "flip": "2.0"}, None),
    "Morris 2017": (
        (2, 10),
        (15, 25),
        {
            "impact_ratio": "0.3333",
            "z": "-2.139",
            "fisher_p": "0.0599",
            "phi": "-0.3616",
            "h": "-0.845",
        },
        None,
    ),
    "New York City rule, sex": ((555, 1181), (667, 1390), {"impact_ratio": "0.979"}, None),
}
NEW_YORK_RACE = {
    "Hispanic or Latino": ((204, 408), "0.97"),
    "White": ((412, 797), "1.00"),
    "Black or African American": ((170, 390), "0.84"),
    "Native Hawaiian or Pacific Islander": ((52, 119), "0.85"),
    "Asian": ((302, 616), "0.95"),
    "Native American or Alaska Native": ((18, 41), "0.85"),
    "Two or More Races": ((96, 213), "0.87"),
}
TEAL = {"Black": (26, 48), "White": (206, 259)}


@DOORS
@pytest.mark.parametrize(
    ("group", "reference", "figures", "shortfall"), GOLDENS.values(), ids=GOLDENS
)
def test_golden(measured, group, reference, figures, shortfall):
    found = measured({"focal": group, "reference": reference}, reference="reference")["focal"]
    assert {name: getattr(found, name) for name in figures} == {
        name: printed(text) for name, text in figures.items()
    }
    if shortfall:
        assert found.shortfall.to_reference == printed(shortfall[0])
        assert found.shortfall.to_pooled == printed(shortfall[1])


@DOORS
def test_ricci_captain_is_below_four_fifths_and_far_from_significant(measured):
    black = measured({"Black": (3, 8), "White": (16, 25)})["Black"]
    assert black.finding == "small numbers"
    assert "below 4/5; not significant" in black.because


@DOORS
def test_the_flip_case_is_small_numbers(measured):
    group = measured({"focal": (1, 10), "reference": (3, 20)})["focal"]
    assert group.finding == "small numbers"
    assert "one person's outcome would make the ratio 2.00" in group.because


@DOORS
def test_three_of_five_against_six_of_eight_is_exactly_four_fifths_and_not_below(measured):
    group = measured({"focal": (3, 5), "reference": (6, 8)})["focal"]
    assert "ratio 0.800, not below 4/5" in group.because
    assert "indicated under" not in group.finding


@DOORS
def test_the_ratio_of_three_of_five_to_six_of_eight_is_the_number_four_fifths(measured):
    assert measured({"focal": (3, 5), "reference": (6, 8)})["focal"].impact_ratio == 0.8


@DOORS
@pytest.mark.parametrize("reference", [None, "White"])
def test_new_york_city_rule_race(measured, reference):
    groups = {name: counts for name, (counts, _) in NEW_YORK_RACE.items()}
    result = measured(groups, rule="nyc-ll144", reference=reference)
    assert result.attributes[0].reference == "White"
    assert {group.group: group.impact_ratio for group in result.attributes[0].groups} == {
        name: printed(ratio) for name, (_, ratio) in NEW_YORK_RACE.items()
    }


@DOORS
def test_new_york_city_rule_race_has_one_group_under_two_percent(measured):
    groups = {name: counts for name, (counts, _) in NEW_YORK_RACE.items()}
    result = measured(groups, rule="nyc-ll144")
    under = [group.group for group in result.attributes[0].groups if group.share < 0.02]
    assert under == ["Native American or Alaska Native"]
    assert "under 2%" in result["Native American or Alaska Native"].because
    assert result["Native American or Alaska Native"].n == 41


@DOORS
def test_new_york_city_rule_sex_has_the_male_rate_as_the_highest(measured):
    result = measured({"Female": (555, 1181), "Male": (667, 1390)}, rule="nyc-ll144")
    assert result.attributes[0].reference == "Male"


def test_ricci_both_exams_as_an_aggregated_table():
    table = (
        stratified(
            {
                "captain": {"Black": (3, 8), "White": (16, 25)},
                "lieutenant": {"Black": (6, 19), "White": (25, 43)},
            }
        )
        .value_counts()
        .reset_index()
    )
    within = fourfifths.impact(
        table,
        protected="group",
        outcome="hired",
        within="job",
        weights="count",
        weights_are="counts",
    )["Black"].stratified
    assert within.odds_ratio == printed("0.33395")
    assert within.cmh == printed("5.348")
    assert within.cmh_p == printed("0.0207")
    assert within.breslow_day_p == printed("0.988")


def test_an_aggregated_table_gives_every_figure_that_its_rows_give():
    assert [each.to_dict() for each in measure(TEAL)] == [
        each.to_dict() for each in measure_aggregated(TEAL)
    ]


def test_the_papers_cells_and_rates_by_hand():
    # Teal: 22 of 48 and 53 of 259 were not selected.
    black = measure(TEAL)["Black"]
    assert (black.a, black.b, black.c, black.d) == (22, 53, 26, 206)
    assert black.sensitivity == pytest.approx(206 / 259)
    assert black.specificity == pytest.approx(22 / 48)
    assert black.balanced_error_rate == pytest.approx((53 / 259 + 26 / 48) / 2)


def test_rates_differences_and_shares_by_hand():
    black = measure(TEAL)["Black"]
    assert (black.n, black.selected, black.effective_n) == (48, 26, 48)
    assert black.selection_rate == pytest.approx(26 / 48)
    assert black.difference == pytest.approx(26 / 48 - 206 / 259)
    assert black.likelihood_ratio == pytest.approx((206 / 259) / (26 / 48))
    assert black.share == pytest.approx(48 / 307)
    assert black.expected == pytest.approx(48 * 232 / 307)


@pytest.mark.parametrize(
    ("group", "reference", "flip"),
    [
        ((1, 10), (3, 20), (2 / 10) / (2 / 20)),
        ((12, 40), (48, 80), (13 / 40) / (47 / 80)),
        ((48, 80), (12, 40), (47 / 80) / (13 / 40)),
        ((0, 10), (2, 10), 1.0),
    ],
)
def test_the_flip_moves_one_selection_to_the_side_with_the_lower_rate(group, reference, flip):
    result = measure({"focal": group, "reference": reference}, reference="reference")
    assert result["focal"].flip == pytest.approx(flip)


@pytest.mark.parametrize(
    ("group", "reference"), [((5, 10), (5, 10)), ((0, 10), (1, 10)), ((0, 5), (0, 5))]
)
def test_there_is_no_flip_where_nothing_can_be_moved(group, reference):
    groups = {"focal": group, "reference": reference}
    found = measure_aggregated(groups, reference="reference")["focal"]
    assert math.isnan(found.flip)
    assert found.why["flip"]


def test_the_balanced_error_rate_is_that_of_predicting_the_reference_from_selection():
    table = frame(TEAL)
    truth, predicted = table["group"] == "White", table["hired"] == "yes"
    errors = [np.mean(predicted[truth] == False), np.mean(predicted[~truth])]  # noqa: E712
    assert measure(TEAL)["Black"].balanced_error_rate == pytest.approx(np.mean(errors))


def test_a_group_of_whom_no_one_is_selected():
    group = measure({"focal": (0, 20), "reference": (10, 20)})["focal"]
    assert group.impact_ratio == 0
    assert group.impact_ratio_interval[0] == 0
    assert math.isfinite(group.impact_ratio_interval[1])
    assert math.isnan(group.likelihood_ratio)
    assert "no one in the group was selected" in group.why["likelihood_ratio"]


def test_a_reference_of_whom_no_one_is_selected():
    result = measure({"focal": (5, 20), "reference": (0, 20)}, reference="reference")
    group = result["focal"]
    assert math.isnan(group.impact_ratio)
    assert "no one in the reference group was selected" in group.why["impact_ratio"]
    assert group.likelihood_ratio == 0
    assert math.isnan(group.impact_ratio_interval[1])
    assert group.fisher_p == pytest.approx(fisher_exact([[5, 15], [0, 20]]).pvalue)


def test_undefined_is_never_zero_one_or_infinity():
    groups = {"focal": (0, 20), "reference": (0, 20)}
    group = measure_aggregated(groups, reference="reference")["focal"]
    for figure in ("impact_ratio", "likelihood_ratio", "z", "phi", "flip", "detectable_ratio"):
        assert math.isnan(getattr(group, figure)), figure
        assert group.why[figure], figure


def test_rows_without_an_outcome_are_left_out_and_counted():
    table = frame(TEAL)
    table.loc[:4, "hired"] = None
    result = fourfifths.impact(table, protected="group", outcome="hired")
    assert result.outcome_missing == 5
    assert result.rows == 307 - 5
    assert (result["Black"].n, result["Black"].selected) == (43, 21)
    assert any("5 rows have no hired" in note for note in result.notes)


def test_a_group_all_of_whose_outcomes_are_missing_is_not_compared_and_noted():
    table = frame({"A": (3, 8), "B": (16, 25), "C": (0, 4)})
    table.loc[table["group"] == "C", "hired"] = None
    result = fourfifths.impact(table, protected="group", outcome="hired")
    assert [group.group for group in result.attributes[0].groups] == ["A", "B"]
    assert any("'C' has an outcome; it is not compared" in note for note in result.notes)
    assert result.attributes[0].unknown == 0


def test_a_single_group_with_outcomes_leaves_nothing_to_compare():
    table = frame({"A": (3, 8), "C": (0, 4)})
    table.loc[table["group"] == "C", "hired"] = None
    with pytest.raises(fourfifths.FourfifthsError, match="fewer than two groups have rows"):
        fourfifths.impact(table, protected="group", outcome="hired")


def test_confidence_is_kept_by_every_interval():
    group = measure(TEAL, confidence=0.9)["Black"]
    wide = measure(TEAL, confidence=0.99)["Black"]
    for figure in ("selection_rate_interval", "impact_ratio_interval"):
        assert getattr(wide, figure)[0] < getattr(group, figure)[0]
        assert getattr(group, figure)[1] < getattr(wide, figure)[1]


def test_a_figure_of_a_result_cannot_be_changed():
    with pytest.raises(AttributeError, match="impact_ratio"):
        measure(TEAL)["Black"].impact_ratio = 1


def test_a_group_that_is_not_there_is_a_key_error_that_names_those_that_are():
    with pytest.raises(KeyError, match=r"no group 'Martian'.*'Black', 'White'"):
        measure(TEAL)["Martian"]


def test_the_table_that_was_passed_is_not_changed():
    table = aggregated(TEAL)
    before = table.copy(deep=True)
    fourfifths.impact(
        table,
        protected="group",
        outcome="hired",
        weights="count",
        weights_are="counts",
    )
    assert table.equals(before)


def test_a_score_above_the_median_is_counted_as_the_outcome():
    table = open_table(pd.DataFrame({"group": ["A", "A", "B", "B"], "s": [1, 2, 3, 9]}))
    roles = assign_roles(
        table,
        protected="group",
        outcome=None,
        favorable=None,
        reference=None,
        bands=None,
        score="s",
        outcome_is="the score",
    )
    counts, roles = count_outcomes(
        table,
        roles,
        rule=fourfifths.RULES["nyc-ll144"],
        weights_are="sampling",
        median_of="all",
    )
    assert roles.outcome == "s > 2.5"
    assert sorted(counts.rows.tolist()) == [2, 2]


@pytest.mark.parametrize("favorable", ["yes", None])
def test_an_outcome_of_one_value_and_blanks_is_an_error(favorable):
    table = pd.DataFrame({"sex": ["F", "M"] * 20, "hired": ["yes", None, "yes", "yes"] * 10})
    with pytest.raises(OutcomeError, match=r"holds ('yes' and 10 blanks|only 'yes')"):
        fourfifths.impact(table, protected="sex", outcome="hired", favorable=favorable)
    # Without blanks everyone was selected, and that is an answer.
    result = fourfifths.impact(
        table.fillna("yes"), protected="sex", outcome="hired", favorable="yes"
    )
    assert result["F"].selection_rate == 1


@pytest.mark.parametrize(("wrong", "meant"), [("ugsep", "ugesp"), ("OFCCP", "ofccp")])
def test_an_unknown_rule_suggests_the_nearest(wrong, meant):
    with pytest.raises(OptionError, match=rf"rule='{wrong}'.*did you mean '{meant}'"):
        get_rule(wrong)
