"""What a certificate is about: groups, reference, features, and beta, before any row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from fourfifths._certify.auditors import Side
from fourfifths._stats.intervals import clopper_pearson
from fourfifths._tables.counts import MISSING, Counts, count
from fourfifths._tables.groups import (
    Attribute,
    Group,
    attributes,
    choose_reference,
    name_bands,
    tally,
)
from fourfifths._tables.roles import Roles, assign_roles, choose_favorable, prepare
from fourfifths._tables.table import Table, TableLike, Value, open_table
from fourfifths.errors import ColumnError, GroupError, OptionError, listed

GivenBeta = float | tuple[float, float] | None
MAX_SEED = 2**32


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be certified.

    Attributes
    ----------
    table : Table
        With its protected columns ready.
    protected, features, left_out : tuple of str
    outcome : str or None
    groups : tuple of tuple
        As they stand in the table: a band is a number.
    labels : tuple of str
    sizes, selected : tuple of int
        Rows of each group, and how many of them were selected.
    rated : tuple of int
        Rows of each group that have an outcome.
    reference : int
    given_beta : float, (low, high) or None
    settings : dict
        How to make the same plan again.
    """

    table: Table
    protected: tuple[str, ...]
    features: tuple[str, ...]
    outcome: str | None
    left_out: tuple[str, ...]
    groups: tuple[Group, ...]
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    selected: tuple[int, ...]
    rated: tuple[int, ...]
    reference: int
    given_beta: GivenBeta
    settings: dict[str, Any]

    def betas(self, members: Sequence[int], confidence: float) -> dict[Side, Beta]:
        """Return the selection rates of a group, or of several together, and of the reference."""
        if self.given_beta is not None:
            low, high = np.broadcast_to(self.given_beta, 2)
            given = Beta(rate=float(low), interval=(float(low), float(high)), counts=None)
            return {"group": given, "reference": given}
        return {
            "group": self._beta(members, confidence),
            "reference": self._beta([self.reference], confidence),
        }

    def _beta(self, members: Sequence[int], confidence: float) -> Beta:
        x, n = (sum(counts[at] for at in members) for counts in (self.selected, self.rated))
        if not x:
            names = ", ".join(self.labels[at] for at in members)
            raise GroupError(
                f"beta: no one of {names} was selected, so the outcome gives no rate to certify "
                "for; give beta as a number"
            )
        low, high = clopper_pearson(x, n, confidence)
        return Beta(rate=x / n, interval=(float(low), float(high)), counts=(x, n))


def check_options(
    beta: Any, threshold: Any, confidence: Any, folds: Any, max_rows: Any, random_state: Any
) -> None:
    """Check the numbers."""
    for name, value in (("threshold", threshold), ("confidence", confidence)):
        if not isinstance(value, int | float) or not 0 < value < 1:
            raise OptionError(f"{name}={value!r}: expected a number between 0 and 1")
    for name, value, least in (
        ("folds", folds, 2),
        ("max_rows", max_rows, 20),
        ("random_state", random_state, 0),
    ):
        if not isinstance(value, Integral) or value < least:
            raise OptionError(f"{name}={value!r}: expected a whole number, {least} or more")
    if random_state >= MAX_SEED:
        raise OptionError(f"random_state={random_state!r}: expected less than {MAX_SEED}")
    if beta is None:
        return
    ends = beta if isinstance(beta, tuple | list) else (beta, beta)
    if len(ends) != 2 or not all(isinstance(end, int | float) and 0 < end <= 1 for end in ends):
        raise OptionError(
            f"beta={beta!r}: expected a selection rate above 0 and up to 1, or a range of two"
        )
    if ends[0] > ends[1]:
        raise OptionError(f"beta={beta!r}: the lower end is above the upper")


def make_plan(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    columns: Sequence[str] | None,
    beta: GivenBeta,
    bands: Mapping[str, Sequence[float]] | None,
    unknown: Sequence[Value],
    folds: int,
) -> Plan:
    """Check the columns, count the groups, and read beta off the outcome."""
    opened = open_table(table)
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        bands=bands,
        unknown=unknown,
        outcome_is="optional" if beta is not None else "needed",
    )
    names, left_out = choose_features(opened, roles, columns)
    ready = prepare(opened, roles, names)
    raw = count(ready, [*roles.protected, *([roles.outcome] if roles.outcome else [])])
    counts = name_bands(raw, roles.bands)
    attribute = attributes(counts, roles.protected)[-1]
    selected, rated, value = _selections(attribute, counts, roles)
    everyone = tally(
        attribute.codes, counts, np.ones(attribute.codes.shape, np.bool_), _n(attribute)
    )
    sizes = tuple(int(size) for size in everyone.rows)
    _check_sizes(attribute, sizes, folds)
    reference_code = _reference(attribute, roles, selected, rated, sizes)
    return Plan(
        table=ready,
        protected=roles.protected,
        features=names,
        outcome=roles.outcome,
        left_out=left_out,
        groups=_raw_groups(attribute, raw, counts),
        labels=attribute.labels,
        sizes=sizes,
        selected=selected,
        rated=rated,
        reference=reference_code,
        given_beta=tuple(beta) if isinstance(beta, list) else beta,
        settings=_settings(roles, attribute.groups[reference_code], value, names, beta, unknown),
    )


