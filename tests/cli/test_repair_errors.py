"""Bad input to `fourfifths repair`: one line on stderr, exit code 2, nothing written."""

from __future__ import annotations

import datetime
import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import fourfifths
from fourfifths._json import sealed

Shell = Callable[..., Any]
NUMBERS = {"A": ["1", "2", "3", "4", "5"], "B": ["10", "20", "30", "40", "50"]}
ROWS = [
    (group, x, f"{x}.5", "uv"[int(x) % 2], "yn"[at % 2])
    for group, own in NUMBERS.items()
    for at, x in enumerate(own)
]
NAMES = "group,score,half,kind,hired"
FILES = ("repair", "in.csv", "out.csv")
OUTCOME = ("--outcome", "hired", "--effect", "quick")
FIT = (*FILES, "--protected", "group", *OUTCOME)
APPLY = ("repair", "new.csv", "out.csv", "--apply", "saved.json")


def text_of(rows: Sequence[tuple[str, ...]], names: str = NAMES) -> str:
    return "\n".join([names, *(",".join(row) for row in rows)]) + "\n"


MANY = text_of(ROWS * 3)  # enough for a score of the outcome


def replaced(place: int, column: int, value: str) -> str:
    rows = [list(row) for row in ROWS]
    rows[place][column] = value
    return text_of([tuple(row) for row in rows])


