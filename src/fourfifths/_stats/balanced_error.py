"""The paper's link between predicting the protected attribute and disparate impact.

The balanced error rate (BER) of a predictor of the protected attribute is the mean of its error
rates in the group and in the reference. Let β be the selection rate of the group and τ the
threshold of the impact ratio. Theorem 4.1 of the paper says that a rule with an impact ratio of at
most τ predicts the attribute with a BER of at most ε' = 1/2 - β (1/τ - 1) / 2. So where the lowest
possible BER is larger than ε', no rule has disparate impact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, ndtr

from fourfifths._arrays import FloatArray
from fourfifths._stats.proportions import clopper_pearson
from fourfifths.errors import OptionError

JEFFREYS_PRIOR = 0.5  # both parameters of the Beta prior of a rate
# An integral over the posterior of a rate is a sum over its quantiles at these points of a standard
# normal distribution: the trapezoidal rule for a smooth function that vanishes at both ends.
NORMAL_POINTS = np.linspace(-6, 6, 41)
NORMAL_WEIGHTS = np.exp(-(NORMAL_POINTS**2) / 2) / np.exp(-(NORMAL_POINTS**2) / 2).sum()
MEAN_POINTS = 16  # of each Gauss-Legendre rule for the mean of the impact bound
BISECTIONS = 25


def ber_threshold(beta: ArrayLike, threshold: float = 0.8) -> FloatArray:
    """Return ε', the BER above which no rule has an impact ratio at or below the threshold.

    Parameters
    ----------
    beta : array-like
        The selection rate of the group, in [0, 1].
    threshold : float
        The threshold τ of the impact ratio, in (0, 1).

    Returns
    -------
    float array
        1/2 - β (1/τ - 1) / 2, at most 1/2.

    Examples
    --------
    >>> round(float(ber_threshold(0.3)), 4)
    0.4625
    """
    if not np.all((np.asarray(threshold) > 0) & (np.asarray(threshold) < 1)):
        raise OptionError(f"threshold={threshold!r}: expected a number between 0 and 1")
    rate = selection_rates(beta, lowest="0")
    return np.asarray(1 / 2 - rate * (1 / threshold - 1) / 2)


def selection_rates(beta: ArrayLike, *, lowest: Literal["0", "above 0"]) -> FloatArray:
    """Return selection rates as floats, or raise unless all are up to 1 or undefined."""
    rate = np.asarray(beta, dtype=np.float64)
    if np.any((rate < 0) | (rate > 1) | ((rate == 0) & (lowest == "above 0"))):
        raise OptionError(f"beta={rate}: expected selection rates from {lowest} to 1")
    return rate


def impact_bound(ber: ArrayLike, beta: ArrayLike) -> FloatArray:
    """Return the lowest impact ratio that a BER allows: β / (β + 1 - 2 BER), at most 1.

    A rule that selects β of the group selects at most β + 1 - 2 BER of the reference. If it
    selected more, it would itself predict membership with a lower BER.

    Parameters
    ----------
    ber : array-like
        The lowest BER of any predictor of the protected attribute.
    beta : array-like
        The selection rate of the group, in (0, 1].

    Returns
    -------
    float array
        In (0, 1].

    Examples
    --------
    >>> round(float(impact_bound(0.44, 0.48)), 12)
    0.8
    """
    rate = selection_rates(beta, lowest="above 0")
    # A BER above 1/2 is worse than guessing and allows no more than guessing does.
    excess = np.maximum(1 - 2 * np.asarray(ber, dtype=np.float64), 0.0)
    return np.asarray(rate / (rate + excess))


@dataclass(frozen=True, kw_only=True)
class Errors:
    """The errors of a predictor of the protected attribute.

    Attributes
    ----------
    wrong, n : int
        Members of the group that were predicted to be in the reference, and all its members.
    wrong_reference, n_reference : int
        Members of the reference that were predicted to be in the group, and all its members.
    """

    wrong: int
    n: int
    wrong_reference: int
    n_reference: int

    @property
    def balanced_error_rate(self) -> float:
        """The mean of the two error rates, in [0, 1]. Guessing has 0.5."""
        return (self.wrong / self.n + self.wrong_reference / self.n_reference) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the confidence interval of the BER.

        It combines the exact intervals of the two error rates: the distances from each estimate to
        its limit add up in squares, as those of independent estimates do (Zou and Donner,
        Statistics in Medicine 27, 2008).
        """
        wrong = np.array([self.wrong, self.wrong_reference])
        n = np.array([self.n, self.n_reference])
        rate = wrong / n
        low, high = clopper_pearson(wrong, n, confidence=confidence)
        ber = self.balanced_error_rate
        below, above = np.hypot(*(rate - low)) / 2, np.hypot(*(high - rate)) / 2
        return max(0.0, ber - float(below)), min(1.0, ber + float(above))


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """The Bayesian form: what is known of the BER and of the impact bound, as distributions.

    Attributes
    ----------
    balanced_error_rate, balanced_error_rate_interval
        Posterior mean and central interval of the BER.
    impact_bound, impact_bound_interval
        Posterior mean and central interval of β / (β + 1 - 2 BER).
    probability_below : float
        The posterior probability that the bound is below the threshold.
    """

    balanced_error_rate: float
    balanced_error_rate_interval: tuple[float, float]
    impact_bound: float
    impact_bound_interval: tuple[float, float]
    probability_below: float


