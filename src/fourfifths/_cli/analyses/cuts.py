"""`fourfifths cuts`."""

from __future__ import annotations

from typing import Annotated

import typer

from fourfifths._cli.options import (
    GroupingOptions,
    OutputOptions,
    Persons,
    ReadingOptions,
    Reference,
    RuleOption,
    SeparateProtected,
    Source,
    reference_of,
)
from fourfifths._impact.profiles import DEFAULT_RULE
from fourfifths.errors import OptionError

LowerIsBetter = Annotated[
    bool, typer.Option("--lower-is-better", help="A cut selects the scores at or below it.")
]


def cuts(
    source: Source,
    *,
    score: Annotated[str, typer.Option(metavar="COL", help="The column of scores.")],
    protected: SeparateProtected = None,
    lower_is_better: LowerIsBetter = False,
    select: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="How many are to be selected, a share below 1 or a number of persons: the cut "
            "that comes nearest is judged.",
        ),
    ] = None,
    score_bands: Annotated[
        str | None,
        typer.Option(
            metavar="N|N,N",
            help="Score bands: how many, or the scores where they meet, as in 60,70,80.",
        ),
    ] = None,
    reference: Reference = None,
    rule: RuleOption = DEFAULT_RULE,
    threshold: Annotated[
        float, typer.Option(metavar="N", help="The impact ratio for which crossings are reported.")
    ] = 0.8,
    persons: Persons = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    output: OutputOptions,
) -> None:
    """Measure the impact ratio at every cut of a score, and where it crosses 4/5."""
    output.check(source)
    from fourfifths._impact.analyses.cuts import cuts as measure_cuts

    protected = grouping.protected(protected)
    table = reading.open(source)
    result = measure_cuts(
        table,
        score=score,
        protected=protected,
        lower_is_better=lower_is_better,
        select=select,
        score_bands=score_bands_of(score_bands),
        reference=reference_of(reference, protected),
        rule=rule,  # type: ignore[arg-type]  # any text; the library checks it
        threshold=threshold,
        persons=persons,
        **grouping.arguments(protected),
    )
    output.deliver(result, source)


def score_bands_of(text: str | None) -> int | list[float] | None:
    """Read a number of bands, or the scores where they meet.

    Examples
    --------
    >>> score_bands_of("10"), score_bands_of("60,70")
    (10, [60.0, 70.0])
    """
    if text is None:
        return None
    try:
        return int(text) if "," not in text else [float(edge) for edge in text.split(",")]
    except ValueError:
        raise OptionError(
            f"--score-bands {text}: expected a number of bands, or the scores where they meet "
            "separated by commas, as in 60,70"
        ) from None
