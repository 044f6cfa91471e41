"""A group's number among the selected against its share of a population."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import binom, binomtest, norm

import fourfifths
from fourfifths._impact.analyses.share import read_periods, sum_of_binomials
from fourfifths.errors import ColumnError, OptionError, TableError

SCHEMA = Path(__file__).parents[3] / "docs" / "schema" / "share.schema.json"


def test_castaneda():
    castaneda = fourfifths.against_share(339, 870, share=0.791)
    assert castaneda.expected == pytest.approx(688.17, abs=0.005)
    assert castaneda.standard_deviations == pytest.approx(-29.11, abs=0.005)
    assert castaneda.shortfall == pytest.approx(349.17, abs=0.005)
    assert castaneda.p == pytest.approx(binomtest(339, 870, 0.791).pvalue)


def test_castaneda_in_the_last_two_and_a_half_years():
    later = fourfifths.against_share(100, 220, share=0.791)
    assert later.standard_deviations == pytest.approx(-12.3, abs=0.05)


@pytest.mark.parametrize(
    ("share", "years", "pooled"),
    [(0.154, (-5.5, -3.5), -6.5), (0.057, (-1.6, -0.8), -1.7)],
    ids=["city and county", "county"],
)
def test_hazelwood(share, years, pooled):
    hazelwood = fourfifths.against_share([10, 5], [282, 123], share=share)
    assert hazelwood.standard_deviations == pytest.approx(pooled, abs=0.05)
    deviations = [year.standard_deviations for year in hazelwood.periods]
    assert deviations == pytest.approx(years, abs=0.05)
    assert hazelwood.p == pytest.approx(binomtest(15, 405, share).pvalue)


def test_shares_that_differ_are_convolved():
    result = fourfifths.against_share([2, 9], [20, 30], share=[0.2, 0.5])
    table = np.outer(binom.pmf(np.arange(21), 20, 0.2), binom.pmf(np.arange(31), 30, 0.5))
    total = np.add.outer(np.arange(21), np.arange(31))
    pmf = np.bincount(total.ravel(), weights=table.ravel())
    assert result.p == pytest.approx(pmf[pmf <= pmf[11] * (1 + 1e-7)].sum())
    assert result.expected == pytest.approx(19)
    assert result.standard_deviations == pytest.approx(-8 / np.sqrt(3.2 + 7.5))


def test_the_sum_of_binomials_has_the_moments_of_the_sum():
    first, probability = sum_of_binomials([(500, 0.3), (40, 0.9), (500, 0.3)])
    values = first + np.arange(probability.size)
    assert probability.sum() == pytest.approx(1)
    assert probability @ values == pytest.approx(336)
    assert probability @ (values - 336) ** 2 == pytest.approx(210 + 3.6)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.1, float("nan")])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(OptionError, match=r"share=.*expected a share between 0 and 1"):
        fourfifths.against_share(1, 2, share=share)


@pytest.mark.parametrize(("observed", "n"), [(3, 2), (-1, 2), (0, 0)])
def test_observed_is_part_of_n(observed, n):
    with pytest.raises(OptionError, match=r"expected at least one selected, and no more"):
        fourfifths.against_share(observed, n, share=0.5)


def test_the_page_says_what_was_compared():
    text = str(fourfifths.against_share(339, 870, share=0.791))
    assert "339 of the 870 selected are of the group, 39.0%" in text
    assert "-29.11 standard deviations (binomial)" in text


@pytest.mark.parametrize(
    ("observed", "n", "share"),
    [(0, 1, 0.5), (1, 1, 0.3), (0, 30, 0.1), (30, 30, 0.9), (5, 10, 0.5), (40, 1000, 0.05)],
)
def test_the_binomial_p_agrees_with_scipy(observed, n, share):
    expected = binomtest(observed, n, share).pvalue
    assert fourfifths.against_share(observed, n, share=share).p == pytest.approx(expected)


def test_the_binomial_test_answers_for_ten_million_rows():
    found = fourfifths.against_share(5_003_000, 10_000_000, share=0.5)
    assert found.p == pytest.approx(2 * norm.sf(6_000 / 10_000_000**0.5), rel=0.01)


def test_as_many_of_each():
    with pytest.raises(OptionError, match=r"2 of observed, 1 of n, 2 of share, 2 names"):
        fourfifths.against_share([1, 2], [3], share=0.5)


YEARS = pd.DataFrame({"y": ["a", "b"], "o": [1, 2], "s": [4, 5], "q": [0.5, 0.6]})
NAMES = {"period": "y", "observed_column": "o", "selected_column": "s", "share_column": "q"}


def test_a_table_of_years_is_read():
    years = read_periods(YEARS, **NAMES)
    assert (years.periods, years.observed, years.selected) == (["a", "b"], [1, 2], [4, 5])
    assert years.shares == [0.5, 0.6]


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {"period": "z"}, ColumnError, r"period='z': no such column"),
        ({"o": ["x", "2"]}, {}, ColumnError, r"observed_column='o': expected numbers, found 'x'"),
        ({"o": [1.5, 2]}, {}, TableError, r"the row of 'a' holds 1.5 and 4.0; expected whole"),
        ({"s": [4, None]}, {}, TableError, r"the row of 'b' has an empty cell"),
    ],
)
def test_bad_tables_of_years(change, options, error, message):
    with pytest.raises(error, match=message):
        read_periods(YEARS.assign(**change), **{**NAMES, **options})


def test_the_result_is_as_its_schema_says():
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    for result in (
        fourfifths.against_share(339, 870, share=0.791),
        fourfifths.against_share([10, 5], [282, 123], share=0.154, periods=["1972", "1973"]),
    ):
        Draft202012Validator(schema).validate(json.loads(result.to_json()))
        assert set(schema["properties"]) - {"provenance"} == set(result.to_dict())
        assert len(result.to_records()) == len(result.periods) + 1
        assert result.plot().axes[0].get_xlabel().startswith("standard deviations")
