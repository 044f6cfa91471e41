"""Every kind of table gives the same result."""

from __future__ import annotations

import datetime
import gzip
import json

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import fourfifths
from fourfifths._tables.table import open_table, source_files
from fourfifths.errors import ColumnError, OptionError, TableError

COLUMNS = {
    "race": ["B"] * 8 + ["W"] * 25 + ["H"] * 10 + [None] * 4,
    "job": (["clerk", "cook"] * 24)[:47],
    "hired": ["yes"] * 3
    + ["no"] * 5
    + ["yes"] * 16
    + ["no"] * 9
    + ["yes"] * 4
    + ["no"] * 6
    + ["yes", "no", "no", None],
}


def as_csv(path, delimiter=","):
    rows = [COLUMNS, *zip(*COLUMNS.values(), strict=True)]
    lines = [delimiter.join("" if cell is None else cell for cell in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_json_lines(path):
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_gzip(path, folder):
    packed = folder / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def as_parquet(path):
    pl.DataFrame(COLUMNS).write_parquet(path)
    return path


def as_duckdb(columns):
    return duckdb.connect().from_arrow(pa.table(columns))


KINDS = {
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars lazy": lambda _: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda _: pa.table(COLUMNS),
    "duckdb": lambda _: as_duckdb(COLUMNS),
    "narwhals": lambda _: nw.from_native(pl.DataFrame(COLUMNS)),
    "csv": lambda folder: as_csv(folder / "t.csv"),
    "csv, path as text": lambda folder: str(as_csv(folder / "t.csv")),
    "tsv": lambda folder: as_csv(folder / "t.tsv", "\t"),
    "semicolons": lambda folder: as_csv(folder / "t.csv", ";"),
    "csv.gz": lambda folder: as_gzip(as_csv(folder / "t.csv"), folder),
    "parquet": lambda folder: as_parquet(folder / "t.parquet"),
    "jsonl": lambda folder: as_json_lines(folder / "t.jsonl"),
    "ndjson": lambda folder: as_json_lines(folder / "t.ndjson"),
    "json": lambda folder: as_json_lines(folder / "t.json"),
    "jsonl.gz": lambda folder: as_gzip(as_json_lines(folder / "t.jsonl"), folder),
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": as_duckdb,
}


def audit(table, **options):
    return fourfifths.impact(table, protected="race", outcome="hired", **options)


def counts(result):
    return {group.group: (group.selected, group.n) for group in result.attributes[0].groups}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_result(kind, tmp_path):
    result = audit(KINDS[kind](tmp_path), within="job")
    expected = audit(pd.DataFrame(COLUMNS), within="job")
    assert [each.to_dict() for each in result] == [each.to_dict() for each in expected]
    assumed = [note for note in result.notes if "was read with" in note]
    assert len(assumed) == (kind == "semicolons")
    assert [note for note in result.notes if note not in assumed] == list(expected.notes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_has_the_counts_by_hand(kind, tmp_path):
    result = audit(KINDS[kind](tmp_path))
    attribute = result.attributes[0]
    assert counts(result) == {"B": (3, 8), "W": (16, 25), "H": (4, 10)}
    assert (attribute.unknown, attribute.unknown_selected) == (3, 1)
    assert (result.rows, result.outcome_missing) == (46, 1)


@pytest.mark.parametrize("frame", FRAMES)
def test_truth_values_are_groups_and_outcomes(frame):
    table = FRAMES[frame]({"race": [True, True, False, False], "hired": [True, False, True, True]})
    assert counts(audit(table)) == {"True": (1, 2), "False": (2, 2)}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("favorable", [True, "True", "true"])
def test_a_true_outcome_may_be_named_as_a_value_or_as_text(frame, favorable):
    table = FRAMES[frame]({"race": ["A", "A", "B", "B"], "hired": [True, False, True, True]})
    assert counts(audit(table, favorable=favorable)) == {"A": (1, 2), "B": (2, 2)}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("favorable", [None, 1, "1", 1.0])
def test_whole_numbers_are_groups_and_outcomes(frame, favorable):
    table = FRAMES[frame]({"race": [1, 1, 10, 2], "hired": [1, 0, 1, 1]})
    result = audit(table, favorable=favorable)
    assert counts(result) == {"1": (1, 2), "2": (1, 1), "10": (1, 1)}
    assert [group.group for group in result.attributes[0].groups] == ["1", "2", "10"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("favorable", [None, 1, 1.0, "1.0", "1"])
def test_an_outcome_of_floating_point_numbers_may_be_named_as_written(frame, favorable):
    table = FRAMES[frame]({"race": ["A", "A", "B", "B"], "hired": [1.0, 0.0, 1.0, None]})
    assert counts(audit(table, favorable=favorable)) == {"A": (1, 2), "B": (1, 1)}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_missing_number_is_unknown_membership(frame):
    table = FRAMES[frame]({"race": [1.0, 2.0, None, 2.0], "hired": ["yes", "yes", "no", "no"]})
    result = audit(table)
    assert result.attributes[0].unknown == 1
    assert sum(group.n for group in result.attributes[0].groups) == 3


@pytest.mark.parametrize("frame", ["polars", "polars lazy", "pyarrow", "duckdb"])
def test_nan_and_null_are_both_missing(frame):
    table = FRAMES[frame](
        {"race": [1.0, 2.0, None, float("nan")], "hired": ["yes", "yes", "no", "no"]}
    )
    assert audit(table).attributes[0].unknown == 2


@pytest.mark.parametrize(
    "dtype", ["object", "str", "string", "category", "string[pyarrow]", "large_string[pyarrow]"]
)
def test_pandas_text_of_any_dtype(dtype):
    if dtype == "large_string[pyarrow]":
        dtype = pd.ArrowDtype(pa.large_string())
    table = pd.DataFrame(COLUMNS).astype({"race": dtype, "hired": dtype})
    assert counts(audit(table)) == {"B": (3, 8), "W": (16, 25), "H": (4, 10)}
    assert audit(table).attributes[0].unknown == 3


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "int64[pyarrow]"])
def test_pandas_nullable_numbers_stay_whole(dtype):
    table = pd.DataFrame(
        {"race": pd.array([1, 1, 2, None], dtype=dtype), "hired": ["yes", "no", "yes", "no"]}
    )
    assert counts(audit(table)) == {"1": (1, 2), "2": (1, 1)}


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_pandas_nullable_truth_values(dtype):
    table = pd.DataFrame(
        {"race": ["A", "A", "B", "B"], "hired": pd.array([True, False, True, None], dtype=dtype)}
    )
    result = audit(table)
    assert counts(result) == {"A": (1, 2), "B": (1, 1)}
    assert result.outcome_missing == 1


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["B", "H", "W", "unused"])])
def test_polars_categories(dtype):
    table = pl.DataFrame(COLUMNS).with_columns(pl.col("race").cast(dtype))
    for each in (table, table.lazy(), table.to_arrow(), table.to_pandas()):
        assert counts(audit(each)) == {"B": (3, 8), "W": (16, 25), "H": (4, 10)}


