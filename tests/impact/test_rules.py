"""The profiles of the rules, and what `judge` makes of a group."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from counted import measure, measure_aggregated
from scipy.stats import norm

import fourfifths
from fourfifths._impact.profiles import RULES
from fourfifths._impact.rules import (
    SIGNIFICANT_Z,
    Facts,
    judge,
    judge_difference,
    power_caveat,
    ratio_in_words,
    significance,
)
from fourfifths.errors import GroupError, OptionError

CASE = {"women": (12, 40), "men": (48, 80)}
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
    # z = -.05 / sqrt(.475 x .525 x 2/1000) = -2.24. In floats .5 - .45 is less than .05.
    "insurance: exactly five points, significant": (
        (450, 1000),
        (500, 1000),
        "co-insurance",
        INDICATED + "co-insurance",
    ),
    "insurance: 4.99 points, significant": (
        (45_010, 100_000),
        (50_000, 100_000),
        "co-insurance",
        "not indicated",
    ),
    "insurance: five points, too few rows": ((18, 40), (20, 40), "co-insurance", "inconclusive"),
    "insurance: ratio .5, but two points": (
        (2000, 100_000),
        (4000, 100_000),
        "co-insurance",
        "not indicated",
    ),
    "insurers are asked for the ratio": ((1, 40), (48, 80), "nydfs-cl7", "no line is drawn"),
}


def test_a_rule_of_ones_own_is_used_as_it_is():
    strict = replace(RULES["feldman2015"], name="house", lines=(Fraction(1, 2),))
    result = measure({"women": (12, 40), "men": (44, 80)}, reference="men", rule=strict)
    assert result.rule is strict
    assert result["women"].finding == "not indicated"


def test_at_or_below_holds_for_a_line_of_ones_own():
    strict = replace(RULES["feldman2015"], name="house", lines=(Fraction(1, 2),))
    result = measure(CASE, reference="men", rule=strict)
    assert result["women"].finding == "adverse impact is indicated under house"


@pytest.mark.parametrize("name", ["feldman2015", "lending-air", "nydfs-cl7", "co-insurance"])
def test_a_rule_with_a_designated_reference_asks_for_it(name):
    with pytest.raises(fourfifths.FourfifthsError, match=r"compares with a designated group"):
        measure(CASE, rule=name)


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


FEW = {"few": (9, 10), "men": (300, 500), "women": (250, 490)}


def test_the_city_rule_includes_a_small_group_even_as_the_reference():
    """9 of 10 is the highest rate, and the rule takes the most selected category."""
    result = measure(FEW, rule="nyc-ll144")
    assert result.attributes[0].reference == "few"
    assert result["men"].impact_ratio == pytest.approx(0.6 / 0.9)
    (note,) = [note for note in result.notes if "under 2% of the rows" in note]
    assert note == (
        "'few' of group, under 2% of the rows: included in the ratios; nyc-ll144 allows an auditor "
        "to exclude such groups (small_groups='exclude')"
    )


def test_the_city_rule_excludes_a_small_group_if_asked_and_shows_its_counts():
    result = measure(FEW, rule="nyc-ll144", small_groups="exclude")
    few = result["few"]
    assert result.attributes[0].reference == "men"
    assert (few.n, few.selected, few.selection_rate) == (10, 9, 0.9)
    assert few.finding == "excluded: too small a share"
    assert few.because == (
        "1.0% of the rows, under 2%; nyc-ll144 allows such a group to be excluded from the ratios"
    )
    assert math.isnan(few.impact_ratio)
    assert few.why["impact_ratio"] == "the group is excluded from the ratios"
    assert few.against_largest is None
    assert result["women"].impact_ratio == pytest.approx((250 / 490) / 0.6)
    assert any("asks for a justification" in note for note in result.notes)
    assert not any("comparisons were made" in note for note in result.notes)
    # Its rate is shown without a ratio.
    assert row_of(str(result), "few")[1:4] == ["10", "9", "0.900"]
    assert row_of(str(result), "few")[-2:] == ["-", "-"]


def test_an_excluded_group_is_in_no_pair():
    pairs = measure(FEW, rule="nyc-ll144", small_groups="exclude", pairs="all").attributes[0].pairs
    assert [(pair.group, pair.reference) for pair in pairs] == [("women", "men")]


def test_an_excluded_group_cannot_be_designated():
    with pytest.raises(GroupError, match=r"'few' has under 2% .* and is excluded"):
        measure(FEW, rule="nyc-ll144", small_groups="exclude", reference="few")


def test_excluding_must_leave_two_groups():
    with pytest.raises(GroupError, match=r"small_groups='exclude': fewer than two"):
        measure({"few": (3, 5), "men": (300, 500)}, rule="nyc-ll144", small_groups="exclude")


@pytest.mark.parametrize("rule", ["ugesp", "ofccp", "lending-air"])
def test_other_rules_keep_their_way_with_small_groups(rule):
    with pytest.raises(OptionError, match=r"small_groups='exclude': rule .* treats small groups"):
        measure(FEW, rule=rule, small_groups="exclude")


def test_small_groups_are_excluded_or_included():
    with pytest.raises(OptionError, match=r"small_groups='drop': expected one of 'exclude', 'incl"):
        measure(FEW, rule="nyc-ll144", small_groups="drop")


def test_a_group_under_two_percent_may_be_excluded_under_the_city_rule():
    result = measure({"few": (1, 10), "men": (300, 500), "women": (250, 490)}, rule="nyc-ll144")
    assert "may be excluded from the ratios" in result["few"].because
    assert "may be excluded" not in result["women"].because


def test_a_gap_in_points_can_be_asked_for():
    wide = replace(RULES["lending-air"], gap=Fraction(1, 10))
    result = measure({"women": (425, 1000), "men": (500, 1000)}, rule=wide, reference="men")
    assert result["women"].finding == "not indicated"


def test_tests_that_disagree_are_named():
    """24 of 40 against 17 of 20: z is -1.963 (p .0497), Fisher's p is .0768."""
    group = measure({"A": (24, 40), "B": (17, 20)}, rule="lending-air", reference="B")["A"]
    assert group.finding == INDICATED + "lending-air"
    assert "significant (z -1.96, p 0.0497); the tests disagree: " in group.because
    assert "Fisher p 0.0768 is not significant" in group.because
    assert "contains 1" in group.because


