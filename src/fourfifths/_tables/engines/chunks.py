"""The rows of a file in chunks, so that no more than a few chunks are in memory at a time.

A chunk is `Rows`, like a whole table; only the number of its first row says that it is a part. A
file that changes while it is read is an error: its rows would be numbered differently in each pass.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import narwhals as nw

from fourfifths._tables.engines.number_files import NumberFiles
from fourfifths._tables.engines.parquet import parquet_schema_table, parquet_tables
from fourfifths._tables.files import ROWS_PER_GROUP, TableFile, write_chunks
from fourfifths._tables.load import Rows
from fourfifths._tables.table import Table, Value, no_rows, plain_columns, plain_relation
from fourfifths._tables.values import ROWS_PER_PIECE, Reading
from fourfifths.errors import TableError

# A repair by column cuts a table into stretches of this many rows, so a chunk has a multiple of it.
ROWS_PER_STRETCH = 131_072
BYTES_PER_CHUNK = 100_000_000
BYTES_PER_CSV_CELL = 32
# How many bytes a row takes in memory while it is repaired, for each byte that its values take.
MEMORY_PER_BYTE = 8
BYTES_PER_NUMBER = 8
# The numbers of glibc's options, as in its malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MAX_KEPT_BYTES = 256_000_000
CSV_EXPANSION = 3  # text in memory, and packed files


@dataclass(frozen=True, kw_only=True)
class ChunkedTable:
    """A CSV or Parquet file, or several Parquet files, whose rows are read in chunks.

    Attributes
    ----------
    table : Table
        It has a file.
    unknown : tuple
        Values that mean missing.
    reading : Reading
    rows_per_chunk : int, optional
        By default as many as take about `BYTES_PER_CHUNK`, and at most a row group that is written.
    """

    table: Table
    unknown: tuple[Value, ...] = ()
    reading: Reading = field(default_factory=Reading)
    rows_per_chunk: int | None = None

    @cached_property
    def numbers(self) -> NumberFiles:
        """Columns whose numbers were read from their texts in an earlier pass."""
        return NumberFiles()

    @cached_property
    def chunk_rows(self) -> int:
        """How many rows a chunk has."""
        if self.rows_per_chunk is not None:
            return self.rows_per_chunk
        cell_bytes = BYTES_PER_NUMBER if self.file.kind == "parquet" else BYTES_PER_CSV_CELL
        row_bytes = cell_bytes * len(self.file.relation.columns)
        chunk_rows = ROWS_PER_GROUP
        while chunk_rows > ROWS_PER_STRETCH and chunk_rows * row_bytes > BYTES_PER_CHUNK:
            chunk_rows //= 2
        return chunk_rows

    @property
    def file(self) -> TableFile:
        """The file, or files."""
        assert self.table.file is not None
        return self.table.file

    @cached_property
    def about_rows(self) -> int:
        """About how many rows there are; for a CSV, estimated from the length of its first rows."""
        if self.file.kind == "parquet":
            return int(self.file.relation.aggregate("count(*)").fetchall()[0][0])
        size = sum(path.stat().st_size for path in self.file.paths)
        import duckdb

        try:
            first_rows: Any = self.file.relation.limit(1000).to_arrow_table()
        except duckdb.Error as error:
            raise self.file.error(error, self.table.name) from error
        bytes_per_row = max(first_rows.nbytes // max(first_rows.num_rows, 1), 1)
        return int(size * (CSV_EXPANSION if self.file.is_packed else 1) // bytes_per_row)

    @cached_property
    def _state(self) -> tuple[tuple[int, int], ...]:
        return tuple(_state_of(path) for path in self.file.paths)

    def check_unchanged(self) -> None:
        """Raise if the files are not what they were when they were first looked at."""
        if tuple(_state_of(path) for path in self.file.paths) != self._state:
            raise self.changed()

    def changed(self) -> TableError:
        """Return the error for a file that is not the same in each pass."""
        return TableError(
            f"{self.table.name}: the file was changed while it was read; try again when nobody "
            "writes to it"
        )

    @cached_property
    def empty(self) -> Rows:
        """No rows, with the columns and their types."""
        is_parquet = self.file.kind == "parquet"
        first = None if is_parquet else next(self._tables(None, ()), None)
        # How many rows a CSV has is an estimate.
        if not self.about_rows or (first is None and not is_parquet):
            raise no_rows(self.table.name)
        if first is None:
            return self._rows(parquet_schema_table(self.file, self.table.name), 0)
        return self._rows(first.slice(0, 0), 0)

    def chunks(
        self, names: Sequence[str] | None = None, *, coded: Collection[str] = ()
    ) -> Iterator[Rows]:
        """Yield all rows, in their order, with these columns; by default with all.

        Every chunk but the last has `chunk_rows` rows. Texts in the columns `coded` may come as
        codes of a dictionary: where a Parquet file stores them so, they take far less time to read.
        """
        self._state  # noqa: B018 - it is taken before the first row is read
        first_row = 0
        for parts in chunks_of(self._tables(names, coded), self.chunk_rows):
            # The texts of a CSV stay in the parts that they came in: each is looked at once.
            table = parts.combine_chunks() if self.file.kind == "parquet" else parts
            rows, end = self._rows(table, first_row), first_row + table.num_rows
            known = {
                name: self.numbers.read(name, first_row, row_count=table.num_rows)
                for name in self.numbers.held(end)
                if name in rows.columns
            }
            yield rows.with_known_numbers(known)
            first_row = end
        self.check_unchanged()

    def take(self, row_numbers: Any, names: Sequence[str] | None = None) -> Rows:
        """Return some rows, in their order; the numbers increase."""
        import numpy as np
        import pyarrow as pa

        taken, start = [], 0
        for chunk in self.chunks(names):
            end = chunk.first_row + len(chunk)
            stop = int(np.searchsorted(row_numbers, end))
            native: Any = chunk.dataframe.to_native()
            taken.append(native.take(row_numbers[start:stop] - chunk.first_row))
            start = stop
        return self._rows(pa.concat_tables(taken).combine_chunks(), 0)

    def _rows(self, table: Any, first_row: int) -> Rows:
        frame: nw.DataFrame[Any] = nw.from_native(plain_columns(table), eager_only=True)
        return Rows(
            frame=frame,
            name=self.table.name,
            unknown=self.unknown,
            notes=self.table.notes,
            style=self.file.style,
            reading=self.reading,
            first_row=first_row,
        )

    def _tables(self, names: Sequence[str] | None, coded: Collection[str]) -> Iterator[Any]:
        if self.file.kind == "parquet":
            return parquet_tables(self.file, self.table.name, names, coded=coded)
        return csv_tables(self.file, self.table.name, names, batch_rows=self.chunk_rows)

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory it would take to repair the table in memory."""
        if self.file.kind == "parquet":
            columns = len(self.file.relation.columns)
            return self.about_rows * columns * BYTES_PER_NUMBER * MEMORY_PER_BYTE
        size = sum(path.stat().st_size for path in self.file.paths)
        return size * CSV_EXPANSION * (CSV_EXPANSION if self.file.is_packed else 1)


