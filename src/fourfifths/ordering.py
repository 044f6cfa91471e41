"""The values of each stratum in order: counted where they are whole and close, sorted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths.compiled import loops
from fourfifths.counts import CodeArray, FloatArray, IntArray

BLOCK = 131_072  # values that are counted at a time
PROBE = 64  # values that tell most columns of fractions from whole numbers


def in_order(
    values: FloatArray, codes: CodeArray, rows: NDArray[Any], sizes: Sequence[int]
) -> list[FloatArray]:
    """Return the values of each stratum, sorted, missing ones last.

    Whole numbers that lie close together are counted instead, which is several times faster.

    Parameters
    ----------
    values : float array
    codes : int array
        The stratum of each row; -1 for rows of none.
    rows : int array
        The rows of all strata, stratum after stratum.
    sizes : sequence of int
        How many rows each stratum has.

    Examples
    --------
    >>> codes = np.array([0, 1, 0, 1, 0], dtype=np.int16)
    >>> in_order(np.array([3.0, 9, 1, 8, 2]), codes, np.array([0, 2, 4, 1, 3]), [3, 2])
    [array([1., 2., 3.]), array([8., 9.])]
    """
    counts = _counts(values, codes, len(sizes)) if _is_whole(values[:PROBE]) else None
    if counts is not None:
        found = values.min() + np.arange(counts.shape[1])
        return [np.repeat(found, own) for own in counts]
    gathered = values[rows]
    gathered += 0.0  # -0.0 becomes 0.0, however it is sorted
    parts = np.split(gathered, np.cumsum(sizes)[:-1])
    for own in parts:
        _sort(own)
    return parts


def _sort(values: FloatArray) -> None:
    """Sort in place."""
    compiled = loops(values.size)
    if compiled is None:
        values.sort()
    else:
        compiled.sort(values.view(np.uint64), np.empty(values.size, dtype=np.uint64))


def _counts(values: FloatArray, codes: CodeArray, strata: int) -> IntArray | None:
    """Count each whole number from the least on, for each stratum; None if there are others."""
    low, high = values.min(), values.max()
    if not high < low + min(values.size, BLOCK) / strata:  # too far apart, infinite or missing
        return None
    width = int(high - low) + 1
    counts = np.zeros((strata + 1) * width, dtype=np.int64)
    for start in range(0, values.size, BLOCK):
        own = values[start : start + BLOCK]
        if not _is_whole(own):
            return None
        cell = (own - low).astype(np.int64)
        cell += np.multiply(codes[start : start + BLOCK] + 1, width, dtype=np.int64)
        counts += np.bincount(cell, minlength=counts.size)
    return counts.reshape(strata + 1, width)[1:]


def _is_whole(values: FloatArray) -> bool:
    return bool(np.all(np.floor(values) == values))
