"""Whole tables into files, with every column as it came."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._tables.files import in_one_line, replace_file
from fourfifths._tables.load import Loaded
from fourfifths.errors import FourfifthsError, OutputError

OUT_ENDINGS = (".csv", ".tsv", ".parquet")


def as_written(loaded: Loaded, after: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a repaired table whose cells that did not change stand as they were written."""
    for name, text in loaded.texts.items():
        own, new = loaded.frame[name], after[name]
        same = (own.cast(nw.Float64()) == new.cast(nw.Float64())) | new.is_null()
        rows = np.flatnonzero(~np.asarray(same.fill_null(value=False).to_numpy(), dtype=bool))
        after = after.with_columns(text.scatter(rows, new[rows].cast(nw.String())).alias(name))
    return after


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise unless the file's ending is one that a table can be written as."""
    if not Path(path).name.lower().endswith(OUT_ENDINGS):
        raise OutputError(f"{path}: expected a name ending in {', '.join(OUT_ENDINGS)}")


def write_table(
    path: str | os.PathLike[str], frame: nw.DataFrame[Any], separator: str = ","
) -> None:
    """Write a table as CSV or Parquet, whole or not at all; .tsv has tabs."""
    check_output(path)
    table = frame.to_arrow()
    name = Path(path).name.lower()
    lower = [column.lower() for column in table.column_names]
    if not name.endswith(".parquet") and len({*lower}) < len(lower):
        raise OutputError(f"{path}: columns differ only in case; rename one for a CSV")

    def write(target: Path) -> None:
        # A pipe or a device gets the bytes of a whole file: libraries remove what fails.
        with tempfile.TemporaryDirectory() as folder:
            made = target if target.is_file() else Path(folder) / f"table{name[name.rfind('.') :]}"
            _write_arrow(table, made, name, separator)
            if made is not target:
                target.write_bytes(made.read_bytes())

    try:
        replace_file(path, write)
    except (FourfifthsError, OSError):
        raise
    except Exception as error:  # each library has errors of its own
        raise OutputError(f"{path}: cannot be written: {in_one_line(error)}") from error


def _write_arrow(table: Any, path: Path, name: str, separator: str) -> None:
    if name.endswith(".parquet"):
        from pyarrow import parquet

        parquet.write_table(_with_true_notes(table), path)
        return
    import duckdb

    separator = "\t" if name.endswith(".tsv") else separator
    duckdb.connect().from_arrow(table).write_csv(str(path), sep=separator, header=True)


def _with_true_notes(table: Any) -> Any:
    """Return the table with what pandas notes of its columns' types as it is now."""
    import pyarrow as pa

    notes = dict(table.schema.metadata or {})
    if b"pandas" not in notes:
        return table
    found = json.loads(notes[b"pandas"])
    for column in found.get("columns", ()):
        name, noted = column.get("field_name"), str(column.get("numpy_type", ""))
        if "int" not in noted.lower() or name not in table.column_names:
            continue
        now = {pa.float64(): "float64", pa.int64(): "int64"}.get(table.field(name).type)
        if now is not None:  # pandas' types that can be missing begin with a capital
            now = now.capitalize() if noted[0].isupper() else now
            column |= {"pandas_type": now.lower(), "numpy_type": now}
    return table.replace_schema_metadata({**notes, b"pandas": json.dumps(found).encode()})
