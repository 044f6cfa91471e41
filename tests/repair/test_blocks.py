"""Trees of cuts, where rows stop, the law of their shares, and typical records by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from drawn_rows import row_draws
from scipy import stats

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.blocks import (
    LEAF,
    Blocks,
    CutTree,
    OrderedRows,
    block_law,
    cells_of,
    divide,
    grow_tree,
    most_frequent,
    place,
    spacing_ends,
    typical_records,
    weighted_medians,
)
from fourfifths._repair.draws import RowDraws
from fourfifths._tables.types import ColumnType

NAN = float("nan")


def one_score_tree(block_count: int) -> CutTree:
    return grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), block_count)


def placed(
    scores: FloatArray, codes: Any, *, draws: RowDraws, tree: CutTree, depth: Any = None
) -> Any:
    """Return the cuts, the laws and the block of each placing row."""
    codes = np.asarray(codes, dtype=np.int16)
    depths = np.full(int(codes.max()) + 1, tree.height) if depth is None else np.array(depth)
    cuts, laws = place(tree, OrderedRows.of(scores, codes, draws=draws), depth=depths)
    cell = cells_of(tree, cuts, scores=scores, codes=codes, draws=draws)
    return cuts, laws, divide(tree, cell, draws)


# --- trees ---


@pytest.mark.parametrize("block_count", [2, 3, 7, 48])
def test_a_tree_has_every_block_once(block_count: int) -> None:
    tree = one_score_tree(block_count)
    leaves = np.flatnonzero(tree.score == LEAF)
    assert tree.block_count == block_count
    assert np.sort(tree.first[leaves]).tolist() == list(range(block_count))
    assert tree.leaves[leaves].tolist() == [1] * block_count
    assert tree.height == int(np.ceil(np.log2(block_count)))
    inner = np.flatnonzero(tree.score != LEAF)
    assert np.array_equal(
        tree.leaves[inner], tree.leaves[tree.left[inner]] + tree.leaves[tree.right[inner]]
    )
    assert np.array_equal(
        tree.first[tree.right[inner]], tree.first[inner] + tree.leaves[tree.left[inner]]
    )
    assert np.all(np.abs(tree.leaves[tree.left[inner]] - tree.leaves[tree.right[inner]]) <= 1)


@pytest.mark.parametrize("block_count", [2, 3, 7, 48])
def test_cells_of_any_depth_cover_every_block_once(block_count: int) -> None:
    tree = one_score_tree(block_count)
    for depth in range(tree.height + 2):
        cells = tree.cells(depth)
        assert cells.size == min(2**depth, block_count)
        blocks = [
            block
            for first, leaves in zip(tree.first[cells], tree.leaves[cells], strict=True)
            for block in range(first, first + leaves)
        ]
        assert blocks == list(range(block_count))


@pytest.mark.parametrize("ways", [(3,), (3, 2), (2, 3), (5, 2), (3, 3, 2), (7, 2)])
def test_each_division_cuts_into_parts_of_the_same_share(ways: tuple[int, ...]) -> None:
    block_count = math.prod(ways)
    tree = grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), block_count, ways=ways)
    assert tree.height == len(ways)
    for depth in range(len(ways) + 2):
        parts = math.prod(ways[:depth])
        cells = tree.cells(depth)
        assert tree.leaves[cells].tolist() == [block_count // parts] * parts
        assert tree.first[cells].tolist() == list(range(0, block_count, block_count // parts))


def test_strata_that_are_divided_into_three_or_six_by_hand() -> None:
    # 5 rows have 6 spacings: three cells of two are cut at the 2nd and the 4th row, six at each.
    tree = grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), 6, ways=(3, 2))
    scores = np.array([10.0, 20, 30, 40, 50, 1, 2, 3, 4, 5])[:, None]
    codes = np.repeat([0, 1], 5).astype(np.int16)
    words = np.arange(10, dtype=np.uint64)
    draws = RowDraws(rows=words, content=words, is_keyed=True)
    cuts, laws, _ = placed(scores, codes, draws=draws, tree=tree, depth=[1, 2])
    assert [law.spacings.tolist() for law in laws] == [[2, 2, 2], [1] * 6]
    assert [law.leaves.tolist() for law in laws] == [[2, 2, 2], [1] * 6]
    assert np.sort(cuts.score[0][~np.isnan(cuts.score[0])]).tolist() == [20, 40]
    assert np.sort(cuts.score[1][~np.isnan(cuts.score[1])]).tolist() == [1, 2, 3, 4, 5]
    new = np.array([19.0, 21, 39, 41, 0.5, 1.5, 2.5, 3.5, 4.5, 6])[:, None]
    cell = cells_of(tree, cuts, scores=new, codes=np.repeat([0, 1], [4, 6]), draws=draws)
    assert tree.first[cell].tolist() == [0, 2, 2, 4, 0, 1, 2, 3, 4, 5]
    assert tree.leaves[cell].tolist() == [2, 2, 2, 2, 1, 1, 1, 1, 1, 1]


def test_a_node_is_cut_by_the_score_that_explains_most() -> None:
    # Two scores are the same and one is noise: a cut by either of the two explains both.
    random = np.random.default_rng(0)
    first = random.normal(size=2_000)
    scores = np.column_stack([random.normal(size=2_000), first, 3 * first + 1])
    tree = grow_tree(scores, np.zeros(2_000, dtype=np.int16), 4)
    assert tree.score[0] in (1, 2)


def test_two_independent_scores_are_cut_in_turn() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(4_000, 2))
    tree = grow_tree(scores, np.zeros(4_000, dtype=np.int16), 4)
    assert tree.score[tree.left[0]] == tree.score[tree.right[0]] == 1 - tree.score[0]


def test_the_groups_difference_does_not_choose_the_score() -> None:
    # The second score differs only between strata, each of which is cut at its own quantile.
    codes = np.arange(2_000, dtype=np.int16) % 2
    first = np.random.default_rng(0).normal(size=2_000)
    noise = np.random.default_rng(1).normal(size=2_000)
    scores = np.column_stack([first, first + 0.1 * noise, 100.0 * codes + 0.01 * noise])
    assert grow_tree(scores, codes, 2).score[0] in (0, 1)


# --- places ---


@pytest.mark.parametrize("block_count", [2, 3, 7, 48])
@pytest.mark.parametrize("spread", ["continuous", "few values", "constant"])
def test_shares_on_placing_rows_are_equal_to_within_a_row(block_count: int, spread: str) -> None:
    random = np.random.default_rng(block_count)
    codes = np.repeat([0, 1, 2], [101, 400, 333])
    scores = random.normal(size=(834, 1)) + codes[:, None]
    if spread != "continuous":
        scores = np.round(scores) if spread == "few values" else np.zeros((834, 1))
    _, laws, block = placed(
        scores, codes, draws=row_draws(834, is_keyed=True), tree=one_score_tree(block_count)
    )
    for stratum, size in enumerate((101, 400, 333)):
        counts = np.bincount(block[codes == stratum], minlength=block_count)
        assert np.all(np.abs(counts - size / block_count) <= 1)
        # The law has one spacing more than there are rows, in the last block.
        expected = counts.copy()
        expected[-1] += 1
        assert laws[stratum].spacings.tolist() == expected.tolist()


def test_blocks_of_one_score_are_in_its_order() -> None:
    scores = np.random.default_rng(0).normal(size=(500, 1))
    _, _, block = placed(
        scores, np.zeros(500), draws=row_draws(500, is_keyed=True), tree=one_score_tree(7)
    )
    assert np.all(np.diff(block[np.argsort(scores[:, 0])]) >= 0)


def test_cuts_by_hand() -> None:
    # 7 rows have 8 spacings; 4 blocks end after 2, 4, 6 and 8 of them: at rows 2, 4 and 6.
    scores = np.arange(1.0, 8.0)[:, None]
    tree = one_score_tree(4)
    cuts, laws, block = placed(scores, np.zeros(7), draws=row_draws(7, is_keyed=True), tree=tree)
    assert sorted(cuts.score[0][~np.isnan(cuts.score[0])]) == [2.0, 4.0, 6.0]
    assert block.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert laws[0].spacings.tolist() == [2, 2, 2, 2]
    assert spacing_ends(8, 4).tolist() == [0, 2, 4, 6, 8]


def test_a_new_row_goes_to_the_left_of_a_cut_up_to_the_row_at_it() -> None:
    scores = np.arange(1.0, 8.0)[:, None]
    tree = one_score_tree(2)
    draws = row_draws(7, is_keyed=True)
    cuts, _, _ = placed(scores, np.zeros(7), draws=draws, tree=tree)
    new = np.array([[3.9], [4.0], [4.1], [-np.inf], [9.0]])
    same = draws.take(np.array([0, 3, 0, 0, 0]))  # the second new row is the one at the cut
    cell = cells_of(tree, cuts, scores=new, codes=np.zeros(5, dtype=np.int16), draws=same)
    assert divide(tree, cell, same).tolist() == [0, 0, 1, 0, 1]


def test_ties_are_broken_by_content_and_then_by_draw() -> None:
    # All scores are equal; 10 contents of 20 rows each.
    random = np.random.default_rng(0)
    content = np.repeat(random.integers(0, 2**64, 10, dtype=np.uint64), 20)
    draws = RowDraws(
        rows=random.integers(0, 2**64, 200, dtype=np.uint64), content=content, is_keyed=False
    )
    cuts, laws, block = placed(
        np.zeros((200, 1)), np.zeros(200), draws=draws, tree=one_score_tree(2)
    )
    order = np.lexsort((draws.uniforms("tie"), draws.content_uniforms()))
    assert np.all(np.diff(block[order]) >= 0)
    # Only one content is on both sides: the one at the cut.
    sides = {word: {*block[content == word].tolist()} for word in np.unique(content)}
    assert sum(len(both) == 2 for both in sides.values()) <= 1
    at_cut = draws.content_uniforms() == cuts.content[0, 0]
    assert at_cut.sum() == 20
    # The other 19 rows of that content tie with the row at the cut.
    assert laws[0].tied == 19


def test_rows_with_keys_have_no_ties_to_count() -> None:
    _, laws, _ = placed(
        np.zeros((50, 1)), np.zeros(50), draws=row_draws(50, is_keyed=True), tree=one_score_tree(2)
    )
    assert laws[0].tied is None


def test_a_coarse_stratum_is_divided_by_draw_in_equal_shares() -> None:
    tree = one_score_tree(8)
    codes = np.repeat([0, 1], [40, 40_000])
    scores = np.random.default_rng(0).normal(size=(40_040, 1))
    draws = row_draws(40_040, is_keyed=True)
    cuts, laws, _ = placed(scores, codes, draws=draws, tree=tree, depth=[1, 3])
    assert laws[0].spacings.tolist() == [20, 21]
    assert laws[0].leaves.tolist() == [4, 4]
    assert np.isnan(cuts.score[0]).sum() == tree.score.size - 1
    # New rows of the coarse stratum: its half by the cut, the quarter of it by draw.
    new = np.random.default_rng(1).normal(size=(40_000, 1))
    new_draws = row_draws(40_000, 1, is_keyed=True)
    cell = cells_of(tree, cuts, scores=new, codes=np.zeros(40_000, dtype=np.int16), draws=new_draws)
    new_block = divide(tree, cell, new_draws)
    goes_right = new[:, 0] > np.nanmax(cuts.score[0])
    assert np.array_equal(new_block >= 4, goes_right)
    counts = np.bincount(new_block[~goes_right], minlength=4)
    assert stats.chisquare(counts[:4]).pvalue > 0.001
    # The draw has nothing to do with the score.
    assert abs(stats.spearmanr(new[~goes_right, 0], new_block[~goes_right])[0]) < 0.03


def test_rows_without_a_stratum_have_no_block() -> None:
    tree = one_score_tree(3)
    scores = np.random.default_rng(0).normal(size=(30, 1))
    draws = row_draws(30, is_keyed=True)
    cuts, laws, _ = placed(scores, np.zeros(30), draws=draws, tree=tree)
    codes = np.zeros(30, dtype=np.int16)
    codes[[3, 7]] = -1
    blocks = Blocks(tree=tree, cuts=cuts, laws=laws, records=np.zeros((3, 2, 1)))
    found = blocks.blocks_of(scores, codes, draws)
    assert np.flatnonzero(found == -1).tolist() == [3, 7]
    index = blocks.record_index(found, draws)
    assert index[[3, 7]].tolist() == [-1, -1]
    assert np.array_equal(np.delete(index // 2, [3, 7]), np.delete(found, [3, 7]))


def test_a_law_of_so_many_rows_by_hand() -> None:
    # 10 rows, 11 spacings, 3 blocks that end after 3, 7 and 11.
    fine = block_law(one_score_tree(3), 2, 10)
    assert fine.spacings.tolist() == [3, 4, 4]
    assert fine.leaves.tolist() == [1, 1, 1]
    # One cut: the left third alone, the others together.
    coarse = block_law(one_score_tree(3), 1, 10, tied=2)
    assert coarse.spacings.tolist() == [3, 8]
    assert coarse.leaves.tolist() == [1, 2]
    assert coarse.tied == 2
    assert block_law(one_score_tree(3), 0, 10).spacings.tolist() == [11]


@pytest.mark.slow
def test_two_scores_cut_in_a_tree_keep_the_law() -> None:
    """Shares of new rows, known exactly, over 5,000 samples of 23 rows from the unit square."""
    random = np.random.default_rng(0)
    # The first cut is by x, the second by y: 4 blocks, each a rectangle.
    tree = CutTree(
        score=np.array([0, 1, LEAF, LEAF, 1, LEAF, LEAF]),
        first=np.array([0, 0, 0, 1, 2, 2, 3]),
        leaves=np.array([4, 2, 1, 1, 2, 1, 1]),
        left=np.array([1, 2, LEAF, LEAF, 5, LEAF, LEAF]),
        right=np.array([4, 3, LEAF, LEAF, 6, LEAF, LEAF]),
        depth=np.array([0, 1, 2, 2, 1, 2, 2]),
    )
    codes = np.zeros(23, dtype=np.int16)
    shares, spacings = [], None
    for sample in range(5_000):
        draws = row_draws(23, sample, is_keyed=True)
        cuts, laws = place(
            tree, OrderedRows.of(random.random((23, 2)), codes, draws=draws), depth=np.array([2])
        )
        x, left, right = cuts.score[0, 0], cuts.score[0, 1], cuts.score[0, 4]
        shares.append([x * left, x * (1 - left), (1 - x) * right, (1 - x) * (1 - right)])
        spacings = laws[0].spacings
    assert spacings is not None
    assert spacings.tolist() == [6, 6, 6, 6]
    simulated = np.array(shares)
    for block in range(4):
        # 4 tests at the level .0025. Were the row at a cut not spent, these would fail.
        test = stats.kstest(simulated[:, block], stats.beta(6, 18).cdf)
        assert test.pvalue > 0.0025
    # Four standard errors of a variance of .0075.
    assert np.cov(simulated.T) == pytest.approx(stats.dirichlet([6] * 4).cov(), abs=6e-4)


# --- typical records ---


def medians(values: list[float], weight: list[float] | None = None) -> float:
    cells = np.zeros(len(values), dtype=np.int64)
    weights = np.ones(len(values)) if weight is None else np.array(weight)
    found, has_rows = weighted_medians(np.array(values), cells, weight=weights, cell_count=2)
    assert has_rows.tolist() == [True, False]
    assert np.isnan(found[1])
    return float(found[0])


def test_weighted_medians_by_hand() -> None:
    assert medians([3.0, 1.0, 2.0]) == 2.0
    # Of an even number the lower one, which occurs; a midpoint might be nobody's value.
    assert medians([1.0, 2.0, 10.0, 20.0]) == 2.0
    assert medians([1.0, 2.0, 10.0], [1.0, 1.0, 5.0]) == 10.0
    # Half of the weight is enough.
    assert medians([1.0, 2.0, 3.0], [2.0, 1.0, 1.0]) == 1.0


def test_missing_is_typical_where_more_than_half_is() -> None:
    assert medians([NAN, 1.0, 2.0, 3.0]) == 2.0
    assert medians([NAN, NAN, 5.0, 7.0]) == 5.0
    assert np.isnan(medians([NAN, NAN, 5.0]))
    assert medians([NAN, NAN, 5.0], [0.2, 0.2, 0.5]) == 5.0


def test_weights_that_are_not_exact_do_not_push_a_median() -> None:
    # Ten weights of .1 add up to less than 1 in floating point.
    values = [float(value) for value in range(10)]
    assert medians(values, [0.1] * 10) == 4.0


def modes(values: list[float], weight: list[float] | None = None) -> float:
    cells = np.zeros(len(values), dtype=np.int64)
    weights = np.ones(len(values)) if weight is None else np.array(weight)
    found, has_rows = most_frequent(np.array(values), cells, weight=weights, cell_count=2)
    assert has_rows.tolist() == [True, False]
    return float(found[0])


def test_the_most_frequent_category_by_hand() -> None:
    assert modes([2.0, 0.0, 2.0]) == 2.0
    assert modes([2.0, 0.0, 2.0], [1.0, 5.0, 1.0]) == 0.0
    assert modes([1.0, 0.0]) == 0.0
    assert np.isnan(modes([NAN, NAN, 0.0]))
    # Unlike a number, a missing category need not be in most rows.
    assert np.isnan(modes([NAN, NAN, 0.0, 1.0, 2.0]))
    assert np.isnan(modes([NAN, NAN]))


def records(
    columns: list[Any], kinds: list[Any], block: Any, *, variant: Any = None, shape: tuple[int, int]
) -> FloatArray:
    blocks: IntArray = np.array(block)
    return typical_records(
        [np.array(column, dtype=float) for column in columns],
        [ColumnType(name=str(index), kind=kind) for index, kind in enumerate(kinds)],
        block=blocks,
        variant=np.zeros(blocks.size, dtype=np.int64) if variant is None else np.array(variant),
        weight=np.ones(blocks.size),
        shape=shape,
    )


def test_a_typical_record_by_hand() -> None:
    numbers = [1.5, 2.5, 9.0, 4.0]
    integers = [1, 2, 3, 8]
    categories = [1, 1, 0, 2]
    dates = [10, 10, 30, 40]
    found = records(
        [numbers, integers, categories, dates],
        ["number", "integer", "category", "date"],
        [0, 0, 0, 1],
        shape=(2, 1),
    )
    assert found[:, 0].tolist() == [[2.5, 2.0, 1.0, 10.0], [4.0, 8.0, 2.0, 40.0]]


def test_each_part_of_a_block_has_a_record_and_a_small_one_that_of_its_block() -> None:
    found = records(
        [[1.0] * 10 + [2.0] * 10 + [3.0] * 10 + [7.0] * 9 + [50.0] * 30],
        ["number"],
        [0] * 30 + [1] * 39,
        variant=[0] * 10 + [1] * 20 + [0] * 9 + [1] * 30,
        shape=(2, 2),
    )
    # The second block has only nine rows in its first part: the record could be somebody's.
    assert found[:, :, 0].tolist() == [[1.0, 2.0], [50.0, 50.0]]


def test_strata_are_weighted_as_they_are_told() -> None:
    found = typical_records(
        [np.array([1.0, 1.0, 1.0, 9.0])],
        [ColumnType(name="x", kind="number")],
        block=np.zeros(4, dtype=np.int64),
        variant=np.zeros(4, dtype=np.int64),
        weight=np.array([1 / 3, 1 / 3, 1 / 3, 1.5]),
        shape=(1, 1),
    )
    assert found.tolist() == [[[9.0]]]


def test_every_typical_value_occurs_in_its_cell() -> None:
    random = np.random.default_rng(0)
    values = np.where(random.random(300) < 0.2, NAN, random.integers(0, 40, 300))
    cells = random.integers(0, 12, 300)
    for typical in (weighted_medians, most_frequent):
        found, _ = typical(values, cells, weight=random.random(300) + 0.1, cell_count=12)
        for cell, value in enumerate(found):
            assert np.isnan(value) or value in values[cells == cell]


def test_many_cells_at_once_are_the_cells_one_by_one() -> None:
    random = np.random.default_rng(0)
    values = np.where(random.random(500) < 0.3, NAN, random.normal(size=500))
    cells, weight = random.integers(0, 20, 500), random.random(500) + 0.1
    found, _ = weighted_medians(values, cells, weight=weight, cell_count=20)
    for cell in range(20):
        inside = cells == cell
        own, own_weight = values[inside], weight[inside]
        present = ~np.isnan(own)
        if own_weight[~present].sum() > own_weight.sum() / 2:
            assert np.isnan(found[cell])
            continue
        order = np.argsort(own[present])
        reached = np.cumsum(own_weight[present][order]) >= own_weight[present].sum() / 2
        assert found[cell] == own[present][order][reached.argmax()]
