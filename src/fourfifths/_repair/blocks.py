"""Repair by blocks: every column of a row is written by its block alone.

A score says what is to be kept of the rows (`guide`). In each stratum the rows are ordered by it
and cut at the same shares into blocks, so that each block holds the same share of every stratum.
What is written is the block's typical record, column by column, the same for every stratum. So
whatever rule anyone builds on the repaired columns sees only the block (`proof`).

Several scores are cut one after the other, in a tree: a node cuts one score, and sends the same
share of every stratum to either side. With one score the leaves of the tree are its quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._repair.draws import RowDraws
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.types import ColumnType

LEAF = -1  # stands for the score of a node that is not cut
MAX_TREE_ROWS = 20_000  # of the planning rows, to choose by which score a node is cut
MAX_RECORD_ROWS = 200_000  # to take medians and most frequent values of
DECIMALS_OF_WEIGHTS = 12
MIN_ROWS_PER_PART = 10  # with fewer, a typical record may be one person's


@dataclass(frozen=True, kw_only=True)
class CutTree:
    """Which score each node cuts, and which blocks lie on either side.

    Attributes
    ----------
    score : int array
        The index of the score that each node cuts; -1 at a leaf.
    first, leaves : int array
        The first block below each node, and how many there are.
    left, right : int array
        The nodes that follow; -1 at a leaf.
    depth : int array
        How many divisions lead to the node. A division into three takes two cuts: the node between
        them, which is not a part of its own, has the depth of the node above it.
    """

    score: IntArray
    first: IntArray
    leaves: IntArray
    left: IntArray
    right: IntArray
    depth: IntArray

    @property
    def block_count(self) -> int:
        """The number of blocks."""
        return int(self.leaves[0])

    @property
    def height(self) -> int:
        """The depth of the deepest leaf."""
        return int(self.depth.max())

    def cells(self, depth: int) -> IntArray:
        """Return the nodes at which rows stop after `depth` divisions, from left to right."""
        is_inner = self.score != LEAF
        above = np.full(self.depth.size, -1)
        for side in (self.left, self.right):
            above[side[is_inner]] = self.depth[is_inner]
        is_first = (self.depth == depth) & (above < depth)
        nodes = np.flatnonzero(is_first | (~is_inner & (self.depth < depth)))
        return nodes[np.argsort(self.first[nodes])]


def grow_tree(
    scores: FloatArray, codes: CodeArray, block_count: int, *, ways: Sequence[int] = ()
) -> CutTree:
    """Choose by which score each node is cut: the one that explains most of all the scores.

    Parameters
    ----------
    scores : float array, rows by scores
        Of the planning rows.
    codes : int array
        The stratum of each of these rows.
    block_count : int
    ways : sequence of int
        Into how many parts of the same share each division cuts, the first one first; their product
        is `block_count`. By default each division cuts in half, or nearly.
    """
    part_sizes = [block_count, *(block_count // np.cumprod(ways, dtype=np.int64)).tolist()]
    # One score needs no choice. Several are compared on a scale that they share: by their ranks.
    sampled = scores[: MAX_TREE_ROWS if scores.shape[1] > 1 else 0]
    from scipy.stats import rankdata  # loading it takes longer than an audit

    ranks = rankdata(sampled, axis=0) if sampled.size else sampled
    codes = codes[: sampled.shape[0]]
    nodes: list[list[int]] = []

    def grow(rows: IntArray, first: int, leaves: int, depth: int) -> int:
        node = len(nodes)
        nodes.append([LEAF, first, leaves, LEAF, LEAF, depth])
        if leaves > 1:
            part = part_sizes[depth + 1] if ways else 1
            left_leaves = leaves // part // 2 * part
            sides = left_leaves, leaves - left_leaves
            best, is_right = best_score(ranks[rows], codes[rows], left_leaves / leaves)
            depths = [depth if ways and side > part else depth + 1 for side in sides]
            left = grow(rows[~is_right], first, sides[0], depths[0])
            right = grow(rows[is_right], first + sides[0], sides[1], depths[1])
            nodes[node] = [best, first, leaves, left, right, depth]
        return node

    grow(np.arange(sampled.shape[0]), 0, block_count, 0)
    score, first, leaves, left, right, depth = np.array(nodes, dtype=np.int64).T
    return CutTree(score=score, first=first, leaves=leaves, left=left, right=right, depth=depth)


def single_score_tree(block_count: int, *, ways: Sequence[int] = ()) -> CutTree:
    """Return the tree that cuts a single score: it needs no rows to choose by.

    Examples
    --------
    >>> single_score_tree(3).leaves
    array([3, 1, 2, 1, 1])
    """
    return grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), block_count, ways=ways)


def best_score(scores: FloatArray, codes: CodeArray, share: float) -> tuple[int, BoolArray]:
    """Return which score a node is cut by, and which rows go to the right of the cut.

    Each score is tried: every stratum is cut at its own quantile of it, so that `share` of the
    stratum goes to the left. The score is taken whose two sides differ most, in the sum of the
    squared distances between the sides' means of all scores.

    Parameters
    ----------
    scores : float array, rows by scores
        On a scale that they share.
    codes : int array
        The stratum of each row.
    share : float
    """
    best, best_gain = 0, -1.0
    best_side = np.zeros(scores.shape[0], dtype=np.bool_)
    for index in range(scores.shape[1]):
        order = np.lexsort((scores[:, index], codes))
        counts = np.bincount(codes)[codes[order]] if codes.size else np.empty(0, dtype=np.int64)
        position = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
        is_right = np.zeros(scores.shape[0], dtype=np.bool_)
        is_right[order] = position >= share * counts
        if not is_right.any() or is_right.all():
            continue
        gap = scores[is_right].mean(axis=0) - scores[~is_right].mean(axis=0)
        gain = float((gap**2).sum())
        if gain > best_gain:
            best, best_gain, best_side = index, gain, is_right
    return best, best_side


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """Where each stratum is cut: at one of its own rows, by score, then content, then draw.

    Attributes
    ----------
    score, content, draw : float array of shape (strata, nodes)
        What the row at the cut has; rows up to it go to the left. NaN at nodes that a stratum does
        not cut.
    depth : int array
        How often each stratum is divided. Below that, a draw divides its rows.
    """

    score: FloatArray
    content: FloatArray
    draw: FloatArray
    depth: IntArray


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """A fitted repair by blocks.

    Attributes
    ----------
    tree : CutTree
    cuts : Cuts
    laws : tuple of BlockLaw
        Of the shares that further rows of each stratum will have in the blocks.
    records : float array of shape (blocks, variety, columns)
        The typical records; NaN where missing is typical.
    """

    tree: CutTree
    cuts: Cuts
    laws: tuple[BlockLaw, ...]
    records: FloatArray

    @property
    def variety(self) -> int:
        """The number of records of each block."""
        return int(self.records.shape[1])

    def blocks_of(self, scores: FloatArray, codes: CodeArray, draws: RowDraws) -> IntArray:
        """Return the block of each row; rows of stratum -1 have none, and get -1."""
        cell = cells_of(self.tree, self.cuts, scores=scores, codes=codes, draws=draws)
        return divide(self.tree, cell, draws)

    def record_index(self, block: IntArray, draws: RowDraws) -> IntArray:
        """Return the index of the record that replaces each row; -1 for rows without a block."""
        variant: Any = 0
        if self.variety > 1:
            variant = (draws.uniforms("variety") * self.variety).astype(np.int64)
        return np.where(block >= 0, block * self.variety + variant, -1)


def cells_of(
    tree: CutTree, cuts: Cuts, *, scores: FloatArray, codes: CodeArray, draws: RowDraws
) -> IntArray:
    """Return the node at which each row stops: a leaf, or where its stratum is no longer cut.

    Rows of stratum -1 get -1.
    """
    content = draws.content_uniforms()
    node = np.where(codes >= 0, 0, -1)
    rows = np.flatnonzero(codes >= 0)
    while True:
        cut_node = node[rows]
        is_cut = (tree.score[cut_node] != LEAF) & (cuts.depth[codes[rows]] > tree.depth[cut_node])
        rows = rows[is_cut]
        if not rows.size:
            break
        cut_node, stratum = node[rows], codes[rows]
        score, cut = scores[rows, tree.score[cut_node]], cuts.score[stratum, cut_node]
        goes_right = score > cut
        equal = np.flatnonzero(score == cut)
        if equal.size:
            equal_rows, cut_index = rows[equal], (stratum[equal], cut_node[equal])
            goes_right[equal] = is_after(
                content[equal_rows],
                draws.take(equal_rows).uniforms("tie"),
                content_cut=cuts.content[cut_index],
                draw_cut=cuts.draw[cut_index],
            )
        node[rows] = np.where(goes_right, tree.right[cut_node], tree.left[cut_node])
    return node


def is_after(
    content: FloatArray, draw: FloatArray, *, content_cut: FloatArray, draw_cut: FloatArray
) -> BoolArray:
    """Return which rows come after the row at the cut, among rows of the same score."""
    is_tied: BoolArray = content == content_cut
    return np.asarray((content > content_cut) | (is_tied & (draw > draw_cut)))


def divide(tree: CutTree, cell: IntArray, draws: RowDraws) -> IntArray:
    """Return the block of each row: that of its leaf, or one below its node by draw."""
    leaves = np.where(cell >= 0, tree.leaves[cell], 1)
    block = np.where(cell >= 0, tree.first[cell], -1)
    shared = np.flatnonzero(leaves > 1)
    if shared.size:
        uniform = draws.take(shared).uniforms("leaf")
        block[shared] += (uniform * leaves[shared]).astype(np.int64)
    return block


def spacing_ends(spacings: int, block_count: int) -> IntArray:
    """Return after how many of n + 1 spacings each block ends: equal to within one.

    Examples
    --------
    >>> spacing_ends(11, 3)
    array([ 0,  3,  7, 11])
    """
    return np.arange(block_count + 1, dtype=np.int64) * spacings // block_count


def block_law(tree: CutTree, depth: int, row_count: int, *, tied: int | None = None) -> BlockLaw:
    """Return the law of a stratum's shares, from its rows and how often it is divided."""
    cells = tree.cells(depth)
    ends = spacing_ends(row_count + 1, tree.block_count)
    first, leaves = tree.first[cells], tree.leaves[cells]
    return BlockLaw(spacings=ends[first + leaves] - ends[first], leaves=leaves, tied=tied)


