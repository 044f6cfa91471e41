"""`fourfifths reproduce` at the shell."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from fourfifths._cli.main import COMMANDS
from fourfifths._paper.reproduce import PANELS


def test_the_sat_figure_is_the_papers(shell, tmp_path: Path) -> None:
    answer = shell("reproduce", "--only", "sat", "--out", str(tmp_path / "done"))
    assert answer.code == 0
    with (tmp_path / "done" / "sat.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    full = np.array([float(row["full repair of both"]) for row in rows])
    assert full.mean() == pytest.approx(475, abs=0.5)
    assert full.std() == pytest.approx(75, abs=0.5)
    for ending in ("png", "svg"):
        assert (tmp_path / "done" / f"sat.{ending}").stat().st_size > 5_000
    assert "Feldman" in (tmp_path / "done" / "REPORT.md").read_text()


def test_the_examples_name_figures_that_there_are() -> None:
    words = [example.split() for example in COMMANDS["reproduce"].examples]
    named = [line[line.index("--only") + 1] for line in words if "--only" in line]
    assert named
    assert set(named) <= set(PANELS)


def test_a_figure_that_there_is_not(shell, tmp_path: Path) -> None:
    answer = shell("reproduce", "--only", "sta", "--out", str(tmp_path))
    assert (answer.code, "did you mean 'sat'" in answer.err) == (2, True)


def test_a_folder_that_cannot_be_written(shell, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = shell("reproduce", "--only", "sat", "--out", str(tmp_path / "file" / "out"))
    assert answer.code == 2
    assert "cannot be written" in answer.err
