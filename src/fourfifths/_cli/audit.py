"""`fourfifths audit`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fourfifths._cli.options import (
    FORMAT_OPTION,
    Band,
    Favorable,
    Format,
    Out,
    Outcome,
    Plot,
    Reference,
    Source,
    Unknown,
    bands,
    check_outputs,
    deliver,
)
from fourfifths._cli.options import pairs as named_values
from fourfifths.errors import OptionError

DEFAULT_RULE = "ugesp"


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


def audit(
    source: Source,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="A protected column; several are compared each alone and jointly.",
        ),
    ] = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The rule that judges the figures; 'fourfifths rules' lists them.  "
            f"[default: {DEFAULT_RULE}]",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of weights, each 0 or more.")
    ] = None,
    weights_are: Annotated[
        WeightsAre,
        typer.Option(help="Sampling weights, or counts of persons in an aggregated table."),
    ] = WeightsAre.SAMPLING,
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
            "lending-air compares the means.",
        ),
    ] = None,
    median_of: Annotated[
        MedianOf,
        typer.Option(help="Take the median of all rows, or of rows whose group is known."),
    ] = MedianOf.ALL,
    band: Band = None,
    unknown: Unknown = None,
    pairs: Annotated[
        Pairs,
        typer.Option(help="Compare each group with the reference, or every two groups as well."),
    ] = Pairs.REFERENCE,
    small_groups: Annotated[
        SmallGroups | None,
        typer.Option(
            help="Under nyc-ll144: whether groups of under 2% of the rows are in the ratios.  "
            "[default: include]",
        ),
    ] = None,
    output_format: Annotated[Format | None, FORMAT_OPTION] = None,
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Measure what happened: selection rates, impact ratios, tests, findings."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=Format)
    if rule and len(rule) > 1:
        raise OptionError(f"--rule: {len(rule)} were given; run audit once for each")
    from fourfifths._impact.impact import impact
    from fourfifths._impact.rules import get_rule

    result = impact(
        source,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=named_values(reference, "--reference", protected) or None,
        rule=get_rule((rule or [DEFAULT_RULE])[0]),
        weights=weights,
        weights_are=weights_are.value,
        within=within,
        score=score,
        median_of=median_of.value,
        bands=bands(band, protected),
        unknown=unknown or (),
        pairs=pairs.value,
        small_groups=small_groups.value if small_groups else None,
    )
    deliver(result, form, out=out, plot=plot)
