"""Which column plays which part: checked once, before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray
from fourfifths._impact.rules import Rule
from fourfifths._tables.groups import find_value
from fourfifths._tables.table import Table, Value
from fourfifths.errors import ColumnError, OptionError, OutcomeError, listed

# Pairs of values of which the second plainly is the favorable one.
PLAIN_PAIRS = (
    ("0", "1"),
    ("0.0", "1.0"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("rejected", "selected"),
    ("fail", "pass"),
    ("failed", "passed"),
)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns of a table and the values that matter, with what a data set supplies filled in.

    Attributes
    ----------
    protected : tuple of str
    outcome : str or None
        None where a score stands in for it.
    favorable : Any
        None where it is to be read off the outcome.
    reference : mapping of str to value
        The groups that the user designated.
    default_reference : mapping of str to value
        Those that the data set designates, for rules that need one.
    weights, within, score : str or None
    bands : mapping of str to sequence of float
    """

    protected: tuple[str, ...]
    outcome: str | None
    favorable: Any
    reference: Mapping[str, Any]
    default_reference: Mapping[str, Any]
    weights: str | None
    within: str | None
    score: str | None
    bands: Mapping[str, Sequence[float]]


def assign_roles(
    table: Table,
    rule: Rule,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    bands: Mapping[str, Sequence[float]] | None,
    weights: str | None = None,
    within: str | None = None,
    score: str | None = None,
    outcome_is: Literal["needed", "optional"] = "needed",
) -> Roles:
    """Check the columns and fill in what a shipped data set says of itself."""
    columns = _protected_columns(table, protected)
    _check_score(rule, score, outcome, weights)
    if score is not None and rule.score == "above median":
        favorable = True
    else:
        outcome, favorable = _outcome(table, outcome, favorable)
        if outcome is None and outcome_is == "needed":
            raise ColumnError(
                f"outcome: name the column that says who was selected (columns of {table.name}: "
                f"{listed(table.columns)})"
            )
    data = table.dataset
    own = dict(bands or {})
    cuts = dict(data.bands if data else {}) | own
    roles = Roles(
        protected=columns,
        outcome=outcome,
        favorable=favorable,
        reference=_as_mapping(reference, columns),
        # A data set's reference is one of the groups that its own bands make.
        default_reference={
            key: value for key, value in (data.reference if data else {}).items() if key not in own
        },
        weights=weights,
        within=within,
        score=score,
        bands={column: cuts[column] for column in cuts if column in {*columns, *own}},
    )
    _check_columns(table, roles)
    return roles


def _protected_columns(table: Table, protected: str | Sequence[str] | None) -> tuple[str, ...]:
    if protected is None:
        protected = table.dataset.protected if table.dataset else ()
    columns = (protected,) if isinstance(protected, str) else protected
    if not isinstance(columns, Iterable) or not all(isinstance(each, str) for each in columns):
        raise ColumnError(f"protected={protected!r}: expected the name of a column, or several")
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        raise ColumnError(
            f"protected: name at least one column of {table.name} ({listed(table.columns)})"
        )
    return columns


def _outcome(table: Table, outcome: str | None, favorable: Any) -> tuple[str | None, Any]:
    data = table.dataset
    if outcome is None and data:
        outcome = data.outcome
    if data and favorable is None and outcome == data.outcome:
        favorable = data.favorable
    return outcome, favorable


def choose_favorable(outcome: str, favorable: Any, values: Sequence[Value]) -> Value:
    """Return the value of the outcome that means selected."""
    if not values:
        raise OutcomeError(f"outcome={outcome!r}: every value is missing")
    if favorable is not None:
        never = f"favorable={favorable!r}: never occurs in outcome {outcome!r}"
        return find_value(favorable, values, never, error=OutcomeError)
    if len(values) == 2:
        texts = tuple(str(value).lower() for value in values)
        for pair in PLAIN_PAIRS:
            if set(texts) == set(pair):
                return values[texts.index(pair[1])]
    raise OutcomeError(
        f"outcome={outcome!r}: holds {len(values)} values, {listed(values)}; say which one is "
        f"favorable (favorable={str(values[0])!r}, or --favorable at the shell)"
    )


def outcome_of(column: nw.Series[Any], favorable: Any) -> tuple[BoolArray, BoolArray, Value]:
    """Return which rows have an outcome, which of them the favorable one, and what that is."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    known = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    found = column.filter(~column.is_null()).unique().to_list()
    chosen = choose_favorable(str(column.name), favorable, sorted(found, key=str))
    selected = np.asarray((column == chosen).fill_null(value=False).to_numpy(), dtype=bool)
    return known, selected, chosen


def _check_score(rule: Rule, score: str | None, outcome: str | None, weights: str | None) -> None:
    if score is None:
        return
    if rule.score == "none":
        raise OptionError(
            f"score={score!r}: rule {rule.name!r} takes no score; nyc-ll144 and lending-air do"
        )
    if rule.score == "above median" and outcome is not None:
        raise OptionError(
            f"score={score!r}, outcome={outcome!r}: {rule.name} takes one of them; a score stands "
            "in for the outcome"
        )
    if rule.score == "above median" and weights is not None:
        raise OptionError(
            f"score={score!r}, weights={weights!r}: {rule.name} takes no weighted median"
        )


def _as_mapping(reference: Any, protected: tuple[str, ...]) -> Mapping[str, Any]:
    if reference is None:
        return {}
    if isinstance(reference, Mapping):
        for column in reference:
            if column not in protected:
                raise ColumnError(
                    f"reference: {column!r} is not a protected column; expected {listed(protected)}"
                )
        return reference
    if len(protected) > 1:
        raise OptionError(
            f"reference={reference!r}: with several protected columns, say which it belongs to: "
            f"reference={{{protected[0]!r}: ...}}"
        )
    return {protected[0]: reference}


def _check_columns(table: Table, roles: Roles) -> None:
    """Check that each column exists and that none plays two parts."""
    parts = [("protected", column) for column in roles.protected]
    parts += [
        (part, column)
        for part in ("outcome", "weights", "within", "score")
        if (column := getattr(roles, part)) is not None
    ]
    seen: dict[str, str] = {}
    for part, column in parts:
        kind = table.dtype(table.column(column, part))
        if kind.is_nested():
            raise ColumnError(f"{part}={column!r}: expected plain values, found {kind}")
        if column in seen:
            raise ColumnError(
                f"{seen[column]}={column!r} and {part}={column!r}: the same column cannot be both"
            )
        seen[column] = part
    for column in roles.bands:
        if column not in roles.protected:
            raise ColumnError(
                f"bands: {column!r} is not a protected column; expected {listed(roles.protected)}"
            )
