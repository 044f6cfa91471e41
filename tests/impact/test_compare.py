"""Who is compared with whom: the reference, many comparisons, all pairs, unknown membership."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from counted import frame, measure, measure_aggregated
from scipy.stats import binom, fisher_exact, norm, studentized_range
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import power_proportions_2indep

import fourfifths
from fourfifths._impact.compare import compare_pairs, flip
from fourfifths._tables.groups import Tally
from fourfifths.errors import GroupError, OptionError, WeightsError

THREE = {"A": (10, 40), "B": (20, 40), "C": (30, 50)}


def both(people: list[tuple[str | None, str | None, bool]]) -> pd.DataFrame:
    """Return rows of sex, race and whether selected."""
    table = pd.DataFrame(people, columns=["sex", "race", "chosen"])
    return table.assign(chosen=table["chosen"].map({True: "yes", False: "no"}))


def test_each_value_is_compared_with_the_highest_rate():
    attribute = measure(THREE).attributes[0]
    assert attribute.reference == "C"
    assert attribute["A"].impact_ratio == pytest.approx((10 / 40) / (30 / 50))
    assert attribute["B"].impact_ratio == pytest.approx((20 / 40) / (30 / 50))


def test_a_designated_reference_replaces_the_highest_rate():
    result = measure(THREE, reference="B")
    assert result.attributes[0].reference == "B"
    assert result["A"].impact_ratio == pytest.approx(0.5)


def test_a_group_under_two_percent_is_no_reference():
    result = measure({"tiny": (9, 10), "men": (300, 500), "women": (250, 490)})
    assert result.attributes[0].reference == "men"


# A tiny group with the highest rate: 2 of 98 rows are above 2%, but too few to compare with.
TINY = {"A": (30, 50), "B": (14, 46), "C": (2, 2)}


@pytest.mark.parametrize("rule", ["ugesp", "ofccp"])
def test_a_group_of_a_few_rows_is_no_reference(rule):
    result = measure(TINY, rule=rule)
    assert result.attributes[0].reference == "A"
    assert result["B"].impact_ratio == pytest.approx((14 / 46) / (30 / 50))
    assert result["B"].fisher_p == pytest.approx(fisher_exact([[14, 32], [30, 20]]).pvalue)
    assert result["B"].finding == f"adverse impact is indicated under {rule}"


def test_ten_rows_are_enough_to_be_the_reference():
    assert measure(TINY | {"C": (9, 9)}).attributes[0].reference == "A"
    assert measure(TINY | {"C": (10, 10)}).attributes[0].reference == "C"


def test_with_one_group_of_enough_rows_the_others_are_compared_with_all_the_same():
    """Of 8 of 8 and 5 of 25, the second would have nothing to be compared with."""
    result = measure({"A": (8, 8), "B": (5, 25)})
    assert result.attributes[0].reference == "A"
    assert result["B"].finding == "adverse impact is indicated under ugesp"


def test_the_minimum_of_rows_and_share_are_data_of_the_rule():
    loose = replace(fourfifths.RULES["ugesp"], minimum_rows=0)
    assert measure(TINY, rule=loose).attributes[0].reference == "C"


def test_each_group_is_compared_with_the_largest_one_too():
    result = measure({"A": (30, 50), "B": (14, 46), "D": (27, 30)})
    attribute = result.attributes[0]
    assert (attribute.reference, attribute.largest) == ("D", "A")
    against = result["B"].against_largest
    assert against.group == "A"
    assert against.impact_ratio == pytest.approx((14 / 46) / (30 / 50))
    assert against.fisher_p == pytest.approx(fisher_exact([[14, 32], [30, 20]]).pvalue)
    # What it would be with A designated.
    assert against.impact_ratio_interval == pytest.approx(
        measure({"A": (30, 50), "B": (14, 46)}, reference="A")["B"].impact_ratio_interval
    )
    assert result["D"].against_largest.impact_ratio == pytest.approx(0.9 / 0.6)
    assert result["A"].against_largest is None
    assert result["A"].why["against_largest"] == "this is the largest group"


def test_where_the_largest_group_is_the_reference_it_is_not_shown_twice():
    group = measure(TINY)["B"]
    assert group.against_largest is None
    assert group.why["against_largest"] == "the largest group is the reference"


def test_of_two_largest_groups_the_reference_is_the_largest():
    attribute = measure({"A": (10, 40), "B": (20, 40)}).attributes[0]
    assert attribute.largest == attribute.reference == "B"


def test_the_reference_is_said_to_be_designated_or_the_highest_rate():
    assert measure(TINY).attributes[0].reference_is == "highest rate"
    assert measure(TINY, reference="B").attributes[0].reference_is == "designated"


def test_between_two_groups_there_is_nothing_to_choose():
    group = measure({"A": (24, 40), "B": (17, 20)})["A"]
    assert (
        group.choice_p == group.fisher_p == pytest.approx(fisher_exact([[24, 16], [17, 3]]).pvalue)
    )
    assert "not significant (Fisher p 0.0768); the tests disagree: z -1.96" in group.because
    assert "choosing" not in group.because


def test_the_p_adjusted_for_choosing_the_reference_is_shown_and_decides():
    """Tukey's range of six equal rates: |z| must reach 2.85, and 2.6 does not."""
    groups = {name: (x, 100) for name, x in zip("ABCDEF", [20, 22, 24, 28, 31, 37], strict=True)}
    group = measure(groups)["A"]
    assert group.fisher_p < 0.02 < 0.05 < group.choice_p
    assert group.choice_p == pytest.approx(
        float(studentized_range.sf(abs(group.z) * math.sqrt(2), 6, math.inf)), abs=0.02
    )
    assert f"not significant (p {group.choice_p:.4f} adjusted for choosing the" in group.because
    assert f"Fisher p {group.fisher_p:.4f} is significant" in group.because


