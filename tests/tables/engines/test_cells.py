"""Combinations of values are counted as Python counts tuples of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths._tables.engines.cells import (
    MAX_CELLS,
    MAX_JOINT_CODES,
    Cells,
    added,
    counted,
    positions_among,
    too_many_cells,
)
from fourfifths._tables.load import Rows
from fourfifths.errors import TableError


def rows_of(columns: Any) -> Rows:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return Rows(frame=nw.from_native(table, eager_only=True), name="people.csv")


def combinations(cells: Cells, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of counted cells; NaN, which differs from itself, as its text."""
    table: Any = cells.rows.dataframe.to_native()
    assert table.column_names == names
    return tuples(table, names)


def tuples(table: pa.Table, names: list[str]) -> list[tuple[Any, ...]]:
    columns = [table.column(name).to_pylist() for name in names]
    return [
        tuple("NaN" if value != value else value for value in row)
        for row in zip(*columns, strict=True)
    ]


def check_counted(table: pa.Table, names: list[str]) -> Cells:
    """Check all that `counted` gives against a Counter, which keeps the order of first rows."""
    cells, cell_of_row = counted(rows_of(table), names)
    rows = tuples(table, names)
    expected = Counter(rows)
    found = combinations(cells, names)
    assert found == list(expected)
    assert cells.row_counts.tolist() == list(expected.values())
    assert [found[cell] for cell in cell_of_row] == rows
    return cells


# --- counted ---


def test_combinations_are_in_the_order_of_their_first_rows() -> None:
    table = {"sex": ["M", "F", "M", "F", "M"], "job": ["b", "a", "a", "a", "b"]}
    cells, cell_of_row = counted(rows_of(table), ["sex", "job"])
    assert combinations(cells, ["sex", "job"]) == [("M", "b"), ("F", "a"), ("M", "a")]
    assert cells.row_counts.tolist() == [2, 2, 1]
    assert cell_of_row.tolist() == [0, 1, 2, 1, 0]


def test_columns_come_in_the_order_in_which_they_are_named() -> None:
    table = {"sex": ["M", "F"], "age": [3, 4], "job": ["b", "a"]}
    cells, _ = counted(rows_of(table), ["job", "sex"])
    assert combinations(cells, ["job", "sex"]) == [("b", "M"), ("a", "F")]


def test_a_missing_value_is_a_value_of_its_own() -> None:
    table = {"sex": ["M", None, "", None, "M"], "age": [None, None, 1, None, 2]}
    cells, cell_of_row = counted(rows_of(table), ["sex", "age"])
    assert combinations(cells, ["sex", "age"]) == [("M", None), (None, None), ("", 1), ("M", 2)]
    assert cells.row_counts.tolist() == [1, 2, 1, 1]
    assert cell_of_row.tolist() == [0, 1, 2, 1, 3]


def test_nan_is_one_value_and_null_another() -> None:
    nan = float("nan")
    table = {"score": pa.array([nan, 1.5, None, nan, -1.5, None, nan])}
    cells, cell_of_row = counted(rows_of(table), ["score"])
    assert combinations(cells, ["score"]) == [("NaN",), (1.5,), (None,), (-1.5,)]
    assert cells.row_counts.tolist() == [3, 1, 2, 1]
    assert cell_of_row.tolist() == [0, 1, 2, 0, 3, 2, 0]


def test_booleans_are_counted() -> None:
    table = {"flag": [True, None, False, True], "other": [False, False, False, False]}
    cells = check_counted(pa.table(table), ["flag", "other"])
    assert cells.row_counts.tolist() == [2, 1, 1]


def test_chunks_may_have_dictionaries_of_their_own() -> None:
    chunks = [
        pa.array(["M", "F", None, "M"]).dictionary_encode(),
        pa.array(["X", "M", "F"]).dictionary_encode(),
        pa.array([None, None], pa.string()).dictionary_encode(),
        pa.array(["F", "M"]).dictionary_encode().slice(1),
    ]
    table = pa.table({"sex": pa.chunked_array(chunks), "age": [1, 2, 3, 1, 1, 1, 2, 3, 3, 1]})
    check_counted(table, ["sex"])
    cells = check_counted(table, ["sex", "age"])
    assert combinations(cells, ["sex", "age"]) == [("M", 1), ("F", 2), (None, 3), ("X", 1)]
    assert cells.row_counts.tolist() == [4, 2, 3, 1]


