"""The interval of an impact ratio: exact for small groups, from the score test for large ones.

Both contain the ratios t for which a two-sided test of the hypothesis p = t p' does not reject,
with p for the selection rate of the group and p' for that of the reference. The test statistic is
Miettinen and Nurminen's score statistic.

The score interval takes the statistic for standard normal. With few rows it contains the truth
less often than stated.

The exact interval (Agresti and Min) assumes nothing. The p-value of a ratio is the probability of
all tables whose statistic is at least as large, in absolute value, as that of the observed one. It
depends on the rates, of which only the ratio is fixed, so the largest over all such rates is taken
that are not implausible themselves: those within exact intervals of both rates, which miss one of
them with probability alpha / 500 at most. This much is added to the p-value (Berger and Boos). The
interval then contains the true ratio with at least the stated probability, whatever the rates.

The ratios that are not rejected need not form an interval: the p-value jumps where another table
becomes as extreme as the observed one. The limits are the smallest and the largest ratio that is
not rejected. They are searched for from the outside in. A stretch of ratios is discarded only if
the tables that are as extreme as the observed one at either end of it are, together, too improbable
at both ends. So the limits err to the outside, by RATIO_PRECISION at most.

References
----------
Koopman, Biometrics 40 (1984). Miettinen and Nurminen, Statistics in Medicine 4 (1985). Agresti and
Min, Biometrics 57 (2001). Berger and Boos, JASA 89 (1994).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtri

from fourfifths._arrays import FloatArray, IntArray, Interval
from fourfifths._stats.proportions import MIN_DEVIATION, clopper_pearson, find_root

# With more rows in both groups together the exact interval would take too long.
MAX_ROWS_FOR_EXACT = 200
WHOLE_TOLERANCE = 1e-6
# Score limits are searched for between exp(-50) and exp(50), and found to one part in 10^11.
MAX_LOG_RATIO = 50.0
LOG_RATIO_TOLERANCE = 1e-11
NEAR_LOG_RATIO = 1e-6
# The exact limits are within this part of the true ones.
RATIO_PRECISION = 5e-5
# The length of the stretches that are searched, of the logarithm of the ratio.
STRETCH = 0.05
# By how much the statistics of a table and of the observed one may change against each other over a
# stretch, beyond what its ends show: this many times its length.
STATISTIC_CHANGE = 1.0
# The part of the significance level that the intervals of the two rates get.
RATES_SHARE = 1 / 500
# The search goes outwards until the p-value is this part of the significance level.
NEGLIGIBLE = 0.2
# Statistics that differ by a smaller part than this are equal.
STATISTIC_TOLERANCE = 1e-9
# The p-value at a pair of rates changes little over a distance of 1 / sqrt(rows) of the arcsine of
# its root. So many rates are tried per such distance; and this many times more of them around rates
# where the first ones leave open whether the p-value exceeds the level.
RATES_PER_DISTANCE, REFINEMENT = 6, 16
# Between the first rates, the p-value is larger than at them by this part at most.
FIRST_RATES_ERROR = 0.1


def ratio_interval(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of an impact ratio.

    It is exact where persons are counted and both groups together have at most 200 of them; with
    more, or with effective sizes that are not integers, it is the score interval. Both are valid
    where no one or everyone is selected: a group in which no one is selected has lower limit 0 and
    a finite upper limit. If no one in the reference is selected, no ratio is too large, and the
    upper limit is NaN.

    Parameters
    ----------
    selected, n : array-like
        How many of the group were selected, of how many.
    selected_reference, n_reference : array-like
        The same for the reference.
    confidence : float

    Returns
    -------
    lower_limit, upper_limit : float array
        0 or more.

    Examples
    --------
    >>> low, high = ratio_interval(26, 48, 206, 259)
    >>> round(float(low), 3), round(float(high), 3)
    (0.503, 0.857)
    """
    tables = [
        np.asarray(array, dtype=np.float64)
        for array in (selected, n, selected_reference, n_reference)
    ]
    low, high = score_interval(*tables, confidence=confidence)
    x, size, x_reference, size_reference = np.broadcast_arrays(*tables)
    counts = np.stack([x, size, x_reference, size_reference])
    # Effective sizes of equal weights are whole but for rounding.
    is_whole = np.all(np.abs(counts - np.round(counts)) < WHOLE_TOLERANCE, axis=0)
    for index in np.argwhere(is_whole & (size + size_reference <= MAX_ROWS_FOR_EXACT)):
        pair = tuple(index)
        table = (round(float(count)) for count in counts[(..., *pair)])
        low[pair], high[pair] = exact_interval(*table, confidence=confidence)
    return low, high


