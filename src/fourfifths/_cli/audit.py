"""`fourfifths audit`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fourfifths._cli.options import (
    Band,
    Favorable,
    Format,
    MedianOfChoice,
    Out,
    Outcome,
    Protected,
    Reference,
    RuleChoice,
    Source,
    Unknown,
    WeightsAre,
    bands,
    deliver,
    format_of,
    pairs,
)
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    from fourfifths._impact.rules import RuleName


def audit(
    source: Source,
    protected: Protected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    rule: Annotated[
        list[RuleChoice] | None,
        typer.Option(
            help="The rule that reads the figures: see 'fourfifths rules'.  [default: ugesp]"
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of weights, 0 or more.")
    ] = None,
    weights_are: Annotated[
        WeightsAre,
        typer.Option(help="Sampling weights, or counts of persons in an aggregated table."),
    ] = WeightsAre.SAMPLING,
    within: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Compare within each value of this column as well."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of scores: above the median (nyc-ll144), mean difference (lending-air).",
        ),
    ] = None,
    median_of: Annotated[
        MedianOfChoice, typer.Option(help="Whether rows of unknown membership enter the median.")
    ] = MedianOfChoice.ALL,
    band: Band = None,
    unknown: Unknown = None,
    output_format: Annotated[
        Format | None,
        typer.Option(
            "--format", help="How to show the result.  [default: by the ending of --out, or table]"
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Measure what happened: rates, ratios, tests, findings."""
    from fourfifths._impact.impact import impact

    result = impact(
        source,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=pairs(reference, "--reference", protected) or None,
        rule=_only_rule(rule),
        weights=weights,
        weights_are=weights_are.value,
        within=within,
        score=score,
        median_of=median_of.value,
        bands=bands(band, protected),
        unknown=unknown or (),
    )
    from fourfifths._report.impact import impact_csv, impact_markdown, print_impact

    form = format_of(output_format, out, Format)
    if form is Format.TABLE and out is None:
        print_impact(result, sys.stdout)
        return
    texts = {
        Format.TABLE: lambda: f"{result}\n",
        Format.JSON: lambda: f"{result.to_json()}\n",
        Format.CSV: lambda: impact_csv(result),
        Format.MARKDOWN: lambda: impact_markdown(result),
    }
    deliver(texts[form](), out, source)


def _only_rule(rules: list[RuleChoice] | None) -> RuleName:
    if rules and len(rules) > 1:
        raise OptionError(f"--rule: {len(rules)} were given; run audit once for each")
    return (rules or [RuleChoice.UGESP])[0].value
