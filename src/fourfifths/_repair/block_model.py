"""A fitted repair by blocks: what it learned, how it is learned, and how it is applied.

Plan: on some rows the guide is learned, a score of what is to be kept. Place: the other rows, which
the guide has not seen, are scored as new rows will be and cut in each stratum. Write: the typical
record of a block. The split matters: only for rows that the guide has not seen is the law of the
shares exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, HashArray, IntArray
from fourfifths._repair.blocks import (
    MAX_RECORD_ROWS,
    MAX_TREE_ROWS,
    Blocks,
    Cuts,
    CutTree,
    OrderedRows,
    cells_of,
    divide,
    grow_tree,
    place,
    typical_records,
)
from fourfifths._repair.draws import Purpose, RowDraws
from fourfifths._repair.guide import (
    EstimatorGuide,
    Guide,
    Outcome,
    fit_column_guide,
    fit_trees,
)
from fourfifths._repair.proof import (
    BlockPlan,
    is_proven,
    most_placing_rows,
    planned_by_rows,
    proven_plans,
)
from fourfifths._stats.shares import BlockLaw
from fourfifths._tables.load import Rows
from fourfifths._tables.types import ColumnType, check_exact
from fourfifths.errors import OptionError

BlockCount = int | Literal["certified"]
PLANNING_SHARE = 0.3
# A small table plans on more of its rows, up to this many: with fewer, scores are mostly noise. But
# not in its small strata, whose rows are needed to cut them.
MIN_PLANNING_ROWS = 1_000
MAX_PLANNING_SHARE = 0.4
TINY_TABLE = 100  # rows; fewer are halved, because a score needs some to be learned at all
MIN_PART_OF_MEAN = 0.75  # a smaller stratum, by the mean number of rows, is a small one
# A larger table is fitted on this many rows, by draw. That bounds the memory and the time of a
# fit: more rows would hardly better a score of a few thousand leaves, and of two groups 50,000 rows
# each are placed.
MAX_FIT_ROWS = 500_000
DEFAULT_BETA = 0.1  # where no outcome has two values
MAX_UNPROVEN_BLOCKS = 16
MIN_ROWS_PER_UNPROVEN_BLOCK = 20


class TableCounts:
    """How many rows of each stratum of the fitted table are written as each record.

    A fit scores only the rows that it needs. The others are counted when somebody asks, and are let
    go then, or before this is pickled.

    Examples
    --------
    >>> table = TableCounts(np.array([[2, 3]]), lambda: np.array([[1, 1]]))
    >>> table.counts
    array([[3, 4]])
    """

    def __init__(self, counted: IntArray, count_others: Callable[[], IntArray] | None = None):
        self._counted = counted
        self._count_others = count_others
        self._total = counted

    @property
    def counts(self) -> IntArray:
        """An int array of shape (strata, records)."""
        count_others = self._count_others
        if count_others is not None:
            self.complete(self._counted + count_others())
        return self._total

    def complete(self, counts: IntArray) -> None:
        """Take counts of the whole table that were made elsewhere."""
        self._total = counts  # first: another thread may ask in between
        self._count_others = None

    def __getstate__(self) -> dict[str, Any]:
        counts = self.counts
        return {"_counted": counts, "_count_others": None, "_total": counts}


@dataclass(frozen=True, kw_only=True)
class BlockModel:
    """What a repair by blocks has learned.

    Attributes
    ----------
    guide : Guide
    blocks : Blocks
    table : TableCounts
        The rows of the table that it was fitted to.
    beta : float
        The rules in question select at least this share of each group.
    """

    guide: Guide
    blocks: Blocks
    table: TableCounts
    beta: float

    @property
    def fit_rows(self) -> int | None:
        """How many rows of a large table the model was fitted on; None if on all."""
        row_counts = self.table.counts.sum(axis=1)
        fit_rows = int(fit_quotas(row_counts).sum())
        return fit_rows if fit_rows < row_counts.sum() else None

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


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Rows that are cut into blocks.

    Attributes
    ----------
    tree : CutTree
    cuts : Cuts
    laws : tuple of BlockLaw
        Of the shares that further rows of each stratum will have in the blocks.
    is_proven : bool
        Whether the number of blocks was searched for, and is proven.
    """

    tree: CutTree
    cuts: Cuts
    laws: tuple[BlockLaw, ...]
    is_proven: bool = False


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
) -> tuple[BlockModel, bool]:
    """Plan on some rows, place others, and take the typical records.

    Returns the model, and whether a number of blocks was searched for and is proven.

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
    fit_codes = np.full_like(codes, -1)
    fitted = fit_rows(codes, draws)
    fit_codes[fitted] = codes[fitted]
    is_planning = planning_rows(fit_codes, draws)
    guide = fit_guide(
        columns,
        column_types,
        planning=np.flatnonzero(is_planning),
        outcomes=outcomes,
        estimator=estimator,
        seed=seed,
    )
    scores_known = None if estimator is None else guide.scores(rows, columns)
    if scores_known is not None and scores_known.shape[1] == 1:
        # Nothing is learned here: a single score needs no tree, so every row may be placed.
        is_planning[:] = False

    def scoring(positions: IntArray) -> Callable[[], FloatArray]:
        """Take rows out of the table, which may change later, and return how they are scored."""
        if scores_known is not None:
            return partial(np.take, scores_known, positions, axis=0)
        return partial(guide.scores, None, [column[positions] for column in columns])

    planning = np.flatnonzero(is_planning)
    placing = np.flatnonzero(~is_planning & (fit_codes >= 0))
    equal_rows = expected_equal_rows(draws, codes, planning=planning, placing=placing)
    if block_count == "certified":
        row_counts = np.bincount(codes[placing])
        most = most_placing_rows(
            row_counts,
            equal_rows=equal_rows,
            beta=beta,
            threshold=threshold,
            confidence=confidence,
        )
        placing = first_drawn(placing, codes, draws, most=np.minimum(row_counts, most))
        if equal_rows is not None:
            equal_rows *= np.minimum(most / np.maximum(row_counts, 1), 1)
    scores = scoring(placing)()
    # Only a tree over several scores has to be grown.
    growing = planning[: MAX_TREE_ROWS if scores.shape[1] > 1 else 0]
    placing_draws, placing_codes = draws.take(placing), codes[placing]
    placement = place_best(
        scores,
        placing_codes,
        draws=placing_draws,
        planning=(scoring(growing)() if growing.size else scores[:0], codes[growing]),
        equal_rows=equal_rows,
        block_count=block_count,
        beta=beta,
        threshold=threshold,
        confidence=confidence,
    )
    tree, cuts, laws = placement.tree, placement.cuts, placement.laws
    cell = cells_of(tree, cuts, scores=scores, codes=placing_codes, draws=placing_draws)
    block = divide(tree, cell, placing_draws)
    records = block_records(
        [column[placing] for column in columns],
        column_types,
        block=block,
        codes=placing_codes,
        cells=np.array([law.spacings.size for law in laws]),
        draws=placing_draws,
        shape=(tree.block_count, variety),
    )
    blocks = Blocks(tree=tree, cuts=cuts, laws=laws, records=records)
    is_other = codes >= 0
    is_other[placing] = False
    other_rows = np.flatnonzero(is_other)
    other_scores, other_codes, other_draws = (
        scoring(other_rows),
        codes[other_rows],
        draws.take(other_rows),
    )

    def count_others() -> IntArray:
        other_block = blocks.blocks_of(other_scores(), other_codes, other_draws)
        return record_counts(blocks, blocks.record_index(other_block, other_draws), other_codes)

    placed_counts = record_counts(blocks, blocks.record_index(block, placing_draws), placing_codes)
    model = BlockModel(
        guide=guide,
        blocks=blocks,
        table=TableCounts(placed_counts, count_others if other_rows.size else None),
        beta=beta,
    )
    return model, placement.is_proven


def record_counts(blocks: Blocks, index: IntArray, codes: CodeArray) -> IntArray:
    """Return how many rows of each stratum are written as each record.

    A rule sees the record, so records are counted, not blocks. Rows without a stratum are not.
    """
    members = np.flatnonzero(codes >= 0)
    shape = len(blocks.laws), blocks.tree.block_count * blocks.variety
    cells = codes[members].astype(np.int64) * shape[1] + index[members]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def fit_quotas(row_counts: IntArray, max_rows: int | None = None) -> IntArray:
    """Return how many rows of each stratum a table is fitted on: all, unless it is large.

    Half of the rows are shared out in proportion to the strata, and half evenly, so that a small
    stratum of a large table is not left with a handful. By default `max_rows` is `MAX_FIT_ROWS`.

    Examples
    --------
    >>> fit_quotas(np.array([3_000, 900]))
    array([3000,  900])
    >>> fit_quotas(np.array([3_000_000, 1_000_000, 20]))
    array([270832, 145832,     20])
    """
    total = int(row_counts.sum())
    max_rows = MAX_FIT_ROWS if max_rows is None else max_rows
    if total <= max_rows:
        return row_counts.copy()
    in_proportion = max_rows * row_counts // (2 * total)
    return np.minimum(row_counts, in_proportion + max_rows // (2 * row_counts.size))


def fit_rows(codes: CodeArray, draws: RowDraws) -> IntArray:
    """Return the rows that a table is fitted on, in its order: of a large one, some by draw.

    The draw comes from a hash of the row, not from its values or its stratum. So the rows of a
    stratum are a random sample of it, and the law of the shares stays what it is.
    """
    members = np.flatnonzero(codes >= 0)
    quotas = fit_quotas(np.bincount(codes[members]))
    return first_drawn(members, codes, draws, most=quotas, purpose="sample")


def planning_rows(codes: CodeArray, draws: RowDraws) -> BoolArray:
    """Return which rows are planned on: a share of each stratum, by draw.

    The share depends on the numbers of rows only, so placing rows are still a random part of each
    stratum.
    """
    members = np.flatnonzero(codes >= 0)
    sizes = np.bincount(codes[members])
    share = float(np.clip(MIN_PLANNING_ROWS / members.size, PLANNING_SHARE, MAX_PLANNING_SHARE))
    is_large = sizes >= MIN_PART_OF_MEAN * members.size / np.count_nonzero(sizes)
    shares = np.where(is_large, share, PLANNING_SHARE)
    if members.size < TINY_TABLE:
        shares = np.full(sizes.size, 0.5)
    most = np.floor(shares * sizes).astype(np.int64)
    is_planning = np.zeros(codes.size, dtype=np.bool_)
    is_planning[first_drawn(members, codes, draws, most=most)] = True
    return is_planning


def first_drawn(
    positions: IntArray,
    codes: CodeArray,
    draws: RowDraws,
    *,
    most: IntArray,
    purpose: Purpose = "plan",
) -> IntArray:
    """Draw a number of rows of each stratum; return them in the order of the table.

    Parameters
    ----------
    positions : int array
        The rows to choose from, all with a stratum.
    codes : int array
        The stratum of each row of the table.
    draws : RowDraws
        Of each row of the table.
    most : int array
        How many rows of each stratum are taken; all if it has fewer.
    purpose : str
        Of the draw.
    """
    strata = codes[positions]
    sizes = np.bincount(strata, minlength=most.size)
    if np.all(sizes <= most):
        return positions
    order = np.lexsort((draws.take(positions).uniforms(purpose), strata))
    place_in_stratum = np.arange(order.size) - (np.cumsum(sizes) - sizes)[strata[order]]
    return np.sort(positions[order[place_in_stratum < most[strata[order]]]])


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
) -> Placement:
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
    ordered = OrderedRows.of(scores, codes, draws=draws)

    def placed(plan: BlockPlan) -> Placement:
        tree = grow_tree(*planning, block_count=plan.block_count, ways=plan.ways)
        cuts, laws = place(tree, ordered, depth=plan.depth)
        return Placement(tree=tree, cuts=cuts, laws=laws)

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
    for plan in plans:
        placement = placed(plan)
        if is_proven(placement.laws, beta=beta, threshold=threshold, confidence=confidence):
            return replace(placement, is_proven=True)
    most = int(row_counts.max()) // MIN_ROWS_PER_UNPROVEN_BLOCK
    return placed(planned_by_rows(row_counts, int(np.clip(most, 2, MAX_UNPROVEN_BLOCKS))))


def expected_equal_rows(
    draws: RowDraws, codes: CodeArray, *, planning: IntArray, placing: IntArray
) -> FloatArray | None:
    """Estimate from the planning rows how many placing rows of its stratum equal a row.

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
    cells: IntArray,
    draws: RowDraws,
    shape: tuple[int, int],
) -> FloatArray:
    """Return the typical records of the blocks, from the placing rows.

    Strata are weighted alike, but for those that are cut coarser: a draw puts their rows into
    blocks, so they say less about one block.
    """
    if block.size > MAX_RECORD_ROWS:
        rows = np.argsort(draws.uniforms("plan", 1))[:MAX_RECORD_ROWS]
        columns = [column[rows] for column in columns]
        block, codes, draws = block[rows], codes[rows], draws.take(rows)
    sizes = np.bincount(codes, minlength=cells.size)
    stratum_weight = cells / cells.max() / np.maximum(sizes, 1)
    variant = (draws.uniforms("variety", 1) * shape[1]).astype(np.int64)
    return typical_records(
        columns,
        column_types,
        block=block,
        variant=variant,
        weight=stratum_weight[codes],
        shape=shape,
    )


