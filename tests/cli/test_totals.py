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
    "monitor": ("--outcome", "passed", "--batch", "week", "--reference", "M", "--weights", "n"),
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


def test_one_row_per_person_may_hold_any_name(shell, tmp_path):
    rows = "All,yes\nAll,no\nM,yes\nM,no\n" * 10
    (tmp_path / "t.csv").write_text(f"team,hired\n{rows}")
    assert shell("audit", "t.csv", "--protected", "team", "--outcome", "hired").code == 0
