"""`fourfifths certify` and `fourfifths verify` at the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fourfifths._cli import main as cli

QUICK = ["--auditor", "logistic", "--auditor", "naive-bayes", "--folds", "3"]


@pytest.fixture
def shell(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["fourfifths", *arguments])
        with pytest.raises(SystemExit, match=r"^\d+$") as stopped:
            cli.main()
        captured = capsys.readouterr()
        return int(stopped.value.code), captured.out, captured.err

    return run


@pytest.fixture
def people(tmp_path) -> Path:
    random = np.random.default_rng(0)
    group = np.repeat(["A", "B"], 300)
    table = pd.DataFrame(
        {
            "group": group,
            "score": random.normal(size=600) + (group == "B"),
            "hired": np.where(random.random(600) < 0.4, "yes", "no"),
        }
    )
    table.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


ROLES = ["people.csv", "--protected", "group", "--outcome", "hired"]


def test_the_verdict_comes_first(shell, people):
    code, out, err = shell("certify", *ROLES, *QUICK)
    assert code == 0
    assert out.startswith("not certified (rules found by these auditors, beta ")
    assert "people.csv, group, threshold 0.8, 600 rows" in " ".join(out.split())
    assert "decided by the tight test" in out
    assert err == ""


def test_no_number_is_cut_at_80_columns(shell, people, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in shell("certify", *ROLES, *QUICK)[1]


@pytest.mark.slow
def test_json_written_to_a_file_can_be_verified(shell, people):
    code, out, err = shell("certify", *ROLES, *QUICK, "--format", "json", "--out", "c.json")
    assert (code, out, err) == (0, "", "wrote c.json\n")
    assert json.loads(Path("c.json").read_text())["verdict"] == "not certified"
    code, out, _ = shell("verify", "c.json", "people.csv")
    assert code == 0
    assert out.startswith("verified: the same data, the same certificate (not certified)\n")
    assert "The file is the one that was certified, byte by byte." in " ".join(out.split())


@pytest.mark.parametrize("fail_on", ["not-certified", "inconclusive"])
def test_fail_on_a_table_that_is_not_certified(shell, people, fail_on):
    code, out, err = shell("certify", *ROLES, *QUICK, "--fail-on", fail_on)
    assert (code, out.startswith("not certified"), err) == (3, True, "")


@pytest.mark.slow
def test_other_data_is_not_verified(shell, people):
    shell("certify", *ROLES, *QUICK, "--format", "json", "--out", "c.json")
    other = pd.read_csv(people)
    other.loc[0, "score"] = 9.0
    other.to_csv(people, index=False)
    code, out, _ = shell("verify", "c.json", "people.csv")
    assert code == 1
    assert out.startswith("not verified: other data, another certificate (not certified)")
    assert "Different: data_sha256 was" in out
    assert "The file is not the one that was certified" in " ".join(out.split())


def test_markdown_has_the_verdict_and_the_tables(shell, people):
    out = shell("certify", *ROLES, *QUICK, "--format", "markdown")[1]
    assert out.startswith("# not certified")
    assert "| auditor | BER |" in out


def test_words_that_are_never_used(shell, people):
    out = shell("certify", *ROLES, *QUICK, "--format", "markdown")[1].lower()
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--beta", "0"], "--beta 0.0: expected a selection rate above 0"),
        (["--beta", "1.5"], "--beta 1.5: expected a selection rate above 0"),
        (["--beta", "x"], "--beta x: expected a rate"),
        (["--columns", "hired"], "--columns: 'hired' is the outcome"),
        (["--columns", "group"], "--columns: 'group' is protected"),
        (["--columns", "scroe"], "did you mean 'score'?"),
        (["--auditor", "tree"], "did you mean 'trees'?"),
        (["--folds", "400"], "group 'A', 'B' has fewer rows than that"),
        (["--threshold", "2"], "--threshold 2.0: expected a number between 0 and 1"),
        (["--max-rows", "3"], "--max-rows 3: expected a whole number, 20 or more"),
        (["--out", "people.csv"], "cannot be written as csv; expected a name ending in"),
        (["--out", "people.csv", "--format", "json", *QUICK], "is the file that is audited"),
    ],
)
def test_bad_input_is_one_line_and_code_2(shell, people, arguments, message):
    before = people.read_bytes()
    code, out, err = shell("certify", *ROLES, *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert sorted(path.name for path in people.parent.iterdir()) == ["people.csv"]
    assert people.read_bytes() == before


def test_a_table_without_features_is_an_error(shell, people):
    pd.read_csv(people)[["group", "hired"]].to_csv(people, index=False)
    code, _, err = shell("certify", *ROLES)
    assert code == 2
    assert "--columns: people.csv has no columns besides 'group', 'hired'" in err


def test_a_constant_protected_column_is_an_error(shell, people):
    pd.read_csv(people).assign(group="A").to_csv(people, index=False)
    code, _, err = shell("certify", *ROLES)
    assert code == 2
    assert "only 'A'; expected at least two groups" in err


@pytest.mark.slow
def test_plot_draws_the_certificate(shell, people):
    code, out, err = shell("certify", *ROLES, *QUICK, "--plot", "c.svg", "--out", "c.md")
    assert (code, out, err) == (0, "", "wrote c.svg\nwrote c.md\n")
    assert Path("c.svg").read_text().startswith("<?xml")
    assert Path("c.md").read_text().startswith("# not certified")


def test_a_picture_over_the_table_is_refused(shell, people):
    people.rename(people.with_name("people.svg"))
    code, _, err = shell("certify", "people.svg", "--plot", "people.svg")
    assert code == 2
    assert "--plot people.svg: is the file that is audited" in err
