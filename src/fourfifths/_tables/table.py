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
from typing import Any, TypeAlias, get_args

import narwhals as nw
import numpy as np

from fourfifths import datasets
from fourfifths._tables.engines.spark import check_session, spark_error
from fourfifths._tables.files import TableFile, in_one_line, open_file, parquet_files
from fourfifths._tables.values import (
    CLEAR_NUMBER,
    CODE_TEXT,
    DECLARED_CATEGORIES,
    INFINITY,
    MAX_EXACT_INTEGER,
    WHOLE_NUMBER,
    DecimalMark,
    NumberFormat,
    NumberTexts,
    Reading,
    ValueKind,
    are_codes,
    as_floats,
    check_limits,
    check_words,
    codes_note,
    infinite,
    is_text,
    unknown_tokens,
    with_room_for_null,
    without_missing,
)
from fourfifths._tables.workbook import read_workbook
from fourfifths._text import in_rows, listed, nearest
from fourfifths.errors import ColumnError, OptionError, TableError

# The column of a polars table that numbers its rows; it is none of the user's.
ROW_NUMBER = "row_number"
CLEAR = "0"  # stands for all plain numbers among texts that are counted
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
                # DuckDB makes a moment with a time zone by a module that may not be there (pytz).
                is_zoned = "TIMESTAMP WITH TIME ZONE" in map(str, relation.types)
                records = frame.collect().rows() if is_zoned else relation.fetchall()
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

    def is_declared_category(self, name: str) -> bool:
        """Return whether a column is declared a category, by its type or its file's schema.

        It then holds categories, even if its texts are numbers.
        """
        if self.dtype(name) in DECLARED_CATEGORIES:
            return True
        if self.file is None or self.dtype(name) != nw.String:
            return False
        return name in self.file.declared_categories

    def with_inferred(
        self, name: str, argument: str, unknown: Sequence[Value] = ()
    ) -> tuple[Table, ValueKind]:
        """Return what a column holds, and the table with the column as numbers if it holds those.

        It holds numbers if all its values are, apart from missing ones. Declared categories and
        codes with leading zeros are none. Raise if nearly all values are numbers.

        Parameters
        ----------
        name : str
        argument : str
            The argument that names the column, for errors.
        unknown : sequence
            The user's tokens for "not known".
        """
        dtype = self.dtype(self.column(name, argument))
        if dtype.is_numeric():
            return self.with_missing([name], unknown).with_numbers(name, argument), "number"
        if not is_text(dtype) or self.is_declared_category(name):
            return self, "category"
        table = self.with_missing([name], unknown)
        texts = table._texts(name)
        if not texts.has_numbers:
            return self, "category"
        if texts.unclear.words:
            words = [*texts.unclear.words, *texts.unclear.missing]
            check_words(
                name,
                words,
                word_rows=sum(texts.row_counts[word] for word in words),
                row_count=texts.clear_rows + sum(texts.row_counts.values()),
            )
            return self, "category"
        # One text of each kind decides, like all of them.
        text = nw.col("text")
        kinds = [text.str.contains(CODE_TEXT), texts.is_clear & ~text.str.contains(WHOLE_NUMBER)]
        examples = [row[0] for kind in kinds for row in self.rows(texts.frame.filter(kind).head(1))]
        examples += texts.row_counts
        series = nw.new_series(name, examples, nw.String(), backend="pyarrow")
        if are_codes(series, self.reading.known):
            return replace(self, notes=(*self.notes, codes_note(name))), "category"
        return table._with_text_numbers(name, argument, texts), "number"

    def with_numbers(self, name: str, argument: str, *, may_be_unknown: bool = True) -> Table:
        """Return the table with column `name` as floating-point numbers.

        Text is converted, since a CSV file has nothing else; text that is not a number is an error,
        which points to `unknown` unless that is no argument of who asks. So are infinite numbers,
        and whole numbers that floating-point numbers cannot hold.
        """
        dtype = self.dtype(self.column(name, argument))
        if is_text(dtype):
            texts = self._texts(name)
            if texts.unclear.words:
                word = texts.unclear.words[0]
                if INFINITY.fullmatch(word):
                    raise infinite(f"{argument}={name!r}", repr(word))
                remedy = "correct such cells"
                if may_be_unknown:
                    remedy = (
                        "correct or empty such cells, or, if it means that the value is missing, "
                        f"give unknown=[{word!r}]"
                    )
                raise ColumnError(
                    f"{argument}={name!r}: expected numbers, found {word!r}; {remedy}"
                )
            return self._with_text_numbers(name, argument, texts)
        if not dtype.is_numeric():
            raise ColumnError(
                f"{argument}={name!r}: expected numbers, found {dtype}; make numbers of it first "
                "(in pandas with pandas.to_numeric)"
            )
        # Before they become floats, which skip whole numbers.
        table = self.with_column(name, without_missing(self.col(name), dtype))
        column = table.col(name)
        limits = table.frame.select(column.min().alias("low"), column.max().alias("high"))
        low, high = table.rows(limits)[0]
        check_limits(f"{argument}={name!r}", name, low=low, high=high, is_whole=dtype.is_integer())
        return table.with_column(name, as_floats(column, dtype))

    def _texts(self, name: str) -> ColumnTexts:
        """Return what the texts of a column are, in one pass.

        Only what is not plainly a number is looked at one by one, which in most columns is nothing.
        """
        text = self.col(name).cast(nw.String()).str.strip_chars()
        frame = self.frame.select(text.alias("text")).filter(~nw.col("text").is_null())
        is_clear = nw.col("text").str.contains(CLEAR_NUMBER)
        keyed = frame.select(
            nw.when(is_clear).then(nw.lit(CLEAR)).otherwise(nw.col("text")).alias("key"),
            nw.when(is_clear).then(nw.col("text")).cast(nw.Float64()).alias("number"),
        )
        number = nw.col("number")
        counted = keyed.group_by("key").agg(
            nw.len().alias("rows"), number.min().alias("low"), number.max().alias("high")
        )
        figures = {key: rest for key, *rest in sorted(self.rows(counted), key=lambda row: row[0])}
        clear_rows, low, high = figures.pop(CLEAR, (0, None, None))
        row_counts = {key: int(rows) for key, (rows, _, _) in figures.items()}
        return ColumnTexts(
            frame=frame,
            is_clear=is_clear,
            clear_rows=int(clear_rows),
            low=low,
            high=high,
            row_counts=row_counts,
            unclear=NumberTexts.of(row_counts, self.reading.known),
        )

    def _with_text_numbers(self, name: str, argument: str, texts: ColumnTexts) -> Table:
        """Return the table with a column of texts as numbers, and notes on how they were read."""
        text = self.col(name).cast(nw.String()).str.strip_chars()
        notes, numbers = list[str](), list[float]()
        if texts.row_counts or self.reading.decimal == ",":
            number_format = self._number_format(name, argument, texts)
            missing_rows = sum(texts.row_counts[value] for value in texts.unclear.missing)
            notes = texts.unclear.notes(name, number_format, missing_rows=missing_rows)
            numbers = [number_format.number(value) for value in texts.unclear.numbers]
            if texts.unclear.missing:
                text = nw.when(~text.is_in(list(texts.unclear.missing))).then(text)
            if texts.unclear.numbers:
                text = number_format.plain(text)
        limits = [limit for limit in (texts.low, texts.high, *numbers) if limit is not None]
        if limits:
            low, high = min(limits), max(limits)
            is_whole = max(-low, high) >= MAX_EXACT_INTEGER and all(map(float.is_integer, numbers))
            if is_whole:
                is_fraction = texts.is_clear & ~nw.col("text").str.contains(WHOLE_NUMBER)
                is_whole = not self.rows(texts.frame.filter(is_fraction).head(1))
            check_limits(f"{argument}={name!r}", name, low=low, high=high, is_whole=is_whole)
        table = replace(self, notes=(*self.notes, *notes))
        table = table.with_column(name, text.cast(nw.Float64()))
        return table.with_column(name, without_missing(table.col(name), nw.Float64()))

    def _number_format(self, name: str, argument: str, texts: ColumnTexts) -> NumberFormat:
        """Return the one format in which a column writes its numbers, or raise."""
        has_point = nw.col("text").str.contains(".", literal=True)
        clear = [
            example[0]
            for condition in (has_point, ~has_point)
            for example in self.rows(texts.frame.filter(texts.is_clear & condition).head(1))
        ]
        number_format = texts.unclear.number_format(name, clear=clear, decimal=self.reading.decimal)
        if number_format.is_percent and argument in ("counts", "persons"):
            percentage = next(iter(texts.unclear.numbers))
            raise ColumnError(
                f"{argument}={name!r}: {percentage!r} is a percentage; expected a number of "
                "persons, so name the column that holds the numbers"
            )
        return number_format

    def with_column(self, name: str, expression: nw.Expr) -> Table:
        """Return the table with a column added, or replaced if there is one of this name."""
        inner_name = self.names.get(name, f"c{len(self.names)}")
        frame = self.frame.with_columns(expression.alias(inner_name))
        return replace(self, frame=frame, names={**self.names, name: inner_name})


