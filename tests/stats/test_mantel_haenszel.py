from __future__ import annotations

import numpy as np
import pytest
from counted import printed, stratified
from statsmodels.stats.contingency_tables import StratifiedTable

import fourfifths
from fourfifths._stats.mantel_haenszel import compare_within
from fourfifths._stats.significance import standard_deviations

RICCI = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}
# Bickel, Hammel and O'Connell, Science 187 (1975): admitted, applied.
BERKELEY = {
    "A": {"men": (512, 825), "women": (89, 108)},
    "B": {"men": (353, 560), "women": (17, 25)},
    "C": {"men": (120, 325), "women": (202, 593)},
    "D": {"men": (138, 417), "women": (131, 375)},
    "E": {"men": (53, 191), "women": (94, 393)},
    "F": {"men": (22, 373), "women": (24, 341)},
}


def measure(strata, **options):
    return fourfifths.impact(
        stratified(strata), protected="group", outcome="hired", within="job", **options
    )


def compare(tables, **options):
    """Compare from tables of (selected, n, selected_reference, n_reference)."""
    columns = [np.array(column, dtype=float) for column in zip(*tables, strict=True)]
    return compare_within(tuple(range(len(tables))), *columns, **options)


def statsmodels_table(tables):
    cells = [[[x, n - x], [x_r, n_r - x_r]] for x, n, x_r, n_r in tables]
    return StratifiedTable([np.array(cell, dtype=float) for cell in cells])


def random_tables(seed):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(5, 80, size=(generator.integers(2, 7), 2))
    return [
        (int(generator.integers(1, n)), int(n), int(generator.integers(1, n_r)), int(n_r))
        for n, n_r in sizes
    ]


CASES = [random_tables(seed) for seed in range(6)]


def test_ricci_by_exam():
    within = measure(RICCI, reference="White")["Black"].stratified
    assert within.odds_ratio == printed("0.33395")
    assert within.cmh == printed("5.348")
    assert within.cmh_p == printed("0.0207")
    assert within.breslow_day_p == printed("0.988")


def test_ricci_shows_no_reversal():
    result = measure(RICCI, reference="White")
    assert not result["Black"].stratified.reversal
    assert not any("Simpson" in note for note in result.notes)


def test_berkeley_shows_the_reversal():
    result = measure(BERKELEY, reference="men")
    women = result["women"]
    assert women.impact_ratio < 1 < women.stratified.odds_ratio
    assert women.stratified.reversal
    assert any("Simpson" in note for note in result.notes)


@pytest.mark.parametrize("tables", CASES)
def test_the_common_odds_ratio_and_its_interval_agree_with_statsmodels(tables):
    within, expected = compare(tables, confidence=0.9), statsmodels_table(tables)
    assert within.odds_ratio == pytest.approx(expected.oddsratio_pooled)
    assert within.odds_ratio_interval == pytest.approx(expected.oddsratio_pooled_confint(0.1))


@pytest.mark.parametrize("tables", CASES)
def test_cmh_agrees_with_statsmodels(tables):
    within, expected = compare(tables), statsmodels_table(tables).test_null_odds(correction=False)
    assert (within.cmh, within.cmh_p) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("tables", CASES)
def test_breslow_day_agrees_with_statsmodels(tables):
    within, expected = compare(tables), statsmodels_table(tables).test_equal_odds()
    assert (within.breslow_day, within.breslow_day_p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )


def test_breslow_day_is_zero_where_every_odds_ratio_is_one():
    within = compare([(5, 10, 10, 20), (2, 8, 3, 12)])
    assert within.odds_ratio == pytest.approx(1)
    assert within.breslow_day == pytest.approx(0, abs=1e-12)
    assert within.breslow_day_p == pytest.approx(1)


@pytest.mark.parametrize("table", [(26, 48, 206, 259), (3, 8, 16, 25), (0, 5, 3, 9)])
def test_with_one_stratum_cmh_is_the_square_of_the_standard_deviations(table):
    assert compare([table]).cmh == pytest.approx(float(standard_deviations(*table)) ** 2)


def test_a_stratum_with_one_side_only_says_nothing():
    informative = [(3, 8, 16, 25), (6, 19, 25, 43)]
    alone, joined = compare(informative), compare([*informative, (4, 9, 0, 0), (0, 0, 7, 7)])
    for figure in ("odds_ratio", "cmh", "cmh_p", "breslow_day", "breslow_day_p"):
        assert getattr(joined, figure) == pytest.approx(getattr(alone, figure))


def test_each_stratum_is_listed_with_its_counts_and_ratio():
    captain, lieutenant = measure(RICCI, reference="White")["Black"].stratified.strata
    assert captain == {
        "stratum": "captain",
        "n": 8,
        "selected": 3,
        "n_reference": 25,
        "selected_reference": 16,
        "impact_ratio": pytest.approx((3 / 8) / (16 / 25)),
    }
    assert lieutenant["impact_ratio"] == pytest.approx((6 / 19) / (25 / 43))


def test_no_selection_in_a_stratums_reference_leaves_its_ratio_undefined():
    assert compare([(1, 2, 0, 3), (1, 2, 1, 3)]).strata[0]["impact_ratio"] is None


def test_an_odds_ratio_of_zero_within_can_reverse_the_pooled_direction():
    # Pooled 10/11 against 6/55; within strata only the reference is ever selected more often.
    within = compare([(10, 10, 5, 5), (0, 1, 1, 50)])
    assert within.odds_ratio == 0
    assert within.reversal


def test_an_infinite_odds_ratio_within_can_reverse_the_pooled_direction():
    # Pooled 6/55 against 10/11; within strata only the group is ever selected more often.
    within = compare([(5, 5, 10, 10), (1, 50, 0, 1)])
    assert np.isnan(within.odds_ratio)
    assert within.reversal


def test_strata_that_inform_on_nothing_leave_everything_undefined():
    within = compare([(2, 2, 3, 3), (0, 4, 0, 5)])
    figures = (within.odds_ratio, within.cmh, within.cmh_p, within.breslow_day)
    assert np.isnan(figures).all()
    assert not within.reversal


def test_rows_of_unknown_stratum_are_left_out_and_counted():
    table = stratified(RICCI)
    table.loc[[0, 1, 2], "job"] = None
    result = fourfifths.impact(table, protected="group", outcome="hired", within="job")
    strata = result["Black"].stratified.strata
    assert sum(stratum["n"] for stratum in strata) == 27 - 3
    assert any("3 rows have no job" in note for note in result.notes)


def test_a_group_without_any_known_stratum_is_not_compared_within():
    table = stratified(RICCI)
    table.loc[table["group"] == "Black", "job"] = None
    result = fourfifths.impact(
        table, protected="group", outcome="hired", within="job", reference="White"
    )
    within = result["Black"].stratified
    assert within is None or np.isnan(within.odds_ratio)


def test_strata_may_have_any_type_of_value():
    table = stratified({2019: RICCI["captain"], 2020: RICCI["lieutenant"]})
    result = fourfifths.impact(table, protected="group", outcome="hired", within="job")
    assert result["Black"].stratified.odds_ratio == printed("0.33395")
    assert [each["stratum"] for each in result["Black"].stratified.strata] == [2019, 2020]
