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
class Placed:
    """The values of one column in some rows of one stratum, none missing, and their levels."""

    rows: IntArray
    values: FloatArray
    level: IntArray


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
        placed, _ = self.placed(values, rows, stratum, random)
        for column, each, written in zip(self.columns, placed, out, strict=True):
            written[each.rows] = column.write(each.values, each.level, method, amount, random)

    def placed(
        self,
        values: Sequence[FloatArray],
        rows: IntArray,
        stratum: int,
        random: np.random.Generator,
    ) -> tuple[Iterator[Placed], IntArray | None]:
        """Put rows of a stratum at their levels.

        Return one column after the other, and the profile of each row under joint repair.
        """
        if self.profiles is None:
            return self._alone(values, rows, stratum, random), None
        own = [each[rows] for each in values]
        ranks = rank_matrix(self.columns, own, stratum, self.ties, random)
        profile = self.profiles.of(ranks, stratum, random)
        if self.profiles.number > 1:
            ranks = self.profiles.repaired(ranks, profile, stratum)
        return self._together(own, rows, ranks), profile

    def _alone(
        self,
        values: Sequence[FloatArray],
        rows: IntArray,
        stratum: int,
        random: np.random.Generator,
    ) -> Iterator[Placed]:
        for column, each in zip(self.columns, values, strict=True):
            own = each[rows]
            known = _known(own)
            own = own[known]
            level = column.to_levels(stratum, own, self.ties, random)
            yield Placed(rows[known], own, level)

    def _together(
        self, values: Sequence[FloatArray], rows: IntArray, ranks: FloatArray
    ) -> Iterator[Placed]:
        for column, own, rank in zip(self.columns, values, ranks.T, strict=True):
            known = _known(own)
            yield Placed(rows[known], own[known], column.from_ranks(rank[known]))


def _known(values: FloatArray) -> IntArray | slice:
    """Return where a value is not missing; a slice, which copies nothing, if none is."""
    missing = np.isnan(values)
    return np.flatnonzero(~missing) if missing.any() else slice(None)


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
