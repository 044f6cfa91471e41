"""The impact ratio at every cut of a score."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from referencing import Registry, Resource

import fourfifths
from fourfifths._impact.analyses.score_counts import PEEKED_ROWS
from fourfifths.errors import ColumnError, GroupError, OptionError

SCHEMAS = Path(__file__).parents[3] / "docs" / "schema"


def scores(**groups: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [(group, score) for group, values in groups.items() for score in values],
        columns=["group", "score"],
    )


def random_scores(seed: int = 0, rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], rows)
    race = rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1])
    points = np.round(rng.normal(50 + 4 * (sex == "M") - 3 * (race == "B"), 10))
    return pd.DataFrame({"sex": sex, "race": race, "score": points})


def measure(table, **options):
    return fourfifths.cuts(table, **{"protected": "group", "score": "score"} | options)


# Women 1, 2, 3 and 5, men 2, 4, 4 and 5. At a cut of 1 all are selected, at 2 three women of four,
# at 3 two of four women and three men, at 4 one woman and three men, at 5 one and one.
HAND = scores(women=[1, 2, 3, 5], men=[2, 4, 4, 5])


def test_by_hand():
    result = measure(HAND, reference="men")
    women = result["women"]
    assert result.cuts.tolist() == [1, 2, 3, 4, 5]
    assert result.selected.tolist() == [8, 7, 5, 4, 2]
    assert women.selected.tolist() == [4, 3, 2, 1, 1]
    assert women.impact_ratio == pytest.approx([1, 3 / 4, 2 / 3, 1 / 3, 1])
    (run,) = women.below
    assert (run.first, run.last, run.cuts, run.lower) == (2, 4, 3, "group")
    assert run.smallest == pytest.approx(1 / 3)
    assert np.all(np.isnan(result["men"].impact_ratio_low))


def test_the_reference_is_the_highest_rate_at_each_cut():
    result = measure(scores(a=[1, 5, 5], b=[3, 4, 4]))
    # At 1 all are selected, and at 4 two of three in both: then the first group is taken. At 3 all
    # of b are, and at 5 two of a.
    assert result.attributes[0].references == ("a", "b", "a", "a")
    assert result["a"].impact_ratio == pytest.approx([1, 2 / 3, 1, 1])
    assert result["b"].impact_ratio == pytest.approx([1, 1, 1, 0])
    assert [(run.first, run.last) for run in result["b"].below] == [(5, 5)]


def test_a_very_small_group_is_not_the_reference():
    # All 9 of the small group have the best score; under ugesp a reference needs 10 rows.
    table = scores(a=[1] * 50 + [2] * 50, b=[1] * 60 + [2] * 40, small=[2] * 9)
    result = measure(table)
    assert result.attributes[0].references == ("a", "a")
    assert result["small"].impact_ratio == pytest.approx([1, 2])
    chosen = fourfifths.impact(
        table.assign(chosen=table["score"] > 1), protected="group", outcome="chosen"
    )
    assert chosen.attributes[0].reference == "a"


def test_all_crossings_are_named():
    # The women's rates are 1, 1/2, 1/2 and 0 where the men's are 1, 1, 1/2 and 1/2.
    result = measure(scores(women=[1, 3], men=[2, 4]), reference="men")
    assert result["women"].impact_ratio == pytest.approx([1, 0.5, 1, 0])
    assert [(run.first, run.last) for run in result["women"].below] == [(2, 2), (4, 4)]


def test_exactly_four_fifths_is_not_below():
    # 3 of 5 against 6 of 8.
    table = scores(women=[1, 1, 2, 2, 2], men=[1, 1, 2, 2, 2, 2, 2, 2])
    assert measure(table)["women"].below == ()
    (run,) = measure(table, threshold=0.81)["women"].below
    assert run.smallest == pytest.approx(0.8)


def test_a_designated_reference_may_be_the_lower_one():
    (run,) = measure(scores(women=[2, 2], men=[1, 2]), reference="men")["women"].below
    assert (run.lower, run.smallest) == ("reference", 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_every_cut_is_what_impact_says_of_its_selection(lower_is_better):
    table = random_scores()
    result = fourfifths.cuts(
        table, protected=["sex", "race"], score="score", lower_is_better=lower_is_better
    )
    assert sorted(result.cuts) == sorted(table["score"].unique())
    for index in range(3, result.cuts.size - 3, 7):
        cut = result.cuts[index]
        is_selected = table["score"] <= cut if lower_is_better else table["score"] >= cut
        assert result.selected[index] == is_selected.sum()
        alone = fourfifths.impact(
            table.assign(chosen=is_selected), protected=["sex", "race"], outcome="chosen"
        )
        for attribute, expected in zip(result, alone, strict=True):
            assert attribute.references[index] == expected.reference
            for group, other in zip(attribute.groups, expected.groups, strict=True):
                assert (group.n, group.selected[index]) == (other.n, other.selected)
                assert group.impact_ratio[index] == pytest.approx(other.impact_ratio, nan_ok=True)


def test_the_interval_is_the_score_interval():
    table = scores(women=[1] * 22 + [2] * 26, men=[1] * 53 + [2] * 206)
    women = measure(table)["women"]
    # Connecticut v. Teal as an examination with two scores; the limits are those of statsmodels'
    # confint_proportions_2indep(26, 48, 206, 259, compare="ratio", method="score-corr").
    assert women.impact_ratio_low[1] == pytest.approx(0.503, abs=0.0005)
    assert women.impact_ratio_high[1] == pytest.approx(0.857, abs=0.0005)


def test_the_band_contains_the_interval_s_ratio_and_is_that_of_the_inequality():
    table = scores(women=[1] * 22 + [2] * 26, men=[1] * 53 + [2] * 206)
    women = measure(table)["women"]
    margins = [math.sqrt(math.log(2 * 2 / 0.05) / (2 * n)) for n in (48, 259)]
    low = (26 / 48 - margins[0]) / (206 / 259 + margins[1])
    high = (26 / 48 + margins[0]) / (206 / 259 - margins[1])
    assert (women.band_low[1], women.band_high[1]) == pytest.approx((low, high))
    assert women.surely_below == ()


def test_a_large_sample_is_surely_below():
    table = scores(women=[1] * 700 + [2] * 300, men=[1] * 400 + [2] * 600)
    women = measure(table)["women"]
    assert [(run.first, run.last) for run in women.surely_below] == [(2, 2)]
    men = measure(table, reference="women")["men"]
    assert [run.lower for run in men.surely_below] == ["reference"]


# 6 RCNY 5-301, example of a score for "culture fit": applicants, scoring rate, impact ratio. The
# two categories that are not listed here had 36 applicants; half of all score above the median.
NYC_SEX = {"Male": (92, 54.3, 1.00), "Female": (76, 44.7, 0.82)}
NYC_RACE = {
    "Hispanic or Latino": (28, 64.2, 1.00),
    "White": (40, 37.5, 0.58),
    "Black or African American": (32, 50.0, 0.78),
    "Native Hawaiian or Pacific Islander": (8, 62.5, 0.97),
    "Asian": (24, 41.7, 0.65),
}


@pytest.mark.parametrize("categories", [NYC_SEX, NYC_RACE])
def test_the_scoring_rates_of_the_new_york_rule_are_those_of_the_cut_above_the_median(categories):
    above = {name: round(n * rate / 100) for name, (n, rate, _) in categories.items()}
    rest = 168 - sum(n for n, _, _ in categories.values())
    groups = {
        name: [40] * (n - above[name]) + [60] * above[name]
        for name, (n, _, _) in categories.items()
    }
    if rest:
        others = 84 - sum(above.values())
        groups["others"] = [40] * (rest - others) + [60] * others
    table = scores(**groups)
    assert table["score"].median() == 50
    result = measure(table, rule="nyc-ll144", select=0.5)
    by_rule = fourfifths.impact(table, protected="group", score="score", rule="nyc-ll144")
    for name, (n, rate, ratio) in categories.items():
        group = result[name]
        assert group.n == n
        # The rule cuts 64.28% to 64.2%.
        assert 100 * group.selection_rate[-1] == pytest.approx(rate, abs=0.1)
        assert round(float(group.impact_ratio[-1]), 2) == ratio
        assert result.at_chosen_cut[name].impact_ratio == group.impact_ratio[-1]
        assert by_rule[name].impact_ratio == group.impact_ratio[-1]


def test_low_scores_are_the_negative_of_high_ones():
    table = random_scores()
    low = fourfifths.cuts(table, protected="sex", score="score", lower_is_better=True)
    high = fourfifths.cuts(table.assign(score=-table["score"]), protected="sex", score="score")
    assert low.cuts.tolist() == (-high.cuts).tolist()
    assert low["F"].to_dict()["impact_ratio"] == high["F"].to_dict()["impact_ratio"]


def test_persons_are_rows():
    table = random_scores()
    counted = table.groupby(["sex", "score"], as_index=False).size()
    rows = fourfifths.cuts(table, protected="sex", score="score")
    persons = fourfifths.cuts(counted, protected="sex", score="score", persons="size")
    assert rows.to_records() == persons.to_records()


@pytest.mark.parametrize("kind", ["csv", "polars", "integers"])
def test_kinds_of_tables(kind, tmp_path):
    table = random_scores()
    source = table
    if kind == "csv":
        source = tmp_path / "s.csv"
        table.to_csv(source, index=False)
    elif kind == "polars":
        source = pl.from_pandas(table)
    else:
        source = table.astype({"score": int})
    expected = fourfifths.cuts(table, protected="sex", score="score").to_records()
    assert fourfifths.cuts(source, protected="sex", score="score").to_records() == expected


def test_rows_without_a_score_or_a_group_are_counted():
    table = scores(women=[1, 2, None, -9], men=[1, 2, 2, 2])
    table.loc[7, "group"] = None
    result = measure(table, unknown=[-9])
    assert (result.rows, result.unscored) == (6, 2)
    assert result.attributes[0].unknown == 1
    assert result["women"].unscored == 2
    assert result.selected.tolist() == [6, 4]
    assert "2 rows have no score and could not be counted (women 2)" in result.notes
    assert any("1 row has a score but no known group" in note for note in result.notes)


@pytest.mark.parametrize(
    ("select", "cut"), [(0.5, 4), (4, 4), (8, 1), (6, 3), (0.01, 5), (0.99, 1)]
)
def test_the_chosen_cut_comes_nearest(select, cut):
    # The cuts select 8, 7, 5, 4 and 2; 6 is as far from 7 as from 5, and the stricter is taken.
    result = measure(HAND, select=select)
    assert result.chosen_cut == cut
    selected = result.selected[result.cuts.tolist().index(cut)]
    assert sum(group.selected for group in result.at_chosen_cut.attributes[0].groups) == selected
    assert result.at_chosen_cut.outcome == f"score >= {cut}"


@pytest.mark.slow
def test_score_bands():
    result = measure(HAND, score_bands=[2, 5])
    assert result.band_labels == ("under 2", "2 to under 5", "5 and over")
    assert (result["women"].in_band, result["men"].in_band) == ((1, 2, 1), (0, 3, 1))
    assert result["women"].band_rates == (0.25, 0.5, 0.25)
    equal = measure(scores(a=list(range(50)), b=list(range(50, 100))), score_bands=4)
    assert equal.band_edges == (25, 50, 75)
    assert (equal["a"].in_band, equal["b"].in_band) == ((25, 25, 0, 0), (0, 0, 25, 25))
    tied = measure(scores(a=[1] * 9 + [2], b=[1] * 10), score_bands=10)
    assert tied.band_edges == (2,)


def many_scores(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = PEEKED_ROWS + 10_000
    points = {
        "even": rng.random(rows),
        "skewed": rng.lognormal(0, 3, rows),
        "one outlier": np.append(rng.random(rows - 1), 1e12),
        "many equal": np.where(rng.random(rows) < 0.3, 0.0, rng.normal(size=rows)),
    }[kind]
    return pd.DataFrame({"group": rng.choice(["a", "b"], rows), "score": points})


@pytest.mark.parametrize("kind", ["even", "skewed", "one outlier", "many equal"])
def test_many_scores_are_cut_at_some_of_them_with_exact_counts(kind):
    table = many_scores(kind)
    result = measure(table, score_bands=[0.123])
    assert result.cuts_are == "levels"
    assert 300 < result.cuts.size <= 1100
    points = table["score"].to_numpy()
    assert np.all(np.isin(result.cuts, points))
    expected = len(points) - np.searchsorted(np.sort(points), result.cuts)
    assert result.selected.tolist() == expected.tolist()
    is_a = table["group"].to_numpy() == "a"
    expected = is_a.sum() - np.searchsorted(np.sort(points[is_a]), result.cuts)
    assert result["a"].selected.tolist() == expected.tolist()
    assert result["a"].in_band == (
        int((points[is_a] < 0.123).sum()),
        int((points[is_a] >= 0.123).sum()),
    )
    # No two neighbouring cuts are far apart, unless many scores are equal.
    steps = -np.diff(np.append(result.selected, 0)) / len(points)
    assert np.sort(steps)[-2] < 0.02
    assert any("score has very many values" in note for note in result.notes)


def test_low_scores_among_many():
    table = many_scores("even")
    result = measure(table, lower_is_better=True)
    expected = np.searchsorted(np.sort(table["score"]), result.cuts, side="right")
    assert result.selected.tolist() == expected.tolist()


def test_more_scores_further_down_the_table():
    rng = np.random.default_rng(3)
    points = np.concatenate([np.zeros(PEEKED_ROWS), rng.random(120_000)])
    table = pd.DataFrame({"group": rng.choice(["a", "b"], points.size), "score": points})
    result = measure(table)
    assert result.cuts_are == "levels"
    assert result.selected[0] == points.size


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"score": "scor"}, ColumnError, r"score='scor': no such column.*did you mean 'score'"),
        ({"score": "group", "protected": "score"}, ColumnError, "expected numbers, found 'men'"),
        ({"select": 0}, OptionError, "select=0: expected a share"),
        ({"select": 1.5}, OptionError, "select=1.5: expected a share"),
        ({"select": True}, OptionError, "select=True: expected a share"),
        ({"select": 9}, OptionError, "select=9: only 8 rows have a score"),
        ({"score_bands": 1}, OptionError, "score_bands=1: expected a number of bands, 2 or more"),
        ({"score_bands": [3, 2]}, OptionError, "each larger than the one before"),
        ({"score_bands": "ten"}, OptionError, "score_bands='ten'"),
        ({"threshold": 0}, OptionError, "threshold=0: expected a number above 0"),
        ({"confidence": 1}, OptionError, "confidence=1: expected a number from 0.5"),
        ({"rule": "feldman2015"}, GroupError, "designated group"),
        ({"reference": "boys"}, GroupError, "reference='boys': not among the groups"),
    ],
)
def test_errors(options, error, match):
    with pytest.raises(error, match=match):
        measure(HAND, **options)


def test_infinite_and_absent_scores():
    with pytest.raises(ColumnError, match="score='score': expected finite numbers, found inf"):
        measure(scores(women=[1, np.inf], men=[1, 2]))
    with pytest.raises(ColumnError, match="score='score': no row has a score"):
        measure(scores(women=[np.nan], men=[np.nan]))
    with pytest.raises(GroupError, match="fewer than two groups have scores"):
        measure(scores(women=[np.nan], men=[1, 2]))


@pytest.mark.slow
def test_the_json_keeps_to_its_schema():
    impact_schema, schema = (
        json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("impact", "cuts")
    )
    registry = Registry().with_resources(
        [(impact_schema["$id"], Resource.from_contents(impact_schema))]
    )
    validator = jsonschema.Draft202012Validator(schema, registry=registry)
    for result in (
        measure(HAND),
        measure(HAND, reference="men", select=2, score_bands=2),
        fourfifths.cuts(random_scores(), protected=["sex", "race"], score="score"),
    ):
        validator.validate(json.loads(result.to_json()))


def test_one_record_per_cut_and_group():
    records = measure(HAND).to_records()
    assert len(records) == 5 * 2
    assert records[2]["cut"] == 2
    assert Fraction(records[2]["impact_ratio"]).limit_denominator(100) in (Fraction(3, 4), 1)


def test_a_key_that_is_neither_attribute_nor_group():
    with pytest.raises(KeyError, match="no group 'x'; there are 'men', 'women'"):
        measure(HAND)["x"]
    both = fourfifths.cuts(random_scores(rows=16), protected=["sex", "race"], score="score")
    assert both["sex", "race"].name == "sex & race"
    with pytest.raises(KeyError, match="no protected attribute 'x'"):
        both["x"]


@pytest.mark.parametrize(("cell", "unknown"), [("absent", "absent"), ("-999", -999)])
def test_the_remedy_for_a_word_among_scores_works(cell, unknown):
    """A token is looked for in the scores as they came, before they are numbers."""
    table = HAND.assign(score=HAND.score.map("{:.0f}".format))
    table.loc[len(table)] = ["men", cell]
    assert measure(table, unknown=unknown).cuts.tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(OptionError, match="unknown='away': never occurs"):
        measure(table, unknown=[unknown, "away"])


def test_a_word_among_very_many_scores_can_be_declared_missing():
    rows = PEEKED_ROWS + 10
    table = pd.DataFrame({"group": ["a", "b"] * (rows // 2), "score": map(str, range(rows))})
    table.loc[1, "score"] = "absent"
    assert measure(table, unknown="absent").notes[0] == (
        "1 row has no score and could not be counted (b 1)"
    )


@pytest.mark.parametrize("written", [int, str])
def test_scores_that_floats_skip_are_refused(written):
    numbers = [2**53, 2**53 + 1] * 20
    table = pd.DataFrame({"group": list("aabb") * 10, "score": list(map(written, numbers))})
    with pytest.raises(ColumnError, match=r"'score': holds whole numbers beyond 2\*\*53"):
        measure(table)
