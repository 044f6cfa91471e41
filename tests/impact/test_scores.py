from __future__ import annotations

import math

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fourfifths
from fourfifths._impact.scores import check_score
from fourfifths.errors import ColumnError, FourfifthsError, OptionError

# Median of all: 5 (nine scores); of those whose group is known: 4 (seven scores).
SCORES = {
    "group": ["A", "A", "A", "B", "B", "B", "B", None, None, "A"],
    "score": [1, 2, 6, 3, 4, 8, 9, 7, 5, None],
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}


def city(table, **options):
    return fourfifths.impact(table, protected="group", score="score", rule="nyc-ll144", **options)


def lending(table, **options):
    return fourfifths.impact(
        table, protected="group", outcome="lent", score="score", rule="lending-air", **options
    )


@pytest.fixture
def loans():
    generator = np.random.default_rng(7)
    group = np.array(["A"] * 60 + ["B"] * 90)
    return pd.DataFrame(
        {
            "group": group,
            "score": generator.normal(np.where(group == "A", 600, 650), 50),
            "lent": np.where(generator.random(150) < 0.5, "yes", "no"),
        }
    )


@pytest.mark.parametrize("frame", FRAMES)
def test_selected_is_a_score_above_the_median_of_all(frame):
    result = city(FRAMES[frame](SCORES))
    assert (result["A"].selected, result["A"].n) == (1, 3)
    assert (result["B"].selected, result["B"].n) == (2, 4)
    assert result.outcome == "score > 5"


@pytest.mark.parametrize("frame", FRAMES)
def test_the_unknown_may_be_kept_out_of_the_median(frame):
    result = city(FRAMES[frame](SCORES), median_of="known")
    assert result.outcome == "score > 4"
    assert (result["A"].selected, result["B"].selected) == (1, 2)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_row_without_a_score_is_left_out_and_counted(frame):
    assert city(FRAMES[frame](SCORES)).outcome_missing == 1


def test_rows_of_unknown_membership_are_still_shown():
    attribute = city(pd.DataFrame(SCORES), median_of="known").attributes[0]
    assert (attribute.unknown, attribute.unknown_selected) == (2, 2)


def test_a_score_equal_to_the_median_is_not_above_it():
    table = pd.DataFrame({"group": list("AABB"), "score": [1, 2, 2, 3]})
    assert [group.selected for group in city(table).attributes[0].groups] == [0, 1]


def test_the_median_of_an_even_number_of_scores_is_the_midpoint():
    table = pd.DataFrame({"group": list("AABB"), "score": [1, 2, 3, 4]})
    assert city(table).outcome == "score > 2.5"


def test_the_name_of_a_large_median_keeps_its_digits():
    table = pd.DataFrame({"group": list("AABBB"), "score": [1, 2, 1234567, 2000000, 3000000]})
    assert city(table).outcome == "score > 1234567"


def test_scores_as_text_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("group,score\nA,10\nA,9\nB,100\nB,1e1\n")
    result = city(tmp_path / "t.csv")
    assert (result["A"].selected, result["B"].selected) == (0, 1)


def test_scores_of_which_none_is_above_the_median_say_so_in_terms_of_the_score():
    table = pd.DataFrame({"group": list("AABB"), "score": [1, 1, 1, 1]})
    with pytest.raises(FourfifthsError, match="score") as caught:
        city(table)
    assert "favorable" not in str(caught.value)


def test_no_score_at_all_is_an_error():
    table = pd.DataFrame({"group": list("AB"), "score": [float("nan")] * 2})
    with pytest.raises(ColumnError, match=r"score='score': no row has a score"):
        city(table)


def test_scores_that_are_words_are_an_error():
    table = pl.DataFrame({"group": ["A", "B"], "score": ["1", "high"]})
    with pytest.raises(ColumnError, match=r"score='score': expected numbers, found 'high'"):
        city(table)


def test_a_score_stands_in_for_the_outcome(loans):
    with pytest.raises(OptionError, match=r"a score stands in for the outcome"):
        city(loans, outcome="lent")


def test_there_is_no_weighted_median(loans):
    with pytest.raises(OptionError, match=r"takes no weighted median"):
        city(loans.assign(w=1.0), weights="w")


@pytest.mark.parametrize("rule", ["ugesp", "ofccp", "feldman2015"])
def test_other_rules_take_no_score(loans, rule):
    with pytest.raises(OptionError, match=rf"rule '{rule}' takes no score"):
        fourfifths.impact(loans, protected="group", outcome="lent", score="score", rule=rule)


@pytest.mark.parametrize("median_of", ["some", ""])
def test_the_median_is_of_all_or_of_the_known(loans, median_of):
    with pytest.raises(OptionError, match=r"median_of=.*expected one of 'all', 'known'"):
        city(loans, median_of=median_of)


@pytest.mark.parametrize("frame", FRAMES)
def test_the_standardised_mean_difference_by_hand(loans, frame):
    table = FRAMES[frame]({name: loans[name].tolist() for name in loans})
    means = loans.groupby("group")["score"].mean()
    expected = (means["A"] - means["B"]) / loans["score"].std(ddof=0)
    assert lending(table, reference="B")["A"].mean_difference == pytest.approx(expected)


def test_rows_without_an_outcome_have_scores_all_the_same(loans):
    lost = loans.assign(lent=loans["lent"].where(np.arange(150) % 3 > 0, None))
    result = lending(lost, reference="B")
    assert result.outcome_missing == 50
    means = loans.groupby("group")["score"].mean()
    expected = (means["A"] - means["B"]) / loans["score"].std(ddof=0)
    assert result["A"].mean_difference == pytest.approx(expected)