@dataclass(frozen=True, kw_only=True)
class RatePosterior:
    """What is known of a rate: a Beta distribution with these parameters."""

    a: float
    b: float

    @classmethod
    def of(cls, successes: int, n: int) -> RatePosterior:
        """Return the posterior after so many successes in n, with Jeffreys' prior."""
        return cls(a=successes + JEFFREYS_PRIOR, b=n - successes + JEFFREYS_PRIOR)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.a / (self.a + self.b)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(self.mean * (1 - self.mean) / (self.a + self.b + 1)))

    @cached_property
    def points(self) -> FloatArray:
        """The quantiles at `NORMAL_POINTS`, whose weights are `NORMAL_WEIGHTS`."""
        return np.asarray(betaincinv(self.a, self.b, ndtr(NORMAL_POINTS)))

    def below(self, rate: FloatArray) -> FloatArray:
        """Return the probability that the rate is below each of these."""
        return np.asarray(betainc(self.a, self.b, np.clip(rate, 0, 1)))


def posterior(
    errors: Errors,
    beta: float | tuple[int, int],
    *,
    threshold: float,
    confidence: float,
) -> Posterior:
    """Return the posterior of the BER and of the impact bound.

    The two error rates and β have independent Beta posteriors with Jeffreys' prior. The posteriors
    of the BER and of the bound are integrals over these; nothing is simulated.

    Parameters
    ----------
    errors : Errors
    beta : float or (int, int)
        The selection rate of the group if it is known, or else how many of the group were selected
        and how many there are.
    threshold : float
        Of the impact ratio.
    confidence : float
        The probability that the central intervals contain.

    Examples
    --------
    >>> errors = Errors(wrong=45, n=100, wrong_reference=48, n_reference=100)
    >>> round(posterior(errors, 0.3, threshold=0.8, confidence=0.95).probability_below, 3)
    0.469
    """
    error_rates = [
        RatePosterior.of(errors.wrong, errors.n),
        RatePosterior.of(errors.wrong_reference, errors.n_reference),
    ]
    selection_rate = RatePosterior.of(*beta) if isinstance(beta, tuple) else beta

    def ber_below(ber: FloatArray) -> FloatArray:
        return sum_below(error_rates, np.ones((ber.size, 2)), 2 * ber)

    def bound_below(bound: FloatArray) -> FloatArray:
        # β / (β + 1 - e - e') is below t if e + e' + β (1 - t) / t is below 1.
        weight = (1 - bound) / bound
        if isinstance(selection_rate, RatePosterior):
            weights = np.column_stack([np.ones((bound.size, 2)), weight])
            return sum_below([*error_rates, selection_rate], weights, np.ones(bound.size))
        return sum_below(error_rates, np.ones((bound.size, 2)), 1 - selection_rate * weight)

    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    lowest_ber = sum(rate.points[0] for rate in error_rates) / 2
    lowest_beta = (
        selection_rate.points[0] if isinstance(selection_rate, RatePosterior) else selection_rate
    )
    lowest_bound = float(impact_bound(lowest_ber, lowest_beta))
    ber_low, ber_high = quantiles(ber_below, tails, lowest=0.0)
    bound_low, bound_high = quantiles(bound_below, tails, lowest=lowest_bound)
    # The mean of a number up to 1 is 1 less the integral of the probability that it is lower.
    points, point_weights = np.polynomial.legendre.leggauss(MEAN_POINTS)
    edges = np.array([lowest_bound, bound_low, bound_high, 1.0])
    half = np.diff(edges)[:, None] / 2
    below = bound_below((edges[:-1, None] + half * (points + 1)).ravel())
    return Posterior(
        balanced_error_rate=sum(rate.mean for rate in error_rates) / 2,
        balanced_error_rate_interval=(float(ber_low), float(ber_high)),
        impact_bound=1 - float((half * point_weights).ravel() @ below),
        impact_bound_interval=(float(bound_low), float(bound_high)),
        probability_below=float(bound_below(np.array([threshold]))[0]),
    )


def sum_below(
    rates: Sequence[RatePosterior], weights: FloatArray, limits: FloatArray
) -> FloatArray:
    """Return the probability that a weighted sum of independent rates is below each limit.

    The rate that adds the largest spread is integrated in closed form and the others by points, so
    that the summed function is smooth between the points.

    Parameters
    ----------
    rates : sequence of RatePosterior
    weights : float array, limits by rates
    limits : float array
    """
    probability = np.empty(limits.size)
    widest = np.argmax(weights * [rate.deviation for rate in rates], axis=1)
    for index in np.unique(widest):
        rows = np.flatnonzero(widest == index)
        total, point_weights = np.zeros((rows.size, 1)), np.ones(1)
        for other, summed in enumerate(rates):
            if other != index:
                added = weights[rows, other, None, None] * summed.points
                total = (total[:, :, None] + added).reshape(rows.size, -1)
                point_weights = np.outer(point_weights, NORMAL_WEIGHTS).ravel()
        rest = (limits[rows, None] - total) / weights[rows, index, None]
        probability[rows] = rates[index].below(rest) @ point_weights
    return probability


def quantiles(
    below: Callable[[FloatArray], FloatArray], levels: FloatArray, *, lowest: float
) -> FloatArray:
    """Return where a distribution on (lowest, 1] reaches these levels; 1 where it never does."""
    low, high = np.full(levels.size, lowest), np.ones(levels.size)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_below = below(middle) < levels
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.asarray((low + high) / 2)
