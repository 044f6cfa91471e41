"""The paper's link between predicting the protected attribute and disparate impact.

The balanced error rate (BER) of a predictor of the protected attribute is the mean of its two
class-conditioned errors. With β the selection rate of the group and τ the threshold of the impact
ratio, theorem 4.1 of the paper says that a rule with impact ratio τ predicts the attribute with
BER at most ε' = 1/2 - β (1/τ - 1) / 2; so where the least BER is larger, no rule has disparate
impact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fourfifths._arrays import FloatArray
from fourfifths._stats.intervals import clopper_pearson

DRAWS = 200_000
JEFFREYS = 0.5


def ber_threshold(beta: ArrayLike, threshold: float = 0.8) -> FloatArray:
    """Return ε', the BER above which no rule can have an impact ratio at or below the threshold.

    Parameters
    ----------
    beta : array-like
        The selection rate of the group, in (0, 1].
    threshold : float
        τ, in (0, 1).

    Examples
    --------
    >>> round(float(ber_threshold(0.3)), 4)
    0.4625
    """
    rate = np.asarray(beta, dtype=np.float64)
    return np.asarray(1 / 2 - rate * (1 / threshold - 1) / 2)


def impact_bound(ber: ArrayLike, beta: ArrayLike) -> FloatArray:
    """Return the least impact ratio that a BER allows: β / (β + 1 - 2 BER), at most 1.

    A rule that selects β of the group selects at most β + 1 - 2 BER of the reference, or it would
    predict membership better than the BER says is possible.

    Examples
    --------
    >>> round(float(impact_bound(0.44, 0.48)), 12)
    0.8
    """
    rate = np.asarray(beta, dtype=np.float64)
    excess = np.maximum(1 - 2 * np.asarray(ber, dtype=np.float64), 0.0)
    return np.asarray(rate / (rate + excess))


@dataclass(frozen=True, kw_only=True)
class Errors:
    """How often a predictor of the protected attribute was wrong, in each group.

    Attributes
    ----------
    wrong, n : int
        Members of the group that were taken for the reference, of all of them.
    wrong_reference, n_reference : int
        Members of the reference that were taken for the group.
    """

    wrong: int
    n: int
    wrong_reference: int
    n_reference: int

    @property
    def balanced_error_rate(self) -> float:
        """The mean of the two error rates, in [0, 1]; 0.5 is what guessing gives."""
        return (self.wrong / self.n + self.wrong_reference / self.n_reference) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval of the BER, from the exact intervals of the two error rates.

        Their distances to the estimates are combined as independent errors are (Zou and Donner,
        Statistics in Medicine 27, 2008).
        """
        wrong = np.array([self.wrong, self.wrong_reference])
        n = np.array([self.n, self.n_reference])
        rate = wrong / n
        low, high = clopper_pearson(wrong, n, confidence)
        middle = self.balanced_error_rate
        down, up = np.hypot(*(rate - low)) / 2, np.hypot(*(high - rate)) / 2
        return max(0.0, middle - float(down)), min(1.0, middle + float(up))


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """The Bayesian form: what the errors and the selections say, as distributions.

    Attributes
    ----------
    balanced_error_rate, balanced_error_rate_interval
        Posterior mean and central interval of the BER.
    impact_bound, impact_bound_interval
        The same of β / (β + 1 - 2 BER).
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
    """Push Beta posteriors (Jeffreys) of the two error rates and of β through the formula.

    `beta` is a rate that is known, or (selected, n) of the group.
    """
    random = np.random.default_rng(random_state)

    def draw(successes: int, n: int) -> FloatArray:
        return random.beta(successes + JEFFREYS, n - successes + JEFFREYS, DRAWS)

    ber = (draw(errors.wrong, errors.n) + draw(errors.wrong_reference, errors.n_reference)) / 2
    rates = draw(*beta) if isinstance(beta, tuple) else beta
    bound = impact_bound(ber, rates)
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
