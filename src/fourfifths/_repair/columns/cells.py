"""Where the rows of a cell go: equal values of a stratum share their positions by draw.

A cell is a stratum and a value, and its rows share the positions from `low` up to `high`. A row
with a key goes where its own draw says, so its place is a function of the row alone. Rows without a
key are spread evenly over their cell, in the order of their draws: even a few rows then take each
level in its share. A row that is alone in its cell goes where its draw says either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.columns.kernel_choice import kernels_for
from fourfifths._repair.draws import Purpose, RowDraws

DRAWS_PER_UNIT = 2.0**53  # a draw is a whole number of these parts


@dataclass(frozen=True, kw_only=True)
class CellDraws:
    """The draws of rows for one purpose, which place them in their cells.

    Attributes
    ----------
    rows : RowDraws
    purpose : str
    index : int
        Tells draws of one purpose apart.
    """

    rows: RowDraws
    purpose: Purpose
    index: int = 0

    def take(self, positions: IntArray | slice) -> CellDraws:
        """Return the draws of some of the rows."""
        return CellDraws(rows=self.rows.take(positions), purpose=self.purpose, index=self.index)

    def uniforms(self, cells: IntArray) -> FloatArray:
        """Return a number in [0, 1) for each row.

        Without keys, in a cell of k rows each of the k equal parts of [0, 1) gets one row.

        Parameters
        ----------
        cells : int array
            The cell of each row, numbered from 0.
        """
        if not cells.size:
            return np.empty(0)
        cell_count = int(cells.max()) + 1
        return self.positions(cells, np.zeros(cell_count), high=np.ones(cell_count))

    def positions(self, cells: IntArray, low: NDArray[Any], *, high: NDArray[Any]) -> FloatArray:
        """Return a position for each row, between the limits of its cell.

        The upper limit is never reached, however a position is rounded.

        Parameters
        ----------
        cells : int array
            The cell of each row, numbered from 0.
        low, high : array
            The limits of each cell.
        """
        uniforms = self.rows.uniforms(self.purpose, self.index)
        low = low.astype(np.float64)
        last: FloatArray = np.nextafter(high, low)
        if self.rows.is_keyed:
            spans: FloatArray = (high - low).take(cells)
            positions: FloatArray = np.minimum(uniforms * spans + low.take(cells), last.take(cells))
            return positions
        counts = np.bincount(cells, minlength=low.size)
        return kernels_for(cells.size).even_positions(
            row_order(uniforms),
            cells,
            uniforms=uniforms,
            counts=counts,
            step=(high - low) / np.maximum(counts, 1),
            low=low,
            last=last,
        )


def row_order(uniforms: FloatArray) -> IntArray:
    """Return the rows in the order of 16 bits of their draws, which numpy sorts in two passes.

    These are the last bits. The first ones say how large the draw is, which places the first row of
    a cell: so where a cell begins does not depend on who is first. Rows with the same 16 bits keep
    their order, which decides for one row in 65,536 whether it comes before or after another.

    Examples
    --------
    >>> row_order(np.array([0.5, 3 * 2.0**-53, 0.25 + 2.0**-53]))
    array([0, 2, 1])
    """
    last_bits = (uniforms * DRAWS_PER_UNIT).astype(np.int64).astype(np.uint16)
    return np.argsort(last_bits, kind="stable")