@dataclass(frozen=True, kw_only=True)
class OrderedRows:
    """The placing rows of each stratum, in the order of each score.

    Attributes
    ----------
    scores : float array, rows by scores
    draws : RowDraws
    content, tie : float array
        The draws that order rows of the same score: by content, then by row.
    members : list of int array
        The rows of each stratum.
    ranks : list of int array, rows of the stratum by scores
        No two rows of a stratum have the same rank by a score.
    """

    scores: FloatArray
    draws: RowDraws
    content: FloatArray
    tie: FloatArray
    members: list[IntArray]
    ranks: list[IntArray]

    @classmethod
    def of(cls, scores: FloatArray, codes: CodeArray, *, draws: RowDraws) -> OrderedRows:
        """Order rows by their scores; the function that gave the scores has not seen the rows."""
        content, tie = draws.content_uniforms(), draws.uniforms("tie")
        members = [np.flatnonzero(codes == stratum) for stratum in range(int(codes.max()) + 1)]
        all_ranks = []
        for rows in members:
            ranks = np.empty((rows.size, scores.shape[1]), dtype=np.int64)
            for index in range(scores.shape[1]):
                order = np.lexsort((tie[rows], content[rows], scores[rows, index]))
                ranks[order, index] = np.arange(rows.size)
            all_ranks.append(ranks)
        return cls(
            scores=scores,
            draws=draws,
            content=content,
            tie=tie,
            members=members,
            ranks=all_ranks,
        )