def refuse(shell: Shell, folder: Path, arguments: tuple[str, ...], says: str) -> None:
    """Run a command that must be refused, and check that the folder is as it was."""
    before = {each.name: each.is_file() and each.read_bytes() for each in folder.iterdir()}
    answer = shell(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("fourfifths: ")
    assert answer.err.count("\n") == 1
    assert answer.err.endswith("\n")
    assert says in answer.err
    after = {each.name: each.is_file() and each.read_bytes() for each in folder.iterdir()}
    assert after == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a table."""
    (tmp_path / "in.csv").write_text(text_of(ROWS), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def repair_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a saved repair of score, half and kind by group."""
    path = tmp_path_factory.mktemp("saved") / "saved.json"
    table = pd.DataFrame(ROWS, columns=NAMES.split(","))
    table = table.astype({"score": int, "half": float}).drop(columns="hired")
    columns = dict.fromkeys(["score", "half", "kind"])
    fourfifths.Repairer(["group"], columns=columns, scope="column").fit(table).save(path)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def saved(folder: Path, repair_text: str) -> Path:
    """Put the saved repair into the folder."""
    (folder / "saved.json").write_text(repair_text, encoding="utf-8")
    return folder / "saved.json"


# --- fitting ---


SAVE = ("--save", "r.json")
BAD_FIT: dict[str, tuple[tuple[str, ...], str, str]] = {
    "amount above 1": ((*FIT, "--amount", "1.5"), "", "--amount 1.5: expected a number from 0"),
    "amount below 0": ((*FIT, "--amount", "-0.1"), "", "--amount -0.1: expected a number from 0"),
    "amount a word": ((*FIT, "--amount", "most"), "", "--amount most: expected a number from 0 to"),
    "a method that does not exist": ((*FIT, "--method", "magic"), "", "expected one of 'combin"),
    "a scope that does not exist": ((*FIT, "--scope", "colunm"), "", "did you mean 'column'?"),
    "unseen that does not exist": ((*FIT, "--unseen", "x"), "", "--unseen x: expected one of"),
    "a seed below 0": (
        (*FIT, "--random-state", "-1"),
        "",
        "--random-state -1: expected a number of 0 or more",
    ),
    "a format that does not exist": (
        (*FIT, "--format", "xml"),
        "",
        "--format xml: expected one of 'table'",
    ),
    "no protected column": (FILES, "", "protected: name the protected columns"),
    "a protected column that does not exist": (
        (*FILES, "--protected", "gruop"),
        "",
        "no column 'gruop' in in.csv; did you mean 'group'?",
    ),
    "a column that does not exist": (
        (*FIT, "--columns", "scroe"),
        "",
        "columns: no column 'scroe' in in.csv; did you mean 'score'?",
    ),
    "an outcome that does not exist": (
        (*FILES, "--protected", "group", "--outcome", "hierd"),
        "",
        "outcome: no column 'hierd' in in.csv; did you mean 'hired'?",
    ),
    "an order that lacks a category": (
        (*FIT, "--order", "kind=u,w"),
        "",
        "--order kind=u,w: the order lacks 'v'",
    ),
    "an order of nothing": ((*FIT, "--order", "kind"), "", "--order 'kind': expected COL=V"),
    "bands of text": (
        (*FILES, "--protected", "kind", "--band", "kind=3", *OUTCOME),
        "",
        "--band kind: expected numbers, found 'u'",
    ),
    "bands that are words": ((*FIT, "--band", "group=a"), "", "expected numbers separated by comm"),
    "bands that fall": (
        (*FILES, "--protected", "score", "--band", "score=9,3"),
        "",
        "each larger than the one before",
    ),
    "a beta that is a word": ((*FIT, "--beta", "x"), "", "--beta x: expected a rate"),
    "a value that is infinite": (FIT, replaced(3, 2, "1e999"), "column 'half': row 3 is infinite"),
    "a column that one stratum lacks": (
        (*FIT, "--scope", "column"),
        text_of([(g, x if g == "A" else "", *rest) for g, x, *rest in ROWS]),
        "column 'score': fewer than 4 values that are not missing in a stratum: 'B' has 0",
    ),
    "one stratum only": (FIT, text_of([r for r in ROWS if r[0] == "A"]), "holds only 'A'; expect"),
    "a stratum of two rows": (
        FIT,
        text_of([*ROWS, ("C", *ROWS[0][1:]), ("C", *ROWS[1][1:])]),
        "strata with fewer than 4 rows: 'C: 2'; --small pool",
    ),
    "strata too small even if pooled": (
        (*FIT, "--small", "pool"),
        text_of([*ROWS, ("C", *ROWS[0][1:]), ("D", *ROWS[1][1:])]),
        "strata with fewer than 4 rows even if they are pooled",
    ),
    "a row without a stratum": (FIT, replaced(2, 0, ""), "group: 1 rows have no value; give each"),
    "more texts than categories": (
        (*FIT, "--columns", "half"),
        text_of([(g, x, f"t{at}", "u", "yn"[at % 2]) for at, (g, x, *_) in enumerate(ROWS * 101)]),
        "columns: 'half' has 1,010 different texts, more than 1,000: not categories",
    ),
    "which columns?": (
        (*FILES, "--protected", "group"),
        "",
        "--columns: which columns to repair is not known; name them, or name the outcome, "
        "--outcome ..., so that all others can be repaired",
    ),
    "a number of blocks that is none": (
        (*FIT, "--blocks", "few"),
        "",
        "--blocks few: expected a whole number, or 'certified'",
    ),
    "one block": ((*FIT, "--blocks", "1"), "", "--blocks 1: expected 'certified', or a whole"),
    "a key that does not exist": (
        (*FIT, "--key", "halb"),
        "",
        "--key halb: no column 'halb' in in.csv; did you mean 'half'?",
    ),
    "a key that occurs twice": ((*FIT, "--key", "kind"), MANY, "kind"),
    "a threshold above 1": ((*FIT, "--threshold", "1.5"), "", "--threshold 1.5: expected a num"),
    "a confidence of 1": ((*FIT, "--confidence", "1"), "", "--confidence 1.0: expected a number"),
    "a method of the paper by blocks": (
        (*FIT, "--scope", "blocks", "--method", "geometric"),
        MANY,
        "--method geometric: the paper's methods repair columns one by one; give --scope column",
    ),
    "ties of the paper by blocks": (
        (*FIT, "--scope", "blocks", "--ties", "mid"),
        MANY,
        "--ties mid: the paper's methods repair columns one by one; give --scope column too, or",
    ),
    "blocks by column": (
        (*FIT, "--scope", "column", "--blocks", "4"),
        MANY,
        "--blocks 4: a repair by column has no blocks, and proves nothing; give --scope blocks",
    ),
    "a threshold by column": (
        (*FIT, "--scope", "column", "--threshold", "0.9"),
        MANY,
        "--threshold 0.9: a repair by column has no blocks, and proves nothing; give --scope bl",
    ),
    "a reference that nobody looks at": (
        (*FIT[:-1], "none", "--reference", "A"),
        MANY,
        "--reference: has no meaning with --effect none; leave it out, or give --effect full",
    ),
    "a beta that nobody looks at": (
        (*FIT[:-1], "none", "--scope", "column", "--beta", "0.3"),
        MANY,
        "--beta: has no meaning with --effect none; leave it out, or give --effect full",
    ),
    "a beta without an audit": (
        (*FIT, "--scope", "column", "--beta", "0.3"),
        MANY,
        "--beta: has no meaning with --effect quick; leave it out, or give --effect full",
    ),
    "too few rows to learn a score": (
        (*FIT, "--scope", "blocks"),
        "",
        "more rows",
    ),
    "a header and no rows": (FIT, NAMES + "\n", "in.csv: there are no rows"),
    "a long row": (
        FIT,
        text_of([*ROWS, ("A", *"123456")]),
        "line 12 has 6 fields",
    ),
    "no such file": (("repair", "no.csv", *FIT[2:]), "", "no.csv: no such file"),
    "nothing to write to": (("repair", "in.csv"), "", "OUT"),
    "a file of another ending": (("repair", "in.csv", "out.xlsx"), "", "name ending in .csv, .tsv"),
    "no folder for OUT": (
        ("repair", "in.csv", "no/out.csv", *FIT[3:]),
        "",
        "OUT no/out.csv: there is no folder",
    ),
    "no folder for --save": ((*FIT, "--save", "no/r.json"), "", "--save no/r.json: there is no"),
    "OUT and --save the same": ((*FIT, "--save", "out.csv"), "", "is the name of another file"),
    "IN and --save the same": ((*FIT, "--save", "./in.csv"), "", "is the name of another file"),
    "the amount that certifies what?": (
        (*FILES, "--protected", "group", "--columns", "score", "--amount", "certified"),
        "",
        "outcome: name the column that says who was selected",
    ),
}


@pytest.mark.parametrize("scope", ["blocks", "column"])
@pytest.mark.parametrize(("arguments", "content", "says"), BAD_FIT.values(), ids=BAD_FIT)
def test_bad_input(
    shell: Shell, folder: Path, arguments: tuple[str, ...], content: str, says: str, scope: str
) -> None:
    if content:
        (folder / "in.csv").write_text(content, encoding="utf-8")
    save = () if "--save" in arguments else SAVE
    scopes = () if "--scope" in arguments else ("--scope", scope)
    refuse(shell, folder, (*arguments, *save, *scopes), says)


@pytest.mark.parametrize(
    "again", [("--columns", "group"), ("--columns", "score", "--columns", "group")]
)
def test_a_protected_column_to_repair(shell: Shell, folder: Path, again: tuple[str, ...]) -> None:
    refuse(shell, folder, (*FIT, *again), "'group' is what the strata are made of")


def test_a_protected_column_named_twice(shell: Shell, folder: Path) -> None:
    (folder / "in.csv").write_text(MANY, encoding="utf-8")
    assert shell(*FIT, "--protected", "group", *SAVE).code == 0
    saved = json.loads(Path("r.json").read_text())
    assert saved["strata"]["by"] == ["group"]


@pytest.mark.parametrize("word", ["inf", "-Infinity"])
def test_an_infinite_value_in_words(shell: Shell, folder: Path, word: str) -> None:
    (folder / "in.csv").write_text(replaced(3, 2, word), encoding="utf-8")
    refuse(shell, folder, FIT, "'half'")


@pytest.mark.parametrize("whole", ["99999999999999999999", "9007199254740993"])
def test_a_whole_number_that_is_too_large(shell: Shell, folder: Path, whole: str) -> None:
    (folder / "in.csv").write_text(replaced(3, 1, whole), encoding="utf-8")
    refuse(shell, folder, FIT, "column 'score'")


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_infinity_in_parquet(shell: Shell, tmp_path: Path, scope: str) -> None:
    table = pd.DataFrame({"group": ["A", "B"] * 5, "x": [*map(float, range(9)), float("inf")]})
    table.to_parquet(tmp_path / "in.parquet")
    roles = ("--protected", "group", "--columns", "x")
    arguments = ("repair", "in.parquet", "out.csv", *roles, *SAVE, "--scope", scope)
    refuse(shell, tmp_path, arguments, "column 'x': row 9 is infinite; expected finite numbers")


def test_columns_of_a_type_that_is_not_repaired(shell: Shell, tmp_path: Path) -> None:
    days = [datetime.date(2020, 1, 1)] * 10
    table = pa.table({"group": ["A", "B"] * 5, "day": days, "list": [[1]] * 10})
    parquet.write_table(table, tmp_path / "in.parquet")
    arguments = ("repair", "in.parquet", "out.csv", "--protected", "group", "--columns")
    refuse(
        shell,
        tmp_path,
        (*arguments, "list"),
        "columns: 'list' holds List(Int64), as in [1]; expected",
    )
    says = "columns: 'day' holds dates, which are repaired by blocks only; leave it out, or give"
    refuse(shell, tmp_path, (*arguments, "day", "--scope", "column"), says)


# Options that contradict each other, or name what is not there.
IGNORED = {
    "protected and stratify-by": (*FIT, "--stratify-by", "kind"),
    "an order of a column that does not exist": (*FIT, "--order", "knid=u,v"),
    "an order of a column that is not repaired": (
        *FIT,
        "--columns",
        "score",
        "--order",
        "kind=u,v",
    ),
    "bands of a column that does not exist": (*FIT, "--band", "age=3"),
    "bands of a column that makes no strata": (*FIT, "--band", "score=3"),
}


@pytest.mark.parametrize("arguments", IGNORED.values(), ids=IGNORED)
def test_options_that_mean_nothing(shell: Shell, folder: Path, arguments: tuple[str, ...]) -> None:
    refuse(shell, folder, arguments, "")


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        (("--beta", "7"), "--beta 7.0: expected a selection rate"),
        (("--reference", "kind=u"), "reference: 'kind' is not a protected column"),
        (("--favorable", "yes"), "--favorable yes: never occurs in outcome"),
        (("--columns", "hired"), "columns: 'hired' is the outcome"),
        (("--reference", "group=C"), "--reference C: not among the groups of 'group'"),
    ],
)
def test_bad_roles_of_the_audit(
    shell: Shell, folder: Path, roles: tuple[str, ...], says: str
) -> None:
    (folder / "in.csv").write_text(MANY, encoding="utf-8")
    for scope in ("blocks", "column"):
        refuse(shell, folder, (*FIT[:-1], "full", *SAVE, *roles, "--scope", scope), says)


