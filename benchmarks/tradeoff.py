"""Time a sweep against the scikit-learn fits that it contains.

    python benchmarks/tradeoff.py

The sweep is 2 methods x 11 amounts x 3 models on Adult's five numeric columns, in one process. The
same fits of models and auditors are then run in a bare loop, on tables that are already repaired.
The sweep should take at most 1.25 times as long.
"""

from __future__ import annotations

import time
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

import fourfifths
from fourfifths._certify.auditors import panel, quiet
from fourfifths._tradeoff.models import chosen_models

COLUMNS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
METHODS = ("combinatorial", "geometric")
AMOUNTS = tuple(round(0.1 * step, 1) for step in range(11))
AUDITORS = ("logistic", "trees")


def sweep() -> float:
    """Return how long the sweep takes."""
    start = time.perf_counter()
    fourfifths.tradeoff(
        "adult",
        columns=COLUMNS,
        methods=METHODS,
        scopes=("column",),
        amounts=AMOUNTS,
        auditors=AUDITORS,
        progress=False,
    )
    return time.perf_counter() - start


def bare() -> float:
    """Return how long the fits and predictions alone take."""
    frame: Any = fourfifths.datasets.load("adult").table.to_arrow_table()
    table = nw.from_native(frame, eager_only=True)
    train = np.array(table["split"].to_list()) == "train"
    rich = np.array(table["income"].to_list()) == ">50K"
    men = np.array(table["sex"].to_list()) == "Male"
    features = table.select("sex", *COLUMNS)
    repairer = fourfifths.Repairer("sex", columns=COLUMNS, scope="column")
    repairer.fit(features.filter(train.tolist()).to_native())
    versions = [(method, amount) for method in METHODS for amount in AMOUNTS if amount > 0]
    total = 0.0
    for method, amount in [("random", 0.0), *versions]:
        repairer.set_params(method=method, amount=amount)
        repaired = nw.from_native(repairer.transform(features.to_native()), eager_only=True)
        values = repaired.select(*COLUMNS).to_numpy().astype(np.float64)
        jobs = [
            (model, rich) for model in chosen_models(None, [False] * 5, random_state=0).values()
        ]
        jobs += [
            (auditor, men) for auditor in panel(AUDITORS, [False] * 5, random_state=0).values()
        ]
        start = time.perf_counter()
        for estimator, truth in jobs:
            with quiet():
                clone(estimator).fit(values[train], truth[train]).predict(values[~train])
        total += time.perf_counter() - start
    return total


def main() -> None:
    """Measure, and print the table."""
    ours, theirs = sweep(), bare()
    print("| work | sweep | bare fits | ratio | reach |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print(
        "| 2 methods x 11 amounts x 3 models and 2 auditors on Adult | "
        f"{ours:.1f} s | {theirs:.1f} s | {ours / theirs:.2f} | 1.25 |"
    )


if __name__ == "__main__":
    main()
