"""`adjusted`: the disparity that is left beside controls, and how it differs from the plain one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, Interval
from fourfifths._impact.analyses.counted import check_persons, count_persons, with_meant_values
from fourfifths._results import Record, Result, attribute_or_group, entry_of, flat, plain
from fourfifths._stats.adjusted import AdjustedRates, adjusted_rates
from fourfifths._tables.counts import MISSING, Counts, check_one_row_per_person
from fourfifths._tables.groups import (
    Attribute,
    Roles,
    assign_roles,
    attributes,
    check_share,
    choose_favorable,
    choose_reference,
    favorable_cells,
    favorable_names,
)
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._text import in_rows, listed, rows_have
from fourfifths.errors import ColumnError, GroupError, OptionError, TableError

ControlKind = Literal["number", "category"]
# Fewer selected, or fewer not selected, than this for each parameter: estimates lean away from 0,
# and intervals are too narrow (Peduzzi and others 1996).
MIN_EVENTS_PER_PARAMETER = 10
MAX_PARAMETERS = 200
MAX_CELLS = 1_000_000
# A reference that is chosen by its rate has this share of the rows, and this many.
MIN_REFERENCE_SHARE, MIN_REFERENCE_ROWS = 0.02, 10
# Words in the names of controls that somebody in the organisation decides on.
DECIDED_WORDS = re.compile(
    r"(?i)rating|rated|apprais|review|evaluat|perform|title|grade|level|rank|salary|wage|pay\b|"
    r"bonus|score|potential|recommend|promot|assign|discipl"
)
TAINTED = (
    "a control that the decision maker influences (a rating, a title, an assignment, pay) may "
    "itself carry the disparity; adjusting for such a tainted variable hides it; control only for "
    "what was settled without the decision maker"
)


@dataclass(frozen=True, kw_only=True)
class Control:
    """A control of the regression.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
        A number enters as a straight line in the log odds; of a category, each value has a term.
    values : int
        Different values.
    missing : int
        Persons who have none, and are left out.
    """

    name: str
    kind: ControlKind
    values: int
    missing: int


@dataclass(frozen=True, kw_only=True)
class GroupAdjusted:
    """One group, unadjusted and adjusted, over the same persons.

    Attributes
    ----------
    group : str
    n, selected : int
        Persons in the regression.
    selection_rate : float
    unadjusted_difference, unadjusted_difference_interval, unadjusted_ratio, \
