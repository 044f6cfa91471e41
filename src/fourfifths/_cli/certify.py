"""`fourfifths certify` and `fourfifths verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fourfifths._cli.options import (
    Band,
    CertificateFormat,
    Favorable,
    Out,
    Outcome,
    Protected,
    Reference,
    Source,
    Unknown,
    bands,
    deliver,
    format_of,
    pairs,
    rates,
)


def certify(
    source: Source,
    protected: Protected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="A column that a rule may use; repeat it. Default: all others."
        ),
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(metavar="N|N,N", help="The group's selection rate, or a range of it."),
    ] = None,
    threshold: Annotated[float, typer.Option(help="The impact ratio to certify.")] = 0.8,
    auditor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="logistic, svm, naive-bayes or trees; repeat it. Default: all."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="With which the verdict holds.")] = 0.95,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    max_rows: Annotated[int, typer.Option(help="Rows to audit, of a larger table.")] = 100_000,
    band: Band = None,
    unknown: Unknown = None,
    random_state: Annotated[int, typer.Option(help="The seed.")] = 0,
    output_format: Annotated[
        CertificateFormat | None,
        typer.Option(
            "--format",
            help="How to show the certificate.  [default: by the ending of --out, or table]",
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Certify that no rule on the other columns can have disparate impact."""
    from fourfifths._certify.certify import certify as run

    certificate = run(
        source,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=pairs(reference, "--reference", protected) or None,
        columns=columns,
        beta=rates(beta),
        threshold=threshold,
        auditors=auditor,
        confidence=confidence,
        folds=folds,
        max_rows=max_rows,
        bands=bands(band, protected),
        unknown=unknown or (),
        random_state=random_state,
    )
    from fourfifths._report.certificate import certificate_markdown, print_certificate

    form = format_of(output_format, out, CertificateFormat)
    if form is CertificateFormat.TABLE and out is None:
        print_certificate(certificate, sys.stdout)
        return
    texts = {
        CertificateFormat.TABLE: lambda: f"{certificate}\n",
        CertificateFormat.JSON: lambda: f"{certificate.to_json()}\n",
        CertificateFormat.MARKDOWN: lambda: certificate_markdown(certificate),
    }
    deliver(texts[form](), out, source)


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What certify wrote with --format json.")
    ],
    source: Source,
) -> None:
    """Run a certificate again, and say whether it comes out the same."""
    from fourfifths._certify.verify import verify as run

    result = run(certificate, source)
    typer.echo(str(result))
    raise typer.Exit(0 if result.same_certificate else 1)
