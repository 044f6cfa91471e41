"""All groups but the reference as one: by hand, and against a table in which they are one."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from counted import frame, measure
from scipy.stats import binom, fisher_exact, hypergeom, norm

import fourfifths
from fourfifths._impact.compare import compare_pairs
from fourfifths._impact.profiles import RULES
from fourfifths._impact.total import against_the_rest_p
from fourfifths._tables.groups import Tally
from fourfifths.errors import OptionError

RACES = {"White": (50, 100), "Black": (20, 100), "Asian": (6, 20)}


def total_of(groups=RACES, **options):
    return measure(groups, total_minority=True, **options).attributes[0].total


def test_the_total_minority_by_hand():
    total = total_of(reference="White")
    # 20 + 6 of 100 + 20, against 50 of 100.
    assert (total.group, total.values, total.n, total.selected) == ("(all others)", {}, 120, 26)
    assert total.impact_ratio == pytest.approx(26 / 60)
    assert total.share == pytest.approx(120 / 220)
    assert total.fisher_p == pytest.approx(fisher_exact([[26, 94], [50, 50]]).pvalue)
    pooled = 76 / 220
    z = (26 / 120 - 0.5) / math.sqrt(pooled * (1 - pooled) * (1 / 120 + 1 / 100))
    assert total.z == pytest.approx(z)
    assert total.shortfall.to_reference == pytest.approx(34)
    assert total.finding == "adverse impact is indicated under ugesp"
    assert total.impact_ratio_interval[0] < 26 / 60 < total.impact_ratio_interval[1] < 0.8


def test_it_is_made_if_the_rule_or_the_user_asks_for_it():
    assert measure(RACES).attributes[0].total is None
    assert measure(RACES, rule="ofccp").attributes[0].total is not None
    assert measure(RACES, rule="ofccp", total_minority=False).attributes[0].total is None
    assert total_of({"White": (50, 100), "Black": (20, 100)}) is None
    with pytest.raises(OptionError, match=r"total_minority='yes': expected one of 'True', 'False'"):
        measure(RACES, total_minority="yes")


def test_the_family_of_the_other_comparisons_stays_as_it_is():
    without, result = measure(RACES), measure(RACES, total_minority=True)
    assert [group.holm_p for group in result["group"].groups] == pytest.approx(
        [group.holm_p for group in without["group"].groups], nan_ok=True
    )
    total = result["group"].total
    assert math.isnan(total.holm_p)
    assert "Holm" in total.why["holm_p"]
    assert any(note.startswith("2 comparisons were made") for note in result.notes)


def people(**columns):
    random = np.random.default_rng(7)
    n = 600
    table = pd.DataFrame(
        {
            "race": random.choice(["White", "Black", "Asian", "Other", None], n),
            "job": random.choice(["clerk", "driver"], n),
            "weight": random.uniform(0.5, 3, n),
            "score": random.normal(50, 10, n),
        }
    )
    rate = np.where(table["race"].eq("White"), 0.6, 0.4)
    hired = np.where(random.random(n) < rate, "yes", "no").astype(object)
    hired[::40] = None
    return table.assign(hired=hired, **columns)


@pytest.mark.parametrize(
    "options",
    [
        {"rule": "ugesp"},
        {"rule": "lending-air", "score": "score"},
        {"rule": "ofccp", "within": "job"},
        {"rule": "ugesp", "weights": "weight"},
    ],
    ids=["persons", "score", "within", "sampling weights"],
)
def test_it_is_what_a_table_says_in_which_all_others_are_one_group(options):
    table = people()
    shared = {"protected": "race", "outcome": "hired", "reference": "White"} | options
    total = fourfifths.impact(table, total_minority=True, **shared).attributes[0].total
    is_other = table["race"].notna() & table["race"].ne("White")
    merged = table.assign(race=table["race"].mask(is_other, "Others"))
    expected = fourfifths.impact(merged, **shared)["Others"].to_dict()
    measured = total.to_dict()
    # In a table of two groups the total is a comparison among others, and may be the largest group.
    for name in ("group", "values", "holm_p", "against_largest", "why"):
        del measured[name], expected[name]
    assert measured == expected
    assert measured["impact_ratio_bounds"] is not None


def test_members_of_excluded_groups_count_and_unknown_ones_do_not():
    table = pd.concat(
        [frame(RACES), frame({"Small": (2, 3)}), frame({"?": (4, 9)})], ignore_index=True
    )
    result = fourfifths.impact(
        table,
        protected="group",
        outcome="hired",
        unknown="?",
        rule="nyc-ll144",
        small_groups="exclude",
        total_minority=True,
    )
    total = result["group"].total
    assert math.isnan(result["Small"].impact_ratio)
    assert (total.n, total.selected) == (123, 28)
    assert total.impact_ratio == pytest.approx((28 / 123) / 0.5)
    # Lowest: the 5 not selected are others and the 4 selected are White; highest: the reverse.
    lowest, highest = (28 / 128) / (54 / 104), (32 / 127) / (50 / 105)
    assert total.impact_ratio_bounds == pytest.approx((lowest, highest))


def test_a_reference_chosen_by_its_rate_is_paid_for_by_hand():
    # White has the highest of three rates: three times the one-sided p of the rest.
    total = total_of()
    less = fisher_exact([[26, 94], [50, 50]], alternative="less").pvalue
    assert total.choice_p == pytest.approx(3 * less)
    close = total_of({"White": (11, 20), "Black": (10, 20), "Asian": (10, 20)})
    assert close.choice_p == 1
    assert close.finding == "inconclusive"
    assert math.isnan(total_of(reference="White").choice_p)
    # With sampling weights, the one-sided p of z.
    table = frame(RACES).assign(weight=1.0)
    options = {"protected": "group", "outcome": "hired", "weights": "weight"}
    total = fourfifths.impact(table, total_minority=True, **options).attributes[0].total
    assert total.choice_p == pytest.approx(3 * norm.cdf(total.z))


@pytest.mark.parametrize(("sizes", "rate"), [((9, 9, 9), 0.5), ((12, 6, 9), 0.3)])
def test_a_chosen_reference_is_significant_in_at_most_5_percent_of_equal_tables(sizes, rate):
    tables = np.array(list(product(*(range(size + 1) for size in sizes))))
    probability = np.prod(binom.pmf(tables, sizes, rate), axis=1)
    highest = np.argmax(tables / sizes, axis=1)
    x, n = tables[np.arange(len(tables)), highest], np.array(sizes)[highest]
    selected = np.concatenate([tables.sum(axis=1) - x, x]).astype(float)
    size = np.concatenate([sum(sizes) - n, n]).astype(float)
    pairs = compare_pairs(
        Tally(
            rows=size,
            rows_selected=selected,
            weight=size,
            weight_selected=selected,
            effective=size,
        ),
        np.arange(len(tables)),
        np.arange(len(tables), 2 * len(tables)),
        rule=RULES["ugesp"],
        exact=True,
        confidence=0.95,
        picked_from=3,
    )
    p = against_the_rest_p(pairs, picked_from=3)
    assert 0.001 < probability[p < 0.05].sum() <= 0.05
    # Without the adjustment it would be more.
    assert probability[pairs.figures["fisher_p_less"] < 0.05].sum() > 0.05


def test_where_everyone_is_selected_there_is_nothing_to_test():
    total = total_of({"A": (5, 5), "B": (9, 9), "C": (20, 20)}, favorable="yes")
    assert math.isnan(total.choice_p)
    assert total.impact_ratio == 1


def test_it_is_shown_in_the_page_the_json_and_the_records():
    result = measure(RACES, rule="ofccp", reference="White")
    text = str(result)
    assert " (all others)  120        26  0.217 " in text
    assert "(all others): adverse impact is indicated under ofccp" in text
    frame_of = result.to_frame()
    assert frame_of["is_total"].tolist() == [False, False, False, True]
    assert frame_of.loc[~frame_of["is_total"], "n"].sum() == 220
    assert result.to_dict()["attributes"][0]["total"]["n"] == 120
    assert measure(RACES).to_dict()["attributes"][0]["total"] is None


def test_several_columns_jointly_have_none():
    table = people(sex=["f", "m"] * 300)
    result = fourfifths.impact(
        table, protected=["race", "sex"], outcome="hired", total_minority=True
    )
    assert [attribute.total is None for attribute in result] == [False, True, True]


def test_the_detectable_effect_is_that_of_the_test_that_decides():
    # Three groups, the reference chosen by its rate: Fisher's one-sided p times 3 decides.
    groups = {"White": (24, 40), "Black": (12, 35), "Asian": (11, 30)}
    total = total_of(groups)
    assert total.choice_p == pytest.approx(
        3 * fisher_exact([[23, 42], [24, 16]], alternative="less").pvalue
    )

    def power(ratio):
        n, m, rate = 65, 40, 0.6
        rejects = 0.0
        for x, y in product(range(n + 1), range(m + 1)):
            if 3 * hypergeom.cdf(x, n + m, x + y, n) < 0.05:
                rejects += binom.pmf(x, n, ratio * rate) * binom.pmf(y, m, rate)
        return rejects

    assert power(total.detectable_ratio) == pytest.approx(0.8, abs=1e-6)
    # With a reference that is larger than the rest, the sides change.
    larger = total_of({"White": (60, 100), "Black": (8, 20), "Asian": (11, 30)})
    assert 0 < larger.detectable_ratio < larger.impact_ratio
    # Weights leave no exact test: the one-sided z of a third of the level.
    weighted = frame(groups).assign(w=1.0)
    total = (
        fourfifths.impact(
            weighted, protected="group", outcome="hired", weights="w", total_minority=True
        )
        .attributes[0]
        .total
    )
    rate = 0.6 * total.detectable_ratio
    pooled = (65 * rate + 40 * 0.6) / 105
    critical = norm.ppf(1 - 0.05 / 3) * math.sqrt(pooled * (1 - pooled) * (1 / 65 + 1 / 40))
    deviation = math.sqrt(rate * (1 - rate) / 65 + 0.6 * 0.4 / 40)
    assert norm.cdf((0.6 - rate - critical) / deviation) == pytest.approx(0.8, abs=1e-6)