def place(
    tree: CutTree, rows: OrderedRows, *, depth: IntArray
) -> tuple[Cuts, tuple[BlockLaw, ...]]:
    """Cut every stratum at its own rows, and return the cuts with the law of the shares.

    A node with s spacings (its rows and one more) is cut at the r-th of its rows: r spacings go to
    the left, s - r to the right. The row at the cut is spent: it is in neither side's order from
    then on, which keeps the law exact.

    Parameters
    ----------
    tree : CutTree
    rows : OrderedRows
    depth : int array
        How often each stratum is divided.
    """
    empty = np.full((depth.size, tree.score.size), np.nan)
    cuts = Cuts(score=empty, content=empty.copy(), draw=empty.copy(), depth=depth)
    laws = []
    for stratum, (members, ranks) in enumerate(zip(rows.members, rows.ranks, strict=True)):
        ends = spacing_ends(members.size + 1, tree.block_count)
        waiting = [(0, np.arange(members.size))]
        cut_rows = []
        while waiting:
            node, inside = waiting.pop()
            if tree.score[node] == LEAF or tree.depth[node] >= depth[stratum]:
                continue
            left, first = tree.left[node], tree.first[node]
            position = int(ends[first + tree.leaves[left]] - ends[first]) - 1
            node_ranks = ranks[inside, tree.score[node]]
            cut_rank = np.partition(node_ranks, position)[position]
            row = members[inside[node_ranks == cut_rank][0]]
            cuts.score[stratum, node] = rows.scores[row, tree.score[node]]
            cuts.content[stratum, node] = rows.content[row]
            cuts.draw[stratum, node] = rows.tie[row]
            cut_rows.append(row)
            waiting.append((left, inside[node_ranks < cut_rank]))
            waiting.append((tree.right[node], inside[node_ranks > cut_rank]))
        tied = None
        if not rows.draws.is_keyed:
            content = rows.draws.content
            # By sorting: the other way, numpy 2.0 subtracts words that are too large for it.
            is_tied = np.isin(content[members], content[cut_rows], kind="sort")
            tied = int(is_tied.sum()) - len(cut_rows)
        laws.append(block_law(tree, int(depth[stratum]), members.size, tied=tied))
    return cuts, tuple(laws)