def test_an_unused_category_is_no_group():
    table = pd.DataFrame(COLUMNS)
    table["race"] = pd.Categorical(table["race"], categories=["W", "B", "H", "unused"])
    assert set(counts(audit(table))) == {"B", "W", "H"}


def test_a_numpy_float_column_with_nan_has_missing_values():
    table = pd.DataFrame({"race": np.array([0.0, 1.0, np.nan, 1.0]), "hired": [1, 1, 0, 0]})
    assert audit(table).attributes[0].unknown == 1


@pytest.mark.parametrize("make", [str, datetime.date.fromisoformat])
def test_dates_are_no_groups(make):
    days = ["2020-01-01", "2021-01-01", "2021-01-01"]
    table = pl.DataFrame({"race": [make(day) for day in days], "hired": [0, 1, 1]})
    match = r"the column holds dates; .* ages=\{'race': '2026-01-01'\}, bands=\{'race': \[40\]\}"
    with pytest.raises(ColumnError, match=match):
        audit(table)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        (["a", "b", "?", "a"], "?"),
        ([1, 2, 3, 1], 3),
        ([1, 2, 3, 1], "3"),
        ([1.5, 2.0, 3.0, 1.5], 3.0),
    ],
)
def test_a_value_that_means_unknown_may_have_any_type(frame, values, unknown):
    table = FRAMES[frame]({"race": values, "hired": ["yes", "no", "yes", "no"]})
    result = audit(table, unknown=[unknown])
    assert result.attributes[0].unknown == 1
    assert len(result.attributes[0].groups) == 2


