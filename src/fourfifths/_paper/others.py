"""Other methods that the paper's repairs are compared with, run on the same rows.

The paper compares with four, whose numbers it takes from Zemel and others: logistic regression,
fair naive Bayes, regularized logistic regression, and learned fair representations. Three later
ones are added. All are written here from their papers, with the settings said in each: so every
comparison runs on the same rows, and on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit, softmax, xlogy
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._paper.experiments import MAX_ITER

# The settings of aif360's example of learned fair representations.
PROTOTYPES = 10
RECONSTRUCTION_WEIGHT, PREDICTION_WEIGHT, PARITY_WEIGHT = 0.1, 1.0, 2.0
REPRESENTATION_STEPS = 150
MAX_REPRESENTATION_ROWS = 10_000
MIN_PROBABILITY = 1e-6
# The limits and the length of a step are fairlearn's.
RATE_DIFFERENCE = 0.01
MAX_MULTIPLIER = 1 / RATE_DIFFERENCE
GRADIENT_STEP = 2.0
GRADIENT_STEPS = 20
PREJUDICE_PENALTIES = (1, 10, 100)  # eta; 1 is the default of aif360


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows to learn from, or to predict.

    Attributes
    ----------
    values : array of float, rows x columns
        The features, without the protected attribute, scaled to [0, 1].
    selected : array of bool
        Whether each row has the favorable outcome.
    is_reference : array of bool
        Whether each row belongs to the reference group.
    """

    values: FloatArray
    selected: BoolArray
    is_reference: BoolArray


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method, and how it is run.

    Attributes
    ----------
    predict : callable
        From training rows, test rows and a seed to the test rows that are selected.
    is_of_paper : bool
        Whether the paper compares with it.
    draws : bool
        Whether the result depends on the seed.
    """

    predict: Callable[[Sample, Sample, int], BoolArray]
    is_of_paper: bool = False
    draws: bool = False


# --- the paper's four ---


def plain_logistic(train: Sample, test: Sample, _: int) -> BoolArray:
    """Predict by logistic regression, every row with the same weight."""
    return _logistic(train.values, train.selected, test_values=test.values)


def fair_naive_bayes(train: Sample, test: Sample, _: int) -> BoolArray:
    """Predict by naive Bayes from labels that were changed (Kamiran and Calders, 2009).

    Naive Bayes ranks the training rows. The best rows of the group that were not selected and as
    many of the worst rows of the reference that were selected change their labels, so that both
    groups have the same selection rate; then naive Bayes is fitted to these labels.
    """
    ranker = GaussianNB().fit(train.values, train.selected)
    score = np.diff(ranker.predict_joint_log_proba(train.values)).ravel()
    labels = massaged(train.selected, train.is_reference, score=score)
    return np.asarray(GaussianNB().fit(train.values, labels).predict(test.values), dtype=np.bool_)


def massaged(selected: BoolArray, is_reference: BoolArray, *, score: FloatArray) -> BoolArray:
    """Return labels with equal selection rates: the group's best and the others' worst change.

    If the group is selected more often already, nothing is changed.

    Examples
    --------
    >>> selected = np.array([True, True, True, False, True, False, False, False])
    >>> is_reference = np.repeat([True, False], 4)
    >>> score = np.array([3.0, 1, 2, 0, 3, 2, 1, 0])
    >>> np.flatnonzero(massaged(selected, is_reference, score=score) != selected)
    array([1, 5])
    """
    # After m changes on either side, (s_g + m) / n_g = (s_r - m) / n_r.
    group_rows, reference_rows = (~is_reference).sum(), is_reference.sum()
    excess = (
        selected[is_reference].sum() * group_rows - selected[~is_reference].sum() * reference_rows
    )
    changes = max(0, round(float(excess / selected.size)))
    labels = selected.copy()
    order = np.argsort(score, kind="stable")
    candidates = order[(~selected & ~is_reference)[order]]
    labels[candidates[candidates.size - changes :]] = True
    labels[order[(selected & is_reference)[order]][:changes]] = False
    return labels


def regularized_logistic(train: Sample, test: Sample, _: int, *, eta: float) -> BoolArray:
    """Predict by logistic regression with a prejudice remover (Kamishima and others, 2011).

    Each group has its own coefficients. Their squares are penalized by 1/2, and the mutual
    information of prediction and group by eta. A test row is predicted with its group's
    coefficients.
    """
    values, test_values = (
        np.column_stack([np.ones(sample.selected.size), sample.values]) for sample in (train, test)
    )
    column_count = values.shape[1]
    fitted = minimize(
        prejudice_loss,
        np.zeros(2 * column_count),
        args=(values, train.selected, train.is_reference, eta),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITER},
    )
    coefficients = fitted.x.reshape(2, column_count)[test.is_reference.astype(np.int64)]
    return np.asarray(np.sum(test_values * coefficients, axis=1) > 0)


def prejudice_loss(
    parameters: FloatArray,
    values: FloatArray,
    selected: BoolArray,
    is_reference: BoolArray,
    eta: float,
) -> tuple[float, FloatArray]:
    """Return the loss of `regularized_logistic` and its gradient.

    With r_s the mean prediction in group s and r that of all rows, the mutual information is
    sum_s n_s KL(r_s, r). Its derivative by a prediction in s is logit(r_s) - logit(r): what comes
    through r cancels.
    """
    coefficients = parameters.reshape(2, -1)
    group = is_reference.astype(np.int64)
    score = np.sum(values * coefficients[group], axis=1)
    predicted = expit(score)
    log_loss = float(np.sum(np.logaddexp(0, score) - selected * score))
    counts = np.bincount(group, minlength=2)
    rates = np.bincount(group, weights=predicted, minlength=2) / counts
    rate = predicted.mean()
    information = float(
        np.sum(counts * (xlogy(rates, rates / rate) + xlogy(1 - rates, (1 - rates) / (1 - rate))))
    )
    by_group = np.log(rates / (1 - rates)) - np.log(rate / (1 - rate))
    by_score = predicted - selected + eta * by_group[group] * predicted * (1 - predicted)
    gradient = coefficients + np.stack([(by_score * (group == g)) @ values for g in (0, 1)])
    loss = log_loss + eta * information + float(np.sum(coefficients**2)) / 2
    return loss, gradient.ravel()


def learned_fair_representations(train: Sample, test: Sample, random_state: int) -> BoolArray:
    """Predict from prototypes that both groups resemble equally (Zemel and others, 2013).

    Ten prototypes, weights .1 of the reconstruction, 1 of the prediction and 2 of the parity,
    columns standardized, at most 150 steps from a random start, on at most 10,000 of the training
    rows, drawn at random. With columns in [0, 1] the rows lie so close together that hardly any row
    would be selected.
    """
    random = np.random.default_rng(random_state)
    if train.selected.size > MAX_REPRESENTATION_ROWS:
        rows = random.choice(train.selected.size, MAX_REPRESENTATION_ROWS, replace=False)
        train = Sample(
            values=train.values[rows],
            selected=train.selected[rows],
            is_reference=train.is_reference[rows],
        )
    center, scale = train.values.mean(axis=0), train.values.std(axis=0)
    scale[scale == 0] = 1
    values, test_values = ((sample.values - center) / scale for sample in (train, test))
    column_count = values.shape[1]
    start = np.concatenate(
        [
            random.normal(size=PROTOTYPES * column_count),
            random.random(PROTOTYPES),
            np.full(column_count, 1 / column_count),
        ]
    )
    bounds: list[tuple[float | None, float | None]] = [
        *[(None, None)] * (PROTOTYPES * column_count),
        *[(0, 1)] * PROTOTYPES,
        *[(0, None)] * column_count,
    ]
    fitted = minimize(
        representation_loss,
        start,
        args=(values, train.selected, train.is_reference),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": REPRESENTATION_STEPS},
    )
    prototypes, chances, importances = _representation(fitted.x, column_count)
    return np.asarray(_memberships(test_values, prototypes, importances) @ chances > 0.5)


def representation_loss(
    parameters: FloatArray, values: FloatArray, selected: BoolArray, is_reference: BoolArray
) -> tuple[float, FloatArray]:
    """Return the loss of `learned_fair_representations` and its gradient."""
    row_count, column_count = values.shape
    prototypes, chances, importances = _representation(parameters, column_count)
    members = _memberships(values, prototypes, importances)
    side = np.where(is_reference, 1 / is_reference.sum(), -1 / (~is_reference).sum())
    gap = side @ members
    residual = members @ prototypes - values
    chance = np.clip(members @ chances, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    loss = (
        PARITY_WEIGHT * np.abs(gap).sum()
        + RECONSTRUCTION_WEIGHT * np.sum(residual**2) / row_count
        - PREDICTION_WEIGHT * np.mean(np.log(np.where(selected, chance, 1 - chance)))
    )
    by_residual = 2 * RECONSTRUCTION_WEIGHT / row_count * residual
    by_chance = PREDICTION_WEIGHT / row_count * (chance - selected) / (chance * (1 - chance))
    by_member = (
        PARITY_WEIGHT * np.outer(side, np.sign(gap))
        + by_residual @ prototypes.T
        + np.outer(by_chance, chances)
    )
    # Through the softmax of the negative distances.
    by_distance = -members * (by_member - np.sum(members * by_member, axis=1, keepdims=True))
    crossed = by_distance.T @ values
    by_prototype = (
        2 * importances * (prototypes * by_distance.sum(axis=0)[:, None] - crossed)
        + members.T @ by_residual
    )
    by_importance = (
        by_distance.sum(axis=1) @ values**2
        - 2 * np.sum(crossed * prototypes, axis=0)
        + by_distance.sum(axis=0) @ prototypes**2
    )
    gradient = np.concatenate([by_prototype.ravel(), members.T @ by_chance, by_importance])
    return float(loss), gradient


def _representation(
    parameters: FloatArray, column_count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the prototypes, their chances of selection, and the columns' weights."""
    end = PROTOTYPES * column_count
    return (
        parameters[:end].reshape(PROTOTYPES, column_count),
        parameters[end : end + PROTOTYPES],
        parameters[end + PROTOTYPES :],
    )


