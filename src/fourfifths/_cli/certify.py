"""`fourfifths certify`."""

from __future__ import annotations

from typing import Annotated

import typer

from fourfifths._cli.options import (
    Auditor,
    Beta,
    Columns,
    FailOn,
    Favorable,
    GroupingOptions,
    Outcome,
    PageFormat,
    PageOutputOptions,
    Protected,
    ReadingOptions,
    Reference,
    Seed,
    Sign,
    Source,
    rates,
    reference_of,
    signing_key,
    verdict_code,
    write_signature,
)
from fourfifths.errors import OptionError


def certify(
    source: Source,
    *,
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
        int,
        typer.Option(
            help="If the table has more rows than this, audit a random sample of this many."
        ),
    ] = 100_000,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    random_state: Seed = 0,
    output: PageOutputOptions,
    sign: Sign = None,
    fail_on: FailOn = None,
) -> None:
    """Certify that auditors find no rule on the other columns with disparate impact."""
    output.check(source)
    if sign is not None and (output.out is None or output.form is not PageFormat.JSON):
        raise OptionError(f"--sign {sign}: signs a certificate in JSON; name it: --out c.json")
    key = signing_key(sign, output.out)
    from fourfifths._certify.certify import certify as run

    protected = grouping.protected(protected)
    table = reading.open(source)
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
        **grouping.arguments(protected),
        random_state=random_state,
    )
    output.deliver(certificate, source)
    if key is not None and output.out is not None:
        write_signature(output.out, kind="certificate", key=key, source=source)
    raise typer.Exit(verdict_code(certificate.verdict, fail_on))
