"""What a repair did: how much it changed, and what auditors find before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
from scipy.stats import wasserstein_distance

from fourfifths._arrays import BoolArray, CodeArray, FloatArray
from fourfifths._certify import certify as certification
from fourfifths._certify.result import Certificate
from fourfifths._effect import model_impact as outcome_model
from fourfifths._effect.held_out import audited_rows
from fourfifths._effect.result import Audit, ColumnEffect, ModelImpact, RepairEffect
from fourfifths._effect.roles import AuditRoles, check_audit_roles, reference_label
from fourfifths._repair.columns.model import Model
from fourfifths._repair.fitted import FittedRepair
from fourfifths._tables.load import Rows, with_columns
from fourfifths._tables.strata import Unseen
from fourfifths._tables.table import open_table
from fourfifths._tables.types import ColumnType
from fourfifths._tables.values import PLAIN, Reading, occurring_tokens
from fourfifths.errors import ColumnError, GroupError, OutcomeError

EffectDetail = Literal["full", "quick"]
MIN_AUDITED_ROWS = 5  # in each stratum: one for each fold of the audit
# Full repair leaves a column as many different values as its smallest stratum has rows.
MIN_ROWS_FOR_MANY_VALUES = 30
NAN = float("nan")


def effect(
    fitted: FittedRepair,
    before: Rows,
    after: Rows,
    *,
    held_out: Rows | None = None,
    unseen: Unseen = "error",
    roles: AuditRoles | None = None,
    not_features: Sequence[str] = (),
    detail: EffectDetail = "full",
    random_state: int = 0,
    certify: Callable[..., Certificate] | None = None,
    model_impact: Callable[..., ModelImpact | None] | None = None,
) -> RepairEffect:
    """Compare a table with its repair; both have the same rows in the same order.

    Parameters
    ----------
    fitted : FittedRepair
    before, after : Rows
    held_out : Rows, optional
        The rows that `audited_rows` chooses, each repaired by a repair that was not fitted to it:
        these are audited, because rows that a repair was fitted to look better hidden than new
        ones. By default those of `after`, for rows that the repair was not fitted to.
    unseen : {"error", "keep"}
        What the repair did with rows of strata that it was not fitted to.
    roles : AuditRoles, optional
        Without an outcome and without beta, only the balanced error rate is reported.
    not_features : sequence of str
        Columns that no rule would use; they are not listed among the columns that were not
        repaired.
    detail : {"full", "quick"}
        "full" audits the columns before and after. "quick" only counts the changed cells and
        measures how far apart the strata are.
    random_state : int
        The seed of the auditors and of the model.
    certify, model_impact : callable, optional
        What audits the columns, and what fits a model of the outcome; by default the functions of
        these names.

    Raises
    ------
    ColumnError, GroupError, OptionError, OutcomeError
        If a role names what the table does not have. A table that cannot be audited for another
        reason is not an error: a note says why.
    """
    roles = roles or AuditRoles()
    check_audit_roles(fitted, before, roles)
    column_types = fitted.column_types
    codes = fitted.strata.codes_of(before, unseen=unseen)
    values, new_values = before.numbers(column_types), after.numbers(column_types)
    changed = [
        _changed(old_column, new_column)
        for old_column, new_column in zip(values, new_values, strict=True)
    ]
    columns = tuple(
        column_effect(column_type, old_column, new_column, codes)
        for column_type, old_column, new_column in zip(
            column_types, values, new_values, strict=True
        )
    )

    positions = audited_rows(codes, random_state=random_state)
    audited_before, audited_after = before, after if held_out is None else held_out
    audited_values, audited_codes = values, codes
    if positions is not None:
        audited_before = before.with_frame(before.dataframe[positions])
        if held_out is None:
            audited_after = after.with_frame(after.dataframe[positions])
        audited_values = [column[positions] for column in values]
        audited_codes = codes[positions]
    audits: tuple[Audit | None, Audit | None] = (None, None)
    notes = stratum_notes(fitted, codes)
    if detail == "quick":
        notes.append(
            "no auditor was run, so nothing is said about how well the stratum can still be "
            "predicted"
        )
    else:
        try:
            audits = _audit_both(
                fitted,
                (
                    (audited_before, audited_values),
                    (audited_after, audited_after.numbers(column_types)),
                ),
                audited_codes,
                roles=roles,
                random_state=random_state,
                certify=certify or certification.certify,
                model_impact=model_impact or outcome_model.model_impact,
            )
        except (ColumnError, GroupError, OutcomeError) as error:
            # The repair itself is done, so a table that auditors cannot use must not stop it.
            notes.append(f"not audited: {error}")
        else:
            if positions is not None:
                notes.append(
                    f"auditors saw a sample of {positions.size:,} of the {codes.size:,} rows"
                )
            if roles.outcome is None:
                notes.append("no outcome was named, so no model of it was fitted")

    audit_before, audit_after = audits
    mentioned = {*fitted.needed_columns, roles.outcome, *not_features}
    return RepairEffect(
        table=before.name,
        rows=codes.size,
        rows_changed=int(np.any(changed, axis=0).sum()),
        cells=codes.size * len(column_types),
        cells_changed=int(np.sum(changed)),
        columns=columns,
        before=audit_before,
        after=audit_after,
        # Easier to predict by more than chance: the intervals do not overlap.
        raised=audit_before is not None
        and audit_after is not None
        and audit_after.interval[1] < audit_before.interval[0],
        not_repaired=tuple(column for column in before.columns if column not in mentioned),
        notes=tuple(notes),
    )


def _changed(values: FloatArray, new_values: FloatArray) -> BoolArray:
    """Return which cells changed; a value that is missing before and after did not."""
    return np.asarray((values != new_values) & ~(np.isnan(values) & np.isnan(new_values)))


def column_effect(
    column_type: ColumnType, values: FloatArray, new_values: FloatArray, codes: CodeArray
) -> ColumnEffect:
    """Measure how far one column moved, and how far apart the strata are before and after."""
    rank_moved, distances = NAN, []
    for table in (values, new_values):
        # By blocks a value may go missing, or come where none was.
        present = ~np.isnan(table) & (codes >= 0)
        if not present.any():
            distances.append(NAN)
        elif column_type.kind == "category":
            category_count = len(column_type.categories)
            distances.append(total_variation(table[present], codes[present], category_count))
        else:
            distances.append(earthmover_distance(table[present], codes[present]))
    both = ~np.isnan(values) & ~np.isnan(new_values) & (codes >= 0)
    if column_type.kind != "category" and both.any():
        ordered = np.sort(values[both])
        moved = middle_rank(ordered, new_values[both]) - middle_rank(ordered, values[both])
        rank_moved = float(np.mean(np.abs(moved)))
    return ColumnEffect(
        column=str(column_type.name),
        kind=column_type.kind,
        changed=int(_changed(values, new_values).sum()),
        rank_moved=rank_moved,
        distance=distances[0],
        distance_after=distances[1],
    )


def middle_rank(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """Return the middle rank of values among sorted ones, in [0, 1]."""
    # Searches in rising order stay in the processor's cache; in any order most of them miss it.
    order = np.argsort(values)
    rising = values[order]
    below = np.searchsorted(ordered, rising, side="left")
    up_to = np.searchsorted(ordered, rising, side="right")
    ranks = np.empty(values.size)
    ranks[order] = (below + up_to) / (2 * ordered.size)
    return ranks


def earthmover_distance(values: FloatArray, strata: CodeArray) -> float:
    """Return the largest distance of a stratum from the largest one, in the column's units."""
    largest = int(np.argmax(np.bincount(strata)))
    base = values[strata == largest]
    return max(
        (
            float(wasserstein_distance(values[strata == stratum], base))
            for stratum in np.unique(strata)
            if stratum != largest
        ),
        default=0.0,
    )