def _memberships(values: FloatArray, prototypes: FloatArray, importances: FloatArray) -> FloatArray:
    """Return how much each row belongs to each prototype: softmax of the negative distances."""
    distances = (
        (values**2 @ importances)[:, None]
        - 2 * (values * importances) @ prototypes.T
        + prototypes**2 @ importances
    )
    return np.asarray(softmax(-distances, axis=1))


# --- later ones ---


def reweighing(train: Sample, test: Sample, _: int) -> BoolArray:
    """Weight the rows so that group and outcome are independent (Kamiran and Calders, 2012)."""
    weights = independence_weights(train.selected, train.is_reference)
    return _logistic(train.values, train.selected, test_values=test.values, weights=weights)


def independence_weights(selected: BoolArray, is_reference: BoolArray) -> FloatArray:
    """Return P(outcome) P(group) / P(outcome, group) for each row.

    Examples
    --------
    >>> selected = np.array([True, True, True, False])
    >>> independence_weights(selected, np.array([True, True, False, False])).tolist()
    [0.75, 0.75, 1.5, 0.5]
    """
    weights = np.empty(selected.size)
    for outcome, side in product((False, True), repeat=2):
        cell = (selected == outcome) & (is_reference == side)
        expected = np.mean(selected == outcome) * np.mean(is_reference == side)
        weights[cell] = expected / max(cell.mean(), 1 / selected.size)
    return weights


