"""The impact ratio of a model of the outcome: what a rule that is learned from the columns does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import FloatArray
from fourfifths._certify.auditors import panel
from fourfifths._effect.result import ModelImpact
from fourfifths._impact.impact import impact
from fourfifths._tables.groups import outcome_of
from fourfifths._tables.sample import row_generator
from fourfifths._tables.table import open_table
from fourfifths._tables.values import Reading
from fourfifths._text import listed
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
    reading: Reading | None = None,
    random_state: int,
    model: Any = None,
    max_rows: int = MAX_ROWS,
) -> ModelImpact | None:
    """Let a model select the rows out of fold, and measure the impact of its selections.

    The model selects the rows whose score is above a cut. The cut is the one with the lowest
    balanced error rate of predicting the outcome on the training rows.

    Parameters
    ----------
    values : float array
        What the model sees, one column per feature.
    is_category : sequence of bool
        Which columns of `values` are codes of categories without order.
    frame : dataframe
        The protected columns and the outcome of the same rows.
    protected, reference, outcome, favorable, unknown
        As for `impact`.
    reading : Reading, optional
    random_state : int
        The seed of the folds and of the sample of rows.
    model : classifier, optional
        Logistic regression by default.
    max_rows : int
        Of more rows than this, a random sample is used.

    Returns
    -------
    ModelImpact or None
        None where the model selects every row or none: then there is no ratio.
    """
    is_known, is_favorable, favorable_values = outcome_of(
        frame[outcome], favorable, unknown, reading
    )
    rows = np.flatnonzero(is_known)
    if rows.size > max_rows:
        random = row_generator(random_state, "rows of a model")
        rows = np.sort(random.permutation(rows)[:max_rows])
    truth = is_favorable[rows]
    if min(truth.sum(), (~truth).sum()) < FOLDS:
        raise OutcomeError(
            f"outcome={outcome!r}: fewer than {FOLDS} rows with, or without, "
            f"{listed(favorable_values)}; too few to learn from"
        )

    if model is None:
        model = panel(["logistic"], is_category, random_state=random_state)["logistic"]
    selected = np.empty(truth.size, dtype=bool)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    for train, test in folds.split(truth, truth):
        fitted_model = clone(model).fit(values[rows[train]], truth[train])
        selected[test] = fitted_model.predict(values[rows[test]])
    if selected.all() or not selected.any():
        return None

    # The selections take the place of the outcome, because no other column has its name.
    selections = nw.new_series(outcome, selected, backend=frame.implementation)
    table = frame[rows].select(*protected).with_columns(selections)
    # The groups are what the caller made them, whatever they are called.
    exact = Reading(known=tuple(table[protected[0]].unique().to_list()), exact_values=True)
    result = impact(
        open_table(table.to_native(), exact),
        protected=protected,
        reference=reference,
        outcome=outcome,
        favorable=True,
        rule="feldman2015",
    )
    attribute = result.attributes[-1]
    lowest = min(
        (group for group in attribute.groups if group.group != attribute.reference),
        key=lambda group: group.impact_ratio,
    )
    error = (np.mean(~selected[truth]) + np.mean(selected[~truth])) / 2
    return ModelImpact(
        group=lowest.group,
        reference=attribute.reference,
        impact_ratio=lowest.impact_ratio,
        impact_ratio_interval=lowest.impact_ratio_interval,
        utility=float(1 - error),
    )