unadjusted_ratio_interval
        Of the selection rates: of the group minus, or over, that of the reference.
    adjusted_rate, adjusted_rate_interval
        The mean fitted probability if everyone belonged to the group, with their own controls.
    difference, difference_interval
        The average marginal effect: the adjusted rate minus that of the reference.
    ratio, ratio_interval
        The adjusted rate over that of the reference.
    odds_ratio, odds_ratio_interval, p
        Of the regression: at equal controls, with the p-value that it is 1 (Wald).
    why : str
        The reason where the group could not be in the regression.
    """

    group: str
    n: int
    selected: int
    selection_rate: float
    unadjusted_difference: float
    unadjusted_difference_interval: Interval
    unadjusted_ratio: float
    unadjusted_ratio_interval: Interval
    adjusted_rate: float
    adjusted_rate_interval: Interval
    difference: float
    difference_interval: Interval
    ratio: float
    ratio_interval: Interval
    odds_ratio: float
    odds_ratio_interval: Interval
    p: float
    why: str


@dataclass(frozen=True, kw_only=True, repr=False)
class AttributeAdjusted(Result):
    """The groups of one protected column, or of several jointly.

    Attributes
    ----------
    name : str
    protected : tuple of str
    reference : str
    rows : int
        Persons in the regression.
    unknown : int
        Persons of unknown membership, who are left out.
    parameters : int
        Coefficients of the regression, with the constant.
    events_per_parameter : float
        The selected or the others, whichever are fewer, per coefficient.
    confidence : float
    groups : tuple of GroupAdjusted
    """

    name: str
    protected: tuple[str, ...]
    reference: str
    rows: int
    unknown: int
    parameters: int
    events_per_parameter: float
    confidence: float
    groups: tuple[GroupAdjusted, ...]

    def __getitem__(self, group: object) -> GroupAdjusted:
        """Return a group by its name or value; a joint group also by the tuple of its values."""
        return entry_of({entry.group: entry for entry in self.groups}, group, "group")

    def to_records(self) -> list[Record]:
        """Return one flat record per group."""
        return [{"attribute": self.name, **flat(plain(group))} for group in self.groups]


@dataclass(frozen=True, kw_only=True, repr=False)
class Adjusted(Result):
    """The disparity beside controls.

    Attributes
    ----------
    table : str
    rows : int
        Persons in the table.
    outcome : str
    favorable : str or tuple of str
    outcome_missing : int
        Persons without an outcome, who are left out.
    controls_missing : int
        Persons with an outcome who lack a control, and are left out.
    controls : tuple of Control
    confidence : float
        The confidence level of the intervals.
    attributes : tuple of AttributeAdjusted
    notes : tuple of str
        What a reader must know besides the figures.
    """

    _schema: ClassVar[str | None] = "fourfifths/adjusted/1"

    table: str
    rows: int
    outcome: str
    favorable: str | tuple[str, ...]
    outcome_missing: int
    controls_missing: int
    controls: tuple[Control, ...]
    confidence: float
    attributes: tuple[AttributeAdjusted, ...]
    notes: tuple[str, ...]

    def __getitem__(self, key: object) -> Any:
        """Return a protected attribute by name or, if there is only one, a group of it."""
        return attribute_or_group(self.attributes, key)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/adjusted.schema.json describes it."""
        lists = {name: list(map(plain, getattr(self, name))) for name in ("controls", "attributes")}
        return super().to_dict() | lists | {"notes": list(self.notes)}

    def to_records(self) -> list[Record]:
        """Return one flat record per attribute and group."""
        return [record for attribute in self.attributes for record in attribute.to_records()]


