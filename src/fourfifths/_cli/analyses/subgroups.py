"""`fourfifths subgroups`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.options import (
    Favorable,
    GroupingOptions,
    Outcome,
    OutputOptions,
    Persons,
    ReadingOptions,
    Seed,
    Source,
)


class OrderBy(StrEnum):
    """What makes a subgroup the worst."""

    RATIO = "ratio"
    LIMIT = "limit"


def subgroups(
    source: Source,
    *,
    protected: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A protected column; every subgroup has one at least."),
    ] = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A further column to intersect with; repeat for more."),
    ] = None,
    depth: Annotated[
        int, typer.Option(metavar="N", help="The largest number of columns of a subgroup, up to 3.")
    ] = 3,
    min_rows: Annotated[
        int, typer.Option(metavar="N", help="Smaller subgroups are not searched.")
    ] = 30,
    quantiles: Annotated[
        int,
        typer.Option(
            metavar="N", help="Into how many parts a column of numbers is cut without --band."
        ),
    ] = 4,
    show: Annotated[int, typer.Option(metavar="N", help="How many of the worst to show.")] = 10,
    order: Annotated[
        OrderBy, typer.Option(help="By the ratio, or by its upper limit.")
    ] = OrderBy.RATIO,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="Subgroups whose upper limit is below this ratio are counted as surely below.",
        ),
    ] = 0.8,
    persons: Persons = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    random_state: Seed = 0,
    output: OutputOptions,
) -> None:
    """Search intersections of up to three columns for the lowest selection rates."""
    output.check(source)
    from fourfifths._impact.analyses.subgroups import subgroups as search_subgroups

    named = [*(protected or ()), *(columns or ())]
    births = [column for column in grouping.age_from or () if column not in named]
    table = reading.open(source)
    result = search_subgroups(
        table,
        protected=[*(protected or ()), *births] or None,
        outcome=outcome,
        favorable=favorable or None,
        columns=columns or (),
        depth=depth,
        min_rows=min_rows,
        quantiles=quantiles,
        show=show,
        order=order.value,
        threshold=threshold,
        persons=persons,
        **grouping.arguments(named),
        random_state=random_state,
    )
    output.deliver(result, source)
