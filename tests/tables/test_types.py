"""The types of columns, their values as numbers, and the way back."""

from __future__ import annotations

import datetime
from decimal import Decimal, localcontext

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds_of_tables import DATAFRAMES, cells

from fourfifths._tables.types import (
    TRUTH_VALUES,
    ColumnType,
    asked_columns,
    check_exact,
    check_finite,
    decimals_like,
    from_numbers,
    is_not_repaired,
    to_numbers,
    type_of,
    with_categories,
)
from fourfifths._tables.values import NumberFormat
from fourfifths.errors import ColumnError

NUMBER = ColumnType(name="x", kind="number")
INTEGER = ColumnType(name="x", kind="integer")
SIZES = ColumnType(name="x", kind="ordered", categories=("S", "M", "L"))
TRUTH = ColumnType(name="x", kind="ordered", categories=TRUTH_VALUES)


def series(values, dtype=None):
    return nw.from_native(pl.Series("x", values, dtype=dtype), series_only=True)


def column_of(kind, values, folder):
    return nw.from_native(DATAFRAMES[kind]({"x": values}, folder), eager_only=True)["x"]


def kind_of(values, asked=None, unknown=(), dtype=None):
    return type_of(series(values, dtype), asked, unknown=unknown).kind


# ---------------------------------------------------------------- the type


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3], "integer"),
        ([1.5, 2.0, None], "number"),
        (["1", "2", "+3"], "integer"),
        (["1", "", None], "integer"),
        (["1", "2.0", "3"], "number"),
        (["1e5", "2", "3"], "number"),
        ([True, False, True], "ordered"),
        (["u", "v", "u"], "category"),
        (["1", "u", "2"], "category"),
    ],
)
def test_a_type_is_what_the_values_are(values, expected, kind, tmp_path):
    assert type_of(column_of(kind, values, tmp_path), None).kind == expected


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize("dtype", ["text", "number"])
def test_tokens_do_not_make_a_type(dtype, kind, tmp_path):
    values = [1, -9, 3] if dtype == "number" else ["1", "?", "3"]
    column = column_of(kind, values, tmp_path)
    assert type_of(column, None, unknown=["?", -9]).kind == "integer"


def test_dates_are_a_type_of_their_own():
    assert kind_of([datetime.date(2020, 1, 2)]) == "date"
    assert kind_of([datetime.datetime(2020, 1, 2, 3), None]) == "date"


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("day", ["2020-01-02", "2020-03-04", None], True),
        ("moment", ["2020-01-02 03:04:05", "2020-03-04T05:06"], True),
        ("day", ["2020-01-02", "soon"], False),
        ("race", ["u", "v"], True),
        ("Sex ", [0, 1], True),
        ("applicant_id", [70, 12, 900], True),
        ("applicant_id", ["70", "12", "900"], True),
        ("applicant_id", [70, 12, 12], False),
        ("pay", [70, 12, 900], False),
        ("applicantId", [7, 900, 40], True),
        ("paid", [7, 900, 40], False),
        ("row", [*range(5, 26)], True),  # 21 numbers that follow each other
        ("row", [*range(5, 25)], False),
        ("row", [*range(0, 84, 4)], False),
        ("name", [f"n{row}" for row in range(21)], True),
        ("name", [f"n{row}" for row in range(21)] * 2, False),
        ("x", [0.5, 1.5], False),
    ],
)
def test_dates_identifiers_and_groups_are_not_repaired_unasked(
    name, values, expected, kind, tmp_path
):
    column = column_of(kind, values, tmp_path).alias(name)
    assert is_not_repaired(column) is expected


def test_categories_are_sorted_and_without_missing_ones():
    column_type = type_of(series(["v", None, "u", " ", "?", "v"]), None, unknown=["?"])
    assert column_type.categories == ("u", "v")


def test_a_type_that_is_asked_for_is_taken():
    assert kind_of(["1", "2"], "category") == "category"
    assert kind_of(["1", "2"], "number") == "integer"
    assert kind_of([1, 2], "number") == "integer"
    assert type_of(series(["M", "S"]), ["S", "M", "L"]).categories == ("S", "M", "L")
    assert type_of(series([1]), SIZES) is SIZES