def test_a_joint_group_without_an_outcome_has_scores_but_is_not_compared():
    table = pd.DataFrame(
        {
            "sex": list("FFMMFFMM"),
            "race": list("BBBBWWWW"),
            "score": [1.0, 2, 3, 4, 5, 7, 8, 9],
            "lent": ["yes", "no", "yes", "no", None, None, "yes", "no"],
        }
    )
    result = fourfifths.impact(
        table,
        protected=["sex", "race"],
        outcome="lent",
        score="score",
        rule="lending-air",
        reference={"sex": "M", "race": "W"},
    )
    joint = result["sex", "race"]
    assert [group.group for group in joint.groups] == ["F & B", "M & B", "M & W"]
    expected = (1.5 - 8.5) / np.std(table["score"])
    assert joint["F", "B"].mean_difference == pytest.approx(expected)


def test_the_interval_of_the_mean_difference_is_that_of_cohens_d_rescaled():
    """Hedges and Olkin: the variance of d is 1/n + 1/n' + d^2 / (2 (n + n')) with many scores.

    The standard deviation of all scores is sqrt(1 + s s' d^2) times that within the groups.
    """
    random = np.random.default_rng(5)
    n, n_reference = 4000, 6000
    scores = np.concatenate([random.normal(-0.5, 1, n), random.normal(0, 1, n_reference)])
    group = ["A"] * n + ["B"] * n_reference
    table = pl.DataFrame({"group": group, "score": scores, "lent": ["yes", "no"] * 5000})
    found = lending(table, reference="B")["A"]
    parts = scores[:n], scores[n:]
    within = math.sqrt((n * parts[0].var() + n_reference * parts[1].var()) / (n + n_reference))
    d = (parts[0].mean() - parts[1].mean()) / within
    error = math.sqrt(1 / n + 1 / n_reference + d**2 / (2 * (n + n_reference)))
    expected = [
        limit / math.sqrt(1 + 0.4 * 0.6 * limit**2)
        for limit in (d - 1.96 * error, d + 1.96 * error)
    ]
    assert found.mean_difference_interval == pytest.approx(expected, abs=2e-3)
    low, high = found.mean_difference_interval
    assert low < found.mean_difference < high


def test_the_reference_and_a_single_score_have_no_interval(loans):
    single = loans.assign(score=loans["score"].where(loans.index > 58, None))
    result = lending(single, reference="B")
    assert result["B"].why["mean_difference_interval"] == "this is the reference group"
    assert math.isfinite(result["A"].mean_difference)
    assert math.isnan(result["A"].mean_difference_interval[0])
    assert "fewer than two scores" in result["A"].why["mean_difference_interval"]


def test_persons_counted_by_weights_have_the_same_interval_as_rows(loans):
    rounded = loans.assign(score=loans["score"].round(-2))
    lines = rounded.value_counts().rename("persons").reset_index()
    whole = lending(rounded, reference="B")["A"]
    counted = lending(lines, reference="B", weights="persons", weights_are="counts")["A"]
    assert counted.mean_difference_interval == pytest.approx(whole.mean_difference_interval)


def test_large_scores_do_not_swallow_their_differences(loans):
    near = lending(loans, reference="B")["A"].mean_difference
    far = lending(loans.assign(score=loans["score"] + 1e9), reference="B")["A"].mean_difference
    assert far == pytest.approx(near, rel=1e-5)


def test_the_mean_difference_is_weighted(loans):
    w = np.where(np.arange(150) % 2 == 0, 3.0, 1.0)
    mean = {
        g: np.average(loans["score"][m], weights=w[m])
        for g in "AB"
        if (m := loans["group"] == g).any()
    }
    centre = np.average(loans["score"], weights=w)
    deviation = math.sqrt(np.average((loans["score"] - centre) ** 2, weights=w))
    found = lending(loans.assign(w=w), reference="B", weights="w")["A"].mean_difference
    assert found == pytest.approx((mean["A"] - mean["B"]) / deviation)


def test_equal_scores_have_no_mean_difference(loans):
    group = lending(loans.assign(score=600.0), reference="B")["A"]
    assert math.isnan(group.mean_difference)
    assert group.why["mean_difference"] != "no score was given"


def test_without_a_score_there_is_no_mean_difference_and_the_reason_is_given(loans):
    group = fourfifths.impact(
        loans, protected="group", outcome="lent", rule="lending-air", reference="B"
    )["A"]
    assert math.isnan(group.mean_difference)
    assert group.why["mean_difference"] == "no score was given"


def test_a_score_is_checked_against_the_rule():
    rules = fourfifths.RULES
    check_score(rules["lending-air"], score="s", outcome="y", weights="w")
    with pytest.raises(OptionError, match="rule 'ugesp' takes no score"):
        check_score(rules["ugesp"], score="s", outcome="y", weights=None)
    with pytest.raises(OptionError, match="nyc-ll144 takes one of them"):
        check_score(rules["nyc-ll144"], score="s", outcome="y", weights=None)
    with pytest.raises(OptionError, match="takes no weighted median"):
        check_score(rules["nyc-ll144"], score="s", outcome=None, weights="w")


def test_without_means_the_reason_is_the_rule():
    why = city(pl.DataFrame(SCORES))["A"].why["mean_difference"]
    assert why == "the rule compares scores with their median, not by their means"


@pytest.mark.parametrize("ask", [city, lending])
@pytest.mark.parametrize("frame", FRAMES)
def test_an_infinite_score_is_an_error(ask, frame, loans):
    columns = loans.to_dict("list")
    columns["score"][3] = -math.inf
    with pytest.raises(ColumnError, match="score='score': expected finite numbers, found -inf"):
        ask(FRAMES[frame](columns))
