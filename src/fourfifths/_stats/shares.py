"""The shares of groups in blocks: their exact law, and the impact floor that they allow.

Rows are sorted into K blocks, and a rule sees only the block. It selects group g at the rate
sum_b share_g(b) a_b, with the same a_b in [0, 1] for every group. The best that a rule can do to
harm a group at rate beta is a knapsack: it fills blocks in the order of share_h(b) / share_g(b).

The blocks of a group are cut at order statistics of its own rows. Whatever the distribution of
the rows is, the shares that further rows will have in the blocks are then Dirichlet distributed,
with the numbers of spacings between the cuts as parameters (Wilks 1942; Tukey 1947, statistically
equivalent blocks). Nothing is estimated, so limits of the floor hold for samples of any size.

References
----------
Wilks, Annals of Mathematical Statistics 13 (1942). Tukey, the same 18 (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike

from fourfifths._arrays import FloatArray, IntArray

# The simulated limit is too high with at most this probability, or with this part of the risk if
# that is less; the confidence pays for it.
SIMULATION_RISK = 0.001
MAX_SIMULATION_SHARE = 0.1
SHARES_PER_CHUNK = 20_000_000  # of one group, so that many blocks do not fill the memory


@dataclass(frozen=True, kw_only=True)
class RuleCurve:
    """The best that rules on blocks can do to harm a group, from rate 0 to rate 1.

    A rule takes whole blocks in the order of the reference's share over the group's, and part of
    the last one.

    Attributes
    ----------
    group, reference : float array of shape (..., blocks + 1)
        The rates of both after each block, from 0 to 1.
    """

    group: FloatArray
    reference: FloatArray

    @classmethod
    def of(cls, group: FloatArray, reference: FloatArray) -> RuleCurve:
        """Return the curve of shares, of shape (..., blocks), that add up to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.nan_to_num(reference / group, nan=0.0), axis=-1)
        return cls(group=running_sum(group, order), reference=running_sum(reference, order))

    def reverse(self) -> RuleCurve:
        """Return the best that rules can do to harm the reference: they take the last first.

        Examples
        --------
        >>> curve = RuleCurve.of(np.array([0.5, 0.5]), np.array([0.75, 0.25])).reverse()
        >>> curve.group
        array([0.  , 0.25, 1.  ])
        """
        return RuleCurve(group=1 - self.reference[..., ::-1], reference=1 - self.group[..., ::-1])

    def best_rate(self, beta: ArrayLike) -> FloatArray:
        """Return R(beta), the highest rate in the reference at rate beta in the group.

        Examples
        --------
        >>> curve = RuleCurve.of(np.array([0.5, 0.5]), np.array([0.8, 0.2]))
        >>> curve.best_rate(0.25)
        array(0.4)
        """
        rate = np.asarray(beta, dtype=np.float64)[..., None]
        # The last corner at or before the rate: blocks that the group lacks cost nothing.
        corner = np.sum(self.group <= rate, axis=-1, keepdims=True) - 1
        after = np.minimum(corner + 1, self.group.shape[-1] - 1)
        low, high = (np.take_along_axis(self.group, index, axis=-1) for index in (corner, after))
        first, last = (
            np.take_along_axis(self.reference, index, axis=-1) for index in (corner, after)
        )
        fraction = np.where(high > low, (rate - low) / np.where(high > low, high - low, 1.0), 0.0)
        return np.asarray((first + fraction * (last - first))[..., 0])

    def floor(self, beta: ArrayLike, *, moved: tuple[ArrayLike, ArrayLike] = (0, 0)) -> FloatArray:
        """Return the impact floor beta / R(beta).

        Some rows may be in another block than the shares say. If those are at most a share t of the
        group and t' of the reference, a rate beta was at most beta + t before, and the reference's
        rate is at most t' more than then: the floor is beta / (R(beta + t) + t').

        Parameters
        ----------
        beta : array-like
            In (0, 1].
        moved : pair of array-like
            The shares t and t' of the group and of the reference.

        Examples
        --------
        >>> curve = RuleCurve.of(np.array([0.5, 0.5]), np.array([0.8, 0.2]))
        >>> curve.floor(0.25)
        array(0.625)
        """
        rate = np.asarray(beta, dtype=np.float64)
        moved_group, moved_reference = (np.asarray(share, dtype=np.float64) for share in moved)
        highest = self.best_rate(np.minimum(rate + moved_group, 1.0)) + moved_reference
        return np.asarray(rate / np.clip(highest, rate, 1.0))


