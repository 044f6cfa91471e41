"""Fitted blocks in a saved repair: written by `blocks_document`, read by `read_blocks`.

As everywhere in a saved repair, nothing that is read is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._repair.block_model import BlockModel, TableCounts
from fourfifths._repair.blocks import LEAF, Blocks, Cuts, CutTree, block_law
from fourfifths._repair.guide import ColumnGuide, Guide, TreeGuide
from fourfifths._repair.reader import Reader
from fourfifths._repair.trees.text import check_trees
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.types import ColumnType
from fourfifths._tables.values import MAX_EXACT_INTEGER

SAME_SHAPE = "as many as there are nodes, strata, blocks and columns"
# Dates are microseconds since 1970. Python's end with the year 9999.
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000_000, 253_402_300_799_999_999


def blocks_document(model: BlockModel) -> dict[str, Any]:
    """Return fitted blocks as an object of the file; NaN is null there."""
    blocks = model.blocks
    guide: dict[str, Any]
    if isinstance(model.guide, TreeGuide):
        # Line by line, so that a reader can follow the trees and compare two files.
        guide = {"kind": "trees", "models": [text.split("\n") for text in model.guide.models]}
    else:
        assert isinstance(model.guide, ColumnGuide)
        guide = {"kind": "columns", "orders": [list(order) for order in model.guide.orders]}
    return {
        "beta": model.beta,
        "tree": {
            field.name: getattr(blocks.tree, field.name).tolist() for field in fields(CutTree)
        },
        "cuts": {
            "score": with_nulls(blocks.cuts.score),
            "content": with_nulls(blocks.cuts.content),
            "draw": with_nulls(blocks.cuts.draw),
            "depth": blocks.cuts.depth.tolist(),
        },
        "laws": [
            {"spacings": law.spacings.tolist(), "leaves": law.leaves.tolist(), "tied": law.tied}
            for law in blocks.laws
        ],
        "records": with_nulls(blocks.records),
        "counts": model.table.counts.tolist(),
        "guide": guide,
    }


def with_nulls(array: FloatArray) -> Any:
    """Return an array as lists, with None for NaN."""
    cells: Any = array.astype(object)
    cells[np.isnan(array)] = None
    return cells.tolist()


def read_blocks(
    reader: Reader,
    *,
    column_types: Sequence[ColumnType],
    stratum_rows: Sequence[int],
    is_keyed: bool,
) -> BlockModel:
    """Read fitted blocks, and check that their parts fit together.

    Parameters
    ----------
    reader : Reader
    column_types : sequence of ColumnType
        The columns that are repaired.
    stratum_rows : sequence of int
        The rows of each stratum in the table that was fitted.
    is_keyed : bool
        Whether draws come from keys. Otherwise the laws say how many rows tie with a cut.
    """
    guide, score_count = read_guide(reader.inside("guide"), column_types)
    tree = read_tree(reader.inside("tree"), score_count=score_count)
    cuts = read_cuts(reader.inside("cuts"), tree, stratum_count=len(stratum_rows))
    counts = reader.array("counts", 2, dtype=np.int64)
    reader.require(
        counts.shape[0] == len(stratum_rows)
        and bool(np.all(counts >= 0))
        and [sum(row) for row in counts.tolist()] == [*stratum_rows],
        "counts",
        expected="the rows of each stratum with each record",
    )
    law_readers = reader.objects("laws")
    reader.require(len(law_readers) == len(stratum_rows), "laws", expected="one for each stratum")
    laws = tuple(
        read_law(law, tree, depth=int(depth), row_count=row_count, is_keyed=is_keyed)
        for law, depth, row_count in zip(law_readers, cuts.depth, stratum_rows, strict=True)
    )
    beta = reader.value_of("beta")
    reader.require(
        isinstance(beta, float) and 0 < beta < 1, "beta", expected="a number between 0 and 1"
    )
    records = read_records(reader, column_types, block_count=tree.block_count)
    reader.require(
        counts.shape[1] == tree.block_count * records.shape[1],
        "counts",
        expected="the rows of each stratum with each record",
    )
    return BlockModel(
        guide=guide,
        blocks=Blocks(tree=tree, cuts=cuts, laws=laws, records=records),
        table=TableCounts(counts),
        beta=beta,
    )


def read_tree(reader: Reader, *, score_count: int) -> CutTree:
    """Read which score each node cuts: one tree, each node with the blocks of its two sides."""
    tree = CutTree(
        **{field.name: reader.array(field.name, 1, dtype=np.int64) for field in fields(CutTree)}
    )
    size = tree.score.size
    for field in fields(CutTree):
        reader.require(
            size > 0 and getattr(tree, field.name).size == size,
            field.name,
            expected="a number for each node",
        )
    reader.require(
        bool(np.all((tree.score >= LEAF) & (tree.score < score_count))),
        "score",
        expected="the numbers of the scores, and -1 at leaves",
    )
    is_leaf = tree.score == LEAF
    inner = np.flatnonzero(~is_leaf)
    left, right = tree.left[inner], tree.right[inner]
    # Every node comes before those that follow it, so the walk from the root ends.
    follow = np.all((left > inner) & (right > left) & (right < size))
    reader.require(bool(follow), "left", expected="nodes that come later, the right one last")
    is_one_tree = np.array_equal(np.sort(np.concatenate([left, right])), np.arange(1, size))
    end_at_leaves = np.all((tree.left == LEAF) & (tree.right == LEAF) | ~is_leaf)
    reader.require(
        bool(is_one_tree and end_at_leaves), "right", expected="each node once, and -1 at leaves"
    )
    steps = tree.depth[np.concatenate([left, right])] - tree.depth[np.tile(inner, 2)]
    # A node between the cuts of one division has the depth of the node above; a leaf never has.
    is_between = (steps == 0) & ~np.concatenate([is_leaf[left], is_leaf[right]])
    depth_adds_up = tree.depth[0] == 0 and np.all((steps == 1) | is_between)
    reader.require(
        bool(depth_adds_up),
        "depth",
        expected="one more than that of the node above, or between two cuts the same",
    )
    leaves_add_up = np.all(tree.leaves[is_leaf] == 1) and np.all(
        tree.leaves[left] + tree.leaves[right] == tree.leaves[inner]
    )
    reader.require(bool(leaves_add_up), "leaves", expected="the blocks of both sides together")
    first_adds_up = (
        tree.first[0] == 0
        and np.all(tree.first[left] == tree.first[inner])
        and np.all(tree.first[right] == tree.first[inner] + tree.leaves[left])
    )
    reader.require(bool(first_adds_up), "first", expected="the first block below each node")
    return tree


def read_cuts(reader: Reader, tree: CutTree, *, stratum_count: int) -> Cuts:
    """Read where each stratum is cut: numbers at its cuts, and null elsewhere."""
    depth = reader.array("depth", 1, dtype=np.int64)
    reader.require(
        depth.size == stratum_count and bool(np.all((depth >= 0) & (depth <= tree.height))),
        "depth",
        expected="how often each stratum is cut",
    )
    is_cut = (tree.score != LEAF) & (tree.depth < depth[:, None])
    cut_values = {}
    for key in ("score", "content", "draw"):
        cut_values[key] = reader.numbers_or_null(key, 2)
        reader.require(cut_values[key].shape == is_cut.shape, key, expected=SAME_SHAPE)
        reader.require(
            bool(np.array_equal(~np.isnan(cut_values[key]), is_cut)),
            key,
            expected="a number at each cut, and null at other nodes",
        )
    return Cuts(
        score=cut_values["score"],
        content=cut_values["content"],
        draw=cut_values["draw"],
        depth=depth,
    )


def read_law(
    reader: Reader, tree: CutTree, *, depth: int, row_count: int, is_keyed: bool
) -> BlockLaw:
    """Read the law of one stratum's shares: the one that its number of placing rows has."""
    spacings, leaves = (reader.array(key, 1, dtype=np.int64) for key in ("spacings", "leaves"))
    placing_count = sum(spacings.tolist()) - 1
    reader.require(
        0 < placing_count <= min(row_count, MAX_EXACT_INTEGER),
        "spacings",
        expected="one more than the placing rows, which are rows of the stratum",
    )
    law = block_law(tree, depth, placing_count)
    reader.require(
        bool(np.array_equal(spacings, law.spacings)),
        "spacings",
        expected="the same share of the rows for each block",
    )
    reader.require(
        bool(np.array_equal(leaves, law.leaves)), "leaves", expected="the blocks of each cell"
    )
    reader.require(
        (reader.value_of("tied") is None) == is_keyed,
        "tied",
        expected="null if rows have a key, and otherwise how many tie with a cut",
    )
    tied = None
    if not is_keyed:
        tied = reader.integer("tied", minimum=0)
        reader.require(tied <= placing_count, "tied", expected="not more than the placing rows")
    return BlockLaw(spacings=spacings, leaves=leaves, tied=tied)


