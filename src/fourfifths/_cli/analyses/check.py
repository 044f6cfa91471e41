"""`fourfifths check`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.options import (
    FAILED,
    HeaderRow,
    Known,
    OutputOptions,
    ReadingOptions,
    Sheet,
)


class FailOnCheck(StrEnum):
    """What is a failure."""

    ERRORS = "errors"


def check(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The published table, as CSV, Excel or Parquet.",
            show_default=False,
        ),
    ],
    *,
    group: Annotated[str, typer.Option(metavar="COL", help="The column of the groups' names.")],
    n: Annotated[str, typer.Option("--n", metavar="COL", help="How many people each group has.")],
    selected: Annotated[
        str | None, typer.Option(metavar="COL", help="How many of them were selected.")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The printed selection rates: 0.45, 45% or 45.0."),
    ] = None,
    ratio: Annotated[
        str | None, typer.Option(metavar="COL", help="The printed impact ratios.")
    ] = None,
    unknown_count: Annotated[
        int | None, typer.Option(metavar="N", help="How many people are of unknown group.")
    ] = None,
    unknown_selected: Annotated[
        int | None, typer.Option(metavar="N", help="How many of those were selected.")
    ] = None,
    total: Annotated[
        int | None, typer.Option(metavar="N", help="How many people were assessed in all.")
    ] = None,
    known: Known = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    output: OutputOptions,
    fail_on: Annotated[
        FailOnCheck | None,
        typer.Option(help="End with exit code 3 if a printed figure does not follow."),
    ] = None,
) -> None:
    """Recompute a published table: which rates and ratios do not follow from its counts."""
    output.check(source)
    from fourfifths import check as check_table

    table = ReadingOptions(sheet=sheet, header_row=header_row, known=known, exact_values=True).open(
        source
    )
    result = check_table(
        table,
        group=group,
        n=n,
        selected=selected,
        rate=rate,
        ratio=ratio,
        unknown_count=unknown_count,
        unknown_selected=unknown_selected,
        total=total,
    )
    output.deliver(result, source)
    raise typer.Exit(FAILED if fail_on is not None and result.errors else 0)
