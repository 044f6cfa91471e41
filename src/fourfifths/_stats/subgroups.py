"""What holds for all subgroups of a search at once: limits of ratios, and p-values of the worst.

Rows are selected independently, each with a chance of its own. The rate of a subgroup is the mean
chance of its rows. The limits hold whatever the chances are. The p-values are about the hypothesis
that the outcome has nothing to do with the columns that were searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaincinv, gammaln

from fourfifths._arrays import FloatArray, IntArray

# How the error probability is divided: the subgroups' rates, the others' rates, the overall rate.
SUBGROUPS_SHARE, OTHERS_SHARE, OVERALL_SHARE = 0.9, 0.05, 0.05
PERMUTATIONS = 1999
# Numbers of selections so far below the expected one have a p-value of about 1e-15 or less.
LISTED_DEVIATIONS, LISTED_MORE = 8.0, 30
PERMUTATIONS_AT_ONCE = 100
# Up to this many rows it is faster to draw rows than to draw the number of each cell.
MAX_DRAWN_ROWS = 1_000_000
MAX_PERMUTED_ROWS = 999_999_999  # numpy draws from no more


def upper_rate_limit(selected: FloatArray, n: FloatArray, *, error: float) -> FloatArray:
    """Return the exact upper limit of a mean chance (Clopper and Pearson), one-sided.

    With equal chances it is exact. With unequal ones a number of selections at least one below its
    mean is at most as probable as with equal ones (Hoeffding 1956). So the limit
    holds for the mean of any chances if the error is below 1/4 and the limit is 1 where all rows
    but one are selected.

    Examples
    --------
    The rate at which no one of 20 is selected with probability 0.05: 1 - 0.05 ** (1 / 20).

    >>> limit = upper_rate_limit(np.array([0.0]), np.array([20.0]), error=0.05)
    >>> round(float(limit[0]), 4)
    0.1391
    """
    is_limited = selected < n - 1
    rest = np.where(is_limited, n - selected, 1.0)
    return np.where(is_limited, betaincinv(selected + 1, rest, 1 - error), 1.0)


def lower_rate_limit(selected: FloatArray, n: FloatArray, *, error: float) -> FloatArray:
    """Return the exact lower limit of a mean chance: 1 minus the upper limit of not selected."""
    return 1 - upper_rate_limit(n - selected, n, error=error)


def ratio_upper_limits(
    selected: FloatArray, n: FloatArray, *, all_selected: float, all_n: float, confidence: float
) -> FloatArray:
    """Return upper limits of the ratio of each subgroup's rate to that of all other rows.

    All limits hold together with probability `confidence`. Three kinds of exact limits hold
    together, because their error probabilities add up to 1 - confidence: an upper limit of each
    subgroup's rate, a lower limit of each complement's rate, and a lower limit of the overall
    rate. The last one gives another lower limit of each complement's rate, because the overall
    rate is the mean of both; it is the better one for small subgroups, because it is one statement
    for all of them. NaN where no upper limit follows.

    Parameters
    ----------
    selected, n : float array
        Of every subgroup that was searched.
    all_selected, all_n : float
        Of all rows.
    confidence : float
        At least 0.8.
    """
    error = 1 - confidence
    others_n = all_n - n
    high = upper_rate_limit(selected, n, error=SUBGROUPS_SHARE * error / n.size)
    others_low = lower_rate_limit(
        all_selected - selected, others_n, error=OTHERS_SHARE * error / n.size
    )
    overall_low = lower_rate_limit(
        np.array(all_selected), np.array(all_n), error=OVERALL_SHARE * error
    )
    low = np.maximum(others_low, (all_n * overall_low - n * high) / others_n)
    return np.where(low > 0, high / np.where(low > 0, low, 1.0), np.nan)


@dataclass(frozen=True, kw_only=True)
class LowerTails:
    """Fisher's one-sided p-values of many subgroups, listed for each number of selections.

    Attributes
    ----------
    first, last : int array
        The smallest and the largest number that is listed for each subgroup. The p-value of fewer
        is taken to be 0, and that of more to be 1.
    start : int array
        Where the list of each subgroup begins in `p`.
    p : float array
        The probability of this many selections or fewer, if all rows are alike.
    """

    first: IntArray
    last: IntArray
    start: IntArray
    p: FloatArray

    @classmethod
    def of(cls, n: IntArray, *, all_selected: int, all_n: int) -> LowerTails:
        """List the p-values of subgroups of the sizes `n`."""
        share = all_selected / all_n
        mean = n * share
        deviation = np.sqrt(mean * (1 - share) * (all_n - n) / max(all_n - 1, 1))
        lowest = np.maximum(0, all_selected - (all_n - n))
        reach = mean - LISTED_DEVIATIONS * deviation - LISTED_MORE
        first = np.maximum(lowest, np.floor(reach).astype(np.int64))
        last = np.maximum(first, np.floor(mean).astype(np.int64))
        length = last - first + 1
        start = np.cumsum(length) - length
        subgroup = np.repeat(np.arange(n.size), length)
        x = np.arange(length.sum()) - np.repeat(start - first, length)
        size = n[subgroup]

        def log_ways(total: IntArray | int, chosen: IntArray) -> FloatArray:
            return np.asarray(
                gammaln(np.add(total, 1)) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
            )

        probability = np.exp(
            log_ways(size, x)
            + log_ways(all_n - size, all_selected - x)
            - log_ways(all_n, np.array(all_selected))
        )
        # Sums within each list: of short stretches, so that small tails are not lost in others'.
        p = np.empty_like(probability)
        for length_class in np.unique(np.ceil(np.log2(length)).astype(np.int64)):
            members = np.flatnonzero(np.ceil(np.log2(length)).astype(np.int64) == length_class)
            steps = np.arange(2**length_class)
            is_listed = steps < length[members][:, None]
            positions = np.where(is_listed, start[members][:, None] + steps, 0)
            sums = np.cumsum(np.where(is_listed, probability[positions], 0.0), axis=1)
            p[positions[is_listed]] = sums[is_listed]
        return cls(first=first, last=last, start=start, p=p)

    def of_counts(self, selected: IntArray) -> FloatArray:
        """Return the p-values of numbers of selections, with one row for each subgroup."""
        shape = (-1,) + (1,) * (selected.ndim - 1)
        first, last, start = (
            limits.reshape(shape) for limits in (self.first, self.last, self.start)
        )
        listed = self.p[start + np.clip(selected, first, last) - first]
        return np.where(selected < first, 0.0, np.where(selected > last, 1.0, listed))


Draw = Callable[[int], IntArray]


def permuted_selections(cell_rows: IntArray, all_selected: int, *, random_state: int) -> Draw:
    """Return a function that draws selections of each cell, the outcomes permuted over the rows.

    It takes the number of permutations, and returns one column for each.
    """
    rng = np.random.default_rng(random_state)
    few = int(cell_rows.sum()) <= MAX_DRAWN_ROWS

    def draw(permutations: int) -> IntArray:
        return np.ascontiguousarray(
            rng.multivariate_hypergeometric(
                cell_rows,
                all_selected,
                size=permutations,
                method="count" if few else "marginals",
            ).T
        )

    return draw


def permutation_p(
    membership: csr_array,
    selected: IntArray,
    n: IntArray,
    *,
    all_selected: int,
    all_n: int,
    draw: Draw,
    permutations: int = PERMUTATIONS,
) -> FloatArray:
    """Return p-values adjusted for the whole search, from permuted outcomes.

    The adjusted p-value of a subgroup is the share of permutations in which any subgroup that was
    searched has a p-value (Fisher's, one-sided) at most as large. The observed outcomes count as
    one permutation: then the smallest adjusted p-value is at most alpha with probability alpha
    at most, for any number of permutations, if the outcome has nothing to do with the columns.

    Parameters
    ----------
    membership : sparse array of shape (subgroups, cells)
        1 where the rows of a cell belong to a subgroup.
    selected, n : int array
        Of each subgroup.
    all_selected, all_n : int
        Of all rows.
    draw : callable
        Takes a number of permutations; returns the selections of each cell in each of them.
    permutations : int
    """
    tails = LowerTails.of(n, all_selected=all_selected, all_n=all_n)
    smallest = np.empty(permutations)
    for begin in range(0, permutations, PERMUTATIONS_AT_ONCE):
        end = min(begin + PERMUTATIONS_AT_ONCE, permutations)
        smallest[begin:end] = tails.of_counts(membership @ draw(end - begin)).min(axis=0)
    smallest.sort()
    # What is equal in exact arithmetic may differ by rounding: it counts as equal.
    observed = tails.of_counts(selected) * (1 + 1e-9)
    at_most = np.searchsorted(smallest, observed, side="right")
    return np.asarray((at_most + 1) / (permutations + 1))


def bonferroni_p(selected: IntArray, n: IntArray, *, all_selected: int, all_n: int) -> FloatArray:
    """Return Fisher's one-sided p-values times the number of subgroups, 1 at most."""
    tails = LowerTails.of(n, all_selected=all_selected, all_n=all_n)
    return np.minimum(tails.of_counts(selected) * n.size, 1.0)
