"""Tables whose rows are in memory: dataframes, arrays, and whole files.

Repairs and trade-offs need all rows of a column at once. A repaired table has the type of the one
that came in: only the repaired cells differ.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._tables.files import csv_header, in_one_line, kind_of, read
from fourfifths._tables.table import Table, TableLike, Value, open_table
from fourfifths._tables.types import (
    AskedType,
    ColumnType,
    from_numbers,
    is_not_repaired,
    to_numbers,
    type_of,
    typed_values,
)
from fourfifths._tables.values import (
    NumberFormat,
    Reading,
    is_number,
    known_values,
    read_numbers,
)
from fourfifths.errors import ColumnError, TableError, listed, nearest


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A table in memory: either a dataframe or an array; the other is None.

    Attributes
    ----------
    frame : dataframe or None
    array : array or None
    unknown : tuple
        Values that mean missing, in every column.
    name : str
    separator : str
        The delimiter of the CSV file that the rows came from, so that the output has it too.
    reading : Reading
        What the user said about how values are to be read.
    value_notes : list of str
        What was assumed about values; it grows as columns are read.
    """

    frame: nw.DataFrame[Any] | None = None
    array: NDArray[Any] | None = None
    unknown: tuple[Value, ...] = ()
    name: str = "the table"
    separator: str = ","
    reading: Reading = field(default_factory=Reading)
    value_notes: list[str] = field(default_factory=list, repr=False, compare=False)
    _columns: dict[str, nw.Series[Any]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """The names of the columns; in an array, their indices."""
        if self.frame is not None:
            return tuple(self.frame.columns)
        assert self.array is not None
        return tuple(range(self.array.shape[1]))

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else len(self.array_of_numbers)

    @property
    def dataframe(self) -> nw.DataFrame[Any]:
        """The rows as a dataframe; only for rows that came as one."""
        assert self.frame is not None
        return self.frame

    @property
    def array_of_numbers(self) -> NDArray[Any]:
        """The rows as an array; only for rows that came as one."""
        assert self.array is not None
        return self.array

    def column(self, name: str) -> nw.Series[Any]:
        """Return a column of a dataframe, with every missing value null."""
        if name not in self._columns:
            self._columns[name] = known_values(self.dataframe[name], self.unknown)
        return self._columns[name]

    def with_numbers(
        self,
        names: Sequence[str],
        *,
        texts: Collection[str] = (),
        formats: Mapping[str, NumberFormat] | None = None,
    ) -> Rows:
        """Return the rows with missing values null, and text that holds numbers as numbers.

        The columns in `texts` are categories, whatever they look like. `formats` says of a column
        how it writes numbers, if that is known.
        """
        columns = []
        for name in names:
            column = self.column(name)
            may_hold_numbers = column.dtype == nw.String and name not in texts
            numbers = None
            if may_hold_numbers:
                numbers = read_numbers(
                    column,
                    reading=self.reading,
                    number_format=(formats or {}).get(name),
                    notes=self.value_notes,
                )
            columns.append(column if numbers is None else numbers.alias(name))
        return replace(self, frame=self.dataframe.with_columns(*columns), _columns={})

    def check_columns(self, names: Sequence[str], argument: str) -> tuple[str, ...]:
        """Return the names if all are columns, else raise and suggest the nearest column."""
        for name in names:
            if name not in self.columns:
                raise ColumnError(
                    f"{argument}: no column {name!r} in {self.name}{nearest(name, self.columns)} "
                    f"(columns: {listed(self.columns)})"
                )
        return tuple(names)

    def repairable(self, excluded: Collection[Any]) -> tuple[Any, ...]:
        """Return the columns that are repaired if none is named: see `is_not_repaired`."""
        names = [name for name in self.columns if name not in excluded]
        if self.frame is None:
            return tuple(names)
        return tuple(
            name
            for name in names
            if not is_not_repaired(self.frame[name], self.unknown, self.reading)
        )

    def types(self, asked: Mapping[Any, AskedType]) -> tuple[ColumnType, ...]:
        """Return the type of each column that is asked for."""
        if not asked:
            raise ColumnError("columns: there is no column to repair but the stratifying ones")
        if self.frame is not None:
            return tuple(
                type_of(
                    self.frame[name],
                    kind,
                    unknown=self.unknown,
                    reading=self.reading,
                    notes=self.value_notes,
                )
                for name, kind in asked.items()
            )
        for name, kind in asked.items():
            if kind not in (None, "number") and not isinstance(kind, ColumnType):
                raise ColumnError(f"columns: {name!r} as {kind!r}: an array holds numbers only")
        holds_integers = self.array_of_numbers.dtype.kind in "iub"
        return tuple(
            ColumnType(name=name, kind="integer" if holds_integers else "number") for name in asked
        )

    def mixed_columns(self, column_types: Sequence[ColumnType], asked: Any) -> list[str]:
        """Return the columns of numbers and words that were not declared to be categories."""
        if self.frame is None:
            return []
        named = asked if isinstance(asked, Mapping) else {}
        return [
            column.name
            for column in column_types
            if column.kind == "category"
            and self.frame[column.name].dtype == nw.String
            and named.get(column.name) is None
            and any(is_number(category) for category in column.categories)
        ]

    def numbers(
        self, column_types: Sequence[ColumnType], *, unseen: Literal["error", "keep"] = "error"
    ) -> list[FloatArray]:
        """Return columns as numbers; an array of floats is not copied.

        With unseen="keep", a category that was not fitted counts as missing.
        """
        if self.frame is not None:
            return [
                to_numbers(
                    self.column(column_type.name), column_type, unseen=unseen, reading=self.reading
                )
                for column_type in column_types
            ]
        array = self.array_of_numbers
        return [
            np.asarray(array[:, column_type.name], dtype=np.float64) for column_type in column_types
        ]

    def output(self, column_types: Sequence[ColumnType], before: Sequence[FloatArray]) -> Output:
        """Return the place that repaired columns are written to."""
        if self.frame is not None:
            after = [numbers.copy() for numbers in before]
            return Output(rows=self, column_types=column_types, before=before, after=after)
        source = self.array_of_numbers
        all_whole = all(column_type.kind == "integer" for column_type in column_types)
        keeps_type = source.dtype.kind == "f" or all_whole
        array = np.array(source, dtype=source.dtype if keeps_type else np.float64)
        # The columns of an array of floats are views, so that nothing is copied at the end.
        after = (
            [array[:, column_type.name] for column_type in column_types]
            if array.dtype == np.float64
            else [numbers.copy() for numbers in before]
        )
        return Output(rows=self, column_types=column_types, before=before, after=after, array=array)


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where repaired columns are written, and how they are handed back."""

    rows: Rows
    column_types: Sequence[ColumnType]
    before: Sequence[FloatArray]
    after: Sequence[FloatArray]
    array: NDArray[Any] | None = None

    def repaired_frame(self) -> nw.DataFrame[Any]:
        """Return the dataframe that came in, with its columns repaired."""
        frame = self.rows.dataframe
        repairs = zip(self.column_types, self.before, self.after, strict=True)
        columns = [
            from_numbers(frame[column_type.name], column_type, before=before, after=after)
            for column_type, before, after in repairs
        ]
        return frame.with_columns(*columns)

    def native(self, library: str = "default", *, without: Collection[str] = ()) -> Any:
        """Return what came in, with its columns repaired.

        Parameters
        ----------
        library : str
            A dataframe is of the library that scikit-learn's `set_output` names, or of its own.
        without : collection of str
            Columns of a dataframe that are left out.
        """
        if self.array is None:
            return of_library(self.repaired_frame().drop(*without), library)
        array = self.array
        if array.dtype == np.float64:
            return array
        if array.dtype.kind in "iu":
            # A repaired value may lie outside a narrow type, such as that of 8-bit integers.
            limits = np.iinfo(array.dtype)
            for after in self.after:
                if np.any((after < limits.min) | (after > limits.max)):
                    array = array.astype(np.int64)
                    break
        for column_type, before, after in zip(
            self.column_types, self.before, self.after, strict=True
        ):
            changed = np.flatnonzero((before != after) & ~np.isnan(after))
            array[changed, column_type.name] = after[changed]
        return array


@dataclass(frozen=True, kw_only=True)
class RecordOutput:
    """Whole records in the place of rows, and how they are handed back.

    Attributes
    ----------
    rows : Rows
    column_types : sequence of ColumnType
    records : float array, records by columns
        NaN where a value is missing.
    index : int array
        The record of each row; -1 for rows that stay as they are.
    """

    rows: Rows
    column_types: Sequence[ColumnType]
    records: FloatArray
    index: IntArray

    def repaired_frame(self) -> nw.DataFrame[Any]:
        """Return the dataframe that came in, with the records in their columns."""
        frame = self.rows.dataframe
        stays = self.index < 0
        columns = []
        for place, column_type in enumerate(self.column_types):
            column = frame[column_type.name]
            values = typed_values(column, column_type, self.records[:, place])
            written = values[np.maximum(self.index, 0)] if len(self.index) else column
            if stays.any():
                mask = nw.new_series("mask", ~stays, backend=frame.implementation)
                written = written.zip_with(mask, column.cast(written.dtype))
            if (
                written.implementation is nw.Implementation.PYARROW
                and written.dtype == column.dtype
            ):
                # Arrow has several types of text, and joins them as the plainest.
                native: Any = column.to_native()
                written = nw.from_native(written.to_native().cast(native.type), series_only=True)
            columns.append(written.alias(column_type.name))
        return with_columns(frame, columns)

    def native(self, library: str = "default", *, without: Collection[str] = ()) -> Any:
        """Return what came in, with the records in their columns; arguments as for `Output`."""
        if self.rows.frame is not None:
            return of_library(self.repaired_frame().drop(*without), library)
        source = self.rows.array_of_numbers
        names = [column_type.name for column_type in self.column_types]
        written = np.flatnonzero(self.index >= 0)
        records = self.records[self.index[written]]
        is_whole = bool(np.all(records == np.floor(records)))
        keeps_type = source.dtype.kind == "f" or is_whole
        array = np.array(source, dtype=source.dtype if keeps_type else np.float64)
        if array.dtype.kind in "iu" and records.size:
            limits = np.iinfo(array.dtype)
            if records.min() < limits.min or records.max() > limits.max:
                array = array.astype(np.int64)
        array[np.ix_(written, names)] = records
        return array


def with_columns(frame: nw.DataFrame[Any], columns: Sequence[nw.Series[Any]]) -> nw.DataFrame[Any]:
    """Return the frame with columns replaced; pandas would match their rows by label."""
    if frame.implementation is not nw.Implementation.PANDAS:
        return frame.with_columns(*columns)
    native: Any = frame.to_native()
    natives = [column.to_native() for column in columns]
    for column in natives:
        column.index = native.index
    repaired = native.assign(**{str(column.name): column for column in natives})
    return nw.from_native(repaired, eager_only=True)


def of_library(frame: nw.DataFrame[Any], library: str) -> Any:
    """Return a dataframe of its own library, or of the one that `set_output` names."""
    if library == "pandas":
        return frame.to_pandas()
    return frame.to_polars() if library == "polars" else frame.to_native()


def rows_of(
    X: Any,  # noqa: N803 - as in scikit-learn
    unknown: Sequence[Value] = (),
    reading: Reading | None = None,
) -> Rows:
    """Return the rows of a dataframe or an array.

    For anything else both are None: scikit-learn then converts it, or says what is wrong with it.
    """
    reading = reading or Reading()
    if isinstance(X, np.ndarray):
        return Rows(array=X, unknown=tuple(unknown), reading=reading)
    try:
        frame: Any = nw.from_native(X)
    except TypeError:
        return Rows(unknown=tuple(unknown), reading=reading)
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"X: a column name is there twice: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        raise TableError(
            f"X: the rows of a {type(X).__name__} are not in memory; collect it into a dataframe "
            "first"
        )
    not_text = [name for name in frame.columns if not isinstance(name, str)]
    if not_text:
        raise TableError(
            f"X: a column is called {not_text[0]!r}; expected names that are text, or an array"
        )
    return Rows(frame=frame, unknown=tuple(unknown), reading=reading)


def load_rows(source: TableLike, unknown: Sequence[Value] = ()) -> Rows:
    """Return all rows of a dataframe, a file or a shipped data set."""
    table = open_table(source)
    source = table.source
    if table.dataset is not None:
        frame = _read_file(table.dataset.path)
        return Rows(frame=frame, name=table.name, unknown=tuple(unknown), reading=table.reading)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        # Not .tsv: its tabs come from the ending, and a .csv made of it has commas.
        is_csv = path.name.lower().endswith((".csv", ".csv.gz"))
        return Rows(
            frame=_read_file(path),
            name=table.name,
            separator=csv_header(path)[0] if is_csv else ",",
            unknown=tuple(unknown),
            reading=table.reading,
        )
    native: Any = nw.from_native(source) if source is not table else _named(table)
    if native.implementation is nw.Implementation.DUCKDB:
        frame = _arrow_frame(native.to_native(), table.name)
    else:
        frame = native.collect() if isinstance(native, nw.LazyFrame) else native
    return Rows(frame=frame, name=table.name, unknown=tuple(unknown), reading=table.reading)


def _named(table: Table) -> nw.LazyFrame[Any]:
    """Return the frame of a table under the user's names."""
    return table.frame.rename({inner: name for name, inner in table.names.items()})


def one_row(row: Any, names: Sequence[str]) -> Any:
    """Return a row as a dataframe or array of one row.

    A mapping, or a row of a dataframe, may have more columns than `names`; they are left out.
    """
    if not (isinstance(row, Mapping) or (hasattr(row, "to_dict") and np.ndim(row) == 1)):
        return np.atleast_2d(row) if isinstance(row, np.ndarray | list | tuple) else row
    cells = dict(row)
    lacking = [name for name in names if name not in cells]
    if lacking:
        raise TableError(f"row: lacks {listed(lacking)}; expected a value of each column")
    columns = {str(name): [cells[name]] for name in (names if len(names) else cells)}
    for library in ("polars", "pandas", "pyarrow"):
        if find_spec(library):
            return nw.from_dict(columns, backend=library).to_native()
    raise TableError("row: a mapping needs polars, pandas or pyarrow; pass an array instead")


def _read_file(path: Path) -> nw.DataFrame[Any]:
    relation = read(path)
    if kind_of(path) != "parquet":
        return _arrow_frame(relation, str(path))
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # Arrow keeps what DuckDB drops: dictionary types, and pandas' notes on the columns.
        native = parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path}: not readable as Parquet: {in_one_line(error)}") from error
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    return frame


def _arrow_frame(relation: Any, name: str) -> nw.DataFrame[Any]:
    """Return a DuckDB relation's rows as an Arrow table."""
    import duckdb
    import pyarrow as pa

    try:
        table = relation.to_arrow_table()
    except duckdb.Error as error:
        raise TableError(f"{name}: cannot be read: {in_one_line(error)}") from error
    # DuckDB reads whole numbers of JSON as 128-bit ones if any is negative, and Arrow has only
    # decimals for those.
    for index, field_type in enumerate(table.schema.types):
        if field_type == pa.decimal128(38, 0):
            with suppress(pa.ArrowInvalid):  # too large: it stays a decimal
                integers = table.column(index).cast(pa.int64())
                table = table.set_column(index, table.column_names[index], integers)
    frame: nw.DataFrame[Any] = nw.from_native(table, eager_only=True)
    return frame
