"""From counts of what a model did to the figures of one cell, with intervals.

Counts are groups by four: selected rightly, missed, selected wrongly, passed over rightly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from fourfifths.counts import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths.plain import Interval

RESAMPLES = 2_000
NAMES = ("impact_ratio", "utility", "accuracy", "parity")


@dataclass(frozen=True)
class Auc:
    """The area under the ROC curve, and its variance (DeLong, DeLong, Clarke-Pearson 1988)."""

    value: float
    variance: float


def tally(predicted: BoolArray, truth: BoolArray, group: CodeArray, groups: int) -> IntArray:
    """Count the four ways of each group."""
    way = np.where(truth, np.where(predicted, 0, 1), np.where(predicted, 2, 3))
    cells = group.astype(np.int64) * 4 + way
    return np.bincount(cells, minlength=4 * groups).reshape(groups, 4)


def figures(
    counts: FloatArray | IntArray, reference: int, group: int | None = None
) -> dict[str, FloatArray]:
    """Return the figures of each table of counts, which may be stacked.

    `impact_ratio` is that of a group over the reference: the one given, or the one with the lowest
    selection rate; `parity` is 1 - (the reference's rate - that group's), Zemel's; utility is
    1 - BER.
    """
    right, missed, wrong, passed = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (right + wrong) / (right + missed + wrong + passed)
        others = np.delete(rates, reference, axis=-1)
        lowest = np.nanmin(others, axis=-1) if group is None else rates[..., group]
        own = rates[..., reference]
        ratio = lowest / own
        total = np.sum(counts, axis=(-2, -1))
        errors = missed.sum(-1) / (right + missed).sum(-1) + wrong.sum(-1) / (wrong + passed).sum(
            -1
        )
    return {
        "impact_ratio": np.where(own > 0, ratio, np.nan),
        "utility": 1 - errors / 2,
        "accuracy": (right + passed).sum(-1) / total,
        "parity": 1 - (own - lowest),
    }


def bootstrap(
    counts: IntArray, reference: int, confidence: float, random: np.random.Generator
) -> dict[str, Interval]:
    """Return percentile intervals over resampled rows.

    A resample of rows is a multinomial draw of the counts: nothing else of a row matters.
    """
    rows = int(counts.sum())
    drawn = random.multinomial(rows, counts.ravel() / rows, size=RESAMPLES)
    found = figures(drawn.reshape(RESAMPLES, *counts.shape), reference)
    return {name: spread_of(found[name], confidence) for name in NAMES}


def spread_of(values: FloatArray, confidence: float) -> Interval:
    """Return the central interval that holds a share `confidence` of the values."""
    known = values[~np.isnan(values)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def area(score: FloatArray, truth: BoolArray) -> Auc:
    """Return the AUC of a score: how often a selected row scores above another.

    Examples
    --------
    >>> area(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True])).value
    0.75
    """
    ranks = rankdata(score)
    m, n = int(truth.sum()), int((~truth).sum())
    above = (ranks[truth] - rankdata(score[truth])) / n
    below = 1 - (ranks[~truth] - rankdata(score[~truth])) / m
    variance = above.var(ddof=1) / m + below.var(ddof=1) / n if min(m, n) > 1 else np.nan
    return Auc(float(above.mean()), float(variance))


def area_interval(auc: Auc, confidence: float) -> Interval:
    """Return the normal interval of an AUC, within [0, 1]."""
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(auc.variance)
    return float(np.clip(auc.value - half, 0, 1)), float(np.clip(auc.value + half, 0, 1))
