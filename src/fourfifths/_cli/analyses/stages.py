"""`fourfifths stages`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.audit import DEFAULT_RULE
from fourfifths._cli.options import (
    FORMAT_OPTION,
    AgeFrom,
    Band,
    DecimalMark,
    ExactValues,
    Format,
    HeaderRow,
    Known,
    On,
    Out,
    Persons,
    Plot,
    Reference,
    RuleOption,
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
    """Measure each step of a selection, and the bottom line."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=Format)
    from fourfifths._impact.analyses.stages import stages as measure_stages

    protected = with_births(protected, age_from)
    table = opened(
        source,
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=known,
        exact_values=exact_values,
    )
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
        bands=bands(band, age_from or protected),
        ages=ages(age_from, on),
        unknown=unknown or (),
    )
    deliver(result, form, source=source, out=out, plot=plot)
