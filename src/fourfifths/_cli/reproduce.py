"""`fourfifths reproduce`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from fourfifths._cli.options import Jobs


def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE",
            help="Make this figure only: sat, threshold, predictability, utility, german-years, "
            "several, comparison, beyond-trees, beyond-amounts, beyond-blocks or study; repeat "
            "for more.  [default: all]",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The folder for figures, tables, REPORT.md and REPORT.html."
        ),
    ] = Path("reproduction"),
    quick: Annotated[  # noqa: FBT002 - typer's way to make a flag
        bool, typer.Option("--quick", help="Only three amounts and two splits.")
    ] = False,
    jobs: Jobs = -1,
) -> None:
    """Rerun the paper's experiments and check its claims. A run that was stopped goes on."""
    from fourfifths._paper.report import QUICK_CAUTION
    from fourfifths._paper.reproduce import reproduce as run

    start = time.monotonic()
    done = run(out, only=only or (), quick=quick, n_jobs=jobs)
    for claim in done.claims:
        typer.echo(f"{claim.verdict}: {claim.claim}: {claim.measured}")
    if quick:
        typer.echo(QUICK_CAUTION, err=True)
    figures = f"{len(done.figures)} figure{'s' if len(done.figures) != 1 else ''}"
    seconds = f"{time.monotonic() - start:.0f} s"
    reports = "REPORT.md and REPORT.html"
    typer.echo(f"wrote {figures}, {reports} to {done.folder} in {seconds}", err=True)
