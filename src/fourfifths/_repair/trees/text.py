"""The text of gradient-boosted trees, as LightGBM writes it: checked, and read.

A text from a file is checked first: every number that something is looked up by has to be there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray, IntArray

END = "end of trees\n"
HEADER = (
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx"),
    *("objective", "feature_names", "feature_infos", "tree_sizes"),
)
# Each node of a tree has one number of these, and a threshold; each leaf has one of the others.
NODES = (
    *("split_feature", "split_gain", "decision_type", "left_child", "right_child"),
    *("internal_value", "internal_weight", "internal_count"),
)
LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
CATEGORIES = ("cat_boundaries", "cat_threshold")
TREE = {*NODES, *LEAVES, "threshold", "num_leaves", "num_cat", "is_linear", "shrinkage"}
NUMBERS = re.compile(r"(-?(inf|[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)( |$))*")
IS_CATEGORY = 1  # the bit of a decision
# The other bits of a decision: where missing values go, and whether they are a value of their own.
# LightGBM has one more, for zeros that mean missing, which is not learned here.
DECISIONS = (0, 1, 2, 3, 8, 9, 10, 11)
MAX_LEAVES = 64
WORD = 2**32  # categories are kept in words of this many values


def trees_only(text: str) -> str:
    r"""Return LightGBM's text without what follows the trees: how they were learned.

    Examples
    --------
    >>> trees_only("tree\n...\nend of trees\n\nparameters:\n[num_threads: 1]\n")
    'tree\n...\nend of trees\n'
    """
    return text[: text.index(END) + len(END)]


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A tree; its nodes are counted from 0, and its leaves, among the children, from -1 downwards.

    Attributes
    ----------
    leaf_values : float array
    columns, decisions : int array
        Of each node.
    cuts : float array
        Of each node; of a category, the index of its set.
    left, right : int array
        The children of each node.
    set_ends, set_words : int array
        The sets of categories: where each begins and ends among the words.
    """

    leaf_values: FloatArray
    columns: IntArray
    decisions: IntArray
    cuts: FloatArray
    left: IntArray
    right: IntArray
    set_ends: IntArray
    set_words: IntArray

    def categories(self, index: int) -> IntArray:
        """Return the categories of a set."""
        words = self.set_words[self.set_ends[index] : self.set_ends[index + 1]]
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)


def read_trees(text: str) -> tuple[int, list[Tree]]:
    """Return how many scores a text gives, and its trees; it must have been checked."""
    header, *tree_texts = re.split(r"^Tree=", text, flags=re.MULTILINE)
    trees = []
    for tree_text in tree_texts:
        lines = dict(line.partition("=")[::2] for line in tree_text.split("\n"))

        def array(key: str, dtype: Any, lines: dict[str, str] = lines) -> Any:
            return np.array(lines.get(key, "").split(), dtype=dtype)

        trees.append(
            Tree(
                leaf_values=array("leaf_value", np.float64),
                columns=array("split_feature", np.int64),
                decisions=array("decision_type", np.int64),
                cuts=array("threshold", np.float64),
                left=array("left_child", np.int64),
                right=array("right_child", np.int64),
                set_ends=array("cat_boundaries", np.int64),
                set_words=array("cat_threshold", np.int64),
            )
        )
    return int(entries(header.partition("\n")[2])["num_class"]), trees


def check_trees(text: str, *, column_count: int) -> int:
    """Return how many scores a text of trees gives; a ValueError says what was expected."""
    start = text.find("\nTree=") + 1
    require(text.isascii() and start > 0 and text.endswith(END), "what LightGBM wrote")
    starts = [match.start() for match in re.finditer(r"^Tree=", text, flags=re.MULTILINE)]
    trees = [text[first:last] for first, last in pairwise([*starts, len(text) - len(END)])]
    first_line, _, lines = text[:start].partition("\n")
    header = entries(lines)
    require(first_line == "tree" and header.keys() == {*HEADER}, "a header as LightGBM wrote it")
    score_count = int(whole_numbers(header["num_class"], length=1)[0])
    require(score_count > 0, "at least one class")
    objectives = {
        "binary sigmoid:1": 1,
        "regression": 1,
        f"multiclass num_class:{score_count}": score_count,
    }
    require(objectives.get(header["objective"]) == score_count, "an objective that is learned here")
    require(
        header["num_tree_per_iteration"] == header["num_class"]
        and len(trees) % score_count == 0
        and header["label_index"] == "0",
        "a tree for each class in each round",
    )
    names = " ".join(f"Column_{index}" for index in range(column_count))
    require(
        header["max_feature_idx"] == str(column_count - 1)
        and header["feature_names"] == names
        and len(header["feature_infos"].split(" ")) == column_count,
        "trees of the columns that are repaired",
    )
    sizes = whole_numbers(header["tree_sizes"], length=len(trees))
    require(sizes.tolist() == [len(tree) for tree in trees], "the sizes of the trees")
    for index, tree in enumerate(trees):
        try:
            check_tree_text(tree, index=index, column_count=column_count)
        except ValueError as error:
            raise ValueError(f"in tree {index} {error}") from None
    kinds = {
        (column, decision & IS_CATEGORY)
        for tree in read_trees(text)[1]
        for column, decision in zip(tree.columns.tolist(), tree.decisions.tolist(), strict=True)
    }
    columns = {column for column, _ in kinds}
    require(len(columns) == len(kinds), "each column as a number or as a category")
    return score_count


