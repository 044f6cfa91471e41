"""A progress bar on a terminal or in a notebook, and nothing anywhere else."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from fourfifths._text import printable


class Advance(Protocol):
    """What a long run calls after its steps."""

    def __call__(self, step: str, count: int = 1, /) -> None:
        """Say that this many steps of this name are done."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What a long run calls after each of its steps, with the name of that step."""

    advance: Advance


@contextmanager
def steps(title: str, total: int, *, enabled: bool = True) -> Iterator[Steps]:
    """Show how many of `total` steps are done.

    The bar is drawn on standard error if that is a terminal, or below the cell of a notebook.
    Piped output gets no bar, and `enabled` false switches it off.

    Parameters
    ----------
    title : str
        Shown until the first step is done.
    total : int
    enabled : bool
    """
    if not enabled or not (sys.stderr.isatty() or notebook_shows_bars()):
        yield Steps(advance=lambda _step, _count=1: None)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(printable(title)), total=total)
        # A step may name a group or a column. That is data, never markup.
        yield Steps(
            advance=lambda step, count=1: bar.update(
                task, advance=count, description=escape(printable(step))
            )
        )


def notebook_shows_bars() -> bool:
    """Return whether a notebook runs this code and can show a bar.

    IPython puts `get_ipython` among the builtins. Without ipywidgets rich cannot draw in a
    notebook, and would warn at every step.
    """
    get_shell = getattr(builtins, "get_ipython", None)
    is_kernel = get_shell is not None and type(get_shell()).__name__ == "ZMQInteractiveShell"
    return is_kernel and find_spec("ipywidgets") is not None
