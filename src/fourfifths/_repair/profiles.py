"""Joint repair: the vector of columns is made alike in all strata, not each column alone.

Columns repaired one by one keep each stratum's own dependence between them, and trees read the
stratum off it. So the ranks of the rows are cut repeatedly, as in a decision tree: a cut takes one
column and sends the same share of every stratum to each side, at the stratum's own quantile. The
leaves are called profiles; each holds the same share of every stratum. Within a profile each column
is repaired once more, by the ranks there. What is written depends only on the profile and the
level, by the same function for every stratum. This is the Knothe-Rosenblatt transport (each
coordinate by its conditional quantiles), conditioned on the cells of a tree, and the paper's levels
in several dimensions.

A missing value has no rank: its row goes to either side at random, in the share of the cut. A
stratum with too few rows for a quantile of its own takes the median of the other strata's.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.columns.quantiles import (
    Grid,
    level_starts,
    make_grid,
    median_over_strata,
    representatives,
)

LEAF = -1  # stands for the column of a node that is not cut
MAX_PROFILES = 512
LEVELS_PER_PROFILE = 16
MIN_ROWS_PER_SIDE = 60  # on either side of a cut, of each of at least two strata
# A quantile needs at least a row for each level of a profile; a stratum with fewer takes the
# median of the others'.
MIN_ROWS_PER_QUANTILE = LEVELS_PER_PROFILE
SHARE_STEPS = 64  # a cut takes a multiple of 1/64 of each stratum
MAX_SAMPLED_ROWS = 2_000  # of each stratum, to choose a cut by


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """A tree of cuts, and the levels within its leaves.

    Attributes
    ----------
    column : int array
        The column that each node cuts; -1 at a leaf.
    share : float array
        The share of each stratum that goes to the left.
    cuts : float array of shape (nodes, strata)
        The rank from which on rows of each stratum go to the right.
    left, right : int array
        The nodes that follow; at a leaf, `left` is the number of the profile.
    bounds : float array of shape (strata, columns, profiles, levels)
        The rank at which each level of a profile begins.
    consensus : float array of shape (columns, profiles, levels)
        The rank that each level of a profile gets, the same for every stratum.
    """

    column: IntArray
    share: FloatArray
    cuts: FloatArray
    left: IntArray
    right: IntArray
    bounds: FloatArray
    consensus: FloatArray

    @property
    def profile_count(self) -> int:
        """The number of profiles."""
        return int(self.consensus.shape[1])

    def profiles_of(
        self, ranks: FloatArray, stratum: int, *, random: np.random.Generator
    ) -> IntArray:
        """Return the profile of each row; `ranks` is rows by columns, NaN where missing."""
        node = np.zeros(ranks.shape[0], dtype=np.int64)
        rows = np.arange(ranks.shape[0])
        while rows.size:
            rows = rows[self.column[node[rows]] != LEAF]
            row_node = node[rows]
            rank = ranks[rows, self.column[row_node]]
            goes_right = rank >= self.cuts[row_node, stratum]
            missing = np.flatnonzero(np.isnan(rank))
            goes_right[missing] = random.random(missing.size) >= self.share[row_node[missing]]
            node[rows] = np.where(goes_right, self.right[row_node], self.left[row_node])
        return self.left[node]

    def repaired_ranks(self, ranks: FloatArray, profile: IntArray, *, stratum: int) -> FloatArray:
        """Return the rank that each row gets in each column; missing values stay missing."""
        level_count = self.consensus.shape[2]
        repaired = np.full_like(ranks, np.nan)
        for column in range(ranks.shape[1]):
            present = np.flatnonzero(~np.isnan(ranks[:, column]))
            row_profile = profile[present]
            grid = self.grids[stratum][column]
            bound_count = grid.knots_up_to(ranks[present, column] + row_profile)
            level = np.clip(bound_count - 1 - row_profile * level_count, 0, level_count - 1)
            repaired[present, column] = self.consensus[column][row_profile, level]
        return repaired

    @cached_property
    def grids(self) -> list[list[Grid]]:
        """For each stratum and column, the bounds of all profiles in one table.

        Ranks are below 1: after the number of its profile is added to each, the table is sorted.
        """
        profile = np.arange(self.profile_count, dtype=np.float64)[:, None]
        return [
            [make_grid((column_bounds + profile).ravel()) for column_bounds in stratum_bounds]
            for stratum_bounds in self.bounds
        ]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A cut of a node.

    Attributes
    ----------
    gain : float
        How much is gained by it; the larger, the earlier the node is cut.
    column : int
    share : float
        The share of each stratum that goes to the left.
    """

    gain: float
    column: int
    share: float


