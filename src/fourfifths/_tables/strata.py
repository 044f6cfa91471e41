"""The strata that a repair makes alike: which there are, and which each row belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import BoolArray, CodeArray, IntArray
from fourfifths._tables.groups import Group, label
from fourfifths.errors import ColumnError, GroupError, listed

Unseen = Literal["error", "keep"]
Small = Literal["error", "pool"]
UNKNOWN = -1  # a missing or an unseen value
LEAST = 4  # rows of a stratum
MOST = 10_000  # strata
FEW = 32
POOL = "small='pool' (--small pool) merges them into one stratum; or "


@dataclass(frozen=True, kw_only=True)
class Strata:
    """Fitted strata.

    Attributes
    ----------
    by : tuple of str
        What they are called: the names of the columns, or "protected" where values came alone.
    groups : tuple of tuple
        The values of each stratum; of one that is pooled, the first of them.
    pooled : tuple of tuple
        The groups that share the last stratum, if small ones were pooled.
    rows : tuple of int
        How many rows each was fitted on.
    """

    by: tuple[str, ...]
    groups: tuple[Group, ...]
    pooled: tuple[Group, ...]
    rows: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The strata's names for people."""
        names = [label(group) for group in self.groups]
        if self.pooled:
            names[-1] = f"small strata ({', '.join(label(group) for group in self.pooled)})"
        return tuple(names)

    def codes(self, columns: Sequence[Any]) -> CodeArray:
        """Return the stratum of each row, -1 where it is missing or was not seen in fit."""
        return self.renumbered(*_groups(columns))

    def checked_codes(self, columns: Sequence[Any], unseen: Unseen) -> CodeArray:
        """Return the stratum of each row; one that was not fitted is an error, or kept."""
        codes = self.codes(columns)
        rows = np.flatnonzero(codes < 0)
        if rows.size and unseen == "error":
            row = int(rows[0])
            value = " & ".join(str(each[row]) for each in columns)
            raise GroupError(
                f"{' & '.join(self.by)}: {value!r} in row {row} is none of the strata that were "
                f"fitted ({listed(self.labels)}); rows of that kind: {rows.size:,}; fit with them, "
                "or fit with unseen='keep' (--unseen keep), which leaves them as they are"
            )
        return codes

    def renumbered(self, found: Sequence[Group], codes: CodeArray) -> CodeArray:
        """Return the stratum of each row, of which the group among those found is known."""
        places = {written(group): place for place, group in enumerate(self.groups)}
        places |= {written(group): len(self.groups) - 1 for group in self.pooled}
        known = [places.get(written(each), UNKNOWN) for each in found]
        table = np.array([*known, UNKNOWN], dtype=np.int16)
        if np.array_equal(table[:-1], np.arange(len(found))):
            return codes
        return table[codes]


def fit_strata(
    by: tuple[str, ...], columns: Sequence[Any], unseen: Unseen, small: Small | Literal["refuse"]
) -> tuple[Strata, CodeArray]:
    """Find the strata, pool small ones if asked to, and return the stratum of each row.

    To refuse is an error that does not speak of pooling.
    """
    found, codes = _groups(columns)
    name = " & ".join(by)
    if len({written(group) for group in found}) < len(found):
        raise GroupError(f"{name}: holds the same value as text and as a number; make all text")
    missing = int(np.sum(codes == UNKNOWN))
    if missing and unseen == "error":
        raise GroupError(
            f"{name}: {missing:,} rows have no value; give each row one, or take unseen='keep' to "
            "leave such rows as they are"
        )
    if len(found) < 2:
        only = repr(label(found[0])) if found else "missing values"
        raise GroupError(f"{name}: holds only {only}; expected at least two strata")
    known = codes[codes != UNKNOWN] if missing else codes
    rows = np.bincount(known, minlength=len(found)).astype(np.int64)
    few = [place for place, size in enumerate(rows) if size < LEAST]
    if few and small != "pool":
        remedy = POOL if small == "error" else ""
        raise GroupError(_too_small(name, [found[place] for place in few], rows[few], remedy))
    strata = (
        _pool(by, found, rows, few)
        if few
        else Strata(by=by, groups=found, pooled=(), rows=tuple(map(int, rows)))
    )
    return strata, strata.renumbered(found, codes)


def _pool(by: tuple[str, ...], found: tuple[Group, ...], rows: IntArray, few: list[int]) -> Strata:
    pooled = tuple(found[place] for place in few)
    total = int(rows[few].sum())
    kept = [place for place in range(len(found)) if place not in few]
    if total < LEAST or not kept:
        raise GroupError(
            _too_small(" & ".join(by), pooled, rows[few], "", " even if they are pooled")
        )
    return Strata(
        by=by,
        groups=(*(found[place] for place in kept), pooled[0]),
        pooled=pooled,
        rows=(*(int(rows[place]) for place in kept), total),
    )


