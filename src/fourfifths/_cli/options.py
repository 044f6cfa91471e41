"""The options that commands share, how their texts are read, and how a result is delivered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from fourfifths.errors import OptionError, OutputError

if TYPE_CHECKING:
    from fourfifths._results import Result


class Format(StrEnum):
    """How a result is shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class PageFormat(StrEnum):
    """The formats of results that are pages, and not rows of a table."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


# An output file's ending names its format; a file without an ending holds the table.
FORMAT_OF_ENDING = {"": "table", ".txt": "table", ".json": "json", ".csv": "csv", ".md": "markdown"}
PLOT_ENDINGS = (".png", ".svg")
PLOT_DPI = 200

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DATASET",
        help="A CSV, Parquet or JSON lines file, or a shipped data set: ricci, german, adult.",
        show_default=False,
    ),
]
Protected = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="A protected column; several make joint groups."),
]
Outcome = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says who was selected.")
]
Favorable = Annotated[
    str | None, typer.Option(metavar="V", help="The value of the outcome that means selected.")
]
Reference = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=V", help="The group of a protected column that the others are compared with."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A column that a rule may use; repeat for more.  [default: all others]",
    ),
]
Auditor = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A classifier that predicts the group: logistic, svm, naive-bayes, trees, forest or "
        "details; repeat for more.",
    ),
]
Beta = Annotated[
    str | None,
    typer.Option(
        metavar="N|N,N",
        help="The selection rate of the group, or a range.  [default: from the outcome]",
    ),
]
Band = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=N,N",
        help="Cut a numeric protected column into groups: age=39 makes <= 39 and > 39.",
    ),
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(metavar="V", help="A value that means missing, in any column; repeat it."),
]
Seed = Annotated[int, typer.Option(help="The seed of everything random.")]
Jobs = Annotated[int, typer.Option(help="Number of processes; -1 uses all cores.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write to FILE instead of the terminal.", show_default=False),
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw the result as well: a .png or .svg file."),
]
FORMAT_OPTION: Any = typer.Option(
    "--format", help="How to show the result.  [default: by the ending of --out, or table]"
)
FormatT = TypeVar("FormatT", bound=StrEnum)


def check_outputs(
    source: str,
    *,
    out: Path | None,
    plot: Path | None,
    form: FormatT | None,
    formats: type[FormatT],
) -> FormatT:
    """Refuse what could not be written, before anything is computed; return the format.

    The format is the one asked for, or the one that the ending of `out` names.
    """
    ending = out.suffix.lower() if out else ""
    named = FORMAT_OF_ENDING.get(ending)
    if form is None and named not in list(formats):
        endings = [end for end, name in FORMAT_OF_ENDING.items() if end and name in list(formats)]
        raise OptionError(
            f"--out {out}: cannot be written as {named or ending}; expected a name ending in "
            f"{', '.join(endings)}, or name a --format"
        )
    if plot is not None and plot.suffix.lower() not in PLOT_ENDINGS:
        raise OptionError(f"--plot {plot}: expected a name ending in .png or .svg")
    for option, path in (("--out", out), ("--plot", plot)):
        if path is not None:
            check_writable(option, path)
            if is_same_file(path, Path(source)):
                raise OutputError(
                    f"{option} {path}: is the file that is audited; choose another name"
                )
    if plot is not None and out is not None and is_same_file(plot, out):
        raise OutputError(f"--plot {plot}: is the name of --out too; choose another name")
    return formats(str(named)) if form is None else form


def check_writable(option: str, path: Path) -> None:
    """Refuse a file whose folder does not exist, or that is a folder."""
    if not path.resolve().parent.is_dir():
        raise OutputError(
            f"{option} {path}: there is no folder {path.resolve().parent}; it cannot be written"
        )
    if path.is_dir():
        raise OutputError(f"{option} {path}: cannot be written: it is a folder")


def is_same_file(first: Path, second: Path) -> bool:
    """Return whether two names mean one file, or would."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def deliver(result: Result, form: StrEnum, *, out: Path | None, plot: Path | None) -> None:
    """Draw a result if asked to, and print it or write it to a file."""
    from fourfifths._tables.files import replace_file, write_whole

    if plot is not None:
        figure = result.plot()
        replace_file(plot, lambda temporary: figure.savefig(temporary, dpi=PLOT_DPI))
        typer.echo(f"wrote {plot}", err=True)
    if out is None:
        show(result, form)
        return
    write_whole(out, shell_text(result, form))
    typer.echo(f"wrote {out}", err=True)


def show(result: Result, form: StrEnum) -> None:
    """Print a result on standard output; a table in colour if that is a terminal."""
    if form == Format.TABLE:
        from fourfifths._report import print_document

        print_document(shell_document(result), sys.stdout)
    else:
        sys.stdout.write(shell_text(result, form))


def shell_text(result: Result, form: StrEnum) -> str:
    """Return a result in one of the formats, without colour."""
    from fourfifths._report import document_markdown, document_text
    from fourfifths._report.csv import records_csv

    renderers: dict[str, Callable[[], str]] = {
        Format.TABLE: lambda: f"{document_text(shell_document(result))}\n",
        Format.JSON: lambda: f"{result.to_json()}\n",
        Format.CSV: lambda: records_csv(result.to_records()),
        Format.MARKDOWN: lambda: document_markdown(shell_document(result)),
    }
    return renderers[form]()


def shell_document(result: Result) -> Any:
    """Return a result as a page whose notes name options instead of Python arguments.

    That is why the shell renders the page itself, and does not call `Result.to_markdown`.
    """
    from fourfifths._report import to_document

    document = to_document(result)
    # A note names an argument as in `unknown=['?']`. Without one there is nothing to translate.
    if not any("=" in note for note in document.notes):
        return document
    from fourfifths._cli.messages import for_shell

    notes = tuple(for_shell(note, is_note=True) for note in document.notes)
    return replace(document, notes=notes)


def pairs(
    texts: Sequence[str] | None, option: str, protected: Sequence[str] | None
) -> dict[str, Any]:
    """Split COL=V; a column's own name may hold an equals sign."""
    values = {}
    for text in texts or ():
        columns = [column for column in protected or () if text.startswith(f"{column}=")]
        column = max(columns, key=len, default=text.partition("=")[0])
        if not text.startswith(f"{column}=") or not text[len(column) + 1 :]:
            raise OptionError(f"{option} {text!r}: expected COL=V, as in race=White")
        values[column] = text[len(column) + 1 :]
    return values


def bands(texts: Sequence[str] | None, protected: Sequence[str] | None) -> dict[str, list[float]]:
    """Read COL=N,N."""
    edges = {}
    for column, text in pairs(texts, "--band", protected).items():
        try:
            edges[column] = [float(edge) for edge in text.split(",")]
        except ValueError:
            raise OptionError(
                f"--band {column}={text}: expected numbers separated by commas, as in age=25,40"
            ) from None
    return edges


def rates(text: str | None) -> float | tuple[float, float] | None:
    """Read a rate, or a range of two."""
    if text is None:
        return None
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    raise OptionError(f"--beta {text}: expected a rate, or two separated by a comma: 0.2,0.3")
