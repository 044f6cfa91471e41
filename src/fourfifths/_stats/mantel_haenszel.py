"""Comparisons within strata, such as jobs, exams or departments, each with its own rates.

All arrays run over the strata: `selected` of `n` in the group, `selected_reference` of
`n_reference` in the reference.

References
----------
Mantel and Haenszel, JNCI 22 (1959). Robins, Breslow and Greenland, Biometrics 42 (1986). Breslow
and Day, Statistical Methods in Cancer Research I (1980). Tarone, Biometrika 72 (1985). Simpson,
JRSS B 13 (1951). Greenland and Robins, Biometrics 41 (1985). Sato, Biometrics 45 (1989). Gart,
Biometrika 57 (1970).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import chdtrc, gammaln, logsumexp, ndtri

from fourfifths._arrays import FloatArray, Interval

NAN = float("nan")
Pooling = Literal["sensible", "doubtful", "not tested"]
# Below this p-value of Tarone's test, a common figure hides that the strata differ.
CONSISTENCY_LEVEL = 0.05
# Multiplications that the exact distribution may take: a fraction of a second.
MAX_EXACT_STEPS = 2 * 10**8
# Two probabilities that differ only by rounding both count as extreme, as in R.
TIED_PROBABILITIES = 1e-7
NO_COMPARISON = "no stratum has both groups and both outcomes"
TOO_FEW_STRATA = "fewer than two strata have both groups and both outcomes, or the odds ratio is 0"
REASONS = {
    "odds_ratio": "no stratum has both someone rejected in the group and someone selected in the "
    "reference",
    "odds_ratio_interval": "the common odds ratio is 0 or undefined",
    "risk_ratio": "no one of the reference is selected in a stratum that has both groups",
    "risk_ratio_interval": "the common ratio of rates is 0 or undefined, or everyone is selected",
    "risk_difference": "no stratum has both groups",
    "risk_difference_interval": "in every stratum all are selected or none are, on either side",
    "exact_p": "no stratum has both groups and both outcomes, or there are too many persons for "
    "the exact test, and CMH is accurate",
    "exact_interval": "no stratum has both groups and both outcomes, or there are too many persons "
    "for the exact interval",
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
    exact_interval : tuple of float
        Its exact conditional interval: at either limit, a sum of selections as far from the
        expected one as that of the table has half the remaining probability. The upper limit is
        NaN where there is none.
    exact_p : float
        The exact conditional p-value that the odds ratio is 1 in all strata: the probability, with
        all margins fixed, of sums of the group's selections that are no likelier than that of the
        table.
    risk_ratio, risk_ratio_interval
        The Mantel-Haenszel common ratio of the selection rates, with the variance of Greenland and
        Robins.
    risk_difference, risk_difference_interval
        The Mantel-Haenszel common difference of the selection rates, with the variance of Sato.
    pooling : {"sensible", "doubtful", "not tested"}
        Whether one figure may stand for all strata, as Tarone's test has it: "doubtful" if its
        p-value is below .05, "not tested" if it is undefined.
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
    exact_interval: Interval
    exact_p: float
    risk_ratio: float
    risk_ratio_interval: Interval
    risk_difference: float
    risk_difference_interval: Interval
    pooling: Pooling
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
    confidence: float,
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
        Of the intervals.
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
    risk_ratio, risk_ratio_interval = common_risk_ratio(*tables, confidence=confidence)
    difference, difference_interval = common_risk_difference(*tables, confidence=confidence)
    exact_p, exact_interval = exact_conditional(*tables, confidence=confidence)
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
        "exact_interval": exact_interval[0],
        "exact_p": exact_p,
        "risk_ratio": risk_ratio,
        "risk_ratio_interval": risk_ratio_interval[0],
        "risk_difference": difference,
        "risk_difference_interval": difference_interval[0],
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
        exact_interval=exact_interval,
        exact_p=exact_p,
        risk_ratio=risk_ratio,
        risk_ratio_interval=risk_ratio_interval,
        risk_difference=difference,
        risk_difference_interval=difference_interval,
        pooling=pooling_of(homogeneity),
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


def common_risk_ratio(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the common ratio of the selection rates of tables [[a, b], [c, d]], and its interval.

    The ratio is the sum of a (c + d) / total over the sum of c (a + b) / total. It is NaN where the
    denominator is 0; where the ratio is 0 or NaN, or has no variance, the interval is NaN.

    Examples
    --------
    >>> ricci = [np.array(cell, float) for cell in ([3, 6], [5, 13], [16, 25], [9, 18])]
    >>> round(common_risk_ratio(*ricci)[0], 4)
    0.5575
    """
    n, n_reference, selected = a + b, c + d, a + c
    total = n + n_reference
    r, s = (a * n_reference / total).sum(), (c * n / total).sum()
    if not (r > 0 and s > 0):
        return (NAN if s <= 0 else 0.0), (NAN, NAN)
    # Greenland and Robins' variance of the logarithm.
    variance = ((n * n_reference * selected - a * c * total) / total**2).sum() / (r * s)
    if not variance > 0:
        return float(r / s), (NAN, NAN)
    log_distance = float(ndtri((1 + confidence) / 2) * np.sqrt(variance))
    return float(r / s), (
        float(r / s * np.exp(-log_distance)),
        float(r / s * np.exp(log_distance)),
    )


