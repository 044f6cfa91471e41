"""A dataframe of Spark as a table that can be repaired; its rows stay in the cluster.

Where rows have to be read as the rest of the package reads them, a function maps Arrow chunks to
Arrow chunks (`mapInArrow`), so that no row is handled one by one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import HashArray, IntArray
from fourfifths._tables.engines.cells import MAX_CELLS, Cells, too_many_cells
from fourfifths._tables.engines.chunks import chunks_of
from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.engines.engine import ScannedEngine
from fourfifths._tables.engines.spark import collected, one_line_errors, quoted
from fourfifths._tables.identity import repeated_key
from fourfifths._tables.load import Rows
from fourfifths._tables.table import Value, plain_columns
from fourfifths._tables.values import NumberFormat, Reading, occurring_tokens
from fourfifths.errors import ColumnError, FourfifthsError, TableError

# Spark's batches have 10,000 rows unless it is told otherwise. Fewer and larger ones cost less.
ROWS_PER_CHUNK = 65_536


@dataclass(frozen=True, kw_only=True)
class SparkTable:
    """A dataframe of Spark, and how its values are read.

    Attributes
    ----------
    frame : Spark dataframe
    unknown : tuple
        Values that mean missing.
    reading : Reading
    """

    frame: Any
    unknown: tuple[Value, ...] = ()
    reading: Reading = field(default_factory=Reading)

    @property
    def empty(self) -> Rows:
        """No rows, with the columns and their types."""
        from pyspark.sql.pandas.types import to_arrow_schema

        names = self.frame.columns
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"X: a column name is there twice: {twice!r}; rename one")
        return self.rows(to_arrow_schema(self.frame.schema, timezone="UTC").empty_table())

    def rows(self, table: Any) -> Rows:
        """Return an Arrow table with some of the rows as `Rows`."""
        frame: nw.DataFrame[Any] = nw.from_native(plain_columns(table), eager_only=True)
        return Rows(frame=frame, name="the table", unknown=self.unknown, reading=self.reading)

    def load(self) -> Rows:
        """Load all rows, in their order."""
        return self.rows(collected(self.frame))

    def count(self) -> int:
        """Return the number of rows."""
        with one_line_errors():
            return int(self.frame.count())

    def mapped(self, function: RowsMap, schema: Any) -> Any:
        """Return the Spark dataframe of a function of chunks; nothing is computed yet.

        Parameters
        ----------
        function : callable
            Takes `Rows`, returns an Arrow table. It is pickled and sent to the workers.
        schema : Spark schema
            Of what the function returns.
        """
        from pyspark.sql.pandas.types import to_arrow_schema

        chunk_map = ChunkMap(
            function=function,
            source=self._read_as,
            arrow_schema=to_arrow_schema(schema, timezone="UTC"),
        )
        return self._plainly_named.mapInArrow(chunk_map, schema)

    def folded(self, function: Callable[[Iterator[Rows]], Any]) -> list[Any]:
        """Return what a function makes of the rows of each partition, in their order."""
        fold = PartitionFold(function=function, source=self._read_as)
        parts = self._plainly_named.mapInArrow(fold, "part binary")
        return [pickle.loads(part) for part in collected(parts).column(0).to_pylist()]

    @property
    def _plainly_named(self) -> Any:
        """The dataframe with its columns called c0, c1, ...: Spark would parse their names."""
        return self.frame.toDF(*(f"c{index}" for index in range(len(self.frame.columns))))

    @property
    def _read_as(self) -> ChunkSource:
        return ChunkSource(
            names=tuple(self.frame.columns), unknown=self.unknown, reading=self.reading
        )

    def check_keys(self, key: str) -> None:
        """Raise if a row has no key, or two rows have the same."""
        from pyspark.sql import functions

        column = functions.col(quoted(key))
        with one_line_errors():
            keys = self.frame.select(column.alias("key"))
            if keys.filter("key is null").limit(1).count():
                raise ColumnError(
                    f"key={key!r}: a row has no key; expected one in each row; leave such rows "
                    "out, or take another column"
                )
            repeated = keys.groupBy("key").count().filter("count > 1")
            totals = repeated.agg(
                functions.sum(functions.expr("count - 1")), functions.min("key")
            ).collect()[0]
        if totals[0]:
            raise repeated_key(key, totals[1], repeated_rows=int(totals[0]))


RowsMap = Callable[[Rows], Any]


@dataclass(frozen=True, kw_only=True)
class ChunkSource:
    """How a worker reads the batches of a partition.

    Attributes
    ----------
    names : tuple of str
        Of the columns, in their order.
    unknown, reading
        As in `SparkTable`.
    """

    names: tuple[str, ...]
    unknown: tuple[Value, ...]
    reading: Reading

    def chunks(self, batches: Iterable[Any]) -> Iterator[Rows]:
        """Yield the rows in fewer and larger chunks."""
        import pyarrow as pa

        table = SparkTable(frame=None, unknown=self.unknown, reading=self.reading)
        parts = (pa.Table.from_batches([batch]) for batch in batches)
        for chunk in chunks_of(parts, ROWS_PER_CHUNK):
            yield table.rows(chunk.rename_columns(list(self.names)))


@dataclass(frozen=True, kw_only=True)
class ChunkMap:
    """A function of `Rows` as Spark calls it: with an iterator of Arrow batches."""

    function: RowsMap
    source: ChunkSource
    arrow_schema: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches that the function makes of these."""
        for rows in self.source.chunks(batches):
            with errors_of_a_part():
                result = self.function(rows)
            yield from result.cast(self.arrow_schema).to_batches()


