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


def test_a_weighted_rate_is_not_given_as_the_share_of_rows():
    # 10 of 20 rows of A were selected, with 3/4 of the weight; 15 of 20 of B, with 9/10 of it.
    rows = {
        "group": ["A"] * 20 + ["B"] * 20,
        "hired": ["yes"] * 10 + ["no"] * 10 + ["yes"] * 15 + ["no"] * 5,
        "weight": [3.0] * 10 + [1.0] * 10 + [3.0] * 15 + [1.0] * 5,
    }
    options = {"protected": "group", "outcome": "hired", "weights": "weight"}
    table = pd.DataFrame(rows)
    text = summary(fourfifths.impact(table, **options))
    assert (
        "Of 20 A, 10 were selected (weighted rate 75.0%); of 20 B, 15 (weighted rate 90.0%)" in text
    )
    counted = summary(fourfifths.impact(table, weights_are="counts", **options))
    assert "Of 40 A, 30 were selected (75.0%); of 50 B, 45 (90.0%)" in counted


def test_a_group_that_begins_with_a_number_is_told_from_its_count():
    text = summary(measure({"40 and over": (26, 48), "under 40": (206, 259)}))
    assert "Of 48 (40 and over), 26 were selected (54.2%); of 259 under 40, 206" in text


def test_the_lowest_ratio_is_said_in_a_sentence():
    text = summary(measure({"A": (490, 1000), "B": (500, 1000)}))
    assert "A has the lowest impact ratio. Of 1,000 A, 490 were selected (49.0%); of" in text
    three = summary(measure({"A": (490, 1000), "B": (500, 1000), "C": (480, 1000)}))
    assert "C has the lowest impact ratio. Of 1,000 C, 480 were selected (48.0%); of" in three
