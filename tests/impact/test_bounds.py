"""How far rows of unknown membership could move the ratios."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from counted import frame, measure

import fourfifths
from fourfifths._impact.bounds import lowest_highest_rate

THREE = {"A": (10, 40), "B": (20, 40), "C": (30, 50)}


def both(people: list[tuple[str | None, str | None, bool]]) -> pd.DataFrame:
    """Return rows of sex, race and whether selected."""
    table = pd.DataFrame(people, columns=["sex", "race", "chosen"])
    return table.assign(chosen=table["chosen"].map({True: "yes", False: "no"}))


def test_without_unknown_membership_there_are_no_bounds():
    group = measure(THREE)["A"]
    assert all(math.isnan(bound) for bound in group.impact_ratio_bounds)
    assert group.why["impact_ratio_bounds"] == "no membership is unknown"


def ratios_by_brute_force(people, group, reference, choices):
    """Return the ratio under each way to fill in what is unknown."""
    options = [
        [
            filled
            for filled in choices
            if all(known in (None, value) for known, value in zip(member, filled, strict=True))
        ]
        for member, _ in people
    ]
    for ways in itertools.product(*options):
        counts = {group: [0, 0], reference: [0, 0]}
        for filled, (_, selected) in zip(ways, people, strict=True):
            if filled in counts:
                counts[filled][0] += selected
                counts[filled][1] += 1
        (x, n), (x_r, n_r) = counts[group], counts[reference]
        yield Fraction(x * n_r, n * x_r) if x_r else None


SINGLE = {
    "two groups": ("AAABBBB", [1, 1, 0, 1, 1, 1, 0], [1, 0, 0]),
    "three groups": ("AAABBBBCC", [1, 0, 0, 1, 1, 1, 0, 1, 0], [1, 1, 0]),
    "only selected unknown": ("AAABBB", [1, 0, 0, 1, 1, 0], [1, 1]),
    "only rejected unknown": ("AAABBB", [1, 0, 0, 1, 1, 0], [0, 0, 0]),
    "no one selected in the group": ("AAABBB", [0, 0, 0, 1, 1, 0], [1, 0]),
    "everyone selected": ("AABBB", [1, 1, 1, 1, 1], [1, 0]),
}


@pytest.mark.parametrize(("members", "selected", "unknown"), SINGLE.values(), ids=SINGLE)
def test_the_bounds_are_the_extremes_over_all_ways_to_assign_the_unknown(
    members, selected, unknown
):
    people = [((member,), bool(got)) for member, got in zip(members, selected, strict=True)]
    people += [((None,), bool(got)) for got in unknown]
    table = pd.DataFrame(
        {
            "group": [member for (member,), _ in people],
            "hired": ["yes" if got else "no" for _, got in people],
        }
    )
    result = fourfifths.impact(table, protected="group", outcome="hired", reference="B")
    choices = [(value,) for value in sorted(set(members))]
    for group in sorted(set(members) - {"B"}):
        ratios = list(ratios_by_brute_force(people, (group,), ("B",), choices))
        assert result[group].impact_ratio_bounds == pytest.approx((min(ratios), max(ratios)))


def test_the_bounds_are_the_extremes_where_some_know_one_attribute_only():
    people = [
        *[(("F", "B"), got) for got in (True, False, False)],
        *[(("F", "W"), got) for got in (True, True, False)],
        *[(("M", "B"), got) for got in (True, False)],
        *[(("M", "W"), got) for got in (True, True, True, False)],
        (("F", None), True),
        (("F", None), False),
        ((None, "W"), True),
        ((None, "W"), False),
        ((None, None), True),
        ((None, None), False),
    ]
    table = both([(*member, got) for member, got in people])
    result = fourfifths.impact(
        table, protected=["sex", "race"], outcome="chosen", reference={"sex": "M", "race": "W"}
    )
    choices = [(sex, race) for sex in "FM" for race in "BW"]
    joint = result.attributes[2]
    assert joint.unknown == 6
    for group in choices[:-1]:
        ratios = list(ratios_by_brute_force(people, group, ("M", "W"), choices))
        found = joint[" & ".join(group)].impact_ratio_bounds
        assert found == pytest.approx((min(ratios), max(ratios))), group


def test_a_reference_that_the_unknown_could_leave_unselected_has_no_upper_bound():
    table = pd.DataFrame(
        {"group": ["A", "A", "B", "B", None], "hired": ["yes", "no", "no", "no", "yes"]}
    )
    result = fourfifths.impact(table, protected="group", outcome="hired", reference="B")
    low, high = result["A"].impact_ratio_bounds
    assert low == pytest.approx((1 / 2) / (1 / 3))
    assert math.isnan(high)
    assert "no bound on one side" in result["A"].why["impact_ratio_bounds"]


def test_the_bounds_hold_the_ratio():
    table = frame({"A": (3, 8), "B": (16, 25), "?": (2, 5)})
    result = fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])
    low, high = result["A"].impact_ratio_bounds
    assert low < result["A"].impact_ratio < high


def highest_ratios_by_brute_force(people, group, choices):
    """Return the ratio to the rate that is then the highest, under each way to fill in."""
    options = [
        [
            filled
            for filled in choices
            if all(known in (None, value) for known, value in zip(member, filled, strict=True))
        ]
        for member, _ in people
    ]
    for ways in itertools.product(*options):
        counts = {choice: [0, 0] for choice in choices}
        for filled, (_, selected) in zip(ways, people, strict=True):
            counts[filled][0] += selected
            counts[filled][1] += 1
        rates = {choice: Fraction(x, n) for choice, (x, n) in counts.items()}
        if max(rates.values()) > 0:
            yield rates[group] / max(rates.values())


def people_of(members, selected, unknown):
    people = [((member,), bool(got)) for member, got in zip(members, selected, strict=True)]
    return people + [((None,), bool(got)) for got in unknown]


def table_of(people):
    return pd.DataFrame(
        {
            "group": [member for (member,), _ in people],
            "hired": ["yes" if got else "no" for _, got in people],
        }
    )


MOVING = SINGLE | {
    "several can be lowered": ("AABBBCCCDD", [0, 1, 1, 1, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0]),
    "as many as there are groups": ("ABCD", [1, 1, 0, 0], [1, 0, 1, 0]),
    "no one selected but unknown ones": ("AAB", [0, 0, 0], [1, 0]),
}


@pytest.mark.parametrize(("members", "selected", "unknown"), MOVING.values(), ids=MOVING)
def test_where_the_highest_rate_is_the_reference_it_moves_with_the_rates(
    members, selected, unknown
):
    people = people_of(members, selected, unknown)
    result = fourfifths.impact(
        table_of(people), protected="group", outcome="hired", favorable="yes"
    )
    choices = [(value,) for value in sorted(set(members))]
    for group in sorted(set(members)):
        ratios = list(highest_ratios_by_brute_force(people, (group,), choices))
        found = result[group].impact_ratio_bounds
        assert found == pytest.approx((float(min(ratios)), float(max(ratios)))), group


@pytest.mark.parametrize("seed", range(30))
def test_the_moving_bounds_of_random_small_tables_are_those_of_all_assignments(seed):
    random = np.random.default_rng(seed)
    members = "ABC" + "".join(random.choice(list("ABC"), size=random.integers(1, 8)))
    selected = random.random(len(members)) < 0.5
    unknown = random.random(random.integers(1, 6)) < 0.4
    selected[:2] = True, False
    people = people_of(members, selected.tolist(), unknown.tolist())
    result = fourfifths.impact(table_of(people), protected="group", outcome="hired")
    for group in "ABC":
        ratios = list(highest_ratios_by_brute_force(people, (group,), [("A",), ("B",), ("C",)]))
        expected = (float(min(ratios)), float(max(ratios)))
        assert result[group].impact_ratio_bounds == pytest.approx(expected)


def test_the_reference_has_bounds_where_it_could_lose_its_rank():
    table = frame({"A": (6, 10), "B": (5, 10), "?": (1, 2)})
    result = fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])
    # At worst A has 6 of 11, and so has B.
    assert result["A"].impact_ratio_bounds == pytest.approx((1.0, 1.0))
    table = frame({"A": (6, 10), "B": (5, 10), "?": (2, 4)})
    result = fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])
    # A at 6 of 12, B at 7 of 12.
    assert result["A"].impact_ratio_bounds == pytest.approx((6 / 7, 1.0))


def test_a_designated_reference_has_no_bounds_of_its_own():
    table = frame({"A": (6, 10), "B": (5, 10), "?": (1, 2)})
    group = fourfifths.impact(
        table, protected="group", outcome="hired", unknown=["?"], reference="A"
    )["A"]
    assert all(math.isnan(bound) for bound in group.impact_ratio_bounds)
    assert group.why["impact_ratio_bounds"] == "this is the reference group"


def test_the_moving_bounds_of_joint_groups_hold_every_assignment_and_reach_the_lowest():
    people = [
        *[(("F", "B"), got) for got in (True, False, False)],
        *[(("F", "W"), got) for got in (True, True, False)],
        *[(("M", "B"), got) for got in (True, False)],
        *[(("M", "W"), got) for got in (True, True, True, False)],
        (("F", None), False),
        ((None, "W"), True),
        ((None, "W"), False),
        ((None, None), False),
    ]
    table = both([(*member, got) for member, got in people])
    joint = fourfifths.impact(table, protected=["sex", "race"], outcome="chosen").attributes[2]
    choices = [(sex, race) for sex in "FM" for race in "BW"]
    for group in choices:
        ratios = list(highest_ratios_by_brute_force(people, group, choices))
        low, high = joint[" & ".join(group)].impact_ratio_bounds
        assert low == pytest.approx(float(min(ratios))), group
        assert high >= float(max(ratios)) - 1e-12, group


def test_rows_lower_the_highest_rate_one_by_one():
    """6 of 8 and 3 of 6: six rows make 6 of 13 and 3 of 7, as trying every split shows."""
    x, n = np.array([6.0, 3.0]), np.array([8.0, 6.0])
    both_groups = np.array([[True, True]])
    by_hand = min(max(6 / (8 + first), 3 / (6 + 6 - first)) for first in range(7))
    level = lowest_highest_rate(x, n, is_rival=both_groups, rows=6, exact=True)
    assert level.tolist() == pytest.approx([by_hand])
    # Weights can be split: then both rates become (6 + 3) / (8 + 6 + 6).
    level = lowest_highest_rate(x, n, is_rival=both_groups, rows=6, exact=False)
    assert level.tolist() == pytest.approx([9 / 20])