def test_tests_that_agree_are_not_compared():
    assert "disagree" not in measure(CASE, rule="lending-air", reference="men")["women"].because


def test_an_interval_that_disagrees_is_named_with_its_confidence():
    wide = facts(ratio_interval=(0.6, 1.01), confidence=0.99)
    assert significance(RULES["ofccp"], wide)[1].endswith(
        "; the tests disagree: the 99% interval of the ratio, 0.600 to 1.010, contains 1"
    )
    tight = facts(z=-1.5, fisher_p=0.13, ratio_interval=(0.6, 0.99))
    assert significance(RULES["ofccp"], tight)[1].endswith(
        "; the tests disagree: the 95% interval of the ratio, 0.600 to 0.990, does not contain 1"
    )


def test_a_p_adjusted_for_the_choice_decides_where_the_rule_leaves_the_test_open():
    chosen = facts(
        z=-2.1,
        fisher_p=0.04,
        picked_from=6,
        adjusted_p=0.2,
        adjusted_for="choosing the reference",
        ratio_interval=(0.7, 0.98),
    )
    is_significant, words = significance(RULES["ugesp"], chosen)
    assert not is_significant
    assert words.startswith(
        "not significant (p 0.2000 adjusted for choosing the reference); the tests disagree: "
        "z -2.10, p 0.0357 is significant, and Fisher p 0.0400 is significant"
    )
    is_significant, words = significance(RULES["ofccp"], chosen)
    assert is_significant
    assert words == (
        "significant (z -2.10, p 0.0357); the tests disagree: p 0.2000 adjusted for choosing the "
        "reference is not significant"
    )


@pytest.mark.parametrize("rule", ["lending-air", "feldman2015"])
@pytest.mark.parametrize(
    ("first", "second"),
    [((12, 40), (20, 40)), ((20, 40), (20, 80)), ((9, 30), (30, 100)), ((0, 9), (3, 30))],
)
def test_a_pair_reads_the_same_whichever_is_the_reference(rule, first, second):
    groups = {"A": first, "B": second}
    there = measure(groups, rule=rule, reference="B")["A"].finding
    back = measure(groups, rule=rule, reference="A")["B"].finding
    assert there.replace(" on the reference", "") == back.replace(" on the reference", "")


def test_twelve_of_forty_against_twenty_of_forty_is_inconclusive_either_way():
    groups = {"A": (12, 40), "B": (20, 40)}
    for reference, group in (("A", "B"), ("B", "A")):
        result = measure(groups, rule="lending-air", reference=reference)
        assert result[group].finding == "inconclusive"


