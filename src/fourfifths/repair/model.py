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
from fourfifths.repair.profiles import Profiles, fit_profiles

Column = OrderedColumn | CategoryColumn
Scope = Literal["column", "joint"]
CHUNK = 131_072
THREADED = 100_000  # rows; below, threads wait for each other longer than they work

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Levels:
    """Where rows of one stratum are put.

    Attributes
    ----------
    of : list of (rows, level)
        For each column, the rows that have a value, and the level that each gets.
    profile : int array or None
        The profile of each row, under joint repair.
    """

    of: list[tuple[IntArray | slice, IntArray]]
    profile: IntArray | None


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

        def run(work: tuple[int, int, IntArray]) -> None:
            start, stratum, members = work
            rows = slice(start, start + CHUNK)
            random = draws.part(start).part(stratum).generator()
            if method == "random" and amount < 1:
                coin = spread(np.zeros(members.size, dtype=np.int64), random)
                members = members[coin < amount]
            parts = [each[rows] for each in values]
            written = [each[rows] for each in out]
            self._repair(parts, members, stratum, written, method, amount, random)

        threaded(run, _work(strata), strata.size)

    def _repair(
        self,
        values: Sequence[FloatArray],
        rows: IntArray,
        stratum: int,
        out: Sequence[FloatArray],
        method: Method,
        amount: float,
        random: np.random.Generator,
    ) -> None:
        own = [each[rows] for each in values]
        for place, (present, level) in enumerate(self.levels(own, stratum, random).of):
            known = own[place][present]
            written = self.columns[place].write(known, level, method, amount, random)
            out[place][rows[present]] = written

    def levels(
        self, values: Sequence[FloatArray], stratum: int, random: np.random.Generator
    ) -> Levels:
        """Return the level that each row of a stratum gets in each column."""
        if self.profiles is not None:
            ranks = rank_matrix(self.columns, values, stratum, self.ties, random)
            profile = self.profiles.of(ranks, stratum, random)
            if self.profiles.number > 1:
                ranks = self.profiles.repaired(ranks, profile, stratum)
        found = []
        for place, (column, own) in enumerate(zip(self.columns, values, strict=True)):
            missing = np.isnan(own)
            # A slice where all rows have a value: nothing is copied then.
            present = np.flatnonzero(~missing) if missing.any() else slice(None)
            if self.profiles is None:
                level = column.to_levels(stratum, own[present], self.ties, random)
            else:
                level = column.from_ranks(ranks[present, place])
            found.append((present, level))
        return Levels(found, None if self.profiles is None else profile)


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
    for stratum, rows in by_stratum(strata):
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


def by_stratum(strata: CodeArray) -> Iterator[tuple[int, IntArray]]:
    """Yield each stratum with its rows, in order; rows that are left as they are, not at all."""
    order = np.argsort(strata, kind="stable")
    ordered = strata[order]
    for stratum in range(int(ordered[-1]) + 1 if strata.size else 0):
        first, last = np.searchsorted(ordered, [stratum, stratum + 1])
        if first < last:
            yield stratum, order[first:last]


def threaded(work: Callable[[Item], Result], items: Iterable[Item], rows: int) -> list[Result]:
    """Do the work for each item; where rows are many, several beside each other."""
    workers = os.cpu_count() or 1
    if workers < 2 or rows < THREADED:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def _work(strata: CodeArray) -> Iterator[tuple[int, int, IntArray]]:
    """Yield the first row of each chunk with each stratum in it, and that stratum's rows there."""
    for start in range(0, strata.size, CHUNK):
        for stratum, members in by_stratum(strata[start : start + CHUNK]):
            yield start, stratum, members
