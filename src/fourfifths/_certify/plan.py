"""What is to be certified: groups, features and beta, and the pairs whose rows are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

import numpy as np

from fourfifths._arrays import BoolArray, IntArray, Interval
from fourfifths._certify.result import Side
from fourfifths._stats.proportions import clopper_pearson
from fourfifths._tables.counts import MISSING, Counts, count
from fourfifths._tables.groups import (
    Attribute,
    Group,
    Roles,
    as_meant,
    assign_roles,
    attributes,
    choose_favorable,
    choose_reference,
    days_of_ages,
    edges_of,
    favorable_cells,
    favorable_names,
    prepare,
    tally,
)
from fourfifths._tables.sample import Features, row_generator
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._text import listed
from fourfifths.errors import ColumnError, GroupError

MAX_ROWS = 100_000  # that are audited, if the caller names no other limit
MIN_FOLDS = 2
MIN_AUDITED_ROWS = 20
# The share of the error rate that the lower limit of an estimated beta gets; the cuts get the rest.
BETA_ERROR_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Beta:
    """The selection rate of the side that is harmed: of the group, or of the reference.

    Attributes
    ----------
    rate : float
        Estimated from the outcome, or stated by the user.
    interval : tuple of float
        Limits of the rate; for a stated number, both are that number. Each limit of an estimated
        rate is wrong with probability at most `BETA_ERROR_SHARE` of the error rate.
    counts : (selected, n) or None
        None for a stated rate.
    """

    rate: float
    interval: Interval
    counts: tuple[int, int] | None

    def lower_limit(self, growth: float, confidence: float) -> float:
        """Return the lower limit that `growth` times as many rows with this rate would give."""
        if self.counts is None:
            return self.interval[0]
        selected, n = self.counts
        return beta_interval(growth * selected, growth * n, confidence)[0]

    def cut_confidence(self, confidence: float) -> float:
        """Return the confidence that is left for the cuts after that of beta's lower limit."""
        if self.counts is None:
            return confidence
        return 1 - (1 - BETA_ERROR_SHARE) * (1 - confidence)


def beta_interval(selected: float, n: float, confidence: float) -> Interval:
    """Return exact limits; each is wrong at most as often as its share of the error rate says."""
    tail = BETA_ERROR_SHARE * (1 - confidence)
    low, high = clopper_pearson(selected, n, confidence=1 - 2 * tail)
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be certified.

    Attributes
    ----------
    table : Table
        With bands and unknown values applied to the protected columns.
    protected, features, left_out : tuple of str
    outcome : str or None
    groups : tuple of tuple of tuple
        For each group and each protected column, the values that the table holds for it: several
        spellings, or the code of a band.
    labels : tuple of str
        The names of the groups.
    sizes : tuple of int
        Rows of each group.
    rows_in_table : int
        All rows, those of unknown group too.
    selected, rated : tuple of int
        Rows of each group that have the favorable outcome, and rows that have any outcome.
    reference : int
        The position of the reference among the groups.
    stated_beta : float, (low, high) or None
        None if beta is to be estimated from the outcome.
    settings : dict
        The arguments that make the same plan again, ready for JSON.
    notes : tuple of str
        What was assumed when the table was read.
    """

    table: Table
    protected: tuple[str, ...]
    features: tuple[str, ...]
    outcome: str | None
    left_out: tuple[str, ...]
    groups: tuple[tuple[Group, ...], ...]
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    rows_in_table: int
    selected: tuple[int, ...]
    rated: tuple[int, ...]
    reference: int
    stated_beta: float | tuple[float, float] | None
    settings: dict[str, Any]
    notes: tuple[str, ...] = ()

    def betas(self, members: Sequence[int], reference: int, confidence: float) -> dict[Side, Beta]:
        """Return the selection rate of some groups taken together, and that of another group.

        Parameters
        ----------
        members : sequence of int
            Positions among the groups.
        reference : int
            The position of the group that they are compared with.
        confidence : float
            Of the verdict; `beta_interval` says what the limits get of it.
        """
        if self.stated_beta is not None:
            low, high = np.broadcast_to(self.stated_beta, 2)
            stated = Beta(rate=float(low), interval=(float(low), float(high)), counts=None)
            return {"group": stated, "reference": stated}
        sides: dict[Side, Sequence[int]] = {"group": members, "reference": [reference]}
        betas: dict[Side, Beta] = {}
        for side, codes in sides.items():
            selected = sum(self.selected[code] for code in codes)
            n = sum(self.rated[code] for code in codes)
            if not selected:
                raise GroupError(
                    f"beta: no one of {', '.join(self.labels[code] for code in codes)} was "
                    "selected, so the outcome gives no selection rate to certify for; state beta "
                    "as a number"
                )
            betas[side] = Beta(
                rate=selected / n,
                interval=beta_interval(selected, n, confidence),
                counts=(selected, n),
            )
        return betas


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The rows of one comparison.

    Attributes
    ----------
    group, reference : str
    codes : (int, int) or None
        The codes of the group and of the reference; None for several groups taken together.
    rows : int array
        Positions among the rows that were read, of the group and of the reference.
    is_reference : bool array
        For each of these rows, whether it is of the reference.
    betas : mapping of {"group", "reference"} to Beta
    """

    group: str
    reference: str
    codes: tuple[int, int] | None
    rows: IntArray
    is_reference: BoolArray
    betas: Mapping[Side, Beta]


