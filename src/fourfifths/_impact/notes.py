"""The notes of an audit: what a reader must know besides the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourfifths._impact.result import AttributeImpact
from fourfifths._impact.rules import REFERENCE, Rule
from fourfifths._tables.counts import MISSING, Counts, WeightKind
from fourfifths._tables.roles import Roles
from fourfifths.errors import listed

# Values, in lower case, that usually mean that membership is not known.
UNKNOWN_LOOKALIKES = {
    "",
    "?",
    "na",
    "n/a",
    "nan",
    "null",
    "none",
    "unknown",
    "not known",
    "missing",
    ".",
}


def impact_notes(
    measured: Sequence[AttributeImpact],
    counts: Counts,
    *,
    roles: Roles,
    rule: Rule,
    weights_are: WeightKind,
    outcome_missing: int,
) -> tuple[str, ...]:
    """Return the notes of an audit, the most important first.

    Parameters
    ----------
    measured : sequence of AttributeImpact
    counts : Counts
        Only cells with an outcome.
    roles : Roles
    rule : Rule
    weights_are : {"sampling", "counts"}
    outcome_missing : int
        Rows that were left out because they have no outcome.
    """
    notes = [
        *simpsons_paradox(measured, roles),
        *reference_not_highest(measured, roles, rule=rule),
        *outcome_notes(measured, counts, roles=roles, outcome_missing=outcome_missing),
        *unknown_notes(measured, counts, roles=roles),
    ]
    if roles.weights and weights_are == "sampling":
        notes.append(
            f"{roles.weights} is taken as sampling weights: rates are weighted, n and selected are "
            "rows, tests use the effective sample size, and there are no exact tests and no "
            "comparisons within a column; if a weight is a number of persons, pass "
            "weights_are='counts'"
        )
    comparison_count = sum(len(attribute.groups) - 1 for attribute in measured)
    if comparison_count > 1:
        notes.append(
            f"{comparison_count} comparisons were made; Holm's p is adjusted for all of them"
        )
    return tuple(notes)


def simpsons_paradox(measured: Sequence[AttributeImpact], roles: Roles) -> Iterator[str]:
    """Yield where the pooled rates and the strata point in opposite directions."""
    for attribute in measured:
        for group in attribute.groups:
            if group.stratified and group.stratified.reversal:
                yield (
                    f"Simpson's paradox: over all rows the ratio of {group.group} to "
                    f"{attribute.reference} is {group.impact_ratio:.3f}, but within {roles.within} "
                    f"the common odds ratio is {group.stratified.odds_ratio:.3f}, in the opposite "
                    "direction"
                )


def reference_not_highest(
    measured: Sequence[AttributeImpact], roles: Roles, *, rule: Rule
) -> Iterator[str]:
    """Yield where a rule that compares with the highest rate was given another reference."""
    if rule.reference != "highest":
        return
    for attribute in measured:
        highest = max(attribute.groups, key=lambda group: group.selection_rate)
        reference = next(group for group in attribute.groups if group.finding == REFERENCE)
        if highest.selection_rate > reference.selection_rate:
            if set(attribute.protected) <= set(roles.reference):
                reason = f"{attribute.reference} was designated"
            else:
                reason = f"{highest.group} is under {float(rule.minimum_share):.0%} of the rows"
            yield (
                f"{rule.name} compares with the highest rate, which is {highest.group}'s; here the "
                f"reference is {attribute.reference}, because {reason}"
            )


def outcome_notes(
    measured: Sequence[AttributeImpact], counts: Counts, *, roles: Roles, outcome_missing: int
) -> Iterator[str]:
    """Yield what the values of the outcome, and missing ones, do to the counts."""
    # The single columns come first in `measured`, the joint attribute last.
    for attribute, column in zip(measured, roles.protected, strict=False):
        compared_values = {group.values[column] for group in attribute.groups}
        left_out = [value for value in counts.values[column] if value not in compared_values]
        if left_out:
            yield f"no row of {column} = {listed(left_out)} has an outcome; it is not compared"
    value_count = len(counts.values[str(roles.outcome)])
    if value_count > 2:
        yield (
            f"{roles.outcome} has {value_count} values; the {value_count - 1} that are not "
            "favorable all count as not selected"
        )
    if outcome_missing:
        yield f"{_rows_have(outcome_missing)} no {roles.outcome} and could not be counted"


def unknown_notes(
    measured: Sequence[AttributeImpact], counts: Counts, *, roles: Roles
) -> Iterator[str]:
    """Yield how many rows have no known group or stratum, and values that may mean the same."""
    for attribute in measured:
        if attribute.unknown:
            yield (
                f"{_rows_have(attribute.unknown)} no known {attribute.name} "
                f"({attribute.unknown_selected:,} of them selected) and could not be assigned to a "
                "group; the bounds show how far this could change the ratios"
            )
    for column in roles.protected:
        lookalikes = [
            value
            for value in counts.values[column]
            if str(value).strip().lower() in UNKNOWN_LOOKALIKES
        ]
        if lookalikes:
            yield (
                f"{listed(lookalikes)} in {column} is counted as a group; if it means that "
                f"membership is not known, pass unknown=[{lookalikes[0]!r}]"
            )
    if roles.within:
        unknown = int(counts.rows[counts.codes[roles.within] == MISSING].sum())
        if unknown:
            yield f"{_rows_have(unknown)} no {roles.within} and could not be compared within it"


def _rows_have(row_count: int) -> str:
    return "1 row has" if row_count == 1 else f"{row_count:,} rows have"
