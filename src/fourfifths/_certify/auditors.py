"""Auditors: classifiers that predict the group, and their predictions out of fold.

An auditor is a scikit-learn classifier with an encoder before it and a cut behind it. The cut is
chosen by balanced error rate on training rows, so groups of unequal size count alike. Every row is
scored by a fit that has not seen it.

From top to bottom: the auditors by name (`panel`), what they share (`BalancedCut`, `out_of_fold`,
`encoder`), and the classifiers that scikit-learn does not have: forests of a sample of the rows
(`SampledRows`), histogram trees whose bins cost one sort of each column (`BinnedTrees`) or that
have few rounds (`QuickTrees`), and trees on details of columns, like digits, weekdays and prefixes
(`find_details`, `DetailScores`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.result import Side
from fourfifths._lightgbm import lightgbm
from fourfifths._tables.sample import Features, days_of, row_generator
from fourfifths._text import listed, nearest
from fourfifths.errors import GroupError, OptionError

Candidate = TypeVar("Candidate")
HeldFits = Literal["same fit", "inner folds"]
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
COIN = "rows at a cut"  # what a coin of each row decides
IS_QUIET: ContextVar[bool] = ContextVar("IS_QUIET", default=False)

# Of histogram trees: the bins of a column, without the one for missing values.
MAX_BINS = 255
# From more rows than this, scikit-learn holds some out to decide when to stop.
MAX_ROWS_WITHOUT_STOPPING = 10_000
# From more rows than this, scikit-learn draws this many to find the bins, which takes long enough.
MAX_ROWS_TO_BIN = 200_000

# Of trees with few rounds (QuickTrees): as fine as those with more, in larger steps.
QUICK_ROUNDS = 20
QUICK_TREES: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.3,
    "num_leaves": 31,
    "min_data_in_leaf": 20,
    "max_bin": MAX_BINS,
    # Categories of ten rows or more count, as they do for scikit-learn's trees.
    "min_data_per_group": 10,
    "cat_l2": 1.0,
    "max_cat_threshold": MAX_BINS,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}

# Of details. Histograms have 255 bins, dummy columns are 100: with fewer values, nothing is lost
# there.
MIN_VALUES_FOR_DETAILS = 64
MIN_TEXTS_FOR_DETAILS = 20
MAX_DECIMALS = 6
# If more than this share of a column's values are distinct, single values say nothing.
MAX_SHARE_DISTINCT = 0.8
# A column whose values seldom repeat is also cut into ranges of this many neighbouring rows.
MIN_SHARE_UNREPEATED = 1 / 3
ROWS_PER_RANGE = (8, 32)
# By trees, the first digits of a number are found as ranges of it.
HIGHER_DIGITS: Mapping[int, str] = {
    100: "third digit from the end",
    1_000: "fourth digit from the end",
}
PREFIX_LENGTHS = (1, 2, 3)
LETTER_POSITIONS = range(1, 12)  # from 0; the first letter is a prefix
SUFFIX_LENGTHS = (1, 2)
ISO_DATE = "0000-00-00"
# All parities of 16 columns are 65,536, which the fast transform finds in milliseconds.
MAX_BITS = 16
MAX_PARITIES = 4
# Standard errors. Of 65,536 parities of noise, the largest has about 4.3.
MIN_PARITY_DEVIATION = 5.0
MIN_DETAIL_DEVIATION = 3.0
MAX_DETAILS = 24
ENCODING_FOLDS = 3
PRIOR_ROWS = 2.0


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
        if name in get_args(AuditorName):
            raise OptionError(
                f"auditors: {name!r} is the name of a built-in auditor; give your own classifier "
                f"another name, or pass {{{name!r}: None}} for the built-in one"
            )
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


@dataclass(frozen=True, kw_only=True)
class HeldRows:
    """Training rows, scored by a fit that has not seen them, by which a score is cut.

    Attributes
    ----------
    cut : float
        Rows with a score above it are predicted to be of the reference.
    scores : float array
        Less the cut.
    is_reference : bool array
        Whether each row is of the reference.
    fits : {"same fit", "inner folds"}
        Whether the scores are those of the fit whose scores are to be cut, or of other fits to
        fewer rows.
    """

    cut: float
    scores: FloatArray
    is_reference: BoolArray
    fits: HeldFits = "same fit"

    @classmethod
    def cut_at_best(
        cls, scores: FloatArray, is_reference: BoolArray, *, fits: HeldFits = "same fit"
    ) -> HeldRows:
        """Cut the scores where the balanced error rate of these rows is lowest."""
        cut = best_cut(scores, is_reference)[0]
        return cls(cut=cut, scores=scores - cut, is_reference=is_reference, fits=fits)

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
            Less the cut, like those that `BalancedCut.decision_function` returns.
        rate : float
            The share of the harmed side to select, in (0, 1].
        harmed : {"group", "reference"}
        coin : float array
            Uniform in [0, 1), one for each row. A row at the cut is selected if its coin is below
            the share of the rows at the cut that `rate` still needs.
        """
        sign = 1 if harmed == "group" else -1
        held, directed = sign * self.scores, sign * scores
        is_harmed = self.is_reference == (harmed == "reference")
        cut, share_at_cut = cut_of_share(held[is_harmed], rate)
        if self.fits == "inner folds":
            # Each fit has a scale of its own, so it is not the cut that is kept but how many rows
            # of both sides it selects.
            share = np.mean(held > cut) + share_at_cut * np.mean(held == cut)
            cut, share_at_cut = cut_of_share(directed, float(share))
        return np.asarray((directed > cut) | ((directed == cut) & (coin < share_at_cut)))


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
    held_ : HeldRows
        The training rows by which the cut is chosen.
    """

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
        fits: HeldFits = "same fit" if holds_out else "inner folds"
        self.held_ = HeldRows.cut_at_best(scores, labels, fits=fits)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the score less the cut: above 0, the row is predicted to be of the reference."""
        with quiet():
            return self._score(X) - self.held_.cut

    def predict(self, X: FloatArray) -> BoolArray:
        """Return which rows are predicted to be of the reference."""
        return self.decision_function(X) > 0

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
        scores_of: dict[int, FloatArray] = {}

        def error_of(index: int) -> float:
            scores = np.empty(y.size)
            for (train, test), (train_rows, test_rows) in zip(splits, encoded, strict=True):
                fitted = clone(self.candidates[index]).fit(train_rows, y[train])
                scores[test] = score_of(fitted, test_rows)
            scores_of[index] = scores
            return best_cut(scores, y)[1]

        best = first_best(range(len(self.candidates)), error_of)
        return self.candidates[best], scores_of[best], y


