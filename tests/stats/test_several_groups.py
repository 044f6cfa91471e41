from __future__ import annotations

from itertools import combinations, product
from math import comb, log

import numpy as np
import pytest
from scipy.stats import fisher_exact, norm, studentized_range
from statsmodels.stats.multitest import multipletests

from fourfifths._stats.several_groups import (
    chosen_reference_p,
    holm,
    largest_pair_statistic,
    range_p,
    range_z,
)


@pytest.mark.parametrize(
    "p", [[0.01], [0.01, 0.04, 0.03], [0.5, 0.9, 0.7], [0.02, 0.02, 0.02], [1e-9, 0.2, 0.04, 1.0]]
)
def test_holm_agrees_with_statsmodels(p):
    assert holm(p).tolist() == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_holm_takes_no_account_of_what_was_not_compared():
    adjusted = holm([0.04, np.nan, 0.01, np.nan])
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.04, 0.02])
    assert np.isnan(adjusted[[1, 3]]).all()


def test_holm_of_nothing_is_nothing():
    assert holm([]).tolist() == []


def pair_statistic(x, n, y, m):
    """The likelihood ratio of two rates, each count half a person nearer to the common rate."""
    expected = n * (x + y) / (n + m)
    if abs(x - expected) <= 0.5:
        return None  # nothing is left of the difference
    move = 0.5 if x < expected else -0.5
    observed = [x + move, n - x - move, y - move, m - y + move]
    both, rest = (x + y) / (n + m), 1 - (x + y) / (n + m)
    at_equal_rates = [n * both, n * rest, m * both, m * rest]
    return 2 * sum(o * log(o / e) for o, e in zip(observed, at_equal_rates, strict=True) if o > 0)


@pytest.mark.parametrize(
    ("selected", "n"),
    [
        ([1, 4], [5, 5]),
        ([0, 3], [1, 3]),
        ([3, 40, 12], [9, 50, 41]),
        ([0, 0, 7, 2], [10, 3, 7, 2]),
        ([200, 30_000, 400_000], [1_000, 100_000, 900_000]),
    ],
)
def test_the_statistic_is_the_largest_likelihood_ratio_of_a_pair(selected, n):
    pairs = [
        pair_statistic(selected[i], n[i], selected[j], n[j])
        for i, j in combinations(range(len(n)), 2)
    ]
    found = largest_pair_statistic(np.array(selected)[:, np.newaxis], np.array(n))
    largest = max(pair for pair in pairs if pair is not None)
    assert float(found[0]) == pytest.approx(largest, rel=1e-6)


def test_the_statistic_is_zero_where_no_one_or_everyone_is_selected():
    n = np.array([4, 1, 9])
    tables = np.array([[0, 4], [0, 1], [0, 9]])
    assert largest_pair_statistic(tables, n).tolist() == [0, 0]


def test_many_tables_at_once_are_as_one_by_one():
    n = np.array([7, 11, 20])
    tables = np.random.default_rng(5).binomial(n[:, np.newaxis], 0.4, size=(3, 50))
    one_by_one = [float(largest_pair_statistic(tables[:, [k]], n)[0]) for k in range(50)]
    assert largest_pair_statistic(tables, n).tolist() == pytest.approx(one_by_one)


@pytest.mark.parametrize("table", [(9, 30, 17, 30), (7, 11, 11, 11), (0, 4, 90, 100), (0, 5, 0, 7)])
def test_a_choice_between_two_groups_costs_nothing(table):
    x, n, y, m = table
    p = chosen_reference_p([x, y], [n, m], reference=1)
    assert float(p[0]) == pytest.approx(fisher_exact([[x, n - x], [y, m - y]]).pvalue)
    assert np.isnan(p[1])


def tables_of(n, total):
    """Every table with these sizes and this total, and its probability if all rows are alike."""
    for selected in product(*(range(size + 1) for size in n)):
        if sum(selected) == total:
            ways = np.prod([comb(size, x) for size, x in zip(n, selected, strict=True)])
            yield selected, ways / comb(sum(n), total)


