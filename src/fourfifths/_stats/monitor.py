"""Evidence about an impact ratio that may be looked at after every batch.

The null hypothesis is that in every batch the group's rate is at least `ratio` times the
reference's. A batch is a bet against it: the likelihood of two alternative rates over that of the
rates of the null that are nearest to them. Under the null a bet returns 1 or less on average,
whatever the rates are and however they change from batch to batch, so that by Ville's inequality
the product of all bets ever reaches 1 / alpha with probability alpha at most. docs/monitor.md has
the proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, logsumexp

from fourfifths._arrays import BoolArray, FloatArray

FIRST_ALTERNATIVES = 8  # rates of the reference, and of the group, that the first batch bets on
LATER_ALTERNATIVES = 5  # the same for later batches, which earlier ones have narrowed down
JEFFREYS = 0.5
MIN_RATE = 1e-12
# The ratios that the confidence sequence tries: 0.018 to 55, each 2% above the one before.
TRIED_RATIOS = np.exp(np.arange(-200, 201) / 50)
LARGEST_LOG = 690.0  # exp of more is too large for a floating-point number


def log_evidence_below(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    *,
    ratio: ArrayLike,
) -> FloatArray:
    """Return the log of the evidence, after each batch, that the ratio is below `ratio`.

    Parameters
    ----------
    selected, n, selected_reference, n_reference : array-like
        The batches in the order of time.
    ratio : array-like
        The line, or several.

    Returns
    -------
    float array
        A row for each ratio and a column for each batch. The exponential is an e-process: if the
        group's rate is at least `ratio` times the reference's in all batches, its expected value
        at any stopping time is 1 at most. A batch without either group changes nothing.

    Examples
    --------
    >>> log_e = log_evidence_below([30, 35], [100, 100], [60, 60], [100, 100], ratio=0.8)
    >>> log_e.round(2).tolist()
    [[2.03, 3.64]]
    """
    x, size, xr, size_r = (
        np.asarray(counts, dtype=np.float64)
        for counts in (selected, n, selected_reference, n_reference)
    )
    lines = np.atleast_1d(np.asarray(ratio, dtype=np.float64))
    log_bets = np.zeros((lines.size, x.size))
    informative = np.flatnonzero((size > 0) & (size_r > 0))
    # Only what earlier batches held may decide how to bet on a batch.
    before = [np.cumsum(counts) - counts for counts in (x, size, xr, size_r)]
    for batch in informative:
        past_x, past_size, past_xr, past_size_r = (counts[batch] for counts in before)
        if past_size and past_size_r:
            rate = likely_rates(past_x, past_size)[None, :, None]
            rate_reference = likely_rates(past_xr, past_size_r)[None, None, :]
        else:
            rate, rate_reference = rates_below(lines)
        log_bets[:, batch] = log_bet(
            x[batch],
            size[batch],
            xr[batch],
            size_r[batch],
            rate=rate,
            rate_reference=rate_reference,
            ratio=lines[:, None, None],
        )
    return np.cumsum(log_bets, axis=1)


def likely_rates(selected: float, n: float) -> FloatArray:
    """Return rates that are equally likely after these counts: quantiles of the posterior."""
    level = (np.arange(LATER_ALTERNATIVES) + 0.5) / LATER_ALTERNATIVES
    rates = betaincinv(selected + JEFFREYS, n - selected + JEFFREYS, level)
    return np.asarray(np.clip(rates, MIN_RATE, 1 - MIN_RATE))


def rates_below(ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rates of the group and of the reference that lie below each ratio, evenly spread."""
    share = (np.arange(FIRST_ALTERNATIVES) + 0.5) / FIRST_ALTERNATIVES
    # Evenly spread on the scale on which a rate varies equally much everywhere.
    rate_reference = np.sin(np.pi / 2 * share)[None, None, :] ** 2
    line = np.minimum(ratio[:, None, None] * rate_reference, 1.0)
    return line * share[None, :, None], rate_reference


def log_bet(
    selected: float,
    n: float,
    selected_reference: float,
    n_reference: float,
    *,
    rate: FloatArray,
    rate_reference: FloatArray,
    ratio: FloatArray,
) -> FloatArray:
    """Return the log of what one batch returns on a bet that is split over all alternatives.

    Parameters
    ----------
    selected, n, selected_reference, n_reference : float
        The batch.
    rate, rate_reference, ratio : float array
        The alternatives, whose rates are strictly between 0 and 1, and the lines. The first axis
        is that of the lines. Where an alternative is not below the line, nothing is bet.

    Examples
    --------
    All on one alternative, rates of 0.2 and 0.5: the nearest rates at a line of 1 are 0.35.

    >>> half, fifth = np.array([[[0.5]]]), np.array([[[0.2]]])
    >>> bet = log_bet(0, 1, 1, 1, rate=fifth, rate_reference=half, ratio=np.array([[[1.0]]]))
    >>> bool(np.isclose(np.exp(bet[0]), (0.8 / 0.65) * (0.5 / 0.35)))
    True
    """
    null, null_reference = nearest_rates_on_line(
        rate, rate_reference, n=n, n_reference=n_reference, ratio=ratio
    )
    log_ratio = (
        selected * np.log(rate / null)
        + (n - selected) * np.log((1 - rate) / (1 - null))
        + selected_reference * np.log(rate_reference / null_reference)
        + (n_reference - selected_reference) * np.log((1 - rate_reference) / (1 - null_reference))
    )
    log_ratio = np.where(rate < ratio * rate_reference, log_ratio, 0.0)
    count = log_ratio.shape[1] * log_ratio.shape[2]
    return np.asarray(logsumexp(log_ratio, axis=(1, 2)) - np.log(count))