@dataclass(frozen=True, kw_only=True)
class ColumnTexts:
    """What the texts of a column are: plain numbers, or something that has to be looked at.

    Attributes
    ----------
    frame : lazy frame
        The texts that are not null, in the column "text".
    is_clear : expression
        Which of them are plain numbers.
    clear_rows : int
        How many rows have one.
    low, high : float or None
        The smallest and the largest of these numbers.
    row_counts : mapping of str to int
        How many rows have each other text.
    unclear : NumberTexts
        What these others are.
    """

    frame: nw.LazyFrame[Any]
    is_clear: nw.Expr
    clear_rows: int
    low: float | None
    high: float | None
    row_counts: Mapping[str, int]
    unclear: NumberTexts

    @property
    def has_numbers(self) -> bool:
        """Whether any text is a number."""
        return self.clear_rows > 0 or len(self.unclear.numbers) > 0


def no_rows(name: str) -> TableError:
    """Return the error for a table without rows."""
    return TableError(f"{name}: there are no rows")


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
    for option in ("sheet", "header_row", "hive"):
        if getattr(reading, option) not in (None, False):
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
    if decimal not in (None, *get_args(DecimalMark)):
        raise OptionError(f"decimal={decimal!r}: expected '.' or ','")
    if sheet is not None and not isinstance(sheet, str):
        raise OptionError(f"sheet={sheet!r}: expected the name of a sheet")
    is_line = isinstance(header_row, int) and not isinstance(header_row, bool) and header_row >= 1
    if header_row is not None and not is_line:
        raise OptionError(
            f"header_row={header_row!r}: expected the number of a line; the first is 1"
        )
    for name, choice in (("exact_values", exact_values), ("hive", hive)):
        if not isinstance(choice, bool):
            raise OptionError(f"{name}={choice!r}: expected True or False")
    reading = Reading(
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=unknown_tokens(known),
        exact_values=exact_values,
        hive=hive,
    )
    if isinstance(source, Table) and reading not in (Reading(), source.reading):
        raise OptionError("source: is a table that was opened already; say it when it is opened")
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
        frame = nw.from_native(plain_columns(native, is_only_read=True)).lazy()
        backend: Any = frame.to_native()
        is_spark = frame.implementation.is_spark_like()
        with schema_errors(frame):
            # A schema of narwhals would have a name once that DuckDB and Spark allow twice.
            has_twins = is_spark or frame.implementation is nw.Implementation.DUCKDB
            columns = list(backend.columns) if has_twins else frame.collect_schema().names()
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"{name}: two columns have the same name: {in_one_line(error)}") from error
    except TypeError as error:
        raise TableError(
            f"table: cannot use {type(native).__module__}.{type(native).__qualname__}; expected a "
            "pandas, polars or pyarrow table, a Spark DataFrame, a DuckDB relation, a file's path "
            f"or the name of a shipped data set ({listed(datasets.names())})"
        ) from error
    names = {column: f"c{index}" for index, column in enumerate(columns)}
    if len(names) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise TableError(f"{name}: a column name occurs twice: {twice!r}; rename one")
    if frame.implementation is nw.Implementation.DUCKDB:
        # DuckDB's own projection, because narwhals' rename reads "a.b" as a field of a struct.
        frame = nw.from_native(plain_relation(backend, names))
    elif is_spark:
        # By place: Spark reads "a.b" as a field of a struct, and names without regard to case.
        check_session(backend)
        with schema_errors(frame):
            frame = nw.from_native(backend.toDF(*names.values()))
    else:
        frame = frame.rename(names)
    if frame.implementation is nw.Implementation.POLARS:
        # Before anything is computed of them: polars may change the order of rows of which it
        # computes nothing but literals, as pl.when(...).then(0).otherwise(1).
        lazy: Any = frame.to_native()
        frame = nw.from_native(lazy.with_row_index(ROW_NUMBER))
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
        elif kind in ("TIME WITH TIME ZONE", "TIMETZ"):
            # A Parquet file may say of plain times that they are those of UTC.
            value = f"regexp_replace({value}::VARCHAR, '[+]00$', '')"
        elif kind.startswith(("UUID", "BIT", "MAP")) or re.match(r"TIME(TZ|_NS| .*)?$", kind):
            value = f"{value}::VARCHAR"
        expressions.append(f"{value} AS {name}")
    return relation.project(", ".join(expressions))


