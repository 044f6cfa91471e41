"""The command line. It computes nothing: it reads options, calls the package, shows the answer.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from fourfifths._text import printable
from fourfifths.errors import FourfifthsError, OptionError, RepairError

# Loading modules makes many objects and hardly any garbage, but Python looks through them for some
# after every 700 new ones: a tenth of the time of a short command.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


@dataclass(frozen=True, kw_only=True)
class CommandEntry:
    """A command that is loaded when it is asked for.

    Attributes
    ----------
    module : str
        Where in this room the function of the command's name is.
    summary : str
        The first sentence of its help.
    examples : tuple of str
        Two, which its help ends with.
    """

    module: str
    summary: str
    examples: tuple[str, str]


COMMANDS: Mapping[str, CommandEntry] = {
    "audit": CommandEntry(
        module="audit",
        summary="Measure what happened: selection rates, impact ratios, tests, findings.",
        examples=(
            "fourfifths audit adult --protected sex --protected race",
            "fourfifths audit hired.xlsx --protected race --outcome hired --out audit.md",
        ),
    ),
    "report": CommandEntry(
        module="report",
        summary="Write a report to file: cover, finding, tables, charts, limits, method.",
        examples=(
            "fourfifths report ricci --template ugesp --out ricci.html",
            "fourfifths report hired.csv --protected sex --outcome hired --out r.html",
        ),
    ),
    "certify": CommandEntry(
        module="certify",
        summary="Certify that auditors find no rule on the other columns with disparate impact.",
        examples=(
            "fourfifths certify ricci",
            "fourfifths certify loans.csv --protected sex --outcome approved --out c.json",
        ),
    ),
    "verify": CommandEntry(
        module="verify",
        summary="Check what was filed: run certificates again, compare a pack with its manifest.",
        examples=(
            "fourfifths verify c.json loans.csv --require threshold=0.8,auditors=all",
            "fourfifths verify report.zip loans.csv --trust auditor.pub",
        ),
    ),
    "keygen": CommandEntry(
        module="verify",
        summary="Make a pair of keys that sign certificates and reports, and verify them.",
        examples=(
            "fourfifths keygen auditor",
            "fourfifths certify ricci --out c.json --sign auditor",
        ),
    ),
    "repair": CommandEntry(
        module="repair",
        summary="Repair a table so that no rule on its columns can have disparate impact.",
        examples=(
            "fourfifths repair adult repaired.parquet --save repair.json",
            "fourfifths repair new.csv out.csv --apply repair.json",
        ),
    ),
    "tradeoff": CommandEntry(
        module="tradeoff",
        summary="Show what each amount of repair costs, measured on rows that were held out.",
        examples=(
            "fourfifths tradeoff german --model LR --out curve.csv --plot curve.png",
            "fourfifths tradeoff loans.csv --protected sex --outcome approved --repeats 5",
        ),
    ),
    "stages": CommandEntry(
        module="analyses.stages",
        summary="Measure each step of a selection, and the bottom line.",
        examples=(
            "fourfifths stages h.csv --protected sex --stage interviewed --stage hired",
            "fourfifths stages h.csv --protected sex --stage-column at --order new,hired",
        ),
    ),
    "cuts": CommandEntry(
        module="analyses.cuts",
        summary="Measure the impact ratio at every cut of a score, and where it crosses 4/5.",
        examples=(
            "fourfifths cuts ricci --score combined --select 0.2 --plot cuts.png",
            "fourfifths cuts tests.csv --protected race --score points --score-bands 10",
        ),
    ),
    "adjusted": CommandEntry(
        module="analyses.adjusted",
        summary=("Measure the disparity beside controls, by a logistic regression."),
        examples=(
            "fourfifths adjusted adult --protected sex --control age --control education",
            "fourfifths adjusted h.csv --protected sex --outcome hired --category job",
        ),
    ),
    "subgroups": CommandEntry(
        module="analyses.subgroups",
        summary=("Search intersections of up to three columns for the lowest selection rates."),
        examples=(
            "fourfifths subgroups adult --columns education --columns age --show 5",
            "fourfifths subgroups h.csv --protected sex --columns site --outcome hired",
        ),
    ),
    "share": CommandEntry(
        module="analyses.share",
        summary="Compare a group's number among the selected with its share of a population.",
        examples=(
            "fourfifths share 339 870 --share 0.791",
            "fourfifths share --file years.csv --period Year --share 0.154",
        ),
    ),
    "check": CommandEntry(
        module="analyses.check",
        summary=(
            "Recompute a published table: which rates and ratios do not follow from its counts."
        ),
        examples=(
            "fourfifths check audit.csv --group Race --n N --rate Rate --ratio Ratio",
            "fourfifths check audit.csv --group Race --n N --selected Hired --total 900",
        ),
    ),
    "monitor": CommandEntry(
        module="analyses.monitor",
        summary=(
            "Weigh the evidence about impact ratios after every batch; looking early costs nothing."
        ),
        examples=(
            "fourfifths monitor log.jsonl --add week32.csv",
            "fourfifths monitor log.jsonl --plot evidence.png",
        ),
    ),
    "reproduce": CommandEntry(
        module="reproduce",
        summary=(
            "Rerun the paper's experiments and check its claims. A run that was stopped goes on."
        ),
        examples=(
            "fourfifths reproduce --quick --out quick",
            "fourfifths reproduce --only german-years --out german",
        ),
    ),
    "datasets": CommandEntry(
        module="about",
        summary="List the shipped data sets, their roles, sources and licences.",
        examples=("fourfifths datasets", "fourfifths audit ricci"),
    ),
    "rules": CommandEntry(
        module="about",
        summary="List the rules, or show some of them: arithmetic, status in law, source, duties.",
        examples=("fourfifths rules", "fourfifths rules ofccp nj-lad"),
    ),
    "demo": CommandEntry(
        module="about",
        summary="Measure, certify and repair a shipped data set, without the network.",
        examples=("fourfifths demo", "fourfifths demo > demo.txt"),
    ),
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


class LazyGroup(TyperGroup):
    """The commands, of which only the one that is asked for is loaded.

    Reading the options of all of them takes longer than the rest of ``--help``.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # typer suggests one of these names for a misspelt command.
        self.commands: Any = dict.fromkeys(COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        """Return a command, or None if there is no such command."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of commands of the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


def load_command(name: str) -> Any:
    """Return the command that typer makes from a function."""
    entry = COMMANDS[name]
    function = flattened(getattr(import_module(f"fourfifths._cli.{entry.module}"), name))
    lone = typer.Typer(add_completion=False, rich_markup_mode=None)
    # \b keeps the lines as they are.
    epilog = "\b\nExamples:\n  " + "\n  ".join(entry.examples)
    lone.command(name=name, cls=OnceCommand, epilog=epilog)(function)
    return typer.main.get_command(lone)


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of its groups of options.

    A group is a parameter whose type is a dataclass (`options.ReadingOptions`). typer knows options
    only as parameters of a function, so that commands which share a group would have to repeat it.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: dict[str, Parameter] = {}
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters[name] = parameter.replace(annotation=hints[name])
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            parameters[field.name] = Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=types[field.name],
            )

    @wraps(command)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    call.__signature__ = Signature(list(parameters.values()))  # type: ignore[attr-defined]
    call.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return call


app = typer.Typer(
    name="fourfifths",
    help=(
        "Measure disparate impact, certify that a table cannot cause it, and repair one that can. "
        "Every finding and verdict comes with the figures it rests on. None is legal advice."
    ),
    cls=LazyGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: loading what draws boxes takes longer than all the rest
)


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
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    # No command multiplies large matrices outside of fits, which run on one thread anyway. Threads
    # that wait for matrices take a sixth of a short command.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
        from fourfifths._cli.messages import of_parser

        message = of_parser(error, sys.argv[1:])
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
    """Discard what is still to be written, so that Python does not try again when it ends."""
    with suppress(OSError):  # a stream of Python's own has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """Say in one line what is wrong, and stop."""
    if sys.stderr is not None:
        with suppress(OSError):
            typer.echo(f"fourfifths: {printable(' '.join(message.split()))}", err=True)
    sys.exit(2)
