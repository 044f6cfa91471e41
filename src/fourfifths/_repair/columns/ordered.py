"""One column of numbers or of ordered categories: how it is fitted, ranked and rewritten.

The paper's repair of a column (Feldman et al. 2015, section 5, and "Repair details" in section 6):
each stratum's sorted values are cut into the same number of levels, the consensus of a level is the
median over strata of its representatives, and repair moves each value towards the consensus of its
level.

Where a column has few distinct values, all strata are ranked at once: a stratum and a value make a
cell, and `FewValues` knows which positions the rows of each cell share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.cells import CellDraws
from fourfifths._repair.columns.kernels import Steps, levels_at
from fourfifths._repair.columns.quantiles import (
    Grid,
    Ranks,
    distinct_values,
    make_grid,
    median_over_strata,
    rank_table,
    representatives,
)
from fourfifths.errors import RepairError

Method = Literal["combinatorial", "definition", "geometric", "random"]
Ties = Literal["split", "mid"]
OrderedKind = Literal["number", "integer", "ordered"]
# A rank that is whole but for rounding counts as whole: without it, floor(2.9999999999) is 2.
INDEX_TOLERANCE = 1e-9
MIN_LEVELS_PER_VALUE = 4  # with fewer, values are not few and most are not tied
MIN_GRID_CELLS = 4_096  # wide enough that most values have a cell of their own
MAX_STEPS = 500_000  # of all strata; they are kept beside the ranks, about 20 MB
MAX_CELLS_PER_ROW = 8  # with more, ranking the strata one by one takes less time


@dataclass(frozen=True, kw_only=True)
class OrderedColumn:
    """A fitted column.

    Attributes
    ----------
    name : str, or int in an array
    kind : {"number", "integer", "ordered"}
    categories : tuple of str
        The labels of an ordered column, lowest first; its values are their indices.
    values : float array
        The distinct values, sorted: all of them, or as many as there may be levels.
    consensus : float array
        The median distribution: for each level, the median over strata.
    strata : tuple of Ranks
    representatives : float array of shape (strata, levels), or None
        What stands for each level in each stratum; over the strata, the paper's U(r). None in a
        repair that was saved for another method than "definition".
    """

    name: Any
    kind: OrderedKind
    categories: tuple[Any, ...]
    values: FloatArray
    consensus: FloatArray
    strata: tuple[Ranks, ...]
    representatives: FloatArray | None

    @property
    def levels(self) -> int:
        """The number of levels."""
        return self.consensus.size

    @cached_property
    def value_grid(self) -> Grid:
        """The distinct values, ready to look values up in."""
        return make_grid(self.values)

    @cached_property
    def nearest(self) -> IntArray:
        """For each level, the index of the value nearest to its consensus; of two, the lower."""
        return self.nearest_to(self.consensus)

    @cached_property
    def full(self) -> FloatArray:
        """For each level, what full repair writes: whole numbers and categories stay so."""
        return self.consensus if self.kind == "number" else self.values[self.nearest]

    @cached_property
    def has_shared_values(self) -> bool:
        """Whether several levels share a value, so that its rows may be split over them."""
        return any(bool(ranks.is_shared.any()) for ranks in self.strata)

    @cached_property
    def few(self) -> FewValues | None:
        """The positions of each value in each stratum, if values are few."""
        return few_values_of(self.values, self.strata)

    def full_steps(self, method: Method) -> Steps | None:
        """Return what full repair writes in each stratum, as steps; None if levels share a value.

        If they do not, a value has one level, and what is written depends on nothing else. None
        also if all strata together have too many levels.
        """
        if self.has_shared_values or self.levels * len(self.strata) > MAX_STEPS:
            return None
        if method not in self._steps:
            stratum_count = len(self.strata)
            written = self.repaired(
                # Any values: nothing is left of them in a full repair.
                np.tile(self.consensus, stratum_count),
                np.tile(np.arange(self.levels), stratum_count),
                strata=np.repeat(np.arange(stratum_count, dtype=np.int16), self.levels),
                method=method,
                amount=1.0,
            ).reshape(stratum_count, self.levels)
            heights = [
                levels.take(ranks.level_after)
                for levels, ranks in zip(written, self.strata, strict=True)
            ]
            tables = [ranks.grid for ranks in self.strata]
            self._steps[method] = Steps(tables=tables, heights=heights)
        return self._steps[method]

    @cached_property
    def _steps(self) -> dict[Method, Steps]:
        return {}

    def levels_in_all_strata(
        self, values: FloatArray, strata: CodeArray, *, draws: CellDraws | None
    ) -> IntArray | None:
        """Return the level of each value in its stratum, or None if values are not few."""
        if draws is None or self.few is None:
            return None
        return self.few.levels_of(values, strata, draws=draws)

    def levels_of(self, values: FloatArray, stratum: int, *, draws: CellDraws | None) -> IntArray:
        """Return the level of each value in one stratum; without draws, equals stay together."""
        return self.strata[stratum].levels_of(values, draws)

    def nearest_to(self, numbers: FloatArray) -> IntArray:
        """Return the index of the value nearest to each number; of two, the lower."""
        midpoints = self.values[:-1] + np.diff(self.values) / 2
        return np.searchsorted(midpoints, numbers, side="left")

    def repaired(
        self,
        values: FloatArray,
        level: IntArray,
        *,
        strata: CodeArray,
        method: Method,
        amount: float,
    ) -> FloatArray:
        """Return the repaired values; for random repair, of rows that were drawn to be repaired.

        Parameters
        ----------
        values : float array
        level : int array
            The level of each value in its stratum.
        strata : int array
            The stratum of each value.
        method : str
        amount : float
            Above 0.
        """
        if method == "random":
            return self.full.take(level)
        if method == "definition":
            return self.moved_among_strata(level, strata, amount=amount)
        if method == "geometric":
            repaired = self.consensus.take(level)
            if amount < 1:
                repaired *= amount
                repaired += (1 - amount) * values
            # There is no category between two codes, so the nearest is written.
            return self.values[self.nearest_to(repaired)] if self.kind == "ordered" else repaired
        value_index = np.maximum(self.value_grid.knots_up_to(values) - 1, 0)
        repaired_index = (1 - amount) * value_index + amount * self.nearest.take(level)
        return self.values[np.floor(repaired_index + 0.5 + INDEX_TOLERANCE).astype(np.int64)]

    def moved_among_strata(
        self, level: IntArray, strata: CodeArray, *, amount: float
    ) -> FloatArray:
        """Return what the paper's definition of combinatorial repair (section 5.1.1) writes.

        A value is replaced by a representative that one of the strata has at its level. Ranks among
        k strata go from 0 to k - 1 and the median's is (k - 1) / 2; the paper's 1/2 is a share of
        the ranks. Equal representatives have the lowest of their ranks. With two strata the lower
        representative is written, at every amount above 0.
        """
        if self.representatives is None:
            raise RepairError(
                f"method='definition': column {self.name!r} of this saved repair lacks what the "
                "strata have at each level; fit with method='definition' and save again"
            )
        order = np.argsort(self.representatives, axis=0, kind="stable")
        ordered = np.take_along_axis(self.representatives, order, axis=0)
        rank = np.arange(len(ordered))[:, None]
        is_first = np.vstack([np.ones_like(ordered[:1], dtype=bool), ordered[1:] > ordered[:-1]])
        lowest_rank = np.maximum.accumulate(np.where(is_first, rank, 0), axis=0)
        target = (1 - amount) * lowest_rank + amount * (len(ordered) - 1) / 2
        target_rank = np.floor(target + INDEX_TOLERANCE).astype(np.int64)
        written = np.empty_like(ordered)  # by stratum and level
        replacement = np.take_along_axis(ordered, target_rank, axis=0)
        np.put_along_axis(written, order, replacement, axis=0)
        if self.kind != "number":
            written = self.values[self.nearest_to(written)]
        return written[strata, level]


@dataclass(frozen=True, kw_only=True)
class StratumSummary:
    """What a fit takes from the sorted values of one stratum.

    Attributes
    ----------
    distinct : float array
        The distinct values, or as many of them as there may be levels.
    representatives : float array
        The median of each level.
    ranks : Ranks
    """

    distinct: FloatArray
    representatives: FloatArray
    ranks: Ranks


def fit_ordered(
    name: Any,
    kind: OrderedKind,
    *,
    categories: tuple[Any, ...],
    ordered: Iterable[FloatArray],
    level_count: int,
    max_levels: int,
) -> OrderedColumn:
    """Fit a column.

    Parameters
    ----------
    name, kind, categories
        As in `OrderedColumn`.
    ordered : iterable of float array
        The sorted values of each stratum, without missing ones. Those of one stratum are let go
        before those of the next are asked for.
    level_count : int
        How many levels there are.
    max_levels : int
        How many there may be; no more distinct values are kept.
    """
    summaries = []
    for values in ordered:
        summary = StratumSummary(
            distinct=distinct_values(values, max_levels),
            representatives=representatives(values, level_count),
            ranks=rank_table(values, level_count),
        )
        summaries.append(summary)
        del values  # there may be no room for those of two strata
    return summarised_column(
        name, kind, categories=categories, summaries=summaries, max_levels=max_levels
    )


def summarised_column(
    name: Any,
    kind: OrderedKind,
    *,
    categories: tuple[Any, ...],
    summaries: Sequence[StratumSummary],
    max_levels: int,
) -> OrderedColumn:
    """Return the fitted column of the summaries of its strata.

    Parameters
    ----------
    name, kind, categories
        As in `OrderedColumn`.
    summaries : sequence of StratumSummary
        Of each stratum.
    max_levels : int
        How many levels there may be; no more distinct values are kept.
    """
    # A stable sort is fast here: it merges runs that are sorted already.
    merged = np.sort(np.concatenate([stratum.distinct for stratum in summaries]), kind="stable")
    medians = [stratum.representatives for stratum in summaries]
    return OrderedColumn(
        name=name,
        kind=kind,
        categories=categories,
        values=distinct_values(merged, max_levels),
        consensus=median_over_strata(medians),
        strata=tuple(stratum.ranks for stratum in summaries),
        representatives=np.stack(medians),
    )


@dataclass(frozen=True, kw_only=True)
class FewValues:
    """The positions that the equals of each value have among the values of their stratum.

    Attributes
    ----------
    grid : Grid
        Over the distinct values.
    low, high : int array
        Of shape (strata, values): the first position, and the position after the last. A value
        that is not a knot of a stratum has the last position of the knot before it.
    sizes : int array
        The number of values of each stratum.
    levels : int
        The number of levels that they are cut into.
    """

    grid: Grid
    low: IntArray
    high: IntArray
    sizes: IntArray
    levels: int

    def levels_of(
        self, values: FloatArray, strata: CodeArray, *, draws: CellDraws
    ) -> IntArray | None:
        """Return the level of each value in its stratum.

        Equal values are split over the levels that they share by their draws. None if some value is
        none of the few, or if there are so few rows that it takes less time to rank the strata one
        by one: the levels are the same.
        """
        if MAX_CELLS_PER_ROW * values.size < self.low.size:
            return None
        value_index = self.grid.exact_knots(values)
        if value_index is None:
            return None
        cell = value_index + np.multiply(strata, self.low.shape[1], dtype=np.int64)
        positions = draws.positions(cell, self.low.ravel(), high=self.high.ravel())
        return levels_at(positions, self.levels, self.sizes.take(strata))


def few_values_of(values: FloatArray, strata: Sequence[Ranks]) -> FewValues | None:
    """Return the cells of a column's distinct values and its strata; None if values are many."""
    level_count = strata[0].levels
    if MIN_LEVELS_PER_VALUE * values.size > level_count:
        return None
    low, high = zip(*(ranks.position_ranges(values) for ranks in strata), strict=True)
    return FewValues(
        grid=make_grid(values, min_cells=MIN_GRID_CELLS),
        low=np.stack(low),
        high=np.stack(high),
        sizes=np.array([ranks.size for ranks in strata]),
        levels=level_count,
    )
