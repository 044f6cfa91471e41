"""The number of rows, and their weight, in each cell of a table.

These are sufficient statistics: one pass over the table, made by the library that holds it,
returns the cells that all figures of selections are computed from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.table import Table, Value
from fourfifths._tables.values import Spellings
from fourfifths._text import number_text
from fourfifths.errors import ColumnError, TableError, WeightsError, listed

WeightKind = Literal["sampling", "counts"]
CountedColumn = Literal["n", "selected", "not_selected"]
MISSING = -1
SELECTED, NOT_SELECTED = "selected", "not selected"
# "age", "Age (years)", "applicant_age"; not "wage", nor "agency".
AGE_NAME = re.compile(r"(?i:(?:^|[\W_])ages?(?:$|[\W_]))|[a-z]Age(?:$|[A-Z_])")
MAX_CELLS = 100_000


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
        Sums over the cell's rows; both equal `rows` where each row counts once.
    sums : mapping of str to float array
        Further sums that were asked for.
    exact : bool
        Whether `weight` holds whole numbers of persons, so that exact tests apply.
    members : mapping of str to tuple of tuple
        For each value in `values`, what the table holds for it: several spellings, or the code of
        a band.
    notes : tuple of str
        What was assumed when the table was read.
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

    def take(self, keep: BoolArray) -> Counts:
        """Return the cells where `keep` is true."""
        return replace(
            self,
            codes={key: codes[keep] for key, codes in self.codes.items()},
            rows=self.rows[keep],
            weight=self.weight[keep],
            weight_squared=self.weight_squared[keep],
            sums={name: sums[keep] for name, sums in self.sums.items()},
        )

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
        new_code = {
            member: code for code, value in enumerate(values) for member in members[value]
        }
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
    """
    keys = list(dict.fromkeys(keys))
    measures = dict(measures or {})
    if weights is not None:
        weight = table.col(weights)
        # The same pass checks the weights, so that a table on disk is read once.
        measures |= {
            "weight": weight,
            "squared": weight * weight,
            "missing": weight.is_null().cast(nw.Float64()),
            "negative": (weight < 0).cast(nw.Float64()),
            "broken": (weight.round(0) != weight).cast(nw.Float64()),
        }
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
    except TypeError as error:  # pandas groups at once, and cannot group lists
        raise ColumnError(f"column {listed(keys)}: expected plain values: {error}") from error
    # One more than allowed is enough to know that there are too many.
    cells = table.rows(grouped.head(MAX_CELLS + 1))
    if not cells:
        raise TableError(f"{table.name}: the table has no rows")
    if len(cells) > MAX_CELLS:
        raise _too_many_cells(table, keys)
    columns = list(zip(*cells, strict=True))
    encoded = {key: _encode(columns[index]) for index, key in enumerate(keys)}
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
    _check_weights(weights, counts.sums, weights_are)
    weight_sum = counts.sums["weight"]
    if weights_are == "counts":
        persons = replace(counts, rows=weight_sum, weight=weight_sum, weight_squared=weight_sum)
        # A line that counts 0 persons holds no one, so it is no cell.
        return persons.take(weight_sum > 0)
    squared = counts.sums["squared"]
    return replace(counts, weight=weight_sum, weight_squared=squared, exact=False)


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
        raise WeightsError(f"weights={weights!r}: {missing} weights are missing; give each row one")
    if not np.all(np.isfinite(sums["weight"])):
        raise WeightsError(f"weights={weights!r}: expected finite numbers, found NaN or infinity")
    negative = int(sums["negative"].sum())
    if negative:
        raise WeightsError(
            f"weights={weights!r}: {negative} weights are negative; expected 0 or more"
        )
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


def _too_many_cells(table: Table, keys: Sequence[str]) -> ColumnError:
    """Return the error that names the column with the most values."""
    distinct = table.frame.select(*(table.col(key).n_unique() for key in keys))
    sizes = dict(zip(keys, table.rows(distinct)[0], strict=True))
    worst = max(keys, key=lambda key: sizes[key])
    return ColumnError(
        f"column {worst!r} has {sizes[worst]:,} different values, too many to count apart; if it "
        f"is protected and numeric, {banding_advice(worst)}"
    )


def _encode(cells: Sequence[Value]) -> tuple[tuple[Value, ...], IntArray]:
    """Return the sorted distinct values, and the index of each cell's value among them."""
    values = tuple(sorted({cell for cell in cells if cell is not None}, key=value_order))
    code: dict[Value, int] = {value: index for index, value in enumerate(values)}
    code[None] = MISSING
    return values, np.array([code[cell] for cell in cells], dtype=np.int64)


def value_order(value: Value) -> tuple[int, float, str]:
    """Sort numbers by size, then everything else by its text."""
    if isinstance(value, bool | int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))
