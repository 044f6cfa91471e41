"""`fourfifths monitor`."""

from __future__ import annotations

import json

import pytest

ROLES = ("--protected", "sex", "--outcome", "hired", "--reference", "m")


def people(sex: str, selected: int, n: int) -> str:
    return f"{sex},yes\n" * selected + f"{sex},no\n" * (n - selected)


@pytest.fixture
def weeks(tmp_path):
    for week, (women, men) in {"w1": (20, 50), "w2": (22, 55)}.items():
        text = "sex,hired\n" + people("f", women, 100) + people("m", men, 100)
        (tmp_path / f"{week}.csv").write_text(text)


@pytest.mark.slow
def test_batches_are_added_one_by_one(shell, weeks, tmp_path):
    assert shell("monitor", "log.jsonl", "--add", "w1.csv", *ROLES).code == 0
    answer = shell("monitor", "log.jsonl", "--add", "w2.csv", "--fail-on", "below")
    assert answer.code == 3
    assert "f: with 95% confidence the ratio was below 0.8 in at least some batches" in answer.out
    content = json.loads(shell("monitor", "log.jsonl", "--format", "json").out)
    assert content["batches"] == ["w1", "w2"]
    assert shell("monitor", "log.jsonl", "--plot", "e.png").code == 0
    assert (tmp_path / "e.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("w1.csv", *ROLES), "w1.csv: line 1 is not that of a log"),
        (("log.jsonl",), "log.jsonl: there is no log yet"),
        (("log.jsonl", "--name", "x"), "--name: names the batch that is added; it needs --add"),
        (("l.jsonl", "--add", "w1.csv", "--batch", "sex"), "--add: counts a whole file"),
        (("l.jsonl", "--add", "w1.csv"), "protected: name at least one column"),
        (("w1.csv", "--batch", "hired", *ROLES), "--batch hired: the column has another role"),
    ],
)
def test_bad_options_in_one_line(shell, weeks, arguments, message):
    answer = shell("monitor", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("number", ["1.5", "-1"])
def test_counts_of_people_that_are_not_whole_point_to_no_other_command(shell, tmp_path, number):
    (tmp_path / "w.csv").write_text(
        f"week,sex,hired,n\n1,f,yes,{number}\n1,f,no,2\n1,m,yes,3\n1,m,no,2\n"
    )
    roles = ("--protected", "sex", "--outcome", "hired", "--reference", "m")
    answer = shell("monitor", "w.csv", "--batch", "week", "--persons", "n", *roles)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("fourfifths: --persons n: expected a whole number of persons")
    assert "--weights-are" not in answer.err


def test_the_page_does_not_replace_the_batch_that_is_added(shell, weeks, tmp_path):
    rows = (tmp_path / "w1.csv").read_text()
    answer = shell("monitor", "log.jsonl", "--add", "w1.csv", *ROLES, "--out", "w1.csv")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("fourfifths: --out w1.csv: is the file that is audited")
    assert (tmp_path / "w1.csv").read_text() == rows
    assert not (tmp_path / "log.jsonl").exists()


def test_unknown_that_is_in_no_batch_of_a_table_is_an_error(shell, tmp_path):
    rows = "".join(f"{week},{sex},{hired}\n" for week in "12" for sex in "fm" for hired in "yn")
    (tmp_path / "t.csv").write_text(f"week,sex,hired\n{rows}")
    roles = ("--protected", "sex", "--outcome", "hired", "--reference", "m", "--favorable", "y")
    answer = shell("monitor", "t.csv", "--batch", "week", *roles, "--unknown", "zzz")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("fourfifths: --unknown zzz: never occurs in the columns")
