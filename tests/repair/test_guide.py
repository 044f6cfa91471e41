"""Outcomes of every kind, and scores that are the same in every process and on any thread."""

from __future__ import annotations

import pickle
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score

from fourfifths._repair.guide import (
    LOWEST,
    EstimatorGuide,
    Outcome,
    TreeGuide,
    fit_column_guide,
    fit_trees,
    is_copy,
    native_series,
    read_outcome,
    sizes,
    threads_for,
)
from fourfifths._tables.load import rows_of
from fourfifths._tables.types import ColumnType
from fourfifths.errors import OptionError, OutcomeError

NAN = float("nan")
RANDOM = np.random.default_rng(0)
FIRST = RANDOM.normal(size=1_500)
CODES = RANDOM.integers(0, 3, 1_500).astype(float)
CHANCE = FIRST + np.array([-1.0, 0.0, 2.0])[CODES.astype(int)]
COLUMNS = [np.where(RANDOM.random(1_500) < 0.1, NAN, FIRST), CODES]
TYPES = [
    ColumnType(name="x", kind="number"),
    ColumnType(name="c", kind="category", categories=("u", "v", "w")),
]
ROWS = rows_of(np.zeros((1_500, 2)))


def outcome(values: Any, kind: Any = "binary", classes: tuple[Any, ...] = (0, 1)) -> Outcome:
    return Outcome(name="y", kind=kind, values=np.asarray(values, dtype=float), classes=classes)


def trees(*outcomes: Outcome, seed: int = 0, **options: Any) -> TreeGuide:
    return fit_trees(COLUMNS, TYPES, outcomes=outcomes, seed=seed, **options)


# --- outcomes ---

TWO = {
    "booleans": ([True, False, True, None], (False, True)),
    "text": (["yes", "no", "yes", None], ("no", "yes")),
    "numbers": ([1, 0, 1, None], (0, 1)),
    "other numbers": ([7.5, -2.0, 7.5, None], (-2.0, 7.5)),
    "numbers as text": (["1", "0", "1", ""], (0, 1)),
}
KINDS = {
    "pandas": pd.Series,
    "polars": lambda values: pl.Series("y", values),
    "pyarrow": lambda values: pa.chunked_array([values]),
    "list": list,
    "array": lambda values: np.array(values, dtype=object),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TWO)
def test_two_values_are_classes_in_every_kind_of_column(kind: str, name: str) -> None:
    values, classes = TWO[name]
    found = read_outcome("y", native_series(KINDS[kind](values)))
    assert found.kind == "binary"
    assert found.classes == classes
    assert found.values[:3].tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(found.values[3])


@pytest.mark.parametrize("values", [np.array([True, False]), np.array([[1], [0]]), [1.0, 0.0]])
def test_arrays_of_two_values(values: Any) -> None:
    found = read_outcome("y", values)
    assert found.kind == "binary"
    assert found.values.tolist() == [1.0, 0.0]


def test_categories_of_pandas_are_classes() -> None:
    column = pd.Series(pd.Categorical(["b", "a", None, "b"], categories=["b", "a", "unused"]))
    found = read_outcome("y", native_series(column))
    assert found.kind == "binary"
    assert found.classes == ("a", "b")
    assert found.values[[0, 1, 3]].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", KINDS)
def test_three_texts_are_classes_and_three_numbers_are_ordered(kind: str) -> None:
    texts = read_outcome("y", native_series(KINDS[kind](["b", "c", "a", None, "b"])))
    assert texts.kind == "classes"
    assert texts.classes == ("a", "b", "c")
    assert texts.values[[0, 1, 2, 4]].tolist() == [1.0, 2.0, 0.0, 1.0]
    numbers = read_outcome("y", native_series(KINDS[kind]([5, 1, 3, None, 1])))
    assert numbers.kind == "number"
    assert numbers.classes == ()
    assert numbers.values[[0, 1, 2, 4]].tolist() == [5.0, 1.0, 3.0, 1.0]
    assert np.isnan(numbers.values[3])
    assert np.isnan(texts.values[3])


def test_unknown_values_of_an_outcome_are_missing() -> None:
    found = read_outcome("y", pd.Series(["yes", "?", "no"]).to_numpy(), ["?"])
    assert found.classes == ("no", "yes")
    assert np.isnan(found.values[1])


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([1, 1, 1], "outcome 'y' has 1 different values; expected at least two"),
        ([None, None], "outcome 'y' has 0 different values"),
        (np.zeros((3, 2)), "y: an array of 2 dimensions; expected one value per row"),
        ([f"t{index}" for index in range(51)], "51 different values that are not numbers"),
    ],
)
def test_what_cannot_be_an_outcome(values: Any, match: str) -> None:
    with pytest.raises(OutcomeError, match=match):
        read_outcome("y", values)


