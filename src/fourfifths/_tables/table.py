"""One table, whatever it came from: a dataframe, a file, or a shipped data set.

Its rows stay where they are (on disk, in DuckDB) until they are counted or sampled.
"""

from __future__ import annotations

import atexit
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from fourfifths import datasets
from fourfifths._tables.engines.spark import check_session, spark_error
from fourfifths._tables.files import TableFile, in_one_line, open_file, parquet_files
from fourfifths._tables.values import (
    CLEAR_NUMBER,
    DecimalMark,
    NumberTexts,
    Reading,
    is_text,
    unknown_tokens,
    with_room_for_null,
    without_missing,
)
from fourfifths._tables.workbook import read_workbook
from fourfifths._text import in_rows, listed, nearest
from fourfifths.errors import ColumnError, OptionError, TableError

# With more values than this, a column of objects is not one of groups.
MAX_AMBIGUOUS_VALUES = 50

Value: TypeAlias = Any  # one cell of a table: str, int, float, bool, date, ... or None
TableLike: TypeAlias = Any  # a dataframe, a path, the name of a shipped data set, or a Dataset


@dataclass(frozen=True, kw_only=True)
class Table:
    """A lazy table whose rows stay where they are.

    Its columns are called c0, c1, ... inside, because a backend may read a name like "a.b" or "*"
    as more than a name; `names` maps the user's names to those. `notes` says what was assumed when
    the table was read; every result repeats it. `file` is the file that the rows are in, if any.
    """

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    name: str
    dataset: datasets.Dataset | None = None
    reading: Reading = field(default_factory=Reading)
    notes: tuple[str, ...] = ()
    file: TableFile | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's names of the columns."""
        return tuple(self.names)

    def column(self, name: str, argument: str) -> str:
        """Return `name` if there is such a column, else raise and suggest the nearest column."""
        if not isinstance(name, str) or name not in self.names:
            alike = columns_called(name, self.columns)
            if alike:
                raise ColumnError(
                    f"{argument}={name!r}: {self.name} has more than one column of that name; say "
                    f"which is meant ({listed(alike)}), or rename one"
                )
            advice = ""
            has_unnamed = any(re.fullmatch(r"column\d+", column) for column in self.columns)
            if has_unnamed and self.file is not None and self.file.kind != "parquet":
                # A title may have been taken for the header.
                advice = "; if the names are in another line, say which, as in header_row=3"
            raise ColumnError(
                f"{argument}={name!r}: no such column in {self.name}{nearest(name, self.columns)} "
                f"(columns: {listed(self.columns)}){advice}"
            )
        return name

    def col(self, name: str) -> nw.Expr:
        """Return the column as an expression."""
        return nw.col(self.names[name])

    def dtype(self, name: str) -> nw.dtypes.DType:
        """Return the column's type."""
        return self.frame.collect_schema()[self.names[name]]

    def rows(self, frame: nw.LazyFrame[Any]) -> list[tuple[Value, ...]]:
        """Compute a small result frame and return its rows as Python values."""
        try:
            if frame.implementation is nw.Implementation.DUCKDB:
                # These are Python values at once; `collect` would go by way of Arrow.
                relation: Any = frame.to_native()
                records = relation.fetchall()
            else:
                records = frame.collect().rows()
        except Exception as error:  # each backend has errors of its own
            if self.file is not None:
                raise self.file.error(error, self.name) from error
            if frame.implementation.is_spark_like():
                raise spark_error(error) from error
            raise TableError(f"{self.name}: cannot be computed: {in_one_line(error)}") from error
        return [tuple(_plain(value) for value in record) for record in records]

    def without_empty_rows(self) -> Table:
        """Return the table without lines of a CSV that are nothing but delimiters, with a note."""
        if self.file is None or not self.file.may_have_empty_rows:
            return self
        has_value = nw.any_horizontal(
            *(~nw.col(name).is_null() for name in self.names.values()), ignore_nulls=True
        )
        empty = int(self.rows(self.frame.filter(~has_value).select(nw.len()))[0][0])
        if not empty:
            return self
        is_are = "is" if empty == 1 else "are"
        note = f"{in_rows(empty)} {is_are} empty in every column and not counted"
        return replace(self, frame=self.frame.filter(has_value), notes=(*self.notes, note))

    def with_missing(self, columns: Iterable[str], unknown: Sequence[Value]) -> Table:
        """Return the table with every missing value of these columns null."""
        table = self
        for name in columns:
            # Only the user's tokens can make nulls in a column of whole numbers or truth values.
            if unknown:
                frame = with_room_for_null(table.frame, table.names[name])
                table = replace(table, frame=frame)
            expression = without_missing(table.col(name), table.dtype(name), unknown)
            table = table.with_column(name, expression)
        return table

    def with_numbers(self, name: str, argument: str, *, may_be_unknown: bool = True) -> Table:
        """Return the table with column `name` as floating-point numbers.

        Text is converted, since a CSV file has nothing else; text that is not a number is an error,
        which points to `unknown` unless that is no argument of who asks.
        """
        dtype = self.dtype(self.column(name, argument))
        table, number = self, self.col(name)
        if is_text(dtype):
            number = number.cast(nw.String()).str.strip_chars()
            table, number = self._with_number_notes(
                name, number, argument, may_be_unknown=may_be_unknown
            )
        elif not dtype.is_numeric():
            raise ColumnError(
                f"{argument}={name!r}: expected numbers, found {dtype}; make numbers of it first "
                "(in pandas with pandas.to_numeric)"
            )
        table = table.with_column(name, number.cast(nw.Float64()))
        return table.with_column(name, without_missing(table.col(name), nw.Float64()))

    def _with_number_notes(
        self, name: str, text: nw.Expr, argument: str, *, may_be_unknown: bool
    ) -> tuple[Table, nw.Expr]:
        """Return texts as plain numbers, and the table with notes on how they were read.

        Only what is not plainly a number is looked at, which in most columns is nothing.
        """
        texts = self.frame.select(text.alias("text")).filter(~nw.col("text").is_null())
        is_clear = nw.col("text").str.contains(CLEAR_NUMBER)
        counted = texts.filter(~is_clear).group_by("text").agg(nw.len().alias("rows"))
        row_counts: dict[str, int] = dict(sorted(self.rows(counted)))
        if not row_counts and self.reading.decimal != ",":
            return self, text
        unclear = NumberTexts.of(row_counts, self.reading.known)
        if unclear.words:
            word = unclear.words[0]
            remedy = "correct such cells"
            if may_be_unknown:
                remedy = (
                    "correct or empty such cells, or, if it means that the value is missing, give "
                    f"unknown=[{word!r}]"
                )
            raise ColumnError(f"{argument}={name!r}: expected numbers, found {word!r}; {remedy}")
        has_point = nw.col("text").str.contains(".", literal=True)
        clear = [
            example[0]
            for condition in (has_point, ~has_point)
            for example in self.rows(texts.filter(is_clear & condition).head(1))
        ]
        number_format = unclear.number_format(name, clear=clear, decimal=self.reading.decimal)
        if number_format.is_percent and argument in ("counts", "persons"):
            percentage = next(iter(unclear.numbers))
            raise ColumnError(
                f"{argument}={name!r}: {percentage!r} is a percentage; expected a number of "
                "persons, so name the column that holds the numbers"
            )
        missing_rows = sum(row_counts[value] for value in unclear.missing)
        notes = unclear.notes(name, number_format, missing_rows=missing_rows)
        if unclear.missing:
            text = nw.when(~text.is_in(list(unclear.missing))).then(text)
        if unclear.numbers:
            text = number_format.plain(text)
        return replace(self, notes=(*self.notes, *notes)), text

    def with_column(self, name: str, expression: nw.Expr) -> Table:
        """Return the table with column `name` added or replaced."""
        inner_name = self.names.get(name, f"c{len(self.names)}")
        frame = self.frame.with_columns(expression.alias(inner_name))
        return replace(self, frame=frame, names={**self.names, name: inner_name})


