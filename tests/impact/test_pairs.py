"""Every two groups compared with each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from counted import frame, measure, measure_aggregated
from scipy.stats import fisher_exact
from statsmodels.stats.multitest import multipletests

import fourfifths
from fourfifths._impact.pairs import compare_pairs, flip
from fourfifths._tables.groups import Tally
from fourfifths.errors import OptionError

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
