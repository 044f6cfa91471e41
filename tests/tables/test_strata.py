"""Strata: which there are, which one each row belongs to, and what cannot be one."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds_of_tables import DATAFRAMES

from fourfifths._tables.bands import Bands
from fourfifths._tables.load import rows_of
from fourfifths._tables.strata import (
    MAX_STRATA,
    MIN_ROWS_PER_STRATUM,
    Strata,
    fit_strata,
    stratum_columns,
    stratum_names,
    written,
)
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import ColumnError, GroupError, TableError


def fit(values, *, unknown=(), unseen="keep", small="error"):
    """Fit the strata of values that come beside an array."""
    rows = rows_of(np.zeros((len(values), 1)), unknown)
    return fit_strata(rows, None, values=values, bands={}, unseen=unseen, small=small)


def fit_columns(table, names, *, unknown=(), bands=None, unseen="keep", small="error", **options):
    rows = rows_of(table, unknown)
    return fit_strata(rows, names, bands=bands or {}, unseen=unseen, small=small, **options)


FOUR = MIN_ROWS_PER_STRATUM


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        lambda values: np.array(values, dtype=object),
        lambda values: pd.Series(values, dtype=object),
        lambda values: pd.Series(values, dtype="category"),
        pl.Series,
        lambda values: pa.chunked_array([values]),
        lambda values: pd.DataFrame({"g": values}),
    ],
)
@pytest.mark.parametrize("missing", [None, "", "  ", "?"])
def test_values_may_be_missing_in_whatever_they_come(missing, make):
    strata, codes = fit(make(["b", missing, "a", "b", "a"] * FOUR), unknown="?")
    assert strata.groups == (("a",), ("b",))
    assert strata.rows == (2 * FOUR, 2 * FOUR)
    assert codes.tolist() == [1, -1, 0, 1, 0] * FOUR


@pytest.mark.parametrize("missing", [float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("make", [list, lambda values: np.array(values, dtype=object)])
def test_every_kind_of_missing_is_missing_in_lists(missing, make):
    _, codes = fit(make(["b", missing, "a", "b"] * FOUR))
    assert codes.tolist() == [1, -1, 0, 1] * FOUR


@pytest.mark.parametrize("dtype", [int, float, np.int8, object, str])
@pytest.mark.parametrize("unknown", [9, "9", 9.0, [9]])
def test_a_number_may_be_a_token_of_an_array(unknown, dtype):
    values = np.array([1, 9, 2, 1] * FOUR).astype(dtype)
    strata, codes = fit(values, unknown=unknown_tokens(unknown))
    assert codes.tolist() == [0, -1, 1, 0] * FOUR
    assert strata.rows == (2 * FOUR, FOUR)


@pytest.mark.parametrize("count", [32, 33, 40])
def test_many_values_are_found_as_few_are(count):
    values = [f"v{index:02d}" for index in range(count)] * FOUR + ["", "?"]
    strata, codes = fit(np.array(values), unknown="?")
    assert strata.groups == tuple((f"v{index:02d}",) for index in range(count))
    assert codes.tolist() == list(range(count)) * FOUR + [-1, -1]


@pytest.mark.parametrize("step", [1, 1_000_000])
def test_whole_numbers_far_apart_are_found_as_those_close_together(step):
    strata, codes = fit(np.array([30, 10, 20, 10] * FOUR) * step)
    assert strata.groups == ((10 * step,), (20 * step,), (30 * step,))
    assert codes.tolist() == [2, 0, 1, 0] * FOUR


def test_the_codes_of_negative_and_unsigned_numbers():
    assert fit(np.array([-5, 3] * FOUR))[1].tolist() == [0, 1] * FOUR
    assert fit(np.array([250, 3] * FOUR, dtype=np.uint8))[1].tolist() == [1, 0] * FOUR


def test_truth_values_are_strata():
    strata, codes = fit([True, False, None, True] * FOUR)
    assert strata.groups == ((False,), (True,))
    assert codes.tolist() == [1, 0, -1, 1] * FOUR


@pytest.mark.parametrize(
    "values", [[1, "a"] * FOUR, ["1", 1] * FOUR, [*range(33), "a"] * FOUR], ids=str
)
def test_values_of_several_types_are_refused(values):
    with pytest.raises(GroupError, match="protected: values of several types; make them all text"):
        fit(values)


@pytest.mark.parametrize("value", [b"a", 1j], ids=str)
def test_what_json_cannot_hold_is_no_stratum(value):
    with pytest.raises(GroupError, match=r"a stratum's value is .*; expected text, numbers or"):
        fit(np.array([value] * FOUR))


@pytest.mark.parametrize(
    "value",
    [datetime.date(2020, 1, 2), np.datetime64("2020-01-02"), np.datetime64("2020-01-02", "ns")],
    ids=repr,
)
def test_dates_that_are_passed_need_groups_of_ages(value):
    with pytest.raises(ColumnError, match="protected: the values are dates; pass groups of ages"):
        fit(np.array([value] * FOUR))


DAYS = [datetime.datetime(2000 + row % 2, 1, 31) for row in range(2 * FOUR)]


@pytest.mark.parametrize(
    "days", [DAYS, [day.date() for day in DAYS], [f"{day:%Y-%m-%d}" for day in DAYS]], ids=repr
)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("argument", ["protected", "stratify_by"])
def test_dates_get_the_advice_of_ages(days, kind, argument):
    message = rf"{argument}='born': the column holds dates; .*ages=\{{'born': '2026-01-01'\}}"
    with pytest.raises(ColumnError, match=message):
        fit_columns(kind({"born": days}), ("born",), argument=argument)


# ---------------------------------------------------------------- rows that are no persons

PERSONS = {"sex": ["F", "M"] * FOUR, "city": ["Rome", "Oslo"] * FOUR, "pay": ["1", "2"] * FOUR}
HEADER = {name: [name] for name in PERSONS}


def with_rows(rows):
    return {name: PERSONS[name] + rows[name] for name in PERSONS}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("outcomes", [(), ("city",)], ids=["any column", "the outcome"])
@pytest.mark.parametrize("repeats", [1, FOUR])
def test_a_repeated_header_is_no_stratum(kind, outcomes, repeats):
    table = kind(with_rows({name: values * repeats for name, values in HEADER.items()}))
    with pytest.raises(TableError, match=r"'sex', 'city'.*: \d rows? ha.* remove what repeats"):
        fit_columns(table, ("sex",), outcomes=outcomes)


def test_a_header_is_seen_although_its_words_were_taken_for_missing_numbers():
    table = pd.DataFrame(with_rows({name: values * FOUR for name, values in HEADER.items()}))
    table["pay"] = pd.to_numeric(table["pay"], errors="coerce")
    with pytest.raises(TableError, match="4 rows have the names of the columns"):
        fit_columns(table, ("sex",))


def test_the_rows_that_a_cell_stands_for_are_those_of_the_header():
    rows = rows_of(pd.DataFrame({"sex": ["F", "M", "sex"], "city": ["Rome", "Oslo", "city"]}))
    with pytest.raises(TableError, match="'sex', 'city': 7 rows have the names of the columns"):
        fit_strata(
            rows,
            ("sex",),
            bands={},
            unseen="keep",
            small="error",
            row_counts=np.array([10, 10, 7]),
            outcomes=("city",),
        )


def test_a_group_may_have_the_name_of_its_column():
    table = pd.DataFrame({"Black": ["Black", "White"] * FOUR, "pay": range(2 * FOUR)})
    table["city"] = "Rome"
    strata, _ = fit_columns(table, ("Black",))
    assert strata.groups == (("Black",), ("White",))


def test_a_row_of_totals_is_no_stratum():
    total = {"sex": ["Total"], "city": [""], "pay": ["12"]}
    message = r"column 'sex': 'Total' looks like a total .* give known=\['Total'\]"
    with pytest.raises(GroupError, match=message):
        fit_columns(pd.DataFrame(with_rows(total)), ("sex",))


# ---------------------------------------------------------------- how many


def test_a_protected_column_of_many_numbers_needs_bands():
    ages = pd.DataFrame({"age": np.repeat(np.arange(20, 50), FOUR)})
    message = r"protected='age': a numeric column with 30 different values; .*bands=\{'age': \[40\]"
    with pytest.raises(ColumnError, match=message):
        fit_columns(ages, ("age",))


@pytest.mark.parametrize("count", [20, 30])
def test_strata_may_be_many_schools_by_number(count):
    schools = pd.DataFrame({"school": np.repeat(np.arange(count), FOUR)})
    strata, _ = fit_columns(schools, ("school",), argument="stratify_by")
    assert len(strata.groups) == count


def test_errors_of_strata_name_the_argument_that_was_given():
    table = pd.DataFrame({"school": ["a", "b"] * FOUR})
    with pytest.raises(ColumnError, match=r"stratify_by='shool': no .*; did you mean 'school'\?"):
        fit_columns(table, ("shool",), argument="stratify_by")
    with pytest.raises(GroupError, match="stratify_by='school': strata with fewer than 4 rows"):
        fit_columns(table.head(3), ("school",), argument="stratify_by")
    with pytest.raises(GroupError, match="stratify_by='school': the column holds only 'a'"):
        fit_columns(table[::2], ("school",), argument="stratify_by")


@pytest.mark.parametrize(
    "make",
    [
        lambda numbers: numbers,
        lambda numbers: numbers * 1.5,
        lambda numbers: numbers * 1_000,
        lambda numbers: numbers.astype(str),
        lambda numbers: pl.Series(numbers.astype(str)),
    ],
)
def test_10_001_strata_are_an_identifier(make):
    numbers = np.arange(MAX_STRATA + 1)
    with pytest.raises(GroupError, match="10,001 different strata, more than 10,000; the column"):
        fit(make(numbers))


def test_10_000_strata_are_not_too_many():
    strata, codes = fit(np.repeat(np.arange(MAX_STRATA), FOUR))
    assert len(strata.groups) == MAX_STRATA
    assert codes[-1] == MAX_STRATA - 1


def test_10_001_joint_strata_are_too_many():
    first, second = np.divmod(np.arange(MAX_STRATA + 1), 101)
    with pytest.raises(GroupError, match="10,001 different strata, more than 10,000"):
        fit(np.column_stack([first, second]))


def test_one_stratum_is_nothing_to_make_alike():
    with pytest.raises(GroupError, match="protected: the values are only 'a'; expected"):
        fit(["a", None] * FOUR)
    with pytest.raises(GroupError, match="protected: the values are nothing but missing values"):
        fit([None, ""] * FOUR)


def test_rows_without_a_stratum_are_an_error_unless_they_are_kept():
    with pytest.raises(GroupError, match=r"protected: 2 rows have no value; .*unseen='keep'"):
        fit([*["a", "b"] * FOUR, None, ""], unseen="error")


# ---------------------------------------------------------------- small strata

SMALL = ["big"] * 9 + ["c"] * 3 + ["d"] * 2 + ["large"] * 5


def test_small_strata_are_pooled_into_the_last():
    strata, codes = fit(SMALL, small="pool")
    assert strata.groups == (("big",), ("large",), ("c",))
    assert strata.pooled == (("c",), ("d",))
    assert strata.rows == (9, 5, 5)
    assert strata.labels == ("big", "large", "small strata (c, d)")
    assert codes.tolist() == [0] * 9 + [2] * 5 + [1] * 5


def test_new_rows_of_pooled_strata_are_of_the_pool():
    strata, _ = fit(SMALL, small="pool")
    rows = rows_of(np.zeros((5, 1)))
    codes = strata.codes_of(rows, ["d", "c", "large", "new", None], unseen="keep")
    assert codes.tolist() == [2, 2, 1, -1, -1]


@pytest.mark.parametrize(
    ("values", "small", "match"),
    [
        (SMALL, "error", "fewer than 4 rows: 'c: 3', 'd: 2'; small='pool' merges them"),
        (SMALL, "refuse", "fewer than 4 rows: 'c: 3', 'd: 2'; leave those rows out"),
        (["a"] * 4 + ["b"] * 3, "pool", "fewer than 4 rows even if they are pooled: 'b: 3'; leave"),
        (["a", "b", "c"] * 3, "pool", "fewer than 4 rows and no larger one: 'a: 3', 'b: 3'"),
    ],
)
def test_small_strata_that_are_not_pooled_are_named(values, small, match):
    with pytest.raises(GroupError, match=match):
        fit(values, small=small)


def test_a_stratum_of_four_rows_is_not_small():
    assert fit(["a"] * 4 + ["b"] * 4)[0].rows == (4, 4)


# ---------------------------------------------------------------- unseen strata


def test_an_unseen_stratum_is_named_with_its_row():
    strata, _ = fit(["a", "b"] * FOUR)
    rows = rows_of(np.zeros((4, 1)))
    match = (
        r"protected: 'x' in row 1 is not one of the strata that were fitted \('a', 'b'\); 2 rows"
    )
    with pytest.raises(GroupError, match=match):
        strata.codes_of(rows, ["a", "x", "b", None], unseen="error")
    assert strata.codes_of(rows, ["a", "x", "b", None], unseen="keep").tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize("values", [[2, 1, 3], ["2", "1", "3"], [2.0, 1.0, 3.0]], ids=str)
def test_new_rows_may_write_numbers_in_another_way(values, kind, tmp_path):
    strata, _ = fit_columns(pd.DataFrame({"g": [1, 2] * FOUR}), ("g",))
    rows = rows_of(DATAFRAMES[kind]({"g": values}, tmp_path))
    assert strata.codes_of(rows, unseen="keep").tolist() == [1, 0, -1]


def test_groups_are_written_alike():
    assert written((1, 1.0, "1", 1.5, True)) == ("1", "1", "1", "1.5", "True")


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("kind", DATAFRAMES)
def test_joint_strata_are_those_that_occur(kind, tmp_path):
    columns = {"s": ["f", "f", "m", "m", None] * FOUR, "r": [1, 2, 1, 1, 1] * FOUR}
    strata, codes = fit_columns(DATAFRAMES[kind](columns, tmp_path), ("s", "r"))
    assert strata.by == strata.columns == ("s", "r")
    assert strata.groups == (("f", 1), ("f", 2), ("m", 1))
    assert strata.labels == ("f & 1", "f & 2", "m & 1")
    assert codes.tolist() == [0, 1, 2, 2, -1] * FOUR


def test_joint_values_may_come_as_a_table_or_an_array():
    pairs = [["f", "x"], ["m", "y"], ["m", None], ["f", "y"]] * FOUR
    for values in (pairs, np.array(pairs, dtype=object), pd.DataFrame(pairs, columns=["s", "r"])):
        strata, codes = fit(values)
        assert strata.by == ("protected0", "protected1")
        assert strata.columns == ()
        assert strata.groups == (("f", "x"), ("f", "y"), ("m", "y"))
        assert codes.tolist() == [0, 2, -1, 1] * FOUR


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize("make", [int, float, str])
def test_bands_cut_numbers_and_texts_of_numbers(make, kind, tmp_path):
    ages = [make(age) for age in (20, 25, 26, 60)] * FOUR
    bands = {"age": Bands(column="age", edges=(26.0,))}
    table = DATAFRAMES[kind]({"age": [*ages, None]}, tmp_path)
    strata, codes = fit_columns(table, ("age",), bands=bands)
    assert strata.groups == (("under 26",), ("26 and over",))
    assert codes.tolist() == [0, 0, 1, 1] * FOUR + [-1]


def test_bands_cut_declared_categories_of_numbers_too():
    table = pd.DataFrame({"age": pd.Categorical(["20", "30"] * FOUR)})
    strata, _ = fit_columns(table, ("age",), bands={"age": Bands(column="age", edges=(25.0,))})
    assert strata.rows == (FOUR, FOUR)


def test_bands_of_words_and_of_dates_are_errors():
    bands = {"age": Bands(column="age", edges=(25.0,))}
    with pytest.raises(ColumnError, match="bands='age': expected numbers, found 'old'"):
        fit_columns(pd.DataFrame({"age": ["old", "young"] * FOUR}), ("age",), bands=bands)
    dates = pl.DataFrame({"age": [datetime.date(2020, 1, 2)] * 8})
    with pytest.raises(
        ColumnError, match=r"bands: 'age' holds dates; .*ages=\{'age': '2026-01-01'\}"
    ):
        fit_columns(dates, ("age",), bands=bands)


def test_a_column_that_holds_one_value_as_text_and_as_number_is_refused():
    table = pd.DataFrame({"g": pd.Series(["1", 1, "2", 2] * FOUR, dtype=object)})
    with pytest.raises(GroupError, match="protected='g': the same value is there as text"):
        fit_columns(table, ("g",))


@pytest.mark.parametrize(
    ("protected", "stratify_by", "names"),
    [("g", None, ("g",)), (None, "g", ("g",)), (["g", "h"], None, ("g", "h")), (None, None, None)],
)
def test_the_names_of_the_stratifying_columns(protected, stratify_by, names):
    assert stratum_names(protected, stratify_by) == names


@pytest.mark.parametrize("named", [5, [], [1], {"g"}, [None]])
def test_names_that_are_none_are_refused(named):
    with pytest.raises(ColumnError, match=r"protected=.*: expected the name of a column"):
        stratum_names(named, None)


@pytest.mark.parametrize(
    ("names", "values", "match"),
    [
        (("g",), ["a"] * 4, "protected: named as 'g' and passed as values too; give one"),
        (None, None, "protected: name the protected columns of a dataframe"),
        (None, ["a"] * 3, "protected: 3 values for 4 rows; expected one each"),
        (None, np.zeros((4, 1, 1)), "an array of 3 dimensions; expected one value for each row"),
    ],
)
def test_values_that_do_not_fit_the_rows_are_refused(names, values, match):
    rows = rows_of(pd.DataFrame({"g": ["a", "b"] * 2}))
    with pytest.raises(GroupError, match=match):
        stratum_columns(rows, names, values=values, bands={})


def test_an_array_has_no_names_and_a_table_may_lack_one():
    with pytest.raises(GroupError, match="protected='g': X is an array, whose columns have no"):
        stratum_columns(rows_of(np.zeros((4, 1))), ("g",), values=None, bands={})
    with pytest.raises(ColumnError, match="protected='h': no such column in X"):
        stratum_columns(rows_of(pd.DataFrame({"g": ["a"]})), ("h",), values=None, bands={})


def test_the_same_codes_are_handed_through_without_a_copy():
    strata = Strata(by=("g",), groups=(("a",), ("b",)), pooled=(), rows=(1, 1))
    codes = np.array([1, 0], dtype=np.int16)
    assert strata.renumber([("a",), ("b",)], codes) is codes
    assert strata.renumber([("b",), ("a",), ("c",)], np.array([0, 1, 2, -1])).tolist() == [
        1,
        0,
        -1,
        -1,
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([["b", None, "a"], [], ["c", "b", "a"], ["a", "b"]]),
        # Each chunk has a dictionary of its own, and "d" is in no row.
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays([0, None, 1], ["b", "a"]),
                pa.DictionaryArray.from_arrays([0, 2, 1, 1, 2], ["c", "a", "b"]),
            ]
        ),
        pa.chunked_array([pa.DictionaryArray.from_arrays([2, None, 0, 3, 2, 0, 0, 2], [*"adbc"])]),
    ],
)
def test_codes_of_texts_in_chunks_and_dictionaries(column):
    table = pa.table({"g": column})
    fitted, codes = fit_columns(pa.concat_tables([table] * FOUR), ("g",))
    assert fitted.groups == (("a",), ("b",), ("c",))
    assert codes.tolist() == [1, -1, 0, 2, 1, 0, 0, 1] * FOUR


@pytest.mark.parametrize("to_table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_codes_of_numbers_with_either_zero_and_nan(to_table):
    values = np.array([0.0, -0.0, 2.5, np.nan] * FOUR)
    fitted, codes = fit_columns(to_table({"g": values}), ("g",))
    assert fitted.groups == ((0.0,), (2.5,))
    assert codes.tolist() == [0, 0, 1, -1] * FOUR


def test_codes_of_an_array_of_texts_with_tokens_and_missing_values():
    values = np.array([f"s{code}" for code in range(40)] + ["?", None, ""], dtype=object)
    fitted, codes = fit(np.tile(values, FOUR), unknown=("?",))
    assert fitted.groups == tuple(sorted((f"s{code}",) for code in range(40)))
    names = np.array([*(group[0] for group in fitted.groups), None], dtype=object)
    expected = [*(f"s{code}" for code in range(40)), None, None, None]
    assert names[codes].tolist() == expected * FOUR


def test_an_empty_table_has_no_strata():
    table = pa.table({"g": pa.chunked_array([], type=pa.string())})
    with pytest.raises(GroupError, match="'g': the column holds nothing but missing values"):
        fit_columns(table, ("g",))


@pytest.mark.parametrize("first", [0.0, -0.0])
@pytest.mark.parametrize("kind", DATAFRAMES)
def test_both_zeros_are_the_stratum_zero(kind, first, tmp_path):
    zeros = [first, -first] * 4
    strata, codes = fit_columns(DATAFRAMES[kind]({"s": [*zeros, *[1.5] * 8]}, tmp_path), ["s"])
    assert repr(strata.groups) == "((0.0,), (1.5,))"
    assert codes.tolist() == [0] * 8 + [1] * 8


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas"])
def test_decimals_are_the_strata_that_their_floats_are(kind, tmp_path):
    values = [Decimal("0.50"), Decimal("10.00")] * 8
    strata, _ = fit_columns(DATAFRAMES[kind]({"s": values}, tmp_path), ["s"])
    assert repr(strata.groups) == "((0.5,), (10.0,))"
