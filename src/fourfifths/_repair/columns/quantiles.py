"""The quantiles of one column in its strata: sorting, levels, and looking values up.

In reading order: values are sorted within strata; n sorted values are cut into m levels, position r
being at level floor(r m / n); each level has a representative, and the consensus is their median
over strata. `Ranks` then tells at which level, or at which rank, any value is. It looks values up
in a small table of knots through a `Grid`, so new rows need no sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.cells import CellDraws
from fourfifths._repair.columns.kernel_choice import kernels_for
from fourfifths._repair.columns.kernels import LookupTable, cells_of

VALUES_PER_COUNT_CHUNK = 131_072
PROBED_VALUES = 64  # enough to tell most columns of fractions from whole numbers
CELLS_PER_KNOT = 2
# If there are many knots, two at each end share the end cells: outliers do not stretch the grid.
OUTLIERS_PER_END = 2
MIN_KNOTS_WITH_OUTLIERS = 1024


# --- sorting ---


def sort_in_strata(
    values: FloatArray, codes: CodeArray, *, rows: NDArray[Any], sizes: Sequence[int]
) -> list[FloatArray]:
    """Return the values of each stratum, sorted, missing ones last.

    Whole numbers that lie close together are counted instead, which is several times faster.

    Parameters
    ----------
    values : float array
    codes : int array
        The stratum of each row; -1 for rows without one.
    rows : int array
        The rows of all strata, stratum after stratum.
    sizes : sequence of int
        The number of rows of each stratum.

    Examples
    --------
    >>> codes = np.array([0, 1, 0, 1, 0], dtype=np.int16)
    >>> values = np.array([3.0, 9, 1, 8, 2])
    >>> sort_in_strata(values, codes, rows=np.array([0, 2, 4, 1, 3]), sizes=[3, 2])
    [array([1., 2., 3.]), array([8., 9.])]
    """
    # Looking at a few values first spares columns of fractions the search for their range.
    if _are_whole(values[:PROBED_VALUES]):
        counts = count_whole_numbers(values, codes, stratum_count=len(sizes))
        if counts is not None:
            numbers = values.min() + np.arange(counts.shape[1])
            return [np.repeat(numbers, stratum_counts) for stratum_counts in counts]
    gathered = values[rows]
    gathered += 0.0  # -0.0 becomes 0.0, so that equal values have equal bits
    by_stratum = np.split(gathered, np.cumsum(sizes)[:-1])
    for stratum_values in by_stratum:
        kernels_for(stratum_values.size).sort(stratum_values)
    return by_stratum


def count_whole_numbers(
    values: FloatArray,
    codes: CodeArray,
    *,
    stratum_count: int,
    chunk_values: int = VALUES_PER_COUNT_CHUNK,
) -> IntArray | None:
    """Count each whole number from the smallest value on, in each stratum.

    Parameters
    ----------
    values : float array
    codes : int array
        The stratum of each row; -1 for rows without one.
    stratum_count : int
    chunk_values : int
        How many values are counted at a time; also the most cells that may be counted.

    Returns
    -------
    int array of shape (strata, numbers), or None
        None if some value is not whole, missing or infinite, or if values lie too far apart for
        counting to be faster than sorting.

    Examples
    --------
    >>> codes = np.array([0, 1, 0, 1, 0], dtype=np.int16)
    >>> count_whole_numbers(np.array([3.0, 4, 3, 3, 5]), codes, stratum_count=2)
    array([[2, 0, 1],
           [1, 1, 0]])
    """
    low, high = values.min(), values.max()
    # Written so that NaN, which is neither larger nor smaller, leads to None too.
    is_narrow = high < low + min(values.size, chunk_values) / stratum_count
    if not is_narrow:
        return None
    width = int(high - low) + 1
    counts = np.zeros((stratum_count + 1) * width, dtype=np.int64)
    for start in range(0, values.size, chunk_values):
        chunk = values[start : start + chunk_values]
        if not _are_whole(chunk):
            return None
        cell = (chunk - low).astype(np.int64)
        cell += np.multiply(codes[start : start + chunk_values] + 1, width, dtype=np.int64)
        counts += np.bincount(cell, minlength=counts.size)
    return counts.reshape(stratum_count + 1, width)[1:]


def _are_whole(values: FloatArray) -> bool:
    return bool(np.all(np.floor(values) == values))


# --- levels ---


@lru_cache(maxsize=16)
def level_starts(size: int, level_count: int) -> IntArray:
    """Return the first position of each level: the smallest r with floor(r m / n) = level.

    Examples
    --------
    >>> level_starts(7, 3)
    array([0, 3, 5])
    """
    starts = -(-np.arange(level_count, dtype=np.int64) * size // level_count)
    starts.flags.writeable = False  # cached: every column of a stratum shares the array
    return starts


@lru_cache(maxsize=16)
def level_middles(size: int, level_count: int) -> tuple[IntArray, IntArray]:
    """Return the two middle positions of each level; of an odd number they are the same.

    Examples
    --------
    >>> level_middles(7, 3)
    (array([1, 3, 5]), array([1, 4, 6]))
    """
    starts = level_starts(size, level_count)
    first_plus_end = starts + np.append(starts[1:], size)
    lower, upper = first_plus_end - 1 >> 1, first_plus_end >> 1
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def representatives(ordered: FloatArray, level_count: int) -> FloatArray:
    """Return the median of the sorted values at each level.

    Examples
    --------
    >>> representatives(np.array([10.0, 10, 20, 40]), 2)
    array([10., 30.])
    """
    if ordered.size == level_count:
        return ordered.copy()
    lower, upper = level_middles(ordered.size, level_count)
    return midpoint(ordered.take(lower), ordered.take(upper))


def median_over_strata(by_stratum: Sequence[FloatArray]) -> FloatArray:
    """Return the median over strata, level by level; of an even number, the midpoint.

    Examples
    --------
    >>> median_over_strata([np.array([1.0, 2.0]), np.array([10.0, 20.0])])
    array([ 5.5, 11. ])
    """
    if len(by_stratum) == 2:
        return midpoint(np.minimum(*by_stratum), np.maximum(*by_stratum))
    ordered = np.sort(np.stack(by_stratum), axis=0)
    return midpoint(ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2])


def midpoint(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the middle between each two numbers."""
    # The sum is halved, rather than half the difference added: the midpoint of 62.0 and 62.1 is
    # then 62.05 exactly, and not the floating-point number next to it.
    with np.errstate(over="ignore"):
        middle = low + high
    middle /= 2
    if np.isfinite(middle).all():
        return middle
    # The sum of two huge numbers may overflow: these are halved before they are added.
    return np.where(np.isfinite(middle), middle, low / 2 + high / 2)


