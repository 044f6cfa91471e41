"""The paper's link between predicting the protected attribute and disparate impact.

The balanced error rate (BER) of a predictor of the protected attribute is the mean of its error
rates in the group and in the reference. Let β be the selection rate of the group and τ the
threshold of the impact ratio. Theorem 4.1 of the paper says that a rule with an impact ratio of at
most τ predicts the attribute with a BER of at most ε' = 1/2 - β (1/τ - 1) / 2. So where the lowest
possible BER is larger than ε', no rule has disparate impact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fourfifths._arrays import FloatArray
from fourfifths._stats.proportions import clopper_pearson

# So many that a simulated probability has a standard error of at most 0.0012.
POSTERIOR_DRAWS = 200_000
JEFFREYS_PRIOR = 0.5  # both parameters of the Beta prior of a rate


def ber_threshold(beta: ArrayLike, threshold: float = 0.8) -> FloatArray:
    """Return ε', the BER above which no rule has an impact ratio at or below the threshold.

    Parameters
    ----------
    beta : array-like
        The selection rate of the group, in (0, 1].
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
    rate = np.asarray(beta, dtype=np.float64)
    return np.asarray(1 / 2 - rate * (1 / threshold - 1) / 2)


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
    rate = np.asarray(beta, dtype=np.float64)
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


def posterior(
    errors: Errors,
    beta: float | tuple[int, int],
    *,
    threshold: float,
    confidence: float,
    random_state: int,
) -> Posterior:
    """Return the posterior of the BER and of the impact bound.

    The two error rates and β have independent Beta posteriors with Jeffreys' prior. The posterior
    of the bound is simulated from them.

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
    random_state : int
    """
    generator = np.random.default_rng(random_state)

    def draw_rate(successes: int, n: int) -> FloatArray:
        failures = n - successes
        return generator.beta(
            successes + JEFFREYS_PRIOR, failures + JEFFREYS_PRIOR, POSTERIOR_DRAWS
        )

    error_rate = draw_rate(errors.wrong, errors.n)
    error_rate_reference = draw_rate(errors.wrong_reference, errors.n_reference)
    ber = (error_rate + error_rate_reference) / 2
    bound = impact_bound(ber, draw_rate(*beta) if isinstance(beta, tuple) else beta)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ber_low, ber_high = np.quantile(ber, tails)
    bound_low, bound_high = np.quantile(bound, tails)
    return Posterior(
        balanced_error_rate=float(ber.mean()),
        balanced_error_rate_interval=(float(ber_low), float(ber_high)),
        impact_bound=float(bound.mean()),
        impact_bound_interval=(float(bound_low), float(bound_high)),
        probability_below=float(np.mean(bound < threshold)),
    )
