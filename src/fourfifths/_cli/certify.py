"""`fourfifths certify` and `fourfifths verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fourfifths._cli.options import (
    FORMAT_OPTION,
    AgeFrom,
    Auditor,
    Band,
    Beta,
    Columns,
    DecimalMark,
    ExactValues,
    FailOn,
    Favorable,
    HeaderRow,
    Known,
    On,
    Out,
    Outcome,
    PageFormat,
    Plot,
    Protected,
    Reference,
    Seed,
    Sheet,
    Source,
    Unknown,
    ages,
    bands,
    check_outputs,
    deliver,
    opened,
    rates,
    reference_of,
    verdict_code,
    with_births,
)


def certify(
    source: Source,
    protected: Protected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    columns: Columns = None,
    beta: Beta = None,
    threshold: Annotated[float, typer.Option(help="The impact ratio to certify.")] = 0.8,
    auditor: Auditor = None,
    confidence: Annotated[float, typer.Option(help="The confidence of the verdict.")] = 0.95,
    folds: Annotated[int, typer.Option(help="Number of folds of the cross-validation.")] = 5,
    max_rows: Annotated[
        int, typer.Option(help="Of a larger table, audit a sample of so many rows.")
    ] = 100_000,
    band: Band = None,
    age_from: AgeFrom = None,
    on: On = None,
    unknown: Unknown = None,
    known: Known = None,
    exact_values: ExactValues = False,  # noqa: FBT002 - typer's way to make a flag
    decimal: DecimalMark = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    random_state: Seed = 0,
    output_format: Annotated[PageFormat | None, FORMAT_OPTION] = None,
    out: Out = None,
    plot: Plot = None,
    fail_on: FailOn = None,
) -> None:
    """Certify that auditors find no rule on the other columns with disparate impact."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=PageFormat)
    from fourfifths._certify.certify import certify as run

    protected = with_births(protected, age_from)
    table = opened(
        source,
        sheet=sheet,
        header_row=header_row,
        decimal=decimal,
        known=known,
        exact_values=exact_values,
    )
    certificate = run(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        columns=columns,
        beta=rates(beta),
        threshold=threshold,
        auditors=auditor,
        confidence=confidence,
        folds=folds,
        max_rows=max_rows,
        bands=bands(band, age_from or protected),
        ages=ages(age_from, on),
        unknown=unknown or (),
        random_state=random_state,
    )
    deliver(certificate, form, source=source, out=out, plot=plot)
    raise typer.Exit(verdict_code(certificate.verdict, fail_on))


def verify(
    certificate: Annotated[
        Path,
        typer.Argument(metavar="CERTIFICATE", help="A file that certify wrote with --format json."),
    ],
    source: Source,
) -> None:
    """Run a certificate again and check that the result is the same.

    The exit code is 0 if it is, and 1 if not.
    """
    from fourfifths._certify.verify import verify as run

    result = run(certificate, source)
    typer.echo(str(result))
    raise typer.Exit(0 if result.same_certificate else 1)