def pairs_of_groups(
    plan: Plan, features: Features, *, rows_per_group: int, confidence: float, random_state: int
) -> list[Pair]:
    """Return all pairs of groups and, if there are several, all others against the reference.

    In a pair without the reference of the table, the group with the higher selection rate takes its
    place; without an outcome, the larger one.
    """
    random = row_generator(random_state, "rows of a group")
    # In random order, so that the first rows of a group are a sample of it.
    rows = [
        random.permutation(np.flatnonzero(features.groups == code))
        for code in range(len(plan.groups))
    ]
    rates = np.array(plan.selected) / np.maximum(plan.rated, 1)
    other_groups = sorted(
        (code for code in range(len(plan.groups)) if code != plan.reference),
        key=lambda code: (-rates[code], -plan.sizes[code], code),
    )
    comparisons = [
        (plan.labels[group], [group], reference)
        for reference, group in combinations([plan.reference, *other_groups], 2)
    ]
    if len(other_groups) > 1:
        comparisons.append((f"not {plan.labels[plan.reference]}", other_groups, plan.reference))
    pairs = []
    for name, members, reference in comparisons:
        # Among groups taken together, each keeps its share of the table: the same fraction of
        # every group is used, as large as the group with the fewest sampled rows allows.
        total = sum(plan.sizes[code] for code in members)
        sampled = [rows[code].size / plan.sizes[code] for code in members]
        fraction = min(1.0, rows_per_group / total, *sampled)
        group_rows = [rows[code][: round(fraction * plan.sizes[code])] for code in members]
        pair_rows = np.sort(np.concatenate([*group_rows, rows[reference]]))
        pairs.append(
            Pair(
                group=name,
                reference=plan.labels[reference],
                codes=(members[0], reference) if len(members) == 1 else None,
                rows=pair_rows,
                is_reference=features.groups[pair_rows] == reference,
                betas=plan.betas(members, reference, confidence),
            )
        )
    return pairs


def groups_of(pairs: Sequence[Pair]) -> list[int]:
    """Return the codes of the groups in pairs of single groups."""
    return sorted({code for pair in pairs for code in pair.codes or ()})


