"""What kind of column each is, and its values as numbers: the way into a repair and out again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray
from fourfifths.errors import ColumnError, listed, nearest

Kind = Literal["number", "integer", "ordered", "category"]
Asked = Literal["number", "category"] | Sequence[str] | None
TEXTS = (nw.String, nw.Categorical, nw.Enum)
MOST_CATEGORIES = 1_000
FEWEST_IDENTIFIERS = 20  # so many texts may be categories, however few the rows
EXACT = 2**53  # whole numbers beyond it are not all floating-point numbers


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A column's name, kind and, if it has categories, what they are: lowest or first first.

    A column of an array has a place instead of a name.
    """

    name: Any
    kind: Kind
    categories: tuple[Any, ...] = ()


def asked_columns(
    columns: Sequence[str] | Mapping[str, Asked] | None, present: Sequence[str], by: Sequence[str]
) -> dict[str, Asked]:
    """Return which columns to repair, and as what; by default all but the stratifying ones."""
    if columns is None:
        return {name: None for name in present if name not in by}
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable) or any(isinstance(each, list) for each in columns):
        raise ColumnError(f"columns={columns!r}: expected names of columns, or places in an array")
    given = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
    asked = {
        int(name) if isinstance(name, np.integer) else name: kind for name, kind in given.items()
    }
    if not asked:
        raise ColumnError("columns: name at least one column to repair")
    for name in asked:
        if name not in present:
            raise ColumnError(
                f"columns: no column {name!r}{nearest(name, present)} (columns: {listed(present)})"
            )
        if name in by:
            raise ColumnError(
                f"columns: {name!r} is what the strata are made of; it cannot be repaired as well"
            )
    return asked


def type_of(column: nw.Series[Any], asked: Asked) -> Typed:
    """Return the kind of a dataframe's column: as asked, or as its type says."""
    name, dtype = str(column.name), column.dtype
    if dtype == nw.Boolean and asked in (None, "number"):
        return Typed(name=name, kind="ordered", categories=(False, True))
    if dtype.is_integer() and asked in (None, "number"):
        return Typed(name=name, kind="integer")
    if dtype.is_numeric() and asked in (None, "number"):
        return Typed(name=name, kind="number")
    if asked == "number":
        raise ColumnError(
            f"columns: {name!r} is to be repaired as numbers, but holds {_an_example(column)}; "
            "convert it, or leave it out"
        )
    if asked is None and (order := _arrow_order(column)):
        return Typed(name=name, kind="ordered", categories=order)
    if asked is None and isinstance(dtype, nw.Enum):
        return Typed(name=name, kind="ordered", categories=tuple(dtype.categories))
    if asked is None and dtype not in (nw.String, nw.Categorical):
        raise ColumnError(
            f"columns: {name!r} holds {dtype}; expected numbers, booleans, text or categories; "
            "convert it, or name the columns to repair"
        )
    if asked in (None, "category"):
        categories = _categories(column)
        if asked is None:
            _check_shared(column, len(categories))
        return Typed(name=name, kind="category", categories=categories)
    return Typed(name=name, kind="ordered", categories=_order(name, asked, _categories(column)))


def _arrow_order(column: nw.Series[Any]) -> tuple[str, ...]:
    """Return the order of one of Arrow's dictionaries that has one."""
    if column.implementation is not nw.Implementation.PYARROW or column.dtype != nw.Categorical:
        return ()
    native: Any = column.to_native()
    if not native.type.ordered:
        return ()
    chunks = native.unify_dictionaries().chunks
    return tuple(chunks[0].dictionary.to_pylist()) if chunks else ()


def to_numbers(column: nw.Series[Any], typed: Typed) -> FloatArray:
    """Return a column as numbers: categories by their place, missing as NaN."""
    if typed.kind in ("number", "integer"):
        if not (column.dtype.is_numeric() or column.is_null().all()):
            raise ColumnError(
                f"column {typed.name!r}: expected numbers, found {_an_example(column)}"
            )
        return _as_floats(column)
    if column.is_null().all():
        return np.full(len(column), np.nan)
    expected = (nw.Boolean,) if typed.categories == (False, True) else TEXTS
    if not any(column.dtype == each for each in expected):
        raise ColumnError(
            f"column {typed.name!r}: expected {listed(typed.categories)}, found "
            f"{_an_example(column)}"
        )
    places = np.full(len(column), np.nan)
    for place, category in enumerate(typed.categories):
        same = (column == category).fill_null(value=False)
        places[np.asarray(same.to_numpy(), dtype=bool)] = place
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    new = np.flatnonzero(np.isnan(places) & ~missing)
    if new.size:
        raise ColumnError(
            f"column {typed.name!r}: {column[int(new[0])]!r} is none of the categories "
            f"{listed(typed.categories)}; leave such rows out, or fit with them"
        )
    return places


