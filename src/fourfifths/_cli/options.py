"""The options that commands share, and how their texts are read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from fourfifths.errors import OptionError, OutputError


class Format(StrEnum):
    """How a result is shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class CertificateFormat(StrEnum):
    """How a certificate is shown."""

    TABLE = "table"
    JSON = "json"
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
Protected = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL", help="A protected column; repeat it for each alone and all jointly."
    ),
]
Outcome = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says what happened.")
]
Favorable = Annotated[
    str | None, typer.Option(metavar="V", help="The outcome that means selected.")
]
Reference = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=V", help="The designated reference group of a protected column."),
]
Band = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=N,N",
        help="Cut a numeric protected column, N itself below: --band age=39 makes <= 39 and > 39.",
    ),
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(metavar="V", help="A value that means that membership is not known."),
]
FormatT = TypeVar("FormatT", bound=StrEnum)


def format_of(chosen: FormatT | None, out: Path | None, formats: type[FormatT]) -> FormatT:
    """Return the format asked for, or the one that the output file's ending names."""
    if chosen is not None:
        return chosen
    endings = {".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "table"}
    named = endings.get(out.suffix.lower() if out else "", "table")
    if named not in [each.value for each in formats]:
        raise OptionError(f"--out {out}: cannot be written as {named}; name a --format")
    return formats(named)


def deliver(text: str, out: Path | None, source: str) -> None:
    """Print a result, or write it to a file that is not the one it was made from."""
    if out is None:
        sys.stdout.write(text)
        return
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise OutputError(f"--out {out}: is the file that is audited; choose another name")
    from fourfifths._tables.files import write_whole

    write_whole(out, text)
    typer.echo(f"wrote {out}", err=True)


def pairs(
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


def bands(texts: Sequence[str] | None, protected: Sequence[str] | None) -> dict[str, list[float]]:
    """Read COL=N,N."""
    found = {}
    for column, edges in pairs(texts, "--band", protected).items():
        try:
            found[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise OptionError(
                f"--band {column}={edges}: expected numbers separated by commas, as in age=25,40"
            ) from None
    return found


def rates(text: str | None) -> float | tuple[float, float] | None:
    """Read a rate, or a range of two."""
    if text is None:
        return None
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) == 1:
        return found[0]
    if len(found) == 2:
        return found[0], found[1]
    raise OptionError(f"--beta {text}: expected a rate, or two separated by a comma: 0.2,0.3")
