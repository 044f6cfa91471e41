"""How many rows of a large table have each combination of values of a few columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import IntArray
from fourfifths._tables.load import Rows
from fourfifths._text import listed
from fourfifths.errors import TableError

MAX_CELLS = 2_000_000
MAX_JOINT_CODES = 1_000_000  # of values of several columns; more are numbered anew


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Combinations of values, as the table holds them.

    Attributes
    ----------
    rows : Rows
        One row for each combination.
    row_counts : int array
    """

    rows: Rows
    row_counts: IntArray

    def of(self, names: Sequence[str]) -> Cells:
        """Return the combinations of some of the columns."""
        return counted(self.rows, list(names), self.row_counts)[0]


def counted(
    rows: Rows, names: Sequence[str], row_counts: IntArray | None = None
) -> tuple[Cells, IntArray]:
    """Return the combinations of values that rows have, and which of them each row has.

    They are in the order of their first rows.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        The columns.
    row_counts : int array, optional
        How many rows each row stands for; by default one.
    """
    import pyarrow as pa

    table: Any = rows.dataframe.select(*names).to_native()
    joint, size = np.zeros(table.num_rows, dtype=np.int64), 1
    encoded = [_encoded(column) for column in table.columns]
    for index, values in encoded:
        joint = joint * (len(values) + 1) + index
        size *= len(values) + 1
        if size > MAX_JOINT_CODES:
            codes, joint = np.unique(joint, return_inverse=True)
            size = codes.size
    first_row = np.full(size, -1)
    first_row[joint[::-1]] = np.arange(joint.size)[::-1]  # the first row is written last
    firsts = np.sort(first_row[first_row >= 0])
    cell_of_code = np.zeros(size, dtype=np.int64)
    cell_of_code[joint[firsts]] = np.arange(firsts.size)
    cell_of_row = cell_of_code.take(joint)
    columns = [
        values.take(pa.array(index[firsts] - 1, mask=index[firsts] == 0))
        for index, values in encoded
    ]
    frame: nw.DataFrame[Any] = nw.from_native(pa.table(columns, names=list(names)), eager_only=True)
    counts = np.bincount(cell_of_row, weights=row_counts, minlength=firsts.size)
    cells = Cells(
        rows=replace(rows, frame=frame, first_row=0, value_notes=[], _columns={}, _numbers={}),
        row_counts=counts.astype(np.int64),
    )
    return cells, cell_of_row


def _encoded(column: Any) -> tuple[IntArray, Any]:
    """Return which value of an Arrow column each row has, 0 for a missing one, and the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        encoded = column.unify_dictionaries().combine_chunks()
    else:
        encoded = column.dictionary_encode().combine_chunks()
    index = pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)
    return index + 1, encoded.dictionary


def added(first: Cells, second: Cells, names: Sequence[str]) -> tuple[Cells, IntArray]:
    """Return the combinations of two parts of a table, and which of them each of the second is.

    Those of the first part stay where they are.
    """
    frame = nw.concat([first.rows.dataframe, second.rows.dataframe])
    both = first.rows.with_frame(frame)
    total, index = counted(both, names, np.append(first.row_counts, second.row_counts))
    if total.row_counts.size > MAX_CELLS:
        raise too_many_cells(first.rows.name, names)
    return total, index[first.row_counts.size :]


def too_many_cells(table: str, names: Sequence[str]) -> TableError:
    """Return the error for columns with more combinations of values than are counted."""
    return TableError(
        f"{table}: more than {MAX_CELLS:,} different combinations of {listed(names)}; one of these "
        "columns looks like an identifier"
    )


def positions_among(column: nw.Series[Any], values: nw.Series[Any]) -> IntArray:
    """Return which of the values each cell of a column is; every cell is one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells: Any = column.to_native()
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    native: Any = values.to_native()
    index = pc.index_in(cells, value_set=native.combine_chunks())
    return np.asarray(index.to_numpy(), dtype=np.int64)
