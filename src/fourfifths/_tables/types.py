"""The types of columns, and how a repair reads them as numbers and writes them back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.values import (
    MAX_EXACT_INTEGER,
    PLAIN,
    MissingText,
    NumberFormat,
    Reading,
    are_codes,
    as_floats,
    beyond_exact,
    codes_note,
    in_arrow,
    is_date,
    is_text,
    known_values,
    numbers_and_format,
    read_numbers,
    rows_where,
    with_room_for_null,
)
from fourfifths._text import listed, nearest
from fourfifths.errors import ColumnError

Kind = Literal["number", "integer", "ordered", "category", "date"]
MAX_CATEGORIES = 1_000
# A text column with no more different texts than this is never taken for an identifier.
MAX_CATEGORIES_OF_FEW_ROWS = 20
TRUTH_VALUES = (False, True)
# applicant_id, "Employee No", applicantId; not paid, nor bid.
IDENTIFIER_NAME = re.compile(r"(?i:(?:^|[\W_])(?:id|key|uuid|guid|number|no|nr)$)|[a-z]I[dD]$")
DATE_TEXT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.]+)?$"
# Columns of these names say which group a person is in. Not age, which is a feature as often.
GROUP_WORDS = {
    *("citizenship", "color", "colour", "disability", "ethnicity", "gender", "national_origin"),
    *("nationality", "race", "religion", "sex", "veteran"),
}
EPOCH = datetime(1970, 1, 1)
# In these libraries, columns are written whole; in others, cell by cell.
WRITTEN_WHOLE = (nw.Implementation.PYARROW, nw.Implementation.POLARS)
MAX_DECIMAL_DIGITS = 76  # of Arrow's widest decimals
DIGITS_OF_FLOATS = 17  # that tell any two apart


@dataclass(frozen=True, kw_only=True)
class ColumnType:
    """What a column is repaired as.

    Attributes
    ----------
    name : str, or int in an array
    kind : {"number", "integer", "ordered", "category", "date"}
        Dates and times are read as microseconds since 1970.
    categories : tuple
        Of an ordered column the lowest first, else in alphabetical order.
    number_format : NumberFormat
        How a text column writes its numbers.
    """

    name: Any
    kind: Kind
    categories: tuple[Any, ...] = ()
    number_format: NumberFormat = PLAIN


# What a user may ask a column to be repaired as. None decides by the column's values, a sequence
# is the order of its categories, and a ColumnType comes from another fitted repair.
AskedType = Literal["number", "category"] | Sequence[str] | ColumnType | None


def asked_columns(
    columns: Sequence[str] | Mapping[str, AskedType],
    table_columns: Sequence[str],
    *,
    stratifying: Sequence[str],
    key: str | None = None,
) -> dict[str, AskedType]:
    """Return which columns to repair, and as what.

    Parameters
    ----------
    columns
        As in `Repairer`.
    table_columns : sequence of str
    stratifying : sequence of str
    key : str, optional
        The column that identifies a row.
    """
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable) or any(isinstance(name, list) for name in columns):
        raise ColumnError(
            f"columns={columns!r}: expected names of columns, or indices of an array's columns"
        )
    named = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    asked = {
        int(name) if isinstance(name, np.integer) else name: kind for name, kind in named.items()
    }
    if not asked:
        raise ColumnError("columns: name at least one column to repair")
    for name in asked:
        if name not in table_columns:
            raise ColumnError(
                f"columns: no column {name!r}{nearest(name, table_columns)} (columns: "
                f"{listed(table_columns)})"
            )
        if name in stratifying:
            raise ColumnError(
                f"columns: {name!r} is what the strata are made of; it cannot be repaired as well"
            )
        if name == key:
            raise ColumnError(
                f"columns: {name!r} is the key, which tells rows apart; it cannot be repaired as "
                "well"
            )
    return asked


def is_not_repaired(
    column: nw.Series[Any], unknown: Sequence[Any] = (), reading: Reading | None = None
) -> bool:
    """Return whether a column is repaired only if it is named: dates, identifiers, other groups.

    Changing them would make a table wrong in ways that nobody expects of a repair. A text is an
    identifier if most rows have one of their own; whole numbers are if all differ and either follow
    each other closely or have a name like one.

    Examples
    --------
    >>> import narwhals as nw
    >>> import pyarrow as pa
    >>> columns = {"applicant_id": [7, 9, 4], "pay": [70, 90, 40], "race": ["A", "B", "A"]}
    >>> table = nw.from_native(pa.table(columns))
    >>> [is_not_repaired(table[name]) for name in columns]
    [True, False, True]
    """
    name = str(column.name).strip()
    if is_date(column.dtype) or name.lower() in GROUP_WORDS:
        return True
    column = known_values(column, unknown)
    present = column.filter(~column.is_null())
    if column.dtype == nw.String:
        if bool(present.str.contains(DATE_TEXT).all()) and len(present):
            return True
        try:
            holds_codes = are_codes(column, reading.known if reading else ())
            numbers = None if holds_codes else read_numbers(column, reading=reading)
        except ColumnError:  # a few words among numbers, or numbers that can be read in two ways
            numbers = None
        if numbers is None:
            distinct = int(present.n_unique()) if len(present) else 0
            is_mostly_own = distinct > MAX_CATEGORIES_OF_FEW_ROWS and 2 * distinct > len(present)
            return is_mostly_own or distinct > MAX_CATEGORIES
        present = numbers.filter(~numbers.is_null())
    if not (len(present) and present.dtype.is_integer()):
        return False
    all_differ = int(present.n_unique()) == len(present)
    span = int(present.max()) - int(present.min()) + 1
    is_close = len(present) > MAX_CATEGORIES_OF_FEW_ROWS and span < 2 * len(present)
    return all_differ and (is_close or IDENTIFIER_NAME.search(name) is not None)


def type_of(
    column: nw.Series[Any],
    asked: AskedType,
    *,
    known: nw.Series[Any] | None = None,
    unknown: Sequence[Any] = (),
    reading: Reading | None = None,
    notes: list[str] | None = None,
    row_counts: IntArray | None = None,
) -> ColumnType:
    """Return the type of a dataframe's column: the one asked for, or else that of its values.

    `known` is the column with every missing value null, if somebody has it already. What was
    assumed about numbers that are text is added to `notes`. `row_counts` says for how many rows of
    a table each value stands; by default for one.
    """
    name = str(column.name)
    if isinstance(asked, ColumnType):
        return asked
    # Before missing values become null: that may turn a column with an order into plain text.
    order = _natural_order(column) if asked is None else ()
    column = known_values(column, unknown) if known is None else known
    column, row_counts = _different_texts(column, row_counts)
    holds_codes = asked is None and are_codes(column, reading.known if reading else ())
    if holds_codes and notes is not None:
        notes.append(codes_note(name))
    if asked in (None, "number") and not holds_codes:
        kind, number_format = _number_kind(
            column, must=asked == "number", reading=reading, notes=notes, row_counts=row_counts
        )
        if kind == "ordered":
            return ColumnType(name=name, kind=kind, categories=TRUTH_VALUES)
        if kind is not None:
            return ColumnType(name=name, kind=kind, number_format=number_format)
    if order:
        missing = MissingText.of(unknown)
        order = tuple(category for category in order if category not in missing)
        return ColumnType(name=name, kind="ordered", categories=order)
    if asked is None and is_date(column.dtype):
        return ColumnType(name=name, kind="date")
    if asked is None and not (is_text(column.dtype) or column.is_null().all()):
        raise ColumnError(
            f"columns: {name!r} holds {column.dtype}, as in {_an_example(column)}; expected "
            "numbers, booleans, text, categories or dates; convert it (in pandas with astype), or "
            "name the columns to repair without it"
        )
    categories = _categories(column, declared=asked is not None, row_counts=row_counts)
    if asked in (None, "category"):
        return ColumnType(name=name, kind="category", categories=categories)
    order = _checked_order(name, asked, categories)
    return ColumnType(name=name, kind="ordered", categories=order)


def _different_texts(
    column: nw.Series[Any], row_counts: IntArray | None
) -> tuple[nw.Series[Any], IntArray | None]:
    """Return the different texts of a text column, and for how many rows each stands.

    What a text column is depends on its different texts, which are few. Other columns stay, and so
    do columns whose values are counted already.
    """
    if column.dtype != nw.String or row_counts is not None:
        return column, row_counts
    counted = column.alias("text").value_counts(name="rows")
    row_counts = np.asarray(counted["rows"].to_numpy(), dtype=np.int64)
    return in_arrow(counted["text"]).alias(column.name), row_counts


def _checked_order(name: str, asked: Any, categories: tuple[str, ...]) -> tuple[str, ...]:
    """Return the order that the user gives a column's categories, lowest first."""
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise ColumnError(
            f"columns: {name!r} is to be repaired as {asked!r}; expected 'number', 'category' or "
            "its categories in order, lowest first"
        )
    order = tuple(asked)
    if len(set(order)) != len(order):
        raise ColumnError(
            f"columns={{{name!r}: {list(order)!r}}}: the order names a category twice"
        )
    lacking = [category for category in categories if category not in order]
    if lacking:
        raise ColumnError(
            f"columns={{{name!r}: {list(order)!r}}}: the order lacks {listed(lacking)}"
        )
    return order