def plain_columns(native: Any, *, is_only_read: bool = False) -> Any:
    """Return a table with its columns in types that every library reads.

    Texts and runs of an Arrow table may be stored in several ways, which do not change what they
    mean. Categories of any values become categories of texts. Columns of pandas that hold Python's
    objects become what `without_objects` makes of them. If a table is only read, and never written
    back, times become texts, and the lists of pandas a type that says so. Any other table is
    returned as it is.
    """
    module = type(native).__module__.partition(".")[0]
    if module == "pandas" and hasattr(native, "columns"):
        plain = {name: without_objects(native[name]) for name in object_columns(native)}
        for name in object_categories(native):
            plain[name] = native[name].cat.rename_categories(str)
        native = native.assign(**plain)
        return native.assign(**times_and_lists(native)) if is_only_read else native
    if module == "polars" and is_only_read:
        import polars as pl

        times = pl.col(pl.Time).dt.to_string("%H:%M:%S%.f")
        return native.with_columns(times.str.replace(r"(\.\d*[1-9])0+$", "${1}"))
    if module != "pyarrow" or not hasattr(native, "set_column"):
        return native
    for index, field_type in enumerate(native.schema.types):
        column = _plain_arrow(native.column(index), times=is_only_read)
        if column.type != field_type:
            native = native.set_column(index, native.schema.names[index], column)
    return native


