"""Fitted blocks as an object of a file: written and read back, part by part."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from fourfifths._repair.guide import ColumnGuide, Outcome, TreeGuide, fit_trees
from fourfifths._repair.reader import Reader
from fourfifths._repair.saved_blocks import (
    blocks_document,
    read_blocks,
    read_cuts,
    read_guide,
    read_law,
    read_records,
    read_tree,
    with_nulls,
)
from fourfifths._tables.types import ColumnType
from fourfifths.errors import RepairError

NUMBER = ColumnType(name="x", kind="number")
WHOLE = ColumnType(name="n", kind="integer")
DATE = ColumnType(name="d", kind="date")
LETTER = ColumnType(name="c", kind="category", categories=("u", "v", "w"))
GRADE = ColumnType(name="o", kind="ordered", categories=("low", "high"))
# Three blocks: the first score cuts off one of them, the second divides the other two. The second
# stratum is cut once only, and a draw divides its rows over the blocks 1 and 2.
TREE = {
    "score": [0, -1, 1, -1, -1],
    "first": [0, 0, 1, 1, 2],
    "leaves": [3, 1, 2, 1, 1],
    "left": [1, -1, 3, -1, -1],
    "right": [2, -1, 4, -1, -1],
    "depth": [0, 1, 1, 2, 2],
}
CUTS = {
    "score": [[0.5, None, 2.0, None, None], [1.5, None, None, None, None]],
    "content": [[0.1, None, 0.2, None, None], [0.3, None, None, None, None]],
    "draw": [[0.6, None, 0.7, None, None], [0.8, None, None, None, None]],
    "depth": [2, 1],
}
# Of 8 rows 9 spacings, 3 for each block; of 10 rows 11, up to the blocks' ends 3, 7 and 11.
LAWS = [
    {"spacings": [3, 3, 3], "leaves": [1, 1, 1], "tied": 0},
    {"spacings": [3, 8], "leaves": [1, 2], "tied": 2},
]
BLOCKS: dict[str, Any] = {
    "beta": 0.25,
    "tree": TREE,
    "cuts": CUTS,
    "laws": LAWS,
    "records": [[[0.5, 0.0]], [[None, 2.0]], [[3.0, None]]],
    "counts": [[4, 4, 4], [5, 5, 6]],
    "guide": {"kind": "columns", "orders": [[], [2.0, 0.0, 1.0]]},
}
OPTIONS: dict[str, Any] = {
    "column_types": [NUMBER, LETTER],
    "stratum_rows": [12, 16],
    "is_keyed": False,
}


def reader(value: Any) -> Reader:
    return Reader(file="repair.json", value=value)


def test_blocks_are_written_as_they_were_read() -> None:
    model = read_blocks(reader(BLOCKS), **OPTIONS)
    assert (model.beta, model.blocks.tree.block_count, model.blocks.variety) == (0.25, 3, 1)
    assert model.table.counts.tolist() == BLOCKS["counts"]
    assert model.guide == ColumnGuide(orders=((), (2.0, 0.0, 1.0)))
    assert blocks_document(model) == BLOCKS


def test_the_laws_of_rows_with_keys_have_no_ties() -> None:
    keyed = copy.deepcopy(BLOCKS)
    for law in keyed["laws"]:
        law["tied"] = None
    model = read_blocks(reader(keyed), **{**OPTIONS, "is_keyed": True})
    assert [law.tied for law in model.blocks.laws] == [None, None]
    assert blocks_document(model) == keyed
    for document, is_keyed in ((keyed, False), (BLOCKS, True)):
        with pytest.raises(RepairError, match=r"laws\[0\]\.tied: expected null if rows have a key"):
            read_blocks(reader(document), **{**OPTIONS, "is_keyed": is_keyed})


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"beta": 1}, "beta: expected a number between 0 and 1"),
        ({"counts": [[4, 4, 4]]}, "counts: expected the rows of each stratum with each record"),
        ({"counts": [[4, 4, 4], [5, 5, 5]]}, "counts: expected the rows of each stratum with"),
        ({"counts": [[13, 0, -1], [5, 5, 6]]}, "counts: expected the rows of each stratum with"),
        ({"laws": LAWS[:1]}, "laws: expected one for each stratum"),
        ({"laws": [*LAWS, LAWS[0]]}, "laws: expected one for each stratum"),
        ({"guide": {"kind": "columns", "orders": [[]]}}, "guide.orders: expected a place of each"),
        ({"records": BLOCKS["records"][:2]}, "records: expected as many as there are nodes"),
    ],
)
def test_the_parts_must_fit_together(edit: dict[str, Any], message: str) -> None:
    with pytest.raises(RepairError, match=message):
        read_blocks(reader({**BLOCKS, **edit}), **OPTIONS)


def test_nan_is_null_in_the_file() -> None:
    assert with_nulls(np.array([[1.0, np.nan], [np.nan, 0.5]])) == [[1.0, None], [None, 0.5]]


# --- the tree, its cuts and their law ---


def test_a_tree_has_the_blocks_of_its_sides() -> None:
    tree = read_tree(reader(TREE), score_count=2)
    assert (tree.block_count, tree.height) == (3, 2)
    assert tree.cells(1).tolist() == [1, 2]
    assert tree.cells(2).tolist() == [1, 3, 4]


def test_a_tree_may_be_divided_into_three() -> None:
    # The node between the two cuts of a division has the depth of the one above it.
    tree = read_tree(reader({**TREE, "depth": [0, 1, 0, 1, 1]}), score_count=2)
    assert tree.height == 1
    assert tree.cells(0).tolist() == [0]
    assert tree.cells(1).tolist() == [1, 3, 4]


@pytest.mark.parametrize("depth", [[0, 0, 0, 1, 1], [0, 1, 0, 0, 1], [0, 1, 2, 3, 3]])
def test_a_block_is_a_division_of_its_own(depth: list[int]) -> None:
    with pytest.raises(RepairError, match="depth: expected one more than that of the node above"):
        read_tree(reader({**TREE, "depth": depth}), score_count=2)


def test_a_tree_may_be_a_single_block() -> None:
    single = {key: [value] for key, value in zip(TREE, (-1, 0, 1, -1, -1, 0), strict=True)}
    assert read_tree(reader(single), score_count=1).block_count == 1


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"score": []}, "score: expected numbers in 1 dimensions"),
        ({"first": [0, 0, 1, 1]}, "first: expected a number for each node"),
        ({"score": [2, -1, 1, -1, -1]}, "score: expected the numbers of the scores, and -1 at"),
        ({"left": [2, -1, 3, -1, -1]}, "left: expected nodes that come later, the right one last"),
        ({"left": [0, -1, 3, -1, -1]}, "left: expected nodes that come later, the right one last"),
        ({"right": [2, -1, 9, -1, -1]}, "left: expected nodes that come later, the right one"),
        ({"right": [4, -1, 4, -1, -1]}, "right: expected each node once, and -1 at leaves"),
        ({"right": [2, 1, 4, -1, -1]}, "right: expected each node once, and -1 at leaves"),
        ({"depth": [0, 1, 1, 2, 3]}, "depth: expected one more than that of the node above"),
        ({"depth": [1, 2, 2, 3, 3]}, "depth: expected one more than that of the node above"),
        ({"leaves": [4, 1, 3, 1, 2]}, "leaves: expected the blocks of both sides together"),
        ({"leaves": [4, 1, 2, 1, 1]}, "leaves: expected the blocks of both sides together"),
        ({"first": [0, 0, 2, 2, 3]}, "first: expected the first block below each node"),
        ({"first": [1, 1, 2, 2, 3]}, "first: expected the first block below each node"),
    ],
)
def test_a_tree_that_is_none_is_named(edit: dict[str, Any], message: str) -> None:
    with pytest.raises(RepairError, match=message):
        read_tree(reader({**TREE, **edit}), score_count=2)


def test_cuts_are_where_a_stratum_is_cut() -> None:
    tree = read_tree(reader(TREE), score_count=2)
    cuts = read_cuts(reader(CUTS), tree, stratum_count=2)
    assert (cuts.score[0, 2], cuts.content[0, 2], cuts.draw[0, 2]) == (2.0, 0.2, 0.7)
    assert np.isnan(cuts.score[1]).tolist() == [False, True, True, True, True]
    for edit, message in (
        ({"depth": [2]}, "depth: expected how often each stratum is cut"),
        ({"depth": [3, 1]}, "depth: expected how often each stratum is cut"),
        ({"depth": [2, 2]}, "score: expected a number at each cut, and null at other nodes"),
        ({"content": CUTS["content"][:1]}, "content: expected as many as there are nodes"),
        ({"draw": [[0.5] * 5, [0.5] * 5]}, "draw: expected a number at each cut, and null"),
    ):
        with pytest.raises(RepairError, match=message):
            read_cuts(reader({**CUTS, **edit}), tree, stratum_count=2)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"spacings": [3, 9]}, "spacings: expected the same share of the rows for each block"),
        ({"spacings": [3, 4, 4]}, "spacings: expected the same share of the rows for each block"),
        ({"spacings": [6, 12]}, "spacings: expected one more than the placing rows, which are"),
        ({"spacings": [1, 0]}, "spacings: expected one more than the placing rows, which are"),
        ({"spacings": []}, "spacings: expected"),
        ({"leaves": [2, 1]}, "leaves: expected the blocks of each cell"),
        ({"tied": -1}, "tied: expected a whole number, 0 or more"),
        ({"tied": 11}, "tied: expected not more than the placing rows"),
    ],
)
def test_a_law_is_that_of_its_rows(edit: dict[str, Any], message: str) -> None:
    tree = read_tree(reader(TREE), score_count=2)
    options: dict[str, Any] = {"depth": 1, "row_count": 16, "is_keyed": False}
    law = read_law(reader(LAWS[1]), tree, **options)
    assert (law.spacings.tolist(), law.leaves.tolist(), law.tied) == ([3, 8], [1, 2], 2)
    with pytest.raises(RepairError, match=message):
        read_law(reader({**LAWS[1], **edit}), tree, **options)


# --- records ---


@pytest.mark.parametrize(
    ("column_type", "values", "wrong"),
    [
        (NUMBER, [0.5, -1e300, None], ["1", True]),
        (WHOLE, [-3, 2**53, None], [0.5, 2**53 + 2, 1e300]),
        (LETTER, [0, 2, None], [3, -1, 0.5]),
        (GRADE, [0, 1, None], [2, -1, 0.5]),
        # From the first to the last day that Python knows.
        (DATE, [-62_135_596_800 * 10**6, 253_402_214_400 * 10**6, None], [1e18, -1e17, 0.5]),
    ],
    ids=["number", "whole", "letter", "grade", "date"],
)
def test_a_record_holds_what_its_column_can(
    column_type: ColumnType, values: list[Any], wrong: list[Any]
) -> None:
    document = {"records": [[[value]] for value in values]}
    records = read_records(reader(document), [column_type], block_count=3)
    assert with_nulls(records) == document["records"]
    for value in wrong:
        document["records"][1] = [[value]]
        with pytest.raises(RepairError, match="records: expected"):
            read_records(reader(document), [column_type], block_count=3)


# --- what orders the rows ---


def test_trees_are_read_with_the_number_of_their_scores() -> None:
    random = np.random.default_rng(0)
    columns = [random.normal(size=200), random.integers(0, 3, 200).astype(float)]
    outcomes = [
        Outcome(name="y", kind="binary", values=(columns[0] > 0).astype(float), classes=(0, 1)),
        Outcome(name="z", kind="classes", values=columns[1], classes=("s", "t", "u")),
    ]
    models = fit_trees(columns, [NUMBER, LETTER], outcomes=outcomes, seed=0).models
    lines = [text.split("\n") for text in models]
    guide, score_count = read_guide(reader({"kind": "trees", "models": lines}), [NUMBER, LETTER])
    assert guide == TreeGuide(models=models)
    assert score_count == 4  # one, and one of each class
    with pytest.raises(RepairError, match=r"models\[1\]: expected what LightGBM wrote"):
        read_guide(reader({"kind": "trees", "models": [lines[0], []]}), [NUMBER, LETTER])
    with pytest.raises(RepairError, match=r"models\[0\]: expected trees of the columns"):
        read_guide(reader({"kind": "trees", "models": lines}), [NUMBER])
    with pytest.raises(RepairError, match="models: expected at least one model"):
        read_guide(reader({"kind": "trees", "models": []}), [NUMBER])


def test_an_order_has_a_place_for_each_category() -> None:
    document = {"kind": "columns", "orders": [[], [2, 0, 1], []]}
    guide, score_count = read_guide(reader(document), [NUMBER, LETTER, GRADE])
    assert guide == ColumnGuide(orders=((), (2, 0, 1), ()))
    assert score_count == 3
    for orders in ([[], [2, 0, 1]], [[], [2, 0], []], [[], [2, 0, 0], []], [[0], [2, 0, 1], []]):
        with pytest.raises(RepairError, match="orders: expected a place of each category"):
            read_guide(reader({**document, "orders": orders}), [NUMBER, LETTER, GRADE])
    with pytest.raises(RepairError, match="kind: expected one of 'trees', 'columns'"):
        read_guide(reader({"kind": "forest"}), [NUMBER])
