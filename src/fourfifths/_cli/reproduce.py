"""`fourfifths reproduce`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE",
            help="sat, predictability, utility, several, comparison, beyond-trees, "
            "beyond-amounts or beyond-joint; repeat it. Default: all.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where figures, tables and REPORT.md go.")
    ] = Path("reproduction"),
    quick: Annotated[  # noqa: FBT002 - typer's way to make a flag
        bool, typer.Option("--quick", help="Three amounts and two splits: under two minutes.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
) -> None:
    """Rerun the paper's experiments, claim by claim. A run that was stopped goes on."""
    from fourfifths._paper.reproduce import QUICK_CAUTION
    from fourfifths._paper.reproduce import reproduce as run

    start = time.monotonic()
    done = run(out, only=only or (), quick=quick, n_jobs=jobs)
    for claim in done.claims:
        typer.echo(f"{claim.verdict}: {claim.claim}: {claim.measured}")
    if quick:
        typer.echo(QUICK_CAUTION, err=True)
    took = f"{time.monotonic() - start:.0f} s"
    figures = f"{len(done.figures)} figure{'s' if len(done.figures) != 1 else ''}"
    typer.echo(f"wrote {figures} and REPORT.md to {done.folder} in {took}", err=True)
