"""A fitted repair by blocks: what it learned, how it is learned, and how it is applied.

Plan: on some rows the guide is learned, a score of what is to be kept. Place: the other rows, which
the guide has not seen, are scored as new rows will be and cut in each stratum. Write: the typical
record of a block. The split matters: only for rows that the guide has not seen is the law of the
shares exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, HashArray, IntArray
from fourfifths._repair.blocks import (
    MAX_RECORD_ROWS,
    Blocks,
    Cuts,
    CutTree,
    cells_of,
    divide,
    grow_tree,
    place,
    typical_records,
)
from fourfifths._repair.draws import RowDraws
from fourfifths._repair.guide import (
    EstimatorGuide,
    Guide,
    Outcome,
    fit_column_guide,
    fit_trees,
)
from fourfifths._repair.proof import (
    BlockPlan,
    planned_by_rows,
    proven_limits,
    proven_plans,
)
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.load import Rows
from fourfifths._tables.types import ColumnType, check_exact
from fourfifths.errors import OptionError

BlockCount = int | Literal["certified"]
PLANNING_SHARE = 0.3
# A small table plans on half of its rows, up to so many: with fewer, scores are mostly noise.
MIN_PLANNING_ROWS = 1_000
MAX_PLANNING_SHARE = 0.5
DEFAULT_BETA = 0.1  # where no outcome has two values
MAX_UNPROVEN_BLOCKS = 16
MIN_ROWS_PER_UNPROVEN_BLOCK = 20


@dataclass(frozen=True, kw_only=True)
class BlockModel:
    """What a repair by blocks has learned.

    Attributes
    ----------
    guide : Guide
    blocks : Blocks
    counts : int array of shape (strata, records)
        The rows of the table that it was fitted to.
    beta : float
        The rules in question select at least this share of each group.
    """

    guide: Guide
    blocks: Blocks
    counts: IntArray
    beta: float

    def blocks_of(
        self,
        rows: Rows,
        columns: Sequence[FloatArray],
        *,
        codes: CodeArray,
        draws: RowDraws,
        amount: float,
    ) -> IntArray:
        """Return the block of each row; -1 for rows without a stratum or that are not drawn."""
        if amount == 0:
            return np.full(codes.size, -1)
        block = self.blocks.blocks_of(self.guide.scores(rows, columns), codes, draws)
        if amount < 1:
            block[draws.uniforms("amount") >= amount] = -1
        return block


def fit_block_model(
    rows: Rows,
    columns: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    codes: CodeArray,
    outcomes: Sequence[Outcome],
    estimator: Any,
    draws: RowDraws,
    block_count: BlockCount,
    beta: float,
    threshold: float,
    confidence: float,
    variety: int,
    seed: int,
) -> BlockModel:
    """Plan on some rows, place the others, and take the typical records.

    Parameters
    ----------
    rows : Rows
    columns : sequence of float array
        The columns to repair, as numbers.
    column_types : sequence of ColumnType
    codes : int array
        The stratum of each row; -1 for rows without one.
    outcomes : sequence of Outcome
        What is to be kept; none keeps the columns themselves.
    estimator : fitted estimator or None
        The guide, if it is given.
    draws : RowDraws
    block_count : int or "certified"
    beta, threshold, confidence : float
    variety : int
        How many typical records each block has.
    seed : int
    """
    for column, column_type in zip(columns, column_types, strict=True):
        if column_type.kind == "integer":
            check_exact(column_type, float(np.fmax.reduce(np.abs(column), initial=0.0)))
    is_planning = planning_rows(codes, draws)
    planning = np.flatnonzero(is_planning)
    guide = fit_guide(
        columns,
        column_types,
        planning=planning,
        outcomes=outcomes,
        estimator=estimator,
        seed=seed,
    )
    scores = guide.scores(rows, columns)
    if estimator is not None and scores.shape[1] == 1:
        # Nothing is learned here: a single score needs no tree, so every row is placed.
        is_planning[:] = False
        planning = np.flatnonzero(is_planning)
    placing = np.flatnonzero(~is_planning & (codes >= 0))
    placing_draws = draws.take(placing)
    tree, cuts, laws = place_best(
        scores[placing],
        codes[placing],
        draws=placing_draws,
        planning=(scores[planning], codes[planning]),
        equal_rows=expected_equal_rows(draws, codes, planning=planning, placing=placing),
        block_count=block_count,
        beta=beta,
        threshold=threshold,
        confidence=confidence,
    )

    cell = cells_of(tree, cuts, scores=scores, codes=codes, draws=draws)
    block = divide(tree, cell, draws)
    records = block_records(
        columns,
        column_types,
        block=block,
        codes=codes,
        placing=placing,
        cells=np.array([law.spacings.size for law in laws]),
        draws=draws,
        shape=(tree.block_count, variety),
    )
    known = np.flatnonzero(codes >= 0)
    stratum_count = len(laws)
    blocks = Blocks(tree=tree, cuts=cuts, laws=laws, records=records)
    # A rule sees the record, so records are counted, not blocks.
    record_count = tree.block_count * variety
    counts = np.bincount(
        codes[known].astype(np.int64) * record_count + blocks.record_index(block, draws)[known],
        minlength=stratum_count * record_count,
    ).reshape(stratum_count, record_count)
    return BlockModel(
        guide=guide,
        blocks=blocks,
        counts=counts,
        beta=beta,
    )


def planning_rows(codes: CodeArray, draws: RowDraws) -> BoolArray:
    """Return which rows are planned on: the same share of each stratum, by draw."""
    is_planning = np.zeros(codes.size, dtype=np.bool_)
    known = np.flatnonzero(codes >= 0)
    share = float(np.clip(MIN_PLANNING_ROWS / known.size, PLANNING_SHARE, MAX_PLANNING_SHARE))
    order = known[np.lexsort((draws.uniforms("plan")[known], codes[known]))]
    ordered = codes[order]
    sizes = np.bincount(ordered)
    position = np.arange(order.size) - (np.cumsum(sizes) - sizes)[ordered]
    is_planning[order[position < np.floor(share * sizes)[ordered]]] = True
    return is_planning


def fit_guide(
    columns: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    planning: IntArray,
    outcomes: Sequence[Outcome],
    estimator: Any,
    seed: int,
) -> Guide:
    """Return the guide: the one that is given, or one that is learned on the planning rows."""
    if estimator is not None:
        return EstimatorGuide(
            estimator=estimator, names=tuple(column_type.name for column_type in column_types)
        )
    planning_columns = [column[planning] for column in columns]
    if not outcomes:
        return fit_column_guide(planning_columns, column_types)
    planning_outcomes = [
        Outcome(
            name=outcome.name,
            kind=outcome.kind,
            values=outcome.values[planning],
            classes=outcome.classes,
        )
        for outcome in outcomes
    ]
    return fit_trees(planning_columns, column_types, outcomes=planning_outcomes, seed=seed)


def place_best(
    scores: FloatArray,
    codes: CodeArray,
    *,
    draws: RowDraws,
    planning: tuple[FloatArray, CodeArray],
    equal_rows: FloatArray | None,
    block_count: BlockCount,
    beta: float,
    threshold: float,
    confidence: float,
) -> tuple[CutTree, Cuts, tuple[BlockLaw, ...]]:
    """Place the rows in as many blocks as are asked for, or as many as can be proven.

    Parameters
    ----------
    scores : float array, rows by scores
    codes : int array
        The stratum of each placing row.
    draws : RowDraws
    planning : (float array, int array)
        The scores and the strata of the planning rows, to grow a tree by.
    equal_rows : float array or None
        As in `proven_plans`.
    block_count, beta, threshold, confidence
        As in `Repairer`.
    """
    row_counts = np.bincount(codes)

    def placed(plan: BlockPlan) -> tuple[CutTree, Cuts, tuple[BlockLaw, ...]]:
        tree = grow_tree(*planning, block_count=plan.block_count)
        cuts, laws = place(tree, scores, codes, draws=draws, depth=plan.depth)
        return tree, cuts, laws

    if block_count != "certified":
        if block_count > codes.size:
            raise OptionError(
                f"blocks={block_count}: there are only {codes.size:,} placing rows; expected fewer "
                "blocks than rows"
            )
        return placed(planned_by_rows(row_counts, block_count))
    plans = proven_plans(
        row_counts,
        equal_rows=equal_rows,
        beta=beta,
        threshold=threshold,
        confidence=confidence,
    )
    # Plans get coarser, so the first that is proven is found by halving.
    proven, low, high = None, 0, len(plans)
    while low < high:
        middle = (low + high) // 2
        tree, cuts, laws = placed(plans[middle])
        # By the very limit that the proof will state: a plan that passes here is certified there.
        floors, _, _ = proven_limits(laws, beta=beta, confidence=confidence)
        if floors.min() >= threshold:
            proven, high = (tree, cuts, laws), middle
        else:
            low = middle + 1
    if proven is not None:
        return proven
    most = int(row_counts.max()) // MIN_ROWS_PER_UNPROVEN_BLOCK
    return placed(planned_by_rows(row_counts, int(np.clip(most, 2, MAX_UNPROVEN_BLOCKS))))


def expected_equal_rows(
    draws: RowDraws, codes: CodeArray, *, planning: IntArray, placing: IntArray
) -> FloatArray | None:
    """Return how many placing rows of its stratum are equal to a row, as the planning rows say.

    Not as the placing rows say, so that which plans are tried does not depend on them. None if rows
    have keys. Without planning rows nothing is expected.
    """
    if draws.is_keyed:
        return None
    sizes = np.bincount(codes[placing])
    equal_rows = np.zeros(sizes.size)
    for stratum, size in enumerate(sizes):
        content = draws.content[planning[codes[planning] == stratum]]
        equal_rows[stratum] = mean_equal_rows(content) * size / max(content.size, 1)
    return equal_rows


def mean_equal_rows(content: HashArray) -> float:
    """Return how many other rows have the content of a row, on average."""
    _, counts = np.unique(content, return_counts=True)
    return float((counts * (counts - 1)).sum() / max(content.size, 1))


def block_records(
    columns: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    block: IntArray,
    codes: CodeArray,
    placing: IntArray,
    cells: IntArray,
    draws: RowDraws,
    shape: tuple[int, int],
) -> FloatArray:
    """Return the typical records of the blocks, from the placing rows.

    Strata are weighted alike, but for those that are cut coarser: a draw puts their rows into
    blocks, so they say less about one block.
    """
    rows = placing
    if rows.size > MAX_RECORD_ROWS:
        rows = rows[np.argsort(draws.take(rows).uniforms("plan", 1))[:MAX_RECORD_ROWS]]
    sizes = np.bincount(codes[rows], minlength=cells.size)
    stratum_weight = cells / cells.max() / np.maximum(sizes, 1)
    part = (draws.take(rows).uniforms("variety", 1) * shape[1]).astype(np.int64)
    return typical_records(
        [column[rows] for column in columns],
        column_types,
        block=block[rows],
        part=part,
        weight=stratum_weight[codes[rows]],
        shape=shape,
    )


def own_beta(outcomes: Sequence[Outcome], codes: CodeArray, favorable: Any) -> float:
    """Return the lowest selection rate of a stratum, from an outcome of two values.

    Without a favorable value, the lower of the two rates is taken: a lower beta claims more, and is
    harder to prove. A stratum in which nobody was selected does not count: a rule that selects
    nobody has no ratio. Where no outcome has two values, a tenth is taken.
    """
    if len(outcomes) != 1 or outcomes[0].kind != "binary":
        return DEFAULT_BETA
    outcome = outcomes[0]
    known = np.flatnonzero((codes >= 0) & ~np.isnan(outcome.values))
    sizes = np.bincount(codes[known])
    selected = np.bincount(codes[known], weights=outcome.values[known], minlength=sizes.size)
    rates = selected[sizes > 0] / sizes[sizes > 0]
    if favorable is None:
        rates = np.minimum(rates, 1 - rates)
    elif favorable == outcome.classes[0]:
        rates = 1 - rates
    rates = rates[rates > 0]
    return float(rates.min()) if rates.size else DEFAULT_BETA
