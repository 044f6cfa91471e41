"""The rows of Parquet files in parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from fourfifths._tables.files import TableFile, differing_columns, in_one_line
from fourfifths.errors import TableError

ROWS_PER_PART = 65_536
MAX_GROUP_BYTES = 128_000_000  # a larger row group is read in parts, which takes a little longer


def parquet_tables(
    file: TableFile, name: str, names: Sequence[str] | None, *, coded: Collection[str] = ()
) -> Iterator[Any]:
    """Yield the rows of Parquet files in parts, as Arrow tables with these columns, or all.

    Texts in the columns `coded` are dictionaries where that takes less time to read.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema = None
    for path in file.paths:
        try:
            # Row groups are read as they are needed, not all that follow ahead.
            source = parquet.ParquetFile(path, pre_buffer=False)
            if schema is None:
                schema = source.schema_arrow.remove_metadata()
            elif not source.schema_arrow.remove_metadata().equals(schema):
                # It was the same when the table was opened.
                raise differing_columns(
                    path, source.schema_arrow, first=file.paths[0], expected=schema
                )
            stored = _stored_columns(file, path)
            # Arrow takes a name with a dot for a path into a nested column.
            is_plain = source.schema_arrow.names == stored and not any("." in c for c in stored)
            asked = None
            if is_plain and names is not None:
                asked = [column for column in names if column in stored]
            # The names of folders make columns too, which no file has; and only texts have codes.
            stored_codes = [
                column
                for column in coded
                if is_plain and column in stored and is_stored_text(source.schema_arrow, column)
            ]
            if stored_codes:
                source = parquet.ParquetFile(
                    path, metadata=source.metadata, read_dictionary=stored_codes, pre_buffer=False
                )
            for table in row_group_tables(source, asked):
                complete = _with_partition(table, file, path, is_complete=asked is None)
                # Last, because a table whose columns were renamed has lost its metadata.
                complete = complete.replace_schema_metadata(source.schema_arrow.metadata)
                yield complete if names is None else complete.select(list(names))
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{name}: not readable as Parquet: {in_one_line(error)}") from error


def is_stored_text(schema: Any, column: str) -> bool:
    """Return whether a column of Arrow's schema can be read as codes of texts."""
    import pyarrow as pa

    arrow_type = schema.field(column).type
    return bool(pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type))


def parquet_schema_table(file: TableFile, name: str) -> Any:
    """Return an Arrow table of no rows with the columns and types of Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    path = file.paths[0]
    try:
        schema = parquet.ParquetFile(path, pre_buffer=False).schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{name}: not readable as Parquet: {in_one_line(error)}") from error
    table = _with_partition(schema.empty_table(), file, path, is_complete=True)
    return table.replace_schema_metadata(schema.metadata)


def _stored_columns(file: TableFile, path: Path) -> list[str]:
    """Return the columns that a file has itself: the last ones are made of its folders."""
    columns = file.relation.columns
    return list(columns[: len(columns) - len(file.partition_of(path))])


def _with_partition(table: Any, file: TableFile, path: Path, *, is_complete: bool) -> Any:
    """Return rows of a file with the columns that its folders make, under the table's names."""
    import pyarrow as pa

    if is_complete:
        table = table.rename_columns(_stored_columns(file, path))
    for column, value in file.partition_of(path).items():
        texts = pa.repeat(pa.scalar(value, pa.string()), table.num_rows)
        table = table.append_column(column, texts)
    return table


def row_group_tables(source: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the row groups of an open Parquet file, large ones in parts, as Arrow tables."""
    import pyarrow as pa

    for index in range(source.num_row_groups):
        group = source.metadata.row_group(index)
        if group.total_byte_size <= MAX_GROUP_BYTES:
            yield source.read_row_group(index, columns=columns)
            continue
        for batch in source.iter_batches(ROWS_PER_PART, row_groups=[index], columns=columns):
            yield pa.Table.from_batches([batch])
