"""From the counts of finished cells to points with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fourfifths.balanced_error import Errors
from fourfifths.counts import FloatArray, IntArray
from fourfifths.intervals import clopper_pearson
from fourfifths.plain import Interval
from fourfifths.sweep.cells import Record
from fourfifths.sweep.curve import Point
from fourfifths.sweep.figures import Auc, area_interval, bootstrap, figures, spread_of


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
        first["model"],
        first["method"],
        first["scope"],
        first["amount"],
        found["impact_ratio"],
        limits["impact_ratio"],
        _ratios(together, groups, reference),
        found["utility"],
        limits["utility"],
        found["accuracy"],
        limits["accuracy"],
        found["parity"],
        limits["parity"],
        found["auc"],
        limits["auc"],
        found["error"],
        limits["error"],
        strongest,
        {name: _mean(values) for name, values in errors.items()},
        found["changed"],
        limits["changed"],
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
    low, high = clopper_pearson(record["changed"], record["rows"], confidence)
    return {
        **bootstrap(np.array(record["counts"]), reference, confidence, random),
        "auc": area_interval(Auc(*record["auc"]), confidence),
        "error": Errors(*record["auditor"][auditor]).interval(confidence),
        "changed": (float(low), float(high)),
    }


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _errors(records: Sequence[Record]) -> dict[str, FloatArray]:
    return {
        name: np.array([Errors(*record["auditor"][name]).balanced_error_rate for record in records])
        for name in records[0]["auditor"]
    }


def _ratios(counts: IntArray, groups: Sequence[str], reference: int) -> dict[str, float]:
    """Return the impact ratio of each group; without a selection in the reference there is none."""
    rates = (counts[:, 0] + counts[:, 2]) / counts.sum(axis=1)
    own = rates[reference] or float("nan")
    return {name: float(rates[at] / own) for at, name in enumerate(groups) if at != reference}