def check_tree_text(text: str, *, index: int, column_count: int) -> None:
    """Raise a ValueError unless one tree has all its nodes, leaves and categories."""
    tree = entries(text)
    require(tree.pop("Tree", None) == str(index), "its own number")
    leaf_count = int(whole_numbers(tree.get("num_leaves", ""), length=1)[0])
    category_count = int(whole_numbers(tree.get("num_cat", ""), length=1)[0])
    keys = TREE | {*CATEGORIES} if category_count else TREE
    require(tree.keys() == keys, "the lines that LightGBM wrote")
    require(0 < leaf_count <= MAX_LEAVES and category_count >= 0, f"one to {MAX_LEAVES} leaves")
    require(tree["is_linear"] == "0", "no linear models in its leaves")
    numbers(tree["shrinkage"], length=1)
    # A cut at infinity tells rows without a value from the others.
    threshold = numbers(tree["threshold"], length=leaf_count - 1, may_be_infinite=True)
    for key in NODES:
        numbers(tree[key], length=leaf_count - 1)
    for key in LEAVES:
        # A tree of a single leaf has no weight there.
        length = 0 if leaf_count == 1 and not tree[key] and key == "leaf_weight" else leaf_count
        numbers(tree[key], length=length)
    columns, decisions, left, right = (
        whole_numbers(tree[key], length=leaf_count - 1)
        for key in ("split_feature", "decision_type", "left_child", "right_child")
    )
    require(bool(np.all((columns >= 0) & (columns < column_count))), "columns that are repaired")
    require(
        bool(np.isin(decisions, DECISIONS).all()),
        f"decisions among {', '.join(map(str, DECISIONS))}",
    )
    # Leaves are counted from -1 downwards, and every node comes before those that follow it.
    children = np.concatenate([left, right])
    expected = [*range(-leaf_count, 0), *range(1, leaf_count - 1)]
    parents = np.tile(np.arange(leaf_count - 1), 2)
    require(
        leaf_count == 1
        or bool(
            np.sort(children).tolist() == expected and np.all((children < 0) | (children > parents))
        ),
        "each node and each leaf once",
    )
    sets = threshold[decisions & IS_CATEGORY == 1]
    require(
        bool(np.all((sets >= 0) & (sets < category_count) & (sets == np.floor(sets)))),
        "sets of categories that exist",
    )
    if category_count:
        check_category_sets(tree, category_count)


def check_category_sets(tree: dict[str, str], category_count: int) -> None:
    """Raise a ValueError unless each set of categories has its words."""
    words = whole_numbers(tree["cat_threshold"])
    ends = whole_numbers(tree["cat_boundaries"], length=category_count + 1)
    require(
        ends[0] == 0
        and ends[-1] == words.size
        and bool(np.all(np.diff(ends) > 0))
        and bool(np.all((words >= 0) & (words < WORD))),
        "the words of each set of categories",
    )


def entries(text: str) -> dict[str, str]:
    """Return the lines of a part of the text as keys and values; each key occurs once."""
    pairs = [line.partition("=")[::2] for line in text.split("\n") if line]
    require(len({key for key, _ in pairs}) == len(pairs), "each line once")
    return dict(pairs)


def numbers(text: str, *, length: int | None = None, may_be_infinite: bool = False) -> FloatArray:
    """Return the numbers of a line, if there are as many as expected."""
    require(NUMBERS.fullmatch(text) is not None, "numbers")
    values = np.array(text.split(), dtype=np.float64)
    require(may_be_infinite or bool(np.all(np.isfinite(values))), "finite numbers")
    require(length is None or values.size == length, "a number for each node and each leaf")
    return values


def whole_numbers(text: str, *, length: int | None = None) -> IntArray:
    """Return the whole numbers of a line, if there are as many as expected."""
    values = numbers(text, length=length)
    is_whole = re.fullmatch(r"[-0-9 ]*", text) is not None and bool(np.all(np.abs(values) <= WORD))
    require(is_whole, "whole numbers")
    return values.astype(np.int64)


def require(condition: bool, expected: str) -> None:  # noqa: FBT001 - as in `Reader`
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(expected)
