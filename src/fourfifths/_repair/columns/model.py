"""A fitted repair: how it is fitted to columns, and applied to rows.

Rows are repaired chunk by chunk, on several threads if there are many. `Members` are the rows of a
chunk with the stratum of each; a column gives each value a level in its stratum, and then the value
that repair writes at that level. Chunks and columns have random streams of their own, so the result
does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.categories import CategoryColumn, fit_categories
from fourfifths._repair.columns.ordered import Method, OrderedColumn, Ties, fit_ordered
from fourfifths._repair.columns.quantiles import sort_in_strata
from fourfifths._repair.profiles import Profiles, fit_profiles
from fourfifths._repair.random import Draws, even_uniforms
from fourfifths._tables.strata import MIN_ROWS_PER_STRATUM, Strata
from fourfifths._tables.types import ColumnType, check_exact, check_finite
from fourfifths.errors import ColumnError

Column = OrderedColumn | CategoryColumn
Scope = Literal["column", "joint"]
Argument = TypeVar("Argument")
Result = TypeVar("Result")
ROWS_PER_CHUNK = 131_072
MIN_ROWS_FOR_THREADS = 100_000  # with fewer, threads wait for each other longer than they work


# --- rows and their strata ---


@dataclass(frozen=True, kw_only=True)
class Members:
    """Rows of a table and the stratum of each.

    Attributes
    ----------
    rows : int array or slice
        A slice where the rows follow each other: then nothing is copied.
    strata : int array
        The stratum of each of these rows; -1 for rows without one.
    """

    rows: IntArray | slice
    strata: CodeArray

    def where(self, mask: BoolArray) -> Members:
        """Return the members for which the mask is true; the same object if it is for all."""
        if mask.all():
            return self
        positions = np.flatnonzero(mask)
        return Members(rows=self.row_numbers(positions), strata=self.strata[positions])

    def row_numbers(self, positions: IntArray) -> IntArray:
        """Return the rows of the table at these positions among the members."""
        return positions + self.rows.start if isinstance(self.rows, slice) else self.rows[positions]

    @cached_property
    def by_stratum(self) -> list[tuple[int, IntArray]]:
        """Each stratum that occurs, with the positions of its members, both increasing."""
        order = np.argsort(self.strata, kind="stable")
        ordered = self.strata[order]
        strata = np.arange(int(ordered[-1]) + 1 if ordered.size else 0)
        first = np.searchsorted(ordered, strata, side="left")
        end = np.searchsorted(ordered, strata, side="right")
        return [
            (int(stratum), order[first[stratum] : end[stratum]])
            for stratum in np.flatnonzero(first < end)
        ]


def members_of(strata: CodeArray) -> Members:
    """Return all rows that have a stratum.

    Examples
    --------
    >>> members_of(np.array([1, -1, 0, 1], dtype=np.int16)).by_stratum
    [(0, array([1])), (1, array([0, 2]))]
    """
    return Members(rows=slice(0, strata.size), strata=strata).where(strata >= 0)


def member_chunks(strata: CodeArray, chunk_rows: int) -> Iterator[Members]:
    """Yield the rows that have a stratum in chunks of about `chunk_rows`.

    A stratum of at most `chunk_rows` rows is in one chunk, wherever its rows are: ties that are
    split evenly in each chunk are then split evenly in the stratum. Larger strata are cut where the
    table is: each chunk has their rows from one stretch of the table.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 0, 0, 0, 1], dtype=np.int16)
    >>> chunks = member_chunks(codes, 3)
    >>> [chunk.row_numbers(np.arange(chunk.strata.size)).tolist() for chunk in chunks]
    [[0, 1], [3, 4, 5], [2, 6]]
    """
    members = members_of(strata)
    if strata.size <= chunk_rows:
        yield members
        return
    stretches = [slice(start, start + chunk_rows) for start in range(0, strata.size, chunk_rows)]
    code_count = int(strata.max()) + 2  # -1 is counted too
    counts = np.sum(
        [np.bincount(strata[stretch] + 1, minlength=code_count) for stretch in stretches], axis=0
    )[1:]
    is_small = counts <= chunk_rows
    for stretch in stretches:
        codes = strata[stretch]
        chunk = Members(rows=stretch, strata=codes).where((codes >= 0) & ~is_small[codes])
        if chunk.strata.size:
            yield chunk
    # Small strata are collected one after the other until they fill a chunk.
    batch = np.cumsum(np.where(is_small, counts, 0)) // chunk_rows
    small = members.where(is_small[members.strata])
    batches = Members(rows=small.rows, strata=batch[small.strata].astype(np.int16))
    for _, positions in batches.by_stratum:
        yield Members(rows=small.row_numbers(positions), strata=small.strata[positions])


# --- the fitted repair ---


@dataclass(frozen=True, kw_only=True)
class PlacedValues:
    """Values of one column, none missing, with the level of each.

    Attributes
    ----------
    column : int
        The index of the column.
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
        *,
        out: Sequence[FloatArray],
        method: Method,
        amount: float,
        draws: Draws,
        chunk_rows: int = ROWS_PER_CHUNK,
        workers: int | None = None,
    ) -> None:
        """Write the repaired columns to `out`; rows of stratum -1 and missing values stay.

        Parameters
        ----------
        values : sequence of float array
            The columns.
        strata : int array
            The stratum of each row.
        out : sequence of float array
            Columns that hold a copy of `values`.
        method, amount
            As in `Repairer`.
        draws : Draws
        chunk_rows : int
            About how many rows are repaired at a time.
        workers : int, optional
            The number of threads, which does not change the result; by default, as many as there
            are processors if rows are many, and otherwise one.
        """
        is_drawn = method == "random" and amount < 1

        def repair(task: tuple[int, Members, int | None]) -> None:
            chunk_number, members, column_index = task
            stream = draws.substream(chunk_number).substream(column_index or 0)
            random = stream.generator()
            if is_drawn:
                uniforms = even_uniforms(members.strata.astype(np.int64), random)
                members = members.where(uniforms < amount)
            for placed in self.place(values, members, random=random, column_index=column_index):
                out[placed.column][placed.rows] = self.columns[placed.column].repaired(
                    placed.values, placed.level, method=method, amount=amount, random=random
                )

        # Columns are separate tasks, unless they share the profiles or the draw of the row.
        are_together = self.profiles is not None or is_drawn
        column_indices = [None] if are_together else range(len(self.columns))
        tasks = (
            (chunk_number, chunk, column_index)
            for chunk_number, chunk in enumerate(member_chunks(strata, chunk_rows))
            for column_index in column_indices
        )
        run_all(repair, tasks, row_count=strata.size, workers=workers)

    def place(
        self,
        values: Sequence[FloatArray],
        members: Members,
        *,
        random: np.random.Generator,
        column_index: int | None = None,
    ) -> Iterator[PlacedValues]:
        """Yield the values of all columns with their levels, or of one column if it is named.

        Under joint repair all columns are placed, stratum by stratum, whatever is named.
        """
        if self.profiles is None:
            indices = range(len(self.columns)) if column_index is None else [column_index]
            for index in indices:
                yield self.place_column(values[index], members, column_index=index, random=random)
            return
        for stratum, positions in members.by_stratum:
            rows = members.row_numbers(positions)
            stratum_values = [column_values[rows] for column_values in values]
            ranks = rank_matrix(
                self.columns, stratum_values, stratum=stratum, ties=self.ties, random=random
            )
            profile = self.profiles.profiles_of(ranks, stratum, random=random)
            # A single profile is the whole stratum, in which the ranks are what they are already.
            if self.profiles.profile_count > 1:
                ranks = self.profiles.repaired_ranks(ranks, profile, stratum=stratum)
            for index, column in enumerate(self.columns):
                present = np.flatnonzero(~np.isnan(stratum_values[index]))
                yield PlacedValues(
                    column=index,
                    rows=rows[present],
                    values=stratum_values[index][present],
                    level=column.levels_at_ranks(ranks[present, index]),
                    profile=profile,
                )

    def place_column(
        self,
        values: FloatArray,
        members: Members,
        *,
        column_index: int,
        random: np.random.Generator,
    ) -> PlacedValues:
        """Place one column by itself: all strata at once if its values are few."""
        member_values = values[members.rows]
        is_present = ~np.isnan(member_values)
        present = members.where(is_present)
        if present is not members:
            member_values = member_values[is_present]
        column = self.columns[column_index]
        level = None
        if isinstance(column, OrderedColumn):
            level = column.levels_in_all_strata(
                member_values, present.strata, ties=self.ties, random=random
            )
        if level is None:
            level = np.empty(member_values.size, dtype=np.int64)
            for stratum, positions in present.by_stratum:
                level[positions] = column.levels_of(
                    member_values[positions], stratum, ties=self.ties, random=random
                )
        return PlacedValues(
            column=column_index, rows=present.rows, values=member_values, level=level
        )