def adjusted(
    table: TableLike,
    *,
    controls: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    persons: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float = 0.95,
) -> Adjusted:
    """Measure the disparity beside controls, by a logistic regression of the outcome.

    The log odds of being selected are a constant, plus a term for the group, plus the controls.
    Groups are compared by their adjusted rates: the mean fitted probability if everyone belonged to
    the group and kept their own controls.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`.
    controls : str or sequence of str
        The columns to adjust for. A column of numbers enters as a straight line in the log odds; of
        any other column, each value has a term.
    categories : str or sequence of str
        Further controls that are categories although they may hold numbers, like codes of jobs.
    protected : str or sequence of str
        The protected columns. Several are measured each alone, every two jointly, and all jointly.
    outcome, favorable
        As for `impact`.
    reference : value or mapping of column to value, optional
        The reference group. Without it, the group with the highest rate, of those with at least 10
        rows and 2% of all.
    persons : str, optional
        For an aggregated table: the column that says how many persons a row stands for.
    bands, ages, unknown, confidence
        As for `impact`.

    Returns
    -------
    Adjusted
        With one protected column, `result[group]` is the `GroupAdjusted` of a group.

    Raises
    ------
    ColumnError
        If a control follows from the group and the other controls, or decides the outcome alone.

    Notes
    -----
    Persons without an outcome, a group or a control are left out and counted. The unadjusted
    figures are of the same persons. Intervals are by the delta method and take the controls as they
    are.

    Examples
    --------
    Admissions to Berkeley in 1973, women and men, in two of six departments (Bickel, Hammel and
    O'Connell 1975):

    >>> import fourfifths, pandas as pd
    >>> berkeley = pd.DataFrame({
    ...     "sex": ["F", "F", "M", "M"] * 2,
    ...     "admitted": ["yes", "no"] * 4,
    ...     "department": ["A"] * 4 + ["C"] * 4,
    ...     "people": [89, 19, 512, 313, 202, 391, 120, 205],
    ... })
    >>> result = fourfifths.adjusted(
    ...     berkeley, protected="sex", outcome="admitted", controls="department", persons="people",
    ...     reference="M",
    ... )
    >>> round(result["F"].unadjusted_ratio, 2), round(result["F"].ratio, 2)
    (0.76, 1.09)
    """
    names, category_names = (
        (argument,) if isinstance(argument, str) else tuple(argument)
        for argument in (controls, categories)
    )
    check_names(names, category_names)
    confidence = check_share("confidence", confidence, "[0.5, 1)")

    opened = open_table(table).without_empty_rows()
    check_persons(opened, persons, protected=protected)
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        weights=persons,
        bands=bands,
        ages=ages,
        unknown=unknown,
    )
    with_numbers, kinds = read_controls(opened, names, category_names, roles=roles)
    counts = count_controls(with_numbers, kinds, roles=roles, opened=opened)
    if persons is None:
        check_one_row_per_person(opened, counts, [*roles.protected, str(roles.outcome), *kinds])
    outcome_column = str(roles.outcome)
    favorable_values = choose_favorable(
        outcome_column, roles.favorable, counts.values[outcome_column]
    )
    has_outcome = counts.codes[outcome_column] != MISSING
    has_controls = np.all([counts.codes[name] != MISSING for name in kinds], axis=0)
    if not np.any(has_outcome & has_controls):
        raise TableError(
            f"controls={list(kinds)!r}: no row has an outcome and all of them; leave out a control "
            "that is often missing"
        )
    selected = favorable_cells(counts, outcome_column, favorable_values)

    measured = tuple(
        adjust_attribute(
            attribute,
            counts,
            selected=selected,
            is_complete=has_outcome & has_controls,
            kinds=kinds,
            categories=category_names,
            roles=roles,
            confidence=float(confidence),
        )
        for attribute in attributes(counts, roles.protected)
    )
    described = tuple(
        Control(
            name=name,
            kind=kind,
            values=len(counts.values[name]),
            missing=int(counts.rows[counts.codes[name] == MISSING].sum()),
        )
        for name, kind in kinds.items()
    )
    outcome_missing = int(counts.rows[~has_outcome].sum())
    controls_missing = int(counts.rows[has_outcome & ~has_controls].sum())
    return Adjusted(
        table=opened.name,
        rows=int(counts.rows.sum()),
        outcome=outcome_column,
        favorable=favorable_names(favorable_values),
        outcome_missing=outcome_missing,
        controls_missing=controls_missing,
        controls=described,
        confidence=float(confidence),
        attributes=measured,
        notes=(
            *adjusted_notes(
                measured,
                described,
                outcome=outcome_column,
                outcome_missing=outcome_missing,
                controls_missing=controls_missing,
            ),
            *counts.notes,
        ),
    )


