"""Workbooks: the sheet with the table, its header, and its columns as Arrow arrays.

The values are read by calamine. It leaves out what would make a silent wrong number (cells that
hold an error, formulas that were never computed, hidden rows), so the sheet's own text is searched
for those.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fourfifths._tables.files import MAX_HEAD_RECORDS, find_header, unique_names
from fourfifths._tables.values import MAX_EXACT_INTEGER, Reading
from fourfifths._text import listed
from fourfifths.errors import TableError

ROWS_PER_CHUNK = 20_000
BYTES_PER_CHUNK = 2**22
# Elements may have a prefix, as in <x:c>.
CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL)
FORMULA = re.compile(rb"<(?:\w+:)?f\b")
RESULT = re.compile(rb"<(?:\w+:)?v\b[^>]*>[^<]")
HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row\b(?=[^>]*\bhidden=\"(?:1|true)\")[^>]*\br=\"(\d+)\"")
REFERENCE = re.compile(rb"\br=\"([A-Z]+)(\d+)\"")
CELL_TYPE = re.compile(rb"\bt=\"(\w+)\"")
COMPUTED_ON_LOAD = re.compile(rb"\bfullCalcOnLoad=\"(?:1|true)\"")


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What the text of a sheet says that its values do not; a cell is (row, column), from 1.

    Attributes
    ----------
    errors : mapping of (int, int)
        The cells that hold an error, and which.
    without_result : tuple of (int, int)
        The cells with a formula that was never computed.
    hidden_rows : tuple of int
    """

    errors: dict[tuple[int, int], str]
    without_result: tuple[tuple[int, int], ...]
    hidden_rows: tuple[int, ...]

    def below(self, row: int) -> Marks:
        """Return the marks of the rows below this one."""
        return Marks(
            errors={cell: text for cell, text in self.errors.items() if cell[0] > row},
            without_result=tuple(cell for cell in self.without_result if cell[0] > row),
            hidden_rows=tuple(hidden for hidden in self.hidden_rows if hidden > row),
        )


