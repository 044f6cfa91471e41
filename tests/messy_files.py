"""Files as offices have them, made by hand: what each holds is known by construction.

Every file is about the same 140 applicants. Of the 60 of race B 24 were hired, of the 80 of race W
57; their scores are whole numbers, and their zip codes begin with a zero. A `MessyFile` either
holds them (and a note says what was assumed, if anything was) or cannot be read, and then one line
says why and what to do.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
from pyarrow import parquet

COUNTS = {"B": (24, 60), "W": (57, 80)}
NAMES = ("race", "score", "zip", "town", "hired")
TOWNS = ("Köln", "Bern", "Ürzig")


def applicants() -> list[list[Any]]:
    """Return the rows, in an order in which no column is sorted."""
    outcomes = [("B", "yes")] * 24 + [("B", "no")] * 36 + [("W", "yes")] * 57 + [("W", "no")] * 23
    rows = [
        [race, 40 + index * 7 % 50, f"0{1000 + index % 30}", TOWNS[index % 3], hired]
        for index, (race, hired) in enumerate(outcomes)
    ]
    return [rows[index * 57 % len(rows)] for index in range(len(rows))]


ROWS = applicants()


@dataclass(frozen=True, kw_only=True)
class MessyFile:
    """A file, and what must come of it.

    Attributes
    ----------
    name : str
    make : callable
        Takes the path to write to.
    note : str
        A regular expression of the note on what was assumed; empty if there is none.
    error : str
        A regular expression of the one line; empty if the counts are the true ones.
    reading : mapping
        Arguments of `read_table`.
    """

    name: str
    make: Callable[[Path], object]
    note: str = ""
    error: str = ""
    reading: dict[str, Any] | None = None

    def put(self, folder: Path) -> Path:
        """Make the file in a folder and return its path."""
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.make(path)
        return path


def csv_text(
    rows: Iterable[Sequence[Any]] = ROWS,
    *,
    names: Sequence[str] = NAMES,
    delimiter: str = ",",
    line_end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    """Return the applicants as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([names, *rows])
    return stream.getvalue()


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], object]:
    """Return what writes a text file."""
    return lambda path: path.write_bytes(content.encode(encoding))


CSV = csv_text()
PADDED = csv_text([[*row, "", ""] for row in ROWS], names=[*NAMES, "", ""])
TITLES = "Applicants 2025\nPrinted on 3 May, by the office\n\n"
PADDED_TITLES = "Applicants 2025,,,,\n,,,,\n"
TWICE = csv_text([[row[0], *row] for row in ROWS], names=["race", *NAMES])
NOTES_TWICE = csv_text([[*row, "x", "y"] for row in ROWS], names=[*NAMES, "note", "Note"])
QUOTED_LINES = csv_text([[*row[:3], f"{row[3]}\nGermany", row[4]] for row in ROWS])

