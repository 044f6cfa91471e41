"""Histogram trees whose bins cost one sort of each column.

Histogram trees see a number by its bin, one of at most 255. With weighted rows, scikit-learn sorts
the column again for each of the 254 edges between the bins, and on most tables that takes longer
than growing all trees. Here the edges are found after one sort, by the same arithmetic, and the
trees are grown on the numbers of the bins. There they find the same bins again, so they are the
same trees.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight

from fourfifths._arrays import BoolArray, FloatArray, IntArray

MAX_BINS = 255  # of a column, without the bin for missing values
# From more rows than this, scikit-learn holds some out to decide when to stop.
MAX_ROWS_WITHOUT_STOPPING = 10_000
# From more rows than this, scikit-learn draws this many to find the bins, which takes long enough.
MAX_ROWS_TO_BIN = 200_000


class BinnedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """Histogram gradient-boosted trees with balanced weights, as scikit-learn's but faster.

    The parameters are those of `HistGradientBoostingClassifier`. `class_weight` is to be
    "balanced", because the edges are those of balanced rows, and `random_state` a whole number.

    Attributes
    ----------
    edges_ : dict of int to float array
        For each column that is replaced by its bins, the upper ends of all bins but the last.
    """

    def fit(self, X: FloatArray, y: BoolArray) -> BinnedTrees:
        """Find the bins of the training rows, and grow the trees on them."""
        self.edges_: dict[int, FloatArray] = {}
        rows = self._rows_to_bin(y)
        if rows.size <= MAX_ROWS_TO_BIN:
            weights = compute_sample_weight("balanced", y)[rows]
            # A category has too few values for edges: histogram trees take no more than 255.
            for column in range(X.shape[1]):
                edges = column_edges(X[rows, column], weights)
                if edges is not None:
                    self.edges_[column] = edges
        super().fit(self._binned(X), y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the log odds of the second class."""
        return np.asarray(super().decision_function(self._binned(X)), dtype=np.float64)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the probability of each class."""
        return np.asarray(super().predict_proba(self._binned(X)), dtype=np.float64)

    def predict(self, X: FloatArray) -> BoolArray:
        """Return the likelier class of each row."""
        return np.asarray(super().predict(self._binned(X)))

    def _binned(self, X: FloatArray) -> FloatArray:
        binned = X.copy()
        for column, edges in self.edges_.items():
            is_present = ~np.isnan(X[:, column])
            binned[is_present, column] = np.searchsorted(edges, X[is_present, column])
        return binned

    def _rows_to_bin(self, y: BoolArray) -> IntArray:
        """Return the rows that scikit-learn bins: those that it does not hold out."""
        rows = np.arange(y.size)
        if y.size <= MAX_ROWS_WITHOUT_STOPPING:
            return rows
        random = np.random.RandomState(self.random_state)
        seed = random.randint(np.iinfo(np.uint32).max, dtype="u8")
        train, _ = train_test_split(
            rows, test_size=self.validation_fraction, stratify=y, random_state=seed
        )
        return np.asarray(train)


def column_edges(values: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return the upper ends of all bins of a column but the last; None to leave it as it is.

    With at most `MAX_BINS` different values, each has a bin of its own, whatever the weights are.
    A bin without rows joins the one above it: trees cut at the lowest of several edges between
    which no row lies. Where missing values are in the column they may cut at the highest instead,
    so such a column is left as it is.

    Parameters
    ----------
    values : float array
        NaN is missing.
    weights : float array
        Of the rows, above 0.
    """
    is_present = ~np.isnan(values)
    present = values[is_present]
    if np.unique(present).size <= MAX_BINS:
        return None
    edges = np.unique(weighted_quantiles(present, weights[is_present], parts=MAX_BINS))
    is_filled = np.bincount(np.searchsorted(edges, present), minlength=edges.size + 1) > 0
    if is_filled.all():
        return edges
    # The edges kept are the upper ends of bins with rows, but for the last of these bins.
    return edges[np.flatnonzero(is_filled)[:-1]] if is_present.all() else None


def weighted_quantiles(values: FloatArray, weights: FloatArray, *, parts: int) -> FloatArray:
    """Return the values that cut weighted rows into parts of equal weight.

    Each is the lowest value up to which the rows weigh enough or, if they weigh exactly enough,
    the mean of it and the next value (definition 2 of Hyndman and Fan, The American Statistician
    50, 1996).

    Examples
    --------
    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1, 1, 3]), parts=2)
    array([3.5])
    """
    order = np.argsort(values)
    # Sorted twice, as scikit-learn does it: among equal values the second sort may move weights,
    # and sums in another order round differently.
    order = order[np.argsort(values[order])]
    ordered, total = values[order], np.cumsum(weights[order])
    # Divided by 100 and in this order, for the same rounding as scikit-learn's.
    target = np.linspace(0, 100, parts + 1)[1:-1] / 100 * total[-1]
    last = values.size - 1
    index = np.minimum(np.searchsorted(total, target), last)
    is_between = total[index] - target > np.finfo(np.float64).eps
    upper = ordered[np.where(is_between, index, np.minimum(index + 1, last))]
    return np.asarray(np.where(is_between, upper, (ordered[index] + upper) / 2))
