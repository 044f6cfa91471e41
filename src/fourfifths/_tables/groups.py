"""Groups: who is compared with whom.

A group is one value of a protected column, or a tuple of values of several columns. A numeric
column is first cut into bands. The reference is the group that all others are compared with;
audits, certificates, repairs and trade-offs choose it with the same function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.counts import MISSING, Counts, banding_advice
from fourfifths._tables.table import Table, Value
from fourfifths._tables.values import are_dates, folded, is_date, is_text, read_dates
from fourfifths._text import listed, nearest, number_text
from fourfifths.errors import ColumnError, FourfifthsError, GroupError, OptionError

Group: TypeAlias = tuple[Value, ...]
ALL_OTHERS = "(all others)"
MAX_NUMERIC_GROUPS = 20
MAX_AGE = 120
MAX_BIRTH_DATES = 100_000  # more different days than people alive have been born on


@dataclass(frozen=True, kw_only=True)
class Bands:
    """The groups that a numeric column is cut into; an edge belongs to the group above it.

    Attributes
    ----------
    column : str
    edges : tuple of float
        Rising.
    on : date or None
        A day: the column holds dates of birth, and its numbers are ages on that day, in completed
        years.
    """

    column: str
    edges: tuple[float, ...]
    on: date | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the groups.

        Examples
        --------
        >>> Bands(column="age", edges=(26, 40)).labels
        ('under 26', '26 to under 40', '40 and over')
        """
        texts = [number_text(edge) for edge in self.edges]
        return (
            f"under {texts[0]}",
            *(f"{low} to under {high}" for low, high in pairwise(texts)),
            f"{texts[-1]} and over",
        )

    def expression(self, value: nw.Expr) -> nw.Expr:
        """Return the code of each row's group, null where the value is missing."""
        reached = [(value >= edge).cast(nw.Int64()) for edge in self.edges]
        return nw.when(~value.is_null()).then(nw.sum_horizontal(*reached))

    def labels_of(self, numbers: FloatArray) -> Any:
        """Return the name of each row's group, None where the number is missing."""
        labels = np.array([*self.labels, None], dtype=object)
        # "right": a number equal to an edge belongs to the group above it, as in `expression`.
        codes = np.searchsorted(self.edges, numbers, side="right")
        return labels[np.where(np.isnan(numbers), len(self.labels), codes)]


def read_bands(
    bands: Mapping[str, Sequence[float]] | None, ages: Mapping[str, Any] | None = None
) -> dict[str, Bands]:
    """Return the bands of each column, or raise if the edges are not increasing numbers.

    Parameters
    ----------
    bands : mapping of column to edges
    ages : mapping of column to day
        The columns that hold dates of birth, and the day on which the ages count.
    """
    for name, mapping in (("bands", bands), ("ages", ages)):
        if mapping is not None and not isinstance(mapping, Mapping):
            expected = "edges" if name == "bands" else "a day, as in ages={'born': '2026-01-01'}"
            raise ColumnError(f"{name}={mapping!r}: expected a mapping of column to {expected}")
    days = {column: read_day(column, day) for column, day in (ages or {}).items()}
    checked = {}
    for column, edges in (bands or {}).items():
        try:
            numbers = [float(edge) for edge in edges]
        except (TypeError, ValueError):
            numbers = []
        if not numbers or numbers != sorted(set(numbers)) or not np.all(np.isfinite(numbers)):
            raise ColumnError(
                f"bands: the edges of {column!r} are {edges!r}; "
                "expected one or more numbers, each larger than the one before"
            )
        checked[column] = Bands(column=column, edges=tuple(numbers), on=days.get(column))
    for column in days:
        if column not in checked:
            raise ColumnError(
                f"ages: {column!r} has no bands; say where the ages are cut, as in "
                f"bands={{{column!r}: [40]}}, which makes 'under 40' and '40 and over'"
            )
    return checked


def edges_of(bands: Mapping[str, Bands]) -> dict[str, list[float]]:
    """Return the edges of each column: the argument `bands` that makes these bands again."""
    return {column: list(cut.edges) for column, cut in bands.items()}


def days_of_ages(bands: Mapping[str, Bands]) -> dict[str, str]:
    """Return the day of each column of dates: the argument `ages` that makes these bands again."""
    return {column: cut.on.isoformat() for column, cut in bands.items() if cut.on is not None}