def test_the_significance_line_is_the_two_sided_five_percent_one():
    assert pytest.approx(norm.ppf(0.975), abs=1e-14) == SIGNIFICANT_Z


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", READINGS.values(), ids=READINGS)
def test_findings_grounds_and_notes_keep_to_the_words(rule, case):
    group, reference, *_ = case
    result = measure_aggregated({"women": group, "men": reference}, rule=rule, reference="men")
    texts = [*result.notes, *result["women"].why.values()]
    for group in result["group"].groups:
        texts += [group.finding, group.because]
    assert not FORBIDDEN.search(" ".join(texts))


@pytest.mark.parametrize("rule", RULES)
def test_the_reference_is_said_to_be_it(rule):
    men = measure(CASE, rule=rule, reference="men")["men"]
    assert men.finding == "reference"
    assert men.impact_ratio == 1


def row_of(text, group):
    """Return the cells of the first line of a table that begins with the group."""
    line = next(line for line in text.splitlines() if line.split()[:1] == [group])
    return line.split()


def facts(**changes):
    """Return a group of rate .4 against .5, of 1,000 rows each, and whatever else is changed."""
    figures = {
        "rate": Fraction(2, 5),
        "rate_reference": Fraction(1, 2),
        "share": Fraction(1, 2),
        "n": 2000.0,
        "least_expected": 450.0,
        "z": -4.5,
        "fisher_p": 1e-5,
        "picked_from": 0,
        "adjusted_p": float("nan"),
        "adjusted_for": "",
        "flip": 0.804,
        "ratio_interval": (0.73, 0.88),
        "confidence": 0.95,
        "detectable_ratio": 0.88,
    }
    return Facts(**figures | changes)


def test_the_words_about_power_name_the_smallest_detectable_effect():
    agreeing = {"z": -1.2, "fisher_p": 0.25, "ratio_interval": (0.5, 1.2)}
    finding = judge(RULES["ofccp"], facts(**agreeing, detectable_ratio=0.484))
    assert finding.reading == "inconclusive"
    # The two-sided p of z = 1.2, from a table of the normal distribution.
    assert finding.because == (
        "ratio 0.800, not below 4/5; not significant (z -1.20, p 0.2301); with this many rows a "
        "ratio closer to 1 than 0.48 would probably go unnoticed"
    )


def test_the_words_about_power_where_nothing_is_detectable():
    finding = judge(RULES["ofccp"], facts(z=-1.2, detectable_ratio=float("nan")))
    assert finding.reading == "inconclusive"
    assert finding.because.endswith(
        "with this many rows even a ratio of 0 would go unnoticed more than one time in five"
    )


@pytest.mark.parametrize(
    "figures",
    [{"detectable_ratio": 0.81}, {"detectable_ratio": 0.5, "ratio_interval": (0.81, 1.1)}],
)
def test_enough_rows_or_an_interval_above_the_line_are_conclusive(figures):
    assert judge(RULES["ofccp"], facts(z=-1.2, **figures)).reading == "not indicated"


def test_a_test_that_nothing_varies_in_is_none():
    certain = facts(rate=Fraction(1), rate_reference=Fraction(1), z=float("nan"))
    finding = judge(replace(RULES["ofccp"], reference="designated"), certain)
    assert "no test: everyone or no one was selected" in finding.because


def test_without_fishers_p_the_z_test_decides_however_few_the_rows():
    weighted = facts(n=20.0, least_expected=4.5, z=-2.1, fisher_p=float("nan"))
    assert judge(RULES["ofccp"], weighted).reading == "adverse impact is indicated under ofccp"


def test_a_rule_by_a_test_needs_no_line():
    finding = judge(replace(RULES["ofccp"], name="house", lines=()), facts())
    assert finding.reading == "adverse impact is indicated under house"
    assert finding.because == (
        "ratio 0.800; significant (z -4.50, p < 0.0001, beyond 3 standard deviations)"
    )
    assert not finding.below_line


def test_below_line_is_about_the_lowest_line():
    between = facts(rate=Fraction(17, 40))
    below = facts(rate=Fraction(15, 40))
    assert "below 9/10" in judge(RULES["lending-air"], between).because
    assert not judge(RULES["lending-air"], between).below_line
    assert judge(RULES["lending-air"], below).below_line


