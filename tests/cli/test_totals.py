"""A row with the total of the others, in a table where a row stands for several persons."""

from __future__ import annotations

import json

import pytest

TABLE = """sex,week,passed,hired,score,n
F,1,yes,yes,3,10
F,1,no,,2,20
M,1,yes,yes,3,20
M,1,no,,1,10
Grand total:,1,yes,yes,3,30
Grand total:,1,no,,1,30
"""
COMMANDS = {
    "audit": ("--outcome", "passed", "--weights", "n", "--weights-are", "counts"),
    "stages": ("--stage", "passed", "--persons", "n"),
    "cuts": ("--score", "score", "--persons", "n"),
    "adjusted": ("--outcome", "passed", "--control", "score", "--persons", "n"),
    "subgroups": ("--outcome", "passed", "--columns", "score", "--persons", "n"),
    "monitor": ("--outcome", "passed", "--batch", "week", "--reference", "M", "--persons", "n"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_no_group(shell, tmp_path, command):
    (tmp_path / "t.csv").write_text(TABLE)
    answer = shell(command, "t.csv", "--protected", "sex", *COMMANDS[command])
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "fourfifths: column 'sex': 'Grand total:' looks like a total of the other rows; remove "
        "it, or, if it is a group, give --known 'Grand total:'\n"
    )


def test_known_keeps_it(shell, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    known = ("--known", "Grand total:", "--format", "json")
    answer = shell("audit", "t.csv", "--protected", "sex", *COMMANDS["audit"], *known)
    groups = json.loads(answer.out)["attributes"][0]["groups"]
    assert [(group["n"], group["selected"]) for group in groups] == [(30, 10), (60, 30), (30, 20)]


# The site is no group of any command, and "All" counts everyone of A and B again.
SITES = """sex,site,passed,score,n
F,A,yes,3,10
F,B,no,2,20
F,All,yes,3,10
F,All,no,2,20
M,A,yes,3,20
M,B,no,1,10
M,All,yes,3,20
M,All,no,1,10
"""


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "monitor"])
def test_it_counts_no_one_twice_in_another_column(shell, tmp_path, command):
    (tmp_path / "t.csv").write_text(SITES)
    answer = shell(command, "t.csv", "--protected", "sex", *COMMANDS[command])
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "fourfifths: column 'site': 'All' looks like a total of the other rows; remove it, or, if "
        "it is a group, give --known All\n"
    )
    # With it, the controls of `adjusted` determine the outcome.
    answer = shell(command, "t.csv", "--protected", "sex", *COMMANDS[command], "--known", "All")
    assert "total" not in answer.err


@pytest.mark.parametrize("is_total", [True, False])
def test_a_table_of_counts_holds_it_in_no_column(shell, tmp_path, is_total):
    site = "All" if is_total else "C"
    (tmp_path / "t.csv").write_text(
        f"race,site,n,hired\nB,A,10,2\nB,{site},20,4\nW,A,30,9\nW,{site},50,20\n"
    )
    counts = ("--counts", "n=n,selected=hired")
    answer = shell("audit", "t.csv", "--protected", "race", *counts, "--format", "json")
    if is_total:
        assert answer.code == 2
        assert "column 'site': 'All' looks like a total" in answer.err
        return
    groups = json.loads(answer.out)["attributes"][0]["groups"]
    assert [(group["n"], group["selected"]) for group in groups] == [(30, 6), (80, 29)]


def test_a_column_that_says_the_same_of_all_rows_says_nothing_of_totals(shell, tmp_path):
    (tmp_path / "t.csv").write_text("race,site,n,hired\nB,All,10,2\nW,All,30,9\n")
    answer = shell("audit", "t.csv", "--protected", "race", "--counts", "n=n,selected=hired")
    assert answer.code == 0


def test_an_outcome_called_total_halves_no_rate(shell, tmp_path):
    (tmp_path / "t.csv").write_text(
        "race,hired,n\nB,yes,35\nB,no,95\nB,Total,130\nW,yes,80\nW,no,100\nW,Total,180\n"
    )
    roles = ("--protected", "race", "--outcome", "hired", "--favorable", "yes")
    answer = shell("audit", "t.csv", *roles, "--weights", "n", "--weights-are", "counts")
    assert answer.code == 2
    assert "column 'hired': 'Total' looks like a total" in answer.err


@pytest.mark.parametrize("command", ["audit", "certify"])
def test_the_last_line_of_a_list_of_persons_is_no_group(shell, tmp_path, command):
    people = "".join(f"{index},{'FM'[index % 2]},{index % 3 % 2}\n" for index in range(60))
    (tmp_path / "t.csv").write_text(f"id,sex,hired\n{people},Total,20\n")
    roles = ("--protected", "sex", "--outcome", "hired", "--favorable", "1")
    answer = shell(command, "t.csv", *roles)
    assert answer.code == 2
    assert "column 'sex': 'Total' looks like a total of the other rows" in answer.err


def test_a_header_among_the_rows_is_no_person(shell, tmp_path):
    rows = "F,yes\nF,no\nM,yes\nM,no\n" * 5
    (tmp_path / "t.csv").write_text(f"Sex,Hired\n{rows}sex,HIRED\n{rows}")
    roles = ("--protected", "Sex", "--outcome", "Hired", "--favorable", "yes")
    answer = shell("audit", "t.csv", *roles)
    assert (answer.code, answer.out) == (2, "")
    assert "'Sex', 'Hired': 1 row has the names of the columns as values" in answer.err


def test_a_value_may_be_called_as_its_column(shell, tmp_path):
    rows = "Black,Hired\nBlack,no\nother,Hired\nother,no\nother,no\n" * 5
    (tmp_path / "t.csv").write_text(f"Black,Decision\n{rows}")
    roles = ("--protected", "Black", "--outcome", "Decision", "--favorable", "Hired")
    assert shell("audit", "t.csv", *roles).code == 0


def test_one_row_per_person_may_hold_any_name(shell, tmp_path):
    rows = "All,yes\nAll,no\nM,yes\nM,no\n" * 10
    (tmp_path / "t.csv").write_text(f"team,hired\n{rows}")
    assert shell("audit", "t.csv", "--protected", "team", "--outcome", "hired").code == 0
