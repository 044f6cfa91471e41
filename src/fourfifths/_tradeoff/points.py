"""From the counts of a cell to the figures of a point, with intervals.

The confusion counts of a group are four numbers: the rows with the favorable outcome that the model
selected and those that it missed, then the rows without it that the model selected and those that
it passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray, Interval
from fourfifths._stats.balanced_error import Errors
from fourfifths._stats.proportions import clopper_pearson
from fourfifths._tradeoff.result import Point
from fourfifths._tradeoff.store import Record

# At 95% confidence 50 of them lie beyond each limit.
RESAMPLES = 2_000
FIGURES = ("impact_ratio", "utility", "accuracy", "parity")


@dataclass(frozen=True, kw_only=True)
class Auc:
    """The area under the ROC curve, and its variance (DeLong, DeLong, Clarke-Pearson 1988)."""

    value: float
    variance: float


def confusion_counts(
    predicted: BoolArray, truth: BoolArray, *, group: CodeArray, group_count: int
) -> IntArray:
    """Return the confusion counts, a row of four for each group.

    Examples
    --------
    >>> predicted, truth = np.array([True, False, True]), np.array([True, True, False])
    >>> confusion_counts(predicted, truth, group=np.array([0, 0, 1]), group_count=2).tolist()
    [[1, 1, 0, 0], [0, 0, 1, 0]]
    """
    kind = np.where(truth, np.where(predicted, 0, 1), np.where(predicted, 2, 3))
    cells = group.astype(np.int64) * 4 + kind
    return np.bincount(cells, minlength=4 * group_count).reshape(group_count, 4)


def figures(
    counts: FloatArray | IntArray, reference: int, *, group: int | None = None
) -> dict[str, FloatArray]:
    """Return the figures of confusion counts; several tables may be stacked along the first axis.

    Parameters
    ----------
    counts : array, ... x groups x 4
    reference : int
    group : int, optional
        The group that is compared with the reference. By default, the one with the lowest
        selection rate of each table.

    Returns
    -------
    dict
        `impact_ratio` is the group's selection rate over the reference's, NaN where the model
        selects nobody of the reference. `parity` is 1 - (the reference's rate - the group's), as
        in Zemel et al. 2013. `utility` is 1 - BER of the outcome.
    """
    selected, missed, wrong, passed = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    # A resampled table may lack a group or an outcome. Such a figure is NaN, and is left out.
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (selected + wrong) / (selected + missed + wrong + passed)
        reference_rate = rates[..., reference]
        if group is None:
            group_rate = np.nanmin(np.delete(rates, reference, axis=-1), axis=-1)
        else:
            group_rate = rates[..., group]
        ratio = group_rate / reference_rate
        miss_rate = missed.sum(-1) / (selected + missed).sum(-1)
        false_rate = wrong.sum(-1) / (wrong + passed).sum(-1)
    return {
        "impact_ratio": np.where(reference_rate > 0, ratio, np.nan),
        "utility": 1 - (miss_rate + false_rate) / 2,
        "accuracy": (selected + passed).sum(-1) / np.sum(counts, axis=(-2, -1)),
        "parity": 1 - (reference_rate - group_rate),
    }


def bootstrap(
    counts: IntArray, reference: int, *, confidence: float, random: np.random.Generator
) -> dict[str, Interval]:
    """Return percentile intervals of the figures over resampled rows.

    The figures depend on the rows only through the counts, so to resample rows is to draw the
    counts from a multinomial distribution.
    """
    row_count = int(counts.sum())
    drawn = random.multinomial(row_count, counts.ravel() / row_count, size=RESAMPLES)
    resampled = figures(drawn.reshape(RESAMPLES, *counts.shape), reference)
    return {name: central_interval(resampled[name], confidence) for name in FIGURES}


def central_interval(values: FloatArray, confidence: float) -> Interval:
    """Return the central interval that holds a share `confidence` of the defined values."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def mean_of_defined(values: FloatArray) -> float:
    """Return the mean of the values that are not NaN, or NaN if there is none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def delong_auc(score: FloatArray, truth: BoolArray) -> Auc:
    """Return the AUC of a score: how often a selected row scores higher than one that was not.

    Examples
    --------
    >>> delong_auc(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True])).value
    0.75
    """
    ranks = rankdata(score)
    m, n = int(truth.sum()), int((~truth).sum())
    # A row's rank among all rows less its rank within its own class counts the rows of the other
    # class that score lower: DeLong's components, without comparing all m * n pairs.
    above = (ranks[truth] - rankdata(score[truth])) / n
    below = 1 - (ranks[~truth] - rankdata(score[~truth])) / m
    variance = above.var(ddof=1) / m + below.var(ddof=1) / n if min(m, n) > 1 else np.nan
    return Auc(value=float(above.mean()), variance=float(variance))


def auc_interval(auc: Auc, confidence: float) -> Interval:
    """Return the normal interval of an AUC, cut to [0, 1]."""
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(auc.variance)
    return float(np.clip(auc.value - half, 0, 1)), float(np.clip(auc.value + half, 0, 1))


def make_point(
    records: Sequence[Record],
    groups: Sequence[str],
    *,
    reference: int,
    confidence: float,
    random_state: int,
) -> Point:
    """Return the point of one model on one version, from its cells on all splits.

    Parameters
    ----------
    records : sequence of Record
        One for each split. With several splits an interval holds a share `confidence` of the
        splits; with one, it is over the test rows.
    groups : sequence of str
        The labels of the groups, by code.
    reference : int
    confidence : float
    random_state : int
        The seed of the bootstrap.
    """
    counts = np.array([record["counts"] for record in records])
    # The ratio of all splits' selections, not the mean of the splits' ratios: a ratio of small
    # counts is skewed upwards, and its mean lies too high.
    pooled = counts.sum(axis=0)
    pooled_figures = {name: float(value) for name, value in figures(pooled, reference).items()}
    impact_ratios = {
        label: float(figures(pooled, reference, group=code)["impact_ratio"])
        for code, label in enumerate(groups)
        if code != reference
    }
    errors = {
        name: [
            Errors(wrong=wrong, n=n, wrong_reference=wrong_reference, n_reference=n_reference)
            for wrong, n, wrong_reference, n_reference in (
                record["auditor"][name] for record in records
            )
        ]
        for name in records[0]["auditor"]
    }
    error_rates = {
        name: np.array([split.balanced_error_rate for split in auditor_errors])
        for name, auditor_errors in errors.items()
    }
    strongest = min(error_rates, key=lambda name: float(np.mean(error_rates[name])))
    by_split = {
        "auc": np.array([record["auc"][0] for record in records], dtype=np.float64),
        "error": error_rates[strongest],
        "changed": np.array([record["changed"] / record["rows"] for record in records]),
    }
    first = records[0]
    intervals: dict[str, Interval]
    if len(records) > 1:
        # One group for all splits, so that the interval is about the ratio that is shown.
        lowest = groups.index(min(impact_ratios, key=lambda label: impact_ratios[label]))
        by_split |= figures(counts, reference, group=lowest)
        intervals = {name: central_interval(by_split[name], confidence) for name in by_split}
    else:
        auc = Auc(value=first["auc"][0], variance=first["auc"][1])
        low, high = clopper_pearson(first["changed"], first["rows"], confidence=confidence)
        intervals = {
            **bootstrap(
                counts[0],
                reference,
                confidence=confidence,
                random=np.random.default_rng(random_state),
            ),
            "auc": auc_interval(auc, confidence),
            "error": errors[strongest][0].interval(confidence),
            "changed": (float(low), float(high)),
        }
    return Point(
        model=first["model"],
        method=first["method"],
        scope=first["scope"],
        amount=first["amount"],
        impact_ratio=pooled_figures["impact_ratio"],
        impact_ratio_interval=intervals["impact_ratio"],
        impact_ratios=impact_ratios,
        utility=pooled_figures["utility"],
        utility_interval=intervals["utility"],
        accuracy=pooled_figures["accuracy"],
        accuracy_interval=intervals["accuracy"],
        parity=pooled_figures["parity"],
        parity_interval=intervals["parity"],
        auc=mean_of_defined(by_split["auc"]),
        auc_interval=intervals["auc"],
        balanced_error_rate=mean_of_defined(by_split["error"]),
        balanced_error_rate_interval=intervals["error"],
        auditor=strongest,
        auditors={name: mean_of_defined(rates) for name, rates in error_rates.items()},
        changed=mean_of_defined(by_split["changed"]),
        changed_interval=intervals["changed"],
        # What is proven of each split holds for the lowest of them too.
        proven_floor=float(np.min([record["proven_floor"] for record in records])),
    )
