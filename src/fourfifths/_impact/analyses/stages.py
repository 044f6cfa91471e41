"""`stages`: the impact of each step of a selection, and of the whole: component and bottom line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar, Literal, get_args

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, IntArray
from fourfifths._impact.analyses.counted import (
    NOT_SELECTED_CODE,
    SELECTED_CODE,
    check_persons,
    count_persons,
    counted_impact,
    merged_notes,
    with_meant_values,
)
from fourfifths._impact.impact import get_rule
from fourfifths._impact.profiles import DEFAULT_RULE, RuleName
from fourfifths._impact.result import Impact
from fourfifths._impact.rules import Rule
from fourfifths._results import Record, Result, entry_of
from fourfifths._tables.counts import MISSING, Counts, WeightKind
from fourfifths._tables.groups import (
    PLAIN_ANSWERS,
    PLAIN_PAIRS,
    Roles,
    assign_roles,
    check_choice,
    check_share,
    protected_columns,
    unfavorable_words,
)
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._tables.values import folded, is_text
from fourfifths._text import in_rows, listed
from fourfifths.errors import ColumnError, GroupError, OptionError, TableError

BlankMeans = Literal["missing", "not reached"]
Skips = Literal["error", "allow"]
ALL_ROWS = "all rows"
BOTTOM_LINE = "bottom line"
ANSWERS = (*PLAIN_ANSWERS, *PLAIN_PAIRS)
REACHED_WORDS = frozenset(yes for _, yes in ANSWERS)
NOT_REACHED_WORDS = frozenset(no for no, _ in ANSWERS)
# Year first, or a day and a month in digits and then the year; a time of day may follow.
DATE = r"^\s*(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})"
A_DATE = "a date"
# So many rows show whether a text column holds dates. The counting pass checks the rest.
PEEKED_ROWS = 1000


@dataclass(frozen=True, kw_only=True, repr=False)
class StageImpact(Result):
    """One step of a selection: who took it, of those who had reached the step before.

    Attributes
    ----------
    stage, after : str
        The stage that the step leads to, and the one before it ("all rows" for the first).
    pool, reached, missing : int
        Persons who had reached the stage before; of these, who reached this one; and how many have
        no recorded result.
    impact : Impact or None
        The comparison of the groups, without the persons of whom it is not known. None where it
        could not be made.
    why : str
        The reason where there is no comparison.
    """

    stage: str
    after: str
    pool: int
    reached: int
    missing: int
    impact: Impact | None
    why: str

    @property
    def title(self) -> str:
        """The step in words."""
        return f"{self.stage}, of {self.after}"

    def to_dict(self) -> dict[str, Any]:
        """Return the step, ready for JSON; of the impact what differs from step to step."""
        return {
            "stage": self.stage,
            "after": self.after,
            "pool": self.pool,
            "reached": self.reached,
            "missing": self.missing,
            "attributes": [attribute.to_dict() for attribute in self.impact or ()],
            "why": self.why,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Stages(Result):
    """Every step of a selection, and the bottom line.

    Attributes
    ----------
    rule : Rule
    table : str
    rows : int
        Persons in the table.
    confidence : float
        The confidence level of the intervals.
    steps : tuple of StageImpact
        In the order of the selection.
    bottom_line : StageImpact
        The last stage, of all rows.
    skipped : int
        Persons who reached a stage without an earlier one; they count as having reached it.
    notes : tuple of str
        What a reader must know besides the figures.
    """

    _schema: ClassVar[str | None] = "fourfifths/stages/1"

    rule: Rule
    table: str
    rows: int
    confidence: float
    steps: tuple[StageImpact, ...]
    bottom_line: StageImpact
    skipped: int
    notes: tuple[str, ...]

    @property
    def parts(self) -> tuple[StageImpact, ...]:
        """The steps, and then the bottom line."""
        return (*self.steps, self.bottom_line)

    def __getitem__(self, stage: object) -> Any:
        """Return the `Impact` of the step to a stage, or of the "bottom line".

        Raises
        ------
        KeyError
            If there is no such stage, or no comparison could be made at it.
        """
        named = {step.stage: step for step in self.steps} | {BOTTOM_LINE: self.bottom_line}
        step = entry_of(named, stage, "stage")
        if step.impact is None:
            raise KeyError(f"{stage!r} has no comparison: {step.why}")
        return step.impact

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/stages.schema.json describes it."""
        return {
            "schema": self._schema,
            "rule": self.rule.name,
            "rule_profile": self.rule.to_dict(),
            "table": self.table,
            "rows": self.rows,
            "confidence": self.confidence,
            "steps": [step.to_dict() for step in self.steps],
            "bottom_line": self.bottom_line.to_dict(),
            "skipped": self.skipped,
            "notes": list(self.notes),
        }

    def to_records(self) -> list[Record]:
        """Return one flat record per step and group, the bottom line last."""
        return [
            {"step": name, "stage": step.stage, "after": step.after, **record}
            for name, step in (
                *((step.stage, step) for step in self.steps),
                (BOTTOM_LINE, self.bottom_line),
            )
            if step.impact is not None
            for record in step.impact.to_records()
        ]


