"""`monitor`: evidence about the impact ratio that may be looked at after every batch."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fourfifths._arrays import FloatArray, Interval
from fourfifths._impact.analyses.counted import check_persons, count_whole_persons
from fourfifths._impact.analyses.monitor_log import Batch, MonitorLog, read_log
from fourfifths._results import Record, Result, entry_of, flat
from fourfifths._stats.monitor import (
    LARGEST_LOG,
    adjusted_log_evidence,
    log_evidence_above,
    log_evidence_below,
    ratio_limits,
)
from fourfifths._tables.bands import name_bands
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import (
    Roles,
    as_meant,
    assign_roles,
    attributes,
    check_share,
    choose_favorable,
    favorable_cells,
    favorable_names,
    find_value,
    prepare,
)
from fourfifths._tables.table import Table, TableLike, Value, open_table
from fourfifths._tables.values import ValueRole, folded, spellings_of
from fourfifths._text import listed, rows_have
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError

Finding = Literal["below", "above", "below and above", "inconclusive"]
DEFAULT_THRESHOLD, DEFAULT_CONFIDENCE = 0.8, 0.95
MIN_YEAR = 1000  # a number from here on that leads a text is a year
ASSUMPTIONS = (
    "within a batch, and given all earlier ones, people are decided on independently of each "
    "other; their chances may differ from person to person and from batch to batch",
    "the reference, the line and the confidence were chosen before the first batch was seen, and "
    "how many people a batch holds was not chosen by their outcomes",
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What is known of a group after a batch.

    Attributes
    ----------
    batch : str
    selected, n, selected_reference, n_reference : int
        Of this batch alone.
    impact_ratio : float
        Of all batches so far, pooled. NaN if the reference has no selection yet.
    evidence_below, evidence_above : float
        The e-values after this batch, before the adjustment for several groups.
    ratio_interval : tuple of float
        The confidence sequence: its limits hold after all batches at once.
    """

    batch: str
    selected: int
    n: int
    selected_reference: int
    n_reference: int
    impact_ratio: float
    evidence_below: float
    evidence_above: float
    ratio_interval: Interval


