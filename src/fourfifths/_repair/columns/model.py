"""A fitted repair: how it is fitted to columns, and applied to rows.

Rows are repaired chunk by chunk, on several threads if there are many. `Members` are the rows of a
chunk with the stratum of each; a column gives each value a level in its stratum, and then the value
that repair writes at that level. Draws belong to the rows (`fourfifths._repair.draws`), so the
result does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.categories import CategoryColumn, fit_categories
from fourfifths._repair.columns.cells import CellDraws
from fourfifths._repair.columns.kernel_choice import kernels_for
from fourfifths._repair.columns.ordered import (
    Method,
    OrderedColumn,
    Ties,
    fit_ordered,
)
from fourfifths._repair.columns.quantiles import sort_in_strata
from fourfifths._repair.draws import RowDraws
from fourfifths._tables.strata import MIN_ROWS_PER_STRATUM, Strata
from fourfifths._tables.types import ColumnType, check_exact, check_finite
from fourfifths.errors import ColumnError

Column = OrderedColumn | CategoryColumn
Argument = TypeVar("Argument")
Result = TypeVar("Result")
ROWS_PER_CHUNK = 131_072
MIN_ROWS_FOR_STEPS = 10_000  # with fewer, to make the steps of all strata may take longer
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


def member_chunks(
    strata: CodeArray, chunk_rows: int, row_counts: IntArray | None = None
) -> Iterator[Members]:
    """Yield the rows that have a stratum in chunks of about `chunk_rows`.

    A stratum of at most `chunk_rows` rows is in one chunk, wherever its rows are: ties that are
    split evenly in each chunk are then split evenly in the stratum. Larger strata are cut where the
    table is: each chunk has their rows from one stretch of the table. `row_counts` has the rows of
    each stratum in the table, if `strata` are a part of it.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 0, 0, 0, 1], dtype=np.int16)
    >>> chunks = member_chunks(codes, 3)
    >>> [chunk.row_numbers(np.arange(chunk.strata.size)).tolist() for chunk in chunks]
    [[0, 1], [3, 4, 5], [2, 6]]
    """
    members = members_of(strata)
    if strata.size <= chunk_rows and row_counts is None:
        yield members
        return
    stretches = [slice(start, start + chunk_rows) for start in range(0, strata.size, chunk_rows)]
    if row_counts is None:
        code_count = int(strata.max()) + 2  # -1 is counted too
        counts = np.sum(
            [np.bincount(strata[stretch] + 1, minlength=code_count) for stretch in stretches],
            axis=0,
        )[1:]
    else:
        counts = row_counts
    is_small = counts <= chunk_rows
    for stretch in stretches:
        codes = strata[stretch]
        chunk = Members(rows=stretch, strata=codes).where((codes >= 0) & ~is_small[codes])
        if chunk.strata.size:
            yield chunk
    # Small strata are collected one after the other until they fill a chunk.
    batch = (np.cumsum(np.where(is_small, counts, 0)) - 1) // chunk_rows
    small = members.where(is_small[members.strata])
    batches = Members(rows=small.rows, strata=batch[small.strata].astype(np.int16))
    for _, positions in batches.by_stratum:
        yield Members(rows=small.row_numbers(positions), strata=small.strata[positions])


def chunk_numbers(
    strata: CodeArray,
    positions: IntArray,
    *,
    row_counts: IntArray,
    chunk_rows: int = ROWS_PER_CHUNK,
) -> IntArray:
    """Return which chunk of `member_chunks` each row is in, of rows that are a part of a table.

    Parameters
    ----------
    strata : int array
        The stratum of each row; -1 for rows without one.
    positions : int array
        Where in the table each row is.
    row_counts : int array
        The rows of each stratum in the table.
    chunk_rows : int

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 0, 0, 0, 1], dtype=np.int16)
    >>> chunk_numbers(codes, np.arange(7), row_counts=np.array([5, 2]), chunk_rows=3)
    array([ 0,  0, -1,  1,  1,  1, -1])
    """
    is_small = row_counts <= chunk_rows
    batch = (np.cumsum(np.where(is_small, row_counts, 0)) - 1) // chunk_rows
    # Rows without a stratum, the last entry, may be anywhere.
    number_of_small = np.append(np.where(is_small, -1 - batch, 0), 0)[strata]
    return np.where(number_of_small < 0, number_of_small, positions // chunk_rows)


# --- the fitted repair ---


@dataclass(frozen=True, kw_only=True)
class PlacedValues:
    """Values of one column, none missing, with the level of each.

    Attributes
    ----------
    column : int
        The index of the column.
    rows : int array or slice
    strata : int array
    values : float array
    level : int array
    """

    column: int
    rows: IntArray | slice
    strata: CodeArray
    values: FloatArray
    level: IntArray


@dataclass(frozen=True, kw_only=True)
class Model:
    """A fitted repair.

    Attributes
    ----------
    columns : tuple of OrderedColumn or CategoryColumn
    ties : {"split", "mid"}
    """

    columns: tuple[Column, ...]
    ties: Ties

    def needs_draws(self, method: Method, amount: float) -> bool:
        """Return whether anything is drawn: without ties, categories and shares, nothing is."""
        return draws_whole_rows(method, amount) or any(
            isinstance(column, CategoryColumn)
            or (self.ties == "split" and column.has_shared_values)
            for column in self.columns
        )

    def apply(
        self,
        values: Sequence[FloatArray],
        strata: CodeArray,
        *,
        out: Sequence[FloatArray],
        method: Method,
        amount: float,
        draws: RowDraws | None,
        row_counts: IntArray | None = None,
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
        draws : RowDraws or None
            None if `needs_draws` says that nothing is drawn.
        row_counts : int array, optional
            How many rows of the table each stratum has, if these rows are a part of it. Then all
            rows of a stratum with no more than `chunk_rows` must be among them, or none.
        chunk_rows : int
            About how many rows are repaired at a time.
        workers : int, optional
            The number of threads, which does not change the result; by default, as many as there
            are processors if rows are many, and otherwise one.
        """

        def repair(task: tuple[Members, Sequence[int]]) -> None:
            members, column_indices = task
            members = repaired_members(members, method=method, amount=amount, draws=draws)
            for index in column_indices:
                column = self.columns[index]
                steps = None
                if (
                    amount == 1
                    and isinstance(column, OrderedColumn)
                    and isinstance(members.rows, slice)
                    and members.strata.size >= MIN_ROWS_FOR_STEPS
                ):
                    steps = column.full_steps(method)
                if steps is not None:
                    kernels_for(members.strata.size).write_steps(
                        values[index][members.rows],
                        members.strata,
                        steps,
                        out=out[index][members.rows],
                    )
                    continue
                placed = self.place(values[index], members, column_index=index, draws=draws)
                out[index][placed.rows] = self.written(
                    placed, method=method, amount=amount, draws=draws
                )

        # Columns are separate tasks, unless whole rows are drawn: then all of them wait for that.
        every_column = range(len(self.columns))
        is_together = draws_whole_rows(method, amount)
        tasks = (
            (chunk, column_indices)
            for chunk in member_chunks(strata, chunk_rows, row_counts)
            for column_indices in ([every_column] if is_together else [[i] for i in every_column])
        )
        run_all(repair, tasks, row_count=strata.size, workers=workers)

    def place(
        self,
        values: FloatArray,
        members: Members,
        *,
        column_index: int,
        draws: RowDraws | None,
    ) -> PlacedValues:
        """Return the values of one column with their levels: of all strata at once if few differ.

        Parameters
        ----------
        values : float array
            The column.
        members : Members
            The rows that are placed; those whose value is missing are left out.
        column_index : int
        draws : RowDraws or None
            As in `apply`.
        """
        member_values = values[members.rows]
        is_present = ~np.isnan(member_values)
        present = members.where(is_present)
        if present is not members:
            member_values = member_values[is_present]
        column = self.columns[column_index]
        cell_draws = None
        if isinstance(column, CategoryColumn) or self.ties == "split":
            cell_draws = column_draws(draws, present.rows, index=2 * column_index)
        level = None
        if isinstance(column, OrderedColumn):
            level = column.levels_in_all_strata(member_values, present.strata, draws=cell_draws)
        if level is None:
            level = np.empty(member_values.size, dtype=np.int64)
            for stratum, positions in present.by_stratum:
                level[positions] = column.levels_of(
                    member_values[positions],
                    stratum,
                    draws=None if cell_draws is None else cell_draws.take(positions),
                )
        return PlacedValues(
            column=column_index,
            rows=present.rows,
            strata=present.strata,
            values=member_values,
            level=level,
        )

    def written(
        self, placed: PlacedValues, *, method: Method, amount: float, draws: RowDraws | None
    ) -> FloatArray:
        """Return what repair writes for values that have their levels."""
        column = self.columns[placed.column]
        if isinstance(column, OrderedColumn):
            return column.repaired(
                placed.values, placed.level, strata=placed.strata, method=method, amount=amount
            )
        return column.repaired(
            placed.values,
            placed.level,
            method=method,
            amount=amount,
            draws=column_draws(draws, placed.rows, index=2 * placed.column + 1),
        )