def open_table(source: TableLike, reading: Reading | None = None) -> Table:
    """Return the `Table` for a dataframe, a file, a shipped data set or its name.

    A table that is open already keeps the reading that it was opened with.

    Examples
    --------
    >>> open_table("ricci").columns
    ('position', 'oral', 'written', 'race', 'combined', 'passed')
    """
    if isinstance(source, Table):
        return source
    reading = reading or Reading()
    dataset = source if isinstance(source, datasets.Dataset) else dataset_called(source)
    if dataset is not None:
        file = open_file(dataset.path, reading, read_workbook=read_workbook)
        return _wrap(file.relation, name=dataset.name, reading=reading, dataset=dataset, file=file)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if not path:
            raise TableError(
                "table: the name is empty; expected a file or a shipped data set "
                f"({listed(datasets.names())})"
            )
        if "." not in path and not os.path.exists(path):  # noqa: PTH110 - a name, not yet a path
            raise TableError(
                f"{path}: neither a file nor a shipped data set{nearest(path, datasets.names())} "
                f"(data sets: {listed(datasets.names())})"
            )
        file = open_file(path, reading, read_workbook=read_workbook)
        return _wrap(file.relation, name=path, reading=reading, file=file)
    for option in ("sheet", "header_row"):
        if getattr(reading, option) is not None:
            raise OptionError(
                f"{option}={getattr(reading, option)!r}: the table is not a file; leave it out"
            )
    return _wrap(source, name="the table", reading=reading)


