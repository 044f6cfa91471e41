"""Bins that are found with one sort are those of scikit-learn, and so are the trees."""

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier

from fourfifths._certify.binned_trees import (
    MAX_BINS,
    MAX_ROWS_WITHOUT_STOPPING,
    BinnedTrees,
    column_edges,
    weighted_quantiles,
)

WEIGHTS_COUNT_FOR_BINS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def mixed_columns(random, n):
    """Return a number without ties, one with many, one with a heavy end, a category, and gaps."""
    values = np.column_stack(
        [
            random.normal(size=n),
            np.round(300 * random.normal(size=n)),
            np.minimum(random.integers(0, 900, n), 600),
            random.integers(0, 5, n),
            np.round(200 * random.normal(size=n)),
        ]
    )
    values[random.random(n) < 0.1, 4] = np.nan
    return values


@pytest.mark.skipif(not WEIGHTS_COUNT_FOR_BINS, reason="scikit-learn 1.8 bins without weights")
@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("n", [510, 2_550, MAX_ROWS_WITHOUT_STOPPING + 200])
def test_the_trees_are_those_of_scikit_learn_to_the_last_bit(n, share):
    # Of a multiple of 255 equal rows every edge falls exactly between two rows.
    random = np.random.default_rng(n)
    values = mixed_columns(random, n)
    y = random.permutation(n) < share * n
    values[y, 0] += 0.3
    values[y, 1] += 40
    new_rows = values + random.normal(size=values.shape) * [1, 1, 1, 0, 1]
    options = {"class_weight": "balanced", "categorical_features": [3], "random_state": 5}
    theirs = HistGradientBoostingClassifier(**options).fit(values, y)
    ours = BinnedTrees(**options).fit(values, y)
    assert 0 in ours.edges_  # or nothing would be tested
    assert 3 not in ours.edges_
    for asked in (values, new_rows):
        for method in ("decision_function", "predict_proba", "predict"):
            assert np.array_equal(getattr(ours, method)(asked), getattr(theirs, method)(asked))


def test_quantiles_by_hand():
    values, weights = np.array([40.0, 10, 30, 20]), np.array([2.0, 1, 1, 1])
    # The weights of 10, 20, 30, 40 sum up to 1, 2, 3, 5; thirds of 5 are 1.67 and 3.33.
    assert weighted_quantiles(values, weights, parts=3).tolist() == [20, 40]
    # Fifths are reached exactly by 10, 20 and 30: halfway to the next value. 4 is within 40.
    assert weighted_quantiles(values, weights, parts=5).tolist() == [15, 25, 35, 40]


def test_quantiles_of_equal_weights_are_those_of_numpy():
    random = np.random.default_rng(0)
    for n in (500, 512, 777):
        values = np.round(random.normal(size=n), 1)
        expected = np.quantile(values, np.arange(1, 8) / 8, method="averaged_inverted_cdf")
        assert np.array_equal(weighted_quantiles(values, np.ones(n), parts=8), expected)


def test_a_row_of_weight_two_counts_as_two_rows():
    random = np.random.default_rng(1)
    values, times = random.normal(size=300), random.integers(1, 4, 300)
    repeated = np.repeat(values, times)
    assert np.array_equal(
        weighted_quantiles(values, times.astype(float), parts=9),
        weighted_quantiles(repeated, np.ones(repeated.size), parts=9),
    )


def test_few_values_need_no_edges():
    values = np.tile(np.arange(MAX_BINS, dtype=float), 3)
    assert column_edges(values, np.ones(values.size)) is None
    values = np.tile(np.arange(MAX_BINS + 1, dtype=float), 3)
    assert column_edges(values, np.ones(values.size)) is not None


def test_a_bin_without_rows_joins_the_one_above():
    # 1,020 rows in 255 parts of 4. The first 8 rows are 0: they fill the first two parts, so the
    # edges are 0 and, where the second part ends exactly, .5. Nothing lies between 0 and .5.
    values = np.append(np.zeros(8), np.arange(1.0, 1_013))
    edges = column_edges(values, np.ones(values.size))
    assert edges[:3].tolist() == [0, 4.5, 8.5]
    assert np.unique(np.searchsorted(edges, values)).tolist() == list(range(edges.size + 1))


def test_a_bin_without_rows_in_a_column_with_gaps_is_left_to_scikit_learn():
    values = np.concatenate([np.zeros(8), np.arange(1.0, 1_013), [np.nan]])
    assert column_edges(values, np.ones(values.size)) is None
    assert column_edges(values[8:], np.ones(values.size - 8)) is not None
