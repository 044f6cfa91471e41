"""`fourfifths repair` at the command line: what is written, what is told."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from certificates import certificate
from pyarrow import parquet

import fourfifths
from fourfifths._cli.options import PageFormat, provenance_of
from fourfifths._cli.repair import EffectChoice, show_repair
from fourfifths._effect.amount import CertifiedAmount, Step
from fourfifths._effect.files import repair_file

Shell = Callable[..., Any]
# The two strata, A = [1, 2, 3, 4] and B = [10, 20, 30, 40], shuffled, each row twice: an
# audit needs five of a stratum, and twice the rows have the same levels.
ROWS = 2 * [
    ("B", "40", "p"),
    ("A", "1", "q"),
    ("B", "10", "r"),
    ("A", "4", "s"),
    ("A", "2", "t"),
    ("B", "30", "u"),
    ("A", "3", "v"),
    ("B", "20", "w"),
]
GROUPS = [group for group, _, _ in ROWS]
SCORES = [float(score) for _, score, _ in ROWS]
# By hand: at the levels 0 to 3 the strata agree on the midpoints of 1 and 10, 2 and 20, ...
LEVEL = {1: 0, 2: 1, 3: 2, 4: 3, 10: 0, 20: 1, 30: 2, 40: 3}
CONSENSUS = [5.5, 11.0, 16.5, 22.0]
FULL = [CONSENSUS[LEVEL[int(score)]] for score in SCORES]
QUICK = ("--effect", "quick")
ROLES = ("--protected", "group", "--columns", "score", "--scope", "column")
BASE = (*ROLES, *QUICK)
FIT = ("repair", "in.csv", "out.csv", *BASE)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Make in.csv, whose scores are not whole to the eye: they are numbers."""
    return write(tmp_path / "in.csv", [(g, f"{s}.0", n) for g, s, n in ROWS])


