"""Strata that cannot be made or found: each error names them, and the remedy."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hand_table import GROUP, HAND, MAKERS, NAMES, ROWS, VALUES, columns, fitted

from fourfifths import Repairer
from fourfifths._tables.load import rows_of
from fourfifths.errors import ColumnError, GroupError, OptionError

# --- strata ---


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, str, bool, object])
def test_strata_may_be_of_any_plain_type(dtype: Any) -> None:
    protected = np.repeat([0, 1], 6).astype(dtype)
    for values in (protected, protected.tolist(), pd.Series(protected), pl.Series(list(protected))):
        repairer = Repairer(scope="column", method="geometric").fit(VALUES, protected=values)
        assert repairer.strata_.rows == (6, 6)
        assert repairer.transform(VALUES, protected=values)[0, 0] == 5.5  # of 1 and 10


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (np.int8, (-128, 127)),
        (np.int64, (-3, 9_990)),
        (np.uint64, (2**63 - 1, 2**63)),
        (np.uint64, (2**64 - 9, 2**64 - 1)),
        (np.int64, (-(2**63), 2**63 - 1)),
    ],
)
def test_strata_may_be_any_whole_numbers(dtype: Any, values: tuple[int, int]) -> None:
    protected = np.array([values[row % 2] for row in range(ROWS)], dtype=dtype)
    repairer = Repairer(scope="column").fit(VALUES, protected=protected)
    assert repairer.strata_.groups == tuple((value,) for value in values)
    assert repairer.strata_.codes_of(rows_of(VALUES), protected, unseen="error").tolist() == [
        0,
        1,
    ] * (ROWS // 2)


@MAKERS
def test_a_stratum_that_was_not_fitted_is_named(make: Any) -> None:
    new = make(columns(g=["a"] * 5 + ["z"] * 2 + ["b"] * 5))
    message = (
        r"g: 'z' in row 5 is not one of the strata that were fitted .'a', 'b'.; "
        "2 rows are like that; "
    )
    with pytest.raises(
        GroupError, match=message + "fit with these rows, or fit with unseen='keep'"
    ):
        fitted().transform(new)


@pytest.mark.parametrize("scope", ["column"])
@pytest.mark.parametrize("method", ["random", "combinatorial", "geometric"])
def test_rows_without_a_stratum_change_nothing_for_the_others(scope: str, method: str) -> None:
    random = np.random.default_rng(0)
    group = np.array([None] * 37 + ["a", "b"] * 600, dtype=object)
    values = random.normal(size=(group.size, 2)) + 3 * (group == "a")[:, None]
    repairer = Repairer(scope=scope, method=method, unseen="keep")
    found = repairer.fit_transform(values, protected=group)
    assert np.array_equal(found[:37], values[:37])
    alone = Repairer(scope=scope, method=method).fit_transform(values[37:], protected=group[37:])
    assert np.array_equal(found[37:], alone)


@MAKERS
def test_a_row_without_a_stratum_is_named(make: Any) -> None:
    gone = make(columns(g=[None] * 2 + HAND["g"][2:]))
    with pytest.raises(GroupError, match=r"protected='g': 2 rows have no value; .* unseen='keep'"):
        Repairer("g").fit(gone)
    with pytest.raises(
        GroupError, match=r"in row 0 is not one of the strata .*; 2 rows are like that"
    ):
        fitted().transform(gone)


@MAKERS
def test_nan_is_no_stratum(make: Any) -> None:
    gone = make(columns(g=[float("nan")] * 4 + [1.0] * 4 + [2.0] * 4))
    with pytest.raises(GroupError, match="protected='g': 4 rows have no value"):
        Repairer("g").fit(gone)
    assert Repairer("g", columns=NAMES, scope="column", unseen="keep").fit(gone).strata_.rows == (
        4,
        4,
    )


@pytest.mark.parametrize("scope", ["column"])
def test_one_stratum_is_too_few(scope: str) -> None:
    with pytest.raises(GroupError, match="protected='g': the column holds only 'a'; expected"):
        Repairer("g", scope=scope).fit(pd.DataFrame(columns(g=["a"] * ROWS)))
    with pytest.raises(GroupError, match="protected: the values are only 'a'; expected"):
        Repairer(scope=scope).fit(VALUES, protected=["a"] * ROWS)


def test_strata_that_are_too_small_are_named_with_the_remedies() -> None:
    frame = pd.DataFrame(columns(g=["a"] * 6 + ["b"] * 3 + ["c"] * 2 + ["d"]))
    message = "='g': strata with fewer than 4 rows: 'b: 3', 'c: 2', 'd: 1'; small='pool'.* coarser"
    with pytest.raises(GroupError, match=message):
        Repairer("g").fit(frame)
    lonely = pd.DataFrame(columns(g=["a"] * 9 + ["b"] * 3))
    with pytest.raises(GroupError, match="fewer than 4 rows even if they are pooled: 'b: 3'"):
        Repairer("g", small="pool").fit(lonely)


def test_joint_strata_that_are_too_small_are_named() -> None:
    frame = pd.DataFrame(columns(h=["p"] * 11 + ["q"]))
    with pytest.raises(
        GroupError, match=r"protected=\['g', 'h'\]: strata with fewer than 4 rows: 'b & q: 1'"
    ):
        Repairer(["g", "h"], columns=["x"]).fit(frame)


def test_strata_without_end_are_refused() -> None:
    values = np.arange(10_001.0)[:, None]
    with pytest.raises(GroupError, match=r"10,001 different strata, .* make coarser strata"):
        Repairer().fit(values, protected=np.arange(10_001))


def test_dates_make_no_strata() -> None:
    days = [dt.date(2020, 1, 1)] * 6 + [dt.date(2020, 1, 2)] * 6
    with pytest.raises(ColumnError, match=r"protected='g': the column holds dates; .*ages="):
        Repairer("g").fit(pl.DataFrame(columns(g=days)))


def test_a_list_may_have_missing_values() -> None:
    with pytest.raises(GroupError, match="protected: 4 rows have no value"):
        Repairer().fit(VALUES, protected=[float("nan")] * 4 + ["a"] * 4 + ["b"] * 4)


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_strata_may_be_the_ends_of_a_type(dtype: Any) -> None:
    ends = np.iinfo(dtype)
    protected = np.repeat(np.array([ends.min, ends.max], dtype=dtype), 6)
    repairer = Repairer(scope="column").fit(VALUES, protected=protected)
    assert repairer.strata_.rows == (6, 6)


# --- bands ---


@MAKERS
def test_a_numeric_column_is_cut_into_bands(make: Any) -> None:
    ages = make(columns(age=[20, 30, 39, 40, 50, 60] * 2))
    repairer = Repairer("age", bands={"age": [40]}, columns=["x"], scope="column").fit(ages)
    assert repairer.strata_.labels == ("under 40", "40 and over")  # an edge is in the band above
    assert (
        repairer.strata_.codes_of(rows_of(ages), unseen="error").tolist() == [0, 0, 0, 1, 1, 1] * 2
    )
    far = make({name: own[:2] for name, own in columns(age=[0, 999] * 6).items()})
    assert repairer.strata_.codes_of(rows_of(far), unseen="error").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        ({"x": [40]}, "bands: 'x' is not a protected column; expected 'g'"),
        ({"g": [40]}, "bands='g': expected numbers, found 'a'"),
        ({"g": []}, r"bands: the edges of 'g' are \[\]; expected one or more numbers"),
        ({"g": [2, 1]}, "each larger than the one before"),
    ],
)
def test_bands_that_cannot_be_cut_are_named(bands: Any, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        Repairer("g", bands=bands).fit(pd.DataFrame(HAND))


@pytest.mark.parametrize("bands", [5, ["g"]])
def test_bands_are_a_mapping(bands: Any) -> None:
    with pytest.raises((ColumnError, OptionError), match=r"bands.*expected"):
        Repairer("g", bands=bands).fit(pd.DataFrame(HAND))


# --- protected: named, passed, both or neither ---


@MAKERS
def test_a_protected_column_that_is_not_there_is_named(make: Any) -> None:
    with pytest.raises(ColumnError, match=r"protected='sex': no such column in X .columns: 'x'"):
        Repairer("sex").fit(make(HAND))


@MAKERS
def test_protected_is_given_once(make: Any) -> None:
    with pytest.raises(GroupError, match="protected: named as 'g' and passed as values too; give"):
        Repairer("g").fit(make(HAND), protected=GROUP)
    with pytest.raises(GroupError, match=r"protected: name the protected columns .* or pass their"):
        Repairer().fit(make(HAND))


def test_an_array_has_no_names() -> None:
    with pytest.raises(GroupError, match=r"protected='g': X is an array, .* fit.X, protected=val"):
        Repairer("g").fit(VALUES)


@pytest.mark.parametrize("values", [GROUP[:5], [*GROUP, "a"], pd.DataFrame({"g": GROUP[:5]})])
def test_protected_has_a_value_for_each_row(values: Any) -> None:
    with pytest.raises(GroupError, match=r"protected: \d+ values for 12 rows; expected one each"):
        Repairer().fit(VALUES, protected=values)


@pytest.mark.parametrize("values", ["a", np.zeros((ROWS, 1, 1))])
def test_protected_is_a_column_or_several(values: Any) -> None:
    with pytest.raises(GroupError, match=r"protected: an array of \d dimensions; expected one val"):
        Repairer().fit(VALUES, protected=values)


@pytest.mark.parametrize(
    "options", [{"protected": 5}, {"protected": []}, {"protected": "g", "columns": 5}]
)
def test_names_that_are_no_names_are_refused(options: Any) -> None:
    with pytest.raises(ColumnError, match=r"(protected|columns).*expected"):
        Repairer(**options).fit(pd.DataFrame(HAND))


def test_a_value_as_text_and_as_a_number_is_an_error() -> None:
    table = pd.DataFrame({"g": pd.Series([1] * 6 + ["1"] * 6, dtype=object), "x": range(12)})
    with pytest.raises(GroupError, match="protected='g': the same value is there as text"):
        Repairer("g").fit(table)