# --- applying ---


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (replaced(4, 0, "C"), "'C' in row 4 is not one of the strata that were fitted ('A', 'B')"),
        (replaced(4, 0, ""), "in row 4 is not one of the strata that were fitted"),
        (replaced(2, 1, "many"), "column 'score': expected numbers, found 'many'"),
        (replaced(2, 2, "inf"), "column 'half': expected finite numbers, found 'inf'"),
        (replaced(2, 2, "1e999"), "column 'half': row 2 is infinite"),
        (replaced(2, 3, "w"), "column 'kind': 'w' is not one of the categories 'u', 'v'"),
        (text_of(ROWS, "group,score,halves,kind,hired"), "no column 'half' in new.csv; did you"),
        (text_of(ROWS, "gruop,score,half,kind,hired"), "no column 'group' in new.csv; did you"),
    ],
    ids=["unseen", "no stratum", "text", "inf", "infinite", "category", "column", "protected"],
)
def test_rows_that_a_saved_repair_cannot_repair(
    shell: Shell, folder: Path, saved: Path, content: str, says: str
) -> None:
    (folder / "new.csv").write_text(content, encoding="utf-8")
    refuse(shell, folder, APPLY, says)
    # A saved repair says itself which values mean missing.
    assert "unknown" not in shell(*APPLY).err


