"""Tables whose rows are in memory: dataframes, arrays, and whole files.

Repairs and trade-offs need all rows of a column at once. A repaired table has the type of the one
that came in: only the repaired cells differ.
"""

from __future__ import annotations

import json
import os
import re
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
from fourfifths._tables.engines.parquet import parquet_tables
from fourfifths._tables.engines.spark import one_line_errors
from fourfifths._tables.files import (
    CsvStyle,
    TableFile,
    in_one_line,
    write_lines,
    write_table,
)
from fourfifths._tables.table import (
    Table,
    TableLike,
    Value,
    columns_called,
    object_categories,
    object_columns,
    open_table,
    plain_columns,
    plain_relation,
)
from fourfifths._tables.types import (
    AskedType,
    ColumnType,
    check_exact,
    check_finite,
    from_numbers,
    is_dictionary,
    is_not_repaired,
    plain_numbers,
    to_numbers,
    type_of,
    typed_values,
    with_categories,
)
from fourfifths._tables.values import (
    DECLARED_CATEGORIES,
    MAX_EXACT_INTEGER,
    NumberFormat,
    Reading,
    are_codes,
    is_number,
    known_values,
    read_numbers,
)
from fourfifths._text import listed, nearest
from fourfifths.datasets import Dataset
from fourfifths.errors import ColumnError, TableError

