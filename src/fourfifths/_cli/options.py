"""The options that commands share, how their texts are read, and how a result is delivered."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from fourfifths._json import CONTENT_HASH, sealed
from fourfifths._results import json_text
from fourfifths.errors import OptionError, OutputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fourfifths._evidence.signing import FileKind, Subject
    from fourfifths._results import Result
    from fourfifths._tables.table import Table

FAILED = 3  # the exit code of --fail-on


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


class Decimal(StrEnum):
    """The mark between whole and decimal digits."""

    POINT = "."
    COMMA = ","


class FailOnVerdict(StrEnum):
    """Which verdicts are a failure."""

    NOT_CERTIFIED = "not-certified"
    INCONCLUSIVE = "inconclusive"


# An output file's ending names its format; a file without an ending holds the table.
FORMAT_OF_ENDING = {"": "table", ".txt": "table", ".json": "json", ".csv": "csv", ".md": "markdown"}
PLOT_ENDINGS = (".png", ".svg")
PLOT_DPI = 200
# The hash of a larger file takes longer than most audits of it.
MAX_BYTES_HASHED_FOR_SCREEN = 10**9

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DATASET",
        help="A CSV, Excel, Parquet or JSON lines file, or a shipped data set: ricci, german, "
        "adult.",
        show_default=False,
    ),
]
Protected = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="A protected column; several make joint groups."),
]
SeparateProtected = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A protected column; several are compared each alone, every two jointly, and all "
        "jointly.",
    ),
]
RuleOption = Annotated[
    str,
    typer.Option(
        "--rule",
        metavar="NAME",
        help="The rule that judges the figures; 'fourfifths rules' lists them.",
    ),
]
Persons = Annotated[
    str | None,
    typer.Option(metavar="COL", help="In an aggregated table: how many persons a row stands for."),
]
Outcome = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says who was selected.")
]
Favorable = Annotated[
    list[str] | None,
    typer.Option(
        metavar="V",
        help="The value of the outcome that means selected; repeat the option for several values.",
    ),
]
Reference = Annotated[
    list[str] | None,
    typer.Option(
        metavar="V|COL=V",
        help="The group that the others are compared with; with several protected columns say "
        "which column it belongs to.",
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
        metavar="N|COL=N,N",
        help="Cut a numeric protected column into groups: age=40 makes under 40, and 40 and over.",
    ),
]
AgeFrom = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="A protected column of dates of birth: --age-from born --on 2026-01-01 --band 40.",
    ),
]
On = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="The day on which the ages of --age-from count."),
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(metavar="V", help="A value that means missing, in any column; repeat it."),
]
Known = Annotated[
    list[str] | None,
    typer.Option(
        metavar="V", help="A value that is a group, although it looks like 'not known'; repeat it."
    ),
]
ExactValues = Annotated[
    bool,
    typer.Option(
        "--exact-values",
        help="Keep values apart that differ only in case or in surrounding spaces.",
    ),
]
DecimalMark = Annotated[
    Decimal | None,
    typer.Option(help="The decimal mark of numbers.  [default: what the numbers show]"),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The sheet of a workbook.  [default: the only one]"),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="The line or row that holds the names of the columns.  [default: the first]",
    ),
]
Hive = Annotated[
    bool,
    typer.Option("--hive", help="Names of folders, such as year=2025, are columns too."),
]
FailOn = Annotated[
    FailOnVerdict | None,
    typer.Option(
        help="End with exit code 3 if the verdict is not certified; inconclusive: if it is "
        "anything but certified.",
    ),
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
Sign = Annotated[
    Path | None,
    typer.Option(
        metavar="KEY",
        help="Sign the file with this private key, which 'fourfifths keygen' made; the signature "
        "is written beside it.",
    ),
]
FORMAT_OPTION: Any = typer.Option(
    "--format", help="How to show the result.  [default: by the ending of --out, or table]"
)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The options of how a table is read; `main.flattened` makes options of the fields."""

    known: Known = None
    exact_values: ExactValues = False
    decimal: DecimalMark = None
    sheet: Sheet = None
    header_row: HeaderRow = None
    hive: Hive = False

    def open(self, source: str) -> Table:
        """Open the table as the options say."""
        from fourfifths._tables.table import read_table

        return read_table(
            source,
            sheet=self.sheet,
            header_row=self.header_row,
            decimal=None if self.decimal is None else self.decimal.value,
            known=self.known or (),
            exact_values=self.exact_values,
            hive=self.hive,
        )