@pytest.mark.parametrize("frame", FRAMES)
def test_bands_cut_a_numeric_column_and_an_edge_belongs_above(frame):
    table = FRAMES[frame](
        {"race": [20, 25, 26, 39, 40, None], "hired": ["yes", "no", "yes", "yes", "no", "no"]}
    )
    result = audit(table, bands={"race": [26, 40]})
    assert counts(result) == {"under 26": (1, 2), "26 to under 40": (2, 2), "40 and over": (0, 1)}
    assert result.attributes[0].unknown == 1


@pytest.mark.parametrize(
    "edges", [[], [40, 25], [25, 25], [float("nan")], [float("inf")], [25, float("inf")]]
)
def test_band_edges_rise_and_are_finite(edges):
    table = pd.DataFrame({"race": [20, 25, 26], "hired": ["yes", "no", "yes"]})
    with pytest.raises(ColumnError, match=r"bands: the edges of 'race'"):
        audit(table, bands={"race": edges})


def test_bands_of_a_column_of_words_are_an_error():
    table = pd.DataFrame(COLUMNS)
    with pytest.raises(ColumnError, match=r"bands='race': expected numbers, found '[BWH]'"):
        audit(table, bands={"race": [25]})


@pytest.mark.parametrize("edges", [[999_999, 1_000_000], [1_234_567, 1_234_568]])
def test_bands_at_large_numbers_keep_their_digits(edges):
    table = pd.DataFrame(
        {"race": [1, edges[0] + 0.5, edges[1] + 0.5], "hired": ["yes", "no", "yes"]}
    )
    labels = [group.group for group in audit(table, bands={"race": edges}).attributes[0].groups]
    assert len(set(labels)) == 3
    assert str(edges[0]) in labels[0]


@pytest.mark.parametrize(
    "thing", [None, 3, {"race": [1]}, [1, 2], pd.Series([1, 2]), np.zeros((2, 2))]
)
def test_what_is_no_table_is_an_error_that_says_what_is(thing):
    with pytest.raises(TableError, match=r"cannot use .*expected a pandas, polars or pyarrow"):
        audit(thing)


def test_a_table_without_rows_is_an_error():
    with pytest.raises(TableError, match="there are no rows"):
        audit(pd.DataFrame(COLUMNS).head(0))


def test_two_columns_of_one_name_are_an_error():
    table = pd.DataFrame([["B", "yes", 1], ["W", "no", 2]], columns=["race", "hired", "hired"])
    with pytest.raises(TableError, match="hired"):
        audit(table)


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow", "duckdb"])
def test_a_column_of_lists_is_an_error(frame):
    table = FRAMES[frame]({"race": [["A"], ["B"], ["A", "B"]], "hired": ["yes", "no", "yes"]})
    with pytest.raises(ColumnError, match="race"):
        audit(table)


def test_a_duckdb_relation_of_a_query_is_a_table():
    connection = duckdb.connect()
    connection.register("applicants", pa.table(COLUMNS))
    relation = connection.sql("select race, hired from applicants where race != 'H'")
    assert counts(audit(relation)) == {"B": (3, 8), "W": (16, 25)}


