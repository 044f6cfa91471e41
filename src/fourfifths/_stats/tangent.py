"""An upper limit of R from one test at each cut: the line of a fixed slope above a ROC curve.

R(b) is the best rate in the reference at rate b in the group, over the cuts of a score and the
draws between them: the concave hull of the ROC curve. For any slope s, R(b) - s b is at most the
largest r - s b of a cut with rates b and r. So if R(b) lies above a line of slope s, one cut of the
population lies above it, and it suffices to test each cut on its own. If that one cut is wrongly
found to lie under the line with probability at most 1 - confidence, then so is the whole curve,
however many cuts there are. Nothing is corrected for their number. The slope must not depend on the
scores.

The test at a cut needs an upper limit of r - s b. It adds the half widths of the two exact
intervals in squares (MOVER: Zou and Donner, Statistics in Medicine 27, 2008), each taken at
its wider side. That is not proven to hold; `tests/stats/test_tangent.py` enumerates tables of two
cells and finds no error rate above 1 - confidence. With few rows it is proven instead: both limits
are set at half the error rate, and hold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._stats.intervals import clopper_pearson
from fourfifths._stats.roc import Hull

# With fewer rows on a side, counts are too coarse to add half widths in squares.
MIN_ROWS_TO_ADD_SQUARES = 20
SLOPE_GRID = 2_001
# The share of the error rate that the band gets. The line decides for tables that hide the group; of
# a curve with a corner, more rows bring the band closer, and the line not.
BAND_ERROR_SHARE = 0.02


@dataclass(frozen=True, kw_only=True)
class FloorLimit:
    """The lower limit of the impact floor at every beta: by the line, or by the band.

    Attributes
    ----------
    curve : Hull
    slope, intercept : float
        Of the line that R lies under.
    confidence : float
        Of line and band together. The line has `1 - BAND_ERROR_SHARE` of the error rate.
    """

    curve: Hull
    slope: float
    intercept: float
    confidence: float

    def at(self, beta: ArrayLike) -> FloatArray:
        """Return the lower limit of the floor at beta, in [0, 1]; it holds at all beta at once."""
        rates = np.asarray(beta, dtype=np.float64)
        highest = np.clip(self.intercept + self.slope * rates, rates, 1.0)
        by_band = self.curve.floor_band(rates, band_confidence(self.confidence))[0]
        return np.maximum(rates / np.where(highest > 0, highest, 1.0), by_band)


def line_confidence(confidence: float) -> float:
    """Return the confidence that the line gets."""
    return 1 - (1 - BAND_ERROR_SHARE) * (1 - confidence)


def band_confidence(confidence: float) -> float:
    """Return the confidence that the band gets."""
    return 1 - BAND_ERROR_SHARE * (1 - confidence)


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


def tangent_limit(
    selected: IntArray,
    selected_reference: IntArray,
    *,
    slope: float,
    confidence: float,
) -> float:
    """Return the upper limit of the largest r - s b of any cut.

    R(b) is at most this limit plus s b, at all b at once.

    Parameters
    ----------
    selected, selected_reference : int array
        How many rows of the group and of the reference each cut selects. The last cut selects all
        of them.
    slope : float
        s, fixed before the scores are seen.
    confidence : float
        One-sided.

    Examples
    --------
    >>> round(tangent_limit(np.array([0, 50]), np.array([0, 50]), slope=1.0, confidence=0.95), 4)
    0.0822
    """
    n, n_reference = int(selected[-1]), int(selected_reference[-1])
    is_small = min(n, n_reference) < MIN_ROWS_TO_ADD_SQUARES
    level = (1 + confidence) / 2 if is_small else confidence
    limits = difference_limit(
        selected / n,
        selected_reference / n_reference,
        slope * half_widths(n, level)[selected],
        half_widths(n_reference, level)[selected_reference],
        slope=slope,
        is_small=is_small,
    )
    return float(np.max(limits))


def grown_tangent_limit(
    rate: FloatArray,
    reference_rate: FloatArray,
    *,
    n: float,
    n_reference: float,
    slope: float,
    confidence: float,
) -> float:
    """Return the limit that other numbers of rows with these rates would give."""
    is_small = min(n, n_reference) < MIN_ROWS_TO_ADD_SQUARES
    level = (1 + confidence) / 2 if is_small else confidence
    limits = difference_limit(
        rate,
        reference_rate,
        slope * half_width(rate * n, n, level),
        half_width(reference_rate * n_reference, n_reference, level),
        slope=slope,
        is_small=is_small,
    )
    return float(np.max(limits))


def difference_limit(
    rate: FloatArray,
    reference_rate: FloatArray,
    width: FloatArray,
    reference_width: FloatArray,
    *,
    slope: float,
    is_small: bool,
) -> FloatArray:
    """Return the upper limit of r - s b at each cut, from the two rates and their half widths."""
    reach = width + reference_width if is_small else np.hypot(width, reference_width)
    return np.asarray(reference_rate - slope * rate + reach)


def half_width(selected: ArrayLike, n: ArrayLike, confidence: float) -> FloatArray:
    """Return the larger distance between a rate and its one-sided exact limits.

    The side matters only where few or nearly all are selected. There the interval is lopsided, and
    its short side says too little about the rates from which these counts may come.
    """
    counts, size = np.asarray(selected, dtype=np.float64), np.asarray(n, dtype=np.float64)
    low, high = clopper_pearson(counts, size, confidence=2 * confidence - 1)
    rate = counts / size
    return np.asarray(np.maximum(high - rate, rate - low))


@lru_cache(maxsize=16)
def half_widths(n: int, confidence: float) -> FloatArray:
    """Return the half width for each count from 0 to n: every auditor needs the same ones."""
    widths = half_width(np.arange(n + 1), n, confidence)
    widths.flags.writeable = False
    return widths
