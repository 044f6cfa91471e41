"""What `compiled` hands out: loops over values, compiled by numba when first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fourfifths.counts import BoolArray, FloatArray, IntArray

FirstArray = NDArray[np.int32]
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


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
    low: NDArray[Any],
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
    """See `quantiles.Ranks.at_levels`."""
    for place in range(rows.size):
        level[np.uint64(rows[place])] = int(np.floor(stand[place]) * levels / size)