def _number_kind(
    column: nw.Series[Any],
    *,
    must: bool,
    reading: Reading | None,
    notes: list[str] | None,
    row_counts: IntArray | None,
) -> tuple[Kind | None, NumberFormat]:
    """Return the kind of a column of numbers or booleans, and how it writes numbers as text.

    The kind is None if the column holds anything else.
    """
    dtype = column.dtype
    if dtype == nw.Boolean:
        return "ordered", PLAIN
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number", PLAIN
    if dtype == nw.String:
        numbers, number_format = numbers_and_format(
            column, must=must, reading=reading, notes=notes, row_counts=row_counts
        )
        if numbers is not None:
            return "integer" if numbers.dtype.is_integer() else "number", number_format
    elif must:
        raise ColumnError(
            f"columns: {column.name!r} is to be repaired as numbers, but holds "
            f"{_an_example(column)}; convert it, or leave it out"
        )
    return None, PLAIN


def _natural_order(column: nw.Series[Any]) -> tuple[str, ...]:
    """Return the order that a column's own type gives its categories, if there is one."""
    dtype = column.dtype
    if isinstance(dtype, nw.Enum):
        return tuple(dtype.categories)
    # narwhals does not say whether the categories of an Arrow column are ordered.
    if column.implementation is not nw.Implementation.PYARROW or dtype != nw.Categorical:
        return ()
    native: Any = column.to_native()
    if not native.type.ordered:
        return ()
    # Each chunk of an Arrow column may have a dictionary of its own.
    chunks = native.unify_dictionaries().chunks
    return tuple(chunks[0].dictionary.to_pylist()) if chunks else ()


