"""Rows in memory: what is read, and what is handed back."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import time

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from kinds_of_tables import DATAFRAMES, EVERY_KIND, cells

import fourfifths
from fourfifths._effect.files import repair_file
from fourfifths._tables.load import Rows, load_rows, one_row, rows_of
from fourfifths._tables.types import ColumnType
from fourfifths._tables.values import NumberFormat
from fourfifths.errors import ColumnError, TableError

COLUMNS = {"g": ["a", "b", None], "n": [1, -2, 3], "f": [0.5, None, 2.5], "t": ["1", "?", " "]}
FIRST = ColumnType(name=0, kind="number")
SECOND = ColumnType(name=1, kind="number")


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_kind_of_table_is_loaded_whole(kind, tmp_path):
    rows = load_rows(EVERY_KIND[kind](COLUMNS, tmp_path), ["?"])
    assert rows.columns == ("g", "n", "f", "t")
    assert len(rows) == 3
    frame = rows.dataframe.to_native()
    assert cells(frame, "g") == ["a", "b", None]
    numbers = (
        [("1", "-2", "3"), ("0.5", None, "2.5")]
        if kind == "csv"
        else [(1, -2, 3), (0.5, None, 2.5)]
    )
    assert [tuple(cells(frame, name)) for name in ("n", "f")] == numbers
    assert cells(frame, "t") == ["1", "?", " "]
    # The cells stay as they are; a column is read with missing values null.
    assert [cell is None for cell in cells(rows.column("t").to_frame().to_native(), "t")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("numbers", [[-1, 2], [1, 2], [-(2**60), None]], ids=str)
@pytest.mark.parametrize("kind", ["json lines", "duckdb", "parquet", "polars"])
def test_whole_numbers_stay_whole(kind, numbers, tmp_path):
    frame = load_rows(EVERY_KIND[kind]({"n": numbers}, tmp_path)).dataframe
    assert frame.schema["n"] == nw.Int64
    assert frame["n"].to_list() == numbers


def test_sums_of_a_duckdb_query_are_whole_numbers():
    relation = duckdb.sql(
        "SELECT sum(n)::HUGEINT AS total, 2**65::HUGEINT AS large FROM range(5) t(n)"
    )
    frame = load_rows(relation).dataframe
    assert frame["total"].to_list() == [10]
    assert frame.schema["total"] == nw.Int64


def test_numbers_too_large_for_64_bits_stay_decimals():
    frame = load_rows(duckdb.sql("SELECT 36893488147419103232::HUGEINT AS n")).dataframe
    assert str(frame["n"].to_list()[0]) == "36893488147419103232"


def test_a_data_set_is_loaded_by_its_name():
    rows = load_rows("ricci")
    assert (rows.name, len(rows), rows.columns[:2]) == ("ricci", 118, ("position", "oral"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_kept(delimiter, tmp_path):
    (tmp_path / "t.csv").write_text(f"a{delimiter}b\n1{delimiter}2\n")
    rows = load_rows(tmp_path / "t.csv")
    assert rows.style.delimiter == delimiter
    assert rows.dataframe["b"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("t.csv", b"a,b\n1,2\n1\n", "line 3 has 1 field, and the header has 2"),
        ("t.parquet", b"PAR1 but no more", "not readable as P"),
        ("t.jsonl", b'{"a": 1}\n{"a": \n', "t.jsonl"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(name, content, match, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=match) as caught:
        load_rows(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize("kind", DATAFRAMES)
def test_text_that_holds_numbers_becomes_numbers(kind, tmp_path):
    columns = {"x": ["1", "?", "+3"], "w": ["u", "?", "v"], "z": ["1", "2", "3"]}
    rows = rows_of(DATAFRAMES[kind](columns, tmp_path), ["?"]).with_numbers(["x", "w"])
    frame = rows.dataframe.to_native()
    assert cells(frame, "x") == [1, None, 3]
    assert rows.dataframe.schema["x"] == nw.Int64
    assert cells(frame, "w") == ["u", None, "v"]
    assert cells(frame, "z") == ["1", "2", "3"]


def test_what_is_no_table_is_left_to_scikit_learn():
    rows = rows_of([[1.0], [2.0]], ["?"])
    assert (rows.frame, rows.array, rows.unknown) == (None, None, ("?",))


def test_a_lazy_table_is_refused():
    with pytest.raises(TableError, match="X: the rows of a LazyFrame are not in memory"):
        rows_of(pl.LazyFrame({"x": [1]}))


def test_names_must_be_text_and_differ():
    with pytest.raises(TableError, match="X: a column is called 0; expected names that are text"):
        rows_of(pd.DataFrame([[1, 2]]))
    with pytest.raises(TableError, match="X: a column name occurs twice"):
        rows_of(pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_a_column_that_is_not_there_is_named_with_the_nearest():
    rows = rows_of(pd.DataFrame({"score": [1]}))
    assert rows.check_columns(["score"], "columns") == ("score",)
    with pytest.raises(
        ColumnError, match="columns: no column 'scor' in the table; did you mean 'score'"
    ):
        rows.check_columns(["scor"], "columns")


def test_an_array_is_numbers_throughout():
    rows = rows_of(np.zeros((2, 3), dtype=np.int8))
    assert rows.columns == (0, 1, 2)
    assert [column_type.kind for column_type in rows.types({0: None, 2: "number"})] == [
        "integer"
    ] * 2
    with pytest.raises(ColumnError, match="columns: 1 as 'category': an array holds numbers only"):
        rows.types({1: "category"})
    with pytest.raises(ColumnError, match="there is no column to repair but the stratifying ones"):
        rows.types({})


@pytest.mark.parametrize(
    ("asked", "mixed"),
    [(None, ["x"]), (["x"], ["x"]), ({"x": None}, ["x"]), ({"x": "category"}, [])],
)
def test_numbers_and_words_are_mixed_unless_they_are_declared(asked, mixed):
    rows = rows_of(pl.DataFrame({"x": ["1", "u", "2", "v"], "w": ["u", "v", "w", "u"]}))
    kind = asked["x"] if isinstance(asked, dict) else None
    assert rows.mixed_columns(rows.types({"x": kind, "w": None}), asked) == mixed


def test_declared_categories_are_not_mixed():
    table = pd.DataFrame({"x": pd.Categorical(["1", "u", "2", "v"])})
    rows = rows_of(table)
    assert rows.mixed_columns(rows.types({"x": None}), None) == []


# ---------------------------------------------------------------- output


def test_an_array_of_floats_is_neither_copied_in_nor_out():
    array = np.array([[1.0, 10.0], [2.0, 20.0]])
    rows = rows_of(array)
    before = rows.numbers([FIRST, SECOND])
    assert all(np.shares_memory(numbers, array) for numbers in before)
    output = rows.output([FIRST, SECOND], before)
    output.after[1][:] = [7.0, 8.0]
    result = output.native()
    assert result.tolist() == [[1, 7], [2, 8]]
    assert np.shares_memory(result, output.after[1])
    assert array.tolist() == [[1, 10], [2, 20]]


@pytest.mark.parametrize(
    ("dtype", "kind", "value", "expected"),
    [
        (np.int8, "integer", 100, np.int8),
        (np.int8, "integer", 300, np.int64),
        (np.uint8, "integer", -1, np.int64),
        (np.int64, "number", 2.5, np.float64),
        (np.float32, "number", 2.5, np.float32),
    ],
)
def test_an_array_keeps_its_type_if_that_can_hold_the_repair(dtype, kind, value, expected):
    array = np.array([[1, 2], [3, 4]], dtype=dtype)
    rows = rows_of(array)
    column_type = ColumnType(name=1, kind=kind)
    output = rows.output([column_type], rows.numbers([column_type]))
    output.after[0][0] = value
    result = output.native()
    assert result.dtype == expected
    assert result.tolist() == [[1, value], [3, 4]]


@pytest.mark.parametrize("kind", DATAFRAMES)
@pytest.mark.parametrize("library", ["default", "pandas", "polars"])
def test_a_dataframe_comes_back_in_its_own_library_or_in_the_one_asked_for(library, kind, tmp_path):
    table = DATAFRAMES[kind]({"n": [1, 2], "t": ["u", "v"]}, tmp_path)
    rows = rows_of(table)
    column_types = rows.types({"n": None})
    output = rows.output(column_types, rows.numbers(column_types))
    output.after[0][1] = 5
    result = output.native(library)
    expected = {"default": type(table), "pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
    assert type(result) is expected
    assert cells(result, "n") == [1, 5]
    assert cells(table, "n") == [1, 2]


# ---------------------------------------------------------------- one row


def test_one_row_may_be_a_mapping_a_row_or_an_array():
    names = ("x", "g")
    for row in ({"x": 1, "g": "a", "more": 0}, pd.Series({"more": 0, "x": 1, "g": "a"})):
        frame = nw.from_native(one_row(row, names), eager_only=True)
        assert frame.rows() == [(1, "a")]
    assert one_row([1, 2], ()).tolist() == [[1, 2]]
    assert one_row(np.array([1, 2]), ()).tolist() == [[1, 2]]
    table = pd.DataFrame({"x": [1]})
    assert one_row(table, names) is table


def test_one_row_must_have_every_column():
    with pytest.raises(TableError, match="row: lacks 'g'; expected a value of each column"):
        one_row({"x": 1}, ("x", "g"))


def test_rows_know_their_length():
    assert len(Rows(array=np.zeros((5, 2)))) == 5
    assert len(rows_of(pa.table({"x": [1, 2]}))) == 2


# ---------------------------------------------------------------- JSON lines

JSON_LINES = [
    '{"id": 123456789012345678901234567890, "g" : "a", "x": 1, "r":1.10, "t": "2020-01-01T10:00"}',
    '{"x":5,"g":"b","n": {"x" : 1.10, "z":[1, 2]}, "id": 7, "r": 1.0}',
    '{"g": "a", "x": 3, "e": "\\u00e9 \\"x\\": 9"}',
    '{"g": "b", "r": 1e0}',
    '{"g": "b", "x": 7}',
    '{"x": null, "g": "a"}',
]


@pytest.fixture
def json_rows(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(JSON_LINES) + "\n")
    return load_rows(path)


def with_x(rows, values):
    frame = rows.dataframe.with_columns(nw.new_series("x", values, backend="pyarrow"))
    return Rows(frame=frame, json_lines=rows.json_lines)


def test_json_lines_come_back_with_only_the_changed_cells_changed(json_rows, tmp_path):
    with_x(json_rows, [2, 5, 4, 9, None, None]).write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text().splitlines() == [
        JSON_LINES[0].replace('"x": 1', '"x": 2'),
        JSON_LINES[1],
        JSON_LINES[2].replace('"x": 3', '"x": 4'),
        '{"g": "b", "r": 1e0, "x": 9}',
        '{"g": "b", "x": null}',
        JSON_LINES[5],
    ]


def test_a_column_that_is_dropped_is_taken_out_of_json_lines(json_rows, tmp_path):
    frame = json_rows.dataframe.drop("g", "x")
    Rows(frame=frame, json_lines=json_rows.json_lines).write(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert lines[1] == '{"n": {"x" : 1.10, "z":[1, 2]}, "id": 7, "r": 1.0}'
    for line, original in zip(lines, JSON_LINES, strict=True):
        kept = {key: cell for key, cell in json.loads(original).items() if key not in "gx"}
        assert json.loads(line) == kept


def test_json_lines_keep_their_digits_in_other_files(json_rows, tmp_path):
    rows = with_x(json_rows, [2, 5, 3, None, 7, None])
    rows.write(tmp_path / "out.csv")
    written = load_rows(tmp_path / "out.csv").dataframe
    assert written["id"].to_list()[:2] == ["123456789012345678901234567890", "7"]
    assert written["r"].to_list()[:4] == ["1.10", "1.0", None, "1e0"]
    assert written["t"].to_list()[0] == "2020-01-01T10:00"
    assert written["x"].to_list() == ["2", "5", "3", None, "7", None]
    rows.write(tmp_path / "out.parquet")
    written = load_rows(tmp_path / "out.parquet").dataframe
    assert written["id"].to_list()[:2] == ["123456789012345678901234567890", "7"]
    assert written["x"].to_list() == [2, 5, 3, None, 7, None]


# ---------------------------------------------------------------- types of Arrow

TEXTS = ["u", "v", "w", None] * 50
ARROW_COLUMNS = {
    "run-end encoded": pc.run_end_encode(pa.array(TEXTS)),
    "views of texts": pa.array(TEXTS, type=pa.string_view()),
    "a dictionary": pa.array(TEXTS).dictionary_encode(),
    "a dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None] * 50, pa.int8()),
        pa.array(["u", "v", "w"], type=pa.string_view()),
    ),
    "large texts": pa.array(TEXTS, type=pa.large_string()),
}
UNUSUAL_COLUMNS = {
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([uuid.UUID(int=i % 3).bytes for i in range(200)], pa.binary(16))
    ),
    "bytes": pa.array([b"u", b"v"] * 100),
    "times": pa.array([time(i % 24) for i in range(200)]),
    "lists": pa.array([[i % 3] for i in range(200)]),
    "nothing": pa.nulls(200),
}


def arrow_table(column):
    people = {"g": ["a", "b", "b", "a", "b"] * 40, "y": [1, 0, 0, 1] * 50}
    return pa.table(people | {"score": list(range(200)), "x": column})


@pytest.mark.parametrize("kind", ARROW_COLUMNS)
def test_every_way_to_store_texts_in_arrow_is_read(kind):
    table = arrow_table(ARROW_COLUMNS[kind])
    result = fourfifths.impact(table, protected="x", outcome="y", favorable=1)
    counts = {group.group: (group.selected, group.n) for group in result.attributes[0].groups}
    assert counts == {"u": (50, 50), "v": (0, 50), "w": (0, 50)}
    repaired = fourfifths.Repairer("g", columns=["x"], scope="column").fit_transform(table)
    assert set(repaired["x"].to_pylist()) == {"u", "v", "w", None}


@pytest.mark.parametrize("kind", UNUSUAL_COLUMNS)
def test_an_unusual_column_does_not_keep_the_others_from_being_used(kind):
    table = arrow_table(UNUSUAL_COLUMNS[kind])
    result = fourfifths.impact(table, protected="g", outcome="y", favorable=1)
    assert result.rows == 200
    repaired = fourfifths.Repairer("g", columns=["score"], scope="column").fit_transform(table)
    assert repaired.num_rows == 200


def test_a_repair_of_a_file_repeats_what_was_assumed(tmp_path):
    rows = "".join(f"{'ab'[i % 2]};{i}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("g;x\n" + rows)
    options = {"scope": "column"}
    repaired = repair_file(str(tmp_path / "t.csv"), protected=["g"], columns=["x"], options=options)
    assert "t.csv was read with columns separated by semicolons" in repaired.effect("quick").notes


# --- some rows of a larger table ---


@pytest.mark.parametrize("texts", [["n/a"], ["n/a", None, "?"], ["", " "], ["nan", "NaN"]])
def test_rows_without_a_number_are_missing_where_the_column_holds_numbers(texts):
    rows = rows_of(pa.table({"pay": pa.array(texts, pa.string())}))
    with_numbers = rows.with_numbers(["pay"], formats={"pay": NumberFormat()})
    assert with_numbers.dataframe["pay"].to_list() == [None] * len(texts)
    # By themselves they are words.
    assert rows.with_numbers(["pay"]).dataframe["pay"].dtype == nw.String


@pytest.mark.parametrize("text", [str(2**53 + 1), "12345678901234567", "1" * 25, "-" + "9" * 30])
def test_long_whole_numbers_are_rounded_only_where_other_rows_have_fractions(text):
    rows = rows_of(pa.table({"pay": [text, "2"]}))
    number = ColumnType(name="pay", kind="number")
    assert rows.numbers([number])[0].tolist() == [float(text), 2.0]
    numbers = rows.with_numbers(["pay"], formats={"pay": NumberFormat()}).dataframe["pay"]
    assert numbers.to_list() == [float(text), 2.0]
    with pytest.raises(ColumnError, match=r"'pay': holds whole numbers beyond 2\*\*53"):
        rows.numbers([ColumnType(name="pay", kind="integer")])
    with pytest.raises(ColumnError, match=r"'pay': holds whole numbers beyond 2\*\*53"):
        rows.checked_numbers(rows.types({"pay": None}))


def test_whole_numbers_stay_whole_where_the_format_is_known():
    rows = rows_of(pa.table({"pay": [str(2**53 - 1), "2", None]}))
    numbers = rows.with_numbers(["pay"], formats={"pay": NumberFormat()}).dataframe["pay"]
    assert numbers.to_list() == [2**53 - 1, 2, None]
    assert numbers.dtype == nw.Int64


def test_numbers_that_were_read_before_are_used_for_numbers_only():
    table = pa.table({"pay": ["1", "2", "1"]})
    known = {"pay": np.array([10.0, 20.0, 10.0])}
    rows = rows_of(table).with_known_numbers(known)
    number = ColumnType(name="pay", kind="integer")
    category = ColumnType(name="pay", kind="category", categories=("2", "1"))
    assert rows.numbers([number, category])[0].tolist() == [10, 20, 10]
    assert rows.numbers([category])[0].tolist() == [1, 0, 1]
    # A token may be one of the texts, and other rows have other numbers.
    unknown = rows_of(table, unknown=["2"]).with_known_numbers(known)
    np.testing.assert_array_equal(unknown.numbers([number])[0], [1, np.nan, 1])
    assert rows.with_frame(rows.dataframe.head(1)).numbers([number])[0].tolist() == [1]


def test_numbers_that_were_read_before_are_checked():
    rows = rows_of(pa.table({"pay": ["1", "2"]}))
    number, whole = (ColumnType(name="pay", kind=kind) for kind in ("number", "integer"))
    large = rows.with_known_numbers({"pay": np.array([1.0, 2.0**53])})
    assert large.checked_numbers([number])[0].tolist() == [1, 2.0**53]
    with pytest.raises(ColumnError, match=r"holds whole numbers beyond 2\*\*53"):
        large.checked_numbers([whole])
    infinite = replace(rows, first_row=70).with_known_numbers({"pay": np.array([1.0, -np.inf])})
    with pytest.raises(ColumnError, match="'pay': row 71 is infinite"):
        infinite.checked_numbers([number])


def test_codes_with_leading_zeros_are_no_numbers():
    rows = rows_of(pd.DataFrame({"zip": ["01034", "90210"], "pay": ["1", "2"]}))
    frame = rows.with_numbers(["zip", "pay"]).dataframe
    assert (frame["zip"].dtype, frame["pay"].dtype) == (nw.String, nw.Int64)
