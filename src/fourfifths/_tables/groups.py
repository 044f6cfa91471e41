"""Groups: who is compared with whom.

An attribute is one protected column, or the joint distribution of several; its groups are the
values, or tuples of values, that occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.counts import MISSING, Counts, banding, count
from fourfifths._tables.table import Table, Value
from fourfifths._text import number_text
from fourfifths.errors import ColumnError, FourfifthsError, GroupError, listed, nearest

Group: TypeAlias = tuple[Value, ...]
MAX_NUMERIC_GROUPS = 20


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

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The groups' names for people, all different."""
        plain = [label(group) for group in self.groups]
        exact = [" & ".join(repr(value) for value in group) for group in self.groups]
        return tuple(
            name if plain.count(name) == 1 else longer
            for name, longer in zip(plain, exact, strict=True)
        )

    def keep(self, wanted: BoolArray) -> Attribute:
        """Return the attribute with only the groups where `wanted` is true; others' cells go."""
        place = np.append(np.where(wanted, np.cumsum(wanted) - 1, MISSING), MISSING)
        groups = tuple(group for group, kept in zip(self.groups, wanted, strict=True) if kept)
        return Attribute(protected=self.protected, groups=groups, codes=place[self.codes])


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Rows and selections per group.

    Attributes
    ----------
    rows, rows_selected : float array
        Persons; rows of the table unless the weights are counts.
    weight, weight_selected : float array
        Their weight; rates are made of it.
    effective : float array
        Kish's effective sample size, (sum of weights)^2 / sum of squared weights.
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
    """Return each protected column alone and, if there are several, their joint distribution."""
    for column in protected:
        _check_groups(column, counts.values[column])
    alone = [
        Attribute(
            protected=(column,),
            groups=tuple((value,) for value in counts.values[column]),
            codes=counts.codes[column],
        )
        for column in protected
    ]
    return alone if len(alone) == 1 else [*alone, _joint(counts, tuple(protected))]


def tally(codes: IntArray, counts: Counts, selected: BoolArray, groups: int) -> Tally:
    """Sum the cells of each group; `selected` marks the cells with the favorable outcome."""
    known = codes != MISSING

    def total(values: FloatArray, keep: BoolArray) -> FloatArray:
        return np.asarray(
            np.bincount(codes[keep], weights=values[keep], minlength=groups), dtype=np.float64
        )

    weight, squared = total(counts.weight, known), total(counts.weight_squared, known)
    effective = weight if counts.exact else weight**2 / np.where(squared > 0, squared, 1)
    return Tally(
        rows=total(counts.rows, known),
        rows_selected=total(counts.rows, known & selected),
        weight=weight,
        weight_selected=total(counts.weight, known & selected),
        effective=effective,
    )


def compatible(attribute: Attribute, counts: Counts, group: int) -> BoolArray:
    """Mark the cells of unknown membership that could, by what is known of them, be the group's."""
    possible: BoolArray = attribute.codes == MISSING
    for column, value in zip(attribute.protected, attribute.groups[group], strict=True):
        codes = counts.codes[column]
        possible = possible & ((codes == MISSING) | (codes == counts.values[column].index(value)))
    return possible


def find_value(
    wanted: Any,
    values: Sequence[Value],
    otherwise: str,
    error: type[FourfifthsError] = GroupError,
) -> Value:
    """Return the value that `wanted` names: the same, of the same text, or the same number.

    If there is none, raise `error` with the sentence `otherwise` and the values that there are.
    """
    same = [
        value
        for value in values
        if value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
    ]
    same_text = [value for value in values if _same_text(value, wanted)]
    number = _number(wanted)
    same_number = [value for value in values if number is not None and _number(value) == number]
    for found in (same, same_text, same_number):
        if len(found) == 1:
            return found[0]
    raise error(f"{otherwise}{nearest(wanted, values)} (values: {listed(values)})")


def designated_reference(
    protected: Sequence[str], groups: Sequence[Group], reference: Mapping[str, Any]
) -> int | None:
    """Return the group that `reference` names, or None where it does not name one whole group."""
    if not all(column in reference for column in protected):
        return None
    wanted = tuple(
        find_value(
            reference[column],
            sorted({group[place] for group in groups}, key=str),
            f"reference={reference[column]!r}: not among the groups of {column!r}",
        )
        for place, column in enumerate(protected)
    )
    if wanted not in groups:
        raise GroupError(
            f"reference: no rows are {label(wanted)!r} (groups: "
            f"{listed(label(group) for group in groups)})"
        )
    return groups.index(wanted)


