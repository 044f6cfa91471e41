"""Columns as numbers, on disk, of tables whose numbers would take longer to read again."""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from typing import IO

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._tables.engines.places import temporary_file
from fourfifths._tables.files import room_for_temporary_files

BYTES_PER_NUMBER = 8


class NumberFiles:
    """Columns of numbers, each in a file without a name; they are gone when this object is.

    Examples
    --------
    >>> numbers = NumberFiles()
    >>> numbers.add("age", np.array([31.0, 45.0]))
    >>> numbers.add("age", np.array([28.0]))
    >>> numbers.read("age", 1, row_count=2).tolist()
    [45.0, 28.0]
    >>> numbers.holds("age", 3), numbers.holds("age", 4), numbers.holds("pay", 1)
    (True, False, False)
    """

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}
        self._row_counts: dict[str, int] = {}
        self._stack = ExitStack()
        weakref.finalize(self, self._stack.close)

    def add(self, name: str, values: FloatArray) -> None:
        """Take the values of a column in the rows that follow."""
        with room_for_temporary_files():
            if name not in self._files:
                self._files[name] = temporary_file(self._stack)
                self._row_counts[name] = 0
            self._files[name].seek(self._row_counts[name] * BYTES_PER_NUMBER)
            self._files[name].write(np.ascontiguousarray(values).data)
        self._row_counts[name] += values.size

    def drop(self, name: str) -> None:
        """Forget a column."""
        self._row_counts.pop(name, None)
        if name in self._files:
            self._files.pop(name).close()

    def holds(self, name: str, row_count: int) -> bool:
        """Return whether the first `row_count` values of a column are here."""
        return self._row_counts.get(name, -1) >= row_count

    def held(self, row_count: int) -> list[str]:
        """Return the columns whose first `row_count` values are here."""
        return [name for name in self._files if self.holds(name, row_count)]

    def read(self, name: str, first_row: int, *, row_count: int) -> FloatArray:
        """Return the values of a column from a row on."""
        self._files[name].seek(first_row * BYTES_PER_NUMBER)
        content = self._files[name].read(row_count * BYTES_PER_NUMBER)
        return np.frombuffer(content, dtype=np.float64)
