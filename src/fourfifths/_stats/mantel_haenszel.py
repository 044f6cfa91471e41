"""Comparisons within strata, such as jobs, exams or departments, each with its own rates.

All arrays run over the strata: `selected` of `n` in the group, `selected_reference` of
`n_reference` in the reference.

References
----------
Mantel and Haenszel, JNCI 22 (1959). Robins, Breslow and Greenland, Biometrics 42 (1986). Breslow
and Day, Statistical Methods in Cancer Research I (1980). Tarone, Biometrika 72 (1985). Simpson,
JRSS B 13 (1951).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtri

from fourfifths._arrays import FloatArray, Interval

NAN = float("nan")
NO_COMPARISON = "no stratum has both groups and both outcomes"
TOO_FEW_STRATA = "fewer than two strata have both groups and both outcomes, or the odds ratio is 0"
REASONS = {
    "odds_ratio": "no stratum has both someone rejected in the group and someone selected in the "
    "reference",
    "odds_ratio_interval": "the common odds ratio is 0 or undefined",
    "cmh": NO_COMPARISON,
    "cmh_p": NO_COMPARISON,
    "breslow_day": TOO_FEW_STRATA,
    "breslow_day_p": TOO_FEW_STRATA,
    "tarone": TOO_FEW_STRATA,
    "tarone_p": TOO_FEW_STRATA,
    "pooled_p": NO_COMPARISON,
}


@dataclass(frozen=True, kw_only=True)
class Stratified:
    """One group compared with the reference within strata.

    Attributes
    ----------
    strata : tuple of dict
        For each stratum its name, the counts of the group and of the reference, and the impact
        ratio (None if undefined).
    odds_ratio : float
        The Mantel-Haenszel common odds ratio of being selected; NaN if undefined.
    odds_ratio_interval : tuple of float
        Its confidence interval, with the variance of Robins, Breslow and Greenland.
    cmh, cmh_p : float
        The Cochran-Mantel-Haenszel statistic without continuity correction, and its p-value (1
        degree of freedom).
    breslow_day, breslow_day_p : float
        Breslow and Day's test that the odds ratio is the same in all strata.
    tarone, tarone_p : float
        The same test with Tarone's correction.
    direction : int
        -1 if the group is selected less often within the strata, taken together; 1 if more often; 0
        if neither. `cmh_p` says whether that is significant.
    pooled_direction : int
        The same of the pooled rates, of the rows of the strata that have both groups.
    pooled_p : float
        The p-value of the same test as `cmh_p`, of these rows as one stratum.
    reversal : bool
        Whether the two directions are opposite (Simpson's paradox).
    why : dict
        The reason for each undefined figure.
    """

    strata: tuple[dict[str, Any], ...]
    odds_ratio: float
    odds_ratio_interval: Interval
    cmh: float
    cmh_p: float
    breslow_day: float
    breslow_day_p: float
    tarone: float
    tarone_p: float
    direction: int
    pooled_direction: int
    pooled_p: float
    reversal: bool
    why: dict[str, str]


def compare_within(
    stratum_names: Sequence[Any],
    *,
    selected: FloatArray,
    n: FloatArray,
    selected_reference: FloatArray,
    n_reference: FloatArray,
    confidence: float = 0.95,
) -> Stratified:
    """Compare a group with the reference within strata.

    Parameters
    ----------
    stratum_names : sequence
    selected, n : float array
        How many of the group were selected, of how many, in each stratum.
    selected_reference, n_reference : float array
        The same for the reference.
    confidence : float
        Of the interval of the odds ratio.
    """
    # A stratum without the group or without the reference compares nothing.
    has_both = (n > 0) & (n_reference > 0)
    a, b, c, d = tables = (
        selected[has_both],
        (n - selected)[has_both],
        selected_reference[has_both],
        (n_reference - selected_reference)[has_both],
    )
    odds_ratio, interval = mantel_haenszel(*tables, confidence=confidence)
    cmh, cmh_p = cochran_mantel_haenszel(*tables)
    homogeneity = breslow_day(*tables, odds_ratio=odds_ratio)
    # The same rows as one table: without the strata that compare nothing.
    pooled = tuple(cell.sum(keepdims=True) for cell in tables)
    _, pooled_p = cochran_mantel_haenszel(*pooled)
    pooled_direction = int(np.sign(pooled[0] * pooled[3] - pooled[1] * pooled[2]).sum())
    # The sign of the weighted differences within strata agrees with that of the log odds ratio,
    # and it is defined where the odds ratio is 0 or infinite.
    direction = int(np.sign(np.sum((a * d - b * c) / (a + b + c + d))))
    figures = {
        "odds_ratio": odds_ratio,
        "odds_ratio_interval": interval[0],
        "cmh": cmh,
        "cmh_p": cmh_p,
        "breslow_day": homogeneity.statistic,
        "breslow_day_p": homogeneity.p,
        "tarone": homogeneity.tarone,
        "tarone_p": homogeneity.tarone_p,
        "pooled_p": pooled_p,
    }
    has_ratio = has_both & (selected_reference > 0)
    strata = tuple(
        {
            "stratum": name,
            "n": int(n[k]),
            "selected": int(selected[k]),
            "n_reference": int(n_reference[k]),
            "selected_reference": int(selected_reference[k]),
            "impact_ratio": float((selected[k] / n[k]) / (selected_reference[k] / n_reference[k]))
            if has_ratio[k]
            else None,
        }
        for k, name in enumerate(stratum_names)
    )
    return Stratified(
        strata=strata,
        odds_ratio=odds_ratio,
        odds_ratio_interval=interval,
        cmh=cmh,
        cmh_p=cmh_p,
        breslow_day=homogeneity.statistic,
        breslow_day_p=homogeneity.p,
        tarone=homogeneity.tarone,
        tarone_p=homogeneity.tarone_p,
        direction=direction,
        pooled_direction=pooled_direction,
        pooled_p=pooled_p,
        reversal=direction * pooled_direction < 0,
        why={name: REASONS[name] for name, figure in figures.items() if np.isnan(figure)},
    )


def mantel_haenszel(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the common odds ratio of tables [[a, b], [c, d]], and its interval.

    The odds ratio is the sum of a d / total over the sum of b c / total. It is NaN where the
    denominator is 0; where the odds ratio is 0 or NaN, the interval is NaN.

    Examples
    --------
    >>> ricci = [np.array(cell, float) for cell in ([3, 6], [5, 13], [16, 25], [9, 18])]
    >>> round(mantel_haenszel(*ricci)[0], 5)
    0.33395
    """
    total = a + b + c + d
    concordant, discordant = a * d / total, b * c / total
    r, s = concordant.sum(), discordant.sum()
    if not (r > 0 and s > 0):
        return (NAN if s <= 0 else 0.0), (NAN, NAN)
    # Robins, Breslow and Greenland's variance of the logarithm, in their notation.
    p, q = (a + d) / total, (b + c) / total
    variance = (
        (p * concordant).sum() / (2 * r**2)
        + (p * discordant + q * concordant).sum() / (2 * r * s)
        + (q * discordant).sum() / (2 * s**2)
    )
    log_distance = float(ndtri((1 + confidence) / 2) * np.sqrt(variance))
    low, high = float(r / s * np.exp(-log_distance)), float(r / s * np.exp(log_distance))
    return float(r / s), (low, high)


def cochran_mantel_haenszel(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray
) -> tuple[float, float]:
    """Return the CMH statistic of tables [[a, b], [c, d]], without correction, and its p-value."""
    total = a + b + c + d
    usable = total > 1  # a table of one person has no variance
    a, b, c, d, total = (array[usable] for array in (a, b, c, d, total))
    # With its margins fixed, the first cell of a table is hypergeometric.
    expected = (a + b) * (a + c) / total
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (total**2 * (total - 1))
    if not variance.sum() > 0:
        return NAN, NAN
    statistic = float((a - expected).sum() ** 2 / variance.sum())
    return statistic, float(chdtrc(1, statistic))


def breslow_day(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, odds_ratio: float
) -> Homogeneity:
    """Return Breslow and Day's test that all tables have this odds ratio, without and with Tarone.

    The Mantel-Haenszel odds ratio is not quite the most likely one, so the differences between the
    observed and the fitted cells do not sum to 0. Tarone's correction subtracts what that adds. A
    table with an empty row or column has no odds ratio and does not count.
    """
    has_odds_ratio = (a + c > 0) & (b + d > 0) & (a + b > 0) & (c + d > 0)
    if not (odds_ratio > 0 and has_odds_ratio.sum() > 1):
        return Homogeneity(statistic=NAN, p=NAN, tarone=NAN, tarone_p=NAN)
    a, b, c, d = (array[has_odds_ratio] for array in (a, b, c, d))
    group, reference, selected, rejected = a + b, c + d, a + c, b + d
    # Swapping the rows or the columns of a table inverts its odds ratio. The four cells are fitted
    # one by one, because the smallest one decides, and a difference would lose its digits.
    cells = (
        fitted_selections(group, reference, selected=selected, odds_ratio=odds_ratio),
        fitted_selections(group, reference, selected=rejected, odds_ratio=1 / odds_ratio),
        fitted_selections(reference, group, selected=selected, odds_ratio=1 / odds_ratio),
        fitted_selections(reference, group, selected=rejected, odds_ratio=odds_ratio),
    )
    # The large-sample variance of a cell with fixed margins (Breslow and Day 1980).
    variance = 1 / np.sum([1 / cell for cell in cells], axis=0)
    # All four cells differ from the fitted ones by the same number. The smallest cell has the most
    # digits of it.
    smallest = np.argmin(cells, axis=0)[np.newaxis]
    signed = np.stack([a - cells[0], cells[1] - b, cells[2] - c, d - cells[3]])
    difference = np.take_along_axis(signed, smallest, axis=0)[0]
    statistic = float(np.sum(difference**2 / variance))
    tarone = max(statistic - float(difference.sum() ** 2 / variance.sum()), 0.0)
    degrees = int(has_odds_ratio.sum()) - 1
    return Homogeneity(
        statistic=statistic,
        p=float(chdtrc(degrees, statistic)),
        tarone=tarone,
        tarone_p=float(chdtrc(degrees, tarone)),
    )


@dataclass(frozen=True, kw_only=True)
class Homogeneity:
    """Whether the odds ratio is the same in all strata.

    Attributes
    ----------
    statistic, p : float
        Breslow and Day's test.
    tarone, tarone_p : float
        The same with Tarone's correction.
    """

    statistic: float
    p: float
    tarone: float
    tarone_p: float


def fitted_selections(
    n: FloatArray, n_reference: FloatArray, *, selected: FloatArray, odds_ratio: float
) -> FloatArray:
    """Return the group's selections at which tables with these margins have the odds ratio.

    Parameters
    ----------
    n, n_reference : float array
        Rows of the group and of the reference in each stratum.
    selected : float array
        Rows selected in both together.
    odds_ratio : float
        Above 0.

    Examples
    --------
    Nine of each side and nine selected: 6 * 6 / (3 * 3) = 4.

    >>> fitted_selections(np.array([9.0]), np.array([9.0]), selected=np.array([9.0]), odds_ratio=4)
    array([6.])
    """
    # Setting the odds ratio of the table gives a quadratic equation for the selections,
    # (1 - odds_ratio) x^2 + linear x = odds_ratio n selected. Its discriminant is written as a sum
    # of terms of which none is negative, so that no digits are lost.
    linear = n_reference - selected + odds_ratio * (n + selected)
    discriminant = (
        (n_reference - selected) ** 2
        + (odds_ratio * (n - selected)) ** 2
        + 2 * odds_ratio * (n * n_reference + selected * (n + n_reference - selected))
    )
    root = np.sqrt(discriminant)
    # Of the two forms of the solution within the margins, each is a sum where the other is a
    # difference. `linear` is negative only at odds ratios below 1/2.
    return np.where(
        linear >= 0,
        2 * odds_ratio * n * selected / np.where(linear >= 0, linear + root, 1.0),
        (root - linear) / (2 * (1 - odds_ratio) if odds_ratio < 1 else 1.0),
    )
