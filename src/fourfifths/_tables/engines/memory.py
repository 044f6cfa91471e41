"""Rows in memory as a table that can be repaired, and for which tables that is chosen."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw

from fourfifths._arrays import IntArray
from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.engines.engine import TableEngine
from fourfifths._tables.groups import check_tokens
from fourfifths._tables.load import Rows, load_rows
from fourfifths._tables.table import Table, no_rows
from fourfifths._tables.values import Reading


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
        raise no_rows(rows.name)
    return MemoryEngine(rows=replace(rows, reading=reading))
