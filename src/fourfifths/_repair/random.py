"""Reproducible chance: the same seed gives the same draws, on any number of threads.

Each call of `transform` has draws of its own. One seed used again for every call would give every
row that comes alone the same draw, and rows one by one would not be distributed as rows together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.kernels import loops


@dataclass(frozen=True, kw_only=True)
class Draws:
    """The chance that belongs to one call, or to one part of it."""

    seed: int
    key: tuple[int, ...] = ()

    def part(self, number: int) -> Draws:
        """Return draws that are independent of all other parts."""
        return Draws(seed=self.seed, key=(*self.key, number))

    def generator(self) -> np.random.Generator:
        """Return the source of these draws, from its beginning."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=self.key))


class Calls:
    """Counts the calls of one fitted repair, and gives each its own draws.

    Examples
    --------
    >>> calls = Calls(0)
    >>> calls.next().key, calls.next().key
    ((1,), (2,))
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.made = 0

    def next(self) -> Draws:
        """Return the draws of the call that begins now."""
        self.made += 1
        return Draws(seed=self.seed, key=(self.made,))


def fresh_seed(random_state: int | None) -> int:
    """Return the seed itself, or a new one where none is given."""
    if random_state is not None:
        return int(random_state)
    entropy = np.random.SeedSequence().entropy
    return int(entropy) % 2**63 if isinstance(entropy, int) else 0


def spread(cells: IntArray, random: np.random.Generator) -> FloatArray:
    """Return a uniform draw for each row, spread evenly within each cell; cells count from 0.

    In a cell of k rows, each of k equal parts of [0, 1) has one row; which, and where in its part,
    is chance. Each row's draw alone is uniform.

    Examples
    --------
    >>> draws = spread(np.array([7, 7, 7, 7]), np.random.default_rng(0))
    >>> [int(part) for part in sorted(draws * 4)]
    [0, 1, 2, 3]
    """
    if not cells.size:
        return np.empty(0)
    number = int(cells.max()) + 1
    return deal(cells, np.zeros(number), np.ones(number), random)


def deal(
    cells: IntArray, low: NDArray[Any], high: NDArray[Any], random: np.random.Generator
) -> FloatArray:
    """Return a draw for each row, between the limits of its cell.

    The draws of a cell are spread evenly between its limits, as those of `spread` are; the upper
    limit is never reached, however a draw is rounded.
    """
    counts = np.bincount(cells, minlength=low.size)
    starts = np.cumsum(counts) - counts
    # low + (place in the cell + the cell's shift) rate, for rows in the order of their cells.
    shift = random.random(counts.size) - starts
    low = low.astype(np.float64)
    rate = (high - low) / np.maximum(counts, 1)
    last = np.nextafter(high, low)
    rows = _shuffled(cells.size, random)
    draws = np.empty(cells.size)
    compiled = loops(cells.size)
    if compiled is not None:
        compiled.deal(rows, cells, starts, shift, rate, low, last, draws)
        return draws
    # Numbers of 8 or 16 bits are sorted stably in one pass or two.
    short = cells.astype(np.min_scalar_type(counts.size))
    rows = rows.take(np.argsort(short.take(rows), kind="stable"))
    ordered = np.arange(cells.size, dtype=np.float64)
    ordered += np.repeat(shift, counts)
    ordered *= np.repeat(rate, counts)
    ordered += np.repeat(low, counts)
    draws[rows] = np.minimum(ordered, np.repeat(last, counts), out=ordered)
    return draws


def _shuffled(size: int, random: np.random.Generator) -> IntArray:
    """Return the rows in the order of random keys of 16 bits, which are sorted in two passes.

    Rows with the same key stay in order: one in 65,536 is before or after a row for that reason
    and not by chance, too few to move a row by more than its share of a level.
    """
    # Each of PCG64's words is four keys.
    words = random.bit_generator.random_raw(size // 4 + 1)
    return np.argsort(words.view(np.uint16)[:size], kind="stable")
