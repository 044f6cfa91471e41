"""Tests of the difference between two selection rates, and sizes of effect.

Throughout, `selected` of `n` in the group are compared with `selected_reference` of `n_reference`;
a negative statistic means that the group is selected less often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths.errors import OptionError


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
    """Return how many standard deviations the group's selections lie from what is expected.

    The pool and the number selected are taken as given (hypergeometric), as Fisher's exact test
    takes them: z times sqrt((N - 1) / N).
    """
    total = np.add(n, n_reference, dtype=np.float64)
    return z_statistic(selected, n, selected_reference, n_reference) * np.sqrt((total - 1) / total)


def two_sided_p(z: ArrayLike) -> FloatArray:
    """Return the two-sided p of a standard normal statistic."""
    return np.asarray(2 * ndtr(-np.abs(np.asarray(z, dtype=np.float64))))


def phi(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return the phi coefficient, the correlation of membership and selection, in [-1, 1]."""
    total = np.add(n, n_reference, dtype=np.float64)
    return z_statistic(selected, n, selected_reference, n_reference) / np.sqrt(total)


def cohen_h(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return Cohen's h, the difference of the rates' arcsines, in [-pi, pi].

    Examples
    --------
    >>> round(float(cohen_h(2, 10, 15, 25)), 3)
    -0.845
    """
    x, size, xr, size_r = _floats(selected, n, selected_reference, n_reference)
    return np.asarray(2 * np.arcsin(np.sqrt(x / size)) - 2 * np.arcsin(np.sqrt(xr / size_r)))


class FisherTest(NamedTuple):
    """Fisher's exact test of two-by-two tables.

    Attributes
    ----------
    p : float array
        Two-sided: all tables with the same margins that are no likelier than the one observed.
    p_less : float array
        One-sided, against the alternative that the group is selected less often.
    mid_p : float array
        `p` less half the probability of the table observed (Lancaster).
    """

    p: FloatArray
    p_less: FloatArray
    mid_p: FloatArray


def fisher_test(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FisherTest:
    """Return Fisher's exact test of each group, whole counts expected.

    Examples
    --------
    >>> fisher = fisher_test(6, 19, 25, 43)
    >>> round(float(fisher.p), 5), round(float(fisher.p_less), 5)
    (0.09708, 0.04854)
    """
    from scipy.stats import hypergeom

    x, size, xr, size_r = np.broadcast_arrays(
        *_floats(selected, n, selected_reference, n_reference)
    )
    pool = (size + size_r, x + xr, size)
    observed = hypergeom.pmf(x, *pool)
    # Equally likely tables differ by rounding; scipy's own test allows as much.
    likely = observed * (1 + 1e-14)
    mode = np.floor((x + xr + 1) * (size + 1) / (size + size_r + 2))
    least, most = np.maximum(0.0, x + xr - size_r), np.minimum(size, x + xr)
    low = _first_where(lambda at: hypergeom.pmf(at, *pool) > likely, least, mode)
    high = _first_where(lambda at: hypergeom.pmf(at, *pool) <= likely, mode, most + 1)
    tails = hypergeom.cdf(low - 1, *pool) + hypergeom.sf(high - 1, *pool)
    # Where the observed table is the likeliest, every table counts.
    p = np.where(hypergeom.pmf(mode, *pool) <= likely, 1.0, np.minimum(tails, 1.0))
    return FisherTest(p, hypergeom.cdf(x, *pool), p - observed / 2)


def _first_where(
    test: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the least whole number from `low` on at which a test that turns true once is true."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = np.floor((low + high) / 2)
        true = test(middle)
        low, high = np.where(true | (low >= high), low, middle + 1), np.where(true, middle, high)
    return low


def holm(p: ArrayLike) -> FloatArray:
    """Return Holm's adjusted p-values; a NaN is no comparison and stays NaN.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p, dtype=np.float64)
    order = np.argsort(raw)[: int(np.sum(~np.isnan(raw)))]
    steps = raw[order] * np.arange(order.size, 0, -1)
    adjusted = np.full(raw.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


@dataclass(frozen=True, kw_only=True)
class ShareTest:
    """How many of a group there are against the share expected from outside.

    Attributes
    ----------
    expected : float
        `n` times the share.
    shortfall : float
        `expected` less the number observed.
    standard_deviations : float
        The binomial z: (observed - expected) / sqrt(n share (1 - share)).
    p : float
        Two-sided exact binomial.
    """

    expected: float
    shortfall: float
    standard_deviations: float
    p: float


def against_share(observed: int, n: int, *, share: float) -> ShareTest:
    """Compare a group's number among the selected with its share of an outside population.

    As in Castaneda v. Partida, 430 U.S. 482 (1977), note 17: of 870 summoned as grand jurors 339
    were Mexican-American, in a county where 79.1% of the population was.

    Examples
    --------
    >>> castaneda = against_share(339, 870, share=0.791)
    >>> round(castaneda.expected, 2), round(castaneda.standard_deviations, 2)
    (688.17, -29.11)
    """
    if not 0 < share < 1:
        raise OptionError(f"share={share!r}: expected a share between 0 and 1, neither included")
    if not 0 <= observed <= n or n < 1:
        raise OptionError(f"observed={observed!r}, n={n!r}: expected 0 <= observed <= n and n >= 1")
    from scipy.stats import binomtest

    expected = n * share
    deviation = float(np.sqrt(n * share * (1 - share)))
    p = float(binomtest(observed, n, share).pvalue)
    return ShareTest(
        expected=expected,
        shortfall=expected - observed,
        standard_deviations=(observed - expected) / deviation,
        p=p,
    )


def _floats(*arrays: ArrayLike) -> list[FloatArray]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    usable = np.broadcast_to(denominator > 0, np.broadcast(numerator, denominator).shape)
    return np.where(usable, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)
