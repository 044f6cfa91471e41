"""The scores of gradient-boosted trees, to the bit those of LightGBM.

A node that sends a row to its right side rules out the leaves on its left side. Of the leaves that
no node of a tree rules out, the leftmost is the leaf of the row (QuickScorer, Lucchese et al.,
SIGIR 2015). Which leaves the nodes of one column rule out depends on the range, or the category,
that the value is in. So one table for each column says it for all trees at once, a bit for each
leaf, and a row is scored by one "and" of bits for each column, instead of a walk through each tree.
The leaves' values are added in the order of the trees, as LightGBM does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.trees.text import IS_CATEGORY, Tree, read_trees

GOES_LEFT_IF_MISSING = 2  # the bits of a decision
MISSING_IS_A_VALUE = 8
ROWS_PER_CHUNK = 512  # the bits of this many rows stay in the processor's cache
MIN_ROWS_FOR_THREADS = 100_000
PART_BITS = 16
# For each 16 bits, the position of the lowest one that is set.
LOWEST_BIT = np.zeros(1 << PART_BITS, dtype=np.uint8)
for _bit in reversed(range(PART_BITS)):
    LOWEST_BIT[1 << _bit :: 1 << (_bit + 1)] = _bit

Bits = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class ColumnTable:
    """Which leaves the nodes of one column leave possible.

    Attributes
    ----------
    column : int
    cuts : float array or None
        The different cuts of a number, in order; None for a category.
    leaves : array of bits, ranges or categories by trees
        A row for each range between cuts, or for each category; the last is for missing values, and
        for categories that no node names.
    """

    column: int
    cuts: FloatArray | None
    leaves: Bits

    def codes(self, values: FloatArray) -> IntArray:
        """Return which row of the table each value has."""
        is_missing, last = np.isnan(values), len(self.leaves) - 1
        if self.cuts is None:
            is_unknown = is_missing | (values < 0) | (values >= last)
            return np.where(is_unknown, last, values).astype(np.int64)
        codes = np.searchsorted(self.cuts, values, side="left")
        codes[is_missing] = last
        return codes


class TreeScores:
    """Trees of one model, ready to score rows.

    Parameters
    ----------
    text : str
        In LightGBM's format.
    """

    def __init__(self, text: str) -> None:
        self.score_count, trees = read_trees(text)
        leaf_count = max(tree.leaf_values.size for tree in trees)
        bit_count = next(bits for bits in (16, 32, 64) if bits >= leaf_count)
        self._bits = np.dtype(f"<u{bit_count // 8}")
        values = np.zeros((len(trees), leaf_count))
        nodes: dict[int, list[Node]] = {}
        for index, tree in enumerate(trees):
            order, left_leaves = leaves_in_order(tree)
            values[index, : order.size] = tree.leaf_values[order]
            for node, column in enumerate(tree.columns.tolist()):
                # Rows that go to the right lose the leaves on the left.
                kept = self._bits.type(~left_leaves[node] & (2**bit_count - 1))
                nodes.setdefault(column, []).append(Node.of(tree, node, index, kept))
        self._leaf_values = values.ravel()
        self._first_values = np.arange(len(trees)) * leaf_count
        self._every_leaf = np.full((ROWS_PER_CHUNK, len(trees)), -1).astype(self._bits)
        self._tables = [
            column_table(column, nodes[column], shape=(len(trees), self._bits))
            for column in sorted(nodes)
        ]

    def scores(self, columns: Sequence[FloatArray]) -> FloatArray:
        """Return the raw scores, rows by scores."""
        row_count = columns[0].size
        scores = np.empty((row_count, self.score_count))
        codes = [table.codes(columns[table.column]) for table in self._tables]

        def score_chunk(start: int) -> None:
            rows = slice(start, start + ROWS_PER_CHUNK)
            possible = self._every_leaf[: scores[rows].shape[0]].copy()
            for table, table_codes in zip(self._tables, codes, strict=True):
                possible &= table.leaves[table_codes[rows]]
            leaves = np.ascontiguousarray(lowest_bits(possible).T)
            values = self._leaf_values.take(leaves + self._first_values[:, None])
            # One tree after the other: numpy's own sum would add pairs, and round otherwise.
            totals = np.zeros((self.score_count, values.shape[1]))
            for index, tree_values in enumerate(values):
                totals[index % self.score_count] += tree_values
            scores[rows] = totals.T

        starts = range(0, row_count, ROWS_PER_CHUNK)
        if row_count < MIN_ROWS_FOR_THREADS:
            for start in starts:
                score_chunk(start)
        else:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(score_chunk, starts))
        return scores


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of a tree, as the table of its column needs it.

    Attributes
    ----------
    tree : int
    kept : bits
        The leaves that are possible for a row that goes to the right.
    cut : float
        Numbers up to it go to the left.
    missing_goes_right : bool
    categories : int array or None
        The categories that go to the left; None for a number.
    """

    tree: int
    kept: Any
    cut: float
    missing_goes_right: bool
    categories: IntArray | None

    @classmethod
    def of(cls, tree: Tree, node: int, index: int, kept: Any) -> Node:
        """Return a node of a tree of the text."""
        decision, cut = int(tree.decisions[node]), float(tree.cuts[node])
        categories = None
        missing_goes_right = not decision & GOES_LEFT_IF_MISSING
        if decision & IS_CATEGORY:
            categories = tree.categories(int(cut))
            missing_goes_right = True
        elif not decision & MISSING_IS_A_VALUE:
            # No value was missing where the tree was learned: LightGBM takes it for 0.
            missing_goes_right = cut < 0
        return cls(
            tree=index,
            kept=kept,
            cut=cut,
            missing_goes_right=missing_goes_right,
            categories=categories,
        )


