"""What a table must be able to do to be repaired, wherever its rows are.

Three verbs suffice before anything is fitted: count the rows that have each combination of values,
say what the values of a column are, and say whether a token for "not known" occurs. The rest of a
repair is a map of chunks to chunks. `MemoryEngine` does it for rows in memory, `ChunkEngine` for
files that are larger, and `SparkEngine` (in `spark_engine.py`) for tables of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from fourfifths._arrays import IntArray
from fourfifths._tables.engines.cells import Cells, added, counted
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.engines.places import EqualRows
from fourfifths._tables.identity import content_hash, text_hash
from fourfifths._tables.load import Rows, load_rows
from fourfifths._tables.roles import check_tokens, unmatched_token
from fourfifths._tables.table import Table
from fourfifths._tables.types import AskedType, ColumnType, to_numbers, type_of
from fourfifths._tables.values import NumberFormat, Reading, occurring_tokens
from fourfifths.errors import ColumnError, TableError


class TableEngine(Protocol):
    """A table that can be repaired."""

    @property
    def schema(self) -> Rows:
        """Rows with the columns of the table; perhaps none of its rows."""

    def scan(self, cells: Sequence[str], columns: Sequence[str] | None) -> None:
        """Look at the values: of columns that are counted together, and of others apart.

        None are all that are not counted.
        """

    def check_tokens(self) -> None:
        """Raise if a token for "not known" is in no column."""

    def values(self, name: str) -> tuple[nw.Series[Any], IntArray | None]:
        """Return the values of a counted column, and for how many rows each stands."""

    def repairable(self, excluded: Collection[Any]) -> tuple[str, ...]:
        """Return the columns that are repaired if none is named."""


@dataclass(frozen=True, kw_only=True)
class MemoryEngine:
    """Rows in memory."""

    rows: Rows

    @property
    def schema(self) -> Rows:
        """The rows."""
        return self.rows

    def scan(self, cells: Sequence[str], columns: Sequence[str] | None) -> None:
        """Nothing need be looked at before it is asked for."""

    def check_tokens(self) -> None:
        """Raise if a token for "not known" is in no column."""
        check_tokens(self.rows.dataframe, self.rows.unknown)

    def values(self, name: str) -> tuple[nw.Series[Any], IntArray | None]:
        """Return a column; each value stands for its row."""
        return self.rows.dataframe[name], None

    def repairable(self, excluded: Collection[Any]) -> tuple[str, ...]:
        """Return the columns that are repaired if none is named."""
        return self.rows.repairable(excluded)


@dataclass(kw_only=True)
class ScannedEngine:
    """A table that is not in memory, whose values were looked at where they are.

    Attributes
    ----------
    cells : Cells or None
        None before the scan.
    digests : dict of str to ColumnDigest
    row_count : int
    tokens : set
        The tokens for "not known" that occur.
    """

    cells: Cells | None = None
    digests: dict[str, ColumnDigest] = field(default_factory=dict)
    row_count: int = 0
    tokens: set[Any] = field(default_factory=set)

    @property
    def schema(self) -> Rows:
        """No rows, with the columns and their types."""
        raise NotImplementedError

    def count_distinct(self, name: str, number_format: NumberFormat | None) -> int:
        """Return how many different values, or numbers, a column has, in one pass over it."""
        raise NotImplementedError

    def prepare_digests(self, cells: Sequence[str], columns: Sequence[str] | None) -> list[str]:
        """Make an empty digest of each column that is not counted; return those to be read."""
        schema = self.schema.dataframe
        uncounted = [name for name in columns or schema.columns if name not in cells]
        self.digests = {name: ColumnDigest(name=name, column=schema[name]) for name in uncounted}

        # Of floats the type says all. Whole numbers that are not named may be identifiers.
        def is_open(name: str) -> bool:
            dtype = schema[name].dtype
            if dtype.is_float():
                return False
            return columns is None or not (dtype.is_numeric() or dtype == nw.Boolean)

        return [name for name in uncounted if is_open(name)]

    def check_tokens(self) -> None:
        """Raise if a token for "not known" is in no column."""
        for token in self.schema.unknown:
            if token not in self.tokens:
                raise unmatched_token(token, ())

    def values(self, name: str) -> tuple[nw.Series[Any], IntArray | None]:
        """Return the different values of a counted column, and how many rows have each."""
        assert self.cells is not None
        cells = self.cells.of([name])
        return cells.rows.dataframe[name], cells.row_counts

    def repairable(self, excluded: Collection[Any]) -> tuple[str, ...]:
        """Return the columns that are repaired if none is named."""
        reading = self.schema.reading
        return tuple(
            name
            for name, digest in self.digests.items()
            if name not in excluded
            and not digest.is_not_repaired(reading=reading, count_distinct=self.count_distinct)
        )

    def types(self, asked: Mapping[str, AskedType], notes: list[str]) -> tuple[ColumnType, ...]:
        """Return the type of each column that is asked for; what was assumed goes to `notes`."""
        if not asked:
            raise ColumnError("columns: there is no column to repair but the stratifying ones")
        types = []
        for name, kind in asked.items():
            digest = self.digests[name]
            digest.check()
            values, row_counts = digest.values()
            types.append(
                type_of(
                    values,
                    kind,
                    unknown=self.schema.unknown,
                    reading=self.schema.reading,
                    notes=notes,
                    row_counts=row_counts,
                )
            )
        return tuple(types)


@dataclass(kw_only=True)
class ChunkEngine(ScannedEngine):
    """A file that is read in chunks.

    Attributes
    ----------
    source : ChunkedTable
    """

    source: ChunkedTable

    @property
    def schema(self) -> Rows:
        """No rows, with the columns and their types."""
        return self.source.empty

    def scan(self, cells: Sequence[str], columns: Sequence[str] | None) -> None:
        """Look at all values, in one pass over the file."""
        read = self.prepare_digests(cells, columns)
        unknown = self.source.unknown
        needed = None if unknown else list(dict.fromkeys([*cells, *read]))
        total: Cells | None = None
        for rows in self.source.chunks(needed):
            self.row_count += len(rows)
            chunk_cells = counted(rows, list(cells))
            total = chunk_cells if total is None else added(total, chunk_cells, list(cells))
            for name in read:
                self.digests[name].add(rows)
            lacking = [token for token in unknown if token not in self.tokens]
            if lacking:
                self.tokens.update(occurring_tokens(rows.dataframe, lacking))
        if total is None or not self.row_count:
            raise TableError(f"{self.source.table.name}: the table has no rows")
        self.cells = total

    def count_distinct(self, name: str, number_format: NumberFormat | None) -> int:
        """Return how many different values, or numbers, a column has, in one pass over it."""
        equal_rows = EqualRows(self.row_count)
        with closing(equal_rows):
            for rows in self.source.chunks([name]):
                column = rows.column(name)
                if number_format is None:
                    equal_rows.add(text_hash(column.filter(~column.is_null())))
                    continue
                typed = ColumnType(name=name, kind="integer", number_format=number_format)
                numbers = to_numbers(column, typed, reading=rows.reading)
                present = numbers[~np.isnan(numbers)]
                equal_rows.add(content_hash([present], present.size))
            equal_rows.finish()
            return equal_rows.row_count - equal_rows.repeated_rows


def engine_of(
    table: Table,
    unknown: tuple[Any, ...],
    reading: Reading,
    *,
    memory: int | None,
    chunk_rows: int | None = None,
) -> TableEngine:
    """Return the engine for a table: in memory, unless it would take more than `memory` bytes.

    By default that is half of what the machine has. Only CSV and Parquet files are read in chunks.
    """
    if table.file is not None and table.file.kind in ("csv", "parquet"):
        source = ChunkedTable(
            table=table, unknown=unknown, reading=reading, rows_per_chunk=chunk_rows
        )
        limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        if source.bytes_in_memory > (limit if memory is None else memory):
            return ChunkEngine(source=source)
    rows = load_rows(table, unknown)
    if not len(rows):
        raise TableError(f"{rows.name}: the table has no rows")
    return MemoryEngine(rows=replace(rows, reading=reading))
