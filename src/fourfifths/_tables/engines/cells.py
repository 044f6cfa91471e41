"""How many rows of a large table have each combination of values of a few columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import IntArray
from fourfifths._tables.load import Rows
from fourfifths.errors import TableError, listed

MAX_CELLS = 2_000_000


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
        return counted(self.rows, list(names), self.row_counts)


def counted(rows: Rows, names: Sequence[str], row_counts: IntArray | None = None) -> Cells:
    """Return the combinations of values that rows have."""
    import pyarrow as pa

    table: Any = rows.dataframe.select(*names).to_native()
    # Under other names: a column may be called as the counts are.
    inner = [f"c{index}" for index in range(len(names))]
    plain = table.rename_columns(inner)
    for index, column in enumerate(plain.columns):
        if pa.types.is_dictionary(column.type):
            plain = plain.set_column(index, inner[index], column.cast(column.type.value_type))
    counted_rows: list[Any] = [([], "count_all")]
    if row_counts is not None:
        plain = plain.append_column("rows", pa.array(row_counts))
        counted_rows = [("rows", "sum")]
    cells = plain.group_by(inner, use_threads=False).aggregate(counted_rows)
    frame: nw.DataFrame[Any] = nw.from_native(
        cells.select(inner).rename_columns(list(names)), eager_only=True
    )
    return Cells(
        rows=replace(rows, frame=frame, first_row=0, value_notes=[], _columns={}),
        row_counts=cells.column("count_all" if row_counts is None else "rows_sum").to_numpy(),
    )


def count_cells(chunks: Iterable[Rows], names: Sequence[str]) -> Cells:
    """Count the combinations of values of these columns, in one pass over the chunks."""
    total: Cells | None = None
    for rows in chunks:
        cells = counted(rows, names)
        total = cells if total is None else added(total, cells, names)
    assert total is not None
    return total


def added(first: Cells, second: Cells, names: Sequence[str]) -> Cells:
    """Return the combinations of two parts of a table."""
    frame = nw.concat([first.rows.dataframe, second.rows.dataframe])
    both = first.rows.with_frame(frame)
    total = counted(both, names, np.append(first.row_counts, second.row_counts))
    if total.row_counts.size > MAX_CELLS:
        raise too_many_cells(first.rows.name, names)
    return total


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