@pytest.mark.parametrize(
    "option",
    [("--outcome", "hired"), ("--favorable", "1"), ("--reference", "group=A"), ("--beta", "0.3")],
    ids=lambda option: option[0],
)
def test_roles_of_audits_that_a_saved_repair_is_not_asked_for(
    shell: Shell, folder: Path, saved: Path, option: tuple[str, ...]
) -> None:
    message = f"{option[0]}: has no meaning with --apply unless the effect is measured; leave it"
    refuse(shell, folder, ("repair", "in.csv", *APPLY[2:], *option), message)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("score", [datetime.date(2020, 1, 1)] * 10),
        ("score", [[1]] * 10),
        ("score", pd.Categorical(["1", "2"] * 5)),
        ("kind", range(10)),
        ("kind", [datetime.date(2020, 1, 1)] * 10),
    ],
    ids=["day", "list", "dictionary", "whole", "day as category"],
)
def test_columns_of_another_type(
    shell: Shell, folder: Path, saved: Path, column: str, values: Any
) -> None:
    table = pd.DataFrame(ROWS, columns=NAMES.split(",")).astype({"score": int, "half": float})
    table.assign(**{column: values}).to_parquet(folder / "new.parquet")
    refuse(shell, folder, ("repair", "new.parquet", *APPLY[2:]), f"{column!r}")


