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

from fourfifths._arrays import CodeArray, IntArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.plain_repairer import PlainRepairer
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.load import rows_of
from fourfifths._tables.sample import row_generator
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import ColumnError, GroupError, OutcomeError, ReadingWarning

FOLDS = 5
# Auditors see a sample of a table with many rows. It makes the BER uncertain by .005 at most.
MAX_AUDITED_ROWS = 40_000
MIN_SAMPLED_ROWS_PER_STRATUM = 1_000


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


def fitted_folds(
    frame: nw.DataFrame[Any], repairer: PlainRepairer, *, random_state: int
) -> list[Fold]:
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
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    return [
        _fitted_to(frame, repairer, train, held_out=test)
        # Rows without a stratum may be in any fold.
        for train, test in split.split(codes, np.maximum(codes, 0))
    ]


def audited_rows(codes: CodeArray, *, random_state: int) -> IntArray | None:
    """Return the positions of a sample of the rows, in order; None if all rows are to be audited.

    A sample is drawn if it leaves four fifths of every stratum to fit a repair to. Each stratum has
    its share of it, and at least `MIN_SAMPLED_ROWS_PER_STRATUM` rows, as far as it has that many.

    Parameters
    ----------
    codes : int array
        The stratum of each row; -1 for rows without one, which are not sampled.
    random_state : int
    """
    if codes.size < FOLDS * MAX_AUDITED_ROWS:
        return None
    random = row_generator(random_state, "held-out rows")
    sampled = []
    for code in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == code)
        quota = max(round(MAX_AUDITED_ROWS * rows.size / codes.size), MIN_SAMPLED_ROWS_PER_STRATUM)
        sampled.append(random.permutation(rows)[: min(quota, rows.size // FOLDS)])
    return np.sort(np.concatenate(sampled))


def repaired_sample(
    frame: nw.DataFrame[Any], repairer: PlainRepairer, positions: IntArray
) -> nw.DataFrame[Any]:
    """Return some rows, repaired by a fit to all others.

    Parameters
    ----------
    frame, repairer
        As for `fitted_folds`.
    positions : int array
        The rows that are held out.
    """
    fit_positions = np.setdiff1d(np.arange(len(frame)), positions, assume_unique=True)
    fold = _fitted_to(frame, repairer, fit_positions, held_out=positions)
    return repaired_folds([fold], amount=repairer.amount)


def _fitted_to(
    frame: nw.DataFrame[Any], repairer: PlainRepairer, train: IntArray, *, held_out: IntArray
) -> Fold:
    """Return rows that are held out, with a repairer that was fitted to others.

    A fold may lack a rare category, so the fit gets the categories of all rows, and it makes as
    many blocks as the fit to all rows.
    """
    fixed: dict[str, Any] = {
        "columns": {column.name: column for column in repairer.column_types_},
        "amount": repairer.amount,
    }
    if isinstance(repairer.model_, BlockModel):
        fixed["blocks"] = repairer.model_.blocks.tree.block_count
    try:
        with warnings.catch_warnings():
            # The fit to all rows warned of what was assumed about values.
            warnings.simplefilter("ignore", ReadingWarning)
            if not isinstance(repairer, Repairer):
                repairer = Repairer(**repairer.get_params(deep=False))
            unfitted = clone(repairer)
            fitted = unfitted.set_params(**fixed).fit(frame[train].to_native())
    except (ColumnError, GroupError, OutcomeError) as error:
        # The fit to all rows had no error, so it is for the rows that are held out.
        raise GroupError(f"too few rows to hold a fifth out: {error}") from error
    return Fold(repairer=fitted, positions=held_out, held_out=frame[held_out].to_native())


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
