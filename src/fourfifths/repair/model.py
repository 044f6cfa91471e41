"""A fitted repair as arrays in, arrays out: the same for tables, files and single rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from fourfifths.counts import CodeArray, FloatArray, IntArray
from fourfifths.draws import Draws, spread
from fourfifths.repair.categories import CategoryColumn
from fourfifths.repair.columns import Method, OrderedColumn, Ties
from fourfifths.repair.members import Members, everyone, parts
from fourfifths.repair.profiles import Profiles, fit_profiles

Column = OrderedColumn | CategoryColumn
Scope = Literal["column", "joint"]
CHUNK = 131_072
THREADED = 100_000  # rows; below, threads wait for each other longer than they work

Item = TypeVar("Item")
Result = TypeVar("Result")


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
        choosing = method == "random" and amount < 1

        def run(work: tuple[int, Members, int | None]) -> None:
            number, members, place = work
            random = draws.part(number).part(0 if place is None else place).generator()
            if choosing:
                coin = spread(members.strata.astype(np.int64), random)
                members = members.some(coin < amount)
            for each in self.placed(values, members, random, place):
                column = self.columns[each.column]
                repaired = column.write(each.values, each.level, method, amount, random)
                out[each.column][each.rows] = repaired

        # Columns that are repaired alone are worked on alone, unless they share a coin.
        shared = self.profiles is not None or choosing
        places = [None] if shared else range(len(self.columns))
        each_part = enumerate(parts(strata, CHUNK))
        work = ((number, part, place) for number, part in each_part for place in places)
        threaded(run, work, strata.size)

    def placed(
        self,
        values: Sequence[FloatArray],
        members: Members,
        random: np.random.Generator,
        place: int | None = None,
    ) -> Iterator[Placed]:
        """Put rows at their levels, in all columns or in one of those that are repaired alone."""
        if self.profiles is not None:
            yield from self._together(values, members, random)
            return
        for each in range(len(self.columns)) if place is None else [place]:
            yield self._alone(values[each], members, random, each)

    def _alone(
        self, values: FloatArray, members: Members, random: np.random.Generator, place: int
    ) -> Placed:
        """One column by itself: all strata at once where its values are few."""
        own = values[members.rows]
        present = ~np.isnan(own)
        known = members.some(present)
        own = own if known is members else own[present]
        column = self.columns[place]
        level = None
        if isinstance(column, OrderedColumn):
            level = column.at_once(known.strata, own, self.ties, random)
        if level is None:
            level = np.empty(own.size, dtype=np.int64)
            for stratum, rows in known.by_stratum:
                level[rows] = column.to_levels(stratum, own[rows], self.ties, random)
        return Placed(place, known.rows, own, level)

    def _together(
        self, values: Sequence[FloatArray], members: Members, random: np.random.Generator
    ) -> Iterator[Placed]:
        """All columns of a stratum as one vector."""
        assert self.profiles is not None
        for stratum, places in members.by_stratum:
            rows = members.at(places)
            own = [each[rows] for each in values]
            ranks = rank_matrix(self.columns, own, stratum, self.ties, random)
            profile = self.profiles.of(ranks, stratum, random)
            if self.profiles.number > 1:
                ranks = self.profiles.repaired(ranks, profile, stratum)
            for place, column in enumerate(self.columns):
                known = np.flatnonzero(~np.isnan(own[place]))
                level = column.from_ranks(ranks[known, place])
                yield Placed(place, rows[known], own[place][known], level, profile)


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
    members = everyone(strata)
    for stratum, places in members.by_stratum:
        rows = members.at(places)
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