def nearest_rates_on_line(
    rate: FloatArray,
    rate_reference: FloatArray,
    *,
    n: float,
    n_reference: float,
    ratio: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the rates on the line rate = ratio * rate_reference nearest to two given rates.

    Nearest in Kullback-Leibler divergence of a batch of n and n_reference persons. It is the
    smaller root of the quadratic equation of Koopman's restricted estimate (1984), with expected
    counts in the place of observed ones.
    """
    expected = n * rate + n_reference * rate_reference
    linear = ratio * n + n_reference + ratio * n_reference * rate_reference + n * rate
    discriminant = np.maximum(linear**2 - 4 * ratio * (n + n_reference) * expected, 0.0)
    # This form of the root does not subtract two numbers that are nearly equal.
    null_reference = 2 * expected / (linear + np.sqrt(discriminant))
    null = np.clip(ratio * null_reference, MIN_RATE, 1 - MIN_RATE)
    return null, np.clip(null_reference, MIN_RATE, 1 - MIN_RATE)


def log_evidence_above(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    *,
    ratio: ArrayLike,
) -> FloatArray:
    """Return the log of the evidence, after each batch, that the ratio is above `ratio`.

    The ratio of the group to the reference is above r if that of the reference to the group is
    below 1 / r.
    """
    inverse = 1 / np.asarray(ratio, dtype=np.float64)
    return log_evidence_below(selected_reference, n_reference, selected, n, ratio=inverse)


def ratio_limits(
    selected: ArrayLike,
    n: ArrayLike,
    selected_reference: ArrayLike,
    n_reference: ArrayLike,
    *,
    alpha: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits of the ratio after each batch that all hold at once.

    A ratio that is the same in all batches lies within the limits after every batch with
    probability 1 - alpha at least. The lower limit may be 0, and the upper one infinite.

    Examples
    --------
    >>> lower, upper = ratio_limits([300], [1000], [600], [1000], alpha=0.05)
    >>> lower.round(2).tolist(), upper.round(2).tolist()
    ([0.4], [0.62])
    """
    counts = (selected, n, selected_reference, n_reference)
    limit = np.log(2 / alpha)

    def is_open(log_e: FloatArray) -> BoolArray:
        # What was excluded once stays excluded.
        return np.asarray(np.maximum.accumulate(log_e, axis=1) < limit)

    # The null "at least t" is true of the largest tried t that is no larger than the true ratio.
    # It stays open but with probability alpha / 2, so that the next t upwards is a limit. The
    # same holds downwards.
    not_too_high = is_open(log_evidence_below(*counts, ratio=TRIED_RATIOS))
    not_too_low = is_open(log_evidence_above(*counts, ratio=TRIED_RATIOS))
    last = TRIED_RATIOS.size - 1
    highest = last - np.argmax(not_too_high[::-1], axis=0)
    upper = np.where(
        not_too_high.any(axis=0), np.append(TRIED_RATIOS, np.inf)[highest + 1], TRIED_RATIOS[0]
    )
    lowest = np.argmax(not_too_low, axis=0)
    lower = np.where(
        not_too_low.any(axis=0), np.append(0.0, TRIED_RATIOS)[lowest], TRIED_RATIOS[-1]
    )
    return np.asarray(lower), np.asarray(upper)


def adjusted_log_evidence(log_e: FloatArray) -> FloatArray:
    """Return the evidence about each of several groups, adjusted for all of them.

    For a group, it is the smallest mean of the e-values over all sets of groups that it belongs
    to (closed testing; Vovk and Wang 2021): with it no group at all is wrongly found, but with
    probability alpha at most. It is never less than e divided by the number of groups.

    Parameters
    ----------
    log_e : float array
        A row for each group.

    Examples
    --------
    >>> e = np.exp(adjusted_log_evidence(np.log([[60.0], [10.0], [1.0]])))
    >>> e.round(2).tolist()
    [[23.67], [5.5], [1.0]]
    """
    e = np.exp(np.minimum(log_e, LARGEST_LOG))
    order = np.argsort(e, axis=0)
    rising = np.take_along_axis(e, order, axis=0)
    # The smallest mean is with the groups of least evidence: the first, the first two, ...
    sums = np.cumsum(rising, axis=0)
    sizes = np.arange(1, len(e) + 1)[:, None]
    adjusted = rising.copy()
    for rank in range(1, len(e)):
        means = (sums[:rank] + rising[rank]) / (sizes[:rank] + 1)
        adjusted[rank] = np.minimum(rising[rank], means.min(axis=0))
    result = np.empty_like(e)
    np.put_along_axis(result, order, adjusted, axis=0)
    return np.asarray(np.log(result))
