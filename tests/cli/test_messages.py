"""The library's messages as the shell says them."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths._cli.main import COMMANDS, load_command
from fourfifths._cli.messages import (
    NO_VALUE,
    OPTIONS,
    as_options,
    end_of_brackets,
    for_shell,
    quote_for_shell,
    value_at,
)

TRANSLATED = {
    "a leading name": (
        "columns: 'hired' is the outcome; a rule may not use it",
        "--columns: 'hired' is the outcome; a rule may not use it",
    ),
    "two leading names": (
        "protected, stratify_by: give one of them",
        "--protected, --stratify-by: give one of them",
    ),
    "a leading name that is another word at the shell": (
        "models: 'LDA' is not one of 'LR', 'SVM'",
        "--model: 'LDA' is not one of 'LR', 'SVM'",
    ),
    "a leading name and value": (
        "weights='ww': no such column",
        "--weights ww: no such column",
    ),
    "two leading names and values": (
        "score='s', outcome='y': takes one of them",
        "--score s, --outcome y: takes one of them",
    ),
    "a choice": ("or fit with unseen='keep', which", "or fit with --unseen keep, which"),
    "an underscore": (
        "use weights_are='sampling' for sampling weights",
        "use --weights-are sampling for sampling weights",
    ),
    "a mapping to edges": ("bands={'age': [25, 40]}", "--band age=25,40"),
    "a mapping to edges that are not whole": ("bands={'x': [0.5]}", "--band x=0.5"),
    "two columns in a mapping": (
        "bands={'age': [25], 'pay': [10, 20]}",
        "--band age=25 --band pay=10,20",
    ),
    "a mapping to a value": ("reference={'race': 'W'}", "--reference race=W"),
    "a mapping left open": ("reference={'race': ...}", "--reference race=..."),
    "an order of categories": (
        "columns={'grade': ['low', 'high']}",
        "--order grade=low,high",
    ),
    "a list of names": ("columns=['a', 'b']", "--columns a --columns b"),
    "a tuple of names": ("unknown=('?', 'n/a')", "--unknown '?' --unknown n/a"),
    "a range": ("beta=(0.2, 0.3): the lower end", "--beta 0.2,0.3: the lower end"),
    "a list of numbers": ("amounts=[0, 2]: expected", "--amounts 0,2: expected"),
    "a number": ("beta=0.0: expected a rate above 0", "--beta 0.0: expected a rate above 0"),
    "a negative number": ("amount=-0.1: expected", "--amount -0.1: expected"),
    "a number at the end of a sentence": ("try folds=5.", "try --folds 5."),
    "no value": ("name the columns (columns=)", "name the columns (--columns)"),
    "a value left open": ("rule='nyc-ll144' with score=...", "--rule nyc-ll144 with --score ..."),
    "no value at the end": ("name them with columns=", "name them with --columns"),
    "None": ("columns=None: name one", "--columns: name one"),
    "an empty list": ("columns=[]: name one", "--columns: name one"),
    "another word for processes": ("n_jobs=0: expected", "--jobs 0: expected"),
    "a folder": ("out='a b': cannot be written", "--out 'a b': cannot be written"),
    "in brackets": (
        "say which is favorable (favorable='yes')",
        "say which is favorable (--favorable yes)",
    ),
    "after an apostrophe": (
        "the group's rate, or unseen='keep'",
        "the group's rate, or --unseen keep",
    ),
    # Values that the shell must have in quotation marks.
    "a space in a value": ("favorable='not hired': never", "--favorable 'not hired': never"),
    "an apostrophe in a value": ('favorable="it\'s": never', '--favorable "it\'s": never'),
    "a quotation mark in a value": ("favorable='5\"': never", "--favorable '5\"': never"),
    "an equals sign in a value": ("reference={'g': 'a=b'}", "--reference g=a=b"),
    "an equals sign and a space": (
        "reference={'my col': 'a = b'}",
        "--reference 'my col=a = b'",
    ),
    "a dollar in a value": ("favorable='> $50K': never", "--favorable '> $50K': never"),
    "an empty value": ("favorable='': never occurs", "--favorable '': never occurs"),
    "a backslash in a value": (r"favorable='a\\b': never", r"--favorable 'a\b': never"),
    "brackets in a value": ("columns=['a]', '(b']: x", "--columns 'a]' --columns '(b': x"),
    "a colon in a value": ("favorable='a: b': never", "--favorable 'a: b': never"),
}
UNTOUCHED = {
    "a quoted value that looks like an argument": "no column 'columns=3' (columns: 'score=1', 'b')",
    "a quoted value in double marks": "holds \"columns=['it's']\", expected numbers",
    "a quoted value with an escaped mark": r"holds 'it\'s score=3', expected numbers",
    "a list in the middle of a message": "no column 'x' (columns: 'a', 'b')",
    "words": "rule 'ugesp' takes no score; the outcome is the reference's",
    "a column at the beginning": "score: 3 rows have no value; give each row one",
    "the name of a file": "columns=x.csv: no such file",
    "the name of a file with a number": "folds=3.csv: no such file",
    "part of a longer word": "my_columns=3 and precolumns=[4]",
    "the end of a path": "t/columns=3: no such file",
    "a cell of a csv": "not readable as CSV: found B,weights=3,1",
    "an argument that the shell has not": "levels=1: expected a whole number; kind='xlsx'",
    "brackets that are not closed": "columns=['a': expected a list",
    "a text that is not closed": "columns='a: expected a name",
    "what is no value": "columns=names: expected a list",
    "what the shell says itself": "--band score=1: expected numbers separated by commas",
    "the empty message": "",
}


@pytest.mark.parametrize(("message", "expected"), TRANSLATED.values(), ids=TRANSLATED)
def test_arguments_become_options(message, expected):
    assert for_shell(message) == expected


@pytest.mark.parametrize("message", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_is_no_argument_stays_as_it_is(message):
    assert for_shell(message) == message


def test_a_note_never_begins_with_an_argument():
    assert for_shell("outcome: has 3 values", is_note=True) == "outcome: has 3 values"
    assert for_shell("say unknown=['?']", is_note=True) == "say --unknown '?'"


@pytest.mark.slow
@given(st.text(), st.sampled_from(sorted(OPTIONS)))
def test_a_quoted_value_is_never_touched(value, name):
    message = f"t.csv: holds {value!r}, and {f'{name}={value!r}'!r}; expected numbers"
    assert for_shell(message) == message


@given(st.text().filter(lambda text: "\x00" not in text))
def test_the_shell_reads_the_value_that_the_library_meant(value):
    message = for_shell(f"favorable={value!r}: never occurs")
    assert message.endswith(": never occurs")
    words = shlex.split(message.removesuffix(": never occurs"))
    assert words == ["--favorable", value]


@given(st.text().filter(lambda text: "\x00" not in text), st.text(min_size=1))
def test_the_shell_reads_the_pair_that_the_library_meant(column, group):
    group = group.replace("\x00", "")
    words = shlex.split(for_shell(f"reference={ {column: group}!r}"))
    assert words == ["--reference", f"{column}={group}"]


@given(st.text())
def test_no_text_is_an_error(message):
    assert isinstance(for_shell(message), str)


def test_every_option_of_the_table_is_an_option_of_a_command():
    commands = [load_command(name) for name in COMMANDS]
    options = {name for command in commands for entry in command.params for name in entry.opts}
    assert {option.name for option in OPTIONS.values()} <= options


def test_every_option_with_a_value_is_in_the_table():
    commands = [load_command(name) for name in COMMANDS]
    options = {name for command in commands for entry in command.params for name in entry.opts}
    # What the shell itself reads; no message of the library is about it.
    own = {
        "--plot",
        "--add",
        "--audits-json",
        "--fields",
        "--file",
        "--format",
        "--save",
        "--sign",
        "--trust",
        "--apply",
        "--overwrite",
        "--quick",
        "--help",
        "--effect",
        "--fail-on",
        "--on",
        "--drop-protected",
    }
    options = {name for name in options if name.startswith("--")}
    assert options - own == {option.name for option in OPTIONS.values()}


def test_the_value_after_a_name_is_read_to_its_end():
    assert value_at("x=[1, 2]; more", 2) == (8, [1, 2])
    assert value_at("x='a'; more", 2) == (5, "a")
    assert value_at("x=5.", 2) == (3, 5)
    assert value_at("x=race", 2) == (2, NO_VALUE)


def test_brackets_within_texts_do_not_count():
    assert end_of_brackets("[']', (1)] x", 0) == 10
    assert end_of_brackets("[1, 2", 0) == 0


def test_values_are_repeated_or_joined_by_commas():
    assert as_options("amounts", [0, 0.5]) == "--amounts 0,0.5"
    assert as_options("columns", ["a", "b"]) == "--columns a --columns b"
    assert as_options("columns", {"g": ["lo", "hi"]}) == "--order g=lo,hi"
    assert as_options("columns", NO_VALUE) == "--columns"


@pytest.mark.parametrize("text", ["plain", "two words", "d'Or", "a'$b", '"'])
def test_the_shell_reads_a_quoted_text_as_it_was(text):
    assert shlex.split(quote_for_shell(text)) == [text]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("rules", "ugeps"), "NAME ugeps: no such rule; .* did you mean 'ugesp'"),
        (("audit", "ricci", "--format", "html"), "--format html: .*report' writes .html"),
        (("audit", "ricci", "--out", "x.html"), "--out x.html: .*report' writes .html"),
        (("audit", "ricci", "--strata", "x"), "--strata: no such option; --help lists"),
        (("audit", "ricci", "--refrence", "x"), "--refrence: .* did you mean --reference"),
        (("audit", ""), "the name is empty; expected a file or a shipped data set"),
        (("tradeoff", "ricci", "--repeats", "x"), "--repeats x: expected a whole number"),
        (("share", "5"), "SELECTED: give both numbers"),
        (("share", "5", "3", "--share", ".5"), "OBSERVED 5, SELECTED 3: expected at least one"),
        (("reproduce", "--jobs", "0"), "--jobs 0: expected a number of processes"),
        (("repair", "ricci", "o.csv", "--order", "oral"), "--order 'oral': expected COL=V,V"),
        (
            ("subgroups", "ricci", "--columns", "passed", "--outcome", "passed"),
            "--columns passed: is the outcome",
        ),
        (("report", "ricci", "--out", "r.html", "--score", "position"), "--score position: expec"),
        (("report", "ricci", "--out", "r.html", "--columns", "passed"), "--columns: 'passed'"),
        (("report", "ricci", "--out", "r.html", "--fields", "n.toml"), "--fields n.toml: no such"),
        (("certify", "ricci", "--out", "c.json", "--sign", "k"), "--sign k: no such file; 'fourf"),
    ],
)
def test_the_shell_names_its_own_options(shell, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    answer = shell(*arguments)
    assert answer.code == 2
    assert re.match(f"fourfifths: .*{says}", answer.err)
    assert not list(tmp_path.iterdir())
