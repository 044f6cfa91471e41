from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from fourfifths._cli import main as cli

settings.register_profile("suite", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("suite")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Answer]:
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["fourfifths", *arguments])
        with pytest.raises(SystemExit, match=r"^\d+$") as stop:
            cli.main()
        captured = capsys.readouterr()
        return Answer(int(str(stop.value)), captured.out, captured.err)

    return run
