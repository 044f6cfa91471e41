"""`fourfifths subgroups`."""

from __future__ import annotations

import json

import pytest

CROSSED = """sex,years,hired,n
F,30,yes,10
F,30,no,90
F,2,yes,90
F,2,no,10
M,30,yes,90
M,30,no,10
M,2,yes,10
M,2,no,90
"""
ROLES = ("--protected", "sex", "--columns", "years", "--outcome", "hired", "--persons", "n")


@pytest.fixture
def subgroups(shell, tmp_path):
    """Run the command on a table in which only intersections differ."""
    (tmp_path / "h.csv").write_text(CROSSED)
    return lambda *arguments: shell("subgroups", "h.csv", *arguments)


def test_the_worst_subgroup(subgroups):
    answer = subgroups(*ROLES, "--band", "years=10")
    assert (answer.code, answer.err) == (0, "")
    first = answer.out.splitlines()[6]
    assert first.startswith(" sex F & years 10")  # the rest is folded
    assert first.split()[-7:-2] == ["100", "10", "0.100", "0.633", "0.158"]
    assert "6 subgroups of up to 3 columns searched, each with sex." in answer.out


def test_json_and_plot(subgroups, tmp_path):
    answer = subgroups(*ROLES, "--show", "2", "--format", "json", "--plot", "worst.png")
    assert answer.code == 0
    assert (tmp_path / "worst.png").stat().st_size > 10_000
    content = json.loads(answer.out)
    assert content["schema"] == "fourfifths/subgroups/1"
    assert [entry["selected"] for entry in content["subgroups"]] == [10, 10]
    assert content["provenance"]["file"] == "h.csv"


def test_csv(subgroups):
    answer = subgroups(*ROLES, "--order", "limit", "--depth", "1", "--format", "csv")
    assert [line.split(",")[0] for line in answer.out.splitlines()] == [
        "subgroup",
        "sex F",
        "sex M",
    ]


def test_a_note_on_quantiles_names_the_option(shell, tmp_path):
    rows = "".join(f"{'FM'[i % 2]},{i},{'yes' if i % 3 else 'no'}\n" for i in range(200))
    (tmp_path / "q.csv").write_text(f"sex,years,hired\n{rows}")
    roles = ("--protected", "sex", "--columns", "years", "--outcome", "hired")
    answer = shell("subgroups", "q.csv", *roles, "--quantiles", "2")
    assert "years is cut at 99.5" in answer.out
    assert "--band years=... names other cuts" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--depth", "4"), "--depth 4: expected a whole number from 1 to 3"),
        (("--min-rows", "300"), "--min-rows 300: no subgroup has that many rows"),
        (("--columns", "site"), "--columns site: no such column in h.csv"),
        (("--quantiles", "1"), "--quantiles 1: expected a whole number from 2 to 50"),
        (("--show", "0"), "--show 0: expected a whole number, 1 or more"),
    ],
)
def test_an_error_is_one_line_with_the_remedy(subgroups, arguments, message):
    answer = subgroups(*ROLES, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        ("", (), "h.csv: there are no rows"),
        ("f,a,yes,1\nf,b,no,1\n", (), "--protected sex: the column holds only 'f'; leave it out"),
        (
            "f,a,yes,1\nm,a,no,1\n",
            ("--columns", "site"),
            "--columns site: the column holds only 'a'; leave it out",
        ),
        (
            "f,a,yes,1.5\nm,b,no,1\n",
            ("--persons", "n"),
            "--persons n: expected a whole number of persons, 0 or more, in each row",
        ),
        (
            "f,a,yes,-1\nm,b,no,1\n",
            ("--persons", "n"),
            "--persons n: expected a whole number of persons, 0 or more, in each row",
        ),
    ],
    ids=["no rows", "one group", "one site", "half a person", "minus one person"],
)
def test_a_bad_file_is_one_line_with_options_of_this_command(
    shell, tmp_path, rows, arguments, message
):
    (tmp_path / "h.csv").write_text(f"sex,site,hired,n\n{rows}")
    answer = shell("subgroups", "h.csv", "--protected", "sex", "--outcome", "hired", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert "--weights" not in answer.err
    assert answer.err.count("\n") == 1
