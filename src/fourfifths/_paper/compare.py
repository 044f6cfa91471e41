"""The rows of the comparison figure: repairs beside other methods, on Adult's own split."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import fourfifths
from fourfifths._paper.experiments import ADULT, adult
from fourfifths._paper.others import METHODS, Method, Sample, other_methods
from fourfifths._paper.panels import OTHER_METHOD, Curves, Row, point_rows

SEEDS = 5
COLUMNS = ("model", "scope", "method", "amount", "parity", "accuracy")


def comparison_rows(
    curves: Curves, *, seeds: int = SEEDS, methods: Mapping[str, Method] = METHODS
) -> list[Row]:
    """Return the points of Adult's sweep and those of the other methods.

    Parameters
    ----------
    curves : mapping of str to Tradeoff
    seeds : int
        How often a method that draws is run; any other method is run once.
    methods : mapping of str to Method
    """
    rows = [{name: row[name] for name in COLUMNS} | {"seed": 0} for row in point_rows(curves)]
    train, test = adult_samples()
    for seed in range(seeds):
        this_time = {name: method for name, method in methods.items() if method.draws or seed == 0}
        for name, selected in other_methods(train, test, random_state=seed, methods=this_time):
            reference_rate, group_rate = (
                float(selected[test.is_reference == side].mean()) for side in (True, False)
            )
            rows.append(
                {
                    "model": OTHER_METHOD,
                    "scope": "none",
                    "method": name,
                    "amount": float("nan"),
                    "parity": 1 - (reference_rate - group_rate),
                    "accuracy": float(np.mean(selected == test.selected)),
                    "seed": seed,
                }
            )
    return rows


def adult_samples() -> tuple[Sample, Sample]:
    """Return Adult's training and test rows, with columns scaled by the training rows."""
    table = adult()
    split, income, sex = (
        np.array(table[name].to_pylist(), dtype=object) for name in ("split", "income", "sex")
    )
    values = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ADULT])
    is_train = split == "train"
    low, high = values[is_train].min(axis=0), values[is_train].max(axis=0)
    scaled = (values - low) / (high - low)
    data = fourfifths.datasets.load("adult")
    train, test = (
        Sample(
            values=scaled[rows],
            selected=income[rows] == data.favorable,
            is_reference=sex[rows] == data.reference["sex"],
        )
        for rows in (is_train, ~is_train)
    )
    return train, test
