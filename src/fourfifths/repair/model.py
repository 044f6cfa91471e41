"""A fitted repair as arrays in, arrays out: the same for tables, files and single rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np

from fourfifths.counts import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths.draws import Draws, spread
from fourfifths.repair.categories import CategoryColumn
from fourfifths.repair.columns import Method, OrderedColumn, Ties
from fourfifths.repair.profiles import Profiles, fit_profiles

Column = OrderedColumn | CategoryColumn
Scope = Literal["column", "joint"]
CHUNK = 131_072
THREADED = 100_000  # rows; below, threads wait for each other longer than they work

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Members:
    """Some rows by their strata."""

    strata: CodeArray

    @cached_property
    def by_stratum(self) -> list[tuple[int, IntArray]]:
        """Each stratum with its rows, in order; rows that are left as they are, not at all."""
        order = np.argsort(self.strata, kind="stable")
        ordered = self.strata[order]
        strata = np.arange(int(ordered[-1]) + 1 if ordered.size else 0)
        first = np.searchsorted(ordered, strata, side="left")
        last = np.searchsorted(ordered, strata, side="right")
        return [
            (int(stratum), order[first[stratum] : last[stratum]])
            for stratum in np.flatnonzero(first < last)
        ]


@dataclass(frozen=True)
class Placed:
    """Values of one column, none missing, and where they are put.

    Attributes
    ----------
    column : int
        The column's place.
    rows : int array or slice
    values : float array
    level : int array
    profile : int array or None
        Under joint repair, the profile of each row, also of those whose value is missing.
    """

    column: int
    rows: IntArray | slice
    values: FloatArray
    level: IntArray
    profile: IntArray | None = None


@dataclass(frozen=True)
class Model:
    """A fitted repair.

    Attributes
    ----------
    columns : tuple of OrderedColumn or CategoryColumn
    profiles : Profiles or None
        For joint repair.
    ties : {"split", "mid"}
    """

    columns: tuple[Column, ...]
    profiles: Profiles | None
    ties: Ties

    def apply(
        self,
        values: Sequence[FloatArray],
        strata: CodeArray,
        out: Sequence[FloatArray],
        method: Method,
        amount: float,
        draws: Draws,
    ) -> None:
        """Write the repaired columns to `out`; rows of stratum -1 and missing values stay."""

        def run(start: int) -> None:
            chunk = slice(start, start + CHUNK)
            random = draws.part(start).generator()
            rows = _chosen(strata[chunk], method, amount, random)
            own, written = ([each[chunk] for each in side] for side in (values, out))
            for each in self.placed(own, rows, strata[chunk][rows], random):
                column = self.columns[each.column]
                repaired = column.write(each.values, each.level, method, amount, random)
                written[each.column][each.rows] = repaired

        threaded(run, range(0, strata.size, CHUNK), strata.size)

    def placed(
        self,
        values: Sequence[FloatArray],
        rows: IntArray | slice,
        strata: CodeArray,
        random: np.random.Generator,
    ) -> Iterator[Placed]:
        """Put some rows, whose strata are known, at their levels, one column after the other."""
        if self.profiles is None:
            return self._alone(values, rows, strata, random)
        return self._together(values, rows, strata, random)

    def _alone(
        self,
        values: Sequence[FloatArray],
        rows: IntArray | slice,
        strata: CodeArray,
        random: np.random.Generator,
    ) -> Iterator[Placed]:
        """Each column by itself: all strata at once where its values are few."""
        everyone = Members(strata)
        for place, column in enumerate(self.columns):
            own = values[place][rows]
            known = _known(own)
            own = own[known]
            members = everyone if isinstance(known, slice) else Members(strata[known])
            level = self._levels(column, own, members, random)
            yield Placed(place, _among(rows, known), own, level)

    def _levels(
        self,
        column: Column,
        values: FloatArray,
        members: Members,
        random: np.random.Generator,
    ) -> IntArray:
        if isinstance(column, OrderedColumn):
            level = column.at_once(members.strata, values, self.ties, random)
            if level is not None:
                return level
        level = np.empty(values.size, dtype=np.int64)
        for stratum, rows in members.by_stratum:
            level[rows] = column.to_levels(stratum, values[rows], self.ties, random)
        return level

    def _together(
        self,
        values: Sequence[FloatArray],
        rows: IntArray | slice,
        strata: CodeArray,
        random: np.random.Generator,
    ) -> Iterator[Placed]:
        """All columns of a stratum as one vector."""
        assert self.profiles is not None
        for stratum, places in Members(strata).by_stratum:
            members = _among(rows, places)
            own = [each[members] for each in values]
            ranks = rank_matrix(self.columns, own, stratum, self.ties, random)
            profile = self.profiles.of(ranks, stratum, random)
            if self.profiles.number > 1:
                ranks = self.profiles.repaired(ranks, profile, stratum)
            for place, column in enumerate(self.columns):
                known = _known(own[place])
                level = column.from_ranks(ranks[known, place])
                yield Placed(place, _among(members, known), own[place][known], level, profile)


def _chosen(
    strata: CodeArray, method: Method, amount: float, random: np.random.Generator
) -> IntArray | slice:
    """Return the rows that are repaired: of each stratum, all or those that the coin takes."""
    rows = _rows(strata >= 0)
    if method == "random" and amount < 1:
        coin = spread(strata[rows].astype(np.int64), random)
        return _among(rows, np.flatnonzero(coin < amount))
    return rows


def _known(values: FloatArray) -> IntArray | slice:
    """Return where a value is not missing."""
    return _rows(~np.isnan(values))


def _rows(mask: BoolArray) -> IntArray | slice:
    """Return where it is true; a slice, which copies nothing, if it is everywhere."""
    return slice(None) if mask.all() else np.flatnonzero(mask)


def _among(rows: IntArray | slice, places: IntArray | slice) -> IntArray | slice:
    """Return the rows at some places among others."""
    return places if isinstance(rows, slice) else rows[places]


def fit_model(
    columns: Sequence[Callable[[], Column]],
    values: Sequence[FloatArray],
    strata: CodeArray,
    scope: Scope,
    ties: Ties,
    draws: Draws,
) -> Model:
    """Fit each column, and the profiles if the whole vector is to be alike."""
    fitted = tuple(threaded(lambda fit: fit(), columns, strata.size))
    if scope == "column":
        return Model(fitted, None, ties)
    random = draws.generator()
    ranks = []
    for stratum, rows in Members(strata).by_stratum:
        own = [each[rows] for each in values]
        ranks.append(rank_matrix(fitted, own, stratum, ties, random))
    return Model(fitted, fit_profiles(ranks, [column.scores for column in fitted], random), ties)


def rank_matrix(
    columns: Sequence[Column],
    values: Sequence[FloatArray],
    stratum: int,
    ties: Ties,
    random: np.random.Generator,
) -> FloatArray:
    """Return the rank of each value in its stratum, NaN where it is missing."""
    # Columns are what is sorted.
    found = np.full((values[0].size, len(columns)), np.nan, order="F")
    for place, (column, own) in enumerate(zip(columns, values, strict=True)):
        present = ~np.isnan(own)
        found[present, place] = column.to_ranks(stratum, own[present], ties, random)
    return found


def threaded(work: Callable[[Item], Result], items: Iterable[Item], rows: int) -> list[Result]:
    """Do the work for each item; where rows are many, several beside each other."""
    workers = os.cpu_count() or 1
    if workers < 2 or rows < THREADED:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))
