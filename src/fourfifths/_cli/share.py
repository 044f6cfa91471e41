"""`fourfifths share`."""

from __future__ import annotations

from typing import Annotated

import typer

from fourfifths._cli.options import FORMAT_OPTION, PageFormat, show


def share(
    observed: Annotated[
        int, typer.Argument(metavar="OBSERVED", help="How many of the selected are of the group.")
    ],
    selected: Annotated[
        int, typer.Argument(metavar="SELECTED", help="How many were selected in all.")
    ],
    share: Annotated[
        float,
        typer.Option(metavar="N", help="The group's share of those who could be selected, 0 to 1."),
    ],
    output_format: Annotated[PageFormat, FORMAT_OPTION] = PageFormat.TABLE,
) -> None:
    """Compare a group's number among the selected with its share of a population.

    The binomial standard deviations of Castaneda v. Partida and Hazelwood v. United States.
    """
    from fourfifths import against_share

    result = against_share(observed, selected, share=share)
    show(result, output_format)
