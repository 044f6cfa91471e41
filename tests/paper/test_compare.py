"""The rows of the comparison: which methods run how often, and their figures by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from curves import curve, point

import fourfifths
from fourfifths._paper.compare import comparison_rows, sweep_samples
from fourfifths._paper.experiments import ADULT, Settings, experiments
from fourfifths._paper.others import Method

SETTINGS = Settings(amounts=(0.0, 1.0), repeats=2, n_jobs=1, cells=Path())


def test_adults_samples_are_its_split_scaled_by_the_training_rows():
    ((train, test),) = sweep_samples(experiments()["adult"], repeats=5)
    assert (train.selected.size, test.selected.size) == (32_561, 16_281)  # UCI's own split
    assert (train.selected.sum(), train.is_reference.sum()) == (7_841, 21_790)
    np.testing.assert_array_equal(train.values.min(axis=0), 0)
    np.testing.assert_array_equal(train.values.max(axis=0), 1)
    age = fourfifths.datasets.load("adult").table.filter("split = 'test'").df()["age"]
    assert ADULT[0] == "age"
    np.testing.assert_allclose(test.values[:, 0], (age - 17) / (90 - 17))


def test_germans_samples_are_two_thirds_and_a_third_with_the_older_as_reference():
    samples = sweep_samples(experiments()["german"], repeats=3)
    assert len(samples) == 3
    for train, test in samples:
        assert (train.selected.size, test.selected.size) == (666, 334)
        # 810 of 1,000 are 26 or older, 700 have good credit; splits keep these shares.
        assert train.is_reference.sum() == pytest.approx(0.81 * 666, abs=1)
        assert test.selected.sum() == pytest.approx(0.7 * 334, abs=1)


def men(train, test, random_state):
    """Select the reference."""
    return test.is_reference


def coin(train, test, random_state):
    """Select at random."""
    return np.random.default_rng(random_state).random(test.selected.size) < 0.5


def test_a_method_that_draws_runs_with_every_seed_and_others_once():
    methods = {"fixed": Method(predict=men), "drawn": Method(predict=coin, draws=True)}
    sweep = curve([point("SVM", "geometric", 0.5, parity=0.9, accuracy=0.8)])
    repair, *others = comparison_rows({"adult": sweep}, SETTINGS, seeds=3, methods=methods)
    assert (repair["model"], repair["parity"], repair["accuracy"]) == ("SVM", 0.9, 0.8)
    assert [(row["sweep"], row["method"], row["seed"]) for row in others] == [
        ("adult", "fixed", 0),
        ("adult", "drawn", 0),
        ("adult", "drawn", 1),
        ("adult", "drawn", 2),
    ]
    assert {row["model"] for row in others} == {"other method"}
    assert len({(row["parity"], row["accuracy"]) for row in others}) == 4
    # All men and no women: parity 1 - (1 - 0). Right are men with high income and women without.
    assert others[0]["parity"] == 0
    assert others[0]["accuracy"] == pytest.approx(
        fourfifths.datasets.load("adult")
        .table.filter("split = 'test'")
        .aggregate("avg(((sex = 'Male') = (income = '>50K'))::INT)")
        .fetchall()[0][0]
    )


def test_on_german_a_row_is_over_all_splits():
    sweep = curve([point("SVM", "geometric", 0.5)])
    rows = comparison_rows({"german": sweep}, SETTINGS, methods={"fixed": Method(predict=men)})
    assert [(row["sweep"], row["method"], row["parity"]) for row in rows[1:]] == [
        ("german", "fixed", 0)
    ]
    # 590 of the 810 older have good credit, and 80 of the 190 younger bad: (590 + 80) / 1,000.
    assert rows[1]["accuracy"] == pytest.approx(0.67, abs=0.005)
