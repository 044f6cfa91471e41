"""LightGBM's text of trees: whatever would end the process is found before LightGBM reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import lightgbm
import numpy as np
import pytest

from fourfifths._repair.trees.text import check_trees, trees_only

RANDOM = np.random.default_rng(0)
ROWS = 400
NUMBERS = RANDOM.normal(size=ROWS)
LETTERS = RANDOM.integers(0, 40, ROWS).astype(float)
# Missing numbers make cuts at infinity; forty categories make sets of more than one word.
IS_MISSING = RANDOM.random(ROWS) < 0.3
NOISE = np.where(IS_MISSING, np.nan, RANDOM.normal(size=ROWS))
MATRIX = np.column_stack([NUMBERS, LETTERS, NOISE])
SIGNAL = NUMBERS + LETTERS % 3 + 2 * IS_MISSING
TARGETS: dict[str, tuple[Any, dict[str, Any]]] = {
    "binary": (SIGNAL > 1, {"objective": "binary"}),
    "regression": (SIGNAL, {"objective": "regression"}),
    "classes": (LETTERS % 3, {"objective": "multiclass", "num_class": 3}),
}


@cache
def learned(kind: str, *, is_constant: bool = False) -> tuple[str, Any]:
    """Return the text of a model of three columns, the second a category, and the model."""
    target, objective = TARGETS[kind]
    options = {"verbosity": -1, "min_data_in_leaf": 5, "min_data_per_group": 5, "num_threads": 1}
    matrix = MATRIX * 0 if is_constant else MATRIX
    with np.errstate(all="ignore"):
        data = lightgbm.Dataset(matrix, target, categorical_feature=[1], params=options)
        booster = lightgbm.train({**options, **objective, "cat_smooth": 1}, data, 20)
    return booster.model_to_string(), booster


def text_of_trees() -> str:
    return trees_only(learned("regression")[0])


def with_sizes(text: str) -> str:
    """Return the text with the sizes that its trees have."""
    starts = [match.start() for match in re.finditer(r"^Tree=", text, flags=re.M)]
    ends = [*starts[1:], text.index("end of trees")]
    sizes = " ".join(str(end - start) for start, end in zip(starts, ends, strict=True))
    return re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", text)


@pytest.mark.parametrize(("kind", "scores"), [("binary", 1), ("regression", 1), ("classes", 3)])
@pytest.mark.parametrize("is_constant", [False, True])
def test_what_lightgbm_wrote_passes(kind: str, scores: int, is_constant: bool) -> None:
    text, booster = learned(kind, is_constant=is_constant)
    trees = trees_only(text)
    assert check_trees(trees, column_count=3) == scores
    again = lightgbm.Booster(model_str=trees)
    assert again.num_model_per_iteration() == scores
    before, after = (model.predict(MATRIX, raw_score=True) for model in (booster, again))
    assert np.array_equal(before, after)


def test_the_trees_of_these_tests_have_all_there_can_be() -> None:
    text = text_of_trees()
    assert re.search(r"^threshold=.*\binf\b", text, flags=re.M)
    sets = [line for line in text.split("\n") if line.startswith("cat_boundaries=")]
    assert any(line.startswith("cat_boundaries=0 2") for line in sets)
    assert len(re.findall(r"^Tree=", text, flags=re.M)) == 20


def test_how_the_trees_were_learned_is_left_out() -> None:
    text = learned("binary")[0]
    assert "[num_leaves:" in text
    assert "parameters" not in trees_only(text)
    assert text.startswith(trees_only(text))


def replaced(pattern: str, value: str) -> Callable[[str], str]:
    """Return a function that replaces the first match, and then corrects the sizes."""

    def edit(text: str) -> str:
        changed = re.sub(pattern, value, text, count=1, flags=re.M)
        assert changed != text
        return with_sizes(changed)

    return edit


def after(mark: str, pattern: str, value: str) -> Callable[[str], str]:
    """Return the same function for the text from the first mark on."""

    def edit(text: str) -> str:
        at = text.index(mark)
        return with_sizes(text[:at] + re.sub(pattern, value, text[at:], count=1, flags=re.M))

    return edit


WRONG: list[tuple[Callable[[str], str], str]] = [
    (lambda text: "", "what LightGBM wrote"),
    (lambda text: text[: len(text) // 2], "what LightGBM wrote"),
    (lambda text: text[: text.index("Tree=0") + 3], "what LightGBM wrote"),
    (lambda text: text.replace("Tree=0", "Tree=0é", 1), "what LightGBM wrote"),
    (lambda text: text.replace("tree\n", "wood\n", 1), "a header as LightGBM wrote it"),
    (lambda text: text.replace("num_class=1\n", "", 1), "a header as LightGBM wrote it"),
    (lambda text: text.replace("version=v4\n", "version=v4\nversion=v4\n", 1), "each line once"),
    (replaced(r"^num_class=1", "num_class=0"), "at least one class"),
    (replaced(r"^num_class=1", "num_class=one"), "numbers"),
    (replaced(r"^num_class=1", "num_class=1.5"), "whole numbers"),
    (replaced(r"^num_class=1", "num_class=2"), "an objective that is learned here"),
    (replaced(r"^objective=.*", "objective=custom"), "an objective that is learned here"),
    (
        replaced(r"^num_tree_per_iteration=1", "num_tree_per_iteration=7"),
        "a tree for each class in each round",
    ),
    (
        replaced(r"^max_feature_idx=2", "max_feature_idx=9"),
        "trees of the columns that are repaired",
    ),
    (replaced(r"^feature_names=\S+ ", "feature_names="), "trees of the columns that are repaired"),
    (replaced(r"^feature_infos=\S+ ", "feature_infos="), "trees of the columns that are repaired"),
    (lambda text: re.sub(r"tree_sizes=\d+", "tree_sizes=99999999", text), "the sizes of the trees"),
    (lambda text: re.sub(r"tree_sizes=\d+ ", "tree_sizes=", text), "a number for each node and"),
    (lambda text: text.replace("shrinkage=1", "shrinkage=10", 1), "the sizes of the trees"),
    (replaced(r"^Tree=0", "Tree=1"), "in tree 0 its own number"),
    (replaced(r"^num_leaves=\d+", "num_leaves=1000000"), "in tree 0 one to 64 leaves"),
    (replaced(r"^num_leaves=\d+", "num_leaves=60"), "in tree 0 a number for each node"),
    (replaced(r"^num_leaves=\d+", "num_leaves=-5"), "in tree 0 one to 64 leaves"),
    (replaced(r"^num_leaves=\d+\n", ""), "in tree 0 a number for each node"),
    (replaced(r"^split_gain=.*\n", ""), "in tree 0 the lines that LightGBM wrote"),
    (replaced(r"^split_feature=\d+", "split_feature=3"), "in tree 0 columns that are repaired"),
    (replaced(r"^split_feature=\d+", "split_feature=-1"), "in tree 0 columns that are repaired"),
    (replaced(r"^split_feature=\d+ ", "split_feature="), "in tree 0 a number for each node"),
    (replaced(r"^decision_type=\d+", "decision_type=77"), "in tree 0 decisions among 0, 1, 2"),
    (replaced(r"^decision_type=\d+", "decision_type=6"), "in tree 0 decisions among 0, 1, 2"),
    (
        lambda text: re.sub(r"^split_feature=\d", "split_feature=1", text, flags=re.M).replace(
            "decision_type=1", "decision_type=2"
        ),
        "each column as a number or as a category",
    ),
    (replaced(r"^left_child=-?\d+", "left_child=0"), "in tree 0 each node and each leaf once"),
    (replaced(r"^left_child=-?\d+", "left_child=4000"), "in tree 0 each node and each leaf once"),
    (replaced(r"^right_child=-?\d+", "right_child=-4000"), "in tree 0 each node and each leaf onc"),
    (replaced(r"^right_child=-?\d+", "right_child=9999999999999"), "in tree 0 whole numbers"),
    (replaced(r"^leaf_value=\S+", "leaf_value=nan"), "in tree 0 numbers"),
    (replaced(r"^leaf_value=\S+", "leaf_value=inf"), "in tree 0 finite numbers"),
    (replaced(r"^leaf_value=\S+", "leaf_value=1e999"), "in tree 0 finite numbers"),
    (replaced(r"^leaf_value=\S+", "leaf_value=1_0"), "in tree 0 numbers"),
    (replaced(r"^leaf_count=\S+ ", "leaf_count="), "in tree 0 a number for each node"),
    (replaced(r"^is_linear=0", "is_linear=1"), "in tree 0 no linear models in its leaves"),
    (replaced(r"^shrinkage=\S+", "shrinkage=fast"), "in tree 0 numbers"),
    (after("cat_boundaries", r"^cat_boundaries=.*", "cat_boundaries=0 9999"), "in tree"),
    (after("cat_boundaries", r"^cat_boundaries=0", "cat_boundaries=-1"), "the words of each set"),
    (after("cat_threshold", r"^cat_threshold=\d+ ", "cat_threshold="), "the words of each set"),
    (after("cat_threshold", r"^cat_threshold=\d+", "cat_threshold=-1"), "the words of each set"),
    (replaced(r"^num_cat=[1-9]\d*", "num_cat=0"), "the lines that LightGBM wrote"),
    (replaced(r"^num_cat=[1-9]\d*", "num_cat=-1"), "one to 64 leaves"),
]


@pytest.mark.parametrize(("edit", "expected"), WRONG, ids=[message for _, message in WRONG])
def test_what_lightgbm_did_not_write_is_found(edit: Callable[[str], str], expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        check_trees(edit(text_of_trees()), column_count=3)


def test_a_node_of_a_category_needs_its_set() -> None:
    lines = text_of_trees().split("\n")
    start = next(at for at, line in enumerate(lines) if re.match(r"num_cat=[1-9]", line))
    decision = next(at for at in range(start, len(lines)) if lines[at].startswith("decision_type"))
    cut = next(at for at in range(start, len(lines)) if lines[at].startswith("threshold"))
    decisions, cuts = lines[decision][14:].split(), lines[cut][10:].split()
    at = next(at for at, word in enumerate(decisions) if int(word) % 2)
    for value in ("99", "-1", "0.5", "inf"):
        changed = [*cuts[:at], value, *cuts[at + 1 :]]
        text = "\n".join([*lines[:cut], "threshold=" + " ".join(changed), *lines[cut + 1 :]])
        with pytest.raises(ValueError, match="sets of categories that exist"):
            check_trees(with_sizes(text), column_count=3)


def test_a_tree_of_other_columns_is_found() -> None:
    with pytest.raises(ValueError, match="trees of the columns that are repaired"):
        check_trees(text_of_trees(), column_count=4)
