"""The data of the paper's section on experiments, and the sweeps over them.

Protected attributes are no features (race neither, but where it is the attribute), unordered
categories are left out, ordered ones are numbers, columns are scaled to [0, 1]. Adult has its own
split; of Ricci and German a third is for testing, at random, many times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import fourfifths
from fourfifths.errors import OptionError, listed, nearest

ADULT = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
GERMAN_NUMBERS = (
    "duration",
    "credit_amount",
    "installment_rate",
    "residence_since",
    "existing_credits",
    "dependents",
)
RICCI = ("oral", "written", "combined")
PAPER = ("combinatorial", "geometric")
RULE = "combined >= 70"
PASS = 70
PLAIN = "plain LR"
PAPER_MODELS = dict.fromkeys(("LR", "SVM", "GNB"))
MAX_ITER = 1_000
PAIRS = {"LR": "logistic", "SVM": "svm", "GNB": "naive-bayes"}  # a model and its like as auditor


class PassMark(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ricci's own rule: who has 70 or more combined passes. Nothing is learned."""

    def fit(self, X: Any, y: Any) -> PassMark:  # noqa: ARG002
        """Learn nothing."""
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> Any:
        """Return who passes."""
        return np.asarray(X["combined"].to_numpy() >= PASS)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How much is run.

    Attributes
    ----------
    amounts : tuple of float
    repeats : int
        Of Ricci and German.
    n_jobs : int
    cells : Path
        Where finished cells are kept.
    """

    amounts: tuple[float, ...]
    repeats: int
    n_jobs: int
    cells: Path


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One sweep: what `tradeoff` is called with."""

    title: str
    table: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, name: str, settings: Settings) -> fourfifths.Tradeoff:
        """Run it, or go on where it was stopped."""
        own = {"amounts": settings.amounts, "n_jobs": settings.n_jobs}
        if self.options.get("split") != "split":
            own |= {"repeats": settings.repeats, "split": 1 / 3}
        settings.cells.mkdir(parents=True, exist_ok=True)
        amounts = "-".join(f"{amount:g}" for amount in settings.amounts)
        results = settings.cells / f"{name}-{settings.repeats}-{amounts}.jsonl"
        table = self.table() if callable(self.table) else self.table
        return fourfifths.tradeoff(table, results=results, **{**own, **self.options})


def ricci() -> Any:
    """Return Ricci with race as white and non-white."""
    table = fourfifths.datasets.load("ricci").table
    white = "CASE WHEN race = 'W' THEN 'white' ELSE 'non-white' END AS race"
    return table.project(f"{', '.join(RICCI)}, passed, {white}").to_arrow_table()


def adult() -> Any:
    """Return Adult with race as white and non-white."""
    table = fourfifths.datasets.load("adult").table
    white = "CASE WHEN race = 'White' THEN 'white' ELSE 'non-white' END AS race"
    columns = ", ".join(f'"{name}"' for name in (*ADULT, "sex", "income", "split"))
    return table.project(f"{columns}, {white}").to_arrow_table()


def german_ages() -> tuple[int, int]:
    """Return how many ages there are in German, and how many of them one row only."""
    rows = fourfifths.datasets.load("german").table.aggregate("age, count(*) AS n").fetchall()
    return len(rows), sum(n == 1 for _, n in rows)


def german_features() -> tuple[str, ...]:
    """Return German's numbers and ordered categories; the order is that of UCI's codes."""
    return (*GERMAN_NUMBERS, *fourfifths.datasets.load("german").orders)


RICCI_ROLES: Mapping[str, Any] = {
    "protected": "race",
    "outcome": "passed",
    "favorable": "yes",
    "reference": "white",
    "columns": RICCI,
}
ADULT_ROLES: Mapping[str, Any] = {
    "outcome": "income",
    "favorable": ">50K",
    "columns": ADULT,
    "split": "split",
}
PAPER_OPTIONS: Mapping[str, Any] = {"methods": PAPER, "scopes": ("column",)}
BEYOND: Mapping[str, Any] = {"models": ["LR"], "auditors": ["trees"]}


def experiments() -> dict[str, Experiment]:
    """Return every sweep by name."""
    german = {"protected": "age", "columns": german_features()}
    sex = {**ADULT_ROLES, "protected": "sex", "reference": "Male"}
    race = {**ADULT_ROLES, "protected": "race", "reference": "white"}
    both = {**ADULT_ROLES, "protected": ["sex", "race"]}
    both |= {"reference": {"sex": "Male", "race": "white"}}
    svm = {**PAPER_OPTIONS, "models": ["SVM"], "auditors": ["logistic"]}
    rule = {**PAPER_MODELS, RULE: PassMark()}
    # As the methods that the comparison is with end: classes not weighted, cut at one half.
    plain = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=MAX_ITER))
    compared = {"models": {**PAPER_MODELS, PLAIN: plain}}
    return {
        "ricci": Experiment(
            title="Ricci", table=ricci, options={**RICCI_ROLES, **PAPER_OPTIONS, "models": rule}
        ),
        "german": Experiment(title="German", table="german", options={**german, **PAPER_OPTIONS}),
        "adult": Experiment(
            title="Adult, sex", table=adult, options={**sex, **PAPER_OPTIONS, **compared}
        ),
        "adult-race": Experiment(title="Adult, race", table=adult, options={**race, **svm}),
        "adult-both": Experiment(title="Adult, sex and race", table=adult, options={**both, **svm}),
        "german-raw-age": Experiment(
            title="German, repaired by each year of age",
            table="german",
            options={**german, **svm, "methods": ["combinatorial"], "stratify_by": "age"},
        ),
        **{
            f"{name}-{scope}": Experiment(
                title=title,
                table=table,
                options={**roles, **BEYOND, "scopes": [scope], "methods": ["random"]},
            )
            for name, title, table, roles in (
                ("ricci", "Ricci", ricci, RICCI_ROLES),
                ("german", "German", "german", german),
                ("adult", "Adult, sex", adult, sex),
            )
            for scope in ("column", "joint")
        },
    }


def find(name: str, names: Any) -> str:
    """Return the name if there is such a figure, else raise with the nearest that there is."""
    if name not in names:
        raise OptionError(
            f"--only {name}: no such figure{nearest(name, names)} (figures: {listed(names)})"
        )
    return name
