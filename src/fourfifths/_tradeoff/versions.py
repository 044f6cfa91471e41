"""One repaired version of the data: what the models and the auditors make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._certify.auditors import BalancedCut, panel, quiet, score_of
from fourfifths._repair.ordered import Method
from fourfifths._repair.random import Calls
from fourfifths._repair.repairer import Repairer
from fourfifths._stats.balanced_error import Errors
from fourfifths._tables.files import in_one_line
from fourfifths._tables.load import rows_of
from fourfifths._tables.types import to_numbers
from fourfifths._tradeoff.models import PaperModel
from fourfifths._tradeoff.points import Auc, area, tally
from fourfifths._tradeoff.result import Record
from fourfifths.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of the data: how it is repaired, on which split."""

    repeat: int
    scope: str
    method: Method
    amount: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others; without repair, method and scope do not matter."""
        if self.amount == 0:
            return self.repeat, "none", "none", 0.0
        return self.repeat, self.scope, self.method, self.amount


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What every version shares: the rows as they came, and who they are."""

    frame: Any
    group: CodeArray
    selected: BoolArray
    reference: int
    groups: int


def run_version(
    version: Version,
    repairer: Repairer,
    rows: Rows,
    split: tuple[IntArray, IntArray],
    models: Mapping[str, Any],
    auditors: Sequence[str],
    random_state: int,
) -> list[Record]:
    """Repair, fit every model and auditor on the training rows, and count on the test rows."""
    test = split[1]
    repaired = _repaired(repairer, version, rows, random_state)
    frame: nw.DataFrame[Any] = nw.from_native(repaired, eager_only=True)
    raw: nw.DataFrame[Any] = nw.from_native(rows.frame, eager_only=True)
    values = _matrix(frame, repairer)
    differs = (values != _matrix(raw, repairer)) & ~np.isnan(values)
    changed = int(np.any(differs[test], axis=1).sum())
    shared = {
        "repeat": version.repeat,
        "scope": version.key[1],
        "method": version.key[2],
        "amount": version.key[3],
        "rows": int(test.size),
        "changed": changed,
        "auditor": _audit(values, rows, split, repairer, auditors, random_state),
    }
    features = [each.name for each in repairer.column_types_]
    records = []
    for name, model in models.items():
        given = values if isinstance(model, PaperModel) else frame.select(*features).to_native()
        counts, auc = _judge(name, model, given, rows, split)
        records.append(
            {**shared, "model": name, "counts": counts.tolist(), "auc": [auc.value, auc.variance]}
        )
    return records


def _repaired(repairer: Repairer, version: Version, rows: Rows, random_state: int) -> Any:
    if version.amount == 0:
        return rows.frame
    table = rows_of(rows.frame)
    codes = repairer.strata_.codes_of(table, unseen=repairer.unseen)
    # Draws of its own: the same whichever process runs it, and in whatever order.
    draws = Calls(random_state + version.repeat).next()
    output = repairer.fitted_.transform(
        table, codes, method=version.method, amount=version.amount, draws=draws
    )
    return output.native()


def _matrix(frame: nw.DataFrame[Any], repairer: Repairer) -> FloatArray:
    return np.column_stack([to_numbers(frame[each.name], each) for each in repairer.column_types_])


def _judge(
    name: str, model: Any, given: Any, rows: Rows, split: tuple[IntArray, IntArray]
) -> tuple[IntArray, Auc]:
    """Return what a model, fitted on the training rows, does to the test rows."""
    train, test = split
    try:
        with quiet():
            fitted = clone(model).fit(_take(given, train), rows.selected[train])
            predicted = np.asarray(fitted.predict(_take(given, test)), dtype=bool)
            score = _score(fitted, _take(given, test))
    except Exception as error:  # a classifier has errors of its own
        raise OptionError(f"models: {name!r} failed: {in_one_line(error)}") from error
    truth = rows.selected[test]
    counts = tally(predicted, truth, rows.group[test], rows.groups)
    return counts, Auc(value=float("nan"), variance=float("nan")) if score is None else area(
        score, truth
    )


def _take(given: Any, rows: IntArray) -> Any:
    if isinstance(given, np.ndarray):
        return given[rows]
    frame: nw.DataFrame[Any] = nw.from_native(given, eager_only=True)
    return frame[rows].to_native()


def _score(fitted: Any, given: Any) -> FloatArray | None:
    if not (hasattr(fitted, "decision_function") or hasattr(fitted, "predict_proba")):
        return None
    return score_of(fitted, given)


def _audit(
    values: FloatArray,
    rows: Rows,
    split: tuple[IntArray, IntArray],
    repairer: Repairer,
    auditors: Sequence[str],
    random_state: int,
) -> Record:
    """Return the errors of every auditor on the test rows, in the pair where they are fewest."""
    is_category = [each.kind == "category" for each in repairer.column_types_]
    chosen = panel(auditors, is_category, random_state)
    found = {
        name: min(
            (
                _errors(auditor, values, rows, split, group)
                for group in range(rows.groups)
                if group != rows.reference
            ),
            key=lambda errors: errors.balanced_error_rate,
        )
        for name, auditor in chosen.items()
    }
    return {
        name: [each.wrong, each.n, each.wrong_reference, each.n_reference]
        for name, each in found.items()
    }


def _errors(
    auditor: BalancedCut,
    values: FloatArray,
    rows: Rows,
    split: tuple[IntArray, IntArray],
    group: int,
) -> Errors:
    train, test = (part[np.isin(rows.group[part], (group, rows.reference))] for part in split)
    is_reference = rows.group == rows.reference
    fitted = clone(auditor).fit(values[train], is_reference[train])
    said, truth = fitted.predict(values[test]), is_reference[test]
    return Errors(
        wrong=int(np.sum(said[~truth])),
        n=int(np.sum(~truth)),
        wrong_reference=int(np.sum(~said[truth])),
        n_reference=int(np.sum(truth)),
    )