def distinct_values(ordered: FloatArray, max_count: int) -> FloatArray:
    """Return the distinct values of a sorted array, or `max_count` of them, evenly spaced.

    Examples
    --------
    >>> distinct_values(np.array([1.0, 1, 2, 5, 5]), 9)
    array([1., 2., 5.])
    """
    if not ordered.size:
        return ordered
    # Stretch by stretch: there may be as many distinct values as values, and no room for a copy.
    starts = range(0, ordered.size, VALUES_PER_COUNT_CHUNK)
    counts = [int(np.count_nonzero(_is_new(ordered, start))) for start in starts]
    distinct_count = sum(counts)
    ranks = (
        np.linspace(0, distinct_count - 1, max_count).astype(np.int64)
        if distinct_count > max_count
        else np.arange(distinct_count)
    )
    chosen, first_rank = [], 0
    for start, count in zip(starts, counts, strict=True):
        span = slice(*np.searchsorted(ranks, [first_rank, first_rank + count]))
        if span.start < span.stop:
            positions = np.flatnonzero(_is_new(ordered, start))
            chosen.append(ordered[start + positions.take(ranks[span] - first_rank)])
        first_rank += count
    return np.concatenate(chosen)


def _is_new(ordered: FloatArray, start: int) -> BoolArray:
    """Return which of the sorted values of a stretch differ from the value before them."""
    stretch = ordered[start : start + VALUES_PER_COUNT_CHUNK]
    is_new = np.empty(stretch.size, dtype=bool)
    is_new[0] = start == 0 or stretch[0] != ordered[start - 1]
    np.not_equal(stretch[1:], stretch[:-1], out=is_new[1:])
    return is_new