def to_numbers(
    column: nw.Series[Any],
    column_type: ColumnType,
    *,
    unseen: Literal["error", "keep", "refuse"] = "error",
    reading: Reading | None = None,
    notes: list[str] | None = None,
) -> FloatArray:
    """Return a column as numbers: categories by their index, missing as NaN.

    With "keep", a category that was not fitted is NaN too; with "refuse", it is an error that does
    not offer to keep it as a remedy. What was assumed about numbers that are text is added to
    `notes`.
    """
    if column_type.kind == "date":
        return microseconds(column, column_type)
    if column_type.kind in ("number", "integer"):
        if column.dtype == nw.String:
            numbers = read_numbers(
                column,
                must=True,
                reading=reading,
                number_format=column_type.number_format,
                notes=notes,
                may_round=column_type.kind == "number",
            )
            assert numbers is not None
            return _as_floats(numbers)
        if not (column.dtype.is_numeric() or column.is_null().all()):
            raise ColumnError(
                f"column {column_type.name!r}: expected numbers, found {_an_example(column)}"
            )
        return _as_floats(column)
    if column.is_null().all():
        return np.full(len(column), np.nan)
    is_boolean = column_type.categories == TRUTH_VALUES
    if not (column.dtype == nw.Boolean if is_boolean else is_text(column.dtype)):
        raise ColumnError(
            f"column {column_type.name!r}: expected {listed(column_type.categories)}, found "
            f"{_an_example(column)}"
        )
    codes = _category_codes(column, column_type.categories)
    is_missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    new_rows = np.flatnonzero(np.isnan(codes) & ~is_missing)
    if new_rows.size and unseen != "keep":
        remedy = ", fit with them, or fit with unseen='keep'"
        raise ColumnError(
            f"column {column_type.name!r}: {column[int(new_rows[0])]!r} is not one of the "
            f"categories {listed(column_type.categories)}; leave these rows out"
            + (remedy if unseen == "error" else ", or fit with them")
        )
    return codes


