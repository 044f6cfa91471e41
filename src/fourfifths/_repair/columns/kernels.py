"""The innermost loops of a repair, in numpy; `numba_kernels` has the same ones compiled.

`Kernels` is the interface and does everything with numpy. `NumbaKernels` overrides each method with
a compiled loop that does the same arithmetic in the same order, so both return the same numbers to
the last bit. Callers ask `kernel_choice.kernels_for` and never need to know which they got.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray

# A chunk and its intermediate arrays stay in the processor's cache.
VALUES_PER_LOOKUP_CHUNK = 16_384

PositionsOf = Callable[[IntArray | slice, IntArray], FloatArray]


class LookupTable(NamedTuple):
    """Sorted knots with a grid of equal cells over them (see `quantiles.make_grid`).

    Attributes
    ----------
    knots : float array
        Increasing, then infinities as padding, so that the search never reads past the end.
    knots_before : int32 array
        For each cell, the number of knots in the cells before it.
    low, scale : float
        A value v is in cell (v - low) scale.
    halvings : int
        The number of bits of the largest number of knots in a cell.
    """

    knots: FloatArray
    knots_before: NDArray[np.int32]
    low: float
    scale: float
    halvings: int


@dataclass(frozen=True, kw_only=True)
class Steps:
    """For each stratum a step function of the value: what is written between two knots.

    Attributes
    ----------
    tables : sequence of LookupTable
        The knots of each stratum.
    heights : sequence of float array
        For each stratum, what is written before the first knot, then between each knot and the
        next.
    """

    tables: Sequence[LookupTable]
    heights: Sequence[FloatArray]

    @cached_property
    def joined(self) -> JoinedSteps:
        """All strata in one table, for loops that go from row to row."""
        halvings = max(table.halvings for table in self.tables)
        knots, heights = [], []
        for table, stratum_heights in zip(self.tables, self.heights, strict=True):
            # As much padding as the most halvings need, so that no search reaches the next stratum.
            own_knots = table.knots[: stratum_heights.size - 1]
            size = own_knots.size + (1 << max(halvings, 2))
            knots.append(np.append(own_knots, np.full(size - own_knots.size, np.inf)))
            heights.append(np.append(stratum_heights, np.zeros(size - stratum_heights.size)))
        cells = [table.knots_before for table in self.tables]
        return JoinedSteps(
            knots=np.concatenate(knots),
            heights=np.concatenate(heights),
            knots_before=np.concatenate(cells),
            first_knot=np.cumsum([0, *(part.size for part in knots)])[:-1],
            first_cell=np.cumsum([0, *(part.size for part in cells)])[:-1],
            last_cell=np.array([part.size - 1.0 for part in cells]),
            low=np.array([table.low for table in self.tables]),
            scale=np.array([table.scale for table in self.tables]),
            halvings=halvings,
        )


class JoinedSteps(NamedTuple):
    """The step functions of all strata, one behind the other.

    Attributes
    ----------
    knots, heights : float array
        A height stands where its knots end: after the k-th knot of a stratum is the height at
        `first_knot` + k.
    knots_before : int32 array
        As in `LookupTable`.
    first_knot, first_cell : int array
        Where each stratum begins in `knots` and in `knots_before`.
    last_cell, low, scale : float array
        Of each stratum.
    halvings : int
        The most of any stratum.
    """

    knots: FloatArray
    heights: FloatArray
    knots_before: NDArray[np.int32]
    first_knot: IntArray
    first_cell: IntArray
    last_cell: FloatArray
    low: FloatArray
    scale: FloatArray
    halvings: int


class Kernels:
    """The loops over values, in numpy."""

    def knots_up_to(self, values: FloatArray, table: LookupTable) -> IntArray:
        """Return how many knots are not larger than each value; no value may be NaN."""
        knot_counts = np.empty(values.size, dtype=np.int64)
        for start in range(0, values.size, VALUES_PER_LOOKUP_CHUNK):
            chunk = values[start : start + VALUES_PER_LOOKUP_CHUNK]
            count = table.knots_before.take(cells_of(chunk, table)).astype(np.int64)
            for halving in reversed(range(table.halvings)):
                step = 1 << halving
                is_further = table.knots.take(count + (step - 1)) <= chunk
                count += is_further if step == 1 else is_further * step
            knot_counts[start : start + VALUES_PER_LOOKUP_CHUNK] = count
        return knot_counts

    def levels(
        self,
        values: FloatArray,
        table: LookupTable,
        *,
        level_after: IntArray,
        is_shared: BoolArray,
        positions_of: PositionsOf,
        level_count: int,
        size: int,
    ) -> IntArray:
        """Return the level of each value among the `size` values that the knots were taken from.

        Parameters
        ----------
        values : float array
        table : LookupTable
        level_after : int array
            The level of values before the first knot, then between each knot and the next.
        is_shared : bool array
            False, then for each knot whether several levels share it.
        positions_of : callable
            Takes where the tied values are among the values, and the knots that they equal;
            returns a position for each.
        level_count, size : int
        """
        knot_count = self.knots_up_to(values, table)
        level = level_after.take(knot_count)
        if not is_shared.any():
            return level
        is_tied = is_shared.take(knot_count)
        # Before the first knot this looks at the padding, but `is_shared` is False there.
        knot = np.subtract(knot_count, 1, out=knot_count)
        is_tied &= values == table.knots.take(knot)
        # Where all values are tied, a slice saves the search for them and the copies.
        tied = slice(None) if is_tied.all() else np.flatnonzero(is_tied)
        if is_tied.any():
            level[tied] = levels_at(positions_of(tied, knot[tied]), level_count, size)
        return level

    def write_steps(
        self, values: FloatArray, strata: CodeArray, steps: Steps, *, out: FloatArray
    ) -> None:
        """Write the height of the step that each value is on.

        Missing values, and rows of stratum -1, stay as they are in `out`.
        """
        rows = np.flatnonzero((strata >= 0) & ~np.isnan(values))
        rows = rows.take(np.argsort(strata.take(rows), kind="stable"))
        bounds = np.searchsorted(strata.take(rows), np.arange(len(steps.tables) + 1))
        for stratum, (start, end) in enumerate(pairwise(bounds)):
            stratum_rows = rows[start:end]
            knot_count = self.knots_up_to(values.take(stratum_rows), steps.tables[stratum])
            out[stratum_rows] = steps.heights[stratum].take(knot_count)

    def even_positions(
        self,
        order: IntArray,
        cells: IntArray,
        *,
        uniforms: FloatArray,
        counts: IntArray,
        step: FloatArray,
        low: FloatArray,
        last: FloatArray,
    ) -> FloatArray:
        """Return low + (i + u) step for the i-th row of each cell, at most `last`.

        Here u is the draw of the cell's first row.

        Parameters
        ----------
        order : int array
            The rows in the order in which each cell counts them.
        cells : int array
            The cell of each row.
        uniforms : float array
            The draw of each row.
        counts : int array
            The number of rows of each cell.
        step, low, last : float array
            For each cell, as in the formula.
        """
        # numpy sorts numbers of 8 or 16 bits stably in one or two passes.
        short_cells = cells.astype(np.min_scalar_type(counts.size))
        rows = order.take(np.argsort(short_cells.take(order), kind="stable"))
        starts = np.cumsum(counts) - counts
        ordered = np.arange(cells.size, dtype=np.float64)
        ordered -= np.repeat(starts, counts)
        # Any row is taken for the first of an empty cell: it is repeated no times.
        first = rows.take(starts, mode="clip") if rows.size else starts
        ordered += np.repeat(uniforms.take(first), counts)
        ordered *= np.repeat(step, counts)
        ordered += np.repeat(low, counts)
        positions = np.empty(cells.size)
        positions[rows] = np.minimum(ordered, np.repeat(last, counts), out=ordered)
        return positions

    def gather(
        self,
        columns: Sequence[FloatArray],
        codes: CodeArray,
        strata: range,
        *,
        filled: IntArray,
        out: Sequence[FloatArray],
        missing: IntArray,
    ) -> None:
        """Put the values of some strata behind those that were put there before.

        Parameters
        ----------
        columns : sequence of float array
        codes : int array
            The stratum of each row; -1 for rows without one.
        strata : range
            The strata whose values are taken.
        filled : int array
            For each of these, where its next value goes; it is moved on.
        out : sequence of float array
            Where the values of each column go.
        missing : int array, columns by all strata
            The number of missing values is added to it.
        """
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes.take(order), np.arange(strata.start, strata.stop + 1))
        for index, _ in enumerate(strata):
            rows = order[bounds[index] : bounds[index + 1]]
            span = slice(filled[index], filled[index] + rows.size)
            for gathered, column in zip(out, columns, strict=True):
                np.take(column, rows, out=gathered[span], mode="clip")
            filled[index] = span.stop
        for missing_in_strata, column in zip(missing, columns, strict=True):
            is_missing = np.isnan(column)
            if is_missing.any():
                counts = np.bincount(codes[is_missing] + 1, minlength=missing.shape[1] + 1)
                np.add(missing_in_strata, counts[1:], out=missing_in_strata)

    def sort(self, values: FloatArray) -> None:
        """Sort in place, NaN last; no value may be -0.0."""
        values.sort()


def cells_of(values: FloatArray, table: LookupTable) -> IntArray:
    """Return the cell of the grid that each value is in; values outside are in an end cell."""
    # Knots and values go through the same arithmetic, so rounding cannot change their order.
    if table.scale == 0:
        return np.zeros(values.size, dtype=np.int64)
    with np.errstate(over="ignore"):
        cell = values - table.low
        cell *= table.scale
    np.clip(cell, 0, table.knots_before.size - 1, out=cell)
    return cell.astype(np.int64)


def levels_at(positions: FloatArray, level_count: int, size: int | IntArray) -> IntArray:
    """Return the level floor(r m / n) of position r = floor(p), of m levels and n values.

    `positions` is overwritten.

    Examples
    --------
    >>> levels_at(np.array([0.2, 1.9, 2.0, 3.5]), 2, 4)
    array([0, 0, 1, 1])
    """
    # Both factors are whole and their product is below 2**53, so a quotient that is not whole is
    # never rounded up to the next level.
    np.floor(positions, out=positions)
    positions *= level_count
    positions /= size
    return positions.astype(np.int64)
