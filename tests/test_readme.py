"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from fourfifths import datasets
from fourfifths._cli import main as cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def test_the_output_shown_is_the_output(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    command, _, shown = blocks("console")[0].partition("\n")
    monkeypatch.setattr(sys, "argv", command.removeprefix("$ ").split())
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit, match="0"):
        cli.main()
    printed = [line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines()]
    expected = shown.rstrip().splitlines()
    assert [line.partition(" ")[0] for line in printed[-3:-1]] == ["Command:", "Date:"]
    del printed[-2], expected[-2]  # the date
    assert printed == expected


@pytest.mark.slow
def test_the_whole_story_ends_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("python")[0], {})
    verdicts = [line for line in capsys.readouterr().out.splitlines() if line.endswith("certified")]
    assert verdicts == ["not certified", "certified"]


@pytest.mark.slow
def test_the_python_shown_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[1], {})
    assert (tmp_path / "adult.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1], ids=["in short", "in scikit-learn"])
def test_the_python_of_the_page_on_repairs_runs(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks("python", (ROOT / "docs" / "repairing.md").read_text())[place], {})
    assert (tmp_path / "repair.json").exists() == (place == 0)


def test_the_story_has_ten_lines() -> None:
    code = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(code) == 10


def test_the_set_up_is_two_commands() -> None:
    assert blocks("sh") == [
        'pip install . && fourfifths demo\npip install -e ".[test]" && pytest\n'
    ]


def test_the_data_sets_named_are_shipped() -> None:
    assert set(datasets.names()) >= {"ricci", "adult", "german"}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    gone = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert gone == []


def shown_commands() -> list[tuple[str, str]]:
    """Return every command that a page shows with options, and the page."""
    pattern = re.compile(r"(?:^\$ |^|`)(fourfifths [a-z]+ [^`\n|\\]*--[^`\n|\\]*)", re.MULTILINE)
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    return [(page.name, line) for page in pages for line in pattern.findall(page.read_text())]


def test_commands_are_shown_on_many_pages() -> None:
    assert len({page for page, _ in shown_commands()}) >= 10


@pytest.mark.parametrize(("page", "line"), shown_commands())
def test_every_option_shown_belongs_to_its_command(page: str, line: str) -> None:
    _, name, *arguments = shlex.split(line, comments=True)
    if name not in cli.COMMANDS:
        pytest.fail(f"{page} shows the command {name}, which does not exist")
    options = {option for parameter in cli.load_command(name).params for option in parameter.opts}
    shown = {argument for argument in arguments if argument.startswith("--")}
    assert shown <= {*options, "--help"}
