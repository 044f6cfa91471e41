"""The values of columns in their strata, on disk, to be sorted one stratum of a column at a time.

A fit of a column needs its sorted values in each stratum, but never those of two strata or columns
at once. So only the values of one stratum of one column have to be in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.kernels import kernels_for
from fourfifths._tables.engines.places import room_for_temporary_files, temporary_file

BYTES_PER_VALUE = 8
MAX_COMPILED_SORT = 16_000_000


class SpilledColumns:
    """Collects the values of columns, and then gives the sorted values of each stratum.

    Parameters
    ----------
    column_count, stratum_count : int
    files : ExitStack
        Closes the files at the end.

    Examples
    --------
    >>> with ExitStack() as files:
    ...     columns = SpilledColumns(1, 2, files=files)
    ...     columns.add([np.array([3.0, 9.0, np.nan])], np.array([0, 1, 0], dtype=np.int16))
    ...     columns.add([np.array([1.0, 2.0])], np.array([0, -1], dtype=np.int16))
    ...     [values.tolist() for values in columns.ordered(0)]
    [[1.0, 3.0], [9.0]]
    """

    def __init__(self, column_count: int, stratum_count: int, *, files: ExitStack) -> None:
        self._files = [temporary_file(files) for _ in range(column_count)]
        self._stratum_count = stratum_count
        # For each column and chunk, how many values each stratum has.
        self._counts: list[list[IntArray]] = [[] for _ in range(column_count)]

    def add(self, columns: Sequence[FloatArray], codes: CodeArray) -> None:
        """Take the values of further rows, given their strata; -1 for rows without one."""
        order = np.argsort(codes, kind="stable")
        order = order[np.count_nonzero(codes < 0) :]  # rows without a stratum come first
        ordered_codes = codes[order]
        for file, counts, column in zip(self._files, self._counts, columns, strict=True):
            values = column.take(order)
            values += 0.0  # -0.0 becomes 0.0, so that equal values have equal bits
            is_missing, value_codes = np.isnan(values), ordered_codes
            if is_missing.any():
                values, value_codes = values[~is_missing], ordered_codes[~is_missing]
            counts.append(np.bincount(value_codes, minlength=self._stratum_count))
            with room_for_temporary_files():
                file.write(values.data)

    def sizes(self, column: int) -> list[int]:
        """Return how many values each stratum has."""
        return [int(size) for size in np.sum(self._counts[column], axis=0)]

    def ordered(self, column: int) -> Iterator[FloatArray]:
        """Yield the sorted values of each stratum, without missing ones."""
        file, counts = self._files[column], np.stack(self._counts[column])
        ends = np.cumsum(counts.ravel()).reshape(counts.shape)
        for stratum, size in enumerate(self.sizes(column)):
            values = np.empty(size)
            filled = 0
            for count, end in zip(counts[:, stratum], ends[:, stratum], strict=True):
                file.seek(int(end - count) * BYTES_PER_VALUE)
                file.readinto(values[filled : filled + count].data)  # type: ignore[attr-defined]
                filled += int(count)
            if size > MAX_COMPILED_SORT:
                values.sort()  # in place: the compiled sort needs as much memory again
            else:
                kernels_for(size).sort(values)
            yield values