def plain_numbers(
    column: nw.Series[Any], column_type: ColumnType, reading: Reading | None
) -> FloatArray | None:
    """Return texts of an Arrow column as numbers, if all are written plainly; otherwise None.

    It gives the numbers of `read_numbers` in a tenth of the time, and leaves to it all that has to
    be thought about: words, signs, infinities, and whole numbers that floats cannot hold.
    """
    import pyarrow as pa

    is_comma = reading is not None and reading.decimal == ","
    if column_type.number_format != PLAIN or is_comma or not column.implementation.is_pyarrow():
        return None
    native: Any = column.to_native()
    try:
        numbers = native.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    missing_count = np.count_nonzero(np.isnan(numbers))
    largest = np.fmax.reduce(np.abs(numbers), initial=0.0)
    is_plain = missing_count == native.null_count and largest < MAX_EXACT_INTEGER
    return np.asarray(numbers, dtype=np.float64) if is_plain else None


def _category_codes(column: nw.Series[Any], categories: Sequence[Any]) -> FloatArray:
    """Return the index of each value among the categories; NaN for missing and other values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values: Any = column.to_arrow()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    category_values: Any = pa.array(categories).cast(values.type)
    # A value set without null, so null is not one of its members.
    return np.asarray(
        pc.index_in(values, value_set=category_values)
        .cast(pa.float64())
        .to_numpy(zero_copy_only=False)
    )


def microseconds(column: nw.Series[Any], column_type: ColumnType) -> FloatArray:
    if column.is_null().all():
        return np.full(len(column), np.nan)
    if not is_date(column.dtype):
        raise ColumnError(
            f"column {column_type.name!r}: expected dates, found {_an_example(column)}"
        )
    moments = column.cast(nw.Datetime("us")) if column.dtype == nw.Date else column
    numbers = np.full(len(column), np.nan)
    is_known = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    numbers[is_known] = moments.filter(~column.is_null()).dt.timestamp("us").to_numpy()
    return numbers


def _as_floats(column: nw.Series[Any]) -> FloatArray:
    try:
        numbers = as_floats(column, column.dtype).to_numpy()
    except Exception as error:  # Arrow refuses what floats cannot hold
        raise beyond_exact(column.name) from error
    return np.asarray(numbers, dtype=np.float64)


def check_finite(numbers: FloatArray, column_type: ColumnType, *, first_row: int = 0) -> FloatArray:
    """Return the numbers if all are finite; `first_row` is the number of the first in its table."""
    # If the sum is finite, no number is infinite; a sum takes one pass and no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(numbers)
    if not math.isfinite(total) and np.isinf(numbers).any():
        row = first_row + int(np.flatnonzero(np.isinf(numbers))[0])
        raise ColumnError(
            f"column {column_type.name!r}: row {row} is infinite; expected finite numbers; make it "
            "missing, or leave the column out"
        )
    return numbers


def check_exact(column_type: ColumnType, largest: float) -> None:
    """Raise if a column of whole numbers is so large that floating-point numbers skip some."""
    if largest >= MAX_EXACT_INTEGER:
        raise beyond_exact(column_type.name)


def from_numbers(
    column: nw.Series[Any], column_type: ColumnType, *, before: FloatArray, after: FloatArray
) -> nw.Series[Any]:
    """Return the column with its changed cells replaced; all others stay as they were written.

    The column keeps its type, except that whole numbers become floats if they are repaired as
    numbers, and a wider type if theirs is too narrow. Decimals are rounded to their own scale, and
    text stays text. The column may be made of `after` itself, without a copy.
    """
    # The minimum is NaN if any number is; it takes one pass and no memory.
    has_missing = bool(before.size) and math.isnan(before.min())
    is_number = column_type.kind in ("number", "integer")
    if column_type.kind == "number" and column.dtype.is_integer():
        column = column.cast(nw.Float64())
    if is_number and column.dtype == nw.Float64 and not has_missing and _is_plain(column):
        # Where nothing is missing, all cells are known as numbers. An equal cell stays as it was
        # written: 0.0 equals -0.0, and no other two numbers do that are written differently.
        zeros = np.flatnonzero(after == 0)
        after[zeros] = np.where(before[zeros] == 0, before[zeros], after[zeros])
        if column.implementation is nw.Implementation.PANDAS:  # with its row labels
            native: Any = column.to_native()
            series = type(native)(after, index=native.index, name=native.name, copy=False)
            return nw.from_native(series, series_only=True)
        return nw.new_series(column.name, after, backend=column.implementation)
    is_changed = before != after
    if has_missing:
        # NaN differs from itself, but what is missing stays missing.
        is_changed &= ~np.isnan(before)
    if is_dictionary(column):
        return with_categories(column, column_type, after, is_written=is_changed)
    rows = np.flatnonzero(is_changed)
    if not rows.size:
        return column  # some versions of Arrow and narwhals fail where no cell is set
    try:
        return _with_cells(*_cells_of(column, column_type, after[rows]), rows=rows)
    except Exception as error:  # each backend has errors of its own
        if not is_text(column.dtype):
            raise
        raise too_few_categories(column_type) from error


def _cells_of(
    column: nw.Series[Any], column_type: ColumnType, changed: FloatArray
) -> tuple[nw.Series[Any], Any]:
    """Return the column in a type that can hold these numbers, and the numbers as its cells."""
    if column_type.categories == TRUTH_VALUES:
        return column, changed.astype(bool)
    if column_type.kind not in ("number", "integer"):
        categories = np.array(column_type.categories, dtype=object)
        return column, categories[changed.astype(np.int64)].tolist()
    numbers = changed if column_type.kind == "number" else changed.astype(np.int64)
    if is_text(column.dtype):
        # By Arrow for every library: 52.0 is "52.0" in some and "52" in others. A repair writes
        # few different numbers, so each is written as text once.
        import pyarrow as pa

        coded = pa.array(numbers).dictionary_encode()
        distinct = coded.dictionary.cast(pa.large_string())
        if column_type.number_format != PLAIN:
            written = column_type.number_format.written(distinct.to_pylist())
            distinct = pa.array(written, type=pa.large_string())
        texts = pa.DictionaryArray.from_arrays(coded.indices, distinct)
        is_arrow = column.implementation.is_pyarrow()
        return column, texts if is_arrow else texts.dictionary_decode().to_pylist()
    if column.dtype.is_integer():
        limits = np.iinfo(str(column.dtype).lower())
        if numbers.min() < limits.min or limits.max < numbers.max():
            column = column.cast(nw.Int64())
    if column.dtype.is_decimal():
        return column, decimals_like(column, changed)
    cells = nw.new_series("", numbers, backend=column.implementation).cast(column.dtype)
    return column, cells


def decimals_like(column: nw.Series[Any], numbers: FloatArray) -> nw.Series[Any]:
    """Return numbers as decimals of a column's scale, a tie to the even digit.

    The decimal that a number is written as is rounded, in every library alike: polars' own cast
    takes 0.145 (a little less) for a tie, and Arrow's does not.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = nw.from_native(pa.chunked_array([], pa.decimal128(9, 2)), series_only=True)
    >>> [str(cell) for cell in decimals_like(column, np.array([0.145, 0.155, 1e-30]))]
    ['0.14', '0.16', '0.00']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    precision, scale = column.dtype.precision, column.dtype.scale  # type: ignore[attr-defined] # narwhals' Decimal has them
    # What rounds to zero could have more digits than the exact decimals have room for.
    known = np.where(np.abs(numbers) < 0.4 * 10.0**-scale, 0.0, numbers)
    texts = pa.array(known, mask=np.isnan(numbers)).cast(pa.string())
    exact = texts.cast(pa.decimal256(MAX_DECIMAL_DIGITS, scale + DIGITS_OF_FLOATS + 1))
    rounded = pc.round(exact, scale, "half_to_even")
    native = pa.table({"value": rounded.cast(pa.decimal128(precision, scale))})
    return nw.from_arrow(native, backend=column.implementation)["value"].cast(column.dtype)


