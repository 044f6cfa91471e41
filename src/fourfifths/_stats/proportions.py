"""The selection rates of two groups: intervals, tests, what they can detect, and effect sizes.

Most functions compare `selected` of `n` in the group with `selected_reference` of `n_reference` in
the reference. A negative statistic means that the group is selected less often.

References
----------
Clopper and Pearson, Biometrika 26 (1934). Korn and Graubard, Survey Methodology 24 (1998), for
effective sample sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtr, ndtri

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths.errors import OptionError

# Replaces a standard deviation of 0, so that a difference divided by it is huge and not NaN.
MIN_DEVIATION = 1e-300
# Results whose probabilities differ by a smaller part than this are equally likely. Rounding makes
# a tenth of it at most, with ten million rows.
TIE_TOLERANCE = 1e-10
DEFAULT_POWER = 0.8  # the usual choice, after Cohen (1988)
DETECTABLE_HALVINGS = 34  # a ratio in [0, 1] is then accurate to 1e-10


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
    p, selected, others, total = _floats(rate, squares_selected, squares_not_selected, weight)
    variance = ((1 - p) ** 2 * selected + p**2 * others) / total**2
    kish = total**2 / (selected + others)
    # By the squares and not by the rate, which rounding may keep from being quite 1.
    varies = (selected > 0) & (others > 0)
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
    # Of a two-by-two table, z squared is the chi-squared statistic, and phi squared that / N.
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
        first, probability = hypergeometric(size, size_r, selected=x + xr)
        p, mid_p = at_most_as_likely(probability, x - first)
        p_less = float(probability[: max(x - first + 1, 0)].sum())
        fewer = float(probability[: max(x - first, 0)].sum())
        figures[(..., *index)] = p, min(p_less, 1.0), mid_p, (fewer + p_less) / 2
    p, p_less, mid_p, mid_p_less = figures
    return FisherTest(p=p, p_less=p_less, mid_p=mid_p, mid_p_less=mid_p_less)


def at_most_as_likely(probability: FloatArray, observed: int) -> tuple[float, float]:
    """Return a two-sided exact p-value and its mid-p: how probable it is to be no likelier.

    Parameters
    ----------
    probability : float array
        Of each result.
    observed : int
        The index of the observed result. Outside the array its probability is 0.
    """
    if not 0 <= observed < probability.size:
        return 0.0, 0.0
    less_likely = float(
        probability[probability < probability[observed] * (1 - TIE_TOLERANCE)].sum()
    )
    no_likelier = float(
        probability[probability <= probability[observed] * (1 + TIE_TOLERANCE)].sum()
    )
    return min(no_likelier, 1.0), (less_likely + min(no_likelier, 1.0)) / 2


def hypergeometric(n: int, n_reference: int, *, selected: int) -> tuple[int, FloatArray]:
    """Return how probable each number of selections in the group is if all rows are alike.

    Parameters
    ----------
    n, n_reference : int
        Rows of the group and of the reference.
    selected : int
        How many are selected of both together.

    Returns
    -------
    first : int
        The smallest number of selections in the group that is listed.
    probability : float array
        Of `first`, `first` + 1 and so on. What is not listed is less probable than 1e-300.

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
    # Each probability is the one before it times this ratio.
    k = np.arange(first, last, dtype=np.float64)
    ratio = ((selected - k) * (n - k)) / ((k + 1) * (n_reference - selected + k + 1))
    return first, probabilities_from_ratios(ratio, mode - first)


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


