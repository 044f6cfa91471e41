"""What the cuts of one score can do: the ROC curve, its hull, the impact floor and its limits.

A score says how much a row looks like the reference. A rule that selects the rows above a cut has
one selection rate in the group and one in the reference. Over all cuts these pairs of rates make
the ROC curve. A rule that draws at random between two cuts reaches any point between them: the
concave hull. R(b) is the hull's rate in the reference at rate b in the group, and b / R(b) is the
impact floor: no cut of the score, and no draw between cuts, that selects at least b of the group
has a lower impact ratio. (Other rules on the score may: one that selects its middle, say.) This
holds for all rates from b on because R is concave and R(0) >= 0, so b / R(b) rises with b.

From a sample, R is limited by one test at each cut. For any slope s, R(b) - s b is at most the
largest r - s b of a cut with rates b and r. So if R(b) lies above a line of slope s, one cut of the
population lies above it, and it suffices to test each cut on its own. If that one cut is wrongly
found to lie under the line with probability at most alpha, then so is the whole curve, however many
cuts there are. Nothing is corrected for their number. The slope must not depend on the scores.

The main line gets nearly all of alpha. It decides for tables that hide the group. A curve with a
corner may touch a line of another slope, so a few further slopes share the rest of alpha.

The test at a cut needs an upper limit of r - s b. For the main line, the half widths of the two
exact intervals are added in squares (MOVER: Zou and Donner, Statistics in Medicine 27, 2008), each
taken at its wider side. That is not proven to hold; `tests/stats/test_roc.py` enumerates tables
of two cells and finds no error rate above alpha. For the other lines, and if there are few rows, it
is proven: both limits are set at half of alpha, and hold together.

References
----------
Fawcett and Niculescu-Mizil, Machine Learning 68 (2007), for the hull by isotonic regression.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._stats.proportions import clopper_pearson

# With fewer rows on a side, counts are too coarse to add half widths in squares.
MIN_ROWS_TO_ADD_SQUARES = 20
SLOPE_GRID = 2_001
OTHER_SLOPES = 8
# With fewer cuts than this share of the rows, the widths of all counts are not worth computing.
MIN_SHARE_OF_COUNTS = 0.1
# The share of alpha that the other slopes get together.
OTHER_SLOPES_SHARE = 0.05


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
    # Reports of all kinds load this module, and this import takes longer than a small audit.
    from scipy.optimize import isotonic_regression

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


@dataclass(frozen=True, kw_only=True)
class FloorLimit:
    """The lower limit of the impact floor at every beta.

    Attributes
    ----------
    curve : Hull
    slopes, intercepts : float array
        Of the lines that R lies under; the main line is the first.
    confidence : float
        One-sided, of all lines together.
    """

    curve: Hull
    slopes: FloatArray
    intercepts: FloatArray
    confidence: float

    def at(self, beta: ArrayLike) -> FloatArray:
        """Return the lower limit of the floor at beta, in [0, 1]; it holds at all beta at once."""
        rates = np.asarray(beta, dtype=np.float64)
        lines = self.intercepts + self.slopes * rates[..., np.newaxis]
        highest = np.clip(np.min(lines, axis=-1), rates, 1.0)
        return np.where(rates > 0, rates / np.where(highest > 0, highest, 1.0), np.nan)


def floor_limit(
    curve: Hull,
    selected: ArrayLike,
    selected_reference: ArrayLike,
    *,
    n: float,
    n_reference: float,
    slopes: FloatArray,
    confidence: float,
) -> FloorLimit:
    """Return the limit from the rows that each cut selects.

    Parameters
    ----------
    curve : Hull
    selected, selected_reference : array-like
        How many rows of the group and of the reference each cut selects.
    n, n_reference : float
        How many rows there are.
    slopes : float array
        As `line_slopes` returns them.
    confidence : float
        One-sided.
    """
    alpha = 1 - confidence
    cuts = Cuts(
        selected=np.asarray(selected),
        selected_reference=np.asarray(selected_reference),
        n=n,
        n_reference=n_reference,
    )
    main = cuts.line(slopes[0], alpha=(1 - OTHER_SLOPES_SHARE) * alpha)
    line_alpha = OTHER_SLOPES_SHARE * alpha / OTHER_SLOPES
    further_lines = [cuts.line(slope, alpha=line_alpha, is_proven=True) for slope in slopes[1:]]
    return FloorLimit(
        curve=curve,
        slopes=slopes,
        intercepts=np.array([main, *further_lines]),
        confidence=confidence,
    )


def line_slopes(beta: float, threshold: float, *, widest: float | None = None) -> FloatArray:
    """Return the slope of the main line, and those of the other lines.

    The others are spread between the slopes with which a limit can reach the threshold at all.

    Parameters
    ----------
    beta, threshold : float
        As for `best_slope`.
    widest : float, optional
        The beta for which the others are spread, if it is not `beta`.
    """
    rate = min(widest or beta, threshold)
    lowest = (1 - rate / threshold) / (1 - rate)
    steps = (np.arange(OTHER_SLOPES) + 0.5) / OTHER_SLOPES
    return np.append(best_slope(beta, threshold), lowest + steps * (1 / threshold - lowest))


def best_slope(beta: float, threshold: float) -> float:
    """Return the slope with which a table that hides the group needs the fewest rows.

    A table hides the group if b = r at every cut. With z standard errors to spare, the limit of
    (1 - s) p + z sqrt((1 + s^2) p (1 - p) / n) at the worst p is at most d = beta (1/tau - s) once
    n is z^2 (1 + s^2) / (4 d (d + s - 1)). The slope makes this number smallest.

    Parameters
    ----------
    beta : float
        The selection rate of the group, in (0, 1].
    threshold : float
        The threshold tau of the impact ratio, in (0, 1).

    Returns
    -------
    float
        Between (1 - beta / tau) / (1 - beta) and 1 / tau. If beta is tau or more, every ratio is
        at least tau, and the slope is 0.

    Examples
    --------
    >>> round(best_slope(0.5, 0.8), 2), round(best_slope(0.05, 0.8), 2)
    (0.97, 1.11)
    """
    if beta >= threshold:
        return 0.0
    lowest = (1 - beta / threshold) / (1 - beta)
    slopes = np.linspace(lowest, 1 / threshold, SLOPE_GRID)[1:-1]
    distance = beta * (1 / threshold - slopes)
    return float(slopes[np.argmax(distance * (distance + slopes - 1) / (1 + slopes**2))])


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """How many rows each cut of a score selects.

    Attributes
    ----------
    selected, selected_reference : array
        Of the group and of the reference.
    n, n_reference : float
        How many rows there are.
    """

    selected: NDArray[np.number]
    selected_reference: NDArray[np.number]
    n: float
    n_reference: float
    # Lines of several slopes have the same ones.
    _widths: dict[float, tuple[FloatArray, FloatArray]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def line(self, slope: float, *, alpha: float, is_proven: bool = False) -> float:
        """Return the intercept of the line of this slope that R lies under.

        It is the largest upper limit of r - s b at any cut.

        Parameters
        ----------
        slope : float
            s, fixed before the scores are seen.
        alpha : float
            The probability with which R may lie above the line.
        is_proven : bool
            Whether to add the half widths at alpha / 2, rather than their squares at alpha.

        Examples
        --------
        >>> cuts = Cuts(
        ...     selected=np.array([0, 50]),
        ...     selected_reference=np.array([0, 50]),
        ...     n=50,
        ...     n_reference=50,
        ... )
        >>> round(cuts.line(1.0, alpha=0.05), 4)
        0.0822
        """
        is_proven = is_proven or min(self.n, self.n_reference) < MIN_ROWS_TO_ADD_SQUARES
        width, reference_width = self._half_widths(alpha / 2 if is_proven else alpha)
        width = slope * width
        reach = width + reference_width if is_proven else np.hypot(width, reference_width)
        difference = self.selected_reference / self.n_reference - slope * self.selected / self.n
        return float(np.max(difference + reach))

    def _half_widths(self, level: float) -> tuple[FloatArray, FloatArray]:
        if level not in self._widths:
            self._widths[level] = (
                half_width(self.selected, self.n, level),
                half_width(self.selected_reference, self.n_reference, level),
            )
        return self._widths[level]


def half_width(selected: NDArray[np.number], n: float, alpha: float) -> FloatArray:
    """Return the larger distance between a rate and its one-sided exact limits.

    The side matters only where few or nearly all are selected. There the interval is lopsided, and
    its short side says too little about the rates from which these counts may come.
    """
    if np.issubdtype(selected.dtype, np.integer) and selected.size > MIN_SHARE_OF_COUNTS * n:
        return np.asarray(half_widths(int(n), alpha)[selected])
    low, high = clopper_pearson(selected, n, confidence=1 - 2 * alpha)
    rate = selected / n
    return np.asarray(np.maximum(high - rate, rate - low))


@lru_cache(maxsize=16)
def half_widths(n: int, alpha: float) -> FloatArray:
    """Return the half width for each count from 0 to n: every auditor needs the same ones."""
    counts = np.arange(n + 1)
    below = counts / n - np.append(0.0, betaincinv(counts[1:], n - counts[1:] + 1, alpha))
    # Selecting k of n is rejecting n - k of them.
    widths: FloatArray = np.maximum(below, below[::-1])
    widths.flags.writeable = False
    return widths
