"""Columns of pandas that hold Python's objects are read as the values that they hold."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from fourfifths import Repairer, adjusted, certify, cuts, impact, subgroups
from fourfifths._tables.table import without_objects
from fourfifths.errors import ColumnError

ROLES = {"protected": "sex", "outcome": "hired", "favorable": "yes"}


def as_decimals(numbers):
    return pd.Series([Decimal(str(number)) for number in numbers], dtype=object)


def as_objects(numbers):
    return numbers.astype(object)


def first_as_texts(numbers):
    """Return objects whose kind cannot be told from the first ones; of few values, all objects."""
    if numbers.nunique() < 10:
        return numbers.astype(object)
    cells = numbers.astype(object)
    cells[:240] = [str(number) for number in numbers[:240]]
    return cells


OBJECTS = [as_decimals, as_objects, first_as_texts]


def people(make=None):
    """Return people with a score of few values and a wage of many; `make` makes objects of both."""
    random = np.random.default_rng(4)
    n = 600
    table = pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], n),
            "score": random.choice([1.5, 2.5, 3.5, 4.5], n),
            "wage": random.normal(30, 8, n).round(1),
            "hired": random.choice(["yes", "no"], n),
        }
    )
    made = {name: make(table[name]) for name in ("score", "wage")} if make else {}
    return table.assign(**made)


@pytest.mark.parametrize("make", OBJECTS)
def test_every_door_reads_objects_as_the_numbers_that_they_are(make):
    plain, objects = people(), people(make)
    for measure in (
        lambda table: adjusted(table, controls=["score"], **ROLES),
        lambda table: subgroups(table, columns=["score"], **ROLES),
        lambda table: cuts(table, protected="sex", score="wage"),
        lambda table: impact(table, protected="sex", score="wage", rule="nyc-ll144"),
        lambda table: impact(
            table, protected="wage", bands={"wage": [30]}, outcome="hired", favorable="yes"
        ),
        lambda table: certify(
            table, columns=["score", "wage"], auditors=["logistic"], leaks=False, **ROLES
        ),
    ):
        assert measure(objects).to_json() == measure(plain).to_json()


@pytest.mark.parametrize("scope", ["column", "blocks"])
@pytest.mark.parametrize("make", OBJECTS)
def test_objects_are_repaired_as_numbers_and_others_stay_as_they_were(make, scope):
    kept = {"keep": "hired", "favorable": "yes", "blocks": 4} if scope == "blocks" else {}
    plain, objects = people(), people(make).assign(bonus=Decimal("1.10"))
    repairer = Repairer("sex", columns=["score", "wage"], scope=scope, **kept)
    expected = repairer.fit_transform(plain)
    repaired = repairer.fit_transform(objects)
    for name in ("score", "wage"):
        np.testing.assert_array_equal(repaired[name].astype(float), expected[name])
    assert repaired["bonus"].map(type).eq(Decimal).all()


def test_a_word_for_missing_among_objects_is_noted():
    table = people(as_objects)
    table.loc[3, "wage"] = "n/a"
    certificate = certify(table, columns=["wage"], auditors=["logistic"], leaks=False, **ROLES)
    assert certificate.features == {"wage": "number"}
    assert "column 'wage': 'n/a' is taken for missing (1 row)" in certificate.notes


def test_another_word_among_objects_is_an_error_at_every_door():
    table = people(as_objects)
    table.loc[3, "score"] = "twelve"
    for measure in (
        lambda: certify(table, columns=["score"], **ROLES),
        lambda: Repairer("sex", columns=["score"]).fit(table),
        lambda: adjusted(table, controls=["score"], **ROLES),
    ):
        with pytest.raises(ColumnError, match=r"599 of 600 values are numbers, but 'twelve' is"):
            measure()


def test_few_values_of_which_one_is_a_number_and_a_text_are_not_guessed_at():
    texts_first, texts_last = people(as_objects), people(as_objects)
    texts_first.loc[:300, "score"] = "1.5"
    texts_last.loc[300:, "score"] = "1.5"
    with pytest.raises(ColumnError, match="controls='score': expected numbers or categories"):
        adjusted(texts_last, controls=["score"], **ROLES)
    with pytest.raises(ColumnError, match=r"'score' holds Object, as in 4\.5; expected num"):
        Repairer("sex", columns=["score"]).fit(texts_last)
    with pytest.raises(ColumnError, match="'score': holds numbers and texts, some of them the"):
        Repairer("sex", columns=["score"]).fit(texts_first)


@pytest.mark.parametrize(
    ("cells", "dtype", "expected"),
    [
        ([1, None, 3], "Int64", [1, pd.NA, 3]),
        ([True, None], "boolean", [True, pd.NA]),
        ([pd.NA, 1.5], "float64", [np.nan, 1.5]),
        ([10**30, "x"], "object", [str(10**30), "x"]),
        ([datetime.datetime(2020, 5, 17), None], "datetime64[us]", None),
        ([datetime.date(2020, 5, 17), None], "date32[day][pyarrow]", None),
        ([[1], 2], "object", [[1], 2]),
    ],
)
def test_objects_become_what_they_hold(cells, dtype, expected):
    plain = without_objects(pd.Series(cells, dtype=object))
    assert plain.dtype == dtype
    if expected is not None:
        pd.testing.assert_series_equal(plain, pd.Series(expected, dtype=dtype))


def test_an_array_with_a_word_names_its_column():
    array = np.array([[1.0, 2], [3, "n/a"], [5, 6]] * 10, dtype=object)
    with pytest.raises(ColumnError, match="X: column 1 holds 'n/a'; expected numbers, and NaN"):
        Repairer().fit(array, protected=["f", "m"] * 15)
