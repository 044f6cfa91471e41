"""Tests of the difference between two selection rates, what they can detect, and effect sizes.

Most functions compare `selected` of `n` in the group with `selected_reference` of `n_reference` in
the reference. A negative statistic means that the group is selected less often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._stats.intervals import MIN_DEVIATION, bisect

DEFAULT_POWER = 0.8  # the usual choice, after Cohen (1988)
RATIO_HALVINGS = 34  # a ratio in [0, 1] is then accurate to 1e-10


def z_statistic(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return the two-sample z with pooled variance; NaN where everyone or no one is selected.

    Examples
    --------
    >>> round(float(z_statistic(26, 48, 206, 259)), 3)
    -3.757
    """
    x, size, xr, size_r = _floats(selected, n, selected_reference, n_reference)
    pooled = (x + xr) / (size + size_r)
    variance = pooled * (1 - pooled) * (1 / size + 1 / size_r)
    return divide(x / size - xr / size_r, np.sqrt(variance))


def standard_deviations(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return how many standard deviations the group's selections are above the expected number.

    The two group sizes and the total number selected are fixed, as in Fisher's exact test, so the
    group's selections have a hypergeometric distribution: z times sqrt((N - 1) / N).
    """
    total = np.add(n, n_reference, dtype=np.float64)
    return z_statistic(selected, n, selected_reference, n_reference) * np.sqrt((total - 1) / total)


def two_sided_p(z: ArrayLike) -> FloatArray:
    """Return the two-sided p-value of a standard normal statistic."""
    return np.asarray(2 * ndtr(-np.abs(np.asarray(z, dtype=np.float64))))


def phi(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return the phi coefficient, the correlation of membership and selection, in [-1, 1]."""
    total = np.add(n, n_reference, dtype=np.float64)
    # Of a two-by-two table, z squared is the chi-squared statistic, and phi squared that / N.
    return z_statistic(selected, n, selected_reference, n_reference) / np.sqrt(total)


def cohen_h(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return Cohen's h, 2 arcsin(sqrt(p)) - 2 arcsin(sqrt(p')) of the two rates, in [-pi, pi].

    Examples
    --------
    >>> round(float(cohen_h(2, 10, 15, 25)), 3)
    -0.845
    """
    x, size, xr, size_r = _floats(selected, n, selected_reference, n_reference)
    # Cohen (1988): the arcsine of a rate varies equally much at all rates, so that equal h are
    # equally easy to detect.
    return np.asarray(2 * np.arcsin(np.sqrt(x / size)) - 2 * np.arcsin(np.sqrt(xr / size_r)))


class FisherTest(NamedTuple):
    """Fisher's exact test of two-by-two tables.

    Attributes
    ----------
    p : float array
        Two-sided: the probability of all tables with the same margins that are at most as likely
        as the observed one.
    p_less : float array
        One-sided, against the alternative that the group is selected less often.
    mid_p : float array
        `p` minus half the probability of the observed table (Lancaster).
    """

    p: FloatArray
    p_less: FloatArray
    mid_p: FloatArray


def fisher_test(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FisherTest:
    """Return Fisher's exact test of each table. The counts must be integers.

    The two tails are found by bisection, not by listing all tables, so that millions of rows are
    no problem.

    Examples
    --------
    >>> fisher = fisher_test(6, 19, 25, 43)
    >>> round(float(fisher.p), 5), round(float(fisher.p_less), 5)
    (0.09708, 0.04854)
    """
    # Importing scipy.stats takes half a second, and only exact tests need it.
    from scipy.stats import hypergeom

    x, size, xr, size_r = np.broadcast_arrays(
        *_floats(selected, n, selected_reference, n_reference)
    )
    margins = (size + size_r, x + xr, size)
    observed = hypergeom.pmf(x, *margins)
    # Equally likely tables differ by rounding. SciPy's own test has the same tolerance.
    limit = observed * (1 + 1e-14)
    # The mode of a hypergeometric distribution, in closed form.
    mode = np.floor((x + xr + 1) * (size + 1) / (size + size_r + 2))
    smallest, largest = np.maximum(0.0, x + xr - size_r), np.minimum(size, x + xr)
    # The probability rises up to the mode and falls after it. The tables at most as likely as the
    # observed one are those before `low` and those from `high` on.
    low = first_true(lambda k: hypergeom.pmf(k, *margins) > limit, low=smallest, high=mode)
    high = first_true(lambda k: hypergeom.pmf(k, *margins) <= limit, low=mode, high=largest + 1)
    tails = hypergeom.cdf(low - 1, *margins) + hypergeom.sf(high - 1, *margins)
    # If the observed table is the most likely one, every table counts.
    p = np.where(hypergeom.pmf(mode, *margins) <= limit, 1.0, np.minimum(tails, 1.0))
    return FisherTest(p, hypergeom.cdf(x, *margins), p - observed / 2)


def first_true(
    test: Callable[[FloatArray], BoolArray], *, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the first integer from `low` to `high` at which a test is true, for each element.

    The test must be false before that integer and true from it on; `high` counts as true.
    """
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = np.floor((low + high) / 2)
        is_true = test(middle)
        low = np.where(is_true | (low >= high), low, middle + 1)
        high = np.where(is_true, middle, high)
    return low


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


def holm(p: ArrayLike) -> FloatArray:
    """Return p-values adjusted for several comparisons by Holm's method.

    NaN means that there was no comparison. It stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p, dtype=np.float64)
    order = np.argsort(raw)[: int(np.sum(~np.isnan(raw)))]  # NaN sorts last
    # The smallest p counts for all comparisons, the next for one fewer. The running maximum keeps
    # the adjusted values in the order of the raw ones.
    steps = raw[order] * np.arange(order.size, 0, -1)
    adjusted = np.full(raw.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    # The inner `where` divides by 1 in place of 0: NumPy would warn of a result that is not used.
    usable = np.broadcast_to(denominator > 0, np.broadcast(numerator, denominator).shape)
    return np.where(usable, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)


def _floats(*arrays: ArrayLike) -> list[FloatArray]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]
