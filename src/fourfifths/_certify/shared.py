"""Auditors that judge many pairs of groups together.

Of G groups there are G (G - 1) / 2 pairs. If every pair is judged as those of a table of two groups
are, a row of a table with many groups takes G - 1 times as long. So from four groups on, rows are
split and encoded once for all pairs. Logistic regression, svm, naive Bayes and trees of few rounds
are then fitted to each pair, which is quick. A forest is fitted to all groups at once: it gives
each row a score for each group, and the difference of two of them orders the rows of a pair. Cuts
and rules are set for each pair on its own held rows, so that the evidence is of the same kind as by
fits to a pair alone.

The pairs that come closest to harm have trees with all their rounds as well (`certify_pairs`).
`benchmarks/groups.py` compares the verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.auditors import (
    COIN,
    HELD_OUT_SHARE,
    MAX_FOREST_ROWS,
    MAX_HELD_OUT_ROWS,
    MAX_TUNING_ROWS,
    BalancedCut,
    BinnedTrees,
    DetailScores,
    HeldRows,
    OutOfFold,
    QuickTrees,
    balanced_weights,
    best_cut,
    first_best,
    score_of,
)
from fourfifths._certify.plan import Pair, groups_of
from fourfifths._certify.result import Side
from fourfifths._tables.sample import row_generator

# Auditors that judge many pairs together. Details do not: which of them predict the group differs
# from pair to pair.
SHARED_AUDITORS = ("logistic", "svm", "naive-bayes", "trees", "forest")
TUNING_TEST_SHARE = 1 / 3
# Added to the shares of a forest's votes, so that no share is 0. It is a fraction of one vote.
LEAST_VOTE_SHARE = 0.01


def with_quick_trees(auditor: BalancedCut) -> BalancedCut:
    """Return the auditor with trees of few rounds in place of histogram trees."""

    def quick(classifier: Any) -> Any:
        if isinstance(classifier, BinnedTrees):
            return QuickTrees(classifier.categorical_features, random_state=classifier.random_state)
        if isinstance(classifier, DetailScores):
            return clone(classifier).set_params(classifier=quick(classifier.classifier))
        return classifier

    return BalancedCut(
        auditor.encoder,
        tuple(quick(candidate) for candidate in auditor.candidates),
        random_state=auditor.random_state,
    )


def shared_answers(
    name: str,
    auditor: BalancedCut,
    X: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[Pair],
    folds: int,
    random_state: int,
    advance: Callable[[], None],
) -> list[OutOfFold]:
    """Fit an auditor to all groups of these pairs, and let it answer for the rows of each pair.

    Parameters
    ----------
    name : str
        One of `SHARED_AUDITORS`.
    auditor : BalancedCut
        The auditor of that name for two groups.
    X : float array, rows by features
    groups : int array
        The code of each row's group.
    pairs : sequence of Pair
        Each of two single groups.
    folds, random_state : int
    advance : callable
        Called after each fold.

    Returns
    -------
    list of OutOfFold
        For each pair, the answers for its rows, as `out_of_fold` returns them.
    """
    codes = groups_of(pairs)
    rows = np.flatnonzero(np.isin(groups, codes))
    coin = row_generator(random_state, COIN).random(groups.size)
    scores = [np.empty(pair.rows.size) for pair in pairs]
    selected: list[dict[Side, BoolArray]] = [
        {harmed: np.zeros(pair.rows.size, dtype=np.bool_) for harmed in pair.betas}
        for pair in pairs
    ]
    training_rows = rows.size * (folds - 1) / folds
    held_share = min(HELD_OUT_SHARE, MAX_HELD_OUT_ROWS * len(codes) / 2 / training_rows)
    folding = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    holding = StratifiedShuffleSplit(1, test_size=held_share, random_state=random_state)
    for train, test in folding.split(rows, groups[rows]):
        fitted_part, held_part = next(holding.split(train, groups[rows[train]]))
        fitted_rows, held_rows = rows[train[fitted_part]], rows[train[held_part]]
        margins = fit_to_groups(
            name,
            auditor,
            X[fitted_rows],
            groups[fitted_rows],
            pairs=[pair.codes for pair in pairs if pair.codes],
            random_state=random_state,
        )
        held_margin, test_margin = margins(X[held_rows]), margins(X[rows[test]])
        held_at, tested_at = (positions(part, groups.size) for part in (held_rows, rows[test]))
        for index, pair in enumerate(pairs):
            is_held, is_tested = held_at[pair.rows] >= 0, tested_at[pair.rows] >= 0
            held = HeldRows.cut_at_best(
                held_margin(held_at[pair.rows[is_held]], pair.codes), pair.is_reference[is_held]
            )
            tested = pair.rows[is_tested]
            score = test_margin(tested_at[tested], pair.codes) - held.cut
            scores[index][is_tested] = score
            for harmed, beta in pair.betas.items():
                selected[index][harmed][is_tested] = held.select(
                    score, beta.rate, harmed=harmed, coin=coin[tested]
                )
        advance()
    return [
        OutOfFold(score=score, selected=chosen)
        for score, chosen in zip(scores, selected, strict=True)
    ]


def positions(rows: IntArray, size: int) -> IntArray:
    """Return the position of each of `size` rows among these rows; -1 if it is not there."""
    position = np.full(size, -1, dtype=np.int64)
    position[rows] = np.arange(rows.size)
    return position


# How much rows, given by their positions, look like the reference of a pair rather than its group.
Margin = Callable[[IntArray, Any], FloatArray]
# Scores rows, for any pair of the groups that it was fitted to.
Scorer = Callable[[FloatArray], Margin]


def fit_to_groups(
    name: str,
    auditor: BalancedCut,
    X: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    random_state: int,
) -> Scorer:
    """Fit one auditor to several groups; return a function that scores rows for every pair."""
    if name == "forest":
        return fit_forest(auditor, X, groups)
    if name == "trees":
        return fit_trees(auditor, X, groups, pairs=pairs)
    return fit_each_pair(auditor, X, groups, pairs=pairs, random_state=random_state)


def fit_forest(auditor: BalancedCut, X: FloatArray, groups: IntArray) -> Scorer:
    """Fit a forest to all groups at once.

    Grown until each leaf is pure, nearly all leaves would hold a single row, which says nothing of
    most pairs. So a leaf holds about as many rows of a pair as in a forest of these two groups.
    """
    encoder = clone(auditor.encoder)
    codes = np.unique(groups)
    forest = clone(auditor.candidates[0]).set_params(
        max_rows=MAX_FOREST_ROWS * codes.size // 2, classifier__min_samples_leaf=codes.size // 2
    )
    forest.fit(encoder.fit_transform(X), groups)
    column = {int(code): index for index, code in enumerate(codes)}

    def scored(rows: FloatArray) -> Margin:
        scores = vote_scores(forest.predict_proba(encoder.transform(rows)))
        return lambda at, pair: scores[at, column[pair[1]]] - scores[at, column[pair[0]]]

    return scored


def vote_scores(shares: FloatArray) -> FloatArray:
    """Return how much each row looks like each group, from the groups' shares of the votes.

    The difference of two scores does not depend on how many votes other groups have.
    """
    return np.asarray(np.log(shares + LEAST_VOTE_SHARE))


def fit_trees(
    auditor: BalancedCut,
    X: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
) -> Scorer:
    """Fit trees to each pair, on rows that are prepared once."""
    encoder = clone(auditor.encoder)
    prepared = encoder.fit_transform(X)
    fits = {}
    for group, reference in pairs:
        at = np.flatnonzero((groups == group) | (groups == reference))
        trees = clone(auditor.candidates[0])
        fits[group, reference] = trees.fit(prepared[at], groups[at] == reference)

    def scored(rows: FloatArray) -> Margin:
        asked = encoder.transform(rows)
        return lambda at, pair: fits[pair].decision_function(asked[at])

    return scored


def fit_each_pair(
    auditor: BalancedCut,
    X: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    random_state: int,
) -> Scorer:
    """Fit a quick classifier to each pair, on numbers that are scaled by the rows of the pair.

    Rows are prepared once for all pairs. Scaled by all groups, the numbers of a pair would depend
    on outliers in others. The svm's penalty is chosen for each pair, by the error on a third of its
    rows. At most `MAX_FOREST_ROWS` rows of a pair are used.
    """
    encoder = clone(auditor.encoder)
    prepared = Encoded.of(encoder.fit_transform(X), encoder)
    random = row_generator(random_state, "rows of a pair")
    rows_of = {
        code: random.permutation(np.flatnonzero(groups == code))[: MAX_FOREST_ROWS // 2]
        for code in np.unique(groups)
    }

    def fit(candidate: Any, rows: Any, is_reference: BoolArray) -> Any:
        classifier = copy(candidate)
        if getattr(classifier, "class_weight", None) == "balanced":
            classifier.set_params(class_weight=balanced_weights(is_reference))
        # A built-in auditor has valid parameters, which scikit-learn need not copy and check for
        # every pair: it would take as long as a quick fit.
        with config_context(skip_parameter_validation=True, assume_finite=True):
            return classifier.fit(rows, is_reference)

    def best_candidate(group: int, reference: int) -> Any:
        if len(auditor.candidates) == 1:
            return auditor.candidates[0]
        parts: tuple[list[IntArray], list[IntArray]] = ([], [])
        for code in (group, reference):
            at = rows_of[code][: MAX_TUNING_ROWS // 2]
            test_size = max(1, round(TUNING_TEST_SHARE * at.size))
            parts[0].append(at[test_size:])
            parts[1].append(at[:test_size])
        train, test = map(np.concatenate, parts)
        scale = prepared.scale(train)
        train_rows, test_rows = prepared.scaled(train, scale), prepared.scaled(test, scale)
        train_side, test_side = groups[train] == reference, groups[test] == reference

        def error_of(candidate: Any) -> float:
            scores = score_of(fit(candidate, train_rows, train_side), test_rows)
            return best_cut(scores, test_side)[1]

        return first_best(auditor.candidates, error_of)

    fits = {}
    for group, reference in pairs:
        at = np.concatenate([rows_of[group], rows_of[reference]])
        scale = prepared.scale(at)
        candidate = best_candidate(group, reference)
        classifier = fit(candidate, prepared.scaled(at, scale), groups[at] == reference)
        fits[group, reference] = classifier, scale

    def scored(rows: FloatArray) -> Margin:
        asked = Encoded.of(encoder.transform(rows), encoder)

        def margin(at: IntArray, pair: tuple[int, int]) -> FloatArray:
            classifier, scale = fits[pair]
            return score_of(classifier, asked.scaled(at, scale))

        return margin

    return scored


Scale = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """Rows that an encoder prepared, with their numbers apart.

    Attributes
    ----------
    numbers : float array
    dummies : sparse matrix, or None if there are no categories
    """

    numbers: FloatArray
    dummies: Any

    @classmethod
    def of(cls, encoded: Any, encoder: Any) -> Encoded:
        """Return the rows that a fitted encoder gave, numbers first."""
        count = encoder.output_indices_["numbers"].stop
        if not issparse(encoded):
            return cls(numbers=encoded, dummies=None)
        return cls(numbers=encoded[:, :count].toarray(), dummies=encoded[:, count:])

    def scale(self, at: IntArray) -> Scale:
        """Return the mean and the standard deviation of the numbers of some rows."""
        numbers = self.numbers[at]
        spread = numbers.std(axis=0)
        return numbers.mean(axis=0), np.where(spread > 0, spread, 1.0)

    def scaled(self, at: IntArray, scale: Scale) -> Any:
        """Return some rows with their numbers scaled."""
        numbers = (self.numbers[at] - scale[0]) / scale[1]
        if self.dummies is None:
            return numbers
        return hstack([csr_array(numbers), self.dummies[at]], format="csr")
