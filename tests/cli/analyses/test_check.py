"""`fourfifths check`."""

from __future__ import annotations

import json

import pytest

TABLE = "Sex,Applicants,Selected,Rate,Ratio\nMale,1390,667,48.0%,1.00\nFemale,1181,555,47.0%,0.97\n"
COLUMNS = ("--group", "Sex", "--n", "Applicants", "--selected", "Selected", "--rate", "Rate")


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return "t.csv"


def test_a_line_for_each_group(shell, table):
    answer = shell("check", table, *COLUMNS, "--ratio", "Ratio", "--plot", "t.png")
    assert answer.code == 0
    # 555/1181 over 667/1390 is 0.9793.
    assert "ratio: 0.97 is printed; the ratio to Male is 0.98 (cut off, not rounded)" in answer.out


def test_exit_code_3_on_request(shell, table):
    assert shell("check", table, *COLUMNS, "--ratio", "Ratio", "--fail-on", "errors").code == 3
    assert shell("check", table, *COLUMNS, "--fail-on", "errors").code == 0


def test_as_json(shell, table):
    answer = shell("check", table, *COLUMNS, "--unknown-count", "50", "--format", "json")
    content = json.loads(answer.out)
    assert (content["schema"], content["unknown_count"]) == ("fourfifths/check/1", 50)


def test_bad_options_in_one_line(shell, table):
    answer = shell("check", table, "--group", "Sex", "--n", "Applicants")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "fourfifths: name the column of the numbers selected, or of the rates: --selected"
    )
