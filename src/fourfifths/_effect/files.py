"""A repair from file to file: what the command line calls."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fourfifths._effect.amount import CertifiedAmount, least_certified_amount
from fourfifths._effect.effect import AuditRoles, EffectDetail, effect
from fourfifths._effect.result import RepairEffect
from fourfifths._repair.fitted import FittedRepair
from fourfifths._repair.random import fresh_seed
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.load import Output, Rows, load_rows
from fourfifths._tables.numbers import unknown_tokens
from fourfifths._tables.roles import assign_roles, outcome_of
from fourfifths._tables.strata import Unseen
from fourfifths._tables.table import Table, open_table
from fourfifths._tables.write import write_table
from fourfifths.errors import ColumnError, OptionError, nearest

MAX_NEW_SEED = 2**31
PANDAS_INDEX = re.compile(r"__index_level_\d+__$")


@dataclass(frozen=True, kw_only=True)
class FileRepair:
    """A table, its repair, and what else the table says of itself.

    Attributes
    ----------
    fitted : FittedRepair
    before : Rows
    output : Output
        The repaired columns.
    unseen : {"error", "keep"}
    roles : AuditRoles
        Outcome, favorable value, reference and beta, as given or as a data set has them.
    not_features : tuple of str
        Columns that no rule would use.
    certified_amount : CertifiedAmount or None
        How the amount was found, if it was asked for.
    seed : int or None
    notes : tuple of str
        What the fit has to say.
    repairer : Repairer
    """

    fitted: FittedRepair
    before: Rows
    output: Output
    unseen: Unseen
    roles: AuditRoles
    not_features: tuple[str, ...]
    certified_amount: CertifiedAmount | None
    seed: int | None
    notes: tuple[str, ...]
    repairer: Repairer

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired table; in a CSV, cells that did not change stay as written."""
        repaired = self.output.repaired_frame()
        if str(path).lower().endswith(".parquet"):
            # A CSV has nothing but text; a Parquet file has numbers where there are numbers.
            numeric = [
                column.name
                for column in self.fitted.column_types
                if column.kind in ("number", "integer")
            ]
            rows = Rows(frame=repaired, unknown=self.before.unknown)
            repaired = rows.with_numbers(numeric).dataframe
        write_table(path, repaired, self.before.separator)

    def effect(self, detail: EffectDetail = "full", **replaced: Any) -> RepairEffect:
        """Return what the repair did; see `effect`."""
        after = replace(self.before, frame=self.output.repaired_frame(), _columns={})
        result = effect(
            self.fitted,
            self.before,
            after,
            unseen=self.unseen,
            roles=self.roles,
            not_features=self.not_features,
            detail=detail,
            **replaced,
        )
        return replace(result, notes=(*self.notes, *result.notes))


def repair_file(
    source: str,
    *,
    protected: Sequence[str] | None = None,
    stratify_by: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    amount: float | Literal["certified"] = 1.0,
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: Any = (),
    roles: AuditRoles | None = None,
    options: Mapping[str, Any] | None = None,
    least_certified_amount: Callable[..., CertifiedAmount] = least_certified_amount,
) -> FileRepair:
    """Fit a repair to a file, and apply it to the same rows; `options` are a `Repairer`'s."""
    if protected and stratify_by:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
    table = open_table(source)
    stratifying = tuple(dict.fromkeys(protected or stratify_by or ()))
    if not stratifying and table.dataset is None:
        raise ColumnError("protected: name the protected columns, as in protected=['sex']")
    rows = load_rows(source, unknown_tokens(unknown))
    rows.check_columns(stratifying, "protected")
    audit_roles, stratifying, not_features, cuts = _filled_roles(
        table, rows, stratifying or None, roles, bands
    )
    names = _repaired_columns(rows, columns, stratifying, (audit_roles.outcome, *not_features))
    given_orders = dict(orders or {})
    for name in given_orders:
        if name not in names:
            raise ColumnError(
                f"orders: {name!r} is not a column that is repaired{nearest(name, names)}"
            )
    all_orders = {**(table.dataset.orders if table.dataset else {}), **given_orders}
    repairer = Repairer(
        None if stratify_by else stratifying,
        stratify_by=stratifying if stratify_by else None,
        bands=cuts or None,
        columns={name: tuple(all_orders[name]) if name in all_orders else None for name in names},
        unknown=rows.unknown,
        **dict(options or {}),
    )
    needed = [*stratifying, *names]
    certified_amount = None
    if amount == "certified":
        outcome = [audit_roles.outcome] if audit_roles.outcome else []
        certified_amount = least_certified_amount(
            rows.dataframe.select(*needed, *outcome).to_native(),
            repairer,
            outcome=audit_roles.outcome,
            favorable=audit_roles.favorable,
            reference=audit_roles.reference,
            beta=audit_roles.beta,
        )
        if certified_amount.amount is None:
            raise OptionError(
                f"amount='certified': {'; '.join(str(certified_amount).splitlines())}"
            )
        amount = certified_amount.amount
    repairer.set_params(amount=amount)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        repairer.fit(rows.dataframe.select(*needed).to_native())
    return _apply(
        repairer,
        rows,
        roles=audit_roles,
        not_features=not_features,
        certified_amount=certified_amount,
        seed=repairer.random_state,
        notes=tuple(str(warning.message) for warning in caught),
    )


