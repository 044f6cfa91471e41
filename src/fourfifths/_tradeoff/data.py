"""The rows of a sweep: their groups, their outcomes, and the columns that are repaired."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from fourfifths._arrays import BoolArray, CodeArray
from fourfifths._certify.plan import choose_features
from fourfifths._tables.groups import (
    Roles,
    assign_roles,
    check_tokens,
    choose_reference,
    is_share,
    outcome_of,
)
from fourfifths._tables.load import load_rows, rows_of
from fourfifths._tables.strata import Strata, fit_strata
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._tables.types import ColumnType, check_finite
from fourfifths._tables.values import Reading
from fourfifths._text import categories_note, listed, nearest
from fourfifths.errors import ColumnError, OptionError, TableError

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
    column_types : tuple of ColumnType
        What each feature is repaired as. From all rows: the training rows of a split may lack a
        category that its test rows have.
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
    reading : Reading
    """

    frame: nw.DataFrame[Any]
    features: tuple[str, ...]
    column_types: tuple[ColumnType, ...]
    strata: Strata
    group: CodeArray
    selected: BoolArray
    reference: int
    side: Any
    roles: Roles
    stratify_by: tuple[str, ...]
    name: str
    notes: tuple[str, ...]
    reading: Reading

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
        digest = hashlib.sha256(repr((self.column_types, self.stratify_by, self.roles)).encode())
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
    ages: Mapping[str, date | str] | None = None,
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
        ages=ages,
        unknown=unknown,
    )
    side_column = split_column(opened, split)
    for name in stratify_by:
        opened.column(name, "stratify_by")
    names, _ = choose_features(opened, roles, columns)
    features = tuple(name for name in names if name not in (side_column, *stratify_by))

    orders = dict(opened.dataset.orders) if opened.dataset else {}
    loaded = load_rows(table, roles.unknown)
    check_tokens(loaded.dataframe, roles.unknown)
    table_rows = loaded.with_numbers(features, texts=orders)
    frame, by = table_rows.dataframe, tuple(roles.protected)
    notes = list(opened.notes)
    if columns is None:
        may_be_repaired = table_rows.repairable(set(frame.columns) - set(features))
        unnamed = [name for name in features if name not in may_be_repaired]
        features = tuple(name for name in features if name in may_be_repaired)
        if unnamed:
            notes.append(
                f"left out because not named: {listed(unnamed)} (identifiers, dates, and columns "
                "called like a protected attribute)"
            )
    strata, group = fit_strata(
        table_rows,
        by,
        bands=roles.bands,
        unseen="keep",
        small="refuse",
        outcomes=() if roles.outcome is None else (roles.outcome,),
    )
    usable, selected, favorable = outcome_of(
        frame[str(roles.outcome)],
        roles.favorable,
        roles.unknown,
        opened.reading,
        table_rows.value_notes,
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
    if omitted:
        notes.append(
            f"{omitted:,} rows without a group, an outcome or a side of the split were left out"
        )
    kept_frame = frame[rows].select(*dict.fromkeys((*by, *stratify_by)), *features)
    kept_rows = rows_of(kept_frame.to_native(), roles.unknown, opened.reading)
    asked = {name: orders.get(name) for name in features}
    column_types = kept_rows.types(asked)
    for column_type, values in zip(column_types, kept_rows.numbers(column_types), strict=True):
        check_finite(values, column_type)
    notes += [
        categories_note(name, "is repaired")
        for name in kept_rows.mixed_columns(column_types, asked)
    ]

    return Data(
        frame=kept_frame,
        features=features,
        column_types=column_types,
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
        notes=(*dict.fromkeys(table_rows.value_notes), *notes),
        reading=opened.reading,
    )


def split_column(table: Table, split: Split) -> str | None:
    """Return the column that says which side of the split a row is on; None for a share."""
    if split is None:
        return table.dataset.split if table.dataset else None
    if isinstance(split, str):
        if split not in table.columns:
            raise ColumnError(
                f"split={split!r}: no such column{nearest(split, table.columns)} (columns: "
                f"{listed(table.columns)})"
            )
        return split
    if not is_share(split, "(0, 1)"):
        raise OptionError(
            f"split={split!r}: expected the share of test rows, a number between 0 and 1, or the "
            f"name of a column with the values {TRAIN!r} and {TEST!r}"
        )
    return None