@dataclass(frozen=True, kw_only=True)
class GroupingOptions:
    """The options of who belongs to which group."""

    band: Band = None
    age_from: AgeFrom = None
    on: On = None
    unknown: Unknown = None

    def protected(self, columns: Sequence[str] | None) -> list[str] | None:
        """Return the protected columns, dates of birth among them."""
        return list(dict.fromkeys([*(columns or ()), *(self.age_from or ())])) or None

    def arguments(self, columns: Sequence[str] | None) -> dict[str, Any]:
        """Return the library's arguments for the groups that these columns make."""
        return {
            "bands": bands(self.band, self.age_from or columns),
            "ages": ages(self.age_from, self.on),
            "unknown": self.unknown or (),
        }


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The options of where a result goes, and in which format."""

    formats: ClassVar[type[StrEnum]] = Format

    output_format: Annotated[Format | None, FORMAT_OPTION] = None
    out: Out = None
    plot: Plot = None

    @property
    def form(self) -> StrEnum:
        """The format that was asked for, or else the one that the ending of `out` names."""
        if self.output_format is not None:
            return self.output_format
        ending = self.out.suffix.lower() if self.out else ""
        format_name = FORMAT_OF_ENDING.get(ending)
        choices = list(self.formats)
        if format_name not in choices:
            endings = [end for end, name in FORMAT_OF_ENDING.items() if end and name in choices]
            advice = "; 'fourfifths report' writes .html" if ending == ".html" else ""
            raise OptionError(
                f"--out {self.out}: cannot be written as {format_name or ending}; expected a name "
                f"ending in {', '.join(endings)}, or name a --format{advice}"
            )
        return self.formats(format_name)

    def check(self, source: str) -> None:
        """Refuse what could not be written, before anything is computed."""
        self.form  # noqa: B018 - it raises an error
        out, plot = self.out, self.plot
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

    def deliver(self, result: Result, source: str) -> None:
        """Draw a result if asked to, and print it or write it to a file."""
        from fourfifths._tables.files import write_whole

        if self.plot is not None:
            draw_plot(result, self.plot)
        is_look = self.out is None and self.form == Format.TABLE
        limit = MAX_BYTES_HASHED_FOR_SCREEN if is_look else inf
        provenance = provenance_of(source, max_hashed_bytes=limit)
        if self.out is None:
            show(result, self.form, provenance)
            return
        write_whole(self.out, shell_text(result, self.form, provenance))
        typer.echo(f"wrote {self.out}", err=True)


@dataclass(frozen=True, kw_only=True)
class PageOutputOptions(OutputOptions):
    """Where a result goes if it is a page, and not rows of a table."""

    formats: ClassVar[type[StrEnum]] = PageFormat

    output_format: Annotated[PageFormat | None, FORMAT_OPTION] = None  # type: ignore[assignment]


def verdict_code(verdict: str, fail_on: FailOnVerdict | None) -> int:
    """Return the exit code of a command that ends with a verdict.

    Examples
    --------
    >>> verdict_code("inconclusive", FailOnVerdict.NOT_CERTIFIED)
    0
    >>> verdict_code("inconclusive", FailOnVerdict.INCONCLUSIVE)
    3
    """
    failures = {
        None: (),
        FailOnVerdict.NOT_CERTIFIED: ("not certified",),
        FailOnVerdict.INCONCLUSIVE: ("not certified", "inconclusive"),
    }
    return FAILED if verdict in failures[fail_on] else 0


def check_writable(option: str, path: Path) -> None:
    """Refuse a file whose folder does not exist, or that is a folder."""
    if not path.resolve().parent.is_dir():
        raise OutputError(
            f"{option} {path}: there is no folder {path.resolve().parent}; it cannot be written"
        )
    if path.is_dir():
        raise OutputError(f"{option} {path}: cannot be written: it is a folder")


def is_same_file(first: Path, second: Path) -> bool:
    """Return whether two names mean the same file, which need not exist yet."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a page came about, so that it can be made again and its source recognised.

    Attributes
    ----------
    command, date, version : str
        The command line, when it ran (UTC), and the version of the package.
    file : str
        The file that was read.
    sha256 : str or None
        The SHA-256 of its bytes; None if the file is too large to take it for a look.
    """

    command: str
    date: str
    version: str
    file: str
    sha256: str | None

    def lines(self) -> tuple[str, ...]:
        """Return the end of a page."""
        command = f"Command: {self.command}"
        date = f"Date: {self.date}; fourfifths {self.version}"
        if self.sha256 is None:
            return command, date, f"{self.file} is large; --out writes a page with its SHA-256"
        return command, f"{date}; {self.file} has the SHA-256", self.sha256


def provenance_of(source: str, *, max_hashed_bytes: float = inf) -> Provenance:
    """Return the provenance of what this command shows about a file or a shipped data set.

    The hash reads all bytes, so of a file with more than `max_hashed_bytes` it is not taken.
    """
    import shlex

    from fourfifths import __version__
    from fourfifths._tables.files import file_sha256
    from fourfifths._tables.table import source_files

    files = source_files(source)
    byte_count = sum(file.stat().st_size for file in files)
    return Provenance(
        command=shlex.join(["fourfifths", *sys.argv[1:]]),
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=__version__,
        file=source,
        # Of several files, of their bytes one after the other.
        sha256=file_sha256(*files) if byte_count <= max_hashed_bytes else None,
    )


def signing_key(sign: Path | None, out: Path | None) -> Ed25519PrivateKey | None:
    """Return the private key, before anything is computed; None if nothing is to be signed."""
    if sign is None or out is None:
        return None
    from fourfifths._evidence.signing import load_private_key, signature_path

    check_writable("--sign", signature_path(out))
    if is_same_file(sign, out) or is_same_file(sign, signature_path(out)):
        raise OutputError(f"--sign {sign}: is the name of a file that is written; choose another")
    if not sign.exists():
        raise OptionError(f"--sign {sign}: no such file; 'fourfifths keygen' makes a pair of keys")
    return load_private_key(sign)


def write_signature(
    path: Path, *, kind: FileKind, key: Ed25519PrivateKey, source: str | Subject
) -> None:
    """Sign a file that was written, as one about a table."""
    from fourfifths._evidence.filed import subject_of
    from fourfifths._evidence.signing import sign_file

    about = subject_of(source) if isinstance(source, str) else source
    typer.echo(f"wrote {sign_file(path, kind=kind, key=key, about=about)}", err=True)


def draw_plot(result: Result, plot: Path) -> None:
    """Draw a result to a file; a note says which letters no font has."""
    from fourfifths._plot.style import letters_without_font
    from fourfifths._tables.files import replace_file

    figure = result.plot()
    ending = plot.suffix.lower().removeprefix(".")
    with warnings.catch_warnings():
        # matplotlib's warnings name places in its code.
        warnings.simplefilter("ignore", UserWarning)
        replace_file(plot, lambda temporary: figure.savefig(temporary, format=ending, dpi=PLOT_DPI))
    typer.echo(f"wrote {plot}", err=True)
    if letters := letters_without_font(figure):
        typer.echo(
            f"note: {plot}: no installed font has these letters, which are drawn as boxes: "
            f"{letters}; install one, such as Noto Sans",
            err=True,
        )


def show(result: Result, form: StrEnum, provenance: Provenance | None = None) -> None:
    """Print a result on standard output; a table in colour if that is a terminal."""
    if form == Format.TABLE:
        from fourfifths._report import print_document

        print_document(shell_document(result, provenance), sys.stdout)
    else:
        sys.stdout.write(shell_text(result, form, provenance))


def shell_text(result: Result, form: StrEnum, provenance: Provenance | None = None) -> str:
    """Return a result in one of the formats, without colour."""
    from fourfifths._report import document_markdown, document_text
    from fourfifths._report.csv import records_csv

    def as_json() -> str:
        content = result.to_dict()
        if provenance is not None:
            content["provenance"] = asdict(provenance)
        if CONTENT_HASH in content:
            content = sealed(content)
        return json_text(content)

    renderers: dict[str, Callable[[], str]] = {
        Format.TABLE: lambda: f"{document_text(shell_document(result, provenance))}\n",
        Format.JSON: lambda: f"{as_json()}\n",
        Format.CSV: lambda: records_csv(result.to_records()),
        Format.MARKDOWN: lambda: document_markdown(shell_document(result, provenance)),
    }
    return renderers[form]()


def shell_document(result: Result, provenance: Provenance | None = None) -> Any:
    """Return a result as a page that names options instead of Python arguments.

    That is why the shell renders the page itself, and does not call `Result.to_markdown`.
    """
    from fourfifths._report import to_document

    document = to_document(result)
    if provenance is not None:
        document = replace(document, closing=(*document.closing, *provenance.lines()))
    # A text names an argument as in `unknown=['?']`. Without one there is nothing to translate.
    sentences = [sentence for section in document.sections for sentence in section.sentences]
    if not any("=" in text for text in (*document.notes, *(line.text for line in sentences))):
        return document
    from fourfifths._cli.messages import for_shell

    notes = tuple(for_shell(note, is_note=True) for note in document.notes)
    sections = tuple(
        replace(
            section,
            sentences=tuple(
                replace(sentence, text=for_shell(sentence.text, is_note=True))
                for sentence in section.sentences
            ),
        )
        for section in document.sections
    )
    return replace(document, notes=notes, sections=sections)


def reference_of(texts: Sequence[str] | None, protected: Sequence[str] | None) -> Any:
    """Return the designated reference: a value, COL=V pairs, or None."""
    if not texts:
        return None
    # With one protected column its name may be omitted; a data set knows its own.
    if len(texts) == 1 and "=" not in texts[0] and len(protected or ("",)) == 1:
        return texts[0]
    return pairs(texts, "--reference", protected)


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
        if column in values:
            raise OptionError(f"{option} {text!r}: {column!r} has a value already; give it once")
        values[column] = text[len(column) + 1 :]
    return values


def bands(texts: Sequence[str] | None, columns: Sequence[str] | None) -> dict[str, list[float]]:
    """Read COL=N,N; where there is one column to cut, N,N will do."""
    only = f"{columns[0]}=" if columns and len(columns) == 1 else ""
    named = [text if "=" in text else f"{only}{text}" for text in texts or ()]
    edges = {}
    for column, text in pairs(named, "--band", columns).items():
        try:
            edges[column] = [float(edge) for edge in text.split(",")]
        except ValueError:
            raise OptionError(
                f"--band {column}={text}: expected numbers separated by commas, as in age=40"
            ) from None
    return edges


def ages(columns: Sequence[str] | None, on: str | None) -> dict[str, str] | None:
    """Return the day on which the ages of each column of dates of birth count."""
    if columns and on is None:
        raise OptionError(
            f"--age-from {columns[0]}: on which day do ages count? Give it, as in --on 2026-01-01"
        )
    if on is not None and not columns:
        raise OptionError(f"--on {on}: is the day of --age-from, which is missing")
    return {column: str(on) for column in columns} if columns else None


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
