"""The rows of the comparison: which methods run how often, and their figures by hand."""

from __future__ import annotations

import numpy as np
import pytest
from curves import curve, point

import fourfifths
from fourfifths._paper.compare import adult_samples, comparison_rows
from fourfifths._paper.experiments import ADULT
from fourfifths._paper.others import Method


def test_adults_samples_are_its_split_scaled_by_the_training_rows():
    train, test = adult_samples()
    assert (train.selected.size, test.selected.size) == (32_561, 16_281)  # UCI's own split
    assert (train.selected.sum(), train.is_reference.sum()) == (7_841, 21_790)
    np.testing.assert_array_equal(train.values.min(axis=0), 0)
    np.testing.assert_array_equal(train.values.max(axis=0), 1)
    age = fourfifths.datasets.load("adult").table.filter("split = 'test'").df()["age"]
    assert ADULT[0] == "age"
    np.testing.assert_allclose(test.values[:, 0], (age - 17) / (90 - 17))


def test_a_method_that_draws_runs_with_every_seed_and_others_once():
    seeds = {"fixed": [], "drawn": []}

    def method(name, *, draws):
        def predict(train, test, random_state):
            seeds[name].append(random_state)
            return test.is_reference  # selects the men

        return Method(library="sklearn", predict=predict, draws=draws)

    methods = {"fixed": method("fixed", draws=False), "drawn": method("drawn", draws=True)}
    sweep = curve([point("SVM", "geometric", 0.5, parity=0.9, accuracy=0.8)])
    repair, *others = comparison_rows({"adult": sweep}, seeds=3, methods=methods)
    assert seeds == {"fixed": [0], "drawn": [0, 1, 2]}
    assert (repair["model"], repair["parity"], repair["accuracy"]) == ("SVM", 0.9, 0.8)
    assert [(row["method"], row["seed"]) for row in others] == [
        ("fixed", 0),
        ("drawn", 0),
        ("drawn", 1),
        ("drawn", 2),
    ]
    assert {row["model"] for row in others} == {"other method"}
    # All men and no women: parity 1 - (1 - 0). Right are men with high income and women without.
    assert others[0]["parity"] == 0
    assert others[0]["accuracy"] == pytest.approx(
        fourfifths.datasets.load("adult")
        .table.filter("split = 'test'")
        .aggregate("avg(((sex = 'Male') = (income = '>50K'))::INT)")
        .fetchall()[0][0]
    )
