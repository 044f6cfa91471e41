"""Which columns give the protected attribute away, in the certificate's own units.

One column alone: its values (or quantiles, if there are many) are cells, and the best rule selects
the cells in which the reference is the likelier. Which those are is read off the training
folds, and what the rule does off the others; so the total variation between the groups is not
overstated by what chance put into a cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.auditors import BalancedCut
from fourfifths._stats.roc import hull, hull_of_counts
from fourfifths._tables.sample import MAX_CATEGORIES

MAX_CELLS, ROWS_PER_CELL = 64, 20
LEAK_ROWS = 6_000
LEAK_FOLDS = 2
FIRST_ROUNDS = 40


def single_column(
    values: FloatArray, is_reference: BoolArray, fold: IntArray, beta: float
) -> tuple[float, float]:
    """Return the balanced error rate and the impact floor of the best rule on one column."""
    cells = _cells(values)
    size, folds = int(cells.max()) + 1, int(fold.max()) + 1

    def counted(rows: BoolArray) -> FloatArray:
        place = fold[rows] * size + cells[rows]
        return np.bincount(place, minlength=folds * size).reshape(folds, size).astype(np.float64)

    group, reference = counted(~is_reference), counted(is_reference)
    # What the other folds say of each cell, half a row added to each side.
    other_group, other_reference = group.sum(0) - group, reference.sum(0) - reference
    score = np.log((other_reference + 0.5) / (other_reference.sum(1, keepdims=True) + 0.5 * size))
    score -= np.log((other_group + 0.5) / (other_group.sum(1, keepdims=True) + 0.5 * size))
    taken = score > 0
    error = (group[taken].sum() / group.sum() + reference[~taken].sum() / reference.sum()) / 2
    order = np.argsort(-score.ravel(), kind="stable")
    ordered = score.ravel()[order]
    same = np.cumsum(np.append(0, ordered[1:] < ordered[:-1]))
    curve = hull_of_counts(
        *(
            np.bincount(same, weights=side.ravel()[order]).astype(np.float64)
            for side in (group, reference)
        )
    )
    return float(error), float(curve.floor(beta))


def losses(
    auditor: BalancedCut, features: FloatArray, is_reference: BoolArray, random_state: int
) -> Iterator[float]:
    """Yield, for each feature, by how much the auditor's error grows when it is left out.

    On a sample of the rows, fitted anew each time; the error is that of the best cut.
    """
    rows = _sample(is_reference, random_state)
    values, labels = features[rows], is_reference[rows]
    splits = StratifiedKFold(LEAK_FOLDS, shuffle=True, random_state=random_state)
    folds = list(splits.split(labels, labels))
    auditor = _lighter(auditor)
    whole = _error(auditor, values, labels, folds)
    for column in range(values.shape[1]):
        without = values.copy()
        without[:, column] = 0.0  # a constant tells nothing
        yield _error(auditor, without, labels, folds) - whole


def _lighter(auditor: BalancedCut) -> BalancedCut:
    """Return the auditor as it is fitted for each column in turn.

    A penalty is not chosen anew each time, the middle one serves all alike; and boosted trees stop
    after the first rounds, which tell what a column is worth.
    """
    chosen = clone(auditor.candidates[len(auditor.candidates) // 2])
    if {"max_iter", "max_leaf_nodes"} <= set(chosen.get_params()):
        chosen.set_params(max_iter=FIRST_ROUNDS)
    return BalancedCut(auditor.encoder, (chosen,), auditor.random_state)


def _error(
    auditor: BalancedCut,
    values: FloatArray,
    is_reference: BoolArray,
    folds: Sequence[tuple[IntArray, IntArray]],
) -> float:
    score = np.empty(is_reference.size)
    for train, test in folds:
        fitted: Any = clone(auditor).fit(values[train], is_reference[train])
        score[test] = fitted.decision_function(values[test])
    curve = hull(score, is_reference)
    return float((1 - np.max(curve.reference - curve.group)) / 2)


def _sample(is_reference: BoolArray, random_state: int) -> IntArray:
    """Return the rows to measure losses on: as many of each group, as far as there are."""
    random = np.random.default_rng(random_state)
    sides = [np.flatnonzero(is_reference == side) for side in (False, True)]
    chosen = [random.permutation(side)[: LEAK_ROWS // 2] for side in sides]
    return np.sort(np.concatenate(chosen))


def _cells(values: FloatArray) -> IntArray:
    """Return the cell of each row: its value, or its quantile if there are many; missing is one."""
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    # So many that a cell holds a score of rows: fewer would say nothing out of fold.
    limit = int(np.clip(values.size // ROWS_PER_CELL, 4, MAX_CELLS))
    if distinct.size > (MAX_CATEGORIES if limit == MAX_CELLS else limit):
        edges = np.unique(np.quantile(values[known], np.linspace(0, 1, limit + 1)[1:-1]))
        place = np.searchsorted(edges, values[known], side="right")
    cells = np.zeros(values.shape, dtype=np.int64)
    cells[known] = place + 1
    return cells