TEXT_FILES = {
    "Windows letters": MessyFile(
        name="t.csv",
        make=text(CSV, "cp1252"),
        note=r"letters of Windows \(cp1252\), as in 'Köln'|'Ürzig'",
    ),
    "Windows letters late in the file": MessyFile(
        name="t.csv",
        make=text(
            csv_text([[*row[:3], "Bern" * 3_000, row[4]] for row in ROWS[:-1]])
            + ",".join(map(str, ROWS[-1]))
            + "\n",
            "cp1252",
        ),
        note=r"letters of Windows",
    ),
    "UTF-16": MessyFile(name="t.csv", make=text(CSV, "utf-16")),
    "UTF-16, the other way": MessyFile(name="t.csv", make=text("\ufeff" + CSV, "utf-16-be")),
    "UTF-16 with tabs, as Excel's Unicode text": MessyFile(
        name="t.csv",
        make=text(csv_text(delimiter="\t", line_end="\r\n"), "utf-16"),
        note="columns separated by tabs",
    ),
    "UTF-16, packed": MessyFile(
        name="t.csv.gz", make=lambda path: path.write_bytes(gzip.compress(CSV.encode("utf-16")))
    ),
    "UTF-16 without its mark": MessyFile(name="t.csv", make=text(CSV, "utf-16-le")),
    "UTF-32": MessyFile(name="t.csv", make=text(CSV, "utf-32"), error="UTF-32; save it as UTF-8"),
    "UTF-8 with one broken letter": MessyFile(
        name="t.csv",
        make=lambda path: path.write_bytes(CSV.encode().replace(b"\xc3\xb6", b"\xf6", 1)),
        error="neither UTF-8 throughout nor the Windows encoding",
    ),
    "a mark of UTF-8": MessyFile(name="t.csv", make=text(CSV, "utf-8-sig")),
    "a mark, and quotes": MessyFile(
        name="t.csv", make=text(csv_text(quoting=csv.QUOTE_ALL), "utf-8-sig")
    ),
    "sep=;": MessyFile(
        name="t.csv", make=text("sep=;\r\n" + csv_text(delimiter=";", line_end="\r\n"))
    ),
    "sep=, and a mark": MessyFile(name="t.csv", make=text("sep=,\n" + CSV, "utf-8-sig")),
    "semicolons": MessyFile(
        name="t.csv",
        make=text(csv_text(delimiter=";")),
        note="^t.csv was read with columns separated by semicolons$",
    ),
    "bars": MessyFile(name="t.csv", make=text(csv_text(delimiter="|")), note="separated by bars"),
    "tabs in a .tsv": MessyFile(name="t.tsv", make=text(csv_text(delimiter="\t"))),
    "decimal commas between semicolons": MessyFile(
        name="t.csv",
        make=text(csv_text([[*row, "1,5"] for row in ROWS], names=[*NAMES, "rate"], delimiter=";")),
        note="semicolons",
    ),
    "line ends of Windows": MessyFile(name="t.csv", make=text(csv_text(line_end="\r\n"))),
    "line ends of old Macs": MessyFile(name="t.csv", make=text(csv_text(line_end="\r"))),
    "no line end at the end": MessyFile(name="t.csv", make=text(CSV.rstrip("\n"))),
    "titles": MessyFile(
        name="t.csv",
        make=text(TITLES + CSV),
        note="names of the columns in line 4, and what is above left out",
    ),
    "titles with the commas of a sheet": MessyFile(
        name="t.csv", make=text(PADDED_TITLES + CSV), note="names of the columns in line 3"
    ),
    "titles with other line ends": MessyFile(
        name="t.csv",
        make=text(TITLES + csv_text(line_end="\r\n")),
        note="names of the columns in line 4",
    ),
    "a header with another line end": MessyFile(
        name="t.csv", make=text(CSV.replace("\n", "\r\n", 1))
    ),
    "titles with quotes": MessyFile(
        name="t.csv",
        make=text('"Applicants, ""2025"""\nprinted "late\n' + CSV),
        note="names of the columns in line 3",
    ),
    "titles, semicolons, Windows letters and line ends": MessyFile(
        name="t.csv",
        make=text("Bewerber, 2025\r\n\r\n" + csv_text(delimiter=";", line_end="\r\n"), "cp1252"),
        note="semicolons; letters of Windows .* in line 3",
    ),
    "the line of names is named": MessyFile(
        name="t.csv", make=text(TITLES + CSV), reading={"header_row": 4}
    ),
    "names under names": MessyFile(
        name="t.csv",
        make=text("a,b,c,d,e\n" + CSV),
        reading={"header_row": 2},
    ),
    "blank lines first": MessyFile(
        name="t.csv", make=text("\n\n" + CSV), note="names of the columns in line 3"
    ),
    "a title, and no names": MessyFile(
        name="t.csv",
        make=text("Applicants 2025\n" + CSV.partition("\n")[2]),
        error="say which it is, as in header_row=3",
    ),
    "a line of names that is not there": MessyFile(
        name="t.csv",
        make=text(CSV),
        reading={"header_row": 999},
        error="header_row=999: .* no such line",
    ),
    "empty columns at the end": MessyFile(
        name="t.csv", make=text(PADDED), note="the empty 2 columns at the end"
    ),
    "empty fields at the end of the rows": MessyFile(
        name="t.csv",
        make=text(csv_text([[*row, ""] for row in ROWS])),
        note="the empty 1 column at the end",
    ),
    "an empty name at the end of the header": MessyFile(
        name="t.csv", make=text(csv_text(names=[*NAMES, ""]))
    ),
    "a column of row numbers without a name": MessyFile(
        name="t.csv",
        make=text(csv_text([[i, *row] for i, row in enumerate(ROWS)], names=["", *NAMES])),
    ),
    "columns that nobody uses share a name": MessyFile(name="t.csv", make=text(NOTES_TWICE)),
    "a column that is used occurs twice": MessyFile(
        name="t.csv",
        make=text(TWICE),
        error=r"protected='race'.* more than one .*'race \(column 1\)', 'race \(column 2\)'",
    ),
    "names that differ in case": MessyFile(
        name="t.csv",
        make=text(csv_text([[*row, row[0]] for row in ROWS], names=[*NAMES, "RACE"])),
        error=r"'race \(column 1\)', 'RACE \(column 6\)'",
    ),
    "a row too short": MessyFile(
        name="t.csv",
        make=text(CSV + "B,1,2\n"),
        error="line 142 has 3 fields, and the header has 5",
    ),
    "a row too long, below fields with line ends": MessyFile(
        name="t.csv",
        make=text(QUOTED_LINES + "B,1,2,3,4,5\n"),
        error="line 282 has 6 fields, and the header has 5",
    ),
    "fields with line ends": MessyFile(name="t.csv", make=text(QUOTED_LINES)),
    "names with line ends": MessyFile(
        name="t.csv", make=text(csv_text(names=["race", "the\nscore", "zip", "town", "hired"]))
    ),
    "an open quote in the header": MessyFile(
        name="t.csv",
        make=text('race,"score,zip,town,hired\n' + "B,1,2,3,yes\n" * 60_000),
        error="line 1: a quote is not closed",
    ),
    "an open quote in a row": MessyFile(
        name="t.csv", make=text(CSV + '"B,1,2,3,yes\n' + CSV), error="a quote is not closed"
    ),
    "a folder that looks like a column": MessyFile(name="hired=yes/t.csv", make=text(CSV)),
    "a folder called ~": MessyFile(name="~/t.csv", make=text(CSV)),
    "a name with a quote": MessyFile(name="it's [1] *.csv", make=text(CSV)),
}