def _as_floats(column: nw.Series[Any]) -> FloatArray:
    try:
        numbers = column.cast(nw.Float64()).to_numpy()
    except Exception as error:  # Arrow refuses what floats cannot hold
        raise ColumnError(
            f"column {str(column.name)!r}: holds whole numbers beyond 2**53, which would be "
            "changed by reading them; an identifier is not a column to repair"
        ) from error
    return np.asarray(numbers, dtype=np.float64)


def checked(numbers: FloatArray, typed: Typed) -> FloatArray:
    """Return the numbers if all are finite."""
    # A finite sum has no infinite part, and takes one pass and no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(numbers)
    if not math.isfinite(total) and np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise ColumnError(
            f"column {typed.name!r}: row {row} is infinite; expected finite numbers; make it "
            "missing, or leave the column out"
        )
    return numbers


def check_exact(typed: Typed, largest: float) -> None:
    """Raise if a column of whole numbers has some that floating-point numbers cannot hold."""
    if largest >= EXACT:
        raise ColumnError(
            f"column {typed.name!r}: holds whole numbers beyond 2**53, which would be changed by "
            "reading them; an identifier is not a column to repair"
        )


def from_numbers(
    column: nw.Series[Any], typed: Typed, before: FloatArray, after: FloatArray
) -> nw.Series[Any]:
    """Return the column with its changed cells replaced.

    Its type stays, but for whole numbers that are to be repaired as numbers, which become floats;
    decimals are rounded to their own places.
    """
    rows = np.flatnonzero(before != after)
    rows = rows[~np.isnan(before[rows])]
    changed = after[rows]
    if typed.kind == "number" and column.dtype.is_integer():
        column = column.cast(nw.Float64())
    if typed.kind in ("number", "integer"):
        numbers = changed if typed.kind == "number" else changed.astype(np.int64)
        if column.dtype.is_integer() and not _holds(column.dtype, numbers):
            column = column.cast(nw.Int64())
        values = nw.new_series("", numbers, backend=column.implementation)
        return column.scatter(rows, values.cast(column.dtype))
    labels = np.array(typed.categories, dtype=object)[changed.astype(np.int64)]
    if typed.categories == (False, True):
        return column.scatter(rows, changed.astype(bool))
    if column.implementation is nw.Implementation.PYARROW:
        # Arrow sets cells of plain text only, and has several types of text.
        texts: Any = column.cast(nw.String()).scatter(rows, labels.tolist()).to_native()
        native: Any = column.to_native()
        cast: nw.Series[Any] = nw.from_native(texts.cast(native.type), series_only=True)
        return cast.alias(column.name)
    try:
        return column.scatter(rows, labels.tolist())
    except Exception as error:  # each backend has errors of its own
        raise ColumnError(
            f"column {typed.name!r}: its type cannot hold all of {listed(typed.categories)}: give "
            "it the categories of the table that was fitted, or make it text"
        ) from error


def _holds(dtype: nw.dtypes.DType, numbers: NDArray[Any]) -> bool:
    """Return whether a type of whole numbers can hold these."""
    limits = np.iinfo(str(dtype).lower())
    return not numbers.size or bool(limits.min <= numbers.min() and numbers.max() <= limits.max)


def _categories(column: nw.Series[Any]) -> tuple[str, ...]:
    found = column.filter(~column.is_null()).unique().to_list()
    odd = [value for value in found if not isinstance(value, str)]
    if odd:
        raise ColumnError(
            f"columns: {column.name!r} holds {odd[0]!r} among its categories; expected text"
        )
    if len(found) > MOST_CATEGORIES:
        raise ColumnError(
            f"columns: {column.name!r} has {len(found):,} different texts, more than "
            f"{MOST_CATEGORIES:,}: not categories that strata could share; leave it out"
        )
    return tuple(sorted(found))


def _check_shared(column: nw.Series[Any], categories: int) -> None:
    """Raise if a column that nobody called categories has a text of its own in most rows."""
    if categories > FEWEST_IDENTIFIERS and 2 * categories > len(column) - column.null_count():
        raise ColumnError(
            f"columns: {column.name!r} has {categories:,} different texts in {len(column):,} rows: "
            "an identifier, not categories that strata could share; name the columns to repair, "
            "without it"
        )


def _order(name: str, asked: Any, found: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise ColumnError(
            f"columns: {name!r} is to be repaired as {asked!r}; expected 'number', 'category' or "
            "its categories in order, lowest first"
        )
    order = tuple(asked)
    if len(set(order)) != len(order):
        raise ColumnError(f"columns: the order of {name!r} names a category twice")
    lacking = [category for category in found if category not in order]
    if lacking:
        raise ColumnError(f"columns: the order of {name!r} lacks {listed(lacking)}")
    return order


def _an_example(column: nw.Series[Any]) -> str:
    found = column.filter(~column.is_null()).head(1).to_list()
    return repr(found[0]) if found else str(column.dtype)
