"""Files in and out: read lazily by DuckDB, written whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

from fourfifths.errors import OutputError, TableError, listed

if TYPE_CHECKING:
    import duckdb
FileKind = Literal["csv", "parquet", "json"]
ENDINGS: dict[str, FileKind] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".jsonl.gz": "json",
}
DELIMITERS = ",;\t|"
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PARQUET_MAGIC = b"PAR1"
# The first bytes of files that are often named .csv by mistake, and what they are.
FOREIGN_STARTS = {
    PARQUET_MAGIC: "Parquet",
    b"PK\x03\x04": "an Excel workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF-": "PDF",
    b'{"': "JSON",
    b"[{": "JSON",
    b"<!DOCTYPE": "HTML",
    b"<html": "HTML",
    b"<?xml": "XML",
}


def kind_of(path: Path) -> FileKind:
    """Return the kind of file that the name's ending stands for."""
    name = path.name.lower()
    for ending, kind in ENDINGS.items():
        if name.endswith(ending):
            return kind
    raise TableError(f"{path}: unknown kind of file; expected a name ending in {listed(ENDINGS)}")


def read(path: str | os.PathLike[str]) -> duckdb.DuckDBPyRelation:
    """Open a CSV, Parquet or JSON lines file without loading its rows.

    The values of a CSV stay text, exactly as written: "01" is not 1, and only an empty field is
    missing. The first line of a CSV holds the column names.
    """
    path = Path(path)
    kind = kind_of(path)
    _check_start(path, kind)

    import duckdb

    # A separate connection neither sees nor changes the caller's; no extension is downloaded.
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    connection.execute("SET enable_progress_bar = false")
    # DuckDB would read *, ? and [ in a path as a pattern for several files.
    literal = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
    try:
        if kind == "parquet":
            return connection.read_parquet(literal)
        if kind == "json":
            # All rows decide the types: a sample would change or lose values in later rows.
            return connection.read_json(literal, format="newline_delimited", sample_size=-1)
        delimiter, names = csv_header(path)
        # Nothing is left to DuckDB's sniffer, because it skips lines that it cannot parse.
        return connection.read_csv(
            literal,
            header=True,
            auto_detect=False,
            strict_mode=True,
            null_padding=False,
            delimiter=delimiter,
            quotechar='"',
            escapechar='"',
            columns=dict.fromkeys(names, "VARCHAR"),
        )
    except duckdb.Error as error:
        raise TableError(f"{path}: not readable as {kind.upper()}: {in_one_line(error)}") from error


def write_whole(path: str | os.PathLike[str], content: str) -> None:
    """Write text to a file that appears complete or not at all."""
    replace_file(path, lambda temporary: temporary.write_text(content, encoding="utf-8"))


def replace_file(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step.

    A link is followed, and what is not a file (a pipe, a device) is written to directly.
    """
    user_path, path = path, Path(path).resolve()
    try:
        if path.is_dir():
            raise OutputError(f"{user_path}: cannot be written: it is a folder")
        if path.exists() and not path.is_file():
            write(path)
            return
        if not path.parent.is_dir():
            raise OutputError(f"{user_path}: cannot be written: there is no folder {path.parent}")
        handle, name = tempfile.mkstemp(
            prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent
        )
    except OSError as error:
        raise OutputError(f"{user_path}: cannot be written: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        # mkstemp makes files that only their owner reads; a result has the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{user_path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def in_one_line(error: BaseException) -> str:
    """Return an engine's message in one line, without the error's class and the engine's advice."""
    message = str(error).strip().partition("Possible ")[0]
    if "state machine" in message:
        return "its lines end in different ways, or a quote is not closed; save it as CSV anew"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return "; ".join(lines[:3]).partition("Error: ")[2] or "; ".join(lines[:3])


def _first_bytes(path: Path) -> bytes:
    try:
        with _open_bytes(path) as stream:
            start: bytes = stream.read(64)
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except BROKEN_GZIP as error:
        raise TableError(f"{path}: its name ends in .gz, but it is not gzip: {error}") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    return start


def _check_start(path: Path, kind: FileKind) -> None:
    """Raise an error if the content of a file does not match the ending of its name."""
    start = _first_bytes(path)
    text = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not text:
        raise TableError(f"{path}: the file is empty")
    if kind == "parquet" and not start.startswith(PARQUET_MAGIC):
        raise TableError(f"{path}: its name says Parquet, but the file is not Parquet")
    if kind == "json" and not text.startswith(b"{"):
        raise TableError(
            f"{path}: its name says JSON lines, but the first line does not begin with '{{'; "
            "expected one JSON object per line"
        )
    if kind == "csv":
        for foreign, name in FOREIGN_STARTS.items():
            if text.lower().startswith(foreign.lower()):
                raise TableError(f"{path}: its name says CSV, but the file looks like {name}")
        if b"\x00" in start:
            raise TableError(f"{path}: its name says CSV, but the file is binary or not UTF-8")


def csv_header(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter of a CSV file and the names of its columns, which must all differ."""
    try:
        with _open_bytes(path) as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
            line = text.readline()
            # A name in quotes may hold line ends.
            while line.count('"') % 2 and (more := text.readline()):
                line += more
        fields = {delimiter: _fields(line, delimiter) for delimiter in DELIMITERS}
    except UnicodeDecodeError:
        raise TableError(f"{path}: the file is not UTF-8; save it as UTF-8 first") from None
    except BROKEN_GZIP as error:
        raise TableError(f"{path}: the first line cannot be read: {error}") from None
    # The one that makes the most columns; the comma if several do.
    delimiter = max(DELIMITERS, key=lambda candidate: len(fields[candidate]))
    names = [name for name in fields[delimiter] if name]
    if not names:
        raise TableError(f"{path}: the first line is blank; expected the names of the columns")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(
            f"{path}: the first line names column {listed(repeated)} more than once; "
            "expected one name per column"
        )
    # DuckDB's names do not depend on case.
    lower_names = [name.lower() for name in names]
    alike = sorted({name for name in names if lower_names.count(name.lower()) > 1})
    if alike:
        raise TableError(f"{path}: the columns {listed(alike)} differ only in case; rename one")
    # A column without a name, as pandas writes for its index, is called by its index.
    return delimiter, [name or f"column{index}" for index, name in enumerate(fields[delimiter])]


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a record, or none if it cannot be split at this delimiter."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _open_bytes(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")
