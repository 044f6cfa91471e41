"""From counts of what a model did to the figures of one cell, with intervals.

Counts are groups by four: selected rightly, missed, selected wrongly, passed over rightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray, Interval
from fourfifths._stats.balanced_error import Errors
from fourfifths._stats.intervals import clopper_pearson
from fourfifths._tradeoff.result import Point, Record

RESAMPLES = 2_000
NAMES = ("impact_ratio", "utility", "accuracy", "parity")


@dataclass(frozen=True, kw_only=True)
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
    return Auc(value=float(above.mean()), variance=float(variance))


def area_interval(auc: Auc, confidence: float) -> Interval:
    """Return the normal interval of an AUC, within [0, 1]."""
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(auc.variance)
    return float(np.clip(auc.value - half, 0, 1)), float(np.clip(auc.value + half, 0, 1))


def make_point(
    records: Sequence[Record],
    groups: Sequence[str],
    reference: int,
    confidence: float,
    random_state: int,
) -> Point:
    """Return the point of one model and version: of the splits' rows together, with intervals.

    The ratio is that of all splits' selections: a mean of ratios lies too high where rows are few.
    """
    counts = np.array([record["counts"] for record in records])
    together = counts.sum(axis=0)
    found = {name: float(value) for name, value in figures(together, reference).items()}
    errors = _errors(records)
    strongest = min(errors, key=lambda name: float(np.mean(errors[name])))
    parts = {
        "auc": np.array([record["auc"][0] for record in records], dtype=np.float64),
        "error": errors[strongest],
        "changed": np.array([record["changed"] / record["rows"] for record in records]),
    }
    found |= {name: _mean(values) for name, values in parts.items()}
    first = records[0]
    if len(records) > 1:
        ratios = _ratios(together, groups, reference)
        lowest = groups.index(min(ratios, key=lambda name: ratios[name]))
        each = figures(counts, reference, lowest) | parts
        limits = {name: spread_of(values, confidence) for name, values in each.items()}
    else:
        limits = _limits(first, reference, strongest, confidence, random_state)
    return Point(
        model=first["model"],
        method=first["method"],
        scope=first["scope"],
        amount=first["amount"],
        impact_ratio=found["impact_ratio"],
        impact_ratio_interval=limits["impact_ratio"],
        impact_ratios=_ratios(together, groups, reference),
        utility=found["utility"],
        utility_interval=limits["utility"],
        accuracy=found["accuracy"],
        accuracy_interval=limits["accuracy"],
        parity=found["parity"],
        parity_interval=limits["parity"],
        auc=found["auc"],
        auc_interval=limits["auc"],
        balanced_error_rate=found["error"],
        balanced_error_rate_interval=limits["error"],
        auditor=strongest,
        auditors={name: _mean(values) for name, values in errors.items()},
        changed=found["changed"],
        changed_interval=limits["changed"],
    )


def _limits(
    record: Record,
    reference: int,
    auditor: str,
    confidence: float,
    random_state: int,
) -> dict[str, Interval]:
    """Return the intervals of one split's figures."""
    random = np.random.default_rng(random_state)
    value, variance = record["auc"]
    low, high = clopper_pearson(record["changed"], record["rows"], confidence)
    return {
        **bootstrap(np.array(record["counts"]), reference, confidence, random),
        "auc": area_interval(Auc(value=value, variance=variance), confidence),
        "error": _counted_errors(record, auditor).interval(confidence),
        "changed": (float(low), float(high)),
    }


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _counted_errors(record: Record, auditor: str) -> Errors:
    wrong, n, wrong_reference, n_reference = record["auditor"][auditor]
    return Errors(wrong=wrong, n=n, wrong_reference=wrong_reference, n_reference=n_reference)


def _errors(records: Sequence[Record]) -> dict[str, FloatArray]:
    return {
        name: np.array([_counted_errors(record, name).balanced_error_rate for record in records])
        for name in records[0]["auditor"]
    }


def _ratios(counts: IntArray, groups: Sequence[str], reference: int) -> dict[str, float]:
    """Return the impact ratio of each group; without a selection in the reference there is none."""
    rates = (counts[:, 0] + counts[:, 2]) / counts.sum(axis=1)
    own = rates[reference] or float("nan")
    return {name: float(rates[at] / own) for at, name in enumerate(groups) if at != reference}