def running_sum(shares: FloatArray, order: IntArray) -> FloatArray:
    ends = np.cumsum(np.take_along_axis(shares, order, axis=-1), axis=-1)
    ends[..., -1] = 1.0  # whatever rounding has left of it
    return np.concatenate([np.zeros_like(ends[..., :1]), ends], axis=-1)


def total_variation(group: FloatArray, reference: FloatArray) -> FloatArray:
    """Return half the sum of the differences of shares; the least BER is (1 - this) / 2."""
    return np.asarray(np.abs(group - reference).sum(axis=-1) / 2)


@dataclass(frozen=True, kw_only=True)
class BlockLaw:
    """The law of one group's shares.

    Attributes
    ----------
    spacings : int array
        The parameters of the Dirichlet distribution: for each cell between cuts, its rows, and one
        more in the last cell.
    leaves : int array
        Into how many blocks a draw divides each cell, in equal shares.
    tied : int or None
        How many rows have the same content as the row at a cut, besides that row itself: without a
        key, such rows may all fall on one side of the cut. None if rows have keys.
    """

    spacings: IntArray
    leaves: IntArray
    tied: int | None

    @property
    def rows(self) -> int:
        """The number of rows that were cut."""
        return int(self.spacings.sum()) - 1

    def draw_shares(self, count: int, random: np.random.Generator) -> FloatArray:
        """Draw the shares of further rows in each block: an array of shape (count, blocks)."""
        cells = random.standard_gamma(self.spacings, size=(count, self.spacings.size))
        cells /= cells.sum(axis=1, keepdims=True)
        if self.leaves.max() == 1:
            return cells
        return np.repeat(cells / self.leaves, self.leaves, axis=1)

    def moved_share(self, shares: FloatArray, risk: float) -> FloatArray:
        """Return the upper limit of the share of further rows that tie with a cut.

        Given the cuts, rows between them are independent, so the number of ties is a sum of
        binomials, whose lower tail is at most that of one binomial with the mean probability
        (Hoeffding 1956): the limit is Clopper and Pearson's. A cell's share may be larger than its
        part of the rows, which the last factor allows for. A cell without rows between its cuts
        says nothing about ties.
        """
        if self.tied is None or self.spacings.size == 1:
            return np.zeros(shares.shape[0])
        rows_between = self.spacings - 1
        if not rows_between.all():
            return np.ones(shares.shape[0])
        limit = float(binomial_upper_limit(self.tied, rows_between.sum(), risk))
        cell_share = shares
        if self.leaves.max() > 1:
            cell_share = np.add.reduceat(shares, np.cumsum(self.leaves) - self.leaves, axis=1)
        excess = (cell_share * (rows_between.sum() / rows_between)).max(axis=1)
        return np.asarray(np.minimum(limit * excess, 1.0))


def binomial_upper_limit(successes: ArrayLike, n: ArrayLike, risk: float) -> FloatArray:
    """Return Clopper and Pearson's one-sided upper limit of a probability."""
    from scipy.special import betaincinv  # loading it takes longer than a small repair by column

    count, rows = (np.asarray(value, dtype=np.float64) for value in (successes, n))
    return np.where(count < rows, betaincinv(count + 1, np.maximum(rows - count, 1), 1 - risk), 1.0)


