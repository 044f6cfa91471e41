"""How well sex can be told from Adult's numeric columns after each repair, and what it costs.

    python benchmarks/predictability.py

The repair is fitted on Adult's training rows and applied to its test rows. An auditor is fitted on
the repaired training rows and asked about the repaired test rows; so is the SVM that predicts
income. Printed as the table in docs/repairing.md.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

import fourfifths
from fourfifths._certify.auditors import panel

COLUMNS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
AMOUNTS = (0.2, 0.5, 0.8, 1.0)
METHODS = ("combinatorial", "geometric", "random")


def error(predicted: Any, truth: Any) -> float:
    """Return the balanced error rate."""
    return float((np.mean(~predicted[truth]) + np.mean(predicted[~truth])) / 2)


def figures(table: Any, frame: Any) -> list[float]:
    """Return the BER of sex by logistic regression and by trees, and the SVM's utility."""
    train = (frame["split"] == "train").to_numpy()
    male = (frame["sex"] == "Male").to_numpy()
    rich = (frame["income"] == ">50K").to_numpy()
    values = table[COLUMNS].to_numpy(dtype=float)
    found = []
    for auditor in panel(["logistic", "trees"], [False] * len(COLUMNS), 0).values():
        auditor.fit(values[train], male[train])
        found.append(error(auditor.predict(values[~train]), male[~train]))
    scaled = MinMaxScaler().fit(values[train]).transform(values)
    machine = LinearSVC(loss="hinge", class_weight="balanced", max_iter=20_000, random_state=0)
    machine.fit(scaled[train], rich[train])
    return [*found, 1 - error(machine.predict(scaled[~train]), rich[~train])]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    frame = fourfifths.datasets.load("adult").table.df()
    train = frame[frame["split"] == "train"]
    print("| repair | amount | BER, logistic | BER, trees | utility, SVM |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print("| none | 0 | " + " | ".join(f"{each:.3f}" for each in figures(frame, frame)) + " |")
    for scope in ("column", "joint"):
        repairer = fourfifths.Repairer("sex", columns=COLUMNS, scope=scope).fit(train)
        for method in METHODS:
            for amount in AMOUNTS:
                repairer.set_params(method=method, amount=amount)
                found = figures(repairer.transform(frame), frame)
                shown = " | ".join(f"{each:.3f}" for each in found)
                print(f"| {scope}, {method} | {amount:g} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