@pytest.mark.parametrize(
    ("values", "asked", "match"),
    [
        (["u"], "nubmer", r"'x' is to be repaired as 'nubmer'; expected 'number', 'category' or"),
        (["u"], 5, r"'x' is to be repaired as 5; expected"),
        (["u", "v"], ["u"], r"columns={'x': .*: the order lacks 'v'"),
        (["u"], ["u", "u"], r"columns={'x': .*: the order names a category twice"),
        (["u", "1"], "number", r"column 'x': expected numbers, found 'u'"),
        ([datetime.date(2020, 1, 2)], "number", r"as numbers, but holds datetime.date\(2020, 1, 2"),
        ([[1]], None, r"columns: 'x' holds List"),
    ],
)
def test_a_type_that_cannot_be_is_an_error(values, asked, match):
    with pytest.raises(ColumnError, match=match):
        type_of(series(values), asked)


def test_an_identifier_is_no_category_unless_it_is_declared():
    texts = [f"id {row}" for row in range(21)]
    with pytest.raises(ColumnError, match="'x' has 21 different texts in 21 rows: an identifier"):
        type_of(series(texts), None)
    assert kind_of(texts, "category") == "category"
    assert kind_of(texts[:20]) == "category"
    assert kind_of(texts * 2) == "category"


def test_missing_rows_do_not_hide_an_identifier():
    texts = [f"id {row}" for row in range(21)]
    with pytest.raises(ColumnError, match="'x' has 21 different texts in 121 rows: an identifier"):
        type_of(series(texts + [None] * 100), None)


def test_more_than_1_000_texts_are_no_categories():
    texts = [f"v{row}" for row in range(1001)] * 3
    with pytest.raises(ColumnError, match="'x' has 1,001 different texts, more than 1,000"):
        type_of(series(texts), "category")


def test_categories_of_pandas_that_are_no_text_are_refused():
    column = nw.from_native(pd.Series([1, 2], name="x", dtype="category"), series_only=True)
    with pytest.raises(ColumnError, match=r"'x' holds [12] among its categories; expected text"):
        type_of(column, None)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["S", "L", ""], ["L", "", "S"], ordered=True), name="x"),
        pl.Series("x", ["S", "L", ""], dtype=pl.Enum(["L", "", "S"])),
        pa.chunked_array([pa.DictionaryArray.from_arrays([2, 0, 1], ["L", "", "S"], ordered=True)]),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_a_natural_order_is_kept(column):
    column = nw.from_native(column, series_only=True)
    column_type = type_of(column.alias("x"), None)
    assert (column_type.kind, column_type.categories) == ("ordered", ("L", "S"))


# ---------------------------------------------------------------- which columns


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("x", {"x": None}),
        (["y", "x"], {"y": None, "x": None}),
        ({"x": "number"}, {"x": "number"}),
    ],
)
def test_the_columns_that_are_named_are_repaired(columns, expected):
    assert asked_columns(columns, ["g", "x", "y", "id"], stratifying=["g"], key="id") == expected


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ([], "columns: name at least one column to repair"),
        (["xx"], r"columns: no column 'xx'.*\(columns: 'g', 'x'\)"),
        (["g"], "columns: 'g' is what the strata are made of"),
        (5, "columns=5: expected names of columns"),
        ([["x"]], r"columns=\[\['x'\]\]: expected names of columns"),
    ],
)
def test_columns_that_cannot_be_repaired_are_named(columns, match):
    with pytest.raises(ColumnError, match=match):
        asked_columns(columns, ["g", "x"], stratifying=["g"])


def test_the_key_cannot_be_repaired():
    with pytest.raises(ColumnError, match="columns: 'id' is the key, which tells rows apart"):
        asked_columns(["x", "id"], ["g", "x", "id"], stratifying=["g"], key="id")


def test_columns_of_an_array_may_be_numpy_integers():
    assert asked_columns(np.array([1]), [0, 1], stratifying=[]) == {1: None}


