"""Other methods that the paper's repairs are compared with, run on the same rows.

The libraries aif360 and fairlearn bring them; the extra `compare` installs both. A method whose
library is not installed is left out, and `missing` names that library.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._paper.experiments import MAX_ITER

LIBRARIES = ("aif360", "fairlearn")
GROUPS = {"privileged_groups": [{"group": 1.0}], "unprivileged_groups": [{"group": 0.0}]}
LFR_SETTINGS = {"k": 10, "Ax": 0.1, "Ay": 1.0, "Az": 2.0}  # those of aif360's demo_lfr notebook
LFR_LOSS_EVALUATIONS = 5_000  # also the notebook's
LFR_MAX_ROWS = 5_000  # all of Adult's rows take over a minute, for the same accuracy within 0.004


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows to learn from, or to predict.

    Attributes
    ----------
    values : array of float, rows x columns
        The features, without the protected attribute, scaled to [0, 1].
    selected : array of bool
        Whether each row has the favorable outcome.
    is_reference : array of bool
        Whether each row belongs to the reference group.
    """

    values: FloatArray
    selected: BoolArray
    is_reference: BoolArray


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method, and what it takes to run it.

    Attributes
    ----------
    library : str
        The library that must be installed.
    predict : callable
        From training rows, test rows and a seed to the test rows that are selected.
    draws : bool
        Whether the result depends on the seed.
    """

    library: str
    predict: Callable[[Sample, Sample, int], BoolArray]
    draws: bool = False


def missing() -> tuple[str, ...]:
    """Return the libraries that are not installed; `pip install fourfifths[compare]` does it."""
    return tuple(name for name in LIBRARIES if importlib.util.find_spec(name) is None)


def plain_logistic(train: Sample, test: Sample, _: int) -> BoolArray:
    """Predict by logistic regression, every row with the same weight."""
    return _logistic(train.values, train.selected, test_values=test.values)


def reweighing(train: Sample, test: Sample, _: int) -> BoolArray:
    """Weight the rows so that group and outcome are independent (Kamiran and Calders, 2012)."""
    from aif360.algorithms.preprocessing import Reweighing

    weights = Reweighing(**GROUPS).fit_transform(aif360_dataset(train)).instance_weights
    return _logistic(train.values, train.selected, test_values=test.values, weights=weights)


def learned_fair_representations(
    train: Sample,
    test: Sample,
    random_state: int,
    *,
    loss_evaluations: int = LFR_LOSS_EVALUATIONS,
) -> BoolArray:
    """Predict from prototypes that both groups resemble equally (Zemel and others, 2013).

    The settings are those of aif360's own example: ten prototypes, 5,000 evaluations of the loss,
    columns standardized (the group is one of them), and the representation's own predictions, cut
    at one half. With columns in [0, 1] the rows lie so close together that hardly any row would be
    selected. The gradient is computed by differences, so the time grows with the rows: of more than
    5,000 rows, 5,000 are drawn.
    """
    from aif360.algorithms.preprocessing import LFR

    train_table = aif360_dataset(drawn_rows(train, random_state))
    test_table = aif360_dataset(test)
    scaler = StandardScaler().fit(train_table.features)
    for table in (train_table, test_table):
        table.features = scaler.transform(table.features)
    method = LFR(**GROUPS, **LFR_SETTINGS, seed=random_state)
    method.fit(train_table, maxiter=loss_evaluations, maxfun=loss_evaluations)
    labels = method.transform(test_table).labels[:, 0]
    return np.asarray(labels == test_table.favorable_label)


def correlation_remover(train: Sample, test: Sample, _: int) -> BoolArray:
    """Remove from each column what a linear model predicts from the group."""
    from fairlearn.preprocessing import CorrelationRemover

    train_columns, test_columns = (
        np.column_stack([sample.values, sample.is_reference.astype(np.float64)])
        for sample in (train, test)
    )
    remover = CorrelationRemover(sensitive_feature_ids=[train.values.shape[1]])
    values = remover.fit_transform(train_columns)
    return _logistic(values, train.selected, test_values=remover.transform(test_columns))


def exponentiated_gradient(train: Sample, test: Sample, random_state: int) -> BoolArray:
    """Mix classifiers so that the groups' rates agree within 0.01 (Agarwal and others, 2018).

    Each row is predicted by one of the classifiers, drawn at random.
    """
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    method = ExponentiatedGradient(LogisticRegression(max_iter=MAX_ITER), DemographicParity())
    selected = train.selected.astype(np.int64)
    method.fit(train.values, selected, sensitive_features=train.is_reference)
    return np.asarray(method.predict(test.values, random_state=random_state) == 1)


METHODS: Mapping[str, Method] = {
    "logistic regression": Method(library="sklearn", predict=plain_logistic),
    "reweighing": Method(library="aif360", predict=reweighing),
    "learned fair representations": Method(
        library="aif360", predict=learned_fair_representations, draws=True
    ),
    "correlation remover": Method(library="fairlearn", predict=correlation_remover),
    "exponentiated gradient": Method(
        library="fairlearn", predict=exponentiated_gradient, draws=True
    ),
}


def other_methods(
    train: Sample,
    test: Sample,
    *,
    random_state: int,
    methods: Mapping[str, Method] = METHODS,
    absent: Collection[str] | None = None,
) -> Iterator[tuple[str, BoolArray]]:
    """Predict which test rows are selected, by each method that can be run here.

    A method is fitted when its turn comes, on one thread. Where a method ends in a classifier, that
    is scikit-learn's logistic regression with its default settings, cut at one half.

    Parameters
    ----------
    train, test : Sample
        The same columns in both. No method sees the outcome of a test row. Learned fair
        representations and the correlation remover see its group.
    random_state : int
        The seed of the methods that draw.
    methods : mapping of str to Method
    absent : collection of str, optional
        The libraries whose methods are left out; by default those that are not installed.

    Yields
    ------
    name : str
    predicted : array of bool
        One for each test row.

    Examples
    --------
    >>> values = np.linspace(0, 1, 8).reshape(8, 1)
    >>> sample = Sample(
    ...     values=values, selected=values[:, 0] > 0.5, is_reference=np.arange(8) % 2 == 1
    ... )
    >>> name, predicted = next(other_methods(sample, sample, random_state=0))
    >>> name, predicted.sum()
    ('logistic regression', np.int64(4))
    """
    if absent is None:
        absent = missing()
    for name, method in methods.items():
        if method.library not in absent:
            with isolated():
                predicted = method.predict(train, test, random_state)
            yield name, predicted


def drawn_rows(sample: Sample, random_state: int, *, max_rows: int = LFR_MAX_ROWS) -> Sample:
    """Return at most `max_rows` rows, drawn without replacement."""
    row_count = sample.selected.size
    if row_count <= max_rows:
        return sample
    rows = np.random.default_rng(random_state).choice(row_count, max_rows, replace=False)
    return Sample(
        values=sample.values[rows],
        selected=sample.selected[rows],
        is_reference=sample.is_reference[rows],
    )


def aif360_dataset(sample: Sample) -> Any:
    """Return aif360's kind of table: outcome 1 is favorable, group 1 is privileged."""
    import pandas as pd
    from aif360.datasets import BinaryLabelDataset

    frame = pd.DataFrame(sample.values).add_prefix("column ")
    frame["group"] = sample.is_reference.astype(np.float64)
    frame["outcome"] = sample.selected.astype(np.float64)
    return BinaryLabelDataset(
        df=frame,
        label_names=["outcome"],
        protected_attribute_names=["group"],
        favorable_label=1.0,
        unfavorable_label=0.0,
    )


def _logistic(
    values: FloatArray,
    selected: BoolArray,
    *,
    test_values: FloatArray,
    weights: FloatArray | None = None,
) -> BoolArray:
    model = LogisticRegression(max_iter=MAX_ITER)
    model.fit(values, selected, sample_weight=weights)
    return np.asarray(model.predict(test_values), dtype=np.bool_)


@contextmanager
def isolated() -> Iterator[None]:
    """Run on one thread, in silence, and leave numpy's global generator as it was."""
    state = np.random.get_state()  # noqa: NPY002 (aif360 seeds it)
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)  # aif360 logs each optional package that is not installed
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            # The libraries warn about each other's versions, not about the fit.
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        np.random.set_state(state)  # noqa: NPY002
