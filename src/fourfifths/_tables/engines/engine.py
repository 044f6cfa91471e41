"""What a table must be able to do to be repaired, wherever its rows are.

Three verbs suffice before anything is fitted: count the rows that have each combination of values,
say what the values of a column are, and say whether a token for "not known" occurs. The rest of a
repair is a map of chunks to chunks. `memory.py` does it for rows in memory, `chunked.py` for files
that are larger, and `spark_engine.py` for tables of a cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import narwhals as nw

from fourfifths._arrays import IntArray
from fourfifths._tables.engines.cells import Cells
from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.groups import unmatched_token
from fourfifths._tables.load import Rows, nothing_to_repair
from fourfifths._tables.types import AskedType, ColumnType, too_many_texts, type_of
from fourfifths._tables.values import NumberFormat


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
            raise nothing_to_repair()
        types = []
        for name, kind in asked.items():
            digest = self.digests[name]
            digest.check()
            values, row_counts = digest.values()
            column_type = type_of(
                values,
                kind,
                unknown=self.schema.unknown,
                reading=self.schema.reading,
                notes=notes,
                row_counts=row_counts,
            )
            if column_type.kind in ("category", "ordered") and digest.shapes:
                # Codes with leading zeros, of which the digest keeps one of each shape.
                raise too_many_texts(name, self.count_distinct(name, None))
            types.append(column_type)
        return tuple(types)