@dataclass(frozen=True, kw_only=True)
class MonitoredGroup:
    """A group against the reference, over all batches.

    Attributes
    ----------
    group : str
    selected, n, selected_reference, n_reference : int
        Over all batches.
    impact_ratio : float
        Pooled over all batches. NaN if the reference has no selection.
    ratio_interval : tuple of float
        The confidence sequence after the last batch. It holds for all groups at once. An upper
        limit of NaN means that there is none.
    evidence_below : float
        The e-value against "in every batch the ratio is at least the line".
    evidence_above : float
        The e-value against "in every batch the ratio is at most the line".
    p_below, p_above : float
        Anytime-valid p-values: 1 / the largest e-value so far, adjusted for all groups.
    below_since, above_since : str or None
        The batch after which the adjusted evidence first reached 1 / (1 - confidence).
    finding : {"below", "above", "below and above", "inconclusive"}
        Which evidence has ever been enough. Both can be, if the ratio changed.
    looks : tuple of Look
        After each batch.
    """

    group: str
    selected: int
    n: int
    selected_reference: int
    n_reference: int
    impact_ratio: float
    ratio_interval: Interval
    evidence_below: float
    evidence_above: float
    p_below: float
    p_above: float
    below_since: str | None
    above_since: str | None
    finding: Finding
    looks: tuple[Look, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Monitor(Result):
    """Evidence about impact ratios, batch after batch.

    Attributes
    ----------
    table : str
        The table, or the log.
    protected, outcome, reference : str
    favorable : str or tuple of str
    threshold : float
        The line.
    confidence : float
        1 minus the largest probability of a wrong finding, over all groups and all batches.
    batches : tuple of str
        In the order of time.
    groups : tuple of MonitoredGroup
        All but the reference.
    assumptions, notes : tuple of str
    """

    _schema: ClassVar[str | None] = "fourfifths/monitor/1"

    table: str
    protected: str
    outcome: str
    favorable: str | tuple[str, ...]
    reference: str
    threshold: float
    confidence: float
    batches: tuple[str, ...]
    groups: tuple[MonitoredGroup, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]

    def __getitem__(self, group: object) -> MonitoredGroup:
        """Return a group by its name or value."""
        return entry_of({monitored.group: monitored for monitored in self.groups}, group, "group")

    def to_records(self) -> list[Record]:
        """Return one flat record for each group and batch."""
        return [
            {"group": group["group"], **flat(look)}
            for group in self.to_dict()["groups"]
            for look in group["looks"]
        ]


def monitor(
    table: TableLike,
    *,
    batch: str | None = None,
    protected: str | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    threshold: float | None = None,
    persons: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float | None = None,
) -> Monitor:
    """Weigh the evidence that an impact ratio is below a line, or above it, batch after batch.

    An audit that is repeated every week would find something by chance sooner or later. The
    evidence of this function may be looked at after every batch, and looking may stop for any
    reason: the probability of ever being wrong is 1 - confidence at most (docs/monitor.md).

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        A table with all batches; or, without `batch`, the path of a log that `add_batch` wrote. A
        log holds all other settings.
    batch : str
        The column that says which batch a row belongs to: numbers, dates, or texts like 2026-08-10
        or 2026-W32, which have an order.
    protected, outcome : str
    favorable : value or list of values, optional
        The value of the outcome that means selected, or several.
    reference : value
        The group that the others are compared with. It must be designated, because choosing the
        highest rate after the fact would make the evidence too strong.
    threshold : float
        The line; by default 0.8.
    persons : str, optional
        A column of numbers of persons, if the table is aggregated.
    bands, unknown : optional
        As for `fourfifths.impact`.
    confidence : float
        By default 0.95.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {
    ...         "week": [1, 1, 1, 1, 2, 2, 2, 2],
    ...         "sex": ["f", "f", "m", "m"] * 2,
    ...         "hired": ["yes", "no"] * 4,
    ...         "people": [25, 75, 50, 50, 25, 75, 55, 45],
    ...     }
    ... )
    >>> result = monitor(
    ...     table, batch="week", protected="sex", outcome="hired", reference="m", persons="people"
    ... )
    >>> women = result["f"]
    >>> women.finding, women.below_since, round(women.impact_ratio, 2)
    ('below', '2', 0.48)
    """
    if batch is None:
        if not isinstance(table, str | os.PathLike) or persons is not None:
            raise OptionError(
                "batch: name the column that says which batch a row belongs to; it may be omitted "
                "only for the path of a log that add_batch wrote"
            )
        log = read_log(table)
        log.check_settings(
            protected=protected,
            outcome=outcome,
            favorable=favorable,
            reference=reference,
            threshold=threshold,
            confidence=confidence,
            bands=bands,
            unknown=unknown,
        )
        return monitor_batches(log, table=os.fspath(table))

    threshold, confidence = level(threshold, confidence)
    opened = open_table(table).without_empty_rows()
    check_persons(opened, persons, protected=protected)
    roles = monitored_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        weights=persons,
        bands=bands,
        unknown=unknown,
    )
    if opened.column(batch, "batch") in (*roles.protected, roles.outcome, persons):
        raise ColumnError(f"batch={batch!r}: the column has another role already")

    table_counts = count_groups(opened, roles, batch=batch)
    column = roles.protected[0]
    (attribute,) = attributes(table_counts, roles.protected)
    favorable_values = choose_favorable(
        str(roles.outcome), roles.favorable, table_counts.values[str(roles.outcome)]
    )
    reference_value = find_value(
        roles.designated[column],
        table_counts.values[column],
        message=f"reference={roles.designated[column]!r}: not among the groups of {column!r}",
    )
    order = time_order(batch, table_counts.values[batch])
    batchless = table_counts.codes[batch] == MISSING
    log = MonitorLog(
        protected=column,
        outcome=str(roles.outcome),
        favorable=favorable_names(favorable_values),
        reference=attribute.labels[table_counts.values[column].index(reference_value)],
        threshold=threshold,
        confidence=confidence,
        bands=(),
        unknown=(),
        batches=tuple(
            batch_of(
                table_counts.take(table_counts.codes[batch] == index),
                roles,
                name=str(table_counts.values[batch][index]),
                labels=attribute.labels,
                favorable=favorable_values,
            )
            for index in order
        ),
    )

    notes = list(table_counts.notes)
    if batchless.any():
        notes.append(f"{rows_have(int(table_counts.rows[batchless].sum()))} no {batch}")
    return monitor_batches(log, table=opened.name, notes=notes)