def _state_of(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    return state.st_size, state.st_mtime_ns


def chunks_of(tables: Iterable[Any], row_count: int) -> Iterator[Any]:
    """Yield the rows of Arrow tables in tables of equal size; the last may have fewer rows.

    Their columns are in the parts that they came in.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parts = [pa.table({"a": [1, 2, 3]}), pa.table({"a": []}), pa.table({"a": [4.0]})][:1]
    >>> [chunk.num_rows for chunk in chunks_of(parts, 2)]
    [2, 1]
    """
    import pyarrow as pa

    waiting: list[Any] = []
    waiting_rows = 0
    for table in tables:
        start = 0
        while waiting_rows + table.num_rows - start >= row_count:
            end = start + row_count - waiting_rows
            waiting.append(table.slice(start, end - start))
            yield pa.concat_tables(waiting)
            waiting, waiting_rows, start = [], 0, end
        rest = table.slice(start)
        if rest.num_rows:
            waiting.append(rest)
            waiting_rows += rest.num_rows
    if waiting:
        yield pa.concat_tables(waiting)


def csv_tables(
    file: TableFile, name: str, names: Sequence[str] | None, *, batch_rows: int
) -> Iterator[Any]:
    """Yield the rows of a CSV file in parts, as Arrow tables of texts."""
    import duckdb
    import pyarrow as pa

    relation = plain_relation(file.relation)
    if names is not None:
        relation = relation.select(*(duckdb.ColumnExpression(column) for column in names))
    try:
        # In parts that stay in the processor's cache.
        for batch in relation.to_arrow_reader(min(batch_rows, ROWS_PER_PIECE)):
            yield pa.Table.from_batches([batch])
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # Arrow raises errors of its own where DuckDB stops in later rows.
        raise file.error(error, name) from error


def keep_freed_memory(table: Table) -> None:
    """Keep the memory of a Parquet chunk for the next, for the rest of the process (with glibc).

    By default large arrays are given back to the system when they are let go, and it takes the
    system as long to clear the memory again as it takes to read a column. A CSV is read by DuckDB,
    which keeps its memory itself.
    """
    import pyarrow as pa

    if table.file is None or table.file.kind != "parquet":
        return
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another system
        return
    set_option(M_MMAP_THRESHOLD, MAX_KEPT_BYTES)
    set_option(M_TRIM_THRESHOLD, MAX_KEPT_BYTES)
    pa.set_memory_pool(pa.system_memory_pool())


def write_row_chunks(path: str | os.PathLike[str], chunks: Iterable[Rows]) -> None:
    """Write chunks of rows as one CSV or Parquet file, whole or not at all.

    The bytes are those that `Rows.write` would write of all rows together.
    """
    remaining = iter(chunks)
    first = next(remaining)
    tables = (rows.dataframe.to_arrow() for rows in chain([first], remaining))
    # Row groups are large; a CSV has none.
    is_parquet = str(path).lower().endswith(".parquet")
    write_chunks(path, chunks_of(tables, ROWS_PER_GROUP) if is_parquet else tables, first.style)
