"""Reproducible chance: the same seed gives the same draws, on any number of threads.

Each call of `transform` has draws of its own. One seed used again for every call would give every
row that comes alone the same draw, and rows one by one would not be distributed as rows together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fourfifths.compiled import loops
from fourfifths.counts import FloatArray, IntArray


@dataclass(frozen=True)
class Draws:
    """The chance that belongs to one call, or to one part of it."""

    seed: int
    key: tuple[int, ...] = ()

    def part(self, number: int) -> Draws:
        """Return draws that are independent of all other parts."""
        return Draws(self.seed, (*self.key, number))

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
        return Draws(self.seed, (self.made,))


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
    counts = np.bincount(cells)
    starts = np.cumsum(counts) - counts
    # (place in the cell + the cell's shift) / count, for rows in the order of their cells.
    shift = random.random(counts.size) - starts
    shuffled = random.permutation(cells.size)
    draws = np.empty(cells.size)
    compiled = loops(cells.size)
    if compiled is not None:
        compiled.spread(shuffled, cells, starts, shift, counts, draws)
        return draws
    # Numbers of 8 or 16 bits are sorted stably in one pass or two.
    short = cells.astype(np.min_scalar_type(counts.size))
    order = shuffled[np.argsort(short[shuffled], kind="stable")]
    ordered = np.arange(cells.size, dtype=np.float64)
    ordered += np.repeat(shift, counts)
    ordered /= np.repeat(counts, counts)
    draws[order] = ordered
    return draws
