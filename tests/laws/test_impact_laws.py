"""What must hold whatever the numbers are."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from counted import aggregated, frame, measure, measure_aggregated, stratified
from hypothesis import assume, given
from hypothesis import strategies as st

import fourfifths
from fourfifths._impact.profiles import RULES
from fourfifths._impact.rules import Facts, judge
from fourfifths._stats.proportions import clopper_pearson, fisher_test, holm, ratio_interval


@st.composite
def counts(draw, largest=40):
    n = draw(st.integers(1, largest))
    return draw(st.integers(0, n)), n


@st.composite
def tables(draw, least=2, most=4, largest=40):
    """Counts of several groups, someone selected and someone not."""
    groups = draw(st.lists(counts(largest), min_size=least, max_size=most))
    assume(sum(x for x, _ in groups) > 0)
    assume(any(x < n for x, n in groups))
    return {"abcdef"[place]: group for place, group in enumerate(groups)}


def nearly(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


def numbers(group):
    """Return every single number of a group."""
    found = {}
    for name, value in vars(group).items():
        if isinstance(value, tuple):
            found |= {f"{name} {place}": limit for place, limit in enumerate(value)}
        elif isinstance(value, float):
            found[name] = value
    return found


@pytest.mark.slow
@given(tables())
def test_impact_ratio_times_likelihood_ratio_is_one(groups):
    for group in measure_aggregated(groups).attributes[0].groups:
        if not math.isnan(group.impact_ratio * group.likelihood_ratio):
            assert group.impact_ratio * group.likelihood_ratio == pytest.approx(1)


@pytest.mark.slow
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(groups, random):
    table = frame(groups)
    order = list(range(len(table)))
    random.shuffle(order)
    shuffled = fourfifths.impact(table.iloc[order], protected="group", outcome="hired")
    assert shuffled.to_dict() == measure(groups).to_dict()


@pytest.mark.slow
@given(tables(), st.permutations(["one", "two", "three", "four"]))
def test_labels_do_not_matter(groups, labels):
    names = dict(zip(groups, labels, strict=False))
    renamed = {names[name]: group for name, group in groups.items()}
    before = measure_aggregated(groups, reference="a").attributes[0]
    after = measure_aggregated(renamed, reference=names["a"]).attributes[0]
    for name, label in names.items():
        if name in groups:
            assert numbers(after[label]) == nearly(numbers(before[name]))
            assert after[label].finding == before[name].finding


@pytest.mark.slow
@given(tables(), st.integers(2, 50))
def test_scaling_all_counts_leaves_rates_and_ratios(groups, factor):
    scaled = {name: (x * factor, n * factor) for name, (x, n) in groups.items()}
    before = measure_aggregated(groups, reference="a").attributes[0]
    after = measure_aggregated(scaled, reference="a").attributes[0]
    for name in groups:
        for figure in ("selection_rate", "impact_ratio", "difference", "phi", "h", "share"):
            found, expected = getattr(after[name], figure), getattr(before[name], figure)
            assert found == pytest.approx(expected, nan_ok=True), figure


@pytest.mark.slow
@given(counts(200), counts(200))
def test_below_four_fifths_is_decided_in_whole_numbers(group, reference):
    (x, n), (x_r, n_r) = group, reference
    assume(x_r > 0)
    assume(x * n_r <= x_r * n)
    result = measure_aggregated({"focal": group, "reference": reference}, reference="reference")
    because = result["focal"].because
    if x * n_r < x_r * n:
        share = Fraction(n, n + n_r)
        if share >= Fraction(1, 50):
            assert (", below 4/5" in because) == (5 * x * n_r < 4 * x_r * n)
    else:
        assert "not below" in because


@given(counts(200), counts(200))
def test_the_papers_line_is_decided_in_whole_numbers(group, reference):
    (x, n), (x_r, n_r) = group, reference
    assume(x + x_r > 0)
    found = measure_aggregated(
        {"focal": group, "reference": reference}, reference="reference", rule="feldman2015"
    )["focal"].finding
    indicated = 5 * x * n_r <= 4 * x_r * n or 5 * x_r * n <= 4 * x * n_r
    assert ("indicated under" in found) == indicated


@given(counts(200), counts(200))
def test_the_number_that_is_the_ratio_lies_on_the_right_side_of_four_fifths(group, reference):
    (x, n), (x_r, n_r) = group, reference
    assume(x_r > 0)
    result = measure_aggregated({"focal": group, "reference": reference}, reference="reference")
    assert (result["focal"].impact_ratio < 0.8) == (5 * x * n_r < 4 * x_r * n)


@given(counts(60), st.integers(1, 5))
def test_exactly_four_fifths_is_never_below_whatever_the_sizes(reference, factor):
    x_r, n_r = reference
    assume(x_r > 0)
    groups = {"focal": (4 * factor * x_r, 5 * factor * n_r), "reference": reference}
    group = measure_aggregated(groups, reference="reference")["focal"]
    assert group.impact_ratio == 0.8
    assert ", not below 4/5" in group.because or group.finding == "small numbers"


@pytest.mark.slow
@given(counts(), counts())
def test_swapping_group_and_reference_inverts_the_ratio_and_its_interval(group, reference):
    assume(group[0] > 0)
    assume(reference[0] > 0)
    groups = {"a": group, "b": reference}
    there = measure_aggregated(groups, reference="b")["a"]
    back = measure_aggregated(groups, reference="a")["b"]
    assert there.impact_ratio * back.impact_ratio == pytest.approx(1)
    low, high = there.impact_ratio_interval
    assert (1 / high, 1 / low) == pytest.approx(back.impact_ratio_interval)
    assert there.z == pytest.approx(-back.z, nan_ok=True)
    assert there.fisher_p == pytest.approx(back.fisher_p)
    assert there.difference == pytest.approx(-back.difference)


@given(counts(500), st.floats(0.5, 0.999))
def test_clopper_pearson_contains_the_rate(group, confidence):
    x, n = group
    low, high = clopper_pearson(x, n, confidence=confidence)
    assert 0 <= low <= x / n <= high <= 1


@given(counts(500), counts(500), st.floats(0.5, 0.999))
def test_the_ratio_interval_contains_the_ratio(group, reference, confidence):
    (x, n), (x_r, n_r) = group, reference
    low, high = ratio_interval(x, n, x_r, n_r, confidence=confidence)
    if x_r == 0:
        assert np.isnan(high)
    else:
        ratio = (x / n) / (x_r / n_r)
        assert 0 <= low <= ratio * (1 + 1e-9)
        assert ratio <= high * (1 + 1e-9)
        assert math.isfinite(high)


@pytest.mark.slow
@given(tables())
def test_an_aggregated_table_equals_its_rows(groups):
    assert [each.to_dict() for each in measure_aggregated(groups)] == [
        each.to_dict() for each in measure(groups)
    ]


@pytest.mark.slow
@given(tables(), st.floats(0.01, 1000))
def test_equal_sampling_weights_change_no_rate(groups, weight):
    """But for the interval of the ratio: an exact one needs persons."""
    weighted = fourfifths.impact(
        frame(groups).assign(w=weight),
        protected="group",
        outcome="hired",
        weights="w",
        reference="a",
    )
    plain = measure(groups, reference="a")
    for name in groups:
        for figure in (
            *("n", "selected", "share", "effective_n", "selection_rate", "impact_ratio"),
            *("selection_rate_interval", "z", "phi", "h", "difference"),
        ):
            found, expected = getattr(weighted[name], figure), getattr(plain[name], figure)
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True), figure


@pytest.mark.slow
@given(counts(), counts())
def test_with_one_stratum_cmh_is_the_square_of_the_standard_deviations(group, reference):
    assume(0 < group[0] + reference[0] < group[1] + reference[1])
    result = fourfifths.impact(
        stratified({"only": {"a": group, "b": reference}}),
        protected="group",
        outcome="hired",
        within="job",
        reference="b",
    )
    assert result["a"].stratified.cmh == pytest.approx(result["a"].standard_deviations ** 2)
    assert not result["a"].stratified.reversal


@pytest.mark.slow
@given(tables(), st.lists(st.sampled_from(["x", "y", "z"]), min_size=1))
def test_strata_change_nothing_of_the_pooled_figures(groups, jobs):
    table = frame(groups)
    table["job"] = [jobs[place % len(jobs)] for place in range(len(table))]
    within = fourfifths.impact(
        table, protected="group", outcome="hired", within="job", reference="a"
    )
    plain = measure(groups, reference="a")
    for name in groups:
        assert numbers(within[name]) == nearly(numbers(plain[name]))


@pytest.mark.slow
@given(tables(most=3, largest=12), st.lists(st.booleans(), min_size=1, max_size=6))
def test_the_ratio_after_any_filling_in_lies_within_the_bounds(groups, unknown):
    reference = max(groups, key=lambda name: groups[name][0])
    table = pd.concat(
        [
            frame(groups),
            pd.DataFrame({"group": None, "hired": ["yes" if got else "no" for got in unknown]}),
        ]
    )
    result = fourfifths.impact(table, protected="group", outcome="hired", reference=reference)
    for target in groups:
        filled = table.assign(group=table["group"].fillna(target))
        after = fourfifths.impact(filled, protected="group", outcome="hired", reference=reference)
        for name in groups:
            if name != reference:
                low, high = result[name].impact_ratio_bounds
                assert low <= after[name].impact_ratio * (1 + 1e-9)
                assert after[name].impact_ratio <= high * (1 + 1e-9)


@given(counts(25), counts(25))
def test_fisher_agrees_with_counting_the_tables(group, reference):
    (x, n), (x_r, n_r) = group, reference
    chosen = x + x_r
    ways = {
        k: comb(n, k) * comb(n_r, chosen - k)
        for k in range(max(0, chosen - n_r), min(n, chosen) + 1)
    }
    total = comb(n + n_r, chosen)
    test = fisher_test(x, n, x_r, n_r)
    assert float(test.p) == pytest.approx(sum(w for w in ways.values() if w <= ways[x]) / total)
    assert float(test.p_less) == pytest.approx(sum(w for k, w in ways.items() if k <= x) / total)


@given(st.integers(1, 3000), st.data())
def test_between_groups_of_one_size_fisher_is_twice_one_tail(n, data):
    x = data.draw(st.integers(0, n))
    x_r = data.draw(st.integers(x, min(n, x + 200)))
    test = fisher_test(x, n, x_r, n)
    assert float(test.p) == pytest.approx(min(1, 2 * float(test.p_less)), rel=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_never_makes_a_p_smaller(p):
    adjusted = holm(p)
    assert np.all(adjusted >= np.array(p))
    assert np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)


@given(counts(), counts(), st.sampled_from(sorted(RULES)))
def test_every_rule_has_a_reading_for_every_table(group, reference, rule):
    groups = {"focal": group, "reference": reference}
    found = measure_aggregated(groups, reference="reference", rule=rule)["focal"]
    assert found.finding
    assert found.because
    assert all(reason for reason in found.why.values())


@given(counts(), counts())
def test_a_reading_does_not_depend_on_floating_point_rates(group, reference):
    (x, n), (x_r, n_r) = group, reference
    assume(x_r > 0)
    facts = Facts(
        rate=Fraction(x, n),
        rate_reference=Fraction(x_r, n_r),
        share=Fraction(n, n + n_r),
        n=float(n + n_r),
        least_expected=10.0,
        z=0.0,
        fisher_p=1.0,
        picked_from=0,
        adjusted_p=math.nan,
        adjusted_for="",
        flip=math.nan,
        ratio_interval=(0.9, 1.1),
        confidence=0.95,
        detectable_ratio=0.9,
    )
    reading = judge(RULES["feldman2015"], facts).reading
    lower, higher = sorted([Fraction(x, n), Fraction(x_r, n_r)])
    assert (reading == "not indicated") == (lower > Fraction(4, 5) * higher)


@pytest.mark.slow
@given(tables(least=3))
def test_leaving_out_one_group_changes_nothing_between_the_others(groups):
    assume(groups["a"][0] > 0)
    without = {name: group for name, group in groups.items() if name != "c"}
    assume(any(x < n for x, n in without.values()))
    before = measure_aggregated(groups, reference="a")["b"]
    after = fourfifths.impact(
        aggregated(without),
        protected="group",
        outcome="hired",
        weights="count",
        weights_are="counts",
        reference="a",
    )["b"]
    changes = {"share", "holm_p"}
    kept = {name: value for name, value in numbers(before).items() if name not in changes}
    assert {name: numbers(after)[name] for name in kept} == nearly(kept)