def test_a_rule_that_names_its_test_keeps_it():
    groups = {name: (x, 100) for name, x in zip("ABCDEF", [20, 22, 24, 28, 31, 37], strict=True)}
    group = measure(groups, rule="ofccp")["A"]
    assert group.finding == "adverse impact is indicated under ofccp"
    assert "adjusted for choosing the reference is not significant" in group.because


def test_a_designated_reference_was_not_chosen():
    group = measure(THREE, reference="B")["A"]
    assert math.isnan(group.choice_p)
    assert group.why["choice_p"] == "the reference was designated, not chosen by its rate"


def test_with_sampling_weights_the_choice_is_adjusted_for_by_tukeys_range():
    table = frame(THREE).assign(w=1.5)
    group = fourfifths.impact(table, protected="group", outcome="hired", weights="w")["A"]
    expected = studentized_range.sf(abs(group.z) * math.sqrt(2), 3, math.inf)
    assert group.choice_p == pytest.approx(float(expected), rel=1e-6)


def claims_significance(group):
    return group.finding == "significant although above four fifths" or (
        group.because.startswith("ratio") and "; significant (" in group.because
    )


@pytest.mark.slow
def test_of_six_equal_groups_few_are_called_significant():
    """The raw p claims something in 40% of such tables, Holm's in 8 to 9.5%."""
    random = np.random.default_rng(13)
    tables = 400
    claims = raw_claims = 0
    for selected in random.binomial(100, 0.4, size=(tables, 6)):
        groups = {name: (int(x), 100) for name, x in zip("ABCDEF", selected, strict=True)}
        compared = measure_aggregated(groups).attributes[0].groups
        claims += any(claims_significance(group) for group in compared)
        raw_claims += any(group.z_p < 0.05 for group in compared)
    assert claims / tables <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / tables)
    assert raw_claims / tables > 0.25


@pytest.mark.parametrize("rule", ["feldman2015", "lending-air"])
def test_a_rule_with_a_designated_reference_asks_for_it_in_pythons_words(rule):
    with pytest.raises(GroupError, match=r"compares with a designated group") as caught:
        measure(THREE, rule=rule)
    assert "reference={'group': 'A'} (groups: 'A', 'B', 'C')" in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_group_whose_weights_are_all_zero_is_an_error():
    table = frame(THREE).assign(w=[0.0] * 40 + [1.5] * 90)
    with pytest.raises(WeightsError, match=r"weights='w': the weights of group 'A' sum to 0"):
        fourfifths.impact(table, protected="group", outcome="hired", weights="w")


def test_with_every_group_under_two_percent_the_highest_rate_is_still_the_reference():
    groups = {f"g{place:02}": (5, 10) for place in range(60)} | {"g40": (9, 10)}
    assert measure(groups, rule="nyc-ll144").attributes[0].reference == "g40"


def test_holm_adjusts_for_all_comparisons_of_an_attribute():
    groups = [group for group in measure(THREE).attributes[0].groups if group.group != "C"]
    expected = multipletests([group.fisher_p for group in groups], method="holm")[1]
    assert [group.holm_p for group in groups] == pytest.approx(expected.tolist())