def read_workbook(path: Path, reading: Reading) -> tuple[Any, tuple[str, ...]]:
    """Return the table of a workbook as an Arrow table, and what was assumed."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise TableError(
            f"{path}: reading workbooks needs python-calamine: pip install 'fourfifths[excel]'"
        ) from None
    try:
        workbook = calamine.CalamineWorkbook.from_path(str(path.resolve()))
        name = chosen_sheet(path, workbook, reading)
        sheet = workbook.get_sheet_by_name(name)
        head = list(islice(_rows(sheet), reading.header_row or MAX_HEAD_RECORDS))
    except calamine.CalamineError as error:
        raise TableError(f"{path}: not readable as a workbook: {error}") from error
    header_row = find_header_row(path, name, head, reading)
    check_merged(path, sheet, header_row)
    marks = marks_of(path, name).below(header_row)
    if marks.without_result:
        raise TableError(
            f"{path}: {len(marks.without_result):,} formulas of sheet {name!r} were never computed "
            f"(the first is in {_reference(*min(marks.without_result))}); open the workbook in a "
            "spreadsheet and save it"
        )
    titles = [_cell_text(cell).strip() for cell in head[header_row - 1]]
    columns, blank_rows = columns_of(_rows(sheet), len(titles), header_row)
    # Neither a name nor a value: a sheet may be formatted further than it is filled.
    kept = [
        index
        for index, column in enumerate(columns)
        if titles[index] or column.null_count < len(column)
    ]
    keys = dict(zip(kept, unique_names([titles[index] for index in kept]), strict=True))
    import pyarrow as pa

    table = pa.Table.from_arrays([columns[index] for index in kept], names=list(keys.values()))
    has_other_sheets = reading.sheet is None and len(workbook.sheet_names) > 1
    # calamine calls a cell with an error empty.
    errors = {cell: text for cell, text in marks.errors.items() if cell[1] - 1 in keys}
    in_error = dict.fromkeys(keys[column - 1] for _, column in sorted(errors))
    first_error = _reference(*min(errors)) if errors else ""
    assumed = {
        f"sheet {name!r}, the only one that holds a table": has_other_sheets,
        f"the names of the columns in row {header_row}, and what is above left out": (
            header_row > 1 and reading.header_row is None
        ),
        f"{len(errors):,} cells with an error ({listed(sorted(set(errors.values())))}; the first "
        f"is {first_error}) in {listed(in_error)} as missing": errors,
        f"{len(marks.hidden_rows):,} hidden rows, which count like the others": marks.hidden_rows,
        f"{blank_rows:,} blank rows between the others left out": blank_rows,
    }
    assumptions = "; ".join(text for text, is_made in assumed.items() if is_made)
    return table, (f"{path.name} was read with {assumptions}",) if assumptions else ()


def chosen_sheet(path: Path, workbook: Any, reading: Reading) -> str:
    """Return the sheet that is named, or else the only visible one that holds a table."""
    import python_calamine as calamine

    sheets = [
        sheet for sheet in workbook.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    names = [sheet.name for sheet in sheets]
    if reading.sheet is not None:
        if reading.sheet not in names:
            raise TableError(f"sheet={reading.sheet!r}: {path} has the sheets {listed(names)}")
        return reading.sheet
    tables: list[str] = [
        sheet.name
        for sheet in sheets
        if sheet.visible == calamine.SheetVisibleEnum.Visible
        and holds_table(workbook.get_sheet_by_name(sheet.name))
    ]
    if len(tables) != 1:
        raise TableError(
            f"{path}: {'several sheets hold' if tables else 'no sheet holds'} a table "
            f"({listed(tables or names)}); say which is meant, as in "
            f"sheet={(tables or names or ['Sheet1'])[0]!r}"
        )
    return tables[0]


def check_merged(path: Path, sheet: Any, header_row: int) -> None:
    """Raise if cells below the header are merged: only the first of them has a value."""
    for first, last in sheet.merged_cell_ranges or ():
        if last[0] >= header_row:
            cells = (
                f"{_reference(first[0] + 1, first[1] + 1)}:{_reference(last[0] + 1, last[1] + 1)}"
            )
            raise TableError(
                f"{path}: cells {cells} of sheet {sheet.name!r} are merged, so that only the first "
                "has a value; unmerge them and fill in the others"
            )


def _rows(sheet: Any) -> Iterator[list[Any]]:
    """Return the rows of a sheet from its first cell on."""
    if sheet.start is None:
        return
    # calamine leaves out the first columns if they are empty, but not the first rows.
    left = [""] * int(sheet.start[1])
    for row in sheet.iter_rows():
        yield left + row


def holds_table(sheet: Any) -> bool:
    """Return whether a sheet has a header of two columns or more, and a row below it."""
    head = [[_cell_text(cell) for cell in row] for row in islice(_rows(sheet), MAX_HEAD_RECORDS)]
    filled_rows = [sum(bool(cell.strip()) for cell in row) for row in head]
    return sum(count > 1 for count in filled_rows) > 1


def find_header_row(path: Path, sheet: str, head: Sequence[Sequence[Any]], reading: Reading) -> int:
    """Return the row with the names of the columns; the first is 1."""
    texts = [[_cell_text(cell) for cell in row] for row in head]
    if reading.header_row is not None:
        row = texts[reading.header_row - 1 :] if reading.header_row > 0 else []
        if not row or not any(cell.strip() for cell in row[0]):
            raise TableError(
                f"header_row={reading.header_row}: sheet {sheet!r} of {path} has nothing there"
            )
        return reading.header_row
    header = find_header(texts)
    if header is None:
        raise TableError(
            f"{path}: the row with the names of the columns of sheet {sheet!r} was not found; say "
            "which it is, as in header_row=3"
        )
    return header.index + 1


# ---------------------------------------------------------------- values


def columns_of(rows: Iterable[list[Any]], width: int, header_row: int) -> tuple[list[Any], int]:
    """Return the columns below the header as Arrow arrays, and how many blank rows were in them."""
    import pyarrow as pa

    chunks: list[list[tuple[str, Any]]] = [[] for _ in range(width)]
    rows = iter(rows)
    for _ in islice(rows, header_row):
        pass
    blank_rows = blank_at_end = 0
    while block := list(islice(rows, ROWS_PER_CHUNK)):
        filled = []
        for row in block:
            if any(cell != "" for cell in row):
                filled.append(row)
                blank_rows, blank_at_end = blank_rows + blank_at_end, 0
            else:
                blank_at_end += 1
        for chunk, cells in zip(chunks, zip(*filled, strict=True), strict=False):
            chunk.append(typed_column(cells))
    return [joined_column(chunk, pa) for chunk in chunks], blank_rows


def typed_column(cells: Sequence[Any]) -> tuple[str, Any]:
    """Return the kind of a column's cells, and the cells as an Arrow array of it."""
    import pyarrow as pa

    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return "empty", pa.nulls(len(values))
    if kinds <= {int, float}:
        return "number", pa.array([None if v is None else float(v) for v in values])
    if kinds == {bool}:
        return "truth", pa.array(values)
    if kinds <= {date, datetime}:
        moments = [
            value
            if value is None or isinstance(value, datetime)
            else datetime.combine(value, time())
            for value in values
        ]
        return "moment", pa.array(moments, type=pa.timestamp("us"))
    return "text", pa.array(
        [None if value is None else _cell_text(value) for value in values], type=pa.string()
    )