def test_fifty_classes_are_not_too_many() -> None:
    assert len(read_outcome("y", [f"t{index}" for index in range(50)]).classes) == 50


def test_a_copy_of_the_outcome_is_found() -> None:
    truth = np.array([0.0, 1.0, 1.0, 0.0])
    assert is_copy(1 - truth, truth)
    assert is_copy(truth * 5, truth)
    assert not is_copy(np.array([0.0, 1.0, 0.0, 0.0]), truth)
    assert not is_copy(np.arange(4.0), truth)
    assert not is_copy(np.array([0.0, 1.0, NAN, 0.0]), truth)
    assert not is_copy(np.ones(4), truth)


# --- trees ---


def test_the_score_orders_rows_by_their_chance() -> None:
    truth = (CHANCE + RANDOM.logistic(size=1_500) > 0).astype(float)
    scores = trees(outcome(truth)).scores(ROWS, COLUMNS)
    assert scores.shape == (1_500, 1)
    assert stats.spearmanr(scores[:, 0], CHANCE)[0] > 0.8


def test_a_numeric_outcome_is_learned_by_its_ranks() -> None:
    # Ranks do not change if the numbers are stretched, so neither do the trees.
    values = CHANCE + RANDOM.normal(size=1_500)
    plain = trees(outcome(values, "number")).scores(ROWS, COLUMNS)
    stretched = trees(outcome(np.exp(3 * values), "number")).scores(ROWS, COLUMNS)
    assert stretched.tolist() == plain.tolist()
    assert stats.spearmanr(plain[:, 0], CHANCE)[0] > 0.8


def test_each_class_and_each_outcome_has_a_score() -> None:
    classes = outcome(CODES, "classes", ("u", "v", "w"))
    binary = outcome(CHANCE > 0)
    scores = trees(classes, binary).scores(ROWS, COLUMNS)
    assert scores.shape == (1_500, 4)
    for code in range(3):
        assert np.all(scores[np.equal(CODES, code), :3].argmax(axis=1) == code)


def test_rows_whose_outcome_is_missing_are_not_learned_from() -> None:
    truth = (CHANCE > 0).astype(float)
    unknown = np.arange(1_500) >= 1_000
    with_gaps = trees(outcome(np.where(unknown, NAN, truth)))
    alone = fit_trees(
        [column[:1_000] for column in COLUMNS], TYPES, outcomes=[outcome(truth[:1_000])], seed=0
    )
    assert with_gaps.models == alone.models


def test_too_few_rows_with_an_outcome() -> None:
    truth = np.full(1_500, NAN)
    truth[:9] = [0, 1, 0, 1, 0, 1, 0, 1, 0]
    with pytest.raises(OutcomeError, match="9 of the rows that its score is learned on, with 2"):
        trees(outcome(truth))
    truth[:30] = 1
    with pytest.raises(OutcomeError, match="30 of the rows that its score is learned on, with 1"):
        trees(outcome(truth))


def test_a_model_of_text_gives_the_same_bits_after_pickle_and_on_any_thread() -> None:
    fitted = trees(outcome(CHANCE > 0))
    scores = fitted.scores(ROWS, COLUMNS)
    copy = pickle.loads(pickle.dumps(fitted))
    assert "tree_scores" not in copy.__dict__
    assert copy.scores(ROWS, COLUMNS).tolist() == scores.tolist()
    from_text = TreeGuide(models=(str(fitted.models[0]),))
    assert from_text.scores(ROWS, COLUMNS).tolist() == scores.tolist()
    matrix = np.stack(COLUMNS, axis=1)
    for threads in (1, 2):
        booster = lightgbm.Booster(model_str=fitted.models[0])
        again = booster.predict(matrix, raw_score=True, num_threads=threads)
        assert again.tolist() == scores[:, 0].tolist()


def test_a_row_has_the_same_score_alone() -> None:
    fitted = trees(outcome(CHANCE > 0))
    scores = fitted.scores(ROWS, COLUMNS)
    one = fitted.scores(rows_of(np.zeros((1, 2))), [column[7:8] for column in COLUMNS])
    assert one.tolist() == scores[7:8].tolist()


def test_trees_are_the_same_on_one_thread_or_two() -> None:
    # Few rounds, because threads wait on a busy machine.
    alone = trees(outcome(CHANCE > 0), rounds=20)
    together = trees(outcome(CHANCE > 0), rounds=20, threads=2)
    without = [model.partition("\nparameters:")[0] for model in (*alone.models, *together.models)]
    assert without[0] == without[1]


def test_the_same_seed_makes_the_same_trees() -> None:
    truth = outcome(CHANCE > 0)
    assert trees(truth).models == trees(truth).models
    assert trees(truth, seed=1).models != trees(truth).models
    # LightGBM has seeds of 31 bits, a repair of 64.
    assert trees(truth, seed=2**64 - 1).models