def test_holm_adjusts_over_all_attributes_at_once():
    table = frame(THREE).assign(sex=(["F", "M", "F", "F", "M"] * 26))
    result = fourfifths.impact(table, protected=["group", "sex"], outcome="hired")
    compared = [
        group
        for attribute in result
        for group in attribute.groups
        if group.group != attribute.reference
    ]
    expected = multipletests([group.fisher_p for group in compared], method="holm")[1]
    assert [group.holm_p for group in compared] == pytest.approx(expected.tolist())
    assert len(compared) == 2 + 1 + 5


def test_several_attributes_are_measured_each_alone_and_jointly():
    table = both([("F", "B", True), ("F", "W", False), ("M", "B", True), ("M", "W", True)] * 5)
    result = fourfifths.impact(table, protected=["sex", "race"], outcome="chosen")
    assert [each.protected for each in result] == [("sex",), ("race",), ("sex", "race")]
    assert [group.group for group in result.attributes[2].groups] == [
        "F & B",
        "F & W",
        "M & B",
        "M & W",
    ]
    assert result.attributes[2]["F & W"].values == {"sex": "F", "race": "W"}
    assert result.attributes[2]["F & W"].selected == 0


def test_a_joint_reference_is_the_group_with_both_designated_values():
    table = both([("F", "B", True), ("F", "W", False), ("M", "B", True), ("M", "W", True)] * 5)
    result = fourfifths.impact(
        table, protected=["sex", "race"], outcome="chosen", reference={"sex": "M", "race": "W"}
    )
    assert [each.reference for each in result] == ["M", "W", "M & W"]


def test_with_one_reference_designated_the_joint_one_is_the_highest_rate():
    table = both(
        [("F", "B", True), ("F", "B", True), ("F", "W", False), ("M", "B", False), ("M", "W", True)]
        * 5
        + [("M", "W", False)]
    )
    result = fourfifths.impact(
        table, protected=["sex", "race"], outcome="chosen", reference={"sex": "M"}
    )
    assert result.attributes[0].reference == "M"
    assert result.attributes[2].reference == "F & B"


def test_a_joint_reference_without_rows_is_an_error():
    table = both([("F", "B", True), ("F", "W", False), ("M", "B", True)] * 3)
    with pytest.raises(GroupError, match=r"no rows are 'M & W'"):
        fourfifths.impact(
            table, protected=["sex", "race"], outcome="chosen", reference={"sex": "M", "race": "W"}
        )


def test_a_joint_distribution_that_no_row_knows_is_an_error():
    table = both([("F", None, True), ("M", None, False), (None, "B", True), (None, "W", False)])
    with pytest.raises(GroupError, match=r"sex.*race"):
        fourfifths.impact(table, protected=["sex", "race"], outcome="chosen")


def test_unknown_membership_is_counted_and_shown():
    table = frame({"A": (3, 8), "B": (16, 25), "?": (2, 5)})
    result = fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])
    attribute = result.attributes[0]
    assert (attribute.unknown, attribute.unknown_selected) == (5, 2)
    assert [group.n for group in attribute.groups] == [8, 25]
    assert "(unknown)" in str(result)


def test_unknown_may_be_one_value():
    table = frame({"A": (3, 8), "N": (16, 25), "NA": (2, 5)})
    result = fourfifths.impact(table, protected="group", outcome="hired", unknown="NA")
    assert result.attributes[0].unknown == 5
    assert result["N"].n == 25


@pytest.mark.parametrize(
    "figure", ["z", "fisher_p", "mid_p", "holm_p", "flip", "phi", "h", "detectable_ratio"]
)
def test_the_reference_is_not_compared_with_itself(figure):
    reference = measure(THREE)["C"]
    assert math.isnan(getattr(reference, figure))
    assert reference.why[figure] == "this is the reference group"


# |z| of 1.96, of 2 standard deviations, and of Tukey's range of three groups.
CRITICAL_Z = {
    "designated": ({"reference": "men", "rule": "lending-air"}, norm.ppf(0.975)),
    "two standard deviations": ({"rule": "ofccp"}, 2.0),
    "chosen from three": ({}, studentized_range.ppf(0.95, 3, math.inf) / math.sqrt(2)),
}