def _joint(counts: Counts, protected: tuple[str, ...]) -> Attribute:
    parts = np.stack([counts.codes[column] for column in protected])
    known = np.all(parts != MISSING, axis=0)
    codes = np.full(known.shape, MISSING, dtype=np.int64)
    found, codes[known] = np.unique(parts[:, known], axis=1, return_inverse=True)
    groups = tuple(
        tuple(
            counts.values[column][code]
            for column, code in zip(protected, column_codes, strict=True)
        )
        for column_codes in found.T
    )
    return Attribute(protected=protected, groups=groups, codes=codes)


def _check_groups(column: str, values: tuple[Value, ...]) -> None:
    if len(values) < 2:
        only = f"only {str(values[0])!r}" if values else "nothing but missing values"
        raise GroupError(
            f"protected={column!r}: the column holds {only}; expected at least two groups"
        )
    if len(values) > MAX_NUMERIC_GROUPS and all(_number(value) is not None for value in values):
        raise ColumnError(
            f"protected={column!r}: a numeric column with {len(values)} different values; "
            + banding(column)
        )


def _same_text(value: Value, wanted: Any) -> bool:
    if isinstance(value, bool):
        return str(value).lower() == str(wanted).lower()
    return str(value) == str(wanted)


def _number(value: Value) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


Labels = Mapping[str, Mapping[int, str]]


def prepare_groups(
    table: Table,
    protected: Sequence[str],
    bands: Mapping[str, Sequence[float]],
    unknown: Sequence[Value],
) -> tuple[Table, Labels]:
    """Return the table with its protected columns ready, and the labels of the bands."""
    labels = {}
    not_known = _unknown_values(table, protected, unknown)
    for column in protected:
        table = with_missing(table, column, not_known[column])
        if column in bands:
            table, labels[column] = with_bands(table, column, bands[column])
    return table, labels


def name_bands(counts: Counts, labels: Labels) -> Counts:
    """Put the labels of bands in the place of their numbers."""
    named = {
        column: tuple(labels[column][int(code)] for code in values) if column in labels else values
        for column, values in counts.values.items()
    }
    return replace(counts, values=named)


def _unknown_values(
    table: Table, protected: Sequence[str], unknown: Sequence[Value]
) -> dict[str, list[Value]]:
    """Return, for each protected column, which of its values mean that membership is not known."""
    counted = count(table, protected).values if unknown else {}
    found: dict[str, list[Value]] = {column: [] for column in protected}
    for token in unknown:
        for column, values in counted.items():
            # A token may belong to some of the columns only.
            with suppress(GroupError):
                found[column].append(find_value(token, values, ""))
    return found


def with_bands(table: Table, column: str, edges: Sequence[float]) -> tuple[Table, dict[int, str]]:
    """Cut a numeric column into groups: an edge belongs to the group below it.

    Returns the table, its column replaced by the number of the group, and the groups' labels.
    Missing values stay missing.
    """
    cuts = band_cuts(column, edges)
    table = table.with_numbers(column, "bands")
    value = table.col(column)
    above = [(value > cut).cast(nw.Int64()) for cut in cuts]
    banded = table.with_column(column, nw.when(~value.is_null()).then(nw.sum_horizontal(*above)))
    return banded, dict(enumerate(band_labels(column, cuts)))


def band_labels(column: str, cuts: Sequence[float]) -> list[str]:
    """Return the names of the groups that the cuts make.

    Examples
    --------
    >>> band_labels("age", [25, 40])
    ['age <= 25', '25 < age <= 40', 'age > 40']
    """
    texts = [number_text(cut) for cut in cuts]
    return [
        f"{column} <= {texts[0]}",
        *(f"{low} < {column} <= {high}" for low, high in pairwise(texts)),
        f"{column} > {texts[-1]}",
    ]


def band_cuts(column: str, edges: Sequence[float]) -> list[float]:
    """Return the edges as numbers, or raise if they are not increasing ones."""
    try:
        cuts = [float(edge) for edge in edges]
    except (TypeError, ValueError):
        cuts = []
    if not cuts or cuts != sorted(set(cuts)) or not all(abs(cut) < float("inf") for cut in cuts):
        raise ColumnError(
            f"bands: the edges of {column!r} are {edges!r}; "
            "expected one or more numbers, each larger than the one before"
        )
    return cuts


def with_missing(table: Table, column: str, unknown: Sequence[Value]) -> Table:
    """Make NaN, and the values in `unknown`, missing."""
    value, dtype = table.col(column), table.dtype(column)
    if dtype in (nw.Float64(), nw.Float32()):
        table = table.with_column(column, nw.when(~value.is_nan()).then(value))
    for each in unknown:
        table = table.with_column(column, nw.when(value != each).then(value))
    return table
