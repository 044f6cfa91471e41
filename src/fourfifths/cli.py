"""The command line. It holds no arithmetic: it reads options, calls the package, shows the answer.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fourfifths.errors import FourfifthsError, OptionError, OutputError

app = typer.Typer(
    name="fourfifths",
    help=(
        "Measure disparate impact. Findings read 'adverse impact is indicated under ...' or "
        "'not indicated'; none of them is legal advice."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: loading what draws boxes takes longer than all the rest
)


class Format(StrEnum):
    """How a result is shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class RuleChoice(StrEnum):
    """The rules that `audit` knows; `fourfifths rules` tells about them."""

    UGESP = "ugesp"
    FELDMAN2015 = "feldman2015"
    OFCCP = "ofccp"
    NYC_LL144 = "nyc-ll144"
    LENDING_AIR = "lending-air"


class WeightsAre(StrEnum):
    """What the weights are."""

    SAMPLING = "sampling"
    COUNTS = "counts"


class MedianOfChoice(StrEnum):
    """Which rows make the median of the scores."""

    ALL = "all"
    KNOWN = "known"


Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DATASET",
        help="A CSV, Parquet or JSON lines file, or a shipped data set: ricci, german, adult.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write to FILE, whole or not at all.", show_default=False),
]


@app.command()
def audit(
    source: Source,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="A protected column; repeat it for each alone and all jointly."
        ),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(metavar="COL", help="The column that says what happened.")
    ] = None,
    favorable: Annotated[
        str | None, typer.Option(metavar="V", help="The outcome that means selected.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=V", help="The designated reference group of a protected column."),
    ] = None,
    rule: Annotated[
        RuleChoice, typer.Option(help="The rule that reads the figures: see 'fourfifths rules'.")
    ] = RuleChoice.UGESP,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of weights, 0 or more.")
    ] = None,
    weights_are: Annotated[
        WeightsAre,
        typer.Option(help="Sampling weights, or counts of persons in an aggregated table."),
    ] = WeightsAre.SAMPLING,
    strata: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Compare within each value of this column as well."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of scores: above the median (nyc-ll144), mean difference (lending-air).",
        ),
    ] = None,
    median_of: Annotated[
        MedianOfChoice, typer.Option(help="Whether rows of unknown membership enter the median.")
    ] = MedianOfChoice.ALL,
    band: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=N,N", help="Cut a numeric protected column: --band age=25,40 makes three."
        ),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(metavar="V", help="A value that means that membership is not known."),
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="How to show the result.")
    ] = Format.TABLE,
    out: Out = None,
) -> None:
    """Measure what happened: rates, ratios, tests, findings."""
    from fourfifths.measure import impact

    result = impact(
        source,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=_pairs(reference, "--reference", protected) or None,
        rule=rule.value,
        weights=weights,
        weights_are=weights_are.value,
        strata=strata,
        score=score,
        median_of=median_of.value,
        bands=_bands(band, protected),
        unknown=unknown or (),
    )
    from fourfifths.impact_report import impact_csv, impact_markdown, print_impact

    if output_format is Format.TABLE and out is None:
        print_impact(result, sys.stdout)
        return
    texts = {
        Format.TABLE: lambda: f"{result}\n",
        Format.JSON: lambda: f"{result.to_json()}\n",
        Format.CSV: lambda: impact_csv(result),
        Format.MARKDOWN: lambda: impact_markdown(result),
    }
    _deliver(texts[output_format](), out, source)


@app.command()
def datasets() -> None:
    """List the shipped data sets, their roles, sources and licences."""
    from fourfifths.datasets import load, names

    for name in names():
        data = load(name)
        others = ", ".join(data.other_protected)
        also = f" (also protected: {others})" if others else ""
        bands = "".join(f", cut at {edges[0]:g}" for edges in data.bands.values())
        typer.echo(
            f"{data.name}: {data.title}\n"
            f"  {data.rows:,} rows; protected {', '.join(data.protected)}{bands}{also}\n"
            f"  outcome {data.outcome} = {data.favorable}; reference "
            f"{', '.join(f'{column} = {group}' for column, group in data.reference.items())}\n"
            f"  source: {data.source}\n"
            f"  licence: {data.licence}\n"
        )


@app.command()
def rules() -> None:
    """List the rules, their sources and their standing in law."""
    from fourfifths.rules import RULES

    for rule in RULES.values():
        lines = " and ".join(f"{rule.boundary} {line}" for line in rule.lines) or "no line"
        typer.echo(
            f"{rule.name}: {rule.title}\n"
            f"  compares with: the {rule.reference} "
            f"{'group' if rule.reference == 'designated' else 'rate'}; line: {lines}; decided by: "
            f"{rule.decision}\n"
            f"  source: {rule.source} ({rule.date})\n"
            f"  status: {rule.status}\n"
        )


@app.command()
def demo() -> None:
    """Show the main job on shipped data, without the network."""
    from fourfifths.demo import run

    run(sys.stdout)


def version_callback(value: bool) -> None:  # noqa: FBT001 - typer's signature
    """Print the version and stop."""
    if value:
        from fourfifths import __version__

        typer.echo(f"fourfifths {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version_callback, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


def main() -> None:
    """Run the command line: an error is one line on stderr and exit code 2."""
    # Names from a table must not stop a terminal of another encoding.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="fourfifths", standalone_mode=False)
        sys.stdout.flush()
    except FourfifthsError as error:
        _fail(str(error))
    except typer.TyperException as error:
        _fail(error.format_message())
    except typer.Abort:
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone (as in "| head"); nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code or 0)


def _fail(message: str) -> None:
    from fourfifths.render import printable

    typer.echo(f"fourfifths: {printable(' '.join(message.split()))}", err=True)
    sys.exit(2)


def _deliver(text: str, out: Path | None, source: str) -> None:
    if out is None:
        sys.stdout.write(text)
        return
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise OutputError(f"--out {out}: is the file that is audited; choose another name")
    from fourfifths.files import write_whole

    write_whole(out, text)
    typer.echo(f"wrote {out}", err=True)


def _pairs(
    texts: Sequence[str] | None, option: str, protected: Sequence[str] | None
) -> dict[str, Any]:
    """Split COL=V; a column's own name may hold an equals sign."""
    found = {}
    for text in texts or ():
        known = [column for column in protected or () if text.startswith(f"{column}=")]
        column = max(known, key=len, default=text.partition("=")[0])
        if not text.startswith(f"{column}=") or not text[len(column) + 1 :]:
            raise OptionError(f"{option} {text!r}: expected COL=V, as in race=White")
        found[column] = text[len(column) + 1 :]
    return found


def _bands(texts: Sequence[str] | None, protected: Sequence[str] | None) -> dict[str, list[float]]:
    found = {}
    for column, edges in _pairs(texts, "--band", protected).items():
        try:
            found[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise OptionError(
                f"--band {column}={edges}: expected numbers separated by commas, as in age=25,40"
            ) from None
    return found
