"""Confidence intervals for a rate and for the ratio of two rates, from counts.

References
----------
Clopper and Pearson, Biometrika 26 (1934). Koopman, Biometrics 40 (1984). Miettinen and Nurminen,
Statistics in Medicine 4 (1985). Korn and Graubard, Survey Methodology 24 (1998), for effective
sample sizes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from fourfifths._arrays import BoolArray, FloatArray

# A limit is searched for among the ratios from exp(-SPAN) to exp(SPAN), halving the logarithm's
# range each time: after 54 times it is known to one part in 10^14.
SPAN, HALVINGS = 50.0, 54
TINY = 1e-300


def clopper_pearson(
    selected: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval of a selection rate: it covers at least as often as it says.

    The limits are the rates at which so few, or so many, would be selected with probability
    (1 - confidence) / 2. An effective sample size need not be whole.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    x, size = (np.asarray(array, dtype=np.float64) for array in (selected, n))
    tail = (1 - confidence) / 2
    inner_low, inner_high = np.where(x > 0, x, 1.0), np.where(x < size, size - x, 1.0)
    low = np.where(x > 0, betaincinv(inner_low, size - x + 1, tail), 0.0)
    high = np.where(x < size, betaincinv(x + 1, inner_high, 1 - tail), 1.0)
    return low, high


def ratio_interval(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Return the score interval of an impact ratio (Koopman; Miettinen and Nurminen).

    It holds the ratios t that the score test of "the ratio is t" does not reject. Right at 0 and
    at n: a group of which no one is selected has lower limit 0 and a finite upper limit. Where no
    one of the reference is selected no ratio is too large, and the upper limit is NaN.

    Examples
    --------
    >>> low, high = ratio_interval(26, 48, 206, 259)
    >>> round(float(low), 3), round(float(high), 3)
    (0.503, 0.857)
    """
    arrays = np.broadcast_arrays(
        *(
            np.asarray(each, dtype=np.float64)
            for each in (selected, n, selected_reference, n_reference)
        )
    )
    quantile = float(ndtri((1 + confidence) / 2))
    scores = np.stack([np.full(arrays[0].shape, quantile), np.full(arrays[0].shape, -quantile)])
    low, high = _ratio_where(scores, *arrays)
    return np.where(arrays[0] > 0, low, 0.0), np.where(arrays[2] > 0, high, np.nan)


def bisect(
    test: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray, halvings: int
) -> FloatArray:
    """Return where a test that is true below a point and false above it changes, per element."""
    for _ in range(halvings):
        middle = (low + high) / 2
        true = test(middle)
        low, high = np.where(true, middle, low), np.where(true, high, middle)
    return low


def _ratio_where(
    score: FloatArray, x: FloatArray, n: FloatArray, xr: FloatArray, nr: FloatArray
) -> FloatArray:
    """Return the ratio at which the score statistic, which falls as the ratio grows, is `score`."""
    low, high = np.full(score.shape, -SPAN), np.full(score.shape, SPAN)
    found = bisect(lambda log: _score(np.exp(log), x, n, xr, nr) > score, low, high, HALVINGS)
    return np.asarray(np.exp(found))


def _score(
    ratio: FloatArray, x: FloatArray, n: FloatArray, xr: FloatArray, nr: FloatArray
) -> FloatArray:
    """Return the score statistic of the hypothesis that the impact ratio is `ratio`."""
    missed, missed_r, total = n - x, nr - xr, n + nr
    # The likeliest rates whose ratio is `ratio` are the smaller root of a quadratic. They, and
    # what they leave of 1, are written so that nothing cancels where nearly everyone is selected.
    own, other = ratio * (n + xr), nr + x
    root = np.sqrt((own - other) ** 2 + 4 * ratio * missed * missed_r)
    scale = own + other + root
    rate_r = 2 * (x + xr) / scale
    rest_r = (missed + missed_r + (ratio - 1) * (n + xr) + root) / scale
    rest = (ratio * missed + missed_r + (1 - ratio) * (x + xr) + root) / scale
    variance = ratio * rate_r * rest / n + ratio**2 * rate_r * rest_r / nr
    spread = np.sqrt(np.maximum(variance, 0) * total / (total - 1))
    # No variance is left where everyone is selected: then any difference at all decides.
    return np.asarray((x / n - ratio * xr / nr) / np.maximum(spread, TINY))