def check_banded(bands: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raise if bands are given for a column that no groups are made of."""
    for column in bands:
        if column not in columns:
            raise ColumnError(
                f"bands: {column!r} is not a protected column; expected {listed(columns)}"
            )


def with_bands(table: Table, bands: Mapping[str, Bands]) -> Table:
    """Return the table with each banded column replaced by the codes of its groups."""
    for column, cut in bands.items():
        if cut.on is not None:
            table = with_ages(table, column, cut.on)
        else:
            if is_date(table.dtype(table.column(column, "bands"))):
                raise ColumnError(f"bands: {column!r} holds dates; {age_advice(column)}")
            table = table.with_numbers(column, "bands")
        table = table.with_column(column, cut.expression(table.col(column)))
    return table


def read_day(column: str, day: Any) -> date:
    """Return the day on which ages count."""
    if isinstance(day, datetime):
        return day.date()
    if isinstance(day, date):
        return day
    try:
        return date.fromisoformat(str(day))
    except ValueError:
        raise OptionError(
            f"ages: the day of {column!r} is {day!r}; expected a date such as '2026-01-01'"
        ) from None


def age_advice(column: str) -> str:
    """Say how to make groups of dates of birth."""
    return (
        "if they are dates of birth, say on which day ages count and where they are cut: "
        f"ages={{{column!r}: '2026-01-01'}}, bands={{{column!r}: [40]}}"
    )


def completed_years(born: date, on: date) -> int:
    """Return an age in completed years; a person born on 29 February turns a year older on 1 March.

    Examples
    --------
    >>> completed_years(date(1984, 2, 29), date(2024, 2, 28))
    39
    >>> completed_years(date(1985, 2, 28), date(2025, 2, 28))
    40
    """
    return on.year - born.year - ((born.month, born.day) > (on.month, on.day))


def with_ages(table: Table, column: str, on: date) -> Table:
    """Return the table with dates of birth replaced by ages, in completed years on a day."""
    dtype, born = table.dtype(table.column(column, "ages")), table.col(column)
    notes = table.notes
    if is_date(dtype):
        has_birthday_ahead = (born.dt.month() > on.month) | (
            (born.dt.month() == on.month) & (born.dt.day() > on.day)
        )
        age = (on.year - born.dt.year() - has_birthday_ahead.cast(nw.Int64())).cast(nw.Float64())
    elif is_text(dtype) or dtype == nw.Object:  # pandas holds Python's dates as objects
        text = born.cast(nw.String())
        distinct = table.frame.filter(~born.is_null()).select(text.alias("text"))
        counted = distinct.group_by("text").agg(nw.len().alias("rows")).head(MAX_BIRTH_DATES + 1)
        row_counts: dict[str, int] = dict(table.rows(counted))
        if len(row_counts) > MAX_BIRTH_DATES:
            raise ColumnError(
                f"ages: column {column!r} has more than {MAX_BIRTH_DATES:,} different values; "
                "expected dates of birth"
            )
        days = read_dates(column, sorted(row_counts), table.reading.known)
        missing = [value for value in sorted(row_counts) if value not in days]
        if missing:
            rows = sum(row_counts[value] for value in missing)
            note = f"column {column!r}: {listed(missing, limit=3)} taken for missing ({rows} rows)"
            notes = (*notes, note)
        texts_of_age: dict[int, list[str]] = {}
        for value, day in days.items():
            texts_of_age.setdefault(completed_years(day, on), []).append(value)
        age = nw.lit(None, nw.Float64())
        for years, texts in texts_of_age.items():
            age = nw.when(text.is_in(texts)).then(nw.lit(float(years))).otherwise(age)
    else:
        raise ColumnError(f"ages: column {column!r} holds {dtype}; expected dates of birth")
    table = replace(table.with_column(column, age), notes=notes)
    ages = table.col(column)
    wrong = table.frame.select(
        (ages < 0).cast(nw.Int64()).sum().alias("unborn"),
        (ages > MAX_AGE).cast(nw.Int64()).sum().alias("old"),
    )
    unborn, old = (int(rows or 0) for rows in table.rows(wrong)[0])
    if unborn or old:
        rows, fault = (unborn, f"after {on}") if unborn else (old, f"over {MAX_AGE} years before")
        raise ColumnError(
            f"ages: column {column!r}: {rows:,} dates of birth are {fault}"
            f"{'' if unborn else f' {on}'}; correct or empty these cells, or give another day"
        )
    return table


def name_bands(counts: Counts, bands: Mapping[str, Bands]) -> Counts:
    """Put the names of banded groups in the place of their codes."""
    values, members = dict(counts.values), dict(counts.members)
    for column, cut in bands.items():
        members[column] = tuple((code,) for code in values[column])
        values[column] = tuple(cut.labels[int(code)] for code in values[column])
    return replace(counts, values=values, members=members)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """The groups of one protected column, or of several jointly.

    Attributes
    ----------
    protected : tuple of str
    groups : tuple of tuple
        One value per protected column.
    codes : int array
        For each cell of the counts, its group; -1 where membership is unknown.
    """

    protected: tuple[str, ...]
    groups: tuple[Group, ...]
    codes: IntArray

    @property
    def name(self) -> str:
        """The protected column, or several joined by " & "."""
        return label(self.protected)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The groups' names for people; all differ, even those of 1 and "1"."""
        names = [label(group) for group in self.groups]
        exact_names = [" & ".join(repr(value) for value in group) for group in self.groups]
        return tuple(
            name if names.count(name) == 1 else exact_name
            for name, exact_name in zip(names, exact_names, strict=True)
        )

    def keep(self, kept: BoolArray) -> Attribute:
        """Return the attribute with only the groups where `kept` is true.

        Membership of the cells of all other groups becomes unknown.
        """
        # The appended entry is the one that the code -1 points to.
        new_codes = np.append(np.where(kept, np.cumsum(kept) - 1, MISSING), MISSING)
        groups = tuple(group for group, stays in zip(self.groups, kept, strict=True) if stays)
        return Attribute(protected=self.protected, groups=groups, codes=new_codes[self.codes])

    def pool_others(self, reference: Group) -> Attribute:
        """Return an attribute of one column with two groups: all others as one, the reference."""
        is_reference = self.codes == self.groups.index(reference)
        return Attribute(
            protected=self.protected,
            groups=((ALL_OTHERS,), reference),
            codes=np.where(self.codes == MISSING, MISSING, is_reference.astype(np.int64)),
        )


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Rows and selections per group.

    Attributes
    ----------
    rows, rows_selected : float array
        Number of persons: rows of the table, or the sum of weights that are counts.
    weight, weight_selected : float array
        Sum of weights; rates are ratios of these.
    effective : float array
        The effective sample size: this many persons, each counted once, would give a rate of the
        same variance, linearised. `rows` where persons are counted.
    """

    rows: FloatArray
    rows_selected: FloatArray
    weight: FloatArray
    weight_selected: FloatArray
    effective: FloatArray


def label(group: Group) -> str:
    """Return a group's name for people.

    Examples
    --------
    >>> label(("Female", "Black"))
    'Female & Black'
    """
    return " & ".join(str(value) for value in group)


def attributes(counts: Counts, protected: Sequence[str]) -> list[Attribute]:
    """Return each protected column alone, then every two jointly, then all of them jointly."""
    for column in protected:
        _check_groups(column, counts.values[column])
    single = [
        Attribute(
            protected=(column,),
            groups=tuple((value,) for value in counts.values[column]),
            codes=counts.codes[column],
        )
        for column in protected
    ]
    if len(single) == 1:
        return single
    # The cells are counted once, for all columns; of two columns they are summed over the others.
    pairs = list(combinations(protected, 2)) if len(single) > 2 else []
    joint = []
    for columns in (*pairs, tuple(protected)):
        column_codes = np.stack([counts.codes[column] for column in columns])
        is_known = np.all(column_codes != MISSING, axis=0)
        codes = np.full(is_known.shape, MISSING, dtype=np.int64)
        # Only combinations that occur are groups.
        combined, codes[is_known] = np.unique(
            column_codes[:, is_known], axis=1, return_inverse=True
        )
        groups = tuple(
            tuple(counts.values[column][code] for column, code in zip(columns, group, strict=True))
            for group in combined.T
        )
        joint.append(Attribute(protected=columns, groups=groups, codes=codes))
    return [*single, *joint]


def tally(codes: IntArray, counts: Counts, selected: BoolArray, group_count: int) -> Tally:
    """Sum the cells of each group; `selected` marks the cells with the favorable outcome."""
    is_known = codes != MISSING

    def total(values: FloatArray, cells: BoolArray) -> FloatArray:
        sums = np.bincount(codes[cells], weights=values[cells], minlength=group_count)
        return np.asarray(sums, dtype=np.float64)

    weight = total(counts.weight, is_known)
    weight_selected = total(counts.weight, is_known & selected)
    effective = weight
    if not counts.exact:
        from fourfifths._stats.proportions import linearised_size  # it loads scipy

        # A group of weight 0 has no rate, and no size either.
        has_weight = weight > 0
        effective = np.zeros(group_count)
        effective[has_weight] = linearised_size(
            weight_selected[has_weight] / weight[has_weight],
            squares_selected=total(counts.weight_squared, is_known & selected)[has_weight],
            squares_not_selected=total(counts.weight_squared, is_known & ~selected)[has_weight],
            weight=weight[has_weight],
        )
    return Tally(
        rows=total(counts.rows, is_known),
        rows_selected=total(counts.rows, is_known & selected),
        weight=weight,
        weight_selected=weight_selected,
        effective=effective,
    )


def compatible(attribute: Attribute, counts: Counts, group: int) -> BoolArray:
    """Mark the cells of unknown membership that could belong to the group.

    In a joint group, one column may be known and rule the group out.
    """
    possible: BoolArray = attribute.codes == MISSING
    if len(attribute.protected) == 1:
        return possible
    for column, value in zip(attribute.protected, attribute.groups[group], strict=True):
        codes = counts.codes[column]
        possible = possible & ((codes == MISSING) | (codes == counts.values[column].index(value)))
    return possible


def find_value(
    name: Any,
    values: Sequence[Value],
    *,
    message: str,
    error: type[FourfifthsError] = GroupError,
) -> Value:
    """Return the value that the user's `name` means: the same value, text or number.

    The shell and saved files know only texts, so "1" may have to mean 1 or 1.0; and of a text, case
    and spaces may differ. If no value, or more than one, is meant, raise `error` with the message
    and the values that there are.
    """
    same = [
        value
        for value in values
        if value == name and isinstance(value, bool) == isinstance(name, bool)
    ]
    # "true" means True, but a text "true" does not mean another text "True".
    same_text = [
        value
        for value in values
        if str(value) == str(name)
        or (isinstance(value, bool) and str(value).lower() == str(name).lower())
    ]
    number = _number(name)
    same_number = [value for value in values if number is not None and _number(value) == number]
    same_folded = [
        value
        for value in values
        if isinstance(value, str) and isinstance(name, str) and folded(value) == folded(name)
    ]
    # The strictest reading that leaves one value: both 1 and "1" may be there.
    for matches in (same, same_text, same_number, same_folded):
        if len(matches) == 1:
            return matches[0]
    raise error(f"{message}{nearest(name, values)} (values: {listed(values)})")


def choose_reference(
    protected: Sequence[str],
    groups: Sequence[Group],
    *,
    designated: Mapping[str, Any],
    rates: FloatArray | None = None,
    sizes: FloatArray | None = None,
    otherwise: Literal["highest rate", "largest", "error"] = "error",
    reason: str = "",
) -> int:
    """Return the index of the group that all others are compared with.

    Parameters
    ----------
    protected : sequence of str
    groups : sequence of tuple
    designated : mapping of str to value
        The reference value of each protected column, as far as it is designated.
    rates, sizes : float array, optional
        The groups' selection rates and sizes, for the choice where no group is designated. A NaN
        rate is never the highest.
    otherwise : {"highest rate", "largest", "error"}
        What to do if `designated` lacks the value of a protected column.
    reason : str
        Why a group must be designated, for the error.
    """
    if all(column in designated for column in protected):
        reference = tuple(
            find_value(
                designated[column],
                sorted({group[index] for group in groups}, key=str),
                message=f"reference={designated[column]!r}: not among the groups of {column!r}",
            )
            for index, column in enumerate(protected)
        )
        if reference not in groups:
            raise GroupError(
                f"reference: no rows are {label(reference)!r} (groups: "
                f"{listed(label(group) for group in groups)})"
            )
        return list(groups).index(reference)
    if otherwise == "highest rate" and rates is not None:
        # Of equal rates the first in the order of the groups, which does not depend on the rows.
        return int(np.argmax(np.nan_to_num(rates, nan=-1.0)))
    if otherwise == "largest" and sizes is not None:
        return int(np.argmax(sizes))
    example = dict(zip(protected, groups[0], strict=True))
    raise GroupError(
        f"reference: {reason}; name it, as in reference={example!r} (groups: "
        f"{listed(label(group) for group in groups)})"
    )


def _check_groups(column: str, values: tuple[Value, ...]) -> None:
    if len(values) < 2:
        content = f"only {str(values[0])!r}" if values else "nothing but missing values"
        raise GroupError(
            f"protected={column!r}: the column holds {content}; expected at least two groups"
        )
    if are_dates(values):
        raise ColumnError(f"protected={column!r}: the column holds dates; {age_advice(column)}")
    numbers = [number for number in map(_number, values) if number is not None]
    if len(numbers) == len(values) > MAX_NUMERIC_GROUPS:
        raise ColumnError(
            f"protected={column!r}: a numeric column with {len(values)} different values; "
            + banding_advice(column, numbers)
        )


def _number(value: Value) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