def common_risk_difference(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the common difference of the rates of tables [[a, b], [c, d]], and its interval.

    Each stratum's difference has the weight (a + b) (c + d) / total. Sato's variance holds for few
    large strata and for many small ones. The limits are cut off at -1 and 1.

    Examples
    --------
    >>> ricci = [np.array(cell, float) for cell in ([3, 6], [5, 13], [16, 25], [9, 18])]
    >>> round(common_risk_difference(*ricci)[0], 4)
    -0.2654
    """
    n, n_reference = a + b, c + d
    total = n + n_reference
    weight = (n * n_reference / total).sum()
    if not weight > 0:
        return NAN, (NAN, NAN)
    difference = float(((a * n_reference - c * n) / total).sum() / weight)
    # Sato's P and Q.
    p = (n**2 * c - n_reference**2 * a + n * n_reference * (n_reference - n) / 2) / total**2
    q = (a * d + c * b) / (2 * total)
    variance = float(difference * p.sum() + q.sum()) / weight**2
    # What is left of the two sums where they cancel is rounding.
    if not variance * weight**2 > 1e-12 * (abs(difference * p).sum() + q.sum()):
        return difference, (NAN, NAN)
    distance = float(ndtri((1 + confidence) / 2) * np.sqrt(variance))
    return difference, (max(difference - distance, -1.0), min(difference + distance, 1.0))


def exact_conditional(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the exact test that the odds ratio is 1 in all tables, and its exact interval.

    With all margins fixed, the group's selections are hypergeometric in each table. Their sum over
    the tables has the convolution as its distribution; a common odds ratio tilts it. NaN where the
    sum can have one value only, and where the distribution would take too long.

    Examples
    --------
    One table is Fisher's exact test. The lady who tasted tea: 3 of 4 cups right, p 34/70.

    >>> tea = [np.array([cell], float) for cell in (3, 1, 1, 3)]
    >>> p, interval = exact_conditional(*tea)
    >>> round(p * 70, 6), [round(limit, 4) for limit in interval]
    (34.0, [0.2117, 626.2435])
    """
    lowest, highest = np.maximum(0, a - d), np.minimum(a + b, a + c)
    sizes = highest - lowest + 1
    steps = float((np.cumsum(sizes) * sizes).sum())
    if not np.any(sizes > 1) or steps > MAX_EXACT_STEPS:
        return NAN, (NAN, NAN)
    observed = int((a - lowest).sum())

    null = conditional_sums(a, b, c, d, odds_ratio=1.0)
    is_extreme = null <= null[observed] * (1 + TIED_PROBABILITIES)
    p = min(float(null[is_extreme].sum()), 1.0)

    # Tilted to where the table lies, so that its probability is not lost among tiny ones.
    centre, _ = mantel_haenszel(a, b, c, d)
    centre = centre if centre > 0 else 1.0
    with np.errstate(divide="ignore"):
        log_tilted = np.log(conditional_sums(a, b, c, d, odds_ratio=centre))
    sums = np.arange(null.size)

    def tail_excess(log_odds_ratio: float, tail: slice) -> float:
        log_weights = log_tilted + sums * (log_odds_ratio - np.log(centre))
        tail_probability = np.exp(logsumexp(log_weights[tail]) - logsumexp(log_weights))
        return float(tail_probability - (1 - confidence) / 2)

    def limit(tail: slice) -> float:
        # The tail's probability rises with the odds ratio, or falls: halve what is left of a
        # range that has the limit in it, until floating-point numbers have no middle.
        width = 1.0
        while (
            tail_excess(np.log(centre) - width, tail) * tail_excess(np.log(centre) + width, tail)
            > 0
        ):
            width *= 2
        below, above = np.log(centre) - width, np.log(centre) + width
        is_rising = tail_excess(above, tail) > 0
        while below < (middle := (below + above) / 2) < above:
            if (tail_excess(middle, tail) > 0) == is_rising:
                above = middle
            else:
                below = middle
        return float(np.exp(middle))

    low = 0.0 if observed == 0 else limit(slice(observed, None))
    high = NAN if observed == null.size - 1 else limit(slice(None, observed + 1))
    return p, (low, high)


def conditional_sums(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, odds_ratio: float
) -> FloatArray:
    """Return how likely each sum of the strata's first cells is, given all their margins.

    From the lowest sum that the margins allow to the highest, at an odds ratio that all tables
    have.
    """
    distribution = np.ones(1)
    for n, n_reference, selected in zip(a + b, c + d, a + c, strict=True):
        x = np.arange(max(0.0, selected - n_reference), min(n, selected) + 1)
        log_weights = x * np.log(odds_ratio) - (
            gammaln(x + 1)
            + gammaln(n - x + 1)
            + gammaln(selected - x + 1)
            + gammaln(n_reference - selected + x + 1)
        )
        probabilities = np.exp(log_weights - logsumexp(log_weights))
        distribution = np.convolve(distribution, probabilities)
    return distribution


def pooling_of(homogeneity: Homogeneity) -> Pooling:
    """Return whether one figure may stand for all strata, as Tarone's test has it."""
    if np.isnan(homogeneity.tarone_p):
        return "not tested"
    return "doubtful" if homogeneity.tarone_p < CONSISTENCY_LEVEL else "sensible"


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