# --- looking up ---


class Grid(LookupTable):
    """A sorted table of knots that values are looked up in.

    A grid of equal cells is laid over the knots. The cell of a value tells where to begin, and the
    few knots in the cell are searched by halving. Values need not be sorted, no value waits for
    another, and the table is small enough to stay in the processor's cache.
    """

    __slots__ = ()

    def knots_up_to(self, values: FloatArray) -> IntArray:
        """Return how many knots are not larger than each value; no value may be NaN."""
        return kernels_for(values.size).knots_up_to(values, self)

    def exact_knots(self, values: FloatArray) -> IntArray | None:
        """Return which knot each value equals; None if some value equals none."""
        if self.halvings > 1:
            knot = np.maximum(self.knots_up_to(values) - 1, 0)
        else:  # no two knots share a cell, so the cell says which knot it must be
            knot = self.knots_before.take(cells_of(values, self)).astype(np.int64)
        return knot if np.all(self.knots.take(knot) == values) else None


def make_grid(knots: FloatArray, *, min_cells: int = 1) -> Grid:
    """Return the grid over increasing knots, with at least `min_cells` cells.

    Examples
    --------
    >>> make_grid(np.array([1.0, 2.0])).knots_up_to(np.array([0.5, 1.0, 3.0]))
    array([0, 1, 2])
    """
    cell_count = max(CELLS_PER_KNOT * knots.size, min_cells)
    outliers = OUTLIERS_PER_END if knots.size >= MIN_KNOTS_WITH_OUTLIERS else 0
    low, high = float(knots[outliers]), float(knots[-1 - outliers])
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(cell_count / np.subtract(high, low))
    # A single value, or a range too wide to be a number: all values are in one cell.
    scale = scale if 0 < scale < np.inf else 0.0
    empty = np.zeros(cell_count, dtype=np.int32)
    grid = Grid(knots=knots, knots_before=empty, low=low, scale=scale, halvings=0)
    counts = np.bincount(cells_of(knots, grid), minlength=cell_count)
    halvings = int(counts.max()).bit_length()
    # Compiled loops always make the last two halvings, so at least four knots are padded.
    padded = np.append(knots, np.full(1 << max(halvings, 2), np.inf))
    knots_before = (np.cumsum(counts) - counts).astype(np.int32)  # half the size in the cache
    return Grid(knots=padded, knots_before=knots_before, low=low, scale=scale, halvings=halvings)


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Where values stand among the sorted values of one stratum.

    Attributes
    ----------
    knots : float array
        Increasing: the values at which a level begins, and the largest value.
    below, upto : int array
        For each knot, how many values are smaller, and how many are not larger: values equal to
        the knot are at positions `below` to `upto` - 1.
    size : int
        The number of values.
    levels : int
        The number of levels that they are cut into.
    """

    knots: FloatArray
    below: IntArray
    upto: IntArray
    size: int
    levels: int

    @cached_property
    def grid(self) -> Grid:
        """The knots, ready to look values up in."""
        return make_grid(self.knots)

    @cached_property
    def level_after(self) -> IntArray:
        """The level of values before the first knot, then between each knot and the next."""
        return np.append(0, (self.upto - 1) * self.levels // self.size)

    @cached_property
    def is_shared(self) -> BoolArray:
        """False (before the first knot), then for each knot whether several levels share it."""
        return np.append(False, self.below * self.levels // self.size != self.level_after[1:])

    @cached_property
    def middle(self) -> FloatArray:
        """For each knot, the middle of the positions of the values that equal it."""
        return (self.below + self.upto) / 2

    def levels_of(self, values: FloatArray, draws: CellDraws | None) -> IntArray:
        """Return the level of each value.

        Equal values that several levels share are split over these levels by their draws; without
        draws, all of them get the level of their middle position.
        """
        return kernels_for(values.size).levels(
            values,
            self.grid,
            level_after=self.level_after,
            is_shared=self.is_shared,
            positions_of=partial(self._positions, draws=draws),
            level_count=self.levels,
            size=self.size,
        )

    def ranks_of(self, values: FloatArray) -> FloatArray:
        """Return the rank of each value, between 0 and 1.

        Equal values have the middle of their positions. Between two knots the rank grows linearly
        with the value.
        """
        knot_count = self.grid.knots_up_to(values)
        knot = np.maximum(knot_count - 1, 0)
        next_knot = np.minimum(knot_count, self.knots.size - 1)
        # Above the largest value there is no next knot: all values there have the last rank.
        gap = np.where(next_knot > knot, self.knots[next_knot] - self.knots[knot], np.inf)
        fraction = np.clip((values - self.knots[knot]) / gap, 0, 1)
        position = self.upto[knot] + fraction * (self.below[next_knot] - self.upto[knot])
        at_knot = np.flatnonzero(values == self.knots[knot])
        position[at_knot] = self.middle.take(knot[at_knot])
        position[knot_count == 0] = 0
        return np.asarray(np.clip(position, 0.5, self.size - 0.5) / self.size, dtype=np.float64)

    def position_ranges(self, values: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the first position of each value's equals, and the position after the last.

        A value that equals no knot gets the last position of the knot before it, or position 0 if
        there is none.
        """
        knot_count = np.searchsorted(self.knots, values, side="right")
        knot = np.maximum(knot_count - 1, 0)
        last = np.where(knot_count > 0, self.upto[knot] - 1, 0)
        equal = self.knots[knot] == values
        return np.where(equal, self.below[knot], last), np.where(equal, self.upto[knot], last + 1)

    def _positions(
        self, tied: IntArray | slice, knot: IntArray, *, draws: CellDraws | None
    ) -> FloatArray:
        """Return a position for each of the tied values, which equal these knots."""
        if draws is None:
            return self.middle.take(knot)
        return draws.take(tied).positions(knot, self.below, high=self.upto)