def test_a_group_that_is_too_small_to_judge_is_still_marked_below_the_line():
    finding = judge(RULES["ugesp"], facts(rate=Fraction(1, 5), share=Fraction(1, 100)))
    assert finding.reading == "not judged: too small a share"
    assert finding.because.startswith("1.0% of the rows, under 2%, the least that ugesp judges; ")
    assert finding.below_line


def test_few_rows_are_tested_exactly_and_many_by_z():
    few = facts(n=20.0, least_expected=4.5, z=-1.7, fisher_p=0.07, ratio_interval=(0.5, 1.1))
    assert significance(RULES["ofccp"], few) == (False, "not significant (Fisher p 0.0700)")
    assert significance(RULES["ofccp"], facts(z=-2.1)) == (
        True,
        "significant (z -2.10, p 0.0357)",
    )


def test_the_ratio_in_words_names_the_line():
    ugesp, below = RULES["ugesp"], facts(rate=Fraction(1, 4))
    four_fifths = Fraction(4, 5)
    assert ratio_in_words(ugesp, below, crossed=[four_fifths]) == "ratio 0.500, below 4/5"
    assert ratio_in_words(ugesp, facts(), crossed=[four_fifths]) == "ratio 0.800, exactly 4/5"
    assert ratio_in_words(ugesp, facts(), crossed=[]) == "ratio 0.800, not below 4/5"


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"detectable_ratio": 0.8}, ""),
        ({"detectable_ratio": 0.5, "ratio_interval": (0.81, 1.1)}, ""),
        (
            {"detectable_ratio": 0.5},
            "with this many rows a ratio closer to 1 than 0.50 would probably go unnoticed",
        ),
    ],
)
def test_missing_power_is_said_only_below_four_fifths(figures, expected):
    assert power_caveat(facts(**figures)) == expected


def test_exactly_four_fifths_is_below_the_line_only_where_the_rule_says_at_or_below():
    assert not judge_difference(RULES["ugesp"], facts()).below_line
    assert judge_difference(RULES["feldman2015"], facts()).below_line


def test_a_gap_too_small_is_rounded_down_and_said():
    """50% - 45.01% = 4.99 points."""
    result = measure_aggregated(
        {"A": (45_010, 100_000), "B": (50_000, 100_000)}, rule="co-insurance", reference="B"
    )
    assert ", a gap of 4.9 points, under 5; significant (z " in result["A"].because


def test_a_gap_large_enough_is_said():
    groups = {"A": (450, 1000), "B": (500, 1000)}
    result = measure_aggregated(groups, rule="co-insurance", reference="B")
    assert ", a gap of 5.0 points, at least 5; significant (z -2.24" in result["A"].because
    assert "4/5" not in result["A"].because


def test_the_trigger_of_ofccp_is_a_reason_to_look_closer_and_no_finding():
    """13 of 40 against 34 of 80: ratio .765, z = -.1 / sqrt(.3917 x .6083 x 3/80) = -1.06."""
    group = measure({"A": (13, 40), "B": (34, 80)}, rule="ofccp")["A"]
    assert group.because.startswith(
        "ratio 0.765, below 4/5 (the trigger of a closer look); not significant (z -1.06"
    )
    assert "is indicated" not in group.finding
    assert group.below_line


CHECKLISTS = [rule.name for rule in RULES.values() if rule.is_checklist]


@pytest.mark.parametrize("name", CHECKLISTS)
def test_a_law_without_a_number_gives_a_checklist_and_never_a_finding(name):
    """Of 12 of 400 and 480 of 800 every rule with a number would say something."""
    result = measure_aggregated({"women": (12, 400), "men": (480, 800)}, rule=name, pairs="all")
    women = result["women"]
    assert (women.finding, women.below_line) == ("no finding", False)
    assert women.impact_ratio == pytest.approx(0.05)
    assert [pair.finding for pair in result.attributes[0].pairs] == ["no finding"]
    text = " ".join(str(result).split())
    assert f"women: no finding: {name} has no number; it gives a checklist." in text
    assert "indicated" not in text
    for question in RULES[name].status.questions:
        assert f"[ ] {question}" in text


def test_a_checklist_has_a_small_group_and_no_one_selected_too():
    result = measure_aggregated({"few": (0, 1), "A": (0, 50), "B": (0, 50)}, rule="uk-ea-19")
    findings = {group.finding for group in result.attributes[0].groups}
    assert findings == {"reference", "no finding"}
