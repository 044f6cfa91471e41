"""One column of unordered categories: the fewest rows changed that make the strata alike.

The paper leaves them open. The consensus gives each category the median over strata of its shares,
scaled to sum to 1. A stratum with shares p moves to the consensus q by an optimal coupling: of a
category with too many, p - q leave, and go where there are too few in proportion to what is
missing there. The share of rows that change is the total variation distance of p and q, and no way
from p to q changes fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.ordered import Method, Ties
from fourfifths._repair.random import spread


@dataclass(frozen=True, kw_only=True)
class CategoryColumn:
    """A fitted column; its values are the places of the categories.

    Attributes
    ----------
    name : str
    categories : tuple of str
    shares : float array, strata by categories
    consensus : float array
        The share of each category after full repair.
    """

    name: str
    categories: tuple[str, ...]
    shares: FloatArray
    consensus: FloatArray

    @property
    def levels(self) -> int:
        """How many categories there are."""
        return len(self.categories)

    @cached_property
    def upper(self) -> FloatArray:
        """Where the ranks of each category end, if they are laid end to end."""
        return np.append(np.cumsum(self.consensus)[:-1], 1.0)

    @cached_property
    def full(self) -> FloatArray:
        """For each level, what full repair writes."""
        return np.arange(self.levels, dtype=np.float64)

    @cached_property
    def scores(self) -> FloatArray:
        """At a thousand even ranks, the middle rank of the category that has each."""
        middle = self.upper - self.consensus / 2
        return middle[self.from_ranks((np.arange(1_000) + 0.5) / 1_000)]

    @cached_property
    def stays(self) -> FloatArray:
        """The probability that a row of each stratum keeps its category."""
        kept = np.minimum(self.shares, self.consensus)
        return np.divide(kept, self.shares, out=np.ones_like(kept), where=self.shares > 0)

    @cached_property
    def goes(self) -> FloatArray:
        """For each stratum, where rows that change go: cumulative probabilities."""
        lacking = np.maximum(self.consensus - self.shares, 0)
        total = lacking.sum(axis=1, keepdims=True)
        steps = np.cumsum(lacking, axis=1)
        share: FloatArray = np.divide(
            steps, steps[:, -1:], out=np.ones_like(steps), where=total > 0
        )
        return share

    def to_levels(
        self,
        stratum: int,
        values: FloatArray,
        ties: Ties,  # noqa: ARG002 - every row of a category is the equal of the others
        random: np.random.Generator,
    ) -> IntArray:
        """Return the category that each row has after full repair."""
        own = values.astype(np.int64)
        draw = spread(own, random)
        stays = self.stays[stratum][own]
        moving = np.flatnonzero(draw >= stays)
        rest = (draw[moving] - stays[moving]) / (1 - stays[moving])
        found = own.copy()
        # A category that the stratum never had has no share to keep: it is drawn anew.
        fresh = np.flatnonzero(self.shares[stratum][own] == 0)
        found[fresh] = self.from_ranks(draw[fresh])
        # A draw may be rounded up to 1, the last step's end.
        rest = np.minimum(rest, np.nextafter(1.0, 0))
        found[moving] = np.searchsorted(self.goes[stratum], rest, side="right")
        return found

    def to_ranks(
        self,
        stratum: int,
        values: FloatArray,
        ties: Ties,
        random: np.random.Generator,
    ) -> FloatArray:
        """Return a rank for each row: within its category's part, at random."""
        level = self.to_levels(stratum, values, ties, random)
        return self.upper[level] - self.consensus[level] * (1 - spread(level, random))

    def from_ranks(self, ranks: FloatArray) -> IntArray:
        """Return the category that has each rank."""
        found = np.searchsorted(self.upper, ranks, side="right")
        return np.minimum(found, self.levels - 1)

    def write(
        self,
        values: FloatArray,
        level: IntArray,
        method: Method,
        amount: float,
        random: np.random.Generator,
    ) -> FloatArray:
        """Return the repaired values: of the rows that should change, a share `amount` does."""
        target = level.astype(np.float64)
        if method == "random" or amount == 1:
            return target
        moving = np.flatnonzero(target != values)
        pairs = values[moving].astype(np.int64) * self.levels + level[moving]
        _, cells = np.unique(pairs, return_inverse=True)
        back = moving[spread(cells, random) >= amount]
        target[back] = values[back]
        return target


def fit_categories(
    name: str, categories: tuple[str, ...], counts: Sequence[IntArray]
) -> CategoryColumn:
    """Fit a column from the counts of its categories in each stratum."""
    tally = np.stack(counts).astype(np.float64)
    shares = tally / tally.sum(axis=1, keepdims=True)
    consensus = np.median(shares, axis=0)
    if not consensus.sum():  # strata that share nothing, three or more
        consensus = shares.mean(axis=0)
    return CategoryColumn(
        name=name, categories=categories, shares=shares, consensus=consensus / consensus.sum()
    )
