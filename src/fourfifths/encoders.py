"""The matrix of features, made fit for each kind of classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fourfifths.counts import FloatArray

MAX_DUMMIES = 100


class Filled(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The matrix as it is, but for columns of which the training rows hold nothing: those are 0."""

    def fit(self, X: FloatArray, y: object = None) -> Filled:  # noqa: ARG002
        """Find the empty columns."""
        self.empty_ = np.all(np.isnan(X), axis=0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Fill them."""
        return np.where(self.empty_, 0.0, X)


def encoder(is_category: Sequence[bool], *, sparse: bool, scaler: Any = None) -> ColumnTransformer:
    """Return what makes the matrix fit for linear models; that a value is missing is a feature.

    Numbers are standardised, or scaled by `scaler`.
    """
    categories = np.flatnonzero(is_category)
    numbers = np.flatnonzero(~np.asarray(is_category, dtype=bool))
    scaled = make_pipeline(
        SimpleImputer(add_indicator=True, keep_empty_features=True), scaler or StandardScaler()
    )
    dummies = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_DUMMIES, sparse_output=sparse
    )
    return ColumnTransformer(
        [("numbers", scaled, numbers), ("categories", dummies, categories)],
        sparse_threshold=1.0 if sparse else 0.0,
    )
