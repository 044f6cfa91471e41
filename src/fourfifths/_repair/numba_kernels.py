"""What `compiled` hands out: loops over values, compiled by numba when first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, FloatArray, IntArray

FirstArray = NDArray[np.int32]
WordArray = NDArray[np.uint64]
NONE, ONE, TWO, BYTE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(255)
SIGN = np.uint64(1 << 63)
NANS = np.uint64(0x7FF << 53)  # the bits of infinity without its sign, moved up by one


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without holding Python's lock, and keep the result on disk where that can be."""
    compiled: Callable[..., Any]
    try:
        compiled = njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # there is nowhere to keep it
        compiled = njit(nogil=True)(loop)
    return compiled


@_compiled
def _place(
    value: float, knots: FloatArray, first: FirstArray, low: float, scale: float, top: Any
) -> Any:
    # No branch depends on the value: a wrong guess takes longer than a comparison. The last two
    # halvings are always made, since most tables need no more. Numbers without a sign spare a
    # check for places that are counted from the end.
    last = np.float64(first.size - 1)
    at = (value - low) * scale
    at = at if at > 0.0 else 0.0
    at = at if at < last else last
    place = np.uint64(first[np.uint64(at)])
    step = top
    while step > TWO:
        place += step if knots[place + step - ONE] <= value else NONE
        step >>= ONE
    place += TWO if knots[place + ONE] <= value else NONE
    place += ONE if knots[place] <= value else NONE
    return place


@_compiled
def places(
    values: FloatArray,
    knots: FloatArray,
    first: FirstArray,
    low: float,
    scale: float,
    halvings: int,
    found: IntArray,
) -> None:
    """See `lookup.Grid.places`."""
    top = ONE << np.uint64(halvings) >> ONE
    for row in range(values.size):
        found[row] = _place(values[row], knots, first, low, scale, top)


@_compiled
def levels(
    values: FloatArray,
    knots: FloatArray,
    first: FirstArray,
    low: float,
    scale: float,
    halvings: int,
    level_after: IntArray,
    is_split: BoolArray,
    level: IntArray,
    tied: IntArray,
    knot: IntArray,
) -> int:
    """See `quantiles.Ranks.at_levels`; return how many rows are tied."""
    top = ONE << np.uint64(halvings) >> ONE
    many = 0
    for row in range(values.size):
        place = _place(values[row], knots, first, low, scale, top)
        level[row] = level_after[place]
        if is_split[place] and values[row] == knots[place - ONE]:
            tied[many] = row
            knot[many] = place - ONE
            many += 1
    return many


@_compiled
def deal(
    shuffled: IntArray,
    cells: IntArray,
    starts: IntArray,
    shift: FloatArray,
    rate: FloatArray,
    low: FloatArray,
    last: FloatArray,
    draws: FloatArray,
) -> None:
    """See `draws.deal`; what is in `starts` is written over."""
    for place in range(shuffled.size):
        row = np.uint64(shuffled[place])
        cell = np.uint64(cells[row])
        draw = (starts[cell] + shift[cell]) * rate[cell] + low[cell]
        draws[row] = min(draw, last[cell])
        starts[cell] += 1


@_compiled
def levels_at(stand: FloatArray, rows: IntArray, levels: int, size: int, level: IntArray) -> None:
    """See `quantiles.level_of`."""
    for place in range(rows.size):
        level[np.uint64(rows[place])] = int(np.floor(stand[place]) * levels / size)


@_compiled
def sort(keys: WordArray, spare: WordArray) -> None:
    """See `ordering.in_order`: sort floats, given as their bits, by one byte after the other.

    Bits are turned into numbers without a sign that are in the same order, and back. A byte that
    all share takes no time.
    """
    counts = np.zeros((8, 256), dtype=np.int64)
    for place in range(keys.size):
        key = keys[place]
        if key << ONE > NANS:
            key = ~NONE  # missing values are last
        else:
            key = (NONE if key == SIGN else key) ^ (~NONE if key > SIGN else SIGN)
        keys[place] = key
        for byte in range(8):
            counts[byte, (key >> np.uint64(8 * byte)) & BYTE] += 1
    here, there = keys, spare
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if counts[byte, (keys[0] >> shift) & BYTE] == keys.size:
            continue
        place = 0
        for value in range(256):
            many = counts[byte, value]
            counts[byte, value] = place
            place += many
        for place in range(keys.size):
            key = here[place]
            value = (key >> shift) & BYTE
            there[counts[byte, value]] = key
            counts[byte, value] += 1
        here, there = there, here
    for place in range(keys.size):
        key = here[place]
        keys[place] = key ^ (SIGN if key >= SIGN else ~NONE)
