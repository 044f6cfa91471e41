"""Which column has which role: checked once, before anything is counted.

The roles that a shipped data set defines for its own columns are filled in here, and only here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray
from fourfifths._tables.groups import Bands, check_banded, find_value, read_bands, with_bands
from fourfifths._tables.table import Table, Value
from fourfifths._tables.values import known_values, unknown_tokens
from fourfifths.errors import ColumnError, OptionError, OutcomeError, listed

# Pairs of outcomes in which the second is so clearly the favorable one that it need not be named.
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
    """The roles of a table's columns, with the defaults of a shipped data set filled in.

    Attributes
    ----------
    protected : tuple of str
    outcome : str or None
        None where a score takes its place, or where none is needed.
    favorable : Any
        None where it is to be chosen from the values of the outcome.
    reference : mapping of str to value
        The groups that the user designated.
    default_reference : mapping of str to value
        Those that the data set designates, for rules that need one.
    weights, within, score : str or None
    bands : mapping of str to Bands
        Of the protected columns that are cut into groups.
    unknown : tuple
        Values that mean missing, in every column.
    not_features : tuple of str
        Columns that are never features by default: the protected columns, the outcome, and the
        other protected columns and the split of a data set.
    """

    protected: tuple[str, ...]
    outcome: str | None
    favorable: Any
    reference: Mapping[str, Any]
    default_reference: Mapping[str, Any]
    weights: str | None
    within: str | None
    score: str | None
    bands: Mapping[str, Bands]
    unknown: tuple[Value, ...]
    not_features: tuple[str, ...]

    @property
    def designated(self) -> Mapping[str, Any]:
        """The user's reference groups, then the data set's."""
        return {**self.default_reference, **self.reference}


def assign_roles(
    table: Table,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    bands: Mapping[str, Sequence[float]] | None,
    unknown: Any = (),
    weights: str | None = None,
    within: str | None = None,
    score: str | None = None,
    outcome_is: Literal["needed", "optional", "the score"] = "needed",
) -> Roles:
    """Check the columns and fill in the defaults of a shipped data set."""
    dataset = table.dataset
    columns = protected_columns(table, protected)
    if outcome_is == "the score":
        # The outcome will be "above the median", a truth value.
        favorable = True
    else:
        if outcome is None and dataset:
            outcome = dataset.outcome
        if dataset and favorable is None and outcome == dataset.outcome:
            favorable = dataset.favorable
        if outcome is None and outcome_is == "needed":
            raise ColumnError(
                f"outcome: name the column that says who was selected (columns of {table.name}: "
                f"{listed(table.columns)})"
            )
    user_bands = read_bands(bands)
    # A data set's reference is a group of its own bands, so other bands make it void.
    default_reference = {
        column: group
        for column, group in (dataset.reference if dataset else {}).items()
        if column not in user_bands
    }
    default_bands = {
        column: cut
        for column, cut in read_bands(dataset.bands if dataset else {}).items()
        if column in columns
    }
    not_features = [*columns, *([outcome] if outcome else [])]
    if dataset:
        not_features += [*dataset.protected, *dataset.other_protected]
        not_features += [dataset.split] if dataset.split else []
    roles = Roles(
        protected=columns,
        outcome=outcome,
        favorable=favorable,
        reference=_reference_mapping(reference, columns),
        default_reference=default_reference,
        weights=weights,
        within=within,
        score=score,
        bands=default_bands | user_bands,
        unknown=unknown_tokens(unknown),
        not_features=tuple(dict.fromkeys(not_features)),
    )
    _check_columns(table, roles)
    return roles


def prepare(table: Table, roles: Roles, features: Iterable[str] = ()) -> Table:
    """Return the table ready to be counted: missing values null, protected numbers in bands."""
    columns = [*roles.protected, roles.outcome, roles.within, roles.weights, roles.score, *features]
    named_columns = [column for column in dict.fromkeys(columns) if column is not None]
    # In this order, because a token like -1 must not fall into the lowest band.
    return with_bands(table.with_missing(named_columns, roles.unknown), roles.bands)


def protected_columns(table: Table, protected: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the protected columns: those given, or those of the data set."""
    if protected is None:
        protected = table.dataset.protected if table.dataset else ()
    columns = (protected,) if isinstance(protected, str) else protected
    if not isinstance(columns, Iterable) or not all(isinstance(name, str) for name in columns):
        raise ColumnError(f"protected={protected!r}: expected the name of a column, or several")
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        raise ColumnError(
            f"protected: name at least one column of {table.name} ({listed(table.columns)})"
        )
    return columns


def choose_favorable(outcome: str, favorable: Any, values: Sequence[Value]) -> Value:
    """Return the value of the outcome that means selected."""
    if not values:
        raise OutcomeError(f"outcome={outcome!r}: every value is missing")
    if favorable is not None:
        message = f"favorable={favorable!r}: never occurs in outcome {outcome!r}"
        return find_value(favorable, values, message=message, error=OutcomeError)
    if len(values) == 2:
        texts = tuple(str(value).lower() for value in values)
        for pair in PLAIN_PAIRS:
            if set(texts) == set(pair):
                return values[texts.index(pair[1])]
    raise OutcomeError(
        f"outcome={outcome!r}: holds {len(values)} values, {listed(values)}; say which one is "
        f"favorable, as in favorable={str(values[0])!r}"
    )


def outcome_of(
    column: nw.Series[Any], favorable: Any, unknown: Sequence[Value] = ()
) -> tuple[BoolArray, BoolArray, Value]:
    """Return which rows have an outcome, which have the favorable one, and the favorable value."""
    column = known_values(column, unknown)
    is_known = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    values = column.filter(~column.is_null()).unique().to_list()
    chosen = choose_favorable(str(column.name), favorable, sorted(values, key=str))
    selected = np.asarray((column == chosen).fill_null(value=False).to_numpy(), dtype=bool)
    return is_known, selected, chosen


def _reference_mapping(reference: Any, protected: tuple[str, ...]) -> Mapping[str, Any]:
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
    """Check that each column exists and that none has two roles."""
    assignments = [("protected", column) for column in roles.protected]
    for role in ("outcome", "weights", "within", "score"):
        column = getattr(roles, role)
        if column is not None:
            assignments.append((role, column))
    role_of: dict[str, str] = {}
    for role, column in assignments:
        kind = table.dtype(table.column(column, role))
        if kind.is_nested():
            raise ColumnError(f"{role}={column!r}: expected plain values, found {kind}")
        if column in role_of:
            raise ColumnError(
                f"{role_of[column]}={column!r} and {role}={column!r}: the same column cannot be "
                "both"
            )
        role_of[column] = role
    check_banded(roles.bands, roles.protected)