# ---------------------------------------------------------------- in


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize(
    ("values", "column_type", "expected"),
    [
        ([3, 1, 2], INTEGER, [3, 1, 2]),
        ([1.5, None, 2.0], NUMBER, [1.5, np.nan, 2]),
        (["+1", None, " 2 "], INTEGER, [1, np.nan, 2]),
        (["L", None, "S"], SIZES, [2, np.nan, 0]),
        ([True, True, False], TRUTH, [1, 1, 0]),
        ([None, None, None], NUMBER, [np.nan] * 3),
        ([None, None, None], SIZES, [np.nan] * 3),
    ],
)
def test_columns_are_read_as_numbers(values, column_type, expected, kind, tmp_path):
    numbers = to_numbers(column_of(kind, values, tmp_path), column_type)
    np.testing.assert_array_equal(numbers, expected)
    assert numbers.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "column_type", "match"),
    [
        (["a"], NUMBER, "column 'x': expected numbers, found 'a'"),
        ([datetime.date(2020, 1, 2)], NUMBER, "column 'x': expected numbers, found datetime.date"),
        ([1], SIZES, "column 'x': expected 'S', 'M', 'L', found 1"),
        (["True"], TRUTH, "column 'x': expected 'False', 'True', found 'True'"),
        (["XL"], SIZES, "column 'x': 'XL' is not one of the categories 'S', 'M', 'L'; leave these"),
    ],
)
def test_a_column_of_another_type_is_an_error(values, column_type, match):
    with pytest.raises(ColumnError, match=match):
        to_numbers(series(values), column_type)


def test_arrow_does_not_read_what_floats_skip():
    column = nw.from_native(pa.chunked_array([[2**53 + 1]]), series_only=True)
    with pytest.raises(ColumnError, match=r"whole numbers beyond 2\*\*53"):
        to_numbers(column, INTEGER)


def test_finite_numbers_are_handed_through_without_a_copy():
    numbers = np.array([1e308, 1e308, np.nan])  # the sum overflows
    assert check_finite(numbers, NUMBER) is numbers


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_an_infinite_number_is_named_with_its_row(infinity):
    with pytest.raises(ColumnError, match="column 'x': row 2 is infinite; expected finite numbers"):
        check_finite(np.array([np.nan, 1, infinity, -infinity]), NUMBER)


def test_whole_numbers_are_exact_below_2_to_the_53():
    check_exact(INTEGER, 2.0**53 - 1)
    with pytest.raises(ColumnError, match=r"whole numbers beyond 2\*\*53.*identifier"):
        check_exact(INTEGER, 2.0**53)


# ---------------------------------------------------------------- and out again


def changed(column, column_type, before, after):
    arrays = (np.array(numbers, dtype=np.float64) for numbers in (before, after))
    before, after = arrays
    return from_numbers(column, column_type, before=before, after=after)


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize(
    ("values", "column_type", "before", "after", "expected"),
    [
        ([1, 2, 3], INTEGER, [1, 2, 3], [1, 9, 3], [1, 9, 3]),
        ([1.5, 2.5, 3.0], NUMBER, [1.5, 2.5, 3], [1.5, 0.1, 3], [1.5, 0.1, 3.0]),
        (["+1", " 2", "?"], INTEGER, [1, 2, np.nan], [1, 9, np.nan], ["+1", "9", "?"]),
        (["1.50", "2", ""], NUMBER, [1.5, 2, np.nan], [1.5, 7, np.nan], ["1.50", "7", ""]),
        (["S", "M", "?"], SIZES, [0, 1, np.nan], [0, 2, np.nan], ["S", "L", "?"]),
        ([True, True, False], TRUTH, [1, 1, 0], [1, 0, 0], [True, False, False]),
    ],
)
def test_only_changed_cells_are_written(
    values, column_type, before, after, expected, kind, tmp_path
):
    column = column_of(kind, values, tmp_path)
    result = changed(column, column_type, before, after)
    assert cells(result.to_frame().to_native(), "x") == expected
    assert result.dtype == column.dtype
    assert result.name == "x"


@pytest.mark.parametrize("text_type", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("column_type", "texts", "expected"),
    [(NUMBER, ["1", "2"], ["1", "2.5"]), (SIZES, ["S", "M"], ["S", "L"])],
    ids=["number", "ordered"],
)
def test_every_type_of_text_in_arrow_is_kept(column_type, texts, expected, text_type):
    column = nw.from_native(pa.chunked_array([texts], type=text_type), series_only=True)
    after = [1, 2.5] if column_type is NUMBER else [1, 2]
    result = changed(column, column_type, [1, 2] if column_type is NUMBER else [1, 1], after)
    assert result.to_list() == expected
    assert result.to_native().type == text_type


