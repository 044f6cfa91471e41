"""Whole tables out of files and into files, with every column as it came."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths.errors import ColumnError, FourfifthsError, OutputError, TableError
from fourfifths.files import csv_header, in_one_line, kind_of, read, replace_file
from fourfifths.table import NUMBER, TableLike, open_table

LONGEST = 18  # digits of a whole number
OUT_ENDINGS = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Loaded:
    """A table in memory.

    Attributes
    ----------
    frame : dataframe
        The columns that were asked for as numbers are numbers.
    texts : mapping of str to series
        What those of them that came as text were, as written.
    name : str
    separator : str
        What separates the fields of the CSV that it came from.
    """

    frame: nw.DataFrame[Any]
    texts: Mapping[str, nw.Series[Any]]
    name: str
    separator: str = ","


def load_table(source: TableLike) -> Loaded:
    """Return all rows of a dataframe, a file or a shipped data set."""
    table = open_table(source)
    if table.dataset is not None:
        return Loaded(_read_file(table.dataset.path), {}, table.name)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        is_csv = path.name.lower().endswith((".csv", ".csv.gz"))
        separator = csv_header(path)[0] if is_csv else ","
        return Loaded(_read_file(path), {}, table.name, separator)
    frame: Any = nw.from_native(source)
    return Loaded(frame.collect() if isinstance(frame, nw.LazyFrame) else frame, {}, table.name)


def with_numbers(loaded: Loaded, names: Iterable[str], *, must: bool) -> Loaded:
    """Return the table with text columns that hold numbers only as numbers.

    A CSV has nothing but text. With `must`, other text is an error; else such a column stays.
    """
    frame, texts = loaded.frame, dict(loaded.texts)
    for name in names:
        column = frame[name]
        if column.dtype != nw.String:
            continue
        # Arrow reads no plus sign.
        stripped = column.str.strip_chars().str.replace_all(r"^\+", "")
        distinct = stripped.filter(~stripped.is_null()).unique()
        odd = distinct.filter(~distinct.str.contains(NUMBER))
        if len(odd) and (must or 2 * len(odd) < len(distinct)):
            raise ColumnError(
                f"column {name!r}: expected numbers, found {odd[0]!r}; leave such cells empty"
            )
        if len(odd) or not (len(distinct) or must):
            continue
        texts[name] = column
        frame = frame.with_columns(stripped.cast(_number_type(name, distinct)).alias(name))
    return replace(loaded, frame=frame, texts=texts)


def _number_type(name: str, texts: nw.Series[Any]) -> nw.dtypes.DType:
    whole = len(texts) > 0 and texts.str.contains(r"^-?\d+$").all()
    if whole and (texts.str.len_chars() > LONGEST).any():
        raise ColumnError(
            f"column {name!r}: holds whole numbers of more than {LONGEST} digits, which would be "
            "changed by reading them; an identifier is not a column to repair"
        )
    return nw.Int64() if whole else nw.Float64()


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


def _read_file(path: Path) -> nw.DataFrame[Any]:
    import pyarrow as pa

    relation = read(path)
    if kind_of(path) == "parquet":
        from pyarrow import parquet

        try:
            native = parquet.ParquetFile(path).read()
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{path}: not readable as Parquet: {in_one_line(error)}") from error
    else:
        import duckdb

        try:
            native = relation.to_arrow_table()
        except duckdb.Error as error:
            raise TableError(f"{path}: cannot be read: {in_one_line(error)}") from error
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    return frame
