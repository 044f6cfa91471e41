"""Other methods: which are run, what they predict, and what they leave behind."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import fourfifths
from fourfifths._paper import others
from fourfifths._paper.others import METHODS, Method, Sample, isolated, missing, other_methods

PLAIN = "logistic regression"
OF_AIF360 = ["reweighing", "learned fair representations"]
OF_FAIRLEARN = ["correlation remover", "exponentiated gradient"]
ADULT = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


def sample(seed, rows):
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


def parity(predicted, is_reference):
    return 1 - (predicted[is_reference].mean() - predicted[~is_reference].mean())


@pytest.fixture(scope="module")
def runs():
    """Run every method with seeds 7, 7 and 8."""
    pytest.importorskip("aif360")
    pytest.importorskip("fairlearn")
    # Ten steps are enough for the seeds to differ.
    few_steps = partial(others.learned_fair_representations, loss_evaluations=300)
    name = "learned fair representations"
    methods = {**METHODS, name: replace(METHODS[name], predict=few_steps)}
    return [
        dict(other_methods(TRAIN, TEST, random_state=seed, methods=methods)) for seed in (7, 7, 8)
    ]


def test_without_the_libraries_there_is_plain_logistic_regression_only(monkeypatch):
    for name in ("aif360", "fairlearn"):
        monkeypatch.setitem(sys.modules, name, None)
    assert missing() == ("aif360", "fairlearn")
    ((name, predicted),) = other_methods(TRAIN, TEST, random_state=0)
    assert name == PLAIN
    assert predicted.shape == (2_000,)
    assert predicted.dtype == np.bool_
    assert np.mean(predicted == TEST.selected) > 0.85


@pytest.mark.parametrize(
    ("absent", "left"), [("fairlearn", [PLAIN, *OF_AIF360]), ("aif360", [PLAIN, *OF_FAIRLEARN])]
)
def test_one_library_is_enough_for_its_own_methods(absent, left):
    fitted = {
        name: replace(method, predict=lambda *_: TEST.selected) for name, method in METHODS.items()
    }
    run = other_methods(TRAIN, TEST, random_state=0, methods=fitted, absent=[absent])
    assert [name for name, _ in run] == left


def test_with_the_libraries_every_method_predicts_every_row(runs):
    assert missing() == ()
    assert list(runs[0]) == [PLAIN, *OF_AIF360, *OF_FAIRLEARN]
    for predicted in runs[0].values():
        assert predicted.shape == (2_000,)
        assert predicted.dtype == np.bool_
        assert np.mean(predicted == TEST.selected) > 0.6


def test_what_a_method_equalizes_is_more_equal_than_without_it(runs):
    parities = {name: parity(predicted, TEST.is_reference) for name, predicted in runs[0].items()}
    assert parities["reweighing"] > parities[PLAIN] + 0.05
    assert parities["correlation remover"] == pytest.approx(1, abs=0.05)
    assert parities["exponentiated gradient"] == pytest.approx(1, abs=0.05)


def test_the_seed_alone_decides(runs):
    first, again, other = runs
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    different = {name for name in first if np.any(first[name] != other[name])}
    assert different == {"learned fair representations", "exponentiated gradient"}
    assert different == {name for name, method in METHODS.items() if method.draws}


def test_the_reference_is_the_privileged_group_and_selected_the_favorable_label():
    pytest.importorskip("aif360")
    from aif360.algorithms.preprocessing import Reweighing

    weighting = Reweighing(**others.GROUPS).fit(others.aif360_dataset(TRAIN))
    both = np.mean(TRAIN.is_reference & TRAIN.selected)
    expected = TRAIN.is_reference.mean() * TRAIN.selected.mean() / both
    assert weighting.w_p_fav == pytest.approx(expected)
    assert weighting.w_p_fav < 1 < weighting.w_up_fav


def test_rows_are_drawn_only_where_there_are_too_many():
    assert others.drawn_rows(TRAIN, 0) is TRAIN
    drawn, again, other = (others.drawn_rows(TRAIN, seed, max_rows=100) for seed in (0, 0, 1))
    assert drawn.values.shape == (100, 2)
    assert len(np.unique(drawn.values, axis=0)) == 100
    np.testing.assert_array_equal(drawn.values, again.values)
    assert np.any(drawn.values != other.values)


def test_nothing_is_said_and_nothing_is_left_changed(caplog, capfd):
    """Whatever a method does to the process: aif360 logs, warns and seeds numpy."""

    def rude(train, test, random_state):
        np.random.seed(random_state)  # noqa: NPY002
        logging.warning("no tensorflow")
        np.float64(1) / np.float64(0)
        return test.selected

    methods = {"rude": Method(library="sklearn", predict=rude)}
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    dict(other_methods(TRAIN, TEST, random_state=0, methods=methods))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert logging.root.manager.disable == logging.NOTSET
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_on_adult_every_method_has_more_parity_than_plain_logistic_regression():
    pytest.importorskip("aif360")
    pytest.importorskip("fairlearn")
    frame = fourfifths.datasets.load("adult").table.df()
    is_train = (frame["split"] == "train").to_numpy()
    values = frame[ADULT].to_numpy(dtype=np.float64)
    values = (values - values[is_train].min(axis=0)) / np.ptp(values[is_train], axis=0)
    columns = values, (frame["income"] == ">50K").to_numpy(), (frame["sex"] == "Male").to_numpy()
    train, test = (
        Sample(values=x[rows], selected=y[rows], is_reference=z[rows])
        for x, y, z in [columns]
        for rows in (is_train, ~is_train)
    )
    predicted = dict(other_methods(train, test, random_state=0))
    parities = {name: parity(rows, test.is_reference) for name, rows in predicted.items()}
    accuracy = {name: np.mean(rows == test.selected) for name, rows in predicted.items()}
    assert all(parities[name] > parities[PLAIN] for name in (*OF_AIF360, *OF_FAIRLEARN)), parities
    assert min(accuracy.values()) > 1 - test.selected.mean(), accuracy  # than to select no one


def test_a_method_that_fails_leaves_the_process_as_it_was():
    def fail():
        assert logging.root.manager.disable == logging.WARNING
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
        np.random.seed(1)  # noqa: NPY002
        raise RuntimeError("no convergence")

    before = np.random.get_state()[1].copy()  # noqa: NPY002
    with pytest.raises(RuntimeError, match="no convergence"), isolated():
        fail()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert logging.root.manager.disable == logging.NOTSET