MAX_LOADED_SPARK_ROWS = 2_000_000  # about 1 GB while they are repaired


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
    notes : tuple of str
        What was assumed when they were read.
    style : CsvStyle
        That of the CSV file that the rows came from, so that the output has it too.
    json_lines : JsonLines or None
        The lines that the rows came from.
    reading : Reading
        What the user said about how values are to be read.
    value_notes : list of str
        What was assumed about values; it grows as columns are read.
    first_row : int
        The number of the first row in the whole table, of which these may be a part.
    objects : mapping of str to series
        Columns of Python's objects, and of categories that are no texts, as they came in, before
        they became numbers or texts.
    """

    frame: nw.DataFrame[Any] | None = None
    array: NDArray[Any] | None = None
    unknown: tuple[Value, ...] = ()
    name: str = "the table"
    notes: tuple[str, ...] = ()
    style: CsvStyle = CsvStyle()  # noqa: RUF009 - it is frozen
    json_lines: JsonLines | None = None
    reading: Reading = field(default_factory=Reading)
    value_notes: list[str] = field(default_factory=list, repr=False, compare=False)
    first_row: int = 0
    objects: Mapping[str, nw.Series[Any]] = field(default_factory=dict, repr=False, compare=False)
    _columns: dict[str, nw.Series[Any]] = field(default_factory=dict, repr=False, compare=False)
    _numbers: dict[str, FloatArray] = field(default_factory=dict, repr=False, compare=False)

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
        how it writes numbers, if that is known from more rows than these.
        """
        columns = []
        for name in names:
            column = self.column(name)
            # As it came in: a category in which values become missing may become plain text.
            may_hold_numbers = self.dataframe[name].dtype == nw.String and name not in texts
            number_format, numbers = (formats or {}).get(name), None
            if may_hold_numbers and number_format is None:
                may_hold_numbers = not are_codes(column, self.reading.known)
            if may_hold_numbers:
                numbers = read_numbers(
                    column,
                    reading=self.reading,
                    number_format=number_format,
                    notes=self.value_notes,
                    may_round=number_format is not None,
                )
            if may_hold_numbers and numbers is None and number_format is not None:
                # The column holds numbers, so in rows without any all texts mean "not known".
                column = known_values(column, column.unique().drop_nulls().to_list())
            columns.append(column if numbers is None else numbers.alias(name))
        return self.with_frame(self.dataframe.with_columns(*columns))

    def with_frame(self, frame: nw.DataFrame[Any]) -> Rows:
        """Return the rows of another dataframe, read as these are."""
        return replace(self, frame=frame, objects={}, _columns={}, _numbers={})

    def with_repaired(self, columns: Sequence[nw.Series[Any]]) -> nw.DataFrame[Any]:
        """Return the dataframe with these columns, and all others as they came in."""
        repaired = {column.name: column for column in columns}
        for name, column in self.objects.items():
            if name in repaired and column.dtype in DECLARED_CATEGORIES:
                repaired[name] = with_categories_of(column, repaired[name])
            repaired.setdefault(name, column)
        return with_columns(self.dataframe, list(repaired.values()))

    def with_known_numbers(self, numbers: Mapping[str, FloatArray]) -> Rows:
        """Return the rows with columns whose numbers were read from their texts before."""
        return replace(self, _numbers=dict(numbers))

    def check_columns(self, names: Sequence[str], argument: str) -> tuple[str, ...]:
        """Return the names if all are columns, else raise and suggest the nearest column."""
        for name in names:
            if name not in self.columns:
                alike = columns_called(name, map(str, self.columns))
                if alike:
                    raise ColumnError(
                        f"{argument}: {self.name} has more than one column {name!r}; say which is "
                        f"meant ({listed(alike)}), or rename one"
                    )
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

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a file; cells of JSON lines that did not change stay as they were."""
        frame, ending = self.dataframe, Path(path).suffix.lower()
        if self.json_lines is not None and ending == ".jsonl":
            write_lines(path, self.json_lines.rewritten(frame.to_arrow()))
            return
        if self.json_lines is not None:
            table = self.json_lines.exact(frame.to_arrow(), as_text=ending != ".parquet")
            frame = nw.from_native(table, eager_only=True)
        write_table(path, frame, self.style)

    def types(self, asked: Mapping[Any, AskedType]) -> tuple[ColumnType, ...]:
        """Return the type of each column that is asked for."""
        if not asked:
            raise nothing_to_repair()
        if self.frame is not None:
            return tuple(
                type_of(
                    self.frame[name],
                    kind,
                    known=self.column(name),
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
        self,
        column_types: Sequence[ColumnType],
        *,
        unseen: Literal["error", "keep", "refuse"] = "error",
    ) -> list[FloatArray]:
        """Return columns as numbers; an array of floats is not copied.

        `unseen` is what becomes of a category that was not fitted, as in `to_numbers`.
        """
        if self.frame is None:
            array = self.array_of_numbers
            return [
                np.asarray(array[:, column_type.name], dtype=np.float64)
                for column_type in column_types
            ]
        columns = []
        for column_type in column_types:
            column = self.dataframe[column_type.name]
            is_number = column_type.kind in ("number", "integer") and not self.unknown
            numbers = None
            if is_number and column_type.name in self._numbers:
                numbers = self._numbers[column_type.name]
            # Plain numbers need no search for missing values.
            elif is_number and column.dtype.is_float():
                numbers = to_numbers(column, column_type)  # NaN is missing anyway
            elif is_number and column.dtype == nw.String:
                numbers = plain_numbers(column, column_type, self.reading)
            if numbers is None:
                known, notes = self.column(column_type.name), list[str]()
                numbers = to_numbers(
                    known, column_type, unseen=unseen, reading=self.reading, notes=notes
                )
                self.value_notes.extend(note for note in notes if note not in self.value_notes)
            columns.append(numbers)
        return columns

    def checked_numbers(self, column_types: Sequence[ColumnType]) -> list[FloatArray]:
        """Return columns as numbers, and raise if one is infinite or too large to be exact."""
        columns = self.numbers(column_types)
        for values, column_type in zip(columns, column_types, strict=True):
            check_finite(values, column_type, first_row=self.first_row)
            if column_type.kind == "integer":
                check_exact(column_type, float(np.fmax.reduce(np.abs(values), initial=0.0)))
        return columns

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
class JsonLines:
    """JSON lines as they were written, and as they were read.

    A number, a time or an object could be written in many ways; what a repair does not change comes
    back in the one that it had.

    Attributes
    ----------
    lines : Arrow column of text
    table : Arrow table
    """

    lines: Any
    table: Any

    @classmethod
    def read(cls, file: TableFile, frame: nw.DataFrame[Any]) -> JsonLines:
        """Return the lines of a file whose rows were read already."""
        import pyarrow as pa

        lines = file.lines().cast(pa.large_string())
        if len(lines) != len(frame):
            raise TableError(f"{file.path}: expected one JSON object per line")
        return cls(lines=lines, table=frame.to_arrow())

    def rewritten(self, after: Any) -> Any:
        """Return the lines with the changed cells of a table, and without the columns it lacks."""
        import pyarrow as pa
        import pyarrow.compute as pc

        lines, nothing = self.lines, pa.scalar("", pa.large_string())
        for name in self.table.column_names:
            before = self.table.column(name)
            value = _json_value(lines, name)
            is_plain = pc.and_(value.is_single, before.is_valid())
            if name not in after.column_names:
                end = pc.extract_regex(value.after, r"^(?P<comma>\s*,?)(?P<rest>.*)$")
                start = pc.replace_substring_regex(value.before, r'"(?:[^"\\]|\\.)*"\s*:\s*$', "")
                is_last = pc.equal(pc.utf8_trim_whitespace(pc.struct_field(end, "comma")), "")
                start = pc.if_else(is_last, pc.replace_substring_regex(start, r",\s*$", ""), start)
                rest = pc.replace_substring_regex(pc.struct_field(end, "rest"), r"^\s+", "")
                rest = pc.if_else(is_last, pc.struct_field(end, "rest"), rest)
                joined = pc.binary_join_element_wise(start, rest, nothing)
                lines = _scanned_rest(lines, pc.if_else(is_plain, joined, None), name, None)
                continue
            changed = _is_changed(before, after.column(name))
            if not pc.any(changed).as_py():
                continue
            texts = _json_texts(after.column(name))
            joined = pc.binary_join_element_wise(value.before, texts, value.after, nothing)
            joined = pc.if_else(pc.invert(changed), lines, pc.if_else(is_plain, joined, None))
            lines = _scanned_rest(lines, joined, name, texts)
        return pa.chunked_array(lines.chunks if hasattr(lines, "chunks") else [lines])

    def exact(self, after: Any, *, as_text: bool) -> Any:
        """Return a table with the cells that did not change as they were written.

        Parameters
        ----------
        after : Arrow table
        as_text : bool
            Whether all columns are wanted as text. Otherwise only those are that hold whole numbers
            too large for their type.
        """
        import duckdb
        import pyarrow as pa
        import pyarrow.compute as pc

        for index, name in enumerate(after.column_names):
            before, column = self.table.column(name), after.column(name)
            if not as_text:
                is_float = pa.types.is_floating(before.type) or pa.types.is_decimal(before.type)
                largest = pc.max(pc.abs(before.cast(pa.float64()))).as_py() if is_float else None
                if largest is None or largest < MAX_EXACT_INTEGER:
                    continue
            value = _json_value(self.lines, name)
            # Numbers digit by digit as they were written, other values as DuckDB reads them.
            is_number = pc.fill_null(pc.match_substring_regex(value.value, r"^[-+0-9.]"), False)  # noqa: FBT003
            is_exact = pc.and_(pc.and_(value.is_single, before.is_valid()), is_number)
            pointer = "/" + name.replace("~", "~0").replace("/", "~1").replace("'", "''")
            relation = duckdb.connect().from_arrow(pa.table({"line": self.lines}))
            read = relation.project(f"json_extract_string(line, '{pointer}') AS text")
            texts = read.to_arrow_table().column(0).cast(pa.large_string())
            texts = pc.if_else(is_exact, value.value, texts)
            changed = _is_changed(before, column)
            if pc.any(changed).as_py():
                texts = pc.if_else(changed, column.cast(pa.large_string()), texts)
            after = after.set_column(index, name, texts)
        return after


@dataclass(frozen=True, kw_only=True)
class JsonValue:
    """The value of a key in each line, with what is before and after it.

    Attributes
    ----------
    before, value, after : Arrow columns of text
    is_single : Arrow column of truth values
        Whether the key is there once, with a plain value. A line may have it in a nested object
        too, or written with escapes.
    """

    before: Any
    value: Any
    after: Any
    is_single: Any


def _json_value(lines: Any, name: str) -> JsonValue:
    import pyarrow.compute as pc

    key = re.escape(json.dumps(name, ensure_ascii=False))
    plain = r'"(?:[^"\\]|\\.)*"|[^\s,{}\[\]"]+'
    pattern = rf"^(?P<before>.*?{key}\s*:\s*)(?P<value>{plain})(?P<after>.*)$"
    fields = pc.extract_regex(lines, pattern)
    is_there_once = pc.equal(pc.count_substring_regex(lines, rf"{key}\s*:"), 1)
    return JsonValue(
        before=pc.struct_field(fields, "before"),
        value=pc.struct_field(fields, "value"),
        after=pc.struct_field(fields, "after"),
        is_single=pc.and_(is_there_once, fields.is_valid()),
    )


def _is_changed(before: Any, after: Any) -> Any:
    """Return which cells of an Arrow column differ; two missing ones do not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if before is after or before.equals(after) or pa.types.is_nested(after.type):
        # Nested values are never repaired, and Arrow does not compare them.
        return pa.chunked_array([pa.repeat(False, len(after))])  # noqa: FBT003
    differ = pc.not_equal(before.cast(after.type, safe=False), after)
    return pc.coalesce(differ, pc.xor(before.is_null(), after.is_null()))


