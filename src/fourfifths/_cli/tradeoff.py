"""`fourfifths tradeoff`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from fourfifths._cli.options import (
    Auditor,
    Columns,
    Favorable,
    GroupingOptions,
    Jobs,
    Outcome,
    OutputOptions,
    Protected,
    ReadingOptions,
    Reference,
    Seed,
    Source,
    reference_of,
)
from fourfifths.errors import OptionError


def tradeoff(
    source: Source,
    *,
    protected: Protected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    columns: Columns = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A model of the outcome: LR, SVM or GNB; repeat for more.  [default: all]",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="random; with scope column also combinatorial, definition or geometric; repeat "
            "for more.  [default: random]",
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="blocks|column",
            help="Repair by blocks, or each column alone; repeat for both.  [default: blocks]",
        ),
    ] = None,
    amounts: Annotated[
        str, typer.Option(metavar="N,N", help="The amounts of repair to try, from 0 to 1.")
    ] = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    split: Annotated[
        str | None,
        typer.Option(
            metavar="N|COL", help="The share of test rows, or a column that says train or test."
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Number of random splits.  [default: 10]")
    ] = None,
    auditor: Auditor = None,
    confidence: Annotated[
        float, typer.Option(help="The confidence of the intervals and of the proof.")
    ] = 0.95,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save finished parts to FILE; a stopped run continues from it.",
        ),
    ] = None,
    jobs: Jobs = -1,
    random_state: Seed = 0,
    output: OutputOptions,
) -> None:
    """Show what each amount of repair costs, measured on rows that were held out."""
    output.check(source)
    try:
        parsed_amounts = [float(number) for number in amounts.split(",")]
    except ValueError:
        raise OptionError(f"--amounts {amounts}: expected numbers separated by commas") from None
    share_or_column: float | str | None = split
    with suppress(ValueError):
        share_or_column = None if split is None else float(split)
    from fourfifths._tradeoff.tradeoff import tradeoff as run

    choices: dict[str, Any] = {"methods": method, "scopes": scope, "auditors": auditor}
    protected = grouping.protected(protected)
    table = reading.open(source)
    curve = run(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        columns=columns,
        **grouping.arguments(protected),
        models=model,
        amounts=parsed_amounts,
        split=share_or_column,
        repeats=repeats,
        confidence=confidence,
        results=results,
        n_jobs=jobs,
        random_state=random_state,
        **{name: value for name, value in choices.items() if value},
    )
    output.deliver(curve, source)
