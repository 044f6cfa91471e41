"""`fourfifths share`."""

from __future__ import annotations

import json

import pytest


def test_castaneda_at_the_shell(shell):
    answer = shell("share", "339", "870", "--share", "0.791")
    assert (answer.code, answer.err) == (0, "")
    assert "Expected 688.17, shortfall 349.17: -29.11 standard deviations" in answer.out


def test_as_json(shell):
    content = json.loads(shell("share", "339", "870", "--share", "0.791", "--format", "json").out)
    assert content["schema"] == "fourfifths/share/1"
    assert content["standard_deviations"] == pytest.approx(-29.11, abs=0.005)


def test_hazelwood_from_a_file(shell, tmp_path):
    (tmp_path / "y.csv").write_text("Year,observed,Hired\n1972,10,282\n1973,5,123\n")
    columns = ("--period", "Year", "--selected-column", "Hired", "--share", "0.154")
    answer = shell("share", "--file", "y.csv", *columns, "--plot", "y.png")
    assert answer.code == 0
    assert [line.split()[-2] for line in answer.out.splitlines() if line[1:5] == "1973"] == [
        "-3.48"
    ]
    assert "-6.52 standard deviations" in answer.out
    assert (tmp_path / "y.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("339", "870", "--share", "79.1"), "--share 79.1: expected a share between 0 and 1"),
        (("339", "870", "--share", "nan"), "--share nan: expected a share between 0 and 1"),
        (("many", "870", "--share", ".5"), "OBSERVED: expected a whole number"),
        (("339", "870"), "--share: give it once, for all years, or --share-column with --file"),
        (("339", "--share", ".5"), "SELECTED: give both numbers, or a --file"),
        (("--file", "n.csv", "--share", ".5"), "n.csv: no such file"),
        (("1", "2", "--file", "n.csv", "--share", ".5"), "--file: holds the numbers"),
        (("1", "2", "--share", ".5", "--out", "x.md"), "--out: only with --file"),
    ],
)
def test_bad_options_in_one_line(shell, arguments, message):
    answer = shell("share", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1


def test_a_word_among_the_numbers_points_to_no_option_of_another_command(shell, tmp_path):
    (tmp_path / "y.csv").write_text("period,observed,selected\n1972,ten,282\n1973,5,123\n")
    answer = shell("share", "--file", "y.csv", "--share", "0.154")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "fourfifths: --observed-column observed: expected numbers, found 'ten'; correct such "
        "cells\n"
    )


def test_lines_of_delimiters_alone_are_no_years(shell, tmp_path):
    (tmp_path / "y.csv").write_text("period,observed,selected\n1972,10,282\n,,\n1973,5,123\n,,\n")
    answer = shell("share", "--file", "y.csv", "--share", "0.154", "--format", "json")
    content = json.loads(answer.out)
    assert round(content["standard_deviations"], 1) == -6.5
    assert len(content["periods"]) == 2


HAZELWOOD = "Year,observed,selected,Pool\n1972,10,282,15.4%\n1973,5,123,15.4%\n"


def test_shares_may_be_percentages(shell, tmp_path):
    (tmp_path / "y.csv").write_text(HAZELWOOD)
    columns = ("--period", "Year", "--share-column", "Pool", "--format", "json")
    content = json.loads(shell("share", "--file", "y.csv", *columns).out)
    assert round(content["standard_deviations"], 1) == -6.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "Total,15,405,15.4%",
            "y.csv: the row of 'Total' looks like a total of the other rows (its",
        ),
        (
            "1972-73,15,405,15.4%",
            "y.csv: the row of '1972-73' looks like a total of the other rows",
        ),
        ("Total,16,405,15.4%", "y.csv: the row of 'Total' looks like a total of the other rows; "),
        ("1974,0,0,15.4%", "y.csv: the row of '1974' holds 0 of 0 selected; expected at least 1"),
        ("1974,6,5,15.4%", "y.csv: the row of '1974' holds 6 of 5 selected; expected at least 1"),
        ("1974,-1,5,15.4%", "y.csv: the row of '1974' holds -1 of 5 selected; expected at least 1"),
        (
            "1974,1,5,154%",
            "--share-column Pool: 154 in the row of '1974'; expected a share between",
        ),
    ],
)
def test_a_row_that_is_no_year_is_named(shell, tmp_path, row, message):
    (tmp_path / "y.csv").write_text(f"{HAZELWOOD}{row}\n")
    answer = shell("share", "--file", "y.csv", "--period", "Year", "--share-column", "Pool")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1
