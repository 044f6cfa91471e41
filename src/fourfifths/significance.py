"""Tests of the difference between two selection rates, and sizes of effect.

Throughout, `selected` of `n` in the group are compared with `selected_reference` of `n_reference`;
a negative statistic means that the group is selected less often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from fourfifths.counts import FloatArray
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
    return _divide(x / size - xr / size_r, np.sqrt(variance))


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


@dataclass(frozen=True)
class FisherTest:
    """Fisher's exact test of a two-by-two table.

    Attributes
    ----------
    p : float
        Two-sided: all tables with the same margins that are no likelier than the one observed.
    p_less : float
        One-sided, against the alternative that the group is selected less often.
    mid_p : float
        `p` less half the probability of the table observed (Lancaster).
    """

    p: float
    p_less: float
    mid_p: float


def fisher_test(selected: int, n: int, selected_reference: int, n_reference: int) -> FisherTest:
    """Return Fisher's exact test.

    Examples
    --------
    >>> fisher = fisher_test(6, 19, 25, 43)
    >>> round(fisher.p, 5), round(fisher.p_less, 5)
    (0.09708, 0.04854)
    """
    from scipy.stats import fisher_exact, hypergeom

    table = [[selected, n - selected], [selected_reference, n_reference - selected_reference]]
    p = float(fisher_exact(table).pvalue)
    p_less = float(fisher_exact(table, alternative="less").pvalue)
    observed = hypergeom.pmf(selected, n + n_reference, selected + selected_reference, n)
    return FisherTest(p, p_less, p - float(observed) / 2)


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


@dataclass(frozen=True)
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
    return ShareTest(expected, expected - observed, (observed - expected) / deviation, p)


def _floats(*arrays: ArrayLike) -> list[FloatArray]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    usable = denominator > 0
    return np.where(usable, numerator / np.where(usable, denominator, 1.0), np.nan)