def _json_texts(column: Any) -> Any:
    """Return the cells of an Arrow column as JSON."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = column.combine_chunks().dictionary_encode()
    texts = [
        json.dumps(value, ensure_ascii=False, default=str) for value in codes.dictionary.to_pylist()
    ]
    cells = pa.array(texts, type=pa.large_string()).take(codes.indices)
    return pa.chunked_array([pc.fill_null(cells, "null")])


def _scanned_rest(lines: Any, rewritten: Any, name: str, texts: Any) -> Any:
    """Return rewritten lines; those that are null are read and written key by key.

    Parameters
    ----------
    lines, rewritten : Arrow columns of text
    name : str
        The key.
    texts : Arrow column of text, or None
        Its new values; None removes it.
    """
    import pyarrow as pa

    rows = np.flatnonzero(rewritten.is_null().to_numpy())
    if not rows.size:
        return rewritten
    odd_lines = lines.take(pa.array(rows)).to_pylist()
    values = [None] * len(rows) if texts is None else texts.take(pa.array(rows)).to_pylist()
    written = [
        _with_json_value(line, name, value) for line, value in zip(odd_lines, values, strict=True)
    ]
    cells = np.array(rewritten.to_pylist(), dtype=object)
    cells[rows] = written
    return pa.chunked_array([pa.array(cells, type=pa.large_string())])


def _with_json_value(line: str, name: str, text: str | None) -> str:
    """Return a JSON object with the value of a key replaced, added, or removed.

    Examples
    --------
    >>> _with_json_value('{"a": {"b": 1}, "b" : 2.50}', "b", "3")
    '{"a": {"b": 1}, "b" : 3}'
    >>> _with_json_value('{"a": {"b": 1}}', "b", "3")
    '{"a": {"b": 1}, "b": 3}'
    >>> _with_json_value('{"a": 1, "b": 2}', "b", None)
    '{"a": 1}'
    """
    decoder = json.JSONDecoder()
    space = re.compile(r"[\s,:]*")
    position = line.index("{") + 1
    previous_end = position
    while True:
        start = space.match(line, position).end()  # type: ignore[union-attr]
        if line[start] == "}":
            break
        key, end = decoder.raw_decode(line, start)
        value_start = space.match(line, end).end()  # type: ignore[union-attr]
        _, position = decoder.raw_decode(line, value_start)
        if key == name and text is not None:
            return line[:value_start] + text + line[position:]
        if key == name:
            is_first = previous_end == line.index("{") + 1
            rest = space.match(line, position).end() if is_first else position  # type: ignore[union-attr]
            return line[: start if is_first else previous_end] + line[rest:]
        previous_end = position
    if text is None:
        return line
    comma = ", " if previous_end > line.index("{") + 1 else ""
    entry = f"{comma}{json.dumps(name, ensure_ascii=False)}: {text}"
    return line[:previous_end] + entry + line[previous_end:]


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
        return self.rows.with_repaired(columns)

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
        for index, column_type in enumerate(self.column_types):
            column = frame[column_type.name]
            if is_dictionary(column):
                cells = self.records[np.maximum(self.index, 0), index]
                columns.append(
                    with_categories(column, column_type, cells, is_written=self.index >= 0)
                )
                continue
            values = typed_values(column, column_type, self.records[:, index])
            written = values[np.maximum(self.index, 0)] if len(self.index) else values.head(0)
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
        return self.rows.with_repaired(columns)

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
    if isinstance(X, str | os.PathLike | Table | Dataset):
        name = X if isinstance(X, str | os.PathLike) else f"a {type(X).__name__}"
        raise TableError(
            f"X: {name}: expected a dataframe or an array; read the rows into a dataframe first, "
            "or repair a file with `fourfifths repair`"
        )
    if isinstance(X, np.ndarray):
        return Rows(array=X, unknown=tuple(unknown), reading=reading)
    try:
        frame: Any = nw.from_native(plain_columns(X))
    except TypeError:
        return Rows(unknown=tuple(unknown), reading=reading)
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"X: a column name occurs twice: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        raise TableError(
            f"X: the rows of a {type(X).__name__} are not in memory; collect it into a dataframe "
            "first, or write it to a Parquet file and repair that with `fourfifths repair`"
        )
    not_text = [name for name in frame.columns if not isinstance(name, str)]
    if not_text:
        raise TableError(
            f"X: a column is called {not_text[0]!r}; expected names that are text, or an array"
        )
    objects = {
        name: nw.from_native(X[name], series_only=True)
        for name in (*object_columns(X), *object_categories(X))
    }
    return Rows(frame=frame, objects=objects, unknown=tuple(unknown), reading=reading)


def with_categories_of(column: nw.Series[Any], texts: nw.Series[Any]) -> nw.Series[Any]:
    """Return categories that became texts as the type that they had in a column."""
    original: Any = column.to_native()
    native: Any = texts.to_native()
    if column.implementation is nw.Implementation.PANDAS:
        category_of = {str(category): category for category in original.cat.categories}
        restored = native.astype(object).map(category_of).astype(original.dtype)
    else:
        plain = native.cast(native.type.value_type).cast(original.type.value_type)
        restored = plain.dictionary_encode().cast(original.type)
    series: nw.Series[Any] = nw.from_native(restored, series_only=True)
    return series.alias(texts.name)


def check_numbers(X: Any) -> None:  # noqa: N803 - as in scikit-learn
    """Raise if an array of objects holds anything but numbers, and name the first."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "O"):
        return
    for column in range(X.shape[1]):
        try:
            X[:, column].astype(np.float64)
        except (TypeError, ValueError):
            wrong = next(cell for cell in X[:, column] if not _is_number(cell))
            raise ColumnError(
                f"X: column {column} holds {wrong!r}; expected numbers, and NaN where a value is "
                "missing; a dataframe may hold texts and categories too"
            ) from None