def test_a_repaired_value_that_a_narrow_type_cannot_hold(shell: Shell, tmp_path: Path) -> None:
    # By hand: of 1000, 0 and 1000 the consensus is 1000, which is none of int8's numbers.
    table = pd.DataFrame({"group": ["A", "B", "C"] * 4, "x": [1000, 0, 1000] * 4})
    repairer = fourfifths.Repairer(["group"], columns={"x": None}, scope="column")
    repairer.fit(table).save(tmp_path / "saved.json")
    narrow = pa.table({"group": ["B"] * 4, "x": pa.array([0] * 4, pa.int8())})
    parquet.write_table(narrow, tmp_path / "new.parquet")
    answer = shell("repair", "new.parquet", "out.parquet", "--apply", "saved.json")
    assert answer.code == 0
    assert parquet.read_table("out.parquet")["x"].to_pylist() == [1000] * 4


def test_booleans_of_parquet_in_a_csv(shell: Shell, tmp_path: Path) -> None:
    table = pd.DataFrame({"group": ["A", "B"] * 4, "b": [True, False, False, True] * 2})
    repairer = fourfifths.Repairer(["group"], columns={"b": None}, scope="column")
    repairer.fit(table).save(tmp_path / "saved.json")
    table.to_csv(tmp_path / "new.csv", index=False)
    assert shell(*APPLY).code in (0, 2)


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("schema",), 2, "written by a newer fourfifths (schema 2; this one reads up to 1)"),
        (("kind",), "a recipe", "kind: expected 'fourfifths repair'"),
        (("settings", "amount"), 7, "amount=7: expected a number from 0"),
        (("settings", "method"), "magic", "method='magic': expected one of"),
        (("columns",), [], "columns: expected at least one column"),
        (
            ("columns", 0, "consensus"),
            [3, 2, 1],
            "columns[0].consensus: expected numbers that never decrease",
        ),
        (("columns", 2, "shares"), [[2, 0], [1, 0]], "columns[2].shares: expected shares that sum"),
        (("strata", "groups"), [["A"]], "strata.groups: expected two or more"),
    ],
)
def test_a_saved_repair_edited_into_nonsense(
    shell: Shell, folder: Path, saved: Path, place: tuple[Any, ...], value: Any, says: str
) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    saved.write_text(json.dumps(sealed(document)), encoding="utf-8")
    refuse(shell, folder, ("repair", "in.csv", *APPLY[2:]), says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "saved.json: not JSON"),
        ('{"kind": ', "saved.json: not JSON"),
        (
            "[1, 2]",
            "saved.json: not a valid saved repair: kind: expected this entry, which is missing",
        ),
        (None, "saved.json: no such file"),
    ],
    ids=["empty", "cut", "a list", "no file"],
)
def test_a_file_that_is_no_saved_repair(
    shell: Shell, folder: Path, content: str | None, says: str
) -> None:
    if content is not None:
        (folder / "saved.json").write_text(content, encoding="utf-8")
    refuse(shell, folder, ("repair", "in.csv", *APPLY[2:]), says)