def _too_small(
    name: str, groups: Sequence[Group], rows: IntArray, remedy: str, pooled: str = ""
) -> str:
    sizes = listed(f"{label(group)}: {size}" for group, size in zip(groups, rows, strict=True))
    return (
        f"{name}: strata with fewer than {LEAST} rows{pooled}: {sizes}; {remedy}leave those rows "
        "out, or make coarser strata"
    )


def _groups(columns: Sequence[Any]) -> tuple[tuple[Group, ...], CodeArray]:
    """Return the joint groups that occur, sorted, and the group of each row; -1 for unknown."""
    values, parts = zip(*(_factorize(column) for column in columns), strict=True)
    if len(parts) == 1:
        return tuple((value,) for value in values[0]), parts[0]
    known = np.all(np.stack(parts) != UNKNOWN, axis=0)
    joint = np.zeros(parts[0].size, dtype=np.int64)
    for each, part in zip(values, parts, strict=True):
        joint = joint * max(len(each), 1) + part
    found, place = np.unique(joint[known], return_inverse=True)
    _check_number(found.size)
    codes = np.full(joint.size, UNKNOWN, dtype=np.int16)
    codes[known] = place
    at = np.unravel_index(found, [max(len(each), 1) for each in values])
    parts_of = [[each[place] for place in own] for each, own in zip(values, at, strict=True)]
    return tuple(zip(*parts_of, strict=True)), codes


def _factorize(column: Any) -> tuple[tuple[Any, ...], CodeArray]:
    """Return the distinct values of a column, sorted, and the place of each row's value."""
    if isinstance(column, nw.Series):
        missing, distinct = _series_values(column)
    elif _is_close(column):
        return _counted(column)
    else:
        missing, distinct = _array_values(column)
    _check_number(len(distinct))
    codes = np.full(missing.size, UNKNOWN, dtype=np.int16)
    if isinstance(column, nw.Series) or len(distinct) <= FEW:
        for place, value in enumerate(distinct):
            same = column == value
            if isinstance(same, nw.Series):
                same = same.fill_null(value=False).to_numpy()
            codes[np.asarray(same, dtype=bool) & ~missing] = place
    else:
        codes[~missing] = np.searchsorted(distinct, column[~missing])
    return tuple(_plain(value) for value in distinct), codes


def _is_close(array: NDArray[Any]) -> bool:
    """Return whether an array holds whole numbers that lie so close together as to be counted."""
    whole = array.dtype.kind in "iu" and array.size > 0
    return whole and int(array.max()) - int(array.min()) < MOST


def _counted(array: NDArray[Any]) -> tuple[tuple[int, ...], CodeArray]:
    """Factorize whole numbers that lie close together."""
    least = array.min()
    shifted = array.astype(np.int64) - least.astype(np.int64)
    counts = np.bincount(shifted)
    distinct = np.flatnonzero(counts)
    codes = np.full(counts.size, UNKNOWN, dtype=np.int16)
    codes[distinct] = np.arange(distinct.size)
    return tuple(int(least) + int(value) for value in distinct), codes.take(shifted)


def _array_values(array: NDArray[Any]) -> tuple[BoolArray, Any]:
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind == "O":
        missing = np.asarray((array == None) | (array != array), dtype=bool)  # noqa: E711
    else:
        missing = np.zeros(array.shape, dtype=bool)
    try:
        return missing, np.unique(array[~missing] if missing.any() else array)
    except TypeError:
        raise GroupError("protected: values of several types; make them all text") from None


def _series_values(column: nw.Series[Any]) -> tuple[BoolArray, Sequence[Any]]:
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan().fill_null(value=False)
    values = [_plain(value) for value in column.filter(~missing).unique().to_list()]
    ordered = sorted(values, key=lambda value: (isinstance(value, str), value))
    return np.asarray(missing.to_numpy(), dtype=bool), ordered


def written(group: Group) -> tuple[str, ...]:
    """Return a group's values as text: a CSV has "1" where other tables have 1 or 1.0."""
    whole = [isinstance(value, float) and value.is_integer() for value in group]
    return tuple(str(int(v) if w else v) for v, w in zip(group, whole, strict=True))


def _check_number(found: int) -> None:
    if found > MOST:
        raise GroupError(
            f"the strata: {found:,} different ones, more than {MOST:,}; the column looks like an "
            "identifier; make coarser strata"
        )


def _plain(value: Any) -> Any:
    """Return a stratum's value as JSON can hold it."""
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, str | int | float | bool):
        raise GroupError(
            f"a stratum's value is {value!r}; expected text, numbers or booleans; convert the "
            "column first"
        )
    return value


def strata_names(protected: Any, stratify_by: Any) -> tuple[str, ...] | None:
    """Return the stratifying columns' names, or None where the values come with the data."""
    named = stratify_by if protected is None else protected
    if named is None:
        return None
    names = (named,) if isinstance(named, str) else named
    good = isinstance(names, Sequence) and len(names) and all(isinstance(e, str) for e in names)
    if not good:
        raise ColumnError(f"protected={named!r}: expected the name of a column, or several")
    return tuple(names)
