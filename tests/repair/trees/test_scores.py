"""Scores from the text of trees, against LightGBM's own, bit for bit."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest

from fourfifths._repair.trees.scores import TreeScores, lowest_bits
from fourfifths._repair.trees.text import check_trees, trees_only

ROWS = 3_000
OBJECTIVES: dict[str, dict[str, Any]] = {
    "binary": {"objective": "binary"},
    "number": {"objective": "regression"},
    "classes": {"objective": "multiclass", "num_class": 3},
}


def table(row_count: int, seed: int) -> Any:
    """Return numbers, categories, both with missing values, and whole numbers."""
    random = np.random.default_rng(seed)
    columns = [
        random.normal(size=row_count),
        random.integers(0, 70, row_count).astype(float),
        np.where(random.random(row_count) < 0.3, np.nan, random.normal(size=row_count)),
        np.where(random.random(row_count) < 0.2, np.nan, random.integers(0, 4, row_count)),
        random.integers(-3, 4, row_count).astype(float),
    ]
    return np.column_stack(columns)


def learned(kind: str, *, leaves: int, seed: int = 0, rounds: int = 40) -> tuple[Any, str]:
    matrix = table(ROWS, seed)
    signal = matrix[:, 0] + matrix[:, 1] % 3 + np.isnan(matrix[:, 2]) * 2 + matrix[:, 4] ** 2 / 4
    target = {"binary": signal > 2, "number": signal, "classes": matrix[:, 1] % 3}[kind]
    options = {
        **OBJECTIVES[kind],
        "num_leaves": leaves,
        "min_data_in_leaf": 3,
        "min_data_per_group": 3,
        "cat_smooth": 1,
        "max_cat_to_onehot": 1,
        "seed": seed,
        "verbosity": -1,
        "num_threads": 1,
    }
    data = lightgbm.Dataset(matrix, target, categorical_feature=[1, 3], params=options)
    booster = lightgbm.train(options, data, rounds)
    return booster, trees_only(booster.model_to_string())


def assert_same_bits(booster: Any, text: str, matrix: Any) -> None:
    expected = booster.predict(matrix, raw_score=True, num_threads=1).reshape(len(matrix), -1)
    scores = TreeScores(text).scores(list(matrix.T))
    assert scores.shape == expected.shape
    assert scores.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("leaves", [2, 8, 16, 17, 31, 64])
def test_new_rows_are_scored_as_lightgbm_scores_them(kind: str, leaves: int) -> None:
    booster, text = learned(kind, leaves=leaves)
    check_trees(text, column_count=5)
    assert_same_bits(booster, text, table(1_500, 7))


@pytest.mark.parametrize("seed", range(5))
def test_values_that_no_training_row_had(seed: int) -> None:
    booster, text = learned("binary", leaves=15, seed=seed)
    matrix = table(1_200, 50 + seed)
    random = np.random.default_rng(seed)
    # Missing where none was, categories beyond the last, below the first, and huge numbers.
    strange = [np.nan, 0.0, -0.0, -1.0, 70.0, 500.0, 1e300, -1e300, 1e-300]
    for column in range(5):
        chosen = random.random(1_200) < 0.3
        values = strange[:6] if column in (1, 3) else strange
        matrix[chosen, column] = random.choice(values, int(chosen.sum()))
    assert_same_bits(booster, text, matrix)


def test_values_at_the_cuts_themselves() -> None:
    booster, text = learned("number", leaves=31)
    trees = booster.trees_to_dataframe()
    cuts = trees[(trees["decision_type"] == "<=") & (trees["split_feature"] == "Column_0")]
    at_cuts = cuts["threshold"].astype(float).to_numpy()
    values = np.concatenate(
        [at_cuts, np.nextafter(at_cuts, np.inf), np.nextafter(at_cuts, -np.inf)]
    )
    assert at_cuts.size > 100
    matrix = table(values.size, 3)
    matrix[:, 0] = values
    assert_same_bits(booster, text, matrix)


@pytest.mark.parametrize("row_count", [0, 1, 511, 512, 513])
def test_any_number_of_rows(row_count: int) -> None:
    booster, text = learned("classes", leaves=8)
    matrix = table(600, 9)
    scores = TreeScores(text).scores(list(matrix[:row_count].T))
    expected = booster.predict(matrix, raw_score=True)[:row_count]
    assert scores.tolist() == expected.tolist()


def test_many_rows_on_threads() -> None:
    booster, text = learned("binary", leaves=4, rounds=5)
    assert_same_bits(booster, text, np.tile(table(ROWS, 4), (40, 1)))


def test_trees_of_a_single_leaf() -> None:
    data = lightgbm.Dataset(np.zeros((50, 5)), np.arange(50.0), params={"verbosity": -1})
    booster = lightgbm.train({"objective": "regression", "verbosity": -1}, data, 3)
    text = trees_only(booster.model_to_string())
    assert_same_bits(booster, text, table(20, 0))


@pytest.mark.parametrize("bit_type", ["<u2", "<u4", "<u8"])
def test_the_lowest_bit(bit_type: str) -> None:
    width = 8 * np.dtype(bit_type).itemsize
    random = np.random.default_rng(0)
    values = [int(random.integers(0, 2**16)) << position for position in range(width - 16 + 1)]
    values = [*filter(None, values), *(1 << position for position in range(width))]
    expected = [(value & -value).bit_length() - 1 for value in values]
    assert lowest_bits(np.array([values], dtype=bit_type))[0].tolist() == expected
