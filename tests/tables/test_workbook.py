"""Workbooks: the truth, or one line."""

from __future__ import annotations

import re
import sys

import pyarrow as pa
import pytest
from messy_files import COUNTS, NAMES, ROWS, WORKBOOKS

import fourfifths
from fourfifths._effect.files import repair_file
from fourfifths._tables.load import load_rows
from fourfifths._tables.table import read_table
from fourfifths.errors import TableError


@pytest.mark.parametrize("case", WORKBOOKS)
def test_a_messy_workbook_gives_the_truth_or_one_line(case, tmp_path):
    file = WORKBOOKS[case]
    path = file.put(tmp_path)
    if file.error:
        with pytest.raises(TableError, match=file.error) as caught:
            read_table(path, **file.reading or {})
        assert "\n" not in str(caught.value)
        return
    table = read_table(path, **file.reading or {})
    result = fourfifths.impact(table, protected="race", outcome="hired")
    counts = {group.group: (group.selected, group.n) for group in result.attributes[0].groups}
    assert counts == COUNTS
    assumed = [note for note in result.notes if "was read with" in note]
    assert len(assumed) == (1 if file.note else 0)
    assert not file.note or re.search(file.note, assumed[0])


def test_the_columns_of_a_workbook_have_the_types_of_their_cells(tmp_path):
    path = WORKBOOKS["dates, times and truth values"].put(tmp_path)
    native = load_rows(path).dataframe.to_native()
    assert native.schema.names == [*NAMES, "day", "moment", "is_local", "2024"]
    types = [pa.string(), pa.int64(), pa.string(), pa.string(), pa.string()]
    types += [pa.date32(), pa.timestamp("us"), pa.bool_(), pa.float64()]
    assert [
        pa.string() if pa.types.is_large_string(kind) else kind for kind in native.schema.types
    ] == types
    assert native.column("zip").to_pylist() == [row[2] for row in ROWS]


def test_cells_with_errors_are_missing(tmp_path):
    column = load_rows(WORKBOOKS["cells with errors"].put(tmp_path)).dataframe["score"].to_list()
    scores = [row[1] for row in ROWS]
    scores[3] = scores[5] = None
    assert column == scores


def test_numbers_beside_words_are_text_as_in_a_csv(tmp_path):
    from messy_files import workbook

    rows = [["B", 7], ["W", "n/a"], ["B", 1.5], ["W", True], ["B", None]]
    workbook(names=["race", "x"], rows=rows)(tmp_path / "t.xlsx")
    texts = load_rows(tmp_path / "t.xlsx").dataframe["x"].to_list()
    assert texts == ["7", "n/a", "1.5", "TRUE", None]


def test_a_workbook_is_repaired_into_a_csv(tmp_path):
    path = WORKBOOKS["titles"].put(tmp_path)
    repaired = repair_file(
        str(path), protected=["race"], columns=["score"], options={"scope": "column"}
    )
    repaired.write(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == ",".join(NAMES)
    assert [line.split(",")[2] for line in lines[1:]] == [row[2] for row in ROWS]
    assert any("names of the columns in row 4" in note for note in repaired.notes)


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(TableError, match=r"pip install 'fourfifths\[excel\]'"):
        read_table(WORKBOOKS["a workbook"].put(tmp_path))
