"""P-values of several comparisons at once: Holm's, and those that allow for a chosen reference.

Where the reference is the group with the highest rate, it is chosen on the same rows that are
tested. Of six groups with equal rates the highest and the lowest differ "significantly" in 40% of
tables, although nothing differs. A p-value that holds whichever group is chosen asks how often any
two of the groups would differ as much as these two if the rates of all groups were equal. With two
groups there is nothing to choose, and it is the usual two-sided p-value.

References
----------
Holm, Scandinavian Journal of Statistics 6 (1979). Tukey, The Problem of Multiple Comparisons
(1953). Kramer, Biometrics 12 (1956). Hayter, Annals of Statistics 12 (1984), for unequal sizes.
Westfall and Young, Resampling-Based Multiple Testing (1993). Phipson and Smyth, Statistical
Applications in Genetics and Molecular Biology 9 (2010), for p-values from simulated tables. Besag
and Clifford, Biometrika 78 (1991), for a simulation that stops early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._stats.proportions import bisect, fisher_test

SIMULATED_TABLES = 9_999
# Once this many of them are as extreme as the observed table, no more are simulated.
# A p-value up to 0.05 rests on fewer, so the limit changes none of them.
ENOUGH_EXTREME_TABLES = 500
# Nor are more simulated if this many of the first ones are, which makes all p-values 0.1 or more.
FIRST_TABLES, ENOUGH_OF_FIRST_TABLES = 2_000, 200
TABLES_AT_ONCE = 500
# A simulated p-value this small rests on ten tables or fewer.
LEAST_SIMULATED_P = 0.001
# Statistics that differ by less are equal. They are differences of large sums.
STATISTIC_TOLERANCE = 1e-5
# NumPy draws from fewer rows than this.
MAX_ROWS_TO_SIMULATE = 1_000_000_000
# The position of the largest normal, over which the midpoint rule integrates. Its error is below
# 1e-12, because the function and all its derivatives vanish at both ends.
LOWEST_NORMAL, HIGHEST_NORMAL, NORMAL_STEP = -9.0, 40.0, 0.02


def holm(p: ArrayLike) -> FloatArray:
    """Return p-values adjusted for several comparisons by Holm's method.

    NaN means that there was no comparison. It stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p, dtype=np.float64)
    order = np.argsort(raw)[: int(np.sum(~np.isnan(raw)))]  # NaN sorts last
    # The smallest p counts for all comparisons, the next for one fewer. The running maximum keeps
    # the adjusted values in the order of the raw ones.
    steps = raw[order] * np.arange(order.size, 0, -1)
    adjusted = np.full(raw.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def chosen_reference_p(
    selected: ArrayLike,
    n: ArrayLike,
    *,
    reference: int,
    fisher_p: ArrayLike | None = None,
    random_state: int = 0,
    tables: int = SIMULATED_TABLES,
) -> FloatArray:
    """Return p-values against a reference that was chosen after seeing the rates.

    The p-value of a group is the probability that some two groups differ at least as much as this
    group and the reference do, if all rows are alike: given the sizes of the groups and the total
    number selected, the selections are then multivariate hypergeometric. It is simulated. So it
    holds however the reference was chosen, and for all groups at once: if all rates are equal, any
    p-value is 0.05 or less in at most 5% of tables. Two groups differ by the likelihood ratio of
    their table, with a continuity correction of half a person: unlike z, it does not call every
    group of one or two persons extreme.

    A simulated p-value is (1 + tables at least as extreme) / (1 + tables), which is valid for any
    number of tables. Where 500 tables are as extreme before all are drawn, it is 500 divided by the
    number drawn until then, which is valid too (Besag and Clifford). If 200 of the first 2,000
    tables are as extreme as the largest difference, all p-values are 0.1 or more, and 200 take the
    place of the 500. Where it rests on a few tables, at 0.001 and less, Fisher's p-value times the
    number of pairs takes its place, which is valid as well; if that is larger than 0.001, then
    0.001 stands. It is never less than Fisher's p-value, and with two groups it is that.

    Parameters
    ----------
    selected, n : array-like of int
        How many of each group were selected, of how many.
    reference : int
        The index of the reference.
    fisher_p : array-like, optional
        Fisher's p-value of each group and the reference, if it has been computed before.
    random_state : int
        Another one changes a p-value of 0.05 by 0.002 or so, and a larger one by 4 to 7% of itself
        (one standard error).
    tables : int
        How many to simulate at most.

    Returns
    -------
    float array
        One per group; NaN for the reference.

    Examples
    --------
    Of six groups, the lowest and the highest rate differ with a Fisher p of .013. From 400,000
    tables, the p-values are .084, .187, .346, .753 and .952.

    >>> selected = [20, 22, 24, 28, 31, 37]
    >>> chosen_reference_p(selected, [100] * 6, reference=5).round(1).tolist()
    [0.1, 0.2, 0.3, 0.8, 1.0, nan]
    """
    x, sizes = np.asarray(selected, dtype=np.int64), np.asarray(n, dtype=np.int64)
    group_count, total = sizes.size, int(sizes.sum())
    fisher = np.array(
        fisher_test(x, sizes, x[reference], sizes[reference]).p if fisher_p is None else fisher_p
    )
    fisher[reference] = np.nan
    if group_count == 2:
        return fisher
    union_bound = np.minimum(fisher * group_count * (group_count - 1) / 2, 1.0)
    # Where the bound is as small for every group, simulated tables have nothing to add.
    if total >= MAX_ROWS_TO_SIMULATE or np.nanmax(union_bound) <= LEAST_SIMULATED_P:
        return union_bound
    terms = GroupTerms.of(x[:, np.newaxis], sizes)
    observed = terms.statistic(terms.of_groups(slice(reference, reference + 1)))[:, 0]
    rng = np.random.default_rng(random_state)
    largest = np.empty(0)
    largest_observed = np.delete(observed, reference).max() - STATISTIC_TOLERANCE
    extreme_tables, enough = 0, ENOUGH_EXTREME_TABLES
    while largest.size < tables and extreme_tables < enough:
        simulated_selections = rng.multivariate_hypergeometric(
            sizes, int(x.sum()), size=min(TABLES_AT_ONCE, tables - largest.size), method="marginals"
        )
        statistic = largest_pair_statistic(np.ascontiguousarray(simulated_selections.T), sizes)
        largest = np.append(largest, statistic)
        extreme_tables = int(np.sum(largest >= largest_observed))
        if largest.size <= FIRST_TABLES and extreme_tables >= ENOUGH_OF_FIRST_TABLES:
            enough = ENOUGH_OF_FIRST_TABLES
    is_extreme = largest >= (observed - STATISTIC_TOLERANCE)[:, np.newaxis]
    extreme_count = np.cumsum(is_extreme, axis=1)
    # Up to the table that was the last one needed.
    drawn = np.argmax(extreme_count >= enough, axis=1) + 1
    simulated = np.where(
        extreme_count[:, -1] >= enough,
        enough / drawn,
        (1 + extreme_count[:, -1]) / (1 + largest.size),
    )
    p = np.where(
        simulated > LEAST_SIMULATED_P, simulated, np.minimum(union_bound, LEAST_SIMULATED_P)
    )
    return np.asarray(np.maximum(p, fisher))


def largest_pair_statistic(selected: IntArray, n: IntArray) -> FloatArray:
    """Return the largest likelihood ratio statistic of any two groups, in each table.

    Parameters
    ----------
    selected : int array of shape (groups, tables)
    n : int array of shape (groups,)

    Examples
    --------
    Half a person nearer to equal rates, 1.5 of 5 against 3.5 of 5, where 2.5 are expected:
    4 (1.5 log(1.5 / 2.5) + 3.5 log(3.5 / 2.5)).

    >>> largest_pair_statistic(np.array([[1], [4]]), np.array([5, 5])).round(3).tolist()
    [1.646]
    """
    terms = GroupTerms.of(selected, n)
    largest = np.zeros(selected.shape[1])
    for group in range(1, n.size):
        before, alone = slice(None, group), slice(group, group + 1)
        statistic = terms.of_groups(before).statistic(terms.of_groups(alone))
        np.maximum(largest, statistic.max(axis=0), out=largest)
    return largest


@dataclass(frozen=True, kw_only=True)
class GroupTerms:
    """The terms of the likelihood ratio statistic that belong to one group, in each table.

    With O for the counts, moved by half a person towards equal rates, and E for those expected at
    equal rates, the statistic is 2 sum O log(O / E). The sums of both groups do not change, so all
    terms but two belong to one group, and are computed once for all its pairs.

    Attributes
    ----------
    selected, rejected : float array of shape (groups, tables)
    n : int array of shape (groups, 1)
    raised, lowered : float array of shape (groups, tables)
        With half a person more selected, and with half a person less.
    """

    selected: FloatArray
    rejected: FloatArray
    n: IntArray
    raised: FloatArray
    lowered: FloatArray

    @classmethod
    def of(cls, selected: IntArray, n: IntArray) -> GroupTerms:
        """Compute the terms; `selected` has one row per group, and `n` one size."""
        sizes = n[:, np.newaxis]
        counts = selected.astype(np.float64)
        raised, lowered = (entropy_terms(counts + move, sizes) for move in (0.5, -0.5))
        return cls(
            selected=counts, rejected=sizes - counts, n=sizes, raised=raised, lowered=lowered
        )

    def of_groups(self, groups: slice) -> GroupTerms:
        """Return the terms of some of the groups."""
        return GroupTerms(
            selected=self.selected[groups],
            rejected=self.rejected[groups],
            n=self.n[groups],
            raised=self.raised[groups],
            lowered=self.lowered[groups],
        )

    def statistic(self, reference: GroupTerms) -> FloatArray:
        """Return the statistic of each group and a single other one, in each table."""
        # The move towards equal rates is the one that lowers the statistic.
        apart = np.minimum(self.raised + reference.lowered, self.lowered + reference.raised)
        half = apart + xlogx(self.n + reference.n)
        half -= xlogx(self.selected + reference.selected)
        half -= xlogx(self.rejected + reference.rejected)
        # Where no one or everyone is selected in both, no move is possible: no difference.
        half[np.isinf(half)] = 0.0
        return 2 * half


def entropy_terms(selected: FloatArray, n: IntArray) -> FloatArray:
    """Return x log x + (n - x) log(n - x) - n log n; infinity where x is not between 0 and n."""
    is_count = (selected >= 0) & (selected <= n)
    x = np.where(is_count, selected, 0.0)
    return np.where(is_count, xlogx(x) + xlogx(n - x) - xlogx(n), np.inf)


def xlogx(counts: FloatArray | IntArray) -> FloatArray:
    """Return x log x of counts and half counts, which is 0 at 0."""
    # With the logarithm of 1/2 in place of that of 0, NumPy takes all of them at once.
    return np.asarray(counts * np.log(np.maximum(counts, 0.5)))


def range_p(z: ArrayLike, *, group_count: int) -> FloatArray:
    """Return the p-value of z against a reference that was chosen among several groups.

    It is the probability that the largest and the smallest of `group_count` independent standard
    normals differ by sqrt(2) |z| or more (Tukey's range; for groups of unequal size Kramer's form,
    which Hayter proved to be valid). It takes the place of `chosen_reference_p` where sampling
    weights leave effective sizes instead of counts. With two groups, it is the two-sided p-value of
    z.

    Parameters
    ----------
    z : array-like
        Of a group and the reference.
    group_count : int
        How many groups the reference was chosen from, itself included.

    Examples
    --------
    >>> range_p([1.96, 1.96], group_count=2).round(3).tolist()
    [0.05, 0.05]
    >>> range_p(2.85, group_count=6).round(3).tolist()
    0.05
    """
    distance = np.sqrt(2) * np.abs(np.asarray(z, dtype=np.float64))[..., np.newaxis]
    top = np.arange(LOWEST_NORMAL, HIGHEST_NORMAL, NORMAL_STEP)
    # The largest is at `top`, and not all others lie within `distance` below it. Written so that
    # nothing is subtracted from 1 where the p-value is small.
    density = np.exp(-(top**2) / 2 + (group_count - 1) * log_ndtr(top)) / np.sqrt(2 * np.pi)
    beyond = ndtr(top - distance) / ndtr(top)
    some_beyond = -np.expm1((group_count - 1) * np.log1p(-np.minimum(beyond, 1 - 1e-16)))
    return np.asarray(
        np.minimum(group_count * NORMAL_STEP * (density * some_beyond).sum(axis=-1), 1.0)
    )


@cache
def range_z(group_count: int, *, confidence: float = 0.95) -> float:
    """Return the |z| at which `range_p` is 1 - confidence.

    Examples
    --------
    >>> round(range_z(2), 2), round(range_z(6), 2)
    (1.96, 2.85)
    """
    alpha = 1 - confidence
    return float(
        bisect(
            lambda z: range_p(z, group_count=group_count) > alpha,
            low=np.zeros(()),
            high=np.full((), HIGHEST_NORMAL),
            halvings=50,
        )
    )
