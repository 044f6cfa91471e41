"""`against_share`: a group's number among the selected, against its share of a population."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._results import Record, Result, plain
from fourfifths._stats.proportions import at_most_as_likely, binomial
from fourfifths._tables.counts import names_total
from fourfifths._tables.table import Table, TableLike, no_rows, open_table
from fourfifths.errors import OptionError, TableError


@dataclass(frozen=True, kw_only=True)
class PeriodShare:
    """The comparison of one year, or of any other period.

    Attributes
    ----------
    period : str
    observed, n, share, expected, shortfall, standard_deviations, p
        As in `ShareTest`.
    """

    period: str
    observed: int
    n: int
    share: float
    expected: float
    shortfall: float
    standard_deviations: float
    p: float


@dataclass(frozen=True, kw_only=True, repr=False)
class ShareTest(Result):
    """A group's number among the selected, compared with its share of an outside population.

    Attributes
    ----------
    observed, n : int
        How many of the selected belong to the group, and how many were selected, in all periods.
    share : float
        The group's share of the population; with several periods the mean, weighted by n.
    expected : float
        The sum over the periods of n times the share.
    shortfall : float
        `expected` minus the observed number.
    standard_deviations : float
        (observed - expected) / sqrt(sum of n share (1 - share)).
    p : float
        Two-sided exact p-value: of the binomial distribution or, where the share differs from
        period to period, of the sum of several.
    periods : tuple of PeriodShare
        Each period alone; empty if there is one.
    """

    _schema: ClassVar[str | None] = "fourfifths/share/1"

    observed: int
    n: int
    share: float
    expected: float
    shortfall: float
    standard_deviations: float
    p: float
    periods: tuple[PeriodShare, ...] = ()

    def to_records(self) -> list[Record]:
        """Return one record for each period, and one for all."""
        pooled = {name: value for name, value in self.to_dict().items() if name != "periods"}
        del pooled["schema"]
        return [*(plain(period) for period in self.periods), {"period": "all", **pooled}]


def against_share(
    observed: int | Sequence[int],
    n: int | Sequence[int],
    *,
    share: float | Sequence[float],
    periods: Sequence[Any] | None = None,
) -> ShareTest:
    """Compare a group's number among the selected with its share of an outside population.

    As in Castaneda v. Partida, 430 U.S. 482 (1977), note 17: of 870 persons summoned as grand
    jurors 339 were Mexican-American, in a county where 79.1% of the population was.

    Parameters
    ----------
    observed, n : int or sequence of int
        How many of the selected belong to the group, and how many were selected; of several
        periods, in sequences of equal length.
    share : float or sequence of float
        The group's share of the population, in (0, 1), for all periods or for each.
    periods : sequence, optional
        The names of the periods. By default 1, 2, ...

    Examples
    --------
    >>> castaneda = against_share(339, 870, share=0.791)
    >>> round(castaneda.expected, 2), round(castaneda.standard_deviations, 2)
    (688.17, -29.11)

    Hazelwood School District v. United States, 433 U.S. 299 (1977), in its two years:

    >>> hazelwood = against_share([10, 5], [282, 123], share=0.154, periods=["1972", "1973"])
    >>> round(hazelwood.standard_deviations, 1)
    -6.5
    >>> [round(year.standard_deviations, 1) for year in hazelwood.periods]
    [-5.5, -3.5]
    """
    is_single = np.ndim(observed) == 0
    counts: list[int] = np.atleast_1d(observed).tolist()
    sizes: list[int] = np.atleast_1d(n).tolist()
    shares: list[float] = np.atleast_1d(share).tolist()
    if np.ndim(share) == 0:
        shares *= len(counts)
    names = [str(index + 1) for index in range(len(counts))]
    if periods is not None:
        names = [str(period) for period in periods]
    lengths = {"observed": len(counts), "n": len(sizes), "share": len(shares)}
    if not counts or len({*lengths.values(), len(names)}) > 1:
        text = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise OptionError(f"observed: expected the same number of each: {text}, {len(names)} names")
    for count, size, fraction in zip(counts, sizes, shares, strict=True):
        if not 0 < fraction < 1:
            raise OptionError(
                f"share={fraction!r}: expected a share between 0 and 1, neither included"
            )
        if not 0 <= count <= size or size < 1:
            raise OptionError(
                f"observed={count!r}, n={size!r}: expected at least one selected, and no more of "
                "the group than were selected"
            )

    tests = tuple(
        PeriodShare(period=name, **comparison([count], [size], [fraction]))
        for name, count, size, fraction in zip(names, counts, sizes, shares, strict=True)
    )
    return ShareTest(**comparison(counts, sizes, shares), periods=() if is_single else tests)


def comparison(observed: Sequence[int], n: Sequence[int], share: Sequence[float]) -> dict[str, Any]:
    """Return the figures of several periods together."""
    # Binomial: the population is so large that each one selected leaves its shares unchanged.
    pairs = list(zip(n, share, strict=True))
    expected = math.fsum(size * fraction for size, fraction in pairs)
    variance = math.fsum(size * fraction * (1 - fraction) for size, fraction in pairs)
    first, probability = sum_of_binomials(pairs)
    total = sum(observed)
    return {
        "observed": total,
        "n": sum(n),
        "share": share[0] if len(set(share)) == 1 else expected / sum(n),
        "expected": expected,
        "shortfall": expected - total,
        "standard_deviations": (total - expected) / math.sqrt(variance),
        "p": at_most_as_likely(probability, total - first)[0],
    }


def sum_of_binomials(pairs: Sequence[tuple[int, float]]) -> tuple[int, FloatArray]:
    """Return the first listed sum of binomial counts, and the probabilities from there on.

    Examples
    --------
    One of one coin, and one of a coin that falls so in 1 of 4 throws: 3/8, 4/8, 1/8.

    >>> first, probability = sum_of_binomials([(1, 0.5), (1, 0.25)])
    >>> first, probability.tolist()
    (0, [0.375, 0.5, 0.125])
    """
    # Periods of one share are one binomial; only different shares have to be convolved.
    sizes: dict[float, int] = {}
    for size, fraction in pairs:
        sizes[fraction] = sizes.get(fraction, 0) + size
    first, probability = 0, np.ones(1)
    for fraction, size in sizes.items():
        start, further = binomial(size, fraction)
        first, probability = first + start, np.convolve(probability, further)
    return first, probability


@dataclass(frozen=True, kw_only=True)
class Periods:
    """The columns of a table with one row for each period."""

    periods: list[str]
    observed: list[int]
    selected: list[int]
    shares: list[float]


def read_periods(
    table: TableLike,
    *,
    period: str,
    observed_column: str,
    selected_column: str,
    share_column: str | None,
) -> Periods:
    """Read a table with one row for each period; the shares are None without a column of them."""
    opened = open_table(table).without_empty_rows()
    columns = {"observed_column": observed_column, "selected_column": selected_column}
    if share_column is not None:
        columns["share_column"] = share_column
    opened.column(period, "period")
    is_percent = share_column is not None and is_percentages(opened, share_column)
    for argument, column in columns.items():
        opened = opened.with_numbers(column, argument, may_be_unknown=False)
    names = [opened.names[column] for column in (period, *columns.values())]
    rows = opened.rows(opened.frame.select(*names))
    if not rows:
        raise no_rows(opened.name)
    for row in rows:
        check_row(opened.name, row)
    check_totals(opened.name, [str(row[0]) for row in rows], [row[1:3] for row in rows])
    shares = []
    if share_column is not None:
        shares = [float(row[3]) / 100 if is_percent else float(row[3]) for row in rows]
        check_shares(share_column, shares, rows)
    return Periods(
        periods=[str(row[0]) for row in rows],
        observed=[int(row[1]) for row in rows],
        selected=[int(row[2]) for row in rows],
        shares=shares,
    )


def check_row(table: str, row: Sequence[Any]) -> None:
    """Raise if a row lacks a number, or if its numbers of people are impossible."""
    period, observed, selected = row[:3]
    if any(cell is None for cell in row):
        raise TableError(f"{table}: the row of {period!r} has an empty cell; fill it in")
    if not (observed.is_integer() and selected.is_integer()):
        raise TableError(
            f"{table}: the row of {period!r} holds {observed} and {selected}; expected whole "
            "numbers of people"
        )
    if not 0 <= observed <= selected or selected < 1:
        raise TableError(
            f"{table}: the row of {period!r} holds {observed:.0f} of {selected:.0f} selected; "
            "expected at least 1 selected, and from 0 to all of them of the group"
        )


def check_shares(column: str, shares: Sequence[float], rows: Sequence[Sequence[Any]]) -> None:
    """Raise if a share is impossible."""
    for row, fraction in zip(rows, shares, strict=True):
        if not 0 < fraction < 1:
            raise TableError(
                f"share_column={column!r}: {row[3]:g} in the row of {row[0]!r}; expected a share "
                "between 0 and 1, neither included, as in 0.154 or 15.4%"
            )


def is_percentages(table: Table, column: str) -> bool:
    """Return whether the numbers of a column are written with a percent sign."""
    name = table.names[table.column(column, "share_column")]
    cells = (row[0] for row in table.rows(table.frame.select(name)))
    return any(isinstance(cell, str) and "%" in cell for cell in cells)


def check_totals(table: str, periods: Sequence[str], counts: Sequence[Sequence[float]]) -> None:
    """Raise if a row is the total of others, which would count all of them twice."""
    sums = [math.fsum(row[index] for row in counts) for index in (0, 1)]
    for period, row in zip(periods, counts, strict=True):
        is_sum = len(counts) > 2 and all(
            2 * count == total for count, total in zip(row, sums, strict=True)
        )
        if is_sum:
            raise TableError(
                f"{table}: the row of {period!r} looks like a total of the other rows (its numbers "
                "are their sum); remove it, or, if it is a period of its own, give it in two rows"
            )
        if names_total(period):
            raise TableError(
                f"{table}: the row of {period!r} looks like a total of the other rows; remove it, "
                "or give it another name"
            )
