"""`fourfifths subgroups`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.options import (
    FORMAT_OPTION,
    AgeFrom,
    Band,
    DecimalMark,
    ExactValues,
    Favorable,
    Format,
    HeaderRow,
    Known,
    On,
    Out,
    Outcome,
    Persons,
    Plot,
    Seed,
    Sheet,
    Source,
    Unknown,
    ages,
    bands,
    check_outputs,
    deliver,
    opened,
)


class OrderBy(StrEnum):
    """What makes a subgroup the worst."""

    RATIO = "ratio"
    LIMIT = "limit"


def subgroups(
    source: Source,
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
        float, typer.Option(metavar="N", help="The ratio that the limits are compared with.")
    ] = 0.8,
    persons: Persons = None,
    band: Band = None,
    age_from: AgeFrom = None,
    on: On = None,
    unknown: Unknown = None,
    known: Known = None,
    exact_values: ExactValues = False,  # noqa: FBT002 - typer's way to make a flag
    decimal: DecimalMark = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    random_state: Seed = 0,
    output_format: Annotated[Format | None, FORMAT_OPTION] = None,
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Search intersections of up to three columns for the lowest selection rates."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=Format)
    from fourfifths._impact.analyses.subgroups import subgroups as search_subgroups

    named = [*(protected or ()), *(columns or ())]
    births = [column for column in age_from or () if column not in named]
    table = opened(
        source,
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=known,
        exact_values=exact_values,
    )
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
        bands=bands(band, age_from or named),
        ages=ages(age_from, on),
        unknown=unknown or (),
        random_state=random_state,
    )
    deliver(result, form, source=source, out=out, plot=plot)