def correlation_remover(train: Sample, test: Sample, _: int) -> BoolArray:
    """Remove from each column what a linear model predicts from the group (fairlearn's method).

    A test row is treated by its group.
    """
    share = train.is_reference.mean()
    difference = train.values[train.is_reference].mean(axis=0) - train.values[
        ~train.is_reference
    ].mean(axis=0)
    values, test_values = (
        sample.values - np.outer(sample.is_reference - share, difference)
        for sample in (train, test)
    )
    return _logistic(values, train.selected, test_values=test_values)


def exponentiated_gradient(train: Sample, test: Sample, random_state: int) -> BoolArray:
    """Mix classifiers so that the groups' rates agree within 0.01 (Agarwal and others, 2018).

    A multiplier for each sign of the difference of rates grows while it is violated, and each of 20
    logistic regressions is fitted to the costs that the multipliers make. The mixture is the most
    accurate one of those 20 within the limit. Each test row is predicted by one of them, drawn at
    random.
    """
    side = np.where(
        train.is_reference, 1 / train.is_reference.sum(), -1 / (~train.is_reference).sum()
    )
    exponents = np.zeros(2)
    errors, gaps, predictions = [], [], []
    for _ in range(GRADIENT_STEPS):
        largest = exponents.max()
        grown = np.exp(exponents - largest)
        multipliers = MAX_MULTIPLIER * grown / (np.exp(-largest) + grown.sum())
        cost = (1 - 2 * train.selected) / train.selected.size
        cost = cost + (multipliers[0] - multipliers[1]) * side
        chosen, predicted = np.split(
            _logistic(
                train.values,
                cost < 0,
                test_values=np.vstack([train.values, test.values]),
                weights=np.abs(cost) / np.abs(cost).mean(),
            ),
            [train.selected.size],
        )
        gap = float(side @ chosen)
        exponents += GRADIENT_STEP / MAX_MULTIPLIER * np.array([gap, -gap])
        errors.append(float(np.mean(chosen != train.selected)))
        gaps.append(gap)
        predictions.append(predicted)
    shares = least_error_mixture(np.array(errors), np.array(gaps))
    drawn = np.random.default_rng(random_state).choice(
        GRADIENT_STEPS, size=test.selected.size, p=shares
    )
    return np.asarray(np.stack(predictions)[drawn, np.arange(test.selected.size)])


