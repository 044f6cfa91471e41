"""A repair from file to file: what the command line calls."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw

from fourfifths._effect.amount import CertifiedAmount, least_certified_amount
from fourfifths._effect.effect import repair_effect
from fourfifths._effect.result import RepairEffect
from fourfifths._repair.random import fresh_seed
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.load import Loaded, load_table, with_numbers
from fourfifths._tables.table import open_table
from fourfifths._tables.write import as_written, write_table
from fourfifths.datasets import Dataset
from fourfifths.errors import ColumnError, OptionError, listed, nearest

MAX_NEW_SEED = 2**31
PANDAS_INDEX = re.compile(r"__index_level_\d+__$")
AuditRoles = Mapping[str, Any]
Beta = float | tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class FileRepair:
    """A table, its repair, and what else the table says of itself.

    Attributes
    ----------
    repairer : Repairer
    loaded : Loaded
    after : dataframe
        All columns, the repaired ones replaced.
    roles : mapping
        Outcome, favorable value, reference and beta, as given or as a data set has them.
    left_alone : tuple of str
        Columns that no rule would use.
    found : CertifiedAmount or None
        How the amount was found, if it was asked for.
    seed : int or None
    """

    repairer: Repairer
    loaded: Loaded
    after: nw.DataFrame[Any]
    roles: AuditRoles
    left_alone: tuple[str, ...]
    found: CertifiedAmount | None
    seed: int | None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired table; in a CSV, cells that did not change stand as they were."""
        is_text = not str(path).lower().endswith(".parquet")
        after = as_written(self.loaded, self.after) if is_text else self.after
        write_table(path, after, self.loaded.separator)

    def effect(self) -> RepairEffect:
        """Return what the repair did, audited before and after."""
        return repair_effect(
            self.repairer,
            self.loaded.frame,
            self.after,
            name=self.loaded.name,
            left_alone=self.left_alone,
            **self.roles,
        )


def repair_file(
    source: str,
    *,
    protected: Sequence[str] | None = None,
    stratify_by: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    amount: float | Literal["certified"] = 1.0,
    bands: Mapping[str, Sequence[float]] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    beta: Beta = None,
    options: Mapping[str, Any] | None = None,
) -> FileRepair:
    """Fit a repair to a file, and apply it to the same rows; `options` are a `Repairer`'s."""
    bands, orders, options = dict(bands or {}), dict(orders or {}), dict(options or {})
    given_bands, given_orders = list(bands), list(orders)
    data = open_table(source).dataset
    loaded = load_table(source)
    if data is not None:
        protected = protected or (None if stratify_by else data.protected)
        bands, orders = {**data.bands, **bands}, {**data.orders, **orders}
    if protected and stratify_by:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
    by = _existing(loaded, tuple(dict.fromkeys(protected or stratify_by or ())), "protected")
    if not by:
        raise ColumnError("protected: name the protected columns (--protected COL)")
    roles = _roles(loaded, data, outcome, favorable, reference, beta, by)
    alone = _left_alone(data)
    names = _to_repair(loaded, columns, by, (roles["outcome"], *alone))
    _refuse_stray(given_bands, by, "bands", "a column that the strata are made of")
    _refuse_stray(given_orders, names, "order", "a column that is repaired")
    banded = {name: edges for name, edges in bands.items() if name in by}
    ordered = {name: tuple(order) for name, order in orders.items() if name in names}
    loaded = with_numbers(loaded, [name for name in names if name not in ordered], must=False)
    loaded = with_numbers(loaded, banded, must=True)
    repairer = Repairer(
        tuple(by) if protected else None,
        stratify_by=None if protected else tuple(by),
        bands=banded or None,
        columns={name: ordered.get(name) for name in names},
        **options,
    )
    found = None
    if amount == "certified":
        found = least_certified_amount(_needed(loaded, repairer, roles), repairer, **roles)
        if found.amount is None:
            raise OptionError(f"--amount certified: {'; '.join(str(found).splitlines())}")
        amount = found.amount
    repairer.set_params(amount=amount)
    repairer.fit(_needed(loaded, repairer))
    return _done(repairer, loaded, roles, alone, found, repairer.random_state)