def fit_profiles(
    ranks: Sequence[FloatArray], scores: Sequence[FloatArray], *, random: np.random.Generator
) -> Profiles:
    """Grow the tree, best cut first.

    Parameters
    ----------
    ranks : sequence of float array
        For each stratum, the ranks of its rows: rows by columns, NaN where missing.
    scores : sequence of float array
        For each column, how far along it each of its levels lies. Levels with equal values have
        equal scores: there is nothing to cut between them.
    random : Generator
    """
    leaf = (LEAF, 0.0, [0.0] * len(ranks), LEAF, LEAF)
    nodes: list[tuple[int, float, list[float], int, int]] = [leaf]
    # The rows are shuffled once, so that the first rows of any node are a random sample of it.
    members = {0: [random.permutation(stratum_ranks.shape[0]) for stratum_ranks in ranks]}
    order = count()  # of two cuts that gain the same, the one that was offered first is made
    waiting: list[tuple[float, int, int, Cut]] = []

    def offer(node: int) -> None:
        sample = [
            stratum_ranks[rows[:MAX_SAMPLED_ROWS]]
            for stratum_ranks, rows in zip(ranks, members[node], strict=True)
        ]
        cut = best_cut(sample, [rows.size for rows in members[node]], scores=scores)
        if cut is not None:
            heapq.heappush(waiting, (-cut.gain, next(order), node, cut))

    offer(0)
    while waiting and len(members) < MAX_PROFILES:
        _, _, node, cut = heapq.heappop(waiting)
        cut_ranks, sides = divide(ranks, members.pop(node), cut=cut, random=random)
        nodes[node] = (cut.column, cut.share, cut_ranks, len(nodes), len(nodes) + 1)
        for side in sides:
            members[len(nodes)] = side
            nodes.append(leaf)
            offer(len(nodes) - 1)
    leaves = sorted(members)
    for profile, node in enumerate(leaves):
        nodes[node] = (LEAF, 0.0, nodes[node][2], profile, LEAF)
    column, share, cuts, left, right = zip(*nodes, strict=True)
    bounds, consensus = levels_in_profiles(ranks, [members[node] for node in leaves])
    return Profiles(
        column=np.array(column),
        share=np.array(share),
        cuts=np.array(cuts),
        left=np.array(left),
        right=np.array(right),
        bounds=bounds,
        consensus=consensus,
    )


@dataclass(frozen=True, kw_only=True)
class StratumSample:
    """The sampled rows of one stratum in a node.

    Attributes
    ----------
    ranks : float array
        Rows by columns, NaN where missing.
    orders : list of int array
        For each column, the rows that are not missing in the order of their ranks.
    node_ranks : float array
        Each row's rank among the rows of the node; 1/2 where missing.
    """

    ranks: FloatArray
    orders: list[IntArray]
    node_ranks: FloatArray

    @classmethod
    def of(cls, ranks: FloatArray) -> StratumSample:
        """Rank the rows of the node anew, column by column."""
        node_ranks = np.full(ranks.shape, 0.5)
        orders = []
        for column in range(ranks.shape[1]):
            order = np.argsort(ranks[:, column])
            order = order[: ranks.shape[0] - int(np.isnan(ranks[:, column]).sum())]
            node_ranks[order, column] = (np.arange(order.size) + 0.5) / max(order.size, 1)
            orders.append(order)
        return cls(ranks=ranks, orders=orders, node_ranks=node_ranks)


def best_cut(
    sample: Sequence[FloatArray], sizes: Sequence[int], *, scores: Sequence[FloatArray]
) -> Cut | None:
    """Return the cut that gains the most, or None if there are too few rows to cut.

    A cut gains by how much of its column's variance it explains, and by how much it reveals in
    which the strata differ: the mean ranks of the other columns on either side of it.

    Parameters
    ----------
    sample : sequence of float array
        For each stratum, the ranks of some rows of the node, rows by columns.
    sizes : sequence of int
        How many rows of each stratum the node has.
    scores : sequence of float array
        As in `fit_profiles`.
    """
    large_strata = [stratum for stratum, size in enumerate(sizes) if size >= 2 * MIN_ROWS_PER_SIDE]
    if len(large_strata) < 2:
        return None
    smallest_size = min(sizes[stratum] for stratum in large_strata)
    share = np.arange(1, SHARE_STEPS) / SHARE_STEPS
    is_allowed = np.minimum(share, 1 - share) * smallest_size >= MIN_ROWS_PER_SIDE
    strata = [StratumSample.of(sample[stratum]) for stratum in large_strata]
    best = None
    for column in range(sample[0].shape[1]):
        if min(stratum.orders[column].size for stratum in strata) < SHARE_STEPS:
            continue
        gains = explained_variance(strata, column, scores=scores[column])
        gains += revealed_difference(strata, column)
        step = int(np.argmax(np.where(is_allowed, gains, -np.inf)))
        # A node with more rows gains more by the same cut, so gains are weighted by its size.
        if gains[step] > 0 and (best is None or gains[step] * smallest_size > best.gain):
            best = Cut(
                gain=float(gains[step] * smallest_size), column=column, share=float(share[step])
            )
    return best


