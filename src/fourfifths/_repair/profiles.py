"""The whole vector of columns made alike, not each column alone.

Columns repaired one by one keep each stratum's own dependence between them, and trees read the
stratum off it. So the ranks of the rows are cut again and again: a cut takes one column and sends
the same share of every stratum to each side, at each stratum's own quantile. What is left at the
end are profiles, each with the same share of every stratum. Within a profile each column is
repaired once more, by the ranks there. What is written depends on the profile and the level only,
and by the same function for every stratum. This is Knothe's and Rosenblatt's transport (each
coordinate by its conditional quantiles), the conditions being the cells of a tree; and the paper's
levels, in several dimensions.

A missing value has no rank: its row goes to either side by chance, in the share of the cut. A
stratum with too few rows to have a quantile of its own takes the other strata's.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.quantiles import Grid, make_grid, median_of, representatives, starts

LEAST_ROWS = 60  # of two strata at least, on both sides of a cut
FEW_ROWS = 16  # at least as many as inner levels; below, a stratum takes the others' quantiles
MOST_PROFILES = 512
INNER_LEVELS = 16
GRID = 64
SAMPLE = 2_000  # rows of a stratum that the choice of a cut looks at
END = -1


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """A tree of cuts, and the levels within its ends.

    Attributes
    ----------
    column : int array
        Of each node, the column that it cuts; -1 at an end.
    share : float array
        The share of each stratum that goes to the left.
    cuts : float array, nodes by strata
        The rank from which rows of each stratum go to the right.
    left, right : int array
        The nodes that follow; at an end, `left` is the number of the profile.
    bounds : float array, strata by columns by profiles by levels
        The rank at which each inner level begins.
    consensus : float array, columns by profiles by levels
        The rank that each inner level gets, the same for every stratum.
    """

    column: IntArray
    share: FloatArray
    cuts: FloatArray
    left: IntArray
    right: IntArray
    bounds: FloatArray
    consensus: FloatArray

    @property
    def number(self) -> int:
        """How many profiles there are."""
        return int(self.consensus.shape[1])

    def of(self, ranks: FloatArray, stratum: int, random: np.random.Generator) -> IntArray:
        """Return the profile of each row; `ranks` is rows by columns, NaN where missing."""
        node = np.zeros(ranks.shape[0], dtype=np.int64)
        rows = np.arange(ranks.shape[0])
        while rows.size:
            rows = rows[self.column[node[rows]] != END]
            at = node[rows]
            own = ranks[rows, self.column[at]]
            right = own >= self.cuts[at, stratum]
            missing = np.flatnonzero(np.isnan(own))
            right[missing] = random.random(missing.size) >= self.share[at[missing]]
            node[rows] = np.where(right, self.right[at], self.left[at])
        return self.left[node]

    def repaired(self, ranks: FloatArray, profile: IntArray, stratum: int) -> FloatArray:
        """Return the rank that each row gets in each column; missing stays missing."""
        levels = self.consensus.shape[2]
        found = np.full_like(ranks, np.nan)
        for place in range(ranks.shape[1]):
            present = np.flatnonzero(~np.isnan(ranks[:, place]))
            own = profile[present]
            known = self.grids[stratum][place].places(ranks[present, place] + own)
            level = np.clip(known - 1 - own * levels, 0, levels - 1)
            found[present, place] = self.consensus[place][own, level]
        return found

    @cached_property
    def grids(self) -> list[list[Grid]]:
        """For each stratum and column, the bounds of all profiles in one table.

        Ranks are below 1: with the profile's number before the point, the table is sorted.
        """
        number = np.arange(self.consensus.shape[1], dtype=np.float64)[:, None]
        return [[make_grid((column + number).ravel()) for column in own] for own in self.bounds]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The best cut of a node: what it gains, where it is."""

    gain: float
    column: int
    share: float


def fit_profiles(
    ranks: Sequence[FloatArray], scores: Sequence[FloatArray], random: np.random.Generator
) -> Profiles:
    """Grow the tree, best cut first; `ranks` has the rows of each stratum.

    `scores` says how far along each column its levels lie, equal ones at the same place: between
    equals there is nothing to cut.
    """
    nodes: list[tuple[int, float, list[float], int, int]] = [_an_end(len(ranks))]
    # In random order, so that the first so many rows are a sample.
    members = {0: [random.permutation(part.shape[0]) for part in ranks]}
    order = count()
    waiting: list[tuple[float, int, int, Cut]] = []

    def offer(node: int) -> None:
        some = [part[own[:SAMPLE]] for part, own in zip(ranks, members[node], strict=True)]
        cut = _best_cut(some, [own.size for own in members[node]], scores)
        if cut is not None:
            heapq.heappush(waiting, (-cut.gain, next(order), node, cut))

    offer(0)
    while waiting and len(members) < MOST_PROFILES:
        _, _, node, cut = heapq.heappop(waiting)
        at, sides = _divide(ranks, members.pop(node), cut, random)
        nodes[node] = (cut.column, cut.share, at, len(nodes), len(nodes) + 1)
        for side in sides:
            members[len(nodes)] = side
            nodes.append(_an_end(len(ranks)))
            offer(len(nodes) - 1)
    for profile, node in enumerate(sorted(members)):
        nodes[node] = (END, 0.0, nodes[node][2], profile, END)
    column, share, cuts, left, right = zip(*nodes, strict=True)
    bounds, consensus = _inner(ranks, [members[node] for node in sorted(members)])
    return Profiles(
        column=np.array(column),
        share=np.array(share),
        cuts=np.array(cuts),
        left=np.array(left),
        right=np.array(right),
        bounds=bounds,
        consensus=consensus,
    )


def _an_end(strata: int) -> tuple[int, float, list[float], int, int]:
    return END, 0.0, [0.0] * strata, END, END


