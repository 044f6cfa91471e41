"""Looking values up in a sorted table that fits the cache.

A grid of equal cells is laid over the table: a value's cell says where to begin, and the few knots
in the cell are searched by halves, for a block of values at a time. No value waits for another,
and nothing is sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.kernels import loops
from fourfifths._repair.random import deal

CELLS_PER_KNOT = 2
LOOKUP_BLOCK = 16_384
MANY = 1024
SPARED = 2  # of many knots, so many at each end share a cell: outliers do not stretch the grid


@dataclass(frozen=True, kw_only=True)
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
        for start in range(0, values.size, LOOKUP_BLOCK):
            block = values[start : start + LOOKUP_BLOCK]
            place = self.first.take(self._cell(block)).astype(np.int64)
            for halving in reversed(range(self.halvings)):
                step = 1 << halving
                further = self.knots.take(place + (step - 1)) <= block
                place += further if step == 1 else further * step
            found[start : start + LOOKUP_BLOCK] = place
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
    grid = Grid(
        knots=knots,
        low=low,
        scale=scale,
        cells=cells,
        first=np.empty(0, dtype=np.int32),
        halvings=0,
    )
    counts = np.bincount(grid._cell(knots), minlength=cells)
    halvings = int(counts.max()).bit_length()
    padded = np.append(knots, np.full(1 << max(halvings, 2), np.inf))
    first = (np.cumsum(counts) - counts).astype(np.int32)  # small: it is to stay in the cache
    return Grid(knots=padded, low=low, scale=scale, cells=cells, first=first, halvings=halvings)


COUNT_BLOCK = 131_072  # values that are counted at a time
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
    if (
        not high < low + min(values.size, COUNT_BLOCK) / strata
    ):  # too far apart, infinite or missing
        return None
    width = int(high - low) + 1
    counts = np.zeros((strata + 1) * width, dtype=np.int64)
    for start in range(0, values.size, COUNT_BLOCK):
        own = values[start : start + COUNT_BLOCK]
        if not _is_whole(own):
            return None
        cell = (own - low).astype(np.int64)
        cell += np.multiply(codes[start : start + COUNT_BLOCK] + 1, width, dtype=np.int64)
        counts += np.bincount(cell, minlength=counts.size)
    return counts.reshape(strata + 1, width)[1:]


def _is_whole(values: FloatArray) -> bool:
    return bool(np.all(np.floor(values) == values))


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Where a value stands in one stratum.

    Attributes
    ----------
    knots : float array
        Increasing: the values at which a level begins, and the largest.
    below, upto : int array
        How many values are smaller than each knot, and not larger.
    size : int
        How many values there are.
    levels : int
        Into how many levels they are cut.
    """

    knots: FloatArray
    below: IntArray
    upto: IntArray
    size: int
    levels: int

    @cached_property
    def grid(self) -> Grid:
        """The knots, ready to be looked up in."""
        return make_grid(self.knots)

    @cached_property
    def knot_before(self) -> FloatArray:
        """The knot before each place; before the first knot there is none."""
        return np.append(np.nan, self.knots)

    @cached_property
    def level_after(self) -> IntArray:
        """The level of the values between each knot and the next; before the first knot, 0."""
        return np.append(0, (self.upto - 1) * self.levels // self.size)

    @cached_property
    def is_split(self) -> BoolArray:
        """Whether the place before the first knot, and each knot, is shared by several levels."""
        return np.append(False, self.below * self.levels // self.size != self.level_after[1:])

    @cached_property
    def middle(self) -> FloatArray:
        """Where each knot's equals stand in the middle."""
        return (self.below + self.upto) / 2

    def at_levels(self, values: FloatArray, random: np.random.Generator | None) -> IntArray:
        """Return the level of each value.

        Equals that several levels share are spread evenly over them at random; without a source of
        chance, all are put into the middle one.
        """
        level, tied, knot = self._levels(values)
        if not knot.size:
            return level
        stand = self._stands(knot, random)
        compiled = loops(knot.size)
        if compiled is not None:
            compiled.levels_at(stand, tied, self.levels, self.size, level)
            return level
        level[tied] = level_of(stand, self.levels, self.size)
        return level

    def _levels(self, values: FloatArray) -> tuple[IntArray, IntArray | slice, IntArray]:
        """Return the level of each value, and which equal a knot that levels share, and which."""
        compiled = loops(values.size)
        if compiled is None:
            place = self.grid.places(values)
            level = self.level_after.take(place)
            if not self.is_split.any():
                return level, place[:0], place[:0]
            shared = self.is_split.take(place)
            shared &= values == self.knot_before.take(place)
            # A slice where all are: nothing is looked for then.
            tied = slice(None) if shared.all() else np.flatnonzero(shared)
            return level, tied, place[tied] - 1
        level, tied, knot = (np.empty(values.size, dtype=np.int64) for _ in range(3))
        many = compiled.levels(
            values, *self.grid.table, self.level_after, self.is_split, level, tied, knot
        )
        return level, tied[:many], knot[:many]

    def at_ranks(self, values: FloatArray, random: np.random.Generator | None) -> FloatArray:
        """Return the rank of each value, between 0 and 1.

        Equals are spread evenly over their places at random, or all put in the middle of them.
        Between two knots the rank grows in step with the value.
        """
        place = self.grid.places(values)
        knot = np.maximum(place - 1, 0)
        following = np.minimum(place, self.knots.size - 1)
        # Above the largest value there is no next knot: its rank is the last.
        gap = np.where(following > knot, self.knots[following] - self.knots[knot], np.inf)
        along = np.clip((values - self.knots[knot]) / gap, 0, 1)
        stand = self.upto[knot] + along * (self.below[following] - self.upto[knot])
        equal = np.flatnonzero(values == self.knots[knot])
        stand[equal] = self.middle.take(knot[equal])
        if random is not None:
            several = equal[(self.upto - self.below).take(knot[equal]) > 1]
            stand[several] = self._stands(knot[several], random)
        stand[place == 0] = 0
        return np.asarray(np.clip(stand, 0.5, self.size - 0.5) / self.size, dtype=np.float64)

    def places(self, values: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the first place of each value's equals, and the first after the last.

        A value that is no knot has the last place of the knot before it, or the first of all.
        """
        after = np.searchsorted(self.knots, values, side="right")
        knot = np.maximum(after - 1, 0)
        last = np.where(after > 0, self.upto[knot] - 1, 0)
        equal = self.knots[knot] == values
        return np.where(equal, self.below[knot], last), np.where(equal, self.upto[knot], last + 1)

    def _stands(self, knot: IntArray, random: np.random.Generator | None) -> FloatArray:
        """Return where rows that equal a knot stand among the values."""
        if random is None:
            return self.middle.take(knot)
        return deal(knot, self.below, self.upto, random)


def level_of(stand: FloatArray, levels: int, size: int | IntArray) -> IntArray:
    """Return the level floor(r m / n) of each place r, which `stand` is in; it is written over.

    Examples
    --------
    >>> level_of(np.array([0.2, 1.9, 2.0, 3.5]), 2, 4)
    array([0, 0, 1, 1])
    """
    # Both are whole and their product is below 2**53: the quotient is not rounded up.
    np.floor(stand, out=stand)
    stand *= levels
    stand /= size
    return stand.astype(np.int64)


def rank_table(ordered: FloatArray, levels: int) -> Ranks:
    """Return where values stand among the sorted ones given.

    Examples
    --------
    >>> rank_table(np.array([10.0, 10, 20, 30]), 2).at_levels(np.array([5.0, 10, 20, 99]), None)
    array([0, 0, 1, 1])
    """
    first = np.append(starts(ordered.size, levels), ordered.size - 1)
    at = ordered[first]
    new = np.append(0, np.flatnonzero(at[1:] != at[:-1]) + 1)
    knots, first = at[new], first[new]
    # Most values are found where they were taken; only equals beside them need a search.
    below, upto = first.copy(), first + 1
    same = np.flatnonzero((first > 0) & (ordered[first - 1] == knots))
    below[same] = np.searchsorted(ordered, knots[same], side="left")
    same = np.flatnonzero(ordered[np.minimum(upto, ordered.size - 1)] == knots)
    upto[same] = np.searchsorted(ordered, knots[same], side="right")
    return Ranks(knots=knots, below=below, upto=upto, size=int(ordered.size), levels=int(levels))


def representatives(ordered: FloatArray, levels: int) -> FloatArray:
    """Return the median of the values at each level.

    Examples
    --------
    >>> representatives(np.array([10.0, 10, 20, 40]), 2)
    array([10., 30.])
    """
    if ordered.size == levels:
        return ordered.copy()
    lower, upper = middles(ordered.size, levels)
    return _midpoint(ordered.take(lower), ordered.take(upper))


def median_of(found: Sequence[FloatArray]) -> FloatArray:
    """Return the median over strata, level by level; of an even number, the midpoint.

    Examples
    --------
    >>> median_of([np.array([1.0, 2.0]), np.array([10.0, 20.0])])
    array([ 5.5, 11. ])
    """
    if len(found) == 2:
        low, high = np.minimum(*found), np.maximum(*found)
    else:
        ordered = np.sort(np.stack(found), axis=0)
        low, high = ordered[(len(found) - 1) // 2], ordered[len(found) // 2]
    return _midpoint(low, high)


def _midpoint(low: FloatArray, high: FloatArray) -> FloatArray:
    # The sum is halved, not the difference added: 62.0 and 62.1 make 62.05, not a neighbour of it.
    with np.errstate(over="ignore"):
        middle = low + high
    middle /= 2
    if np.isfinite(middle).all():
        return middle
    # Halved first where the sum is too large to be a number.
    return np.where(np.isfinite(middle), middle, low / 2 + high / 2)


def distinct(ordered: FloatArray, at_most: int) -> FloatArray:
    """Return the distinct values of a sorted array: all of them, or so many at even places."""
    values: FloatArray = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    if values.size <= at_most:
        return values
    return values.take(np.linspace(0, values.size - 1, at_most).astype(np.int64))


@lru_cache(maxsize=16)
def starts(size: int, levels: int) -> IntArray:
    """Return the first place of each level: the least r with floor(r m / n) = level."""
    first = -(-np.arange(levels, dtype=np.int64) * size // levels)
    first.flags.writeable = False  # every column of a stratum shares it
    return first


@lru_cache(maxsize=16)
def middles(size: int, levels: int) -> tuple[IntArray, IntArray]:
    """Return the two middle places of each level; of an odd number they are the same."""
    first = starts(size, levels)
    both = first + np.append(first[1:], size)
    lower, upper = both - 1 >> 1, both >> 1
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper
