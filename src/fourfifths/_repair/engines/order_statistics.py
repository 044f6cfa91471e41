"""The paper's repair fitted to a table in a cluster, exactly: no value is approximated.

A fit needs the values at a few thousand positions of each column and stratum. Spark brings values
that are close to each other into one piece (`repartitionByRange`), so equal values are in the same
piece and every piece is a stretch of the sorted values. A first pass counts the values of each
piece; then each piece knows the positions of its values, and a second pass takes those that the fit
needs. A column in a stratum is called a cell here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.columns.categories import fit_categories
from fourfifths._repair.columns.model import Column, Model, check_sizes
from fourfifths._repair.columns.ordered import StratumSummary, Ties, summarised_column
from fourfifths._repair.columns.quantiles import (
    Ranks,
    level_middles,
    level_starts,
    midpoint,
)
from fourfifths._tables.engines.spark import collected_in_ranges
from fourfifths._tables.engines.spark_engine import SparkTable, arrow_table, number_columns
from fourfifths._tables.load import Rows
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import ColumnType
from fourfifths.errors import TableError

VALUES_PER_PIECE = 4_000_000
CELL, VALUE, ROWS = "cell", "value", "rows"


@dataclass(frozen=True, kw_only=True)
class CellValues:
    """Returns the values of columns in their strata, and how many rows have each.

    Attributes
    ----------
    strata : Strata
    column_types : tuple of ColumnType
    """

    strata: Strata
    column_types: tuple[ColumnType, ...]

    def __call__(self, rows: Rows) -> Any:
        """Return an Arrow table: each value of a cell once, with its rows."""
        codes = self.strata.codes_of(rows, unseen="keep")
        cells, values, counts = [], [], []
        for column, numbers in enumerate(rows.checked_numbers(self.column_types)):
            is_present = (codes >= 0) & ~np.isnan(numbers)
            cell = column * len(self.strata.groups) + codes[is_present].astype(np.int64)
            # -0.0 becomes 0.0, so that equal values have equal bits.
            distinct = DistinctValues.of(cell, numbers[is_present] + 0.0)
            cells.append(distinct.cells)
            values.append(distinct.values)
            counts.append(distinct.rows)
        return arrow_table(
            {
                CELL: np.concatenate(cells),
                VALUE: np.concatenate(values),
                ROWS: np.concatenate(counts),
            }
        )


@dataclass(frozen=True, kw_only=True)
class DistinctValues:
    """The different values of cells, sorted by cell and value, and how many rows have each."""

    cells: IntArray
    values: FloatArray
    rows: IntArray

    @classmethod
    def of(
        cls, cells: IntArray, values: FloatArray, rows: IntArray | None = None
    ) -> DistinctValues:
        """Return the different values among values that may be repeated.

        Examples
        --------
        >>> values = DistinctValues.of(np.array([1, 0, 1]), np.array([5.0, 7.0, 5.0]))
        >>> values.cells.tolist(), values.values.tolist(), values.rows.tolist()
        ([0, 1], [7.0, 5.0], [1, 2])
        """
        order = np.lexsort((values, cells))
        cells, values = cells[order], values[order]
        is_new = np.append(True, (cells[1:] != cells[:-1]) | (values[1:] != values[:-1]))
        first = np.flatnonzero(is_new[: cells.size])
        counts = np.ones(cells.size, dtype=np.int64) if rows is None else rows[order]
        totals = np.add.reduceat(counts, first) if first.size else counts
        return cls(cells=cells[first], values=values[first], rows=totals)

    @classmethod
    def of_piece(cls, chunks: Iterable[Rows]) -> DistinctValues:
        """Return the different values of a piece that Spark gathered."""
        frames = [rows.dataframe for rows in chunks]
        cells, values, rows = (
            np.concatenate([frame[name].to_numpy() for frame in frames] or [np.empty(0)])
            for name in (CELL, VALUE, ROWS)
        )
        return cls.of(cells.astype(np.int64), values, rows.astype(np.int64))

    def by_cell(self) -> Iterator[tuple[int, FloatArray, IntArray]]:
        """Yield each cell with its values and their rows."""
        cells, first = np.unique(self.cells, return_index=True)
        for cell, start, end in zip(cells, first, [*first[1:], self.cells.size], strict=True):
            yield int(cell), self.values[start:end], self.rows[start:end]


@dataclass(frozen=True, kw_only=True)
class PieceCounts:
    """The number of rows and of different values that a piece has of each cell.

    Attributes
    ----------
    first : (int, float)
        The cell and the value that it begins with. No other piece begins so.
    rows, distinct : dict of int to int
    """

    first: tuple[int, float]
    rows: dict[int, int]
    distinct: dict[int, int]


def count_piece(chunks: Iterator[Rows]) -> PieceCounts | None:
    """Return the counts of a piece; None if it has no values."""
    piece = DistinctValues.of_piece(chunks)
    if not piece.cells.size:
        return None
    return PieceCounts(
        first=(int(piece.cells[0]), float(piece.values[0])),
        rows={cell: int(rows.sum()) for cell, _, rows in piece.by_cell()},
        distinct={cell: values.size for cell, values, _ in piece.by_cell()},
    )


@dataclass(frozen=True, kw_only=True)
class CellPlan:
    """Which values of a cell a fit needs.

    Attributes
    ----------
    rows, distinct : int
        How many there are in the table.
    level_count, max_levels : int
        Of its column; no levels of unordered categories, whose values are all taken.
    """

    rows: int
    distinct: int
    level_count: int
    max_levels: int

    @property
    def starts(self) -> IntArray:
        """The positions at which a level begins, and the last one."""
        return np.append(level_starts(self.rows, self.level_count), self.rows - 1)

    @property
    def kept(self) -> IntArray:
        """The numbers of the different values that are kept."""
        if self.distinct <= self.max_levels or not self.level_count:
            return np.arange(self.distinct)
        return np.linspace(0, self.distinct - 1, self.max_levels).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class ChosenValues:
    """Some values of a cell, each array with the indices among all that are needed.

    Attributes
    ----------
    kept, rows : (int array, array)
        Different values that are kept, and the rows of each.
    starts, below, upto : (int array, array)
        The values at which levels begin, and how many are smaller and not larger.
    lower, upper : (int array, array)
        The middle values of the levels.
    """

    kept: tuple[IntArray, FloatArray]
    rows: tuple[IntArray, IntArray]
    starts: tuple[IntArray, FloatArray]
    below: tuple[IntArray, IntArray]
    upto: tuple[IntArray, IntArray]
    lower: tuple[IntArray, FloatArray]
    upper: tuple[IntArray, FloatArray]


@dataclass(frozen=True, kw_only=True)
class ValueChoice:
    """Takes from a piece the values that a fit needs.

    Attributes
    ----------
    plans : mapping of int to CellPlan
    pieces : mapping of (int, float) to PieceCounts
        By what they begin with.
    before : mapping of (int, float) to mapping of int to (int, int)
        How many rows and different values of each cell are in the pieces before each.
    """

    plans: Mapping[int, CellPlan]
    pieces: Mapping[tuple[int, float], PieceCounts]
    before: Mapping[tuple[int, float], Mapping[int, tuple[int, int]]]

    def __call__(self, chunks: Iterator[Rows]) -> list[tuple[int, ChosenValues]]:
        """Return the chosen values of each cell that the piece has."""
        piece = DistinctValues.of_piece(chunks)
        if not piece.cells.size:
            return []
        first = int(piece.cells[0]), float(piece.values[0])
        counts = self.pieces.get(first)
        is_same = counts is not None and counts.rows == {
            cell: int(rows.sum()) for cell, _, rows in piece.by_cell()
        }
        if not is_same:
            raise TableError(
                "X: its rows changed while they were read; write it to Parquet, or cache() it, and "
                "fit again"
            )
        before = self.before[first]
        return [
            (cell, chosen(self.plans[cell], values, rows, before=before[cell]))
            for cell, values, rows in piece.by_cell()
        ]


def chosen(
    plan: CellPlan, values: FloatArray, rows: IntArray, *, before: tuple[int, int]
) -> ChosenValues:
    """Return what a fit needs of the values of a cell in one piece.

    Parameters
    ----------
    plan : CellPlan
    values : float array
        The different values, sorted.
    rows : int array
        The rows of each.
    before : (int, int)
        How many rows and different values of the cell come before these.
    """
    ends = before[0] + np.cumsum(rows)
    kept = plan.kept
    kept_index = np.flatnonzero((kept >= before[1]) & (kept < before[1] + values.size))
    kept_here = kept[kept_index] - before[1]

    def here(positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return which positions are in this piece, and the number of the value at each."""
        index = np.flatnonzero((positions >= before[0]) & (positions < ends[-1]))
        return index, np.searchsorted(ends, positions[index], side="right")

    nothing = np.empty(0, dtype=np.int64)
    starts = plan.starts if plan.level_count else nothing
    middles = level_middles(plan.rows, plan.level_count) if plan.level_count else (nothing, nothing)
    start_index, at_start = here(starts)
    (lower_index, at_lower), (upper_index, at_upper) = (here(positions) for positions in middles)
    return ChosenValues(
        kept=(kept_index, values[kept_here]),
        rows=(kept_index, rows[kept_here]),
        starts=(start_index, values[at_start]),
        below=(start_index, (ends - rows)[at_start]),
        upto=(start_index, ends[at_start]),
        lower=(lower_index, values[at_lower]),
        upper=(upper_index, values[at_upper]),
    )