@pytest.mark.parametrize("kind", DATAFRAMES)
def test_whole_numbers_become_floats_if_they_are_repaired_as_numbers(kind, tmp_path):
    result = changed(column_of(kind, [1, 2], tmp_path), NUMBER, [1, 2], [1, 2.5])
    assert result.to_list() == [1.0, 2.5]
    assert result.dtype == nw.Float64


def test_a_type_that_is_too_narrow_is_widened():
    narrow = series([1, 2], pl.Int8)
    assert changed(narrow, INTEGER, [1, 2], [1, 127]).dtype == nw.Int8
    assert changed(narrow, INTEGER, [1, 2], [1, 128]).to_list() == [1, 128]
    assert changed(narrow, INTEGER, [1, 2], [1, 128]).dtype == nw.Int64
    assert changed(series([1, 2], pl.UInt8), INTEGER, [1, 2], [1, -1]).to_list() == [1, -1]


def test_nothing_changed_is_nothing_changed():
    column = series([1, None, 3], pl.Int8)
    result = changed(column, INTEGER, [1, np.nan, 3], [1, 5, 3])
    assert result.to_list() == [1, None, 3]
    assert result.dtype == nw.Int8


def test_decimals_are_rounded_to_their_own_scale():
    column = series([Decimal("1.50"), Decimal("2.25")])
    result = changed(column, NUMBER, [1.5, 2.25], [1.5, 7.126])
    assert result.to_list() == [Decimal("1.50"), Decimal("7.13")]


def test_a_category_that_the_type_cannot_hold_is_an_error():
    column = nw.from_native(
        pd.Series(["S", "M"], name="x", dtype=pd.CategoricalDtype(["S", "M"])), series_only=True
    )
    with pytest.raises(ColumnError, match="column 'x': its type cannot hold all of 'S', 'M', 'L'"):
        changed(column, SIZES, [0, 1], [0, 2])


@pytest.mark.parametrize("to_series", [pd.Series, pl.Series, pa.array])
def test_a_whole_column_of_floats_keeps_the_sign_of_its_zeros(to_series):
    values = np.array([-0.0, 0.0, 1.5, 2.5])
    native = to_series(values)
    table = pa.table({"x": native}) if isinstance(native, pa.Array) else native.to_frame("x")
    column = nw.from_native(table, eager_only=True)["x"]
    result = changed(column, NUMBER, values, [0.0, -0.0, 1.5, 9.0])
    assert result.to_list() == [0.0, 0.0, 1.5, 9.0]
    assert np.signbit(result.to_numpy()).tolist() == [True, False, False, False]