def times_and_lists(native: Any) -> dict[str, Any]:
    """Return the columns of pandas that hold times, as texts, and those of lists, as lists."""
    import pandas as pd

    names = object_columns(native)
    if native.columns.is_unique:
        dtypes = native.dtypes.items()
        names += [name for name, dtype in dtypes if str(dtype).startswith(("time32", "time64"))]
    columns = {}
    for name in names:
        import pyarrow as pa  # loading it takes longer than a small audit

        with suppress(pa.ArrowException):  # objects that Arrow has no type for
            array = pa.chunked_array([pa.array(native[name], from_pandas=True)])
            if pa.types.is_time(array.type) or pa.types.is_nested(array.type):
                array = pd.arrays.ArrowExtensionArray(_plain_arrow(array, times=True))
                columns[name] = pd.Series(array, index=native.index)
    return columns


def clock_texts(texts: Any) -> Any:
    """Return Arrow texts of times without zeros at the end of the seconds, and without a zone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> clock_texts(pa.array(["01:02:03.500000", "10:20:00.000"])).to_pylist()
    ['01:02:03.5', '10:20:00']
    """
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, r"(:\d\d)(\.\d*[1-9])?\.?0*Z?$", r"\1\2")


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


def object_categories(native: Any) -> list[str]:
    """Return the columns of a dataframe whose categories are numbers, intervals or the like."""
    module = type(native).__module__.partition(".")[0]
    if module == "pyarrow" and hasattr(native, "schema"):
        names, types = native.schema.names, native.schema.types
        return [name for name, kind in zip(names, types, strict=True) if is_arrow_category(kind)]
    if module != "pandas" or not native.columns.is_unique:
        return []
    return [
        name
        for name, dtype in native.dtypes.items()
        if isinstance(name, str)
        and dtype.name == "category"
        and not all(isinstance(category, str) for category in dtype.categories)
        and len(set(map(str, dtype.categories))) == len(dtype.categories)
    ]


def is_arrow_category(arrow_type: Any) -> bool:
    """Return whether an Arrow type is one of categories that are no plain texts."""
    import pyarrow as pa

    types = pa.types
    if not types.is_dictionary(arrow_type):
        return False
    value_type = arrow_type.value_type
    return not (types.is_string(value_type) or types.is_large_string(value_type))


def without_objects(column: Any) -> Any:
    """Return a column of Python's objects as numbers, truth values, dates or texts.

    Decimals are numbers. Numbers among texts become texts, because it depends on all of them what
    the column is; so do truth values among numbers, which are words in a column of numbers.
    Columns of anything else, such as lists, stay as they are. So do those of few
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
    >>> without_objects(pd.Series([146, True], dtype=object)).tolist()
    ['146', 'True']
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
    types = set(cells.map(type))
    is_plain = all(issubclass(cell_type, str | Real | Decimal) for cell_type in types)
    if not is_plain or (bool in types and types <= {bool, str}):
        return column
    texts = cells.map(str)
    is_no_truth = ~cells.map(lambda cell: isinstance(cell, bool))  # pandas takes True for 1
    different = cells[is_no_truth].drop_duplicates()
    if different.size <= MAX_AMBIGUOUS_VALUES and texts[is_no_truth].nunique() < different.size:
        return column
    written = column.where(~is_missing, None)
    written[~is_missing] = texts
    return written


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
    if is_arrow_category(column.type):
        chunks = [
            pa.DictionaryArray.from_arrays(
                chunk.indices, chunk.dictionary.cast(pa.string()), ordered=column.type.ordered
            )
            for chunk in column.chunks
        ]
        text_type = pa.dictionary(column.type.index_type, pa.string(), column.type.ordered)
        column = pa.chunked_array(chunks, type=text_type)
    if times and types.is_time(column.type):
        return clock_texts(column.cast(pa.string()))
    if types.is_string_view(column.type):
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
    if isinstance(value, float):
        return None if value != value else value + 0.0  # -0.0 is 0.0
    return value