def add_batch(
    log: str | os.PathLike[str],
    table: TableLike,
    *,
    name: str | None = None,
    protected: str | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    threshold: float | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float | None = None,
) -> Monitor:
    """Count a table as the next batch, append the counts to a log, and weigh all batches.

    The log holds counts and no rows. It is written whole or not at all, and refuses a batch of the
    same name and a file of the same content. The first batch fixes all settings; they may be
    omitted afterwards, and other ones are an error.

    Parameters
    ----------
    log : path
        A JSON lines file. It is made if there is none.
    table : dataframe, path, str or Dataset
        The rows of the batch.
    name : str, optional
        The name of the batch. By default that of the file, without its ending.
    protected, outcome, favorable, reference, threshold, bands, unknown, confidence
        As for `monitor`.
    """
    opened = open_table(table).without_empty_rows()
    path = None if opened.file is None else opened.file.path
    name = name or (None if path is None else path.name.partition(".")[0])
    if not name:
        raise OptionError("name: a dataframe has no name; say what the batch is called")
    kept = read_log(log) if os.path.exists(log) else None  # noqa: PTH110 - any path-like
    if kept is not None:
        kept.check_settings(
            protected=protected,
            outcome=outcome,
            favorable=favorable,
            reference=reference,
            threshold=threshold,
            confidence=confidence,
            bands=bands,
            unknown=unknown,
        )
        protected, outcome, favorable = kept.protected, kept.outcome, kept.favorable
        reference, bands, unknown = kept.reference, dict(kept.bands), kept.unknown
        threshold, confidence = kept.threshold, kept.confidence
    threshold, confidence = level(threshold, confidence)
    roles = monitored_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        weights=None,
        bands=bands,
        unknown=unknown,
    )

    counts = count_groups(opened, roles)
    values = counts.values[str(roles.outcome)]
    if kept is None:
        chosen = choose_favorable(str(roles.outcome), roles.favorable, values)
    else:
        chosen = favorable_in_batch(kept, values)
    exact = opened.reading.exact_values
    known_groups = [str(roles.designated[roles.protected[0]])]
    if kept is not None:
        known_groups += [label for batch in kept.batches for label in batch.groups]
    labels = as_spelled(counts.values[roles.protected[0]], known_groups, exact=exact)
    added = batch_of(counts, roles, name=name, labels=labels, favorable=chosen, path=path)
    if kept is None:
        kept = MonitorLog(
            protected=roles.protected[0],
            outcome=str(roles.outcome),
            favorable=favorable_names(chosen),
            reference=str(roles.designated[roles.protected[0]]),
            threshold=threshold,
            confidence=confidence,
            bands=tuple((column, cut.edges) for column, cut in roles.bands.items()),
            unknown=tuple(str(value) for value in roles.unknown),
            batches=(),
        )
        if kept.reference not in added.groups:
            raise GroupError(
                f"reference={kept.reference!r}: not among the groups of {kept.protected!r} in the "
                f"first batch ({listed(added.groups)})"
            )
    kept = kept.with_batch(added, log)
    result = monitor_batches(kept, table=os.fspath(log), notes=counts.notes)
    kept.write(log)
    return result


def level(threshold: float | None, confidence: float | None) -> tuple[float, float]:
    """Return the line and the confidence, or raise unless they are possible."""
    threshold = DEFAULT_THRESHOLD if threshold is None else threshold
    confidence = DEFAULT_CONFIDENCE if confidence is None else confidence
    return (
        check_share("threshold", threshold, "(0, inf)"),
        check_share("confidence", confidence, "[0.5, 1)"),
    )


def monitored_roles(table: Table, *, protected: Any, reference: Any, **roles: Any) -> Roles:
    """Assign the roles; there is one protected column, and its reference is designated."""
    assigned = assign_roles(table, protected=protected, reference=reference, **roles)
    if len(assigned.protected) != 1:
        raise ColumnError(
            f"protected={list(assigned.protected)!r}: expected one column; monitor each on its own"
        )
    if assigned.protected[0] not in assigned.designated:
        raise GroupError(
            "reference: name the group that the others are compared with; a monitor cannot take "
            "the highest rate, because the choice has to be made before the outcomes are seen"
        )
    return assigned


