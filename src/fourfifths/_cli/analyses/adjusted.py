"""`fourfifths adjusted`."""

from __future__ import annotations

from typing import Annotated

import typer

from fourfifths._cli.options import (
    Favorable,
    GroupingOptions,
    Outcome,
    OutputOptions,
    Persons,
    ReadingOptions,
    Reference,
    SeparateProtected,
    Source,
    reference_of,
)


def adjusted(
    source: Source,
    *,
    protected: SeparateProtected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    control: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to adjust for: numbers or categories."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="A column to adjust for that is a category although it may hold numbers, like a "
            "code.",
        ),
    ] = None,
    reference: Reference = None,
    persons: Persons = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Measure the disparity beside controls, by a logistic regression."""
    output.check(source)
    from fourfifths._impact.analyses.adjusted import adjusted as measure_adjusted

    protected = grouping.protected(protected)
    table = reading.open(source)
    result = measure_adjusted(
        table,
        controls=control or (),
        categories=category or (),
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        persons=persons,
        **grouping.arguments(protected),
    )
    output.deliver(result, source)
