"""Write whole tables to files, every column with the type that it came with."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import narwhals as nw

from fourfifths._tables.files import in_one_line, replace_file
from fourfifths.errors import FourfifthsError, OutputError

OUT_ENDINGS = (".csv", ".tsv", ".parquet")


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise unless a table can be written to a file with this ending."""
    if not Path(path).name.lower().endswith(OUT_ENDINGS):
        raise OutputError(f"{path}: expected a name ending in {', '.join(OUT_ENDINGS)}")


def write_table(
    path: str | os.PathLike[str], frame: nw.DataFrame[Any], separator: str = ","
) -> None:
    """Write a table as CSV or Parquet, whole or not at all; a .tsv file gets tabs."""
    check_output(path)
    table = frame.to_arrow()
    # Not the suffix: a file may be called .parquet and nothing else.
    ending = next(end for end in OUT_ENDINGS if Path(path).name.lower().endswith(end))
    lower_names = [column.lower() for column in table.column_names]
    if ending != ".parquet" and len(set(lower_names)) < len(lower_names):
        raise OutputError(f"{path}: columns differ only in case; rename one for a CSV")

    def write_to(file: Path) -> None:
        if ending == ".parquet":
            from pyarrow import parquet

            parquet.write_table(_with_pandas_notes(table), file)
            return
        import duckdb

        delimiter = "\t" if ending == ".tsv" else separator
        duckdb.connect().from_arrow(table).write_csv(str(file), sep=delimiter, header=True)

    def write(target: Path) -> None:
        if target.is_file():
            write_to(target)
            return
        # A pipe or a device gets the bytes of a finished file, because the libraries delete the
        # target if they fail.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"table{ending}"
            write_to(file)
            target.write_bytes(file.read_bytes())

    try:
        replace_file(path, write)
    except (FourfifthsError, OSError):
        raise
    except Exception as error:  # each library has errors of its own
        raise OutputError(f"{path}: cannot be written: {in_one_line(error)}") from error


def _with_pandas_notes(table: Any) -> Any:
    """Return the table with pandas' notes on column types brought up to date.

    pandas keeps the types of its columns in the metadata of a Parquet file. If a whole number was
    repaired to a float, pandas would round it when it reads the file by the old notes.
    """
    import pyarrow as pa

    metadata = dict(table.schema.metadata or {})
    if b"pandas" not in metadata:
        return table
    notes = json.loads(metadata[b"pandas"])
    for column in notes.get("columns", ()):
        name, noted_type = column.get("field_name"), str(column.get("numpy_type", ""))
        if "int" not in noted_type.lower() or name not in table.column_names:
            continue
        type_now = {pa.float64(): "float64", pa.int64(): "int64"}.get(table.field(name).type)
        if type_now is not None:  # pandas' types that can be missing begin with a capital
            numpy_type = type_now.capitalize() if noted_type[0].isupper() else type_now
            column |= {"pandas_type": type_now, "numpy_type": numpy_type}
    return table.replace_schema_metadata({**metadata, b"pandas": json.dumps(notes).encode()})