def joined(pieces: Sequence[ChosenValues], name: str, length: int) -> Any:
    """Return an array of all pieces together."""
    first_values: Any = getattr(pieces[0], name)[1]
    array = np.empty(length, dtype=first_values.dtype)
    for piece in pieces:
        index, values = getattr(piece, name)
        array[index] = values
    return array


def summary_of_pieces(plan: CellPlan, pieces: Sequence[ChosenValues]) -> StratumSummary:
    """Return the summary that `fit_ordered` would make of all sorted values of a cell."""
    count = plan.starts.size
    candidates = joined(pieces, "starts", count)
    runs = np.append(0, np.flatnonzero(candidates[1:] != candidates[:-1]) + 1)
    return StratumSummary(
        distinct=joined(pieces, "kept", plan.kept.size),
        representatives=midpoint(
            joined(pieces, "lower", plan.level_count), joined(pieces, "upper", plan.level_count)
        ),
        ranks=Ranks(
            knots=candidates[runs],
            below=joined(pieces, "below", count)[runs],
            upto=joined(pieces, "upto", count)[runs],
            size=plan.rows,
            levels=plan.level_count,
        ),
    )


def fit_columns_in_cluster(
    source: SparkTable,
    column_types: tuple[ColumnType, ...],
    *,
    strata: Strata,
    ties: Ties,
    levels: int,
    row_count: int,
) -> Model:
    """Fit each column in its strata: the model that a fit in memory gives, to the bit.

    Parameters
    ----------
    source : SparkTable
    column_types : tuple of ColumnType
        The columns to repair.
    strata : Strata
    ties, levels
        As in `Repairer`.
    row_count : int
        Of the table.
    """
    names = (*strata.columns, *(column.name for column in column_types))
    values = source.select(names).mapped(
        CellValues(strata=strata, column_types=column_types),
        number_columns({CELL: "whole", VALUE: "float", ROWS: "whole"}),
    )
    piece_count = row_count * len(column_types) // VALUES_PER_PIECE + 1
    with collected_in_ranges(values, [CELL, VALUE], piece_count) as ordered:
        pieces_table = SparkTable(frame=ordered)
        found_pieces = [piece for piece in pieces_table.folded(count_piece) if piece is not None]
        pieces = sorted(found_pieces, key=lambda piece: piece.first)
        plans = plan_cells(pieces, column_types, strata=strata, levels=levels)
        chosen_pieces: dict[int, list[ChosenValues]] = {cell: [] for cell in plans}
        choice = ValueChoice(
            plans=plans,
            pieces={piece.first: piece for piece in pieces},
            before=counts_before(pieces),
        )
        for chosen_values in pieces_table.folded(choice):
            for cell, cell_values in chosen_values:
                chosen_pieces[cell].append(cell_values)
    columns = []
    for index, column_type in enumerate(column_types):
        cells = range(index * len(strata.groups), (index + 1) * len(strata.groups))
        columns.append(column_of(column_type, plans, chosen_pieces, cells=cells, max_levels=levels))
    return Model(columns=tuple(columns), ties=ties)


