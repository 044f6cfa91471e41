"""Whole tables out of files and dataframes, with every column as it came."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw

from fourfifths._tables.files import csv_header, in_one_line, kind_of, read
from fourfifths._tables.numbers import NUMBER
from fourfifths._tables.table import TableLike, open_table
from fourfifths.errors import ColumnError, TableError

LONGEST = 18  # digits of a whole number


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


@dataclass(frozen=True, kw_only=True)
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
        return Loaded(frame=_read_file(table.dataset.path), texts={}, name=table.name)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        is_csv = path.name.lower().endswith((".csv", ".csv.gz"))
        separator = csv_header(path)[0] if is_csv else ","
        return Loaded(frame=_read_file(path), texts={}, name=table.name, separator=separator)
    frame: Any = nw.from_native(source)
    return Loaded(
        frame=frame.collect() if isinstance(frame, nw.LazyFrame) else frame,
        texts={},
        name=table.name,
    )


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
