"""Reproducible random numbers: a seed gives the same draws, whatever the number of threads.

Each call of `transform` has a random stream of its own. If every call started from the seed again,
every row that arrives alone would get the same draw, and rows repaired one by one would not be
distributed as rows repaired together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.columns.kernels import kernels_for


@dataclass(frozen=True, kw_only=True)
class Draws:
    """The random stream of one call, or of one part of it."""

    seed: int
    key: tuple[int, ...] = ()

    def substream(self, number: int) -> Draws:
        """Return draws that are independent of those of every other number."""
        return Draws(seed=self.seed, key=(*self.key, number))

    def generator(self) -> np.random.Generator:
        """Return a generator at the beginning of the stream."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=self.key))


class Calls:
    """Counts the calls of one fitted repair, and gives each its own random stream.

    Examples
    --------
    >>> calls = Calls(0)
    >>> calls.next().key, calls.next().key
    ((1,), (2,))
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.count = 0

    def next(self) -> Draws:
        """Return the draws of the call that begins now."""
        self.count += 1
        return Draws(seed=self.seed, key=(self.count,))


def fresh_seed(random_state: int | None) -> int:
    """Return `random_state` itself, or a new seed if it is None."""
    if random_state is not None:
        return int(random_state)
    entropy = np.random.SeedSequence().entropy
    return int(entropy) % 2**63 if isinstance(entropy, int) else 0


def even_uniforms(cells: IntArray, random: np.random.Generator) -> FloatArray:
    """Return a uniform draw for each row, spread evenly within each cell.

    In a cell of k rows, each of the k equal parts of [0, 1) gets one row. Which row, and where in
    the part, is random, so the draw of a single row is uniform.

    Parameters
    ----------
    cells : int array
        The cell of each row, numbered from 0.
    random : Generator

    Examples
    --------
    >>> draws = even_uniforms(np.array([7, 7, 7, 7]), np.random.default_rng(0))
    >>> [int(quarter) for quarter in sorted(draws * 4)]
    [0, 1, 2, 3]
    """
    if not cells.size:
        return np.empty(0)
    cell_count = int(cells.max()) + 1
    return even_draws(cells, np.zeros(cell_count), high=np.ones(cell_count), random=random)


def even_draws(
    cells: IntArray, low: NDArray[Any], *, high: NDArray[Any], random: np.random.Generator
) -> FloatArray:
    """Return a draw for each row, between the limits of its cell.

    The draws of a cell are spread evenly between its limits, like those of `even_uniforms`. The
    upper limit is never reached, however a draw is rounded.

    Parameters
    ----------
    cells : int array
        The cell of each row, numbered from 0.
    low, high : array
        The limits of each cell.
    random : Generator
    """
    counts = np.bincount(cells, minlength=low.size)
    starts = np.cumsum(counts) - counts
    # With rows in the order of their cells, row number i gets low + (i + shift) step. The shift
    # holds one uniform draw for each cell: where in its part each row of the cell is.
    shift = random.random(counts.size) - starts
    low = low.astype(np.float64)
    return kernels_for(cells.size).even_draws(
        shuffled_rows(cells.size, random),
        cells,
        counts=counts,
        starts=starts,
        shift=shift,
        step=(high - low) / np.maximum(counts, 1),
        low=low,
        last=np.nextafter(high, low),
    )


def shuffled_rows(row_count: int, random: np.random.Generator) -> IntArray:
    """Return the row numbers in the order of random 16-bit keys, which numpy sorts in two passes.

    Rows with the same key keep their order. That decides for one row in 65,536 whether it comes
    before or after another, which is too rare to move a row by more than its share of a level.
    """
    # PCG64 returns words of 64 bits: each is four keys.
    words = random.bit_generator.random_raw(row_count // 4 + 1)
    return np.argsort(words.view(np.uint16)[:row_count], kind="stable")
