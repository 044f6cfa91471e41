"""Rows repaired by a repair that was not fitted to them.

Rows that a repair was fitted to look better hidden than new ones. So what auditors find is measured
on folds: each is repaired by a fit to the others, every row is used, and no row is repaired by a
fit that has seen it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import IntArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.load import rows_of
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import ColumnError, GroupError, OutcomeError, ReadingWarning

FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Some rows, and a repairer that was fitted to all others.

    Attributes
    ----------
    repairer : Repairer
    positions : int array
        The places of the rows in the table.
    held_out : dataframe
        The rows, in the table's own library.
    """

    repairer: Repairer
    positions: IntArray
    held_out: Any


def fitted_folds(frame: nw.DataFrame[Any], repairer: Repairer, *, random_state: int) -> list[Fold]:
    """Return each fold of the rows with a repairer that was fitted to the other folds.

    Parameters
    ----------
    frame : dataframe
        With the columns that the repairer needs, and the outcome that it keeps.
    repairer : Repairer
        Fitted to all rows.
    random_state : int
    """
    rows = rows_of(frame.to_native(), unknown_tokens(repairer.unknown))
    codes = repairer.strata_.codes_of(rows, unseen=repairer.unseen)
    sizes = np.bincount(codes[codes >= 0])
    if sizes.min() < FOLDS:
        raise GroupError(
            f"too few rows to hold a fifth out: a stratum has {sizes.min()}, and {FOLDS} are needed"
        )
    # A fold may lack a rare category, so every fit is told the categories of all rows, and it makes
    # as many blocks as the fit to all rows.
    fixed: dict[str, Any] = {
        "columns": {column.name: column for column in repairer.column_types_},
        "amount": repairer.amount,
    }
    if isinstance(repairer.model_, BlockModel):
        fixed["blocks"] = repairer.model_.blocks.tree.block_count
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    try:
        with warnings.catch_warnings():
            # The fit to all rows warned of what was assumed about values.
            warnings.simplefilter("ignore", ReadingWarning)
            return [
                Fold(
                    repairer=clone(repairer).set_params(**fixed).fit(frame[train].to_native()),
                    positions=test,
                    held_out=frame[test].to_native(),
                )
                # Rows without a stratum may be in any fold.
                for train, test in split.split(codes, np.maximum(codes, 0))
            ]
    except (ColumnError, GroupError, OutcomeError) as error:
        # The fit to all rows had no error, so it is for the rows that are held out.
        raise GroupError(f"too few rows to hold a fifth out: {error}") from error


def repaired_folds(folds: list[Fold], *, amount: float) -> nw.DataFrame[Any]:
    """Return all rows, each repaired by the fit to the other folds, in the order of the table."""
    repaired = [
        nw.from_native(
            fold.repairer.set_params(amount=amount).transform(fold.held_out), eager_only=True
        )
        for fold in folds
    ]
    positions = np.concatenate([fold.positions for fold in folds])
    together: nw.DataFrame[Any] = nw.concat(repaired, how="vertical")
    return together[np.argsort(positions)]
