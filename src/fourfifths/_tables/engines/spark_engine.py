"""A dataframe of Spark as a table that can be repaired; its rows stay in the cluster.

Where rows have to be read as the rest of the package reads them, a function maps Arrow chunks to
Arrow chunks (`mapInArrow`), so that no row is handled one by one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray, HashArray, IntArray
from fourfifths._tables.engines.cells import MAX_CELLS, Cells, too_many_cells
from fourfifths._tables.engines.chunks import chunks_of
from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.engines.engine import ScannedEngine
from fourfifths._tables.engines.spark import collected, one_line_errors
from fourfifths._tables.identity import repeated_key
from fourfifths._tables.load import Rows
from fourfifths._tables.table import Value, no_rows, plain_columns
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
        from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type

        with one_line_errors():
            names = self.frame.columns
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"X: a column name occurs twice: {twice!r}; rename one")
        for column in self.frame.schema:
            try:
                to_arrow_type(column.dataType, timezone="UTC")
            except TypeError as error:
                raise ColumnError(
                    f"X: column {column.name!r} holds {column.dataType.simpleString()}, which "
                    "Spark cannot send to Python; convert it, for example with cast('string'), or "
                    "leave it out, df.drop(...)"
                ) from error
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

    def select(self, names: Iterable[str]) -> SparkTable:
        """Return the table with some of its columns: the others are then not read."""
        selected = {*names}
        kept = [index for index, name in enumerate(self.frame.columns) if name in selected]
        frame = self.plainly_named.select(*(f"c{index}" for index in kept))
        return replace(self, frame=frame.toDF(*(self.frame.columns[index] for index in kept)))

    def mapped(self, function: RowsMap, schema: Any, *, chunk: str | None = None) -> Any:
        """Return the Spark dataframe of a function of chunks; nothing is computed yet.

        Parameters
        ----------
        function : callable
            Takes `Rows`, returns an Arrow table. It is pickled and sent to the workers.
        schema : Spark schema
            Of what the function returns.
        chunk : str, optional
            The column that numbers the chunks, whose rows follow each other. By default chunks
            have as many rows as are fast.
        """
        from pyspark.sql.pandas.types import to_arrow_schema

        chunk_map = ChunkMap(
            function=function,
            source=replace(self._read_as, chunk=chunk),
            arrow_schema=to_arrow_schema(schema, timezone="UTC"),
        )
        return self.plainly_named.mapInArrow(chunk_map, schema)

    def folded(self, function: Callable[[Iterator[Rows]], Any]) -> list[Any]:
        """Return what a function makes of the rows of each partition, in their order."""
        fold = PartitionFold(function=function, source=self._read_as)
        results = self.plainly_named.mapInArrow(fold, "result binary")
        return [pickle.loads(result) for result in collected(results).column(0).to_pylist()]

    @property
    def plainly_named(self) -> Any:
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

        with one_line_errors():
            keys = self.select([key]).frame.toDF("key")
            if keys.filter("key is null").limit(1).count():
                raise ColumnError(
                    f"key={key!r}: a row has no key; expected one in each row; leave these rows "
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
    chunk : str or None
        The column that numbers the chunks; it is left out of the rows. None cuts chunks of
        `ROWS_PER_CHUNK` rows.
    """

    names: tuple[str, ...]
    unknown: tuple[Value, ...]
    reading: Reading
    chunk: str | None = None

    def chunks(self, batches: Iterable[Any]) -> Iterator[Rows]:
        """Yield the rows in fewer and larger chunks."""
        import pyarrow as pa

        table = SparkTable(frame=None, unknown=self.unknown, reading=self.reading)
        names = list(self.names)
        tables = (pa.Table.from_batches([batch]).rename_columns(names) for batch in batches)
        chunks = (
            (chunk.combine_chunks() for chunk in chunks_of(tables, ROWS_PER_CHUNK))
            if self.chunk is None
            else numbered_chunks(tables, self.chunk)
        )
        for chunk in chunks:
            yield table.rows(chunk)


def numbered_chunks(tables: Iterable[Any], number: str) -> Iterator[Any]:
    """Yield the rows of Arrow tables that follow each other and have the same chunk number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tables = [pa.table({"n": [0, 0, 1], "a": [1, 2, 3]}), pa.table({"n": [1], "a": [4]})]
    >>> [chunk["a"].to_pylist() for chunk in numbered_chunks(tables, "n")]
    [[1, 2], [3, 4]]
    """
    import pyarrow as pa

    waiting: list[Any] = []
    waiting_number = None
    for table in tables:
        numbers = table.column(number).to_numpy()
        ends = np.append(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, numbers.size)
        rows, start = table.drop_columns([number]), 0
        for end in ends if numbers.size else ():
            if waiting and numbers[start] != waiting_number:
                yield pa.concat_tables(waiting).combine_chunks()
                waiting = []
            waiting_number = numbers[start]
            waiting.append(rows.slice(start, end - start))
            start = end
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


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
        yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(result)], pa.binary())})


@contextmanager
def errors_of_a_part() -> Iterator[None]:
    """Add to errors that their row numbers count within one part of the table."""
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
        inner = [f"c{self.source.frame.columns.index(name)}" for name in cells]
        numbered = self.source.plainly_named.select(
            *inner, functions.monotonically_increasing_id().alias("position")
        )
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
            raise no_rows("the table")
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
            column = self.source.select([name]).frame.toDF("value")
            return int(column.agg(functions.count_distinct("value")).collect()[0][0])


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


def placed_rows(rows: Rows, place: str) -> tuple[Rows, IntArray]:
    """Return rows without the column of their places among equal rows, and the places."""
    places = rows.dataframe[place].to_numpy().astype(np.int64)
    table: Any = rows.dataframe.drop(place).to_native()
    return SparkTable(frame=None, unknown=rows.unknown, reading=rows.reading).rows(table), places


def arrow_table(columns: Mapping[str, FloatArray | IntArray]) -> Any:
    """Return arrays as an Arrow table."""
    import pyarrow as pa

    return pa.table(dict(columns))


def with_numbers(rows: Rows, columns: Mapping[str, IntArray | HashArray]) -> Any:
    """Return rows with further columns of whole numbers, as an Arrow table."""
    import pyarrow as pa

    table: Any = rows.dataframe.to_native()
    for name, numbers in columns.items():
        # Spark has no unsigned numbers; of words, only whether they are equal matters.
        table = table.append_column(name, pa.array(numbers.view(np.int64)))
    return table


def numbers_schema(frame: Any, names: Iterable[str]) -> Any:
    """Return the schema of a Spark dataframe with further columns of whole numbers."""
    from pyspark.sql.types import StructType

    further = number_columns(dict.fromkeys(names, "whole"))
    return StructType([*frame.schema.fields, *further.fields])


def number_columns(kinds: Mapping[str, Literal["whole", "float"]]) -> Any:
    """Return the Spark schema of columns of numbers, none missing."""
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    types = {"whole": LongType(), "float": DoubleType()}
    return StructType(
        [StructField(name, types[kind], nullable=False) for name, kind in kinds.items()]
    )