def rank_matrix(
    columns: Sequence[Column],
    values: Sequence[FloatArray],
    *,
    stratum: int,
    ties: Ties,
    random: np.random.Generator,
) -> FloatArray:
    """Return the rank of each value in its stratum, rows by columns; NaN where it is missing."""
    # Column by column in memory, since profiles sort and look up whole columns.
    ranks = np.full((values[0].size, len(columns)), np.nan, order="F")
    for index, (column, column_values) in enumerate(zip(columns, values, strict=True)):
        is_present = ~np.isnan(column_values)
        ranks[is_present, index] = column.ranks_of(
            column_values[is_present], stratum, ties=ties, random=random
        )
    return ranks


def run_all(
    task: Callable[[Argument], Result],
    arguments: Iterable[Argument],
    *,
    row_count: int,
    workers: int | None,
) -> list[Result]:
    """Run the task with each argument, on several threads if rows are many.

    Parameters
    ----------
    task : callable
    arguments : iterable
    row_count : int
    workers : int or None
        The number of threads; None chooses it by the rows and the processors.
    """
    if workers is None:
        workers = (os.cpu_count() or 1) if row_count >= MIN_ROWS_FOR_THREADS else 1
    if workers < 2:
        return [task(argument) for argument in arguments]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(task, arguments))


