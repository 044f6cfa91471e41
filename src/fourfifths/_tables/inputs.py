"""What a `Repairer` is given, and what it gives back: dataframes and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray
from fourfifths._tables.groups import band_cuts, band_labels
from fourfifths._tables.types import Typed, from_numbers, to_numbers
from fourfifths.errors import ColumnError, GroupError, TableError, listed

BY_VALUES = ("protected",)


@dataclass(frozen=True, kw_only=True)
class Input:
    """A dataframe, or an array; the other is None."""

    frame: nw.DataFrame[Any] | None
    array: NDArray[Any] | None = None

    @property
    def names(self) -> tuple[Any, ...]:
        """The columns: names, or places in an array."""
        if self.frame is not None:
            return tuple(self.frame.columns)
        return tuple(range(self._array.shape[1]))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.frame) if self.frame is not None else int(self._array.shape[0])

    @property
    def _array(self) -> NDArray[Any]:
        assert self.array is not None
        return self.array

    def numbers(self, typed: Sequence[Typed]) -> list[FloatArray]:
        """Return columns as numbers; of an array of floats, nothing is copied."""
        if self.frame is not None:
            return [to_numbers(self.frame[each.name], each) for each in typed]
        return [np.asarray(self._array[:, each.name], dtype=np.float64) for each in typed]

    def output(self, typed: Sequence[Typed], before: Sequence[FloatArray]) -> Output:
        """Return where the repaired columns are to be written."""
        if self.frame is not None:
            return Output(
                given=self, typed=typed, before=before, after=[each.copy() for each in before]
            )
        whole = all(each.kind == "integer" for each in typed)
        keeps = self._array.dtype.kind == "f" or whole
        out = np.array(self._array, dtype=self._array.dtype if keeps else np.float64)
        if out.dtype == np.float64:
            return Output(
                given=self,
                typed=typed,
                before=before,
                after=[out[:, each.name] for each in typed],
                array=out,
            )
        return Output(
            given=self,
            typed=typed,
            before=before,
            after=[each.copy() for each in before],
            array=out,
        )


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where repaired columns are written, and how they are handed back."""

    given: Input
    typed: Sequence[Typed]
    before: Sequence[FloatArray]
    after: Sequence[FloatArray]
    array: NDArray[Any] | None = None

    def native(self, library: str) -> Any:
        """Return what came in, with its columns repaired.

        A dataframe is of the `library` that scikit-learn's `set_output` names, or of its own.
        """
        if self.array is None:
            assert self.given.frame is not None
            frame = self.given.frame
            written = [
                from_numbers(frame[each.name], each, before, after)
                for each, before, after in zip(self.typed, self.before, self.after, strict=True)
            ]
            repaired = frame.with_columns(*written)
            if library == "pandas":
                return repaired.to_pandas()
            return repaired.to_polars() if library == "polars" else repaired.to_native()
        if self.array.dtype == np.float64:
            return self.array
        array = self.array
        if array.dtype.kind in "iu" and any(not _fits(after, array) for after in self.after):
            array = array.astype(np.int64)
        for each, before, after in zip(self.typed, self.before, self.after, strict=True):
            changed = np.flatnonzero((before != after) & ~np.isnan(after))
            array[changed, each.name] = after[changed]
        return array


def _fits(values: FloatArray, array: NDArray[Any]) -> bool:
    """Return whether an array of whole numbers can hold the values."""
    limits = np.iinfo(array.dtype)
    return not values.size or bool(np.all((values >= limits.min) & (values <= limits.max)))


def read_input(given: Any) -> Input:
    """Return a dataframe as such; anything else is an array, or will be one."""
    if isinstance(given, np.ndarray):
        return Input(frame=None)
    try:
        frame: Any = nw.from_native(given)
    except TypeError:
        return Input(frame=None)
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"X: a column name is there twice: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        raise TableError(
            f"X: a {type(given).__name__} has no rows at hand; collect it into a dataframe first"
        )
    odd = [name for name in frame.columns if not isinstance(name, str)]
    if odd:
        raise TableError(
            f"X: a column is called {odd[0]!r}; expected names that are text, or an array"
        )
    return Input(frame=frame)