def test_the_simulated_p_agrees_with_counting_every_table():
    n, selected, reference = (5, 6, 7), (1, 2, 6), 2
    tables = [
        (max(pair_statistic(x, a, y, b) or 0 for (x, a), (y, b) in pairs), probability)
        for table, probability in tables_of(n, sum(selected))
        for pairs in [list(combinations(zip(table, n, strict=True), 2))]
    ]
    found = chosen_reference_p(selected, n, reference=reference)
    for group in (0, 1):
        observed = pair_statistic(selected[group], n[group], selected[2], n[2])
        expected = sum(chance for largest, chance in tables if largest >= observed - 1e-9)
        assert float(found[group]) == pytest.approx(expected, abs=4 * 0.5 / 100)
        fisher = fisher_exact(
            [[selected[group], n[group] - selected[group]], [selected[2], n[2] - selected[2]]]
        )
        assert found[group] >= fisher.pvalue


@pytest.mark.parametrize(("n", "total"), [((6, 8, 10), 9), ((2, 5, 20), 12), ((1, 1, 9, 9), 8)])
def test_counted_over_every_table_at_most_five_percent_have_a_small_p(n, total):
    false = 0.0
    for selected, probability in tables_of(n, total):
        reference = int(np.argmax(np.array(selected) / n))
        p = chosen_reference_p(selected, n, reference=reference)
        false += probability * (np.nanmin(p) <= 0.05)
    # The simulation itself may misplace a table whose p is near .05.
    assert false <= 0.05 + 2 * (0.05 * 0.95 / 9_999) ** 0.5


def share_of_false_alarms(n, rates, *, repeats, seed, tables, among=slice(None)):
    """How often the highest of these groups is significantly above another one of them."""
    random = np.random.default_rng(seed)
    alarms = 0
    for repeat in range(repeats):
        selected = random.binomial(n, rates)
        reference = int(np.argmax(selected / n))
        p = chosen_reference_p(selected, n, reference=reference, random_state=repeat, tables=tables)
        is_tested = np.arange(n.size)[among]
        if reference in is_tested:
            alarms += bool(np.nanmin(p[is_tested]) < 0.05)
    return alarms / repeats


def at_most_five_percent(share, repeats):
    return share <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5


def test_of_six_equal_groups_the_lowest_is_rarely_significant():
    n = np.full(6, 100)
    share = share_of_false_alarms(n, 0.3, repeats=400, seed=11, tables=499)
    assert at_most_five_percent(share, 400)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(
    "n", [[100] * 6, [20, 100, 400], [10, 30, 1000], [100, 100, 100, 2, 2, 1, 1, 3]]
)
def test_with_equal_rates_at_most_five_percent_have_a_small_p(n, rate):
    share = share_of_false_alarms(np.array(n), rate, repeats=3_000, seed=12, tables=999)
    assert at_most_five_percent(share, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rates"),
    [([100, 100, 100, 100], [0.6, 0.6, 0.2, 0.1]), ([30, 400, 2000, 50], [0.1, 0.1, 0.02, 0.01])],
)
def test_two_equal_groups_above_others_rarely_differ(n, rates):
    share = share_of_false_alarms(
        np.array(n), rates, repeats=3_000, seed=13, tables=999, among=slice(0, 2)
    )
    assert at_most_five_percent(share, 3_000)


def test_a_tiny_p_is_fishers_times_the_number_of_pairs():
    fisher = fisher_exact([[10, 190], [90, 110]]).pvalue
    p = chosen_reference_p([10, 60, 70, 90], [200] * 4, reference=3)
    assert float(p[0]) == pytest.approx(6 * fisher, rel=1e-9, abs=0)
    assert float(p[0]) < 1e-15


def test_allowing_for_the_choice_never_makes_a_p_smaller():
    # The third group can hardly differ from anyone, and Fisher's p is coarser than the simulated.
    p = chosen_reference_p([30, 14, 2], [50, 46, 2], reference=0)
    assert float(p[1]) == pytest.approx(fisher_exact([[30, 20], [14, 32]]).pvalue)


