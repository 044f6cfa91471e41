"""The best that rules on a score can do: the ROC curve, its concave hull, the impact floor.

A score says how much a row looks like the reference. A rule that selects the rows above a cut has
one selection rate in the group and one in the reference. Over all cuts these pairs of rates make
the ROC curve. A rule that draws at random between two cuts reaches any point between them: the
concave hull. R(b) is the hull's rate in the reference at rate b in the group, and b / R(b) is the
impact floor: no cut of the score, and no draw between cuts, that selects at least b of the group
has a lower impact ratio. (Other rules on the score may: one that selects its middle, say.) This
holds for all rates from b on because R is concave and R(0) >= 0, so b / R(b) rises with b.

References
----------
Fawcett and Niculescu-Mizil, Machine Learning 68 (2007), for the hull by isotonic regression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from fourfifths._arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Hull:
    """The concave hull of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    group, reference : float array
        The selection rates at the corners of the hull, both rising.
    n, n_reference : int
        Rows of the group and of the reference.
    """

    group: FloatArray
    reference: FloatArray
    n: int
    n_reference: int

    def best_rate(self, beta: ArrayLike) -> FloatArray:
        """Return R(b), the highest rate in the reference at rate b in the group."""
        rates = np.asarray(beta, dtype=np.float64)
        # A hull that starts vertically has several corners at rate 0. The last one is R(0).
        last_corner = np.searchsorted(self.group, self.group, side="right") - 1
        corners = np.unique(last_corner)
        return np.asarray(np.interp(rates, self.group[corners], self.reference[corners]))

    def floor(self, beta: ArrayLike) -> FloatArray:
        """Return the impact floor b / R(b), in [0, 1]; NaN at b = 0."""
        rates = np.asarray(beta, dtype=np.float64)
        # A concave hull lies on or above the diagonal. The maximum removes rounding, no more.
        best = np.maximum(self.best_rate(rates), rates)
        return np.where(rates > 0, rates / np.where(best > 0, best, 1.0), np.nan)


def hull(scores: ArrayLike, is_reference: BoolArray) -> Hull:
    """Return the concave hull of the ROC curve of a score.

    A cut selects all rows of equal score or none of them.

    Parameters
    ----------
    scores : array-like
        One per row. A high score says that the row looks like one of the reference.
    is_reference : bool array
        Whether the row belongs to the reference; if not, it belongs to the group.
    """
    group, reference = score_counts(scores, is_reference)
    return hull_of_counts(group.astype(np.float64), reference.astype(np.float64))


def score_counts(scores: ArrayLike, is_reference: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the rows of the group and of the reference at each score, highest score first."""
    # Negated, because the curve begins with the highest score and `unique` sorts upwards.
    values, rank = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    group = np.bincount(rank[~is_reference], minlength=values.size)
    return group, np.bincount(rank[is_reference], minlength=values.size)


def hull_of_counts(group: FloatArray, reference: FloatArray) -> Hull:
    """Return the hull from the numbers of rows at each score, highest score first."""
    total = group + reference
    occurs = total > 0
    group, reference, total = group[occurs], reference[occurs], total[occurs]
    # The slopes of the hull are the isotonic regression of membership on the score.
    blocks = isotonic_regression(reference / total, weights=total, increasing=False).blocks
    corners = [np.append(0.0, np.cumsum(counts))[blocks] for counts in (group, reference)]
    n, n_reference = float(group.sum()), float(reference.sum())
    return Hull(
        group=corners[0] / n,
        reference=corners[1] / n_reference,
        n=int(n),
        n_reference=int(n_reference),
    )
