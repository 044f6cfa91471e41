"""The matrix of features, made fit for each kind of classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths.errors import OptionError, listed, nearest

MAX_DUMMIES = 100


class Filled(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The matrix as it is, but for columns of which the training rows hold nothing: those are 0."""

    def fit(self, X: FloatArray, y: object = None) -> Filled:  # noqa: ARG002
        """Find the empty columns."""
        self.empty_ = np.all(np.isnan(X), axis=0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Fill them."""
        return np.where(self.empty_, 0.0, X)


def encoder(is_category: Sequence[bool], *, sparse: bool, scaler: Any = None) -> ColumnTransformer:
    """Return what makes the matrix fit for linear models; that a value is missing is a feature.

    Numbers are standardised, or scaled by `scaler`.
    """
    categories = np.flatnonzero(is_category)
    numbers = np.flatnonzero(~np.asarray(is_category, dtype=bool))
    scaled = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), scaler or StandardScaler()
    )
    dummies = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_DUMMIES, sparse_output=sparse
    )
    return ColumnTransformer(
        [("numbers", scaled, numbers), ("categories", dummies, categories)],
        sparse_threshold=1.0 if sparse else 0.0,
    )


AuditorName = Literal["logistic", "svm", "naive-bayes", "trees"]
Side = Literal["group", "reference"]
SVM_PENALTIES = np.logspace(-3, 3, 13)
INNER_FOLDS = 3
HELD_OUT = 0.2
MAX_HELD = 5_000
TUNING_ROWS = 5_000  # the choice among 13 penalties needs no more
FEW = 250  # rows of a group, below which none are held out
LEAST_LOG = -1e6


class BalancedCut(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier, and a cut of its score, chosen by balanced error rate on training rows.

    Parameters
    ----------
    encoder : transformer
        Fitted before the classifier.
    candidates : sequence of classifiers
        The one with the least balanced error on inner folds is taken.
    random_state : int

    Attributes
    ----------
    encoder_, classifier_ : fitted
    cut_ : float
        The score from which a row is taken for the reference.
    held_scores_, held_labels_ : array
        Scores, less the cut, of training rows by a fit that had not seen them.
    """

    def __init__(self, encoder: Any, candidates: Sequence[Any], random_state: int = 0) -> None:
        self.encoder = encoder
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> BalancedCut:
        """Choose a classifier, fit it, and choose its cut.

        Where there are rows enough, some are held out for the cut. Where there are few, the cut is
        chosen on inner folds, and the classifier fitted to all rows.
        """
        self.classes_ = np.array([False, True])
        y = np.asarray(y, dtype=np.bool_)
        with quiet():
            if min(y.sum(), (~y).sum()) >= FEW:
                held = min(HELD_OUT, MAX_HELD / y.size)
                split = StratifiedShuffleSplit(1, test_size=held, random_state=self.random_state)
                train, test = next(split.split(y, y))
                best = self._choose(X[train], y[train])[0]
                self.encoder_, (self.classifier_,) = self._fit(X[train], y[train], [best])
                scores, labels = self._score(X[test]), y[test]
            else:
                best, scores, labels = self._choose(X, y)
                self.encoder_, (self.classifier_,) = self._fit(X, y, [best])
        self.cut_ = best_cut(scores, labels)[0]
        self.held_scores_, self.held_labels_ = scores - self.cut_, labels
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the score less the cut: positive means taken for the reference."""
        with quiet():
            return self._score(X) - self.cut_

    def predict(self, X: FloatArray) -> BoolArray:
        """Say which rows are taken for the reference."""
        return self.decision_function(X) > 0

    def select(self, score: FloatArray, rate: float, side: Side, coin: FloatArray) -> BoolArray:
        """Select by score so that a share `rate` of the side that is harmed would be selected.

        The cut is set on training rows; of the rows at the cut, those are selected whose `coin`,
        uniform between 0 and 1, is below the share that is still wanted. Harming the group means
        selecting what looks like the reference; harming the reference, the reverse.
        """
        sign = 1 if side == "group" else -1
        own = sign * self.held_scores_[self.held_labels_ == (side == "reference")]
        wanted = rate * own.size
        cut = np.sort(own)[own.size - max(1, int(np.ceil(wanted)))]
        share = (wanted - np.sum(own > cut)) / np.sum(own == cut)
        return np.asarray((sign * score > cut) | ((sign * score == cut) & (coin < share)))

    def _fit(self, X: FloatArray, y: BoolArray, candidates: Sequence[Any]) -> tuple[Any, list[Any]]:
        encoder = clone(self.encoder).fit(X)
        encoded = encoder.transform(X)
        return encoder, [clone(candidate).fit(encoded, y) for candidate in candidates]

    def _score(self, X: FloatArray) -> FloatArray:
        return score_of(self.classifier_, self.encoder_.transform(X))

    def _choose(self, X: FloatArray, y: BoolArray) -> tuple[Any, FloatArray, BoolArray]:
        """Return the best candidate, with its inner scores of (a sample of) the rows."""
        if len(self.candidates) == 1 and min(y.sum(), (~y).sum()) >= FEW:
            return self.candidates[0], np.empty(0), np.empty(0, dtype=np.bool_)
        if y.size > TUNING_ROWS:
            sample = StratifiedShuffleSplit(
                1, train_size=TUNING_ROWS, random_state=self.random_state
            )
            rows = next(sample.split(y, y))[0]
            X, y = X[rows], y[rows]
        folds = min(INNER_FOLDS, int(y.sum()), int((~y).sum()))
        splits = [(np.arange(y.size),) * 2]  # a single row of a group cannot be held out
        if folds > 1:
            inner = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
            splits = list(inner.split(y, y))
        scores = np.empty((len(self.candidates), y.size))
        for train, test in splits:
            encoder, fitted = self._fit(X[train], y[train], self.candidates)
            encoded = encoder.transform(X[test])
            scores[:, test] = [score_of(each, encoded) for each in fitted]
        best = int(np.argmin([best_cut(each, y)[1] for each in scores]))
        return self.candidates[best], scores[best], y


@dataclass(frozen=True, kw_only=True)
class OutOfFold:
    """What an auditor said of every row, fitted without it.

    Attributes
    ----------
    score : float array
        How much the row looks like the reference; above 0, it is taken for it.
    selected, selected_reverse : bool array
        The rows that two rules select, whose cuts were set on training rows: one that selects
        `rate` of the group and as many of the reference as it can, and the reverse.
    """

    score: FloatArray
    selected: BoolArray
    selected_reverse: BoolArray


def out_of_fold(
    auditor: BalancedCut,
    X: FloatArray,
    is_reference: BoolArray,
    folds: Sequence[tuple[IntArray, IntArray]],
    rates: tuple[float, float],
    done: Callable[[], None],
) -> OutOfFold:
    """Fit and score fold by fold, calling `done` after each."""
    score = np.empty(is_reference.size)
    selected, reverse = np.zeros((2, is_reference.size), dtype=bool)
    coin = np.random.default_rng(auditor.random_state).random(is_reference.size)
    for train, test in folds:
        fitted = clone(auditor).fit(X[train], is_reference[train])
        score[test] = fitted.decision_function(X[test])
        selected[test] = fitted.select(score[test], rates[0], "group", coin[test])
        reverse[test] = fitted.select(score[test], rates[1], "reference", coin[test])
        done()
    return OutOfFold(score=score, selected=selected, selected_reverse=reverse)


def best_cut(scores: FloatArray, is_reference: BoolArray) -> tuple[float, float]:
    """Return the cut with the least balanced error, and that error."""
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], is_reference[order]
    # Below a cut after place k, k + 1 rows are taken for the group.
    missed = np.append(0, np.cumsum(labels)) / labels.sum()
    caught = np.append(0, np.cumsum(~labels)) / (~labels).sum()
    error = (missed + 1 - caught) / 2
    between = np.append(True, ordered[1:] > ordered[:-1])
    error[:-1][~between] = np.inf
    best = int(np.argmin(error))
    if best == 0:
        return float(np.nextafter(ordered[0], -np.inf)), float(error[0])
    if best == ordered.size:
        return float(ordered[-1]), float(error[-1])
    return float((ordered[best - 1] + ordered[best]) / 2), float(error[best])


def panel(
    names: Sequence[str] | Mapping[str, Any] | None, is_category: Sequence[bool], random_state: int
) -> dict[str, BalancedCut]:
    """Return the auditors: the four by name, and any scikit-learn classifiers of the user's."""
    chosen = get_args(AuditorName) if names is None else names
    if isinstance(chosen, str):
        chosen = [chosen]
    if not isinstance(chosen, Iterable):
        raise OptionError(f"auditors={names!r}: expected names, or a mapping of name to classifier")
    given = dict(chosen) if isinstance(chosen, Mapping) else dict.fromkeys(chosen)
    if not given:
        raise OptionError("auditors: name at least one")
    return {
        name: _auditor(name, classifier, is_category, random_state)
        for name, classifier in given.items()
    }


def _auditor(
    name: str, classifier: Any, is_category: Sequence[bool], random_state: int
) -> BalancedCut:
    sparse, dense = (encoder(is_category, sparse=sparse) for sparse in (True, False))
    if classifier is not None:
        if (
            isinstance(classifier, type)
            or not hasattr(classifier, "fit")
            or not (
                hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")
            )
        ):
            raise OptionError(
                f"auditors: {name!r} is {classifier!r}; expected a scikit-learn classifier with "
                "decision_function or predict_proba"
            )
        return BalancedCut(dense, (classifier,), random_state)
    if name == "logistic":
        fit = LogisticRegression(class_weight="balanced", max_iter=1000)
        return BalancedCut(sparse, (fit,), random_state)
    if name == "svm":
        # Balanced weights are n / (2 n_j), the paper's.
        machine = LinearSVC(loss="hinge", class_weight="balanced", random_state=random_state)
        grid = tuple(clone(machine).set_params(C=C) for C in SVM_PENALTIES)
        return BalancedCut(sparse, grid, random_state)
    if name == "naive-bayes":
        return BalancedCut(dense, (GaussianNB(priors=[0.5, 0.5]),), random_state)
    if name == "trees":
        from sklearn.ensemble import HistGradientBoostingClassifier

        trees = HistGradientBoostingClassifier(
            class_weight="balanced",
            categorical_features=list(is_category),
            random_state=random_state,
        )
        return BalancedCut(Filled(), (trees,), random_state)
    raise OptionError(
        f"auditors: {name!r} is none of {listed(get_args(AuditorName))}"
        f"{nearest(name, get_args(AuditorName))}; give your own as a mapping of name to classifier"
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Run fits on one thread, without the warnings that do not matter here.

    One thread gives the same numbers everywhere, and threads that wait for each other on a busy
    machine take many times as long as one. A fit that stops early is a weaker auditor, not an
    error: its errors are counted all the same. A fold may lack a category.
    """
    with threadpool_limits(1), warnings.catch_warnings():
        for category in (ConvergenceWarning, UserWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        yield


def score_of(fitted: Any, X: Any) -> FloatArray:
    """Return how much each row looks like the reference."""
    if hasattr(fitted, "decision_function"):
        score = fitted.decision_function(X)
    else:
        # In logarithms, so that near certainties are still told apart.
        if hasattr(fitted, "predict_log_proba"):
            logs = fitted.predict_log_proba(X)
        else:
            logs = np.log(np.maximum(fitted.predict_proba(X), np.finfo(float).tiny))
        unlikely, likely = np.maximum(logs, LEAST_LOG).T
        score = likely - unlikely
    return np.nan_to_num(np.asarray(score, dtype=np.float64))
