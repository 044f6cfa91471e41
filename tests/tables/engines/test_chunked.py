"""A file that is read in chunks."""

import pytest

from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.table import open_table
from fourfifths._tables.values import NumberFormat, Reading
from fourfifths.errors import OptionError


def engine(path, text, unknown=()):
    path.write_text(text)
    source = ChunkedTable(
        table=open_table(path), unknown=unknown, reading=Reading(), rows_per_chunk=2
    )
    return ChunkEngine(source=source)


def test_cells_of_all_chunks_are_counted(tmp_path):
    people = engine(tmp_path / "a.csv", "sex,score\nF,1\nM,2\nF,3\nF,3\nM,1\n")
    people.scan(["sex"], ["score"])
    values, row_counts = people.values("sex")
    assert dict(zip(values.to_list(), row_counts.tolist(), strict=True)) == {"F": 3, "M": 2}
    assert people.row_count == 5


def test_different_values_are_counted_over_chunks_as_texts_or_as_numbers(tmp_path):
    people = engine(tmp_path / "a.csv", "sex,score\nF,1\nM,1.0\nF,3\nF,1\nM,\n")
    people.scan(["sex"], ["score"])
    assert people.count_distinct("score", None) == 3
    assert people.count_distinct("score", NumberFormat()) == 2


def test_a_token_that_occurs_in_a_later_chunk_is_found(tmp_path):
    text = "sex,score\nF,1\nM,2\nF,3\n?,4\n"
    people = engine(tmp_path / "a.csv", text, unknown=("?",))
    people.scan(["sex"], ["score"])
    people.check_tokens()
    others = engine(tmp_path / "b.csv", text, unknown=("n/a",))
    others.scan(["sex"], ["score"])
    with pytest.raises(OptionError, match="unknown='n/a': never occurs"):
        others.check_tokens()
