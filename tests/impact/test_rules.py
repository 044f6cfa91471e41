from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest
from counted import measure

import fourfifths
from fourfifths._impact.rules import RULES, RuleName, get_rule
from fourfifths.errors import OptionError

CASE = {"women": (12, 40), "men": (48, 80)}


def test_the_five_rules_are_there():
    assert set(RULES) == {"feldman2015", "ugesp", "ofccp", "nyc-ll144", "lending-air"}


def test_the_types_name_the_same_rules():
    assert set(get_args(RuleName)) == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_carries_its_source_its_date_and_its_status(rule):
    assert rule.title
    assert rule.source
    assert rule.status.endswith(".")
    assert any(character.isdigit() for character in rule.date)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_is_ready_for_json(rule):
    told = json.loads(json.dumps(rule.to_dict()))
    assert told["name"] == rule.name
    assert told["lines"] == [str(line) for line in rule.lines]


@pytest.mark.parametrize(
    ("name", "reference", "decision", "lines", "boundary"),
    [
        ("feldman2015", "designated", "ratio", (Fraction(4, 5),), "at or below"),
        ("ugesp", "highest", "ratio or test", (Fraction(4, 5),), "below"),
        ("ofccp", "highest", "test", (Fraction(4, 5),), "below"),
        ("nyc-ll144", "highest", "none", (), "below"),
        ("lending-air", "designated", "ratio and test", (Fraction(4, 5), Fraction(9, 10)), "below"),
    ],
)
def test_a_rules_profile_says_what_its_source_says(name, reference, decision, lines, boundary):
    rule = RULES[name]
    assert (rule.reference, rule.decision) == (reference, decision)
    assert (rule.lines, rule.boundary) == (lines, boundary)


@pytest.mark.parametrize("name", ["ugesp", "ofccp", "nyc-ll144"])
def test_two_percent_is_an_exact_fraction(name):
    assert RULES[name].minimum_share == Fraction(1, 50)


def test_ofccp_counts_two_and_three_standard_deviations_and_fisher_below_30_and_5():
    ofccp = RULES["ofccp"]
    assert (ofccp.standard_deviations, ofccp.strong_standard_deviations) == (2, 3)
    assert (ofccp.exact_below_n, ofccp.exact_below_expected) == (30, 5)


def test_a_rule_of_ones_own_is_used_as_it_is():
    strict = replace(RULES["feldman2015"], name="house", lines=(Fraction(1, 2),))
    result = measure({"women": (12, 40), "men": (44, 80)}, reference="men", rule=strict)
    assert result.rule is strict
    assert result["women"].finding == "not indicated"


def test_at_or_below_holds_for_a_line_of_ones_own():
    strict = replace(RULES["feldman2015"], name="house", lines=(Fraction(1, 2),))
    result = measure(CASE, reference="men", rule=strict)
    assert result["women"].finding == "adverse impact is indicated under house"


@pytest.mark.parametrize(("wrong", "meant"), [("ugsep", "ugesp"), ("OFCCP", "ofccp")])
def test_an_unknown_rule_suggests_the_nearest(wrong, meant):
    with pytest.raises(OptionError, match=rf"rule='{wrong}'.*did you mean '{meant}'"):
        get_rule(wrong)


def test_the_public_table_of_rules_is_the_one_in_use():
    assert fourfifths.RULES is RULES


@pytest.mark.parametrize("name", ["feldman2015", "lending-air"])
def test_a_rule_with_a_designated_reference_asks_for_it(name):
    with pytest.raises(fourfifths.FourfifthsError, match=r"compares with a designated group"):
        measure(CASE, rule=name)