def stages(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    stages: str | Sequence[str] = (),
    stage_column: str | None = None,
    order: Sequence[str] = (),
    blank: BlankMeans = "missing",
    skips: Skips = "error",
    reference: Any = None,
    rule: RuleName | Rule = DEFAULT_RULE,
    persons: str | None = None,
    weights: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float = 0.95,
) -> Stages:
    """Measure each step of a selection, and the bottom line.

    A step compares, of those who reached the stage before, how many of each group went on. The
    bottom line compares how many of all rows reached the last stage.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`; one row per person who took part.
    protected : str or sequence of str
        The protected columns. Several are measured each alone, every two jointly, and all jointly.
    stages : sequence of str
        One column per stage, in the order of the selection. Each holds yes and no (or 1 and 0, true
        and false, passed and failed), or dates: a date means that the stage was reached.
    stage_column : str, optional
        Instead of `stages`: the column that holds the last stage that a person reached.
    order : sequence of str
        The values of `stage_column`, from the stage where everyone starts to the last. Case and
        surrounding spaces do not matter.
    blank : {"missing", "not reached"}
        What a blank means in a column of yes and no, for someone who reached the stage before.
        "missing": it is not known; the person is left out of the step and counted. A blank after a
        stage that was not reached is never missing, nor is a blank among dates.
    skips : {"error", "allow"}
        What to do about persons who reached a stage without an earlier one. "allow": they count as
        having reached the earlier one, and a note says how many.
    reference : value or mapping of column to value, optional
        The reference group, at every step. Without it, a rule that compares with the highest rate
        takes the group that has it at the step in question, and any other rule raises an error.
    rule : str or Rule
        The name of one of `fourfifths.RULES`, or a rule of your own.
    persons : str, optional
        For an aggregated table: the column that says how many persons a row stands for.
    weights : str, optional
        A column of sampling weights, 0 or more: a row represents others like it. Rates are
        weighted, and tests use effective sample sizes, as those of `impact` do.
    bands, ages, unknown, confidence
        As for `impact`.

    Returns
    -------
    Stages
        `result[stage]` is the `Impact` of the step to a stage, `result["bottom line"]` that of all.

    Notes
    -----
    Under Connecticut v. Teal, 457 U.S. 440 (1982), a bottom line without adverse impact is no
    defence for a step that has it. 29 CFR 1607.4(C) asks for the steps if the bottom line has it.

    Examples
    --------
    Connecticut v. Teal: 26 of 48 black and 206 of 259 white candidates passed the examination; 11
    and 35 were promoted.

    >>> import fourfifths, pandas as pd
    >>> teal = pd.DataFrame({
    ...     "race": ["Black"] * 3 + ["White"] * 3,
    ...     "passed": ["yes", "yes", "no"] * 2,
    ...     "promoted": ["yes", "no", None] * 2,
    ...     "n": [11, 15, 22, 35, 171, 53],
    ... })
    >>> result = fourfifths.stages(
    ...     teal, protected="race", stages=["passed", "promoted"], reference="White", persons="n"
    ... )
    >>> round(result["passed"]["Black"].impact_ratio, 3)
    0.681
    >>> round(result["bottom line"]["Black"].impact_ratio, 3)
    1.696
    """
    profile = get_rule(rule)
    names = check_stages(stages, stage_column=stage_column, order=order)
    for argument, value, choices in (
        ("blank", blank, get_args(BlankMeans)),
        ("skips", skips, get_args(Skips)),
    ):
        check_choice(argument, value, choices)
    confidence = check_share("confidence", confidence, "[0.5, 1)")
    if persons is not None and weights is not None:
        raise OptionError(
            f"persons={persons!r}, weights={weights!r}: give one of them; a number says how many "
            "persons a row stands for (persons=), or how much a sampled row counts (weights=)"
        )

    opened = open_table(table).without_empty_rows()
    check_persons(opened, persons, protected=protected)
    if weights in protected_columns(opened, protected):
        raise ColumnError(f"weights={weights!r}: is protected, too; the same column cannot be both")
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=None,
        favorable=None,
        reference=reference,
        weights=persons if weights is None else weights,
        bands=bands,
        ages=ages,
        unknown=unknown,
        outcome_is="optional",
    )
    roles = replace(roles, outcome=None)
    columns = names if stage_column is None else (stage_column,)
    argument = "stages" if stage_column is None else "stage_column"
    check_columns(opened, columns, roles=roles, argument=argument)
    counts = count_stages(
        opened, columns, roles=roles, weights_are="counts" if weights is None else "sampling"
    )

    if stage_column is None:
        states = np.stack([flag_states(name, counts, blank=blank) for name in names])
        start = ALL_ROWS
    else:
        states = status_states(stage_column, counts, order=order)
        start, names = order[0], tuple(order[1:])
    reached, skipped = reached_stages(states, counts, names=names, skips=skips)
    outcomes, last_outcome = step_outcomes(states, reached)
    if stage_column is None:
        check_blanks(outcomes, reached, states=states, counts=counts, names=names)

    def measure(stage: str, after: str, outcome: IntArray, pool: BoolArray) -> StageImpact:
        return compare_step(
            counts,
            outcome,
            pool=pool,
            stage=stage,
            after=after,
            is_of_all_rows=after == start,
            table=opened,
            roles=roles,
            rule=profile,
            confidence=confidence,
        )

    every_cell = np.ones(counts.rows.shape, dtype=bool)
    steps = tuple(
        measure(name, after, outcome, pool)
        for name, after, outcome, pool in zip(
            names, (start, *names), outcomes, (every_cell, *reached), strict=False
        )
    )
    bottom_line = measure(names[-1], start, last_outcome, every_cell)
    if bottom_line.impact is None:
        raise GroupError(bottom_line.why)
    return Stages(
        rule=profile,
        table=opened.name,
        rows=int(counts.rows.sum()),
        confidence=confidence,
        steps=steps,
        bottom_line=bottom_line,
        skipped=skipped,
        notes=(
            *counts.notes,
            *stage_notes(
                steps,
                bottom_line,
                rule=profile,
                roles=roles,
                skipped=skipped,
                is_weighted=weights is not None,
            ),
        ),
    )