def test_a_result_is_the_same_whatever_the_index_of_a_pandas_frame():
    table = pd.DataFrame(COLUMNS)
    table.index = [7] * len(table)
    assert counts(audit(table)) == {"B": (3, 8), "W": (16, 25), "H": (4, 10)}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_rows_without_any_value_are_not_counted(tmp_path, end, last):
    rows = ["sex,hired,age", *["M,yes,30", "F,no,40"] * 20, *[",,"] * 3, ",no,50", ",,"]
    text = end.join(rows) + (end if last else "")
    (tmp_path / "rows.csv").write_bytes(text.encode())
    with gzip.open(tmp_path / "rows.csv.gz", "wb") as stream:
        stream.write(text.encode())
    for name in ("rows.csv", "rows.csv.gz"):
        result = fourfifths.impact(tmp_path / name, protected="sex", outcome="hired")
        assert (result.rows, result.outcome_missing) == (41, 0)
        assert result.attributes[0].unknown == 1
        assert "4 rows are empty in every column and not counted" in result.notes


def test_a_cell_that_looks_like_an_empty_row_drops_nothing(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("sex,hired\n" + 'M,yes\nF,no\n"a\n,\nb",no\n' * 12)
    table = open_table(path)
    assert table.file.may_have_empty_rows
    assert table.without_empty_rows() is table


def test_a_source_stands_for_its_files(tmp_path):
    for name in ("b.parquet", "a.parquet"):
        pl.DataFrame({"x": [1]}).write_parquet(tmp_path / name)
    (tmp_path / "ricci").write_text("a,b\n1,2\n", encoding="utf-8")
    both = (tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert source_files(tmp_path) == source_files(str(tmp_path / "*.parquet")) == both
    assert source_files(tmp_path / "a.parquet") == both[:1]
    assert source_files("ricci") == (fourfifths.datasets.load("ricci").path,)
    # A path is a file, whatever its name.
    assert source_files(tmp_path / "ricci") == (tmp_path / "ricci",)


def test_a_relation_may_have_a_name_twice():
    twice = duckdb.sql("SELECT 1 AS a, 2 AS b, 3 AS a")
    with pytest.raises(TableError, match="the table: a column name occurs twice: 'a'; rename one"):
        open_table(twice)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "x"}, r"decimal='x': expected '\.' or ','"),
        ({"sheet": 1}, "sheet=1: expected the name of a sheet"),
        ({"header_row": 0}, "header_row=0: expected the number of a line; the first is 1"),
        ({"header_row": "3"}, "header_row='3': expected the number of a line"),
        ({"exact_values": "no"}, "exact_values='no': expected True or False"),
        ({"hive": 1}, "hive=1: expected True or False"),
    ],
)
def test_how_a_table_is_read_is_checked_when_it_is_said(options, message):
    with pytest.raises(OptionError, match=message):
        fourfifths.read_table(pd.DataFrame(COLUMNS), **options)


def test_a_table_that_is_open_cannot_be_read_otherwise():
    opened = fourfifths.read_table(pd.DataFrame(COLUMNS), decimal=",")
    assert fourfifths.read_table(opened) is opened
    with pytest.raises(OptionError, match="a table that was opened already"):
        fourfifths.read_table(opened, decimal=".")


@pytest.mark.parametrize("written", [int, str])
@pytest.mark.parametrize("argument", ["weights", "bands", "controls"])
def test_whole_numbers_that_floats_skip_are_refused_by_whatever_name(argument, written):
    table = open_table(pd.DataFrame({"x": list(map(written, [1, 2**53 + 1]))}))
    with pytest.raises(ColumnError, match=r"'x': holds whole numbers beyond 2\*\*53"):
        table.with_numbers("x", argument)


def test_large_numbers_with_a_fraction_among_them_are_measurements():
    table = open_table(pd.DataFrame({"x": ["0.5", str(2**53 + 1)]}))
    numbers = table.with_numbers("x", "score").frame.collect().to_native()
    assert numbers.iloc[:, 0].tolist() == [0.5, float(2**53)]


