"""`fourfifths audit`."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourfifths._cli.options import (
    FAILED,
    Favorable,
    GroupingOptions,
    Outcome,
    OutputOptions,
    ReadingOptions,
    Reference,
    Source,
    reference_of,
)
from fourfifths._impact.profiles import DEFAULT_RULE
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    from fourfifths._impact.result import Impact


class WeightsAre(StrEnum):
    """What the weights are."""

    SAMPLING = "sampling"
    COUNTS = "counts"


class Pairs(StrEnum):
    """Which groups are compared with each other."""

    REFERENCE = "reference"
    ALL = "all"


class SmallGroups(StrEnum):
    """What nyc-ll144 does with groups of under 2% of the rows."""

    INCLUDE = "include"
    EXCLUDE = "exclude"


class MedianOf(StrEnum):
    """Which rows make the median of the scores."""

    ALL = "all"
    KNOWN = "known"


class FailOnFinding(StrEnum):
    """Which findings are a failure."""

    INDICATED = "indicated"
    INCONCLUSIVE = "inconclusive"


def audit(
    source: Source,
    *,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="A protected column; several are compared each alone, every two jointly, and all "
            "jointly.",
        ),
    ] = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    rule: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The rule that judges the figures; 'fourfifths rules' lists them.",
        ),
    ] = DEFAULT_RULE,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of weights, each 0 or more.")
    ] = None,
    weights_are: Annotated[
        WeightsAre,
        typer.Option(help="Sampling weights, or counts of persons in an aggregated table."),
    ] = WeightsAre.SAMPLING,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="n=COL,selected=COL",
            help="The table has one row per group: the columns of its numbers, instead of an "
            "outcome.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Compare the groups within each value of this column as well."
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of scores: nyc-ll144 counts scores above the median as selected, "
            "lending-air and nydfs-cl7 compare the means.",
        ),
    ] = None,
    median_of: Annotated[
        MedianOf,
        typer.Option(help="Take the median of all rows, or of rows whose group is known."),
    ] = MedianOf.ALL,
    grouping: GroupingOptions,
    pairs: Annotated[
        Pairs,
        typer.Option(help="Compare each group with the reference, or every two groups as well."),
    ] = Pairs.REFERENCE,
    total_minority: Annotated[
        bool | None,
        typer.Option(
            "--total-minority/--no-total-minority",
            help="Whether all groups but the reference are compared with it as one, too.  "
            "[default: as the rule says; ofccp does]",
        ),
    ] = None,
    small_groups: Annotated[
        SmallGroups | None,
        typer.Option(
            help="Under nyc-ll144: whether groups of under 2% of the rows are in the ratios.  "
            "[default: include]",
        ),
    ] = None,
    reading: ReadingOptions,
    output: OutputOptions,
    fail_on: Annotated[
        FailOnFinding | None,
        typer.Option(
            help="End with exit code 3 if adverse impact is indicated; inconclusive: also if "
            "something could not be judged."
        ),
    ] = None,
) -> None:
    """Measure what happened: selection rates, impact ratios, tests, findings."""
    output.check(source)
    from fourfifths._impact.impact import get_rule, impact

    profile = get_rule(rule)
    if fail_on is not None and profile.is_checklist:
        raise OptionError(
            f"--fail-on: {profile.name} has no number; it gives a checklist and never a finding: "
            "nothing can fail and nothing can pass; leave it out, or choose another --rule"
        )
    if fail_on is not None and profile.decision == "none":
        raise OptionError(
            f"--fail-on: {profile.name} draws no line, so that nothing can fail; leave it out, or "
            "choose another --rule"
        )
    protected = grouping.protected(protected)
    table = reading.open(source)
    result = impact(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        rule=profile,
        weights=weights,
        weights_are=weights_are.value,
        counts=counted(counts),
        within=within,
        score=score,
        median_of=median_of.value,
        **grouping.arguments(protected),
        pairs=pairs.value,
        total_minority=total_minority,
        small_groups=small_groups.value if small_groups else None,
    )
    output.deliver(result, source)
    raise typer.Exit(FAILED if fail_on is not None and fails(result, fail_on) else 0)


def counted(text: str | None) -> dict[Any, str] | None:
    """Read n=COL,selected=COL.

    Examples
    --------
    >>> counted("n=Applicants,selected=Hired, in 2025")
    {'n': 'Applicants', 'selected': 'Hired, in 2025'}
    """
    if text is None:
        return None
    # A column's own name may hold a comma; then no name of a number follows.
    entries = re.split(r",\s*(?=(?:n|selected|not_selected)=)", text)
    numbers = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    if len(numbers) != 2 or len(entries) != 2:
        raise OptionError(
            f"--counts {text}: expected the columns of two numbers, as in "
            "n=Applicants,selected=Hired"
        )
    return numbers


def fails(result: Impact, fail_on: FailOnFinding) -> bool:
    """Return whether an audit found what the command is to fail on."""
    from fourfifths._impact.rules import INCONCLUSIVE, NOT_JUDGED, SMALL_NUMBERS, UNDEFINED_RATIO

    findings = {
        group.finding for attribute in result.attributes for group in attribute.groups_and_total
    }
    is_indicated = any(" is indicated under " in finding for finding in findings)
    if fail_on is FailOnFinding.INDICATED:
        return is_indicated
    return is_indicated or bool(
        findings & {INCONCLUSIVE, NOT_JUDGED, SMALL_NUMBERS, UNDEFINED_RATIO}
    )
