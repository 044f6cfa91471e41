"""How batches of Spark become chunks; no Spark is needed for it."""

from itertools import pairwise

import pyarrow as pa
import pytest

from fourfifths._tables.engines.spark_engine import (
    ChunkSource,
    SparkTable,
    errors_of_a_part,
    numbered_chunks,
    placed_rows,
)
from fourfifths._tables.values import Reading
from fourfifths.errors import ColumnError


@pytest.mark.parametrize("cuts", [[], [1], [2, 2, 5], [0, 3, 6]])
def test_chunks_are_those_of_their_numbers_however_batches_are_cut(cuts):
    table = pa.table({"n": [0, 0, 0, -2, -2, 7], "a": [1, 2, 3, 4, 5, 6]})
    ends = [0, *cuts, 6]
    batches = [table.slice(start, end - start) for start, end in pairwise(ends)]
    chunks = list(numbered_chunks(batches, "n"))
    assert [chunk["a"].to_pylist() for chunk in chunks] == [[1, 2, 3], [4, 5], [6]]
    assert {tuple(chunk.column_names) for chunk in chunks} == {("a",)}


def test_columns_get_their_names_back():
    source = ChunkSource(names=("a.b", "n"), unknown=(), reading=Reading(), chunk="n")
    batch = pa.record_batch({"c0": [1, 2], "c1": [0, 1]})
    assert [rows.columns for rows in source.chunks([batch])] == [("a.b",), ("a.b",)]


def test_places_are_taken_out_of_the_rows():
    rows = SparkTable(frame=None).rows(pa.table({"a": [1, 2], "place": [0, 5]}))
    rest, places = placed_rows(rows, "place")
    assert rest.columns == ("a",)
    assert places.tolist() == [0, 5]


def test_errors_say_that_rows_are_numbered_within_a_part():
    message = r"^row 3 \(rows are numbered .* one part of the table\)"
    with pytest.raises(ColumnError, match=message), errors_of_a_part():
        raise ColumnError("row 3")