def make_plan(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    columns: Sequence[str] | None,
    beta: float | Sequence[float] | None,
    bands: Mapping[str, Sequence[float]] | None,
    ages: Mapping[str, date | str] | None = None,
    unknown: Any,
    folds: int,
) -> Plan:
    """Check the columns, count the groups, and choose the features and the reference.

    The parameters are those of `certify`.
    """
    opened = open_table(table)
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        bands=bands,
        ages=ages,
        unknown=unknown,
        outcome_is="optional" if beta is not None else "needed",
    )
    features, left_out = choose_features(opened, roles, columns)

    prepared = prepare(opened, roles, features)
    outcome_column = [roles.outcome] if roles.outcome else []
    counts = as_meant(count(prepared, [*roles.protected, *outcome_column]), roles, opened)
    # The last attribute is the joint one, where there are several protected columns.
    attribute = attributes(counts, roles.protected)[-1]
    selected, rated, favorable = count_selections(attribute, counts, roles)
    every_cell = np.ones(attribute.codes.shape, np.bool_)
    group_tally = tally(attribute.codes, counts, every_cell, len(attribute.groups))
    sizes = tuple(int(size) for size in group_tally.rows)
    too_small = [name for name, size in zip(attribute.labels, sizes, strict=True) if size < folds]
    if too_small:
        raise GroupError(
            f"folds={folds}: group {listed(too_small)} has fewer rows than that; leave these rows "
            "out, merge the group with another, or use fewer folds"
        )

    # Without an outcome there is no highest rate: of two groups the larger one is the reference.
    has_rates = roles.outcome is not None
    is_pair = len(attribute.groups) == 2
    reference_code = choose_reference(
        attribute.protected,
        attribute.groups,
        designated=roles.designated,
        rates=np.array(selected) / np.maximum(rated, 1),
        sizes=group_tally.rows,
        otherwise="highest rate" if has_rates else "largest" if is_pair else "error",
        reason="without an outcome there is no highest rate to compare with",
    )
    reference_values = zip(roles.protected, attribute.groups[reference_code], strict=True)
    stated_beta = (beta[0], beta[1]) if isinstance(beta, Sequence) else beta
    return Plan(
        table=prepared,
        protected=roles.protected,
        features=features,
        outcome=roles.outcome,
        left_out=left_out,
        groups=tuple(
            tuple(
                counts.members[column][counts.values[column].index(value)]
                for column, value in zip(attribute.protected, group, strict=True)
            )
            for group in attribute.groups
        ),
        labels=attribute.labels,
        sizes=sizes,
        rows_in_table=int(counts.rows.sum()),
        selected=selected,
        rated=rated,
        reference=reference_code,
        stated_beta=stated_beta,
        settings={
            "protected": list(roles.protected),
            "outcome": roles.outcome,
            "favorable": favorable if isinstance(favorable, str | None) else list(favorable),
            "reference": {column: str(value) for column, value in reference_values},
            "columns": list(features),
            "beta": list(stated_beta) if isinstance(stated_beta, tuple) else stated_beta,
            "bands": edges_of(roles.bands),
            "ages": days_of_ages(roles.bands),
            "unknown": [str(token) for token in roles.unknown],
            "reading": {
                "sheet": opened.reading.sheet,
                "header_row": opened.reading.header_row,
                "decimal": opened.reading.decimal,
                "known": [str(value) for value in opened.reading.known],
                "exact_values": opened.reading.exact_values,
            },
        },
        notes=counts.notes,
    )


def choose_features(
    table: Table, roles: Roles, features: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that a rule may use, and those left out because of their role.

    Without `features`, all columns are used but the protected ones, the outcome, and those that a
    shipped data set marks as protected too or as its split into training and test rows.
    """
    left_out = [column for column in table.columns if column in roles.not_features]
    if features is None:
        features = [column for column in table.columns if column not in roles.not_features]
        if not features:
            raise ColumnError(
                f"columns: {table.name} has no columns besides {listed(left_out)}; a rule needs at "
                "least one other column"
            )
    elif not features:
        raise ColumnError(f"columns={features!r}: expected at least one column")
    else:
        features = list(dict.fromkeys([features] if isinstance(features, str) else features))
        for column in features:
            table.column(column, "columns")
            if column in roles.protected:
                raise ColumnError(f"columns: {column!r} is protected; a rule may not use it")
            if column == roles.outcome:
                raise ColumnError(f"columns: {column!r} is the outcome; a rule may not use it")
        left_out = [column for column in left_out if column not in features]
    nested = [column for column in features if table.dtype(column).is_nested()]
    if nested:
        raise ColumnError(
            f"columns: {listed(nested)}: expected plain values, found lists or other nested values"
        )
    return tuple(features), tuple(left_out)


def count_selections(
    attribute: Attribute, counts: Counts, roles: Roles
) -> tuple[tuple[int, ...], tuple[int, ...], str | tuple[str, ...] | None]:
    """Return each group's selected rows, its rows with an outcome, and the favorable values.

    The last is the favorable value, or several; without an outcome it is None, and all counts are
    0.
    """
    group_count = len(attribute.groups)
    if roles.outcome is None:
        return (0,) * group_count, (0,) * group_count, None
    codes = counts.codes[roles.outcome]
    favorable = choose_favorable(roles.outcome, roles.favorable, counts.values[roles.outcome])
    rated = counts.take(codes != MISSING)
    is_favorable = favorable_cells(rated, roles.outcome, favorable)
    sums = tally(attribute.codes[codes != MISSING], rated, is_favorable, group_count)
    selected_rows = tuple(int(rows) for rows in sums.rows_selected)
    rated_rows = tuple(int(rows) for rows in sums.rows)
    return selected_rows, rated_rows, favorable_names(favorable)
