"""One column of numbers or ordered categories: its levels, their consensus, and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fourfifths.counts import CodeArray, FloatArray, IntArray
from fourfifths.few_values import FewValues, few_values_of
from fourfifths.lookup import Grid, make_grid
from fourfifths.quantiles import Ranks, distinct, median_of, rank_table, representatives

Method = Literal["combinatorial", "geometric", "random"]
Ties = Literal["split", "mid"]
OrderedKind = Literal["number", "integer", "ordered"]
# A place in the sorted values that is whole but for rounding counts as whole.
ROUNDING = 1e-9


@dataclass(frozen=True)
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
        name,
        kind,
        categories,
        values,
        median_of([representatives(own, levels) for own in ordered]),
        tuple(rank_table(own, levels) for own in ordered),
    )
