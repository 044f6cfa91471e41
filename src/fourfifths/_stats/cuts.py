"""Rates at every cut of a score at once: a band that holds wherever one looks.

A group's share of scores at or above a cut, as the cut moves, is one minus its empirical
distribution function. The inequality of Dvoretzky, Kiefer and Wolfowitz, with Massart's constant,
bounds its distance from the true one at all cuts together, whatever the distribution is.

References
----------
Dvoretzky, Kiefer and Wolfowitz, Annals of Mathematical Statistics 27 (1956). Massart, Annals of
Probability 18 (1990): P(sup |F_n - F| > e) <= 2 exp(-2 n e^2) for every n and every F.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._stats.proportions import divide


def rate_margin(n: ArrayLike, *, confidence: float) -> FloatArray:
    """Return how far each group's rate can be from the true one, at all cuts and for all groups.

    Parameters
    ----------
    n : array-like
        The rows of each group.
    confidence : float
        With at least this probability no rate of any group, at any cut, is further away. Each of k
        groups may fail with probability (1 - confidence) / k.

    Examples
    --------
    sqrt(log(2 / 0.05) / (2 * 100)):

    >>> round(float(rate_margin([100], confidence=0.95)[0]), 4)
    0.1358
    """
    size = np.asarray(n, dtype=np.float64)
    failure = (1 - confidence) / size.size
    return np.asarray(np.sqrt(np.log(2 / failure) / (2 * size)))


def ratio_band(
    rate: FloatArray,
    rate_reference: FloatArray,
    *,
    margin: FloatArray,
    margin_reference: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of impact ratios whose two rates lie within their margins.

    Where all rates lie within their margins, all ratios lie within these limits, whichever cut and
    whichever reference one chooses after having seen the data.

    Returns
    -------
    lower_limit, upper_limit : float array
        0 or more. The upper limit is NaN where the reference's rate may be 0.

    Examples
    --------
    >>> low, high = ratio_band(
    ...     np.array([0.3]), np.array([0.5]),
    ...     margin=np.array([0.1]), margin_reference=np.array([0.1]),
    ... )
    >>> low.round(4).tolist(), high.tolist()
    ([0.3333], [1.0])
    """
    low = np.maximum(rate - margin, 0) / np.minimum(rate_reference + margin_reference, 1)
    high = divide(np.minimum(rate + margin, 1), np.maximum(rate_reference - margin_reference, 0))
    return np.asarray(low), high


def runs(marked: BoolArray) -> list[tuple[int, int]]:
    """Return the first and the last position of each run of true values.

    Examples
    --------
    >>> runs(np.array([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    changes = np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(changes == 1), np.flatnonzero(changes == -1) - 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
