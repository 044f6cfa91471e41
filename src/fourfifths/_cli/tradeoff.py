"""`fourfifths tradeoff`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fourfifths._cli.options import (
    Band,
    Favorable,
    Out,
    Outcome,
    Protected,
    Reference,
    Source,
    bands,
    deliver,
    format_of,
    pairs,
)
from fourfifths.errors import OptionError


class TradeoffFormat(StrEnum):
    """How a trade-off is shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def tradeoff(
    source: Source,
    protected: Protected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to repair and to use; repeat it. Default: all."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="LR, SVM or GNB; repeat it.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="random, combinatorial or geometric; repeat it.  [default: random]"),
    ] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="joint or column; repeat it.  [default: joint]")
    ] = None,
    amounts: Annotated[
        str, typer.Option(metavar="N,N", help="The amounts to try.")
    ] = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    split: Annotated[
        str | None,
        typer.Option(metavar="N|COL", help="The share of test rows, or a column: train or test."),
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Random splits.  [default: 10]")] = None,
    auditor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="logistic, svm, naive-bayes or trees. Default: all."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    band: Band = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep finished cells in FILE, and go on from there."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    random_state: Annotated[int, typer.Option(help="The seed.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curve: .png or .svg.")
    ] = None,
    output_format: Annotated[
        TradeoffFormat | None,
        typer.Option("--format", help="How to show it.  [default: by --out, or table]"),
    ] = None,
    out: Out = None,
) -> None:
    """Show what each amount of repair costs, on held-out rows."""
    _check_plot(plot)
    form = format_of(output_format, out, TradeoffFormat)
    from fourfifths._tradeoff.tradeoff import tradeoff as run

    chosen: dict[str, Any] = {"methods": method, "scopes": scope, "auditors": auditor}
    curve = run(
        source,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=pairs(reference, "--reference", protected) or None,
        columns=columns,
        bands=bands(band, protected),
        models=model,
        amounts=_amounts(amounts),
        split=_split(split),
        repeats=repeats,
        confidence=confidence,
        results=results,
        n_jobs=jobs,
        random_state=random_state,
        **{name: value for name, value in chosen.items() if value},
    )
    if plot is not None:
        curve.plot(plot)
        typer.echo(f"wrote {plot}", err=True)
    from fourfifths._report.tradeoff import print_tradeoff, tradeoff_csv

    if form is TradeoffFormat.TABLE and out is None:
        print_tradeoff(curve, sys.stdout)
        return
    texts = {
        TradeoffFormat.TABLE: lambda: f"{curve}\n",
        TradeoffFormat.JSON: lambda: f"{curve.to_json()}\n",
        TradeoffFormat.CSV: lambda: tradeoff_csv(curve),
    }
    deliver(texts[form](), out, source)


def _amounts(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"--amounts {text}: expected numbers separated by commas") from None


def _split(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _check_plot(plot: Path | None) -> None:
    if plot is None:
        return
    if plot.suffix.lower() not in (".png", ".svg"):
        raise OptionError(f"--plot {plot}: expected a name ending in .png or .svg")
    if not plot.resolve().parent.is_dir():
        raise OptionError(f"--plot {plot}: there is no folder {plot.resolve().parent}")
