"""`fourfifths cuts`."""

from __future__ import annotations

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
from fourfifths.errors import OptionError

LowerIsBetter = Annotated[
    bool, typer.Option("--lower-is-better", help="A cut selects the scores at or below it.")
]


def cuts(
    source: Source,
    score: Annotated[str, typer.Option(metavar="COL", help="The column of scores.")],
    protected: SeparateProtected = None,
    lower_is_better: LowerIsBetter = False,  # noqa: FBT002 - typer's way to make a flag
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
        float, typer.Option(metavar="N", help="The impact ratio whose crossings are looked for.")
    ] = 0.8,
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
    """Measure the impact ratio at every cut of a score, and where it crosses 4/5."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=Format)
    from fourfifths._impact.analyses.cuts import cuts as measure_cuts

    protected = with_births(protected, age_from)
    table = opened(
        source,
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=known,
        exact_values=exact_values,
    )
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
        bands=bands(band, age_from or protected),
        ages=ages(age_from, on),
        unknown=unknown or (),
    )
    deliver(result, form, source=source, out=out, plot=plot)


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