@pytest.mark.parametrize(
    "option",
    [
        ("--protected", "group"),
        ("--stratify-by", "group"),
        ("--columns", "score"),
        ("--order", "kind=u,v"),
        ("--band", "score=3"),
        ("--save", "r.json"),
        ("--random-state", "0"),
    ],
    ids=lambda option: option[0],
)
def test_a_saved_repair_has_its_own_columns(
    shell: Shell, folder: Path, saved: Path, option: tuple[str, ...]
) -> None:
    message = f"{option[0]}: has no meaning with --apply, which does what the saved repair says"
    refuse(shell, folder, ("repair", "in.csv", *APPLY[2:], *option), message)


@pytest.mark.parametrize(
    "option",
    [
        ("--amount", "0"),
        ("--method", "geometric"),
        ("--scope", "blocks"),
        ("--blocks", "4"),
        ("--variety", "2"),
        ("--key", "id"),
        ("--threshold", "0.9"),
        ("--confidence", "0.9"),
        ("--drop-protected",),
        ("--ties", "mid"),
        ("--small", "pool"),
        ("--unseen", "keep"),
    ],
    ids=lambda option: option[0],
)
def test_a_saved_repair_has_its_own_choices(
    shell: Shell, folder: Path, saved: Path, option: tuple[str, ...]
) -> None:
    refuse(shell, folder, ("repair", "in.csv", *APPLY[2:], *option), option[0])


# --- writing ---


def test_a_folder_in_place_of_parquet(shell: Shell, folder: Path) -> None:
    (folder / "out.parquet").mkdir()
    refuse(shell, folder, ("repair", "in.csv", "out.parquet", *FIT[3:]), "cannot be written")


def test_a_folder_in_place_of_csv(shell: Shell, folder: Path) -> None:
    (folder / "out.csv").mkdir()
    refuse(shell, folder, FIT, "out.csv: cannot be written")


def test_a_pipe_is_written_to(shell: Shell, folder: Path) -> None:
    (folder / "in.csv").write_text(MANY, encoding="utf-8")
    os.mkfifo(folder / "out.csv")
    reader = os.open(folder / "out.csv", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert shell(*FIT).code == 0
        assert os.read(reader, 100).startswith(NAMES.encode())
        assert (folder / "out.csv").is_fifo()
    finally:
        os.close(reader)


def test_a_device_that_cannot_be_written_to_is_not_removed(shell: Shell, folder: Path) -> None:
    # A node of our own, as /dev/full is; never that itself: root would lose it.
    node = folder / "out.parquet"
    try:
        os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
    except OSError:
        pytest.skip("only root makes devices")
    answer = shell("repair", "in.csv", "out.parquet", *FIT[3:])
    assert answer.code == 2
    assert node.is_char_device()


def test_a_type_that_a_csv_cannot_hold(shell: Shell, tmp_path: Path) -> None:
    table = pa.table({"group": ["A", "B"] * 5, "x": range(10)})
    wide = pa.array([1] * 10, pa.decimal256(60, 2))
    parquet.write_table(table.append_column("wide", wide), tmp_path / "in.parquet")
    roles = ("--protected", "group", "--columns", "x")
    answer = shell("repair", "in.parquet", "out.csv", *roles)
    assert answer.code == 0 or answer.err.startswith("fourfifths: out.csv")


def test_nothing_is_saved_if_the_table_cannot_be_written(shell: Shell, folder: Path) -> None:
    (folder / "out.parquet").mkdir()
    arguments = ("repair", "in.csv", "out.parquet", *FIT[3:], *SAVE)
    refuse(shell, folder, arguments, "cannot be written")


def test_nothing_is_written_if_the_repair_cannot_be_saved(shell: Shell, folder: Path) -> None:
    (folder / "saved").mkdir()
    refuse(shell, folder, (*FIT, "--save", "saved"), "saved: cannot be written: it is a folder")


def test_the_saved_repair_is_not_replaced_by_the_table(
    shell: Shell, folder: Path, saved: Path
) -> None:
    saved.rename(folder / "saved.csv")
    refuse(shell, folder, ("repair", "in.csv", "saved.csv", "--apply", "saved.csv"), "saved.csv")


def test_a_name_that_is_only_an_ending(shell: Shell, folder: Path) -> None:
    answer = shell("repair", "in.csv", ".parquet", *FIT[3:])
    assert answer.code == 2 or (folder / ".parquet").read_bytes().startswith(b"PAR1")
