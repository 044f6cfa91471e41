"""The command line as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import fourfifths
from fourfifths._cli import main as cli
from fourfifths._cli.main import flattened, load_command
from fourfifths._cli.options import ReadingOptions
from fourfifths._json import sealed

COMMAND = str(Path(sys.executable).with_name("fourfifths"))
COMMANDS = (
    *("audit", "report", "certify", "verify", "keygen", "repair", "tradeoff", "stages", "cuts"),
    "adjusted",
    *("subgroups", "share", "check", "monitor", "reproduce", "datasets", "rules", "demo"),
)


def test_a_group_of_options_becomes_its_options():
    seen = []

    def command(source: str, *, reading: ReadingOptions, depth: int = 3) -> None:
        seen.append((source, reading, depth))

    flat = flattened(command)
    assert [*signature(flat).parameters] == [
        *("source", "known", "exact_values", "decimal", "sheet", "header_row"),
        *("hive", "depth"),
    ]
    values = {"known": None, "exact_values": True, "decimal": None, "sheet": "A", "header_row": 2}
    flat(source="t.csv", depth=1, hive=False, **values)
    assert seen == [("t.csv", ReadingOptions(exact_values=True, sheet="A", header_row=2), 1)]


def test_version(shell):
    answer = shell("--version")
    assert (answer.code, answer.out) == (0, f"fourfifths {fourfifths.__version__}\n")


@pytest.mark.parametrize("arguments", [("--help",), ("audit", "--help"), ("demo", "--help")])
def test_help(shell, arguments):
    answer = shell(*arguments)
    assert (answer.code, answer.err) == (0, "")
    assert "Usage: fourfifths" in answer.out


def test_nothing_at_all_shows_the_help(shell):
    assert "audit" in shell().out


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error():
    done = subprocess.run(
        f"'{COMMAND}' audit adult --protected sex --protected race --format json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{\n"
    assert done.stderr == ""


def test_the_help_names_every_command(shell):
    text = shell("--help").out
    assert all(f"  {command} " in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_at_most_80_columns_wide(shell, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    lines = shell(command, "--help").out.splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says(command):
    loaded = load_command(command)
    assert loaded.name == command
    assert loaded.help.split("\n\n")[0].replace("\n", " ") == cli.COMMANDS[command].summary


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_ends_with_two_examples(shell, command):
    *_, head, first, second = shell(command, "--help").out.rstrip().splitlines()
    assert head.strip() == "Examples:"
    assert first.startswith("    fourfifths ")
    assert second.startswith("    fourfifths ")


@pytest.mark.parametrize("command", ["certify", "repair", "tradeoff"])
def test_columns_have_one_name_everywhere(shell, command):
    assert "--columns COL" in shell(command, "--help").out


@pytest.mark.parametrize("command", ["audit", "certify", "tradeoff"])
def test_every_result_with_a_picture_can_be_drawn(shell, command):
    assert "--plot FILE" in shell(command, "--help").out


def test_an_error_names_the_option_and_not_the_argument(shell):
    answer = shell("audit", "ricci", "--favorable", "yess")
    assert answer.err.startswith("fourfifths: --favorable yess: never occurs in outcome 'passed'")


@pytest.mark.slow
def test_an_error_of_a_saved_repair_names_what_the_file_holds(shell, tmp_path):
    roles = ("--protected", "race", "--columns", "oral", "--small", "pool", "--method", "random")
    shell("repair", "ricci", "out.csv", *roles, "--save", "r.json")
    saved = (tmp_path / "r.json").read_text().replace('"method": "random"', '"method": "magic"')
    (tmp_path / "r.json").write_text(json.dumps(sealed(json.loads(saved))))
    answer = shell("repair", "ricci", "out.csv", "--apply", "r.json")
    assert (answer.code, answer.out) == (2, "")
    assert "r.json: settings: method='magic': expected one of" in answer.err


def test_a_note_names_the_option_too(shell, tmp_path):
    (tmp_path / "t.csv").write_text("g,y\nA,1\nA,0\nB,1\nNA,1\n")
    roles = ("audit", "t.csv", "--protected", "g", "--outcome", "y")
    for form in ("table", "markdown"):
        words = " ".join(shell(*roles, "--format", form).out.split())
        assert "--unknown NA" in words
        assert "unknown=[" not in words.replace("\\", "")
    assert "unknown=['NA']" in shell(*roles, "--format", "json").out


@pytest.mark.slow
def test_bytes_that_the_terminal_cannot_show_are_replaced(tmp_path):
    (tmp_path / "t.csv").write_text("g,y\nÄ,1\nÄ,0\nB,1\nB,1\n", encoding="utf-8")
    done = subprocess.run(
        [COMMAND, "audit", "t.csv", "--protected", "g", "--outcome", "y"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\n?: " in done.stdout  # the finding of the group


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">&-", "fourfifths: standard output is closed; give it a file or a terminal\n"),
        ("| true", ""),
        pytest.param(
            "> /dev/full",
            "fourfifths: standard output cannot be written: No space left on device\n",
            marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full"),  # noqa: PTH110
        ),
    ],
)
def test_output_that_cannot_be_written_is_one_line(redirection, message):
    program = "from fourfifths._cli.main import main; main()"
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{program}" datasets {redirection}'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == message
    assert done.returncode == (2 if message else 0)


def test_python_runs_the_package_as_the_command():
    command = [sys.executable, "-m", "fourfifths", "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == f"fourfifths {fourfifths.__version__}\n"
