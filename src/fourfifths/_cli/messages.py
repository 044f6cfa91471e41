"""The library's messages as the shell says them: ``columns=['a']`` becomes ``--columns a``.

The library names Python arguments. `OPTIONS` says which option of the shell stands for each; a
message is searched for the names, and for the values that follow them. What is in quotation marks
is data and stays as it is.
"""

from __future__ import annotations

import ast
import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fourfifths._text import nearest


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of the shell, and how several values are written.

    Attributes
    ----------
    name : str
    several : {"repeated", "commas"}
        ``--columns a --columns b``, or ``--amounts 0,0.5``.
    is_leading : bool
        Whether a message may begin with the argument's name and a colon. Messages may begin with
        the name of a column too, so this is kept to the arguments of which the library does it.
    """

    name: str
    several: Literal["repeated", "commas"] = "repeated"
    is_leading: bool = False


OPTIONS: Mapping[str, Option] = {
    "ages": Option(name="--age-from", is_leading=True),
    "amount": Option(name="--amount"),
    "amounts": Option(name="--amounts", several="commas", is_leading=True),
    "auditors": Option(name="--auditor", is_leading=True),
    "bands": Option(name="--band", is_leading=True),
    "blank": Option(name="--blank"),
    "batch": Option(name="--batch", is_leading=True),
    "blocks": Option(name="--blocks"),
    "beta": Option(name="--beta", several="commas", is_leading=True),
    "categories": Option(name="--category", is_leading=True),
    "columns": Option(name="--columns", is_leading=True),
    "confidence": Option(name="--confidence"),
    "controls": Option(name="--control", is_leading=True),
    "counts": Option(name="--counts", several="commas", is_leading=True),
    "decimal": Option(name="--decimal"),
    "exact_values": Option(name="--exact-values"),
    "favorable": Option(name="--favorable", is_leading=True),
    "depth": Option(name="--depth"),
    "fields": Option(name="--field", is_leading=True),
    "folds": Option(name="--folds"),
    "group": Option(name="--group"),
    "header_row": Option(name="--header-row"),
    "hive": Option(name="--hive"),
    "keep": Option(name="--outcome", is_leading=True),
    "key": Option(name="--key"),
    "known": Option(name="--known", is_leading=True),
    "max_rows": Option(name="--max-rows"),
    "lower_is_better": Option(name="--lower-is-better"),
    "memory": Option(name="--memory"),
    "min_rows": Option(name="--min-rows"),
    "median_of": Option(name="--median-of"),
    "method": Option(name="--method"),
    "methods": Option(name="--method", is_leading=True),
    "models": Option(name="--model", is_leading=True),
    "n": Option(name="--n"),
    "n_jobs": Option(name="--jobs"),
    "name": Option(name="--name"),
    "observed_column": Option(name="--observed-column"),
    "only": Option(name="--only"),
    "order": Option(name="--order", several="commas", is_leading=True),
    "orders": Option(name="--order", several="commas", is_leading=True),
    "out": Option(name="--out"),
    "outcome": Option(name="--outcome", is_leading=True),
    "pairs": Option(name="--pairs"),
    "persons": Option(name="--persons"),
    "paper": Option(name="--paper"),
    "parts": Option(name="--part"),
    "period": Option(name="--period"),
    "protected": Option(name="--protected", is_leading=True),
    "quantiles": Option(name="--quantiles"),
    "random_state": Option(name="--random-state"),
    "rate": Option(name="--rate"),
    "ratio": Option(name="--ratio"),
    "reference": Option(name="--reference", is_leading=True),
    "repeats": Option(name="--repeats"),
    "require": Option(name="--require", several="commas", is_leading=True),
    "results": Option(name="--results"),
    "rule": Option(name="--rule"),
    "scope": Option(name="--scope"),
    "scopes": Option(name="--scope", is_leading=True),
    "score": Option(name="--score"),
    "score_bands": Option(name="--score-bands", several="commas"),
    "select": Option(name="--select"),
    "selected": Option(name="--selected"),
    "selected_column": Option(name="--selected-column"),
    "share": Option(name="--share"),
    "share_column": Option(name="--share-column"),
    "sheet": Option(name="--sheet"),
    "show": Option(name="--show"),
    "skips": Option(name="--skips"),
    "small": Option(name="--small"),
    "small_groups": Option(name="--small-groups"),
    "split": Option(name="--split"),
    "stage_column": Option(name="--stage-column"),
    "stages": Option(name="--stage", is_leading=True),
    "stratify_by": Option(name="--stratify-by", is_leading=True),
    "template": Option(name="--template"),
    "threshold": Option(name="--threshold"),
    "ties": Option(name="--ties"),
    "total": Option(name="--total"),
    "total_minority": Option(name="--total-minority"),
    "unknown": Option(name="--unknown", is_leading=True),
    "unknown_count": Option(name="--unknown-count"),
    "unknown_selected": Option(name="--unknown-selected"),
    "unseen": Option(name="--unseen"),
    "variety": Option(name="--variety"),
    "weights": Option(name="--weights", is_leading=True),
    "weights_are": Option(name="--weights-are"),
    "within": Option(name="--within"),
}
_NAMES = "|".join(sorted(OPTIONS, key=len, reverse=True))
_LEADING = re.compile(rf"((?:{_NAMES})(?:(?:, | and | or )(?:{_NAMES}))*)(?=:\s)")
# A text in quotation marks, as repr writes it. A quotation mark after a letter is an apostrophe.
_TEXT = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?!\w)"
_PIECES = re.compile(rf"(?<![\w)])(?P<quoted>{_TEXT})|(?<![^\s(\[`])(?P<name>{_NAMES})=")
_TEXT_VALUE = re.compile(_TEXT)
_BARE_VALUE = re.compile(r"\.\.\.|-?[\w.+-]+")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


# Advice that has no meaning at the shell.
ONLY_IN_PYTHON = "; pass your own classifiers as a mapping of name to classifier"


def for_shell(message: str, *, is_note: bool = False) -> str:
    """Return a message of the library with its arguments as options of the shell.

    Parameters
    ----------
    message : str
        One that begins with an option already is the shell's own, and stays as it is.
    is_note : bool
        Whether it is a remark in a result, which never begins with an argument.

    Examples
    --------
    >>> for_shell("columns: 'hired' is the outcome; a rule may not use it")
    "--columns: 'hired' is the outcome; a rule may not use it"
    >>> for_shell("make groups of it: bands={'age': [25, 40]}")
    'make groups of it: --band age=25,40'
    >>> for_shell("'columns=3' in race is counted as a group; say unknown=['n/a', '?']")
    "'columns=3' in race is counted as a group; say --unknown n/a --unknown '?'"
    """
    if message.startswith("--"):
        return message
    message = message.removesuffix(ONLY_IN_PYTHON)
    message = message.replace("; make_keys makes", "; 'fourfifths keygen' makes")
    start, translated = 0, ""
    leading = None if is_note else _LEADING.match(message)
    if leading:
        start = leading.end()
        names = re.split(r"(, | and | or )", leading.group())
        if all(OPTIONS[name].is_leading for name in names[::2]):
            names[::2] = [OPTIONS[name].name for name in names[::2]]
        translated = "".join(names)
    while piece := _PIECES.search(message, start):
        translated += message[start : piece.start()]
        start = piece.end()
        if piece["quoted"]:
            translated += piece["quoted"]
            continue
        end, value = value_at(message, start)
        # Nothing may be glued to the value: `columns=x.csv` is the name of a file.
        if re.match(r"$|[\s,;:)\]`]|\.(?:\s|$)", message[end:]):
            translated += as_options(piece["name"], value)
            start = end
        else:
            translated += piece.group()
    return translated + message[start:]


# What the parser of the command line says of a value, and how it is said here.
EXPECTED: Mapping[str, str] = {
    r"greater than or equal to (\S+)": r"expected a number of \1 or more",
    r"less than or equal to (\S+)": r"expected a number of \1 at most",
    r"a valid integer": "expected a whole number",
    r"a valid number": "expected a number",
    r"is not one of (.+?)\.?$": r"expected one of \1",
}
LEAST_LIKENESS = 0.75  # of a misspelt option and the one that was meant


def of_parser(error: Any, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line that the parser refused, in one plain sentence.

    Parameters
    ----------
    error : exception of typer
        It knows the option or argument, and a reason.
    arguments : sequence of str
        The command line, for the value.
    """
    message: str = error.format_message()
    if hasattr(error, "possibilities"):
        choices = error.possibilities or ()
        near = difflib.get_close_matches(error.option_name, choices, n=1, cutoff=LEAST_LIKENESS)
        advice = f"; did you mean {near[0]}?" if near else "; --help lists the options"
        return f"{error.option_name}: no such option{advice}"
    parameter = getattr(error, "param", None)
    for pattern, expected in EXPECTED.items():
        found = re.search(pattern, message)
        if found and parameter is not None:
            option = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar
            value = value_of(option, arguments)
            text = f"{option}{f' {value}' if value else ''}: {found.expand(expected)}"
            choices = [part[1:-1] for part in re.findall(r"'[^']*'", text)]
            advice = "; 'fourfifths report' writes .html" if value == "html" else ""
            return f"{text}{nearest(value, choices)}{advice}"
    return message