def first_best(
    candidates: Sequence[Candidate], error_of: Callable[[Candidate], float]
) -> Candidate:
    """Return the candidate with the lowest error, tried in order.

    No further ones are tried once several in a row have hardly improved the error.
    """
    best, lowest, last_improvement = candidates[0], np.inf, 0
    for index, candidate in enumerate(candidates):
        error = error_of(candidate)
        if error < lowest - MIN_IMPROVEMENT:
            last_improvement = index
        if error < lowest:
            best, lowest = candidate, error
        if index - last_improvement >= PATIENCE:
            break
    return best


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
    coin = row_generator(auditor.random_state, COIN).random(is_reference.size)
    for train, test in folds:
        # A fit clones what it fits, so a copy is as good as a clone, and quicker.
        fitted = copy(auditor).fit(X[train], is_reference[train])
        score[test] = fitted.decision_function(X[test])
        for harmed, rate in rates.items():
            selected[harmed][test] = fitted.held_.select(
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

    def fit(self, X: FloatArray, y: BoolArray | IntArray) -> SampledRows:
        """Draw the rows, and fit the classifier to them."""
        self.classes_ = np.unique(y)
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


class BinnedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """Histogram gradient-boosted trees with balanced weights, as scikit-learn's but faster.

    Histogram trees see a number by its bin, one of at most 255. With weighted rows, scikit-learn
    sorts the column again for each of the 254 edges between the bins, and on most tables that takes
    longer than growing all trees. Here the edges are found after one sort, by the same arithmetic,
    and the trees are grown on the numbers of the bins. There they find the same bins again, so they
    are the same trees.

    The parameters are those of `HistGradientBoostingClassifier`. `class_weight` is to be
    "balanced", because the edges are those of balanced rows, and `random_state` a whole number.

    Attributes
    ----------
    edges_ : dict of int to float array
        For each column that is replaced by its bins, the upper ends of all bins but the last.
    """

    def fit(self, X: FloatArray, y: BoolArray | IntArray) -> BinnedTrees:
        """Find the bins of the training rows, and grow the trees on them."""
        self.edges_: dict[int, FloatArray] = {}
        rows = self._rows_to_bin(y)
        if rows.size <= MAX_ROWS_TO_BIN:
            weights = compute_sample_weight("balanced", y)[rows]
            # A category has too few values for edges: histogram trees take no more than 255.
            for column in range(X.shape[1]):
                edges = column_edges(X[rows, column], weights)
                if edges is not None:
                    self.edges_[column] = edges
        super().fit(self._binned(X), y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the log odds of the second class."""
        return np.asarray(super().decision_function(self._binned(X)), dtype=np.float64)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the probability of each class."""
        return np.asarray(super().predict_proba(self._binned(X)), dtype=np.float64)

    def predict(self, X: FloatArray) -> BoolArray:
        """Return the likelier class of each row."""
        return np.asarray(super().predict(self._binned(X)))

    def _binned(self, X: FloatArray) -> FloatArray:
        binned = X.copy()
        for column, edges in self.edges_.items():
            is_present = ~np.isnan(X[:, column])
            binned[is_present, column] = np.searchsorted(edges, X[is_present, column])
        return binned

    def _rows_to_bin(self, y: BoolArray | IntArray) -> IntArray:
        """Return the rows that scikit-learn bins: those that it does not hold out."""
        rows = np.arange(y.size)
        stops_early = self.early_stopping
        if stops_early == "auto":
            stops_early = y.size > MAX_ROWS_WITHOUT_STOPPING
        if not stops_early:
            return rows
        random = np.random.RandomState(self.random_state)
        seed = random.randint(np.iinfo(np.uint32).max, dtype="u8")
        train, _ = train_test_split(
            rows, test_size=self.validation_fraction, stratify=y, random_state=seed
        )
        return np.asarray(train)


class QuickTrees(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees of few rounds, for tables with so many pairs that each must be judged quickly.

    They are LightGBM's, which grows small trees in a fifth of the time, and take larger steps. No
    rows are held out to stop early: a rule that needs many narrow cuts shows no gain at first.

    Parameters
    ----------
    categorical_features : sequence of int
    random_state : int

    Attributes
    ----------
    booster_ : fitted
    """

    def __init__(self, categorical_features: Sequence[int], *, random_state: int = 0) -> None:
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> QuickTrees:
        """Grow the trees on rows that are weighted so that both groups count alike."""
        library = lightgbm("auditors")
        self.classes_ = np.array([False, True])
        options = {**QUICK_TREES, "seed": self.random_state}
        weights = balanced_weights(y)
        data = library.Dataset(
            X,
            label=np.asarray(y, dtype=np.float64),
            weight=np.where(y, weights[True], weights[False]),
            categorical_feature=list(self.categorical_features),
            params=options,
        )
        # Otherwise LightGBM would write the trees as text and read them again.
        self.booster_ = library.train(
            options, data, num_boost_round=QUICK_ROUNDS, keep_training_booster=True
        )
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the log odds of the reference."""
        scores = self.booster_.predict(X, raw_score=True, num_threads=1)
        return np.asarray(scores, dtype=np.float64)


def balanced_weights(is_reference: BoolArray) -> dict[bool, float]:
    """Return the weights of both sides that scikit-learn calls balanced, which it counts slowly.

    Examples
    --------
    >>> balanced_weights(np.array([True, False, True, True]))
    {False: 2.0, True: 0.6666666666666666}
    """
    size, reference_rows = is_reference.size, int(np.count_nonzero(is_reference))
    return {False: size / (2 * (size - reference_rows)), True: size / (2 * reference_rows)}


def column_edges(values: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return the upper end of each bin but the last, or None if the column stays as it is.

    With at most `MAX_BINS` different values, each has a bin of its own, whatever the weights are.
    A bin without rows joins the one above it: trees cut at the lowest of several edges between
    which no row lies. Where missing values are in the column they may cut at the highest instead,
    so such a column is left as it is.

    Parameters
    ----------
    values : float array
        NaN is missing.
    weights : float array
        Of the rows, above 0.
    """
    is_present = ~np.isnan(values)
    present = values[is_present]
    if np.unique(present).size <= MAX_BINS:
        return None
    edges = np.unique(weighted_quantiles(present, weights[is_present], parts=MAX_BINS))
    is_filled = np.bincount(np.searchsorted(edges, present), minlength=edges.size + 1) > 0
    if is_filled.all():
        return edges
    # The edges kept are the upper ends of bins with rows, but for the last of these bins.
    return edges[np.flatnonzero(is_filled)[:-1]] if is_present.all() else None


def weighted_quantiles(values: FloatArray, weights: FloatArray, *, parts: int) -> FloatArray:
    """Return the values that cut weighted rows into parts of equal weight.

    Each is the lowest value up to which the rows weigh enough or, if they weigh exactly enough,
    the mean of it and the next value (definition 2 of Hyndman and Fan, The American Statistician
    50, 1996).

    Examples
    --------
    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1, 1, 3]), parts=2)
    array([3.5])
    """
    order = np.argsort(values)
    # Sorted twice, as scikit-learn does it: among equal values the second sort may move weights,
    # and sums in another order round differently.
    order = order[np.argsort(values[order])]
    ordered, total = values[order], np.cumsum(weights[order])
    # Divided by 100 and in this order, for the same rounding as scikit-learn's.
    target = np.linspace(0, 100, parts + 1)[1:-1] / 100 * total[-1]
    last = values.size - 1
    index = np.minimum(np.searchsorted(total, target), last)
    is_between = total[index] - target > np.finfo(np.float64).eps
    upper = ordered[np.where(is_between, index, np.minimum(index + 1, last))]
    return np.asarray(np.where(is_between, upper, (ordered[index] + upper) / 2))


@dataclass(frozen=True, kw_only=True)
class Details:
    """Codes made from the features, for what lines and histograms do not see.

    A detail is a column of codes that is made from a feature without looking at any group: the last
    digit of a number, the weekday of a date, the first letters of a text, every value of a column
    that has many. `DetailScores` finds out on training rows which of them predict the group.

    Attributes
    ----------
    names : tuple of str
        The feature and what was taken of it.
    sources : int array
        The position of the feature that each detail is made of.
    codes : float array, rows by details
        Whole numbers from 0 on, where 0 is missing.
    """

    names: tuple[str, ...]
    sources: IntArray
    codes: FloatArray


def find_details(features: Features) -> Details:
    """Return the details of all features; no group is looked at."""
    names: list[str] = []
    sources: list[int] = []
    codes: list[FloatArray] = []
    for position, (name, kind) in enumerate(zip(features.names, features.kinds, strict=True)):
        values = features.values[:, position]
        if name in features.dates:
            details = date_parts(days_of(values), moments=values)
        elif kind == "category":
            details = text_parts(features.texts.get(name, ()), values)
        else:
            details = number_parts(values)
        for detail, detail_codes in details:
            # One value only predicts nothing.
            if detail_codes.size and detail_codes.min() < detail_codes.max():
                names.append(f"{name}, {detail}")
                sources.append(position)
                codes.append(detail_codes.astype(np.float64))
    matrix = np.column_stack(codes) if codes else np.empty((features.groups.size, 0))
    return Details(names=tuple(names), sources=np.array(sources, dtype=np.int64), codes=matrix)


def number_parts(values: FloatArray) -> Iterator[tuple[str, IntArray]]:
    """Yield the digits of a number, and its single values or ranges, if it has many."""
    present = ~np.isnan(values)
    distinct, code = np.unique(values[present], return_inverse=True)
    if distinct.size <= MIN_TEXTS_FOR_DETAILS:
        return

    def coded(labels: NDArray[np.number]) -> IntArray:
        codes = np.zeros(values.size, dtype=np.int64)
        codes[present] = np.unique(labels, return_inverse=True)[1] + 1
        return codes

    for name, digits in digit_parts(distinct):
        yield name, coded(digits[code])
    if MIN_VALUES_FOR_DETAILS < distinct.size < MAX_SHARE_DISTINCT * code.size:
        yield "single values", coded(code)
    if distinct.size > MIN_SHARE_UNREPEATED * code.size:
        order = np.argsort(np.argsort(values[present], kind="stable"), kind="stable")
        for rows in ROWS_PER_RANGE:
            yield f"ranges of {rows} rows", coded(order // rows)


def digit_parts(numbers: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield the digits of different numbers, from the last on and right after the decimal point.

    Examples
    --------
    >>> {name: digits.tolist() for name, digits in digit_parts(np.array([19.99, 3.05]))}
    {'last digit': [9.0, 5.0], 'last two digits': [99.0, 5.0], 'tenths': [9.0, 0.0]}
    """
    decimals = decimals_of(numbers)
    if decimals is not None:
        units = np.round(numbers * 10.0**decimals)
        yield "last digit", units % 10
        yield "last two digits", units % 100
        for digit, name in HIGHER_DIGITS.items():
            if numbers.size > digit:
                yield name, np.floor(np.abs(units) / digit) % 10
    if decimals == 0:
        # It is the weekday of a date that is stored as a number of days.
        yield "remainder by 7", numbers % 7
        return
    yield "tenths", np.floor(numbers * 10) % 10
    if decimals != 2:
        yield "hundredths", np.floor(numbers * 100) % 100


def decimals_of(numbers: FloatArray) -> int | None:
    """Return how many decimals the numbers have; None if they have more than six.

    Examples
    --------
    >>> decimals_of(np.array([3.0, 19.99])), decimals_of(np.array([np.pi]))
    (2, None)
    """
    for decimals in range(MAX_DECIMALS + 1):
        scaled = numbers * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
            return decimals
    return None


def text_parts(texts: Sequence[str], values: FloatArray) -> Iterator[tuple[str, IntArray]]:
    """Yield the beginnings, ends and lengths of texts, the parts of dates, and single values."""
    if len(texts) <= MIN_TEXTS_FOR_DETAILS:
        return
    is_missing = np.isnan(values)
    code = np.where(is_missing, 0, values).astype(np.int64)

    def coded(labels: NDArray[np.generic]) -> IntArray:
        return np.where(is_missing, 0, np.unique(labels, return_inverse=True)[1][code] + 1)

    if len(texts) > MIN_VALUES_FOR_DETAILS:
        yield "single values", np.where(is_missing, 0, code + 1)
    for length in PREFIX_LENGTHS:
        yield f"first {length}", coded(np.array([text[:length] for text in texts]))
    for length in SUFFIX_LENGTHS:
        yield f"last {length}", coded(np.array([text[-length:] for text in texts]))
    for position in LETTER_POSITIONS:
        yield (
            f"letter {position + 1}",
            coded(np.array([text[position : position + 1] for text in texts])),
        )
    yield "length", coded(np.array([len(text) for text in texts]))
    days = iso_days(texts)
    if days is not None:
        for detail, detail_codes in date_parts(days):
            yield detail, np.where(is_missing, 0, detail_codes[code])


def iso_days(texts: Sequence[str]) -> NDArray[np.datetime64] | None:
    """Return the days of texts that all begin like 2024-03-05; None if some do not."""
    beginnings = np.array([text[: len(ISO_DATE)] for text in texts])
    try:
        days = beginnings.astype("datetime64[D]")
    except ValueError:
        return None
    # A text like "2024" is a date for numpy, but not for us.
    return days if all(len(text) == len(ISO_DATE) for text in beginnings) else None


def date_parts(
    days: NDArray[np.datetime64], *, moments: FloatArray | None = None
) -> Iterator[tuple[str, IntArray]]:
    """Yield the weekday, the month, the day of the month and, of `moments`, the hour."""
    is_missing = np.isnat(days)
    known_days = np.where(is_missing, np.datetime64("1970-01-01"), days)
    months = known_days.astype("datetime64[M]")
    day_numbers = known_days.astype("datetime64[D]").astype(np.int64)
    yield "weekday", np.where(is_missing, 0, day_numbers % 7 + 1)
    yield "month", np.where(is_missing, 0, months.astype(np.int64) % 12 + 1)
    first = months.astype("datetime64[D]").astype(np.int64)
    yield "day of the month", np.where(is_missing, 0, day_numbers - first + 1)
    yield "single days", np.where(is_missing, 0, day_numbers - day_numbers.min() + 1)
    if moments is not None:
        hours = np.floor((np.where(is_missing, 0, moments) % 1) * 24 + 1e-6).astype(np.int64)
        yield "hour", np.where(is_missing, 0, hours + 1)


class DetailScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier on the features and on those of their details that predict the group.

    Each detail becomes a number: how often rows of this code are of the reference, counted on other
    training rows (target encoding, cross-fitted). The details whose numbers differ most between the
    groups are kept, and the classifier is fitted to them and to the features. If no detail differs,
    it is not fitted: the score is the same for all rows, and other auditors judge the features.

    Parameters
    ----------
    classifier : classifier
        Histogram trees, or anything that takes missing values.
    feature_count : int
        The first columns are features, all others are details.
    random_state : int

    Attributes
    ----------
    parities_ : list of int array
        Sets of yes-no columns whose parity predicts the group.
    kept_ : int array
        The positions of the details that are used, parities last.
    classifier_ : fitted, or None if no detail is kept
    """

    def __init__(self, classifier: object, *, feature_count: int, random_state: int = 0) -> None:
        self.classifier = classifier
        self.feature_count = feature_count
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> DetailScores:
        """Screen the details, and fit the classifier to those that are kept."""
        self.classes_ = np.array([False, True])
        y = np.asarray(y, dtype=np.bool_)
        self.medians_ = bit_cuts(X[:, : self.feature_count])
        self.parities_ = find_parities(self._bits(X), y)
        codes = self._codes(X)
        self.kept_ = np.empty(0, dtype=np.int64)
        self.classifier_ = None
        if not codes.shape[1] or min(y.sum(), (~y).sum()) < ENCODING_FOLDS:
            return self
        self.sizes_ = codes.max(axis=0) + 1
        self.shares_ = reference_shares(codes, y, self.sizes_)
        encoded = np.empty(codes.shape)
        folds = StratifiedKFold(ENCODING_FOLDS, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(y, y):
            shares = reference_shares(codes[train], y[train], self.sizes_)
            encoded[test] = look_up(shares, codes[test], self.sizes_)
        deviations = separation(encoded, y)
        order = np.argsort(-deviations, kind="stable")[:MAX_DETAILS]
        self.kept_ = np.sort(order[deviations[order] > MIN_DETAIL_DEVIATION])
        if self.kept_.size:
            inputs = np.hstack([X[:, : self.feature_count], encoded[:, self.kept_]])
            self.classifier_ = clone(self.classifier).fit(inputs, y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return how much each row looks like the reference; 0 if no detail is kept."""
        if self.classifier_ is None:
            return np.zeros(X.shape[0])
        encoded = look_up(self.shares_, self._codes(X), self.sizes_)[:, self.kept_]
        inputs = np.hstack([X[:, : self.feature_count], encoded])
        return np.asarray(self.classifier_.decision_function(inputs), dtype=np.float64)

    def _codes(self, X: FloatArray) -> IntArray:
        bits = self._bits(X)
        parities = [bits[:, columns].sum(axis=1) % 2 for columns in self.parities_]
        return np.column_stack([X[:, self.feature_count :].astype(np.int64), *parities])

    def _bits(self, X: FloatArray) -> IntArray:
        columns = [X[:, column] > cut for column, cut in self.medians_]
        return np.column_stack(columns).astype(np.int64) if columns else np.empty((len(X), 0), int)


def reference_shares(codes: IntArray, y: BoolArray, sizes: IntArray) -> FloatArray:
    """Return, for each code of each column, the share of its rows that are of the reference.

    `PRIOR_ROWS` rows with the share of all rows are added to each code.

    Parameters
    ----------
    codes : int array, rows by columns
    y : bool array
    sizes : int array
        How many codes each column may have.

    Returns
    -------
    float array
        Column after column, each with one element more, which is for codes that it may not have.
    """
    places = codes + first_places(sizes)
    count = int(sizes.sum()) + sizes.size
    rows = np.bincount(places.ravel(), minlength=count)
    reference = np.bincount(places[y].ravel(), minlength=count)
    return np.asarray((reference + PRIOR_ROWS * y.mean()) / (rows + PRIOR_ROWS))


def look_up(shares: FloatArray, codes: IntArray, sizes: IntArray) -> FloatArray:
    """Return the share of each row's code in each column."""
    return shares[np.minimum(codes, sizes) + first_places(sizes)]


def first_places(sizes: IntArray) -> IntArray:
    """Return where each column begins among the shares."""
    return np.append(0, np.cumsum(sizes[:-1] + 1))


def bit_cuts(values: FloatArray) -> list[tuple[int, float]]:
    """Return which columns are yes or no, and a cut between their two values; the first 16."""
    cuts = []
    for column in range(values.shape[1]):
        present = values[:, column][~np.isnan(values[:, column])]
        if present.size and present.min() < present.max():
            low, high = present.min(), present.max()
            if np.all((present == low) | (present == high)):
                cuts.append((column, float((low + high) / 2)))
    return cuts[:MAX_BITS]


def find_parities(bits: IntArray, y: BoolArray) -> list[IntArray]:
    """Return the sets of two or more bits whose parity differs most between the groups.

    The Walsh-Hadamard transform of the difference of the groups' shares in the cells of all bits
    is, for every set of bits, twice the difference of the shares with an odd sum.

    Examples
    --------
    >>> bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    >>> [columns.tolist() for columns in find_parities(bits, bits.sum(1) % 2 == 1)]
    [[0, 1]]
    """
    count = bits.shape[1]
    if count < 2:
        return []
    cell = bits @ (1 << np.arange(count))
    shares = [
        np.bincount(cell[y == side], minlength=1 << count) / np.sum(y == side)
        for side in (True, False)
    ]
    spectrum = shares[0] - shares[1]
    for bit in range(count):
        halves = spectrum.reshape(-1, 2, 1 << bit)
        even, odd = halves[:, 0].copy(), halves[:, 1].copy()
        halves[:, 0], halves[:, 1] = even + odd, even - odd
    # The mean of values of +1 and -1 has a variance of at most 1 / n.
    deviation = np.abs(spectrum) / np.sqrt(1 / y.sum() + 1 / (~y).sum())
    sets = np.argsort(-deviation, kind="stable")[: MAX_PARITIES + count + 1]
    members = [np.flatnonzero(chosen >> np.arange(count) & 1) for chosen in sets]
    return [
        columns
        for chosen, columns in zip(sets, members, strict=True)
        if columns.size > 1 and deviation[chosen] > MIN_PARITY_DEVIATION
    ][:MAX_PARITIES]


def separation(encoded: FloatArray, y: BoolArray) -> FloatArray:
    """Return the difference of the groups' means of each column, in standard errors.

    It is negative where the rows that look like the reference are not of it.
    """
    means = [encoded[y == side].mean(axis=0) for side in (True, False)]
    errors = [encoded[y == side].var(axis=0) / np.sum(y == side) for side in (True, False)]
    error = np.sqrt(errors[0] + errors[1])
    return np.asarray((means[0] - means[1]) / np.where(error > 0, error, np.inf))
