"""The models that predict the outcome: the paper's three by name, and any of yours."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._certify.auditors import encoder
from fourfifths.errors import OptionError, listed, nearest

ModelName = Literal["LR", "SVM", "GNB"]
PENALTIES = np.logspace(-3, 3, 13)
FOLDS = 3
TUNING_ROWS = 5_000
MAX_ITER = 100_000


class PaperModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One of the paper's classifiers, on columns scaled to [0, 1].

    LR and SVM (linear, hinge loss) weight each class n / (2 n_j); their C is the one of 13, from
    1e-3 to 1e3, with the least balanced error in three-fold cross-validation, on at most 5,000 of
    the training rows; from the first on whose fit does not converge, values are passed over. GNB
    has equal priors.

    Parameters
    ----------
    name : {"LR", "SVM", "GNB"}
    is_category : sequence of bool
        Which columns are categories; they become dummies.
    random_state : int
    """

    def __init__(self, name: Any, is_category: Sequence[bool], random_state: int = 0) -> None:
        self.name = name
        self.is_category = is_category
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> PaperModel:
        """Scale, choose C, fit."""
        self.classes_ = np.array([False, True])
        self.encoder_ = encoder(self.is_category, sparse=False, scaler=MinMaxScaler()).fit(X)
        encoded = self.encoder_.transform(X)
        with warnings.catch_warnings():
            # Where it stops is near enough: the chosen C has converged on fewer rows.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.classifier_ = self._chosen(encoded, y).fit(encoded, y)
        return self

    def predict(self, X: FloatArray) -> BoolArray:
        """Say which rows are selected."""
        return np.asarray(self.classifier_.predict(self.encoder_.transform(X)), dtype=bool)

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return how much each row looks like a selected one."""
        encoded = self.encoder_.transform(X)
        if hasattr(self.classifier_, "decision_function"):
            return np.asarray(self.classifier_.decision_function(encoded))
        return np.asarray(np.diff(self.classifier_.predict_joint_log_proba(encoded)).ravel())

    def _chosen(self, X: FloatArray, y: BoolArray) -> Any:
        if self.name == "GNB":
            return GaussianNB(priors=[0.5, 0.5])
        base: Any = LogisticRegression(class_weight="balanced", max_iter=MAX_ITER)
        if self.name == "SVM":
            base = LinearSVC(loss="hinge", class_weight="balanced", random_state=self.random_state)
            base.set_params(max_iter=MAX_ITER)
        if y.size > TUNING_ROWS:
            sample = StratifiedShuffleSplit(
                1, train_size=TUNING_ROWS, random_state=self.random_state
            )
            rows = next(sample.split(y, y))[0]
            X, y = X[rows], y[rows]
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.random_state)
        splits = list(folds.split(y, y))
        errors: list[float] = []
        for penalty in PENALTIES:
            error = self._error(clone(base).set_params(C=penalty), X, y, splits)
            if error is None:
                break
            errors.append(error)
        return base.set_params(C=PENALTIES[int(np.argmin(errors or [0]))])

    @staticmethod
    def _error(model: Any, X: FloatArray, y: BoolArray, splits: Any) -> float | None:
        """Return twice the balanced error out of fold, or None if a fit does not converge."""
        predicted = np.empty(y.size, dtype=bool)
        for train, test in splits:
            predicted[test] = model.fit(X[train], y[train]).predict(X[test])
            if np.max(model.n_iter_) >= model.max_iter:
                return None
        return float(np.mean(~predicted[y]) + np.mean(predicted[~y]))


def chosen_models(
    models: Sequence[str] | Mapping[str, Any] | None, is_category: Sequence[bool], random_state: int
) -> dict[str, Any]:
    """Return the models by name: the paper's, and classifiers of the user's."""
    names = get_args(ModelName)
    if models is None:
        models = names
    if isinstance(models, str):
        models = [models]
    given = dict(models) if isinstance(models, Mapping) else dict.fromkeys(models)
    if not given:
        raise OptionError("models: name at least one")
    found: dict[str, Any] = {}
    for name, model in given.items():
        if model is None:
            if name not in names:
                raise OptionError(
                    f"models: {name!r} is none of {listed(names)}{nearest(name, names)}; give your "
                    "own as a mapping of name to classifier"
                )
            found[name] = PaperModel(name, tuple(is_category), random_state)
            continue
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise OptionError(
                f"models: {name!r} is {model!r}; expected a scikit-learn classifier with fit and "
                "predict"
            )
        found[name] = model
    return found
