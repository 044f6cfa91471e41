"""Draws of rows that are as random as a generator's, for tests of what is done with them."""

from __future__ import annotations

import numpy as np

from fourfifths._repair.columns.cells import CellDraws
from fourfifths._repair.draws import RowDraws


def row_draws(row_count: int, seed: int = 0, *, is_keyed: bool = False) -> RowDraws:
    """Return draws of rows of which no two are alike."""
    words = np.random.default_rng(seed).integers(0, 2**64, row_count, dtype=np.uint64)
    return RowDraws(rows=words, content=words, is_keyed=is_keyed)


def cell_draws(
    row_count: int, seed: int = 0, *, index: int = 0, is_keyed: bool = False
) -> CellDraws:
    """Return the draws of such rows for a column."""
    rows = row_draws(row_count, seed, is_keyed=is_keyed)
    return CellDraws(rows=rows, purpose="column", index=index)
