"""A repair from file to file: what the command line calls."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

import narwhals as nw

from fourfifths._certify.certify import certify
from fourfifths._certify.result import Certificate
from fourfifths._effect.amount import CertifiedAmount, least_certified_amount
from fourfifths._effect.effect import (
    AuditRoles,
    EffectDetail,
    check_audit_roles,
    check_beta,
    effect,
)
from fourfifths._effect.held_out import (
    fitted_folds,
    repaired_folds,
    repaired_sample,
    sampled_rows,
)
from fourfifths._effect.model_impact import model_impact
from fourfifths._effect.result import ModelImpact, RepairEffect
from fourfifths._repair.proof import Proof
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.groups import days_of_ages, edges_of
from fourfifths._tables.load import Rows, load_rows, with_columns
from fourfifths._tables.roles import Roles, assign_roles, check_tokens, outcome_of
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import (
    ColumnError,
    GroupError,
    OptionError,
    OutcomeError,
    ReadingWarning,
    TableError,
    nearest,
)

# pandas writes an index without a name into a Parquet file as a column of this name.
PANDAS_INDEX = re.compile(r"__index_level_\d+__$")


@dataclass(frozen=True, kw_only=True)
class FileRepair:
    """A table before and after its repair; nothing is written or audited until asked for.

    Attributes
    ----------
    repairer : Repairer
        Fitted, or loaded from a saved repair.
    before, after : Rows
        In a CSV, every cell that did not change is as it was written.
    roles : AuditRoles
        The outcome, its favorable value, the reference and beta, as given or as a shipped data set
        has them.
    not_features : tuple of str
        Columns that no rule would use.
    certified_amount : CertifiedAmount or None
        How the amount was found, if the least certified one was asked for.
    is_fitted : bool
        Whether the repair was fitted to these rows; what auditors find is then measured on folds.
    notes : tuple of str
        What a reader must know about the fit.
    """

    repairer: Repairer
    before: Rows
    after: Rows
    roles: AuditRoles
    not_features: tuple[str, ...]
    certified_amount: CertifiedAmount | None
    is_fitted: bool
    notes: tuple[str, ...]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired table; repaired numbers of a CSV are numbers in a Parquet file."""
        rows = self.after
        if self.repairer.drop_protected:
            kept = rows.dataframe.drop(*self.repairer.strata_.columns)
            rows = replace(rows, frame=kept, _columns={})
        if str(path).lower().endswith(".parquet"):
            # Only text is read as numbers: in other columns NaN and null stay what they are.
            text_columns = [
                column
                for column in self.repairer.column_types_
                if column.kind in ("number", "integer")
                and rows.dataframe[column.name].dtype == nw.String
            ]
            formats = {column.name: column.number_format for column in text_columns}
            frame = rows.with_numbers(list(formats), formats=formats).dataframe
            # The type is the repair's, so that a file with only whole numbers, or none, has it too.
            floats = [
                frame[column.name].cast(nw.Float64())
                for column in text_columns
                if column.kind == "number" or frame[column.name].dtype == nw.String
            ]
            rows = replace(rows, frame=frame.with_columns(*floats), _columns={})
        rows.write(path)

    def effect(
        self,
        detail: EffectDetail = "full",
        *,
        certify: Callable[..., Certificate] = certify,
        model_impact: Callable[..., ModelImpact | None] = model_impact,
    ) -> RepairEffect:
        """Return what the repair did; the arguments are those of `fourfifths._effect.effect`."""
        held_out, notes = None, self.notes
        if self.is_fitted and detail == "full":
            try:
                held_out = self._held_out()
            except (ColumnError, GroupError, OutcomeError) as error:
                notes, detail = (*notes, f"not audited: {error}"), "quick"
        result = effect(
            self.repairer.fitted_,
            self.before,
            self.after,
            held_out=held_out,
            unseen=self.repairer.unseen,
            roles=self.roles,
            not_features=self.not_features,
            detail=detail,
            certify=certify,
            model_impact=model_impact,
        )
        return replace(result, notes=(*notes, *result.notes))

    def proof(self) -> Proof | None:
        """Return what is proven of the repaired columns; None of a repair by column."""
        proof: Proof | None = self.repairer.proof_
        return proof

    def _held_out(self) -> Rows:
        """Return the audited rows, each repaired by a fit that has not seen it."""
        kept = [self.repairer.keep] if self.repairer.keep else []  # a file has one outcome
        needed = [*self.repairer.fitted_.needed_columns, *kept]
        frame = self.before.dataframe
        codes = self.repairer.strata_.codes_of(self.before, unseen=self.repairer.unseen)
        positions = sampled_rows(codes, random_state=0)
        if positions is None:
            folds = fitted_folds(frame.select(*needed), self.repairer, random_state=0)
            repaired = repaired_folds(folds, amount=self.repairer.amount)
        else:
            repaired = repaired_sample(frame.select(*needed), self.repairer, positions)
            frame = frame[positions]
        names = [column.name for column in self.repairer.column_types_]
        columns = [repaired[name] for name in names]
        return replace(self.before, frame=with_columns(frame, columns), _columns={})


