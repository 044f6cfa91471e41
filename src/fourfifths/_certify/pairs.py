"""All pairs of groups, and fits of all groups at once that compare every two of them.

Of G groups there are G (G - 1) / 2 pairs. If every pair has fits of its own, a row of a table with
many groups takes G - 1 times as long as one of a table with two. So from four groups on, a
classifier of several classes is fitted to all groups together. It gives each row a score for each
group, and the difference of two of them orders the rows of a pair. Cuts and rules are set for each
pair on its own held rows, so that the evidence of a pair is of the same kind as by fits of its own.

Such fits are about as strong (`benchmarks/groups.py`). Where they could be weaker is in what tells
two groups apart and no others. So the pairs that come closest to harm have fits of
their own as well (`certify_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
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
    MIN_GROUP_ROWS_TO_HOLD_OUT,
    MIN_LOG_PROBABILITY,
    BalancedCut,
    BinnedTrees,
    HeldRows,
    OutOfFold,
    best_cut,
    first_best,
)
from fourfifths._certify.plan import Beta, Plan
from fourfifths._certify.result import Side
from fourfifths._tables.sample import Features

# Auditors that can be fitted to several groups at once. Details cannot: which of them predict the
# group differs from pair to pair.
SHARED_AUDITORS = ("logistic", "svm", "naive-bayes", "trees", "forest")
# Naive Bayes learns each group by itself, and a machine is fitted to each pair. The others may miss
# what tells two groups apart and no others.
WEAKER_IF_SHARED = ("logistic", "trees", "forest")
TUNING_TEST_SHARE = 1 / 3


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The rows of one comparison.

    Attributes
    ----------
    group, reference : str
    codes : (int, int) or None
        The codes of the group and of the reference; None for several groups taken together.
    rows : int array
        Positions among the rows that were read, of the group and of the reference.
    is_reference : bool array
        For each of these rows, whether it is of the reference.
    betas : mapping of {"group", "reference"} to Beta
    """

    group: str
    reference: str
    codes: tuple[int, int] | None
    rows: IntArray
    is_reference: BoolArray
    betas: Mapping[Side, Beta]


def pairs_of_groups(
    plan: Plan, features: Features, *, rows_per_group: int, confidence: float, random_state: int
) -> list[Pair]:
    """Return all pairs of groups and, if there are several, all others against the reference.

    In a pair without the reference of the table, the group with the higher selection rate takes its
    place; without an outcome, the larger one.
    """
    random = np.random.default_rng(random_state)
    # In random order, so that the first rows of a group are a sample of it.
    rows = [
        random.permutation(np.flatnonzero(features.groups == code))
        for code in range(len(plan.groups))
    ]
    rates = np.array(plan.selected) / np.maximum(plan.rated, 1)
    other_groups = sorted(
        (code for code in range(len(plan.groups)) if code != plan.reference),
        key=lambda code: (-rates[code], -plan.sizes[code], code),
    )
    comparisons = [
        (plan.labels[group], [group], reference)
        for reference, group in combinations([plan.reference, *other_groups], 2)
    ]
    if len(other_groups) > 1:
        comparisons.append((f"not {plan.labels[plan.reference]}", other_groups, plan.reference))
    pairs = []
    for name, members, reference in comparisons:
        # Among groups taken together, each keeps its share of the table: the same fraction of
        # every group is used, as large as the group with the fewest sampled rows allows.
        total = sum(plan.sizes[code] for code in members)
        sampled = [rows[code].size / plan.sizes[code] for code in members]
        fraction = min(1.0, rows_per_group / total, *sampled)
        group_rows = [rows[code][: round(fraction * plan.sizes[code])] for code in members]
        pair_rows = np.sort(np.concatenate([*group_rows, rows[reference]]))
        pairs.append(
            Pair(
                group=name,
                reference=plan.labels[reference],
                codes=(members[0], reference) if len(members) == 1 else None,
                rows=pair_rows,
                is_reference=features.groups[pair_rows] == reference,
                betas=plan.betas(members, reference, confidence),
            )
        )
    return pairs


def can_share(pairs: Sequence[Pair], auditors: Iterable[str], *, folds: int) -> list[bool]:
    """Return for which pairs fits of all groups at once stand in for fits to each pair.

    Both groups need rows enough to hold some out for the cut, and there have to be more such pairs
    than groups in them: otherwise nothing is gained.
    """
    training_share = (folds - 1) / folds
    is_large = [
        pair.codes is not None
        and training_share * min(pair.is_reference.sum(), (~pair.is_reference).sum())
        >= MIN_GROUP_ROWS_TO_HOLD_OUT
        for pair in pairs
    ]
    large = [pair for pair, large in zip(pairs, is_large, strict=True) if large]
    serves = len(large) > len(groups_of(large)) and not set(SHARED_AUDITORS).isdisjoint(auditors)
    return is_large if serves else [False] * len(pairs)


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


def groups_of(pairs: Sequence[Pair]) -> list[int]:
    """Return the codes of the groups in pairs of single groups."""
    return sorted({code for pair in pairs for code in pair.codes or ()})


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