def _settings(
    roles: Roles,
    reference: Group,
    favorable: Value | None,
    features: Sequence[str],
    beta: GivenBeta,
    unknown: Sequence[Value],
) -> dict[str, Any]:
    """Return what makes the same plan again, as JSON holds it."""
    parts = zip(roles.protected, reference, strict=True)
    return {
        "protected": list(roles.protected),
        "outcome": roles.outcome,
        "favorable": None if favorable is None else str(favorable),
        "reference": {column: str(part) for column, part in parts},
        "columns": list(features),
        "beta": list(beta) if isinstance(beta, tuple) else beta,
        "bands": {column: list(cut.edges) for column, cut in roles.bands.items()},
        "unknown": [str(token) for token in unknown],
    }


def _n(attribute: Attribute) -> int:
    return len(attribute.groups)


def choose_features(
    table: Table, roles: Roles, features: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features, and the columns that are none because of what they are."""
    apart = roles.not_features
    if features is None:
        left_out = [column for column in table.columns if column in apart]
        features = [column for column in table.columns if column not in apart]
    else:
        named = [features] if isinstance(features, str) else features
        features, left_out = list(dict.fromkeys(named)), []
        for column in features:
            table.column(column, "columns")
            if column in roles.protected:
                raise ColumnError(f"columns: {column!r} is protected; a rule may not use it")
            if column == roles.outcome:
                raise ColumnError(f"columns: {column!r} is the outcome; a rule may not use it")
    nested = [column for column in features if table.dtype(column).is_nested()]
    if nested:
        raise ColumnError(f"columns: {listed(nested)}: expected plain values, found lists or such")
    if not features:
        raise ColumnError(
            f"columns: none are left of {table.name} without {listed(apart)}; name some"
        )
    return tuple(features), tuple(left_out)


def _selections(
    attribute: Attribute, counts: Counts, roles: Roles
) -> tuple[tuple[int, ...], tuple[int, ...], Value | None]:
    """Return how many of each group were selected, of how many with an outcome."""
    if roles.outcome is None:
        return (0,) * _n(attribute), (0,) * _n(attribute), None
    values, codes = counts.values[roles.outcome], counts.codes[roles.outcome]
    value = choose_favorable(roles.outcome, roles.favorable, values)
    rated = counts.take(codes != MISSING)
    chosen = rated.codes[roles.outcome] == values.index(value)
    sums = tally(attribute.codes[codes != MISSING], rated, chosen, _n(attribute))
    return (
        tuple(int(each) for each in sums.rows_selected),
        tuple(int(each) for each in sums.rows),
        value,
    )


def _check_sizes(attribute: Attribute, sizes: Sequence[int], folds: int) -> None:
    small = [name for name, size in zip(attribute.labels, sizes, strict=True) if size < folds]
    if small:
        raise GroupError(
            f"folds={folds}: group {listed(small)} has fewer rows than that; leave such rows out, "
            "merge the group with another, or use fewer folds"
        )


def _raw_groups(attribute: Attribute, raw: Counts, named: Counts) -> tuple[Group, ...]:
    """Return the groups' values as they stand in the table, where a band is a number."""
    return tuple(
        tuple(
            raw.values[column][named.values[column].index(part)]
            for column, part in zip(attribute.protected, group, strict=True)
        )
        for group in attribute.groups
    )


def _reference(
    attribute: Attribute,
    roles: Roles,
    selected: Sequence[int],
    rated: Sequence[int],
    sizes: Sequence[int],
) -> int:
    has_outcome = roles.outcome is not None
    if not has_outcome and len(attribute.groups) == 2:
        return choose_reference(
            attribute.protected,
            attribute.groups,
            designated=roles.designated,
            sizes=np.array(sizes, dtype=np.float64),
            otherwise="largest",
        )
    return choose_reference(
        attribute.protected,
        attribute.groups,
        designated=roles.designated,
        rates=np.array(selected) / np.maximum(rated, 1),
        otherwise="highest rate" if has_outcome else "error",
        reason="without an outcome there is no highest rate to compare with",
    )


@dataclass(frozen=True, kw_only=True)
class Beta:
    """The selection rate of the side that is harmed: the group's, or in reverse the reference's.

    Attributes
    ----------
    rate : float
    interval : tuple of float
        Both ends are `rate` where it was given as a number.
    counts : (selected, n) or None
        None where it was given.
    """

    rate: float
    interval: tuple[float, float]
    counts: tuple[int, int] | None

    def lower_end(self, growth: float, confidence: float) -> float:
        """Return the lower end of the interval that so many times as many rows would give."""
        if self.counts is None:
            return self.interval[0]
        x, n = self.counts
        return float(clopper_pearson(growth * x, growth * n, confidence)[0])
