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
    Profiles,
    best_cut,
    fit_profiles,
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