def test_a_dictionary_in_a_parquet_file_is_a_declared_category(tmp_path):
    table = pd.DataFrame({"code": ["1", "2"], "n": ["1", "2"], "m": [1, 2]})
    table.astype({"code": "category"}).to_parquet(tmp_path / "t.parquet")
    opened = open_table(tmp_path / "t.parquet")
    assert [opened.is_declared_category(name) for name in ("code", "n", "m")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("first", [0.0, -0.0])
@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_both_zeros_are_the_group_zero(library, first):
    table = library({"g": [first, -first, 1.5] * 8, "y": ["yes", "no"] * 12})
    groups = fourfifths.impact(table, protected="g", outcome="y", favorable="yes").attributes[0]
    assert [(group.group, group.n) for group in groups.groups] == [("0.0", 16), ("1.5", 8)]


TIMES = [datetime.time(1, 2, 3, 500_000), datetime.time(10, 20), None]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"t": pa.array(TIMES, pa.time64("us"))}),
        pa.table({"t": pa.array(TIMES, pa.time64("ns"))}),
        pd.DataFrame({"t": TIMES}, index=[5, 5, 7]),
        pa.table({"t": TIMES}).to_pandas(types_mapper=pd.ArrowDtype),
        pl.DataFrame({"t": TIMES}),
        pl.LazyFrame({"t": TIMES}),
        duckdb.connect().from_arrow(pa.table({"t": TIMES})),
        duckdb.sql("SELECT unnest(['01:02:03.5+00', '10:20:00+00', NULL])::TIMETZ AS t"),
    ],
    ids=["us", "ns", "pandas", "pandas, pyarrow", "polars", "polars lazy", "duckdb", "duckdb, UTC"],
)
def test_times_of_day_are_the_same_texts_in_every_table(table):
    opened = open_table(table)
    assert opened.rows(opened.frame.select(opened.names["t"])) == [
        ("01:02:03.5",),
        ("10:20:00",),
        (None,),
    ]


@pytest.mark.parametrize("cells", [[[1], [2]], [{"a": 1}, {"a": 2}]], ids=["lists", "objects"])
@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_certificate_refuses_lists(library, cells):
    table = library({"x": cells * 12, "sex": ["a", "a", "b"] * 8, "y": ["yes", "no"] * 12})
    with pytest.raises(ColumnError, match="expected plain values, found lists or other nested"):
        fourfifths.certify(
            table, protected="sex", outcome="y", favorable="yes", columns=["x"], progress=False
        )


@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_durations_are_no_groups(library):
    spans = [datetime.timedelta(days=day) for day in (1, 2)] * 8
    table = library({"g": spans, "y": ["yes", "no", "no", "yes"] * 4})
    with pytest.raises(ColumnError, match="protected='g': the column holds durations"):
        fourfifths.impact(table, protected="g", outcome="y", favorable="yes")


def test_an_outcome_of_moments_with_a_time_zone_is_read_by_every_engine(tmp_path):
    # DuckDB makes such moments by pytz, which need not be installed.
    hired = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    moments = [hired] * 3 + [hired + datetime.timedelta(days=1)] * 5 + [hired] * 4
    zoned = pa.array(moments).cast(pa.timestamp("us", "Asia/Tokyo"))
    table = pa.table({"race": ["B"] * 8 + ["W"] * 4, "hired": zoned})
    parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet", duckdb.connect().from_arrow(table)):
        result = fourfifths.impact(source, protected="race", outcome="hired", favorable=hired)
        rates = {group.group: (group.selected, group.n) for group in result.attributes[0].groups}
        assert rates == {"B": (3, 8), "W": (4, 4)}


def test_nan_in_a_parquet_file_is_missing_when_it_is_asked_for_once(tmp_path):
    # The file's own limits leave NaN out, and DuckDB believes them.
    numbers = [float("nan"), 0.2, 0.3, 0.1] * 10
    parquet.write_table(pa.table({"w": numbers}), tmp_path / "t.parquet")
    opened = open_table(tmp_path / "t.parquet")
    for table in (opened.with_missing(["w"], ()), opened.with_numbers("w", "weights")):
        column = table.col("w")
        figures = table.frame.select(column.count().alias("n"), column.max().alias("high"))
        assert table.rows(figures) == [(30, 0.3)]
