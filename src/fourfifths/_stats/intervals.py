"""Confidence intervals for a selection rate and for the ratio of two rates, from counts.

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

# The limits of a ratio are searched for between exp(-50) and exp(50). Each step halves the range
# of the logarithm, so 54 steps find a limit to one part in 10^14.
MAX_LOG_RATIO = 50.0
RATIO_HALVINGS = 54
# Replaces a standard deviation of 0, so that a difference divided by it is huge and not NaN.
MIN_DEVIATION = 1e-300


def clopper_pearson(
    selected: ArrayLike, n: ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval of a selection rate.

    The lower limit is the rate at which `selected` or more of n would be selected with probability
    (1 - confidence) / 2, and the upper limit the rate at which `selected` or fewer would be. The
    interval contains the true rate at least as often as `confidence` says.

    Parameters
    ----------
    selected, n : array-like
        How many were selected, of how many. Effective sample sizes, which are not integers, are
        fine too.
    confidence : float

    Returns
    -------
    lower_limit, upper_limit : float array
        In [0, 1].

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    x, size = (np.asarray(array, dtype=np.float64) for array in (selected, n))
    tail = (1 - confidence) / 2
    # The beta quantile is not defined at x = 0 (lower limit) and x = n (upper limit). There any
    # positive parameter will do, because the result is replaced by 0 or 1.
    lower_shape, upper_shape = np.where(x > 0, x, 1.0), np.where(x < size, size - x, 1.0)
    low = np.where(x > 0, betaincinv(lower_shape, size - x + 1, tail), 0.0)
    high = np.where(x < size, betaincinv(x + 1, upper_shape, 1 - tail), 1.0)
    return low, high


def ratio_interval(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Return the score interval of an impact ratio (Koopman; Miettinen and Nurminen).

    The interval contains every ratio t for which the score test does not reject the hypothesis
    "the impact ratio is t". It is also valid where no one or everyone is selected: a group in
    which no one is selected has lower limit 0 and a finite upper limit. If no one in the reference
    is selected, no ratio is too large, and the upper limit is NaN.

    Parameters
    ----------
    selected, n : array-like
        How many of the group were selected, of how many.
    selected_reference, n_reference : array-like
        The same for the reference.
    confidence : float

    Returns
    -------
    lower_limit, upper_limit : float array
        0 or more.

    Examples
    --------
    >>> low, high = ratio_interval(26, 48, 206, 259)
    >>> round(float(low), 3), round(float(high), 3)
    (0.503, 0.857)
    """
    x, size, x_reference, size_reference = np.broadcast_arrays(
        *(
            np.asarray(array, dtype=np.float64)
            for array in (selected, n, selected_reference, n_reference)
        )
    )
    z = float(ndtri((1 + confidence) / 2))
    # The statistic falls as the ratio grows. So it equals z at the lower limit and -z at the upper.
    target = np.stack([np.full(x.shape, z), np.full(x.shape, -z)])
    log_ratio = bisect(
        lambda log: score_statistic(np.exp(log), x, size, x_reference, size_reference) > target,
        low=np.full(target.shape, -MAX_LOG_RATIO),
        high=np.full(target.shape, MAX_LOG_RATIO),
        halvings=RATIO_HALVINGS,
    )
    low, high = np.exp(log_ratio)
    # Without selections in the group the search ends at exp(-50), which stands for 0. Without any
    # in the reference it ends at exp(50), which stands for no limit.
    return np.where(x > 0, low, 0.0), np.where(x_reference > 0, high, np.nan)


def score_statistic(
    ratio: FloatArray,
    selected: FloatArray,
    n: FloatArray,
    selected_reference: FloatArray,
    n_reference: FloatArray,
) -> FloatArray:
    """Return the score statistic of the hypothesis that the impact ratio is `ratio`.

    It is (p - ratio p') divided by its standard deviation under the hypothesis, with the observed
    rates p of the group and p' of the reference. Under the hypothesis it is approximately standard
    normal.
    """
    x, xr, nr = selected, selected_reference, n_reference
    rejected, rejected_r, total = n - x, nr - xr, n + nr
    # The most likely rates whose ratio is `ratio` are the smaller root of a quadratic equation.
    # They, and their distances to 1, are written without differences of nearly equal numbers,
    # which would lose all digits where nearly everyone is selected.
    group_term, reference_term = ratio * (n + xr), nr + x
    root = np.sqrt((group_term - reference_term) ** 2 + 4 * ratio * rejected * rejected_r)
    scale = group_term + reference_term + root
    rate_r = 2 * (x + xr) / scale
    one_minus_rate_r = (rejected + rejected_r + (ratio - 1) * (n + xr) + root) / scale
    one_minus_rate = (ratio * rejected + rejected_r + (1 - ratio) * (x + xr) + root) / scale
    variance = ratio * rate_r * one_minus_rate / n + ratio**2 * rate_r * one_minus_rate_r / nr
    # The factor total / (total - 1) is Miettinen and Nurminen's.
    deviation = np.sqrt(np.maximum(variance, 0) * total / (total - 1))
    # The variance is 0 where everyone is selected. Then any difference at all rejects.
    return np.asarray((x / n - ratio * xr / nr) / np.maximum(deviation, MIN_DEVIATION))


def bisect(
    test: Callable[[FloatArray], BoolArray], *, low: FloatArray, high: FloatArray, halvings: int
) -> FloatArray:
    """Return where a test changes from true to false, for each element.

    The test must be true below that point and false above it.
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        is_below = test(middle)
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low
