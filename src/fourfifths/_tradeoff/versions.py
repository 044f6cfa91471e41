"""One repaired version of the data: what the models and the auditors do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import narwhals as nw
import numpy as np
from sklearn.base import clone

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._certify.auditors import panel, quiet, score_of
from fourfifths._repair.columns.ordered import Method
from fourfifths._repair.repairer import Repairer
from fourfifths._stats.balanced_error import Errors
from fourfifths._tables.files import in_one_line
from fourfifths._tables.load import rows_of
from fourfifths._tables.types import ColumnType, to_numbers
from fourfifths._tradeoff.models import ModelName, PaperModel
from fourfifths._tradeoff.points import Auc, confusion_counts, delong_auc
from fourfifths._tradeoff.store import Record
from fourfifths.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of the data: which split, and how it is repaired."""

    repeat: int
    scope: str
    method: Method
    amount: float

    @property
    def key(self) -> tuple[int, str, str, float]:
        """What identifies it. Without repair, method and scope make no difference."""
        if self.amount == 0:
            return self.repeat, "none", "none", 0.0
        return self.repeat, self.scope, self.method, self.amount


@dataclass(frozen=True, kw_only=True)
class SweepRows:
    """What all versions share: the rows before repair, their groups and their outcomes.

    Attributes
    ----------
    frame : dataframe
        The user's kind of dataframe, with the stratifying columns and the features.
    group : int array
        The code of each row's group.
    selected : bool array
        Whether each row has the favorable outcome.
    reference : int
        The code of the reference group.
    groups : int
        How many groups there are.
    column_types : tuple of ColumnType
        Of the features.
    """

    frame: Any
    group: CodeArray
    selected: BoolArray
    reference: int
    groups: int
    column_types: tuple[ColumnType, ...]


def run_version(
    version: Version,
    repairer: Repairer | None,
    *,
    rows: SweepRows,
    split: tuple[IntArray, IntArray],
    models: Mapping[str, Any],
    auditors: Sequence[str],
    random_state: int,
) -> list[Record]:
    """Repair the rows, fit every model and auditor on the training rows, count on the test rows.

    Parameters
    ----------
    version : Version
    repairer : Repairer or None
        Fitted on the training rows, with the version's scope. None for unrepaired data.
    rows : SweepRows
    split : tuple of int arrays
        The training rows and the test rows.
    models : mapping of str to classifier
        Not fitted. The paper's models get a matrix, any other a dataframe of the features.
    auditors : sequence of str
    random_state : int

    Returns
    -------
    list of Record
        One for each model.
    """
    train, test = split
    raw: nw.DataFrame[Any] = nw.from_native(rows.frame, eager_only=True)
    frame = raw
    proven_floor = float("nan")
    if repairer is not None:
        repaired = repaired_frame(version, repairer, rows=rows)
        frame = nw.from_native(repaired, eager_only=True)
        # A proof is about the strata; without a column to stratify by, these are the groups.
        if version.amount == 1 and repairer.proof_ is not None and repairer.stratify_by is None:
            proven_floor = repairer.proof_.impact_floor
    # The features as numbers, categories by their codes.
    values, raw_values = (
        np.column_stack([to_numbers(table[column.name], column) for column in rows.column_types])
        for table in (frame, raw)
    )
    # NaN differs from itself, but what was missing and still is was not changed.
    differs = (values != raw_values) & ~(np.isnan(values) & np.isnan(raw_values))
    repeat, scope, method, amount = version.key
    best_errors = auditor_errors(
        values,
        rows,
        split=split,
        is_category=[column.kind == "category" for column in rows.column_types],
        auditors=auditors,
        random_state=random_state,
    )
    features = frame.select(*(column.name for column in rows.column_types))
    truth = rows.selected[test]
    records: list[Record] = []
    for name, model in models.items():
        train_features: Any = values[train]
        test_features: Any = values[test]
        if not isinstance(model, PaperModel):
            train_features, test_features = features[train].to_native(), features[test].to_native()
        score = None
        try:
            with quiet():
                fitted = clone(model).fit(train_features, rows.selected[train])
                predicted = np.asarray(fitted.predict(test_features), dtype=bool)
                if hasattr(fitted, "decision_function") or hasattr(fitted, "predict_proba"):
                    score = score_of(fitted, test_features)
        except Exception as error:  # the user's classifier may raise anything
            raise OptionError(f"models: {name!r} failed: {in_one_line(error)}") from error
        # A rule that only says yes or no has no score, and so no ROC curve.
        no_auc = Auc(value=float("nan"), variance=float("nan"))
        auc = no_auc if score is None else delong_auc(score, truth)
        counts = confusion_counts(predicted, truth, group=rows.group[test], group_count=rows.groups)
        records.append(
            Record(
                repeat=repeat,
                scope=scope,
                method=method,
                amount=amount,
                rows=int(test.size),
                changed=int(np.any(differs[test], axis=1).sum()),
                auditor=best_errors,
                model=name,
                counts=counts.tolist(),
                auc=[auc.value, auc.variance],
                proven_floor=proven_floor,
            )
        )
    return records


def repaired_frame(version: Version, repairer: Repairer, *, rows: SweepRows) -> Any:
    """Return the user's kind of dataframe, repaired as the version says."""
    table = rows_of(rows.frame)
    codes = repairer.strata_.codes_of(table, unseen=repairer.unseen)
    output = repairer.fitted_.transform(
        table,
        codes,
        method=version.method,
        amount=version.amount,
        unseen=repairer.unseen,
    )
    return output.native()


def chosen_auditors(
    auditors: Sequence[str], is_category: Sequence[bool], *, random_state: int
) -> dict[str, Any]:
    """Return the auditors by name: those of `certify`, and the paper's models as auditors.

    The paper's models cut their score where they are fitted to; those of `certify` where the
    balanced error rate is lowest on held-out training rows.
    """
    paper_names: tuple[ModelName, ...] = get_args(ModelName)
    certify_names = [name for name in auditors if name not in paper_names]
    members: dict[str, Any] = (
        panel(certify_names, is_category, random_state=random_state)
        if certify_names or not auditors
        else {}
    )
    for name in paper_names:
        members[name] = PaperModel(name, tuple(is_category), random_state=random_state)
    return {name: members[name] for name in auditors}


def auditor_errors(
    values: FloatArray,
    rows: SweepRows,
    *,
    split: tuple[IntArray, IntArray],
    is_category: Sequence[bool],
    auditors: Sequence[str],
    random_state: int,
) -> dict[str, list[int]]:
    """Return each auditor's errors on the test rows, for the group that it predicts best.

    An auditor is fitted once for each group, to tell that group from the reference.
    """
    is_reference = rows.group == rows.reference
    errors: dict[str, list[int]] = {}
    fitters = chosen_auditors(auditors, is_category, random_state=random_state)
    for name, auditor in fitters.items():
        pairs: list[Errors] = []
        for group in range(rows.groups):
            if group == rows.reference:
                continue
            train, test = (
                side[np.isin(rows.group[side], (group, rows.reference))] for side in split
            )
            fitted = clone(auditor).fit(values[train], is_reference[train])
            predicted, truth = fitted.predict(values[test]), is_reference[test]
            pairs.append(
                Errors(
                    wrong=int(np.sum(predicted[~truth])),
                    n=int(np.sum(~truth)),
                    wrong_reference=int(np.sum(~predicted[truth])),
                    n_reference=int(np.sum(truth)),
                )
            )
        best = min(pairs, key=lambda pair: pair.balanced_error_rate)
        errors[name] = [best.wrong, best.n, best.wrong_reference, best.n_reference]
    return errors
