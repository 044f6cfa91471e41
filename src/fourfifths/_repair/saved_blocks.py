"""Fitted blocks in a saved repair: written by `blocks_document`, read by `read_blocks`.

As everywhere in a saved repair, nothing that is read is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.blocks import LEAF, Blocks, Cuts, CutTree
from fourfifths._repair.guide import ColumnGuide, Guide, TreeGuide
from fourfifths._repair.reader import Reader
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.types import ColumnType

SAME_SHAPE = "as many as there are nodes, strata, blocks and columns"


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
        "counts": model.counts.tolist(),
        "guide": guide,
    }


def with_nulls(array: FloatArray) -> Any:
    """Return an array as lists, with None for NaN."""
    cells: Any = array.astype(object)
    cells[np.isnan(array)] = None
    return cells.tolist()


def read_blocks(
    reader: Reader, *, column_types: Sequence[ColumnType], stratum_count: int
) -> BlockModel:
    """Read fitted blocks, and check that their parts fit together."""
    tree_reader = reader.inside("tree")
    tree = CutTree(
        **{
            field.name: tree_reader.array(field.name, 1, dtype=np.int64)
            for field in fields(CutTree)
        }
    )
    check_tree(tree_reader, tree)
    guide, score_count = read_guide(reader.inside("guide"), column_types)
    tree_reader.require(
        bool(np.all(tree.score < score_count)), "score", expected="the numbers of the scores"
    )
    cuts_reader = reader.inside("cuts")
    cuts = Cuts(
        score=cuts_reader.numbers_or_null("score", 2),
        content=cuts_reader.numbers_or_null("content", 2),
        draw=cuts_reader.numbers_or_null("draw", 2),
        depth=cuts_reader.array("depth", 1, dtype=np.int64),
    )
    shape = (stratum_count, tree.score.size)
    for key, array in (("score", cuts.score), ("content", cuts.content), ("draw", cuts.draw)):
        cuts_reader.require(array.shape == shape, key, expected=SAME_SHAPE)
    depth = cuts.depth
    cuts_reader.require(
        depth.size == stratum_count and bool(np.all((depth >= 0) & (depth <= tree.height))),
        "depth",
        expected="how often each stratum is cut",
    )
    is_cut = (tree.score != LEAF) & (tree.depth < depth[:, None])
    cuts_reader.require(
        not bool(np.isnan(cuts.score[is_cut]).any()), "score", expected="a number at each cut"
    )
    laws = []
    for law, stratum_depth in zip(reader.objects("laws"), depth, strict=False):
        spacings, leaves = (law.array(key, 1, dtype=np.int64) for key in ("spacings", "leaves"))
        cells = tree.cells(int(stratum_depth))
        law.require(bool(np.array_equal(leaves, tree.leaves[cells])), "leaves", expected=SAME_SHAPE)
        law.require(
            spacings.size == leaves.size and bool(np.all(spacings > 0)),
            "spacings",
            expected="a number above 0 for each cell",
        )
        tied = None if law.value_of("tied") is None else law.integer("tied", minimum=0)
        laws.append(BlockLaw(spacings=spacings, leaves=leaves, tied=tied))
    reader.require(len(laws) == stratum_count, "laws", expected="one for each stratum")
    records = reader.numbers_or_null("records", 3)
    reader.require(
        records.shape[::2] == (tree.block_count, len(column_types)) and records.size > 0,
        "records",
        expected=SAME_SHAPE,
    )
    for index, column_type in enumerate(column_types):
        values = records[:, :, index]
        if column_type.categories:
            is_code = np.isnan(values) | np.isin(values, range(len(column_type.categories)))
            reader.require(bool(is_code.all()), "records", expected="the numbers of categories")
    counts = reader.array("counts", 2, dtype=np.int64)
    reader.require(
        counts.shape == (stratum_count, tree.block_count) and bool(np.all(counts >= 0)),
        "counts",
        expected=SAME_SHAPE,
    )
    beta = reader.value_of("beta")
    reader.require(
        isinstance(beta, float) and 0 < beta < 1, "beta", expected="a number between 0 and 1"
    )
    return BlockModel(
        guide=guide,
        blocks=Blocks(tree=tree, cuts=cuts, laws=tuple(laws), records=records),
        counts=counts,
        beta=beta,
    )


def check_tree(reader: Reader, tree: CutTree) -> None:
    """Raise unless the nodes make one tree, each with the blocks of its two sides."""
    size = tree.score.size
    same_size = all(getattr(tree, field.name).size == size for field in fields(CutTree))
    reader.require(size > 0 and same_size, "score", expected="a number for each node")
    inner = np.flatnonzero(tree.score != LEAF)
    reader.require(bool(np.all(tree.score >= LEAF)), "score", expected="numbers from -1 on")
    left, right = tree.left[inner], tree.right[inner]
    # Every node comes before those that follow it, so the walk from the root ends.
    follow = np.all((left > inner) & (right > left) & (right < size))
    reader.require(bool(follow), "left", expected="nodes that come later")
    adds_up = (
        tree.first[0] == 0
        and tree.depth[0] == 0
        and np.array_equal(np.sort(np.concatenate([left, right])), np.arange(1, size))
        and np.all(tree.leaves[left] + tree.leaves[right] == tree.leaves[inner])
        and np.all(tree.first[left] == tree.first[inner])
        and np.all(tree.first[right] == tree.first[inner] + tree.leaves[left])
        and np.all(tree.depth[left] == tree.depth[inner] + 1)
        and np.all(tree.depth[right] == tree.depth[inner] + 1)
        and np.all(tree.leaves[tree.score == LEAF] == 1)
    )
    reader.require(bool(adds_up), "leaves", expected="the blocks of both sides together")


def read_guide(reader: Reader, column_types: Sequence[ColumnType]) -> tuple[Guide, int]:
    """Read what orders the rows, and how many scores it gives."""
    if reader.choice("kind", ("trees", "columns")) == "columns":
        orders = [tuple(order) for order in reader.lists("orders")]
        fits = len(orders) == len(column_types) and all(
            len(order) == (len(typed.categories) if typed.kind == "category" else 0)
            and all(isinstance(place, int | float) for place in order)
            for order, typed in zip(orders, column_types, strict=True)
        )
        reader.require(fits, "orders", expected="a place of each category")
        return ColumnGuide(orders=tuple(orders)), len(column_types)
    models = tuple("\n".join(map(str, lines)) for lines in reader.lists("models"))
    reader.require(bool(models), "models", expected="at least one model")
    guide = TreeGuide(models=models)
    try:
        boosters = guide.boosters
    except Exception:  # LightGBM has errors of its own
        raise reader.error("models", expected="what LightGBM wrote") from None
    reader.require(
        all(booster.num_feature() == len(column_types) for booster in boosters),
        "models",
        expected="trees of the columns that are repaired",
    )
    return guide, sum(booster.num_model_per_iteration() for booster in boosters)