def test_groups_of_one_do_not_hide_what_large_groups_show():
    # Fisher's p times 45 pairs would be above .05; eight of the groups cannot differ from anyone.
    n = np.array([1_000, 1_000] + [1] * 8)
    selected = np.array([50, 86] + [0] * 8)
    fisher = fisher_exact([[50, 950], [86, 914]]).pvalue
    assert 45 * fisher > 0.05
    assert float(chosen_reference_p(selected, n, reference=1)[0]) < 0.02


def test_the_same_state_gives_the_same_p_and_another_one_nearly_so():
    selected, n = [20, 22, 24, 28, 31, 37], [100] * 6
    first, again = (chosen_reference_p(selected, n, reference=5) for _ in range(2))
    other = chosen_reference_p(selected, n, reference=5, random_state=99)
    assert first[:5].tolist() == again[:5].tolist()
    # After 1,000 extreme tables the standard error is 3% of p: 4 of them, of a difference.
    assert first[:5] == pytest.approx(other[:5], rel=4 * 2**0.5 * 0.032)
    assert first[:5].tolist() != other[:5].tolist()


def test_a_simulation_that_stops_early_agrees_with_one_that_does_not():
    selected, n = [20, 22, 24, 28, 31, 37], [100] * 6
    early = chosen_reference_p(selected, n, reference=5)
    rng = np.random.default_rng(4)
    tables = rng.multivariate_hypergeometric(n, sum(selected), size=100_000, method="marginals")
    largest = largest_pair_statistic(np.ascontiguousarray(tables.T), np.array(n))
    observed = [
        largest_pair_statistic(np.array([[x], [37]]), np.array([100, 100]))[0] for x in selected[:5]
    ]
    every_table = [float(np.mean(largest >= statistic - 1e-5)) for statistic in observed]
    assert early[:5] == pytest.approx(every_table, rel=4 * 0.032)


def p_from_every_table(selected, n, *, reference, tables):
    """The p-values from simulated tables, counted one by one without stopping."""
    statistic = [
        0.0
        if group == reference
        else pair_statistic(selected[group], n[group], selected[reference], n[reference]) or 0.0
        for group in range(len(n))
    ]
    largest = largest_pair_statistic(np.ascontiguousarray(tables.T), np.array(n))
    return [float(np.mean(largest >= observed - 1e-5)) for observed in statistic]


def test_a_large_p_stops_sooner_and_still_agrees():
    # The smallest p is about .3: 200 extreme tables are among the first 1,000.
    selected, n = [52, 55, 58, 61, 68], [200, 210, 190, 205, 195]
    early = chosen_reference_p(selected, n, reference=4)
    tables = np.random.default_rng(6).multivariate_hypergeometric(
        n, sum(selected), size=100_000, method="marginals"
    )
    every_table = p_from_every_table(selected, n, reference=4, tables=tables)
    assert min(every_table[:4]) > 0.2
    # After 200 extreme tables the standard error is 7% of p at most; 4 of them.
    assert early[:4] == pytest.approx(every_table[:4], rel=4 * 0.071)
    # By the definition: 200 over the number of tables up to the 200th that is as extreme.
    first = np.random.default_rng(0).multivariate_hypergeometric(
        n, sum(selected), size=2_000, method="marginals"
    )
    largest = largest_pair_statistic(np.ascontiguousarray(first.T), np.array(n))
    observed = pair_statistic(selected[0], n[0], selected[4], n[4])
    drawn = int(np.flatnonzero(largest >= observed - 1e-5)[199]) + 1
    assert early[0] == pytest.approx(200 / drawn)


