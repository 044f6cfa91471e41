"""The finding in plain sentences."""

from __future__ import annotations

import pandas as pd
import pytest
from counted import measure

import fourfifths
from fourfifths._evidence.finding import finding_paragraphs, finding_tone, summary

# Connecticut v. Teal, 457 U.S. 440: 26 of 48 and 206 of 259 passed; 54.17% / 79.54% = 0.681.
TEAL = {"Black": (26, 48), "White": (206, 259)}


def test_teal():
    text = summary(measure(TEAL))
    assert text.startswith(
        "Adverse impact is indicated under ugesp for Black (by group). Of 48 Black, 26 were "
        "selected (54.2%); of 259 White, 206 (79.5%). The impact ratio is 0.681 (95% interval "
    )
    assert finding_tone(measure(TEAL)) == "bad"


def test_the_rule_has_its_status_and_the_date_of_the_check():
    result = measure(TEAL)
    text = " ".join(finding_paragraphs(result))
    assert "29 CFR 1607.4(D)" in text
    assert f"Checked on {result.rule.status.checked_on}" in text


@pytest.mark.parametrize(
    ("groups", "rule", "words", "tone"),
    [
        ({"A": (500, 1000), "B": (500, 1000)}, "ugesp", "is not indicated under ugesp", "plain"),
        ({"A": (1, 3), "B": (2, 3)}, "ugesp", "No group could be judged under ugesp", "open"),
        (TEAL, "nyc-ll144", "draws no line between impact ratios", "plain"),
    ],
)
def test_other_findings(groups, rule, words, tone):
    result = measure(groups, rule=rule)
    assert words in summary(result)
    assert finding_tone(result) == tone


def test_unknown_membership_is_said():
    rows = {"group": ["A"] * 10 + ["B"] * 10 + [None] * 2, "hired": ["yes", "no"] * 11}
    result = fourfifths.impact(pd.DataFrame(rows), protected="group", outcome="hired")
    assert "Of 2 persons the group is not known." in finding_paragraphs(result)[1]
