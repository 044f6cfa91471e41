"""`fourfifths monitor`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fourfifths._cli.options import (
    FAILED,
    Band,
    Favorable,
    Outcome,
    OutputOptions,
    Persons,
    ReadingOptions,
    Unknown,
    bands,
    reference_of,
)
from fourfifths.errors import OptionError


class FailOnMonitor(StrEnum):
    """Which finding is a failure."""

    BELOW = "below"


def monitor(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|LOG",
            help="A table with all batches, with --batch; or a log that --add wrote.",
            show_default=False,
        ),
    ],
    *,
    batch: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The column that says which batch a row belongs to."),
    ] = None,
    add: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Count FILE as the next batch, and add it to LOG."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What the added batch is called.  [default: its file]"),
    ] = None,
    protected: Annotated[str | None, typer.Option(metavar="COL", help="The protected column.")] = (
        None
    ),
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="V", help="The group that the others are compared with."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="The impact ratio below which a group is reported.  [default: 0.8]",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="The confidence: the chance of any false finding, however often you look, is at "
            "most 1 minus this.  [default: 0.95]",
        ),
    ] = None,
    persons: Persons = None,
    band: Band = None,
    unknown: Unknown = None,
    reading: ReadingOptions,
    output: OutputOptions,
    fail_on: Annotated[
        FailOnMonitor | None,
        typer.Option(help="End with exit code 3 if a ratio below the line is shown."),
    ] = None,
) -> None:
    """Weigh the evidence about impact ratios after every batch; looking early costs nothing."""
    output.check(source)
    if add is not None:
        output.check(add)
    from fourfifths._impact.analyses.monitor import add_batch
    from fourfifths._impact.analyses.monitor import monitor as weigh

    if add is not None and (batch is not None or persons is not None):
        raise OptionError(
            "--add: counts a whole file as one batch; leave --batch and --persons out"
        )
    if add is None and name is not None:
        raise OptionError("--name: names the batch that is added; it needs --add")
    columns = None if protected is None else [protected]
    settings: dict[str, Any] = {
        "protected": protected,
        "outcome": outcome,
        "favorable": favorable or None,
        "reference": reference_of([reference], columns) if reference else None,
        "bands": bands(band, columns) or None,
        "unknown": unknown or (),
    }
    if threshold is not None:
        settings["threshold"] = threshold
    if confidence is not None:
        settings["confidence"] = confidence
    if add is not None:
        result = add_batch(source, reading.open(add), name=name, **settings)
    elif batch is not None:
        result = weigh(reading.open(source), batch=batch, persons=persons, **settings)
    else:
        result = weigh(source, persons=persons, **settings)
    output.deliver(result, source)
    is_below = any(group.below_since is not None for group in result.groups)
    raise typer.Exit(FAILED if fail_on is not None and is_below else 0)
