"""Selection rates of groups, adjusted for controls by a logistic regression.

The log odds of being selected are a constant, plus a term for the group, plus the controls. A
group's adjusted rate is the mean of the fitted probabilities if everyone belonged to the group and
kept their controls (direct standardisation). Its interval is by the delta method, with the controls
as they are.

References
----------
Lane and Nelder, Biometrics 38 (1982). Albert and Anderson, Biometrika 71 (1984). Peduzzi and
others, Journal of Clinical Epidemiology 49 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, log_expit, ndtr, ndtri

from fourfifths._arrays import FloatArray, IntArray

Problem = Literal["none", "collinear", "separated"]
# Newton's method needs about ten steps. Where the outcome is separated, the estimates are infinite,
# and each step moves the log odds on by about 1, for ever.
MAX_STEPS = 30
CONVERGED_STEP = 1e-8
# A column of which less than this is left, beside those before it, follows from them.
COLLINEAR_SHARE = 1e-7


@dataclass(frozen=True, kw_only=True)
class LogisticFit:
    """A fitted logistic regression.

    Attributes
    ----------
    coefficients : float array
    covariance : float array
        The inverse of the information.
    problem : {"none", "collinear", "separated"}
        Why there are no estimates. They are NaN then.
    column : int
        The column of the design that has the problem; -1 if there is none.
    """

    coefficients: FloatArray
    covariance: FloatArray
    problem: Problem
    column: int


@dataclass(frozen=True, kw_only=True)
class AdjustedRates:
    """The groups' rates if all had the same controls, compared with that of the reference.

    Arrays run over the groups; intervals have two columns. What compares with the reference is NaN
    for the reference.

    Attributes
    ----------
    fit : LogisticFit
    rate, rate_interval : float array
    difference, difference_interval : float array
        Rate of the group minus rate of the reference: the average marginal effect.
    ratio, ratio_interval : float array
    odds_ratio, odds_ratio_interval : float array
        At equal controls.
    p : float array
        Of Wald's test that the odds ratio is 1.
    """

    fit: LogisticFit
    rate: FloatArray
    rate_interval: FloatArray
    difference: FloatArray
    difference_interval: FloatArray
    ratio: FloatArray
    ratio_interval: FloatArray
    odds_ratio: FloatArray
    odds_ratio_interval: FloatArray
    p: FloatArray


def fit_logistic(design: FloatArray, *, selected: FloatArray, n: FloatArray) -> LogisticFit:
    """Fit a logistic regression by Newton's method.

    Parameters
    ----------
    design : float array, cells by columns
        The first column is the constant.
    selected, n : float array
        How many persons of each cell were selected, of how many.

    Examples
    --------
    With a constant only, the log odds of 3 of 4:

    >>> fit = fit_logistic(np.ones((1, 1)), selected=np.array([3.0]), n=np.array([4.0]))
    >>> bool(np.isclose(fit.coefficients[0], np.log(3)))
    True
    """
    column_count = design.shape[1]
    undefined = {
        "coefficients": np.full(column_count, np.nan),
        "covariance": np.full((column_count, column_count), np.nan),
    }
    weighted = np.sqrt(n)[:, None] * design
    left = np.zeros(column_count)
    diagonal = np.abs(np.diag(np.linalg.qr(weighted, mode="r")))
    left[: diagonal.size] = diagonal
    dependent = np.flatnonzero(left <= COLLINEAR_SHARE * np.linalg.norm(weighted, axis=0))
    if dependent.size:
        return LogisticFit(**undefined, problem="collinear", column=int(dependent[0]))

    def log_likelihood(log_odds: FloatArray) -> float:
        return float(selected @ log_expit(log_odds) + (n - selected) @ log_expit(-log_odds))

    coefficients, log_odds = np.zeros(column_count), np.zeros(n.shape)
    for _ in range(MAX_STEPS):
        # Never as 1 - p, which loses its digits where p is near 1: steps would vanish with them,
        # and a separated outcome would pass for a steep one.
        chance, opposite = expit(log_odds), expit(-log_odds)
        variance, residual = n * chance * opposite, selected * opposite - (n - selected) * chance
        information = design.T @ (variance[:, None] * design)
        try:
            step = np.linalg.solve(information, design.T @ residual)
        except np.linalg.LinAlgError:
            break
        move = design @ step
        if np.max(np.abs(move)) < CONVERGED_STEP:
            covariance = np.linalg.inv(information)
            return LogisticFit(
                coefficients=coefficients, covariance=covariance, problem="none", column=-1
            )
        share, reached = 1.0, log_likelihood(log_odds)
        # Rounding alone may make the likelihood a little smaller near its maximum.
        while share > 1e-6 and (
            log_likelihood(log_odds + share * move) < reached - 1e-10 * (1 + abs(reached))
        ):
            share /= 2
        coefficients, log_odds = coefficients + share * step, log_odds + share * move
    spread = np.ptp(design, axis=0)
    column = int(np.argmax(np.abs(coefficients) * spread))
    return LogisticFit(**undefined, problem="separated", column=column)


def adjusted_rates(
    groups: IntArray,
    controls: FloatArray,
    *,
    selected: FloatArray,
    n: FloatArray,
    reference: int,
    confidence: float = 0.95,
) -> AdjustedRates:
    """Compare groups with the reference, adjusted for controls.

    Parameters
    ----------
    groups : int array
        The group of each cell, from 0; each occurs.
    controls : float array, cells by columns
        May have no columns: then the rates are the plain ones.
    selected, n : float array
        How many persons of each cell were selected, of how many.
    reference : int
    confidence : float

    Notes
    -----
    The columns of the design are the constant, the groups but for the reference, the controls.

    Examples
    --------
    Without controls, 1 of 4 against 2 of 4:

    >>> rates = adjusted_rates(
    ...     np.array([0, 1]),
    ...     np.empty((2, 0)),
    ...     selected=np.array([1.0, 2.0]),
    ...     n=np.array([4.0, 4.0]),
    ...     reference=1,
    ... )
    >>> round(float(rates.ratio[0]), 6), round(float(rates.difference[0]), 6)
    (0.5, -0.25)
    """
    group_count = int(groups.max()) + 1
    compared_groups = [group for group in range(group_count) if group != reference]
    dummies = (groups[:, None] == np.array(compared_groups)[None, :]).astype(np.float64)
    constant = np.ones((n.size, 1))
    fit = fit_logistic(np.hstack([constant, dummies, controls]), selected=selected, n=n)

    z = float(ndtri((1 + confidence) / 2))
    total = n.sum()
    rate = np.empty(group_count)
    gradient = np.empty((group_count, fit.coefficients.size))
    after_groups = 1 + len(compared_groups)
    group_terms = np.zeros(group_count)
    group_terms[compared_groups] = fit.coefficients[1:after_groups]
    from_controls = fit.coefficients[0] + controls @ fit.coefficients[after_groups:]
    for group in range(group_count):
        log_odds = from_controls + group_terms[group]
        rate[group] = n @ expit(log_odds) / total
        slope = n * expit(log_odds) * expit(-log_odds) / total
        gradient[group, 0] = slope.sum()
        gradient[group, 1:after_groups] = [
            slope.sum() if column == group else 0.0 for column in compared_groups
        ]
        gradient[group, after_groups:] = slope @ controls

    def standard_error(directions: FloatArray) -> FloatArray:
        variance: FloatArray = np.einsum("gi,ij,gj->g", directions, fit.covariance, directions)
        return np.sqrt(np.maximum(variance, 0.0))

    def around(centre: FloatArray, error: FloatArray) -> FloatArray:
        return np.stack([centre - z * error, centre + z * error], axis=1)

    # Rates on the scale of log odds and ratios on that of logarithms stay where they can be.
    odds_scale = 1 / (rate * (1 - rate))
    rate_interval = expit(
        around(np.log(rate / (1 - rate)), standard_error(odds_scale[:, None] * gradient))
    )
    is_reference = np.arange(group_count) == reference
    difference = rate - rate[reference]
    difference_error = standard_error(gradient - gradient[reference])
    log_gradient = gradient / rate[:, None]
    log_ratio = np.log(rate / rate[reference])
    ratio_error = standard_error(log_gradient - log_gradient[reference])
    term_error = np.zeros(group_count)
    term_error[compared_groups] = np.sqrt(np.diag(fit.covariance)[1:after_groups])
    wald = np.divide(group_terms, term_error, out=np.zeros(group_count), where=~is_reference)

    def compared(figures: FloatArray) -> FloatArray:
        mask = is_reference if figures.ndim == 1 else is_reference[:, None]
        return np.where(mask, np.nan, figures)

    return AdjustedRates(
        fit=fit,
        rate=rate,
        rate_interval=rate_interval,
        difference=compared(difference),
        difference_interval=compared(np.clip(around(difference, difference_error), -1.0, 1.0)),
        ratio=compared(np.exp(log_ratio)),
        ratio_interval=compared(np.exp(around(log_ratio, ratio_error))),
        odds_ratio=compared(np.exp(group_terms)),
        odds_ratio_interval=compared(np.exp(around(group_terms, term_error))),
        p=compared(2 * ndtr(-np.abs(wald))),
    )