def strata_columns(
    given: Input,
    by: tuple[str, ...] | None,
    values: Any,
    bands: Mapping[str, Sequence[float]],
) -> tuple[tuple[str, ...], list[Any]]:
    """Return what the strata are called, and the columns that make them."""
    if not isinstance(bands, Mapping):
        raise ColumnError(f"bands={bands!r}: expected a mapping of column to edges")
    for column in bands:
        if column not in (by or ()):
            raise ColumnError(f"bands: {column!r} is not a column that the strata are made of")
    if by is None:
        return _passed(given, values)
    if values is not None:
        raise GroupError(
            f"protected: named as {', '.join(map(repr, by))} and passed as values too; give one"
        )
    if given.frame is None:
        raise GroupError(
            f"protected={by[0]!r}: X is an array, whose columns have no names; pass the values "
            "with the data, fit(X, protected=values)"
        )
    for name in by:
        if name not in given.names:
            raise ColumnError(
                f"protected={name!r}: no such column in X (columns: "
                f"{', '.join(map(repr, given.names[:10]))})"
            )
    columns = [given.frame[name] for name in by]
    return by, [_banded(each, bands[each.name]) if each.name in bands else each for each in columns]


def _passed(given: Input, values: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return the strata of values that came with the data, not in it."""
    if values is None:
        raise GroupError(
            "protected: name the protected columns of a dataframe, Repairer(protected='sex'), or "
            "pass their values with the data, fit(X, protected=values)"
        )
    columns = _value_columns(values)
    if any(len(each) != given.rows for each in columns):
        raise GroupError(
            f"protected: {len(columns[0]):,} values for {given.rows:,} rows; expected one each"
        )
    if len(columns) == 1:
        return BY_VALUES, columns
    return tuple(f"protected{place}" for place in range(len(columns))), columns


def _banded(column: nw.Series[Any], edges: Sequence[float]) -> NDArray[np.object_]:
    """Return the name of each row's band; an edge belongs to the band below it."""
    name = str(column.name)
    cuts = band_cuts(name, edges)
    if not column.dtype.is_numeric():
        raise ColumnError(f"bands: {name!r} holds {column.dtype}; expected numbers")
    numbers = np.asarray(column.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    labels = np.array([*band_labels(name, cuts), None], dtype=object)
    return labels[np.where(np.isnan(numbers), len(cuts) + 1, np.searchsorted(cuts, numbers))]


def _value_columns(values: Any) -> list[Any]:
    try:
        native: Any = nw.from_native(values, eager_only=True, allow_series=True)
    except TypeError:
        array = np.asarray(values)
        if array.dtype.kind == "U" and isinstance(values, list | tuple):
            array = np.array(values, dtype=object)  # numpy makes text of what is missing
        if array.ndim not in (1, 2):
            raise GroupError(
                f"protected: an array of {array.ndim} dimensions; expected one value for each row"
            ) from None
        return [array] if array.ndim == 1 else list(array.T)
    if isinstance(native, nw.DataFrame):
        return [native[name] for name in native.columns]
    return [native]


def one_row(row: Any, names: Sequence[str]) -> Any:
    """Return a row as a dataframe or array of one row.

    Of a mapping, and of a row of a dataframe, only what has one of the names is taken.
    """
    if isinstance(row, Mapping) or (hasattr(row, "to_dict") and np.ndim(row) == 1):
        return _frame_of(dict(row), names)
    return np.atleast_2d(row) if isinstance(row, np.ndarray | list | tuple) else row


def _frame_of(row: Mapping[Any, Any], names: Sequence[str]) -> Any:
    lacking = [name for name in names if name not in row]
    if lacking:
        raise TableError(f"row: lacks {listed(lacking)}; expected a value of each column")
    columns = {str(name): [row[name]] for name in (names if len(names) else row)}
    for library in ("polars", "pandas", "pyarrow"):
        if find_spec(library):
            return nw.from_dict(columns, backend=library).to_native()
    raise TableError("row: a mapping needs polars, pandas or pyarrow; pass an array instead")
