"""What a repair did: how much it changed, and what an auditor finds before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy.stats import wasserstein_distance

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._certify.certify import certify
from fourfifths._certify.result import PairCertificate
from fourfifths._effect.model_impact import model_impact
from fourfifths._effect.result import Audit, ColumnEffect, RepairEffect
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.roles import outcome_of
from fourfifths._tables.strata import Strata, written
from fourfifths._tables.types import Typed, to_numbers
from fourfifths.errors import ColumnError, GroupError, OutcomeError, listed

FEWEST = 5  # rows of a stratum, one for each fold of the audit
NO_OUTCOME = "no outcome is named (--outcome): what a model of it would do is not told"
SMALL = 30  # rows of a stratum that leave a fully repaired column hardly any values


def repair_effect(
    repairer: Repairer,
    before: nw.DataFrame[Any],
    after: nw.DataFrame[Any],
    *,
    name: str = "the table",
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    beta: float | tuple[float, float] | None = None,
    left_alone: Sequence[str] = (),
    random_state: int = 0,
) -> RepairEffect:
    """Compare a table with its repair; both have the same rows in the same order.

    Outcome, favorable, reference and beta are as for `certify`; without outcome and beta only the
    balanced error rate is told. `left_alone` are columns that no rule would
    use: they are not spoken of.
    """
    typed = repairer.typed_
    codes = repairer.stratum_of(before.select(*repairer.feature_names_in_).to_native())
    values = [to_numbers(before[each.name], each) for each in typed]
    values_after = [to_numbers(after[each.name], each) for each in typed]
    changed = [_differ(*pair) for pair in zip(values, values_after, strict=True)]
    roles = {"outcome": outcome, "favorable": favorable, "reference": reference, "beta": beta}
    audits, why = _audits(
        repairer, ((before, values), (after, values_after)), codes, random_state, **roles
    )
    own = {*(each.name for each in typed), *repairer.strata_.by, outcome, *left_alone}
    return RepairEffect(
        table=name,
        rows=codes.size,
        rows_changed=int(np.any(changed, axis=0).sum()),
        cells=codes.size * len(typed),
        cells_changed=int(np.sum(changed)),
        columns=tuple(
            _column_effect(each, own, new, codes)
            for each, own, new in zip(typed, values, values_after, strict=True)
        ),
        before=audits[0],
        after=audits[1],
        raised=audits[0] is not None
        and audits[1] is not None
        and audits[1].interval[1] < audits[0].interval[0],
        not_repaired=tuple(column for column in before.columns if column not in own),
        notes=(*_notes(repairer, codes), *why),
    )


def _differ(before: FloatArray, after: FloatArray) -> Any:
    return (before != after) & ~np.isnan(before)


def _column_effect(
    typed: Typed, before: FloatArray, after: FloatArray, codes: CodeArray
) -> ColumnEffect:
    present = ~np.isnan(before) & (codes >= 0)
    if not present.any():
        nothing = float("nan")
        return ColumnEffect(
            column=str(typed.name),
            kind=typed.kind,
            changed=0,
            rank_moved=nothing,
            distance=nothing,
            distance_after=nothing,
        )
    own, new, strata = before[present], after[present], codes[present]
    changed = int(_differ(before, after).sum())
    kind, name = typed.kind, str(typed.name)
    if kind == "category":
        found = [_variation(each, strata, len(typed.categories)) for each in (own, new)]
        return ColumnEffect(
            column=name,
            kind=kind,
            changed=changed,
            rank_moved=float("nan"),
            distance=found[0],
            distance_after=found[1],
        )
    ordered = np.sort(own)
    moved = float(np.mean(np.abs(_rank(ordered, new) - _rank(ordered, own))))
    return ColumnEffect(
        column=name,
        kind=kind,
        changed=changed,
        rank_moved=moved,
        distance=_distance(own, strata),
        distance_after=_distance(new, strata),
    )


def _rank(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """Return the middle rank of values among sorted ones, in [0, 1]."""
    sides = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    return np.asarray((sides[0] + sides[1]) / (2 * ordered.size), dtype=np.float64)


def _distance(values: FloatArray, strata: CodeArray) -> float:
    largest = int(np.argmax(np.bincount(strata)))
    base = values[strata == largest]
    others = [place for place in np.unique(strata) if place != largest]
    return max((float(wasserstein_distance(values[strata == s], base)) for s in others), default=0)


def _variation(values: FloatArray, strata: CodeArray, categories: int) -> float:
    counts = np.zeros((int(strata.max()) + 1, categories))
    np.add.at(counts, (strata, values.astype(np.int64)), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    base = shares[int(np.argmax(counts.sum(axis=1)))]
    used = shares[counts.sum(axis=1) > 0]
    return float(np.max(np.abs(used - base).sum(axis=1)) / 2)


def _audits(
    repairer: Repairer,
    tables: Sequence[tuple[nw.DataFrame[Any], Sequence[FloatArray]]],
    codes: CodeArray,
    random_state: int,
    *,
    reference: Any,
    **roles: Any,
) -> tuple[Sequence[Audit | None], tuple[str, ...]]:
    """Audit before and after, or say why that cannot be."""
    strata = repairer.strata_
    sizes = np.bincount(codes[codes >= 0], minlength=len(strata.groups))
    if sizes.min() < FEWEST:
        fewest = f"a stratum has {sizes.min()} rows, and {FEWEST} are needed"
        return (None, None), (f"not audited: {fewest}",)
    rows = np.flatnonzero(codes >= 0)
    # The strata as the repair has them: bands are cut, small ones pooled, others left out.
    name = " & ".join(strata.by)
    labels = np.array(strata.labels, dtype=object)[codes[rows]].tolist()
    chosen = _reference(strata, reference)
    if roles["outcome"] is not None:
        outcome_of(tables[0][0][roles["outcome"]], roles["favorable"])  # what is misnamed is told
    if chosen is None and roles["outcome"] is None:
        chosen = strata.labels[int(np.argmax(sizes))]
    found = []
    for frame, numbers in tables:
        stratum = nw.new_series(name, labels, backend=frame.implementation)
        known = frame[rows].with_columns(stratum)
        values = np.column_stack(numbers)[rows]
        try:
            found.append(_audit(known, repairer, values, random_state, name, chosen, **roles))
        except (GroupError, OutcomeError) as error:
            return (None, None), (f"not audited: {error}",)
    return found, () if roles["outcome"] is not None else (NO_OUTCOME,)


def _reference(strata: Strata, reference: Any) -> str | None:
    """Return the stratum that the reference names."""
    if reference is None:
        return None
    named = reference if isinstance(reference, Mapping) else dict.fromkeys(strata.by, reference)
    for column in named:
        if column not in strata.by:
            raise ColumnError(f"reference: {column!r} is not a protected column")
    wanted = written(tuple(named.get(column) for column in strata.by))
    for group, name in zip(strata.groups, strata.labels, strict=True):
        if written(group) == wanted:
            return name
    raise GroupError(
        f"reference={' & '.join(wanted)!r}: not among the groups of {' & '.join(strata.by)!r} "
        f"({listed(strata.labels)})"
    )


def _audit(
    frame: nw.DataFrame[Any],
    repairer: Repairer,
    values: FloatArray,
    random_state: int,
    protected: str,
    reference: str | None,
    *,
    outcome: str | None,
    favorable: Any,
    beta: float | tuple[float, float] | None,
) -> Audit:
    features = [each.name for each in repairer.typed_]
    columns = dict.fromkeys([*features, *([outcome] if outcome else []), protected])
    certificate = certify(
        frame.select(*columns).to_native(),
        protected=[protected],
        reference=None if reference is None else {protected: reference},
        columns=features,
        outcome=outcome,
        favorable=favorable,
        # The balanced error rate does not depend on it; nothing else is shown without either.
        beta=beta if outcome or beta else 0.5,
        random_state=random_state,
    )
    worst = min(certificate.pairs, key=_least)
    strongest = next(each for each in worst.auditors if each.name == worst.strongest)
    nothing, claims = float("nan"), outcome is not None or beta is not None
    model = None
    if outcome is not None:
        model = model_impact(
            values,
            [each.kind == "category" for each in repairer.typed_],
            frame,
            protected=[protected],
            reference=certificate.settings["reference"],
            outcome=outcome,
            favorable=favorable,
            random_state=random_state,
        )
    return Audit(
        strongest=strongest.name,
        balanced_error_rate=strongest.balanced_error_rate,
        interval=strongest.interval,
        impact_floor=strongest.impact_floor if claims else nothing,
        impact_floor_interval=strongest.impact_floor_interval if claims else (nothing, nothing),
        verdict=certificate.verdict if claims else None,
        model=model,
    )


def _least(pair: PairCertificate) -> float:
    return min(each.balanced_error_rate for each in pair.auditors)


def _notes(repairer: Repairer, codes: CodeArray) -> tuple[str, ...]:
    notes = []
    if kept := int(np.sum(codes < 0)):
        notes.append(
            f"{kept:,} rows have a stratum that is missing or was not fitted; they were left as "
            "they are"
        )
    if repairer.strata_.pooled:
        notes.append(f"{repairer.strata_.labels[-1]} are one stratum, because each is small")
    least = int(np.argmin(repairer.strata_.rows))
    if repairer.strata_.rows[least] < SMALL:
        notes.append(
            f"{repairer.strata_.labels[least]} was fitted on {repairer.strata_.rows[least]} rows, "
            "the fewest: fully repaired numbers have no more different values than that"
        )
    return tuple(notes)