def total_variation(values: FloatArray, strata: CodeArray, category_count: int) -> float:
    """Return the largest total variation between a stratum's shares and the largest one's."""
    cells = strata.astype(np.int64) * category_count + values.astype(np.int64)
    stratum_count = int(strata.max()) + 1
    counts = np.bincount(cells, minlength=stratum_count * category_count)
    counts = counts.reshape(stratum_count, category_count)
    sizes = counts.sum(axis=1)
    shares = counts / np.maximum(sizes, 1)[:, None]
    distances = np.abs(shares - shares[int(np.argmax(sizes))]).sum(axis=1) / 2
    return float(distances[sizes > 0].max())


def _audit_both(
    fitted: FittedRepair,
    tables: Sequence[tuple[Rows, Sequence[FloatArray]]],
    codes: CodeArray,
    *,
    roles: AuditRoles,
    random_state: int,
    certify: Callable[..., Certificate],
    model_impact: Callable[..., ModelImpact | None],
) -> tuple[Audit, Audit]:
    """Audit the repaired columns before and after."""
    strata = fitted.strata
    sizes = np.bincount(codes[codes >= 0], minlength=len(strata.groups))
    if sizes.min() < MIN_AUDITED_ROWS:
        raise GroupError(f"a stratum has {sizes.min()} rows, and {MIN_AUDITED_ROWS} are needed")
    audited_rows = np.flatnonzero(codes >= 0)
    # The strata as the repair has them: bands are cut, small ones pooled, others left out.
    protected = " & ".join(strata.by)
    labels = np.array(strata.labels, dtype=object)[codes[audited_rows]].tolist()
    reference = reference_label(fitted, roles, sizes.astype(np.float64))
    audits = []
    for rows, numbers in tables:
        stratum = nw.new_series(protected, labels, backend=rows.dataframe.implementation)
        audits.append(
            _audit(
                fitted,
                rows.dataframe[audited_rows].with_columns(stratum),
                np.column_stack(numbers)[audited_rows],
                protected=protected,
                reference=reference,
                rows=rows,
                roles=roles,
                random_state=random_state,
                certify=certify,
                model_impact=model_impact,
            )
        )
    return audits[0], audits[1]


