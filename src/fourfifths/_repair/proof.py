"""The proof that comes with a repair by blocks: no rule on the repaired columns has a lower ratio.

A rule that uses only the repaired columns sees a row's block and nothing else, so it selects each
group at the rate sum_b share_g(b) a_b, with the same a_b for every group. The law of the shares of
new rows is exact (`fourfifths._stats.shares`), so the limit of the impact floor holds for every
rule, every classifier and every amount of data. The table that was repaired is counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from itertools import combinations, permutations, product
from typing import ClassVar, Literal

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._repair.blocks import block_law, single_score_tree
from fourfifths._results import Record, Result, Verdict, flat, plain
from fourfifths._stats.shares import (
    BlockLaw,
    RuleCurve,
    binomial_upper_limit,
    draws_needed,
    joint_order_statistics,
    lower_limits,
    simulated_floors,
)
from fourfifths._text import listed

SCHEMA = "fourfifths/proof/1"
ONLY_REPAIRED = "a rule uses only the repaired columns:"
NOT_PROVEN = "nothing is proven of rules that use"
# Sizes with many halves, so that strata with few rows can be cut coarser.
# More would keep hardly more: what a score loses falls with the square of the number.
BLOCK_COUNTS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
# Between two and four cells of a small stratum lies much of what it can keep, so blocks are divided
# into three first, too.
DIVISIONS_BY_THREE = ((3, 2), (3, 3), (3, 2, 2), (3, 2, 2, 2))
MIN_ROWS_PER_CELL = 10  # of a stratum, where a number of blocks is asked for
MIN_ROWS_TO_CUT = 2
# A stratum that is not cut keeps nothing of the score: a draw alone gives its rows their blocks.
# That may be the price of a proof where a stratum is small, for at most this share of all rows.
MAX_SHARE_NOT_CUT = 0.1
MAX_STRATA = 40  # of more strata, not every pair is proven
DRAWS_OVER_PAIRS = 20_000
MIN_DRAWS = 4_000
MAX_DRAWS_OVER_PAIRS = 500_000  # more confidence than these can show is not proven
# The part of the risk that is spent on rows that tie with a cut. Which plan is taken may depend on
# how many do, so each plan that may be tried has its own part of that.
TIE_RISK = 0.2
MAX_PLANS = 8
# More blocks than this distance between two strata allows keep hardly more of a score, and a
# classifier with many new rows finds the distance: its BER is (1 - distance) / 2, so .48.
MAX_VARIATION = 0.04
# If the largest stratum is smaller, none is held to it, nor are those that two blocks do not bring
# that close.
MIN_ROWS_TO_HIDE = 1_000
CURVE_BETAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MAX_GROWTH = 1e4
# The approximate floor of a plan lies below the exact one, by more if strata are small.
EXPECTED_ERROR, MAX_ERROR = 0.05, 0.1
ERROR_SPREAD = 0.03  # between plans of the same strata
MAX_MISSES = 4  # plans in a row that are looked at and not proven
# Coarser plans that are tried too prove so much more, about.
FALLBACK_FLOORS = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15)
# A large stratum is placed with fewer rows if that loses hardly more, but at least with these.
MIN_PLACING_LIMIT = 50_000
MAX_LOSS_OF_PLACING = 0.001
# A plan whose floor lies this far below the threshold in a few draws is not looked at further.
SCREENING_DRAWS = (200, 2_000)
SCREENING_MARGIN = 0.002


@dataclass(frozen=True, kw_only=True)
class PairProof:
    """What is proven about two groups.

    Attributes
    ----------
    group, reference : str
    impact_floor, reverse_floor : float
        No rule has a lower impact ratio on new rows if it harms the group, or the reference; lower
        limits that hold together over all pairs and both sides.
    table_floor, table_reverse_floor : float
        The same on the table that was repaired, by counting it.
    total_variation : float
        The upper limit of the distance between the groups' shares of new rows.
    balanced_error_rate : float
        The lower limit of the error of any classifier that predicts the group of new rows; one half
        is guessing.
    """

    group: str
    reference: str
    impact_floor: float
    reverse_floor: float
    table_floor: float
    table_reverse_floor: float
    total_variation: float
    balanced_error_rate: float


@dataclass(frozen=True, kw_only=True)
class StratumBlocks:
    """How one stratum was cut.

    Attributes
    ----------
    stratum : str
    rows : int
        All its rows in the table.
    placing_rows : int
        Those that the cuts were made of.
    cells : int
        Into how many parts it was cut; in each, a draw divides the rows over the blocks.
    tied_rows : int or None
        How many placing rows have the same content as a row at a cut. None if rows have keys.
    """

    stratum: str
    rows: int
    placing_rows: int
    cells: int
    tied_rows: int | None


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The proven floor at another beta, over all pairs and both sides."""

    beta: float
    impact_floor: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Proof(Result):
    """What is proven of every rule on the repaired columns.

    Attributes
    ----------
    kind : {"proven"}
    verdict : {"certified", "inconclusive"}
    because : str
    beta : float
        The rules in question select at least this share of each group.
    threshold, confidence : float
    impact_floor : float
        The lowest of all pairs and sides, for new rows.
    table_floor : float
        The lowest of all pairs and sides on the table that was repaired.
    blocks : int
    pairs : tuple of PairProof
        The lowest floor first.
    strata : tuple of StratumBlocks
    curve : tuple of CurvePoint
    rows_needed : int or None
        How many rows like these would prove it; None where it is proven, or where no number would.
    columns : tuple of str
        The repaired columns.
    assumptions : tuple of str
    versions : mapping of str to str
    """

    kind: Literal["proven"] = "proven"
    verdict: Verdict
    because: str
    beta: float
    threshold: float
    confidence: float
    impact_floor: float
    table_floor: float
    blocks: int
    pairs: tuple[PairProof, ...]
    strata: tuple[StratumBlocks, ...]
    curve: tuple[CurvePoint, ...]
    rows_needed: int | None
    columns: tuple[str, ...]
    assumptions: tuple[str, ...]
    versions: dict[str, str]

    _schema: ClassVar[str | None] = SCHEMA

    def to_records(self) -> list[Record]:
        """Return one record per pair of groups."""
        return [flat(plain(pair)) for pair in self.pairs]


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What else a proof rests on.

    Attributes
    ----------
    has_variety : bool
        Whether a draw chooses among several records of a block.
    has_own_guide : bool
        Whether the guide was given, and not learned here.
    keeps_unseen : bool
        Whether rows without a fitted stratum stay as they were.
    strata_are : str
        The columns that the strata are made of.
    fit_rows : int or None
        How many rows of a large table the repair was fitted on; None if on all.
    other_columns : tuple of str
        Columns of the table that are not repaired, and that are neither strata, key nor outcome.
    """

    has_variety: bool = False
    has_own_guide: bool = False
    keeps_unseen: bool = False
    strata_are: str = "protected"
    fit_rows: int | None = None
    other_columns: tuple[str, ...] = ()


def prove(
    laws: Sequence[BlockLaw],
    counts: IntArray,
    *,
    labels: Sequence[str],
    columns: Sequence[str],
    beta: float,
    threshold: float,
    confidence: float,
    amount: float,
    circumstances: Circumstances,
) -> Proof:
    """Return what the law of the shares proves.

    Parameters
    ----------
    laws : sequence of BlockLaw
        Of each stratum.
    counts : int array of shape (strata, records)
        The rows of the repaired table.
    labels, columns : sequence of str
        The strata's names, and those of the repaired columns.
    beta, threshold, confidence : float
    amount : float
        The share of the rows that is repaired.
    circumstances : Circumstances
        Of the fit, for the assumptions.
    """
    block_count = int(sum(laws[0].leaves))
    is_keyed = laws[0].tied is None
    # Without a key, a draw by content tells equal rows of one call apart, but not of several.
    is_divided = circumstances.has_variety or any(law.spacings.size < block_count for law in laws)
    strata = tuple(
        StratumBlocks(
            stratum=label,
            rows=int(row_counts.sum()),
            placing_rows=law.rows,
            cells=law.spacings.size,
            tied_rows=law.tied,
        )
        for label, law, row_counts in zip(labels, laws, counts, strict=True)
    )
    pairs: tuple[PairProof, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    lowest = table_lowest = float("nan")
    if len(laws) <= MAX_STRATA and amount == 1:
        limits, curve_limits, variations = proven_limits(
            laws, beta=beta, confidence=confidence, curve=CURVE_BETAS
        )
        table = table_floors(counts, beta)
        ordered = list(permutations(range(len(laws)), 2))
        pair_index = {pair: index for index, pair in enumerate(ordered)}
        pairs = tuple(
            sorted(
                (
                    PairProof(
                        group=labels[group],
                        reference=labels[reference],
                        impact_floor=float(limits[pair_index[group, reference]]),
                        reverse_floor=float(limits[pair_index[reference, group]]),
                        table_floor=float(table[pair_index[group, reference]]),
                        table_reverse_floor=float(table[pair_index[reference, group]]),
                        total_variation=float(variations[pair_index[group, reference]]),
                        balanced_error_rate=float(1 - variations[pair_index[group, reference]]) / 2,
                    )
                    for group, reference in combinations(range(len(laws)), 2)
                ),
                key=lambda pair: min(pair.impact_floor, pair.reverse_floor),
            )
        )
        lowest, table_lowest = float(limits.min()), float(table.min())
        curve = tuple(
            CurvePoint(beta=rate, impact_floor=float(limit))
            for rate, limit in zip(CURVE_BETAS, curve_limits, strict=True)
        )
    is_proven = lowest >= threshold
    rows_needed = rows_for_two = None
    if pairs and not is_proven:
        # Some rows of a table are planned on, and are not placed.
        rows_per_placing_row = counts.sum() / sum(law.rows for law in laws)
        rows_needed, rows_for_two = (
            None if placing is None else round(placing * rows_per_placing_row)
            for placing in (
                rows_to_prove(
                    laws, beta=beta, threshold=threshold, confidence=confidence, most_cells=cells
                )
                for cells in (block_count, 2)
            )
        )
    return Proof(
        verdict="certified" if is_proven else "inconclusive",
        because=reason(
            lowest,
            table_lowest,
            beta=beta,
            threshold=threshold,
            confidence=confidence,
            amount=amount,
            stratum_count=len(laws),
            rows_needed=rows_needed,
            rows_for_two=rows_for_two,
            block_count=block_count,
            is_keyed=is_keyed,
            is_divided=is_divided,
        )
        + lost_order([stratum.stratum for stratum in strata if stratum.cells == 1]),
        beta=beta,
        threshold=threshold,
        confidence=confidence,
        impact_floor=lowest,
        table_floor=table_lowest,
        blocks=block_count,
        pairs=pairs,
        strata=strata,
        curve=curve,
        rows_needed=rows_needed,
        columns=tuple(map(str, columns)),
        assumptions=assumptions(columns, circumstances, is_keyed=is_keyed, is_divided=is_divided),
        versions={name: version(name) for name in ("fourfifths", "numpy", "scipy")},
    )


def proven_limits(
    laws: Sequence[BlockLaw],
    *,
    beta: float,
    confidence: float,
    curve: Sequence[float] = (),
    draws: int | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return limits of the impact floors at beta, along a curve, and of the distances.

    Returns
    -------
    floors : float array
        For each ordered pair of strata, the harmed one first; they hold together.
    curve_floors : float array
        For each beta of the curve, the limit of the lowest floor over all pairs.
    variations : float array
        For each ordered pair, the upper limit of the total variation; they hold together.
    """
    pair_count = len(laws) * (len(laws) - 1)
    risk = 1 - confidence
    risk_of_ties = tie_risk(laws, confidence)
    left = risk - MAX_PLANS * risk_of_ties
    draw_count = draws or max(MIN_DRAWS, DRAWS_OVER_PAIRS // pair_count)
    if draws_needed(left) <= MAX_DRAWS_OVER_PAIRS // pair_count:
        draw_count = max(draw_count, draws_needed(left))
    floors, variations = simulated_floors(
        laws,
        [beta, *curve],
        draws=draw_count,
        risk=risk_of_ties,
        random_state=0,
    )
    curve_floors = [
        lower_limits(floors[:, index].min(axis=0, keepdims=True), left)[0]
        for index in range(1, 1 + len(curve))
    ]
    return (
        np.maximum(lower_limits(floors[:, 0], left), 0.0),
        np.maximum(curve_floors, 0.0),
        np.minimum(-lower_limits(-variations, left), 1.0),
    )


def tie_risk(laws: Sequence[BlockLaw], confidence: float) -> float:
    """Return the risk that one plan's limit of tied rows may have; with keys no rows tie."""
    return 0.0 if laws[0].tied is None else TIE_RISK * (1 - confidence) / MAX_PLANS


def is_proven(
    laws: Sequence[BlockLaw], *, beta: float, threshold: float, confidence: float
) -> bool:
    """Return whether the floor is proven, by the very limit that the proof will state."""
    limits, _, _ = proven_limits(laws, beta=beta, confidence=confidence)
    return bool(limits.min() >= threshold)


def table_floors(counts: IntArray, beta: float) -> FloatArray:
    """Return the impact floor of each ordered pair of strata in the table that was counted."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.array(
        [
            float(RuleCurve.of(shares[group], shares[reference]).floor(beta))
            for group, reference in permutations(range(len(counts)), 2)
        ]
    )


# --- how many blocks ---


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """How finely the strata are cut.

    Attributes
    ----------
    block_count : int
    depth : int array
        How often each stratum is divided.
    ways : tuple of int
        Into how many parts each division cuts. Empty if each cuts in half, or nearly.
    """

    block_count: int
    depth: IntArray
    ways: tuple[int, ...] = ()

    @property
    def cells(self) -> IntArray:
        """The number of cells of each stratum.

        Examples
        --------
        >>> BlockPlan(block_count=6, depth=np.array([0, 1, 2]), ways=(3, 2)).cells
        array([1, 3, 6])
        >>> BlockPlan(block_count=6, depth=np.array([1, 2, 3])).cells
        array([2, 4, 6])
        """
        if self.ways:
            return np.cumprod([1, *self.ways])[self.depth]
        return np.minimum(2**self.depth, self.block_count)

    @property
    def losses(self) -> FloatArray:
        """The share that each stratum loses of what the AUC of a score's ranks has above one half.

        Rows of one cell are in no order. With cells of shares p that loses the sum of p^3: with K
        equal ones 1/K^2.

        Examples
        --------
        >>> BlockPlan(block_count=3, depth=np.array([1, 2])).losses * 27
        array([9., 3.])
        """
        return losses_by_depth(self.block_count, self.ways)[self.depth]


@cache
def losses_by_depth(block_count: int, ways: tuple[int, ...]) -> FloatArray:
    """Return what a stratum loses if it is never divided, divided once, and so on."""
    tree = single_score_tree(block_count, ways=ways)
    leaves = [tree.leaves[tree.cells(depth)] for depth in range(tree.height + 1)]
    return np.array([np.sum((cells / block_count) ** 3) for cells in leaves])


def full_depth(block_count: int) -> int:
    """Return how many cuts, one below the other, lead to the deepest block."""
    return int(block_count - 1).bit_length()


def planned_by_rows(row_counts: IntArray, block_count: int) -> BlockPlan:
    """Return a plan with enough rows in each cell; strata with few rows are cut coarser."""
    most = np.maximum(row_counts // MIN_ROWS_PER_CELL, 1)
    depth = np.minimum(full_depth(block_count), np.floor(np.log2(most)).astype(np.int64))
    depth = np.where(row_counts >= block_count * MIN_ROWS_PER_CELL, full_depth(block_count), depth)
    # A stratum that is not cut at all keeps nothing, so every stratum that can be is cut once.
    depth = np.maximum(depth, row_counts >= MIN_ROWS_TO_CUT)
    return BlockPlan(block_count=block_count, depth=depth)


@dataclass(frozen=True, kw_only=True)
class RatedPlan:
    """A plan, what it loses, and approximately what it proves.

    Attributes
    ----------
    plan : BlockPlan
    loss : float
        The share that is lost of what the AUC of a score's ranks has above one half.
    floor : float
        The lowest impact floor, approximately.
    """

    plan: BlockPlan
    loss: float
    floor: float


def proven_plans(
    row_counts: IntArray,
    *,
    equal_rows: FloatArray | None,
    beta: float,
    threshold: float,
    confidence: float,
) -> list[BlockPlan]:
    """Return plans that are likely to be proven, from fine to coarse.

    Plans are rated by an approximation, and its error is learned on the way: of the plan that is
    rated best the floor is simulated with few draws, and the error that this shows says which plan
    to simulate next. What is simulated are the numbers of rows, and of rows that are expected to
    tie; the placing rows themselves have no part in it. Whether a plan is proven is decided by the
    exact law afterwards. A few coarser plans follow, for tables with more ties than expected.

    Parameters
    ----------
    row_counts : int array
        The placing rows of each stratum.
    equal_rows : float array or None
        How many other rows of its stratum have a row's content, on average. They tie with a cut.
        None if rows have keys.
    beta, threshold, confidence : float
    """
    plans = rated_plans(row_counts, equal_rows=equal_rows, beta=beta, confidence=confidence)
    untried, error, largest_error, misses = plans, EXPECTED_ERROR, EXPECTED_ERROR, 0
    best: RatedPlan | None = None
    while misses < MAX_MISSES:
        likely = [plan for plan in untried if plan.floor + error >= threshold]
        if not likely:
            # The error of the last plan may not be that of others.
            untried = [
                plan for plan in untried if plan.floor + largest_error + ERROR_SPREAD >= threshold
            ]
            likely = sorted(untried, key=lambda plan: -plan.floor)
        if not likely:
            break
        rated = likely[0]
        floor = screened_floor(
            expected_laws(rated.plan, row_counts, equal_rows=equal_rows),
            beta=beta,
            confidence=confidence,
        )
        error = floor - rated.floor
        largest_error = max(error, largest_error)
        untried = [plan for plan in untried if plan is not rated]
        misses += 1
        if floor >= threshold - SCREENING_MARGIN:
            best, best_error, misses = rated, error, 0
            untried = [plan for plan in untried if plan.loss < rated.loss]
    if best is None:
        return []
    chosen = [best]
    for higher in FALLBACK_FLOORS:
        target = threshold + higher - best_error
        coarser = [plan for plan in plans if plan.loss > chosen[-1].loss and plan.floor >= target]
        chosen += coarser[:1]
    return [rated.plan for rated in chosen]


def screened_floor(laws: Sequence[BlockLaw], *, beta: float, confidence: float) -> float:
    """Return an approximation of the floor that is proven, from few draws."""
    risk_of_ties = tie_risk(laws, confidence)
    draw_count = int(np.clip(DRAWS_OVER_PAIRS // len(laws) ** 2, *SCREENING_DRAWS))
    floors, _ = simulated_floors(laws, [beta], draws=draw_count, risk=risk_of_ties, random_state=0)
    left = 1 - confidence - MAX_PLANS * risk_of_ties
    return float(joint_order_statistics(floors[:, 0], int(left * draw_count)).min())


def expected_laws(
    plan: BlockPlan, row_counts: IntArray, *, equal_rows: FloatArray | None
) -> list[BlockLaw]:
    """Return the laws that a plan has with these numbers of rows, if as many tie as expected."""
    tree = single_score_tree(plan.block_count, ways=plan.ways)
    tied = [None] * row_counts.size
    if equal_rows is not None:
        tied = np.minimum((plan.cells - 1) * equal_rows, row_counts).astype(np.int64).tolist()
    return [
        block_law(tree, int(depth), int(row_count), tied=tied_rows)
        for depth, row_count, tied_rows in zip(plan.depth, row_counts, tied, strict=True)
    ]


def rated_plans(
    row_counts: IntArray, *, equal_rows: FloatArray | None, beta: float, confidence: float
) -> list[RatedPlan]:
    """Return the plans to choose from: those that lose least first.

    Of each number of blocks there are several: of the two strata that prove least, the noisier
    or the cheaper is cut coarser, step by step, but never the largest of all. Only small strata
    may end as one cell. Plans whose strata differ too much to be hidden are left out.

    The floor of two strata is approximated: with cells of equal shares, the ratio of shares is 1
    with a relative error of variance (K - 1)/n + (K' - 1)/n', and a rule that selects the best
    share beta gains its standard deviation times the normal density at that quantile.

    What a plan loses: if the chance of the outcome rises in a line with the rank, a pair of rows
    adds the difference of their ranks to the AUC if they are in the right order, and subtracts it
    if not. Rows of a cell that is one of K are in no order, which loses 1/K^2 of it. A row of such
    a cell, of which a draw takes a block, and a row of a finer stratum lose half of what either
    stratum loses by itself. So over all pairs the loss is the mean of 1/K^2 over the rows
    (`BlockPlan.losses`). A model
    that learns the rates of K blocks from n rows errs, too. Where the chance rises from 0 to 1, a
    rate has the variance K/(6 n) on average, against 1/12 of the chance itself; half of the
    quotient, K/n, is lost of the correlation with the rank.
    """
    weights, largest = row_counts / row_counts.sum(), int(np.argmax(row_counts))
    is_judged, least_depth = are_to_hide(row_counts), least_depths(row_counts)
    rated = []
    # By their noise, and by what it loses: half of c cells of n rows are less noise by c/(2 n), and
    # lose 3 n/c^2, so that is cheapest where c^3/n^2 is largest. Of two strata one is the largest.
    powers = ((1, 1), (3, 2))[: row_counts.size - 1]
    divisions = [
        *((block_count, full_depth(block_count), ()) for block_count in BLOCK_COUNTS),
        *((math.prod(ways), len(ways), ways) for ways in DIVISIONS_BY_THREE),
    ]
    for (block_count, most, ways), (cell_power, row_power) in product(divisions, powers):
        depth = np.full(row_counts.size, most)
        while True:
            plan = BlockPlan(block_count=block_count, depth=depth, ways=ways)
            floors = approximate_floors(
                plan.cells,
                row_counts,
                moved=expected_moves(plan.cells, row_counts, equal_rows, confidence=confidence),
                beta=beta,
                confidence=confidence,
            )
            distances = np.where(is_judged, likely_variations(plan.cells, row_counts), 0.0)
            is_hidden = distances.max() <= MAX_VARIATION
            too_fine = np.flatnonzero(plan.cells > row_counts)
            if is_hidden and not too_fine.size:
                loss = float(np.sum(weights * plan.losses) + block_count / row_counts.sum())
                rated.append(RatedPlan(plan=plan, loss=loss, floor=float(floors.min())))
            worst = floors.argmin() if is_hidden else distances.argmax()
            pair = np.unravel_index(int(worst), floors.shape)
            coarser = [
                stratum
                for stratum in pair
                if stratum != largest and depth[stratum] > least_depth[stratum]
            ]
            if too_fine.size:
                coarser = [too_fine[0]]
            if not coarser:
                break
            gain = plan.cells**cell_power / row_counts**row_power
            coarsest = max(coarser, key=gain.__getitem__)
            depth = depth.copy()
            depth[coarsest] -= 1
    return sorted(rated, key=lambda plan: (plan.loss, -plan.floor))


def least_depths(row_counts: IntArray) -> IntArray:
    """Return how often each stratum is divided at least: not at all if it is small, else once.

    Examples
    --------
    >>> least_depths(np.array([280, 290])), least_depths(np.array([900, 30, 60, 40]))
    (array([1, 1]), array([1, 0, 1, 0]))
    """
    order = np.argsort(row_counts, kind="stable")
    share = np.empty(row_counts.size)
    share[order] = np.cumsum(row_counts[order]) / row_counts.sum()
    return np.where(share <= MAX_SHARE_NOT_CUT, 0, 1)


def expected_moves(
    cells: IntArray, row_counts: IntArray, equal_rows: FloatArray | None, *, confidence: float
) -> FloatArray:
    """Return the limit of the share of rows that tie with a cut, if as many do as expected."""
    if equal_rows is None:
        return np.zeros(cells.size)
    tie_risk = TIE_RISK * (1 - confidence) / MAX_PLANS / cells.size
    limits = binomial_upper_limit((cells - 1) * equal_rows, row_counts, tie_risk)
    return np.where(cells > 1, limits, 0.0)


def most_placing_rows(
    row_counts: IntArray,
    *,
    equal_rows: FloatArray | None,
    beta: float,
    threshold: float,
    confidence: float,
) -> int:
    """Return how many rows of a stratum are placed: more would keep hardly more.

    Scoring rows takes longer than learning the score, so a large table is not scored whole. What is
    proven is proven by the rows that are placed.

    Parameters
    ----------
    row_counts : int array
        The rows of each stratum that could be placed.
    equal_rows, beta, threshold, confidence
        As in `proven_plans`.
    """
    largest = int(row_counts.max())
    if largest <= MIN_PLACING_LIMIT:
        return largest

    def least_loss(placed_counts: IntArray, target: float) -> float:
        plans = rated_plans(
            placed_counts,
            equal_rows=None if equal_rows is None else equal_rows * placed_counts / row_counts,
            beta=beta,
            confidence=confidence,
        )
        return min((rated.loss for rated in plans if rated.floor >= target), default=np.inf)

    least = least_loss(row_counts, threshold - MAX_ERROR)
    limit = MIN_PLACING_LIMIT
    while np.isfinite(least) and limit < largest:
        if least_loss(np.minimum(row_counts, limit), threshold) < least + MAX_LOSS_OF_PLACING:
            return limit
        limit *= 2
    return largest


def likely_variations(cells: IntArray, row_counts: IntArray) -> FloatArray:
    """Return the total variation between the shares of two strata, with one standard deviation.

    The difference of their shares in a cell of share 1/K is nearly normal, with the variance
    ((K - 1)/n + (K' - 1)/n') / K^2. Half the sum of its absolute values is sqrt(((K - 1)/n +
    (K' - 1)/n') / (2 pi)) on average, with a standard deviation of sqrt((pi/2 - 1) / K) times that.
    If the two are not cut alike, 1/K is the mean of both, weighted by their noise.
    """
    noise = (cells - 1) / row_counts
    both, by_cell = (of[:, None] + of[None, :] for of in (noise, noise / cells))
    deviation = np.sqrt((np.pi / 2 - 1) * by_cell / np.where(both > 0, both, 1.0))
    return np.asarray(np.sqrt(both / (2 * np.pi)) * (1 + deviation))


def are_to_hide(row_counts: IntArray) -> BoolArray:
    """Return for which pairs of strata the variation is limited: those with the largest stratum.

    A classifier tells a group from the rest, and most of the rest are rows of the largest.
    """
    largest = int(np.argmax(row_counts))
    is_close = likely_variations(np.full(row_counts.size, 2), row_counts) <= MAX_VARIATION
    is_judged = np.zeros_like(is_close)
    if row_counts[largest] >= MIN_ROWS_TO_HIDE:
        is_judged[largest] = is_close[largest]
        is_judged[largest, largest] = False
    return is_judged | is_judged.T


def approximate_floors(
    cells: IntArray, row_counts: IntArray, *, moved: FloatArray, beta: float, confidence: float
) -> FloatArray:
    """Return approximate floors of all pairs of strata; 1 on the diagonal."""
    from scipy.special import ndtri  # loading it takes longer than a small repair by column

    pair_count = max(row_counts.size * (row_counts.size - 1), 1)
    z = -float(ndtri((1 - confidence) / pair_count))
    density = float(np.exp(-(ndtri(beta) ** 2) / 2) / np.sqrt(2 * np.pi))
    noise = (cells - 1) / row_counts
    variance = noise[:, None] + noise[None, :]
    # A beta that is smaller than a block gains no more than the best block does.
    finest = float(cells.max())
    gain = min(density, beta * float(ndtri((finest + 0.6) / (finest + 1.2))))
    # A stratum that is not cut at all has exactly the shares of the draw. In others, rules select
    # whole cells, or the same part of one cell wherever its cuts are.
    cell_rate = np.maximum(beta, 1 / cells)
    squared = np.where(
        cells > 1,
        (beta / cell_rate) ** 2 * cell_rate * (1 - cell_rate) / row_counts,
        0.0,
    )
    error = np.sqrt(squared[:, None] + squared[None, :])
    floors = beta / (beta + np.sqrt(variance) * gain + z * error + moved[:, None] + moved[None, :])
    np.fill_diagonal(floors, 1.0)
    return np.asarray(floors)


def rows_to_prove(
    laws: Sequence[BlockLaw],
    *,
    beta: float,
    threshold: float,
    confidence: float,
    most_cells: int | None = None,
) -> int | None:
    """Return about how many placing rows would prove the threshold; None if too many.

    `most_cells` says into how many cells a stratum is cut at most; by default as it is.
    """
    laws_cells = np.array([law.spacings.size for law in laws])
    cells = np.minimum(laws_cells, most_cells or laws_cells.max())
    rows = np.array([law.rows for law in laws], dtype=np.float64)
    tied = np.array([law.tied or 0 for law in laws], dtype=np.float64)
    tied *= (cells - 1) / np.maximum(laws_cells - 1, 1)  # each cut has its ties
    tie_risk = TIE_RISK * (1 - confidence) / MAX_PLANS / len(laws)
    may_tie = (cells > 1) & (laws[0].tied is not None)

    def is_enough(growth: float) -> bool:
        # If there are more rows, the same share of them ties with a cut.
        limits = binomial_upper_limit(growth * tied, growth * rows, tie_risk)
        floors = approximate_floors(
            cells,
            (growth * rows).astype(np.int64),
            moved=np.where(may_tie, limits, 0.0),
            beta=beta,
            confidence=confidence,
        )
        return bool(floors.min() >= threshold)

    if not is_enough(MAX_GROWTH):
        return None
    low, high = 1.0, MAX_GROWTH
    while high / low > 1.01:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return int(np.ceil(high * rows.sum()))


# --- words ---


def reason(
    lowest: float,
    table_lowest: float,
    *,
    beta: float,
    threshold: float,
    confidence: float,
    amount: float,
    stratum_count: int,
    rows_needed: int | None,
    rows_for_two: int | None,
    block_count: int,
    is_keyed: bool,
    is_divided: bool,
) -> str:
    """Return the sentence that says what is proven, or why nothing is."""
    if amount < 1:
        return (
            f"only a share {amount:g} of the rows is repaired, so nothing is proven; a full "
            "repair, of amount 1, comes with a proof"
        )
    if stratum_count > MAX_STRATA:
        return (
            f"there are {stratum_count} strata, and pairs of more than {MAX_STRATA} are not "
            "proven; make coarser strata"
        )
    rules = f"that selects at least {100 * beta:.3g}% of each group"
    new_rows = "in the long run of new rows"
    if is_divided and not is_keyed:
        new_rows += " that are repaired together in one call (with a key, also one by one)"
    if not np.isnan(lowest) and lowest <= 0:
        return (
            f"a confidence of {100 * confidence:g}% is more than the simulation of the law can "
            "show; ask for less"
        )
    if lowest >= threshold:
        return (
            f"proven for every rule: with {100 * confidence:g}% confidence, no rule that uses only "
            f"the repaired columns and {rules} has an impact ratio below {lowest:.3f} {new_rows}; "
            f"on the table that the repair was fitted to the lowest ratio of any rule is "
            f"{table_lowest:.3f}"
        )
    remedy = "no number of rows like these would prove more with this many blocks"
    if rows_needed:
        remedy = f"about {rows_needed:,} rows like these would prove {threshold:g}"
    if block_count > 2:
        remedy += "; fewer blocks prove more"
        if rows_for_two:
            remedy += f", and two would prove {threshold:g} with about {rows_for_two:,} rows"
    if not is_keyed:
        remedy += "; a key (key=...) proves more where rows are equal"
    return (
        f"with {100 * confidence:g}% confidence, no rule that uses only the repaired columns and "
        f"{rules} has an impact ratio below {lowest:.3f} {new_rows}, which does not reach the "
        f"threshold {threshold:g}; {remedy}"
    )


def lost_order(strata: Sequence[str]) -> str:
    """Return the end of that sentence if strata are not cut.

    Examples
    --------
    >>> lost_order([]), lost_order(["F"])
    ('', "; 'F' has too few rows to be cut, so a draw alone gives its rows their blocks")
    """
    if not strata:
        return ""
    has, their = ("has", "its") if len(strata) == 1 else ("have", "their")
    return (
        f"; {listed(strata)} {has} too few rows to be cut, so a draw alone gives {their} rows "
        "their blocks"
    )


def assumptions(
    columns: Sequence[str],
    circumstances: Circumstances,
    *,
    is_keyed: bool,
    is_divided: bool,
) -> tuple[str, ...]:
    """Return what the proof takes for granted.

    Parameters
    ----------
    columns : sequence of str
    circumstances : Circumstances
    is_keyed : bool
        Whether rows have keys.
    is_divided : bool
        Whether a draw divides rows over blocks or records.
    """
    names = ", ".join(map(str, columns))
    draws = (
        "the key of a row is given without regard to its group, and no two rows share one"
        if is_keyed
        else "rows have no key; rows with the same content as a row at a cut may fall on either "
        "side of it, and their share was added"
    )
    if is_divided and not is_keyed:
        draws += (
            "; a draw divides rows over blocks or records, and rows with the same content get "
            "different draws only within one call: the limit does not hold for rows that are "
            "repaired in separate calls"
        )
    listed = [
        "new rows come from the same population as the rows that were placed, group by group, and "
        "rows are independent of each other",
        f"{ONLY_REPAIRED} {names}",
        *unproven_columns(circumstances.other_columns),
        "beta is taken as stated; where it is the lowest selection rate of a group in the table, "
        "the limit does not allow for the error of that rate",
        f"the groups are the strata of the repair ({circumstances.strata_are}), as the table "
        "states them",
        "the limit is one of rates in the long run; the ratio of a small batch also varies by "
        "chance",
        draws,
    ]
    if circumstances.fit_rows is not None:
        listed.append(
            f"the repair was fitted on {circumstances.fit_rows:,} rows of the table, drawn at "
            "random in each group"
        )
    if circumstances.has_own_guide:
        listed.append("the given guide has not seen the rows that the repair was fitted to")
    if circumstances.keeps_unseen:
        listed.append(
            "rows whose group is missing or was not fitted stay as they were, and nothing is "
            "proven of them"
        )
    return tuple(listed)


def with_other_columns(proof: Proof, names: Sequence[str]) -> Proof:
    """Return a proof that names the columns of a table that stay as they were.

    A file is fitted by the columns that the repair needs, so its proof does not know the others.
    """
    kept = [text for text in proof.assumptions if NOT_PROVEN not in text]
    end = 1 + next(index for index, text in enumerate(kept) if text.startswith(ONLY_REPAIRED))
    assumed = (*kept[:end], *unproven_columns(names), *kept[end:])
    return replace(proof, assumptions=assumed)


def unproven_columns(names: Sequence[str]) -> list[str]:
    """Return what a reader must know of columns that stay in the table as they were.

    Examples
    --------
    >>> unproven_columns(["zip"])
    ["'zip' is not repaired and stays as it was; nothing is proven of rules that use it"]
    """
    if not names:
        return []
    if len(names) == 1:
        return [f"{listed(names)} is not repaired and stays as it was; {NOT_PROVEN} it"]
    return [f"{listed(names)} are not repaired and stay as they were; {NOT_PROVEN} any"]
