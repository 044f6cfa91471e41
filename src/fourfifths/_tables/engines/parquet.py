"""The rows of Parquet files in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fourfifths._tables.files import TableFile, in_one_line
from fourfifths.errors import TableError

ROWS_PER_PART = 65_536


def parquet_tables(file: TableFile, name: str, names: Sequence[str] | None) -> Iterator[Any]:
    """Yield the row groups of Parquet files in parts, as Arrow tables."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = file.relation.columns
    schema = None
    for path in file.paths:
        partition = file.partition_of(path)
        try:
            # Row groups are read as they are needed, not all that follow ahead.
            source = parquet.ParquetFile(path, pre_buffer=False)
            if schema is None:
                schema = source.schema_arrow.remove_metadata()
            elif not source.schema_arrow.remove_metadata().equals(schema):
                raise TableError(
                    f"{path}: its columns differ from those of {file.paths[0]}"
                    f"{_difference(schema, source.schema_arrow)}; expected the same names and "
                    "types in the same order in all files"
                )
            stored = columns[: len(columns) - len(partition)]
            # Arrow takes a name with a dot for a path into a nested column.
            is_plain = source.schema_arrow.names == stored and not any("." in c for c in stored)
            asked = None
            if is_plain and names is not None:
                asked = [column for column in names if column not in partition]
            if not source.num_row_groups:
                continue  # which some versions of Arrow cannot iterate over
            for batch in source.iter_batches(batch_size=ROWS_PER_PART, columns=asked):
                table = pa.Table.from_batches([batch])
                if asked is None:
                    table = table.rename_columns(stored)
                for key, value in partition.items():
                    table = table.append_column(key, pa.repeat(value, table.num_rows))
                # Last, because a table whose columns were renamed has lost its metadata.
                table = table.replace_schema_metadata(source.schema_arrow.metadata)
                yield table if names is None else table.select(list(names))
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{name}: not readable as Parquet: {in_one_line(error)}") from error


def _difference(schema: Any, other: Any) -> str:
    for expected, field_found in zip(schema, other, strict=False):
        if not expected.equals(field_found):
            return (
                f" ({field_found.name!r} of type {field_found.type}, not {expected.name!r} of "
                f"type {expected.type})"
            )
    return f" ({len(other)} columns, not {len(schema)})"
