"""Which engine repairs a table, and that both see the same values."""

import pytest

from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.memory import MemoryEngine, engine_of
from fourfifths._tables.table import open_table
from fourfifths._tables.values import Reading


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,score\nF,1.5\nM,2.5\nF,3.5\n")
    return path


@pytest.mark.parametrize(
    ("memory", "kind"), [(None, MemoryEngine), (10**9, MemoryEngine), (1, ChunkEngine)]
)
def test_a_file_is_loaded_unless_it_takes_more_than_the_memory(path, memory, kind):
    assert type(engine_of(open_table(path), (), Reading(), memory=memory)) is kind


@pytest.mark.parametrize("memory", [None, 1])
def test_the_values_are_those_of_the_file(path, memory):
    engine = engine_of(open_table(path), (), Reading(), memory=memory)
    engine.scan(["sex"], None)
    values, row_counts = engine.values("sex")
    rows = [1] * len(values) if row_counts is None else row_counts.tolist()
    groups = [
        value for value, count in zip(values.to_list(), rows, strict=True) for _ in range(count)
    ]
    assert sorted(groups) == ["F", "F", "M"]
    assert engine.repairable(["sex"]) == ("score",)
