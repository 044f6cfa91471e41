"""The rules by name: numbers and dates from the texts themselves, never from the code."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

import fourfifths
from fourfifths._impact.profiles import RULES, RuleName

DOCS = Path(__file__).parents[2] / "docs"
# (reference, decision, lines, boundary)
NUMBERS = {
    # Definition 1.1: at most .8.
    "feldman2015": ("designated", "ratio", (Fraction(4, 5),), "at or below"),
    # "less than four-fifths (4/5) (or eighty percent) of the rate for the group with the highest".
    "ugesp": ("highest", "ratio or test", (Fraction(4, 5),), "below"),
    # "less than 80% of the selection rate for the favored group".
    "ofccp": ("highest", "test", (Fraction(4, 5),), "below"),
    "nyc-ll144": ("highest", "none", (), "below"),
    "lending-air": ("designated", "ratio and test", (Fraction(4, 5), Fraction(9, 10)), "below"),
    "nydfs-cl7": ("designated", "none", (), "below"),
    "co-insurance": ("designated", "test and gap", (), "below"),
}
# What has no number, and from when it is law.
NUMBERLESS = {
    "nj-lad": date(2025, 12, 15),
    "ca-feha": date(2025, 10, 1),
    "il-ihra": date(2026, 1, 1),
    "fha": date(2023, 5, 1),
    "co-sb26-189": date(2027, 1, 1),
    "ct-sb5": date(2026, 10, 1),
    "eu-ai-act-10": date(2027, 12, 2),
    "uk-ea-19": date(2010, 10, 1),
}


def test_the_rules_are_those_with_a_number_and_those_without():
    assert set(RULES) == NUMBERS.keys() | NUMBERLESS.keys()


def test_the_types_name_the_same_rules():
    assert get_args(RuleName) == tuple(RULES)


def test_the_public_table_of_rules_is_the_one_in_use():
    assert fourfifths.RULES is RULES


@pytest.mark.parametrize(("name", "numbers"), NUMBERS.items(), ids=NUMBERS)
def test_a_rules_arithmetic_says_what_its_source_says(name, numbers):
    rule = RULES[name]
    assert (rule.reference, rule.decision, rule.lines, rule.boundary) == numbers
    assert not rule.is_checklist


@pytest.mark.parametrize(("name", "start"), NUMBERLESS.items(), ids=NUMBERLESS)
def test_a_law_without_a_number_has_no_arithmetic_and_a_list_of_questions(name, start):
    rule = RULES[name]
    assert rule.is_checklist
    assert (rule.lines, rule.gap, rule.standard_deviations) == ((), 0, None)
    assert (rule.status.kind, rule.status.in_force_from) == ("law", start)
    assert rule.status.questions
    assert "no number" in rule.status.standing.lower()


@pytest.mark.parametrize("name", ["ugesp", "ofccp", "nyc-ll144"])
def test_two_percent_is_an_exact_fraction(name):
    assert RULES[name].minimum_share == Fraction(1, 50)


def test_ofccp_counts_two_and_three_standard_deviations_and_fisher_below_30_and_5():
    ofccp = RULES["ofccp"]
    assert (ofccp.standard_deviations, ofccp.strong_standard_deviations) == (2, 3)
    assert (ofccp.exact_below_n, ofccp.exact_below_expected) == (30, 5)


def test_the_80_percent_of_ofccp_is_a_trigger_and_minorities_are_compared_together():
    assert [rule.name for rule in RULES.values() if rule.line_is == "trigger"] == ["ofccp"]
    assert [rule.name for rule in RULES.values() if rule.total_minority] == ["ofccp"]


def test_ofccp_ended_with_its_executive_order():
    """Executive Order 14173 of 21 January 2025 revoked Executive Order 11246 of 1965."""
    assert RULES["ofccp"].status.in_force_to == date(2025, 1, 21)
    assert RULES["ofccp"].status.period == "historical: in force from 1965-09-24 to 2025-01-21"


def test_colorados_draft_asks_for_five_points_at_five_percent():
    rule = RULES["co-insurance"]
    assert (rule.gap, rule.standard_deviations) == (Fraction(1, 20), None)
    assert rule.status.period == "a draft, not in force"
    assert "could not be read" in rule.status.checked_against


@pytest.mark.parametrize(
    ("name", "period"),
    [
        ("feldman2015", "a definition, not law"),
        ("lending-air", "a practice, not law"),
        ("nj-lad", "in force from 2025-12-15"),
        ("co-sb26-189", "not yet in force: from 2027-01-01"),
    ],
)
def test_the_period_is_said_in_words(name, period):
    assert RULES[name].status.period == period


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_carries_its_source_and_what_it_was_checked_against(rule):
    status = rule.status
    assert rule.title
    assert any(character.isdigit() for character in status.source)
    assert status.standing.endswith(".")
    assert status.checked_against
    assert not status.checked_against.endswith(".")
    assert status.checked_on >= date(2026, 11, 18)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_is_ready_for_json_with_arithmetic_and_status_apart(rule):
    profile = json.loads(json.dumps(rule.to_dict()))
    assert list(profile) == ["name", "title", "arithmetic", "status"]
    assert profile["arithmetic"]["lines"] == [str(line) for line in rule.lines]
    assert profile["status"]["checked_on"] == rule.status.checked_on.isoformat()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_of_the_rules_says_what_the_profiles_say(rule):
    words = " ".join((DOCS / "rules.md").read_text(encoding="utf-8").split())
    assert f"`{rule.name}`" in words
    for text in (
        rule.status.source,
        rule.status.period,
        rule.status.standing,
        rule.status.checked_against,
        *rule.status.questions,
        *rule.status.duties.to_dict().values(),
    ):
        assert text in words


def test_the_rules_are_read_without_numpy_and_scipy():
    code = (
        "import sys, fourfifths._impact.profiles\n"
        "print({'numpy', 'scipy', 'narwhals'} & sys.modules.keys())"
    )
    shell = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shell.stdout.strip() == "set()"
