"""The results file: what is kept, what is dropped, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fourfifths._tradeoff.store import Record, ResultsFile, cell_key
from fourfifths.errors import OutputError


def record(amount: float) -> Record:
    return Record(
        repeat=1,
        scope="column",
        method="random",
        amount=amount,
        model="LR",
        rows=4,
        changed=2,
        auditor={"trees": [1, 2, 0, 2]},
        counts=[[1, 0, 0, 1], [1, 0, 0, 1]],
        auc=[0.5, float("nan")],
        proven_floor=float("nan"),
    )


def test_what_was_added_is_loaded_again(tmp_path: Path) -> None:
    store = ResultsFile(path=tmp_path / "cells.jsonl", fingerprint="abc")
    assert store.load() == []
    store.add([record(0.5)])
    store.add([record(1.0)])
    # NaN is not equal to itself, so as text.
    assert repr(store.load()) == repr([record(0.5), record(1.0)])


def test_a_line_that_was_cut_off_is_dropped_and_the_next_starts_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    store = ResultsFile(path=path, fingerprint="abc")
    store.load()
    store.add([record(0.5), record(1.0)])
    path.write_text(path.read_text()[:-30])
    assert [cell["amount"] for cell in store.load()] == [0.5]
    store.add([record(1.0)])
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3


@pytest.mark.parametrize("content", ["", "notes\n", "[1]\n", '{"fourfifths tradeoff": "xyz"}\n'])
def test_a_file_of_another_run_or_kind_is_refused_and_left_alone(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_text(content)
    with pytest.raises(OutputError, match=r"cells.jsonl': this file holds another run .*; name an"):
        ResultsFile(path=path, fingerprint="abc").load()
    assert path.read_text() == content


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no" / "cells.jsonl"
    with pytest.raises(OutputError, match=r"results='.*no.cells.jsonl': No such file"):
        ResultsFile(path=path, fingerprint="abc").load()


def test_without_a_path_nothing_is_kept() -> None:
    store = ResultsFile(path=None, fingerprint="abc")
    store.add([record(1.0)])
    assert store.load() == []


def test_a_cell_is_known_by_split_repair_and_model() -> None:
    assert cell_key(record(0.5)) == (1, "column", "random", 0.5, "LR")