def test_trees_grow_with_the_rows() -> None:
    leaves = [sizes(rows)["num_leaves"] for rows in (10, 5_000, 5_001, 50_001)]
    assert leaves == [8, 8, 15, 31]
    assert sizes(10)["min_data_in_leaf"] == 1
    assert sizes(10_000)["min_data_in_leaf"] == 20
    # LightGBM's 100 rows to a set of categories from 3,000 rows on.
    assert [sizes(rows)["min_data_per_group"] for rows in (10, 300, 3_000, 10**6)] == [
        5,
        10,
        100,
        100,
    ]
    assert [sizes(rows)["cat_smooth"] for rows in (2_000, 2_001)] == [10.0, 30.0]
    assert threads_for(1_000) == 1
    assert threads_for(10**6) == 0


def test_few_rows_learn_from_categories() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 8, (2_000, 4)).astype(np.float64)
    chance = 1 / (1 + np.exp(-np.sin(codes).sum(axis=1)))
    truth = (random.random(2_000) < chance).astype(np.float64)
    types = [
        ColumnType(name=f"c{index}", kind="category", categories=tuple("abcdefgh"))
        for index in range(4)
    ]
    outcome = Outcome(name="y", kind="binary", values=truth[:200], classes=(0, 1))
    guide = fit_trees(list(codes[:200].T), types, outcomes=[outcome], seed=0)
    score = guide.scores(None, list(codes[200:].T))[:, 0]
    # At least half of what the chance itself has above a constant.
    kept, most = (roc_auc_score(truth[200:], values) - 0.5 for values in (score, chance[200:]))
    assert kept > most / 2


# --- estimators ---


def test_a_given_classifier_scores_by_its_decision() -> None:
    values = np.column_stack([FIRST, CODES])
    fitted = LogisticRegression().fit(values, CHANCE > 0)
    rows = rows_of(values)
    scores = EstimatorGuide(estimator=fitted, names=(0, 1)).scores(rows, [FIRST, CODES])
    assert scores[:, 0] == pytest.approx(fitted.decision_function(values))


def test_a_given_classifier_of_three_classes_has_three_scores() -> None:
    values = FIRST[:, None]
    fitted = LogisticRegression().fit(values, CODES)
    scores = EstimatorGuide(estimator=fitted, names=(0,)).scores(rows_of(values), [FIRST])
    assert scores.shape == (1_500, 3)


def test_a_given_regression_sees_the_named_columns_of_a_dataframe() -> None:
    frame = pd.DataFrame({"other": 0.0, "c": CODES, "x": FIRST})
    target = 3 * FIRST - 2 * CODES + 1
    fitted = LinearRegression().fit(frame[["x", "c"]], target)
    scores = EstimatorGuide(estimator=fitted, names=("x", "c")).scores(
        rows_of(frame), [FIRST, CODES]
    )
    assert scores[:, 0] == pytest.approx(target)


class Probabilities:
    def predict_proba(self, table: Any) -> Any:
        return np.column_stack([1 - table[:, 0], table[:, 0]])


def test_of_two_probabilities_the_second_is_the_score() -> None:
    shares = np.linspace(0, 1, 5)
    guide = EstimatorGuide(estimator=Probabilities(), names=(0,))
    assert guide.scores(rows_of(shares[:, None]), [shares])[:, 0].tolist() == shares.tolist()


def test_what_is_no_estimator() -> None:
    guide = EstimatorGuide(estimator=object(), names=(0,))
    with pytest.raises(OptionError, match=r"guide=.*expected a fitted estimator with"):
        guide.scores(ROWS, COLUMNS)


def test_a_score_that_is_missing_is_an_error() -> None:
    guide = EstimatorGuide(estimator=Probabilities(), names=(0,))
    with pytest.raises(OptionError, match="some of its scores are missing"):
        guide.scores(rows_of(np.array([[NAN], [1.0]])), [np.array([NAN, 1.0])])


# --- no outcome ---


def test_without_an_outcome_the_columns_are_the_scores() -> None:
    numbers = np.array([3.0, NAN, 1.0, 2.0])
    codes = np.array([0.0, 2.0, 2.0, NAN])  # w is the most frequent category, then u
    guide = fit_column_guide([numbers, codes], TYPES)
    assert guide.orders == ((), (1.0, 2.0, 0.0))
    scores = guide.scores(rows_of(np.zeros((4, 2))), [numbers, codes])
    assert scores[:, 0].tolist() == [3.0, LOWEST, 1.0, 2.0]
    assert scores[:, 1].tolist() == [1.0, 0.0, 0.0, LOWEST]