# --- typical records ---


def typical_records(
    columns: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    block: IntArray,
    variant: IntArray,
    weight: FloatArray,
    shape: tuple[int, int],
) -> FloatArray:
    """Return the typical record of each variant of each block, column by column.

    Of numbers, dates and ordered categories it is the weighted median that occurs in the column, of
    other categories the most frequent one. Missing is a value like any other: of a number it is
    typical where more than half of the rows have none. A variant of few rows has the record of its
    whole block: it would be the record of somebody.

    Parameters
    ----------
    columns : sequence of float array
    column_types : sequence of ColumnType
    block, variant : int array
        Of each row.
    weight : float array
        Of each row, above 0.
    shape : (blocks, variants)
    """
    block_count, variant_count = shape
    records = np.empty((block_count, variant_count, len(columns)))
    for index, (values, column_type) in enumerate(zip(columns, column_types, strict=True)):
        typical = most_frequent if column_type.kind == "category" else weighted_medians
        block_values, _ = typical(values, block, weight=weight, cell_count=block_count)
        if variant_count == 1:
            records[:, 0, index] = block_values
            continue
        cell = block * variant_count + variant
        variant_values, _ = typical(values, cell, weight=weight, cell_count=records[..., 0].size)
        has_rows = np.bincount(cell, minlength=variant_values.size) >= MIN_ROWS_PER_PART
        filled = np.where(has_rows, variant_values, np.repeat(block_values, variant_count))
        records[:, :, index] = filled.reshape(shape)
    return records


def weighted_medians(
    values: FloatArray, cells: IntArray, *, weight: FloatArray, cell_count: int
) -> tuple[FloatArray, BoolArray]:
    """Return the weighted median of each cell, and which cells have rows.

    It is the lowest value with at least half of the weight at or below it, so it occurs in the
    cell. NaN is taken out first, unless it has more than half of the weight itself.

    Examples
    --------
    >>> values, cells = np.array([1.0, 5.0, 9.0, np.nan]), np.array([0, 0, 0, 1])
    >>> weighted_medians(values, cells, weight=np.ones(4), cell_count=2)
    (array([ 5., nan]), array([ True,  True]))
    """
    is_missing = np.isnan(values)
    total = np.bincount(cells, weights=weight, minlength=cell_count)
    missing = np.bincount(cells[is_missing], weights=weight[is_missing], minlength=cell_count)
    present = np.flatnonzero(~is_missing)
    order = present[np.lexsort((values[present], cells[present]))]
    cumulative = np.cumsum(weight[order])
    ends = np.searchsorted(cells[order], np.arange(cell_count), side="right")
    starts = np.append(0, ends[:-1])
    before = np.append(0.0, cumulative)[starts]
    half = before + (total - missing) / 2
    # Rounding of the running sum must not push a median past a tie.
    position = np.searchsorted(cumulative, half * (1 - 1e-12), side="left")
    medians = np.full(cell_count, np.nan)
    has_values = ends > starts
    inside = np.clip(position, starts, np.maximum(ends - 1, starts))[has_values]
    medians[has_values] = values[order[inside]]
    medians[missing > total / 2] = np.nan
    return medians, total > 0


def most_frequent(
    values: FloatArray, cells: IntArray, *, weight: FloatArray, cell_count: int
) -> tuple[FloatArray, BoolArray]:
    """Return the category with the most weight in each cell, and which cells have rows.

    Missing, NaN, is a category too. Of two with equal weight the first is taken.
    """
    category_count = int(np.nan_to_num(values, nan=-1.0).max(initial=-1.0)) + 1
    codes = np.where(np.isnan(values), category_count, values).astype(np.int64)
    table = np.bincount(
        cells * (category_count + 1) + codes,
        weights=weight,
        minlength=cell_count * (category_count + 1),
    ).reshape(cell_count, category_count + 1)
    # Sums of weights are rounded differently in another order of the rows; ties must stay ties.
    best = table.round(DECIMALS_OF_WEIGHTS).argmax(axis=1).astype(np.float64)
    best[best == category_count] = np.nan
    return best, table.sum(axis=1) > 0
