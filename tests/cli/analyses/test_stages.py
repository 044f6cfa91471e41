"""`fourfifths stages`."""

from __future__ import annotations

import json

import pytest

TEAL = """race,passed,promoted,n
Black,yes,yes,11
Black,yes,no,15
Black,no,,22
White,yes,yes,35
White,yes,no,171
White,no,,53
"""
ROLES = ("--protected", "race", "--stage", "passed", "--stage", "promoted", "--persons", "n")


@pytest.fixture
def stages(shell, tmp_path):
    """Run the command on the candidates of Connecticut v. Teal."""
    (tmp_path / "teal.csv").write_text(TEAL)
    return lambda *arguments: shell("stages", "teal.csv", *arguments)


def test_connecticut_v_teal(stages):
    answer = stages(*ROLES, "--reference", "White")
    assert (answer.code, answer.err) == (0, "")
    assert "0.681 *" in answer.out
    assert "1.696" in answer.out
    assert "adverse impact is indicated under ugesp: ratio 0.681, below 4/5" in answer.out


def test_sampling_weights(stages):
    roles = [word if word != "--persons" else "--weights" for word in ROLES]
    answer = stages(*roles, "--reference", "White", "--format", "json")
    assert answer.code == 0
    content = json.loads(answer.out)
    black = content["steps"][0]["attributes"][0]["groups"][0]
    # The rates are those of the persons, but six rows prove nothing.
    assert black["selection_rate"] == pytest.approx(26 / 48)
    assert (black["n"], black["fisher_p"]) == (3, None)
    both = stages(*ROLES, "--weights", "n")
    assert both.code == 2
    assert "--persons n, --weights n: give one of them" in both.err


def test_json_and_plot(stages, tmp_path):
    answer = stages(*ROLES, "--format", "json", "--plot", "teal.png")
    assert answer.code == 0
    assert (tmp_path / "teal.png").stat().st_size > 10_000
    content = json.loads(answer.out)
    assert content["schema"] == "fourfifths/stages/1"
    assert [step["reached"] for step in content["steps"]] == [232, 46]
    assert content["provenance"]["file"] == "teal.csv"


def test_a_column_of_last_stages(shell, tmp_path):
    (tmp_path / "h.csv").write_text("sex,status\nF,new\nF,hired\nM,offer\nM,hired\n")
    roles = ("--protected", "sex", "--stage-column", "status", "--order", "new, offer,hired")
    answer = shell("stages", "h.csv", *roles, "--format", "csv")
    assert answer.code == 0
    rows = [line.split(",")[:3] for line in answer.out.splitlines()[1:]]
    assert rows[0] == ["offer", "offer", "new"]
    assert rows[-1] == ["bottom line", "hired", "new"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--protected", "race"), "--stage: name each stage once"),
        (
            ("--protected", "race", "--stage", "promoted", "--stage", "passed", "--persons", "n"),
            "--stage promoted --stage passed: 186 rows reached a stage without an earlier one, "
            "like 'passed' without 'promoted'",
        ),
        (
            ("--protected", "race", "--stage-column", "passed", "--order", "no,maybe"),
            "--stage-column passed: 4 rows hold 'yes', which is not in --order no,maybe",
        ),
    ],
)
def test_an_error_is_one_line_with_the_remedy(stages, arguments, message):
    answer = stages(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"fourfifths: {message}")
    assert answer.err.count("\n") == 1


def test_skips_and_blanks(shell, tmp_path):
    (tmp_path / "h.csv").write_text("sex,a,b\nF,yes,yes\nF,,yes\nM,yes,yes\nM,yes,\n")
    roles = ("stages", "h.csv", "--protected", "sex", "--stage", "a", "--stage", "b")
    assert "pass --skips allow" in shell(*roles).err
    assert "pass --blank 'not reached'" in shell(*roles, "--skips", "allow").err
    answer = shell(*roles, "--skips", "allow", "--blank", "not reached")
    assert answer.code == 0
    assert "Note: 1 row reached a stage without an earlier one" in answer.out