def json_text(rows: Iterable[Sequence[Any]] = ROWS) -> str:
    """Return the applicants as JSON lines."""
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)


def parquet_table(**columns: Any) -> Callable[[Path], object]:
    """Return what writes the applicants as Parquet, with columns replaced or added."""
    table = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)} | columns
    return lambda path: parquet.write_table(pa.table(table), path)


OTHER_FILES = {
    "JSON lines": MessyFile(name="t.jsonl", make=text(json_text())),
    "JSON lines below a folder that looks like a column": MessyFile(
        name="hired=yes/t.jsonl", make=text(json_text())
    ),
    "Parquet below a folder that looks like a column": MessyFile(
        name="hired=yes/t.parquet", make=parquet_table()
    ),
    "a JSON array": MessyFile(
        name="t.json",
        make=text(json.dumps([dict(zip(NAMES, row, strict=True)) for row in ROWS])),
        error="expected one JSON object per line",
    ),
    "JSON over several lines": MessyFile(
        name="t.json", make=text('{\n  "race": "B"\n}\n'), error="one JSON object per line"
    ),
    "JSON keys that differ in case": MessyFile(
        name="t.jsonl",
        make=text(json_text() + '{"race": "B", "Race": "B"}\n'),
        error="differ only in case; rename one",
    ),
    "a pipe": MessyFile(name="t.csv", make=os.mkfifo, error="is a pipe or a device"),
    "a device": MessyFile(
        name="t.csv",
        make=lambda path: path.symlink_to("/dev/zero"),
        error="is a pipe or a device",
    ),
    "a folder": MessyFile(name="t.csv", make=Path.mkdir, error="it is a folder"),
    "an old workbook": MessyFile(name="t.xls", make=text("x"), error="save it as .xlsx or .csv"),
}


# ---------------------------------------------------------------- workbooks


def workbook(
    fill: Callable[[Any], object] | None = None,
    *,
    above: Sequence[Sequence[Any]] = (),
    more: Callable[[Any], object] | None = None,
    rows: Sequence[Sequence[Any]] = ROWS,
    names: Sequence[Any] = NAMES,
) -> Callable[[Path], object]:
    """Return what writes a workbook with the applicants on its first sheet."""

    def write(path: Path) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Applicants"
        for row in [*above, names, *rows]:
            sheet.append(list(row))
        if fill is not None:
            fill(sheet)
        if more is not None:
            more(book)
        book.save(path)

    return write


def with_sheet(
    name: str, rows: Sequence[Sequence[Any]], *, hidden: bool = False
) -> Callable[[Any], object]:
    """Return what adds a sheet to a workbook."""

    def add(book: Any) -> None:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if hidden:
            sheet.sheet_state = "hidden"

    return add


def an_error_cell(sheet: Any) -> None:
    sheet["B5"].value, sheet["B5"].data_type = "#N/A", "e"
    sheet["B7"].value, sheet["B7"].data_type = "#DIV/0!", "e"


def a_formula(sheet: Any) -> None:
    sheet["B5"] = "=1+1"


def a_hidden_row(sheet: Any) -> None:
    sheet.row_dimensions[9].hidden = True
    sheet.row_dimensions[10].hidden = True


def moved(sheet: Any) -> None:
    sheet.insert_rows(1, 3)
    sheet.insert_cols(1, 2)


def merged_rows(sheet: Any) -> None:
    sheet.merge_cells("A2:A3")


def formatted_beyond(sheet: Any) -> None:
    for cell in ("J500", "H2"):
        sheet[cell].font = openpyxl.styles.Font(bold=True)