def value_of(option: str, arguments: Sequence[str]) -> str:
    """Return the value that an option has on a command line; empty if it cannot be told.

    Examples
    --------
    >>> value_of("--format", ["audit", "--format", "html"]), value_of("--jobs", ["--jobs=x"])
    ('html', 'x')
    """
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return ""


NO_VALUE = object()  # a name is followed by no Python value


def value_at(message: str, start: int) -> tuple[int, Any]:
    """Return where the Python value that begins at `start` ends, and the value or `NO_VALUE`."""
    end = start
    if message[start : start + 1] in _CLOSING:
        end = end_of_brackets(message, start)
    elif literal := _TEXT_VALUE.match(message, start):
        end = literal.end()
    elif literal := _BARE_VALUE.match(message, start):
        # A number or a truth value may end a sentence: the full stop is not part of it.
        text = literal.group()
        end = literal.end() if text == "..." else start + len(text.rstrip("."))
    if message[start:end] in ("nan", "inf", "-inf"):
        return end, message[start:end]  # as repr writes these numbers, which are no literals
    try:
        return end, ast.literal_eval(message[start:end])
    except (ValueError, SyntaxError):
        return start, NO_VALUE


def end_of_brackets(message: str, start: int) -> int:
    """Return where a list, tuple or mapping ends; brackets within texts do not count."""
    waiting: list[str] = []
    position = start
    while position < len(message):
        text = _TEXT_VALUE.match(message, position)
        if text:
            position = text.end()
            continue
        letter = message[position]
        position += 1
        if letter in _CLOSING:
            waiting.append(_CLOSING[letter])
        elif waiting and letter == waiting[-1]:
            waiting.pop()
            if not waiting:
                return position
    return start


