"""Which columns predict the protected attribute, in the same units as the certificate.

A column is judged twice. Alone: its values (or quantiles, if there are many) are cells, and the
best rule selects the cells in which a row of the reference is likelier. These cells are found on
the training folds and the rule is measured on the test fold, so that chance differences within
cells do not look like a difference between the groups. Together with the others: how much
the error of the strongest auditor grows when it cannot use the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sklearn.base import clone

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.auditors import (
    MAX_CATEGORIES,
    MAX_SHARE_DISTINCT,
    BalancedCut,
    stratified_folds,
)
from fourfifths._certify.result import Leak
from fourfifths._stats.roc import hull, hull_of_counts
from fourfifths._tables.sample import row_generator

MIN_CELLS, MAX_CELLS = 4, 64
ROWS_PER_CELL = 20
# Losses rank columns; they decide no verdict, so fewer rows, folds and trees are enough.
LOSS_ROWS = 6_000
LOSS_FOLDS = 2
LOSS_TREES = 40


def find_leaks(
    values: FloatArray,
    is_reference: BoolArray,
    *,
    names: Sequence[str],
    kinds: Sequence[str],
    detail_sources: IntArray,
    auditor: BalancedCut,
    beta: float,
    folds: int,
    random_state: int,
    advance: Callable[[str], None],
) -> tuple[Leak, ...]:
    """Return how well each column predicts the group, the best predictor first.

    Parameters
    ----------
    values : float array, rows by columns and details
    is_reference : bool array
    names, kinds : sequence of str
        Of the columns.
    detail_sources : int array
        For each detail, the position of the column that it is made of.
    auditor : BalancedCut
        The strongest auditor.
    beta : float
        The selection rate of the group, in (0, 1].
    folds, random_state : int
    advance : callable
        Called with a description after each column.
    """
    fold_of_row = np.empty(is_reference.size, dtype=np.int64)
    for fold, (_, test) in enumerate(
        stratified_folds(is_reference, folds, random_state=random_state)
    ):
        fold_of_row[test] = fold
    sources = np.concatenate([np.arange(len(names)), detail_sources])
    column_losses = losses(
        auditor, values, is_reference=is_reference, sources=sources, random_state=random_state
    )
    columns = values.T[: len(names)]
    leaks = []
    for name, kind, column_values, loss in zip(names, kinds, columns, column_losses, strict=True):
        error, floor = single_column(
            column_values, is_reference, fold_of_row=fold_of_row, beta=beta
        )
        leaks.append(
            Leak(feature=name, kind=kind, balanced_error_rate=error, impact_floor=floor, loss=loss)
        )
        advance(f"without {name}")
    return tuple(sorted(leaks, key=lambda leak: leak.balanced_error_rate))


def single_column(
    values: FloatArray, is_reference: BoolArray, *, fold_of_row: IntArray, beta: float
) -> tuple[float, float]:
    """Return the balanced error rate and the impact floor of the best rule on one column.

    A column with many values is looked at twice, by its quantiles and by its single values; the
    rule with the lower error counts.
    """
    rules = [
        rule_on_cells(cells, is_reference, fold_of_row=fold_of_row, beta=beta)
        for cells in (cells_of(values), single_values(values))
        if cells is not None
    ]
    return min(rules)


def rule_on_cells(
    cells: IntArray, is_reference: BoolArray, *, fold_of_row: IntArray, beta: float
) -> tuple[float, float]:
    """Return the balanced error rate and the impact floor of the best rule on these cells."""
    cell_count, fold_count = int(cells.max()) + 1, int(fold_of_row.max()) + 1

    def count_rows(rows: BoolArray) -> FloatArray:
        index = fold_of_row[rows] * cell_count + cells[rows]
        counts = np.bincount(index, minlength=fold_count * cell_count)
        return counts.reshape(fold_count, cell_count).astype(np.float64)

    def log_shares(counts: FloatArray) -> FloatArray:
        # Of the training folds. Half a row is added to each cell: a cell may be empty there.
        training = counts.sum(0) - counts
        total = training.sum(1, keepdims=True)
        return np.asarray(np.log((training + 0.5) / (total + 0.5 * cell_count)))

    group, reference = count_rows(~is_reference), count_rows(is_reference)
    score = log_shares(reference) - log_shares(group)
    predicted_reference = score > 0
    group_error = group[predicted_reference].sum() / group.sum()
    reference_error = reference[~predicted_reference].sum() / reference.sum()
    # Cells of all folds are ranked together; cells of equal score enter the ROC curve together.
    order = np.argsort(-score.ravel(), kind="stable")
    ordered = score.ravel()[order]
    step = np.cumsum(np.append(0, ordered[1:] < ordered[:-1]))
    curve = hull_of_counts(
        *(
            np.bincount(step, weights=counts.ravel()[order]).astype(np.float64)
            for counts in (group, reference)
        )
    )
    return float((group_error + reference_error) / 2), float(curve.floor(beta))


def losses(
    auditor: BalancedCut,
    values: FloatArray,
    *,
    is_reference: BoolArray,
    sources: IntArray,
    random_state: int,
) -> Iterator[float]:
    """Yield, column by column, how much the auditor's balanced error rate grows without it.

    The auditor is fitted again without each column and its details, on a sample of at most
    `LOSS_ROWS` / 2 rows of each group. The error is that of the best cut.
    """
    random = row_generator(random_state, "rows to fit again")
    members = [np.flatnonzero(is_reference == side) for side in (False, True)]
    sampled = [random.permutation(rows)[: LOSS_ROWS // 2] for rows in members]
    rows = np.sort(np.concatenate(sampled))
    values, is_reference = values[rows], is_reference[rows]
    splits = stratified_folds(is_reference, LOSS_FOLDS, random_state=random_state)
    auditor = lighter_auditor(auditor)

    def lowest_error(features: FloatArray) -> float:
        score = np.empty(is_reference.size)
        for train, test in splits:
            fitted = clone(auditor).fit(features[train], is_reference[train])
            score[test] = fitted.decision_function(features[test])
        curve = hull(score, is_reference)
        return float((1 - np.max(curve.reference - curve.group)) / 2)

    error = lowest_error(values)
    for column in np.unique(sources):
        without = values.copy()
        # A constant predicts nothing, and keeps the encoder's columns.
        without[:, sources == column] = 0.0
        yield lowest_error(without) - error


def lighter_auditor(auditor: BalancedCut) -> BalancedCut:
    """Return a cheaper version of the auditor, to be fitted once for each column.

    Penalties are not chosen again: the middle candidate is used each time. The first trees of a
    boosting or of a forest are enough to see what a column is worth.
    """
    classifier = clone(auditor.candidates[len(auditor.candidates) // 2])
    parameters = classifier.get_params()
    for prefix in ("", "classifier__"):
        if prefix + "max_leaf_nodes" in parameters:
            count = "max_iter" if prefix + "max_iter" in parameters else "n_estimators"
            classifier.set_params(**{prefix + count: LOSS_TREES})
    return BalancedCut(auditor.encoder, (classifier,), random_state=auditor.random_state)


def single_values(values: FloatArray) -> IntArray | None:
    """Return each value as a cell, 0 where it is missing.

    None if there are few values, or if they hardly repeat.
    """
    present = ~np.isnan(values)
    distinct, cell_of_present = np.unique(values[present], return_inverse=True)
    if not MAX_CATEGORIES < distinct.size < MAX_SHARE_DISTINCT * values.size:
        return None
    cells = np.zeros(values.shape, dtype=np.int64)
    cells[present] = cell_of_present + 1
    return cells


def cells_of(values: FloatArray) -> IntArray:
    """Return the cell of each row: its value or, if there are many values, its quantile.

    Missing is cell 0.
    """
    present = ~np.isnan(values)
    distinct, cell_of_present = np.unique(values[present], return_inverse=True)
    # A cell with fewer rows than this says nothing about the test fold.
    limit = int(np.clip(values.size // ROWS_PER_CELL, MIN_CELLS, MAX_CELLS))
    if distinct.size > (MAX_CATEGORIES if limit == MAX_CELLS else limit):
        edges = np.unique(np.quantile(values[present], np.linspace(0, 1, limit + 1)[1:-1]))
        cell_of_present = np.searchsorted(edges, values[present], side="right")
    cells = np.zeros(values.shape, dtype=np.int64)
    cells[present] = cell_of_present + 1
    return cells