def test_categories_that_no_row_has_are_not_counted() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([2, None, 2, 0], pa.int8()), ["a", "b", "c"])
    cells, _ = counted(rows_of({"job": codes}), ["job"])
    assert combinations(cells, ["job"]) == [("c",), (None,), ("a",)]
    assert cells.row_counts.tolist() == [2, 1, 1]


def test_text_that_comes_in_parts_is_one_column() -> None:
    text = pa.chunked_array([["b", "a"], [], [None], ["a", "c", "b"]], type=pa.string())
    cells = check_counted(pa.table({"job": text}), ["job"])
    assert combinations(cells, ["job"]) == [("b",), ("a",), (None,), ("c",)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.string()),
        pa.array([], pa.float64()),
        pa.array([], pa.string()).dictionary_encode(),
        pa.chunked_array([], type=pa.string()),
        pa.chunked_array([], type=pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=["text", "float", "dictionary", "text, no chunk", "dictionary, no chunk"],
)
def test_a_table_without_rows_has_no_cells(column: Any) -> None:
    cells, cell_of_row = counted(rows_of(pa.table({"a": column, "b": column})), ["a", "b"])
    assert len(cells.rows) == 0
    assert cells.rows.columns == ("a", "b")
    assert cells.row_counts.tolist() == []
    assert cell_of_row.tolist() == []


def test_rows_may_stand_for_several() -> None:
    table = {"sex": ["M", "F", "M", "F"]}
    cells, cell_of_row = counted(rows_of(table), ["sex"], np.array([5, 7, 11, 0]))
    assert combinations(cells, ["sex"]) == [("M",), ("F",)]
    assert cells.row_counts.tolist() == [16, 7]
    assert cell_of_row.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("width", [2, 3])
def test_more_combinations_than_joint_codes_are_numbered_anew(width: int) -> None:
    # Each column has so many values that two of them could have more combinations than codes.
    distinct = 1_200
    assert distinct**2 > MAX_JOINT_CODES
    random = np.random.default_rng(3)
    columns = {
        name: pa.array(np.append(np.arange(distinct), random.integers(0, distinct, 2_000)))
        for name in "abc"[:width]
    }
    table = pa.table(columns)
    repeated = pa.concat_tables([table, table.slice(700, 900), table.slice(3_000)])
    names = list(columns)
    cells = check_counted(repeated, names)
    assert int(cells.row_counts.sum()) == repeated.num_rows
    assert cells.row_counts.max() > 1


def test_a_column_after_many_combinations_is_counted_too() -> None:
    codes = list(range(1_100))
    is_even = [code % 2 == 0 for code in codes]
    table = pa.table({"a": [*codes, 3, 3], "b": [*codes, 3, 3], "c": [*is_even, True, False]})
    cells = check_counted(table, ["a", "b", "c"])
    # The row 3 has c False: of the two rows behind, one is like it.
    assert cells.row_counts[3] == 2
    assert cells.row_counts.size == 1_101


CELL_VALUES: dict[Any, st.SearchStrategy[Any]] = {
    pa.string(): st.none() | st.sampled_from(["", "a", "b", " a", "é"]),
    pa.float64(): st.none() | st.sampled_from([0.5, -1.0, float("nan"), float("inf")]),
    pa.int64(): st.none() | st.integers(-2, 2),
    pa.bool_(): st.none() | st.booleans(),
}


@given(st.data(), st.integers(0, 25), st.integers(0, 25))
def test_any_table_is_counted_as_a_counter_counts_it(data: Any, first: int, second: int) -> None:
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True))
    columns = {}
    for name in names:
        kind = data.draw(st.sampled_from(list(CELL_VALUES)))
        is_coded = data.draw(st.booleans())
        chunks = [
            pa.array([data.draw(CELL_VALUES[kind]) for _ in range(size)], kind)
            for size in (first, second)
        ]
        if is_coded:
            chunks = [chunk.dictionary_encode() for chunk in chunks]
        columns[name] = pa.chunked_array(chunks)
    check_counted(pa.table(columns), names)


# --- parts of the columns, and of the table ---


def test_combinations_of_fewer_columns_add_up() -> None:
    table = {
        "sex": ["M", "F", "M", "F", "F", None],
        "job": ["b", "a", "a", "a", "b", "b"],
        "age": [1, 1, 1, 2, 2, 2],
    }
    cells, _ = counted(rows_of(table), ["sex", "job", "age"], np.array([1, 2, 4, 8, 16, 32]))
    by_job = cells.of(["job"])
    assert combinations(by_job, ["job"]) == [("b",), ("a",)]
    assert by_job.row_counts.tolist() == [49, 14]
    by_two = cells.of(("age", "sex"))
    assert combinations(by_two, ["age", "sex"]) == [
        *((1, "M"), (1, "F")),
        *((2, "F"), (2, None)),
    ]
    assert by_two.row_counts.tolist() == [5, 2, 24, 32]


