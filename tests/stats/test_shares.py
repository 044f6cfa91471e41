"""Shares of groups in blocks, against linear programs, simulation, closed forms and by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from fourfifths._arrays import FloatArray
from fourfifths._stats.shares import (
    BlockLaw,
    RuleCurve,
    binomial_upper_limit,
    draws_needed,
    lower_limits,
    simulated_floors,
    total_variation,
)


def law(*spacings: int, leaves: Any = None, tied: int | None = None) -> BlockLaw:
    each = np.array(spacings)
    own = np.ones(each.size, dtype=int) if leaves is None else np.array(leaves)
    return BlockLaw(spacings=each, leaves=own, tied=tied)


def random_shares(random: np.random.Generator, blocks: int, kind: str) -> FloatArray:
    if kind == "ties":
        counts = random.integers(1, 3, blocks).astype(float)
    elif kind == "zeros":
        counts = random.integers(0, 3, blocks).astype(float)
        counts[random.integers(blocks)] += 1
    else:
        counts = random.gamma(0.7, size=blocks)
    return np.asarray(counts / counts.sum())


def best_rate_by_program(group: FloatArray, reference: FloatArray, beta: float) -> float:
    """Return the highest rate in the reference of a rule a with rate beta in the group."""
    found = linprog(-reference, A_eq=group[None, :], b_eq=[beta], bounds=(0, 1), method="highs")
    assert found.success
    return float(-found.fun)


# --- rules ---


@pytest.mark.parametrize("kind", ["gamma", "ties", "zeros"])
@pytest.mark.parametrize("blocks", [1, 2, 5, 12])
def test_the_best_rule_is_the_solution_of_a_linear_program(kind: str, blocks: int) -> None:
    random = np.random.default_rng(blocks)
    for beta in (0.01, 0.1, 1 / 3, 0.5, 0.9, 1.0):
        group, reference = (random_shares(random, blocks, kind) for _ in range(2))
        expected = best_rate_by_program(group, reference, beta)
        curve = RuleCurve.of(group, reference)
        assert float(curve.best_rate(beta)) == pytest.approx(expected, abs=1e-9)
        # A rule whose rate in the reference is lower than in the group harms the other side.
        assert float(curve.floor(beta)) == pytest.approx(beta / max(expected, beta), abs=1e-9)


def test_the_best_rule_by_hand() -> None:
    # Ratios .6/.2 = 3, .3/.3 = 1, .1/.5 = .2: the first block, then two thirds of the second.
    curve = RuleCurve.of(np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.6, 0.3]))
    assert float(curve.best_rate(0.4)) == pytest.approx(0.8)
    assert float(curve.floor(0.4)) == pytest.approx(0.5)
    assert float(curve.best_rate(0.1)) == pytest.approx(0.3)
    assert curve.best_rate(0.5) == pytest.approx(0.9)
    assert curve.best_rate(1.0) == pytest.approx(1.0)


def test_a_block_that_the_group_lacks_costs_a_rule_nothing() -> None:
    curve = RuleCurve.of(np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.7, 0.0]))
    assert float(curve.best_rate(0.5)) == pytest.approx(0.3 + 0.35)
    # At rate 0 a rule may still take the block that only the reference has.
    assert float(curve.best_rate(0.0)) == pytest.approx(0.3)


def test_equal_shares_allow_no_other_ratio_than_1() -> None:
    equal = np.full(7, 1 / 7)
    for beta in (0.01, 0.3, 1.0):
        assert float(RuleCurve.of(equal, equal).floor(beta)) == pytest.approx(1.0)


def test_many_curves_at_once_are_the_curves_one_by_one() -> None:
    random = np.random.default_rng(3)
    group, reference = (random.dirichlet(np.ones(6), size=20) for _ in range(2))
    floors = RuleCurve.of(group, reference).floor(0.2)
    alone = [float(RuleCurve.of(*pair).floor(0.2)) for pair in zip(group, reference, strict=True)]
    assert floors == pytest.approx(alone)


def test_the_reverse_of_a_curve_is_that_of_the_other_side() -> None:
    random = np.random.default_rng(0)
    group, reference = random.dirichlet(np.ones(5), size=(2, 20))
    # The definition, sorted anew: the two groups change places.
    expected = RuleCurve.of(reference, group)
    found = RuleCurve.of(group, reference).reverse()
    assert found.group == pytest.approx(expected.group)
    assert found.reference == pytest.approx(expected.reference)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_moved_lower_the_floor_at_least_as_much_as_they_can(seed: int) -> None:
    """Every way to move at most so much mass, as a linear program over moved shares and rules.

    For a fixed rule by blocks (each block wholly in or out, or in by half), mass is moved where it
    harms most: from blocks that are in to blocks that are out in the group, and back in the
    reference.
    """
    random = np.random.default_rng(seed)
    group, reference = random.dirichlet(np.ones(4), size=2)
    moved = (0.05, 0.08)
    curve = RuleCurve.of(group, reference)
    rules = np.array(np.meshgrid(*[[0.0, 0.5, 1.0]] * 4)).reshape(4, -1).T
    reached = 0
    for rule in rules:
        rate, other = rule @ group, rule @ reference
        # The most that a move of t can change a rate: from the highest to the lowest a_b.
        lowest = rate - _largest_move(group, rule, moved[0])
        highest = other + _largest_move(reference, 1 - rule, moved[1])
        if lowest > 1e-9:
            floor = float(curve.floor(lowest, moved=moved))
            assert lowest / highest >= floor - 1e-9
            reached += 1
    assert reached > 40


def _largest_move(mass: FloatArray, values: FloatArray, most: float) -> float:
    """Return how much a mean falls if `most` of the mass moves to the lowest value, by program."""
    size = mass.size
    # flow[i, j] moves mass from i to j.
    cost = (values[None, :] - values[:, None]).ravel()
    from_each = np.kron(np.eye(size), np.ones(size))
    found = linprog(
        cost,
        A_ub=np.vstack([from_each, np.ones(size * size)]),
        b_ub=np.append(mass, most),
        bounds=(0, None),
        method="highs",
    )
    return float(-found.fun)


def test_moved_rows_by_hand() -> None:
    curve = RuleCurve.of(np.array([0.5, 0.5]), np.array([0.8, 0.2]))
    # R(.2 + .05) = .4, and .1 more in the reference.
    assert float(curve.floor(0.2, moved=(0.05, 0.1))) == pytest.approx(0.2 / 0.5)
    # Past a rate of 1 nothing is left to move.
    assert float(curve.floor(0.9, moved=(0.5, 0.5))) == pytest.approx(0.9)


def test_total_variation_is_the_largest_difference_of_any_set_of_blocks() -> None:
    random = np.random.default_rng(0)
    sets = np.array(np.meshgrid(*[[0.0, 1.0]] * 5)).reshape(5, -1).T
    for _ in range(10):
        group, reference = random.dirichlet(np.ones(5), size=2)
        expected = (sets @ (group - reference)).max()
        assert float(total_variation(group, reference)) == pytest.approx(expected)
    assert float(total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0]))) == 1.0


# --- the law ---


def shares_between(order: FloatArray, spacings: tuple[int, ...]) -> FloatArray:
    """Return the shares of a uniform population between cuts at sorted rows."""
    cuts = order[:, np.cumsum(spacings)[:-1] - 1]
    ends = np.column_stack([np.zeros(len(order)), cuts, np.ones(len(order))])
    return np.diff(ends, axis=1)


@pytest.mark.parametrize("spacings", [(3, 4, 4), (1, 9, 2, 8), (10, 11)])
def test_shares_between_order_statistics_have_the_law(spacings: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(spacings))
    rows = sum(spacings) - 1
    # By the law's transform of any continuous distribution, uniform rows are every case.
    simulated = shares_between(np.sort(random.random((4_000, rows)), axis=1), spacings)
    drawn = law(*spacings).draw_shares(4_000, random)
    assert law(*spacings).rows == rows
    for block in range(len(spacings)):
        # 9 tests at the level .002: together below .02.
        test = stats.ks_2samp(simulated[:, block], drawn[:, block])
        assert test.pvalue > 0.002
        beta = stats.beta(spacings[block], rows + 1 - spacings[block])
        assert stats.kstest(drawn[:, block], beta.cdf).pvalue > 0.002


def test_the_means_and_covariances_are_those_of_dirichlet() -> None:
    spacings = np.array([5, 20, 75])
    drawn = law(*spacings).draw_shares(40_000, np.random.default_rng(0))
    assert drawn.sum(axis=1) == pytest.approx(np.ones(40_000))
    expected = stats.dirichlet(spacings)
    standard_error = np.sqrt(expected.var() / 40_000)
    assert np.all(np.abs(drawn.mean(axis=0) - spacings / 100) < 4 * standard_error)
    assert np.cov(drawn.T) == pytest.approx(expected.cov(), rel=0.05, abs=2e-5)


def test_blocks_of_a_coarse_cell_have_equal_shares() -> None:
    drawn = law(4, 7, leaves=[3, 1]).draw_shares(10, np.random.default_rng(0))
    assert drawn.shape == (10, 4)
    assert drawn[:, 0] == pytest.approx(drawn[:, 1])
    assert drawn[:, 0] == pytest.approx(drawn[:, 2])
    assert drawn.sum(axis=1) == pytest.approx(np.ones(10))
    assert law(12, leaves=[4]).draw_shares(2, np.random.default_rng(0)).tolist() == [[0.25] * 4] * 2


# --- ties ---


def test_rows_with_keys_do_not_tie() -> None:
    drawn = law(10, 10).draw_shares(5, np.random.default_rng(0))
    assert law(10, 10).moved_share(drawn, 0.01).tolist() == [0.0] * 5
    assert law(20, leaves=[2], tied=9).moved_share(drawn, 0.01).tolist() == [0.0] * 5


def test_the_limit_of_ties_by_hand() -> None:
    # 98 rows between cuts, 10 of them tied; the shares are those of the rows.
    expected = stats.beta(11, 88).ppf(0.99)
    limit = law(50, 50, tied=10).moved_share(np.array([[0.5, 0.5]]), 0.01)
    assert limit == pytest.approx([expected])
    # A cell with 1.2 times its part of the rows may hold 1.2 times as many ties.
    limit = law(50, 50, tied=10).moved_share(np.array([[0.6, 0.4]]), 0.01)
    assert limit == pytest.approx([1.2 * expected])


def test_a_cell_without_rows_between_its_cuts_says_nothing_of_ties() -> None:
    assert law(1, 50, tied=0).moved_share(np.array([[0.1, 0.9]]), 0.01).tolist() == [1.0]


def test_the_limit_of_ties_holds() -> None:
    """Half of the rows are equal; the cuts are made by value, then draw."""
    random = np.random.default_rng(0)
    spacings = (40, 40, 41)
    failed = 0
    for _ in range(400):
        # Equal rows are those between .4 and .6 of a uniform law: they hold a fifth of it.
        rows = np.sort(random.random(120))
        cuts = rows[np.cumsum(spacings)[:-1] - 1]
        atoms = [(0.4, 0.6)] if np.any((cuts > 0.4) & (cuts < 0.6)) else []
        is_cut = np.isin(rows, cuts)
        tied = sum(int(((rows > low) & (rows < high) & ~is_cut).sum()) for low, high in atoms)
        true_share = 0.2 * len(atoms)
        own = np.diff(np.concatenate([[0.0], cuts, [1.0]]))[None, :]
        limit = law(*spacings, tied=tied).moved_share(own, 0.05)
        failed += bool(limit[0] < true_share)
    # The level is 5%, and the limit is on the safe side.
    assert failed <= 0.05 * 400 + 2 * np.sqrt(400 * 0.05 * 0.95)


@pytest.mark.parametrize(("successes", "rows"), [(0, 10), (3, 10), (10, 10), (7, 1_000)])
@pytest.mark.parametrize("risk", [0.05, 0.001])
def test_the_upper_limit_is_that_of_scipy(successes: int, rows: int, risk: float) -> None:
    interval = stats.binomtest(successes, rows, alternative="less").proportion_ci(1 - risk, "exact")
    assert float(binomial_upper_limit(successes, rows, risk)) == pytest.approx(interval.high)


def test_upper_limits_of_several_counts_at_once() -> None:
    limits = binomial_upper_limit([0, 5], [10, 10], 0.05)
    assert limits == pytest.approx(stats.beta([1, 6], [10, 5]).ppf(0.95))


# --- limits that hold together ---


def test_the_limit_of_one_figure_is_its_quantile() -> None:
    draws = np.random.default_rng(1).normal(size=(1, 200_000))
    limit = float(lower_limits(draws, 0.05)[0])
    # On the safe side: below the quantile .05, and above that of .049 less 4 standard errors.
    assert stats.norm.ppf(0.047) < limit < stats.norm.ppf(0.05)


def test_limits_of_independent_figures_hold_together() -> None:
    random = np.random.default_rng(2)
    limits = lower_limits(random.normal(size=(4, 100_000)), 0.05)
    # Four independent figures: each may fail with 1 - .95^(1/4).
    expected = stats.norm.ppf(1 - 0.95**0.25)
    # What the simulation may err moves them a little to the safe side.
    assert np.all((expected - 0.09 < limits) & (limits < expected + 0.02))
    joint = np.mean(np.all(random.normal(size=(200_000, 4)) >= limits, axis=1))
    assert 0.949 < joint < 0.957


def test_limits_of_the_same_figure_twice_cost_nothing() -> None:
    draws = np.random.default_rng(3).normal(size=(1, 100_000))
    both = lower_limits(np.vstack([draws, draws]), 0.05)
    assert both == pytest.approx(np.repeat(lower_limits(draws, 0.05), 2))


@pytest.mark.parametrize("risk", [0.05, 0.002])
def test_the_simulated_limit_is_seldom_too_high(risk: float) -> None:
    # Of 400 simulations, at most a tenth of the risk, or .001, may have a limit past the quantile.
    random = np.random.default_rng(4)
    limits = lower_limits_of_many(random, draws_needed(risk), risk)
    assert np.mean(limits > risk) <= 0.001 + 4 * np.sqrt(0.001 / 400)
    assert np.all(np.isfinite(limits))


def lower_limits_of_many(random: np.random.Generator, draws: int, risk: float) -> FloatArray:
    return np.array([lower_limits(random.random((1, draws)), risk)[0] for _ in range(400)])


def test_too_few_draws_for_a_risk_prove_nothing() -> None:
    # (1 - .0009)^1000 = .41: not even the lowest of a thousand draws is safe.
    assert lower_limits(np.random.default_rng(0).random((2, 1_000)), 0.001).tolist() == [
        -np.inf,
        -np.inf,
    ]


# --- pairs ---


def test_floors_of_every_ordered_pair() -> None:
    laws = [law(50, 51), law(200, 201), law(5, 5)]
    floors, variations = simulated_floors(laws, [0.1, 0.5], draws=500, risk=0.0, random_state=0)
    assert floors.shape == (6, 2, 500)
    assert variations.shape == (6, 500)
    pairs = list(permutations(range(3), 2))
    # Distances do not depend on the side.
    forth, back = variations[pairs.index((0, 2))], variations[pairs.index((2, 0))]
    assert forth == pytest.approx(back)
    # The two blocks' shares are p and 1 - p, so the distance is |p - q|.
    p, q = stats.beta(50, 51), stats.beta(200, 201)
    expected = np.abs(p.rvs(20_000, random_state=1) - q.rvs(20_000, random_state=2)).mean()
    assert variations[pairs.index((0, 1))].mean() == pytest.approx(expected, rel=0.15)
    assert floors[pairs.index((0, 2)), 1].mean() < floors[pairs.index((0, 1)), 1].mean()


def test_draws_in_chunks_have_the_same_law() -> None:
    laws = [law(50, 51), law(30, 31)]
    whole, _ = simulated_floors(laws, [0.3], draws=2_000, risk=0.0, random_state=0)
    parts, distances = simulated_floors(
        laws, [0.3], draws=2_000, risk=0.0, random_state=1, shares_per_chunk=600
    )
    assert parts.shape == whole.shape
    assert distances.shape == (2, 2_000)
    assert stats.ks_2samp(whole[0, 0], parts[0, 0]).pvalue > 0.01
