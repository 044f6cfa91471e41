"""A progress bar on a terminal, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What a long run calls after each of its steps."""

    advance: Callable[[str], None]


@contextmanager
def steps(title: str, total: int, *, enabled: bool = True) -> Iterator[Steps]:
    """Show how many of `total` steps are done, on standard error if that is a terminal."""
    if not enabled or not sys.stderr.isatty():
        yield Steps(advance=lambda _: None)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from fourfifths._text import printable

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        # A step may name a group or a column: data, never markup.
        yield Steps(
            advance=lambda what: bar.update(task, advance=1, description=escape(printable(what)))
        )
