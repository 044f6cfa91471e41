"""The whole vector of columns made alike, not each column alone.

Columns repaired one by one keep each stratum's own dependence between them, and trees read the
stratum off it. So the ranks of the rows are cut again and again: a cut takes one column and sends
the same share of every stratum to each side, at each stratum's own quantile. What is left at the
end are profiles, each with the same share of every stratum. Within a profile each column is
repaired once more, by the ranks there. What is written depends on the profile and the level only,
and by the same function for every stratum. This is Knothe's and Rosenblatt's transport (each
coordinate by its conditional quantiles), the conditions being the cells of a tree; and the paper's
levels, in several dimensions.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from fourfifths.counts import FloatArray, IntArray
from fourfifths.lookup import Grid, make_grid
from fourfifths.quantiles import median_of, representatives, starts

LEAST_ROWS = 40  # of every stratum, in every profile
MOST_PROFILES = 512
INNER_LEVELS = 16
GRID = 64
SAMPLE = 10_000  # rows of a stratum that the choice of a cut looks at
END = -1


@dataclass(frozen=True)
class Profiles:
    """A tree of cuts, and the levels within its ends.

    Attributes
    ----------
    column : int array
        Of each node, the column that it cuts; -1 at an end.
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
    cuts: FloatArray
    left: IntArray
    right: IntArray
    bounds: FloatArray
    consensus: FloatArray

    def of(self, ranks: FloatArray, stratum: int) -> IntArray:
        """Return the profile of each row; `ranks` is rows by columns."""
        node = np.zeros(ranks.shape[0], dtype=np.int64)
        open_rows = np.arange(ranks.shape[0])
        while open_rows.size:
            at = node[open_rows]
            open_rows = open_rows[self.column[at] != END]
            at = node[open_rows]
            right = ranks[open_rows, self.column[at]] >= self.cuts[at, stratum]
            node[open_rows] = np.where(right, self.right[at], self.left[at])
        return self.left[node]

    def repaired(self, ranks: FloatArray, profile: IntArray, stratum: int) -> FloatArray:
        """Return the rank that each row gets in each column."""
        levels = self.consensus.shape[2]
        found = np.empty_like(ranks)
        for place in range(ranks.shape[1]):
            known = self.grids[stratum][place].places(ranks[:, place] + profile)
            level = np.clip(known - 1 - profile * levels, 0, levels - 1)
            found[:, place] = self.consensus[place][profile, level]
        return found

    @cached_property
    def grids(self) -> list[list[Grid]]:
        """For each stratum and column, the bounds of all profiles in one table.

        Ranks are below 1: with the profile's number before the point, the table is sorted.
        """
        number = np.arange(self.consensus.shape[1], dtype=np.float64)[:, None]
        return [[make_grid((column + number).ravel()) for column in own] for own in self.bounds]


@dataclass(frozen=True)
class Cut:
    """The best cut of a node: what it gains, where it is."""

    gain: float
    column: int
    share: float


def fit_profiles(
    ranks: Sequence[FloatArray], scores: Sequence[FloatArray], random: np.random.Generator
) -> Profiles:
    """Grow the tree, best cut first; `ranks` has the rows of each stratum.

    `scores` says, for each column and level, how far along the column the level lies: what a cut
    gains is how much of the scores' spread it explains.
    """
    nodes: list[tuple[int, list[float], int, int]] = [_an_end(len(ranks))]
    # In random order, so that the first so many rows are a sample.
    members = {0: [random.permutation(part.shape[0]) for part in ranks]}
    order = count()
    waiting: list[tuple[float, int, int, Cut]] = []

    def offer(node: int) -> None:
        cut = _best_cut(ranks, members[node], scores)
        if cut is not None:
            heapq.heappush(waiting, (-cut.gain, next(order), node, cut))

    offer(0)
    while waiting and len(members) < MOST_PROFILES:
        _, _, node, cut = heapq.heappop(waiting)
        at, sides = _divide(ranks, members.pop(node), cut)
        nodes[node] = (cut.column, at, len(nodes), len(nodes) + 1)
        for side in sides:
            members[len(nodes)] = side
            nodes.append(_an_end(len(ranks)))
            offer(len(nodes) - 1)
    for profile, node in enumerate(sorted(members)):
        nodes[node] = (END, nodes[node][1], profile, END)
    column, cuts, left, right = zip(*nodes, strict=True)
    bounds, consensus = _inner(ranks, [members[node] for node in sorted(members)])
    return Profiles(
        np.array(column), np.array(cuts), np.array(left), np.array(right), bounds, consensus
    )


def _an_end(strata: int) -> tuple[int, list[float], int, int]:
    return END, [0.0] * strata, END, END


def _best_cut(
    ranks: Sequence[FloatArray], members: Sequence[IntArray], scores: Sequence[FloatArray]
) -> Cut | None:
    """Return the cut that explains the most, or None where rows are too few."""
    fewest = min(rows.size for rows in members)
    if fewest < 2 * LEAST_ROWS:
        return None
    share = np.arange(1, GRID) / GRID
    allowed = np.minimum(share, 1 - share) * fewest >= LEAST_ROWS
    level = (np.arange(GRID) + 0.5) / GRID
    some = [rows[:SAMPLE] for rows in members]
    best = None
    for column, score in enumerate(scores):
        found = [np.sort(part[rows, column]) for part, rows in zip(ranks, some, strict=True)]
        at_level = [own[(level * own.size).astype(np.int64)] for own in found]
        typical = median_of([_score(own, score) for own in at_level])
        before = np.cumsum(typical)[:-1]
        total = typical.sum()
        gain = before**2 / share + (total - before) ** 2 / (1 - share) - total**2
        useful = allowed & (np.diff(typical) > 0)
        if useful.any():
            place = int(np.argmax(np.where(useful, gain, -np.inf)))
            if best is None or gain[place] * fewest > best.gain:
                best = Cut(float(gain[place] * fewest), column, float(share[place]))
    return best


def _score(ranks: FloatArray, score: FloatArray) -> FloatArray:
    return score[np.minimum((ranks * score.size).astype(np.int64), score.size - 1)]


def _divide(
    ranks: Sequence[FloatArray], members: Sequence[IntArray], cut: Cut
) -> tuple[list[float], tuple[list[IntArray], list[IntArray]]]:
    """Return each stratum's own cut, and the rows on either side of it."""
    at, left, right = [], [], []
    for part, rows in zip(ranks, members, strict=True):
        values = part[rows, cut.column]
        place = int(cut.share * rows.size)
        at.append(float(np.partition(values, place)[place]))
        left.append(rows[values < at[-1]])
        right.append(rows[values >= at[-1]])
    return at, (left, right)


def _inner(
    ranks: Sequence[FloatArray], ends: Sequence[Sequence[IntArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return the levels within each profile, and what they get."""
    fewest = min(rows.size for members in ends for rows in members)
    levels = max(1, min(INNER_LEVELS, fewest))
    columns = ranks[0].shape[1]
    bounds = np.empty((len(ranks), columns, len(ends), levels))
    consensus = np.empty((columns, len(ends), levels))
    for profile, members in enumerate(ends):
        for column in range(columns):
            own = [np.sort(part[rows, column]) for part, rows in zip(ranks, members, strict=True)]
            for stratum, each in enumerate(own):
                bounds[stratum, column, profile] = each[starts(each.size, levels)]
            consensus[column, profile] = median_of([representatives(e, levels) for e in own])
    return bounds, consensus
