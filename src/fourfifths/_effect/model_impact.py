"""The impact ratio of a model of the outcome: what a rule learned from these columns would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._certify.auditors import panel
from fourfifths._effect.result import ModelImpact
from fourfifths._impact.impact import impact
from fourfifths._tables.roles import outcome_of
from fourfifths.errors import OutcomeError

MAX_ROWS = 100_000
FOLDS = 5


def model_impact(
    values: FloatArray,
    is_category: Sequence[bool],
    frame: nw.DataFrame[Any],
    *,
    protected: Sequence[str],
    reference: Any,
    outcome: str,
    favorable: Any,
    unknown: Sequence[Any] = (),
    random_state: int,
) -> ModelImpact | None:
    """Let a logistic model select out of fold, and measure the impact of its selections.

    Its cut is the one with the least balanced error on training rows. None where it selects all
    rows or none.
    """
    known, selected, chosen = outcome_of(frame[outcome], favorable, unknown)
    rows = np.flatnonzero(known)
    if rows.size > MAX_ROWS:
        random = np.random.default_rng(random_state)
        rows = np.sort(random.permutation(rows)[:MAX_ROWS])
    truth = selected[rows]
    if min(truth.sum(), (~truth).sum()) < FOLDS:
        raise OutcomeError(
            f"outcome={outcome!r}: fewer than {FOLDS} rows with, or without, {chosen!r}; too few "
            "to learn from"
        )
    predicted = _predicted(values[rows], truth, is_category, random_state)
    if predicted.all() or not predicted.any():
        return None
    # The outcome's own column holds what the model says: its name is taken by nothing else.
    said = nw.new_series(outcome, predicted, backend=frame.implementation)
    table = frame[rows].select(*protected).with_columns(said)
    result = impact(
        table.to_native(),
        protected=protected,
        reference=reference,
        outcome=outcome,
        favorable=True,
        rule="feldman2015",
    )
    attribute = result.attributes[-1]
    others = [each for each in attribute.groups if each.group != attribute.reference]
    least = min(others, key=lambda each: each.impact_ratio)
    wrong = (np.mean(~predicted[truth]) + np.mean(predicted[~truth])) / 2
    return ModelImpact(
        group=least.group,
        reference=attribute.reference,
        impact_ratio=least.impact_ratio,
        impact_ratio_interval=least.impact_ratio_interval,
        utility=float(1 - wrong),
    )


def _predicted(
    values: FloatArray, truth: BoolArray, is_category: Sequence[bool], random_state: int
) -> BoolArray:
    """Return whom the model selects, each row by a fit to others."""
    model = panel(["logistic"], is_category, random_state=random_state)["logistic"]
    predicted = np.empty(truth.size, dtype=bool)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    for train, test in folds.split(truth, truth):
        fitted = clone(model).fit(values[train], truth[train])
        predicted[test] = fitted.predict(values[test])
    return predicted