def apply_repair(
    source: str,
    saved: str | os.PathLike[str],
    *,
    roles: AuditRoles | None = None,
    random_state: int | None = None,
) -> FileRepair:
    """Apply a saved repair to a file: nothing is fitted."""
    seed = fresh_seed(None) % MAX_NEW_SEED if random_state is None else random_state
    repairer = Repairer.load(saved, random_state=seed)
    rows = load_rows(source, unknown_tokens(repairer.unknown))
    rows.check_columns(repairer.fitted_.needed_columns, "the saved repair")
    audit_roles, _, not_features, _ = _filled_roles(
        open_table(source), rows, repairer.strata_.columns, roles, None
    )
    return _apply(
        repairer,
        rows,
        roles=audit_roles,
        not_features=not_features,
        certified_amount=None,
        seed=seed,
        notes=(),
    )


def _filled_roles(
    table: Table,
    rows: Rows,
    stratifying: tuple[str, ...] | None,
    roles: AuditRoles | None,
    bands: Mapping[str, Sequence[float]] | None,
) -> tuple[AuditRoles, tuple[str, ...], tuple[str, ...], dict[str, tuple[float, ...]]]:
    """Return the roles with what a data set says of itself, and the columns apart from features.

    A misspelt outcome or favorable value is an error here, before anything is written.
    """
    roles = roles or AuditRoles()
    if roles.outcome is not None:
        rows.check_columns([roles.outcome], "outcome")
    assigned = assign_roles(
        table,
        protected=stratifying,
        outcome=roles.outcome,
        favorable=roles.favorable,
        reference=roles.reference,
        bands=bands,
        unknown=rows.unknown,
        outcome_is="optional",
    )
    if assigned.outcome is not None:
        outcome_of(rows.dataframe[assigned.outcome], assigned.favorable, rows.unknown)
    reference = {
        column: group
        for column, group in assigned.designated.items()
        if column in assigned.protected
    }
    filled = replace(
        roles,
        outcome=assigned.outcome,
        favorable=assigned.favorable,
        reference=reference or None,
    )
    cuts = {column: cut.edges for column, cut in assigned.bands.items()}
    return filled, assigned.protected, assigned.not_features, cuts


def _repaired_columns(
    rows: Rows,
    columns: Sequence[str] | None,
    stratifying: Sequence[str],
    not_features: Sequence[str | None],
) -> tuple[str, ...]:
    """Return the columns that are named, or all that a rule could use."""
    if not columns:
        apart = {*stratifying, *not_features}
        return tuple(
            name for name in rows.columns if name not in apart and not PANDAS_INDEX.match(name)
        )
    names = rows.check_columns(columns, "columns")
    for name in stratifying:
        if name in names:
            raise ColumnError(f"columns: {name!r} is what the strata are made of")
    return names


def _apply(
    repairer: Repairer,
    rows: Rows,
    *,
    roles: AuditRoles,
    not_features: tuple[str, ...],
    certified_amount: CertifiedAmount | None,
    seed: int | None,
    notes: tuple[str, ...],
) -> FileRepair:
    fitted = repairer.fitted_
    output = fitted.transform(
        rows,
        fitted.strata.codes_of(rows, unseen=repairer.unseen),
        method=repairer.method,
        amount=repairer.amount,
        draws=repairer.calls_.next(),
    )
    return FileRepair(
        fitted=fitted,
        before=rows,
        output=output,
        unseen=repairer.unseen,
        roles=roles,
        not_features=not_features,
        certified_amount=certified_amount,
        seed=seed,
        notes=notes,
        repairer=repairer,
    )
