"""From the counts of finished cells to points with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fourfifths.balanced_error import Errors
from fourfifths.counts import FloatArray
from fourfifths.intervals import clopper_pearson
from fourfifths.plain import Interval
from fourfifths.sweep.cells import Record
from fourfifths.sweep.curve import Point
from fourfifths.sweep.figures import NAMES, Auc, area_interval, bootstrap, figures, spread_of


def make_point(
    records: Sequence[Record],
    groups: Sequence[str],
    reference: int,
    confidence: float,
    random_state: int,
) -> Point:
    """Return the point of one model and version: the mean over repeats, and an interval."""
    counts = np.array([record["counts"] for record in records])
    found = figures(counts, reference)
    aucs = np.array([record["auc"][0] for record in records], dtype=np.float64)
    errors = _errors(records)
    changed = np.array([record["changed"] / record["rows"] for record in records])
    strongest = min(errors, key=lambda name: float(np.mean(errors[name])))
    if len(records) > 1:
        limits = {name: spread_of(found[name], confidence) for name in NAMES}
        auc_limits = spread_of(aucs, confidence)
        error_limits = spread_of(errors[strongest], confidence)
        changed_limits = spread_of(changed, confidence)
    else:
        only = records[0]
        random = np.random.default_rng(random_state)
        limits = bootstrap(counts[0], reference, confidence, random)
        auc_limits = area_interval(Auc(*only["auc"]), confidence)
        error_limits = Errors(*only["auditor"][strongest]).interval(confidence)
        low, high = clopper_pearson(only["changed"], only["rows"], confidence)
        changed_limits = (float(low), float(high))
    means = {name: _mean(found[name]) for name in NAMES}
    first = records[0]
    return Point(
        first["model"],
        first["method"],
        first["scope"],
        first["amount"],
        means["impact_ratio"],
        limits["impact_ratio"],
        _ratios(counts, groups, reference),
        *_pair(means, limits, "utility"),
        *_pair(means, limits, "accuracy"),
        *_pair(means, limits, "parity"),
        _mean(aucs),
        auc_limits,
        _mean(errors[strongest]),
        error_limits,
        strongest,
        {name: _mean(values) for name, values in errors.items()},
        _mean(changed),
        changed_limits,
    )


def _pair(means: Any, limits: Any, name: str) -> tuple[float, Interval]:
    return means[name], limits[name]


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _errors(records: Sequence[Record]) -> dict[str, FloatArray]:
    return {
        name: np.array([Errors(*record["auditor"][name]).balanced_error_rate for record in records])
        for name in records[0]["auditor"]
    }


def _ratios(counts: Any, groups: Sequence[str], reference: int) -> dict[str, float]:
    """Return the impact ratio of each group, the mean over repeats."""
    rates = (counts[..., 0] + counts[..., 2]) / counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = rates / rates[:, [reference]]
    return {
        name: _mean(np.where(np.isfinite(ratios[:, at]), ratios[:, at], np.nan))
        for at, name in enumerate(groups)
        if at != reference
    }