def _audit(
    fitted: FittedRepair,
    frame: nw.DataFrame[Any],
    values: FloatArray,
    *,
    protected: str,
    reference: str | None,
    rows: Rows,
    roles: AuditRoles,
    random_state: int,
    certify: Callable[..., Certificate],
    model_impact: Callable[..., ModelImpact | None],
) -> Audit:
    """Let auditors predict the stratum from the repaired columns, and a model select by them."""
    features = [column.name for column in fitted.column_types]
    outcome = [roles.outcome] if roles.outcome else []
    # Repaired columns hold few values, which need not show any more how the numbers are written.
    numbers = [
        nw.new_series(column.name, values[:, index], backend=frame.implementation)
        for index, column in enumerate(fitted.column_types)
        if column.number_format != PLAIN
    ]
    audited = with_columns(frame.select(*dict.fromkeys([*features, *outcome, protected])), numbers)
    # A token need not be left in a table that was repaired.
    unknown = occurring_tokens(audited, rows.unknown)
    table: Any = audited.to_native()
    if rows.reading != Reading():
        # The strata are groups, whatever they are called.
        known = (*rows.reading.known, *fitted.strata.labels)
        table = open_table(table, replace(rows.reading, known=known))
    certificate = certify(
        table,
        protected=[protected],
        reference=None if reference is None else {protected: reference},
        columns=features,
        outcome=roles.outcome,
        favorable=roles.favorable,
        unknown=unknown,
        # The balanced error rate does not depend on beta, and without one it is all that is shown.
        beta=roles.beta if roles.outcome or roles.beta else 0.5,
        # Nothing of the effect shows what each column predicts.
        leaks=False,
        random_state=random_state,
    )
    worst = min(
        certificate.pairs,
        key=lambda pair: min(auditor.balanced_error_rate for auditor in pair.auditors),
    )
    strongest = next(auditor for auditor in worst.auditors if auditor.name == worst.strongest)
    model = None
    if roles.outcome is not None:
        model = model_impact(
            values,
            [column.kind == "category" for column in fitted.column_types],
            frame,
            protected=[protected],
            reference=certificate.settings["reference"],
            outcome=roles.outcome,
            favorable=roles.favorable,
            unknown=unknown,
            reading=rows.reading,
            random_state=random_state,
        )
    has_beta = roles.outcome is not None or roles.beta is not None
    return Audit(
        strongest=strongest.name,
        balanced_error_rate=strongest.balanced_error_rate,
        interval=strongest.interval,
        impact_floor=strongest.impact_floor if has_beta else NAN,
        impact_floor_interval=strongest.impact_floor_interval if has_beta else (NAN, NAN),
        verdict=certificate.verdict if has_beta else None,
        model=model,
    )


def stratum_notes(fitted: FittedRepair, codes: CodeArray) -> list[str]:
    """Return notes on rows that were kept, strata that were pooled, and strata with few rows."""
    strata = fitted.strata
    notes = []
    kept_count = int(np.sum(codes < 0))
    if kept_count:
        notes.append(
            f"{kept_count:,} rows have a stratum that is missing or was not fitted; they were left "
            "as they are"
        )
    if strata.pooled:
        notes.append(f"{strata.labels[-1]} are one stratum, because each is small")
    smallest = int(np.argmin(strata.rows))
    is_by_column = isinstance(fitted.model, Model)
    if is_by_column and strata.rows[smallest] < MIN_ROWS_FOR_MANY_VALUES:
        notes.append(
            f"{strata.labels[smallest]} was fitted on {strata.rows[smallest]} rows, the fewest: "
            "fully repaired numbers have no more different values than that"
        )
    return notes
