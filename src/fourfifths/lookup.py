"""Looking values up in a sorted table that fits the cache.

A grid of equal cells is laid over the table: a value's cell says where to begin, and the few knots
in the cell are searched by halves, for a block of values at a time. No value waits for another,
and nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fourfifths.compiled import loops
from fourfifths.counts import FloatArray, IntArray

CELLS_PER_KNOT = 2
BLOCK = 16_384
MANY = 1024
SPARED = 2  # of many knots, so many at each end share a cell: outliers do not stretch the grid


@dataclass(frozen=True)
class Grid:
    """A sorted table, ready to be looked up in.

    Attributes
    ----------
    knots : float array
        Increasing, then infinities.
    low, scale : float
        A value v is in cell (v - low) scale, of so many `cells`.
    cells : int
    first : int32 array
        How many knots are in the cells before each.
    halvings : int
        How many bits the largest number of knots in a cell has.
    """

    knots: FloatArray
    low: float
    scale: float
    cells: int
    first: NDArray[np.int32]
    halvings: int

    @property
    def table(self) -> tuple[FloatArray, NDArray[np.int32], float, float, int]:
        """What the compiled loops take."""
        return self.knots, self.first, self.low, self.scale, self.halvings

    def places(self, values: FloatArray) -> IntArray:
        """Return how many knots are not larger than each value; no value may be NaN."""
        found = np.empty(values.size, dtype=np.int64)
        compiled = loops(values.size)
        if compiled is not None:
            compiled.places(
                values, self.knots, self.first, self.low, self.scale, self.halvings, found
            )
            return found
        for start in range(0, values.size, BLOCK):
            block = values[start : start + BLOCK]
            place = self.first.take(self._cell(block)).astype(np.int64)
            for halving in reversed(range(self.halvings)):
                step = 1 << halving
                further = self.knots.take(place + (step - 1)) <= block
                place += further if step == 1 else further * step
            found[start : start + BLOCK] = place
        return found

    def exact(self, values: FloatArray) -> IntArray | None:
        """Return which knot each value equals; None if some equal none."""
        if self.halvings > 1:
            place = np.maximum(self.places(values) - 1, 0)
        else:  # each knot has a cell of its own
            place = self.first.take(self._cell(values)).astype(np.int64)
        return place if np.all(self.knots.take(place) == values) else None

    def _cell(self, values: FloatArray) -> IntArray:
        # The same arithmetic for knots and values: rounding cannot put them in the wrong order.
        if self.scale == 0:
            return np.zeros(values.size, dtype=np.int64)
        with np.errstate(over="ignore"):
            cell = values - self.low
            cell *= self.scale
        np.clip(cell, 0, self.cells - 1, out=cell)
        return cell.astype(np.int64)


def make_grid(knots: FloatArray, *, least: int = 1) -> Grid:
    """Return the grid over increasing knots, of so many cells at least.

    Examples
    --------
    >>> make_grid(np.array([1.0, 2.0])).places(np.array([0.5, 1.0, 3.0]))
    array([0, 1, 2])
    """
    cells = max(CELLS_PER_KNOT * knots.size, least)
    spared = SPARED if knots.size >= MANY else 0
    low, high = float(knots[spared]), float(knots[-1 - spared])
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(cells / np.subtract(high, low))
    # One value, or too wide to subtract: one cell for all.
    scale = scale if 0 < scale < np.inf else 0.0
    grid = Grid(knots, low, scale, cells, np.empty(0, dtype=np.int32), 0)
    counts = np.bincount(grid._cell(knots), minlength=cells)
    halvings = int(counts.max()).bit_length()
    padded = np.append(knots, np.full(1 << max(halvings, 2), np.inf))
    first = (np.cumsum(counts) - counts).astype(np.int32)  # small: it is to stay in the cache
    return Grid(padded, low, scale, cells, first, halvings)
