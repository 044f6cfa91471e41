"""The command line. It computes nothing: it reads options, calls the package, shows the answer.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from fourfifths._cli.about import datasets, demo, rules
from fourfifths._cli.audit import audit
from fourfifths._cli.certify import certify, verify
from fourfifths._cli.repair import repair
from fourfifths._cli.reproduce import reproduce
from fourfifths._cli.tradeoff import tradeoff
from fourfifths._text import printable
from fourfifths.errors import FourfifthsError, RepairError

app = typer.Typer(
    name="fourfifths",
    help=(
        "Measure disparate impact, certify that a table cannot cause it, and repair one that can. "
        "Every finding and verdict comes with the figures it rests on. None is legal advice."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: loading what draws boxes takes longer than all the rest
)
for command in (audit, certify, verify, repair, tradeoff, reproduce, datasets, rules, demo):
    app.command()(command)


def version_callback(value: bool) -> None:  # noqa: FBT001 - typer's signature
    """Print the version and stop."""
    if value:
        from fourfifths import __version__

        typer.echo(f"fourfifths {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version_callback, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


def main() -> None:
    """Run the command line: an error is one line on stderr and exit code 2."""
    prepare_streams()
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="fourfifths", standalone_mode=False)
        sys.stdout.flush()
    except RepairError as error:
        # It speaks of what a saved repair holds, not of the options of this command.
        message = str(error)
    except FourfifthsError as error:
        from fourfifths._cli.messages import for_shell

        message = for_shell(str(error))
    except typer.TyperException as error:
        message = error.format_message()
    except typer.Abort:
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone (as in "| head"); nothing more can be said.
        drop_output()
        sys.exit(0)
    except OSError as error:
        # What reads and writes files has errors of its own, so this is standard output.
        drop_output()
        message = f"standard output cannot be written: {error.strerror}"
    else:
        sys.exit(code or 0)
    fail(message)


def prepare_streams() -> None:
    """Make standard output and error ready for any name, or stop if there is no output."""
    if sys.stdout is None:
        # It was closed before the start; whatever opens first would get its number.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        fail("standard output is closed; give it a file or a terminal")
    # Names from a table must not stop a terminal of another encoding.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def drop_output() -> None:
    """Let what is still to be written go nowhere, so that Python does not try again at its end."""
    with suppress(OSError):  # a stream of Python's own has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """Say in one line what is wrong, and stop."""
    if sys.stderr is not None:
        with suppress(OSError):
            typer.echo(f"fourfifths: {printable(' '.join(message.split()))}", err=True)
    sys.exit(2)
