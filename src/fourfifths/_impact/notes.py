"""What a reader must know besides the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourfifths._impact.result import AttributeImpact
from fourfifths._impact.rules import Rule
from fourfifths._tables.counts import MISSING, Counts, WeightKind
from fourfifths._tables.roles import Roles
from fourfifths.errors import listed

LOOKS_UNKNOWN = {
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
    roles: Roles,
    rule: Rule,
    weights_are: WeightKind,
    outcome_missing: int,
) -> tuple[str, ...]:
    """Return the notes of an audit, in the order in which they matter."""
    return (
        *_reversals(measured, roles),
        *_references(measured, roles, rule),
        *_missing(measured, counts, roles, outcome_missing),
        *_weights(roles, weights_are),
        *_comparisons(measured),
    )


def _reversals(measured: Sequence[AttributeImpact], roles: Roles) -> Iterator[str]:
    for attribute in measured:
        for group in attribute.groups:
            within = group.stratified
            if within and within.reversal:
                yield (
                    f"Simpson's paradox: over all rows {group.group} has a ratio of "
                    f"{group.impact_ratio:.3f} to {attribute.reference}, but within {roles.within} "
                    f"the common odds ratio is {within.odds_ratio:.3f}, in the other direction"
                )


def _references(measured: Sequence[AttributeImpact], roles: Roles, rule: Rule) -> Iterator[str]:
    if rule.reference != "highest":
        return
    for attribute in measured:
        highest = max(attribute.groups, key=lambda group: group.selection_rate)
        if highest.selection_rate > attribute[attribute.reference].selection_rate:
            designated = set(attribute.protected) <= set(roles.reference)
            small = f"{highest.group} is under {float(rule.minimum_share):.0%} of the rows"
            why = f"{attribute.reference} was designated" if designated else small
            yield (
                f"{rule.name} compares with the highest rate, which is {highest.group}'s; here the "
                f"reference is {attribute.reference}, because {why}"
            )


def _missing(
    measured: Sequence[AttributeImpact], counts: Counts, roles: Roles, outcome_missing: int
) -> Iterator[str]:
    yield from _without_outcome(measured, counts, roles)
    others = len(counts.values[str(roles.outcome)]) - 1
    if others > 1:
        yield (
            f"{roles.outcome} has {others + 1} values; the {others} that are not favorable all "
            "count as not selected"
        )
    if outcome_missing:
        yield f"{outcome_missing:,} rows have no {roles.outcome} and are left out"
    for attribute in measured:
        if attribute.unknown:
            yield (
                f"{attribute.unknown:,} rows have no known {' & '.join(attribute.protected)} "
                f"({attribute.unknown_selected:,} of them selected); they are in no group, and the "
                "bounds show what they could change"
            )
    for column in roles.protected:
        odd = [
            value for value in counts.values[column] if str(value).strip().lower() in LOOKS_UNKNOWN
        ]
        if odd:
            yield (
                f"{listed(odd)} in {column} is counted as a group; if it means that membership is "
                f"not known, say unknown=[{odd[0]!r}], or --unknown '{odd[0]}' at the shell"
            )
    if roles.within:
        unknown = int(counts.rows[counts.codes[roles.within] == MISSING].sum())
        if unknown:
            yield f"{unknown:,} rows have no {roles.within} and are left out of the comparison within it"


def _without_outcome(
    measured: Sequence[AttributeImpact], counts: Counts, roles: Roles
) -> Iterator[str]:
    for attribute, column in zip(measured, roles.protected, strict=False):
        shown = {group.values[column] for group in attribute.groups}
        gone = [value for value in counts.values[column] if value not in shown]
        if gone:
            yield f"no row of {column} = {listed(gone)} has an outcome; it is not compared"


def _weights(roles: Roles, weights_are: WeightKind) -> Iterator[str]:
    if roles.weights and weights_are == "sampling":
        yield (
            f"{roles.weights} is taken as sampling weights: rates are weighted, n and selected are "
            "rows, tests use the effective sample size, and exact tests and comparisons within a column are left out; "
            "if each row is so many persons, say weights_are='counts', or --weights-are counts"
        )


def _comparisons(measured: Sequence[AttributeImpact]) -> Iterator[str]:
    made = sum(len(attribute.groups) - 1 for attribute in measured)
    if made > 1:
        yield f"{made} comparisons were made; Holm's p is adjusted for all of them"
