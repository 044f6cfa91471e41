"""What a number of rows could have told apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fourfifths._arrays import FloatArray
from fourfifths._stats.intervals import TINY, bisect

POWER = 0.8
HALVINGS = 34  # the ratio is then known to 1e-10


def detectable_ratio(
    n: ArrayLike,
    n_reference: ArrayLike,
    rate_reference: ArrayLike,
    *,
    confidence: float = 0.95,
    power: float = POWER,
) -> FloatArray:
    """Return the impact ratio nearest to 1, from below, that so many rows could tell from 1.

    At this ratio and the reference's rate the two-sided z-test finds a difference with probability
    `power`; at ratios nearer to 1, more seldom. NaN where even a ratio of 0 would be missed more
    often.

    Examples
    --------
    >>> round(float(detectable_ratio(48, 259, 206 / 259)), 2)
    0.76
    """
    size, size_r, rate_r = np.broadcast_arrays(
        *(np.asarray(array, dtype=np.float64) for array in (n, n_reference, rate_reference))
    )
    none, all_of_it = np.zeros(size.shape), np.ones(size.shape)
    found = bisect(
        lambda ratio: _power(ratio, size, size_r, rate_r, confidence) >= power,
        none,
        all_of_it,
        HALVINGS,
    )
    possible = (rate_r > 0) & (_power(none, size, size_r, rate_r, confidence) >= power)
    return np.where(possible, found, np.nan)


def _power(
    ratio: FloatArray, n: FloatArray, n_r: FloatArray, rate_r: FloatArray, confidence: float
) -> FloatArray:
    """Return the probability that the z-test with pooled variance rejects equal rates."""
    rate = ratio * rate_r
    pooled = (n * rate + n_r * rate_r) / (n + n_r)
    needed = ndtri((1 + confidence) / 2) * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_r))
    deviation = np.sqrt(rate * (1 - rate) / n + rate_r * (1 - rate_r) / n_r)
    gap = rate_r - rate
    # Where nothing varies (rates 0 and 1), the test is certain.
    spread = np.maximum(deviation, TINY)
    return np.asarray(ndtr((gap - needed) / spread) + ndtr((-gap - needed) / spread))
