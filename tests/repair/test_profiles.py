"""Profiles: the same share of every stratum, whatever the strata's dependence between columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fourfifths._arrays import FloatArray
from fourfifths._repair.profiles import (
    LEAF,
    LEVELS_PER_PROFILE,
    MAX_PROFILES,
    MIN_ROWS_PER_SIDE,
    SHARE_STEPS,
    Cut,
    Profiles,
    StratumSample,
    best_cut,
    divide,
    explained_variance,
    fit_profiles,
    levels_in_profiles,
    revealed_difference,
)

SCORES = [(np.arange(1_000) + 0.5) / 1_000] * 2


def uniform_ranks(rows: int, correlation: float, seed: int = 0) -> FloatArray:
    """Return the ranks of two normal columns with this correlation."""
    covariance = [[1, correlation], [correlation, 1]]
    values = np.random.default_rng(seed).multivariate_normal([0, 0], covariance, rows)
    return (stats.rankdata(values, axis=0) - 0.5) / rows


def fitted(*ranks: FloatArray) -> Profiles:
    return fit_profiles(ranks, SCORES, random=np.random.default_rng(0))


APART = (uniform_ranks(3_000, 0.8), uniform_ranks(2_000, -0.8, seed=1))


# --- the tree ---


def test_each_profile_has_the_same_share_of_every_stratum() -> None:
    profiles = fitted(*APART)
    assert 2 < profiles.profile_count <= MAX_PROFILES
    shares = []
    for stratum, ranks in enumerate(APART):
        profile = profiles.profiles_of(ranks, stratum, random=np.random.default_rng(0))
        shares.append(np.bincount(profile, minlength=profiles.profile_count) / len(ranks))
    # A cut is off by less than a row of each stratum, and a profile has a handful of cuts.
    assert np.abs(shares[0] - shares[1]).max() < 12 / 2_000
    assert np.min(shares) * 2_000 > MIN_ROWS_PER_SIDE - 12


def test_the_tree_is_whole() -> None:
    profiles = fitted(*APART)
    is_leaf = profiles.column == LEAF
    assert sorted(profiles.left[is_leaf]) == list(range(profiles.profile_count))
    children = np.concatenate([profiles.left[~is_leaf], profiles.right[~is_leaf]])
    assert sorted(children) == list(range(1, profiles.column.size))
    assert np.all(profiles.share[~is_leaf] * SHARE_STEPS % 1 == 0)


def test_few_rows_are_one_profile() -> None:
    few = 2 * MIN_ROWS_PER_SIDE - 1
    profiles = fitted(uniform_ranks(few, 0), uniform_ranks(5_000, 0))
    assert profiles.profile_count == 1
    assert profiles.column.tolist() == [LEAF]


def test_a_stratum_with_few_rows_takes_the_cuts_of_the_others() -> None:
    profiles = fitted(*APART, uniform_ranks(10, 0))
    cut = profiles.column != LEAF
    assert profiles.cuts[cut, 2] == pytest.approx(profiles.cuts[cut, :2].mean(axis=1))


def test_missing_values_go_to_either_side_in_the_share_of_the_cut() -> None:
    profiles = fitted(*APART)
    missing = np.full((20_000, 2), np.nan)
    profile = profiles.profiles_of(missing, 0, random=np.random.default_rng(0))
    present = profiles.profiles_of(APART[0], 0, random=np.random.default_rng(0))
    expected = np.bincount(present, minlength=profiles.profile_count) / present.size
    counts = np.bincount(profile, minlength=profiles.profile_count)
    assert np.abs(counts / 20_000 - expected).max() < 0.01


# --- the choice of a cut ---


def test_a_cut_is_in_the_column_that_varies() -> None:
    # All levels of the second column have the same value, and the strata have the same dependence.
    ranks = [uniform_ranks(1_000, 0), uniform_ranks(1_000, 0)]
    scores = [SCORES[0], np.full(1_000, 0.5)]
    cut = best_cut(ranks, [1_000, 1_000], scores=scores)
    assert cut is not None
    assert (cut.column, cut.share) == (0, 0.5)  # halves explain most of a uniform column
    # The variance between the halves of a uniform distribution is 1/16.
    assert cut.gain == pytest.approx(1_000 / 16, rel=0.01)


def test_nothing_is_gained_between_equal_values() -> None:
    ranks = [uniform_ranks(1_000, 0)] * 2
    assert best_cut(ranks, [1_000, 1_000], scores=[np.full(1_000, 0.5)] * 2) is None


def test_a_cut_leaves_enough_rows_on_both_sides() -> None:
    # The top tenth of the levels is apart from all others: only there is something to cut.
    ranks = [uniform_ranks(2_000, 0)] * 2
    scores = [np.append(np.zeros(900), np.ones(100))] * 2
    cut = best_cut(ranks, [2_000, 2_000], scores=scores)
    assert cut is not None
    assert cut.share == pytest.approx(0.9, abs=1 / SHARE_STEPS)
    # A tenth of 200 rows is too few.
    assert best_cut([rows[:200] for rows in ranks], [200, 200], scores=scores) is None


# --- repaired ranks ---


def dependence(ranks: FloatArray) -> float:
    return float(stats.spearmanr(ranks[:, 0], ranks[:, 1]).statistic)


def test_repaired_ranks_have_one_dependence() -> None:
    profiles = fitted(*APART)
    repaired = []
    for stratum, ranks in enumerate(APART):
        profile = profiles.profiles_of(ranks, stratum, random=np.random.default_rng(0))
        repaired.append(profiles.repaired_ranks(ranks, profile, stratum=stratum))
    assert dependence(APART[0]) - dependence(APART[1]) > 1.5
    assert abs(dependence(repaired[0]) - dependence(repaired[1])) < 0.05
    for column in range(2):
        columns = [ranks[:, column] for ranks in repaired]
        assert stats.ks_2samp(*columns).statistic < 0.02


def test_missing_ranks_stay_missing_and_the_others_keep_their_order_in_a_profile() -> None:
    profiles = fitted(*APART)
    ranks = APART[0].copy()
    ranks[::9, 1] = np.nan
    profile = profiles.profiles_of(ranks, 0, random=np.random.default_rng(0))
    repaired = profiles.repaired_ranks(ranks, profile, stratum=0)
    np.testing.assert_array_equal(np.isnan(repaired), np.isnan(ranks))
    for number in range(profiles.profile_count):
        rows = np.flatnonzero(profile == number)
        order = np.argsort(ranks[rows, 0])
        assert np.all(np.diff(repaired[rows[order], 0]) >= 0)
        assert np.unique(repaired[rows, 0]).size <= LEVELS_PER_PROFILE


# --- what a cut gains, and what it does, by closed forms ---

SHARE = np.arange(1, SHARE_STEPS) / SHARE_STEPS
EVEN = (np.arange(640) + 0.5) / 640


def test_a_cut_of_a_uniform_column_explains_a_quarter_of_p_times_1_less_p() -> None:
    # The means of the sides are p / 2 and (1 + p) / 2.
    strata = [StratumSample.of(EVEN[:, None])] * 3
    explained = explained_variance(strata, 0, scores=(np.arange(640) + 0.5) / 640)
    np.testing.assert_allclose(explained, SHARE * (1 - SHARE) / 4, atol=1e-3)


def test_between_two_values_only_one_cut_explains_anything() -> None:
    strata = [StratumSample.of(EVEN[:, None])] * 2
    explained = explained_variance(strata, 0, scores=np.repeat([0.0, 1.0], 320))
    # Half of the rows have 0 and half 1: variance 1/4, all of it between the sides.
    np.testing.assert_allclose(explained, np.where(SHARE == 0.5, 0.25, 0))


def test_a_cut_reveals_columns_that_rise_together_in_one_stratum_only() -> None:
    rising = StratumSample.of(np.column_stack([EVEN, EVEN]))
    falling = StratumSample.of(np.column_stack([EVEN, 1 - EVEN]))
    # Left of the cut, the other column sums to p^2 / 2 in one stratum, to p - p^2 / 2 in the other.
    expected = (SHARE - SHARE**2) ** 2 / (SHARE * (1 - SHARE))
    np.testing.assert_allclose(revealed_difference([rising, falling], 0), expected)
    np.testing.assert_allclose(revealed_difference([rising, rising], 0), 0, atol=1e-15)
    # The column that is cut does not count, though its sides differ by the rounding of row numbers.
    alone = [StratumSample.of(ranks[:, None]) for ranks in (EVEN, EVEN[:100])]
    assert not revealed_difference(alone, 0).any()


def test_rows_are_divided_at_the_quantile_of_each_stratum() -> None:
    ranks = [((np.arange(rows) + 0.5) / rows)[:, None] for rows in (20, 32, 10)]
    members = [np.arange(len(stratum))[::-1] for stratum in ranks]
    cut = Cut(gain=1.0, column=0, share=0.25)
    cut_ranks, (left, right) = divide(ranks, members, cut=cut, random=np.random.default_rng(0))
    # The third stratum has too few rows for a quantile: it takes the median of the others.
    assert cut_ranks == pytest.approx([5.5 / 20, 8.5 / 32, (5.5 / 20 + 8.5 / 32) / 2])
    assert [sorted(rows.tolist()) for rows in left] == [[*range(5)], [*range(8)], [0, 1, 2]]
    assert [rows.size for rows in right] == [15, 24, 7]


def test_missing_rows_are_divided_in_the_share_of_the_cut() -> None:
    ranks = [np.append(EVEN, np.full(10_000, np.nan))[:, None]]
    cut = Cut(gain=1.0, column=0, share=0.25)
    _, ((left,), (right,)) = divide(
        ranks, [np.arange(10_640)], cut=cut, random=np.random.default_rng(0)
    )
    assert stats.binomtest(int(np.sum(left >= 640)), 10_000, 0.25).pvalue > 0.01
    assert sorted([*left, *right]) == list(range(10_640))


def test_the_levels_of_a_profile_have_the_median_over_large_strata() -> None:
    level = np.arange(LEVELS_PER_PROFILE)
    pairs = np.column_stack([level, level + 0.5]).ravel() / 100  # two rows to a level
    ranks = [pairs[:, None], (level / 50)[:, None], np.array([[0.3], [0.9]])]
    leaf = [np.arange(len(stratum)) for stratum in ranks]
    bounds, consensus = levels_in_profiles(ranks, [leaf])
    np.testing.assert_allclose(bounds[0, 0, 0], level / 100)
    np.testing.assert_allclose(bounds[1, 0, 0], level / 50)
    np.testing.assert_allclose(bounds[2, 0, 0], 1.5 * level / 100)  # too few rows of its own
    np.testing.assert_allclose(consensus[0, 0], ((level + 0.25) / 100 + level / 50) / 2)


def test_a_profile_without_enough_rows_leaves_ranks_as_they_are() -> None:
    ranks = [np.array([[0.2], [0.7]]), np.array([[0.5]])]
    bounds, consensus = levels_in_profiles(ranks, [[np.arange(2), np.arange(1)]])
    middles = (np.arange(LEVELS_PER_PROFILE) + 0.5) / LEVELS_PER_PROFILE
    np.testing.assert_allclose(consensus[0, 0], middles)
    np.testing.assert_allclose(bounds[:, 0, 0], [middles, middles])