# The p-values are .0042, .0027 and .037: more than 200 tables are as extreme in the last case.
@pytest.mark.parametrize(
    "selected",
    [[18, 22, 24, 28, 31, 41], [16, 22, 24, 28, 31, 40], [19, 22, 24, 28, 31, 38]],
)
def test_stopping_sooner_changes_no_p_below_five_percent(selected):
    n = [100] * 6
    tables = np.random.default_rng(0).multivariate_hypergeometric(
        n, sum(selected), size=9_999, method="marginals"
    )
    every_table = p_from_every_table(selected, n, reference=5, tables=tables)
    p = float(chosen_reference_p(selected, n, reference=5)[0])
    assert 0.001 < p < 0.05
    assert p == pytest.approx((1 + 9_999 * every_table[0]) / 10_000, abs=1e-9)


@pytest.mark.parametrize("level", [0.1, 0.2, 0.5])
def test_large_p_values_are_valid_too(level):
    n, total, false = (6, 8, 10), 9, 0.0
    for selected, probability in tables_of(n, total):
        reference = int(np.argmax(np.array(selected) / n))
        p = chosen_reference_p(selected, n, reference=reference)
        false += probability * (np.nanmin(p) <= level)
    # The simulation may misplace tables whose p is near the level: 4 standard errors of 200.
    tables = list(tables_of(n, total))
    largest = [
        max(
            pair_statistic(x, a, y, b) or 0
            for (x, a), (y, b) in combinations(zip(table, n, strict=True), 2)
        )
        for table, _ in tables
    ]
    chances = np.array([chance for _, chance in tables])
    p_of = [float(chances[np.array(largest) >= value - 1e-9].sum()) for value in largest]
    near = sum(
        chance
        for chance, p in zip(chances, p_of, strict=True)
        if level < p <= level * (1 + 4 * 0.071)
    )
    assert false <= level + near


@pytest.mark.parametrize("selected", [[0, 0, 0], [5, 5, 6]])
def test_no_variation_is_no_difference(selected):
    assert chosen_reference_p(selected, [5, 5, 6], reference=0)[1:].tolist() == [1, 1]


def test_a_billion_rows_have_the_union_bound():
    n = [600_000_000, 300_000_000, 200_000_000]
    p = chosen_reference_p([300_000_000, 150_020_000, 100_000_000], n, reference=1)
    # z = (20000 / 3e8) / sqrt(.25 (1 / 6e8 + 1 / 3e8)) = 1.886
    assert float(p[0]) == pytest.approx(min(1, 3 * 2 * norm.sf(1.8856)), rel=0.01)


@pytest.mark.parametrize("groups", [2, 3, 6, 20])
@pytest.mark.parametrize("z", [0.0, 0.5, 1.96, 3.5, 5.0])
def test_the_range_of_normals_agrees_with_scipy(groups, z):
    expected = studentized_range.sf(2**0.5 * z, groups, np.inf)
    assert float(range_p(-z, group_count=groups)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("z", [8.0, 20.0, 35.0])
def test_far_out_the_range_is_the_sum_over_the_pairs(z):
    assert float(range_p(z, group_count=6)) == pytest.approx(15 * 2 * norm.sf(z), rel=1e-4, abs=0)


@pytest.mark.parametrize("z", [0.1, 1.0, 1.96, 6.0, 30.0])
def test_of_two_groups_the_range_is_the_two_sided_p(z):
    assert float(range_p(z, group_count=2)) == pytest.approx(2 * norm.sf(z), rel=1e-9, abs=0)


@pytest.mark.parametrize(("groups", "confidence"), [(2, 0.95), (6, 0.95), (20, 0.99)])
def test_the_critical_z_agrees_with_scipy(groups, confidence):
    expected = studentized_range.ppf(confidence, groups, np.inf) / 2**0.5
    assert range_z(groups, confidence=confidence) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_the_range_is_valid_for_unequal_variances():
    random = np.random.default_rng(4)
    deviation = np.array([1.0, 0.3, 0.1, 2.0])
    means = random.normal(size=(20_000, 4)) * deviation
    z = [
        np.abs(means[:, i] - means[:, j]) / np.hypot(deviation[i], deviation[j])
        for i, j in combinations(range(4), 2)
    ]
    share = np.mean(np.max(z, axis=0) > range_z(4))
    assert 0.03 < share <= 0.05 + 2 * (0.05 * 0.95 / 20_000) ** 0.5