def count_groups(table: Table, roles: Roles, *, batch: str | None = None) -> Counts:
    """Count the rows of each group and outcome, in each batch."""
    prepared = prepare(table, roles)
    if roles.weights:
        prepared = prepared.with_numbers(roles.weights, "persons")
    keys = [*roles.protected, str(roles.outcome)]
    if batch is not None:
        prepared = prepared.with_missing([batch], roles.unknown)
        keys.append(batch)
    counts = count_whole_persons(prepared, keys, persons=roles.weights)
    if batch is not None:
        return as_meant(counts, roles, table)
    # The same, but a token for "not known" need not occur in every batch of a log.
    for key in (name for name in roles.keys if name in counts.values):
        role: ValueRole = "outcome" if key == roles.outcome else "group"
        spellings = spellings_of(
            key, counts.rows_of(key), role=role, unknown=roles.unknown, reading=table.reading
        )
        counts = counts.respelled(key, spellings)
    return name_bands(counts, roles.bands)


def as_spelled(values: Iterable[Value], known: Iterable[str], *, exact: bool) -> tuple[str, ...]:
    """Return values as texts, spelled as one of the known texts that means the same.

    Examples
    --------
    >>> as_spelled(["female", "Other"], ["Female", "Male"], exact=False)
    ('Female', 'Other')
    """
    spelled = {} if exact else {folded(text): text for text in known}
    return tuple(spelled.get(folded(str(value)), str(value)) for value in values)


def batch_of(
    counts: Counts,
    roles: Roles,
    *,
    name: str,
    labels: Sequence[str],
    favorable: Sequence[Value],
    path: str | os.PathLike[str] | None = None,
) -> Batch:
    """Return the counts of one batch by group."""
    outcome = str(roles.outcome)
    has_outcome = counts.codes[outcome] != MISSING
    is_selected = favorable_cells(counts, outcome, favorable)
    codes = counts.codes[roles.protected[0]]

    def people(cells: Any) -> tuple[int, int]:
        return int(counts.rows[cells & is_selected].sum()), int(counts.rows[cells].sum())

    groups = {label: people(has_outcome & (codes == index)) for index, label in enumerate(labels)}
    return Batch(
        name=name,
        file=None if path is None else os.path.basename(path),  # noqa: PTH119
        sha256=None if path is None else Batch.hash_of(path),
        groups={label: pair for label, pair in groups.items() if pair[1]},
        unknown=people(has_outcome & (codes == MISSING)),
        outcome_missing=int(counts.rows[~has_outcome].sum()),
        outcome_values=tuple(str(value) for value in counts.values[outcome]),
    )