def repair_file(
    source: TableLike,
    *,
    protected: Sequence[str] | None = None,
    stratify_by: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    amount: float | Literal["certified"] = 1.0,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: Any = (),
    roles: AuditRoles | None = None,
    options: Mapping[str, Any] | None = None,
    least_certified_amount: Callable[..., CertifiedAmount] = least_certified_amount,
) -> FileRepair:
    """Fit a repair to a file, and apply it to the same rows.

    Parameters
    ----------
    source : str or Table
        A file, the name of a shipped data set, or what `fourfifths.read_table` made of them.
    protected, stratify_by, columns, bands, ages, unknown : optional
        As for `Repairer`. By default every column is repaired that a rule could use.
    orders : mapping of str to sequence of str, optional
        The categories of ordered columns, lowest first.
    amount : float or "certified"
        "certified" searches for the least amount whose result is certified.
    roles : AuditRoles, optional
    options : mapping, optional
        Other arguments of `Repairer`.
    least_certified_amount : callable
        What searches for the amount.
    """
    if protected and stratify_by:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
    table = open_table(source)
    stratifying = tuple(dict.fromkeys(protected or stratify_by or ()))
    if not stratifying and table.dataset is None:
        raise ColumnError("protected: name the protected columns, as in protected=['sex']")
    rows = load_rows(table, unknown_tokens(unknown))
    if not len(rows):
        raise TableError(f"{rows.name}: the table has no rows")
    check_tokens(rows.dataframe, rows.unknown)
    rows.check_columns(stratifying, "protected")
    table_roles, audit_roles = _roles(
        table, rows, stratifying=stratifying or None, roles=roles, bands=bands, ages=ages
    )
    stratifying = table_roles.protected

    key = (options or {}).get("key")
    if key is not None:
        rows.check_columns([key], f"key={key!r}")
    names = _repaired_columns(rows, columns, table_roles, key)
    for name in orders or ():
        if name not in names:
            raise ColumnError(
                f"orders: {name!r} is not a column that is repaired{nearest(name, names)}"
            )
    all_orders = {**(table.dataset.orders if table.dataset else {}), **(orders or {})}
    options = dict(options or {})
    if options.get("scope", "blocks") == "blocks":
        beta = audit_roles.beta
        options |= {
            "keep": audit_roles.outcome,
            "favorable": audit_roles.favorable,
            # Of a range the lower end is used, as for certificates.
            "beta": beta[0] if isinstance(beta, tuple) else beta,
        }
    kept = [audit_roles.outcome] if options.get("keep") else []
    repairer = Repairer(
        None if stratify_by else stratifying,
        stratify_by=stratifying if stratify_by else None,
        bands=edges_of(table_roles.bands) or None,
        ages=days_of_ages(table_roles.bands) or None,
        columns={name: tuple(all_orders[name]) if name in all_orders else None for name in names},
        unknown=rows.unknown,
        known=rows.reading.known,
        exact_values=rows.reading.exact_values,
        decimal=rows.reading.decimal,
        **options,
    )

    key = [repairer.key] if repairer.key else []
    needed = list(dict.fromkeys([*key, *stratifying, *names, *kept]))
    certified_amount = None
    if amount == "certified":
        outcome = [audit_roles.outcome] if audit_roles.outcome and not kept else []
        with warnings_shown_otherwise():
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
    with warnings_shown_otherwise():
        repairer.fit(rows.dataframe.select(*needed).to_native())
    notes = tuple(
        f"column {name!r} holds numbers and words; it was repaired as categories"
        for name in rows.mixed_columns(repairer.column_types_, repairer.columns)
    )
    notes += repairer.notes_
    check_audit_roles(repairer.fitted_, rows, audit_roles)
    return _repaired(
        repairer,
        rows,
        roles=audit_roles,
        not_features=table_roles.not_features,
        certified_amount=certified_amount,
        is_fitted=True,
        notes=(*rows.notes, *notes),
    )


@contextmanager
def warnings_shown_otherwise() -> Iterator[None]:
    """Fit without the warnings that the shell shows in its own way."""
    with warnings.catch_warnings():
        # It becomes a note: the warning's advice is for Python.
        warnings.filterwarnings("ignore", ".* holds numbers and words", category=UserWarning)
        warnings.simplefilter("ignore", ReadingWarning)
        # The proof says the same.
        warnings.filterwarnings("ignore", "blocks='certified'", category=UserWarning)
        yield