def _to_repair(
    loaded: Loaded, columns: Sequence[str] | None, by: Sequence[str], alone: Sequence[str | None]
) -> tuple[str, ...]:
    """Return the columns that are named, or all that are neither strata nor left alone."""
    if not columns:
        apart = {*by, *alone}
        present = (name for name in loaded.frame.columns if not PANDAS_INDEX.match(name))
        return tuple(name for name in present if name not in apart)
    names = _existing(loaded, columns, "columns")
    for name in by:
        if name in names:
            raise ColumnError(f"columns: {name!r} is what the strata are made of")
    return names


def apply_repair(
    source: str,
    saved: str | os.PathLike[str],
    *,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    beta: Beta = None,
    random_state: int | None = None,
) -> FileRepair:
    """Apply a saved repair to a file: nothing is fitted."""
    seed = fresh_seed(None) % MAX_NEW_SEED if random_state is None else random_state
    repairer = Repairer.load(saved, random_state=seed).narrowed()
    data = open_table(source).dataset
    loaded = load_table(source)
    strata = repairer.strata_
    _existing(loaded, [*strata.by, *(each.name for each in repairer.typed_)], "the saved repair")
    numbers = [each.name for each in repairer.typed_ if each.kind in ("number", "integer")]
    numeric = [
        name
        for place, name in enumerate(strata.by)
        if name in (repairer.bands or {})
        or not any(isinstance(group[place], str | bool) for group in strata.groups)
    ]
    loaded = with_numbers(loaded, [*numbers, *numeric], must=True)
    roles = _roles(loaded, data, outcome, favorable, reference, beta, strata.by)
    return _done(repairer, loaded, roles, _left_alone(data), None, seed)


def _refuse_stray(names: Sequence[str], known: Sequence[str], argument: str, expected: str) -> None:
    for name in names:
        if name not in known:
            raise ColumnError(f"{argument}: {name!r} is not {expected}{nearest(name, known)}")


def _done(
    repairer: Repairer,
    loaded: Loaded,
    roles: AuditRoles,
    alone: tuple[str, ...],
    found: CertifiedAmount | None,
    seed: int | None,
) -> FileRepair:
    repaired: Any = nw.from_native(repairer.transform(_needed(loaded, repairer)), eager_only=True)
    columns = [repaired[each.name] for each in repairer.typed_]
    after = loaded.frame.with_columns(*columns)
    return FileRepair(
        repairer=repairer,
        loaded=loaded,
        after=after,
        roles=roles,
        left_alone=alone,
        found=found,
        seed=seed,
    )


def _needed(loaded: Loaded, repairer: Repairer, roles: AuditRoles | None = None) -> Any:
    """Return the columns that the repair knows, so that a new file may have others."""
    named = repairer.protected if repairer.stratify_by is None else repairer.stratify_by
    columns = [*(named or ()), *(repairer.columns or ())]
    if hasattr(repairer, "feature_names_in_"):
        columns = list(repairer.feature_names_in_)
    if roles and roles["outcome"]:
        columns.append(roles["outcome"])
    return loaded.frame.select(*columns).to_native()


def _roles(
    loaded: Loaded,
    data: Dataset | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    beta: Beta,
    by: Sequence[str],
) -> AuditRoles:
    if data is not None:
        if outcome is None and data.outcome in loaded.frame.columns:
            outcome, favorable = data.outcome, favorable or data.favorable
        known = {name: data.reference[name] for name in by if name in data.reference}
        reference = reference or known or None
    if outcome is not None:
        _existing(loaded, [outcome], "outcome")
    return {"outcome": outcome, "favorable": favorable, "reference": reference, "beta": beta}


def _left_alone(data: Dataset | None) -> tuple[str, ...]:
    """Return the columns of a data set that are no features."""
    if data is None:
        return ()
    return (*data.protected, *data.other_protected, *([data.split] if data.split else []))


def _existing(loaded: Loaded, names: Sequence[str], argument: str) -> tuple[str, ...]:
    present = loaded.frame.columns
    for name in names:
        if name not in present:
            raise ColumnError(
                f"{argument}: no column {name!r} in {loaded.name}{nearest(name, present)} "
                f"(columns: {listed(present)})"
            )
    return tuple(names)