def score_interval(
    selected: FloatArray,
    n: FloatArray,
    selected_reference: FloatArray,
    n_reference: FloatArray,
    *,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the score interval of an impact ratio (Koopman; Miettinen and Nurminen)."""
    x, size, x_reference, size_reference = np.broadcast_arrays(
        selected, n, selected_reference, n_reference
    )
    z = float(ndtri((1 + confidence) / 2))
    # The statistic falls as the ratio grows. So it equals z at the lower limit and -z at the upper.
    target = np.stack([np.full(x.shape, z), np.full(x.shape, -z)])

    def above_target(log_ratio: FloatArray) -> FloatArray:
        ratio = np.exp(log_ratio)
        statistic = score_statistic(ratio, x, size, x_reference, size_reference)
        return np.asarray(statistic - target)

    # The limits are near those of a normal logarithm with half a person added to each count. Where
    # they are not on either side of its middle, or further out than twice as far, the whole range
    # is searched.
    middle = np.log((x + 0.5) / (size + 0.5) * (size_reference + 0.5) / (x_reference + 0.5))
    variance = 1 / (x + 0.5) - 1 / (size + 0.5)
    variance_reference = 1 / (x_reference + 0.5) - 1 / (size_reference + 0.5)
    reach = 2 * z * np.sqrt(variance + variance_reference) + NEAR_LOG_RATIO
    log_ratio = find_root(
        above_target,
        low=np.full(target.shape, -MAX_LOG_RATIO),
        high=np.full(target.shape, MAX_LOG_RATIO),
        tolerance=LOG_RATIO_TOLERANCE,
        near=(np.stack([middle - reach, middle]), np.stack([middle, middle + reach])),
    )
    low, high = np.exp(log_ratio)
    # Without selections in the group the search ends at exp(-50), which stands for 0. Without any
    # in the reference it ends at exp(50), which stands for no limit.
    return np.where(x > 0, low, 0.0), np.where(x_reference > 0, high, np.nan)


def score_statistic(
    ratio: FloatArray,
    selected: FloatArray,
    n: FloatArray,
    selected_reference: FloatArray,
    n_reference: FloatArray,
) -> FloatArray:
    """Return the score statistic of the hypothesis that the impact ratio is `ratio`.

    It is (p - ratio p') divided by its standard deviation under the hypothesis, with the observed
    rates p of the group and p' of the reference. Under the hypothesis it is approximately standard
    normal.
    """
    x, xr, nr = selected, selected_reference, n_reference
    rejected, rejected_r, total = n - x, nr - xr, n + nr
    # The most likely rates whose ratio is `ratio` are the smaller root of a quadratic equation.
    # They, and their distances to 1, are written without differences of nearly equal numbers,
    # which would lose all digits where nearly everyone is selected.
    group_term, reference_term = ratio * (n + xr), nr + x
    root = np.sqrt((group_term - reference_term) ** 2 + 4 * ratio * rejected * rejected_r)
    scale = group_term + reference_term + root
    rate_r = 2 * (x + xr) / scale
    one_minus_rate_r = (rejected + rejected_r + (ratio - 1) * (n + xr) + root) / scale
    one_minus_rate = (ratio * rejected + rejected_r + (1 - ratio) * (x + xr) + root) / scale
    variance = ratio * rate_r * one_minus_rate / n + ratio**2 * rate_r * one_minus_rate_r / nr
    # The factor total / (total - 1) is Miettinen and Nurminen's.
    deviation = np.sqrt(np.maximum(variance, 0) * total / (total - 1))
    # The variance is 0 where everyone is selected. Then any difference at all rejects.
    return np.asarray((x / n - ratio * xr / nr) / np.maximum(deviation, MIN_DEVIATION))


@lru_cache(maxsize=4096)
def exact_interval(
    selected: int, n: int, selected_reference: int, n_reference: int, *, confidence: float
) -> tuple[float, float]:
    """Return the exact interval of an impact ratio (Agresti and Min).

    The lower limit is 0 where no one of the group is selected, and the upper limit NaN where no one
    of the reference is.
    """
    group, reference = (selected, n), (selected_reference, n_reference)
    high = exact_upper_limit(group, reference, confidence) if selected_reference > 0 else math.nan
    # The ratio of the reference to the group is the inverse one.
    low = 1 / exact_upper_limit(reference, group, confidence) if selected > 0 else 0.0
    return low, high


def exact_upper_limit(
    group: tuple[int, int], reference: tuple[int, int], confidence: float
) -> float:
    """Return the largest ratio that is not rejected, to the outside by RATIO_PRECISION at most.

    Parameters
    ----------
    group, reference : (int, int)
        How many were selected, of how many. At least one of the reference was.
    confidence : float
    """
    alpha = (1 - confidence) * (1 - RATES_SHARE)
    rates_confidence = 1 - (1 - confidence) * RATES_SHARE / 2
    plausible = [
        (float(low), float(high))
        for low, high in (
            clopper_pearson(*side, confidence=rates_confidence) for side in (group, reference)
        )
    ]
    counts = [np.array(count, dtype=np.float64) for count in (*group, *reference)]
    start = float(np.log(score_interval(*counts, confidence=confidence)[1]))
    tests: dict[float, RatioTest] = {}

    def test_of(log_ratio: float) -> RatioTest:
        if log_ratio not in tests:
            tests[log_ratio] = RatioTest(math.exp(log_ratio), group, reference, plausible=plausible)
        return tests[log_ratio]

    def largest_in(inner: float, outer: float) -> float | None:
        """Return the largest ratio of a stretch that is not rejected, or None."""
        ends = test_of(outer), test_of(inner)
        tolerance = STATISTIC_CHANGE * (outer - inner)
        extreme = ends[0].extreme(tolerance) | ends[1].extreme(tolerance)
        if not any(end.exceeds(alpha, extreme) for end in ends):
            return None
        if outer - inner < RATIO_PRECISION:
            return math.exp(outer)
        middle = (inner + outer) / 2
        # The union is larger than what is extreme in either half, so both may be rejected.
        return largest_in(middle, outer) or largest_in(inner, middle)

    outer, tolerance = start + STRETCH, STATISTIC_CHANGE * STRETCH
    while test_of(outer).exceeds(NEGLIGIBLE * alpha, test_of(outer).extreme(tolerance)):
        outer += STRETCH
    # The limit may be below the score limit too. The observed ratio itself is never rejected.
    limit = None
    while limit is None:
        limit = largest_in(outer - STRETCH, outer)
        outer -= STRETCH
    return limit


class RatioTest:
    """The exact test of one ratio: which tables are as extreme, and how probable they are.

    Parameters
    ----------
    ratio : float
    group, reference : (int, int)
        How many were selected, of how many, in the observed table.
    plausible : sequence of (float, float)
        The lowest and the highest rate of the group and of the reference that are considered.
    """

    def __init__(
        self,
        ratio: float,
        group: tuple[int, int],
        reference: tuple[int, int],
        *,
        plausible: Sequence[Interval] = ((0.0, 1.0), (0.0, 1.0)),
    ) -> None:
        self.ratio = ratio
        self.n, self.n_reference = group[1], reference[1]
        statistic = score_statistic(
            np.array(ratio),
            np.arange(self.n + 1.0)[:, np.newaxis],
            np.array(float(self.n)),
            np.arange(self.n_reference + 1.0),
            np.array(float(self.n_reference)),
        )
        self.statistic = statistic
        self.observed = abs(float(statistic[group[0], reference[0]]))
        # The limits of the higher of the two rates, as angles whose squared sine they are.
        scale, scale_reference = max(1.0, 1 / ratio), max(1.0, ratio)
        (low, high), (low_reference, high_reference) = plausible
        lowest = max(low * scale, low_reference * scale_reference)
        highest = min(high * scale, high_reference * scale_reference, 1.0)
        first, last = math.asin(math.sqrt(min(lowest, 1.0))), math.asin(math.sqrt(highest))
        step = 1 / (RATES_PER_DISTANCE * math.sqrt(self.n + self.n_reference))
        # None, if no plausible rates have this ratio.
        rate_count = math.ceil((last - first) / step) + 2 if lowest <= highest else 0
        self.angles = np.linspace(first, last, rate_count)
        self.chances = self.chances_at(self.angles)

    def extreme(self, tolerance: float) -> Extreme:
        """Return the tables whose statistic is as far from 0 as the observed one, or nearly so."""
        limit = self.observed * (1 - max(tolerance, STATISTIC_TOLERANCE))
        # The statistic falls as the selections of the reference grow.
        is_low = self.statistic <= -limit
        return Extreme(
            above=np.sum(self.statistic >= limit, axis=1),
            below=self.n_reference + 1 - np.sum(is_low, axis=1),
        )

    def exceeds(self, level: float, extreme: Extreme) -> bool:
        """Return whether such tables are more probable than a level, at any rates of the ratio."""
        chance = extreme.chance(*self.chances)
        if np.any(chance > level):
            return True
        is_peak = (chance >= np.append(chance[1:], 0)) & (chance >= np.append(0, chance[:-1]))
        is_near = is_peak & (chance > (1 - FIRST_RATES_ERROR) * level)
        if not np.any(is_near):
            return False
        step = self.angles[1] - self.angles[0]
        between = np.linspace(-step, step, 2 * REFINEMENT + 1)
        angles = self.angles[is_near, np.newaxis] + between
        angles = np.clip(angles, self.angles[0], self.angles[-1]).ravel()
        return bool(np.max(extreme.chance(*self.chances_at(angles))) > level)

    def chances_at(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the chances of numbers of selections: of each in the group, of fewer in the other.

        The higher of the two rates is the squared sine of the angle.
        """
        # Not quite 0 and 1, so that the logarithms are finite.
        higher = np.clip(np.sin(angles) ** 2, 1e-13, 1 - 1e-13)
        rate, rate_reference = (
            (higher, higher / self.ratio) if self.ratio > 1 else (higher * self.ratio, higher)
        )
        fewer = np.zeros((angles.size, self.n_reference + 2))
        np.cumsum(binomial_rows(self.n_reference, rate_reference), axis=1, out=fewer[:, 1:])
        return binomial_rows(self.n, rate), fewer


@dataclass(frozen=True, kw_only=True)
class Extreme:
    """Tables that are extreme: by the selections of the reference, for each number in the group.

    Attributes
    ----------
    above : int array
        The group's rate is too high with fewer selections of the reference than this.
    below : int array
        It is too low with this many selections of the reference, or more.
    """

    above: IntArray
    below: IntArray

    def __or__(self, other: Extreme) -> Extreme:
        """Return the tables that are extreme by either."""
        return Extreme(
            above=np.maximum(self.above, other.above), below=np.minimum(self.below, other.below)
        )

    def chance(self, group: FloatArray, fewer_in_reference: FloatArray) -> FloatArray:
        """Return how probable these tables are, from `RatioTest.chances_at`."""
        # Where all numbers are extreme the two tails meet, and count once.
        above = np.minimum(self.above, self.below)
        in_tails = 1 - fewer_in_reference[:, self.below] + fewer_in_reference[:, above]
        return np.asarray(np.einsum("rx,rx->r", group, in_tails))


def binomial_rows(n: int, rates: FloatArray) -> FloatArray:
    """Return the probabilities of 0 to n successes, one row for each rate."""
    count = np.arange(n + 1)
    log_ways = gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1)
    log_odds = np.log(rates) - np.log1p(-rates)
    log = np.multiply.outer(log_odds, count)
    log += log_ways
    log += (n * np.log1p(-rates))[:, np.newaxis]
    return np.asarray(np.exp(log, out=log))
