"""The strata that a repair makes alike, and the stratum of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import CodeArray, IntArray
from fourfifths._tables.bands import Bands, with_bands
from fourfifths._tables.counts import MISSING, check_no_row_of_totals
from fourfifths._tables.groups import (
    Group,
    GroupingArgument,
    check_banded,
    check_groups,
    check_no_second_header,
    holds_dates,
    holds_name,
    label,
)
from fourfifths._tables.load import Rows
from fourfifths._tables.table import Value, open_table
from fourfifths._tables.values import (
    MissingText,
    folded,
    is_date,
    is_number,
    known_values,
    spellings_of,
)
from fourfifths._text import listed, nearest
from fourfifths.errors import ColumnError, GroupError

Unseen = Literal["error", "keep"]
Small = Literal["error", "pool"]
MIN_ROWS_PER_STRATUM = 4
# Codes are 16-bit integers. A column with more values than this is an identifier anyway.
MAX_STRATA = 10_000
# Up to this many values, comparing with each of them is faster than a binary search.
MAX_COMPARED_VALUES = 32
PASSED_VALUES = ("protected",)


@dataclass(frozen=True, kw_only=True)
class Strata:
    """Fitted strata.

    Attributes
    ----------
    by : tuple of str
        The names of the stratifying columns, or "protected" if values were passed without names.
    groups : tuple of tuple
        The values of each stratum; a pooled stratum has those of its first group.
    pooled : tuple of tuple
        The groups that share the last stratum, if small ones were pooled.
    rows : tuple of int
        The number of rows that each stratum was fitted on.
    bands : mapping of str to Bands
        Of numeric columns that are cut into strata.
    passed : bool
        Whether the values are passed with the table instead of being columns of it.
    exact_values : bool
        Whether values that differ only in case or in spaces are different strata.
    argument : {"protected", "stratify_by"}
        What named the columns.
    """

    by: tuple[str, ...]
    groups: tuple[Group, ...]
    pooled: tuple[Group, ...]
    rows: tuple[int, ...]
    bands: Mapping[str, Bands] = field(default_factory=dict)
    passed: bool = False
    exact_values: bool = False
    argument: GroupingArgument = "protected"

    @property
    def labels(self) -> tuple[str, ...]:
        """The strata's names for people."""
        names = [label(group) for group in self.groups]
        if self.pooled:
            names[-1] = f"small strata ({', '.join(label(group) for group in self.pooled)})"
        return tuple(names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The stratifying columns; none where the values come with the data."""
        return () if self.passed else self.by

    def codes_of(self, rows: Rows, protected: Any = None, *, unseen: Unseen) -> CodeArray:
        """Return the stratum of each row; one that was not fitted is an error, or -1.

        `protected` has the values of the rows if they are not columns of the table.
        """
        _, columns = stratum_columns(
            rows,
            None if self.passed else self.by,
            values=protected,
            bands=self.bands,
            argument=self.argument,
        )
        name = stratum_name(self.by, self.argument, passed=self.passed)
        factorized = [_factorize(column, rows.unknown, name=name) for column in columns]
        codes = self.renumber(*_joined(factorized, name=name))
        unknown_rows = np.flatnonzero(codes < 0)
        if unknown_rows.size and unseen == "error":
            row = int(unknown_rows[0])
            value = " & ".join(str(column[row]) for column in columns)
            raise self.unseen_error(value, rows.first_row + row, row_count=unknown_rows.size)
        return codes

    def unseen_error(self, value: str, row: int, *, row_count: int) -> GroupError:
        """Return the error for rows whose stratum was not fitted, the first of which is named."""
        return GroupError(
            f"{' & '.join(self.by)}: {value!r} in row {row} is not one of the strata that were "
            f"fitted ({listed(self.labels)}); {row_count:,} rows are like that; fit with these "
            "rows, or fit with unseen='keep', which leaves them as they are"
        )

    def renumber(self, groups: Sequence[Group], codes: CodeArray) -> CodeArray:
        """Return the stratum of each row from its code among other groups."""
        if groups is self.groups:
            return codes
        code_of = {written(group): code for code, group in enumerate(self.groups)}
        code_of |= {written(group): len(self.groups) - 1 for group in self.pooled}
        codes_of_folded: dict[tuple[str, ...], set[int]] = {}
        for texts, code in code_of.items():
            codes_of_folded.setdefault(tuple(map(folded, texts)), set()).add(code)

        def stratum(group: Group) -> int:
            texts = written(group)
            alike = codes_of_folded.get(tuple(map(folded, texts)), set())
            # A repair may have been fitted to "M" and "m" apart.
            is_found = texts in code_of or self.exact_values or len(alike) != 1
            return code_of.get(texts, MISSING) if is_found else next(iter(alike))

        new_codes = [stratum(group) for group in groups]
        # The code -1 points to the last entry.
        table = np.array([*new_codes, MISSING], dtype=np.int16)
        if np.array_equal(table[:-1], np.arange(len(groups))):
            return codes
        return table[codes]


def stratum_argument(stratify_by: Any) -> GroupingArgument:
    """Return which argument names the strata's columns, or is to be given."""
    return "protected" if stratify_by is None else "stratify_by"


def stratum_name(by: Sequence[str], argument: GroupingArgument, *, passed: bool) -> str:
    """Return what an error calls the strata: the argument, and the columns if there are any.

    Examples
    --------
    >>> stratum_name(("sex", "race"), "protected", passed=False)
    "protected=['sex', 'race']"
    """
    if passed:
        return argument
    return f"{argument}={by[0] if len(by) == 1 else [*by]!r}"


def stratum_names(protected: Any, stratify_by: Any) -> tuple[str, ...] | None:
    """Return the stratifying columns' names, or None if the values are passed with the table."""
    named = stratify_by if protected is None else protected
    if named is None:
        return None
    names = (named,) if isinstance(named, str) else named
    are_names = isinstance(names, Sequence) and all(isinstance(name, str) for name in names)
    if not are_names or not len(names):
        argument = stratum_argument(stratify_by if protected is None else None)
        raise ColumnError(f"{argument}={named!r}: expected the name of a column, or several")
    return tuple(names)


def stratum_columns(
    rows: Rows,
    names: tuple[str, ...] | None,
    *,
    values: Any,
    bands: Mapping[str, Bands],
    argument: GroupingArgument = "protected",
) -> tuple[tuple[str, ...], list[Any]]:
    """Return what the strata are called, and the columns that make them."""
    check_banded(bands, names or ())
    if names is None:
        columns = _passed_columns(rows, values)
        if any(_is_date(column) for column in columns):
            raise holds_dates(argument, None)
        if len(columns) == 1:
            return PASSED_VALUES, columns
        return tuple(f"protected{index}" for index in range(len(columns))), columns
    if values is not None:
        raise GroupError(
            f"{argument}: named as {', '.join(map(repr, names))} and passed as values too; give one"
        )
    if rows.frame is None:
        raise GroupError(
            f"{argument}={names[0]!r}: X is an array, whose columns have no names; pass the values "
            "with the data, fit(X, protected=values)"
        )
    columns = []
    for name in names:
        if name not in rows.columns:
            raise ColumnError(
                f"{argument}={name!r}: no such column in X{nearest(name, rows.columns)} (columns: "
                f"{listed(rows.columns)})"
            )
        if name not in bands and _is_date(rows.column(name)):
            raise holds_dates(argument, name)
        columns.append(_band_labels(rows, bands[name]) if name in bands else rows.column(name))
    return names, columns


def _is_date(column: Any) -> bool:
    """Return whether a series or an array has the type of dates."""
    return is_date(column.dtype) if isinstance(column, nw.Series) else column.dtype.kind == "M"


def _band_labels(rows: Rows, cut: Bands) -> Any:
    """Return the name of each row's band, None where there is none."""
    column = rows.column(cut.column)
    table = open_table(column.to_frame().to_native(), rows.reading)
    table = with_bands(table.with_missing([cut.column], ()), {cut.column: cut})
    rows.value_notes.extend(table.notes)
    codes = table.frame.collect()[table.names[cut.column]].cast(nw.Float64()).to_numpy()
    labels = np.array([*cut.labels, None], dtype=object)
    return labels[np.where(np.isnan(codes), len(cut.labels), codes).astype(np.int64)]


def _passed_columns(rows: Rows, values: Any) -> list[Any]:
    """Return the columns of values that were passed beside the data."""
    if values is None:
        raise GroupError(
            "protected: name the protected columns of a dataframe, Repairer(protected='sex'), or "
            "pass their values with the data, fit(X, protected=values)"
        )
    columns: list[Any]
    try:
        native: Any = nw.from_native(values, eager_only=True, allow_series=True)
    except TypeError:
        array = np.asarray(values)
        if array.dtype.kind == "U" and isinstance(values, list | tuple):
            array = np.array(values, dtype=object)  # numpy makes text of what is missing
        if array.dtype.kind == "O":
            # pandas' NA can be neither compared nor sorted.
            is_na = np.frompyfunc(lambda value: type(value).__name__ == "NAType", 1, 1)(array)
            if is_na.any():
                array = array.copy()
                array[is_na.astype(bool)] = None
        if array.ndim not in (1, 2):
            raise GroupError(
                f"protected: an array of {array.ndim} dimensions; expected one value for each row"
            ) from None
        columns = [array] if array.ndim == 1 else list(array.T)
    else:
        is_frame = isinstance(native, nw.DataFrame)
        series = [native[name] for name in native.columns] if is_frame else [native]
        columns = [known_values(column, rows.unknown) for column in series]
    if any(len(column) != len(rows) for column in columns):
        raise GroupError(
            f"protected: {len(columns[0]):,} values for {len(rows):,} rows; expected one each"
        )
    return columns


def fit_strata(
    rows: Rows,
    names: tuple[str, ...] | None,
    *,
    values: Any = None,
    bands: Mapping[str, Bands],
    unseen: Unseen,
    small: Small | Literal["refuse"],
    row_counts: IntArray | None = None,
    argument: GroupingArgument = "protected",
    outcomes: Sequence[str] = (),
) -> tuple[Strata, CodeArray]:
    """Find the strata, pool small ones if asked to, and return the stratum of each row.

    With "refuse", small strata are an error that does not offer pooling as a remedy. `row_counts`
    says for how many rows of a table each row stands; by default for itself. A row that repeats the
    header is seen by the strata and the `outcomes`, or else by all other columns of text.
    """
    by, columns = stratum_columns(rows, names, values=values, bands=bands, argument=argument)
    name = stratum_name(by, argument, passed=names is None)
    factorized = [_factorize(column, rows.unknown, name=name) for column in columns]
    _check_rows(
        rows,
        dict(zip(by, factorized, strict=True)),
        beside=outcomes or [column for column in rows.columns if column not in by],
        row_counts=row_counts,
        passed=names is None,
    )
    spelled = [
        _as_meant(column_name, *values_and_codes, rows=rows, row_counts=row_counts)
        for column_name, values_and_codes in zip(by, factorized, strict=True)
    ]
    # Bands rise; in the alphabet "40 and over" comes before "under 40".
    spelled = [
        _in_order(column_values, codes, bands[column_name].labels)
        if column_name in bands
        else (column_values, codes)
        for column_name, (column_values, codes) in zip(by, spelled, strict=True)
    ]
    groups, codes = _joined(spelled, name=name)
    if len({written(group) for group in groups}) < len(groups):
        raise GroupError(
            f"{name}: the same value is there as text and as a number; make it text in all rows"
        )
    missing_count = int(_sizes(codes, len(groups), row_counts)[MISSING])
    if missing_count and unseen == "error":
        raise GroupError(
            f"{name}: {missing_count:,} rows have no value; give each row one, or take "
            "unseen='keep' to leave these rows as they are"
            + "".join(f" ({note})" for note in rows.value_notes if "not known" in note)
        )
    for column_name, (column_values, _) in zip(by, spelled, strict=True):
        check_groups(
            column_values,
            argument,
            None if names is None else column_name,
            min_groups=2 if len(by) == 1 else 1,
        )
    if len(groups) < 2:
        content = f"only {label(groups[0])!r}" if groups else "no row without a missing value"
        raise GroupError(f"{name}: the columns hold {content}; expected at least two groups")
    sizes = _sizes(codes, len(groups), row_counts)[:MISSING]
    small_codes = np.flatnonzero(sizes < MIN_ROWS_PER_STRATUM).tolist()
    strata = Strata(
        by=by,
        groups=groups,
        pooled=(),
        rows=tuple(map(int, sizes)),
        bands=bands,
        passed=names is None,
        exact_values=rows.reading.exact_values,
        argument=argument,
    )
    if small_codes:
        pooled = tuple(groups[code] for code in small_codes)
        kept = [code for code in range(len(groups)) if code not in small_codes]
        pooled_size = int(sizes[small_codes].sum())
        can_pool = pooled_size >= MIN_ROWS_PER_STRATUM and bool(kept)
        if small != "pool" or not can_pool:
            listing = listed(
                f"{label(group)}: {sizes[code]}"
                for group, code in zip(pooled, small_codes, strict=True)
            )
            even_pooled = ""
            if small == "pool":
                even_pooled = " even if they are pooled" if kept else " and no larger one"
            remedy = "small='pool' merges them into one stratum; or " if small == "error" else ""
            raise GroupError(
                f"{name}: strata with fewer than {MIN_ROWS_PER_STRATUM} rows{even_pooled}: "
                f"{listing}; {remedy}leave those rows out, or make coarser strata"
            )
        strata = replace(
            strata,
            groups=(*(groups[code] for code in kept), pooled[0]),
            pooled=pooled,
            rows=(*(int(sizes[code]) for code in kept), pooled_size),
        )
    return strata, strata.renumber(groups, codes)


def _sizes(codes: CodeArray, code_count: int, row_counts: IntArray | None) -> IntArray:
    """Return how many rows each code has; the last entry counts rows without a stratum."""
    if row_counts is None:
        sizes = np.bincount(codes[codes != MISSING], minlength=code_count).astype(np.int64)
        return np.append(sizes, codes.size - sizes.sum())
    slots = np.where(codes == MISSING, code_count, codes)
    # As floats these counts are exact up to 2**53.
    return np.bincount(slots, weights=row_counts, minlength=code_count + 1).astype(np.int64)


def _as_meant(
    name: str,
    values: tuple[Any, ...],
    codes: CodeArray,
    *,
    rows: Rows,
    row_counts: IntArray | None,
) -> tuple[tuple[Any, ...], CodeArray]:
    """Return values with one spelling of each, and their codes; -1 for what means "not known"."""
    if not any(isinstance(value, str) for value in values):
        return values, codes
    sizes = _sizes(codes, len(values), row_counts)[:MISSING]
    spellings = spellings_of(
        name,
        dict(zip(values, sizes.tolist(), strict=True)),
        role="group",
        unknown=rows.unknown,
        reading=rows.reading,
    )
    rows.value_notes.extend(spellings.notes)
    if len(spellings.values) == len(values):
        return values, codes
    order = sorted(
        range(len(spellings.values)),
        key=lambda code: (isinstance(spellings.values[code], str), spellings.values[code]),
    )
    new_code = {
        member: code for code, index in enumerate(order) for member in spellings.members[index]
    }
    recoded = np.array(
        [*(new_code.get(value, MISSING) for value in values), MISSING], dtype=np.int16
    )
    return tuple(spellings.values[index] for index in order), recoded[codes]


def _check_rows(
    rows: Rows,
    factorized: Mapping[str, tuple[tuple[Any, ...], CodeArray]],
    *,
    beside: Sequence[Any],
    row_counts: IntArray | None,
    passed: bool,
) -> None:
    """Raise if a row is no person: a total, or the names of the columns once more."""
    is_name = {}
    for name, (values, codes) in factorized.items():
        sizes = _sizes(codes, len(values), row_counts)[:MISSING].tolist()
        check_no_row_of_totals(name, dict(zip(values, sizes, strict=True)), rows.reading.known)
        is_name[name] = holds_name(name, values, codes)
    candidates = np.flatnonzero(np.all(np.stack([*is_name.values()]), axis=0))
    if passed or not candidates.size:
        return
    is_name_beside = {}
    for name in beside:
        encoded = _dictionary_of(rows.column(name))
        if encoded is None:
            continue
        categories, category_codes = encoded
        is_missing = np.array([*(value is None for value in categories), True], dtype=np.bool_)
        # What is missing in all of these rows says nothing, and numbers that they are persons.
        if not np.all(is_missing[category_codes[candidates]]):
            is_name_beside[name] = holds_name(name, categories, category_codes)
    check_no_second_header(
        is_name,
        np.ones(len(rows)) if row_counts is None else row_counts,
        beside=is_name_beside,
    )


def _in_order(
    values: tuple[Any, ...], codes: CodeArray, order: Sequence[Any]
) -> tuple[tuple[Any, ...], CodeArray]:
    """Return values in another order, with the codes of the rows."""
    ordered = tuple(value for value in order if value in values)
    new_codes = [ordered.index(value) for value in values]
    return ordered, np.array([*new_codes, MISSING], dtype=np.int16)[codes]


def _joined(
    factorized: Sequence[tuple[tuple[Any, ...], CodeArray]], *, name: str
) -> tuple[tuple[Group, ...], CodeArray]:
    """Return the joint groups of columns that occur, sorted, and the group of each row."""
    values, column_codes = zip(*factorized, strict=True)
    if len(column_codes) == 1:
        return tuple((value,) for value in values[0]), column_codes[0]
    is_known = np.all(np.stack(column_codes) != MISSING, axis=0)
    # At least 1, because a column may hold nothing but missing values.
    shape = [max(len(column_values), 1) for column_values in values]
    joint = np.zeros(column_codes[0].size, dtype=np.int64)
    # One number per combination of values, whose order is that of the combinations.
    for size, codes in zip(shape, column_codes, strict=True):
        joint = joint * size + codes
    combinations, codes_of_known = np.unique(joint[is_known], return_inverse=True)
    _check_number(combinations.size, name)
    codes = np.full(joint.size, MISSING, dtype=np.int16)
    codes[is_known] = codes_of_known
    value_indices = np.unravel_index(combinations, shape)
    group_values = [
        [column_values[index] for index in indices]
        for column_values, indices in zip(values, value_indices, strict=True)
    ]
    return tuple(zip(*group_values, strict=True)), codes


def _factorize(
    column: Any, unknown: Sequence[Value], *, name: str
) -> tuple[tuple[Any, ...], CodeArray]:
    """Return the distinct values of a column, sorted, and the code of each row's value.

    Dates are the texts that they are in a file.
    """
    is_series = isinstance(column, nw.Series)
    holds_integers = not is_series and column.dtype.kind in "iu" and column.size > 0
    # Whole numbers that lie close together are counted, which is faster than sorting.
    is_close = holds_integers and int(column.max()) - int(column.min()) < MAX_STRATA
    if is_close and not any(is_number(token) for token in unknown):
        return _factorize_close(column)
    encoded = _dictionary_of(column)
    if encoded is not None:
        first_values, indices = encoded
        # Numbers before texts, because Python compares neither with the other.
        distinct: Any = sorted(
            dict.fromkeys(_plain(value) for value in first_values if value is not None),
            key=lambda value: (isinstance(value, str), value),
        )
    elif is_series:
        is_missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
        values = [_plain(value) for value in column.filter(~column.is_null()).unique().to_list()]
        distinct = sorted(values, key=lambda value: (isinstance(value, str), value))
    else:
        distinct, is_missing = _distinct_values(column, name)
    _check_number(len(distinct), name)
    # Series come with missing values null; arrays may still hold empty texts and tokens.
    missing = MissingText.of(unknown)
    is_unknown = [not is_series and str(value) in missing for value in distinct]
    known_values = [value for value, drop in zip(distinct, is_unknown, strict=True) if not drop]
    code_of = np.where(is_unknown, MISSING, np.cumsum(~np.array(is_unknown, dtype=bool)) - 1)
    if encoded is not None:
        position_of = {value: position for position, value in enumerate(distinct)}
        codes_of_first = [
            MISSING if value is None else code_of[position_of[_plain(value)]]
            for value in first_values
        ]
        codes = np.array([*codes_of_first, MISSING], dtype=np.int16).take(indices)
        return tuple(known_values), codes
    codes = np.full(is_missing.size, MISSING, dtype=np.int16)
    if is_series or len(distinct) <= MAX_COMPARED_VALUES:
        for code, value in enumerate(known_values):
            has_value = column == value
            if is_series:
                has_value = has_value.fill_null(value=False).to_numpy()
            codes[np.asarray(has_value, dtype=bool) & ~is_missing] = code
    else:
        codes[~is_missing] = code_of[np.searchsorted(distinct, column[~is_missing])]
    return tuple(_plain(value) for value in known_values), codes


def _dictionary_of(column: Any) -> tuple[list[Any], IntArray] | None:
    """Return the values of a column in the order of their first rows, and which each row has.

    A missing value has the index -1, or is None among the values. None for columns that Arrow does
    not take, such as those of numbers and texts, and for arrays of numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, nw.Series):
        if column.dtype == nw.Object:
            return None
        native: Any = column.to_native()
        if not column.implementation.is_pyarrow():
            native = column.to_arrow()
    elif column.dtype.kind in "OU":
        try:
            native = pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            return None
        if not pa.types.is_string(native.type):
            return None
    else:
        return None
    encoded: Any = pa.chunked_array([native]) if isinstance(native, pa.Array) else native
    if not len(encoded):
        return [], np.empty(0, dtype=np.int64)
    if pa.types.is_dictionary(encoded.type):
        # Some categories may be in no row, and each chunk may have a dictionary of its own.
        encoded = encoded.cast(encoded.type.value_type)
    encoded = encoded.dictionary_encode().combine_chunks()
    indices = encoded.indices
    if indices.null_count:
        indices = pc.fill_null(indices, -1)
    values = [
        None if isinstance(value, float) and np.isnan(value) else value
        for value in encoded.dictionary.to_pylist()
    ]
    return values, indices.to_numpy()


def _factorize_close(array: NDArray[Any]) -> tuple[tuple[int, ...], CodeArray]:
    """Factorize whole numbers that lie close together, by counting instead of sorting."""
    lowest = array.min()
    shifted = array.astype(np.int64) - lowest.astype(np.int64)
    counts = np.bincount(shifted)
    distinct = np.flatnonzero(counts)
    codes = np.full(counts.size, MISSING, dtype=np.int16)
    codes[distinct] = np.arange(distinct.size)
    return tuple(int(lowest) + int(value) for value in distinct), codes.take(shifted)


def _distinct_values(array: NDArray[Any], name: str) -> tuple[Any, Any]:
    if array.dtype.kind == "f":
        is_missing = np.isnan(array)
    elif array.dtype.kind == "O":
        is_missing = np.asarray((array == None) | (array != array), dtype=bool)  # noqa: E711
    else:
        is_missing = np.zeros(array.shape, dtype=bool)
    try:
        return np.unique(array[~is_missing] if is_missing.any() else array), is_missing
    except TypeError:
        raise GroupError(f"{name}: values of several types; make them all text") from None


def written(group: Group) -> tuple[str, ...]:
    """Return a group's values as text: a CSV has "1" where other tables have 1 or 1.0.

    Examples
    --------
    >>> written((1.0, "a", 2))
    ('1', 'a', '2')
    """
    return tuple(
        str(int(value) if isinstance(value, float) and value.is_integer() else value)
        for value in group
    )


def _check_number(count: int, name: str) -> None:
    if count > MAX_STRATA:
        raise GroupError(
            f"{name}: {count:,} different strata, more than {MAX_STRATA:,}; the column looks "
            "like an identifier; make coarser strata"
        )


def _plain(value: Any) -> Any:
    """Return a stratum's value as a plain Python value, so that a repair can be saved as JSON."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, date):
        return str(value)
    if isinstance(value, float | Decimal):
        return float(value) + 0.0  # -0.0 is 0.0
    if not isinstance(value, str | int | bool):
        raise GroupError(
            f"a stratum's value is {value!r}; expected text, numbers or booleans; convert the "
            "column first"
        )
    return value
