"""`fourfifths stages`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.options import (
    GroupingOptions,
    OutputOptions,
    Persons,
    ReadingOptions,
    Reference,
    RuleOption,
    SeparateProtected,
    Source,
    reference_of,
)
from fourfifths._impact.profiles import DEFAULT_RULE


class BlankMeans(StrEnum):
    """What a blank means for someone who reached the stage before."""

    MISSING = "missing"
    NOT_REACHED = "not reached"


class SkipsAre(StrEnum):
    """What to do about skipped stages."""

    ERROR = "error"
    ALLOW = "allow"


def stages(
    source: Source,
    *,
    protected: SeparateProtected = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="A column of yes and no, or of dates, for a stage; repeat it in the order of the "
            "selection.",
        ),
    ] = None,
    stage_column: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The column that holds the last stage reached."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="V,V,...",
            help="The values of --stage-column, from where everyone starts to the last.",
        ),
    ] = None,
    blank: Annotated[
        BlankMeans,
        typer.Option(help="What a blank beside yes and no means, if the stage before was reached."),
    ] = BlankMeans.MISSING,
    skips: Annotated[
        SkipsAre,
        typer.Option(
            help="What to do about persons who reached a stage without an earlier one; allow: they "
            "count as having reached it."
        ),
    ] = SkipsAre.ERROR,
    reference: Reference = None,
    rule: RuleOption = DEFAULT_RULE,
    persons: Persons = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="COL", help="A column of sampling weights, 0 or more."),
    ] = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Measure each step of a selection, and the bottom line."""
    output.check(source)
    from fourfifths._impact.analyses.stages import stages as measure_stages

    protected = grouping.protected(protected)
    table = reading.open(source)
    result = measure_stages(
        table,
        protected=protected,
        stages=stage or (),
        stage_column=stage_column,
        order=[value.strip() for value in order.split(",")] if order else (),
        blank=blank.value,
        skips=skips.value,
        reference=reference_of(reference, protected),
        rule=rule,  # type: ignore[arg-type]  # any text; the library checks it
        persons=persons,
        weights=weights,
        **grouping.arguments(protected),
    )
    output.deliver(result, source)
