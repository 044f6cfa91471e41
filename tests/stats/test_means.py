from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.meta_analysis import effectsize_smd

from fourfifths._stats.means import mean_differences


def differences(groups, **options):
    """Compare lists of scores with the first of them, after subtracting the mean of all."""
    mean = np.mean(np.concatenate(groups))
    scores = [np.asarray(group, dtype=float) - mean for group in groups]
    return mean_differences(
        [group.size for group in scores],
        [group.sum() for group in scores],
        [np.sum(group**2) for group in scores],
        reference=0,
        **options,
    )


def test_the_difference_is_in_standard_deviations_of_all_scores():
    # Means 2 and 4 of 1, 2, 3 and 3, 4, 5, whose common variance is 10/6.
    found = differences([[3, 4, 5], [1, 2, 3]])
    assert found.difference.tolist() == pytest.approx([0, -2 / (10 / 6) ** 0.5])


def test_the_interval_holds_the_difference_and_mirrors_with_the_sides():
    random = np.random.default_rng(3)
    groups = [random.normal(0, 1, 40), random.normal(0.5, 2, 25)]
    found, mirrored = differences(groups), differences(groups[::-1])
    assert found.low[1] < found.difference[1] < found.high[1]
    assert found.low[1] == pytest.approx(-mirrored.high[1])
    assert found.high[1] == pytest.approx(-mirrored.low[1])


def test_the_reference_itself_has_no_interval():
    found = differences([[1, 2, 4], [2, 5, 7]])
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.difference[0] == 0


def test_with_many_scores_the_interval_of_cohens_d_is_that_of_hedges_and_olkin():
    random = np.random.default_rng(5)
    sizes, centre = (900, 600), 0.7
    groups = [random.normal(0, 1, sizes[0]), random.normal(centre, 1, sizes[1])]
    d, variance = effectsize_smd(
        groups[1].mean(), groups[1].std(ddof=1), sizes[1],
        groups[0].mean(), groups[0].std(ddof=1), sizes[0],
    )  # fmt: skip
    # In standard deviations of all scores, d is d / sqrt(1 + c d^2), with c the product of shares.
    limits = d + norm.ppf(0.975) * np.sqrt(variance) * np.array([-1, 1])
    expected = limits / np.sqrt(1 + 0.6 * 0.4 * limits**2)
    found = differences(groups)
    assert [found.low[1], found.high[1]] == pytest.approx(expected.tolist(), abs=0.004)


def test_adding_to_all_scores_or_multiplying_them_changes_nothing():
    random = np.random.default_rng(6)
    groups = [random.normal(size=size) for size in (20, 30, 10)]
    found, moved = differences(groups), differences([1e6 + 250 * group for group in groups])
    for figure in ("difference", "low", "high"):
        assert getattr(moved, figure) == pytest.approx(getattr(found, figure), nan_ok=True)


def test_fewer_effective_scores_make_a_wider_interval():
    groups = [np.arange(10.0), np.arange(10.0) + 2]
    found, wider = differences(groups), differences(groups, effective=[5, 5])
    assert wider.difference.tolist() == found.difference.tolist()
    assert wider.low[1] < found.low[1]
    assert found.high[1] < wider.high[1]


def test_a_group_of_one_has_a_difference_and_no_interval():
    found = differences([[1, 2, 3, 6], [4]])
    assert np.isfinite(found.difference[1])
    assert np.isnan([found.low[1], found.high[1]]).all()


def test_a_group_without_scores_has_neither():
    found = differences([[1, 2, 3, 6], []])
    assert np.isnan([found.difference[1], found.low[1], found.high[1]]).all()


@pytest.mark.parametrize("groups", [[[2, 2], [2, 2]], [[], []]])
def test_scores_that_do_not_vary_have_no_differences(groups):
    found = mean_differences([len(group) for group in groups], [0.0, 0.0], [0.0, 0.0], reference=0)
    assert np.isnan([found.difference, found.low, found.high]).all()


def test_scores_that_vary_only_between_the_groups_have_no_interval():
    found = differences([[1, 1, 1], [2, 2, 2]])
    assert found.difference[1] == pytest.approx(2)
    assert np.isnan([found.low[1], found.high[1]]).all()


def coverage(sizes, means, deviations, *, repeats, seed):
    """How often the interval holds the true difference, of normal scores."""
    random = np.random.default_rng(seed)
    means, deviations = np.array(means), np.array(deviations)
    share = np.array(sizes) / np.sum(sizes)
    variance = np.sum(share * (deviations**2 + (means - np.sum(share * means)) ** 2))
    truth = (means - means[0]) / np.sqrt(variance)
    covered = np.zeros(len(sizes) - 1)
    for _ in range(repeats):
        scores = [
            random.normal(mean, deviation, size)
            for size, mean, deviation in zip(sizes, means, deviations, strict=True)
        ]
        found = differences(scores)
        covered += ((found.low <= truth) & (truth <= found.high))[1:]
    return covered / repeats


def test_the_interval_covers_as_often_as_stated():
    covered = coverage([40, 25], [0.0, 0.6], [1.0, 1.0], repeats=800, seed=1)
    assert 0.93 <= covered.min() <= covered.max() <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "means", "deviations"),
    [
        ([10, 10], [0.0, 0.0], [1.0, 1.0]),
        ([10, 10], [0.0, 2.0], [1.0, 1.0]),
        ([30, 8], [0.0, 1.0], [1.0, 1.0]),
        ([8, 30], [0.0, 1.0], [1.0, 2.0]),
        ([50, 20, 30], [0.0, 0.5, -1.0], [1.0, 2.0, 1.0]),
        ([300, 200], [0.0, 3.0], [1.0, 1.0]),
    ],
)
def test_the_interval_covers_as_often_with_few_scores_and_unequal_variances(
    sizes, means, deviations
):
    covered = coverage(sizes, means, deviations, repeats=6_000, seed=2)
    assert 0.945 <= covered.min() <= covered.max() <= 0.98
