"""Comparisons within strata: jobs, exams, departments, each with its own rates.

Arrays run over strata: `selected` of `n` in the group, `selected_reference` of `n_reference` in the
reference.

References
----------
Mantel and Haenszel, JNCI 22 (1959). Robins, Breslow and Greenland, Biometrics 42 (1986). Breslow
and Day, Statistical Methods in Cancer Research I (1980). Simpson, JRSS B 13 (1951).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtri

from fourfifths._arrays import BoolArray, FloatArray

NO_COMPARISON = "no stratum has both groups and both outcomes"
FEW_STRATA = "fewer than two strata have both groups and both outcomes, or the odds ratio is 0"
REASONS = {
    "odds_ratio": "no stratum has both someone rejected in the group and someone selected in the "
    "reference",
    "odds_ratio_interval": "the common odds ratio is 0 or undefined",
    "cmh": NO_COMPARISON,
    "cmh_p": NO_COMPARISON,
    "breslow_day": FEW_STRATA,
    "breslow_day_p": FEW_STRATA,
}


@dataclass(frozen=True, kw_only=True)
class Stratified:
    """One group against the reference, stratum by stratum.

    Attributes
    ----------
    strata : tuple of dict
        Per stratum: its name, the counts of both sides and the impact ratio (None if undefined).
    odds_ratio : float
        Mantel-Haenszel's common odds ratio of being selected; NaN if undefined.
    odds_ratio_interval : tuple of float
        By Robins, Breslow and Greenland's variance.
    cmh, cmh_p : float
        The Cochran-Mantel-Haenszel statistic, without continuity correction, and its p (1 df).
    breslow_day, breslow_day_p : float
        The test that the odds ratio is the same in all strata that inform on it.
    reversal : bool
        Whether the pooled rates and the strata point in opposite directions (Simpson).
    why : dict
        For each undefined figure, the reason.
    """

    strata: tuple[dict[str, Any], ...]
    odds_ratio: float
    odds_ratio_interval: tuple[float, float]
    cmh: float
    cmh_p: float
    breslow_day: float
    breslow_day_p: float
    reversal: bool
    why: dict[str, str]


def compare_within(
    names: tuple[Any, ...],
    selected: FloatArray,
    n: FloatArray,
    selected_reference: FloatArray,
    n_reference: FloatArray,
    *,
    confidence: float = 0.95,
) -> Stratified:
    """Compare a group with the reference within strata."""
    both = (n > 0) & (n_reference > 0)
    tables = (
        selected[both],
        (n - selected)[both],
        selected_reference[both],
        (n_reference - selected_reference)[both],
    )
    odds_ratio, interval = mantel_haenszel(*tables, confidence=confidence)
    cmh, cmh_p = cochran_mantel_haenszel(*tables)
    breslow, breslow_p = breslow_day(*tables, odds_ratio)
    pooled = selected.sum() / n.sum() - selected_reference.sum() / n_reference.sum()
    a, b, c, d = tables
    within = np.sum((a * d - b * c) / (a + b + c + d))
    figures = {
        "odds_ratio": odds_ratio,
        "odds_ratio_interval": interval[0],
        "cmh": cmh,
        "cmh_p": cmh_p,
        "breslow_day": breslow,
        "breslow_day_p": breslow_p,
    }
    return Stratified(
        strata=_strata(names, selected, n, selected_reference, n_reference),
        odds_ratio=odds_ratio,
        odds_ratio_interval=interval,
        cmh=cmh,
        cmh_p=cmh_p,
        breslow_day=breslow,
        breslow_day_p=breslow_p,
        reversal=bool(pooled * within < 0),
        why={name: REASONS[name] for name, figure in figures.items() if np.isnan(figure)},
    )


def mantel_haenszel(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the common odds ratio of tables [[a, b], [c, d]] and its interval.

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
        return (float(np.nan) if s <= 0 else 0.0), (float("nan"), float("nan"))
    p, q = (a + d) / total, (b + c) / total
    variance = (
        (p * concordant).sum() / (2 * r**2)
        + (p * discordant + q * concordant).sum() / (2 * r * s)
        + (q * discordant).sum() / (2 * s**2)
    )
    reach = float(ndtri((1 + confidence) / 2) * np.sqrt(variance))
    return float(r / s), (float(r / s * np.exp(-reach)), float(r / s * np.exp(reach)))


def cochran_mantel_haenszel(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray
) -> tuple[float, float]:
    """Return the CMH statistic without continuity correction, and its p."""
    total = a + b + c + d
    usable = total > 1
    a, b, c, d, total = (array[usable] for array in (a, b, c, d, total))
    expected = (a + b) * (a + c) / total
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (total**2 * (total - 1))
    if not variance.sum() > 0:
        return float("nan"), float("nan")
    statistic = float((a - expected).sum() ** 2 / variance.sum())
    return statistic, float(chdtrc(1, statistic))


def breslow_day(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, odds_ratio: float
) -> tuple[float, float]:
    """Return Breslow and Day's test of equal odds ratios, and its p."""
    informs: BoolArray = (a + c > 0) & (b + d > 0) & (a + b > 0) & (c + d > 0)
    if not (odds_ratio > 0 and informs.sum() > 1):
        return float("nan"), float("nan")
    a, b, c, d = (array[informs] for array in (a, b, c, d))
    fitted = _fitted(a + b, c + d, a + c, odds_ratio)
    cells = (fitted, a + b - fitted, a + c - fitted, c + d - (a + c - fitted))
    variance = 1 / sum(1 / cell for cell in cells)
    statistic = float(np.sum((a - fitted) ** 2 / variance))
    return statistic, float(chdtrc(int(informs.sum()) - 1, statistic))


def _fitted(n: FloatArray, n_r: FloatArray, selected: FloatArray, odds_ratio: float) -> FloatArray:
    """Return the group's selections at which a table of these margins has the odds ratio."""
    if np.isclose(odds_ratio, 1.0, rtol=1e-12):
        return n * selected / (n + n_r)
    square = 1 - odds_ratio
    linear = n_r - selected + odds_ratio * (n + selected)
    constant = -odds_ratio * n * selected
    # The root that lies within the margins, in the form that does not cancel.
    return -2 * constant / (linear + np.sqrt(linear**2 - 4 * square * constant))


def _strata(
    names: tuple[Any, ...], x: FloatArray, n: FloatArray, xr: FloatArray, nr: FloatArray
) -> tuple[dict[str, Any], ...]:
    defined = (n > 0) & (nr > 0) & (xr > 0)
    ratio = np.full(n.shape, np.nan)
    ratio[defined] = (x[defined] / n[defined]) / (xr[defined] / nr[defined])
    return tuple(
        {
            "stratum": name,
            "n": int(n[k]),
            "selected": int(x[k]),
            "n_reference": int(nr[k]),
            "selected_reference": int(xr[k]),
            "impact_ratio": float(ratio[k]) if defined[k] else None,
        }
        for k, name in enumerate(names)
    )
