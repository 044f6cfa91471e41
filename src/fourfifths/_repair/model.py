"""Some rows and the stratum of each: all at once, or stratum by stratum."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.categories import CategoryColumn, fit_categories
from fourfifths._repair.ordered import Method, OrderedColumn, Ties, fit_ordered
from fourfifths._repair.profiles import Profiles, fit_profiles
from fourfifths._repair.quantiles import in_order
from fourfifths._repair.random import Draws, spread
from fourfifths._tables.strata import MIN_ROWS_PER_STRATUM, Strata
from fourfifths._tables.types import ColumnType, check_exact, check_finite
from fourfifths.errors import ColumnError


@dataclass(frozen=True, kw_only=True)
class Members:
    """Some rows and the stratum of each.

    Attributes
    ----------
    rows : int array or slice
        A slice where all are meant: nothing is copied then.
    strata : int array
        The stratum of each of these rows; -1 for rows of none.
    """

    rows: IntArray | slice
    strata: CodeArray

    def some(self, chosen: BoolArray) -> Members:
        """Return those for which it is true; the same object where it is for all."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        return Members(rows=self.at(places), strata=self.strata[places])

    def at(self, places: IntArray) -> IntArray:
        """Return the rows at these places among them."""
        return places + self.rows.start if isinstance(self.rows, slice) else self.rows[places]

    @cached_property
    def by_stratum(self) -> list[tuple[int, IntArray]]:
        """Each stratum that occurs with its places among the rows, in order."""
        order = np.argsort(self.strata, kind="stable")
        ordered = self.strata[order]
        strata = np.arange(int(ordered[-1]) + 1 if ordered.size else 0)
        first = np.searchsorted(ordered, strata, side="left")
        last = np.searchsorted(ordered, strata, side="right")
        return [
            (int(stratum), order[first[stratum] : last[stratum]])
            for stratum in np.flatnonzero(first < last)
        ]


def everyone(strata: CodeArray) -> Members:
    """Return all rows that have a stratum.

    Examples
    --------
    >>> everyone(np.array([1, -1, 0, 1], dtype=np.int16)).by_stratum
    [(0, array([1])), (1, array([0, 2]))]
    """
    return Members(rows=slice(0, strata.size), strata=strata).some(strata >= 0)


def parts(strata: CodeArray, size: int) -> Iterator[Members]:
    """Return the rows that have a stratum in parts of about so many, one after the other.

    A stratum of at most so many rows is in one part, wherever its rows are: what is dealt evenly
    in each part is then dealt evenly in the stratum. Of larger ones each part has its rows of one
    stretch of the table.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 0, 0, 0, 1], dtype=np.int16)
    >>> [part.at(np.arange(part.strata.size)).tolist() for part in parts(codes, 3)]
    [[0, 1], [3, 4, 5], [2, 6]]
    """
    members = everyone(strata)
    if strata.size <= size:
        yield members
        return
    stretches = [slice(start, start + size) for start in range(0, strata.size, size)]
    number = int(strata.max()) + 2  # -1 is counted too
    counts = np.sum([np.bincount(strata[own] + 1, minlength=number) for own in stretches], axis=0)
    is_small = counts[1:] <= size
    for own in stretches:
        codes = strata[own]
        part = Members(rows=own, strata=codes).some((codes >= 0) & ~is_small[codes])
        if part.strata.size:
            yield part
    # Small strata follow each other until they are as many rows as a part has.
    batch = np.cumsum(np.where(is_small, counts[1:], 0)) // size
    small = members.some(is_small[members.strata])
    for _, places in Members(
        rows=small.rows, strata=batch[small.strata].astype(np.int16)
    ).by_stratum:
        yield Members(rows=small.at(places), strata=small.strata[places])


Column = OrderedColumn | CategoryColumn
Scope = Literal["column", "joint"]
CHUNK = 131_072
THREADED = 100_000  # rows; below, threads wait for each other longer than they work
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
        return Placed(column=place, rows=known.rows, values=own, level=level)

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
                yield Placed(
                    column=place,
                    rows=rows[known],
                    values=own[place][known],
                    level=level,
                    profile=profile,
                )


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
        return Model(columns=fitted, profiles=None, ties=ties)
    random = draws.generator()
    ranks = []
    members = everyone(strata)
    for stratum, places in members.by_stratum:
        rows = members.at(places)
        own = [each[rows] for each in values]
        ranks.append(rank_matrix(fitted, own, stratum, ties, random))
    return Model(
        columns=fitted,
        profiles=fit_profiles(ranks, [column.scores for column in fitted], random),
        ties=ties,
    )


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


def fit_columns(
    values: Sequence[FloatArray],
    typed: Sequence[ColumnType],
    strata: Strata,
    codes: CodeArray,
    scope: Scope,
    ties: Ties,
    levels: int,
    draws: Draws,
) -> Model:
    """Fit each column in its strata."""
    order = np.argsort(codes, kind="stable")
    if order.size < np.iinfo(np.int32).max:
        order = order.astype(np.int32)  # half the memory
    known = order[order.size - sum(strata.rows) :]
    fits = [
        partial(_fit, each, own, codes, known, strata, levels)
        for each, own in zip(typed, values, strict=True)
    ]
    return fit_model(fits, values, codes, scope, ties, draws)


def _fit(
    typed: ColumnType,
    values: FloatArray,
    codes: CodeArray,
    rows: NDArray[Any],
    strata: Strata,
    levels: int,
) -> Column:
    """Fit one column from the sorted values of each stratum."""
    ordered = []
    for own in in_order(values, codes, rows, strata.rows):
        present = own[: np.searchsorted(own, np.nan)]  # missing sorts last
        if present.size and np.isinf(present[[0, -1]]).any():
            check_finite(values, typed)
        ordered.append(present)
    _check_sizes(typed, [own.size for own in ordered], strata)
    if typed.kind == "category":
        number = len(typed.categories)
        counts = [np.bincount(own.astype(np.int64), minlength=number) for own in ordered]
        return fit_categories(typed.name, typed.categories, counts)
    if typed.kind == "integer":
        check_exact(typed, max(abs(own[place]) for own in ordered for place in (0, -1)))
    return fit_ordered(typed.name, typed.kind, typed.categories, ordered, levels)


def _check_sizes(typed: ColumnType, sizes: Sequence[int], strata: Strata) -> None:
    few = [place for place, size in enumerate(sizes) if size < MIN_ROWS_PER_STRATUM]
    if few:
        lacking = ", ".join(f"{strata.labels[place]!r} has {sizes[place]}" for place in few)
        raise ColumnError(
            f"column {typed.name!r}: fewer than {MIN_ROWS_PER_STRATUM} values that are not missing in a stratum: "
            f"{lacking}; leave the column out, or make coarser strata"
        )
