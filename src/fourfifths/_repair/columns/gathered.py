"""A fit of columns that are not in memory: their values are gathered stratum by stratum.

A fit of a column needs its sorted values in each stratum, but never those of two strata or columns
at once. So as many columns are gathered in one pass over the table as there is room for, and of a
column that is too large by itself only some strata. The table is read again for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.kernel_choice import kernels_for
from fourfifths._repair.columns.model import Column, fit_sorted
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import ColumnType

MAX_GATHERED_VALUES = 25_000_000  # 200 MB; a stratum may be larger
MAX_SORTED_VALUES = 16_000_000
# Takes the indices of columns, and yields their values with the strata of the rows.
ReadColumns = Callable[[Sequence[int]], Iterator[tuple[Sequence[FloatArray], CodeArray]]]


def fit_gathered(
    column_types: Sequence[ColumnType],
    read_columns: ReadColumns,
    *,
    strata: Strata,
    levels: int,
    max_values: int = MAX_GATHERED_VALUES,
) -> tuple[Column, ...]:
    """Fit columns one after the other.

    Parameters
    ----------
    column_types : sequence of ColumnType
    read_columns : callable
        Reads some columns of the table, chunk by chunk. Rows without a stratum have the code -1.
    strata : Strata
    levels : int
        The most levels that a column is cut into.
    max_values : int
        How many values may be in memory; one stratum of one column always may.
    """
    row_counts = strata.rows
    columns_per_pass = max(max_values // sum(row_counts), 1)
    batches = list(stratum_batches(row_counts, max_values))
    columns: list[Column] = []
    for start in range(0, len(column_types), columns_per_pass):
        indices = range(start, min(start + columns_per_pass, len(column_types)))
        first, present = gather(read_columns(indices), len(indices), batches[0], row_counts)
        first.reverse()
        for index in indices:
            columns.append(
                fit_sorted(
                    column_types[index],
                    ordered_strata(first.pop(), read_columns, index, batches, row_counts),
                    sizes=present[index - start].tolist(),
                    strata=strata,
                    levels=levels,
                )
            )
    return tuple(columns)


def stratum_batches(row_counts: Sequence[int], max_values: int) -> Iterator[range]:
    """Yield the strata in batches of limited size, or of a single stratum.

    Examples
    --------
    >>> list(stratum_batches([3, 1, 9, 2, 2], 4))
    [range(0, 2), range(2, 3), range(3, 5)]
    """
    start = 0
    for stop in range(1, len(row_counts) + 1):
        if stop == len(row_counts) or sum(row_counts[start : stop + 1]) > max_values:
            yield range(start, stop)
            start = stop


def ordered_strata(
    first: list[FloatArray],
    read_columns: ReadColumns,
    column: int,
    batches: Sequence[range],
    row_counts: Sequence[int],
) -> Iterator[FloatArray]:
    """Yield the sorted values of each stratum of one column, without missing ones.

    `first` has the values of the first batch of strata, and is emptied; the others are read.
    """
    for batch in batches:
        if batch.start:
            [[*first]], _ = gather(read_columns([column]), 1, batch, row_counts)
        first.reverse()
        while first:
            yield sort_present(first.pop())


def gather(
    chunks: Iterator[tuple[Sequence[FloatArray], CodeArray]],
    column_count: int,
    strata: range,
    row_counts: Sequence[int],
) -> tuple[list[list[FloatArray]], IntArray]:
    """Return the values of each column in some strata, in the order of the rows.

    Also how many values of each column are not missing, in every stratum.

    Parameters
    ----------
    chunks : iterator
        Of values and strata, as `ReadColumns` returns it.
    column_count : int
    strata : range
    row_counts : sequence of int
        The rows of every stratum.

    Examples
    --------
    >>> chunk = [np.array([3.0, np.nan, 1.0, 5.0])], np.array([0, 1, 0, -1], dtype=np.int16)
    >>> gathered, present = gather([chunk], 1, range(1), [2, 1])
    >>> [[values.tolist() for values in column] for column in gathered], present.tolist()
    ([[[3.0, 1.0]]], [[2, 0]])
    """
    ends = np.cumsum([row_counts[stratum] for stratum in strata])
    starts = np.append(0, ends[:-1])
    gathered = [np.empty(ends[-1]) for _ in range(column_count)]
    missing = np.zeros((column_count, len(row_counts)), dtype=np.int64)
    filled = starts.copy()
    for columns, codes in chunks:
        kernels = kernels_for(codes.size * column_count)
        kernels.gather(columns, codes, strata, filled=filled, out=gathered, missing=missing)
    by_stratum = [
        [values[start:end] for start, end in zip(starts, ends, strict=True)] for values in gathered
    ]
    return by_stratum, np.array(row_counts, dtype=np.int64) - missing


def sort_present(values: FloatArray, *, piece_size: int = MAX_SORTED_VALUES) -> FloatArray:
    """Return the values sorted, without missing ones; the array is overwritten."""
    values += 0.0  # -0.0 becomes 0.0, so that equal values have equal bits
    # A compiled sort needs as much memory again, so many values are sorted piece by piece. To make
    # the pieces takes no longer than it saves.
    piece_count = max(-(-values.size // piece_size), 1)
    bounds = [values.size * piece // piece_count for piece in range(piece_count + 1)]
    if piece_count > 1:
        values.partition(bounds[1:-1])
    for start, end in pairwise(bounds):
        kernels_for(end - start).sort(values[start:end])
    return values[: np.searchsorted(values, np.nan)]  # NaNs are last