def dataset_called(source: TableLike) -> datasets.Dataset | None:
    """Return the shipped data set that has this name, None if there is none.

    Only files have an ending: a name with a dot in it does not belong to a data set.
    """
    if isinstance(source, str) and "." not in source and source in datasets.names():
        return datasets.load(source)
    return None


def source_files(source: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files that a path, a pattern or the name of a shipped data set stands for.

    Examples
    --------
    >>> [file.name for file in source_files("ricci")]
    ['ricci.parquet']
    """
    dataset = dataset_called(source)
    path = Path(source) if dataset is None else dataset.path
    return parquet_files(path) or (path,)


def read_table(
    source: TableLike,
    *,
    sheet: str | None = None,
    header_row: int | None = None,
    decimal: DecimalMark | None = None,
    known: Any = (),
    exact_values: bool = False,
    hive: bool = False,
) -> Table:
    """Open a table and say how it is to be read; any other function takes the result.

    Parameters
    ----------
    source : dataframe, path, str or Dataset
        As for `fourfifths.impact`.
    sheet : str, optional
        The sheet of a workbook. It may be omitted if only one sheet holds a table.
    header_row : int, optional
        The line, or row of a sheet, that holds the names of the columns; the first is 1.
    decimal : {".", ","}, optional
        The decimal mark of numbers that are written as text.
    known : value or sequence of values, optional
        Values that are groups or outcomes, although they look like "not known".
    exact_values : bool
        Whether values that differ only in case or in surrounding spaces are kept apart.
    hive : bool
        Whether the names of the folders that Parquet files are in, such as year=2025, are columns.

    Examples
    --------
    >>> import fourfifths
    >>> ricci = fourfifths.read_table("ricci", exact_values=True)
    >>> fourfifths.impact(ricci, protected="race", outcome="passed").attributes[0].reference
    'W'
    """
    reading = Reading(
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=unknown_tokens(known),
        exact_values=exact_values,
        hive=hive,
    )
    return open_table(source, reading)


@atexit.register
def _forget_duckdb() -> None:
    """Let narwhals forget the types of DuckDB before Python ends.

    DuckDB 2.0 lists as leaked, on the standard error, what is still known of it then. Narwhals has
    no public way to forget.
    """
    with suppress(ImportError, AttributeError):
        from narwhals import _namespace

        _namespace._builtin_namespace.cache_clear()


@contextmanager
def schema_errors(frame: nw.LazyFrame[Any]) -> Iterator[None]:
    """Turn into one line what Spark raises where it has to ask a server for the columns."""
    try:
        yield
    except (nw.exceptions.NarwhalsError, TypeError):
        raise
    except Exception as error:
        if not frame.implementation.is_spark_like():
            raise
        raise spark_error(error) from error


def _wrap(
    native: Any,
    *,
    name: str,
    reading: Reading,
    dataset: datasets.Dataset | None = None,
    file: TableFile | None = None,
) -> Table:
    try:
        frame = nw.from_native(plain_columns(native, times=True)).lazy()
        with schema_errors(frame):
            columns = frame.collect_schema().names()
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"{name}: two columns have the same name: {in_one_line(error)}") from error
    except TypeError as error:
        raise TableError(
            f"table: cannot use {type(native).__module__}.{type(native).__qualname__}; expected a "
            "pandas, polars or pyarrow table, a Spark DataFrame, a DuckDB relation, a file's path "
            f"or the name of a shipped data set ({listed(datasets.names())})"
        ) from error
    names = {column: f"c{index}" for index, column in enumerate(columns)}
    if frame.implementation is nw.Implementation.DUCKDB:
        # DuckDB's own projection, because narwhals' rename reads "a.b" as a field of a struct.
        relation: Any = frame.to_native()
        frame = nw.from_native(plain_relation(relation, names))
    elif frame.implementation.is_spark_like():
        # By place: Spark reads "a.b" as a field of a struct, and names without regard to case.
        native_frame: Any = frame.to_native()
        check_session(native_frame)
        frame = nw.from_native(native_frame.toDF(*names.values()))
    else:
        frame = frame.rename(names)
    return Table(
        frame=frame,
        names=names,
        name=name,
        dataset=dataset,
        reading=reading,
        notes=file.notes if file else (),
        file=file,
    )


def columns_called(name: Any, columns: Iterable[str]) -> list[str]:
    """Return the columns of a file that share a name, which `unique_names` told apart."""
    pattern = re.compile(re.escape(str(name)) + r" \(column \d+\)'*", re.IGNORECASE)
    return [column for column in columns if pattern.fullmatch(column)]


def plain_relation(relation: Any, names: Mapping[str, str] | None = None) -> Any:
    """Return a DuckDB relation with its columns in types that every library reads.

    With `names`, columns are renamed as well.
    """
    names = names or {column: quote(column) for column in relation.columns}
    expressions = []
    for (column, name), kind in zip(names.items(), map(str, relation.types), strict=True):
        value = quote(column)
        if kind == "JSON":  # texts beside numbers: without quotation marks
            value = f"json_extract_string({value}, '$')"
        elif kind.startswith(("UUID", "BIT", "MAP")) or re.match(r"TIME(TZ|_NS| .*)?$", kind):
            value = f"{value}::VARCHAR"
        expressions.append(f"{value} AS {name}")
    return relation.project(", ".join(expressions))


def plain_columns(native: Any, *, times: bool = False) -> Any:
    """Return a table with its columns in types that every library reads.

    Texts and runs of an Arrow table may be stored in several ways, which do not change what they
    mean. Times become texts if asked. Columns of pandas that hold Python's objects become what
    `without_objects` makes of them. Any other table is returned as it is.
    """
    module = type(native).__module__.partition(".")[0]
    if module == "pandas" and hasattr(native, "columns"):
        plain = {name: without_objects(native[name]) for name in object_columns(native)}
        return native.assign(**plain)
    if module != "pyarrow" or not hasattr(native, "set_column"):
        return native
    for index, field_type in enumerate(native.schema.types):
        column = _plain_arrow(native.column(index), times=times)
        if column.type != field_type:
            native = native.set_column(index, native.schema.names[index], column)
    return native


def object_columns(native: Any) -> list[str]:
    """Return the columns of a dataframe that hold Python's objects, and not only texts."""
    if not (type(native).__module__.startswith("pandas") and native.columns.is_unique):
        return []
    import pandas as pd

    return [
        name
        for name, dtype in native.dtypes.items()
        if isinstance(name, str)
        and isinstance(dtype, np.dtype)
        and dtype.kind == "O"
        and pd.api.types.infer_dtype(native[name], skipna=True) not in ("string", "empty")
    ]


def without_objects(column: Any) -> Any:
    """Return a column of Python's objects as numbers, truth values, dates or texts.

    Decimals are numbers. Numbers among texts become texts, because it depends on all of them what
    the column is. Columns of anything else, such as lists, stay as they are. So do those of few
    values of which one is there as a number and as a text: they may be groups, and 1 and "1" one
    group or two.

    Examples
    --------
    >>> import pandas as pd
    >>> from decimal import Decimal
    >>> without_objects(pd.Series([Decimal("1.5"), None], dtype=object)).tolist()
    [1.5, nan]
    >>> without_objects(pd.Series([146.0, "n/a", None], dtype=object)).tolist()
    ['146.0', 'n/a', None]
    """
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    is_missing = column.isna()
    if kind in ("decimal", "floating", "mixed-integer-float"):
        return column.where(~is_missing, float("nan")).astype("float64")
    if kind == "boolean":
        return column.astype("boolean")
    if kind == "date":
        import pyarrow as pa  # loading it takes longer than a small audit

        return column.where(~is_missing, None).astype(pd.ArrowDtype(pa.date32()))
    if kind == "datetime":
        return column.where(~is_missing, None).astype("datetime64[us]")
    if kind == "integer":
        with suppress(OverflowError):  # whole numbers of more than 64 bits stay as they are
            return column.astype("Int64")
    cells = column[~is_missing]
    if not cells.map(_is_number_or_text).all():
        return column
    different, texts = cells.drop_duplicates(), cells.map(str)
    if different.size <= MAX_AMBIGUOUS_VALUES and texts.nunique() < different.size:
        return column
    written = column.where(~is_missing, None)
    written[~is_missing] = texts
    return written


def _is_number_or_text(cell: Value) -> bool:
    return isinstance(cell, str | Real | Decimal) and not isinstance(cell, bool)


def _plain_arrow(column: Any, *, times: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if isinstance(column.type, pa.BaseExtensionType):
        name = column.type.extension_name
        chunks = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(chunks, type=column.type.storage_type)
        if name == "arrow.uuid":
            cells = column.to_pylist()
            texts = [None if cell is None else str(uuid.UUID(bytes=cell)) for cell in cells]
            column = pa.chunked_array([pa.array(texts, type=pa.string())])
    if types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(chunks, type=column.type.value_type)
    if types.is_dictionary(column.type) and types.is_string_view(column.type.value_type):
        chunks = [
            pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.string()))
            for chunk in column.chunks
        ]
        index_type = column.type.index_type
        column = pa.chunked_array(chunks, type=pa.dictionary(index_type, pa.string()))
    if types.is_string_view(column.type) or (times and types.is_time(column.type)):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if types.is_float16(column.type) else column


def quote(name: str) -> str:
    """Return a name quoted for SQL.

    Examples
    --------
    >>> print(quote('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Value) -> Value:
    """Return a cell as a plain Python value; every kind of missing is None."""
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    # By name, because pandas need not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and value != value else value
