"""Reports as Excel workbooks."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace

import openpyxl
import pandas as pd
import pytest
from filed_reports import HOSTILE, audit_of, hostile_report

import fourfifths
from fourfifths._evidence.compose import report
from fourfifths._evidence.formats.xlsx import MAX_CELL, report_xlsx, sheet_name
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._report.document import Section, Sheet
from fourfifths._text import printable


@pytest.fixture(scope="module")
def memo():
    return report("ricci", template="ugesp")


def workbook(filed, *, has_values=True):
    return openpyxl.load_workbook(io.BytesIO(report_xlsx(filed)), data_only=has_values)


def rows_of(sheet):
    head, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def computed(sheet, cell):
    """Compute a formula of cells, as a spreadsheet would."""
    value = sheet[cell].value
    if not isinstance(value, str) or not value.startswith("="):
        return value
    return eval(re.sub(r"[A-Z]+\d+", lambda name: repr(computed(sheet, name.group())), value[1:]))


def of_part(result):
    return Report(title="t", template="full", parts=(Part(id="p", title="p", result=result),))


def test_figures_are_those_of_json(memo):
    filed = next(part for part in memo.to_dict()["parts"] if part["id"] == "by-race")
    rows = rows_of(workbook(memo)["By race"])
    assert [row["group"] for row in rows] == [group["group"] for group in filed["result"]["groups"]]
    for row, group in zip(rows, filed["result"]["groups"], strict=True):
        numbers = {
            name: value
            for name, value in group.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        assert len(numbers) > 10
        # XlsxWriter writes 16 significant digits.
        assert {name: row[name] for name in numbers} == pytest.approx(numbers, rel=1e-15)


def test_formulas_of_the_new_haven_test_give_the_figures_of_the_case():
    # Ricci v. DeStefano: 9 of 27, 6 of 23 and 41 of 68 passed.
    filed = report("ricci", template="ugesp")
    live = workbook(filed, has_values=False)["By race"]
    cached = rows_of(workbook(filed)["By race"])
    head = [cell.value for cell in live[1]]
    counts = {"B": (9, 27), "H": (6, 23), "W": (41, 68)}
    for number, row in enumerate(cached, start=2):
        selected, n = counts[row["group"]]
        expected = {
            "selection_rate": selected / n,
            "impact_ratio": (selected / n) / (41 / 68),
            "shortfall_to_reference": n * 41 / 68 - selected,
        }
        for name, value in expected.items():
            cell = live.cell(number, head.index(f"{name} (formula)") + 1)
            assert cell.data_type == "f"
            assert computed(live, cell.coordinate) == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert row[f"{name} (formula)"] == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert row[name] == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_each_cut_is_compared_with_its_own_reference():
    table = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 10, "score": [*range(10), *range(5, 15)]})
    result = fourfifths.cuts(table, score="score", protected="sex", reference="m")
    live = workbook(of_part(result), has_values=False)["p"]
    head = [cell.value for cell in live[1]]
    rows = rows_of(live)
    assert len({row["cut"] for row in rows}) > 5
    for number, row in enumerate(rows, start=2):
        other = next(r for r in rows if r["cut"] == row["cut"] and r["group"] == row["reference"])
        formula = live.cell(number, head.index("impact_ratio (formula)") + 1)
        if row["impact_ratio"] is None:
            assert formula.value is None
        else:
            rate, rate_of_reference = row["selected"] / row["n"], other["selected"] / other["n"]
            assert computed(live, formula.coordinate) == pytest.approx(rate / rate_of_reference)


def test_weighted_rates_have_no_formula_of_counts():
    table = pd.DataFrame(
        {"g": ["a", "a", "b", "b"], "y": ["1", "0", "1", "0"], "w": [1.0, 3.0, 2.0, 1.0]}
    )
    result = fourfifths.impact(
        table, protected="g", outcome="y", favorable="1", weights="w", reference="b"
    ).attributes[0]
    (first, _) = rows_of(workbook(of_part(result))["p"])
    assert first["selection_rate"] == 0.25
    assert not [name for name in first if "formula" in name]


def test_an_undefined_figure_is_an_empty_cell():
    rows = rows_of(workbook(of_part(audit_of("a")))["p"])
    assert rows[1]["group"] == "ref"
    assert rows[1]["z"] is None


def test_a_table_has_a_sheet_with_numbers_as_it_shows_them(memo):
    sheet = workbook(memo)["race, compared with W"]
    assert [cell.value for cell in sheet[1]] == [
        *("group", "n", "selected", "rate", "95%", "ratio", "95%"),
    ]
    row = [cell.value for cell in sheet[2]]
    assert row[:4] == ["B", 27, 9, 0.333]
    assert sheet["D2"].number_format == "#,##0.000"
    assert row[5] == "0.553 <"
    assert sheet.freeze_panes == "B2"
    assert sheet.print_title_rows == "$1:$1"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_stay_texts(text):
    book = workbook(hostile_report(text), has_values=False)
    formulas = {
        cell.value
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }
    assert all(re.fullmatch(r"=[A-Z\d/*-]+", formula) for formula in formulas)
    shown = printable(text)
    texts = book["Report"]
    assert texts["A1"].value == shown
    if text[0] in "=+-@":
        assert texts["A1"].quotePrefix
    tables = [sheet for sheet in book if sheet["A1"].value == shown and sheet.title != "Report"]
    assert tables[0]["A2"].value == tables[0]["B2"].value == shown
    assert all(len(sheet.title) <= 31 for sheet in book)


def test_a_text_too_long_for_a_cell_is_cut_where_it_shows():
    text = workbook(Report(title="x" * 40_000, template="full"))["Report"]["A1"].value
    assert len(text) == MAX_CELL
    assert text.endswith("x…")


def test_names_of_sheets_are_legal_and_differ():
    taken: list[str] = []
    for title in ["a/b", "A B", "history", "'q'", "[x]:*?\\", "", "x" * 50, "x" * 60, "😀" * 40]:
        name = sheet_name(title, taken)
        assert 0 < len(name) <= 31
        assert not re.search(r"[\[\]:*?/\\]|^'|'$", name)
        assert name.lower() not in [*(other.lower() for other in taken), "history"]
        taken.append(name)
    filed = Report(
        title="t",
        template="full",
        parts=(
            Part(
                id="p",
                title="Report",
                result=audit_of("a"),
                sections=(Section(sheets=(Sheet(title="report", headers=("a",), rows=()),) * 2),),
            ),
        ),
    )
    assert workbook(filed).sheetnames == ["Report", "Report 2", "report 3", "report 4"]


def test_a_sheet_named_after_emoji_can_be_written():
    # 24 signs that Excel counts as 48.
    title = "\N{WAVING HAND SIGN}" * 24
    sheet = Sheet(title=title, headers=("name", "n"), rows=(("a", "1"),))
    part = Part(id="a", title="A", sections=(Section(sheets=(sheet, sheet)),))
    names = workbook(Report(title="t", template="full", parts=(part,))).sheetnames
    assert names[-2:] == [title[:15], f"{title[:14]} 2"]


def test_the_same_report_gives_the_same_bytes(memo):
    dated = replace(memo, provenance=(Field(key="date", label="d", text="2026-11-18 10:00 UTC"),))
    content = report_xlsx(dated)
    assert content == report_xlsx(dated)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
        assert b"2026-11-18T00:00:00Z" in archive.read("docProps/core.xml")


def test_rows_of_long_texts_are_high_enough(memo):
    sheet = workbook(memo)["Report"]
    long_texts = [
        (cell.row, len(cell.value)) for cell in sheet["B"] if len(str(cell.value or "")) > 250
    ]
    assert long_texts
    # At 11 points a line needs about 15, and hardly 125 letters fit in one.
    for row, length in long_texts:
        assert sheet.row_dimensions[row].height >= min(15 * length / 125, 409)


def test_a_wide_sheet_is_printed_in_parts_that_can_be_read(memo):
    sheets = workbook(memo)
    wide = sheets["By race"]
    assert wide.max_column > 20
    assert not wide.page_setup.fitToWidth or not wide.sheet_properties.pageSetUpPr.fitToPage
    # Each part repeats the columns up to the group.
    (group,) = (cell.column_letter for cell in wide[1] if cell.value == "group")
    assert wide.print_title_cols == f"$A:${group}"
    narrow = sheets["race, compared with W"]
    assert narrow.sheet_properties.pageSetUpPr.fitToPage
