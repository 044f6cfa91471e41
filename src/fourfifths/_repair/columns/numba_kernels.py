"""The loops of `kernels`, compiled by numba when first called.

This module is only imported where values are many and numba is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.columns.kernels import Kernels, LookupTable, PositionsOf, Steps

CountArray = NDArray[np.int32]
BitArray = NDArray[np.uint64]
# numba turns a sum of a signed and an unsigned number into a float, so all of these are unsigned.
ZERO, ONE, TWO, BYTE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(255)
SIGN_BIT = np.uint64(1 << 63)
VALUES_PER_CHUNK = 4_096
HALF_BYTES = 4
MAX_MOVES_PER_KEY = 2  # with more, sorting by four further bytes takes less time
INFINITY_BITS = np.uint64(0x7FF << 53)  # without the sign, moved up by one; NaNs are above


def compile_loop(
    loop: Callable[..., Any], *, compiler: Callable[..., Any] = njit
) -> Callable[..., Any]:
    """Compile without holding Python's lock, and keep the result on disk where that is possible."""
    compiled: Callable[..., Any]
    try:
        compiled = compiler(nogil=True, cache=True)(loop)
    except RuntimeError:  # no folder for the cache can be written to
        compiled = compiler(nogil=True)(loop)
    return compiled


class NumbaKernels(Kernels):
    """The loops over values, compiled."""

    def knots_up_to(self, values: FloatArray, table: LookupTable) -> IntArray:
        """Return how many knots are not larger than each value; no value may be NaN."""
        knot_counts = np.empty(values.size, dtype=np.int64)
        knots_up_to_loop(values, *table, knot_counts)
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
        """Return the level of each value; see `Kernels.levels`."""
        level, tied, knot = (np.empty(values.size, dtype=np.int64) for _ in range(3))
        tied_count = levels_loop(values, *table, level_after, is_shared, level, tied, knot)
        if tied_count:
            tied = tied[:tied_count]
            positions = positions_of(tied, knot[:tied_count])
            write_levels_loop(positions, tied, level_count, size, level)
        return level

    def write_steps(
        self, values: FloatArray, strata: CodeArray, steps: Steps, *, out: FloatArray
    ) -> None:
        """Write the height of the step that each value is on; see `Kernels.write_steps`."""
        write_steps_loop(values, strata, *steps.joined, out)

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
        """Return evenly spread positions for the rows of each cell; see `Kernels`."""
        positions = np.empty(cells.size)
        row_number, first_draw = np.zeros_like(counts), np.empty(counts.size)
        even_positions_loop(
            order, cells, uniforms, row_number, first_draw, step, low, last, positions
        )
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
        """Put the values of some strata behind those that were put there before; see `Kernels`."""
        first_filled = filled.copy()
        for column, gathered, missing_in_strata in zip(columns, out, missing, strict=True):
            filled[:] = first_filled
            gather_loop(
                column, codes, strata.start, strata.stop, filled, gathered, missing_in_strata
            )

    def sort(self, values: FloatArray) -> None:
        """Sort in place, NaN last; no value may be -0.0."""
        radix_sort(values.view(np.uint64), np.empty(values.size, dtype=np.uint64))


@compile_loop
def search_knots(
    values: FloatArray,
    knots: FloatArray,
    knots_before: CountArray,
    low: float,
    scale: float,
    halvings: int,
    counts: IntArray,
) -> None:
    """Write how many knots are not larger than each value."""
    # No branch depends on a value: a wrong guess of the processor takes longer than a comparison.
    # Each halving is a loop over all values, because the compiler makes a branch of a step whose
    # size changes within the loop. A shifted truth value stays free of branches.
    # The last two halvings are always made, since most tables need no more. Unsigned indices save
    # numba's check for negative ones, which count from the end.
    last_cell = np.float64(knots_before.size - 1)
    for row in range(values.size):
        cell = (values[row] - low) * scale
        cell = cell if cell > 0.0 else 0.0
        cell = cell if cell < last_cell else last_cell
        counts[row] = knots_before[np.uint64(cell)]
    for halving in range(halvings - 1, 1, -1):
        shift = np.uint64(halving)
        step_less_one = (ONE << shift) - ONE
        for row in range(values.size):
            count = np.uint64(counts[row])
            counts[row] = count + (np.uint64(knots[count + step_less_one] <= values[row]) << shift)
    for row in range(values.size):
        count = np.uint64(counts[row])
        count += TWO if knots[count + ONE] <= values[row] else ZERO
        counts[row] = count + (ONE if knots[count] <= values[row] else ZERO)