def column_draws(draws: RowDraws | None, rows: IntArray | slice, *, index: int) -> CellDraws | None:
    """Return the draws of rows for a column: each column has two indices."""
    return (
        None if draws is None else CellDraws(rows=draws.take(rows), purpose="column", index=index)
    )


def draws_whole_rows(method: Method, amount: float) -> bool:
    """Return whether only a share of the rows is repaired, and each of them in full."""
    return method == "random" and amount < 1


def repaired_members(
    members: Members, *, method: Method, amount: float, draws: RowDraws | None
) -> Members:
    """Return the members that are repaired: all, unless whole rows are drawn."""
    if not draws_whole_rows(method, amount):
        return members
    assert draws is not None
    uniforms = CellDraws(rows=draws.take(members.rows), purpose="amount").uniforms(
        members.strata.astype(np.int64)
    )
    return members.where(uniforms < amount)


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
    ties: Ties,
    levels: int,
    workers: int | None = None,
) -> Model:
    """Fit each column in its strata.

    Parameters
    ----------
    values : sequence of float array
        The columns to repair, as numbers.
    column_types : sequence of ColumnType
    strata : Strata
    codes : int array
        The stratum of each row; -1 for rows without one.
    ties, levels
        As in `Repairer`.
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
    return Model(columns=columns, ties=ties)


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
    sizes = [present.size for present in ordered]
    return fit_sorted(typed, ordered, sizes=sizes, strata=strata, levels=levels)


def fit_sorted(
    typed: ColumnType,
    ordered: Iterable[FloatArray],
    *,
    sizes: Sequence[int],
    strata: Strata,
    levels: int,
) -> Column:
    """Fit one column from the sorted values of each stratum, none missing or infinite.

    Parameters
    ----------
    typed : ColumnType
    ordered : iterable of float array
        It is gone through once.
    sizes : sequence of int
        How many values each stratum has.
    strata : Strata
    levels : int
        The most levels that the column is cut into.
    """
    check_sizes(typed, sizes, strata)
    if typed.kind == "category":
        counts = [
            np.bincount(present.astype(np.int64), minlength=len(typed.categories))
            for present in ordered
        ]
        return fit_categories(typed.name, typed.categories, counts=counts)

    def exact_values() -> Iterator[FloatArray]:
        for present in ordered:
            if typed.kind == "integer":
                check_exact(typed, max(abs(present[0]), abs(present[-1])))
            yield present
            del present

    assert typed.kind != "date"  # repaired by blocks only
    return fit_ordered(
        typed.name,
        typed.kind,
        categories=typed.categories,
        ordered=exact_values(),
        level_count=min(levels, *sizes),
        max_levels=levels,
    )


def check_sizes(typed: ColumnType, sizes: Sequence[int], strata: Strata) -> None:
    """Raise if a stratum has too few values of a column that are not missing."""
    small = [stratum for stratum, size in enumerate(sizes) if size < MIN_ROWS_PER_STRATUM]
    if small:
        few = ", ".join(f"{strata.labels[code]!r} has {sizes[code]}" for code in small)
        raise ColumnError(
            f"column {typed.name!r}: fewer than {MIN_ROWS_PER_STRATUM} values that are not missing "
            f"in a stratum: {few}; leave the column out, or make coarser strata"
        )


def check_column_kinds(column_types: Sequence[ColumnType]) -> None:
    """Raise if a column cannot be repaired by itself."""
    for column_type in column_types:
        if column_type.kind == "date":
            raise ColumnError(
                f"columns: {column_type.name!r} holds dates, which are repaired by blocks only; "
                "leave it out, or give scope='blocks'"
            )
