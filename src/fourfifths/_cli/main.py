"""The command line. It computes nothing: it reads options, calls the package, shows the answer.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from fourfifths._cli.about import datasets, demo, rules
from fourfifths._cli.analyses.check import check
from fourfifths._cli.analyses.cuts import cuts
from fourfifths._cli.analyses.monitor import monitor
from fourfifths._cli.analyses.share import share
from fourfifths._cli.analyses.stages import stages
from fourfifths._cli.analyses.subgroups import subgroups
from fourfifths._cli.audit import audit
from fourfifths._cli.certify import certify, verify
from fourfifths._cli.repair import repair
from fourfifths._cli.reproduce import reproduce
from fourfifths._cli.tradeoff import tradeoff
from fourfifths._text import printable
from fourfifths.errors import FourfifthsError, OptionError, RepairError

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
# Each command, and the two examples that its help ends with.
COMMANDS: dict[Callable[..., None], tuple[str, str]] = {
    audit: (
        "fourfifths audit adult --protected sex --protected race",
        "fourfifths audit hired.xlsx --protected race --outcome hired --out audit.md",
    ),
    certify: (
        "fourfifths certify ricci",
        "fourfifths certify loans.csv --protected sex --outcome approved --out c.json",
    ),
    verify: (
        "fourfifths verify c.json loans.csv",
        "fourfifths verify certificate.json adult",
    ),
    repair: (
        "fourfifths repair adult repaired.parquet --save repair.json",
        "fourfifths repair new.csv out.csv --apply repair.json",
    ),
    tradeoff: (
        "fourfifths tradeoff german --model LR --out curve.csv --plot curve.png",
        "fourfifths tradeoff loans.csv --protected sex --outcome approved --repeats 5",
    ),
    stages: (
        "fourfifths stages h.csv --protected sex --stage interviewed --stage hired",
        "fourfifths stages h.csv --protected sex --stage-column at --order new,hired",
    ),
    cuts: (
        "fourfifths cuts ricci --score combined --select 0.2 --plot cuts.png",
        "fourfifths cuts tests.csv --protected race --score points --score-bands 10",
    ),
    subgroups: (
        "fourfifths subgroups adult --columns education --columns age --show 5",
        "fourfifths subgroups h.csv --protected sex --columns site --outcome hired",
    ),
    share: (
        "fourfifths share 339 870 --share 0.791",
        "fourfifths share --file years.csv --period Year --share 0.154",
    ),
    check: (
        "fourfifths check audit.csv --group Race --n N --rate Rate --ratio Ratio",
        "fourfifths check audit.csv --group Race --n N --selected Hired --total 900",
    ),
    monitor: (
        "fourfifths monitor log.jsonl --add week32.csv",
        "fourfifths monitor log.jsonl --plot evidence.png",
    ),
    reproduce: (
        "fourfifths reproduce --quick --out quick",
        "fourfifths reproduce --only german --out german",
    ),
    datasets: ("fourfifths datasets", "fourfifths audit ricci"),
    rules: ("fourfifths rules", "fourfifths audit ricci --rule ofccp"),
    demo: ("fourfifths demo", "fourfifths demo > demo.txt"),
}


class OnceCommand(TyperCommand):
    """A command that refuses an option for one value if it is given twice.

    The parser would take the last and say nothing.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        uses = Counter(parameter.opts[0] for parameter in parameters if takes_one_value(parameter))
        for option, count in uses.items():
            if count > 1:
                raise OptionError(f"{option}: was given {count} times; give it once")
        return super().parse_args(ctx, args)


def takes_one_value(parameter: Any) -> bool:
    """Return whether a parameter is an option that holds a single value."""
    is_option = parameter.param_type_name == "option"
    return is_option and not parameter.multiple and not parameter.is_flag


for command, examples in COMMANDS.items():
    # \b keeps the lines as they are.
    app.command(cls=OnceCommand, epilog="\b\nExamples:\n  " + "\n  ".join(examples))(command)


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
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """Say in one line what is wrong, and stop."""
    if sys.stderr is not None:
        with suppress(OSError):
            typer.echo(f"fourfifths: {printable(' '.join(message.split()))}", err=True)
    sys.exit(2)
