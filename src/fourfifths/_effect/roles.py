"""What the audits of a repair need, checked before anything is computed.

A misspelt outcome or group is an error before a file is written, and needs no auditor: so this
module loads none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.fitted import FittedRepair
from fourfifths._tables.groups import choose_reference, find_value, outcome_of, read_beta
from fourfifths._tables.load import Rows
from fourfifths._text import listed
from fourfifths.errors import ColumnError


@dataclass(frozen=True, kw_only=True)
class AuditRoles:
    """What the audits of a repair need besides the repaired columns; each as for `certify`."""

    outcome: str | None = None
    favorable: Any = None
    reference: Any = None
    beta: float | tuple[float, float] | None = None


def check_audit_roles(
    fitted: FittedRepair,
    rows: Rows,
    roles: AuditRoles,
    values: Callable[[str], tuple[nw.Series[Any], IntArray | None]] | None = None,
) -> None:
    """Raise an error if the outcome, its favorable value, the reference or beta cannot be used.

    It takes no audit, so that a misspelt name is an error before anything is written. `values`
    returns the values of a column and their counts, if `rows` are not all of the table.
    """
    strata = fitted.strata
    if roles.outcome is not None:
        rows.check_columns([roles.outcome], "outcome")
        if roles.outcome in fitted.needed_columns:
            raise ColumnError(
                f"columns: {roles.outcome!r} is the outcome; it can neither be repaired nor "
                "make the strata"
            )
        outcomes, row_counts = (
            values(roles.outcome) if values else (rows.dataframe[roles.outcome], None)
        )
        outcome_of(outcomes, roles.favorable, rows.unknown, rows.reading, row_counts=row_counts)
    for column, group in designated_groups(fitted, roles).items():
        if column not in strata.by:
            raise ColumnError(
                f"reference: {column!r} is not a protected column; expected {listed(strata.by)}"
            )
        index = strata.by.index(column)
        groups = sorted({stratum[index] for stratum in strata.groups}, key=str)
        message = f"reference={group!r}: not among the groups of {column!r}"
        find_value(group, groups, message=message)
    reference_label(fitted, roles, np.array(strata.rows, dtype=np.float64))
    read_beta(roles.beta)


def designated_groups(fitted: FittedRepair, roles: AuditRoles) -> Mapping[str, Any]:
    """Return the reference value of each stratifying column, as far as the user gave one."""
    if roles.reference is None:
        return {}
    if isinstance(roles.reference, Mapping):
        return roles.reference
    return dict.fromkeys(fitted.strata.by, roles.reference)


def reference_label(fitted: FittedRepair, roles: AuditRoles, sizes: FloatArray) -> str | None:
    """Return the name of the reference stratum; None leaves the choice to `certify`."""
    strata = fitted.strata
    designated = designated_groups(fitted, roles)
    names_a_stratum = all(column in designated for column in strata.by)
    if roles.outcome is not None and not names_a_stratum:
        # With an outcome there are selection rates, and `certify` takes the highest one.
        return None
    code = choose_reference(
        strata.by, strata.groups, designated=designated, sizes=sizes, otherwise="largest"
    )
    return strata.labels[code]
