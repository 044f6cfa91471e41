"""Fits of all groups at once, which compare every two of them.

Of G groups there are G (G - 1) / 2 pairs. If every pair has fits of its own, a row of a table with
many groups takes G - 1 times as long as one of a table with two. So from four groups on, a
classifier of several classes is fitted to all groups together. It gives each row a score for each
group, and the difference of two of them orders the rows of a pair. Cuts and rules are set for each
pair on its own held rows, so that the evidence of a pair is of the same kind as by fits of its own.

Such fits are about as strong (`benchmarks/groups.py`). They could be weaker in what tells two groups
apart and no others. So the pairs that come closest to harm have fits of their own as well
(`certify_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.auditors import (
    HELD_OUT_SHARE,
    MAX_FOREST_ROWS,
    MAX_HELD_OUT_ROWS,
    MAX_TUNING_ROWS,
    MIN_LOG_PROBABILITY,
    BalancedCut,
    BinnedTrees,
    HeldRows,
    OutOfFold,
    best_cut,
    first_best,
)
from fourfifths._certify.plan import Pair, groups_of
from fourfifths._certify.result import Side

# Auditors that can be fitted to several groups at once. Details cannot: which of them predict the
# group differs from pair to pair.
SHARED_AUDITORS = ("logistic", "svm", "naive-bayes", "trees", "forest")
# Naive Bayes learns each group by itself, and a machine is fitted to each pair. The others may miss
# what tells two groups apart and no others.
WEAKER_IF_SHARED = ("logistic", "trees", "forest")
TUNING_TEST_SHARE = 1 / 3


def stopping_early(auditor: BalancedCut) -> BalancedCut:
    """Return the auditor with boosted trees that stop once rows held out no longer gain.

    Where groups hardly differ, all rounds but the first few find only noise, and of many pairs they
    would take most of the time.
    """
    changed: BalancedCut = clone(auditor)
    for candidate in changed.candidates:
        for classifier in (candidate, getattr(candidate, "classifier", None)):
            if isinstance(classifier, BinnedTrees):
                classifier.set_params(early_stopping=True)
    return changed


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
    coin = np.random.default_rng(random_state).random(groups.size)
    scores = [np.empty(pair.rows.size) for pair in pairs]
    selected: list[dict[Side, BoolArray]] = [
        {harmed: np.zeros(pair.rows.size, dtype=np.bool_) for harmed in pair.betas}
        for pair in pairs
    ]
    held_share = min(HELD_OUT_SHARE, MAX_HELD_OUT_ROWS * len(codes) / 2 / rows.size)
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
    """Return where each of `size` rows stands among these rows; -1 if it is none of them."""
    position = np.full(size, -1, dtype=np.int64)
    position[rows] = np.arange(rows.size)
    return position


# How much rows, given by their positions, look like the reference of a pair rather than its group.
Margin = Callable[[IntArray, Any], FloatArray]


def fit_to_groups(
    name: str,
    auditor: BalancedCut,
    X: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    random_state: int,
) -> Callable[[FloatArray], Margin]:
    """Fit one auditor to several groups; return a function that scores rows for every pair."""
    encoder = clone(auditor.encoder)
    encoded = encoder.fit_transform(X)
    if name == "svm":
        machines = fit_machines(
            auditor.candidates, encoded, groups, pairs=pairs, random_state=random_state
        )

        def by_machines(rows: FloatArray) -> Margin:
            prepared = encoder.transform(rows)
            return lambda at, pair: np.asarray(machines[pair].decision_function(prepared[at]))

        return by_machines

    classifier = clone(auditor.candidates[0])
    codes = np.unique(groups)
    if name == "naive-bayes":
        classifier.set_params(priors=np.full(codes.size, 1 / codes.size))
    elif name == "forest":
        classifier.set_params(max_rows=MAX_FOREST_ROWS * codes.size // 2)
    classifier.fit(encoded, groups)
    column = {int(code): index for index, code in enumerate(codes)}

    def by_groups(rows: FloatArray) -> Margin:
        scores = group_scores(classifier, encoder.transform(rows))
        return lambda at, pair: scores[at, column[pair[1]]] - scores[at, column[pair[0]]]

    return by_groups


def group_scores(fitted: Any, X: Any) -> FloatArray:
    """Return how much each row looks like each group, from a classifier of several classes."""
    if hasattr(fitted, "decision_function"):
        scores = fitted.decision_function(X)
    elif hasattr(fitted, "predict_log_proba"):
        scores = np.maximum(fitted.predict_log_proba(X), MIN_LOG_PROBABILITY)
    else:
        # Shares of the votes of a forest, many of which are 0: no logarithms.
        scores = fitted.predict_proba(X)
    return np.nan_to_num(np.asarray(scores, dtype=np.float64))


def fit_machines(
    candidates: Sequence[Any],
    X: Any,
    groups: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    random_state: int,
) -> dict[tuple[int, int], Any]:
    """Fit a support vector machine to each pair, all with the same penalty.

    A machine that tells each group from all others finds next to nothing where groups are alike, so
    each pair has its own, which is quick. What takes long is to choose the penalty. It is chosen
    once, by the mean error on one third of the rows, over pairs that have every group among them.
    """
    random = np.random.default_rng(random_state)
    rows_of = {
        code: random.permutation(np.flatnonzero(groups == code))[: MAX_FOREST_ROWS // 2]
        for code in np.unique(groups)
    }
    tuning: list[tuple[IntArray, IntArray, int]] = []
    for code in rows_of:
        group, reference = next(pair for pair in pairs if code in pair)
        parts: tuple[list[IntArray], list[IntArray]] = ([], [])
        for side in (group, reference):
            rows = rows_of[side][: MAX_TUNING_ROWS // 2]
            test_size = max(1, round(TUNING_TEST_SHARE * rows.size))
            parts[0].append(rows[test_size:])
            parts[1].append(rows[:test_size])
        tuning.append((np.concatenate(parts[0]), np.concatenate(parts[1]), reference))

    def error_of(candidate: Any) -> float:
        errors = []
        for train, test, reference in tuning:
            machine = clone(candidate).fit(X[train], groups[train] == reference)
            errors.append(
                best_cut(machine.decision_function(X[test]), groups[test] == reference)[1]
            )
        return float(np.mean(errors))

    best = first_best(candidates, error_of)
    machines = {}
    for group, reference in pairs:
        rows = np.concatenate([rows_of[group], rows_of[reference]])
        machines[group, reference] = clone(best).fit(X[rows], groups[rows] == reference)
    return machines
