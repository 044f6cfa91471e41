"""The progress bar: on a terminal and in a notebook, nowhere else."""

from __future__ import annotations

import builtins
import io
import sys
import time
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from fourfifths._progress import notebook_shows_bars, steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ZMQInteractiveShell:
    """What the kernel of a notebook calls its shell."""


class Output:
    """What ipywidgets would show below a cell."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def clear_output(self, *, wait: bool) -> None: ...

    def close(self) -> None: ...


def run(*names: str, pause: float = 0, **options: bool) -> None:
    with steps("certifying", len(names), **options) as bar:
        for name in names:
            bar.advance(name)
            time.sleep(pause)


def on_terminal(monkeypatch: pytest.MonkeyPatch, *names: str, **options: bool) -> str:
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        run(*names, **options)
    return stream.getvalue()


def in_notebook(
    monkeypatch: pytest.MonkeyPatch, *names: str, has_widgets: bool = True, **options: bool
) -> str:
    """Return what a notebook would show below the cell."""
    shown: list[str] = []

    def module(name: str, **members: object) -> None:
        made = ModuleType(name)
        made.__spec__ = ModuleSpec(name, None)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)

    module("IPython")
    module("IPython.display", display=lambda thing: shown.append(str(vars(thing))))
    if has_widgets:
        module("ipywidgets", Output=Output)
    else:
        monkeypatch.delitem(sys.modules, "ipywidgets", raising=False)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    run(*names, pause=0.3, **options)  # rich draws ten times a second
    return "".join(shown)


def test_a_terminal_shows_the_title_and_the_steps(monkeypatch):
    text = on_terminal(monkeypatch, "logistic", "trees")
    assert "trees" in text
    assert "100%" in text


def test_a_pipe_shows_nothing(capsys):
    run("logistic", "trees")
    assert capsys.readouterr() == ("", "")


def test_switched_off_nothing_is_shown_anywhere(monkeypatch):
    assert on_terminal(monkeypatch, "logistic", enabled=False) == ""
    assert in_notebook(monkeypatch, "logistic", enabled=False) == ""


def test_a_step_is_data_and_neither_markup_nor_an_escape_code(monkeypatch):
    assert "[bold]x[/bold]" in on_terminal(monkeypatch, "[bold]x[/bold]")
    assert "a\\x1b[31mb" in on_terminal(monkeypatch, "a\x1b[31mb")


def test_an_error_passes_and_the_next_bar_works(monkeypatch):
    with pytest.raises(ZeroDivisionError, match="division"), steps("certifying", 2):
        _ = 1 / 0
    assert "again" in on_terminal(monkeypatch, "again")


@pytest.mark.slow
def test_a_notebook_shows_the_steps(monkeypatch):
    assert "trees" in in_notebook(monkeypatch, "logistic", "trees")


def test_a_notebook_that_cannot_show_a_bar_is_left_in_peace(monkeypatch, capsys):
    assert in_notebook(monkeypatch, "logistic", has_widgets=False) == ""
    assert capsys.readouterr() == ("", "")


def test_a_bar_needs_a_kernel_and_widgets(monkeypatch):
    assert not notebook_shows_bars()
    in_notebook(monkeypatch)
    assert notebook_shows_bars()
    monkeypatch.setattr(builtins, "get_ipython", object)
    assert not notebook_shows_bars()
