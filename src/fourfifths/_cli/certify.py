"""`fourfifths certify`."""

from __future__ import annotations

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
    Sign,
    Source,
    Unknown,
    ages,
    bands,
    check_outputs,
    deliver,
    opened,
    rates,
    reference_of,
    signing_key,
    verdict_code,
    with_births,
    write_signature,
)
from fourfifths.errors import OptionError


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
    sign: Sign = None,
    fail_on: FailOn = None,
) -> None:
    """Certify that auditors find no rule on the other columns with disparate impact."""
    form = check_outputs(source, out=out, plot=plot, form=output_format, formats=PageFormat)
    if sign is not None and (out is None or form is not PageFormat.JSON):
        raise OptionError(f"--sign {sign}: signs a certificate in JSON; name it: --out c.json")
    key = signing_key(sign, out)
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
    if key is not None and out is not None:
        write_signature(out, kind="certificate", key=key, source=source)
    raise typer.Exit(verdict_code(certificate.verdict, fail_on))
