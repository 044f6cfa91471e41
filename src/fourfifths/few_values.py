"""Columns of few values: all strata at once, since a stratum and a value make a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourfifths.counts import CodeArray, FloatArray, IntArray
from fourfifths.draws import deal
from fourfifths.lookup import Grid, make_grid
from fourfifths.quantiles import Ranks, level_of

FEW = 4  # levels for each value, at least
WIDE = 4_096  # cells of the grid, in which most values have one each
WORTH = 8  # cells for each row, at most: each has to be dealt from


@dataclass(frozen=True)
class FewValues:
    """The places that the equals of each value have among their stratum's values.

    Attributes
    ----------
    grid : Grid
        Over the distinct values.
    low, high : int array
        Of shape strata by values: the first place, and the first after the last. A value that is
        no knot of a stratum has the last place of the knot before it.
    sizes : int array
        How many values each stratum has.
    levels : int
        Into how many levels they are cut.
    """

    grid: Grid
    low: IntArray
    high: IntArray
    sizes: IntArray
    levels: int

    def at_levels(
        self, strata: CodeArray, values: FloatArray, random: np.random.Generator
    ) -> IntArray | None:
        """Return the level of each value in its stratum.

        Equals are spread evenly over the levels that they share, at random. None if some value is
        none of the few, or if rows are so few that their strata one by one take less time.
        """
        if WORTH * values.size < self.low.size:
            return None
        place = self.grid.exact(values)
        if place is None:
            return None
        cell = place + np.multiply(strata, self.low.shape[1], dtype=np.int64)
        stand = deal(cell, self.low.ravel(), self.high.ravel(), random)
        return level_of(stand, self.levels, self.sizes.take(strata))


def few_values_of(values: FloatArray, strata: Sequence[Ranks]) -> FewValues | None:
    """Return the cells of a column's distinct values and its strata; None if values are many."""
    levels = strata[0].levels
    if FEW * values.size > levels:
        return None
    low, high = zip(*(each.places(values) for each in strata), strict=True)
    sizes = np.array([each.size for each in strata])
    return FewValues(make_grid(values, least=WIDE), np.stack(low), np.stack(high), sizes, levels)