def parts_added(parts: list[pa.Table], names: list[str]) -> tuple[Cells, list[int]]:
    """Return the cells of the parts of a table, and the cell of each of its rows."""
    total, cell_of_row = counted(rows_of(parts[0]), names)
    cells_of_rows = cell_of_row.tolist()
    for part in parts[1:]:
        before = combinations(total, names)
        cells, cell_of_row = counted(rows_of(part), names)
        total, cell_of_cell = added(total, cells, names)
        assert combinations(total, names)[: len(before)] == before
        cells_of_rows += cell_of_cell[cell_of_row].tolist()
    return total, cells_of_rows


def test_combinations_of_the_first_part_stay_where_they_are() -> None:
    first = pa.table({"sex": ["M", None, "M"], "age": [2, 1, 2]})
    second = pa.table({"sex": ["F", "M", None, "F"], "age": [1, 2, 1, 1]})
    total, cell_of_row = parts_added([first, second], ["sex", "age"])
    assert combinations(total, ["sex", "age"]) == [("M", 2), (None, 1), ("F", 1)]
    assert total.row_counts.tolist() == [3, 2, 2]
    assert cell_of_row == [0, 1, 0, 2, 0, 1, 2]


def test_parts_with_different_dictionaries_add_up_to_the_table() -> None:
    random = np.random.default_rng(8)
    parts = []
    for letters in ("abc", "cda", "e", "ab"):
        texts = pa.array(random.choice(list(letters), 40), mask=random.random(40) < 0.2)
        ages = pa.array(random.integers(0, 3, 40))
        parts.append(pa.table({"job": texts.dictionary_encode(), "age": ages}))
    names = ["job", "age"]
    total, cell_of_row = parts_added(parts, names)
    rows = [row for part in parts for row in tuples(part, names)]
    found = combinations(total, names)
    assert found == list(Counter(rows))
    assert total.row_counts.tolist() == list(Counter(rows).values())
    assert [found[cell] for cell in cell_of_row] == rows


def test_too_many_cells_are_an_error() -> None:
    # As many cells as are allowed, and one more in the second part.
    numbers = pa.array(np.arange(MAX_CELLS))
    full = Cells(rows=rows_of({"id": numbers}), row_counts=np.ones(MAX_CELLS, dtype=np.int64))
    again, _ = counted(rows_of({"id": [5, 5, MAX_CELLS - 1]}), ["id"])
    total, index = added(full, again, ["id"])
    assert index.tolist() == [5, MAX_CELLS - 1]
    assert total.row_counts[[4, 5, MAX_CELLS - 1]].tolist() == [1, 3, 2]
    new, _ = counted(rows_of({"id": [MAX_CELLS]}), ["id"])
    expected = r"^people\.csv: more than 2,000,000 different combinations of 'id'; one of these"
    with pytest.raises(TableError, match=expected):
        added(full, new, ["id"])


def test_the_error_for_too_many_cells_names_the_columns() -> None:
    error = str(too_many_cells("people.csv", ["sex", "id"]))
    assert error == (
        "people.csv: more than 2,000,000 different combinations of 'sex', 'id'; one of these "
        "columns looks like an identifier"
    )


# --- positions among values ---


@pytest.mark.parametrize("is_coded", [False, True])
def test_cells_are_found_among_values(is_coded: bool) -> None:
    chunks = [pa.array(["no", "yes", None]), pa.array(["maybe", "no"])]
    if is_coded:
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    column = rows_of({"hired": pa.chunked_array(chunks)}).dataframe["hired"]
    values = rows_of({"hired": pa.chunked_array([["yes", "maybe"], ["no", None]])})
    positions = positions_among(column, values.dataframe["hired"])
    assert positions.tolist() == [2, 0, 3, 1, 2]
    assert positions.dtype == np.int64


def test_nan_is_found_among_values() -> None:
    nan = float("nan")
    column = rows_of({"score": pa.array([nan, 1.0, None, 2.0, nan])}).dataframe["score"]
    values = rows_of({"score": pa.array([1.0, None, nan, 2.0])}).dataframe["score"]
    assert positions_among(column, values).tolist() == [2, 0, 1, 3, 2]