@pytest.mark.parametrize("to_table", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("column_type", [NUMBER, INTEGER])
def test_missing_cells_and_tokens_stay_in_a_column_that_is_written_whole(to_table, column_type):
    # -99 means missing here: it is NaN among the numbers, and stays as it is written.
    column = nw.from_native(to_table({"x": [1.0, None, -99.0, 4.0]}), eager_only=True)["x"]
    result = changed(column, column_type, [1, np.nan, np.nan, 4], [7, np.nan, np.nan, 4])
    assert result.to_list() == [7.0, None, -99.0, 4.0]


@pytest.mark.parametrize("text_type", [pa.string(), pa.large_string(), pa.string_view()])
def test_arrow_keeps_its_type_of_text_and_its_nulls(text_type):
    texts = pa.chunked_array([pa.array(["S", None], text_type), pa.array(["L", "M"], text_type)])
    column = nw.from_native(pa.table({"x": texts}), eager_only=True)["x"]
    result = changed(column, SIZES, [0, np.nan, 2, 1], [2, np.nan, 2, 0])
    assert result.to_list() == ["L", None, "L", "S"]
    assert result.to_native().type == text_type


@pytest.mark.parametrize("backend", ["pyarrow", "polars", "pandas"])
@pytest.mark.parametrize(
    ("number_format", "after", "expected"),
    [
        (NumberFormat(), [7.25, 1.5, 7.25, 3.75], ["7.25", "01.50", "7.25", "3.75"]),
        (NumberFormat(), [7.25, 0.5, 7.25, 7.25], ["7.25", "0.5", "7.25", "7.25"]),
        (NumberFormat(decimal=","), [7.25, 1.5, 7.25, 3.75], ["7,25", "01.50", "7,25", "3,75"]),
    ],
)
def test_equal_numbers_are_written_alike_beside_cells_that_stay(
    backend, number_format, after, expected
):
    column = nw.new_series("pay", ["1.25", "01.50", "2.5", "9"], backend=backend)
    written = from_numbers(
        column,
        ColumnType(name="pay", kind="number", number_format=number_format),
        before=np.array([1.25, 1.5, 2.5, 9]),
        after=np.array(after),
    )
    assert written.to_list() == expected
    assert written.dtype == nw.String


def test_a_dictionary_has_the_fitted_categories_first_and_loses_none():
    pieces = [
        pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["b", "never"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["c", "d"]),
    ]
    column = nw.from_native(pa.chunked_array(pieces), series_only=True).alias("x")
    fitted = ColumnType(name="x", kind="category", categories=("a", "b", "c"))
    numbers = np.array([0, 1, 2, 0, np.nan])
    is_written = np.array([False, True, False, True, True])
    written = with_categories(column, fitted, numbers, is_written=is_written).to_native()
    assert written.to_pylist() == ["never", "b", None, "a", None]
    assert written.type == pa.dictionary(pa.int8(), pa.string())
    dictionaries = [piece.dictionary.to_pylist() for piece in written.chunks]
    assert dictionaries == [["a", "b", "c", "never"], ["a", "b", "c", "d"]]


def test_the_order_of_a_dictionary_is_that_of_its_type():
    codes, levels = pa.array([2, 0, 1], pa.int8()), ["lo", "mid", "hi", "never"]
    native = pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    column = nw.from_native(pa.chunked_array([native]), series_only=True).alias("x")
    before, after = np.array([0.0, 1, 2]), np.array([0.0, 0, 0])
    for fitted in (
        ColumnType(name="x", kind="ordered", categories=tuple(levels)),
        ColumnType(name="x", kind="category", categories=("hi", "lo", "mid")),
    ):
        written = from_numbers(column, fitted, before=before, after=after).to_native()
        assert written.to_pylist() == [levels[2], *[fitted.categories[0]] * 2]
        assert written.chunk(0).dictionary.to_pylist() == levels


def test_codes_of_8_bits_may_be_too_few():
    native = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["z"])
    column = nw.from_native(pa.chunked_array([native]), series_only=True).alias("x")
    fitted = ColumnType(name="x", kind="category", categories=tuple(f"a{i}" for i in range(200)))
    with pytest.raises(ColumnError, match="column 'x': its type cannot hold all of 'a0', 'a1'"):
        with_categories(column, fitted, np.array([150.0]), is_written=np.array([True]))


@pytest.mark.parametrize(("precision", "scale"), [(18, 2), (38, 10), (38, 25), (38, 38)])
@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_numbers_become_decimals_alike_in_every_library(library, precision, scale):
    generator = np.random.default_rng(1)
    size = 10.0 ** generator.integers(-40, min(precision - scale - 1, 10), 400)
    ties = (generator.integers(-999, 999, 100) + 0.5) * 10.0**-scale
    numbers = np.concatenate([generator.normal(size=400) * size, ties * (scale < 30)])
    empty = pa.table({"x": pa.array([], pa.decimal128(precision, scale))})
    if library == "polars":
        column = nw.from_native(pl.DataFrame(empty))["x"]
    elif library == "pandas":
        column = nw.from_native(empty.to_pandas(types_mapper=pd.ArrowDtype))["x"]
    else:
        column = nw.from_native(empty, eager_only=True)["x"]
    step = Decimal(1).scaleb(-scale)
    with localcontext(prec=80):
        expected = [Decimal(repr(float(number))).quantize(step) for number in numbers]
    found = decimals_like(column, numbers)
    assert found.to_list() == expected
    assert found.dtype == column.dtype
