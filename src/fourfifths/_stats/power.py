"""Statistical power: which differences could be detected with a given number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._stats.intervals import MIN_DEVIATION, bisect

DEFAULT_POWER = 0.8  # the usual choice, after Cohen (1988)
RATIO_HALVINGS = 34  # a ratio in [0, 1] is then accurate to 1e-10


def detectable_ratio(
    n: ArrayLike,
    n_reference: ArrayLike,
    *,
    rate_reference: ArrayLike,
    confidence: float = 0.95,
    power: float = DEFAULT_POWER,
) -> FloatArray:
    """Return the smallest detectable effect, as an impact ratio below 1.

    If the true impact ratio is this one, the two-sided z-test rejects equal rates with probability
    `power`. A ratio closer to 1 would probably go unnoticed with this many rows.

    Parameters
    ----------
    n, n_reference : array-like
        Rows of the group and of the reference.
    rate_reference : array-like
        The selection rate of the reference.
    confidence : float
        1 minus the significance level of the test.
    power : float

    Returns
    -------
    float array
        In [0, 1). NaN where the test does not reach the power even at a ratio of 0.

    Examples
    --------
    >>> round(float(detectable_ratio(48, 259, rate_reference=206 / 259)), 2)
    0.76
    """
    size, size_reference, rate = np.broadcast_arrays(
        *(np.asarray(array, dtype=np.float64) for array in (n, n_reference, rate_reference))
    )

    def is_detected(ratio: FloatArray) -> BoolArray:
        chance = z_test_power(
            ratio, n=size, n_reference=size_reference, rate_reference=rate, confidence=confidence
        )
        return np.asarray(chance >= power)

    zeros, ones = np.zeros(size.shape), np.ones(size.shape)
    ratio = bisect(is_detected, low=zeros, high=ones, halvings=RATIO_HALVINGS)
    return np.where((rate > 0) & is_detected(zeros), ratio, np.nan)


def z_test_power(
    ratio: FloatArray,
    *,
    n: FloatArray,
    n_reference: FloatArray,
    rate_reference: FloatArray,
    confidence: float,
) -> FloatArray:
    """Return the probability that the z-test with pooled variance rejects equal rates.

    The true rates are `rate_reference` in the reference and ratio * rate_reference in the group.
    """
    rate = ratio * rate_reference
    pooled = (n * rate + n_reference * rate_reference) / (n + n_reference)
    # The test rejects a difference larger than `critical`. It takes the variance of equal rates,
    # while the difference really varies with that of the two true rates.
    null_deviation = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_reference))
    critical = ndtri((1 + confidence) / 2) * null_deviation
    true_deviation = np.sqrt(
        rate * (1 - rate) / n + rate_reference * (1 - rate_reference) / n_reference
    )
    difference = rate_reference - rate
    # Rates of 0 and 1 do not vary: the test rejects them with certainty, or never.
    deviation = np.maximum(true_deviation, MIN_DEVIATION)
    return np.asarray(
        ndtr((difference - critical) / deviation) + ndtr((-difference - critical) / deviation)
    )
