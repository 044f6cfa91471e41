"""The second sufficient statistic: quantiles per stratum, cut into levels of equal rank.

A column of a stratum has n present values. Sorted, the value at place r (from 0) is at level
floor(r m / n) of m: every level holds the same share of every stratum, however many rows each
has, so what is written level by level is distributed alike in all strata. Section 5 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fourfifths.counts import BoolArray, FloatArray, IntArray
from fourfifths.draws import spread
from fourfifths.lookup import Grid, make_grid


@dataclass(frozen=True)
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
    def level_after(self) -> IntArray:
        """The level of the values between each knot and the next; before the first knot, 0."""
        return np.append(0, (self.upto - 1) * self.levels // self.size)

    @cached_property
    def is_split(self) -> BoolArray | None:
        """Whether the place before the first knot, and each knot, is shared by several levels.

        None where none is.
        """
        shared = self.below * self.levels // self.size != self.level_after[1:]
        return np.append(False, shared) if shared.any() else None

    def at_levels(self, values: FloatArray, random: np.random.Generator | None) -> IntArray:
        """Return the level of each value.

        Equals that several levels share are spread evenly over them at random; without a source of
        chance, all are put into the middle one.
        """
        place = self.grid.places(values)
        level = self.level_after.take(place)
        if self.is_split is not None:
            tied = self.is_split.take(place)
            tied &= values == self.knots.take(place - 1, mode="wrap")
            rows = slice(None) if tied.all() else np.flatnonzero(tied)
            stand = self._stand(place[rows] - 1, random).astype(np.int64)
            stand *= self.levels
            stand //= self.size
            level[rows] = stand
        return level

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
        stand[equal] = self._stand(knot[equal], random)
        stand[place == 0] = 0
        return np.asarray(np.clip(stand, 0.5, self.size - 0.5) / self.size, dtype=np.float64)

    @cached_property
    def equals(self) -> tuple[IntArray, FloatArray]:
        """How many values equal each knot, and the last place before the next, all but reached."""
        return self.upto - self.below, np.nextafter(self.upto, 0)

    def _stand(self, knot: IntArray, random: np.random.Generator | None) -> FloatArray:
        """Return where rows that equal a knot stand among the values, from 0."""
        counts, lasts = self.equals
        count = counts.take(knot)
        part = np.full(knot.shape, 0.5)
        if random is not None:
            several = np.flatnonzero(count > 1)
            part[several] = spread(knot[several], random)
        # Never past the last of the equals, however the product is rounded.
        part *= count
        part += self.below.take(knot)
        np.minimum(part, lasts.take(knot), out=part)
        return part


def rank_table(ordered: FloatArray, levels: int) -> Ranks:
    """Return where values stand among the sorted ones given.

    Examples
    --------
    >>> rank_table(np.array([10.0, 10, 20, 30]), 2).at_levels(np.array([5.0, 10, 20, 99]), None)
    array([0, 0, 1, 1])
    """
    first = starts(ordered.size, levels)
    knots = np.unique(np.append(ordered[first], ordered[-1]))
    return Ranks(
        knots,
        np.searchsorted(ordered, knots, side="left"),
        np.searchsorted(ordered, knots, side="right"),
        int(ordered.size),
        int(levels),
    )


def representatives(ordered: FloatArray, levels: int) -> FloatArray:
    """Return the median of the values at each level.

    Examples
    --------
    >>> representatives(np.array([10.0, 10, 20, 40]), 2)
    array([10., 30.])
    """
    first = starts(ordered.size, levels)
    ends = np.append(first[1:], ordered.size)
    return _midpoint(ordered[(first + ends - 1) // 2], ordered[(first + ends) // 2])


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
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    # Halved first where the difference is too large to be a number.
    return np.where(np.isfinite(middle), middle, low / 2 + high / 2)


def distinct(ordered: FloatArray, at_most: int) -> FloatArray:
    """Return the distinct values of a sorted array: all of them, or so many at even places."""
    values: FloatArray = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    if values.size <= at_most:
        return values
    return values.take(np.linspace(0, values.size - 1, at_most).astype(np.int64))


def starts(size: int, levels: int) -> IntArray:
    """Return the first place of each level: the least r with floor(r m / n) = level."""
    return -(-np.arange(levels, dtype=np.int64) * size // levels)
