"""The rows of a sweep: their groups, their outcomes, and the columns that are repaired."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from fourfifths._arrays import BoolArray, CodeArray
from fourfifths._certify.plan import choose_features
from fourfifths._tables.groups import choose_reference
from fourfifths._tables.load import load_rows
from fourfifths._tables.roles import Roles, assign_roles, outcome_of
from fourfifths._tables.strata import Strata, fit_strata
from fourfifths._tables.table import TableLike, open_table
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
        # Rows are split within each group and outcome, so that both sides have all of them.
        cells = self.group.astype(np.int64) * 2 + self.selected
        cell_count = 2 * len(self.strata.groups)
        if self.side is not None:
            splits = [(np.flatnonzero(self.side == TRAIN), np.flatnonzero(self.side == TEST))]
        else:
            if np.bincount(cells, minlength=cell_count).min() < 2 * MIN_ROWS_PER_CELL:
                raise TableError(
                    f"{self.name}: too few rows to split: each group needs at least "
                    f"{2 * MIN_ROWS_PER_CELL} rows with the favorable outcome and as many without "
                    "it"
                )
            draw = StratifiedShuffleSplit(repeats, test_size=split, random_state=random_state)
            splits = list(draw.split(cells, cells))
        for train, test in splits:
            for side, rows in (("training", train), ("test", test)):
                if np.bincount(cells[rows], minlength=cell_count).min() < 1:
                    raise TableError(
                        f"{self.name}: too few rows to split: among the {side} rows, a group has "
                        "no row with the favorable outcome, or none without it"
                    )
        return splits

    def sha256(self) -> str:
        """Return a hash of everything about the rows that the figures depend on."""
        digest = hashlib.sha256(repr((self.columns, self.stratify_by, self.roles)).encode())
        for codes in (self.group, self.selected):
            digest.update(np.ascontiguousarray(codes).tobytes())
        for name in self.frame.columns:
            # As Python values, so that the hash does not depend on the kind of dataframe.
            digest.update(repr(self.frame[name].to_list()).encode())
        return digest.hexdigest()


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
    side_column = None
    if split is None:
        side_column = opened.dataset.split if opened.dataset else None
    elif isinstance(split, str):
        if split not in opened.columns:
            raise ColumnError(
                f"split={split!r}: no such column (columns: {listed(opened.columns)})"
            )
        side_column = split
    elif not 0 < split < 1:
        raise OptionError(
            f"split={split!r}: expected the share of test rows, a number between 0 and 1, or the "
            f"name of a column with the values {TRAIN!r} and {TEST!r}"
        )
    for name in stratify_by:
        opened.column(name, "stratify_by")
    names, _ = choose_features(opened, roles, columns)
    features = tuple(name for name in names if name not in (side_column, *stratify_by))

    orders = dict(opened.dataset.orders) if opened.dataset else {}
    table_rows = load_rows(table, roles.unknown).with_numbers(features, texts=orders)
    frame, by = table_rows.dataframe, tuple(roles.protected)
    strata, group = fit_strata(table_rows, by, bands=roles.bands, unseen="keep", small="refuse")
    usable, selected, favorable = outcome_of(
        frame[str(roles.outcome)], roles.favorable, roles.unknown
    )
    usable &= group >= 0
    side = None
    if side_column is not None:
        side = np.array(frame[side_column].to_list(), dtype=object)
        for value in (TRAIN, TEST):
            if not np.any(side == value):
                raise ColumnError(
                    f"split={side_column!r}: no row has the value {value!r}; expected {TRAIN!r} "
                    f"and {TEST!r}"
                )
        usable &= np.isin(side, (TRAIN, TEST))
    rows = np.flatnonzero(usable)
    group, selected = group[rows], selected[rows]
    omitted = usable.size - rows.size
    note = f"{omitted:,} rows without a group, an outcome or a side of the split were left out"

    return Data(
        frame=frame[rows].select(*dict.fromkeys((*by, *stratify_by)), *features),
        features=features,
        columns={name: orders.get(name) for name in features},
        strata=strata,
        group=group,
        selected=selected,
        reference=choose_reference(
            strata.by,
            strata.groups,
            designated=roles.designated,
            rates=np.bincount(group, weights=selected) / np.bincount(group),
            otherwise="highest rate",
        ),
        side=None if side is None else side[rows],
        roles=replace(roles, favorable=favorable),
        stratify_by=tuple(stratify_by),
        name=opened.name,
        notes=(note,) if omitted else (),
    )
