"""The rows of a sweep: their groups, their outcomes, and the columns that are repaired."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from fourfifths._arrays import BoolArray, CodeArray, IntArray
from fourfifths._certify.plan import choose_features
from fourfifths._tables.groups import choose_reference
from fourfifths._tables.load import load_rows
from fourfifths._tables.roles import Roles, assign_roles, outcome_of
from fourfifths._tables.strata import Strata, fit_strata
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths.errors import ColumnError, OptionError, TableError, listed

TRAIN, TEST = "train", "test"
MIN_ROWS_PER_CELL = 3  # of each group and outcome, on each side of a split
Split = float | str | None


@dataclass(frozen=True, kw_only=True)
class Data:
    """The rows that a sweep uses: those with a group, an outcome and a side of the split.

    Attributes
    ----------
    frame : dataframe
        The stratifying columns and the features.
    features : tuple of str
    columns : mapping of str to order or None
        The `columns` argument of the `Repairer`: what to repair, with the order of categories.
    strata : Strata
        The groups of the protected columns.
    group : int array
        The code of each row's group.
    selected : bool array
        Whether each row has the favorable outcome.
    reference : int
        The code of the reference group.
    side : str array or None
        The value of the split column, "train" or "test", if there is such a column.
    roles : Roles
    stratify_by : tuple of str
        The columns that the repair stratifies by; empty for the protected columns.
    name : str
        The name of the table.
    notes : tuple of str
    """

    frame: nw.DataFrame[Any]
    features: tuple[str, ...]
    columns: Mapping[str, Any]
    strata: Strata
    group: CodeArray
    selected: BoolArray
    reference: int
    side: Any
    roles: Roles
    stratify_by: tuple[str, ...]
    name: str
    notes: tuple[str, ...]

    def splits(self, split: Split, repeats: int, random_state: int) -> list[tuple[Any, Any]]:
        """Return the training and test rows of each repeat."""
        if self.side is not None:
            splits = [(np.flatnonzero(self.side == TRAIN), np.flatnonzero(self.side == TEST))]
        else:
            cells = self.group.astype(np.int64) * 2 + self.selected
            self._check_cells(cells)
            draw = StratifiedShuffleSplit(repeats, test_size=split, random_state=random_state)
            splits = list(draw.split(cells, cells))
        for train, test in splits:
            self._check_side(train, "training")
            self._check_side(test, "test")
        return splits

    def sha256(self) -> str:
        """Return a hash of everything about the rows that the figures depend on."""
        digest = hashlib.sha256(repr((self.columns, self.stratify_by, self.roles)).encode())
        for codes in (self.group, self.selected):
            digest.update(np.ascontiguousarray(codes).tobytes())
        for name in self.frame.columns:
            digest.update(repr(self.frame[name].to_list()).encode())
        return digest.hexdigest()

    def _check_cells(self, cells: IntArray) -> None:
        if np.bincount(cells, minlength=2 * len(self.strata.groups)).min() < 2 * MIN_ROWS_PER_CELL:
            raise TableError(
                f"{self.name}: too few rows to split: each group needs at least "
                f"{2 * MIN_ROWS_PER_CELL} rows with the favorable outcome and as many without it"
            )

    def _check_side(self, rows: IntArray, side: str) -> None:
        cells = self.group[rows].astype(np.int64) * 2 + self.selected[rows]
        counts = np.bincount(cells, minlength=2 * len(self.strata.groups))
        if counts.min() < 1:
            raise TableError(
                f"{self.name}: too few rows to split: among the {side} rows, a group has no row "
                "with the favorable outcome, or none without it"
            )


def read_data(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    columns: Sequence[str] | None,
    bands: Mapping[str, Sequence[float]] | None,
    unknown: Any = (),
    stratify_by: Sequence[str],
    split: Split,
) -> Data:
    """Check the roles, and load the rows that have a group, an outcome and a side of the split."""
    opened = open_table(table)
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        bands=bands,
        unknown=unknown,
    )
    side_column = _split_column(opened.columns, opened.dataset, split)
    names = _features(opened, roles, columns, side_column, stratify_by)
    orders = dict(opened.dataset.orders) if opened.dataset else {}
    table_rows = load_rows(table, roles.unknown).with_numbers(names, texts=orders)
    frame, by = table_rows.dataframe, tuple(roles.protected)
    strata, group = fit_strata(table_rows, by, bands=roles.bands, unseen="keep", small="refuse")
    usable, selected, favorable = outcome_of(
        frame[str(roles.outcome)], roles.favorable, roles.unknown
    )
    roles = replace(roles, favorable=favorable)
    usable &= group >= 0
    side = _sides(frame, side_column)
    if side is not None:
        usable &= np.isin(side, (TRAIN, TEST))
    rows = np.flatnonzero(usable)
    return Data(
        frame=frame[rows].select(*dict.fromkeys((*by, *stratify_by)), *names),
        features=names,
        columns={name: orders.get(name) for name in names},
        strata=strata,
        group=group[rows],
        selected=selected[rows],
        reference=_reference(strata, roles, group[rows], selected[rows]),
        side=None if side is None else side[rows],
        roles=roles,
        stratify_by=tuple(stratify_by),
        name=opened.name,
        notes=_notes(usable),
    )


def _features(
    table: Table,
    roles: Roles,
    features: Sequence[str] | None,
    side_column: str | None,
    stratify_by: Sequence[str],
) -> tuple[str, ...]:
    """Return the features, without the columns that split or stratify the rows."""
    for name in stratify_by:
        table.column(name, "stratify_by")
    names, _ = choose_features(table, roles, features)
    return tuple(name for name in names if name not in (side_column, *stratify_by))


def _split_column(columns: Sequence[str], data: Any, split: Split) -> str | None:
    if split is None:
        return data.split if data else None
    if isinstance(split, str):
        if split not in columns:
            raise ColumnError(f"split={split!r}: no such column (columns: {listed(columns)})")
        return split
    if not 0 < split < 1:
        raise OptionError(
            f"split={split!r}: expected the share of test rows, a number between 0 and 1, or the "
            f"name of a column with the values {TRAIN!r} and {TEST!r}"
        )
    return None


def _sides(frame: nw.DataFrame[Any], column: str | None) -> Any:
    if column is None:
        return None
    sides = np.array(frame[column].to_list(), dtype=object)
    for side in (TRAIN, TEST):
        if not np.any(sides == side):
            raise ColumnError(
                f"split={column!r}: no row has the value {side!r}; expected {TRAIN!r} and {TEST!r}"
            )
    return sides


def _reference(strata: Strata, roles: Roles, group: CodeArray, selected: BoolArray) -> int:
    return choose_reference(
        strata.by,
        strata.groups,
        designated=roles.designated,
        rates=np.bincount(group, weights=selected) / np.bincount(group),
        otherwise="highest rate",
    )


def _notes(usable: BoolArray) -> tuple[str, ...]:
    omitted = int(np.sum(~usable))
    if not omitted:
        return ()
    return (f"{omitted:,} rows without a group, an outcome or a side of the split were left out",)