def read_records(
    reader: Reader, column_types: Sequence[ColumnType], *, block_count: int
) -> FloatArray:
    """Read what rows are written as: values that each column can hold."""
    records = reader.numbers_or_null("records", 3)
    reader.require(
        records.shape[::2] == (block_count, len(column_types)) and records.size > 0,
        "records",
        expected=SAME_SHAPE,
    )
    for index, column_type in enumerate(column_types):
        values = records[:, :, index]
        values = values[~np.isnan(values)]
        if column_type.kind == "number":
            continue
        lowest, highest = {
            "integer": (-MAX_EXACT_INTEGER, MAX_EXACT_INTEGER),
            "date": (FIRST_MOMENT, LAST_MOMENT),
        }.get(column_type.kind, (0, len(column_type.categories) - 1))
        can_be = (values >= lowest) & (values <= highest) & (values == np.floor(values))
        reader.require(
            bool(can_be.all()),
            "records",
            expected=f"whole numbers from {lowest} to {highest} for column {column_type.name!r}",
        )
    return records


def read_guide(reader: Reader, column_types: Sequence[ColumnType]) -> tuple[Guide, int]:
    """Read what orders the rows, and how many scores it gives."""
    if reader.choice("kind", ("trees", "columns")) == "columns":
        orders = tuple(tuple(order) for order in reader.lists("orders"))
        sizes = [len(typed.categories) * (typed.kind == "category") for typed in column_types]
        reader.require(
            [len(order) for order in orders] == sizes
            and all({*order} == {*range(len(order))} for order in orders),
            "orders",
            expected="a place of each category",
        )
        return ColumnGuide(orders=orders), len(column_types)
    models = []
    score_count = 0
    for index, lines in enumerate(reader.lists("models")):
        models.append("\n".join(map(str, lines)))
        try:
            score_count += check_trees(models[-1], column_count=len(column_types))
        except ValueError as error:
            raise reader.error(f"models[{index}]", expected=str(error)) from None
    reader.require(bool(models), "models", expected="at least one model")
    return TreeGuide(models=tuple(models)), score_count
