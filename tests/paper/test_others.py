"""Other methods against their definitions: by hand, by scipy, by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from fourfifths._arrays import BoolArray
from fourfifths._paper.others import (
    METHODS,
    Method,
    Sample,
    correlation_remover,
    exponentiated_gradient,
    independence_weights,
    learned_fair_representations,
    least_error_mixture,
    massaged,
    predicted_by,
    prejudice_loss,
    regularized_logistic,
    representation_loss,
)


def sample(seed: int, rows: int) -> Sample:
    """Draw rows whose first column gives the reference group away, and selects it."""
    rng = np.random.default_rng(seed)
    is_reference = rng.random(rows) < 0.6
    telling = np.clip(rng.normal(0.35 + 0.3 * is_reference, 0.15), 0, 1)
    other = rng.random(rows)
    selected = telling + 0.5 * other + rng.normal(0, 0.1, rows) > 0.8
    return Sample(
        values=np.column_stack([telling, other]), selected=selected, is_reference=is_reference
    )


TRAIN, TEST = sample(0, rows=600), sample(1, rows=2_000)


def parity(predicted: BoolArray) -> float:
    return float(1 - (predicted[TEST.is_reference].mean() - predicted[~TEST.is_reference].mean()))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_predicts_every_row(name: str) -> None:
    predicted = predicted_by(METHODS[name], TRAIN, TEST, random_state=0)
    assert predicted.shape == (2_000,)
    assert predicted.dtype == np.bool_
    assert np.mean(predicted == TEST.selected) > 0.6
    if name != "logistic regression":
        plain = predicted_by(METHODS["logistic regression"], TRAIN, TEST, random_state=0)
        # With eta 1 the penalty is small beside 600 rows, and each group has its own coefficients.
        tolerance = 0.05 if name == "regularized LR, eta 1" else 0
        assert parity(predicted) > parity(plain) - tolerance


def test_a_method_runs_on_one_thread() -> None:
    def predict(*_: Any) -> BoolArray:
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
        return TEST.selected

    predicted_by(Method(predict=predict), TRAIN, TEST, random_state=0)


def test_labels_change_until_the_rates_are_equal() -> None:
    # Reference: 6 of 8 selected, group: 1 of 4. m = (6 4 - 1 8) / 12 = 1.33, rounded to 1.
    is_reference = np.repeat([True, False], [8, 4])
    selected = np.array([True] * 6 + [False] * 2 + [True] + [False] * 3)
    score = np.array([6.0, 5, 4, 3, 2, 1, 9, 9, 0, 3, 8, 7])
    labels = massaged(selected, is_reference, score=score)
    assert np.flatnonzero(labels != selected).tolist() == [5, 10]
    # Already selected more often: nothing to change.
    assert massaged(selected, ~is_reference, score=score).tolist() == selected.tolist()


@pytest.mark.parametrize("eta", [0.0, 3.0])
def test_the_gradient_of_the_prejudice_remover_is_that_of_differences(eta: float) -> None:
    random = np.random.default_rng(0)
    values = np.column_stack([np.ones(600), TRAIN.values])
    point = random.normal(size=6)

    def loss(parameters: Any) -> float:
        return prejudice_loss(parameters, values, TRAIN.selected, TRAIN.is_reference, eta)[0]

    gradient = prejudice_loss(point, values, TRAIN.selected, TRAIN.is_reference, eta)[1]
    np.testing.assert_allclose(gradient, approx_fprime(point, loss, 1e-7), rtol=1e-4, atol=1e-3)


def test_the_prejudice_is_the_mutual_information_by_hand() -> None:
    # Coefficients 0 but for the intercepts: the reference is predicted with 3/4, the group with
    # 1/4, all rows with 1/2; 4 rows at KL(3/4, 1/2) = ln 2 - H(3/4).
    values = np.ones((4, 1))
    selected, is_reference = np.array([True, False] * 2), np.array([True, True, False, False])
    point = np.array([-np.log(3), np.log(3)])
    with_penalty, without = (
        prejudice_loss(point, values, selected, is_reference, eta)[0] for eta in (1.0, 0.0)
    )
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert with_penalty - without == pytest.approx(4 * (np.log(2) - entropy))


def test_without_a_penalty_each_group_has_its_own_logistic_regression() -> None:
    # Liblinear counts the intercept among the coefficients, as Kamishima's does.
    predicted = regularized_logistic(TRAIN, TEST, 0, eta=0.0)
    for side in (True, False):
        model = LogisticRegression(solver="liblinear", tol=1e-8)
        model.fit(
            TRAIN.values[TRAIN.is_reference == side], TRAIN.selected[TRAIN.is_reference == side]
        )
        expected = model.predict(TEST.values[TEST.is_reference == side])
        assert np.mean(predicted[TEST.is_reference == side] == expected) > 0.998


def test_a_larger_eta_makes_the_rates_more_equal() -> None:
    parities = [parity(regularized_logistic(TRAIN, TEST, 0, eta=eta)) for eta in (0, 1, 10, 100)]
    assert np.all(np.diff(np.abs(1 - np.array(parities))) < 0)


def test_the_gradient_of_fair_representations_is_that_of_differences() -> None:
    random = np.random.default_rng(0)
    point = np.concatenate([random.normal(size=20), random.random(10), random.random(2)])

    def loss(parameters: Any) -> float:
        return representation_loss(parameters, TRAIN.values, TRAIN.selected, TRAIN.is_reference)[0]

    gradient = representation_loss(point, TRAIN.values, TRAIN.selected, TRAIN.is_reference)[1]
    np.testing.assert_allclose(gradient, approx_fprime(point, loss, 1e-7), rtol=1e-4, atol=1e-5)


def test_the_loss_of_one_prototype_is_known() -> None:
    # All prototypes alike at 0 with chance 1/2: every row belongs to each by a tenth, so the gap is
    # 0, the reconstruction is the mean square, and the prediction costs ln 2.
    point = np.concatenate([np.zeros(20), np.full(10, 0.5), np.ones(2)])
    loss = representation_loss(point, TRAIN.values, TRAIN.selected, TRAIN.is_reference)[0]
    assert loss == pytest.approx(0.1 * np.mean(np.sum(TRAIN.values**2, axis=1)) + np.log(2))


@pytest.mark.slow
def test_only_methods_that_say_so_draw() -> None:
    for draws in (learned_fair_representations, exponentiated_gradient):
        first, again, other = (draws(TRAIN, TEST, seed) for seed in (7, 7, 8))
        np.testing.assert_array_equal(first, again)
        assert np.any(first != other)
    assert {name for name, method in METHODS.items() if method.draws} == {
        "learned fair representations",
        "exponentiated gradient",
    }


def test_weighted_rows_have_group_and_outcome_independent() -> None:
    weights = independence_weights(TRAIN.selected, TRAIN.is_reference)
    rate = np.average(TRAIN.selected, weights=weights)
    for side in (True, False):
        rows = TRAIN.is_reference == side
        assert np.average(TRAIN.selected[rows], weights=weights[rows]) == pytest.approx(rate)
    assert rate == pytest.approx(TRAIN.selected.mean())
    # P(selected) P(reference) / P(both), which is Kamiran and Calders' weight.
    both = TRAIN.selected & TRAIN.is_reference
    expected = TRAIN.selected.mean() * TRAIN.is_reference.mean() / both.mean()
    assert weights[both] == pytest.approx(expected)


def test_the_correlation_remover_leaves_no_correlation() -> None:
    # Columns that are the group itself become constants: nothing is left to predict from.
    telling = Sample(
        values=TRAIN.is_reference[:, None].astype(float),
        selected=TRAIN.selected,
        is_reference=TRAIN.is_reference,
    )
    predicted = correlation_remover(telling, telling, 0)
    assert np.unique(predicted).tolist() == [bool(TRAIN.selected.mean() > 0.5)]
    assert parity(correlation_remover(TRAIN, TEST, 0)) == pytest.approx(1, abs=0.05)


def test_the_mixture_of_least_error_is_within_a_hundredth() -> None:
    # Three classifiers: the fair one errs most. Half of the first and half of the third: gap .01.
    shares = least_error_mixture(np.array([0.1, 0.3, 0.2]), np.array([0.02, 0.0, 0.0]))
    np.testing.assert_allclose(shares, [0.5, 0, 0.5], atol=1e-9)
    # None is fair enough: the fairest is taken.
    shares = least_error_mixture(np.array([0.1, 0.2]), np.array([0.3, 0.2]))
    np.testing.assert_allclose(shares, [0, 1], atol=1e-9)


def test_exponentiated_gradient_equalizes_the_rates() -> None:
    assert parity(exponentiated_gradient(TRAIN, TEST, 0)) == pytest.approx(1, abs=0.06)