@compile_loop
def knots_up_to_loop(
    values: FloatArray,
    knots: FloatArray,
    knots_before: CountArray,
    low: float,
    scale: float,
    halvings: int,
    knot_counts: IntArray,
) -> None:
    """Write how many knots are not larger than each value."""
    # A chunk stays in the processor's cache from one halving to the next.
    for start in range(0, values.size, VALUES_PER_CHUNK):
        end = min(start + VALUES_PER_CHUNK, values.size)
        chunk, counts = values[start:end], knot_counts[start:end]
        search_knots(chunk, knots, knots_before, low, scale, halvings, counts)


@compile_loop
def levels_loop(
    values: FloatArray,
    knots: FloatArray,
    knots_before: CountArray,
    low: float,
    scale: float,
    halvings: int,
    level_after: IntArray,
    is_shared: BoolArray,
    level: IntArray,
    tied: IntArray,
    knot: IntArray,
) -> int:
    """Write the levels, the tied rows and the knots that these equal; return how many are tied."""
    knots_up_to_loop(values, knots, knots_before, low, scale, halvings, level)
    tied_count = 0
    for row in range(values.size):
        count = np.uint64(level[row])
        level[row] = level_after[count]
        if is_shared[count] and values[row] == knots[count - ONE]:
            tied[tied_count] = row
            knot[tied_count] = count - ONE
            tied_count += 1
    return tied_count


@compile_loop
def write_levels_loop(
    positions: FloatArray, rows: IntArray, level_count: int, size: int, level: IntArray
) -> None:
    """Write floor(r m / n) for the tied rows; see `kernels.levels_at`."""
    for index in range(rows.size):
        level[np.uint64(rows[index])] = int(np.floor(positions[index]) * level_count / size)


@compile_loop
def write_steps_loop(
    values: FloatArray,
    strata: CodeArray,
    knots: FloatArray,
    heights: FloatArray,
    knots_before: CountArray,
    first_knot: IntArray,
    first_cell: IntArray,
    last_cell: FloatArray,
    low: FloatArray,
    scale: FloatArray,
    halvings: int,
    out: FloatArray,
) -> None:
    """Write the height of the step that each value is on, in its own stratum."""
    # As in `search_knots`, with the knots of all strata in one array.
    positions = np.empty(VALUES_PER_CHUNK, dtype=np.int64)
    for start in range(0, values.size, VALUES_PER_CHUNK):
        end = min(start + VALUES_PER_CHUNK, values.size)
        chunk = values[start:end]
        for row in range(chunk.size):
            # Rows without a stratum are looked up in the first one, and not written.
            stratum = np.uint64(max(strata[start + row], 0))
            cell = (chunk[row] - low[stratum]) * scale[stratum]
            cell = cell if cell > 0.0 else 0.0
            cell = cell if cell < last_cell[stratum] else last_cell[stratum]
            first = np.uint64(first_cell[stratum])
            positions[row] = first_knot[stratum] + knots_before[first + np.uint64(cell)]
        for halving in range(max(halvings, 2) - 1, -1, -1):
            shift = np.uint64(halving)
            step_less_one = (ONE << shift) - ONE
            for row in range(chunk.size):
                position = np.uint64(positions[row])
                is_further = np.uint64(knots[position + step_less_one] <= chunk[row])
                positions[row] = position + (is_further << shift)
        for row in range(chunk.size):
            if chunk[row] == chunk[row] and strata[start + row] >= 0:
                out[start + row] = heights[np.uint64(positions[row])]


