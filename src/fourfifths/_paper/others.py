"""Other methods, run here and now, beside which the paper's repairs are shown.

Two libraries bring them, aif360 and fairlearn, and the extra `compare` brings the libraries. A
method whose library is not there is left out, and `missing` says which libraries are not.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fourfifths._paper.experiments import MAX_ITER

LIBRARIES = ("aif360", "fairlearn")
GROUPS = {"privileged_groups": [{"group": 1.0}], "unprivileged_groups": [{"group": 0.0}]}
PROTOTYPES = {"k": 10, "Ax": 0.1, "Ay": 1.0, "Az": 2.0}  # those of aif360's demo_lfr notebook
LOSSES = 5_000  # evaluations of the loss, also the notebook's
DRAWN = ("learned fair representations", "exponentiated gradient")  # by the seed
LFR_ROWS = 5_000  # all of Adult's take over a minute, for the same accuracy within 0.004


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows to learn from, or to predict.

    Attributes
    ----------
    values : array of float, rows x columns
        The features, without the protected attribute, scaled to [0, 1].
    selected : array of bool
        Who had the favorable outcome.
    is_reference : array of bool
        Who belongs to the reference group.
    """

    values: NDArray[np.float64]
    selected: NDArray[np.bool_]
    is_reference: NDArray[np.bool_]


def missing() -> tuple[str, ...]:
    """Return the libraries that are not installed; `pip install fourfifths[compare]` does it."""
    return tuple(name for name in LIBRARIES if importlib.util.find_spec(name) is None)


def other_methods(
    train: Sample, test: Sample, random_state: int
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Predict who of the test rows is selected, by each method that can be run here.

    Each is fitted when it is asked for, on one thread. Where a method ends in a classifier it is
    scikit-learn's logistic regression as it comes, cut at one half.

    Parameters
    ----------
    train, test : Sample
        The same columns in both. Of the test rows the outcome is not looked at, and the group is
        only by learned fair representations and by the correlation remover.
    random_state : int
        Of learned fair representations and exponentiated gradient; the others draw nothing.

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
    absent = missing()
    for name, (library, predict) in METHODS.items():
        if library not in absent:
            with _alone():
                predicted = predict(train, test, random_state)
            yield name, predicted


def _logistic(
    values: NDArray[np.float64],
    train: Sample,
    test_values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    model = LogisticRegression(max_iter=MAX_ITER)
    model.fit(values, train.selected, sample_weight=weights)
    return np.asarray(model.predict(test_values), dtype=np.bool_)


def _plain(train: Sample, test: Sample, _: int) -> NDArray[np.bool_]:
    """Predict by logistic regression, every row with the same weight."""
    return _logistic(train.values, train, test.values)


def _reweighing(train: Sample, test: Sample, _: int) -> NDArray[np.bool_]:
    """Weight the rows so that group and outcome are independent (Kamiran and Calders, 2012)."""
    from aif360.algorithms.preprocessing import Reweighing

    weighted = Reweighing(**GROUPS).fit_transform(_dataset(train))
    return _logistic(train.values, train, test.values, weighted.instance_weights)


def _learned_fair(train: Sample, test: Sample, random_state: int) -> NDArray[np.bool_]:
    """Predict from prototypes that both groups resemble alike (Zemel and others, 2013).

    As in aif360's own example: ten prototypes, 5,000 evaluations of the loss, columns (the group
    is one of them) standardized, and the predictions are the representation's own, cut at one
    half. Columns left in [0, 1] lie so close together that nearly no one would be selected. The
    gradient is by differences, so time grows with rows: of more than 5,000, that many are drawn.
    """
    from aif360.algorithms.preprocessing import LFR

    known, new = _dataset(_drawn(train, random_state)), _dataset(test)
    scaler = StandardScaler().fit(known.features)
    known.features, new.features = scaler.transform(known.features), scaler.transform(new.features)
    method = LFR(**GROUPS, **PROTOTYPES, seed=random_state)
    method.fit(known, maxiter=LOSSES, maxfun=LOSSES)
    return np.asarray(method.transform(new).labels[:, 0] == new.favorable_label)


def _correlation_remover(train: Sample, test: Sample, _: int) -> NDArray[np.bool_]:
    """Take from each column what the group predicts of it linearly."""
    from fairlearn.preprocessing import CorrelationRemover

    remover = CorrelationRemover(sensitive_feature_ids=[train.values.shape[1]])
    values = remover.fit_transform(_with_group(train))
    return _logistic(values, train, remover.transform(_with_group(test)))


def _exponentiated_gradient(train: Sample, test: Sample, random_state: int) -> NDArray[np.bool_]:
    """Mix classifiers so that the groups' rates agree within 0.01 (Agarwal and others, 2018).

    Each row is predicted by one of them, drawn at random.
    """
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    method = ExponentiatedGradient(LogisticRegression(max_iter=MAX_ITER), DemographicParity())
    selected = train.selected.astype(np.int64)
    method.fit(train.values, selected, sensitive_features=train.is_reference)
    return np.asarray(method.predict(test.values, random_state=random_state) == 1)


Method = Callable[[Sample, Sample, int], NDArray[np.bool_]]
METHODS: dict[str, tuple[str, Method]] = {
    "logistic regression": ("sklearn", _plain),
    "reweighing": ("aif360", _reweighing),
    "learned fair representations": ("aif360", _learned_fair),
    "correlation remover": ("fairlearn", _correlation_remover),
    "exponentiated gradient": ("fairlearn", _exponentiated_gradient),
}


def _with_group(sample: Sample) -> NDArray[np.float64]:
    return np.column_stack([sample.values, sample.is_reference.astype(np.float64)])


def _drawn(sample: Sample, random_state: int) -> Sample:
    rows = sample.selected.size
    if rows <= LFR_ROWS:
        return sample
    kept = np.random.default_rng(random_state).choice(rows, LFR_ROWS, replace=False)
    return Sample(
        values=sample.values[kept],
        selected=sample.selected[kept],
        is_reference=sample.is_reference[kept],
    )


def _dataset(sample: Sample) -> Any:
    """Return aif360's table: outcome 1 is the favorable one, group 1 the privileged one."""
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


@contextmanager
def _alone() -> Iterator[None]:
    """Run on one thread, say nothing, and leave numpy's global generator as it was."""
    state = np.random.get_state()  # noqa: NPY002 (aif360 seeds it)
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)  # aif360 names every package that it could also use
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            # What the libraries have to say of each other's versions is no news of the fit.
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        np.random.set_state(state)  # noqa: NPY002