@pytest.mark.parametrize(("options", "critical_z"), CRITICAL_Z.values(), ids=CRITICAL_Z)
def test_the_smallest_detectable_effect_is_that_of_z_at_the_value_that_decides(options, critical_z):
    groups = {"women": (40, 100), "men": (50, 100), "others": (41, 100)}
    group = measure(groups, **options)["women"]
    power = power_proportions_2indep(
        0.5 * group.detectable_ratio - 0.5,
        0.5,
        100,
        ratio=1,
        alpha=2 * norm.sf(critical_z),
        return_results=False,
    )
    assert float(power) == pytest.approx(0.8, abs=1e-4)


def test_between_two_groups_the_smallest_detectable_effect_is_that_of_fishers_test():
    """The power at that ratio, from the tables of 12 and 15 that Fisher's test rejects."""
    ratio = measure({"women": (3, 12), "men": (12, 15)})["women"].detectable_ratio
    power = sum(
        binom.pmf(x, 12, ratio * 0.8) * binom.pmf(y, 15, 0.8)
        for x in range(13)
        for y in range(16)
        if fisher_exact([[x, 12 - x], [y, 15 - y]]).pvalue < 0.05
    )
    assert power == pytest.approx(0.8, abs=1e-6)


def test_the_smallest_detectable_effect_is_the_same_from_either_side():
    groups = {"A": (12, 40), "B": (20, 60)}
    there = measure(groups, rule="lending-air", reference="B")["A"]
    back = measure(groups, rule="lending-air", reference="A")["B"]
    assert there.detectable_ratio == back.detectable_ratio


@pytest.mark.parametrize(
    ("women", "men", "reason"),
    [
        ((0, 500), (0, 500), "no one in the reference group was selected"),
        ((1, 3), (2, 3), "even a ratio of 0 would go unnoticed"),
    ],
)
def test_the_reason_why_nothing_is_detectable(women, men, reason):
    group = measure_aggregated({"women": women, "men": men}, reference="men")["women"]
    assert math.isnan(group.detectable_ratio)
    assert reason in group.why["detectable_ratio"]


@pytest.mark.slow
def test_weights_that_go_with_the_outcome_keep_the_coverage_and_the_level():
    """Selected people are sampled a sixth as often as the others, and weigh six times as much.

    With Kish's effective size the interval would contain the truth far too rarely.
    """
    random = np.random.default_rng(14)
    tables, covered, rejected = 400, 0, 0
    for _ in range(tables):
        persons = 1500
        group = random.choice(["A", "B"], size=persons)
        hired = random.random(persons) < 0.3
        chance = np.where(hired, 0.1, 0.6) * random.uniform(0.5, 1.5, size=persons)
        sampled = random.random(persons) < chance
        table = pl.DataFrame(
            {
                "group": group[sampled],
                "hired": np.where(hired, "yes", "no")[sampled],
                "w": 1 / chance[sampled],
            }
        )
        result = fourfifths.impact(
            table, protected="group", outcome="hired", weights="w", reference="B"
        )["A"]
        low, high = result.impact_ratio_interval
        covered += low <= 1 <= high
        rejected += result.z_p < 0.05
    error = 2 * math.sqrt(0.05 * 0.95 / tables)
    assert covered / tables >= 0.95 - error
    assert rejected / tables <= 0.05 + error


# Every two groups compared with each other.
GROUPS = {"A": (30, 50), "B": (14, 46), "C": (2, 2), "D": (20, 30)}


def two_sided(first, second):
    (x, n), (y, m) = first, second
    return fisher_exact([[x, n - x], [y, m - y]]).pvalue


def test_without_being_asked_for_there_are_no_pairs():
    assert measure(GROUPS).attributes[0].pairs == ()


def test_every_two_groups_are_compared_the_lower_rate_first():
    pairs = measure(GROUPS, pairs="all").attributes[0].pairs
    assert {frozenset((pair.group, pair.reference)) for pair in pairs} == {
        frozenset(names) for names in itertools.combinations("ABCD", 2)
    }
    rates = {name: x / n for name, (x, n) in GROUPS.items()}
    for pair in pairs:
        assert pair.impact_ratio == pytest.approx(rates[pair.group] / rates[pair.reference])
        assert pair.impact_ratio <= 1


def test_the_p_of_a_pair_is_fishers_adjusted_for_all_pairs():
    pairs = measure(GROUPS, pairs="all").attributes[0].pairs
    raw = [two_sided(GROUPS[pair.group], GROUPS[pair.reference]) for pair in pairs]
    assert [pair.fisher_p for pair in pairs] == pytest.approx(raw)
    adjusted = multipletests(raw, method="holm")[1]
    assert [pair.adjusted_p for pair in pairs] == pytest.approx(adjusted.tolist())


