"""`fourfifths tradeoff` at the shell."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

QUICK = ("--model", "GNB", "--auditor", "naive-bayes", "--amounts", "0,1", "--repeats", "2")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    random = np.random.default_rng(0)
    lines = ["group,score,kind,hired"]
    for _ in range(300):
        group = random.choice(["a", "b"])
        score = random.normal() + (group == "b")
        hired = "yes" if score + 0.5 * random.normal() > 0.5 else "no"
        lines.append(f"{group},{score:.2f},{random.choice(['u', 'v'])},{hired}")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def sweep(*more: str) -> tuple[str, ...]:
    roles = ("--protected", "group", "--outcome", "hired", "--jobs", "1")
    return ("tradeoff", "people.csv", *roles, *QUICK, *more)


def test_the_table_says_what_each_amount_costs(shell, source: Path) -> None:
    answer = shell(*sweep())
    assert answer.code == 0
    assert "blocks, random" in answer.out
    assert "figures: of 2 random splits together" in answer.out
    assert "people.csv: hired = yes, by group" in answer.out


@pytest.mark.slow
def test_every_format_and_the_plot(shell, source: Path) -> None:
    answer = shell(*sweep("--out", "curve.json", "--plot", "curve.svg", "--results", "cells.jsonl"))
    assert answer.code == 0
    curve = json.loads(Path("curve.json").read_text())
    assert [point["amount"] for point in curve["points"]] == [0, 1]
    assert Path("curve.svg").read_text().lstrip().startswith("<?xml")
    answer = shell(*sweep("--format", "csv", "--results", "cells.jsonl"))
    rows = list(csv.DictReader(answer.out.splitlines()))
    assert [float(row["impact_ratio"]) for row in rows] == pytest.approx(
        [point["impact_ratio"] for point in curve["points"]]
    )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--split", "side"), "--split side: no such column"),
        (("--plot", "curve.pdf"), "--plot curve.pdf: expected a name ending in .png or .svg"),
        (("--plot", "no/curve.png"), "there is no folder"),
        (("--model", "LDA"), "--model: 'LDA' is not one of"),
        (
            ("--method", "geometric"),
            "--method geometric: the paper's methods repair columns one by one; give --scope "
            "column too",
        ),
        (("--results", "no/cells.jsonl"), "--results no/cells.jsonl: "),
    ],
)
def test_bad_input_is_one_line(shell, source: Path, more: tuple[str, ...], says: str) -> None:
    answer = shell(*sweep(*more))
    assert answer.code == 2
    assert says in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_amounts_are_numbers(shell, source: Path) -> None:
    roles = ("--protected", "group", "--outcome", "hired")
    answer = shell("tradeoff", "people.csv", *roles, "--amounts", "0,a")
    assert (answer.code, "--amounts 0,a: expected numbers" in answer.err) == (2, True)


def test_too_few_rows_to_split(shell, source: Path) -> None:
    source.write_text("\n".join(source.read_text().splitlines()[:12]) + "\n")
    answer = shell(*sweep())
    assert (answer.code, "too few rows to split" in answer.err) == (2, True)


def test_too_few_rows_are_told_without_advice_that_does_not_help(shell, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("g,x,y\na,1,yes\nb,2,no\n")
    answer = shell("tradeoff", "few.csv", "--protected", "g", "--outcome", "y")
    assert answer.code == 2
    assert (
        "--protected g: strata with fewer than 4 rows: 'a: 1', 'b: 1'; leave those rows out"
        in answer.err
    )


def test_markdown_has_a_table_for_the_model(shell, source: Path) -> None:
    answer = shell(*sweep("--out", "curve.md"))
    assert (answer.code, answer.out) == (0, "")
    assert "| repair | amount | ratio |" in Path("curve.md").read_text()


def test_at_80_columns_no_line_is_longer(shell, source: Path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, shell(*sweep()).out.splitlines())) <= 80


def test_an_unknown_group_is_left_out(shell, source: Path) -> None:
    source.write_text(source.read_text() + "?,0.5,u,yes\n" * 8)
    answer = shell(*sweep("--unknown", "?", "--format", "json"))
    assert answer.code == 0
    assert json.loads(answer.out)["rows"] == 300