def _is_number(cell: Value) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def nothing_to_repair() -> ColumnError:
    """Return the error for a table with no column to repair."""
    return ColumnError("columns: there is no column to repair but the stratifying ones")


def load_rows(source: TableLike, unknown: Sequence[Value] = ()) -> Rows:
    """Return all rows of a dataframe, a file or a shipped data set."""
    table = open_table(source)
    rows = Rows(name=table.name, unknown=tuple(unknown), notes=table.notes, reading=table.reading)
    if table.file is not None:
        frame = _file_frame(table.file, table.name)
        lines = None
        if table.file.kind == "json":
            lines = JsonLines.read(table.file, frame)
        return replace(rows, frame=frame, style=table.file.style, json_lines=lines)
    if isinstance(source, Table):
        native: Any = table.frame.select(*table.names.values())
    else:
        native = nw.from_native(plain_columns(source))
    if native.implementation is nw.Implementation.DUCKDB:
        frame = _arrow_frame(native.to_native(), table.name)
    elif native.implementation.is_spark_like():
        with one_line_errors():
            row_count = int(native.select(nw.len()).collect("pyarrow").item())
            if row_count > MAX_LOADED_SPARK_ROWS:
                raise TableError(
                    f"the table: {row_count:,} rows are in Spark, more than the "
                    f"{MAX_LOADED_SPARK_ROWS:,} that are loaded from it; take some of them, "
                    "df.sample(...), or repair them there: Repairer(...).fit(df).transform(df)"
                )
            frame = native.collect("pyarrow")
    else:
        frame = native.collect() if isinstance(native, nw.LazyFrame) else native
    if isinstance(source, Table):
        frame = frame.rename({inner: name for name, inner in table.names.items()})
    return replace(rows, frame=frame)


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


def _file_frame(file: TableFile, name: str) -> nw.DataFrame[Any]:
    """Return the rows of a file as an Arrow table."""
    if file.kind != "parquet":
        return _arrow_frame(file.relation, name, file)
    import pyarrow as pa
    from pyarrow import parquet

    if len(file.paths) > 1 or file.is_hive:
        tables = list(parquet_tables(file, name, None))
        return nw.from_native(plain_columns(pa.concat_tables(tables)), eager_only=True)
    try:
        # Arrow keeps what DuckDB drops: dictionary types, and pandas' notes on the columns.
        native = parquet.ParquetFile(file.paths[0]).read()
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{name}: not readable as Parquet: {in_one_line(error)}") from error
    if native.column_names != file.relation.columns:
        native = native.rename_columns(file.relation.columns)
    native = plain_columns(native)
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    return frame


def _arrow_frame(relation: Any, name: str, file: TableFile | None = None) -> nw.DataFrame[Any]:
    """Return a DuckDB relation's rows as an Arrow table."""
    import duckdb
    import pyarrow as pa

    try:
        table = plain_columns(plain_relation(relation).to_arrow_table())
    except duckdb.Error as error:
        if file is not None:
            raise file.error(error, name) from error
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