def rank_table(ordered: FloatArray, level_count: int) -> Ranks:
    """Return where values stand among these sorted values, cut into levels.

    Examples
    --------
    >>> ranks = rank_table(np.array([10.0, 10, 20, 30]), 2)
    >>> ranks.levels_of(np.array([5.0, 10, 20, 99]), None)
    array([0, 0, 1, 1])
    """
    first = np.append(level_starts(ordered.size, level_count), ordered.size - 1)
    candidates = ordered[first]
    run_starts = np.append(0, np.flatnonzero(candidates[1:] != candidates[:-1]) + 1)
    knots, first = candidates[run_starts], first[run_starts]
    # Most knots are the only value of their kind, at the position that they were taken from. Only
    # those with an equal neighbour need a search for the ends of their run.
    below, upto = first.copy(), first + 1
    with_equals = np.flatnonzero((first > 0) & (ordered[first - 1] == knots))
    below[with_equals] = np.searchsorted(ordered, knots[with_equals], side="left")
    with_equals = np.flatnonzero(ordered[np.minimum(upto, ordered.size - 1)] == knots)
    upto[with_equals] = np.searchsorted(ordered, knots[with_equals], side="right")
    return Ranks(
        knots=knots, below=below, upto=upto, size=int(ordered.size), levels=int(level_count)
    )
