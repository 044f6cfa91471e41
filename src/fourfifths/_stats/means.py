"""Differences between the mean scores of groups, in standard deviations of all scores.

References
----------
Hedges and Olkin, Statistical Methods for Meta-Analysis (1985), for the large-sample variance.
Welch, Biometrika 34 (1947), for the degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from fourfifths._arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class MeanDifferences:
    """Standardised mean differences, one per group.

    Attributes
    ----------
    difference : float array
        (mean of the group - mean of the reference) / standard deviation of all scores. NaN where
        the scores do not vary, and for a group without scores.
    low, high : float array
        The limits of its confidence interval. NaN for the reference, and where it or the group has
        fewer than two scores.
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray


def mean_differences(
    weight: ArrayLike,
    total: ArrayLike,
    squares: ArrayLike,
    *,
    reference: int,
    effective: ArrayLike | None = None,
    confidence: float = 0.95,
) -> MeanDifferences:
    """Return the standardised mean difference of each group from the reference.

    The standard deviation is that of the scores of all groups together, with the sum of the weights
    as divisor. The interval is the large-sample one for scores that are normal within each group,
    whose variances may differ: the means and the variances of the groups are independent, and the
    difference is a function of them (delta method). Its quantile is that of Student's t with
    Welch's degrees of freedom. See `limits`.

    Parameters
    ----------
    weight, total, squares : array-like
        For each group, the sum of the weights of its scores (their number, if all weigh 1), the
        sum of the scores, and that of their squares. Subtract the mean of all scores first: the
        squares of large scores leave no digits for their variance.
    reference : int
        The index of the reference.
    effective : array-like, optional
        The effective sample sizes; by default the weights.
    confidence : float

    Examples
    --------
    Scores 1, 2, 3 and 3, 4, 5: a difference of 2, where all have a variance of 5/3.

    >>> found = mean_differences([3, 3], [6, 12], [14, 50], reference=1)
    >>> found.difference.round(3).tolist()
    [-1.549, 0.0]
    """
    w, sums, square_sums = (
        np.asarray(array, dtype=np.float64) for array in (weight, total, squares)
    )
    n = w if effective is None else np.asarray(effective, dtype=np.float64)
    undefined = np.full(w.shape, np.nan)
    if not w.sum() > 0:
        return MeanDifferences(difference=undefined, low=undefined, high=undefined)
    share = w / w.sum()
    mean_of_all = sums.sum() / w.sum()
    variance_of_all = square_sums.sum() / w.sum() - mean_of_all**2
    if not variance_of_all > 0:
        return MeanDifferences(difference=undefined, low=undefined, high=undefined)
    deviation = np.sqrt(variance_of_all)
    has_scores = w > 0
    safe_weight = np.where(has_scores, w, 1.0)
    mean = np.where(has_scores, sums / safe_weight, np.nan)
    difference = (mean - mean[reference]) / deviation
    low, high = limits(
        share,
        np.where(has_scores, mean - mean_of_all, 0.0),
        np.maximum(square_sums / safe_weight - (sums / safe_weight) ** 2, 0.0),
        n=n,
        reference=reference,
        confidence=confidence,
    )
    return MeanDifferences(difference=difference, low=low, high=high)


def limits(
    share: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    *,
    n: FloatArray,
    reference: int,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the standardised mean differences.

    The variance of all scores is V + c D^2, where D is the difference of the two means, c = s s' /
    (s + s') for the shares of the two groups, and V does not depend on D. With two groups V is the
    variance within them, and D / sqrt(V) is Cohen's d. The limits are those of d = D / sqrt(V), for
    which the large-sample variance is good with few scores too, as d / sqrt(1 + c d^2).

    Parameters
    ----------
    share, mean, variance : float array
        Of each group: its share of all scores, their mean above that of all, and their variance
        with n as divisor.
    n : float array
        The effective sample sizes.
    reference : int
    confidence : float
    """
    has_two = n > 1
    safe_n = np.where(has_two, n, 2.0)
    unbiased = np.where(has_two, variance * safe_n / (safe_n - 1), variance)
    distance = mean - mean[reference]
    both_shares = share + share[reference]
    c = share * share[reference] / np.where(both_shares > 0, both_shares, 1.0)
    total = np.sum(share * unbiased) + np.sum(share * mean**2)
    rest = total - c * distance**2
    is_defined = has_two & has_two[reference] & (rest > 0)
    is_defined[reference] = False
    rest = np.where(is_defined, rest, 1.0)
    d = distance / np.sqrt(rest)
    # How d changes with the mean of each group, directly and through V, and with its variance. One
    # row per difference, one column per group.
    contrast = np.eye(share.size) - np.eye(share.size)[reference]
    rest_by_mean = 2 * share * mean - 2 * (c * distance)[:, np.newaxis] * contrast
    by_rest = (-d / (2 * rest))[:, np.newaxis]
    by_mean = contrast / np.sqrt(rest)[:, np.newaxis] + by_rest * rest_by_mean
    by_variance = by_rest * share
    # A mean varies with variance / n, a variance with 2 variance^2 / (n - 1).
    of_mean, of_variance = unbiased / safe_n, 2 * unbiased**2 / (safe_n - 1)
    error = np.sqrt(by_mean**2 @ of_mean + by_variance**2 @ of_variance)
    # Welch's degrees of freedom of the difference of the two means.
    spread = of_mean**2 / (safe_n - 1)
    spread = spread + spread[reference]
    degrees = (of_mean + of_mean[reference]) ** 2 / np.where(spread > 0, spread, 1.0)
    degrees = np.where(is_defined & (degrees > 0), degrees, 1.0)
    reach = np.where(is_defined, stdtrit(degrees, (1 + confidence) / 2) * error, np.nan)
    low, high = (limit / np.sqrt(1 + c * limit**2) for limit in (d - reach, d + reach))
    return low, high