def computed_formula(path: Path) -> None:
    """Write a workbook whose formula has a result, as a spreadsheet saves it."""
    workbook()(path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"]
    first = f'<c r="B2" t="n"><v>{ROWS[0][1]}</v></c>'.encode()
    assert first in sheet
    files["xl/worksheets/sheet1.xml"] = sheet.replace(
        first, f'<c r="B2"><f>30+10</f><v>{ROWS[0][1]}</v></c>'.encode()
    )
    files["xl/workbook.xml"] = files["xl/workbook.xml"].replace(b' fullCalcOnLoad="1"', b"")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


WORKBOOKS = {
    "a workbook": MessyFile(name="t.xlsx", make=workbook()),
    "a workbook with macros": MessyFile(name="T.XLSM", make=workbook()),
    "titles": MessyFile(
        name="t.xlsx",
        make=workbook(above=[["Applicants 2025"], [], ["printed", date(2025, 5, 3)]]),
        note="the names of the columns in row 4, and what is above left out",
    ),
    "titles over merged cells": MessyFile(
        name="t.xlsx",
        make=workbook(lambda sheet: sheet.merge_cells("A1:E1"), above=[["Applicants 2025"]]),
        note="names of the columns in row 2",
    ),
    "the row of names is named": MessyFile(
        name="t.xlsx", make=workbook(above=[["a", "b", "c", "d", "e"]]), reading={"header_row": 2}
    ),
    "a row of names that is not there": MessyFile(
        name="t.xlsx",
        make=workbook(),
        reading={"header_row": 999},
        error="header_row=999: sheet 'Applicants'",
    ),
    "a table in the middle of the sheet": MessyFile(
        name="t.xlsx", make=workbook(moved), note="names of the columns in row 4"
    ),
    "a sheet of notes beside it": MessyFile(
        name="t.xlsx",
        make=workbook(more=with_sheet("Notes", [["see"], ["the manual"]])),
        note="sheet 'Applicants', the only one that holds a table",
    ),
    "a hidden list beside it": MessyFile(
        name="t.xlsx",
        make=workbook(more=with_sheet("Lists", [["a", "b"], [1, 2]], hidden=True)),
        note="sheet 'Applicants'",
    ),
    "two tables": MessyFile(
        name="t.xlsx",
        make=workbook(more=with_sheet("Jobs", [["a", "b"], [1, 2]])),
        error=r"several sheets hold a table \('Applicants', 'Jobs'\); .* sheet='Applicants'",
    ),
    "two tables, and one is named": MessyFile(
        name="t.xlsx",
        make=workbook(more=with_sheet("Jobs", [["a", "b"], [1, 2]])),
        reading={"sheet": "Applicants"},
    ),
    "a sheet that is not there": MessyFile(
        name="t.xlsx",
        make=workbook(),
        reading={"sheet": "applicant"},
        error="has the sheets 'Applicants'",
    ),
    "an empty workbook": MessyFile(
        name="t.xlsx", make=workbook(rows=[], names=[]), error="no sheet holds a table"
    ),
    "cells with errors": MessyFile(
        name="t.xlsx",
        make=workbook(an_error_cell),
        note=r"2 cells with an error \('#DIV/0!', '#N/A'; the first is B5\) in 'score' as missing",
    ),
    "a formula that was never computed": MessyFile(
        name="t.xlsx",
        make=workbook(a_formula),
        error="1 formulas .* never computed .* B5.*open the workbook",
    ),
    "a formula with its result": MessyFile(name="t.xlsx", make=computed_formula),
    "hidden rows": MessyFile(
        name="t.xlsx",
        make=workbook(a_hidden_row),
        note="2 hidden rows, which count like the others",
    ),
    "merged rows": MessyFile(
        name="t.xlsx",
        make=workbook(merged_rows),
        error="cells A2:A3 of sheet 'Applicants' are merged",
    ),
    "a sheet formatted further than it is filled": MessyFile(
        name="t.xlsx", make=workbook(formatted_beyond)
    ),
    "blank rows between and after": MessyFile(
        name="t.xlsx",
        make=workbook(rows=[*ROWS[:50], [], [], *ROWS[50:], [], []]),
        note="2 blank rows between the others left out",
    ),
    "dates, times and truth values": MessyFile(
        name="t.xlsx",
        make=workbook(
            names=[*NAMES, "day", "moment", "is_local", 2024],
            rows=[
                [*row, date(2025, 1, 1 + i % 20), datetime(2025, 1, 1, i % 24), i % 2 == 0, i / 7]
                for i, row in enumerate(ROWS)
            ],
        ),
    ),
    "text called .xlsx": MessyFile(name="t.xlsx", make=text(CSV), error="says Excel workbook, but"),
    "a locked workbook": MessyFile(
        name="t.xlsx",
        make=lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600),
        error="is locked; remove its password",
    ),
    "a zip archive called .xlsx": MessyFile(
        name="t.xlsx",
        make=lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "x"),
        error="not readable as a workbook",
    ),
}
MESSY_FILES = (
    TEXT_FILES | OTHER_FILES | {f"{name} (workbook)": file for name, file in WORKBOOKS.items()}
)