def as_options(argument: str, value: Any) -> str:
    """Return an argument and its value as options.

    Examples
    --------
    >>> as_options("columns", ["pay", "home town"])
    "--columns pay --columns 'home town'"
    >>> as_options("counts", {"n": "Applicants", "selected": "Hired"})
    '--counts n=Applicants,selected=Hired'
    >>> as_options("ages", {"born": "2026-01-01"})
    '--age-from born --on 2026-01-01'
    """

    def with_commas(value: Any) -> str:
        entries = value if isinstance(value, list | tuple) else [value]
        return ",".join("..." if entry is ... else str(entry) for entry in entries)

    option = OPTIONS[argument]
    name, entries = option.name, [value]
    if value is NO_VALUE or value is None or value is True:
        entries = []
    elif isinstance(value, Mapping):
        # In Python the order of a column's categories is given with the columns.
        if argument == "columns" and any(
            isinstance(entry, list | tuple) for entry in value.values()
        ):
            name = OPTIONS["order"].name
        entries = [f"{key}={with_commas(entry)}" for key, entry in value.items()]
        if argument == "counts":
            entries = [",".join(entries)]
        elif argument == "ages":
            # At the shell all ages count on one day.
            day = next(iter(value.values()), None)
            return " ".join(
                [*(shlex.join([name, key]) for key in value), shlex.join(["--on", str(day)])]
            )
    elif isinstance(value, list | tuple) and option.several == "repeated":
        entries = list(value)
    return " ".join(f"{name} {quote_for_shell(with_commas(entry))}" for entry in entries) or name


def quote_for_shell(text: str) -> str:
    """Quote a text for the shell if necessary; a text with an apostrophe gets double quotes."""
    if "'" in text and not any(mark in text for mark in '"$`\\!'):
        return f'"{text}"'
    return shlex.quote(text)
