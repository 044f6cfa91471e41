from __future__ import annotations

import re
from dataclasses import replace

import pytest
from counted import measure, measure_aggregated

from fourfifths._impact.rules import RULES, SIGNIFICANT_Z

INDICATED = "adverse impact is indicated under "
FORBIDDEN = re.compile(r"\b(un)?(fair|fairness|compliant|illegal|unbiased|biased)\b", re.IGNORECASE)

# Chosen so that one idea decides each: (group), (reference), rule, reading.
READINGS = {
    "below four fifths and significant": ((12, 40), (48, 80), "ugesp", INDICATED + "ugesp"),
    "below four fifths, large, though not significant": (
        (14, 40),
        (40, 80),
        "ugesp",
        INDICATED + "ugesp",
    ),
    "one person moved reverses it": ((1, 10), (3, 20), "ugesp", "small numbers"),
    "fewer than five expected in one cell": ((3, 8), (16, 25), "ugesp", "small numbers"),
    "small but significant": ((0, 10), (15, 25), "ugesp", INDICATED + "ugesp"),
    "above four fifths yet significant": (
        (4100, 10000),
        (5000, 10000),
        "ugesp",
        "significant although above four fifths",
    ),
    "above four fifths, not significant, many rows": (
        (4950, 10000),
        (5000, 10000),
        "ugesp",
        "not indicated",
    ),
    "above four fifths, too few rows to tell": ((18, 40), (20, 40), "ugesp", "inconclusive"),
    "exactly four fifths is not below": ((400, 1000), (500, 1000), "ofccp", INDICATED + "ofccp"),
    "no one selected": ((0, 40), (0, 80), "ugesp", "undefined"),
    "just under two standard deviations": ((938, 2000), (1000, 2000), "ofccp", "not indicated"),
    "just over two standard deviations": ((936, 2000), (1000, 2000), "ofccp", INDICATED + "ofccp"),
    "fisher where fewer than 30": ((3, 14), (9, 15), "ofccp", "inconclusive"),
    "the paper's line includes four fifths": (
        (3, 5),
        (6, 8),
        "feldman2015",
        INDICATED + "feldman2015",
    ),
    "the paper needs no test": ((1, 3), (2, 3), "feldman2015", INDICATED + "feldman2015"),
    "just above the paper's line": ((801, 1000), (1000, 1000), "feldman2015", "not indicated"),
    "the paper looks both ways": (
        (48, 80),
        (12, 40),
        "feldman2015",
        "adverse impact on the reference is indicated under feldman2015",
    ),
    "no line is drawn": ((1, 40), (48, 80), "nyc-ll144", "no line is drawn"),
    "lending: below nine tenths and significant": (
        (425, 1000),
        (500, 1000),
        "lending-air",
        INDICATED + "lending-air",
    ),
    "lending: below four fifths, not significant": (
        (3, 8),
        (16, 25),
        "lending-air",
        "inconclusive",
    ),
    "lending: significant, not below nine tenths": (
        (4600, 10000),
        (5000, 10000),
        "lending-air",
        "significant although above four fifths",
    ),
}


@pytest.mark.parametrize(("group", "reference", "rule", "reading"), READINGS.values(), ids=READINGS)
def test_a_finding_reads(group, reference, rule, reading):
    result = measure_aggregated({"women": group, "men": reference}, rule=rule, reference="men")
    assert result["women"].finding == reading


@pytest.mark.parametrize(
    ("group", "reference", "below"),
    [((3, 5), (6, 8), False), ((40, 100), (50, 100), False), ((39, 100), (50, 100), True)],
)
def test_ugesp_says_in_its_grounds_whether_the_ratio_is_below_four_fifths(group, reference, below):
    because = measure({"women": group, "men": reference})["women"].because
    assert (", below 4/5" in because) == below
    assert (", not below 4/5" in because) == (not below)


def test_exactly_four_fifths_is_exactly_so_under_the_paper():
    result = measure({"women": (3, 5), "men": (6, 8)}, rule="feldman2015", reference="men")
    assert "exactly 4/5" in result["women"].because


def test_three_standard_deviations_are_said():
    assert "beyond 3 standard deviations" in measure(CASE, rule="ofccp")["women"].because


def test_two_standard_deviations_are_not_called_three():
    group = measure({"women": (35, 100), "men": (52, 100)}, rule="ofccp")["women"]
    assert 2 < abs(group.z) < 3
    assert "beyond" not in group.because


def test_fisher_decides_where_rows_are_few_and_z_where_they_are_many():
    few = measure({"women": (3, 14), "men": (9, 15)}, rule="ofccp")["women"]
    many = measure({"women": (60, 200), "men": (90, 200)}, rule="ofccp")["women"]
    assert "Fisher p" in few.because
    assert "(z " in many.because


def test_a_group_under_two_percent_is_shown_and_not_judged():
    result = measure({"few": (1, 10), "men": (300, 500), "women": (250, 490)})
    few = result["few"]
    assert few.finding == "not judged: too small a share"
    assert "1.0% of the rows, under 2%" in few.because
    assert "below 4/5" in few.because
    assert few.n == 10
    assert few.impact_ratio == pytest.approx((1 / 10) / (300 / 500))


def test_a_group_of_exactly_two_percent_is_judged():
    result = measure({"few": (1, 20), "men": (300, 500), "women": (250, 480)})
    assert result["few"].share == 0.02
    assert result["few"].finding == INDICATED + "ugesp"


def test_a_group_under_two_percent_may_be_excluded_under_the_city_rule():
    result = measure({"few": (1, 10), "men": (300, 500), "women": (250, 490)}, rule="nyc-ll144")
    assert "may be excluded from the ratios" in result["few"].because
    assert "may be excluded" not in result["women"].because


def test_a_gap_in_points_can_be_asked_for():
    wide = replace(RULES["lending-air"], gap=0.1)
    result = measure({"women": (425, 1000), "men": (500, 1000)}, rule=wide, reference="men")
    assert result["women"].finding == "not indicated"


def test_the_significance_line_is_the_two_sided_five_percent_one():
    assert pytest.approx(1.959964, abs=1e-6) == SIGNIFICANT_Z


CASE = {"women": (12, 40), "men": (48, 80)}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", READINGS.values(), ids=READINGS)
def test_findings_grounds_and_notes_keep_to_the_words(rule, case):
    group, reference, *_ = case
    result = measure_aggregated({"women": group, "men": reference}, rule=rule, reference="men")
    told = [text for each in result.attributes[0].groups for text in (each.finding, each.because)]
    assert not FORBIDDEN.search(" ".join([*told, *result.notes, *result["women"].why.values()]))


@pytest.mark.parametrize("rule", RULES)
def test_the_reference_is_said_to_be_it(rule):
    men = measure(CASE, rule=rule, reference="men")["men"]
    assert men.finding == "reference"
    assert men.impact_ratio == 1
