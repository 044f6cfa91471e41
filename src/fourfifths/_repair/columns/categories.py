"""One column of unordered categories: the fewest rows are changed that make the strata alike.

The paper says nothing about these columns. Here the consensus gives each category the median over
strata of its shares, scaled to sum to 1. A stratum with shares p moves to the consensus q by an
optimal coupling: from a category with too many rows, a share p - q leaves; these rows go to the
categories with too few rows, in proportion to what is lacking there. The share of rows that change
is the total variation distance of p and q, and no other way from p to q changes fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.columns.cells import CellDraws
from fourfifths._repair.columns.ordered import Method


@dataclass(frozen=True, kw_only=True)
class CategoryColumn:
    """A fitted column; its values are indices into the categories.

    Attributes
    ----------
    name : str
    categories : tuple of str
    shares : float array of shape (strata, categories)
    consensus : float array
        The share of each category after full repair.
    """

    name: str
    categories: tuple[str, ...]
    shares: FloatArray
    consensus: FloatArray

    @property
    def levels(self) -> int:
        """The number of categories: the level of a value is its category after full repair."""
        return len(self.categories)

    @cached_property
    def upper(self) -> FloatArray:
        """Where the ranks of each category end, if the categories are laid end to end."""
        return np.append(np.cumsum(self.consensus)[:-1], 1.0)

    @cached_property
    def full(self) -> FloatArray:
        """For each level, what full repair writes."""
        return np.arange(self.levels, dtype=np.float64)

    @cached_property
    def stay_probability(self) -> FloatArray:
        """For each stratum and category, the probability that a row keeps its category."""
        kept = np.minimum(self.shares, self.consensus)
        return np.divide(kept, self.shares, out=np.ones_like(kept), where=self.shares > 0)

    @cached_property
    def target_cumulative(self) -> FloatArray:
        """For each stratum, the cumulative probabilities of where the rows that change go."""
        lacking = np.maximum(self.consensus - self.shares, 0)
        total = lacking.sum(axis=1, keepdims=True)
        steps = np.cumsum(lacking, axis=1)
        cumulative: FloatArray = np.divide(
            steps, steps[:, -1:], out=np.ones_like(steps), where=total > 0
        )
        return cumulative

    def levels_of(self, values: FloatArray, stratum: int, *, draws: CellDraws | None) -> IntArray:
        """Return the category of each row after full repair."""
        assert draws is not None  # rows of a category are equal, and only draws tell them apart
        category = values.astype(np.int64)
        draw = draws.uniforms(category)
        stay_probability = self.stay_probability[stratum][category]
        moving = np.flatnonzero(draw >= stay_probability)
        # Given that it is above p, a uniform draw is uniform between p and 1: it is used again.
        rescaled = (draw[moving] - stay_probability[moving]) / (1 - stay_probability[moving])
        level = category.copy()
        # A category that the stratum did not have when fitted has no share to keep: these rows get
        # a category drawn from the consensus.
        unseen = np.flatnonzero(self.shares[stratum][category] == 0)
        level[unseen] = self.levels_at_ranks(draw[unseen])
        # A draw may be rounded up to 1, which is past the end of the last category.
        rescaled = np.minimum(rescaled, np.nextafter(1.0, 0))
        level[moving] = np.searchsorted(self.target_cumulative[stratum], rescaled, side="right")
        return level

    def levels_at_ranks(self, ranks: FloatArray) -> IntArray:
        """Return the category at each rank."""
        return np.minimum(np.searchsorted(self.upper, ranks, side="right"), self.levels - 1)

    def repaired(
        self,
        values: FloatArray,
        level: IntArray,
        *,
        method: Method,
        amount: float,
        draws: CellDraws | None,
    ) -> FloatArray:
        """Return the repaired values: of the rows that should change, a share `amount` does.

        The draws must be others than those of `levels_of`, which say where these rows go.
        """
        repaired = level.astype(np.float64)
        if method == "random" or amount == 1:
            return repaired
        assert draws is not None
        moving = np.flatnonzero(repaired != values)
        # The share is taken within each pair of old and new category, so it is even over pairs.
        pairs = values[moving].astype(np.int64) * self.levels + level[moving]
        _, cells = np.unique(pairs, return_inverse=True)
        kept = moving[draws.take(moving).uniforms(cells) >= amount]
        repaired[kept] = values[kept]
        return repaired


def fit_categories(
    name: str, categories: tuple[str, ...], *, counts: Sequence[IntArray]
) -> CategoryColumn:
    """Fit a column from the counts of its categories in each stratum."""
    tally = np.stack(counts).astype(np.float64)
    shares = tally / tally.sum(axis=1, keepdims=True)
    consensus = np.median(shares, axis=0)
    if not consensus.sum():  # every category is absent from most strata
        consensus = shares.mean(axis=0)
    return CategoryColumn(
        name=name, categories=categories, shares=shares, consensus=consensus / consensus.sum()
    )