def write(path: Path, rows: Any, names: str = "group,score,note") -> Path:
    lines = [names, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(path: Path, separator: str = ",") -> dict[str, list[str]]:
    """Return the columns of a CSV by Python's own reader."""
    with path.open(newline="", encoding="utf-8") as stream:
        names, *rows = csv.reader(stream, delimiter=separator)
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def applicants(path: Path) -> dict[str, list[str]]:
    """Write a file of 400 applicants, and return its columns."""
    random = np.random.default_rng(0)
    rows = 400
    is_black = random.random(rows) < 0.4
    score = np.round(random.normal(60 - 8 * is_black, 10)).astype(int)
    day = np.datetime64("2024-01-01") + random.integers(0, 300, rows)
    table = {
        "applicant_id": [f"P{number:05d}" for number in random.permutation(rows)],
        "race": np.where(is_black, "Black", "White").tolist(),
        "sex": random.choice(["f", "m"], rows).tolist(),
        "score": [str(number) for number in score],
        "school": random.choice(["", "north", "south"], rows).tolist(),
        "hired": np.where(score + random.normal(0, 8, rows) > 58, "yes", "no").tolist(),
        "date": [str(date) for date in day],
    }
    write(path, zip(*table.values(), strict=True), ",".join(table))
    return table


def scores(path: Path, column: str = "score") -> list[float]:
    return [float(cell) for cell in read(path)[column]]


# --- what is written ---


def test_full_repair_by_hand(shell: Shell, source: Path) -> None:
    answer = shell(*FIT)
    assert answer.code == 0
    assert scores(Path("out.csv")) == FULL
    assert read(Path("out.csv"))["group"] == GROUPS
    assert answer.out.startswith("in.csv: 16 of 16 rows and 16 of 16 cells changed\n")
    assert answer.err == "wrote out.csv\n"
    assert sorted(each.name for each in Path().iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize(
    ("ending", "out"),
    [
        ("csv", "out.tsv"),
        ("csv", "out.parquet"),
        ("tsv", "OUT.CSV"),
        ("parquet", "out.csv"),
        ("parquet", "out.Parquet"),
        ("jsonl", "out.csv"),
    ],
)
def test_any_table_in_any_table_out(shell: Shell, tmp_path: Path, ending: str, out: str) -> None:
    table = pd.DataFrame({"group": GROUPS, "score": SCORES, "note": [n for _, _, n in ROWS]})
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    answer = shell("repair", path.name, out, *BASE, "--method", "geometric")
    assert answer.code == 0
    if out.lower().endswith("parquet"):
        found = parquet.read_table(out).to_pydict()
    else:
        found = read(tmp_path / out, "\t" if out.endswith("tsv") else ",")
    assert list(found) == ["group", "score", "note"]
    assert [float(score) for score in found["score"]] == FULL
    assert found["group"] == GROUPS
    assert found["note"] == list(table["note"])


# By hand: V is 1, 2, 3, 4, 10, 20, 30, 40. Nearest to 5.5, 11, 16.5, 22 are 4, 10, 20, 20, at the
# places 3, 4, 5, 5. Halfway there from the places 0 to 3 are 1.5, 2.5, 3.5, 4; from 4 to 7, 3.5,
# 4.5, 5.5, 6. A half is rounded up.
HALF = {1: 3, 2: 4, 3: 10, 4: 10, 10: 10, 20: 20, 30: 30, 40: 30}
NEAREST = {1: 4, 2: 10, 3: 20, 4: 20, 10: 4, 20: 10, 30: 20, 40: 20}
HALFWAY = {1: 3.25, 2: 6.5, 3: 9.75, 4: 13, 10: 7.75, 20: 15.5, 30: 23.25, 40: 31}


@pytest.mark.parametrize(
    ("method", "amount", "expected"),
    [
        ("geometric", "0.5", HALFWAY),
        ("combinatorial", "0.5", HALF),
        ("combinatorial", "1", NEAREST),
        ("random", "1", NEAREST),
        ("random", "0", {int(score): score for score in SCORES}),
        ("geometric", "0", {int(score): score for score in SCORES}),
    ],
)
def test_method_and_amount_by_hand(
    shell: Shell, tmp_path: Path, method: str, amount: str, expected: dict[int, float]
) -> None:
    write(tmp_path / "in.csv", ROWS)  # whole numbers
    assert shell(*FIT, "--method", method, "--amount", amount).code == 0
    assert scores(Path("out.csv")) == [expected[int(score)] for score in SCORES]
    if method != "geometric":
        assert "." not in "".join(read(Path("out.csv"))["score"])


def test_random_repair_takes_whole_rows_or_leaves_them(shell: Shell, tmp_path: Path) -> None:
    rows = [(g, s, s, n) for g, s, n in ROWS]
    write(tmp_path / "in.csv", rows, "group,score,again,note")
    columns = ("--columns", "score", "--columns", "again", "--scope", "column")
    answer = shell(
        "repair", "in.csv", "out.csv", "--protected", "group", *columns, "--amount", "0.5", *QUICK
    )
    found = scores(Path("out.csv"))
    assert found == scores(Path("out.csv"), "again")
    changed = [new != old for new, old in zip(found, SCORES, strict=True)]
    assert all(
        new == NEAREST[int(old)]
        for new, old, moved in zip(found, SCORES, changed, strict=True)
        if moved
    )
    assert 0 < sum(changed) < len(ROWS)
    told = f"{sum(changed)} of 16 rows and {2 * sum(changed)} of 32 cells changed"
    assert told in answer.out


def test_by_default_the_repair_is_full_and_by_blocks_of_all_other_columns(
    shell: Shell, tmp_path: Path
) -> None:
    applicants(tmp_path / "in.csv")
    roles = ("--protected", "race", "--outcome", "hired", "--save", "r.json", *QUICK)
    assert shell("repair", "in.csv", "out.csv", *roles).code == 0
    saved = json.loads(Path("r.json").read_text())
    expected = {
        "scope": "blocks",
        "blocks": "certified",
        "variety": 1,
        "amount": 1.0,
        "threshold": 0.8,
        "confidence": 0.95,
        "unseen": "error",
        "small": "error",
        "drop_protected": False,
        "key": None,
        "random_state": 0,
    }
    assert {name: saved["settings"][name] for name in expected} == expected
    assert [(each["name"], each["kind"]) for each in saved["columns"]] == [
        ("score", "integer"),
        ("school", "category"),
    ]


# --- which columns, which strata ---


def test_only_the_columns_named_are_repaired_and_the_others_are_told(
    shell: Shell, tmp_path: Path
) -> None:
    rows = [(g, s, s, n) for g, s, n in ROWS]
    write(tmp_path / "in.csv", rows, "group,score,kept,note")
    answer = shell(*FIT)
    found = read(Path("out.csv"))
    assert list(found) == ["group", "score", "kept", "note"]
    assert found["kept"] == [score for _, score, _ in ROWS]
    told = "Note: not repaired, and not audited here: kept, note; a rule that uses them"
    assert told in " ".join(answer.out.split())


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_what_is_never_repaired_unless_named(shell: Shell, tmp_path: Path, scope: str) -> None:
    before = applicants(tmp_path / "in.csv")
    roles = ("--protected", "race", "--outcome", "hired", "--scope", scope, *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles)
    assert answer.code == 0
    after = read(Path("out.csv"))
    assert list(after) == list(before)
    for name in ("applicant_id", "race", "sex", "hired", "date"):
        assert after[name] == before[name], name
    for name in ("score", "school"):
        assert after[name] != before[name], name
    told = "not repaired, and not audited here: applicant_id, sex, date; a rule that uses them"
    assert told in " ".join(answer.out.split())


@pytest.mark.parametrize("order", ["lo,mid,hi", "30,1,002"])  # numbers may be but names
def test_ordered_categories_by_hand(shell: Shell, tmp_path: Path, order: str) -> None:
    # The places of A are 0, 0, 1, 1, of B 1, 1, 2, 2: midway, .5 and 1.5, the lower is taken.
    low, middle, high = order.split(",")
    kinds = [("A", low), ("B", high), ("A", middle), ("B", middle)] * 2
    write(tmp_path / "in.csv", kinds, "group,kind")
    roles = ("--protected", "group", "--columns", "kind", "--scope", "column", *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles, "--order", f"kind={order}")
    assert answer.code == 0
    assert read(Path("out.csv"))["kind"] == [low, middle, middle, low] * 2
    assert "ordered" in answer.out


def test_categories_without_order_change_the_fewest_rows(shell: Shell, tmp_path: Path) -> None:
    # Shares of lo, mid, hi: A has 1/2, 1/2, 0, B has 0, 1/2, 1/2; the consensus is 1/4, 1/2, 1/4.
    kinds = [("A", "lo"), ("B", "hi"), ("A", "mid"), ("B", "mid")] * 2
    write(tmp_path / "in.csv", kinds, "group,kind")
    roles = ("--protected", "group", "--columns", "kind", "--scope", "column", *QUICK)
    shell("repair", "in.csv", "out.csv", *roles)
    found = read(Path("out.csv"))["kind"]
    for group in "AB":
        own = [kind for kind, (each, _) in zip(found, kinds, strict=True) if each == group]
        assert sorted(own) == ["hi", "lo", "mid", "mid"]
    assert sum(new != old for new, (_, old) in zip(found, kinds, strict=True)) == 2


@pytest.mark.parametrize("option", ["--protected", "--stratify-by"])
def test_bands_of_a_number_are_strata_and_it_stays_as_written(
    shell: Shell, tmp_path: Path, option: str
) -> None:
    ages = {"A": "039", "B": "40.0"}  # an edge is in the band above it
    write(tmp_path / "in.csv", [(ages[g], f"{s}.0") for g, s, _ in ROWS], "age,score")
    roles = (option, "age", "--band", "age=40", "--columns", "score", "--scope", "column", *QUICK)
    assert shell("repair", "in.csv", "out.csv", *roles, "--save", "r.json").code == 0
    assert scores(Path("out.csv")) == FULL
    assert read(Path("out.csv"))["age"] == [ages[group] for group in GROUPS]
    saved = json.loads(Path("r.json").read_text())
    assert saved["strata"]["groups"] == [["under 40"], ["40 and over"]]
    # A saved repair bands new rows alike.
    assert shell("repair", "in.csv", "again.csv", "--apply", "r.json").code == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def test_stratify_by_another_column(shell: Shell, source: Path) -> None:
    by = ("--stratify-by", "group", "--columns", "score", "--scope", "column", *QUICK)
    assert shell("repair", "in.csv", "out.csv", *by, "--save", "r.json").code == 0
    assert scores(Path("out.csv")) == FULL
    settings = json.loads(Path("r.json").read_text())["settings"]
    assert (settings["protected"], settings["stratify_by"]) == (None, ["group"])


def test_two_protected_columns_are_joint_strata(shell: Shell, tmp_path: Path) -> None:
    # Each of sex and race alone has the same scores in both of its groups.
    parts = {"A": (("f", "1"), ("m", "2")), "B": (("f", "2"), ("m", "1"))}
    rows = [(*part, f"{s}.0") for g, s, _ in ROWS for part in parts[g]]
    write(tmp_path / "in.csv", rows, "sex,race,score")
    by = ("--protected", "sex", "--protected", "race", "--scope", "column", *QUICK)
    assert shell("repair", "in.csv", "out.csv", *by, "--columns", "score").code == 0
    assert scores(Path("out.csv")) == [score for score in FULL for _ in range(2)]


def test_small_strata_are_pooled_if_asked(shell: Shell, tmp_path: Path) -> None:
    names = cycle(["B1", "B2", "B3"])
    rows = [(next(names) if g == "B" else g, f"{s}.0", n) for g, s, n in ROWS]
    write(tmp_path / "in.csv", rows)
    answer = shell(*FIT, "--small", "pool")
    assert scores(Path("out.csv")) == FULL
    told = "Note: small strata (B1, B2, B3) are one stratum, because each is small."
    assert told in " ".join(answer.out.split())


def test_rows_of_unknown_strata_are_kept_if_asked(shell: Shell, tmp_path: Path) -> None:
    rows = [(g, f"{s}.0", n) for g, s, n in [*ROWS, ("", "007", "x")]]
    write(tmp_path / "in.csv", rows)
    answer = shell(*FIT, "--unseen", "keep", "--save", "r.json")
    assert scores(Path("out.csv"))[:-1] == FULL
    assert read(Path("out.csv"))["score"][-1] == "007.0"
    told = "1 rows have a stratum that is missing or was not fitted; they were left as they are"
    assert told in " ".join(answer.out.split())
    write(tmp_path / "new.csv", [("A", "1.0", "x"), ("C", "05", "y")])
    assert shell("repair", "new.csv", "new-out.csv", "--apply", "r.json").code == 0
    assert read(Path("new-out.csv"))["score"] == ["5.5", "05"]


# --- chance ---


TIES = [(group, number) for group, low in (("A", 0), ("B", 2)) for number in range(low, low + 4)]


def test_the_same_seed_gives_the_same_file(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "in.csv", TIES * 10, "group,score")
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        shell("repair", "in.csv", f"{name}.csv", *BASE, "--amount", "0.5", "--random-state", seed)
    one, same, other = (Path(f"{name}.csv").read_bytes() for name in "abc")
    assert one == same
    assert one != other


def test_mid_ties_leave_nothing_to_chance(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "in.csv", TIES * 10, "group,score")
    for seed in ("1", "2"):
        shell("repair", "in.csv", f"{seed}.csv", *BASE, "--ties", "mid", "--random-state", seed)
    assert Path("1.csv").read_bytes() == Path("2.csv").read_bytes()


def test_a_saved_repair_keeps_its_seed(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "in.csv", TIES * 10, "group,score")
    shell(*FIT, "--amount", "0.5", "--random-state", "3", "--save", "r.json")
    for name in "ab":
        shell("repair", "in.csv", f"{name}.csv", "--apply", "r.json")
        assert Path(f"{name}.csv").read_bytes() == Path("out.csv").read_bytes()


# --- saved and applied ---


def test_a_saved_repair_is_applied_to_a_file_with_other_columns(
    shell: Shell, source: Path, tmp_path: Path
) -> None:
    save = ("--method", "geometric", "--amount", "0.5", "--save", "r.json")
    answer = shell(*FIT, *save)
    assert answer.err.startswith("wrote out.csv\nwrote r.json\n")
    # No note, two columns that were not there, another order; 2.5 is at the level of 2, 99 of 40.
    new = [("x", "2.5", "1", "A"), ("y", "", "2", "B"), ("z", "99", "3", "B")]
    write(tmp_path / "new.csv", new, "id,score,extra,group")
    answer = shell("repair", "new.csv", "done.csv", "--apply", "r.json", *QUICK)
    assert answer.code == 0
    found = read(Path("done.csv"))
    assert list(found) == ["id", "score", "extra", "group"]
    assert found["score"] == ["6.75", "", "60.5"]  # (2.5 + 11) / 2, (99 + 22) / 2
    assert [found[name] for name in ("id", "extra", "group")] == [
        ["x", "y", "z"],
        ["1", "2", "3"],
        ["A", "B", "B"],
    ]
    assert answer.out.startswith("new.csv: 2 of 3 rows and 2 of 3 cells changed\n")


def test_a_repair_saved_from_parquet_is_applied_to_csv_and_back(
    shell: Shell, tmp_path: Path
) -> None:
    table = pd.DataFrame({"group": [int(g == "B") for g in GROUPS], "score": SCORES})
    table.to_parquet(tmp_path / "in.parquet")
    table.to_csv(tmp_path / "in.csv", index=False)
    save = ("--save", "r.json")
    assert shell("repair", "in.parquet", "out.parquet", *BASE, *save).code == 0
    assert shell("repair", "in.csv", "out.csv", "--apply", "r.json").code == 0
    assert scores(Path("out.csv")) == FULL
    assert shell("repair", "in.parquet", "again.parquet", "--apply", "r.json").code == 0
    assert parquet.read_table("again.parquet")["score"].to_pylist() == FULL


def test_one_row_at_a_time(shell: Shell, source: Path, tmp_path: Path) -> None:
    shell(*FIT, "--save", "r.json")
    write(tmp_path / "one.csv", [("A", "3", "x")])
    answer = shell("repair", "one.csv", "done.csv", "--apply", "r.json", *QUICK)
    assert read(Path("done.csv"))["score"] == ["16.5"]
    assert answer.out.startswith("one.csv: 1 of 1 rows and 1 of 1 cells changed\n")


def test_one_row_whose_value_is_missing(shell: Shell, source: Path, tmp_path: Path) -> None:
    shell(*FIT, "--save", "r.json")
    write(tmp_path / "one.csv", [("A", "", "x")])
    assert shell("repair", "one.csv", "done.csv", "--apply", "r.json").code == 0
    assert read(Path("done.csv"))["score"] == [""]


@pytest.mark.parametrize("lacking", ["values", "known strata"])
def test_a_table_of_which_nothing_is_repaired(
    shell: Shell, source: Path, tmp_path: Path, lacking: str
) -> None:
    shell(*FIT, "--unseen", "keep", "--save", "r.json")
    table = {"group": ["A"] * 16, "score": [float("nan")] * 16}
    if lacking == "known strata":
        table = {"group": ["C"] * 16, "score": SCORES}
    pd.DataFrame(table).to_parquet(tmp_path / "new.parquet")
    answer = shell("repair", "new.parquet", "done.parquet", "--apply", "r.json", *QUICK)
    assert answer.code == 0
    assert answer.out.startswith("new.parquet: 0 of 16 rows and 0 of 16 cells changed\n")
    pd.testing.assert_frame_equal(pd.read_parquet("done.parquet"), pd.DataFrame(table))


@pytest.mark.parametrize("columns", [None, ["score"]])
def test_a_repair_saved_in_python_is_applied_at_the_shell(
    shell: Shell, source: Path, columns: list[str] | None
) -> None:
    table = pd.DataFrame({"group": GROUPS, "score": SCORES, "hired": [0, 1] * 8})
    # Without names, the columns of a table whose outcome is known are repaired.
    fitted = table if columns else table[["group", "score"]]
    repairer = fourfifths.Repairer("group", columns=columns, scope="column")
    repairer.fit(fitted, None if columns else table["hired"]).save("r.json")
    assert shell("repair", "in.csv", "out.csv", "--apply", "r.json").code == 0
    assert scores(Path("out.csv")) == FULL


# --- over which files ---


@pytest.mark.parametrize("out", ["in.csv", "./in.csv", "link.csv", "folder/../in.csv"])
def test_the_table_itself_is_replaced_only_if_told(shell: Shell, source: Path, out: str) -> None:
    before = source.read_bytes()
    Path("folder").mkdir()
    Path("link.csv").symlink_to("in.csv")
    answer = shell("repair", "in.csv", out, *BASE)
    assert answer.code == 2
    assert "is the file that is repaired; --overwrite replaces it" in answer.err
    assert source.read_bytes() == before
    assert shell("repair", "in.csv", out, *BASE, "--overwrite").code == 0
    assert scores(source) == FULL
    assert Path("link.csv").is_symlink()


def test_a_link_to_the_table_is_the_table(shell: Shell, source: Path) -> None:
    Path("link.csv").symlink_to("in.csv")
    answer = shell("repair", "link.csv", "in.csv", *BASE)
    assert answer.code == 2
    assert "--overwrite" in answer.err


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_table_that_cannot_be_written_leaves_what_was_there(
    shell: Shell, source: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    def stop(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    Path(out).write_text("as it was")
    monkeypatch.setattr(Path, "replace", stop)
    answer = shell("repair", "in.csv", out, *BASE)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"fourfifths: {out}: cannot be written: No space left on device\n"
    assert Path(out).read_text() == "as it was"
    assert sorted(each.name for each in Path().iterdir()) == ["in.csv", out]


def test_a_repair_that_cannot_be_saved_is_said_after_the_table_is_there(
    shell: Shell, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def stop(self: Path, target: Path) -> Path:
        if target.name == "r.json":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    answer = shell(*FIT, "--save", "r.json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "wrote out.csv\nfourfifths: r.json: cannot be written: No space left on device\n"
    )
    assert scores(Path("out.csv")) == FULL
    assert sorted(each.name for each in Path().iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize("unknown", [(), ("--unknown", "late")])
def test_a_word_among_numbers_is_an_error_unless_it_means_missing(
    shell: Shell, tmp_path: Path, unknown: tuple[str, ...]
) -> None:
    rows = [(group, "late" if at == 3 else score) for at, (group, score, _) in enumerate(ROWS * 3)]
    write(tmp_path / "in.csv", rows, "group,score")
    answer = shell(*FIT, *unknown)
    if not unknown:
        assert (answer.code, answer.out) == (2, "")
        assert "column 'score': 47 of 48 values are numbers, but 'late' is not" in answer.err
        assert not Path("out.csv").exists()
        return
    assert answer.code == 0
    found = read(Path("out.csv"))["score"]
    assert [at for at, cell in enumerate(found) if cell == "late"] == [3]
    shell("repair", "in.csv", "out.parquet", *BASE, *unknown)
    assert parquet.read_table("out.parquet")["score"].null_count == 1


# --- what is told ---


def test_json_has_every_figure(shell: Shell, source: Path) -> None:
    answer = shell(*FIT, "--format", "json")
    found = json.loads(answer.out)
    assert found["schema"] == "fourfifths/repair-effect/1"
    assert (found["rows"], found["rows_changed"]) == (16, 16)
    assert (found["cells"], found["cells_changed"]) == (16, 16)
    [column] = found["columns"]
    assert (column["column"], column["kind"], column["changed"]) == ("score", "number", 16)
    # By hand: the strata are 22.5 apart on average, then not at all.
    assert column["distance"] == pytest.approx(22.5)
    assert column["distance_after"] == 0
    assert (found["before"], found["after"]) == (None, None)
    assert found["not_repaired"] == ["note"]
    assert found["certified_amount"] is None


@pytest.mark.parametrize("shown", ["table", "markdown", "json"])
def test_nothing_of_the_effect_is_shown_if_asked(shell: Shell, source: Path, shown: str) -> None:
    answer = shell("repair", "in.csv", "out.csv", *ROLES, "--effect", "none", "--format", shown)
    assert answer.code == 0
    assert scores(Path("out.csv")) == FULL
    if shown == "json":
        content = json.loads(answer.out)
        assert content.pop("provenance")["file"] == "in.csv"
        assert content == {
            "effect": None,
            "certified_amount": None,
            "proof": None,
        }
    else:
        assert answer.out == ""


def test_what_was_assumed_is_said_without_the_effect_too(shell: Shell, tmp_path: Path) -> None:
    table = applicants(tmp_path / "in.csv")
    table["score"][3] = "n/a"
    write(tmp_path / "in.csv", zip(*table.values(), strict=True), ",".join(table))
    note = "note: column 'score': 'n/a' is taken for missing (1 row)\n"
    options = ("--protected", "race", "--columns", "score", "--scope", "column")
    fitted = shell("repair", "in.csv", "out.csv", *options, "--effect", "none", "--save", "r.json")
    applied = shell("repair", "in.csv", "again.csv", "--apply", "r.json")
    assert (fitted.code, applied.code) == (0, 0)
    assert note in fitted.err
    assert note in applied.err


def test_an_effect_that_does_not_exist(shell: Shell, source: Path) -> None:
    answer = shell("repair", "in.csv", "out.csv", *ROLES, "--effect", "much")
    assert (answer.code, answer.out) == (2, "")
    assert "--effect much: expected one of 'full', 'quick', 'none'" in answer.err
    assert not Path("out.csv").exists()


@pytest.mark.slow
def test_by_default_a_fit_is_audited_and_a_saved_repair_is_not(
    shell: Shell, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = shell("repair", "in.csv", "out.csv", *ROLES, "--save", "r.json").out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    figures = r"(\d\.\d{3}) \(\d\.\d{3} to \d\.\d{3}\)"
    rates = re.search(rf"BER of the strongest auditor +{figures}.* {figures}", out)
    assert rates is not None
    # By hand: a cut between 4 and 10 separates the strata, so out of fold hardly a row is missed.
    assert float(rates[1]) <= 0.25
    assert any(name in out for name in ("logistic", "svm", "naive-bayes", "trees"))
    assert "verdict" not in out
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in out.lower()
    answer = shell("repair", "in.csv", "again.csv", "--apply", "r.json", "--format", "json", *QUICK)
    assert json.loads(answer.out)["before"] is None
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def test_the_table_is_written_before_the_auditors_run(
    shell: Shell, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reader of the report goes away, or the report cannot be printed: the table is there.
    def stop(text: str) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", stop)
    answer = shell(*FIT)
    assert answer.code == 2
    assert answer.err.endswith(
        "fourfifths: standard output cannot be written: No space left on device\n"
    )
    assert scores(Path("out.csv")) == FULL


@pytest.mark.slow
def test_markdown_has_the_tables(shell: Shell, source: Path) -> None:
    full = ("repair", "in.csv", "out.csv", *ROLES, "--format", "markdown", "--beta", "0.5")
    out = shell(*full).out
    assert out.startswith("# in.csv: 16 of 16 rows and 16 of 16 cells changed\n")
    rate = r"\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)"
    assert re.search(rf"^\| BER of the strongest auditor \| {rate}", out, re.M)
    assert re.search(rf"^\| impact floor of that auditor \| {rate}", out, re.M)
    assert re.search(r"^\| verdict \| (not certified|inconclusive) \| inconclusive \|", out, re.M)
    assert "| score | number | 16 |" in out
    assert "Ricci v. DeStefano" in out
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in out.lower()


@pytest.mark.slow
def test_all_auditors_before_and_after(shell: Shell, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [(*row, ["no", "yes"][int(random.random() < 0.4)]) for row in SHIFTED]
    write(tmp_path / "in.csv", rows, "group,score,hired")
    roles = (*ROLES, "--outcome", "hired", "--reference", "group=A")
    fit = ("repair", "in.csv", "out.csv", *roles)
    out = shell(*fit, "--method", "geometric", "--amount", "0.5").out
    assert "Warning: the repair made the strata easier to tell apart" in out
    assert "(trees)" in " ".join(out.split())
    assert "utility of that model" in out
    out = shell(*fit, "--format", "json").out
    found = json.loads(out)
    assert found["raised"] is False
    assert found["after"]["balanced_error_rate"] == pytest.approx(0.5, abs=0.1)


# Raw, the groups share two of three values. A quarter of the way to the consensus has .25, 1.25,
# 2.25 in one group only and .75, 1.75, 2.75 in the other.
SHIFTED = [(group, low + step) for group, low in (("A", 0), ("B", 1)) for step in range(3)] * 40


# --- by blocks, with a proof ---


APPLICANTS = ("--protected", "race", "--outcome", "hired")


@pytest.fixture
def applied(tmp_path: Path) -> dict[str, list[str]]:
    """Make in.csv of 400 applicants."""
    return applicants(tmp_path / "in.csv")


def proof_in_python(**options: Any) -> fourfifths.Proof:
    """Return the proof of the same repair in Python; its numbers are those of a CSV as text."""
    table = pd.read_csv("in.csv", dtype=str, keep_default_na=False)
    columns = ["score", "school"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "blocks='certified'", category=UserWarning)
        repairer = fourfifths.Repairer("race", columns=columns, keep="hired", **options).fit(table)
    assert repairer.proof_ is not None
    return repairer.proof_


@pytest.mark.slow
def test_the_page_ends_with_the_proof(
    shell: Shell, applied: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = shell("repair", "in.csv", "out.csv", *APPLICANTS, "--blocks", "2")
    assert answer.code == 0
    assert answer.err == "wrote out.csv\n"  # no warning
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in answer.out
    assert lines[0].startswith("in.csv: ")
    proof = proof_in_python(blocks=2, favorable="yes")
    effect, heading, page = answer.out.partition(f"\n{proof.verdict}, ")
    assert heading
    assert "what an auditor finds in the repaired columns" in effect
    words = " ".join(page.split())
    assert f"no impact ratio below {proof.impact_floor:.3f} on new rows" in words
    assert "2 blocks: limits for every rule, 95% confidence over all pairs" in words
    [pair] = proof.pairs
    assert f"Black White {pair.impact_floor:.3f} {pair.reverse_floor:.3f}" in words
    assert "assumed: a rule uses only the repaired columns: score, school." in words
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in answer.out.lower()


def test_json_has_the_proof(shell: Shell, applied: Any) -> None:
    settings = ("--blocks", "2", "--threshold", "0.5", "--confidence", "0.9", "--beta", "0.3")
    roles = (*APPLICANTS, *settings, *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles, "--format", "json")
    found = json.loads(answer.out)["proof"]
    assert found["schema"] == "fourfifths/proof/1"
    chosen = [found[name] for name in ("blocks", "threshold", "confidence", "beta")]
    assert chosen == [2, 0.5, 0.9, 0.3]
    expected = proof_in_python(blocks=2, threshold=0.5, confidence=0.9, beta=0.3)
    assert found == expected.to_dict()
    assert found["columns"] == ["score", "school"]


def test_the_proof_names_the_columns_of_the_file_that_stay(shell: Shell, applied: Any) -> None:
    table = pd.read_csv("in.csv")[["race", "score", "school", "hired"]]
    table.assign(area=range(400)).to_csv("in.csv", index=False)
    options = ("--columns", "score", "--columns", "school", "--blocks", "2", "--effect", "none")
    answers = [
        shell("repair", "in.csv", "out.csv", *APPLICANTS, *options, *more, "--format", "json")
        for more in (("--save", "repair.json"), ("--memory", "1KB"))
    ]
    saved = ("--apply", "repair.json", "--format", "json")
    answers.append(shell("repair", "in.csv", "again.csv", *saved))
    for answer in answers:
        assumptions = json.loads(answer.out)["proof"]["assumptions"]
        assert [text for text in assumptions if "area" in text] == [
            "'area' is not repaired and stays as it was; nothing is proven of rules that use it"
        ]
        assert not any("hired" in text for text in assumptions)


def test_the_outcome_of_an_audit_is_not_named_among_the_columns_that_stay(
    shell: Shell, applied: Any
) -> None:
    # The repair was fitted without the outcome, which is named for the effect alone.
    columns = ("--columns", "score", "--columns", "school", "--beta", "0.3", "--blocks", "2")
    fitted = ("--protected", "race", *columns, "--effect", "none", "--save", "repair.json")
    assert shell("repair", "in.csv", "out.csv", *fitted).code == 0
    effect = ("--apply", "repair.json", "--effect", "quick", "--format", "json")
    for roles, is_named in (((), True), (("--outcome", "hired"), False)):
        answer = shell("repair", "in.csv", "again.csv", *effect, *roles)
        assumptions = json.loads(answer.out)["proof"]["assumptions"]
        assert any("'hired'" in text for text in assumptions) == is_named


@pytest.mark.parametrize("shown", ["table", "markdown"])
def test_the_proof_is_shown_without_the_effect(shell: Shell, applied: Any, shown: str) -> None:
    roles = (*APPLICANTS, "--blocks", "2", "--effect", "none", "--format", shown)
    answer = shell("repair", "in.csv", "out.csv", *roles)
    proof = proof_in_python(blocks=2, favorable="yes")
    assert answer.out.removeprefix("# ").startswith(f"{proof.verdict}, ")


def test_as_many_records_as_blocks_times_variety(shell: Shell, applied: Any) -> None:
    def record_count(*options: str) -> int:
        assert shell("repair", "in.csv", "out.csv", *APPLICANTS, *QUICK, *options).code == 0
        found = read(Path("out.csv"))
        return len(set(zip(found["score"], found["school"], strict=True)))

    assert record_count("--blocks", "3") == 3
    assert 3 < record_count("--blocks", "3", "--variety", "4") <= 12


def test_with_a_key_a_row_is_repaired_alike_in_any_file(shell: Shell, tmp_path: Path) -> None:
    # Equal rows with different keys are told apart by the key, not by their place in the file.
    keys = np.random.default_rng(1).permutation(80)
    rows = [(f"k{key}", "AB"[key % 2], key // 40, "yn"[key % 3 // 2]) for key in keys]
    write(tmp_path / "in.csv", rows, "who,group,score,hired")
    roles = ("--protected", "group", "--columns", "score", "--outcome", "hired", "--key", "who")
    options = ("--variety", "3", "--blocks", "4", "--save", "r.json", *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles, *options)
    assert answer.code == 0
    found = read(Path("out.csv"))
    assert found["who"] == [f"k{key}" for key in keys]
    written = dict(zip(found["who"], found["score"], strict=True))
    write(tmp_path / "new.csv", reversed(rows[10:40]), "who,group,score,hired")
    assert shell("repair", "new.csv", "new-out.csv", "--apply", "r.json").code == 0
    new = read(Path("new-out.csv"))
    assert new["score"] == [written[who] for who in new["who"]]
    assert "the key of a row is given without regard to its group" in " ".join(answer.out.split())


@pytest.mark.parametrize("scope", ["blocks", "column"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_the_protected_column_is_left_out_if_asked(
    shell: Shell, applied: dict[str, list[str]], scope: str, out: str
) -> None:
    fit = ("repair", "in.csv", out, *APPLICANTS, *QUICK, "--scope", scope, "--save", "r.json")
    assert shell(*fit, "--drop-protected").code == 0
    expected = [name for name in applied if name != "race"]
    assert list(pd.read_csv(out) if out.endswith("csv") else pd.read_parquet(out)) == expected
    # The saved repair leaves it out as well.
    assert shell("repair", "in.csv", "again.csv", "--apply", "r.json").code == 0
    assert list(read(Path("again.csv"))) == expected
    assert list(read(Path("in.csv"))) == list(applied)


@pytest.mark.slow
def test_a_saved_repair_shows_its_proof_again(shell: Shell, applied: Any) -> None:
    fit = ("repair", "in.csv", "out.csv", *APPLICANTS, "--blocks", "2", *QUICK)
    first = json.loads(shell(*fit, "--save", "r.json", "--format", "json").out)
    people = pd.read_csv("in.csv", dtype=str, keep_default_na=False)
    people.drop(columns="hired").head(2).to_csv("new.csv", index=False)
    again = shell("repair", "new.csv", "done.csv", "--apply", "r.json", "--format", "json")
    assert json.loads(again.out)["proof"] == first["proof"]
    assert json.loads(again.out)["effect"] is None
    page = shell("repair", "new.csv", "done.csv", "--apply", "r.json").out
    assert "rows and" not in page  # nothing is counted unless it is asked for
    assert f"no impact ratio below {first['proof']['impact_floor']:.3f}" in " ".join(page.split())


def test_a_repair_in_part_proves_nothing_and_says_so(shell: Shell, applied: Any) -> None:
    roles = (*APPLICANTS, "--blocks", "2", "--amount", "0.5", *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles)
    assert answer.code == 0
    words = " ".join(answer.out.split())
    assert "inconclusive: nothing is proven of this repair" in words
    assert "Only a share 0.5 of the rows is repaired, so nothing is proven" in words
    assert "proven for every rule" not in words


def test_by_column_there_is_no_proof(shell: Shell, applied: Any) -> None:
    roles = (*APPLICANTS, "--scope", "column", *QUICK)
    answer = shell("repair", "in.csv", "out.csv", *roles, "--format", "json")
    assert json.loads(answer.out)["proof"] is None
    assert "proven" not in shell("repair", "in.csv", "out.csv", *roles).out


def test_rows_that_prove_nothing_are_repaired_without_a_warning(shell: Shell, applied: Any) -> None:
    answer = shell("repair", "in.csv", "out.csv", *APPLICANTS, *QUICK)
    assert (answer.code, answer.err) == (0, "wrote out.csv\n")
    assert "\ninconclusive, an impact ratio of 0.8 is not proven" in answer.out


# --- the least certified amount ---


APART = [("A", "0.0"), ("B", "10.0")] * 10


@pytest.mark.slow
def test_20_rows_certify_nothing_and_nothing_is_written(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "in.csv", APART, "group,score")
    answer = shell(*FIT, "--amount", "certified", "--beta", "0.5", "--save", "r.json")
    assert (answer.code, answer.out) == (2, "")
    assert re.match(
        r"fourfifths: --amount certified: no amount is certified, not even "
        r"full repair, on held-out rows; amount 1\.000: inconclusive, BER ",
        answer.err,
    )
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.slow
def test_an_amount_certified_by_all_auditors(shell: Shell, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    group = np.repeat(["A", "B"], 1_500)
    table = {"group": group, "x": random.normal(size=3_000) + (group == "A")}
    table["y"] = random.normal(size=3_000)
    pd.DataFrame(table).to_csv(tmp_path / "in.csv", index=False)
    columns = ("--columns", "x", "--columns", "y", "--scope", "column")
    amount = ("--beta", "0.7", "--amount", "certified", "--save", "r.json")
    answer = shell("repair", "in.csv", "out.csv", "--protected", "group", *columns, *amount)
    assert answer.code == 0
    assert answer.out.startswith("the least certified amount is 0.")
    found = json.loads(Path("r.json").read_text())["settings"]["amount"]
    assert 0 < found < 1
    assert "Warning" not in answer.out


@pytest.mark.parametrize("shown", ["table", "json", "markdown"])
def test_the_amount_found_is_told_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shown: str
) -> None:
    def found(*_: Any, **__: Any) -> CertifiedAmount:
        step = Step(
            amount=0.3125,
            verdict="certified",
            balanced_error_rate=0.45,
            impact_floor=0.9,
            impact_floor_interval=(0.85, 1.0),
        )
        return CertifiedAmount(
            amount=0.3125, curve=(step,), tolerance=0.05, confidence=0.95, certificate=certificate()
        )

    path = write(tmp_path / "in.csv", APART, "group,score")
    options: dict[str, Any] = {"amount": "certified", "least_certified_amount": found}
    columns: dict[str, Any] = {"protected": ["group"], "columns": ["score"]}
    repaired = repair_file(str(path), **columns, **options, options={"scope": "column"})
    show_repair(
        repaired,
        None,
        detail=EffectChoice.QUICK,
        form=PageFormat(shown),
        provenance=provenance_of(str(path)),
    )
    out = capsys.readouterr().out
    if shown == "json":
        amount = json.loads(out)["certified_amount"]
        assert (amount["amount"], amount["curve"][0]["verdict"]) == (0.3125, "certified")
    else:
        head, mark = ("# ", "- ") if shown == "markdown" else ("", "")
        assert out.startswith(
            f"{head}the least certified amount is 0.3125, on held-out rows\n\n"
            f"{mark}amount 0.312: certified, BER 0.450, floor 0.900 (0.850 to 1.000)\n\n"
        )


# --- shipped data sets ---


def test_a_data_set_brings_its_roles(shell: Shell) -> None:
    assert shell("repair", "ricci", "out.parquet", "--save", "r.json", *QUICK).code == 0
    found = parquet.read_table("out.parquet")
    before = fourfifths.datasets.load("ricci").table.to_arrow_table()
    assert found.column_names == before.column_names
    for name in ("race", "passed"):
        assert found[name].to_pylist() == before[name].to_pylist()
    saved = json.loads(Path("r.json").read_text())
    assert saved["settings"]["protected"] == ["race"]
    assert [each["name"] for each in saved["columns"]] == [
        "position",
        "oral",
        "written",
        "combined",
    ]


def test_a_data_set_brings_its_bands_and_orders(shell: Shell) -> None:
    data = fourfifths.datasets.load("german")
    answer = shell("repair", "german", "out.parquet", "--save", "r.json", *QUICK)
    assert answer.code == 0
    saved = json.loads(Path("r.json").read_text())
    assert saved["settings"]["bands"] == {"age": [26]}
    kinds = {
        each["name"]: (each["kind"], each["categories"])
        for each in json.loads(Path("r.json").read_text())["columns"]
    }
    for name, order in data.orders.items():
        assert kinds[name] == ("ordered", list(order))
    assert not {*data.protected, *data.other_protected, data.outcome} & set(kinds)
    found = parquet.read_table("out.parquet")
    before: pa.Table = data.table.to_arrow_table()
    for name in (*data.protected, *data.other_protected, data.outcome):
        assert found[name].to_pylist() == before[name].to_pylist()