def _is_plain(column: nw.Series[Any]) -> bool:
    """Return whether a column of its library and type can be made from an array of floats."""
    if column.implementation is nw.Implementation.PANDAS:
        return isinstance(column.to_native().dtype, np.dtype)
    return column.implementation in WRITTEN_WHOLE


def _with_cells(column: nw.Series[Any], cells: Any, *, rows: IntArray) -> nw.Series[Any]:
    """Return the column with the cells of these rows replaced, by any version of Arrow too."""
    dtype = column.dtype
    if column.implementation not in WRITTEN_WHOLE:
        return column.scatter(rows, cells)
    if dtype == nw.Boolean or dtype.is_integer() or dtype.is_float():
        # Arrow and polars set cells many times slower than they choose between two columns.
        array = np.asarray(cells.to_numpy() if isinstance(cells, nw.Series) else cells)
        is_set, replaced = np.zeros(len(column), np.bool_), np.zeros(len(column), array.dtype)
        is_set[rows], replaced[rows] = True, array
        mask, new = (
            nw.new_series("", values, backend=column.implementation)
            for values in (is_set, replaced)
        )
        return new.cast(dtype).zip_with(mask, column).alias(column.name)
    if column.implementation is nw.Implementation.PYARROW and is_text(dtype):
        import pyarrow as pa
        import pyarrow.compute as pc

        native: Any = column.to_native()
        if not isinstance(cells, pa.DictionaryArray):
            cells = pa.array(cells, pa.large_string()).dictionary_encode()
        if rows.size == len(column):
            new_texts = cells.dictionary.take(cells.indices)
        else:
            is_set, index = np.zeros(len(column), np.bool_), np.zeros(len(column), np.int32)
            is_set[rows], index[rows] = True, cells.indices.to_numpy()
            # Arrow has several types of text, and chooses between two columns of the plainest.
            texts: Any = column.cast(nw.String()).to_native().cast("large_string")
            set_texts = cells.dictionary.take(pa.array(index, mask=~is_set))
            new_texts = pc.if_else(pa.array(is_set), set_texts, texts)
        chosen = new_texts.cast(native.type)
        chunked = pa.chunked_array([chosen]) if isinstance(chosen, pa.Array) else chosen
        written: nw.Series[Any] = nw.from_native(chunked, series_only=True)
        return written.alias(column.name)
    return column.scatter(rows, cells)