def _best_cut(
    parts: Sequence[FloatArray], sizes: Sequence[int], scores: Sequence[FloatArray]
) -> Cut | None:
    """Return the cut that gains the most, or None where rows are too few.

    A cut gains by how much of its column's spread it explains, and by how much it brings to light
    in which the strata differ: the other columns' mean ranks on either side of it.
    """
    able = [place for place, size in enumerate(sizes) if size >= 2 * LEAST_ROWS]
    if len(able) < 2:
        return None
    fewest = min(sizes[place] for place in able)
    share = np.arange(1, GRID) / GRID
    allowed = np.minimum(share, 1 - share) * fewest >= LEAST_ROWS
    ordered = [_ordered(parts[place]) for place in able]
    best = None
    for column in range(parts[0].shape[1]):
        known = [(parts[place], *own) for place, own in zip(able, ordered, strict=True)]
        if min(order[column].size for _, order, _ in known) < GRID:
            continue
        gain = _spread(known, column, scores[column]) + _difference(known, column)
        place = int(np.argmax(np.where(allowed, gain, -np.inf)))
        if gain[place] > 0 and (best is None or gain[place] * fewest > best.gain):
            best = Cut(gain=float(gain[place] * fewest), column=column, share=float(share[place]))
    return best


Known = tuple[FloatArray, list[IntArray], FloatArray]


def _ordered(part: FloatArray) -> tuple[list[IntArray], FloatArray]:
    """Return, for each column, the rows in its order, and every row's rank there.

    Missing values are not in the order, and stand in the middle.
    """
    ranks = np.full(part.shape, 0.5)
    orders = []
    for column in range(part.shape[1]):
        order = np.argsort(part[:, column])
        order = order[: part.shape[0] - int(np.isnan(part[:, column]).sum())]
        ranks[order, column] = (np.arange(order.size) + 0.5) / max(order.size, 1)
        orders.append(order)
    return orders, ranks


def _spread(known: Sequence[Known], column: int, scores: FloatArray) -> FloatArray:
    """Return how much of the spread of the strata's median each cut explains."""
    level = (np.arange(GRID) + 0.5) / GRID
    found = [
        part[order[column], column][(level * order[column].size).astype(np.int64)]
        for part, order, _ in known
    ]
    place = [np.minimum((own * scores.size).astype(np.int64), scores.size - 1) for own in found]
    typical = median_of([scores[own] for own in place])
    share = np.arange(1, GRID) / GRID
    before, total = np.cumsum(typical)[:-1] / GRID, typical.mean()
    gain: FloatArray = before**2 / share + (total - before) ** 2 / (1 - share) - total**2
    return np.where(np.diff(typical) > 0, gain, 0.0)


def _difference(known: Sequence[Known], column: int) -> FloatArray:
    """Return how far apart each cut puts the strata in the other columns' mean ranks."""
    share = np.arange(1, GRID) / GRID
    sums = []
    for _, order, ranks in known:
        rows = order[column]
        along = np.cumsum(ranks[rows], axis=0)[(share * rows.size).astype(np.int64) - 1]
        sums.append(along / rows.size)
    apart = np.ptp(np.stack(sums), axis=0)
    apart[:, column] = 0
    gain: FloatArray = (apart**2).sum(axis=1) / (share * (1 - share))
    return gain


def _divide(
    ranks: Sequence[FloatArray],
    members: Sequence[IntArray],
    cut: Cut,
    random: np.random.Generator,
) -> tuple[list[float], tuple[list[IntArray], list[IntArray]]]:
    """Return each stratum's own cut, and the rows on either side of it."""
    values = [part[rows, cut.column] for part, rows in zip(ranks, members, strict=True)]
    at = _own_cuts(values, cut.share)
    left, right = [], []
    for rows, own, place in zip(members, values, at, strict=True):
        goes = own >= place
        missing = np.flatnonzero(np.isnan(own))
        goes[missing] = random.random(missing.size) >= cut.share
        left.append(rows[~goes])
        right.append(rows[goes])
    return at, (left, right)


def _own_cuts(values: Sequence[FloatArray], share: float) -> list[float]:
    """Return each stratum's quantile; where it has too few rows, the median of the others'."""
    own = []
    for each in values:
        known = each[~np.isnan(each)]
        place = int(share * known.size)
        enough = known.size >= FEW_ROWS
        own.append(float(np.partition(known, place)[place]) if enough else float("nan"))
    typical = float(np.nanmedian(own))
    return [typical if np.isnan(each) else each for each in own]


def _inner(
    ranks: Sequence[FloatArray], ends: Sequence[Sequence[IntArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return the levels within each profile, and what they get."""
    columns = ranks[0].shape[1]
    bounds = np.empty((len(ranks), columns, len(ends), INNER_LEVELS))
    consensus = np.empty((columns, len(ends), INNER_LEVELS))
    for profile, members in enumerate(ends):
        for column in range(columns):
            own = [np.sort(part[rows, column]) for part, rows in zip(ranks, members, strict=True)]
            own = [each[: np.searchsorted(each, np.nan)] for each in own]
            able = [each for each in own if each.size >= FEW_ROWS]
            # Where no stratum has rows enough, ranks stay what they are.
            able = able or [(np.arange(INNER_LEVELS) + 0.5) / INNER_LEVELS]
            typical = median_of([each[starts(each.size, INNER_LEVELS)] for each in able])
            consensus[column, profile] = median_of([representatives(e, INNER_LEVELS) for e in able])
            for stratum, each in enumerate(own):
                enough = each.size >= FEW_ROWS
                begins = each[starts(each.size, INNER_LEVELS)] if enough else typical
                bounds[stratum, column, profile] = begins
    return bounds, consensus