def least_error_mixture(errors: FloatArray, gaps: FloatArray) -> FloatArray:
    """Return the shares of the mixture with the least error whose difference of rates is small.

    A difference above 0.01 costs as much as the greatest multiplier allows.

    Examples
    --------
    >>> least_error_mixture(np.array([0.1, 0.2]), np.array([0.02, 0.0])).round(3)
    array([0.5, 0.5])
    """
    result = linprog(
        np.append(errors, MAX_MULTIPLIER),
        A_ub=np.array([[*gaps, -1], [*-gaps, -1]]),
        b_ub=[RATE_DIFFERENCE, RATE_DIFFERENCE],
        A_eq=[[*np.ones(errors.size), 0]],
        b_eq=[1],
    )
    shares = np.maximum(result.x[:-1], 0)
    return np.asarray(shares / shares.sum())


METHODS: Mapping[str, Method] = {
    "logistic regression": Method(predict=plain_logistic, is_of_paper=True),
    "fair naive Bayes": Method(predict=fair_naive_bayes, is_of_paper=True),
    **{
        f"regularized LR, eta {eta}": Method(
            predict=partial(regularized_logistic, eta=eta), is_of_paper=True
        )
        for eta in PREJUDICE_PENALTIES
    },
    "learned fair representations": Method(
        predict=learned_fair_representations, is_of_paper=True, draws=True
    ),
    "reweighing": Method(predict=reweighing),
    "correlation remover": Method(predict=correlation_remover),
    "exponentiated gradient": Method(predict=exponentiated_gradient, draws=True),
}


def predicted_by(method: Method, train: Sample, test: Sample, *, random_state: int) -> BoolArray:
    """Return which test rows a method selects; it is fitted on one thread.

    Where a method ends in a classifier, that is scikit-learn's logistic regression with its default
    settings, cut at one half. No method sees the outcome of a test row. Regularized logistic
    regression and the correlation remover see its group.

    Examples
    --------
    >>> values = np.linspace(0, 1, 8).reshape(8, 1)
    >>> sample = Sample(
    ...     values=values, selected=values[:, 0] > 0.5, is_reference=np.arange(8) % 2 == 1
    ... )
    >>> predicted_by(METHODS["logistic regression"], sample, sample, random_state=0).sum()
    np.int64(4)
    """
    with threadpool_limits(1):
        return method.predict(train, test, random_state)


def _logistic(
    values: FloatArray,
    selected: BoolArray,
    *,
    test_values: FloatArray,
    weights: FloatArray | None = None,
) -> BoolArray:
    if selected.all() or not selected.any():  # there is nothing to tell apart
        return np.full(len(test_values), bool(selected[0]))
    model = LogisticRegression(max_iter=MAX_ITER)
    model.fit(values, selected, sample_weight=weights)
    return np.asarray(model.predict(test_values), dtype=np.bool_)