def is_dictionary(column: nw.Series[Any]) -> bool:
    """Return whether a column is Arrow's, and holds codes of texts."""
    return column.implementation.is_pyarrow() and column.dtype == nw.Categorical


def with_categories(
    column: nw.Series[Any], column_type: ColumnType, numbers: FloatArray, *, is_written: BoolArray
) -> nw.Series[Any]:
    """Return a column of a dictionary with some cells replaced; NaN makes a cell missing.

    The dictionary has the categories that were fitted, in their order, and then what else the
    column's own dictionary has. So it depends neither on the cells that are replaced, nor on which
    rows are read together. Only an order that the type has, and the fit does not, comes first.
    """
    import pyarrow as pa

    native: Any = column.to_native()
    keeps_order = native.type.ordered and column_type.kind != "ordered"
    pieces, start = [], 0
    for piece in native.chunks:
        span = slice(start, start + len(piece))
        texts = piece.dictionary.to_pylist()
        before = [text for text in texts if text is not None]
        fitted = column_type.categories
        order = dict.fromkeys([*before, *fitted] if keeps_order else [*fitted, *before])
        code_of = {text: code for code, text in enumerate(order)}
        # A missing value has the code -1, which points to the last entry.
        code_before = np.array([*(code_of.get(text, -1) for text in texts), -1])
        code_fitted = np.array([*(code_of[text] for text in fitted), -1])
        indices = piece.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        written = np.where(np.isnan(numbers[span]), -1, numbers[span]).astype(np.int64)
        codes = np.where(is_written[span], code_fitted[written], code_before[indices])
        try:
            coded = pa.array(codes, native.type.index_type, mask=codes < 0)
        except (pa.ArrowInvalid, OverflowError) as error:  # 8 bits may be too few
            raise too_few_categories(column_type) from error
        dictionary = pa.array(list(order), native.type.value_type)
        pieces.append(
            pa.DictionaryArray.from_arrays(coded, dictionary, ordered=native.type.ordered)
        )
        start = span.stop
    chunked: Any = pa.chunked_array(pieces, type=native.type)
    result: nw.Series[Any] = nw.from_native(chunked, series_only=True)
    return result.alias(column.name)


