"""What a repair did: how much it changed, and what an auditor finds before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.stats import wasserstein_distance

from fourfifths.certificate import PairCertificate
from fourfifths.certification import certify
from fourfifths.counts import CodeArray, FloatArray
from fourfifths.errors import GroupError
from fourfifths.model_impact import ModelImpact, model_impact
from fourfifths.plain import Interval, plain
from fourfifths.repair.kinds import Typed, to_numbers
from fourfifths.repair.repairer import Repairer

SCHEMA = "fourfifths/repair-effect/1"


@dataclass(frozen=True)
class ColumnEffect:
    """What became of one column.

    Attributes
    ----------
    column, kind : str
    changed : int
        How many of its cells changed.
    rank_moved : float
        By how much a value's rank among all rows as they were changed, on average over rows that
        have a value, in [0, 1]. NaN for categories without order.
    distance, distance_after : float
        The earthmover distance between a stratum and the largest one, of the stratum for which it
        is largest, in the column's units; for categories without order, the total variation.
    """

    column: str
    kind: str
    changed: int
    rank_moved: float
    distance: float
    distance_after: float


@dataclass(frozen=True)
class Audit:
    """What the auditors found in the repaired columns, before or after.

    Attributes
    ----------
    strongest : str
    balanced_error_rate, interval
        Of the strongest auditor in the pair of groups where it is least, out of fold.
    impact_floor, impact_floor_interval
        The least impact ratio of a rule, of that auditor. NaN without an outcome or beta.
    verdict : str or None
        Of the certificate. None without an outcome or beta.
    model : ModelImpact or None
        The impact ratio of a model of the outcome that uses the repaired columns.
    """

    strongest: str
    balanced_error_rate: float
    interval: Interval
    impact_floor: float
    impact_floor_interval: Interval
    verdict: str | None
    model: ModelImpact | None


@dataclass(frozen=True)
class RepairEffect:
    """A repair's before and after.

    Attributes
    ----------
    table : str
    rows, rows_changed, cells, cells_changed : int
    columns : tuple of ColumnEffect
    before, after : Audit or None
        None where a stratum has too few rows to be audited.
    raised : bool
        Whether the repair made the protected attribute easier to predict, by more than chance.
    not_repaired : tuple of str
        Other columns of the table that a rule could use.
    notes : tuple of str
    """

    table: str
    rows: int
    rows_changed: int
    cells: int
    cells_changed: int
    columns: tuple[ColumnEffect, ...]
    before: Audit | None
    after: Audit | None
    raised: bool
    not_repaired: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        found: dict[str, Any] = {"schema": SCHEMA, **plain(self)}
        return found

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def __str__(self) -> str:
        from fourfifths.effect_report import effect_text

        return effect_text(self)


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
        repairer, ((before, values), (after, values_after)), random_state, **roles
    )
    own = {*(each.name for each in typed), *repairer.strata_.by, outcome, *left_alone}
    return RepairEffect(
        name,
        codes.size,
        int(np.any(changed, axis=0).sum()),
        codes.size * len(typed),
        int(np.sum(changed)),
        tuple(
            _column_effect(each, own, new, codes)
            for each, own, new in zip(typed, values, values_after, strict=True)
        ),
        audits[0],
        audits[1],
        audits[0] is not None
        and audits[1] is not None
        and audits[1].interval[1] < audits[0].interval[0],
        tuple(column for column in before.columns if column not in own),
        (*_notes(repairer, codes), *why),
    )


def _differ(before: FloatArray, after: FloatArray) -> Any:
    return (before != after) & ~np.isnan(before)


def _column_effect(
    typed: Typed, before: FloatArray, after: FloatArray, codes: CodeArray
) -> ColumnEffect:
    present = ~np.isnan(before) & (codes >= 0)
    own, new, strata = before[present], after[present], codes[present]
    changed = int(_differ(before, after).sum())
    kind, name = typed.kind, str(typed.name)
    if kind == "category":
        found = [_variation(each, strata, len(typed.categories)) for each in (own, new)]
        return ColumnEffect(name, kind, changed, float("nan"), *found)
    ordered = np.sort(own)
    moved = float(np.mean(np.abs(_rank(ordered, new) - _rank(ordered, own))))
    return ColumnEffect(name, kind, changed, moved, _distance(own, strata), _distance(new, strata))


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
    random_state: int,
    **roles: Any,
) -> tuple[Sequence[Audit | None], tuple[str, ...]]:
    """Audit before and after, or say why that cannot be."""
    try:
        return [
            _audit(frame, repairer, numbers, random_state, **roles) for frame, numbers in tables
        ], ()
    except GroupError as error:
        return (None, None), (f"not audited: {error}",)


def _audit(
    frame: nw.DataFrame[Any],
    repairer: Repairer,
    values: Sequence[FloatArray],
    random_state: int,
    *,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    beta: float | tuple[float, float] | None,
) -> Audit:
    by: Mapping[str, Any] = {
        "protected": list(repairer.strata_.by),
        "bands": repairer.bands or {},
        "reference": reference,
    }
    certificate = certify(
        frame.to_native(),
        **by,
        features=[each.name for each in repairer.typed_],
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
            np.column_stack(values),
            [each.kind == "category" for each in repairer.typed_],
            frame,
            protected=by["protected"],
            bands=by["bands"],
            reference=certificate.settings["reference"],
            outcome=outcome,
            favorable=favorable,
            random_state=random_state,
        )
    return Audit(
        strongest.name,
        strongest.balanced_error_rate,
        strongest.interval,
        strongest.impact_floor if claims else nothing,
        strongest.impact_floor_interval if claims else (nothing, nothing),
        certificate.verdict if claims else None,
        model,
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
    return tuple(notes)
