"""Files in and out: read lazily by DuckDB, written whole or not at all.

Only the first lines of a text file are looked at to learn how it is laid out: its letters, its
delimiter, and the line with the names of the columns. Whatever was assumed is said in one note.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import hashlib
import io
import json
import mmap
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast
from urllib.parse import unquote

import numpy as np

from fourfifths._tables.values import ROWS_PER_PIECE, Reading, bytes_and_offsets, is_number
from fourfifths._text import listed
from fourfifths.errors import FourfifthsError, OptionError, OutputError, TableError

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
FileKind = Literal["csv", "parquet", "json", "workbook"]
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
    ".xlsx": "workbook",
    ".xlsm": "workbook",
}
# What reads these does not say which of their cells hold an error or a formula without a result.
OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")
DIGESTED_BYTES = 2**20  # of a file at a time
ROWS_PER_GROUP = 1_048_576  # of a Parquet file that is written
OUT_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")
DELIMITERS = ",;\t|"
DELIMITER_NAMES = {";": "semicolons", "\t": "tabs", "|": "bars"}
# Folders of tables with versions have a log of them.
LOGS_OF_VERSIONS = {
    "_delta_log": "a Delta table",
    ".hoodie": "a Hudi table",
    "metadata/*.metadata.json": "an Iceberg table",
}
GLOB_LETTERS = {*"*?["}
MAX_NAMED_FILES = 5  # of those that look like data but are not read
HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
PARQUET_MAGIC = b"PAR1"
ZIP_MAGIC = b"PK\x03\x04"
OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0"
# The first bytes of files that are often named .csv by mistake, and what they are.
FOREIGN_STARTS = {
    PARQUET_MAGIC: "Parquet",
    ZIP_MAGIC: "an Excel workbook or a zip archive",
    OLD_EXCEL_MAGIC: "an old Excel workbook",
    b"%PDF-": "PDF",
    b'{"': "JSON",
    b"[{": "JSON",
    b"<!DOCTYPE": "HTML",
    b"<html": "HTML",
    b"<?xml": "XML",
}
HEAD_BYTES = 2**16
MAX_HEAD_BYTES = 2**20
MAX_HEAD_RECORDS = 200
MAX_TITLE_RECORDS = 30
# Up to here a whole file is checked to be UTF-8, which takes less than a tenth of a second. In a
# larger one only the head is; DuckDB stops at what comes later.
MAX_CHECKED_BYTES = 2**26
COPIED_LETTERS = 2**20
QUOTE = '"'
# As DuckDB has it: other programs may take a line that begins with # for a comment.
QUOTED_LETTERS = f"{QUOTE}#\r\n"
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
DATE_CELL = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?")
# The delimiter that Excel is told by a first line of its own.
DELIMITER_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class CsvStyle:
    """How a CSV file is written, so that a repaired one looks like the one that was read.

    Attributes
    ----------
    delimiter, line_end, encoding : str
    written_names : mapping of str to str
        What the file calls a column, where it differs from what the column is called here.
    """

    delimiter: str = ","
    line_end: str = "\n"
    encoding: str = "utf-8"
    written_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """A file that was opened; its rows are not loaded.

    Attributes
    ----------
    path : Path
    kind : {"csv", "parquet", "json", "workbook"}
    relation : DuckDB relation
    notes : tuple of str
        What was assumed.
    style : CsvStyle
    first_row_line : int
        The line of a CSV below its header.
    copy : NamelessFile or None
        What DuckDB reads in the place of a CSV that it could not read.
    paths : tuple of Path
        The files that it is made of: more than one of a folder or a pattern of Parquet files.
    is_hive : bool
        Whether the names of folders, such as year=2025, are columns too.
    empty_row : bytes
        A line of a CSV that has no value at all, without its end; nothing for other files.
    """

    path: Path
    kind: FileKind
    relation: duckdb.DuckDBPyRelation
    notes: tuple[str, ...] = ()
    style: CsvStyle = CsvStyle()
    first_row_line: int = 2
    copy: NamelessFile | None = None
    paths: tuple[Path, ...] = ()
    is_hive: bool = False
    empty_row: bytes = b""

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", self.paths or (self.path,))

    @property
    def is_packed(self) -> bool:
        """Whether it is a gzip file."""
        return self.path.name.lower().endswith(".gz")

    @cached_property
    def may_have_empty_rows(self) -> bool:
        """Whether a line is nothing but delimiters, as spreadsheets write below their last row.

        A cell may look like such a line, but only between quotes. A packed file may always have
        some: to unpack it for this would take longer than to ask each row.
        """
        if not self.empty_row or self.is_packed:
            return bool(self.empty_row)
        lines = [b"\n" + self.empty_row + end for end in (b"\n", b"\r")]
        path = self.path if self.copy is None else self.copy.path
        with path.open("rb") as stream:
            try:
                content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):  # an empty file, or a pipe
                return False
            with content:
                return content[-len(lines[0]) + 1 :] == lines[0][:-1] or any(
                    content.find(line) >= 0 for line in lines
                )

    @cached_property
    def declared_categories(self) -> frozenset[str]:
        """The columns of a Parquet file that its Arrow schema declares to be dictionaries.

        Of several files the first counts. DuckDB reads such a column as plain text.
        """
        if self.kind != "parquet":
            return frozenset()
        import pyarrow as pa
        from pyarrow import parquet

        try:
            schema = parquet.read_schema(self.paths[0])
        except (pa.ArrowException, OSError):  # DuckDB says it in its own words, if it is an error
            return frozenset()
        names = unique_names(schema.names)
        return frozenset(
            name
            for name, dtype in zip(names, schema.types, strict=True)
            if pa.types.is_dictionary(dtype)
        )

    def partition_of(self, path: Path) -> dict[str, str | None]:
        """Return the columns that the names of a file's folders make, and their values."""
        return partition_of(path.relative_to(searched_folder(self.path))) if self.is_hive else {}

    def error(self, error: BaseException, name: str) -> TableError:
        """Return an engine's error while the rows were read as one line with the remedy."""
        message = str(error)
        if self.kind == "csv" and "not utf-8 encoded" in message:
            line = re.search(r"Line: (\d+)", message)
            where = f" (line {line[1]})" if line else ""
            return TableError(f"{name}: the file is not UTF-8{where}; save it as UTF-8 first")
        if self.kind == "csv" and "unterminated quote" in message:
            line = re.search(r"Line: (\d+)", message)
            where = f" (from line {line[1]} on)" if line else ""
            return TableError(f"{name}: a quote is not closed{where}; close or remove it")
        if self.kind == "csv" and "Expected Number of Columns" in message:
            return TableError(f"{name}: {self.ragged_line(message)}")
        return TableError(f"{name}: cannot be read: {in_one_line(error)}")

    def lines(self) -> Any:
        """Return the lines of a JSON lines file as an Arrow column."""
        source = _sql_text(_literal(self.path))
        return _connection().sql(f"FROM read_ndjson_objects({source})").to_arrow_table().column(0)

    def ragged_line(self, message: str) -> str:
        """Say which line has too many or too few fields."""
        pattern = r"on Line: (\d+).*Number of Columns: (\d+) Found: (\d+)"
        numbers = re.search(pattern, message, re.DOTALL)
        if numbers is None:
            return f"cannot be read: {message.splitlines()[0]}"
        line, expected, fields = map(int, numbers.groups())
        # DuckDB counts records, not lines, where a field holds line ends.
        if self.path.stat().st_size <= MAX_CHECKED_BYTES:
            with (
                suppress(csv.Error, UnicodeDecodeError),
                _open_text(self.path, self.style.encoding) as text,
            ):
                reader = csv.reader(text, delimiter=self.style.delimiter)
                start = 1
                for record in reader:
                    is_row = start >= self.first_row_line
                    if is_row and record and len(record) == fields != expected:
                        line = start
                        break
                    start = reader.line_num + 1
        return (
            f"line {line} has {_count(fields, 'field')}, and the header has {expected}; correct "
            "that line, or put a value that holds the delimiter in quotes"
        )