def joined_column(chunks: Sequence[tuple[str, Any]], pa: Any) -> Any:
    """Return the chunks of a column as one array; text if they are of different kinds."""
    kinds = {kind for kind, _ in chunks} - {"empty"}
    if len(kinds) > 1:
        arrays = [
            pa.array(
                [None if cell is None else _cell_text(cell) for cell in chunk.to_pylist()],
                type=pa.string(),
            )
            for _, chunk in chunks
        ]
        return pa.chunked_array(arrays)
    types = {"number": pa.float64(), "truth": pa.bool_(), "moment": pa.timestamp("us")}
    kind = next(iter(kinds), "text")
    column = pa.chunked_array(
        [chunk.cast(types.get(kind, pa.string())) for _, chunk in chunks],
        type=types.get(kind, pa.string()),
    )
    import pyarrow.compute as pc

    if kind == "number":
        limits = pc.min_max(column)
        is_exact = max(abs(limits["min"].as_py()), abs(limits["max"].as_py())) < MAX_EXACT_INTEGER
        if is_exact and pc.all(pc.equal(pc.floor(column), column)).as_py():
            return column.cast(pa.int64())
    if kind == "moment":
        days = column.cast(pa.date32(), safe=False)
        if pc.all(pc.equal(days.cast(pa.timestamp("us")), column)).as_py():
            return days
    return column


def _cell_text(cell: Any) -> str:
    """Return a cell of any type as the text that a CSV file of the sheet would have."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < MAX_EXACT_INTEGER:
        return str(int(cell))
    if isinstance(cell, datetime):
        is_day = cell.time() == time()
        return cell.date().isoformat() if is_day else cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell.total_seconds())
    return str(cell)


def _reference(row: int, column: int) -> str:
    """Return a cell's name, as in B7.

    Examples
    --------
    >>> _reference(7, 2), _reference(1, 28)
    ('B7', 'AB1')
    """
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row}"


# ---------------------------------------------------------------- the text of a sheet


def marks_of(path: Path, sheet: str) -> Marks:
    """Search the text of a sheet for errors, formulas and hidden rows."""
    errors: dict[tuple[int, int], str] = {}
    formulas: list[tuple[int, int]] = []
    without_result: list[tuple[int, int]] = []
    hidden_rows: list[int] = []
    try:
        with zipfile.ZipFile(path) as archive:
            is_computed_on_load = COMPUTED_ON_LOAD.search(archive.read("xl/workbook.xml"))
            with archive.open(sheet_file(archive, sheet)) as stream:
                for text in whole_rows(stream):
                    hidden_rows += [int(row) for row in HIDDEN_ROW.findall(text)]
                    if b't="e"' not in text and not FORMULA.search(text):
                        continue
                    for cell in CELL.finditer(text):
                        content = cell[2] or b""
                        kind = CELL_TYPE.search(cell[1])
                        is_formula = FORMULA.search(content) is not None
                        is_error = kind is not None and kind[1] == b"e"
                        name = REFERENCE.search(cell[1])
                        if name is None or not (is_formula or is_error):
                            continue
                        position = (int(name[2]), column_number(name[1]))
                        if is_formula:
                            formulas.append(position)
                            # A formula may have an empty text for a result.
                            is_text = kind is not None and kind[1] == b"str"
                            if not (is_text or RESULT.search(content)):
                                without_result.append(position)
                        if is_error:
                            error = re.search(rb"#[^<]*", content)
                            errors[position] = error[0].decode() if error else "an error"
    except (KeyError, zipfile.BadZipFile, ElementTree.ParseError, OSError) as error:
        raise TableError(f"{path}: not readable as a workbook: {error}") from error
    # Libraries that write formulas ask the spreadsheet to compute them, and store zeros or nothing.
    return Marks(
        errors=errors,
        without_result=tuple(formulas if is_computed_on_load else without_result),
        hidden_rows=tuple(hidden_rows),
    )


def sheet_file(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of a sheet's file within the workbook."""
    workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target_of = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    for entry in workbook.iterfind(".//{*}sheets/{*}sheet"):
        if entry.get("name") == sheet:
            identifier = next(value for key, value in entry.items() if key.endswith("}id"))
            target = target_of[identifier]
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(f"no sheet {sheet!r}")


def whole_rows(stream: Any) -> Iterator[bytes]:
    """Return the text of a sheet in chunks that end where a row does."""
    rest = b""
    while chunk := stream.read(BYTES_PER_CHUNK):
        rest += chunk
        end = rest.rfind(b"row>") + len(b"row>")
        if end >= len(b"row>"):
            yield rest[:end]
            rest = rest[end:]
    yield rest


def column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.decode():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
