"""`fourfifths cuts`."""

from __future__ import annotations

import json

import pytest

RICCI = ("cuts", "ricci", "--score", "combined")


@pytest.mark.slow
def test_the_cuts_of_an_examination(shell, tmp_path):
    answer = shell(*RICCI, "--select", "0.2", "--score-bands", "4", "--plot", "cuts.svg")
    assert answer.code == 0
    assert "ricci: combined >= cut, 113 cuts, 118 rows with a score" in answer.out
    assert "the chosen cut, combined >= 76.6" in answer.out
    assert (tmp_path / "cuts.svg").stat().st_size > 10_000


@pytest.mark.slow
def test_all_cuts_are_in_csv_and_json(shell):
    rows = shell(*RICCI, "--format", "csv").out.splitlines()
    assert len(rows) == 1 + 113 * 3
    content = json.loads(shell(*RICCI, "--format", "json").out)
    assert len(content["cuts"]) == 113
    assert content["attributes"][0]["groups"][0]["selected"][0] == 27


def test_low_scores(shell):
    answer = shell("cuts", "adult", "--score", "age", "--protected", "sex", "--lower-is-better")
    assert "adult: age <= cut" in answer.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--select", "0"), "--select 0.0: expected a share between 0 and 1"),
        (("--score-bands", "many"), "--score-bands many: expected a number of bands, or"),
        (("--score-bands", "70,60"), "--score-bands 70.0,60.0: expected a number of bands"),
        (("--threshold", "nan"), "--threshold nan: expected a number above 0"),
        (("--threshold", "2"), "--threshold 2.0: expected a number above 0"),
        (("--rule", "feldman2015", "--protected", "position"), "--reference: rule 'feldman2015'"),
    ],
)
def test_an_error_is_one_line_with_the_remedy(shell, arguments, message):
    answer = shell(*RICCI, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1


def test_a_file_with_a_header_alone_has_no_rows(shell, tmp_path):
    (tmp_path / "h.csv").write_text("sex,points\n")
    answer = shell("cuts", "h.csv", "--protected", "sex", "--score", "points")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "fourfifths: h.csv: there are no rows\n"