@compile_loop
def even_positions_loop(
    order: IntArray,
    cells: IntArray,
    uniforms: FloatArray,
    row_number: IntArray,
    first_draw: FloatArray,
    step: FloatArray,
    low: FloatArray,
    last: FloatArray,
    positions: FloatArray,
) -> None:
    """Write the positions; `row_number` counts each cell's rows, `first_draw` is overwritten."""
    for index in range(order.size):
        row = np.uint64(order[index])
        cell = np.uint64(cells[row])
        if row_number[cell] == 0:
            first_draw[cell] = uniforms[row]
        position = (row_number[cell] + first_draw[cell]) * step[cell] + low[cell]
        positions[row] = min(position, last[cell])
        row_number[cell] += 1


@compile_loop
def gather_loop(
    values: FloatArray,
    codes: CodeArray,
    first_stratum: int,
    end_stratum: int,
    filled: IntArray,
    out: FloatArray,
    missing: IntArray,
) -> None:
    """Write the values of strata where they go, and count the missing ones of every stratum."""
    for row in range(values.size):
        stratum = np.int64(codes[row])
        value = values[row]
        if value != value and stratum >= 0:
            missing[stratum] += 1
        if first_stratum <= stratum < end_stratum:
            index = np.uint64(stratum - first_stratum)
            out[np.uint64(filled[index])] = value
            filled[index] += 1


@compile_loop
def sort_by_bytes(
    source: BitArray, target: BitArray, counts: IntArray, first_byte: int
) -> tuple[BitArray, BitArray]:
    """Sort keys by some bytes, from the lowest to the highest; keys with equal bytes keep order.

    `counts` has how many keys have each value of each byte. Returns the array with the sorted keys,
    and the other one. A byte that all keys share takes no time.
    """
    if source.size == 0:
        return source, target
    ends = np.empty(256, dtype=np.int64)
    for byte in range(counts.shape[0]):
        shift = np.uint64(8 * (first_byte + byte))
        if counts[byte, (source[0] >> shift) & BYTE] == source.size:
            continue
        start = 0
        for value in range(256):
            ends[value] = start
            start += counts[byte, value]
        for index in range(source.size):
            key = source[index]
            value = (key >> shift) & BYTE
            target[ends[value]] = key
            ends[value] += 1
        source, target = target, source
    return source, target


@compile_loop
def insertion_sort(keys: BitArray) -> bool:
    """Move keys that are out of order; return False, with some still so, if there are too many."""
    remaining_moves = MAX_MOVES_PER_KEY * keys.size
    for index in range(1, keys.size):
        key, target = keys[index], index
        while target > 0 and keys[target - 1] > key:
            keys[target] = keys[target - 1]
            target -= 1
        keys[target] = key
        remaining_moves -= index - target
        if remaining_moves < 0:
            return False
    return True


@compile_loop
def radix_sort(keys: BitArray, spare: BitArray) -> None:
    """Sort floats, passed as their bits, by one byte after the other (a radix sort).

    The bits are turned into unsigned numbers that have the same order, and back. The high half of
    the bits tells most values apart, so keys are sorted by it, and the few that are then out of
    order are moved. If there are many, keys are sorted by all their bytes.
    """
    high_counts = np.zeros((HALF_BYTES, 256), dtype=np.int64)
    for index in range(keys.size):
        key = keys[index]
        if key << ONE > INFINITY_BITS:
            key = ~ZERO  # NaNs go last
        else:
            # A negative float is larger the smaller its bits are, so all its bits are flipped.
            key = (ZERO if key == SIGN_BIT else key) ^ (~ZERO if key > SIGN_BIT else SIGN_BIT)
        keys[index] = key
        for byte in range(HALF_BYTES):
            high_counts[byte, (key >> np.uint64(8 * (HALF_BYTES + byte))) & BYTE] += 1
    source, target = sort_by_bytes(keys, spare, high_counts, HALF_BYTES)
    if not insertion_sort(source):
        low_counts = np.zeros_like(high_counts)
        for index in range(keys.size):
            for byte in range(HALF_BYTES):
                low_counts[byte, (source[index] >> np.uint64(8 * byte)) & BYTE] += 1
        source, target = sort_by_bytes(source, target, low_counts, 0)
        source, target = sort_by_bytes(source, target, high_counts, HALF_BYTES)
    for index in range(keys.size):
        key = source[index]
        keys[index] = key ^ (SIGN_BIT if key >= SIGN_BIT else ~ZERO)
