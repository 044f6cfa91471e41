"""The paper's models against scikit-learn, and the choice of models by name."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from curves import applicants
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from fourfifths._paper.experiments import experiments
from fourfifths._tables.types import to_numbers
from fourfifths._tradeoff.models import PENALTIES, PaperModel, chosen_models, tuning_errors
from fourfifths.errors import OptionError

TABLE = applicants()
VALUES = TABLE[["score", "noise"]].to_numpy()
HIRED = (TABLE["hired"] == "yes").to_numpy()
NUMERIC = [False, False]


def svm(penalty: float) -> LinearSVC:
    return LinearSVC(loss="squared_hinge", dual=False, class_weight="balanced", C=penalty)


def logistic(penalty: float) -> LogisticRegression:
    return LogisticRegression(solver="liblinear", class_weight="balanced", C=penalty)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LR", "SVM"])
@pytest.mark.parametrize("sweep", ["german", "adult"])
def test_every_c_converges_on_the_papers_data(name: Any, sweep: str) -> None:
    data = experiments()[sweep].data()
    columns = [to_numbers(data.frame[column.name], column) for column in data.column_types]
    model = PaperModel(name, [False] * len(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(np.column_stack(columns), data.selected)
    assert len(model.errors_) == 13


@pytest.mark.slow
@pytest.mark.parametrize(("name", "classifier"), [("LR", logistic), ("SVM", svm)])
def test_c_is_the_one_with_the_least_balanced_error_out_of_fold(name: Any, classifier: Any) -> None:
    model = PaperModel(name, NUMERIC).fit(VALUES, HIRED)
    scaled = MinMaxScaler().fit_transform(VALUES)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    errors = [
        1
        - balanced_accuracy_score(HIRED, cross_val_predict(classifier(c), scaled, HIRED, cv=folds))
        for c in PENALTIES
    ]
    assert PENALTIES[np.argmin(errors)] == model.classifier_.C
    np.testing.assert_allclose(np.array(model.errors_) / 2, errors)
    expected = classifier(model.classifier_.C).fit(scaled, HIRED).predict(scaled)
    np.testing.assert_array_equal(model.predict(VALUES), expected)


def test_naive_bayes_has_equal_priors_and_scores_by_its_log_odds() -> None:
    peer = make_pipeline(MinMaxScaler(), GaussianNB(priors=[0.5, 0.5])).fit(VALUES, HIRED)
    model = PaperModel("GNB", NUMERIC).fit(VALUES, HIRED)
    np.testing.assert_array_equal(model.predict(VALUES), peer.predict(VALUES))
    np.testing.assert_array_equal(model.decision_function(VALUES) > 0, peer.predict(VALUES))
    assert roc_auc_score(HIRED, model.decision_function(VALUES)) == pytest.approx(
        roc_auc_score(HIRED, peer.predict_proba(VALUES)[:, 1]), abs=1e-3
    )
    assert model.errors_ == []


def test_the_svm_minimises_the_squared_hinge_loss() -> None:
    # The gradient of |w|^2 / 2 + C sum n / (2 n_j) max(0, 1 - y f)^2 is 0 at the fit. Liblinear
    # counts the intercept among the weights.
    model = PaperModel("SVM", NUMERIC).fit(VALUES, HIRED)
    machine = model.classifier_
    rows = np.column_stack([MinMaxScaler().fit_transform(VALUES), np.ones(HIRED.size)])
    weights = np.append(machine.coef_, machine.intercept_)
    sign = np.where(HIRED, 1, -1)
    class_weight = HIRED.size / 2 / np.where(HIRED, HIRED.sum(), (~HIRED).sum())
    slack = np.maximum(0, 1 - sign * (rows @ weights))
    gradient = weights - 2 * machine.C * rows.T @ (class_weight * sign * slack)
    assert np.abs(gradient).max() < 1e-3 * machine.C * HIRED.size


@pytest.mark.slow
def test_categories_are_one_hot_encoded() -> None:
    # The middle code is selected: no line through the codes 0, 1, 2 can separate it.
    codes = np.tile([0.0, 1.0, 2.0], 40)[:, None]
    selected = codes[:, 0] == 1
    assert np.all(PaperModel("LR", [True]).fit(codes, selected).predict(codes) == selected)
    assert np.any(PaperModel("LR", [False]).fit(codes, selected).predict(codes) != selected)


def test_the_papers_three_are_the_default() -> None:
    models = chosen_models(None, NUMERIC, random_state=7)
    assert list(models) == ["LR", "SVM", "GNB"]
    assert [model.get_params() for model in models.values()] == [
        {"name": name, "is_category": (False, False), "random_state": 7} for name in models
    ]


def test_a_name_and_a_classifier_may_be_mixed() -> None:
    mine = LogisticRegression()
    models = chosen_models({"GNB": None, "mine": mine}, NUMERIC, random_state=0)
    assert isinstance(models["GNB"], PaperModel)
    assert models["mine"] is mine
    assert list(chosen_models("SVM", NUMERIC, random_state=0)) == ["SVM"]


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            ["LDA"],
            "models: 'LDA' is not one of 'LR', 'SVM', 'GNB'; pass your own classifiers",
        ),
        (["lr"], r"models: 'lr' is not one of 'LR', 'SVM', 'GNB'; did you mean 'LR'\?"),
        ([], "models: name at least one; expected some of 'LR', 'SVM', 'GNB'"),
        ({"mine": 3}, "models: 'mine' is 3; expected a scikit-learn classifier with fit and pred"),
        ({"mine": GaussianNB}, "models: 'mine' is <class .*; expected a scikit-learn classifier"),
    ],
)
def test_what_is_no_model_is_named(models: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        chosen_models(models, NUMERIC, random_state=0)


@pytest.mark.slow
def test_tuning_errors_are_those_of_cross_validation() -> None:
    scaled = MinMaxScaler().fit_transform(VALUES)
    errors = tuning_errors(logistic(1), scaled, HIRED, random_state=5)
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    for penalty, error in zip(PENALTIES, errors, strict=True):
        predicted = cross_val_predict(logistic(penalty), scaled, HIRED, cv=folds)
        assert error == pytest.approx(2 - 2 * balanced_accuracy_score(HIRED, predicted))