def simulated_floors(
    laws: Sequence[BlockLaw],
    beta: ArrayLike,
    *,
    draws: int,
    risk: float,
    random_state: int,
    shares_per_chunk: int = SHARES_PER_CHUNK,
) -> tuple[FloatArray, FloatArray]:
    """Draw the impact floor and the total variation of every ordered pair of groups.

    Parameters
    ----------
    laws : sequence of BlockLaw
        Of each group.
    beta : array-like of shape (betas,)
    draws : int
    risk : float
        The probability with which the limits of tied rows may fail, over all groups.
    random_state : int
    shares_per_chunk : int
        How many shares of one group are held in memory at once.

    Returns
    -------
    floors : float array of shape (pairs, betas, draws)
        The pairs are ``itertools.permutations(range(groups), 2)``: the harmed group first.
    variations : float array of shape (pairs, draws)
    """
    random = np.random.default_rng(random_state)
    rates = np.asarray(beta, dtype=np.float64)
    chunk = max(shares_per_chunk // int(laws[0].leaves.sum()), 1)
    chunks = [
        drawn_floors(laws, rates, draws=min(chunk, draws - start), risk=risk, random=random)
        for start in range(0, draws, chunk)
    ]
    floors, variations = (np.concatenate(arrays, axis=-1) for arrays in zip(*chunks, strict=True))
    return floors, variations


def drawn_floors(
    laws: Sequence[BlockLaw],
    rates: FloatArray,
    *,
    draws: int,
    risk: float,
    random: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    shares = [law.draw_shares(draws, random) for law in laws]
    moved = [
        law.moved_share(group_shares, risk / len(laws))
        for law, group_shares in zip(laws, shares, strict=True)
    ]
    pairs = list(permutations(range(len(laws)), 2))
    floors, variations = np.empty((len(pairs), rates.size, draws)), np.empty((len(pairs), draws))
    for group, reference in combinations(range(len(laws)), 2):
        variation = total_variation(shares[group], shares[reference])
        curve = RuleCurve.of(shares[group], shares[reference])
        # Both sides need only one sort, which is most of the work.
        for pair, side in (((group, reference), curve), ((reference, group), curve.reverse())):
            index = pairs.index(pair)
            moved_shares = moved[pair[0]], moved[pair[1]]
            floors[index] = [side.floor(rate, moved=moved_shares) for rate in rates]
            variations[index] = np.minimum(variation + sum(moved_shares), 1.0)
    return floors, variations


def lower_limits(samples: FloatArray, risk: float) -> FloatArray:
    """Return lower limits of several figures that hold together, from draws of their joint law.

    Each limit is a low order statistic of its figure's draws, of the same rank for all figures: the
    largest rank for which all limits hold together in all but a share `risk` of the draws, less
    what the simulation itself may err. If there are too few draws for so small a risk, nothing is
    known, and the limits are minus infinity.

    Parameters
    ----------
    samples : float array of shape (figures, draws)
    risk : float

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> limit = lower_limits(random.random((1, 100_000)), 0.05)
    >>> bool(0.045 < limit[0] < 0.05)
    True
    """
    from scipy.special import bdtr

    draws = samples.shape[1]
    # With k draws below it, a limit is above the true quantile with the probability that at most k
    # of all draws fall below that quantile.
    counts = np.arange(int(risk * draws) + 1)
    simulation_risk = min(SIMULATION_RISK, MAX_SIMULATION_SHARE * risk)
    too_high = bdtr(counts, draws, risk - simulation_risk)
    violated = int(np.searchsorted(too_high, simulation_risk, side="right")) - 1
    if violated < 0:
        return np.full(samples.shape[0], -np.inf)
    return joint_order_statistics(samples, violated)


def joint_order_statistics(samples: FloatArray, violated: int) -> FloatArray:
    """Return an order statistic of each figure, all of one rank, that `violated` draws violate.

    Examples
    --------
    >>> joint_order_statistics(np.array([[1.0, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]]), 2)
    array([2., 6.])
    """
    order = np.argsort(samples, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(samples.shape[1])[None, :], axis=1)
    rank = np.partition(ranks.min(axis=0), violated)[violated]
    return np.take_along_axis(samples, order[:, [rank]], axis=1)[:, 0]


def draws_needed(risk: float) -> int:
    """Return how many draws `lower_limits` needs so that it takes at least the lowest few.

    Examples
    --------
    >>> draws_needed(0.05) < 1_000 < draws_needed(0.001)
    True
    """
    simulation_risk = min(SIMULATION_RISK, MAX_SIMULATION_SHARE * risk)
    return int(np.ceil(2 * np.log(simulation_risk) / np.log1p(simulation_risk - risk)))
