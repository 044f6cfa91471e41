"""German with each single year of age as a stratum: how a utility of 72% becomes 50%.

One age has a single row, so each column is cut into one level, and its consensus is one value for
everyone. `Repairer` refuses strata that small; here the columns are fitted without it, on all rows,
because the test rows of an age may be its only rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._paper.experiments import PAPER_METHODS, TEST_SHARE, Settings, experiments
from fourfifths._paper.panels import Curves, Row
from fourfifths._repair.columns.ordered import Method, fit_ordered
from fourfifths._tables.types import to_numbers
from fourfifths._tradeoff.models import PaperModel
from fourfifths._tradeoff.points import central_interval, confusion_counts, figures

CONFIDENCE = 0.95


def year_rows(_: Curves, settings: Settings) -> list[Row]:
    """Return the SVM's figures on German for each method and amount, over all splits together."""
    data = experiments()["german"].data()
    values = np.column_stack(
        [to_numbers(data.frame[column.name], column) for column in data.column_types]
    )
    ages = np.unique(data.frame["age"].to_numpy(), return_inverse=True)[1]
    splits = data.splits(TEST_SHARE, settings.repeats, 0)
    amounts = [amount for amount in settings.amounts if amount > 0]
    versions: list[tuple[Method, float]] = [("geometric", 0.0)]
    versions += [(method, amount) for method in PAPER_METHODS for amount in amounts]
    rows: list[Row] = []
    for method, amount in versions:
        repaired = values
        if amount:
            repaired = repaired_by_stratum(values, ages, method=method, amount=amount)
        counts = Parallel(n_jobs=settings.n_jobs)(
            delayed(svm_counts)(repaired, data.selected, data.group, split=split)
            for split in splits
        )
        pooled = figures(np.sum(counts, axis=0), data.reference)
        by_split = figures(np.array(counts), data.reference)
        row: Row = {"sweep": "german-years", "repeats": len(splits), "split": "all"}
        row |= {"model": "SVM", "scope": "column" if amount else "none"}
        row |= {"method": method if amount else "none", "amount": amount}
        for name in ("impact_ratio", "utility"):
            low, high = central_interval(by_split[name], CONFIDENCE)
            row |= {name: float(pooled[name]), f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return rows


def repaired_by_stratum(
    values: FloatArray, strata: IntArray, *, method: Method, amount: float
) -> FloatArray:
    """Return every column repaired, with strata of any size.

    Parameters
    ----------
    values : float array, rows x columns
    strata : int array
        The stratum of each row, numbered from 0.
    method : {"combinatorial", "geometric"}
    amount : float

    Examples
    --------
    >>> values, strata = np.array([[1.0], [2.0], [9.0]]), np.array([0, 0, 1])
    >>> repaired_by_stratum(values, strata, method="geometric", amount=0.5).ravel().tolist()
    [3.125, 3.625, 7.125]
    """
    repaired = np.empty_like(values)
    for index, column_values in enumerate(values.T):
        ordered: Sequence[FloatArray] = [
            np.sort(column_values[strata == stratum]) for stratum in range(strata.max() + 1)
        ]
        column = fit_ordered(
            index,
            "number",
            categories=(),
            ordered=ordered,
            level_count=min(stratum_values.size for stratum_values in ordered),
            max_levels=strata.size,
        )
        level = np.empty(strata.size, dtype=np.int64)
        for stratum in range(len(ordered)):
            rows = np.flatnonzero(strata == stratum)
            level[rows] = column.levels_of(column_values[rows], stratum, draws=None)
        repaired[:, index] = column.repaired(
            column_values, level, strata=strata.astype(np.int16), method=method, amount=amount
        )
    return repaired


def svm_counts(
    values: FloatArray,
    selected: BoolArray,
    group: CodeArray,
    *,
    split: tuple[IntArray, IntArray],
) -> IntArray:
    """Return the confusion counts of an SVM, fitted on the training rows, on the test rows."""
    train, test = split
    model = PaperModel("SVM", (False,) * values.shape[1]).fit(values[train], selected[train])
    return confusion_counts(
        model.predict(values[test]), selected[test], group=group[test], group_count=2
    )