def check_stages(
    stages: str | Sequence[str], *, stage_column: str | None, order: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the stages, or raise if they are not named in one of the two ways."""
    names = (stages,) if isinstance(stages, str) else tuple(stages)
    if stage_column is not None and names:
        raise OptionError(
            f"stages={list(names)!r}, stage_column={stage_column!r}: give one of them; a stage is "
            "a column of yes and no, or all are values of one column"
        )
    if stage_column is not None:
        names = tuple(order)
        different = {folded(str(name)) for name in names}
        if len(different) < max(len(names), 2) or isinstance(order, str):
            raise OptionError(
                f"order={order!r}: expected two or more different values of {stage_column!r}, from "
                "the stage where everyone starts to the last, as in order=['applied', 'hired']"
            )
        return names
    if order:
        raise OptionError(
            f"order={list(order)!r}: is for the values of one column; name it with stage_column="
        )
    if not names or len(set(names)) < len(names):
        raise OptionError(
            f"stages={list(names)!r}: name each stage once, in the order of the selection, as in "
            "stages=['interviewed', 'hired']; or name a column that holds the last stage that a "
            "person reached with stage_column="
        )
    return names


def check_columns(table: Table, columns: Sequence[str], *, roles: Roles, argument: str) -> None:
    """Raise if a column of stages does not exist, has another role, or holds no plain values."""
    for column in columns:
        kind = table.dtype(table.column(column, argument))
        if kind.is_nested():
            raise ColumnError(f"{argument}={column!r}: expected plain values, found {kind}")
        if column in (*roles.protected, roles.weights):
            raise ColumnError(
                f"{argument}={column!r}: is protected, or holds persons or weights, too; the same "
                "column cannot be both"
            )


def count_stages(
    table: Table, columns: Sequence[str], *, roles: Roles, weights_are: WeightKind
) -> Counts:
    """Count the persons of each combination of groups and stages, in one pass."""
    peeked = table.rows(
        table.frame.select(*(table.names[column] for column in columns)).head(PEEKED_ROWS)
    )
    for index, column in enumerate(columns):
        dtype, stage = table.dtype(column), table.col(column)
        if dtype.is_temporal():
            table = table.with_column(column, nw.when(~stage.is_null()).then(nw.lit(A_DATE)))
        elif is_text(dtype) and might_be_dates([record[index] for record in peeked]):
            text = stage.cast(nw.String())
            # What is not a date stays, so that an error can name it.
            marked = nw.when(text.str.contains(DATE)).then(nw.lit(A_DATE)).otherwise(text)
            table = table.with_column(column, marked)
    counts = count_persons(table, columns, roles=roles, weights_are=weights_are)
    return with_meant_values(counts, columns, roles=roles, table=table)


def might_be_dates(texts: Sequence[str | None]) -> bool:
    """Return whether there is a date among texts, or nothing that rules out that there is one."""
    present = [text for text in texts if text is not None and text.strip()]
    return not present or any(re.match(DATE, text) for text in present)


def flag_states(column: str, counts: Counts, *, blank: BlankMeans) -> IntArray:
    """Return for each cell whether a stage was reached, from a column of yes and no, or of dates.

    Returns
    -------
    int array
        `SELECTED_CODE`, `NOT_SELECTED_CODE` or `MISSING`.
    """
    values = counts.values[column]
    words = [folded(str(value)) for value in values]
    unexpected = [
        value
        for value, word in zip(values, words, strict=True)
        if word not in REACHED_WORDS | NOT_REACHED_WORDS and value != A_DATE
    ]
    if not values:
        raise ColumnError(f"stages={column!r}: every value is missing")
    if A_DATE in values and len(values) > 1:
        unexpected = [value for value in values if value != A_DATE]
        raise ColumnError(
            f"stages={column!r}: holds dates, and {listed(unexpected, limit=3)}; leave these cells "
            f"blank, or, if they mean that there is no date, give unknown=[{unexpected[0]!r}]"
        )
    if unexpected:
        raise ColumnError(
            f"stages={column!r}: holds {listed(unexpected, limit=3)}; expected yes and no (or 1 "
            "and 0, true and false, passed and failed), or dates; if one column holds the last "
            "stage that a person reached, name it with stage_column="
        )
    is_date = A_DATE in values
    bad_words = unfavorable_words(column)
    if bad_words and not is_date:
        raise ColumnError(
            f"stages={column!r}: {str(values[0])!r} may be bad for a person here, because of "
            f"{bad_words[0]!r} in the name; expected a column that says who went on"
        )
    code_states = [
        SELECTED_CODE if is_date or word in REACHED_WORDS else NOT_SELECTED_CODE for word in words
    ]
    blank_state = NOT_SELECTED_CODE if is_date or blank == "not reached" else MISSING
    return np.array([*code_states, blank_state], dtype=np.int64)[counts.codes[column]]


def status_states(column: str, counts: Counts, *, order: Sequence[str]) -> IntArray:
    """Return for each stage after the first, and each cell, whether it was reached.

    The column holds the last stage that a person reached; where it is blank, nothing is known.
    """
    values = counts.values[column]
    # A name that never occurs is a stage at which no one stopped.
    step_of = {folded(str(name)): step for step, name in enumerate(order)}
    steps = [step_of.get(folded(str(value))) for value in values]
    unexpected = [value for value, step in zip(values, steps, strict=True) if step is None]
    if unexpected:
        is_other = np.isin(counts.codes[column], [values.index(value) for value in unexpected])
        raise ColumnError(
            f"stage_column={column!r}: {int(counts.rows[is_other].sum()):,} rows hold "
            f"{listed(unexpected, limit=3)}, which is not in order={list(map(str, order))!r}; add "
            "it where it belongs, or, if it does not say which stage was reached, give "
            f"unknown=[{unexpected[0]!r}]"
        )
    last_step = np.array([*steps, MISSING], dtype=np.int64)[counts.codes[column]]
    stage = np.arange(1, len(order))[:, None]
    states = np.where(last_step >= stage, SELECTED_CODE, NOT_SELECTED_CODE)
    return np.where(last_step == MISSING, MISSING, states)


def reached_stages(
    states: IntArray, counts: Counts, *, names: Sequence[str], skips: Skips
) -> tuple[BoolArray, int]:
    """Return for each stage and cell whether it was reached, and how many skipped a stage.

    Whoever reached a later stage has reached the earlier ones.
    """
    reached = np.logical_or.accumulate((states == SELECTED_CODE)[::-1], axis=0)[::-1]
    is_skip = reached & (states != SELECTED_CODE)
    skipped = int(counts.rows[np.any(is_skip, axis=0)].sum())
    if skipped and skips == "error":
        earlier = int(np.argmax(is_skip @ counts.rows))
        cells = is_skip[earlier]
        later = next(
            stage
            for stage in range(earlier + 1, len(names))
            if np.any(cells & (states[stage] == SELECTED_CODE))
        )
        persons = in_rows(skipped)
        raise TableError(
            f"stages={list(names)!r}: {persons} reached a stage without an earlier one, like "
            f"{names[later]!r} without {names[earlier]!r}; correct them, name the stages in the "
            "order of the selection, or pass skips='allow', which counts them as having reached "
            "the earlier one"
        )
    return np.asarray(reached), skipped


def step_outcomes(states: IntArray, reached: BoolArray) -> tuple[IntArray, IntArray]:
    """Return for each cell the outcome of each step, and that of the whole.

    A step is not known where its stage is blank. The whole is known as soon as one stage was not
    reached, even if an earlier or a later one is blank.
    """
    outcomes = np.where(reached, SELECTED_CODE, states)
    is_known = np.any(~reached & (states == NOT_SELECTED_CODE), axis=0)
    last = np.where(reached[-1], SELECTED_CODE, np.where(is_known, NOT_SELECTED_CODE, MISSING))
    return outcomes, last


def check_blanks(
    outcomes: IntArray,
    reached: BoolArray,
    *,
    states: IntArray,
    counts: Counts,
    names: Sequence[str],
) -> None:
    """Raise if a column has no "no", so that its blanks may mean it."""
    pool = np.ones(counts.rows.shape, dtype=bool)
    for name, outcome, state, went_on in zip(names, outcomes, states, reached, strict=True):
        is_blank = pool & (outcome == MISSING)
        if np.any(is_blank) and not np.any(state == NOT_SELECTED_CODE):
            raise ColumnError(
                f"stages={name!r}: holds {listed(counts.values[name])} and "
                f"{int(counts.rows[is_blank].sum()):,} blanks for persons who reached the stage "
                "before; if a blank means that the stage was not reached, pass "
                "blank='not reached'; else write yes or no"
            )
        pool = went_on


def compare_step(
    counts: Counts,
    outcome: IntArray,
    *,
    pool: BoolArray,
    stage: str,
    after: str,
    is_of_all_rows: bool,
    table: Table,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> StageImpact:
    """Compare the groups at one step; `pool` marks who reached the stage before."""
    # Groups that are not in the pool stay in the counts, as nobody, so that a note names them.
    counts = replace(counts, rows=np.where(pool, counts.rows, 0.0))
    result, why = None, ""
    if not np.any(pool):
        why = f"no one reached {after}"
    elif not np.any(pool & (outcome != MISSING)):
        why = f"every {stage} is missing"
    else:
        try:
            result = counted_impact(
                counts,
                outcome,
                names=(stage, "reached", "not reached"),
                table=table,
                roles=roles,
                rule=rule,
                confidence=confidence,
            )
        except GroupError as error:
            # Too few groups may be left at a late step. Over all rows that is the user's error.
            if is_of_all_rows:
                raise
            why = str(error)
    return StageImpact(
        stage=stage,
        after=after,
        pool=int(counts.rows.sum()),
        reached=int(counts.rows[outcome == SELECTED_CODE].sum()),
        missing=int(counts.rows[outcome == MISSING].sum()),
        impact=result,
        why=why,
    )


def stage_notes(
    steps: Sequence[StageImpact],
    bottom_line: StageImpact,
    *,
    rule: Rule,
    roles: Roles,
    skipped: int,
    is_weighted: bool,
) -> tuple[str, ...]:
    """Return the notes of all steps, and how the steps are related."""
    notes = [
        f"{step.title}: not compared, because {step.why}" for step in steps if step.impact is None
    ]
    if is_weighted:
        notes.append(
            f"{roles.weights} is taken as sampling weights: rates are weighted, all numbers of "
            "persons are rows, tests use effective sample sizes (linearised variance), and there "
            "are no exact tests; if a weight is a number of persons, name it with persons="
        )
    if skipped:
        persons = in_rows(skipped)
        notes.append(
            f"{persons} reached a stage without an earlier one; they count as having reached the "
            "earlier one"
        )
    if rule.reference == "highest" and not all(
        column in roles.reference for column in roles.protected
    ):
        notes.append(
            "each step is compared with the group that has the highest rate at that step, which "
            "need not be the same group throughout; a group named with reference= is the "
            "reference at every step, and then the ratios of the steps multiply to that of the "
            "bottom line if nothing is missing"
        )
    step_notes = {step.title: step.impact.notes for step in steps if step.impact is not None}
    if bottom_line.impact is not None and len(steps) > 1:
        step_notes[BOTTOM_LINE] = bottom_line.impact.notes
    return (*notes, *merged_notes(step_notes))