def too_few_categories(column_type: ColumnType) -> ColumnError:
    """Return the error for a column whose type cannot hold the categories that were fitted."""
    return ColumnError(
        f"column {column_type.name!r}: its type cannot hold all of "
        f"{listed(column_type.categories)}: give it the categories of the table that was "
        "fitted, or make it text"
    )


def typed_values(
    column: nw.Series[Any], column_type: ColumnType, numbers: FloatArray
) -> nw.Series[Any]:
    """Return a few numbers as values of a column: of its library and type, missing where NaN.

    Whole numbers become floats where a number is a fraction, and a wider type where theirs is too
    narrow.
    """
    cells = [
        None if np.isnan(number) else cell_value(column, column_type, number) for number in numbers
    ]
    dtype = column.dtype
    is_numeric = column_type.kind in ("number", "integer") and not is_text(dtype)
    if is_numeric and dtype.is_integer():
        present = numbers[~np.isnan(numbers)]
        limits = np.iinfo(str(dtype).lower())
        if np.any(present != np.floor(present)):
            dtype = nw.Float64()
        elif present.size and (present.min() < limits.min or present.max() > limits.max):
            dtype = nw.Int64()
    if is_numeric and not dtype.is_integer():
        cells = [None if cell is None else float(cell) for cell in cells]
    if dtype.is_decimal():
        return decimals_like(column, numbers)
    is_pandas = column.implementation is nw.Implementation.PANDAS
    if (
        is_pandas
        and None in cells
        and isinstance(column.to_native().dtype, np.dtype)
        and (dtype.is_integer() or dtype == nw.Boolean)
    ):
        # pandas' own types for numbers that may be missing.
        frame = nw.new_series("value", [cell or 0 for cell in cells], dtype, backend="pandas")
        nullable: Any = with_room_for_null(frame.to_frame(), "value")["value"].to_native()
        nullable[[cell is None for cell in cells]] = None
        return nw.from_native(nullable, series_only=True)
    try:
        return series_like(column, cells, dtype)
    except Exception as error:  # each backend has errors of its own
        if not column_type.categories:
            raise
        raise too_few_categories(column_type) from error


