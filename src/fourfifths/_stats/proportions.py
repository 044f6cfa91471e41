"""The selection rates of groups: intervals, tests, what they can detect, and effect sizes.

Most functions compare `selected` of `n` in the group with `selected_reference` of `n_reference` in
the reference. A negative statistic means that the group is selected less often. From top to bottom:
the interval of one rate, tests of two rates and their effect sizes, Fisher's exact test, the
interval of an impact ratio, statistical power, p-values of several groups, and the search for
roots.

The interval of an impact ratio
-------------------------------
It is exact for small groups, and from the score test for large ones. Both intervals contain the
ratios t for which a two-sided test of the hypothesis p = t p' does not reject, with p for the
selection rate of the group and p' for that of the reference. The test statistic is Miettinen and
Nurminen's score statistic.

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

Several groups
--------------
Where the reference is the group with the highest rate, it is chosen on the same rows that are
tested. Of six groups with equal rates the highest and the lowest differ "significantly" in 40% of
tables, although nothing differs. A p-value that holds whichever group is chosen asks how often any
two of the groups would differ as much as these two if the rates of all groups were equal. With two
groups there is nothing to choose, and it is the usual two-sided p-value.

References
----------
Agresti and Min, Biometrics 57 (2001). Berger and Boos, JASA 89 (1994). Besag and Clifford,
Biometrika 78 (1991), for a simulation that stops early. Chandrupatla, Advances in Engineering
Software 28 (1997), for roots. Clopper and Pearson, Biometrika 26 (1934). Hayter, Annals of
Statistics 12 (1984), for ranges of unequal sizes. Holm, Scandinavian Journal of Statistics 6
(1979). Koopman, Biometrics 40 (1984). Korn and Graubard, Survey Methodology 24 (1998), for
effective sample sizes. Kramer, Biometrics 12 (1956). Miettinen and Nurminen, Statistics in Medicine
4 (1985). Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010),
for p-values from simulated tables. Tukey, The Problem of Multiple Comparisons (1953). Westfall and
Young, Resampling-Based Multiple Testing (1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaln, log_ndtr, ndtr, ndtri, xlog1py, xlogy

from fourfifths._arrays import BoolArray, FloatArray, IntArray, Interval

Alternative = Literal["two-sided", "less"]
# Replaces a standard deviation of 0, so that a difference divided by it is huge and not NaN.
MIN_DEVIATION = 1e-300
# Results whose probabilities differ by a smaller part than this are equally likely. Rounding makes
# a tenth of it at most, with ten million rows.
TIE_TOLERANCE = 1e-10
DEFAULT_POWER = 0.8  # the usual choice, after Cohen (1988)
DETECTABLE_TOLERANCE = 1e-11
# Halving alone would reach any tolerance within this many steps.
MAX_ROOT_STEPS = 100
# With more tables than this, the power of Fisher's test is that of z with a continuity correction.
MAX_FISHER_TABLES = 500_000
LEAST_LIKELY = 1e-9
# A table changes no digit of a sum if it is less probable than those in it by exp(-50), or 2e-22.
# How far from the mode such tables are is searched for in steps of this factor.
NEGLIGIBLE_LOG, DISTANCE_STEP = 50.0, 1.05

# Of the interval of an impact ratio. With more rows in both groups together the
# exact interval would take too long.
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
NEGLIGIBLE_P = 0.2
# Statistics that differ by a smaller part than this are equal.
SCORE_TOLERANCE = 1e-9
# The p-value at a pair of rates changes little over a distance of 1 / sqrt(rows) of the arcsine of
# its root. So many rates are tried per such distance; and this many times more of them around rates
# where the first ones leave open whether the p-value exceeds the level.
RATES_PER_DISTANCE, REFINEMENT = 6, 16
# Between the first rates, the p-value is larger than at them by this part at most.
FIRST_RATES_ERROR = 0.1

# Of several groups: how many tables are simulated.
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
LIKELIHOOD_TOLERANCE = 1e-5
# NumPy draws from fewer rows than this.
MAX_ROWS_TO_SIMULATE = 1_000_000_000
# The position of the largest normal, over which the midpoint rule integrates. Its error is below
# 1e-12, because the function and all its derivatives vanish at both ends.
LOWEST_NORMAL, HIGHEST_NORMAL, NORMAL_STEP = -9.0, 40.0, 0.02


def clopper_pearson(
    selected: ArrayLike, n: ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval of a selection rate.

    The lower limit is the rate at which `selected` or more of n would be selected with probability
    (1 - confidence) / 2, and the upper limit the rate at which `selected` or fewer would be. The
    interval contains the true rate at least as often as `confidence` says.

    Parameters
    ----------
    selected, n : array-like
        How many were selected, of how many. Effective sample sizes, which are not integers, are
        fine too.
    confidence : float

    Returns
    -------
    lower_limit, upper_limit : float array
        In [0, 1].

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    x, size = (np.asarray(array, dtype=np.float64) for array in (selected, n))
    tail = (1 - confidence) / 2
    # The beta quantile is not defined at x = 0 (lower limit) and x = n (upper limit). There any
    # positive parameter will do, because the result is replaced by 0 or 1.
    lower_shape, upper_shape = np.where(x > 0, x, 1.0), np.where(x < size, size - x, 1.0)
    low = np.where(x > 0, betaincinv(lower_shape, size - x + 1, tail), 0.0)
    high = np.where(x < size, betaincinv(x + 1, upper_shape, 1 - tail), 1.0)
    return low, high


def linearised_size(
    rate: ArrayLike,
    *,
    squares_selected: ArrayLike,
    squares_not_selected: ArrayLike,
    weight: ArrayLike,
) -> FloatArray:
    """Return the effective sample size of a weighted selection rate.

    It is the number of unweighted rows whose rate would vary as much: p (1 - p) divided by the
    linearised variance of the weighted rate p, which is the sum of w^2 (y - p)^2 over W^2, with w
    for the weight of a row, W for their sum, and y for 1 or 0. Unlike Kish's W^2 / sum of w^2, it
    allows for weights that go with the outcome. Where all are selected, or none, no row differs
    from the rate and the linearised variance is 0, although the true rate may differ from 0 or 1;
    there Kish's size is taken, which does not depend on the outcomes.

    Parameters
    ----------
    rate : array-like
        The weighted selection rate.
    squares_selected, squares_not_selected : array-like
        The sums of the squared weights of those selected, and of the others.
    weight : array-like
        The sum of all weights.

    Returns
    -------
    float array
        At most the number of rows if the weights do not go with the outcome; else it may be more.

    Examples
    --------
    Three rows of weight 1 that were selected and one of weight 3 that was not.

    >>> round(float(linearised_size(0.5, squares_selected=3, squares_not_selected=9, weight=6)), 6)
    3.0

    References
    ----------
    Kish, Survey Sampling (1965). Woodruff, JASA 66 (1971). Korn and Graubard (1998).
    """
    p, selected, not_selected, total = _floats(rate, squares_selected, squares_not_selected, weight)
    variance = ((1 - p) ** 2 * selected + p**2 * not_selected) / total**2
    kish = total**2 / (selected + not_selected)
    # By the squares and not by the rate, which rounding may keep from being quite 1.
    varies = (selected > 0) & (not_selected > 0)
    return np.where(varies, divide(p * (1 - p), variance), kish)


def z_statistic(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return the two-sample z with pooled variance; NaN where everyone or no one is selected.

    Examples
    --------
    >>> round(float(z_statistic(26, 48, 206, 259)), 3)
    -3.757
    """
    x, size, xr, size_r = _floats(selected, n, selected_reference, n_reference)
    pooled = (x + xr) / (size + size_r)
    variance = pooled * (1 - pooled) * (1 / size + 1 / size_r)
    return divide(x / size - xr / size_r, np.sqrt(variance))


