"""Auditors: classifiers that predict the group, and their predictions out of fold.

An auditor is a scikit-learn classifier with an encoder before it and a cut behind it. The cut is
chosen by balanced error rate on training rows, so groups of unequal size count alike. Every row is
scored by a fit that has not seen it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier
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
from fourfifths._certify.binned_trees import BinnedTrees
from fourfifths._certify.details import DetailScores
from fourfifths._certify.result import Side
from fourfifths._text import listed, nearest
from fourfifths.errors import GroupError, OptionError

AuditorName = Literal["logistic", "svm", "naive-bayes", "trees", "forest", "details"]
# Those without details, which take any matrix of features.
PLAIN_AUDITORS: tuple[AuditorName, ...] = ("logistic", "svm", "naive-bayes", "trees")
SVM_PENALTIES = np.logspace(-3, 3, 13)
# Candidates are tried in turn until this many of them have not improved the error by this much.
PATIENCE = 3
MIN_IMPROVEMENT = 0.002
FOREST_TREES = 25
# A forest costs more than everything else together. From this many rows it finds what is there to
# find; what needs more rows, like single values of a column, is a detail.
MAX_FOREST_ROWS = 16_000
# scikit-learn's histogram trees take no more; rarer categories share the last code.
MAX_CATEGORIES = 255
MAX_DUMMY_COLUMNS = 100
INNER_FOLDS = 3
# The cut is one number: a fifth of the rows, or 5,000 of many, place it well enough.
HELD_OUT_SHARE = 0.2
MAX_HELD_OUT_ROWS = 5_000
# Below this many rows in a group, holding some out for the cut would cost the fit too much.
MIN_GROUP_ROWS_TO_HOLD_OUT = 250
MAX_TUNING_ROWS = 5_000  # the choice among 13 penalties needs no more
MIN_LOG_PROBABILITY = -1e6
IS_QUIET: ContextVar[bool] = ContextVar("IS_QUIET", default=False)


def panel(
    auditors: Sequence[str] | Mapping[str, Any] | None,
    is_category: Sequence[bool],
    *,
    random_state: int,
) -> dict[str, BalancedCut]:
    """Return the auditors by name: built-in ones, and scikit-learn classifiers of the user.

    Parameters
    ----------
    auditors : sequence of names, mapping of name to classifier, or None
        None means all built-in auditors. In a mapping, the value None means the built-in auditor
        of that name.
    is_category : sequence of bool
        For each feature, whether it is a category.
    random_state : int
    """
    chosen = get_args(AuditorName) if auditors is None else auditors
    if isinstance(chosen, str):
        chosen = [chosen]
    if not isinstance(chosen, Iterable):
        raise OptionError(
            f"auditors={auditors!r}: expected names, or a mapping of name to classifier"
        )
    classifiers = dict(chosen) if isinstance(chosen, Mapping) else dict.fromkeys(chosen)
    if not classifiers:
        raise OptionError("auditors: name at least one")
    members = {}
    for name, classifier in classifiers.items():
        if classifier is None:
            members[name] = built_in_auditor(name, is_category, random_state=random_state)
            continue
        has_score = hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")
        # A class has the methods of its instances, but cannot be fitted.
        if isinstance(classifier, type) or not hasattr(classifier, "fit") or not has_score:
            raise OptionError(
                f"auditors: {name!r} is {classifier!r}; expected a scikit-learn classifier with "
                "decision_function or predict_proba"
            )
        members[name] = BalancedCut(
            encoder(is_category, sparse=False), (classifier,), random_state=random_state
        )
    return members


def built_in_auditor(name: str, is_category: Sequence[bool], *, random_state: int) -> BalancedCut:
    """Return one of the auditors that `AuditorName` lists."""
    prepare: Any = encoder(is_category, sparse=True)
    histogram_trees = BinnedTrees(
        class_weight="balanced",
        categorical_features=np.flatnonzero(is_category).tolist(),
        random_state=random_state,
    )
    candidates: tuple[Any, ...]
    if name == "logistic":
        candidates = (LogisticRegression(class_weight="balanced", max_iter=1000),)
    elif name == "svm":
        # The paper's: hinge loss, and balanced weights n / (2 n_j).
        machine = LinearSVC(loss="hinge", class_weight="balanced", random_state=random_state)
        candidates = tuple(clone(machine).set_params(C=penalty) for penalty in SVM_PENALTIES)
    elif name == "naive-bayes":
        prepare = encoder(is_category, sparse=False)
        candidates = (GaussianNB(priors=[0.5, 0.5]),)
    elif name == "trees":
        # Histogram trees take categories and missing values as they are.
        prepare = TreeColumns(is_category)
        candidates = (histogram_trees,)
    elif name == "forest":
        # Grown until each leaf is pure, with random cuts of the values themselves, not of bins.
        prepare = TreeColumns(is_category, pooled=False)
        forest = ExtraTreesClassifier(
            FOREST_TREES, class_weight="balanced", random_state=random_state
        )
        candidates = (SampledRows(forest, max_rows=MAX_FOREST_ROWS, random_state=random_state),)
    elif name == "details":
        prepare = TreeColumns(is_category, with_details=True)
        candidates = (
            DetailScores(
                histogram_trees, feature_count=len(is_category), random_state=random_state
            ),
        )
    else:
        names = get_args(AuditorName)
        raise OptionError(
            f"auditors: {name!r} is not one of {listed(names)}{nearest(name, names)}; pass your "
            "own classifiers as a mapping of name to classifier"
        )
    return BalancedCut(prepare, candidates, random_state=random_state)


class BalancedCut(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier and a cut of its score, chosen by balanced error rate on training rows.

    Parameters
    ----------
    encoder : transformer
        Fitted before the classifier.
    candidates : sequence of classifiers
        The candidate with the lowest balanced error rate on inner folds is used. They are tried in
        this order, and no further once several in a row have hardly improved the error.
    random_state : int

    Attributes
    ----------
    encoder_, classifier_ : fitted
    cut_ : float
        Rows with a score above it are predicted to be of the reference.
    held_scores_, held_labels_ : array
        Scores (less the cut) of training rows by a fit that has not seen them, and whether each
        row is of the reference.
    held_fits_ : {"same fit", "inner folds"}
        Whether `held_scores_` are those of `classifier_`, or of other fits to fewer rows.
    """

    held_fits_: Literal["same fit", "inner folds"] = "same fit"

    def __init__(self, encoder: Any, candidates: Sequence[Any], *, random_state: int = 0) -> None:
        self.encoder = encoder
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> BalancedCut:
        """Choose a classifier, fit it, and choose its cut.

        With enough rows, some are held out to choose the cut. With few rows, the cut is chosen on
        the scores of the inner folds, and the classifier is fitted to all rows.
        """
        self.classes_ = np.array([False, True])
        y = np.asarray(y, dtype=np.bool_)
        holds_out = min(y.sum(), (~y).sum()) >= MIN_GROUP_ROWS_TO_HOLD_OUT
        train: IntArray | slice = slice(None)
        held: IntArray | slice = slice(0)
        if holds_out:
            held_share = min(HELD_OUT_SHARE, MAX_HELD_OUT_ROWS / y.size)
            split = StratifiedShuffleSplit(1, test_size=held_share, random_state=self.random_state)
            train, held = next(split.split(y, y))
        with quiet():
            rows, is_reference = X[train], y[train]
            best, scores, labels = self.choose_candidate(rows, is_reference)
            self.encoder_ = clone(self.encoder)
            self.classifier_ = clone(best).fit(self.encoder_.fit_transform(rows), is_reference)
            if holds_out:
                scores, labels = self._score(X[held]), y[held]
        self.held_fits_ = "same fit" if holds_out else "inner folds"
        self.cut_ = best_cut(scores, labels)[0]
        self.held_scores_, self.held_labels_ = scores - self.cut_, labels
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the score less the cut: above 0, the row is predicted to be of the reference."""
        with quiet():
            return self._score(X) - self.cut_

    def predict(self, X: FloatArray) -> BoolArray:
        """Return which rows are predicted to be of the reference."""
        return self.decision_function(X) > 0

    def select(
        self, scores: FloatArray, rate: float, *, harmed: Side, coin: FloatArray
    ) -> BoolArray:
        """Return the rows that the rule selects that harms one side as much as this score allows.

        To harm the group is to select the rows that look most like the reference, and the reverse.
        The cut of the rule is set on held training rows, so that it selects a share `rate` of the
        harmed side there. If other fits have scored them, the rule selects the same share of all
        rows that are asked about, whatever their groups.

        Parameters
        ----------
        scores : float array
            As `decision_function` returns them.
        rate : float
            The share of the harmed side to select, in (0, 1].
        harmed : {"group", "reference"}
        coin : float array
            Uniform in [0, 1), one for each row. A row at the cut is selected if its coin is below
            the share of the rows at the cut that `rate` still needs.
        """
        sign = 1 if harmed == "group" else -1
        held, directed = sign * self.held_scores_, sign * scores
        is_harmed = self.held_labels_ == (harmed == "reference")
        cut, share_at_cut = cut_of_share(held[is_harmed], rate)
        if self.held_fits_ == "inner folds":
            # Each fit has a scale of its own, so it is not the cut that is kept but how many rows
            # of both sides it selects.
            share = np.mean(held > cut) + share_at_cut * np.mean(held == cut)
            cut, share_at_cut = cut_of_share(directed, float(share))
        return np.asarray((directed > cut) | ((directed == cut) & (coin < share_at_cut)))

    def _score(self, X: FloatArray) -> FloatArray:
        return score_of(self.classifier_, self.encoder_.transform(X))

    def choose_candidate(self, X: FloatArray, y: BoolArray) -> tuple[Any, FloatArray, BoolArray]:
        """Return the best candidate, and the inner scores and labels of the rows it was judged by.

        With a single candidate and rows enough there is nothing to choose; the scores, which the
        caller then takes from held-out rows, are empty.
        """
        smaller = int(min(y.sum(), (~y).sum()))
        if len(self.candidates) == 1 and smaller >= MIN_GROUP_ROWS_TO_HOLD_OUT:
            return self.candidates[0], np.empty(0), np.empty(0, dtype=np.bool_)
        if y.size > MAX_TUNING_ROWS:
            sample = StratifiedShuffleSplit(
                1, train_size=MAX_TUNING_ROWS, random_state=self.random_state
            )
            rows = next(sample.split(y, y))[0]
            X, y = X[rows], y[rows]
        folds = min(INNER_FOLDS, int(y.sum()), int((~y).sum()))
        splits = [(np.arange(y.size),) * 2]  # a single row of a group cannot be held out
        if folds > 1:
            splits = stratified_folds(y, folds, random_state=self.random_state)
        encoded = []
        for train, test in splits:
            fold_encoder = clone(self.encoder)
            encoded.append((fold_encoder.fit_transform(X[train]), fold_encoder.transform(X[test])))
        best, best_scores, lowest, last_improvement = self.candidates[0], np.empty(0), np.inf, 0
        for index, candidate in enumerate(self.candidates):
            scores = np.empty(y.size)
            for (train, test), (train_rows, test_rows) in zip(splits, encoded, strict=True):
                scores[test] = score_of(clone(candidate).fit(train_rows, y[train]), test_rows)
            error = best_cut(scores, y)[1]
            if error < lowest - MIN_IMPROVEMENT:
                last_improvement = index
            if error < lowest:
                best, best_scores, lowest = candidate, scores, error
            if index - last_improvement >= PATIENCE:
                break
        return best, best_scores, y


@dataclass(frozen=True, kw_only=True)
class OutOfFold:
    """An auditor's answers for every row, each by a fit without that row.

    Attributes
    ----------
    score : float array
        How much the row looks like the reference; above 0, it is predicted to be of it.
    selected : mapping of {"group", "reference"} to bool array
        For each side, the rows that the rule selects which harms this side.
    """

    score: FloatArray
    selected: Mapping[Side, BoolArray]


def out_of_fold(
    auditor: BalancedCut,
    X: FloatArray,
    *,
    is_reference: BoolArray,
    folds: Sequence[tuple[IntArray, IntArray]],
    rates: Mapping[Side, float],
    advance: Callable[[], None],
) -> OutOfFold:
    """Fit an auditor on the training rows of each fold, and let it answer for the test rows.

    Parameters
    ----------
    auditor : BalancedCut
    X : float array, rows by features
    is_reference : bool array
    folds : sequence of (training rows, test rows)
    rates : mapping of {"group", "reference"} to float
        The share of each side that a rule which harms it selects.
    advance : callable
        Called after each fold.
    """
    score = np.empty(is_reference.size)
    selected = {harmed: np.zeros(is_reference.size, dtype=np.bool_) for harmed in rates}
    coin = np.random.default_rng(auditor.random_state).random(is_reference.size)
    for train, test in folds:
        fitted = clone(auditor).fit(X[train], is_reference[train])
        score[test] = fitted.decision_function(X[test])
        for harmed, rate in rates.items():
            selected[harmed][test] = fitted.select(
                score[test], rate, harmed=harmed, coin=coin[test]
            )
        advance()
    return OutOfFold(score=score, selected=selected)


def stratified_folds(
    is_reference: BoolArray, folds: int, *, random_state: int
) -> list[tuple[IntArray, IntArray]]:
    """Return the training and the test rows of each fold, with rows of both groups in each."""
    smaller = int(min(is_reference.sum(), (~is_reference).sum()))
    if smaller < folds:
        raise GroupError(
            f"folds={folds}: only {smaller} rows of a group are audited, expected at least "
            f"{folds}; use fewer folds, or raise max_rows"
        )
    split = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    return list(split.split(is_reference, is_reference))


def cut_of_share(scores: FloatArray, share: float) -> tuple[float, float]:
    """Return the cut above which a share of the scores lies, and the share needed of those at it.

    Examples
    --------
    >>> cut_of_share(np.array([1.0, 2.0, 3.0, 3.0]), 0.25)
    (3.0, 0.5)
    """
    target = share * scores.size
    cut = np.sort(scores)[scores.size - min(max(1, int(np.ceil(target))), scores.size)]
    return float(cut), float((target - np.sum(scores > cut)) / np.sum(scores == cut))


def best_cut(scores: FloatArray, is_reference: BoolArray) -> tuple[float, float]:
    """Return the cut with the lowest balanced error rate, and that rate.

    Rows with a score above the cut are predicted to be of the reference.

    Examples
    --------
    >>> best_cut(np.array([1.0, 2.0, 4.0]), np.array([False, False, True]))
    (3.0, 0.0)
    """
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], is_reference[order]
    # Element k is for a cut right above the k lowest scores.
    reference_missed = np.append(0, np.cumsum(labels)) / labels.sum()
    group_caught = np.append(0, np.cumsum(~labels)) / (~labels).sum()
    error = (reference_missed + 1 - group_caught) / 2
    # No cut separates rows of equal score.
    is_new_score = np.append(True, ordered[1:] > ordered[:-1])
    error[:-1][~is_new_score] = np.inf
    best = int(np.argmin(error))
    if best == 0:
        return float(np.nextafter(ordered[0], -np.inf)), float(error[0])
    if best == ordered.size:
        return float(ordered[-1]), float(error[-1])
    return float((ordered[best - 1] + ordered[best]) / 2), float(error[best])


def score_of(fitted: Any, X: Any) -> FloatArray:
    """Return how much each row looks like the reference, from a classifier of any kind."""
    if hasattr(fitted, "decision_function"):
        score = fitted.decision_function(X)
    else:
        # Log odds: in floats, probabilities near 0 and 1 are ties where their logarithms are not.
        if hasattr(fitted, "predict_log_proba"):
            log_probabilities = fitted.predict_log_proba(X)
        else:
            tiny = np.finfo(float).tiny
            log_probabilities = np.log(np.maximum(fitted.predict_proba(X), tiny))
        log_group, log_reference = np.maximum(log_probabilities, MIN_LOG_PROBABILITY).T
        score = log_reference - log_group
    return np.nan_to_num(np.asarray(score, dtype=np.float64))


def encoder(is_category: Sequence[bool], *, sparse: bool, scaler: Any = None) -> ColumnTransformer:
    """Return the transformer that prepares the features for linear models and naive Bayes.

    Numbers are standardised, or scaled by `scaler`; a missing number becomes the mean, and whether
    it was missing becomes a feature. Categories become dummy columns, missing is one of them.
    """
    categories = np.flatnonzero(is_category)
    numbers = np.flatnonzero(~np.asarray(is_category, dtype=bool))
    scaled = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), scaler or StandardScaler()
    )
    dummies = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=MAX_DUMMY_COLUMNS,
        sparse_output=sparse,
    )
    return ColumnTransformer(
        [("numbers", scaled, numbers), ("categories", dummies, categories)],
        sparse_threshold=1.0 if sparse else 0.0,
    )


class TreeColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Prepare the features for trees, which take categories and missing values as they are.

    Columns that have no value in the training rows are set to 0, because histogram trees refuse
    them.

    Parameters
    ----------
    is_category : sequence of bool
        For each feature. Columns after the features are details.
    pooled : bool
        Whether categories beyond the 254 most frequent ones share a code.
    with_details : bool
        Whether the details are kept.
    """

    def __init__(
        self, is_category: Sequence[bool], *, pooled: bool = True, with_details: bool = False
    ) -> None:
        self.is_category = is_category
        self.pooled = pooled
        self.with_details = with_details

    def fit(self, X: FloatArray, y: object = None) -> TreeColumns:  # noqa: ARG002
        """Find the columns without any value."""
        self.empty_ = np.all(np.isnan(X), axis=0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the columns that the trees see."""
        prepared = np.where(self.empty_, 0.0, X)
        if self.pooled:
            categories = np.flatnonzero(self.is_category)
            prepared[:, categories] = np.minimum(prepared[:, categories], MAX_CATEGORIES - 1)
        return prepared if self.with_details else prepared[:, : len(self.is_category)]


class SampledRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is fitted to at most `max_rows` rows, drawn at random in each group.

    Parameters
    ----------
    classifier : classifier with predict_proba
    max_rows : int
    random_state : int
    """

    def __init__(self, classifier: Any, *, max_rows: int, random_state: int = 0) -> None:
        self.classifier = classifier
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> SampledRows:
        """Draw the rows, and fit the classifier to them."""
        self.classes_ = np.array([False, True])
        if y.size > self.max_rows:
            sample = StratifiedShuffleSplit(
                1, train_size=self.max_rows, random_state=self.random_state
            )
            rows = next(sample.split(y, y))[0]
            X, y = X[rows], y[rows]
        self.classifier_ = clone(self.classifier).fit(X, y)
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the share of the trees that vote for each side."""
        return np.asarray(self.classifier_.predict_proba(X), dtype=np.float64)


@contextmanager
def quiet() -> Iterator[None]:
    """Run fits on one thread, without warnings that do not matter here.

    One thread gives the same numbers on every machine, and on a busy machine it is many times
    faster than threads that wait for each other. A fit that stops before it converges is a weaker
    auditor, not an error: its balanced error rate is measured all the same. A fold may lack a
    category. Finding the libraries that have threads takes longer than a small fit, so a block
    inside another one does nothing.
    """
    if IS_QUIET.get():
        yield
        return
    with threadpool_limits(1), warnings.catch_warnings():
        for category in (ConvergenceWarning, UserWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        outside = IS_QUIET.set(True)
        try:
            yield
        finally:
            IS_QUIET.reset(outside)
