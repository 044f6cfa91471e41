"""Evidence that may be looked at after every batch: proofs by enumeration, and simulations."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import rel_entr
from scipy.stats import binom

from fourfifths._stats.monitor import (
    adjusted_log_evidence,
    likely_rates,
    log_bet,
    log_evidence_above,
    log_evidence_below,
    nearest_rates_on_line,
    rates_below,
    ratio_limits,
)

LINE = 0.8


def divergence(rate, other):
    return rel_entr(rate, other) + rel_entr(1 - rate, 1 - other)


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.25])
@pytest.mark.parametrize(("n", "n_reference"), [(3, 40), (10, 10), (70, 2)])
@pytest.mark.parametrize(("rate", "rate_reference"), [(0.1, 0.5), (0.3, 0.9), (0.02, 0.04)])
def test_the_nearest_rates_minimise_the_divergence(ratio, n, n_reference, rate, rate_reference):
    def total(base):
        return n * divergence(rate, ratio * base) + n_reference * divergence(rate_reference, base)

    oracle = minimize_scalar(total, bounds=(1e-9, min(1, 1 / ratio) - 1e-9), method="bounded")
    null, null_reference = nearest_rates_on_line(
        np.array(rate),
        np.array(rate_reference),
        n=n,
        n_reference=n_reference,
        ratio=np.array(ratio),
    )
    assert null == pytest.approx(ratio * null_reference)
    assert total(float(null_reference)) <= oracle.fun + 1e-9


def bets_on_all_tables(n, n_reference, alternatives):
    """Return what each table of a batch returns, as a matrix over the two numbers selected."""
    rate, rate_reference = alternatives
    return np.array(
        [
            [
                np.exp(
                    log_bet(
                        x, n, y, n_reference, rate=rate, rate_reference=rate_reference,
                        ratio=np.array([[[LINE]]]),
                    )[0]
                )
                for y in range(n_reference + 1)
            ]
            for x in range(n + 1)
        ]
    )  # fmt: skip


ALTERNATIVES = {
    "one": (np.array([[[0.2]]]), np.array([[[0.6]]])),
    "before any data": rates_below(np.array([LINE])),
    "after data": (likely_rates(3, 12)[None, :, None], likely_rates(9, 14)[None, None, :]),
}


@pytest.mark.parametrize("alternatives", ALTERNATIVES.values(), ids=ALTERNATIVES)
@pytest.mark.parametrize(("n", "n_reference"), [(4, 6), (7, 1)])
def test_a_bet_returns_no_more_than_its_stake_wherever_the_null_is_true(
    n, n_reference, alternatives
):
    returns = bets_on_all_tables(n, n_reference, alternatives)
    expected = [
        binom.pmf(np.arange(n + 1), n, rate)
        @ returns
        @ binom.pmf(np.arange(n_reference + 1), n_reference, reference)
        for reference in np.linspace(0, 1, 21)
        for rate in np.linspace(LINE * reference, 1, 21)
    ]
    assert max(expected) <= 1 + 1e-9


def test_a_bet_on_one_alternative_is_even_at_the_nearest_rates_of_the_null():
    rate, rate_reference = ALTERNATIVES["one"]
    null, null_reference = nearest_rates_on_line(
        rate, rate_reference, n=4, n_reference=6, ratio=np.array([[[LINE]]])
    )
    returns = bets_on_all_tables(4, 6, ALTERNATIVES["one"])
    mean = (
        binom.pmf(np.arange(5), 4, null.item())
        @ returns
        @ binom.pmf(np.arange(7), 6, null_reference.item())
    )
    assert mean == pytest.approx(1)


def test_people_may_have_different_chances():
    # The average chance of the group is exactly the line times that of the reference.
    chances, chances_reference = [0.1, 0.9, 0.44], [0.2, 0.7, 0.9]
    assert np.mean(chances) == pytest.approx(LINE * np.mean(chances_reference))
    returns = bets_on_all_tables(3, 3, ALTERNATIVES["before any data"])
    mean = 0.0
    for outcomes in product((0, 1), repeat=6):
        everyone = [*chances, *chances_reference]
        probability = np.prod(
            [c if won else 1 - c for c, won in zip(everyone, outcomes, strict=True)]
        )
        mean += probability * returns[sum(outcomes[:3]), sum(outcomes[3:])]
    assert mean <= 1 + 1e-9


@pytest.mark.parametrize("side", ["below", "above"])
def test_the_evidence_at_a_stopping_time_is_1_on_average_at_most_while_rates_drift(side):
    # Every pair of batches of 3 and 4 people; the base rate falls from 0.9 to 0.3. Whoever looks
    # stops after the first batch if the evidence is above 1.2.
    evidence = log_evidence_below if side == "below" else log_evidence_above
    tables = list(product(range(4), range(5)))
    rates = [(LINE * 0.9, 0.9), (LINE * 0.3, 0.3)]
    mean = stopped_mean = 0.0
    for first, second in product(tables, tables):
        probability = np.prod(
            [
                binom.pmf(x, 3, rate) * binom.pmf(y, 4, reference)
                for (x, y), (rate, reference) in zip((first, second), rates, strict=True)
            ]
        )
        e = np.exp(
            evidence([first[0], second[0]], [3, 3], [first[1], second[1]], [4, 4], ratio=LINE)[0]
        )
        mean += probability * e[1]
        stopped_mean += probability * (e[0] if e[0] > 1.2 else e[1])
    assert mean <= 1 + 1e-9
    assert stopped_mean <= 1 + 1e-9


def test_a_batch_without_one_of_the_groups_adds_nothing():
    log_e = log_evidence_below([5, 0, 3], [20, 0, 9], [12, 8, 0], [20, 20, 0], ratio=LINE)[0]
    assert log_e[0] == log_e[1] == log_e[2]


def test_evidence_grows_where_the_ratio_is_far_from_the_line():
    low = log_evidence_below([200] * 4, [1000] * 4, [600] * 4, [1000] * 4, ratio=LINE)[0]
    high = log_evidence_above([600] * 4, [1000] * 4, [600] * 4, [1000] * 4, ratio=LINE)[0]
    assert np.all(np.diff(low) > 0)
    assert np.all(np.diff(high) > 0)
    assert min(low[-1], high[-1]) > np.log(20)


def test_limits_enclose_the_ratio_and_never_widen():
    lower, upper = ratio_limits([30, 60, 90], [100, 200, 300], [50, 100, 150], [100, 200, 300],
                                alpha=0.05)  # fmt: skip
    assert np.all((lower < 0.6) & (upper > 0.6))
    assert np.all(np.diff(lower) >= 0)
    assert np.all(np.diff(upper) <= 0)


def test_limits_are_open_without_data():
    lower, upper = ratio_limits([0], [0], [5], [9], alpha=0.05)
    assert (lower[0], upper[0]) == (0.0, np.inf)


def test_adjusted_evidence_is_the_smallest_mean_over_all_sets():
    e = np.random.default_rng(2).lognormal(sigma=2, size=(5, 3))
    expected = [
        min(
            e[list(chosen)].mean(axis=0)[column]
            for size in range(1, 6)
            for chosen in combinations(range(5), size)
            if group in chosen
        )
        for group, column in product(range(5), range(3))
    ]
    np.testing.assert_allclose(np.exp(adjusted_log_evidence(np.log(e))).ravel(), expected)


RUNS, BATCHES, ALPHA = 1000, 12, 0.1
DRIFTS = {
    "constant": np.full(BATCHES, 0.4),
    "falling": np.linspace(0.95, 0.05, BATCHES),
    "jumping": np.tile([0.1, 0.9], BATCHES // 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("base", DRIFTS.values(), ids=DRIFTS)
def test_no_stopping_rule_makes_more_errors_than_alpha(base):
    rng = np.random.default_rng(7)
    paths = []
    for _ in range(RUNS):
        # How many apply in a batch depends on how the last one ended.
        n, x, y = [], [], []
        for rate in base:
            n.append(25 if x and x[-1] < 3 else 8)
            x.append(rng.binomial(n[-1], LINE * rate))
            y.append(rng.binomial(30, rate))
        paths.append(log_evidence_below(x, n, y, [30] * BATCHES, ratio=LINE)[0])
    log_e = np.array(paths)
    enough = log_e >= -np.log(ALPHA)
    error = 3 * np.sqrt(ALPHA * (1 - ALPHA) / RUNS)
    # Stop at the first success; look at the end only; stop at a profit of half, else at the end.
    half = np.where((log_e > np.log(1.5)).any(axis=1), (log_e > np.log(1.5)).argmax(axis=1), -1)
    assert enough.any(axis=1).mean() <= ALPHA + error
    assert enough[:, -1].mean() <= ALPHA + error
    stopped = np.exp(log_e[np.arange(RUNS), half])
    assert stopped.mean() <= 1 + 3 * stopped.std() / np.sqrt(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.6])
def test_the_limits_hold_after_all_batches_at_once(ratio):
    rng = np.random.default_rng(11)
    runs, alpha = 150, 0.2
    base = np.linspace(0.6, 0.2, 6)
    covered = 0
    for _ in range(runs):
        x, y = rng.binomial(40, ratio * base), rng.binomial(60, base)
        lower, upper = ratio_limits(x, [40] * 6, y, [60] * 6, alpha=alpha)
        covered += bool(np.all((lower <= ratio) & (ratio <= upper)))
    assert covered / runs >= 1 - alpha - 3 * np.sqrt(alpha * (1 - alpha) / runs)
