"""The data of the paper's section on experiments, and the sweeps over them.

As in the paper, protected attributes are not features (nor is race where another attribute is
audited), unordered categories are left out, ordered ones are whole numbers, and columns are scaled
to [0, 1]. The paper does not name the columns that it kept: every numeric column is kept here, with
Adult's sampling weight fnlwgt, and of German's categories the four whose UCI codes have an order.
Adult has its own split. Ricci and German are split at random many times, with a third of the rows
for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import fourfifths
from fourfifths._repair.columns.ordered import Method
from fourfifths._tradeoff.data import Data, read_data

PAPER_SETS = ("ricci", "german", "adult")
ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
GERMAN_NUMBERS = (
    "duration",
    "credit_amount",
    "installment_rate",
    "residence_since",
    "existing_credits",
    "dependents",
)
RICCI = ("oral", "written", "combined")
PAPER_METHODS: tuple[Method, ...] = ("combinatorial", "geometric")
PASS_MARK = 70
PASS_RULE = f"combined >= {PASS_MARK}"
PLAIN_LR = "plain LR"
PAPER_MODELS = dict.fromkeys(("LR", "SVM", "GNB"))
# The paper audits each model by the same classifier, trained to predict the group.
PAPER_AUDITORS = ("LR", "SVM", "GNB")
AUDITORS = (*PAPER_AUDITORS, "trees")
TEST_SHARE = 1 / 3
MAX_ITER = 1_000


class PassMark(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ricci's own rule: a combined score of 70 or more passes. It learns nothing."""

    def fit(self, X: Any, y: Any) -> PassMark:  # noqa: ARG002
        """Learn nothing."""
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> Any:
        """Return which rows pass."""
        return np.asarray(X["combined"].to_numpy() >= PASS_MARK)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How much of each sweep is run, and where its cells are kept.

    Attributes
    ----------
    amounts : tuple of float
    repeats : int
        The random splits of Ricci and German.
    n_jobs : int
    cells : Path
        The folder of the results files.
    is_quick : bool
        Whether as little as possible is run: enough to see that it runs, not to judge.
    """

    amounts: tuple[float, ...]
    repeats: int
    n_jobs: int
    cells: Path
    is_quick: bool = False

    def cells_of(self, name: str) -> Path:
        """Return the results file of a sweep.

        Other amounts or repeats are another run, which must not be refused for this file.
        """
        amounts = "-".join(f"{amount:g}" for amount in self.amounts)
        return self.cells / f"{name}-{self.repeats}-{amounts}.jsonl"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One sweep: the table and the options that `tradeoff` is called with.

    Attributes
    ----------
    table : callable
        A function that returns a table.
    options : mapping
    """

    table: Callable[[], Any]
    options: Mapping[str, Any]

    def data(self) -> Data:
        """Return the rows of the sweep, as `tradeoff` reads them."""
        roles = {
            name: self.options.get(name)
            for name in ("protected", "outcome", "favorable", "reference", "columns", "bands")
        }
        split = self.options.get("split", TEST_SHARE)
        return read_data(self.table(), **roles, stratify_by=(), split=split)

    def run(self, name: str, settings: Settings) -> fourfifths.Tradeoff:
        """Run the sweep, or resume it where it was stopped."""
        options = {"amounts": settings.amounts, "n_jobs": settings.n_jobs}
        if self.options.get("split") != "split":
            options |= {"repeats": settings.repeats, "split": TEST_SHARE}
        settings.cells.mkdir(parents=True, exist_ok=True)
        results = settings.cells_of(name)
        return fourfifths.tradeoff(self.table(), results=results, **{**options, **self.options})


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


def german() -> Any:
    """Return German with its ordered categories as whole numbers, lowest first."""
    data = fourfifths.datasets.load("german")
    codes = [
        f"list_position({list(order)!r}, {name}) AS {name}" for name, order in data.orders.items()
    ]
    columns = ", ".join((*GERMAN_NUMBERS, *codes, "age", "credit"))
    return data.table.project(columns).to_arrow_table()


def german_ages() -> tuple[int, int]:
    """Return the number of ages in German, and how many of them have a single row."""
    rows = fourfifths.datasets.load("german").table.aggregate("age, count(*) AS n").fetchall()
    return len(rows), sum(n == 1 for _, n in rows)


def german_features() -> tuple[str, ...]:
    """Return German's numeric columns and ordered categories (in the order of UCI's codes)."""
    return (*GERMAN_NUMBERS, *fourfifths.datasets.load("german").orders)


@cache
def recorded_rates(name: str) -> tuple[float, float]:
    """Return the recorded selection rates of a shipped data set: of the groups, of the reference.

    The groups other than the reference are taken together, as the paper has two groups.
    """
    attribute = fourfifths.impact(name).attributes[-1]
    groups = [group for group in attribute.groups if group.group != attribute.reference]
    rate = sum(group.selected for group in groups) / sum(group.n for group in groups)
    return rate, attribute[attribute.reference].selection_rate


GERMAN_ROLES: Mapping[str, Any] = {
    "protected": "age",
    "bands": {"age": [26]},
    "reference": "26 and over",
    "outcome": "credit",
    "favorable": "good",
}
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
PAPER_OPTIONS: Mapping[str, Any] = {
    "methods": PAPER_METHODS,
    "scopes": ("column",),
    "auditors": AUDITORS,
}


def experiments() -> dict[str, Experiment]:
    """Return every sweep by name."""
    german_roles = {**GERMAN_ROLES, "columns": german_features()}
    sex = {**ADULT_ROLES, "protected": "sex", "reference": "Male"}
    race = {**ADULT_ROLES, "protected": "race", "reference": "white"}
    both = {**ADULT_ROLES, "protected": ["sex", "race"]}
    both |= {"reference": {"sex": "Male", "race": "white"}}
    svm = {**PAPER_OPTIONS, "models": ["SVM"], "auditors": ["SVM"]}
    rule = {**PAPER_MODELS, PASS_RULE: PassMark()}
    # The other methods of the comparison end in this classifier: classes not weighted, cut at .5.
    plain = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=MAX_ITER))
    compared = {"models": {**PAPER_MODELS, PLAIN_LR: plain}}
    sweeps = {
        "ricci": Experiment(table=ricci, options={**RICCI_ROLES, **PAPER_OPTIONS, "models": rule}),
        "german": Experiment(table=german, options={**german_roles, **PAPER_OPTIONS, **compared}),
        "adult": Experiment(table=adult, options={**sex, **PAPER_OPTIONS, **compared}),
        "adult-race": Experiment(table=adult, options={**race, **svm}),
        "adult-both": Experiment(table=adult, options={**both, **svm}),
    }
    tables: dict[str, tuple[Callable[[], Any], Mapping[str, Any]]] = {
        "ricci": (ricci, {**RICCI_ROLES, "models": ["LR"]}),
        "german": (german, {**german_roles, **compared}),
        "adult": (adult, {**sex, **compared}),
    }
    for name, (table, roles) in tables.items():
        for scope in ("column", "blocks"):
            # Only blocks are compared with other methods.
            models = {"models": ["LR"]} if scope == "column" else {}
            options = {**roles, "auditors": ["trees"], "scopes": [scope], "methods": ["random"]}
            sweeps[f"{name}-{scope}"] = Experiment(table=table, options={**options, **models})
    return sweeps