def apply_repair(
    source: TableLike,
    saved: str | os.PathLike[str],
    *,
    roles: AuditRoles | None = None,
) -> FileRepair:
    """Apply a saved repair to a file; nothing is fitted.

    Parameters
    ----------
    source : str
        A file, or the name of a shipped data set. It may have more columns than the repair uses.
    saved : path
        What `Repairer.save` wrote.
    roles : AuditRoles, optional
        For audits of its effect. Without it there are none, and nothing about them is checked.
    """
    repairer = Repairer.load(saved)
    if repairer.strata_.passed:
        raise GroupError(
            f"{saved}: this repair was fitted to protected values that are not a column of the "
            "table, and a file has no others; apply it in Python, transform(X, protected=values)"
        )
    table = open_table(source)
    rows = load_rows(table, unknown_tokens(repairer.unknown))
    rows = replace(rows, reading=repairer.reading)
    rows.check_columns(repairer.fitted_.needed_columns, "the saved repair")
    not_features: tuple[str, ...] = ()
    if roles is not None:
        table_roles, roles = _roles(
            table, rows, stratifying=repairer.strata_.columns, roles=roles, bands=None
        )
        check_audit_roles(repairer.fitted_, rows, roles)
        kept = [repairer.keep] if isinstance(repairer.keep, str) else repairer.keep or ()
        # The outcome that is kept is no column that a rule would use.
        not_features = (*table_roles.not_features, *kept)
    return _repaired(
        repairer,
        rows,
        roles=roles or AuditRoles(),
        not_features=not_features,
        certified_amount=None,
        is_fitted=False,
        notes=rows.notes,
    )


def _roles(
    table: Table,
    rows: Rows,
    *,
    stratifying: tuple[str, ...] | None,
    roles: AuditRoles | None,
    bands: Mapping[str, Sequence[float]] | None,
    ages: Mapping[str, date | str] | None = None,
) -> tuple[Roles, AuditRoles]:
    """Return the roles of the table's columns, with what a shipped data set says of itself.

    A misspelt outcome or favorable value, or a wrong beta, is an error here, before anything is
    computed.
    """
    roles = roles or AuditRoles()
    check_beta(roles)
    if roles.outcome is not None:
        rows.check_columns([roles.outcome], "outcome")
    assigned = assign_roles(
        table,
        protected=stratifying,
        outcome=roles.outcome,
        favorable=roles.favorable,
        reference=roles.reference,
        bands=bands,
        ages=ages,
        unknown=rows.unknown,
        outcome_is="optional",
    )
    if assigned.outcome is not None:
        outcome_of(rows.dataframe[assigned.outcome], assigned.favorable, rows.unknown, rows.reading)
    reference = {
        column: group
        for column, group in assigned.designated.items()
        if column in assigned.protected
    }
    return assigned, replace(
        roles,
        outcome=assigned.outcome,
        favorable=assigned.favorable,
        reference=reference or None,
    )


def _repaired_columns(
    rows: Rows, columns: Sequence[str] | None, roles: Roles, key: str | None
) -> tuple[str, ...]:
    """Return the columns that are named, or all that a rule could use and that may be changed."""
    if not columns:
        if roles.outcome is None:
            raise ColumnError(
                "columns: which columns to repair is not known; name them, or name the outcome, "
                "outcome='...', so that all others can be repaired"
            )
        names = rows.repairable((*roles.not_features, key))
        return tuple(name for name in names if not PANDAS_INDEX.match(name))
    names = tuple(dict.fromkeys(rows.check_columns(columns, "columns")))
    for name in roles.protected:
        if name in names:
            raise ColumnError(f"columns: {name!r} is what the strata are made of")
    if roles.outcome in names:
        raise ColumnError(f"columns: {roles.outcome!r} is the outcome; leave it out")
    return names


def _repaired(
    repairer: Repairer,
    rows: Rows,
    *,
    roles: AuditRoles,
    not_features: tuple[str, ...],
    certified_amount: CertifiedAmount | None,
    is_fitted: bool,
    notes: tuple[str, ...],
) -> FileRepair:
    """Repair the rows, of which the repair uses only some columns."""
    fitted = repairer.fitted_
    codes = fitted.strata.codes_of(rows, unseen=repairer.unseen)
    output = fitted.transform(
        rows,
        codes,
        method=repairer.method,
        amount=repairer.amount,
        unseen=repairer.unseen,
    )
    if is_fitted and repairer.amount == 1:
        fitted.count_table(output, codes)
    return FileRepair(
        repairer=repairer,
        before=rows,
        after=replace(rows, frame=output.repaired_frame(), _columns={}),
        roles=roles,
        not_features=not_features,
        certified_amount=certified_amount,
        is_fitted=is_fitted,
        notes=notes,
    )