def series_like(column: nw.Series[Any], cells: list[Any], dtype: nw.dtypes.DType) -> nw.Series[Any]:
    """Return a series of cells with the type of a column, also where only its library knows it."""
    native: Any = column.to_native()
    if dtype == nw.Unknown:  # a column that is missing throughout
        return nw.new_series("value", cells, backend=column.implementation)
    if dtype == column.dtype and column.implementation is nw.Implementation.PANDAS:
        series = type(native)(cells, dtype=native.dtype)
        if int(series.notna().sum()) < sum(cell is not None for cell in cells):
            raise ValueError("pandas made a category that it does not have missing")
        return nw.from_native(series, series_only=True)
    if is_text(dtype) and column.implementation is nw.Implementation.PYARROW:
        import pyarrow as pa

        texts = pa.chunked_array([pa.array(cells, type=pa.string())])
        return nw.from_native(texts.cast(native.type), series_only=True)
    if is_text(dtype) or all(cell is None for cell in cells):
        return nw.new_series("value", cells, dtype, backend=column.implementation)
    plain = nw.new_series("value", cells, backend=column.implementation)
    return plain if plain.dtype == dtype else plain.cast(dtype)


def cell_value(column: nw.Series[Any], column_type: ColumnType, number: float) -> Any:
    """Return a number as a Python value of its column."""
    if column_type.kind in ("number", "integer"):
        value = (
            int(number)
            if float(number).is_integer()
            and (column_type.kind == "integer" or column.dtype.is_integer())
            else float(number)
        )
        if not is_text(column.dtype):
            return value
        # By Arrow, as for columns of numbers that are repaired cell by cell.
        import pyarrow as pa

        text = pa.array([value]).cast(pa.string())[0].as_py()
        return column_type.number_format.written([text])[0]
    if column_type.kind == "date":
        moment = EPOCH + timedelta(microseconds=int(number))
        if column.dtype == nw.Date:
            return moment.date()
        zone = getattr(column.dtype, "time_zone", None)
        return moment if zone is None else moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    return column_type.categories[int(number)]


def _categories(
    column: nw.Series[Any], *, declared: bool, row_counts: IntArray | None = None
) -> tuple[str, ...]:
    """Return the different texts of a column, or raise if they cannot be categories.

    If the user did not declare categories, a column with a text of its own in most rows is taken
    for an identifier.
    """
    present = column.filter(~column.is_null())
    texts = present.unique().to_list() if len(present) else []
    not_text = [value for value in texts if not isinstance(value, str)]
    if not_text:
        raise ColumnError(
            f"columns: {column.name!r} holds {not_text[0]!r} among its categories; expected text"
        )
    if len(texts) > MAX_CATEGORIES:
        raise too_many_texts(column.name, len(texts))
    known_count = rows_where(~column.is_null(), row_counts)
    row_count = len(column) if row_counts is None else int(row_counts.sum())
    if not declared and len(texts) > MAX_CATEGORIES_OF_FEW_ROWS and 2 * len(texts) > known_count:
        raise ColumnError(
            f"columns: {column.name!r} has {len(texts):,} different texts in {row_count:,} "
            "rows: an identifier, not categories that strata could share; name the columns to "
            "repair, without it"
        )
    return tuple(sorted(texts))


def too_many_texts(name: Any, text_count: int) -> ColumnError:
    """Return the error for a column of texts that are too many to be categories."""
    return ColumnError(
        f"columns: {name!r} has {text_count:,} different texts, more than {MAX_CATEGORIES:,}: not "
        "categories that strata could share; leave it out"
    )


def _an_example(column: nw.Series[Any]) -> str:
    values = column.filter(~column.is_null()).head(1).to_list()
    return repr(values[0]) if values else str(column.dtype)