def standard_deviations(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return how many standard deviations the group's selections are above the expected number.

    The two group sizes and the total number selected are fixed, as in Fisher's exact test, so the
    group's selections have a hypergeometric distribution: z times sqrt((N - 1) / N). This is the
    two-sample comparison of selection rates, both of which vary. The standard deviations of
    Castaneda v. Partida, 430 U.S. 482 (1977) and Hazelwood School District v. United States,
    433 U.S. 299 (1977) are binomial: they compare one group's number with a fixed share of an
    outside population (`against_share`).
    """
    total = np.add(n, n_reference, dtype=np.float64)
    return z_statistic(selected, n, selected_reference, n_reference) * np.sqrt((total - 1) / total)


def two_sided_p(z: ArrayLike) -> FloatArray:
    """Return the two-sided p-value of a standard normal statistic."""
    return np.asarray(2 * ndtr(-np.abs(np.asarray(z, dtype=np.float64))))


def phi(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return the phi coefficient, the correlation of membership and selection, in [-1, 1]."""
    total = np.add(n, n_reference, dtype=np.float64)
    # In a two-by-two table, z squared is the chi-squared statistic, and phi squared that / N.
    return z_statistic(selected, n, selected_reference, n_reference) / np.sqrt(total)


def cohen_h(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FloatArray:
    """Return Cohen's h, 2 arcsin(sqrt(p)) - 2 arcsin(sqrt(p')) of the two rates, in [-pi, pi].

    Examples
    --------
    >>> round(float(cohen_h(2, 10, 15, 25)), 3)
    -0.845
    """
    x, size, xr, size_r = _floats(selected, n, selected_reference, n_reference)
    # Cohen (1988): the arcsine of a rate varies equally much at all rates, so that equal h are
    # equally easy to detect.
    return np.asarray(2 * np.arcsin(np.sqrt(x / size)) - 2 * np.arcsin(np.sqrt(xr / size_r)))


@dataclass(frozen=True, kw_only=True)
class FisherTest:
    """Fisher's exact test of two-by-two tables.

    Attributes
    ----------
    p : float array
        Two-sided: the probability of all tables with the same margins that are at most as likely
        as the observed one.
    p_less : float array
        One-sided, against the alternative that the group is selected less often.
    mid_p : float array
        Two-sided mid-p (Lancaster): the probability of all tables that are less likely than the
        observed one, and half of that of those that are equally likely.
    mid_p_less : float array
        One-sided mid-p: the probability of fewer selections in the group, and half of that of the
        observed table.
    """

    p: FloatArray
    p_less: FloatArray
    mid_p: FloatArray
    mid_p_less: FloatArray


def fisher_test(
    selected: ArrayLike, n: ArrayLike, selected_reference: ArrayLike, n_reference: ArrayLike
) -> FisherTest:
    """Return Fisher's exact test of each table. The counts must be integers.

    Examples
    --------
    >>> fisher = fisher_test(6, 19, 25, 43)
    >>> round(float(fisher.p), 5), round(float(fisher.p_less), 5)
    (0.09708, 0.04854)

    With 9 of 30 against 17 of 30, the mirrored table is as likely as the observed one.

    >>> fisher = fisher_test(9, 30, 17, 30)
    >>> round(float(fisher.p), 4), round(float(fisher.mid_p), 4)
    (0.0673, 0.0428)
    """
    tables = np.broadcast_arrays(*_floats(selected, n, selected_reference, n_reference))
    figures = np.empty((4, *tables[0].shape))
    for index in np.ndindex(tables[0].shape):
        x, size, xr, size_r = (int(cell[index]) for cell in tables)
        first, probability = hypergeometric(size, size_r, selected=x + xr, near=x)
        p, mid_p = at_most_as_likely(probability, x - first)
        p_less = float(probability[: max(x - first + 1, 0)].sum())
        fewer = float(probability[: max(x - first, 0)].sum())
        figures[(..., *index)] = p, min(p_less, 1.0), mid_p, (fewer + p_less) / 2
    p, p_less, mid_p, mid_p_less = figures
    return FisherTest(p=p, p_less=p_less, mid_p=mid_p, mid_p_less=mid_p_less)


def at_most_as_likely(probability: FloatArray, observed: int) -> tuple[float, float]:
    """Return a two-sided exact p-value and its mid-p: the chance of a count that is no likelier.

    Parameters
    ----------
    probability : float array
        Of each result.
    observed : int
        The index of the observed result. Outside the array its probability is 0.
    """
    if not 0 <= observed < probability.size:
        return 0.0, 0.0
    least, most = (probability[observed] * (1 + sign * TIE_TOLERANCE) for sign in (-1, 1))
    less_likely = float(probability.sum(where=probability < least))
    no_likelier = float(probability.sum(where=probability <= most))
    return min(no_likelier, 1.0), (less_likely + min(no_likelier, 1.0)) / 2


def hypergeometric(
    n: int, n_reference: int, *, selected: int, near: int | None = None
) -> tuple[int, FloatArray]:
    """Return how probable each number of selections in the group is if all rows are alike.

    Parameters
    ----------
    n, n_reference : int
        Rows of the group and of the reference.
    selected : int
        How many are selected of both together.
    near : int, optional
        The number of selections in the group that matters. What is so much less probable that it
        does not change a digit of sums up to this number, or from it on, is then not listed.

    Returns
    -------
    first : int
        The smallest number of selections in the group that is listed.
    probability : float array
        Of `first`, `first` + 1 and so on. What is not listed is less probable than 1e-300, or than
        what `near` asks for.

    Examples
    --------
    Two of four, two of them in the group: (1, 4, 1) / 6.

    >>> first, probability = hypergeometric(2, 2, selected=2)
    >>> first, probability.round(4).tolist()
    (0, [0.1667, 0.6667, 0.1667])
    """
    total = n + n_reference
    rate = selected / total if total else 0.0
    deviation = math.sqrt(n * rate * (1 - rate) * n_reference / max(total - 1, 1))
    mode = (selected + 1) * (n + 1) // (total + 2)
    low, high = max(0, selected - n_reference), min(n, selected)
    first, last = listed_range(mode, deviation, low=low, high=high)
    if near is not None and low <= near <= high:
        # The four cells of the most likely table; moving a person up takes from the first two.
        cells = selected - mode, n - mode, mode, n_reference - selected + mode
        falls = log_table_weight(cells, 0) - log_table_weight(cells, near - mode)
        first = max(first, mode - negligible_distance(cells[2:], cells[:2], falls=falls))
        last = min(last, mode + negligible_distance(cells[:2], cells[2:], falls=falls))
    # Each probability is the one before it times this ratio.
    k = np.arange(first, last, dtype=np.float64)
    ratio = ((selected - k) * (n - k)) / ((k + 1) * (n_reference - selected + k + 1))
    return first, probabilities_from_ratios(ratio, mode - first)


def log_table_weight(cells: Sequence[int], moved: int) -> float:
    """Return the logarithm of a table's probability, but for a constant, after persons moved."""
    a, b, c, d = cells
    return -sum(math.lgamma(cell + 1) for cell in (a - moved, b - moved, c + moved, d + moved))


def negligible_distance(falling: Sequence[int], rising: Sequence[int], *, falls: float) -> int:
    """Return how far from the mode tables are so improbable that they change no digit.

    A person who moves takes one from each of the falling cells, and adds one to each of the rising
    ones. The next table is less probable by a factor below (1 - k / a) (1 - k / b) / ((1 + k / c)
    (1 + k / d)), k persons away from the mode. Up to a distance r, its logarithm is -k / v at
    most, with 1 / v = 1 / a + 1 / b + 1 / (c + r) + 1 / (d + r). So the table at r is less probable
    than the mode by exp(-r^2 / (2 v)).

    Parameters
    ----------
    falling, rising : sequence of int
        The cells of the most likely table.
    falls : float
        By how much the logarithm of the probability falls from the mode to the table that matters.
    """
    least_fall = falls + NEGLIGIBLE_LOG
    a, b = (max(cell, 1) for cell in falling)
    c, d = (cell + 1 for cell in rising)

    def variance(distance: float) -> float:
        return 1 / (1 / a + 1 / b + 1 / (c + distance) + 1 / (d + distance))

    distance = math.sqrt(2 * least_fall * variance(0))
    while distance**2 < 2 * least_fall * variance(distance):
        distance *= DISTANCE_STEP
    return math.ceil(distance)


def binomial(n: int, rate: float) -> tuple[int, FloatArray]:
    """Return the first listed number of successes of n, and the probabilities from there on.

    As for `hypergeometric`, what is not listed is less probable than 1e-300.
    """
    mode = min(int((n + 1) * rate), n)
    first, last = listed_range(mode, math.sqrt(n * rate * (1 - rate)), low=0, high=n)
    k = np.arange(first, last, dtype=np.float64)
    return first, probabilities_from_ratios((n - k) / (k + 1) * (rate / (1 - rate)), mode - first)


def listed_range(mode: int, deviation: float, *, low: int, high: int) -> tuple[int, int]:
    """Return the range around the mode beyond which a count is less probable than 1e-300.

    By Bernstein's inequality, a binomial or hypergeometric count is t or more above its mean with
    probability exp(-t^2 / (2 (variance + t / 3))) at most.
    """
    reach = math.ceil(39 * deviation + 500)
    return max(low, mode - reach), min(high, mode + reach)


def probabilities_from_ratios(ratio: FloatArray, mode: int) -> FloatArray:
    """Return probabilities that sum to 1, from the ratio of each one to the one before it.

    They are multiplied up from the mode, so that small ones keep all their digits.
    """
    above = np.cumprod(ratio[mode:])
    below = np.cumprod(1 / ratio[:mode][::-1])[::-1]
    relative = np.concatenate([below, [1.0], above])
    return np.asarray(relative / relative.sum())


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
    tables = _floats(selected, n, selected_reference, n_reference)
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
    while test_of(outer).exceeds(NEGLIGIBLE_P * alpha, test_of(outer).extreme(tolerance)):
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
        limit = self.observed * (1 - max(tolerance, SCORE_TOLERANCE))
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
    log_odds = np.log(rates) - np.log1p(-rates)
    log = np.multiply.outer(log_odds, count)
    log += log_ways(n, count)
    log += (n * np.log1p(-rates))[:, np.newaxis]
    return np.asarray(np.exp(log, out=log))


def detectable_ratio(
    n: ArrayLike,
    n_reference: ArrayLike,
    *,
    rate_reference: ArrayLike,
    confidence: float = 0.95,
    power: float = DEFAULT_POWER,
    critical_z: float | None = None,
    is_exact: ArrayLike = False,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Return the smallest detectable effect, as an impact ratio below 1.

    If the true impact ratio is this one, the test that decides rejects equal rates with
    probability `power`. A ratio closer to 1 would probably go unnoticed with this many rows.

    Parameters
    ----------
    n, n_reference : array-like
        Rows of the group and of the reference.
    rate_reference : array-like
        The selection rate of the reference.
    confidence : float
        1 minus the significance level of the test.
    power : float
    critical_z : float, optional
        The |z| from which on the z-test rejects, such as 2 standard deviations, or `range_z` where
        the reference is chosen among several groups; by default that of the confidence.
    is_exact : array-like of bool
        Where Fisher's exact test decides, and not z. There n and n_reference must be integers.
    alternative : {"two-sided", "less"}
        "less": the test only rejects if the group is selected less often.

    Returns
    -------
    float array
        In [0, 1). NaN where the test does not reach the power even at a ratio of 0.

    Examples
    --------
    >>> round(float(detectable_ratio(48, 259, rate_reference=206 / 259)), 2)
    0.76
    >>> round(float(detectable_ratio(8, 25, rate_reference=16 / 25)), 2)
    0.18
    >>> round(float(detectable_ratio(8, 25, rate_reference=16 / 25, is_exact=True)), 2)
    0.17
    """
    size, size_reference, rate, decides_exactly = np.broadcast_arrays(
        *_floats(n, n_reference, rate_reference), np.asarray(is_exact, dtype=bool)
    )
    is_two_sided = alternative == "two-sided"
    quantile = (1 + confidence) / 2 if is_two_sided else confidence
    z = float(ndtri(quantile)) if critical_z is None else critical_z
    # Fisher's test is much like a z-test that takes half a person off the difference.
    correction = np.where(decides_exactly, (1 / size + 1 / size_reference) / 2, 0.0)

    def power_to_spare(ratio: FloatArray) -> FloatArray:
        chance = z_test_power(
            ratio,
            n=size,
            n_reference=size_reference,
            rate_reference=rate,
            critical_z=z,
            correction=correction,
            alternative=alternative,
        )
        return chance - power

    # Not up to 1: where everyone in both groups is selected, nothing varies there.
    zeros, almost_one = np.zeros(size.shape), np.full(size.shape, 1 - DETECTABLE_TOLERANCE)
    # The ratio is near the one at which the difference has this many standard deviations of equal
    # rates. Where it is not within half of that distance from 1, the whole range is searched.
    deviation = np.sqrt(rate * (1 - rate) * (1 / size + 1 / size_reference))
    distance = divide((z + float(ndtri(power))) * deviation + correction, rate)
    near_low, near_high = (np.clip(1 - factor * distance, 0.0, almost_one) for factor in (1.5, 0.5))
    ratio = find_root(
        power_to_spare,
        low=zeros,
        high=almost_one,
        tolerance=DETECTABLE_TOLERANCE,
        near=(near_low, near_high),
    )
    ratio = np.where((rate > 0) & (power_to_spare(zeros) >= 0), ratio, np.nan)
    for index in np.argwhere(decides_exactly & (rate > 0)):
        pair = tuple(index)
        curve = FisherPower.of(
            int(size[pair]),
            int(size_reference[pair]),
            float(rate[pair]),
            level=1 - confidence,
            alternative=alternative,
        )
        if curve is not None:
            ratio[pair] = curve.detectable_ratio(power)
    return ratio


def z_test_power(
    ratio: FloatArray,
    *,
    n: FloatArray,
    n_reference: FloatArray,
    rate_reference: FloatArray,
    critical_z: float,
    correction: FloatArray | float = 0.0,
    alternative: Alternative = "two-sided",
) -> FloatArray:
    """Return the probability that the z-test with pooled variance rejects equal rates.

    The true rates are `rate_reference` in the reference and ratio * rate_reference in the group.
    The test rejects if the difference, less `correction`, is `critical_z` standard deviations.
    """
    rate = ratio * rate_reference
    pooled = (n * rate + n_reference * rate_reference) / (n + n_reference)
    # The test rejects a difference larger than `critical`. It takes the variance of equal rates,
    # while the difference really varies with that of the two true rates.
    null_deviation = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_reference))
    critical = critical_z * null_deviation + correction
    true_deviation = np.sqrt(
        rate * (1 - rate) / n + rate_reference * (1 - rate_reference) / n_reference
    )
    difference = rate_reference - rate
    # Rates of 0 and 1 do not vary: the test rejects them with certainty, or never.
    deviation = np.maximum(true_deviation, MIN_DEVIATION)
    lower, upper = ((sign * difference - critical) / deviation for sign in (1, -1))
    return np.asarray(ndtr(lower) + (ndtr(upper) if alternative == "two-sided" else 0.0))


@dataclass(frozen=True, kw_only=True)
class FisherPower:
    """How probable it is that Fisher's test rejects, from the tables that it rejects.

    Attributes
    ----------
    n : int
        Rows of the group.
    rate_reference : float
        The true rate of the reference.
    rejections : float array
        How probable a rejection is with 0, 1, ... selections in the group, over those of the
        reference.
    """

    n: int
    rate_reference: float
    rejections: FloatArray

    @classmethod
    def of(
        cls,
        n: int,
        n_reference: int,
        rate_reference: float,
        *,
        level: float,
        alternative: Alternative = "two-sided",
    ) -> FisherPower | None:
        """Return the power at one size, or None if there are too many tables to go through.

        Only tables that occur with probability 1e-9 or more are considered.
        """
        # The most likely number in the group, rounded down, is among those that are considered.
        expected = math.floor(n * rate_reference)
        if expected * min(expected, n_reference) > MAX_FISHER_TABLES:
            return None
        first, last = likely_range(n_reference, rate_reference)
        most = likely_range(n, rate_reference)[1]
        # With its margins fixed, a table is known by the selections on the smaller side.
        smaller, larger = min(n, n_reference), max(n, n_reference)
        most_on_smaller = min(smaller, most + last)
        if (most + last - first + 1) * (most_on_smaller + 1) > MAX_FISHER_TABLES:
            return None
        total = np.arange(first, most + last + 1)[:, np.newaxis]
        count = np.arange(most_on_smaller + 1)
        rest = total - count
        is_table = (rest >= 0) & (rest <= larger)
        rest = np.clip(rest, 0, larger)
        log = np.where(is_table, log_ways(smaller, count) + log_ways(larger, rest), -np.inf)
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        if alternative == "two-sided":
            p = no_likelier_sums(weight)
        elif n <= n_reference:
            p = np.cumsum(weight, axis=1)
        else:  # fewer in the group are more in the reference
            p = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1]
        x, xr = np.arange(most + 1), np.arange(first, last + 1)
        selected, selected_reference = np.meshgrid(x, xr, indexing="ij")
        column = selected if n <= n_reference else selected_reference
        is_rejected = p[selected + selected_reference - first, column] < level
        chance = np.exp(
            log_ways(n_reference, xr)
            + xlogy(xr, rate_reference)
            + xlog1py(n_reference - xr, -rate_reference)
        )
        return cls(n=n, rate_reference=rate_reference, rejections=is_rejected @ chance)

    def at(self, ratio: float) -> float:
        """Return the power at an impact ratio of at most 1."""
        x, rate = np.arange(self.rejections.size), ratio * self.rate_reference
        log = log_ways(self.n, x) + xlogy(x, rate) + xlog1py(self.n - x, -rate)
        return float(np.sum(np.exp(log) * self.rejections))

    def detectable_ratio(self, power: float) -> float:
        """Return the ratio with this power; NaN if even a ratio of 0 has less."""
        if self.at(0.0) < power:
            return math.nan
        return float(
            find_root(
                lambda ratio: np.array(self.at(float(ratio)) - power),
                low=np.zeros(()),
                high=np.ones(()),
                tolerance=DETECTABLE_TOLERANCE,
            )
        )


def no_likelier_sums(probability: FloatArray) -> FloatArray:
    """Return how probable it is, for each table of a row, that a table is no likelier."""
    order = np.argsort(probability, axis=1)
    likely = np.take_along_axis(probability, order, axis=1)
    sums = np.cumsum(likely, axis=1)
    # At most two tables are equally likely, one on either side of the most likely one. They count
    # together.
    ties = likely[:, 1:] <= likely[:, :-1] * (1 + TIE_TOLERANCE)
    sums[:, :-1] = np.where(ties, sums[:, 1:], sums[:, :-1])
    p = np.empty_like(sums)
    np.put_along_axis(p, order, sums, axis=1)
    return p


def likely_range(n: int, rate: float) -> tuple[int, int]:
    """Return the smallest and the largest number of n with a probability of 1e-9 or more."""
    first, probability = binomial(n, rate) if rate < 1 else (n, np.ones(1))
    likely = np.flatnonzero(probability >= LEAST_LIKELY)
    return first + int(likely[0]), first + int(likely[-1])


def log_ways(n: int, count: IntArray) -> FloatArray:
    """Return the logarithm of the number of ways to choose some of n."""
    return np.asarray(gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1))


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
    largest_observed = np.delete(observed, reference).max() - LIKELIHOOD_TOLERANCE
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
    is_extreme = largest >= (observed - LIKELIHOOD_TOLERANCE)[:, np.newaxis]
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


def bisect(
    test: Callable[[FloatArray], BoolArray], *, low: FloatArray, high: FloatArray, halvings: int
) -> FloatArray:
    """Return where a test changes from true to false, for each element.

    The test must be true below that point and false above it.
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        is_below = test(middle)
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low


def find_root(
    function: Callable[[FloatArray], FloatArray],
    *,
    low: FloatArray,
    high: FloatArray,
    tolerance: float,
    near: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return where a function crosses 0, for each element, to within the tolerance.

    The function must be positive at `low` and negative at `high`. Where it is not positive at
    `low` the answer is `low`, and where it is not negative at `high` it is `high`. Each step keeps
    0 between the two ends, as halving does, but takes a tenth as many (Chandrupatla). If `near`
    is given, the root is probably between these two; where it is not, the others are taken.

    Examples
    --------
    >>> root = find_root(lambda x: 2 - x**2, low=np.zeros(1), high=np.ones(1) * 9, tolerance=1e-12)
    >>> bool(abs(root[0] - 2**0.5) < 1e-12)
    True
    """
    if near is None:
        at_low, at_high = function(low), function(high)
    else:
        at_low, at_high = function(near[0]), function(near[1])
        is_low, is_high = at_low > 0, at_high < 0
        low, high = np.where(is_low, near[0], low), np.where(is_high, near[1], high)
        if not np.all(is_low):
            at_low = function(low)
        if not np.all(is_high):
            at_high = function(high)
    # The root is between the last point and the one opposite; a third point was replaced by them.
    last, opposite, third = low, high, high
    at_last, at_opposite, at_third = at_low, at_high, at_high
    step = np.full(low.shape, 0.5)
    is_open = (at_low > 0) & (at_high < 0)
    for _ in range(MAX_ROOT_STEPS):
        point = last + step * (opposite - last)
        at_point = function(point)
        is_same_side = (at_point > 0) == (at_last > 0)
        third = np.where(is_same_side, last, opposite)
        at_third = np.where(is_same_side, at_last, at_opposite)
        opposite = np.where(is_same_side, opposite, last)
        at_opposite = np.where(is_same_side, at_opposite, at_last)
        last, at_last = point, at_point
        width = np.abs(opposite - last)
        is_open &= (width > tolerance) & (at_last != 0)
        if not np.any(is_open):
            break
        # Inverse quadratic interpolation where the three points lie well, else halving.
        with np.errstate(all="ignore"):
            position = (last - opposite) / (third - opposite)
            height = (at_last - at_opposite) / (at_third - at_opposite)
            lie_well = (height**2 < position) & ((1 - height) ** 2 < 1 - position)
            interpolated = at_last / (at_opposite - at_last) * at_third / (
                at_opposite - at_third
            ) + (third - last) / (opposite - last) * at_last / (at_third - at_last) * (
                at_opposite / (at_third - at_opposite)
            )
            least = np.minimum(tolerance / 2 / width, 0.5)
        step = np.clip(np.where(lie_well, interpolated, 0.5), least, 1 - least)
    nearest = np.where(np.abs(at_opposite) < np.abs(at_last), opposite, last)
    return np.where(at_low > 0, np.where(at_high < 0, nearest, high), low)


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    # The inner `where` divides by 1 in place of 0: NumPy would warn of a result that is not used.
    usable = np.broadcast_to(denominator > 0, np.broadcast(numerator, denominator).shape)
    return np.where(usable, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)


def _floats(*arrays: ArrayLike) -> list[FloatArray]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]
