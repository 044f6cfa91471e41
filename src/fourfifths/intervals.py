"""Confidence intervals for a rate and for the ratio of two rates, from counts.

References
----------
Clopper and Pearson, Biometrika 26 (1934). Koopman, Biometrics 40 (1984). Miettinen and Nurminen,
Statistics in Medicine 4 (1985). Korn and Graubard, Survey Methodology 24 (1998), for effective
sample sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from fourfifths.counts import FloatArray

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


def _ratio_where(
    score: FloatArray, x: FloatArray, n: FloatArray, xr: FloatArray, nr: FloatArray
) -> FloatArray:
    """Return the ratio at which the score statistic, which falls as the ratio grows, is `score`."""
    low, high = np.full(score.shape, -SPAN), np.full(score.shape, SPAN)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _score(np.exp(middle), x, n, xr, nr) > score
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(np.exp(low))


def _score(
    ratio: FloatArray, x: FloatArray, n: FloatArray, xr: FloatArray, nr: FloatArray
) -> FloatArray:
    """Return the score statistic of the hypothesis that the impact ratio is `ratio`."""
    total = n + nr
    # The likeliest rates whose ratio is `ratio`: the smaller root of a quadratic.
    linear = n * ratio + x + nr + xr * ratio
    discriminant = np.maximum(linear**2 - 4 * total * ratio * (x + xr), 0)
    rate_reference = 2 * (x + xr) / (linear + np.sqrt(discriminant))
    rate = ratio * rate_reference
    variance = rate * (1 - rate) / n + ratio**2 * rate_reference * (1 - rate_reference) / nr
    difference = x / n - ratio * xr / nr
    spread = np.sqrt(np.maximum(variance, 0) * total / (total - 1))
    # No variance is left where everyone is selected: then any difference at all decides.
    return np.asarray(difference / np.maximum(spread, TINY))