def check_names(controls: Sequence[str], categories: Sequence[str]) -> None:
    """Raise if no control is named, or if one is named twice."""
    names = [*controls, *categories]
    if not names:
        raise OptionError(
            "controls: name at least one column to adjust for; without controls it is an audit"
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise OptionError(f"controls={twice[0]!r}: was named twice; name each control once")


def read_controls(
    table: Table, controls: Sequence[str], categories: Sequence[str], *, roles: Roles
) -> tuple[Table, dict[str, ControlKind]]:
    """Return the table with controls as numbers that hold numbers, and what each control is.

    Raise if one can be neither a number nor a category.
    """
    kinds = dict[str, ControlKind]()
    for argument, names in (("controls", controls), ("categories", categories)):
        for name in names:
            dtype = table.dtype(table.column(name, argument))
            if name in (*roles.protected, roles.outcome, roles.weights):
                raise ColumnError(
                    f"{argument}={name!r}: has another role; the same column cannot be both"
                )
            if dtype.is_nested() or dtype.is_temporal() or dtype == nw.Object:
                raise ColumnError(
                    f"{argument}={name!r}: expected numbers or categories, found {dtype}; make a "
                    "number of it first, like years until a day"
                )
            kinds[name] = "category"
            if argument == "controls":
                table, kinds[name] = table.with_inferred(name, argument, roles.unknown)
    return table, kinds


def count_controls(
    table: Table, kinds: Mapping[str, ControlKind], *, roles: Roles, opened: Table
) -> Counts:
    """Count the persons of each combination of groups, outcome and controls, in one pass.

    Those controls that are numbers are so in `table`, and as they came in `opened`.
    """
    counts = count_persons(
        table, [str(roles.outcome), *kinds], roles=roles, max_cells=MAX_CELLS, opened=opened
    )
    categories = [name for name, kind in kinds.items() if kind == "category"]
    return with_meant_values(counts, categories, roles=roles, table=opened).in_order()


def adjust_attribute(
    attribute: Attribute,
    counts: Counts,
    *,
    selected: BoolArray,
    is_complete: BoolArray,
    kinds: Mapping[str, ControlKind],
    categories: Sequence[str],
    roles: Roles,
    confidence: float,
) -> AttributeAdjusted:
    """Compare the groups of one attribute, without and with controls, over the same persons."""
    is_member = attribute.codes != MISSING
    unknown = int(counts.rows[is_complete & ~is_member].sum())
    is_used = is_complete & is_member
    group_count = len(attribute.groups)
    n, x = (
        np.bincount(attribute.codes[cells], weights=counts.rows[cells], minlength=group_count)
        for cells in (is_used, is_used & selected)
    )
    attribute = attribute.keep(n > 0)
    n, x = n[n > 0], x[n > 0]
    # A rate of 0 or 1 has infinite log odds.
    has_both = (x > 0) & (x < n)
    if has_both.sum() < 2:
        raise GroupError(
            f"protected={attribute.name!r}: fewer than two groups have both persons who were "
            "selected and others, among the rows with all controls; expected at least two"
        )
    is_large = has_both & (n >= MIN_REFERENCE_SHARE * n.sum()) & (n >= MIN_REFERENCE_ROWS)
    candidates = is_large if np.any(is_large) else has_both
    reference = choose_reference(
        attribute.protected,
        attribute.groups,
        designated=roles.designated,
        rates=np.where(candidates, x / n, np.nan),
        otherwise="highest rate",
    )
    labels = attribute.labels
    if not has_both[reference]:
        extent = "no one" if x[reference] == 0 else "everyone"
        raise GroupError(
            f"reference={labels[reference]!r}: {extent} of the reference group was selected, so "
            "that there is nothing to compare with in a logistic regression; name another"
        )

    estimated = np.flatnonzero(has_both)
    kept = attribute.keep(has_both)
    cells = is_used & (kept.codes != MISSING)
    persons = counts.rows[cells]
    successes = np.where(selected[cells], persons, 0.0)
    design, terms = control_columns(
        counts, kinds, categories=categories, cells=cells, selected=selected[cells]
    )
    parameters = len(estimated) + design.shape[1]
    events = min(successes.sum(), persons.sum() - successes.sum())
    check_parameters(parameters, events, terms)
    figures = {
        "groups": kept.codes[cells],
        "selected": successes,
        "n": persons,
        "reference": int(np.flatnonzero(estimated == reference)[0]),
        "confidence": confidence,
    }
    without = adjusted_rates(controls=np.empty((persons.size, 0)), **figures)
    beside = adjusted_rates(controls=design, **figures)
    check_fit(beside, terms, group_count=len(estimated), attribute=attribute)

    position = {int(group): index for index, group in enumerate(estimated)}
    return AttributeAdjusted(
        name=attribute.name,
        protected=attribute.protected,
        reference=labels[reference],
        rows=int(persons.sum()),
        unknown=unknown,
        parameters=parameters,
        events_per_parameter=float(events / parameters),
        confidence=confidence,
        groups=tuple(
            group_figures(
                label,
                n=int(n[group]),
                selected=int(x[group]),
                without=without,
                beside=beside,
                index=position.get(group),
                is_reference=group == reference,
            )
            for group, label in enumerate(labels)
        ),
    )


def group_figures(
    label: str,
    *,
    n: int,
    selected: int,
    without: AdjustedRates,
    beside: AdjustedRates,
    index: int | None,
    is_reference: bool,
) -> GroupAdjusted:
    """Return the figures of one group; `index` is its number in the regression, if it is there."""

    def figure(figures: FloatArray) -> float:
        return float("nan") if index is None else float(figures[index])

    def limits(figures: FloatArray) -> Interval:
        nan = float("nan")
        return (nan, nan) if index is None else (float(figures[index][0]), float(figures[index][1]))

    why = "this is the reference group" if is_reference else ""
    if index is None:
        extent = "no one" if selected == 0 else "everyone"
        why = f"{extent} of the group was selected: a logistic regression has no estimate of that"
    return GroupAdjusted(
        group=label,
        n=n,
        selected=selected,
        selection_rate=selected / n,
        unadjusted_difference=figure(without.difference),
        unadjusted_difference_interval=limits(without.difference_interval),
        unadjusted_ratio=figure(without.ratio),
        unadjusted_ratio_interval=limits(without.ratio_interval),
        adjusted_rate=figure(beside.rate),
        adjusted_rate_interval=limits(beside.rate_interval),
        difference=figure(beside.difference),
        difference_interval=limits(beside.difference_interval),
        ratio=figure(beside.ratio),
        ratio_interval=limits(beside.ratio_interval),
        odds_ratio=figure(beside.odds_ratio),
        odds_ratio_interval=limits(beside.odds_ratio_interval),
        p=figure(beside.p),
        why=why,
    )


def control_columns(
    counts: Counts,
    kinds: Mapping[str, ControlKind],
    *,
    categories: Sequence[str],
    cells: BoolArray,
    selected: BoolArray,
) -> tuple[FloatArray, list[tuple[str, str]]]:
    """Return the columns of the controls, and for each the control and, of a category, the value.

    Numbers are measured from their mean, in standard deviations: that changes no rate, and loses
    no digits. The most frequent value of a category has no column.
    """
    persons = counts.rows[cells]
    columns, terms = list[FloatArray](), list[tuple[str, str]]()
    for name, kind in kinds.items():
        argument = "categories" if name in categories else "controls"
        codes = counts.codes[name][cells]
        sizes = np.bincount(codes, weights=persons, minlength=len(counts.values[name]))
        if np.sum(sizes > 0) < 2:
            raise ColumnError(
                f"{argument}={name!r}: holds one value only in the rows that are compared; "
                "leave it out"
            )
        if kind == "number":
            numbers = np.array(counts.values[name], dtype=np.float64)[codes]
            mean = np.average(numbers, weights=persons)
            deviation = np.sqrt(np.average((numbers - mean) ** 2, weights=persons))
            columns.append((numbers - mean) / deviation)
            terms.append((name, ""))
            continue
        successes = np.bincount(codes, weights=persons * selected, minlength=sizes.size)
        for value, size, chosen in zip(counts.values[name], sizes, successes, strict=True):
            if size > 0 and chosen in (0, size):
                extent = "no one" if chosen == 0 else "everyone"
                raise ColumnError(
                    f"{argument}={name!r}: {extent} with {str(value)!r} was selected "
                    f"({in_rows(size)}), so that a logistic regression has no estimate of it; "
                    "put the value together with another, or leave these rows out with "
                    f"unknown=[{str(value)!r}]"
                )
        compared = [code for code in np.flatnonzero(sizes > 0) if code != int(np.argmax(sizes))]
        if len(compared) >= MAX_PARAMETERS:
            raise ColumnError(
                f"{argument}={name!r}: a category with {len(compared) + 1:,} values; expected at "
                f"most {MAX_PARAMETERS}; put values together, or leave it out"
            )
        columns += [(codes == code).astype(np.float64) for code in compared]
        terms += [(name, str(counts.values[name][code])) for code in compared]
    return np.column_stack(columns), terms


def check_parameters(parameters: int, events: float, terms: Sequence[tuple[str, str]]) -> None:
    """Raise if there are more coefficients than these numbers of persons can support."""
    if events >= parameters:
        return
    most = max(dict.fromkeys(name for name, _ in terms), key=[name for name, _ in terms].count)
    raise ColumnError(
        f"controls={most!r}: the regression has {parameters} coefficients, but only "
        f"{int(events):,} persons were selected, or were not; expected "
        f"{MIN_EVENTS_PER_PARAMETER} for each coefficient; leave controls out, or put values "
        "together"
    )


def check_fit(
    rates: AdjustedRates,
    terms: Sequence[tuple[str, str]],
    *,
    group_count: int,
    attribute: Attribute,
) -> None:
    """Raise if the regression has no estimates, and name the control that is the reason."""
    fit = rates.fit
    if fit.problem == "none":
        return
    # The constant and the groups come before the controls.
    name, value = terms[max(fit.column - group_count, 0)]
    named = f"{name!r}" + (f" ({value!r})" if value else "")
    if fit.problem == "collinear":
        raise ColumnError(
            f"controls={name!r}: {named} follows from {attribute.name} and the controls before it "
            "(they are collinear), so that their parts cannot be told apart; leave one of them out"
        )
    raise ColumnError(
        f"controls={name!r}: the controls and {attribute.name} together say for certain who was "
        f"selected in a part of the rows (separation; {named} moves most), so that the regression "
        "has no finite estimate; leave a control out, or put values together"
    )


def adjusted_notes(
    measured: Sequence[AttributeAdjusted],
    controls: Sequence[Control],
    *,
    outcome: str,
    outcome_missing: int,
    controls_missing: int,
) -> Iterator[str]:
    """Yield what a reader must know, the warning about tainted variables first."""
    decided = [control.name for control in controls if DECIDED_WORDS.search(control.name)]
    yield TAINTED + (
        f"; by its name, look at {listed(decided)} first, as the decision maker may have set it"
        if decided
        else ""
    )
    if outcome_missing:
        yield f"{rows_have(outcome_missing)} no {outcome} and were left out"
    if controls_missing:
        lacking = ", ".join(
            f"{control.name} {control.missing:,}" for control in controls if control.missing
        )
        yield (
            f"{rows_have(controls_missing)} an outcome but no value of a control and were left "
            f"out, also of the unadjusted figures (missing in the table: {lacking})"
        )
    for attribute in measured:
        if attribute.unknown:
            yield f"{rows_have(attribute.unknown)} no known {attribute.name} and were left out"
        for group in attribute.groups:
            if group.why and group.group != attribute.reference:
                yield f"{attribute.name}: {group.group} is not in the regression: {group.why}"
        if attribute.events_per_parameter < MIN_EVENTS_PER_PARAMETER:
            yield (
                f"{attribute.name}: {attribute.events_per_parameter:.1f} persons were selected, or "
                f"were not, for each of {attribute.parameters} coefficients; below "
                f"{MIN_EVENTS_PER_PARAMETER} the estimates lean to the extremes and the intervals "
                "are too narrow; use fewer controls"
            )
    numbers = [control.name for control in controls if control.kind == "number"]
    if numbers:
        yield (
            f"{listed(numbers)}: taken as numbers, each with a straight line in the log odds; if a "
            f"number is a code, give categories={[numbers[0]]!r}"
        )