def own_beta(
    outcomes: Sequence[Outcome],
    codes: CodeArray,
    favorable: Sequence[Any] | None,
    *,
    row_counts: IntArray | None = None,
) -> float:
    """Return the lowest selection rate of a stratum, from a single outcome.

    Without favorable values, the lower of the two rates of two classes is taken: a lower beta
    claims more, and is harder to prove. A stratum in which nobody was selected does not count: a
    rule that selects nobody has no ratio. Of numbers and of several classes there is no rate
    without favorable values, and a tenth is taken. `row_counts` says for how many rows of a table
    each stands; by default for itself.
    """
    if len(outcomes) != 1 or (outcomes[0].kind != "binary" and favorable is None):
        return DEFAULT_BETA
    outcome = outcomes[0]
    favorable_codes: Sequence[Any] = [1]
    if favorable is not None:  # numbers are their own codes
        is_number = outcome.kind == "number"
        favorable_codes = favorable if is_number else [*map(outcome.classes.index, favorable)]
    members = np.flatnonzero((codes >= 0) & ~np.isnan(outcome.values))
    weights = np.ones(members.size) if row_counts is None else row_counts[members]
    sizes = np.bincount(codes[members], weights=weights)
    is_favorable = np.isin(outcome.values[members], favorable_codes)
    selected = np.bincount(codes[members], weights=weights * is_favorable, minlength=sizes.size)
    rates = selected[sizes > 0] / sizes[sizes > 0]
    if favorable is None:
        rates = np.minimum(rates, 1 - rates)
    rates = rates[rates > 0]
    return float(rates.min()) if rates.size else DEFAULT_BETA
