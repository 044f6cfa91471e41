"""How well sex can be predicted from Adult's numeric columns after each repair, and its cost.

    python benchmarks/predictability.py

The repair is fitted on Adult's training rows and applied to its test rows. The auditors and the SVM
that predicts income are fitted on the repaired training rows and judged on the repaired test rows.
Prints the table of docs/repairing.md.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import fourfifths
from fourfifths._certify.auditors import panel
from fourfifths._tradeoff.models import PaperModel

COLUMNS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
AMOUNTS = (0.2, 0.5, 0.8, 1.0)
METHODS = {"column": ("combinatorial", "geometric", "random"), "blocks": ("random",)}


def error(predicted: Any, truth: Any) -> float:
    """Return the balanced error rate."""
    return float((np.mean(~predicted[truth]) + np.mean(predicted[~truth])) / 2)


def figures(table: Any, frame: Any) -> list[float]:
    """Return the BER of predicting sex by logistic regression and trees, and the SVM's utility."""
    train = (frame["split"] == "train").to_numpy()
    male = (frame["sex"] == "Male").to_numpy()
    rich = (frame["income"] == ">50K").to_numpy()
    values = table[COLUMNS].to_numpy(dtype=float)
    errors = []
    for auditor in panel(["logistic", "trees"], [False] * len(COLUMNS), random_state=0).values():
        auditor.fit(values[train], male[train])
        errors.append(error(auditor.predict(values[~train]), male[~train]))
    machine = PaperModel("SVM", [False] * len(COLUMNS)).fit(values[train], rich[train])
    return [*errors, 1 - error(machine.predict(values[~train]), rich[~train])]


def cells(values: list[float]) -> str:
    """Return the cells of a row of the table."""
    return " | ".join(f"{value:.3f}" for value in values)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    frame = fourfifths.datasets.load("adult").table.df()
    train = frame[frame["split"] == "train"]
    print("| repair | amount | BER, logistic | BER, trees | utility, SVM |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print(f"| none | 0 | {cells(figures(frame, frame))} |")
    for scope, methods in METHODS.items():
        repairer = fourfifths.Repairer("sex", columns=COLUMNS, keep="income", scope=scope)
        repairer.fit(train)
        for method in methods:
            for amount in AMOUNTS:
                repairer.set_params(method=method, amount=amount)
                repaired = figures(repairer.transform(frame), frame)
                print(f"| {scope}, {method} | {amount:g} | {cells(repaired)} |", flush=True)


if __name__ == "__main__":
    main()