def column_table(
    column: int, nodes: Sequence[Node], *, shape: tuple[int, np.dtype[Any]]
) -> ColumnTable:
    """Return the table of one column from its nodes; `shape` is how many trees, and their bits."""
    tree_count, bits = shape
    cuts, all_cuts = None, [node.cut for node in nodes]
    if nodes[0].categories is None:
        cuts = np.unique(all_cuts)
        row_count = cuts.size + 2
    else:
        sets = [node.categories for node in nodes if node.categories is not None]
        row_count = max(
            (int(categories.max()) for categories in sets if categories.size), default=0
        )
        row_count += 2
    leaves = np.full((row_count, tree_count), -1).astype(bits)
    first_right = [] if cuts is None else (np.searchsorted(cuts, all_cuts) + 1).tolist()
    for index, node in enumerate(nodes):
        if node.categories is None:
            leaves[first_right[index] : -1, node.tree] &= node.kept
        else:
            goes_right = np.ones(row_count - 1, dtype=np.bool_)
            goes_right[node.categories] = False
            leaves[:-1][goes_right, node.tree] &= node.kept
        if node.missing_goes_right:
            leaves[-1, node.tree] &= node.kept
    return ColumnTable(column=column, cuts=cuts, leaves=leaves)


def leaves_in_order(tree: Tree) -> tuple[IntArray, list[int]]:
    """Return the leaves from left to right, and for each node the bits of those on its left."""
    left, right = tree.left.tolist(), tree.right.tolist()
    left_leaves = [0] * len(left)
    order: list[int] = []

    def visit(child: int) -> None:
        if child < 0:
            order.append(~child)
            return
        first = len(order)
        visit(left[child])
        left_leaves[child] = (1 << len(order)) - (1 << first)
        visit(right[child])

    visit(0 if left else -1)
    return np.array(order), left_leaves


def lowest_bits(bits: Bits) -> NDArray[np.uint8]:
    """Return the position of the lowest bit that is set; every element has one.

    Examples
    --------
    >>> lowest_bits(np.array([[1, 2, 2**20]], dtype="<u4"))
    array([[ 0,  1, 20]], dtype=uint8)
    """
    words = bits.view("<u2").reshape(*bits.shape, -1)
    word_count = words.shape[-1]
    lowest: NDArray[np.uint8] = LOWEST_BIT[words[..., -1]] + np.uint8(PART_BITS * (word_count - 1))
    for index in reversed(range(word_count - 1)):
        word = words[..., index]
        lowest = np.where(word > 0, LOWEST_BIT[word] + np.uint8(PART_BITS * index), lowest)
    return lowest