def plan_cells(
    pieces: Sequence[PieceCounts],
    column_types: Sequence[ColumnType],
    *,
    strata: Strata,
    levels: int,
) -> dict[int, CellPlan]:
    """Return what is needed of each cell; a cell with too few values is an error."""
    stratum_count = len(strata.groups)
    plans = {}
    for index, column_type in enumerate(column_types):
        cells = range(index * stratum_count, (index + 1) * stratum_count)
        sizes = [sum(piece.rows.get(cell, 0) for piece in pieces) for cell in cells]
        check_sizes(column_type, sizes, strata)
        level_count = 0 if column_type.kind == "category" else min(levels, *sizes)
        for cell, size in zip(cells, sizes, strict=True):
            plans[cell] = CellPlan(
                rows=size,
                distinct=sum(piece.distinct.get(cell, 0) for piece in pieces),
                level_count=level_count,
                max_levels=levels,
            )
    return plans


def counts_before(
    pieces: Sequence[PieceCounts],
) -> dict[tuple[int, float], dict[int, tuple[int, int]]]:
    """Return the rows and different values of each cell before each piece, in their order."""
    totals: dict[int, tuple[int, int]] = {}
    before = {}
    for piece in pieces:
        before[piece.first] = {cell: totals.get(cell, (0, 0)) for cell in piece.rows}
        for cell, (rows, distinct) in before[piece.first].items():
            totals[cell] = rows + piece.rows[cell], distinct + piece.distinct[cell]
    return before


def column_of(
    column_type: ColumnType,
    plans: Mapping[int, CellPlan],
    pieces: Mapping[int, Sequence[ChosenValues]],
    *,
    cells: Iterable[int],
    max_levels: int,
) -> Column:
    """Return a fitted column from the chosen values of its cells, one for each stratum."""
    if column_type.kind == "category":
        counts = []
        for cell in cells:
            rows = np.zeros(len(column_type.categories), dtype=np.int64)
            categories = joined(pieces[cell], "kept", plans[cell].distinct).astype(np.int64)
            rows[categories] = joined(pieces[cell], "rows", plans[cell].distinct)
            counts.append(rows)
        return fit_categories(column_type.name, column_type.categories, counts=counts)
    assert column_type.kind != "date"  # repaired by blocks only
    return summarised_column(
        column_type.name,
        column_type.kind,
        categories=column_type.categories,
        summaries=[summary_of_pieces(plans[cell], pieces[cell]) for cell in cells],
        max_levels=max_levels,
    )