def kind_of(path: Path) -> FileKind:
    """Return the kind of file that the name's ending stands for."""
    name = path.name.lower()
    for ending, kind in ENDINGS.items():
        if name.endswith(ending):
            return kind
    if name.endswith(OTHER_SHEETS):
        raise TableError(f"{path}: this kind of spreadsheet is not read; save it as .xlsx or .csv")
    raise TableError(f"{path}: unknown kind of file; expected a name ending in {listed(ENDINGS)}")


def open_file(
    path: str | os.PathLike[str],
    reading: Reading,
    *,
    read_workbook: Callable[[Path, Reading], tuple[Any, tuple[str, ...]]],
) -> TableFile:
    """Open a CSV, Parquet or JSON lines file, or a workbook, without loading its rows.

    The values of a CSV stay text, exactly as written: "01" is not 1, and only an empty field is
    missing. Only the rows of a workbook are loaded at once, by `read_workbook`.
    """
    if ADDRESS.match(os.fspath(path)):
        raise TableError(f"{os.fspath(path)}: is an address; download the file first")
    path = Path(path)
    files = parquet_files(path)
    if not files and path.is_dir():
        unread = unread_files(path)
        raise TableError(
            f"{path}: cannot be read: it is a folder without Parquet files; name a file in it"
            f"{f', such as {unread}' if unread else ''}"
        )
    kind = "parquet" if files else kind_of(path)
    check_reading(path, kind, reading)
    if files:
        return open_parquet_files(path, files, reading)
    if reading.hive:
        raise OptionError(f"hive=True: {path} is one file, and not a folder; leave it out")
    check_start(path, kind)
    if kind == "workbook":
        table, notes = read_workbook(path, reading)
        relation = _connection().from_arrow(table)
        return TableFile(path=path, kind=kind, relation=relation, notes=notes)
    if kind == "csv":
        return open_csv(path, reading)

    import duckdb

    connection, literal = _connection(), _literal(path)
    try:
        if kind == "parquet":
            relation = connection.read_parquet(literal, hive_partitioning=False)
        else:
            # All rows decide the types: a sample would change or lose values in later rows.
            relation = connection.read_json(
                literal, format="newline_delimited", sample_size=-1, hive_partitioning=False
            )
    except duckdb.Error as error:
        if "differ only in case" in str(error):
            names = re.findall(r"'([^']*)'", str(error))[:2]
            raise TableError(f"{path}: keys {listed(names)} differ only in case; rename one") from (
                error
            )
        raise TableError(f"{path}: not readable as {kind.upper()}: {in_one_line(error)}") from error
    return with_written_names(TableFile(path=path, kind=kind, relation=relation))


def check_reading(path: Path, kind: FileKind, reading: Reading) -> None:
    """Raise if the user says something that has no meaning for a file of this kind."""
    if reading.sheet is not None and kind != "workbook":
        raise OptionError(f"sheet={reading.sheet!r}: {path} is not a workbook; leave it out")
    if reading.header_row is not None and kind in ("parquet", "json"):
        raise OptionError(f"header_row={reading.header_row}: {path} has no line of names")
    if reading.hive and kind != "parquet":
        raise OptionError(f"hive=True: {path} is not a folder of Parquet files; leave it out")


def parquet_files(path: Path) -> tuple[Path, ...]:
    """Return the Parquet files of a folder, or those that a pattern like day-*.parquet names.

    Nothing if the path is a file. Links are followed, and a file that is reached twice is there
    once. Names below the folder that begin with a dot or a low line are left out, as programs use
    them for files of their own; only a folder such as _year=2025 is a column.
    """
    if path.is_dir():
        check_has_no_versions(path)
        return tuple(file for file in files_below(path) if is_parquet_below(path, file))
    if not GLOB_LETTERS & {*str(path)} or path.exists():
        return ()
    folder = searched_folder(path)
    check_has_no_versions(folder)
    files = once_each(
        folder,
        (
            name
            for name in map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207
            if name.is_file() and is_parquet_below(folder, name, asked=path.parts)
        ),
    )
    if not files:
        raise TableError(f"{path}: no Parquet file has a name like that")
    return tuple(files)


def searched_folder(path: Path) -> Path:
    """Return the folder below which the files of a folder or a pattern are.

    Examples
    --------
    >>> searched_folder(Path("data/run=5/sex=*/*.parquet")).as_posix()
    'data/run=5'
    """
    if path.is_dir():
        return path
    return Path(*takewhile(lambda name: not GLOB_LETTERS & {*name}, path.parts))


def check_has_no_versions(folder: Path) -> None:
    """Refuse the folder of a table with versions, which keeps files of earlier ones."""
    logs = [(name, log) for log, name in LOGS_OF_VERSIONS.items() if any(folder.glob(log))]
    if logs:
        name, log = logs[0]
        raise TableError(
            f"{folder}: is the folder of {name} (it has {log}), which may keep files of earlier "
            "versions of the table; write the version that you mean to a Parquet file first"
        )