@dataclass(frozen=True, kw_only=True)
class PartitionFold:
    """A function of all rows of a partition, whose result is one pickled cell."""

    function: Callable[[Iterator[Rows]], Any]
    source: ChunkSource

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield one batch of one row."""
        import pyarrow as pa

        with errors_of_a_part():
            result = self.function(self.source.chunks(batches))
        yield pa.RecordBatch.from_pydict({"part": pa.array([pickle.dumps(result)], pa.binary())})


@contextmanager
def errors_of_a_part() -> Iterator[None]:
    """Say of errors that the rows they number are those of a part of the table."""
    try:
        yield
    except FourfifthsError as error:
        message = f"{error} (rows are numbered and counted within one part of the table)"
        raise type(error)(message) from error


@dataclass(kw_only=True)
class SparkEngine(ScannedEngine):
    """A table of Spark that is too large to be loaded.

    Attributes
    ----------
    source : SparkTable
    """

    source: SparkTable

    @property
    def schema(self) -> Rows:
        """No rows, with the columns and their types."""
        return self.source.empty

    def scan(self, cells: Sequence[str], columns: Sequence[str] | None) -> None:
        """Count cells by Spark, and look at the values of other columns where the rows are."""
        from pyspark.sql import functions

        read = self.prepare_digests(cells, columns)
        numbered = self.source.frame.select(
            *(functions.col(quoted(name)).alias(f"c{at}") for at, name in enumerate(cells)),
            functions.monotonically_increasing_id().alias("position"),
        )
        inner = [f"c{index}" for index in range(len(cells))]
        counted = numbered.groupBy(*inner).agg(
            functions.count("*").alias("rows"), functions.min("position").alias("position")
        )
        # In the order in which they first occur, as in a table in memory.
        table = collected(counted.orderBy("position").limit(MAX_CELLS + 1))
        if table.num_rows > MAX_CELLS:
            raise too_many_cells("the table", cells)
        self.cells = Cells(
            rows=self.source.rows(table.select(inner).rename_columns(list(cells))),
            row_counts=table.column("rows").to_numpy(),
        )
        self.row_count = int(self.cells.row_counts.sum())
        if not self.row_count:
            raise TableError("the table has no rows")
        looked_at = ColumnScan(
            digests={name: self.digests[name] for name in read}, unknown=self.source.unknown
        )
        if not read and not self.source.unknown:
            return
        for digests, tokens in self.source.folded(looked_at):
            self.tokens |= tokens
            for name, digest in digests.items():
                self.digests[name].merge(digest)

    def count_distinct(self, name: str, number_format: NumberFormat | None) -> int:  # noqa: ARG002
        """Return how many different values a column has.

        One number that is written in two ways, as text, counts twice.
        """
        from pyspark.sql import functions

        with one_line_errors():
            column = functions.col(quoted(name))
            return int(self.source.frame.agg(functions.count_distinct(column)).collect()[0][0])


@dataclass(frozen=True, kw_only=True)
class ColumnScan:
    """Looks at the values of columns in one partition.

    Attributes
    ----------
    digests : mapping of str to ColumnDigest
        Nothing was added to them yet.
    unknown : tuple
        Tokens that are looked for in every column.
    """

    digests: dict[str, ColumnDigest]
    unknown: tuple[Value, ...]

    def __call__(self, chunks: Iterator[Rows]) -> tuple[dict[str, ColumnDigest], set[Any]]:
        """Return the digests of the rows, and which tokens occur."""
        tokens: set[Any] = set()
        for rows in chunks:
            for name in self.digests:
                self.digests[name].add(rows)
            lacking = [token for token in self.unknown if token not in tokens]
            if lacking:
                tokens.update(occurring_tokens(rows.dataframe, lacking))
        return self.digests, tokens


def repaired_schema(frame: Any, repaired: Any) -> Any:
    """Return the schema of a repaired Spark dataframe.

    Parameters
    ----------
    frame : Spark dataframe
        Before the repair.
    repaired : Arrow table
        No rows, with the types that the columns have after it.
    """
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import StructField, StructType

    fields = []
    for before in frame.schema:
        if before.name not in repaired.column_names:
            continue
        arrow_type = repaired.schema.field(before.name).type
        is_same = to_arrow_type(before.dataType, timezone="UTC") == arrow_type
        kind = before.dataType if is_same else from_arrow_type(arrow_type)
        fields.append(StructField(before.name, kind, nullable=True, metadata=before.metadata))
    return StructType(fields)


def placed_rows(rows: Rows, name: str) -> tuple[Rows, IntArray]:
    """Return rows without the column of their places among equal rows, and the places."""
    places = rows.dataframe[name].to_numpy().astype(np.int64)
    table: Any = rows.dataframe.drop(name).to_native()
    return SparkTable(frame=None, unknown=rows.unknown, reading=rows.reading).rows(table), places


def with_words(rows: Rows, name: str, words: HashArray) -> Any:
    """Return rows with a word each in a further column, as an Arrow table."""
    import pyarrow as pa

    table: Any = rows.dataframe.to_native()
    # Spark has no unsigned numbers; only whether words are equal matters.
    return table.append_column(name, pa.array(words.view(np.int64)))


def words_schema(frame: Any, name: str) -> Any:
    """Return the schema of a Spark dataframe with a word of each row in a further column."""
    from pyspark.sql.types import LongType, StructField, StructType

    return StructType([*frame.schema.fields, StructField(name, LongType(), nullable=False)])
