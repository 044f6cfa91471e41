"""The models that predict the outcome: the paper's three by name, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._certify.auditors import encoder
from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError

ModelName = Literal["LR", "SVM", "GNB"]
PENALTIES = np.logspace(-3, 3, 13)  # the values of C that are tried
FOLDS = 3
TUNING_ROWS = 5_000
MAX_ITER = 1_000  # Newton steps; Liblinear needs a few dozen, whatever C is


class PaperModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One of the paper's classifiers, on columns scaled to [0, 1].

    LR (logistic regression) and SVM (linear, squared hinge loss, which the paper calls L2 loss) are
    Liblinear's, with L2 regularization, and weight each class by n / (2 n_j). Their C is chosen
    from 13 values between 1e-3 and 1e3, by the lowest balanced error in three-fold cross-validation
    on at most 5,000 of the training rows. GNB (Gaussian naive Bayes) has equal priors.

    Parameters
    ----------
    name : {"LR", "SVM", "GNB"}
    is_category : sequence of bool
        Which columns are categories; they are one-hot encoded.
    random_state : int

    Attributes
    ----------
    encoder_, classifier_ : fitted
    errors_ : list of float
        The sum of the two class-conditioned errors, out of fold, for each C. Empty for GNB.
    """

    def __init__(self, name: ModelName, is_category: Sequence[bool], random_state: int = 0) -> None:
        self.name = name
        self.is_category = is_category
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> PaperModel:
        """Scale the columns, choose C, and fit the classifier."""
        self.classes_ = np.array([False, True])
        self.encoder_ = encoder(self.is_category, sparse=False, scaler=MinMaxScaler()).fit(X)
        encoded = self.encoder_.transform(X)
        self.errors_: list[float] = []
        classifier: Any
        if self.name == "GNB":
            classifier = GaussianNB(priors=[0.5, 0.5])
        elif self.name == "LR":
            classifier = LogisticRegression(
                solver="liblinear",
                class_weight="balanced",
                max_iter=MAX_ITER,
                random_state=self.random_state,
            )
        else:
            classifier = LinearSVC(
                loss="squared_hinge",
                dual=False,
                class_weight="balanced",
                max_iter=MAX_ITER,
                random_state=self.random_state,
            )
        if self.name != "GNB":
            self.errors_ = tuning_errors(classifier, encoded, y, random_state=self.random_state)
            classifier.set_params(C=PENALTIES[int(np.argmin(self.errors_))])
        self.classifier_ = classifier.fit(encoded, y)
        return self

    def predict(self, X: FloatArray) -> BoolArray:
        """Return which rows the model selects."""
        return np.asarray(self.classifier_.predict(self.encoder_.transform(X)), dtype=bool)

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return a score that is higher the more a row looks like a selected one."""
        encoded = self.encoder_.transform(X)
        if hasattr(self.classifier_, "decision_function"):
            return np.asarray(self.classifier_.decision_function(encoded))
        # Log odds rather than probabilities, which round to 0 and 1 and lose the order of rows.
        return np.asarray(np.diff(self.classifier_.predict_joint_log_proba(encoded)).ravel())


def tuning_errors(
    classifier: Any, X: FloatArray, y: BoolArray, *, random_state: int
) -> list[float]:
    """Return the sum of the two class-conditioned errors, out of fold, of each C.

    Parameters
    ----------
    classifier : LogisticRegression or LinearSVC
        Not fitted.
    X : float array
        Scaled.
    y : bool array
    random_state : int
        The seed of the tuning rows and of the folds.
    """
    if y.size > TUNING_ROWS:
        sample = StratifiedShuffleSplit(1, train_size=TUNING_ROWS, random_state=random_state)
        rows = next(sample.split(y, y))[0]
        X, y = X[rows], y[rows]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    splits = list(folds.split(y, y))
    errors: list[float] = []
    for penalty in PENALTIES:
        candidate = clone(classifier).set_params(C=penalty)
        predicted = np.empty(y.size, dtype=bool)
        for train, test in splits:
            predicted[test] = candidate.fit(X[train], y[train]).predict(X[test])
        errors.append(float(np.mean(~predicted[y]) + np.mean(predicted[~y])))
    return errors


def chosen_models(
    models: Sequence[str] | Mapping[str, Any] | None,
    is_category: Sequence[bool],
    *,
    random_state: int,
) -> dict[str, Any]:
    """Return the classifiers by name, none of them fitted.

    Parameters
    ----------
    models : sequence of str, mapping of str to classifier, or None
        Names of the paper's models, or the user's own classifiers. In a mapping, None stands for
        the paper's model of that name. None for all: the paper's three.
    is_category : sequence of bool
        Which columns are categories, for the paper's models.
    random_state : int
    """
    paper_names = get_args(ModelName)
    if models is None:
        models = paper_names
    if isinstance(models, str):
        models = [models]
    requested: dict[Any, Any] = (
        dict(models) if isinstance(models, Mapping) else dict.fromkeys(models)
    )
    if not requested:
        raise OptionError(f"models: name at least one; expected some of {listed(paper_names)}")
    classifiers: dict[str, Any] = {}
    for name, model in requested.items():
        if model is None:
            if name not in paper_names:
                raise OptionError(
                    f"models: {name!r} is not one of {listed(paper_names)}"
                    f"{nearest(name, paper_names)}; pass your own "
                    "classifiers as a mapping of name to classifier"
                )
            classifiers[name] = PaperModel(name, tuple(is_category), random_state=random_state)
            continue
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise OptionError(
                f"models: {name!r} is {model!r}; expected a scikit-learn classifier with fit and "
                "predict"
            )
        classifiers[name] = model
    return classifiers