def detectable_ratio(
    n: ArrayLike,
    n_reference: ArrayLike,
    *,
    rate_reference: ArrayLike,
    confidence: float = 0.95,
    power: float = DEFAULT_POWER,
) -> FloatArray:
    """Return the smallest detectable effect, as an impact ratio below 1.

    If the true impact ratio is this one, the two-sided z-test rejects equal rates with probability
    `power`. A ratio closer to 1 would probably go unnoticed with this many rows.

    Parameters
    ----------
    n, n_reference : array-like
        Rows of the group and of the reference.
    rate_reference : array-like
        The selection rate of the reference.
    confidence : float
        1 minus the significance level of the test.
    power : float

    Returns
    -------
    float array
        In [0, 1). NaN where the test does not reach the power even at a ratio of 0.

    Examples
    --------
    >>> round(float(detectable_ratio(48, 259, rate_reference=206 / 259)), 2)
    0.76
    """
    size, size_reference, rate = np.broadcast_arrays(
        *(np.asarray(array, dtype=np.float64) for array in (n, n_reference, rate_reference))
    )

    def is_detected(ratio: FloatArray) -> BoolArray:
        chance = z_test_power(
            ratio, n=size, n_reference=size_reference, rate_reference=rate, confidence=confidence
        )
        return np.asarray(chance >= power)

    zeros, ones = np.zeros(size.shape), np.ones(size.shape)
    ratio = bisect(is_detected, low=zeros, high=ones, halvings=DETECTABLE_HALVINGS)
    return np.where((rate > 0) & is_detected(zeros), ratio, np.nan)


def z_test_power(
    ratio: FloatArray,
    *,
    n: FloatArray,
    n_reference: FloatArray,
    rate_reference: FloatArray,
    confidence: float,
) -> FloatArray:
    """Return the probability that the z-test with pooled variance rejects equal rates.

    The true rates are `rate_reference` in the reference and ratio * rate_reference in the group.
    """
    rate = ratio * rate_reference
    pooled = (n * rate + n_reference * rate_reference) / (n + n_reference)
    # The test rejects a difference larger than `critical`. It takes the variance of equal rates,
    # while the difference really varies with that of the two true rates.
    null_deviation = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_reference))
    critical = ndtri((1 + confidence) / 2) * null_deviation
    true_deviation = np.sqrt(
        rate * (1 - rate) / n + rate_reference * (1 - rate_reference) / n_reference
    )
    difference = rate_reference - rate
    # Rates of 0 and 1 do not vary: the test rejects them with certainty, or never.
    deviation = np.maximum(true_deviation, MIN_DEVIATION)
    return np.asarray(
        ndtr((difference - critical) / deviation) + ndtr((-difference - critical) / deviation)
    )


@dataclass(frozen=True, kw_only=True)
class ShareTest:
    """A group's number among the selected, compared with its share of an outside population.

    Attributes
    ----------
    expected : float
        `n` times the share.
    shortfall : float
        `expected` minus the observed number.
    standard_deviations : float
        The binomial z: (observed - expected) / sqrt(n share (1 - share)).
    p : float
        Two-sided exact binomial p-value.
    """

    expected: float
    shortfall: float
    standard_deviations: float
    p: float


def against_share(observed: int, n: int, *, share: float) -> ShareTest:
    """Compare a group's number among the selected with its share of an outside population.

    As in Castaneda v. Partida, 430 U.S. 482 (1977), note 17: of 870 persons summoned as grand
    jurors 339 were Mexican-American, in a county where 79.1% of the population was.

    Parameters
    ----------
    observed, n : int
        How many of the selected belong to the group, and how many were selected.
    share : float
        The group's share of the population, in (0, 1).

    Examples
    --------
    >>> castaneda = against_share(339, 870, share=0.791)
    >>> round(castaneda.expected, 2), round(castaneda.standard_deviations, 2)
    (688.17, -29.11)
    """
    if not 0 < share < 1:
        raise OptionError(f"share={share!r}: expected a share between 0 and 1, neither included")
    if not 0 <= observed <= n or n < 1:
        raise OptionError(f"observed={observed!r}, n={n!r}: expected 0 <= observed <= n and n >= 1")
    # Binomial: the population is so large that each one summoned leaves its shares unchanged.
    expected = n * share
    deviation = float(np.sqrt(n * share * (1 - share)))
    first, probability = binomial(n, share)
    return ShareTest(
        expected=expected,
        shortfall=expected - observed,
        standard_deviations=(observed - expected) / deviation,
        p=at_most_as_likely(probability, observed - first)[0],
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


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    # The inner `where` divides by 1 in place of 0: NumPy would warn of a result that is not used.
    usable = np.broadcast_to(denominator > 0, np.broadcast(numerator, denominator).shape)
    return np.where(usable, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)


def _floats(*arrays: ArrayLike) -> list[FloatArray]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]