@pytest.mark.slow
def test_pairs_of_several_attributes_are_adjusted_together():
    table = frame(GROUPS).assign(sex=["F", "M"] * 64)
    result = fourfifths.impact(table, protected=["group", "sex"], outcome="hired", pairs="all")
    pairs = [pair for attribute in result for pair in attribute.pairs]
    assert len(result["sex"].pairs) == 1
    adjusted = multipletests([pair.fisher_p for pair in pairs], method="holm")[1]
    assert [pair.adjusted_p for pair in pairs] == pytest.approx(adjusted.tolist())


def test_the_interval_of_a_pair_is_that_of_the_same_two_groups_alone():
    pairs = measure(GROUPS, pairs="all").attributes[0].pairs
    (pair,) = [pair for pair in pairs if (pair.group, pair.reference) == ("B", "A")]
    alone = measure({name: GROUPS[name] for name in "AB"}, reference="A")["B"]
    assert pair.impact_ratio_interval == pytest.approx(alone.impact_ratio_interval)
    assert pair.interval_method == alone.interval_method


def test_the_finding_of_a_pair_rests_on_the_adjusted_p():
    pairs = measure(GROUPS, pairs="all").attributes[0].pairs
    (pair,) = [pair for pair in pairs if (pair.group, pair.reference) == ("B", "D")]
    assert pair.finding == "adverse impact is indicated under ugesp"
    assert f"significant (p {pair.adjusted_p:.4f} adjusted for all pairs)" in pair.because


def test_a_pair_with_a_very_small_group_is_not_judged():
    pairs = measure(GROUPS, pairs="all").attributes[0].pairs
    readings = {pair.finding for pair in pairs if "C" in (pair.group, pair.reference)}
    assert readings == {"not judged: too small a share"}  # 2 of 128 rows


def test_a_pair_without_selections_is_undefined():
    (pair,) = measure_aggregated({"A": (0, 5), "B": (0, 9)}, pairs="all").attributes[0].pairs
    assert math.isnan(pair.impact_ratio)
    assert pair.finding == "undefined"


@pytest.mark.slow
def test_sixty_groups_make_all_their_pairs():
    groups = {f"g{index:03}": (40 + index % 20, 100) for index in range(60)}
    pairs = measure_aggregated(groups, pairs="all").attributes[0].pairs
    assert len(pairs) == 60 * 59 // 2


def test_pairs_are_with_the_reference_or_all():
    with pytest.raises(OptionError, match=r"pairs='some': expected one of 'reference', 'all'"):
        measure(GROUPS, pairs="some")


def test_the_flip_moves_one_selection_to_the_lower_rate():
    arrays = [np.array([count]) for count in (1.0, 10.0, 3.0, 20.0)]
    assert flip(*arrays).tolist() == pytest.approx([(2 / 10) / (2 / 20)])


def test_figures_of_a_pair_by_hand():
    sums = Tally(
        rows=np.array([40.0, 80.0]),
        rows_selected=np.array([12.0, 48.0]),
        weight=np.array([40.0, 80.0]),
        weight_selected=np.array([12.0, 48.0]),
        effective=np.array([40.0, 80.0]),
    )
    pairs = compare_pairs(
        sums,
        np.array([0]),
        np.array([1]),
        rule=fourfifths.RULES["ugesp"],
        exact=True,
        confidence=0.95,
        picked_from=0,
    )
    figures = {name: values[0] for name, values in pairs.figures.items()}
    assert figures["impact_ratio"] == 0.5
    assert figures["expected"] == pytest.approx(20)
    assert figures["least_expected"] == pytest.approx(20)
    assert figures["shortfall_to_reference"] == pytest.approx(12)
    assert pairs.p.tolist() == pytest.approx([two_sided((12, 40), (48, 80))])


@pytest.mark.parametrize(
    ("groups", "figure", "value"),
    [
        ({"A": (9, 30), "B": (17, 30)}, "mid_p", 0.0428),
        ({"A": (7, 11), "B": (11, 11)}, "mid_p", 0.0451),
        # P(X < 7) + P(X = 7) / 2 of the hypergeometric distribution: 7 is the least possible.
        ({"A": (7, 11), "B": (11, 11)}, "mid_p_less", 0.0451 / 2),
    ],
)
def test_the_mid_p_of_an_audit(groups, figure, value):
    found = getattr(measure(groups, reference="B")["A"], figure)
    assert found == pytest.approx(value, abs=5e-5)
