"""The rows of a sweep: who is in which group, who was selected, and which columns are repaired."""

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
FEWEST = 3  # rows of a group with each outcome, on either side of a split
Split = float | str | None


@dataclass(frozen=True, kw_only=True)
class Data:
    """What a sweep runs on.

    Attributes
    ----------
    frame : dataframe
        The stratifying columns and the features of the rows that are used.
    features : tuple of str
    columns : mapping of str to order or None
        What a `Repairer` is told to repair, and as what.
    strata : Strata
    group : int array
        The stratum of each row.
    selected : bool array
        Whether each row has the favorable outcome.
    reference : int
    side : str array or None
        What the split column says of each row.
    roles : Roles
    stratify_by : tuple of str
        What the repair stratifies by, if not by the protected columns.
    name : str
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
            parts = [(np.flatnonzero(self.side == TRAIN), np.flatnonzero(self.side == TEST))]
        else:
            cells = self.group.astype(np.int64) * 2 + self.selected
            self._check_cells(cells)
            draw = StratifiedShuffleSplit(repeats, test_size=split, random_state=random_state)
            parts = list(draw.split(cells, cells))
        for train, test in parts:
            self._check_side(train, "training")
            self._check_side(test, "test")
        return parts

    def sha256(self) -> str:
        """Return a hash of everything that the figures rest on."""
        digest = hashlib.sha256(repr((self.columns, self.stratify_by, self.roles)).encode())
        for part in (self.group, self.selected):
            digest.update(np.ascontiguousarray(part).tobytes())
        for name in self.frame.columns:
            digest.update(repr(self.frame[name].to_list()).encode())
        return digest.hexdigest()

    def _check_cells(self, cells: IntArray) -> None:
        if np.bincount(cells, minlength=2 * len(self.strata.groups)).min() < 2 * FEWEST:
            raise TableError(
                f"{self.name}: too few rows to split: each group needs at least {2 * FEWEST} rows "
                "with the favorable outcome and as many without"
            )

    def _check_side(self, rows: IntArray, side: str) -> None:
        cells = self.group[rows].astype(np.int64) * 2 + self.selected[rows]
        counts = np.bincount(cells, minlength=2 * len(self.strata.groups))
        if counts.min() < 1:
            raise TableError(
                f"{self.name}: too few rows to split: the {side} rows lack a group with, or "
                "without, the favorable outcome"
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
    unknown: Any,
    stratify_by: Sequence[str],
    split: Split,
) -> Data:
    """Check the roles and load the rows that have a group and an outcome."""
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
    table_rows = load_rows(table, roles.unknown).with_numbers(
        [name for name in names if name not in orders]
    )
    frame, by = table_rows.dataframe, tuple(roles.protected)
    strata, group = fit_strata(table_rows, by, bands=roles.bands, unseen="keep", small="refuse")
    known, selected, favorable = outcome_of(
        frame[str(roles.outcome)], roles.favorable, roles.unknown
    )
    roles = replace(roles, favorable=favorable)
    known &= group >= 0
    side = _sides(frame, side_column)
    if side is not None:
        known &= np.isin(side, (TRAIN, TEST))
    rows = np.flatnonzero(known)
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
        notes=_notes(known),
    )


def _features(
    table: Table,
    roles: Roles,
    features: Sequence[str] | None,
    side_column: str | None,
    stratify_by: Sequence[str],
) -> tuple[str, ...]:
    """Return the features but those that split or stratify."""
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
            f"split={split!r}: expected the share of test rows, between 0 and 1, or a column that "
            f"says {TRAIN!r} or {TEST!r}"
        )
    return None


def _sides(frame: nw.DataFrame[Any], column: str | None) -> Any:
    if column is None:
        return None
    sides = np.array(frame[column].to_list(), dtype=object)
    for side in (TRAIN, TEST):
        if not np.any(sides == side):
            raise ColumnError(f"split={column!r}: no row says {side!r}")
    return sides


def _reference(strata: Strata, roles: Roles, group: CodeArray, selected: BoolArray) -> int:
    return choose_reference(
        strata.by,
        strata.groups,
        designated=roles.designated,
        rates=np.bincount(group, weights=selected) / np.bincount(group),
        otherwise="highest rate",
    )


def _notes(known: BoolArray) -> tuple[str, ...]:
    left = int(np.sum(~known))
    if not left:
        return ()
    return (f"{left:,} rows lack a group, an outcome or a side of the split, and are left out",)
