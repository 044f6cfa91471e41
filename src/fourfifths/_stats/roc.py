"""The best that rules on a score can do: the ROC curve, its concave hull, the impact floor.

A score says how much a row looks like the reference. A rule that selects the rows above a cut has
a rate on the group and a rate on the reference; over all cuts these make the ROC curve, and a rule
that tosses a coin between two cuts reaches any point between them: the concave hull. R(b) is the
hull's rate on the reference at rate b on the group, and b / R(b) is the impact floor: no rule on
the score that selects at least b of the group has a lower impact ratio, since R is concave and
passes through the origin or above it.

References
----------
Fawcett and Niculescu-Mizil, Machine Learning 68 (2007), for the hull by isotonic regression.
Massart, Annals of Probability 18 (1990), for the constant of the Dvoretzky-Kiefer-Wolfowitz
inequality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from fourfifths._arrays import BoolArray, FloatArray


@dataclass(frozen=True, kw_only=True)
class Hull:
    """The concave hull of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    group, reference : float array
        The rates at its corners, both rising.
    n, n_reference : int
        Rows that the rates are made of.
    """

    group: FloatArray
    reference: FloatArray
    n: int
    n_reference: int

    def best_rate(self, beta: ArrayLike) -> FloatArray:
        """Return R(b), the best rate on the reference at rate b on the group."""
        rates = np.asarray(beta, dtype=np.float64)
        # A vertical start gives several rates at 0: the highest is R(0).
        last = np.searchsorted(self.group, self.group, side="right") - 1
        keep = np.unique(last)
        return np.asarray(np.interp(rates, self.group[keep], self.reference[keep]))

    def floor(self, beta: ArrayLike) -> FloatArray:
        """Return the impact floor b / R(b), in [0, 1]; NaN at b = 0."""
        rates = np.asarray(beta, dtype=np.float64)
        best = np.maximum(self.best_rate(rates), rates)
        return np.where(rates > 0, rates / np.where(best > 0, best, 1.0), np.nan)

    def floor_band(self, beta: ArrayLike, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return limits of the floor that hold for all b at once, whatever the distributions.

        Each group's distribution of the score is within `dkw` of what was seen, so the true curve
        lies between the seen one moved up and left, and moved down and right.
        """
        rates = np.asarray(beta, dtype=np.float64)
        aside, up = (dkw(size, confidence) for size in (self.n, self.n_reference))
        highest = np.minimum(self.best_rate(np.minimum(rates + aside, 1.0)) + up, 1.0)
        lowest = np.maximum(self.best_rate(np.maximum(rates - aside, 0.0)) - up, rates)
        lowest = np.where(rates - aside < 0, rates, lowest)
        usable = rates > 0
        low = np.where(usable, rates / np.maximum(highest, rates), np.nan)
        high = np.where(usable, rates / np.where(usable, lowest, 1.0), np.nan)
        return low, high


def hull(scores: ArrayLike, is_reference: BoolArray) -> Hull:
    """Return the concave hull of the ROC curve of a score.

    Rows of equal score are above a cut together. The hull's slopes are the isotonic regression of
    membership on the score.
    """
    values, place = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    reference = np.bincount(place[is_reference], minlength=values.size).astype(np.float64)
    group = np.bincount(place[~is_reference], minlength=values.size).astype(np.float64)
    return hull_of_counts(group, reference)


def hull_of_counts(group: FloatArray, reference: FloatArray) -> Hull:
    """Return the hull from the rows of each group at each score, best score first."""
    both = group + reference
    seen = both > 0
    group, reference, both = group[seen], reference[seen], both[seen]
    blocks = isotonic_regression(reference / both, weights=both, increasing=False).blocks
    corners = [np.append(0.0, np.cumsum(side))[blocks] for side in (group, reference)]
    n, n_reference = float(group.sum()), float(reference.sum())
    return Hull(
        group=corners[0] / n,
        reference=corners[1] / n_reference,
        n=int(n),
        n_reference=int(n_reference),
    )


def dkw(n: int, confidence: float) -> float:
    """Return how far a distribution of n rows may lie from the true one, for two groups at once."""
    return float(np.sqrt(np.log(4 / (1 - confidence)) / (2 * n)))
