"""Bands: a column of numbers, or of dates of birth, cut into groups.

An edge belongs to the group above it. Dates of birth become ages in completed years on a day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise

import narwhals as nw

from fourfifths._tables.counts import Counts
from fourfifths._tables.table import Table
from fourfifths._tables.values import is_date, is_text, read_dates
from fourfifths._text import in_rows, listed, number_text
from fourfifths.errors import ColumnError

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
            note = (
                f"column {column!r}: {listed(missing, limit=3)} taken for missing ({in_rows(rows)})"
            )
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


def age_advice(column: str) -> str:
    """Say how to make groups of dates of birth."""
    return (
        "if they are dates of birth, say on which day ages count and where they are cut: "
        f"ages={{{column!r}: '2026-01-01'}}, bands={{{column!r}: [40]}}"
    )


def name_bands(counts: Counts, bands: Mapping[str, Bands]) -> Counts:
    """Put the names of banded groups in the place of their codes."""
    values, members = dict(counts.values), dict(counts.members)
    for column, cut in bands.items():
        members[column] = tuple((code,) for code in values[column])
        values[column] = tuple(cut.labels[int(code)] for code in values[column])
    return replace(counts, values=values, members=members)