def is_parquet_below(folder: Path, file: Path, *, asked: Collection[str] = ()) -> bool:
    """Return whether a file below a folder is data, by the names on the way to it.

    Names in `asked` may begin with a dot or a low line.

    Examples
    --------
    >>> folder = Path("days")
    >>> [is_parquet_below(folder, folder / name) for name in ("a.PARQUET", "_temporary/a.parquet")]
    [True, False]
    """
    *folders, name = file.relative_to(folder).parts
    names = [*(name for name in folders if "=" not in name), name]
    is_hidden = any(name[0] in "._" and name not in asked for name in names)
    return name.lower().endswith(".parquet") and not is_hidden


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, in the order of their names; links are followed."""
    files = []
    waiting: list[tuple[Path, tuple[Path, ...]]] = [(folder, ())]
    while waiting:
        current, above = waiting.pop()
        real = current.resolve()
        if real in above:  # a link to a folder that it is in
            continue
        try:
            entries = list(current.iterdir())
        except OSError as error:
            raise TableError(f"{current}: cannot be read: {error.strerror}") from error
        waiting += [(entry, (*above, real)) for entry in entries if entry.is_dir()]
        files += [entry for entry in entries if entry.is_file()]
    return once_each(folder, files)


def once_each(folder: Path, files: Iterable[Path]) -> list[Path]:
    """Return files below a folder, sorted, without those that a link leads to a second time."""
    real_folder = folder.resolve()
    names: dict[Path, Path] = {}

    def is_link(file: Path) -> bool:
        return real_folder / file.relative_to(folder) != file.resolve()

    for file in sorted(files, key=lambda file: (is_link(file), file)):
        first = names.setdefault(file.resolve(), file)
        if partition_of(first.relative_to(folder)) != partition_of(file.relative_to(folder)):
            raise TableError(
                f"{file}: is the same file as {first}, in a folder of another name; its rows would "
                "belong to both; copy the file, or remove one of the links"
            )
    return sorted(names.values())


def unread_files(folder: Path) -> str:
    """Return the names of the files below a folder that look like data but are not read."""
    unread = []
    for file in files_below(folder):
        is_data = file.name.lower().endswith(tuple(ENDINGS))
        if not is_data and file.name[0] not in "._":
            with suppress(OSError), file.open("rb") as stream:
                is_data = stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
        if is_data and not is_parquet_below(folder, file):
            unread.append(str(file.relative_to(folder)))
    more = len(unread) - MAX_NAMED_FILES
    return listed(unread[:MAX_NAMED_FILES]) + (f" and {more:,} more" if more > 0 else "")


def partition_of(path: Path) -> dict[str, str | None]:
    """Return what the names of a file's folders say, as in year=2025.

    The path is that below the folder of the table.

    Examples
    --------
    >>> partition_of(Path("hired/sex=F/state=New%20York/part.parquet"))
    {'sex': 'F', 'state': 'New York'}
    """
    pairs = [name.partition("=") for name in path.parts[:-1] if "=" in name]
    try:
        return {
            unquote(key, errors="strict"): None
            if value == HIVE_MISSING
            else unquote(value, errors="strict")
            for key, _, value in pairs
        }
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path}: the name of a folder is not UTF-8 once its % signs are decoded; rename it"
        ) from error


def open_parquet_files(path: Path, files: tuple[Path, ...], reading: Reading) -> TableFile:
    """Open several Parquet files as one table."""
    for file in files:
        check_start(file, "parquet")
    folder = searched_folder(path)
    partitions = [partition_of(file.relative_to(folder)) for file in files]
    keys = list(partitions[0])
    if not reading.hive and any(partitions):
        example = next(file.parent for file, pairs in zip(files, partitions, strict=True) if pairs)
        raise TableError(
            f"{path}: the names of its folders are columns, as in {example.name}; say hive=True to "
            "read them, or name one of these folders, to read only that one without the column"
        )
    if reading.hive and (not keys or any(list(pairs) != keys for pairs in partitions)):
        raise TableError(
            f"{path}: hive=True: expected folders with names like year=2025 below {folder}, the "
            "same columns for each file"
        )
    check_same_columns(path, files)
    import duckdb

    connection = _connection()
    try:
        names = ", ".join(_sql_text(_literal(file)) for file in files)
        # Values of folders are text, as those of a CSV are.
        relation = connection.sql(
            f"FROM read_parquet([{names}], hive_partitioning = {reading.hive}, "
            "hive_types_autocast = false)"
        )
        first = connection.read_parquet(_literal(files[0]), hive_partitioning=False).columns
    except duckdb.Error as error:
        raise TableError(f"{path}: not readable as Parquet: {in_one_line(error)}") from error
    if reading.hive:
        # DuckDB reads names without regard to case, and those of all folders above too.
        lower_names = {name.lower() for name in first}
        both = [key for key in partition_of(files[0].absolute()) if key.lower() in lower_names]
        if both:
            raise TableError(f"{path}: {listed(both)} is a column of the files and of folders")
        relation = relation.project(", ".join(map(_sql_name, [*first, *keys])))
    unread = unread_files(path) if path.is_dir() else ""
    notes = (
        f"not read below {path}: {unread}; of a folder only Parquet files are read, and none whose "
        "name, or whose folder's name, begins with a dot or a low line",
    )
    opened = TableFile(
        path=path,
        kind="parquet",
        relation=relation,
        paths=files,
        notes=notes if unread else (),
        is_hive=reading.hive,
    )
    return with_written_names(opened)


def check_same_columns(path: Path, files: Sequence[Path]) -> None:
    """Raise unless all Parquet files have the same columns, of the same types, in the same order.

    DuckDB would read those of the first file in all others, and cast what they hold.
    """
    if len(files) < 2:
        return
    import pyarrow as pa
    from pyarrow import parquet

    expected = None
    for file in files:
        try:
            schema = parquet.read_schema(file).remove_metadata()
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{path}: not readable as Parquet: {in_one_line(error)}") from error
        if expected is None:
            expected = schema
        elif not schema.equals(expected):
            raise differing_columns(file, schema, first=files[0], expected=expected)


def differing_columns(path: Path, schema: Any, *, first: Path, expected: Any) -> TableError:
    """Return the error for a Parquet file whose Arrow schema is not that of the first file."""
    difference = f"{len(schema)} columns, not {len(expected)}"
    for column, expected_column in zip(schema, expected, strict=False):
        if not expected_column.equals(column):
            types = [
                f"{kind.type}{'' if kind.nullable else ' not null'}"
                for kind in (column, expected_column)
            ]
            difference = (
                f"{column.name!r} of type {types[0]}, not {expected_column.name!r} of type "
                f"{types[1]}"
            )
            break
    return TableError(
        f"{path}: its columns differ from those of {first} ({difference}); expected the same names "
        "and types in the same order in all files"
    )


def with_written_names(file: TableFile) -> TableFile:
    """Return a Parquet file whose columns that differ only in case are told apart by position."""
    names = file.relation.columns
    lower_names = {name.lower() for name in names}
    # DuckDB calls the second of them A_1.
    is_renamed = any(
        re.search(r"_\d+$", name) and name.rpartition("_")[0].lower() in lower_names
        for name in names
    )
    if file.kind != "parquet" or not is_renamed:
        return file
    from pyarrow import parquet

    written = parquet.read_schema(file.paths[0]).names
    written += list(file.partition_of(file.paths[0]))
    keys = unique_names(written)
    renamed = (
        f"{_sql_name(name)} AS {_sql_name(key)}" for name, key in zip(names, keys, strict=True)
    )
    style = CsvStyle(
        written_names={key: name for key, name in zip(keys, written, strict=True) if key != name}
    )
    return replace(file, relation=file.relation.project(", ".join(renamed)), style=style)


def _connection() -> duckdb.DuckDBPyConnection:
    import duckdb

    # A separate connection neither sees nor changes the caller's; no extension is downloaded.
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    # Moments of a file must not depend on the time zone of the machine.
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    return connection


def _literal(path: Path) -> str:
    """Return a path that DuckDB takes for one file.

    It would read *, ? and [ as a pattern for several files, and ~ as the home folder.
    """
    # Links stay: the names of folders may be columns.
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path.absolute()))


def first_bytes(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TableError(f"{path}: cannot be read: it is a folder; name a file in it")
        # Opening a pipe would wait for its writer, and a device may never end.
        if not stat.S_ISREG(mode):
            raise TableError(f"{path}: is a pipe or a device; save its rows to a file")
        with _open_bytes(path) as stream:
            start = stream.read(64)
            # What a packed file must add up to stands at its end, and DuckDB does not look there.
            while path.name.lower().endswith(".gz") and stream.read(DIGESTED_BYTES):
                continue
            return start
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except BROKEN_GZIP as error:
        raise TableError(f"{path}: not readable as gzip: {error}; save or copy it again") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error


def check_start(path: Path, kind: FileKind) -> None:
    """Raise an error if a file cannot be read, or its content does not match its ending."""
    start = first_bytes(path)
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        raise TableError(f"{path}: the file is empty")
    if kind == "parquet" and not start.startswith(PARQUET_MAGIC):
        raise TableError(f"{path}: its name says Parquet, but the file is not Parquet")
    if kind == "workbook" and not start.startswith(ZIP_MAGIC):
        remedy = "remove its password" if start.startswith(OLD_EXCEL_MAGIC) else "save it again"
        raise TableError(
            f"{path}: its name says Excel workbook, but the file is not, or is locked; {remedy}"
        )
    if kind == "json":
        check_json_start(path, text)
    if kind == "csv":
        for foreign, name in FOREIGN_STARTS.items():
            if text.lower().startswith(foreign.lower()):
                raise TableError(
                    f"{path}: its name says CSV, but the file looks like {name}; save it as CSV, "
                    "or correct the ending of its name"
                )


def check_json_start(path: Path, start: bytes) -> None:
    if start.startswith(b"[") or not start.startswith(b"{"):
        raise TableError(
            f"{path}: its name says JSON lines, but the first line does not begin with '{{'; "
            "expected one JSON object per line"
        )
    with _open_bytes(path) as stream:
        head = stream.read(MAX_HEAD_BYTES)
    if head.startswith(codecs.BOM_UTF8):
        raise TableError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
    line, line_end, _ = head.lstrip().partition(b"\n")
    if line_end:
        try:
            json.loads(line)
        except ValueError:
            raise TableError(
                f"{path}: the first line is not readable as JSON; expected one JSON object per "
                "line, the whole of it"
            ) from None


# ---------------------------------------------------------------- text


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """How the letters of a text file are written.

    Attributes
    ----------
    name : str
        As Python calls it.
    example : str
        A word that shows what was assumed; empty if nothing was.
    """

    name: str
    example: str = ""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of a CSV file, and the lines that it takes; the first line is 1."""

    cells: tuple[str, ...]
    first_line: int
    last_line: int


@dataclass(frozen=True, kw_only=True)
class Header:
    """Where the names of the columns are.

    Attributes
    ----------
    index : int
        The index of the record that holds them.
    is_plain : bool
        Whether nothing but blank lines is above them.
    """

    index: int
    is_plain: bool


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the first lines of a CSV file are laid out.

    Attributes
    ----------
    delimiter : str
    lines : tuple of str
        As they are, with their ends.
    records : tuple of Record
    header : Header
    is_whole : bool
        Whether these are all lines of the file.
    """

    delimiter: str
    lines: tuple[str, ...]
    records: tuple[Record, ...]
    header: Header
    is_whole: bool

    @property
    def line(self) -> Record:
        """The record that holds the names."""
        return self.records[self.header.index]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The records below it."""
        return [record.cells for record in self.records[self.header.index + 1 :] if record.cells]

    @property
    def line_end(self) -> str:
        """How the first row below the header ends its line; all rows should end alike."""
        records = self.records[self.header.index :][:2]
        # The last line of a file may have no end.
        ends = [_line_end(self.lines[record.last_line - 1]) for record in records]
        return ends[-1] or ends[0] or "\n"

    @property
    def has_other_line_ends(self) -> bool:
        """Whether a line down to that of the names ends in another way."""
        head = [*self.lines[: self.line.first_line - 1], self.lines[self.line.last_line - 1]]
        return any(_line_end(line) not in ("", self.line_end) for line in head)

    @property
    def fit(self) -> tuple[bool, bool, bool, int]:
        """How well the delimiter fits: the most columns, if records and quotes agree with it."""
        width = len(self.line.cells)
        header = "".join(self.lines[self.line.first_line - 1 : self.line.last_line])
        is_even = {len(cells) for cells in self.rows} <= {width}
        return width > 1, is_well_quoted(header, self.delimiter), is_even, width

    def names(self, path: Path) -> list[str]:
        """Return a name for each field of a row; it is empty where the header has none.

        If every row ends in the same number of empty fields, the header may lack them or have more.
        """
        names = [cell.strip("\ufeff") for cell in self.line.cells]
        if not any(names):
            raise TableError(f"{path}: the first line is blank; expected the names of the columns")
        width = Counter(map(len, self.rows)).most_common(1)[0][0] if self.rows else len(names)
        if len(names) > width:
            return names if any(names[width:]) else names[:width]
        if len(names) < width and any(any(cells[len(names) :]) for cells in self.rows):
            row = next(
                record
                for record in self.records[self.header.index + 1 :]
                if len(record.cells) == width
            )
            raise TableError(
                f"{path}: line {row.first_line} has {_count(width, 'field')}, and the header (line "
                f"{self.line.first_line}) has {len(names)}; correct the line, or put a value that "
                "holds the delimiter in quotes; if the names are in another line, say which, as in "
                "header_row=3"
            )
        return [*names, *[""] * (width - len(names))]


class NamelessFile:
    """A file without a name: nothing is left of it, however the process ends.

    Where the system has no such files it has a name, and is removed once nothing refers to this
    object.

    Parameters
    ----------
    folder : Path
    name : str, optional
        How the name begins, if the file must have one.
    ending : str, optional
        How it ends.

    Attributes
    ----------
    path : Path
        Where this process finds it.
    has_name : bool
    remove : callable
        Remove the file now, unless it was moved.
    """

    def __init__(self, folder: Path, *, name: str = "fourfifths-", ending: str = "") -> None:
        self._beginning, self._ending = name, ending
        try:
            handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        except (AttributeError, OSError):  # another system, or a folder of one
            self.has_name = True
        else:
            self.path = Path(f"/proc/{os.getpid()}/fd/{handle}")
            self.has_name = not self.path.exists()
            self.remove: Callable[[], object] = weakref.finalize(self, os.close, handle)
        if self.has_name:
            handle, path = tempfile.mkstemp(prefix=name, suffix=ending, dir=folder)
            os.close(handle)
            self.path = Path(path)
            self.remove = weakref.finalize(self, self.path.unlink, missing_ok=True)

    def move_to(self, path: Path) -> None:
        """Give the file this name in its folder, in place of what has it now."""
        named = self.path
        if not self.has_name:
            # The link to a file needs a new name: it does not replace one.
            named = path.parent / f"{self._beginning}{secrets.token_hex(4)}{self._ending}"
            # Python links to what /proc points to, and not to the pointer, only if it is told of a
            # folder; the system does not look at it, because the path is absolute.
            os.link(self.path, named, src_dir_fd=0, follow_symlinks=True)
        try:
            named.replace(path)
        except OSError:
            named.unlink(missing_ok=True)
            raise


@contextmanager
def room_for_temporary_files() -> Iterator[None]:
    """Say what is wrong if temporary files cannot be written."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{tempfile.gettempdir()}: temporary files cannot be written: {error.strerror}; name a "
            "folder with more room in the environment variable TMPDIR"
        ) from error


def open_csv(path: Path, reading: Reading) -> TableFile:
    encoding = encoding_of(path)
    layout = layout_of(path, encoding, reading)
    line, names = layout.line, layout.names(path)
    keys = unique_names(names)
    is_tabs = path.name.lower().endswith((".tsv", ".tsv.gz"))
    style = CsvStyle(
        # A .tsv file has tabs for its ending, and a .csv made of it has commas.
        delimiter="," if is_tabs else layout.delimiter,
        line_end="\r\n" if layout.line_end == "\r\n" else "\n",
        encoding=encoding.name,
        written_names={key: name for key, name in zip(keys, names, strict=True) if key != name},
    )
    # DuckDB takes the first line end that it sees for that of all lines, also within quotes; and it
    # reads UTF-8.
    must_be_copied = (
        encoding.name not in ("utf-8", "utf-8-sig")
        or any('"' in title for title in layout.lines[: line.first_line - 1])
        or line.last_line > line.first_line
        or layout.has_other_line_ends
    )
    copy = utf8_copy(path, encoding, layout, len(keys)) if must_be_copied else None
    # It reads the header as a record, so it must have as many fields as the rows.
    skips_header = copy is None and len(line.cells) != len(names)
    skipped_lines = line.last_line if skips_header else line.first_line - 1
    import duckdb

    try:
        # Nothing is left to DuckDB's sniffer, because it skips lines that it cannot parse.
        relation = _connection().read_csv(
            _literal(path) if copy is None else str(copy.path),
            header=not skips_header,
            skiprows=skipped_lines if copy is None else 0,
            auto_detect=False,
            strict_mode=True,
            null_padding=False,
            delimiter=layout.delimiter,
            quotechar='"',
            escapechar='"',
            columns=dict.fromkeys(keys, "VARCHAR"),
            hive_partitioning=False,
        )
    except duckdb.Error as error:
        raise TableError(f"{path}: not readable as CSV: {in_one_line(error)}") from error
    file = TableFile(
        path=path,
        kind="csv",
        relation=relation,
        style=style,
        first_row_line=line.last_line + 1,
        copy=copy,
        # A line of a table with one column is a value, or nothing at all.
        empty_row=layout.delimiter.encode() * (len(keys) - 1),
    )
    empty = empty_at_the_end(file, names, keys, layout.rows if layout.is_whole else None)
    if empty:
        file = replace(file, relation=relation.project(", ".join(map(_sql_name, keys[:-empty]))))
    is_declared = is_tabs or DELIMITER_LINE.match(layout.lines[0])
    assumed = {
        f"columns separated by {DELIMITER_NAMES.get(layout.delimiter)}": (
            layout.delimiter in DELIMITER_NAMES and not is_declared
        ),
        f"letters of Windows (cp1252), as in {encoding.example}": encoding.example,
        f"the names of the columns in line {line.first_line}, and what is above left out": (
            not layout.header.is_plain and reading.header_row is None
        ),
        f"the empty {_count(empty, 'column')} at the end left out": empty,
    }
    assumptions = "; ".join(text for text, is_so in assumed.items() if is_so)
    return replace(file, notes=(f"{path.name} was read with {assumptions}",) if assumptions else ())


def empty_at_the_end(
    file: TableFile,
    names: Sequence[str],
    keys: Sequence[str],
    rows: Sequence[Sequence[str]] | None,
) -> int:
    """Return how many of the last columns have neither a name nor a value.

    Parameters
    ----------
    file : TableFile
    names, keys : sequence of str
    rows : sequence of sequence of str, or None
        All rows, if the head of the file is the whole of it.
    """
    unnamed = len(names) - max(index + 1 for index, name in enumerate(names) if name)
    if not unnamed:
        return 0
    if rows is not None and len({len(cells) for cells in rows} | {len(names)}) == 1:
        filled = [sum(bool(cells[index]) for cells in rows) for index in range(-unnamed, 0)]
    else:
        # The whole file is read for it, but only of a file that has such columns.
        quoted = (f"count({_sql_name(key)})" for key in keys[-unnamed:])
        try:
            filled = list(file.relation.aggregate(", ".join(quoted)).fetchall()[0])
        except Exception as error:
            raise file.error(error, str(file.path)) from error
    return next((index for index, count in enumerate(reversed(filled)) if count), unnamed)


def unique_names(names: Sequence[str]) -> list[str]:
    """Return a name for each column, all different, whatever their case.

    A column without a name, as pandas writes for its index, is called by its index. Columns that
    share a name are told apart by their positions.

    Examples
    --------
    >>> unique_names(["", "race", "Race", "hired"])
    ['column0', 'race (column 2)', 'Race (column 3)', 'hired']
    """
    named = [name or f"column{index}" for index, name in enumerate(names)]
    lower_names = Counter(name.lower() for name in named)
    taken = set(lower_names)
    unique = []
    for position, name in enumerate(named, start=1):
        key = name
        if lower_names[name.lower()] > 1:
            key = f"{name} (column {position})"
            while key.lower() in taken:
                key += "'"
            taken.add(key.lower())
        unique.append(key)
    return unique


def encoding_of(path: Path) -> Encoding:
    """Return how a text file's letters are written: UTF-8 unless that is impossible."""
    with _open_bytes(path) as stream:
        head = stream.read(HEAD_BYTES)
        if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            raise TableError(f"{path}: is UTF-32; save it as UTF-8 first")
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return Encoding(name="utf-16")
        if b"\x00" in head and (half := halves_of_utf16(head)):
            return Encoding(name=half)
        if b"\x00" in head:
            raise TableError(
                f"{path}: its name says CSV, but the file is binary or not UTF-8; save it as "
                "CSV (UTF-8)"
            )
        name = "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"
        # A packed file is not unpacked twice for it.
        limit = 0 if path.name.lower().endswith(".gz") else MAX_CHECKED_BYTES
        decoder = codecs.getincrementaldecoder("utf-8")()
        chunk, size, has_utf8_letters = head, 0, False
        while chunk:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                break
            has_utf8_letters = has_utf8_letters or not chunk.isascii()
            size += len(chunk)
            chunk = stream.read(MAX_HEAD_BYTES) if size < limit else b""
        else:
            return Encoding(name=name)
        try:
            letters = chunk.decode("cp1252")
        except UnicodeDecodeError:
            letters = ""
    # Text of another encoding is hardly ever also valid UTF-8; a broken UTF-8 file is, mostly.
    is_mixed = has_utf8_letters or not chunk.decode("utf-8", "ignore").isascii()
    if is_mixed or not letters or name == "utf-8-sig":
        raise TableError(
            f"{path}: the file is neither UTF-8 throughout nor the Windows encoding; save it as "
            "UTF-8 first"
        )
    position = next(index for index, letter in enumerate(letters) if not letter.isascii())
    start = re.search(r"[\w'-]*$", letters[max(0, position - 20) : position])
    end = re.match(r"[\w'-]*", letters[position + 1 : position + 20])
    word = (start[0] if start else "") + letters[position] + (end[0] if end else "")
    return Encoding(name="cp1252", example=repr(word))


def halves_of_utf16(head: bytes) -> Literal["utf-16-le", "utf-16-be"] | None:
    """Return which UTF-16 a file without a byte order mark is in; None if it is not UTF-16.

    Every second byte of plain letters is then 0, and none of the others is.

    Examples
    --------
    >>> halves_of_utf16("sex,hired".encode("utf-16-be")), halves_of_utf16(bytes(8))
    ('utf-16-be', None)
    """
    even, odd = head[::2], head[1::2]
    if 0 not in even and odd.count(0) > len(odd) / 2:
        return "utf-16-le"
    return "utf-16-be" if 0 not in odd and even.count(0) > len(even) / 2 else None


def head_of(path: Path, encoding: Encoding) -> tuple[str, bool]:
    """Return the first complete lines of a text file, and whether they are all that it has."""
    size = HEAD_BYTES
    while True:
        try:
            with _open_text(path, encoding.name) as stream:
                text = stream.read(size)
                is_whole = not stream.read(1)
        except UnicodeDecodeError:
            raise TableError(f"{path}: the file is not {encoding.name.upper()}") from None
        if is_whole:
            return text, True
        complete = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        # Enough for the header and a few rows.
        if complete.count("\n") + complete.count("\r") > 10 or size >= MAX_HEAD_BYTES:
            return complete or text, False
        size = MAX_HEAD_BYTES


def records_of(text: str, delimiter: str, *, is_whole: bool, first_line: int = 1) -> list[Record]:
    """Return the first records of a text; one that a quote leaves open is not among them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records, start = [], 0
    with suppress(csv.Error):  # a field beyond all measure
        for cells in islice(reader, MAX_HEAD_RECORDS):
            record = Record(
                cells=tuple(cells),
                first_line=first_line + start,
                last_line=first_line + reader.line_num - 1,
            )
            start = reader.line_num
            records.append(record)
    if records and records[-1].last_line > records[-1].first_line:
        lines = io.StringIO(text, newline="").readlines()
        raw = "".join(lines[records[-1].first_line - first_line : start])
        if raw.count('"') % 2 or (start == len(lines) and not is_whole):
            records.pop()
    return records


def layout_of(path: Path, encoding: Encoding, reading: Reading) -> Layout:
    """Return how the first lines of a CSV file are laid out."""
    text, is_whole = head_of(path, encoding)
    lines = io.StringIO(text, newline="").readlines()
    first_line, delimiters = 1, DELIMITERS
    declared = DELIMITER_LINE.fullmatch(lines[0])
    if declared:
        first_line, delimiters = 2, declared[1]
    if reading.header_row is not None:
        if not first_line <= reading.header_row <= len(lines):
            raise TableError(
                f"header_row={reading.header_row}: {path} has no such line"
                f"{'' if is_whole else ' near its beginning'}; the first is {first_line}"
            )
        first_line = reading.header_row
    rest = "".join(lines[first_line - 1 :])
    layouts, problems = list[Layout](), list[str]()
    for delimiter in delimiters:
        records = records_of(rest, delimiter, is_whole=is_whole, first_line=first_line)
        header: Header | None = Header(index=0, is_plain=True)
        if reading.header_row is None:
            header = find_header([record.cells for record in records])
        if records and header is not None:
            layout = Layout(
                delimiter=delimiter,
                lines=tuple(lines),
                records=tuple(records),
                header=header,
                is_whole=is_whole,
            )
            layouts.append(layout)
            continue
        problems.append(
            "the line with the names of the columns was not found; say which it is, as in "
            "header_row=3"
            if records
            else f"line {first_line}: a quote is not closed; close or remove it"
        )
    # The first of them if several fit as well: the comma.
    best = max(layouts, key=lambda layout: layout.fit, default=None)
    # A file of one column is rarer than one whose header is hard to find.
    if best is None or (problems and len(best.line.cells) == 1):
        raise TableError(f"{path}: {problems[0]}")
    return best


def is_well_quoted(record: str, delimiter: str) -> bool:
    """Return whether quotes surround whole fields, if a record is split at this delimiter."""
    try:
        list(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True


def find_header(records: Sequence[Sequence[str]]) -> Header | None:
    """Return which record holds the names of the columns; None if that is not evident.

    It is the first record that is not blank, unless that one looks like a title: it names at most
    half of the columns in which the rows below hold something. Then it is the first record
    below that does not look so, and only if there is evidence that it is not a row itself: its
    cells are different words, none of them recurs in its column, and one column has only numbers,
    or a value twice, below it.

    Examples
    --------
    >>> rows = [["B", "1"], ["W", "2"]]
    >>> find_header([["race", "score"], *rows]).index
    0
    >>> find_header([["Applicants 2025", ""], [], ["race", "score"], *rows]).index
    2
    >>> find_header([["Applicants 2025"], *rows]) is None
    True
    """
    filled = [frozenset(i for i, cell in enumerate(cells) if cell.strip()) for cells in records]
    present = [index for index, columns in enumerate(filled) if columns]
    if not present:
        return None
    first = present[0]
    width = Counter(len(records[index]) for index in present).most_common(1)[0][0]

    def names_most_columns(index: int) -> bool:
        below = [filled[row] for row in present if row > index and len(records[row]) == width]
        columns = frozenset[int]().union(*below)
        return 2 * len(columns & filled[index]) > len(columns) or not columns

    if names_most_columns(first):
        return Header(index=first, is_plain=first == 0)
    for index in present[1:MAX_TITLE_RECORDS]:
        if names_most_columns(index):
            below = [records[row] for row in present if row > index and len(records[row]) == width]
            if is_header(records[index], below):
                return Header(index=index, is_plain=False)
            break
    # A header of which most columns have no name is one still.
    has_rows_of_its_width = len(records[first]) == width
    return Header(index=first, is_plain=first == 0) if has_rows_of_its_width else None


def is_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a record is evidently not a row of the table below it."""
    names = [cell.strip() for cell in cells]
    words = [name for name in names if name]
    if len(set(words)) < len(words) or any(is_value(word) for word in words):
        return False
    has_evidence = False
    for index, name in enumerate(names):
        values = [row[index].strip() for row in rows if index < len(row) and row[index].strip()]
        if not values:
            continue
        if not name:
            return False
        if name in values:
            return False
        is_repeated = len(set(values)) < len(values)
        has_evidence = has_evidence or is_repeated or all(map(is_value, values))
    return has_evidence


def is_value(text: str) -> bool:
    """Return whether a text is a number or a date, and so hardly the name of a column."""
    return is_number(text) or DATE_CELL.fullmatch(text) is not None


def utf8_copy(path: Path, encoding: Encoding, layout: Layout, width: int) -> NamelessFile:
    """Copy a text file as UTF-8, with a plain header in the place of its first lines."""
    with room_for_temporary_files():
        copy = NamelessFile(Path(tempfile.gettempdir()))
        with (
            copy.path.open("w", encoding="utf-8", newline="") as target,
            _open_text(path, encoding.name) as source,
        ):
            target.write(layout.delimiter.join(map(str, range(width))) + layout.line_end)
            try:
                for _ in range(layout.line.last_line):
                    source.readline()
                shutil.copyfileobj(source, target, COPIED_LETTERS)
            except UnicodeDecodeError as error:
                raise TableError(
                    f"{path}: cannot be read as {encoding.name}: {error.reason}; save it as UTF-8 "
                    "first"
                ) from None
    return copy


def _open_bytes(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    return io.TextIOWrapper(_open_bytes(path), encoding, newline="")


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_one_line(error: BaseException) -> str:
    """Return an engine's message in one line, without the error's class and the engine's advice."""
    message = str(error).strip().partition("Possible ")[0]
    if "state machine" in message:
        return "its lines end in different ways, or a quote is not closed; save it as CSV again"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return "; ".join(lines[:3]).partition("Error: ")[2] or "; ".join(lines[:3])


def file_sha256(*paths: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes, or of several files' one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with Path(path).open("rb") as stream:
                while block := stream.read(DIGESTED_BYTES):
                    digest.update(block)
        except OSError as error:
            raise TableError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


# ---------------------------------------------------------------- out


def write_whole(path: str | os.PathLike[str], content: str) -> None:
    """Write text to a file that appears complete or not at all."""
    replace_file(path, lambda temporary: temporary.write_text(content, encoding="utf-8"))


def replace_file(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let `write` fill a file without a name, then put it in the place of `path` in one step.

    It is in the same folder. A file that is replaced keeps its permissions. A link is followed, and
    what is not a file (a pipe, a device) is written to directly.
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
        remove_remains(path)
        name = f"{_temporary_start(path)}{os.getpid()}-"
        temporary = NamelessFile(path.parent, name=name, ending=path.suffix)
        try:
            write(temporary.path)
            temporary.path.chmod(permissions_of(path))
            # On disk before it has the name: a machine that stops now leaves the old file or the
            # new one.
            with temporary.path.open("rb+") as stream:
                os.fsync(stream.fileno())
            temporary.move_to(path)
        finally:
            temporary.remove()
    except OSError as error:
        raise OutputError(f"{user_path}: cannot be written: {error.strerror}") from error


def permissions_of(path: Path) -> int:
    """Return the permissions of a file, or those that a new one gets."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _temporary_start(path: Path) -> str:
    # The machine is named, because a folder may be shared and a process is known by its number.
    return f".{path.stem}-{platform.node()}-"


def remove_remains(path: Path) -> None:
    """Remove temporary files of runs that were killed while they wrote this file."""
    start = _temporary_start(path)
    remains = re.compile(re.escape(start) + r"(\d+)-\w+" + re.escape(path.suffix))
    for file in path.parent.iterdir():
        name = remains.fullmatch(file.name)
        if name and not is_running(int(name[1])):
            with suppress(OSError):
                file.unlink()


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def check_output(path: str | os.PathLike[str], source: Any = None) -> None:
    """Raise unless the repair of a source can be written to a file with this ending."""
    name = Path(path).name.lower()
    if not name.endswith(OUT_ENDINGS):
        raise OutputError(f"{path}: expected a name ending in {', '.join(OUT_ENDINGS)}")
    is_json = isinstance(source, str | os.PathLike) and ".json" in os.fspath(source).lower()
    if name.endswith(".jsonl") and source is not None and not is_json:
        raise OutputError(f"{path}: only JSON lines are repaired into JSON lines; name a .csv")


def write_table(
    path: str | os.PathLike[str], frame: nw.DataFrame[Any], style: CsvStyle | None = None
) -> None:
    """Write a table as CSV or Parquet, whole or not at all; a .tsv file gets tabs."""
    table = frame.to_arrow()
    starts = range(0, max(table.num_rows, 1), ROWS_PER_GROUP)
    write_chunks(path, (table.slice(start, ROWS_PER_GROUP) for start in starts), style)


def write_chunks(
    path: str | os.PathLike[str], tables: Iterable[Any], style: CsvStyle | None = None
) -> None:
    """Write Arrow tables, one after the other, as one CSV or Parquet file, whole or not at all.

    At least one table is expected. All but the last have `ROWS_PER_GROUP` rows: then the same bytes
    are written wherever the tables come from.
    """
    check_output(path)
    style = style or CsvStyle()
    remaining = iter(tables)
    first = next(remaining)
    # Not the suffix: a file may be called .parquet and nothing else.
    ending = next(end for end in OUT_ENDINGS if Path(path).name.lower().endswith(end))
    lower_names = [column.lower() for column in first.column_names]
    if ending != ".parquet" and len(set(lower_names)) < len(lower_names):
        raise OutputError(f"{path}: columns differ only in case; rename one for a CSV")

    def write_to(file: Path) -> None:
        if ending == ".parquet":
            _write_parquet(file, chain([first], remaining), style)
            return
        delimiter = "\t" if ending == ".tsv" else style.delimiter
        _write_csv(file, chain([first], remaining), replace(style, delimiter=delimiter))

    def write(target: Path) -> None:
        if target.is_file():
            write_to(target)
            return
        # A pipe or a device gets the bytes of a finished file, because the libraries delete the
        # target if they fail.
        with room_for_temporary_files():
            file = NamelessFile(Path(tempfile.gettempdir()))
            write_to(file.path)
        target.write_bytes(file.path.read_bytes())

    try:
        replace_file(path, write)
    except (FourfifthsError, OSError):
        raise
    except Exception as error:  # each library has errors of its own
        raise OutputError(f"{path}: cannot be written: {in_one_line(error)}") from error


def write_lines(path: str | os.PathLike[str], lines: Any) -> None:
    """Write an Arrow column of texts as lines, whole or not at all."""
    content = "".join(f"{line}\n" for line in lines.to_pylist())
    write_whole(path, content)


def _write_parquet(file: Path, tables: Iterable[Any], style: CsvStyle) -> None:
    """Write Arrow tables as the row groups of a Parquet file."""
    from pyarrow import parquet

    with ExitStack() as stack:
        writer = None
        for table in tables:
            names = [style.written_names.get(name, name) for name in table.column_names]
            written = table.rename_columns(names) if style.written_names else table
            # In one piece: pages end where pieces do.
            written = written.combine_chunks()
            if writer is None:
                schema = _with_pandas_notes(written).schema
                writer = stack.enter_context(parquet.ParquetWriter(file, schema))
            writer.write_table(
                _of_schema(written, schema, ".parquet"), row_group_size=ROWS_PER_GROUP
            )


def _of_schema(table: Any, schema: Any, ending: str) -> Any:
    """Return a later part of a table with the columns of the first part."""
    for expected, actual in zip(schema, table.schema, strict=True):
        if expected.type != actual.type:
            raise OutputError(
                f"{ending}: column {expected.name!r} would be written as {expected.type} in "
                f"the first rows and as {actual.type} in later ones; write a .csv instead"
            )
    return table.replace_schema_metadata(schema.metadata)


def _write_csv(file: Path, tables: Iterable[Any], style: CsvStyle) -> None:
    """Write Arrow tables as CSV, in the encoding and with the names that a file had."""
    remaining = iter(tables)
    first = next(remaining)
    names = [style.written_names.get(name, name) for name in first.column_names]
    is_plain = style.encoding == "utf-8" and names == first.column_names
    checked = (_of_schema(table, first.schema, ".csv") for table in chain([first], remaining))
    write_rows = join_rows if can_be_joined(first, style.delimiter) else copy_rows
    if is_plain:
        write_rows(file, checked, style, schema=first.schema, has_header=True)
        return
    # A name may occur twice in a CSV, but not in DuckDB; and DuckDB writes UTF-8 only.
    with room_for_temporary_files():
        rows = NamelessFile(Path(tempfile.gettempdir()))
        write_rows(rows.path, checked, style, schema=first.schema, has_header=False)
    with (
        rows.path.open(encoding="utf-8", newline="") as source,
        file.open("w", encoding=style.encoding, newline="") as target,
    ):
        csv.writer(target, delimiter=style.delimiter, lineterminator=style.line_end).writerow(names)
        shutil.copyfileobj(source, target, COPIED_LETTERS)


def join_rows(
    file: Path, tables: Iterable[Any], style: CsvStyle, *, schema: Any, has_header: bool
) -> None:
    """Write Arrow tables of texts as CSV in UTF-8."""
    import pyarrow as pa

    names = schema.names
    header = pa.table([[name] for name in names], names=names).slice(0, int(has_header))
    with file.open("wb") as target:
        for table in chain([header], tables):
            lines = csv_lines(table, delimiter=style.delimiter, line_end=style.line_end)
            target.writelines(lines)


def copy_rows(
    file: Path, tables: Iterable[Any], style: CsvStyle, *, schema: Any, has_header: bool
) -> None:
    """Write Arrow tables of any types as CSV in UTF-8, by DuckDB."""
    import pyarrow as pa

    failures: list[BaseException] = []

    def batches() -> Iterator[Any]:
        try:
            for table in tables:
                yield from table.to_batches()
        except BaseException as error:
            # DuckDB may wait for itself for ever if its rows end with an error, so they just end.
            failures.append(error)

    options = {
        "FORMAT": "csv",
        "HEADER": str(has_header),
        "DELIMITER": style.delimiter,
        "NEW_LINE": style.line_end.replace("\r", r"\r").replace("\n", r"\n"),
        "USE_TMP_FILE": "false",  # the file itself is one
    }
    settings = ", ".join(f"{name} {_sql_text(value)}" for name, value in options.items())
    connection = _connection()
    # With several threads DuckDB would hold rows back, to write them in their order.
    connection.execute("SET threads = 1")
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    connection.register("written", reader)
    connection.execute(f"COPY (FROM written) TO {_sql_text(str(file))} ({settings})")
    if failures:
        raise failures[0]


def can_be_joined(table: Any, delimiter: str) -> bool:
    """Return whether `csv_lines` can write an Arrow table: one of named columns of texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> can_be_joined(pa.table({"a": ["x"]}), ";"), can_be_joined(pa.table({"a": [1]}), ";")
    (True, False)
    """
    import pyarrow as pa

    are_texts = all(
        pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        for field in table.schema
    )
    return are_texts and all(table.column_names) and len(delimiter.encode()) == 1


def csv_lines(table: Any, *, delimiter: str, line_end: str) -> Iterator[memoryview]:
    r"""Yield the lines of a table of texts, without its header: the bytes of many at a time.

    They are those that DuckDB writes. A text is quoted if it is empty, or holds the delimiter, a
    quote, an end of a line or a #; nothing is written for a missing one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["Ann", "Lee, Bo", None], "note": ['an "A" x', "", "x"]})
    >>> lines = csv_lines(table, delimiter=",", line_end="\n")
    >>> print(b"".join(lines).decode(), end="")
    Ann,"an ""A"" x"
    "Lee, Bo",""
    ,x
    """
    import pyarrow as pa

    for batch in table.to_batches(max_chunksize=ROWS_PER_PIECE):
        if not batch.num_rows:
            continue
        # Offsets of 64 bits, because the lines of long texts may be longer than those of 32 reach.
        texts = [column.cast(pa.large_string()) for column in batch.columns]
        columns = [quoted(column, delimiter) for column in texts]
        columns[-1] = joined(columns[-1], line_end, between="")
        content, _ = bytes_and_offsets(joined(*columns, between=delimiter))
        yield content.data


def quoted(texts: Any, delimiter: str) -> Any:
    """Return texts with quotes around those that need them."""
    import pyarrow.compute as pc

    content, offsets = bytes_and_offsets(texts)
    letters = f"{delimiter}{QUOTED_LETTERS}"
    has_nothing = bool((np.diff(offsets) == 0).any())  # empty or missing
    needs_quotes = pc.equal(pc.binary_length(texts), 0) if has_nothing else None
    if content.size and holds_letter(content, letters):
        pattern = "[" + "".join(map(re.escape, letters)) + "]"
        is_special = pc.match_substring_regex(texts, pattern)
        needs_quotes = is_special if needs_quotes is None else pc.or_(is_special, needs_quotes)
    if needs_quotes is None:
        return texts
    doubled = pc.replace_substring(texts, QUOTE, 2 * QUOTE)
    return pc.if_else(needs_quotes, joined(QUOTE, doubled, QUOTE, between=""), texts)


def holds_letter(content: Any, letters: str) -> bool:
    """Return whether bytes hold one of some letters."""
    lowest = content.min()
    # Digits and letters come after all of them but the delimiter, so one pass is enough for most.
    return any(lowest <= code and bool((content == code).any()) for code in letters.encode())


def joined(*texts: Any, between: str) -> Any:
    """Return texts of columns joined row by row; nothing stands for a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = [
        pa.scalar(text, pa.large_string()) if isinstance(text, str) else text
        for text in (*texts, between)
    ]
    return pc.binary_join_element_wise(*large, null_handling="replace", null_replacement="")


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _with_pandas_notes(table: Any) -> Any:
    """Return the table with pandas' notes on column types brought up to date.

    pandas keeps the types of its columns in the metadata of a Parquet file. If a whole number was
    repaired to a float, pandas would round it when it reads the file by the old notes.
    """
    import pyarrow as pa

    metadata = dict(table.schema.metadata or {})
    if b"pandas" not in metadata:
        return table
    notes = json.loads(metadata[b"pandas"])
    for column in notes.get("columns", ()):
        name, noted_type = column.get("field_name"), str(column.get("numpy_type", ""))
        if "int" not in noted_type.lower() or name not in table.column_names:
            continue
        type_now = {pa.float64(): "float64", pa.int64(): "int64"}.get(table.field(name).type)
        if type_now is not None:  # pandas' types that can be missing begin with a capital
            numpy_type = type_now.capitalize() if noted_type[0].isupper() else type_now
            column |= {"pandas_type": type_now, "numpy_type": numpy_type}
    return table.replace_schema_metadata({**metadata, b"pandas": json.dumps(notes).encode()})
