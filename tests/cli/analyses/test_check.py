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


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "Total,2571,1222,,",
            "--group Sex: 'Total' looks like a total of the other rows; remove the row and give "
            "--total 2571, or, if it is a group, give --known Total",
        ),
        (
            "Unknown,100,60,,",
            "--group Sex: 'Unknown' looks like people of unknown group; remove the row and give "
            "--unknown-count 100, or, if it is a group, give --known Unknown",
        ),
        (
            "X,1.000,1,,",
            "--n Applicants: '1.000' in the row of 'X' may be 1000 or 1; write it without the "
            "point",
        ),
    ],
)
def test_a_row_that_is_no_group_is_not_counted_as_one(shell, tmp_path, row, message):
    (tmp_path / "t.csv").write_text(f"{TABLE}{row}\n")
    answer = shell("check", "t.csv", *COLUMNS)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"fourfifths: {message}\n"


def test_known_keeps_a_group_that_is_called_like_the_unknown(shell, tmp_path):
    (tmp_path / "t.csv").write_text(f"{TABLE}Unknown,100,60,60.0%,\n")
    answer = shell("check", "t.csv", *COLUMNS, "--known", "Unknown", "--format", "json")
    assert json.loads(answer.out)["highest"] == "Unknown"  # 60 of 100 is above 667 of 1390


def test_lines_of_delimiters_alone_are_no_groups(shell, tmp_path):
    (tmp_path / "t.csv").write_text(f"{TABLE},,,,\n")
    assert json.loads(shell("check", "t.csv", *COLUMNS, "--format", "json").out)["rows"] == 2571


def test_selected_of_unknown_group_need_their_number(shell, table):
    answer = shell("check", table, *COLUMNS, "--unknown-selected", "4")
    assert answer.code == 2
    assert answer.err == "fourfifths: --unknown-selected 4: is more than --unknown-count 0\n"