def favorable_in_batch(log: MonitorLog, values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the favorable values of a later batch, in which perhaps nobody has them."""
    names = (log.favorable,) if isinstance(log.favorable, str) else log.favorable
    known_values = {value for batch in log.batches for value in batch.outcome_values}
    spellings = {folded(name) for name in names}
    new_values = [
        value
        for value in values
        if str(value) not in known_values and folded(str(value)) not in spellings
    ]
    favorable = list[Value]()
    for name in names:
        meant = [value for value in values if folded(str(value)) == folded(name)]
        if not meant and not new_values:
            favorable.append(name)
        elif len(meant) == 1:
            favorable.append(meant[0])
        else:
            message = (
                f"favorable={name!r}: does not occur in the batch, and other values do that no "
                "earlier batch had; spell the outcome as before"
            )
            favorable.append(find_value(name, values, message=message, error=OutcomeError))
    return tuple(favorable)


def time_order(column: str, values: Sequence[Value]) -> list[int]:
    """Return the order of the batches in time.

    Texts must be alike but for their numbers, and the largest unit must come first.

    Examples
    --------
    >>> time_order("week", ["2026-W10", "2026-W9"])
    [1, 0]
    """
    if not values:
        raise ColumnError(f"batch={column!r}: every value is missing")
    if not all(isinstance(value, str) for value in values):
        # The values are sorted as numbers; dates of one kind sort as their texts do.
        return list(range(len(values)))
    try:
        return [int(index) for index in np.argsort([float(value) for value in values])]
    except ValueError:
        numbers = [[int(digits) for digits in re.findall(r"\d+", value)] for value in values]
    shapes = {re.sub(r"\d+", "0", value) for value in values}
    year_leads = all(len(row) < 2 or row[0] >= MIN_YEAR for row in numbers)
    if len(shapes) > 1 or not numbers[0] or not year_leads:
        raise ColumnError(
            f"batch={column!r}: the order in time of {listed(values, limit=3)} is not certain; "
            "write dates as 2026-08-10, weeks as 2026-W32, or number the batches"
        )
    return sorted(range(len(values)), key=lambda index: numbers[index])


def monitor_batches(log: MonitorLog, *, table: str, notes: Sequence[str] = ()) -> Monitor:
    """Weigh the evidence of all batches."""
    names = log.group_names
    if len(names) < 2:
        raise GroupError(f"{table}: only {listed(names)} occurs; expected at least two groups")
    selected, n = log.arrays()
    reference = names.index(log.reference)
    compared = [index for index in range(len(names)) if index != reference]
    counts = [(selected[index], n[index], selected[reference], n[reference]) for index in compared]
    alpha = 1 - log.confidence

    below = np.concatenate([log_evidence_below(*four, ratio=log.threshold) for four in counts])
    above = np.concatenate([log_evidence_above(*four, ratio=log.threshold) for four in counts])
    # What has been reached once stays reached: the guarantee holds for the running maximum.
    adjusted_below = np.maximum.accumulate(adjusted_log_evidence(below), axis=1)
    adjusted_above = np.maximum.accumulate(adjusted_log_evidence(above), axis=1)
    limits = [ratio_limits(*four, alpha=alpha / len(compared)) for four in counts]

    groups = tuple(
        monitored_group(
            names[index],
            counts[row],
            batches=[batch.name for batch in log.batches],
            limits=limits[row],
            below=below[row],
            above=above[row],
            adjusted_below=adjusted_below[row],
            adjusted_above=adjusted_above[row],
            enough=-math.log(alpha),
        )
        for row, index in enumerate(compared)
    )
    return Monitor(
        table=table,
        protected=log.protected,
        outcome=log.outcome,
        favorable=log.favorable,
        reference=log.reference,
        threshold=log.threshold,
        confidence=log.confidence,
        batches=tuple(batch.name for batch in log.batches),
        groups=groups,
        assumptions=ASSUMPTIONS,
        notes=(*notes, *log.notes()),
    )


def monitored_group(
    group: str,
    counts: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    *,
    batches: Sequence[str],
    limits: tuple[FloatArray, FloatArray],
    below: FloatArray,
    above: FloatArray,
    adjusted_below: FloatArray,
    adjusted_above: FloatArray,
    enough: float,
) -> MonitoredGroup:
    """Return what is known of a group after each batch and after all."""
    sums = [np.cumsum(column) for column in counts]
    rate = sums[0] / np.maximum(sums[1], 1)
    rate_reference = sums[2] / np.maximum(sums[3], 1)
    is_defined = (sums[1] > 0) & (sums[2] > 0)
    ratio = np.where(is_defined, rate / np.where(is_defined, rate_reference, 1), math.nan)
    lower, upper = limits[0], np.where(np.isinf(limits[1]), math.nan, limits[1])
    looks = tuple(
        Look(
            batch=name,
            selected=int(counts[0][index]),
            n=int(counts[1][index]),
            selected_reference=int(counts[2][index]),
            n_reference=int(counts[3][index]),
            impact_ratio=float(ratio[index]),
            evidence_below=math.exp(min(below[index], LARGEST_LOG)),
            evidence_above=math.exp(min(above[index], LARGEST_LOG)),
            ratio_interval=(float(lower[index]), float(upper[index])),
        )
        for index, name in enumerate(batches)
    )

    def since(adjusted: FloatArray) -> str | None:
        # An e-value of exactly 1 / alpha is enough; the logarithm may be off in the last digit.
        reached = adjusted >= enough - 1e-12
        return batches[int(np.argmax(reached))] if reached.any() else None

    below_since, above_since = since(adjusted_below), since(adjusted_above)
    finding: Finding = "inconclusive"
    if below_since is not None and above_since is not None:
        finding = "below and above"
    elif below_since is not None or above_since is not None:
        finding = "below" if above_since is None else "above"
    last = looks[-1]
    return MonitoredGroup(
        group=group,
        selected=int(sums[0][-1]),
        n=int(sums[1][-1]),
        selected_reference=int(sums[2][-1]),
        n_reference=int(sums[3][-1]),
        impact_ratio=last.impact_ratio,
        ratio_interval=last.ratio_interval,
        evidence_below=last.evidence_below,
        evidence_above=last.evidence_above,
        p_below=math.exp(-max(float(adjusted_below[-1]), 0.0)),
        p_above=math.exp(-max(float(adjusted_above[-1]), 0.0)),
        below_since=below_since,
        above_since=above_since,
        finding=finding,
        looks=looks,
    )
