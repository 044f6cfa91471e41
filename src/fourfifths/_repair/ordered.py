"""Columns of few values: all strata at once, since a stratum and a value make a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray, IntArray
from fourfifths._repair.quantiles import (
    Grid,
    Ranks,
    distinct,
    level_of,
    make_grid,
    median_of,
    rank_table,
    representatives,
)
from fourfifths._repair.random import deal

FEW = 4  # levels for each value, at least
WIDE = 4_096  # cells of the grid, in which most values have one each
WORTH = 8  # cells for each row, at most: each has to be dealt from


@dataclass(frozen=True, kw_only=True)
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
    return FewValues(
        grid=make_grid(values, least=WIDE),
        low=np.stack(low),
        high=np.stack(high),
        sizes=sizes,
        levels=levels,
    )


Method = Literal["combinatorial", "geometric", "random"]
Ties = Literal["split", "mid"]
OrderedKind = Literal["number", "integer", "ordered"]
# A place in the sorted values that is whole but for rounding counts as whole.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class OrderedColumn:
    """A fitted column.

    Attributes
    ----------
    name : str, or int in an array
    kind : {"number", "integer", "ordered"}
    categories : tuple of str
        The labels of an ordered column, lowest first; its values are their places.
    values : float array
        The distinct values, sorted: all of them, or as many as there may be levels.
    consensus : float array
        The median distribution: for each level, the median over strata.
    strata : tuple of Ranks
    """

    name: Any
    kind: OrderedKind
    categories: tuple[Any, ...]
    values: FloatArray
    consensus: FloatArray
    strata: tuple[Ranks, ...]

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return self.consensus.size

    @cached_property
    def value_grid(self) -> Grid:
        """The distinct values, ready to be looked up in."""
        return make_grid(self.values)

    @cached_property
    def nearest(self) -> IntArray:
        """For each level, the place of the value nearest to its consensus; of two, the lower."""
        middles = self.values[:-1] + np.diff(self.values) / 2
        return np.searchsorted(middles, self.consensus, side="left")

    @cached_property
    def full(self) -> FloatArray:
        """For each level, what full repair writes: whole numbers and categories stay so."""
        return self.consensus if self.kind == "number" else self.values[self.nearest]

    @cached_property
    def scores(self) -> FloatArray:
        """For each level, the mean rank of the levels with the same value: free of units."""
        _, place, counts = np.unique(self.full, return_inverse=True, return_counts=True)
        return ((np.cumsum(counts) - counts / 2) / self.levels)[place]

    @cached_property
    def few(self) -> FewValues | None:
        """The strata's places of each value, where values are few."""
        return few_values_of(self.values, self.strata)

    def at_once(
        self, strata: CodeArray, values: FloatArray, ties: Ties, random: np.random.Generator
    ) -> IntArray | None:
        """Return the level of each value in its stratum, or None where values are not few."""
        if ties == "mid" or self.few is None:
            return None
        return self.few.at_levels(strata, values, random)

    def to_levels(
        self, stratum: int, values: FloatArray, ties: Ties, random: np.random.Generator
    ) -> IntArray:
        """Return the level of each value in its stratum."""
        return self.strata[stratum].at_levels(values, random if ties == "split" else None)

    def to_ranks(
        self, stratum: int, values: FloatArray, ties: Ties, random: np.random.Generator
    ) -> FloatArray:
        """Return the rank of each value in its stratum."""
        return self.strata[stratum].at_ranks(values, random if ties == "split" else None)

    def from_ranks(self, ranks: FloatArray) -> IntArray:
        """Return the level that has each rank."""
        return np.minimum((ranks * self.levels).astype(np.int64), self.levels - 1)

    def write(
        self,
        values: FloatArray,
        level: IntArray,
        method: Method,
        amount: float,
        random: np.random.Generator,  # noqa: ARG002 - categories need it
    ) -> FloatArray:
        """Return the repaired values; under random repair, of rows that the coin has chosen."""
        if method == "geometric" and self.kind != "ordered":
            if amount == 1:
                return self.consensus.take(level)
            repaired = self.consensus.take(level)
            repaired *= amount
            repaired += (1 - amount) * values
            return repaired
        if method == "random":
            return self.full.take(level)
        own = np.maximum(self.value_grid.places(values) - 1, 0)
        place = (1 - amount) * own + amount * self.nearest.take(level)
        return self.values[np.floor(place + ROUNDING).astype(np.int64)]


def fit_ordered(
    name: Any,
    kind: OrderedKind,
    categories: tuple[Any, ...],
    ordered: Sequence[FloatArray],
    at_most: int,
) -> OrderedColumn:
    """Fit a column from the sorted values of each stratum."""
    levels = min(at_most, *(own.size for own in ordered))
    # A stable sort merges what is in order already.
    merged = np.sort(np.concatenate([distinct(own, at_most) for own in ordered]), kind="stable")
    values = distinct(merged, at_most)
    return OrderedColumn(
        name=name,
        kind=kind,
        categories=categories,
        values=values,
        consensus=median_of([representatives(own, levels) for own in ordered]),
        strata=tuple(rank_table(own, levels) for own in ordered),
    )
