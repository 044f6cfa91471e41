"""Whole tables out of files and into files, with every column as it came."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths.errors import ColumnError, OutputError, TableError
from fourfifths.files import in_one_line, kind_of, read, replace_file
from fourfifths.table import NUMBER, TableLike, open_table

WHOLE = r"^[-+]?\d{1,18}$"
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
    """

    frame: nw.DataFrame[Any]
    texts: Mapping[str, nw.Series[Any]]
    name: str


def load_table(source: TableLike) -> Loaded:
    """Return all rows of a dataframe, a file or a shipped data set."""
    table = open_table(source)
    if table.dataset is not None:
        return Loaded(_read_file(table.dataset.path), {}, table.name)
    if isinstance(source, str | os.PathLike):
        return Loaded(_read_file(Path(source)), {}, table.name)
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
        stripped = column.str.strip_chars()
        present = stripped.filter(~stripped.is_null())
        odd = present.filter(~present.str.contains(NUMBER))
        if len(odd) or not len(present):
            if must:
                found = repr(odd[0]) if len(odd) else "nothing"
                raise ColumnError(f"column {name!r}: expected numbers, found {found}")
            continue
        kind = nw.Int64() if present.str.contains(WHOLE).all() else nw.Float64()
        texts[name] = column
        frame = frame.with_columns(stripped.cast(kind).alias(name))
    return Loaded(frame, texts, loaded.name)


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


def write_table(path: str | os.PathLike[str], frame: nw.DataFrame[Any]) -> None:
    """Write a table as CSV or Parquet, whole or not at all."""
    check_output(path)
    table = frame.to_arrow()
    ending = Path(path).suffix.lower()

    def write(temporary: Path) -> None:
        if ending == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, temporary)
            return
        import duckdb

        separator = "\t" if ending == ".tsv" else ","
        relation = duckdb.connect().from_arrow(table)
        relation.write_csv(str(temporary), sep=separator, header=True)

    replace_file(path, write)


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
