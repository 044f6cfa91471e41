"""Columns of numbers on disk."""

from __future__ import annotations

import numpy as np
import pytest

from fourfifths._tables.engines.number_files import NumberFiles


def test_columns_come_back_from_any_row_on() -> None:
    random = np.random.default_rng(3)
    columns = {"a": random.normal(size=200), "b": np.where(random.random(200) < 0.5, np.nan, -0.0)}
    numbers = NumberFiles()
    for start in range(0, 200, 60):
        for name, values in columns.items():
            numbers.add(name, values[start : start + 60])
    for name, values in columns.items():
        for first_row, row_count in ((0, 200), (150, 50), (59, 3)):
            read = numbers.read(name, first_row, row_count=row_count)
            assert read.tobytes() == values[first_row : first_row + row_count].tobytes()


def test_rows_can_be_added_after_some_were_read() -> None:
    numbers = NumberFiles()
    numbers.add("a", np.array([1.0, 2.0]))
    numbers.read("a", 0, row_count=1)
    numbers.add("a", np.array([3.0]))
    assert numbers.read("a", 0, row_count=3).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("step", [2, -1])
def test_values_need_not_be_next_to_each_other_in_memory(step: int) -> None:
    values = np.arange(10.0)[::step]
    numbers = NumberFiles()
    numbers.add("a", values)
    assert numbers.read("a", 0, row_count=values.size).tolist() == values.tolist()


def test_a_column_that_was_dropped_is_not_held() -> None:
    numbers = NumberFiles()
    numbers.add("a", np.array([1.0, 2.0]))
    numbers.add("b", np.array([1.0]))
    assert numbers.held(1) == ["a", "b"]
    assert numbers.held(2) == ["a"]
    numbers.drop("a")
    numbers.drop("never added")
    assert not numbers.holds("a", 0)
    numbers.add("a", np.array([5.0]))
    assert numbers.read("a", 0, row_count=1).tolist() == [5.0]
