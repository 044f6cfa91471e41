"""The comparison figure's rows: repairs beside other methods, on Adult's own split."""

from __future__ import annotations

from typing import Any

import numpy as np

import fourfifths
from fourfifths._arrays import BoolArray
from fourfifths._paper.experiments import ADULT, adult
from fourfifths._paper.others import DRAWN, Sample, other_methods
from fourfifths._paper.panels import OTHER, Curves, Row, point_rows

SEEDS = 5


def comparison_rows(curves: Curves, seeds: int = SEEDS) -> list[Row]:
    """Return the points of Adult's sweep, and those of each other method, one for each seed."""
    keep = ("model", "scope", "method", "amount", "parity", "accuracy")
    rows = [{name: row[name] for name in keep} | {"seed": 0} for row in point_rows(curves)]
    train, test = _samples()
    for seed in range(seeds):
        for name, selected in other_methods(train, test, random_state=seed):
            if seed == 0 or name in DRAWN:
                rows.append(_row(name, seed, selected, test))
    return rows


def _row(name: str, seed: int, selected: BoolArray, test: Sample) -> Row:
    rates = [float(selected[test.is_reference == side].mean()) for side in (True, False)]
    return {
        "model": OTHER,
        "scope": "none",
        "method": name,
        "amount": float("nan"),
        "parity": 1 - (rates[0] - rates[1]),
        "accuracy": float(np.mean(selected == test.selected)),
        "seed": seed,
    }


def _samples() -> tuple[Sample, Sample]:
    """Return Adult's training and test rows, columns scaled by the training rows."""
    table = adult()
    values = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ADULT])
    sides = _texts(table, "split") == "train"
    low, high = values[sides].min(axis=0), values[sides].max(axis=0)
    scaled = (values - low) / (high - low)
    selected = _texts(table, "income") == ">50K"
    men = _texts(table, "sex") == fourfifths.datasets.load("adult").reference["sex"]
    train, test = (
        Sample(values=scaled[part], selected=selected[part], is_reference=men[part])
        for part in (sides, ~sides)
    )
    return train, test


def _texts(table: Any, name: str) -> Any:
    return np.array(table[name].to_pylist(), dtype=object)
