"""The number of rows, and their weight, in each cell of a table.

These are sufficient statistics: one pass over the table, made by the library that holds it,
returns the cells that all figures of selections are computed from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.table import Table, Value, no_rows, quote
from fourfifths._tables.values import (
    MAX_EXACT_INTEGER,
    NUMBER,
    Spellings,
    as_floats,
    folded,
    is_text,
)
from fourfifths._text import listed, number_text, rows_have
from fourfifths.errors import ColumnError, GroupError, WeightsError

WeightKind = Literal["sampling", "counts"]
CountedColumn = Literal["n", "selected", "not_selected"]
MISSING = -1
TOTALS = frozenset(
    {
        *("total", "totals", "grand total", "subtotal", "sub-total", "sum", "overall", "all"),
        *("all groups", "all races", "everyone", "all applicants", "all employees", "combined"),
        *("gesamt", "insgesamt", "summe", "totale", "totaal", "total general", "ensemble"),
    }
)
# What may follow such a word.
TOTAL_MARKS = " :.*=-"
_PEOPLE = "applicants|applications|candidates|cases|employees|hires|people|persons|records"
COUNT_NAME = re.compile(
    rf"n|count|counts|cnt|freq|frequency|frequencies|head ?count|tally|{_PEOPLE}|"
    rf"(?:n|no|num|nr|number|count)(?: of)? (?:{_PEOPLE})|(?:{_PEOPLE}) count"
)
SELECTED, NOT_SELECTED = "selected", "not selected"
# "age", "Age (years)", "applicant_age"; not "wage", nor "agency".
AGE_NAME = re.compile(r"(?i:(?:^|[\W_])ages?(?:$|[\W_]))|[a-z]Age(?:$|[A-Z_])")
MAX_CELLS = 100_000
# How many decimals weights may have to be summed as whole numbers.
DECIMALS_OF_WEIGHTS = (0, 1, 2, 3, 4, 6, 8, 10, 12)
MAX_DECIMAL_SUM = 1e15  # below it, no two decimals are the same floating-point number
EXACT_BITS = 52
PIECES = 3  # of a number of 53 bits, beside others up to 2**40 times as large
PROBED_ROWS = 1_000  # to see whether a key may be 0 or 1


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Rows and weight per cell.

    Attributes
    ----------
    values : mapping of str to tuple
        The distinct values of each key column, sorted; missing is not among them.
    codes : mapping of str to int array
        For each cell, the index of its value in `values`; -1 where it is missing.
    rows : float array
        How many rows; how many persons when the weights are counts.
    weight, weight_squared : float array
        Sums over the cell's rows, in units of `unit`; both equal `rows` where each row counts once.
    sums : mapping of str to float array
        Further sums that were asked for.
    exact : bool
        Whether `weight` holds whole numbers of persons, so that exact tests apply.
    members : mapping of str to tuple of tuple
        For each value in `values`, what the table holds for it: several spellings, or the code of
        a band.
    notes : tuple of str
        What was assumed when the table was read.
    unit : float
        How many units make a weight of 1: 10 where weights are summed in tenths.
    """

    values: Mapping[str, tuple[Value, ...]]
    codes: Mapping[str, IntArray]
    rows: FloatArray
    weight: FloatArray
    weight_squared: FloatArray
    sums: Mapping[str, FloatArray]
    exact: bool
    members: Mapping[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unit: float = 1.0

    def take(self, cells: BoolArray | IntArray) -> Counts:
        """Return some cells: those for which it is true, or those with these numbers."""
        return replace(
            self,
            codes={key: codes[cells] for key, codes in self.codes.items()},
            rows=self.rows[cells],
            weight=self.weight[cells],
            weight_squared=self.weight_squared[cells],
            sums={name: sums[cells] for name, sums in self.sums.items()},
        )

    def in_order(self) -> Counts:
        """Return the cells in the order of their values.

        Libraries return them in any order, and what is summed over them depends on it in the last
        digit. Missing values may be in several cells, such as those of null and of a blank text.
        """
        return self.take(np.lexsort([self.weight, *[*self.codes.values()][::-1]]))

    def rows_of(self, key: str) -> dict[Value, float]:
        """Return the number of rows of each value of a key column."""
        codes = self.codes[key]
        is_known = codes != MISSING
        rows = np.bincount(
            codes[is_known], weights=self.rows[is_known], minlength=len(self.values[key])
        )
        return dict(zip(self.values[key], rows.tolist(), strict=True))

    def respelled(self, key: str, spellings: Spellings) -> Counts:
        """Return the counts with the values of a key column as people mean them."""
        values = tuple(sorted(spellings.values, key=value_order))
        members = dict(zip(spellings.values, spellings.members, strict=True))
        new_code = {member: code for code, value in enumerate(values) for member in members[value]}
        # The appended entry is the one that the code -1 points to.
        recoded = [new_code.get(value, MISSING) for value in self.values[key]]
        codes = np.array([*recoded, MISSING], dtype=np.int64)[self.codes[key]]
        return replace(
            self,
            values={**self.values, key: values},
            codes={**self.codes, key: codes},
            members={**self.members, key: tuple(members[value] for value in values)},
            notes=(*self.notes, *spellings.notes),
        )


def count(
    table: Table,
    keys: Sequence[str],
    *,
    weights: str | None = None,
    weights_are: WeightKind = "sampling",
    measures: Mapping[str, nw.Expr] | None = None,
    max_cells: int = MAX_CELLS,
) -> Counts:
    """Count the rows of a table in each combination of the values of the key columns.

    Parameters
    ----------
    table : Table
    keys : sequence of str
    weights : str, optional
        A column that `Table.with_numbers` has made.
    weights_are : {"sampling", "counts"}
    measures : mapping of str to expression, optional
        Further figures to sum over each cell's rows, missing values left out.
    max_cells : int
        More combinations than these are an error.
    """
    keys = list(dict.fromkeys(keys))
    measures = dict(measures or {})
    scale = WeightScale()
    if weights is not None:
        scale = WeightScale.of(table, weights, weights_are)
        # The same pass checks the weights.
        measures |= scale.measures(table.col(weights))
    inner_names = {measure: f"sum{index}" for index, measure in enumerate(measures)}
    frame = table.frame
    if measures:
        frame = frame.with_columns(
            *(measures[measure].alias(name) for measure, name in inner_names.items())
        )
    sums = [nw.col(name).sum() for name in inner_names.values()]
    try:
        grouped = frame.group_by(*(table.names[key] for key in keys)).agg(
            nw.len().alias("rows"), *sums
        )
    # pandas and Arrow group at once, and cannot group lists and the like.
    except (TypeError, NotImplementedError) as error:
        raise ColumnError(f"column {listed(keys)}: expected plain values: {error}") from error
    cells = None if measures else cells_by_sums(table, keys, max_cells=max_cells)
    if cells is None:
        # One more than allowed is enough to know that there are too many.
        cells = table.rows(grouped.head(max_cells + 1))
    if not cells:
        raise no_rows(table.name)
    if len(cells) > max_cells:
        distinct = table.frame.select(*(table.col(key).n_unique() for key in keys))
        sizes = dict(zip(keys, table.rows(distinct)[0], strict=True))
        worst = max(keys, key=lambda key: sizes[key])
        raise ColumnError(
            f"column {worst!r} has {sizes[worst]:,} different values, too many to count apart; "
            f"round its numbers or, if it is protected, {banding_advice(worst)}"
        )
    columns = list(zip(*cells, strict=True))
    try:
        encoded = {key: _encode(columns[index]) for index, key in enumerate(keys)}
    except TypeError as error:
        raise ColumnError(f"column {listed(keys)}: expected plain values: {error}") from error
    # The sum of nothing but missing values is null in some libraries and 0 in others.
    rows, *totals = (
        np.array([0.0 if cell is None else cell for cell in column], dtype=np.float64)
        for column in columns[len(keys) :]
    )
    counts = Counts(
        values={key: values for key, (values, _) in encoded.items()},
        codes={key: codes for key, (_, codes) in encoded.items()},
        rows=rows,
        weight=rows,
        weight_squared=rows,
        sums=dict(zip(measures, totals, strict=True)),
        exact=True,
        notes=table.notes,
    )
    if weights is None:
        return counts
    counts = replace(counts, sums=scale.joined(counts.sums), unit=scale.unit)
    _check_weights(weights, counts.sums, weights_are)
    weight_sum = counts.sums["weight"]
    if weights_are == "counts":
        persons = replace(counts, rows=weight_sum, weight=weight_sum, weight_squared=weight_sum)
        # A line that counts 0 persons holds no one, so it is not a cell.
        return persons.take(weight_sum > 0)
    squared = counts.sums["squared"]
    return replace(counts, weight=weight_sum, weight_squared=squared, exact=False).in_order()


@dataclass(frozen=True, kw_only=True)
class WeightScale:
    """The unit that sampling weights are summed in, so that the order of rows does not matter.

    A sum of floating-point numbers depends on their order in the last digit, and so on the library,
    and on how many partitions a table has. A sum of whole numbers below 2**53 does not. So weights
    with a few decimals are summed as whole numbers of their last decimal: .1 is one tenth, and not
    the floating-point number next to it. Other weights are cut into pieces, each a whole number of
    a power of two. By default weights are summed as they are.

    Attributes
    ----------
    unit : float
        How many units make a weight of 1: a power of ten, or of two if weights have too many
        digits.
    largest : float
        The largest weight, in units.
    rows : int
    is_whole : bool
        Whether each weight is a whole number of units.
    """

    unit: float = 1.0
    largest: float = 0.0
    rows: int = 0
    is_whole: bool = False

    @classmethod
    def of(cls, table: Table, weights: str, weights_are: WeightKind) -> WeightScale:
        """Return the scale of a column that `Table.with_numbers` has made, in one pass.

        Numbers of persons are whole, and summed as they are.
        """
        if weights_are == "counts":
            return cls()
        weight = table.col(weights)
        units = [10.0**decimals for decimals in DECIMALS_OF_WEIGHTS]
        # A whole number over a power of ten is the nearest float if it is divided once. By a
        # column, because polars multiplies by the inverse of a single number, and rounds twice.
        is_other = [(weight * unit).round(0) / (weight * 0.0 + unit) != weight for unit in units]
        described = table.frame.select(
            weight.count().alias("rows"),
            weight.max().alias("largest"),
            *(is_it.cast(nw.Int64()).sum().alias(str(n)) for n, is_it in enumerate(is_other)),
        )
        row_count, largest, *other_counts = table.rows(described)[0]
        largest = largest or 0.0
        # Weights whose squares are 0 or infinite are refused when they are counted.
        if not 0 < largest * largest < math.inf:
            return cls()
        for unit, other_count in zip(units, other_counts, strict=True):
            if not other_count and largest * unit * row_count < MAX_DECIMAL_SUM:
                units_of_largest = float(round(largest * unit))
                return cls(unit=unit, largest=units_of_largest, rows=row_count, is_whole=True)
        _, exponent = math.frexp(largest)
        unit = 2.0**-exponent
        return cls(unit=unit, largest=largest * unit, rows=row_count, is_whole=False)

    def measures(self, weight: nw.Expr) -> dict[str, nw.Expr]:
        """Return what is to be summed: pieces of the weights and of their squares, and faults."""
        measures = {
            "missing": weight.is_null().cast(nw.Float64()),
            "negative": (weight < 0).cast(nw.Float64()),
            "broken": (weight.round(0) != weight).cast(nw.Float64()),
        }
        in_units = weight * self.unit
        if self.is_whole:
            in_units = in_units.round(0)
        for name, largest in self._largest.items():
            rest = in_units if name == "weight" else in_units * in_units
            for index, scale in enumerate(self._scales(largest)):
                piece = rest if scale is None else (rest * scale).floor()
                measures[f"{name} {index}"] = piece
                rest = rest if scale is None else rest - piece / scale
        return measures

    def joined(self, sums: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the sums with the pieces put together to "weight" and "squared"."""
        joined = dict(sums)
        for name, largest in self._largest.items():
            if f"{name} 0" not in sums:  # no weights
                continue
            pieces = [
                joined.pop(f"{name} {index}") / (scale or 1.0)
                for index, scale in enumerate(self._scales(largest))
            ]
            joined[name] = sum(pieces[-2::-1], pieces[-1])  # the smallest first
        return joined

    @property
    def _largest(self) -> dict[str, float]:
        return {"weight": self.largest, "squared": self.largest * self.largest}

    def _scales(self, largest: float) -> list[float | None]:
        """Return what pieces of numbers are multiplied by to be whole; None: there is one piece."""
        if largest == 0 or (self.is_whole and largest * self.rows < MAX_EXACT_INTEGER):
            return [None]
        bits = EXACT_BITS - self.rows.bit_length()  # the sum of all rows has no more than 52
        _, exponent = math.frexp(largest)
        return [2.0 ** (step * bits - exponent) for step in range(1, PIECES + 1)]


def cells_by_sums(
    table: Table, keys: Sequence[str], *, max_cells: int
) -> list[tuple[Value, ...]] | None:
    """Return the cells of a Parquet file, of a key that is 0 or 1 by its sums.

    A sum takes less time than a further key to group by. That the key has no other values is seen
    in the same pass: whole numbers are 0 or 1 if all their bits, joined by "or", are. Other tables
    of DuckDB may take long to compute, or be read only once, so their first rows are not looked at.

    Returns
    -------
    list of tuple, or None
        The values of the keys and the number of rows, for each cell. None for another table, if
        the first rows show no such key, if later ones hold other values, or if there are too many
        cells.
    """
    integers = [key for key in keys if table.dtype(key).is_integer()]
    is_parquet = table.file is not None and table.file.kind == "parquet"
    if not (is_parquet and integers and len(keys) > 1):
        return None
    first_rows = table.rows(
        table.frame.select(*(table.names[key] for key in integers)).head(PROBED_ROWS)
    )
    first_values = dict(zip(integers, zip(*first_rows, strict=True), strict=False))
    binary = [key for key, values in first_values.items() if {*values} <= {0, 1, None}]
    if not binary:
        return None
    position = keys.index(binary[-1])  # the outcome is behind the groups
    groups = ", ".join(quote(table.names[key]) for key in keys if key != binary[-1])
    value = quote(table.names[binary[-1]])
    sums = f"count(*) AS n, count({value}) AS known, sum({value}) AS ones, bit_or({value}) AS bits"
    relation: Any = table.frame.to_native()
    counted: nw.LazyFrame[Any] = nw.from_native(relation.aggregate(f"{groups}, {sums}", groups))
    max_groups = max_cells // 3  # a group may have rows with 0, with 1 and with neither
    records = table.rows(counted.head(max_groups + 1))
    if len(records) > max_groups:
        return None
    cells: list[tuple[Value, ...]] = []
    for *group, row_count, known, ones, bits in records:
        if bits not in (0, 1, None):
            return None
        selected = ones or 0  # the sum of no values is null
        counts = {0: known - selected, 1: selected, None: row_count - known}
        cells += [
            (*group[:position], code, *group[position:], rows)
            for code, rows in counts.items()
            if rows
        ]
    return cells


def count_per_group(
    table: Table, keys: Sequence[str], *, columns: Mapping[CountedColumn, str]
) -> Counts:
    """Return the counts of a table that holds them already: one row per group.

    Parameters
    ----------
    table : Table
        The columns of numbers are as `Table.with_numbers` makes them.
    keys : sequence of str
    columns : mapping of {"n", "selected", "not_selected"} to str
        "selected" and one other.

    Returns
    -------
    Counts
        The outcome is the column of those selected; its values are "selected" and "not selected".
    """
    selected = table.col(columns["selected"])
    total = (
        table.col(columns["n"]) if "n" in columns else selected + table.col(columns["not_selected"])
    )
    rest = total - selected
    rows = count(
        table,
        keys,
        measures={
            "selected": selected,
            "rest": rest,
            "missing": (total.is_null() | selected.is_null()).cast(nw.Float64()),
            "negative": ((selected < 0) | (total < 0)).cast(nw.Float64()),
            "broken": ((selected.round(0) != selected) | (total.round(0) != total)).cast(
                nw.Float64()
            ),
            "above": (rest < 0).cast(nw.Float64()),
        },
    )
    # A line without a group and without numbers is an empty line.
    has_key = np.any([codes != MISSING for codes in rows.codes.values()], axis=0)
    rows = rows.take(has_key | (rows.sums["missing"] < rows.rows))
    faults = {
        "missing": "no number; write 0 where there is no one",
        "negative": "a negative number",
        "broken": "a number that is not whole; expected numbers of persons",
        "above": f"more selected than there are ({columns['selected']!r} above the total)",
    }
    for fault, text in faults.items():
        row_count = int(rows.sums[fault].sum())
        if row_count:
            raise WeightsError(f"counts={dict(columns)!r}: {rows_have(row_count)} {text}")
    _check_totals(table, rows, keys)
    check_no_total_rows(table, besides=keys)
    notes = list(rows.notes)
    repeated = np.flatnonzero(rows.rows > 1)
    if repeated.size:
        cell = int(repeated[0])
        codes = {key: int(codes[cell]) for key, codes in rows.codes.items()}
        group = [rows.values[key][code] for key, code in codes.items() if code != MISSING]
        more = f", and {repeated.size - 1} more are in several" if repeated.size > 1 else ""
        notes.append(
            f"{listed(group)} is in {int(rows.rows[cell])} rows of the table{more}; their "
            "numbers are added up"
        )
    persons = np.concatenate([rows.sums["rest"], rows.sums["selected"]])
    outcome = np.repeat([0, 1], rows.rows.size)
    return Counts(
        values={**rows.values, columns["selected"]: (NOT_SELECTED, SELECTED)},
        codes={key: np.tile(codes, 2) for key, codes in rows.codes.items()}
        | {columns["selected"]: outcome},
        rows=persons,
        weight=persons,
        weight_squared=persons,
        sums={},
        exact=True,
        notes=tuple(notes),
    ).take(persons > 0)


def names_total(text: str) -> bool:
    """Return whether a row of this name is likely to be the total of other rows.

    Examples
    --------
    >>> names_total("Grand total:"), names_total("Total loss")
    (True, False)
    """
    return folded(text).strip(TOTAL_MARKS) in TOTALS


def check_no_totals(column: str, values: Iterable[Any], known: Iterable[Any]) -> None:
    """Raise if a value of a column is called a total: it would count everyone twice."""
    kept_words = {folded(str(value)) for value in known}
    for value in values:
        if names_total(str(value)) and folded(str(value)) not in kept_words:
            raise GroupError(
                f"column {column!r}: {str(value)!r} looks like a total of the other rows; remove "
                f"it, or, if it is a group, give known=[{str(value)!r}]"
            )


def check_no_row_of_totals(
    column: str, row_counts: Mapping[Value, float], known: Iterable[Any]
) -> None:
    """Raise if a value that a single row of persons has is called a total."""
    check_no_totals(column, [value for value, rows in row_counts.items() if rows == 1], known)


def check_no_total_rows(table: Table, *, besides: Sequence[str] = ()) -> None:
    """Raise if a row of an aggregated table is called a total, in whatever column of text.

    A column with one value for all rows says nothing of them. Tables of more than `MAX_CELLS` rows
    are not written by hand, and are not looked at.

    Parameters
    ----------
    table : Table
        As it was opened.
    besides : sequence of str
        Columns that were looked at.
    """
    if table.rows(table.frame.select(nw.len()))[0][0] > MAX_CELLS:
        return
    for column in table.columns:
        if column in besides or not is_text(table.dtype(column)):
            continue
        values = [row[0] for row in table.rows(table.frame.select(table.names[column]).unique())]
        if len(values) > 1:
            check_no_totals(column, values, table.reading.known)


def _check_totals(table: Table, rows: Counts, keys: Sequence[str]) -> None:
    """Raise if a row of a table of counts is the total of others."""
    kept_words = {folded(str(value)) for value in table.reading.known}
    for key in keys:
        for code, value in enumerate(rows.values[key]):
            words = folded(str(value))
            if words in kept_words or not names_total(words):
                continue
            is_total = rows.codes[key] == code
            sums = [rows.sums[name] for name in ("selected", "rest")]
            is_sum = all(numbers[is_total].sum() == numbers[~is_total].sum() for numbers in sums)
            verb = "are" if is_sum else "are not"
            raise GroupError(
                f"column {key!r}: {str(value)!r} looks like a total of the other rows (its numbers "
                f"{verb} their sum); remove it, or, if it is a group, give known=[{str(value)!r}]"
            )
    if rows.rows.size > 2:
        check_sum_of_others(rows, kept_words)


def check_sum_of_others(rows: Counts, kept_words: Container[str]) -> None:
    """Raise if the numbers of one row are the sums of those of all others: a total by any name."""
    sums = np.stack([rows.sums[name] for name in ("selected", "rest")])
    is_total = np.all(2 * sums == sums.sum(axis=1, keepdims=True), axis=0) & np.any(sums, axis=0)
    for cell in np.flatnonzero(is_total):
        codes = {key: int(codes[cell]) for key, codes in rows.codes.items()}
        group = [str(rows.values[key][code]) for key, code in codes.items() if code != MISSING]
        if any(folded(name) in kept_words for name in group):
            continue
        if not group:
            raise GroupError(
                "the numbers of a row without a group are the sums of all others, so it looks like "
                "their total; remove it, or give the row a name"
            )
        raise GroupError(
            f"{listed(group)} looks like a total of the other rows (its numbers are their sum); "
            f"remove it, or, if it is a group, give known=[{group[0]!r}]"
        )


def check_one_row_per_person(table: Table, counts: Counts, roles_columns: Sequence[str]) -> None:
    """Raise if each row of a table seems to stand for several persons, and nobody said so.

    That is: a column is called like a number of persons and holds whole numbers, and no two rows
    are alike in all other columns, or in all that are counted.

    Parameters
    ----------
    table : Table
        As it was opened.
    counts : Counts
        Of the table's rows.
    roles_columns : sequence of str
        The columns that have a role.
    """
    candidates = [
        name
        for name in table.columns
        if name not in roles_columns and COUNT_NAME.fullmatch(folded(re.sub(r"[\W_]+", " ", name)))
    ]
    row_count = int(counts.rows.sum())
    for name in candidates:
        rest = [column for column in table.columns if column not in candidates]
        is_one_row_each = bool(np.all(counts.rows == 1)) or _is_crossed(table, rest, row_count)
        if row_count > 1 and is_one_row_each and _holds_persons(table, name):
            keys = listed(column for column in roles_columns if column in counts.values)
            raise WeightsError(
                f"column {name!r} looks like a number of persons, and no two rows are alike; if a "
                f"row stands for that many, give weights={name!r}, weights_are='counts'; if "
                f"another column says how many of them were selected, give counts={{'n': {name!r}, "
                f"'selected': ...}} instead of an outcome; if rows are persons, rename it ({keys} "
                "are counted)"
            )


def _is_crossed(table: Table, columns: Sequence[str], row_count: int) -> bool:
    """Return whether rows are combinations of a few categories, and each occurs once."""
    if row_count > MAX_CELLS or any(
        table.dtype(name).is_numeric() or table.dtype(name).is_nested() for name in columns
    ):
        return False
    distinct = table.frame.select(*(table.col(name).n_unique() for name in columns))
    if any(2 * int(size) > row_count for size in table.rows(distinct)[0]):
        return False
    for name in columns:
        if is_text(table.dtype(name)):
            text = table.col(name).cast(nw.String())
            words = table.frame.filter(~text.is_null() & ~text.str.contains(NUMBER))
            if not table.rows(words.select(table.names[name]).head(1)):
                return False
    rows = table.frame.select(*(table.names[name] for name in columns)).unique()
    return int(table.rows(rows.select(nw.len()))[0][0]) == row_count


def _holds_persons(table: Table, name: str) -> bool:
    """Return whether a column holds whole numbers, 0 or more, and not only 0 and 1."""
    dtype, column = table.dtype(name), table.col(name)
    if is_text(dtype):
        text = column.cast(nw.String()).str.strip_chars()
        words = table.frame.filter(~text.is_null() & ~text.str.contains(r"^[0-9]+$"))
        if table.rows(words.select(table.names[name]).head(1)):
            return False
        column = text
    elif not dtype.is_numeric():
        return False
    number = as_floats(column, dtype)
    limits = table.frame.select(
        number.min().alias("low"), number.max().alias("high"), (number % 1).max().alias("fraction")
    )
    low, high, fraction = table.rows(limits)[0]
    return low is not None and low >= 0 and high > 1 and fraction == 0


def banding_advice(column: str, numbers: Sequence[float] = ()) -> str:
    """Say how to make groups of a numeric column: at 40 if it holds ages, else at the median.

    Examples
    --------
    >>> banding_advice("Age")
    "make groups of it: bands={'Age': [40]} makes 'under 40' and '40 and over'"
    """
    if AGE_NAME.search(column):
        edge = "40"
    elif len(numbers):
        # The middle one, and not between two: a number that the column holds.
        edge = number_text(float(sorted(numbers)[len(numbers) // 2]))
    else:
        return f"make groups of it: bands={{{column!r}: [...]}} names the numbers to cut it at"
    return (
        f"make groups of it: bands={{{column!r}: [{edge}]}} makes 'under {edge}' and '{edge} and "
        "over'"
    )


def _check_weights(weights: str, sums: Mapping[str, FloatArray], kind: WeightKind) -> None:
    missing = int(sums["missing"].sum())
    if missing:
        count = "1 weight is" if missing == 1 else f"{missing:,} weights are"
        raise WeightsError(f"weights={weights!r}: {count} missing; give each row one")
    if not np.all(np.isfinite(sums["weight"])):
        raise WeightsError(f"weights={weights!r}: expected finite numbers, found NaN or infinity")
    negative = int(sums["negative"].sum())
    if negative:
        count = "1 weight is" if negative == 1 else f"{negative:,} weights are"
        raise WeightsError(f"weights={weights!r}: {count} negative; expected 0 or more")
    squares = sums["squared"]
    if np.any((squares <= 0) & (sums["weight"] > 0)) or np.any(np.isinf(squares)):
        raise WeightsError(f"weights={weights!r}: too large or too small to square; rescale them")
    if not np.any(sums["weight"] > 0):
        raise WeightsError(f"weights={weights!r}: every weight is 0")
    broken = int(sums["broken"].sum())
    if kind == "counts" and broken:
        raise WeightsError(
            f"weights={weights!r}: weights_are='counts' takes whole numbers of persons, but "
            f"{broken} are not whole; use weights_are='sampling' for sampling weights"
        )


def _encode(cells: Sequence[Value]) -> tuple[tuple[Value, ...], IntArray]:
    """Return the sorted distinct values, and the index of each cell's value among them.

    A blank text is missing.
    """
    distinct = set(cells)
    missing = {
        cell for cell in distinct if cell is None or (isinstance(cell, str) and not cell.strip())
    }
    values = tuple(sorted(distinct - missing, key=value_order))
    code: dict[Value, int] = {value: index for index, value in enumerate(values)}
    code |= dict.fromkeys(missing, MISSING)
    return values, np.array([code[cell] for cell in cells], dtype=np.int64)


def value_order(value: Value) -> tuple[int, float, str]:
    """Sort numbers by size, then everything else by its text."""
    if isinstance(value, bool | int | float | Decimal):
        return (0, float(value), "")
    return (1, 0.0, str(value))
