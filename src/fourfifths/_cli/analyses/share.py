"""`fourfifths share`."""

from __future__ import annotations

from typing import Annotated

import typer

from fourfifths._cli.options import (
    OutputOptions,
    draw_plot,
    show,
)
from fourfifths.errors import OptionError


def share(
    observed: Annotated[
        int | None,
        typer.Argument(metavar="OBSERVED", help="How many of the selected are of the group."),
    ] = None,
    selected: Annotated[
        int | None, typer.Argument(metavar="SELECTED", help="How many were selected in all.")
    ] = None,
    *,
    share: Annotated[
        float | None,
        typer.Option(metavar="N", help="The group's share of those who could be selected, 0 to 1."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A table with one row for each year, instead of counts."),
    ] = None,
    period: Annotated[
        str, typer.Option(metavar="COL", help="The column of FILE that names the year.")
    ] = "period",
    observed_column: Annotated[
        str, typer.Option(metavar="COL", help="Its column of OBSERVED.")
    ] = "observed",
    selected_column: Annotated[
        str, typer.Option(metavar="COL", help="Its column of SELECTED.")
    ] = "selected",
    share_column: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Its column of shares, if they differ from year to year."),
    ] = None,
    output: OutputOptions,
) -> None:
    """Compare a group's number among the selected with its share of a population.

    The binomial standard deviations of Castaneda v. Partida and Hazelwood v. United States.
    """
    output.check(file or "")
    from fourfifths._impact.analyses.share import against_share, read_periods

    if file is None and (observed is None or selected is None):
        missing = "OBSERVED and SELECTED" if observed is None else "SELECTED"
        raise OptionError(f"{missing}: give both numbers, or a --file with several years")
    if (share is None) == (share_column is None) or (share_column and file is None):
        raise OptionError("--share: give it once, for all years, or --share-column with --file")
    if file is None:
        assert observed is not None
        assert selected is not None
        if not 0 <= observed <= selected or selected < 1:
            raise OptionError(
                f"OBSERVED {observed}, SELECTED {selected}: expected at least one selected, and no "
                "more of the group than were selected"
            )
        if output.out is not None:
            raise OptionError("--out: only with --file; the page of two numbers is three lines")
        result = against_share(observed, selected, share=float(share or 0))
        if output.plot is not None:
            draw_plot(result, output.plot)
        show(result, output.form)
        return
    if observed is not None:
        raise OptionError("--file: holds the numbers; leave OBSERVED and SELECTED out")
    values = read_periods(
        file,
        period=period,
        observed_column=observed_column,
        selected_column=selected_column,
        share_column=share_column,
    )
    result = against_share(
        values.observed,
        values.selected,
        share=float(share) if share is not None else values.shares,
        periods=values.periods,
    )
    output.deliver(result, file)