# --- fitting ---


def fit_columns(
    values: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    strata: Strata,
    codes: CodeArray,
    scope: Scope,
    ties: Ties,
    levels: int,
    draws: Draws,
    workers: int | None = None,
) -> Model:
    """Fit each column in its strata and, for joint repair, the profiles.

    Parameters
    ----------
    values : sequence of float array
        The columns to repair, as numbers.
    column_types : sequence of ColumnType
    strata : Strata
    codes : int array
        The stratum of each row; -1 for rows without one.
    scope, ties, levels
        As in `Repairer`.
    draws : Draws
    workers : int, optional
        As in `Model.apply`.
    """
    order = np.argsort(codes, kind="stable")
    if order.size < np.iinfo(np.int32).max:
        order = order.astype(np.int32)  # half the memory
    rows = order[order.size - sum(strata.rows) :]  # rows without a stratum come first

    def fit(column: tuple[ColumnType, FloatArray]) -> Column:
        return fit_column(*column, codes=codes, rows=rows, strata=strata, levels=levels)

    columns = tuple(
        run_all(fit, zip(column_types, values, strict=True), row_count=codes.size, workers=workers)
    )
    if scope == "column":
        return Model(columns=columns, profiles=None, ties=ties)
    random = draws.generator()
    members = members_of(codes)
    ranks = []
    for stratum, positions in members.by_stratum:
        stratum_rows = members.row_numbers(positions)
        stratum_values = [column_values[stratum_rows] for column_values in values]
        ranks.append(
            rank_matrix(columns, stratum_values, stratum=stratum, ties=ties, random=random)
        )
    profiles = fit_profiles(ranks, [column.scores for column in columns], random=random)
    return Model(columns=columns, profiles=profiles, ties=ties)


def fit_column(
    typed: ColumnType,
    values: FloatArray,
    *,
    codes: CodeArray,
    rows: NDArray[Any],
    strata: Strata,
    levels: int,
) -> Column:
    """Fit one column from the sorted values of each stratum.

    Parameters
    ----------
    typed : ColumnType
    values : float array
    codes : int array
        The stratum of each row; -1 for rows without one.
    rows : int array
        The rows of all strata, stratum after stratum.
    strata : Strata
    levels : int
        The most levels that the column is cut into.
    """
    ordered = []
    for stratum_values in sort_in_strata(values, codes, rows=rows, sizes=strata.rows):
        present = stratum_values[: np.searchsorted(stratum_values, np.nan)]  # NaNs are last
        if present.size and np.isinf(present[[0, -1]]).any():
            check_finite(values, typed)
        ordered.append(present)
    small = [
        stratum for stratum, present in enumerate(ordered) if present.size < MIN_ROWS_PER_STRATUM
    ]
    if small:
        sizes = ", ".join(f"{strata.labels[code]!r} has {ordered[code].size}" for code in small)
        raise ColumnError(
            f"column {typed.name!r}: fewer than {MIN_ROWS_PER_STRATUM} values that are not missing "
            f"in a stratum: {sizes}; leave the column out, or make coarser strata"
        )
    if typed.kind == "category":
        counts = [
            np.bincount(present.astype(np.int64), minlength=len(typed.categories))
            for present in ordered
        ]
        return fit_categories(typed.name, typed.categories, counts=counts)
    if typed.kind == "integer":
        check_exact(typed, max(max(abs(present[0]), abs(present[-1])) for present in ordered))
    return fit_ordered(
        typed.name,
        typed.kind,
        categories=typed.categories,
        ordered=ordered,
        max_levels=levels,
    )
