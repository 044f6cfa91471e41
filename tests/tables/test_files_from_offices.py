"""Files as offices write them. By hand: 24 of 60 and 45 of 75 are selected, or it is an error."""

from __future__ import annotations

import pytest

from fourfifths import impact, read_table
from fourfifths.errors import ColumnError, GroupError, TableError

ROWS = [("F", True)] * 24 + [("F", False)] * 36 + [("M", True)] * 45 + [("M", False)] * 30
COUNTS = {"n": "Applicants", "selected": "Hired"}


def counted(result):
    return {group.group: (group.selected, group.n) for group in result.attributes[0].groups}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_read(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    lines = [f"{sex},{'yes' if hired else 'no'}" for sex, hired in ROWS]
    path.write_bytes("\r\n".join(["sex,hired", *lines, ""]).encode(encoding))
    result = impact(path, protected="sex", outcome="hired")
    assert counted(result) == {"F": (24, 60), "M": (45, 75)}


def test_a_binary_file_says_what_to_do(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\x01\x00\x00\x07sex\x00" * 40)
    with pytest.raises(TableError, match=r"binary or not UTF-8; save it as CSV \(UTF-8\)"):
        impact(path, protected="sex", outcome="hired")


def test_one_number_in_two_spellings_is_one_outcome(tmp_path):
    path = tmp_path / "rows.csv"
    ones = ["1", "1.0", "1.00"]
    lines = [f"{sex},{ones[k % 3] if hired else '0'}" for k, (sex, hired) in enumerate(ROWS)]
    path.write_text("\n".join(["sex,hired", *lines, ""]))
    result = impact(path, protected="sex", outcome="hired", favorable="1")
    assert counted(result) == {"F": (24, 60), "M": (45, 75)}
    assert any("differ only in how a number is written" in note for note in result.notes)


@pytest.mark.parametrize("name", ["Grand total:", "TOTAL -", "Workforce", ""])
def test_a_row_that_is_the_sum_of_the_others_is_no_group(tmp_path, name):
    path = tmp_path / "rows.csv"
    path.write_text(f"Race,Applicants,Hired\nWhite,1200,600\nBlack,1000,350\n{name},2200,950\n")
    with pytest.raises(GroupError, match="total"):
        impact(path, protected="Race", counts=COUNTS)


@pytest.mark.parametrize("name", ["Grand total:", "TOTAL -", "* All *"])
def test_a_total_is_known_by_its_name_even_if_it_does_not_add_up(tmp_path, name):
    path = tmp_path / "rows.csv"
    path.write_text(f"Race,Applicants,Hired\nWhite,1200,600\nBlack,1000,350\n{name},2200,949\n")
    with pytest.raises(GroupError, match=r"looks like a total .* are not their sum"):
        impact(path, protected="Race", counts=COUNTS)


def test_a_group_that_happens_to_be_the_sum_of_the_others_can_be_kept(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("Race,Applicants,Hired\nWhite,30,20\nBlack,20,10\nAsian,10,10\n")
    with pytest.raises(GroupError, match=r"'White' looks like a total.*known=\['White'\]"):
        impact(path, protected="Race", counts=COUNTS)
    result = impact(read_table(path, known="White"), protected="Race", counts=COUNTS)
    assert counted(result)["White"] == (20, 30)


def test_percentages_are_no_numbers_of_persons(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("Race,Applicants,Hired\nWhite,1200,50%\nBlack,1000,35%\n")
    with pytest.raises(ColumnError, match=r"counts='Hired': '(35|50)%' is a percentage; expected"):
        impact(path, protected="Race", counts=COUNTS)


def test_a_title_over_the_header_is_pointed_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("Person,,Result\nid,sex,hired\n" + "1,F,yes\n2,M,no\n" * 9)
    with pytest.raises(ColumnError, match=r"no such column.*in another line, say which"):
        impact(path, protected="sex", outcome="hired")
