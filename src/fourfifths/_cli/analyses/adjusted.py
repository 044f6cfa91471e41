"""`fourfifths adjusted`."""

from __future__ import annotations

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
    Reference,
    SeparateProtected,
    Sheet,
    Source,
    Unknown,
    ages,
    bands,
    check_outputs,
    deliver,
    opened,
    reference_of,
    with_births,
)


def adjusted(
    source: Source,
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
    band: Band = None,
    age_from: AgeFrom = None,
    on: On = None,
    unknown: Unknown = None,
    known: Known = None,
    exact_values: ExactValues = False,  # noqa: FBT002 - typer's way to make a flag
    decimal: DecimalMark = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    output_format: Annotated[Format | None, FORMAT_OPTION] = None,
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Measure the disparity beside controls, by a logistic regression."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=Format)
    from fourfifths._impact.analyses.adjusted import adjusted as measure_adjusted

    protected = with_births(protected, age_from)
    table = opened(
        source,
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=known,
        exact_values=exact_values,
    )
    result = measure_adjusted(
        table,
        controls=control or (),
        categories=category or (),
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        persons=persons,
        bands=bands(band, age_from or protected),
        ages=ages(age_from, on),
        unknown=unknown or (),
    )
    deliver(result, form, source=source, out=out, plot=plot)
