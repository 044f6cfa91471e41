"""Groups: who is compared with whom.

An attribute is one protected column, or the joint distribution of several; its groups are the
values, or tuples of values, that occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from fourfifths.counts import MISSING, BoolArray, Counts, FloatArray, IntArray, banding
from fourfifths.errors import ColumnError, FourfifthsError, GroupError, listed, nearest
from fourfifths.table import Value

Group: TypeAlias = tuple[Value, ...]
MAX_NUMERIC_GROUPS = 20


@dataclass(frozen=True)
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
        return Attribute(self.protected, groups, place[self.codes])


@dataclass(frozen=True)
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
            (column,), tuple((value,) for value in counts.values[column]), counts.codes[column]
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
        total(counts.rows, known),
        total(counts.rows, known & selected),
        weight,
        total(counts.weight, known & selected),
        effective,
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
    return Attribute(protected, groups, codes)


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
