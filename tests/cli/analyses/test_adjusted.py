"""`fourfifths adjusted`."""

from __future__ import annotations

import json

import pytest

HEAD = "sex,job,admitted,people\n"
# Berkeley 1973, departments A and C.
BERKELEY = HEAD + (
    "F,A,yes,89\nF,A,no,19\nM,A,yes,512\nM,A,no,313\n"
    "F,C,yes,202\nF,C,no,391\nM,C,yes,120\nM,C,no,205\n"
)
ROLES = ("--protected", "sex", "--outcome", "admitted", "--persons", "people", "--reference", "M")


@pytest.fixture
def adjusted(shell, tmp_path):
    (tmp_path / "b.csv").write_text(BERKELEY)
    return lambda *arguments: shell("adjusted", "b.csv", *ROLES, *arguments)


def test_the_page(adjusted):
    answer = adjusted("--control", "job")
    assert (answer.code, answer.err) == (0, "")
    assert "b.csv: admitted = yes, adjusted for job, 1,851 rows" in answer.out
    assert "the ratio goes from 0.755 to" in answer.out.replace("\n", " ")
    assert "tainted" in answer.out


def test_json_and_plot(adjusted, tmp_path):
    answer = adjusted("--category", "job", "--format", "json", "--plot", "b.png")
    assert answer.code == 0
    assert (tmp_path / "b.png").stat().st_size > 5_000
    content = json.loads(answer.out)
    assert content["schema"] == "fourfifths/adjusted/1"
    assert content["attributes"][0]["groups"][0]["n"] == 701


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--control: name at least one column to adjust for"),
        (("--control", "jb"), "--control jb: no such column in b.csv; did you mean 'job'"),
        (("--category", "jb"), "--category jb: no such column in b.csv; did you mean 'job'"),
        (("--control", "sex"), "--control sex: has another role"),
    ],
)
def test_an_error_is_one_line_with_the_remedy(adjusted, arguments, message):
    answer = adjusted(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1