def explained_variance(
    strata: Sequence[StratumSample], column: int, *, scores: FloatArray
) -> FloatArray:
    """Return how much of the variance of the strata's median scores each cut explains.

    With share p to the left and mean scores a and b on the two sides, the variance between the
    sides is p a^2 + (1 - p) b^2 - mean^2.
    """
    level = (np.arange(SHARE_STEPS) + 0.5) / SHARE_STEPS
    stratum_scores = []
    for stratum in strata:
        order = stratum.orders[column]
        quantiles = stratum.ranks[order, column][(level * order.size).astype(np.int64)]
        score_index = np.minimum((quantiles * scores.size).astype(np.int64), scores.size - 1)
        stratum_scores.append(scores[score_index])
    typical = median_over_strata(stratum_scores)
    share = np.arange(1, SHARE_STEPS) / SHARE_STEPS
    left_sum, mean = np.cumsum(typical)[:-1] / SHARE_STEPS, typical.mean()
    explained: FloatArray = left_sum**2 / share + (mean - left_sum) ** 2 / (1 - share) - mean**2
    # Between equal scores there is nothing to cut.
    return np.where(np.diff(typical) > 0, explained, 0.0)


def revealed_difference(strata: Sequence[StratumSample], column: int) -> FloatArray:
    """Return how far apart each cut puts the strata in the mean ranks of the other columns."""
    share = np.arange(1, SHARE_STEPS) / SHARE_STEPS
    left_sums = []
    for stratum in strata:
        rows = stratum.orders[column]
        last_left = (share * rows.size).astype(np.int64) - 1
        left_sums.append(np.cumsum(stratum.node_ranks[rows], axis=0)[last_left] / rows.size)
    difference = np.ptp(np.stack(left_sums), axis=0)
    difference[:, column] = 0
    revealed: FloatArray = (difference**2).sum(axis=1) / (share * (1 - share))
    return revealed


def divide(
    ranks: Sequence[FloatArray],
    members: Sequence[IntArray],
    *,
    cut: Cut,
    random: np.random.Generator,
) -> tuple[list[float], tuple[list[IntArray], list[IntArray]]]:
    """Return the rank at which each stratum is cut, and the rows on either side."""
    column_ranks = [
        stratum_ranks[rows, cut.column] for stratum_ranks, rows in zip(ranks, members, strict=True)
    ]
    quantiles = []
    for values in column_ranks:
        present = values[~np.isnan(values)]
        position = int(cut.share * present.size)
        has_quantile = present.size >= MIN_ROWS_PER_QUANTILE
        quantiles.append(
            float(np.partition(present, position)[position]) if has_quantile else float("nan")
        )
    typical = float(np.nanmedian(quantiles))
    cut_ranks = [typical if np.isnan(quantile) else quantile for quantile in quantiles]
    left, right = [], []
    for rows, values, cut_rank in zip(members, column_ranks, cut_ranks, strict=True):
        goes_right = values >= cut_rank
        missing = np.flatnonzero(np.isnan(values))
        goes_right[missing] = random.random(missing.size) >= cut.share
        left.append(rows[~goes_right])
        right.append(rows[goes_right])
    return cut_ranks, (left, right)


def levels_in_profiles(
    ranks: Sequence[FloatArray], leaves: Sequence[Sequence[IntArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the levels within each profile, and their consensus."""
    column_count = ranks[0].shape[1]
    bounds = np.empty((len(ranks), column_count, len(leaves), LEVELS_PER_PROFILE))
    consensus = np.empty((column_count, len(leaves), LEVELS_PER_PROFILE))
    for profile, members in enumerate(leaves):
        for column in range(column_count):
            by_stratum = []
            for stratum_ranks, rows in zip(ranks, members, strict=True):
                ordered = np.sort(stratum_ranks[rows, column])
                by_stratum.append(ordered[: np.searchsorted(ordered, np.nan)])
            large_strata = [
                ordered for ordered in by_stratum if ordered.size >= MIN_ROWS_PER_QUANTILE
            ]
            if not large_strata:
                # No stratum has enough rows here: evenly spaced levels leave ranks as they are.
                large_strata = [(np.arange(LEVELS_PER_PROFILE) + 0.5) / LEVELS_PER_PROFILE]
            typical = median_over_strata(
                [
                    ordered[level_starts(ordered.size, LEVELS_PER_PROFILE)]
                    for ordered in large_strata
                ]
            )
            consensus[column, profile] = median_over_strata(
                [representatives(ordered, LEVELS_PER_PROFILE) for ordered in large_strata]
            )
            for stratum, ordered in enumerate(by_stratum):
                has_quantiles = ordered.size >= MIN_ROWS_PER_QUANTILE
                bounds[stratum, column, profile] = (
                    ordered[level_starts(ordered.size, LEVELS_PER_PROFILE)]
                    if has_quantiles
                    else typical
                )
    return bounds, consensus
