"""The comparison figure's rows: repairs beside other methods, on Adult's own split."""

from __future__ import annotations

from typing import Any

import numpy as np

import fourfifths
from fourfifths.reproduce.experiments import ADULT, adult
from fourfifths.reproduce.others import Sample, other_methods
from fourfifths.reproduce.panels import Curves, Row, point_rows


def comparison_rows(curves: Curves) -> list[Row]:
    """Return the points of Adult's sweep, and one row for each other method."""
    keep = ("model", "scope", "method", "amount", "parity", "accuracy")
    rows = [{name: row[name] for name in keep} for row in point_rows(curves)]
    train, test = _samples()
    for name, selected in other_methods(train, test, random_state=0):
        rates = [float(selected[test.is_reference == side].mean()) for side in (True, False)]
        rows.append(
            {
                "model": "logistic regression",
                "scope": "none",
                "method": name,
                "amount": float("nan"),
                "parity": 1 - (rates[0] - rates[1]),
                "accuracy": float(np.mean(selected == test.selected)),
            }
        )
    return rows


def _samples() -> tuple[Sample, Sample]:
    """Return Adult's training and test rows, columns scaled by the training rows."""
    table = adult()
    values = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ADULT])
    sides = _texts(table, "split") == "train"
    low, high = values[sides].min(axis=0), values[sides].max(axis=0)
    scaled = (values - low) / (high - low)
    selected = _texts(table, "income") == ">50K"
    men = _texts(table, "sex") == fourfifths.datasets.load("adult").reference["sex"]
    train, test = (Sample(scaled[part], selected[part], men[part]) for part in (sides, ~sides))
    return train, test


def _texts(table: Any, name: str) -> Any:
    return np.array(table[name].to_pylist(), dtype=object)
