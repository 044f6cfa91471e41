"""Samples, ties, and which pair is the worst."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths.errors import ColumnError, OptionError

QUICK = {"auditors": ["logistic"], "folds": 3}


def test_a_pooled_group_is_a_sample_whatever_the_order_of_the_table():
    # Pure noise, sorted by the feature: the first rows of a group are not like the rest of it.
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"x": np.sort(random.normal(size=20_000)), "g": random.choice(list("ABC"), 20_000)}
    )
    found = fourfifths.certify(
        table, protected="g", reference="A", beta=0.5, max_rows=2000, **QUICK
    )
    assert all(pair.verdict != "not certified" for pair in found.pairs)


def test_a_rule_on_two_values_tosses_a_coin():
    # 10% of the group and 25% of the reference have the mark. At 30%: .3 / (.25 + .75 * .2 / .9),
    # which is .72.
    n = 20_000
    mark = np.append(np.arange(n) < 0.10 * n, np.arange(n) < 0.25 * n)
    table = pd.DataFrame({"g": np.repeat(["A", "B"], n), "mark": mark.astype(int)})
    found = fourfifths.certify(table, protected="g", reference="B", beta=0.3, **QUICK)
    assert found.verdict == "not certified"
    assert found.worst.witness.rates["A"] == pytest.approx(0.3, abs=0.01)
    assert found.worst.witness.impact_ratio == pytest.approx(0.72, abs=0.02)


@pytest.mark.slow
def test_the_worst_pair_may_be_one_that_harms_the_reference():
    # Of C everyone has the mark, of the reference half, of B a little less than half.
    n = 3000
    shares = {"A": 0.5, "B": 0.4, "C": 1.0}
    table = pd.concat(
        pd.DataFrame({"g": name, "mark": (np.arange(n) < share * n).astype(int)})
        for name, share in shares.items()
    )
    found = fourfifths.certify(table, protected="g", reference="A", beta=0.45, **QUICK)
    (pair,) = (pair for pair in found.pairs if (pair.group, pair.reference) == ("C", "A"))
    assert pair.witness.harms == "A"
    assert pair.witness.impact_ratio > 1.25
    # B has a little less still.
    assert {found.worst.group, found.worst.reference} == {"B", "C"}
    assert found.worst.witness.harms == "B"


@pytest.mark.slow
@pytest.mark.parametrize("auditors", [["trees"], ["logistic"]])
def test_a_column_that_holds_nothing_is_no_obstacle(auditors):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"g": np.repeat(["A", "B"], 100), "x": random.normal(size=200), "empty": [np.nan] * 200}
    )
    found = fourfifths.certify(table, protected="g", beta=0.5, auditors=auditors, folds=3)
    assert found.features["empty"] == "number"


def test_an_infinite_value_is_an_error_that_names_the_column():
    table = pd.DataFrame({"g": list("AABB") * 5, "x": [np.inf, 1.0, 2.0, 3.0] * 5})
    with pytest.raises(ColumnError, match="column 'x': expected finite numbers, found inf"):
        fourfifths.certify(table, protected="g", beta=0.5, **QUICK)


def test_a_classifier_that_fails_is_named():
    class Broken:
        def fit(self, x, y):
            raise RuntimeError("out of order")

        def decision_function(self, x):
            return x[:, 0]

        def get_params(self, deep=True):
            return {}

    table = pd.DataFrame({"g": list("AABB") * 5, "x": [0.5, 1.0, 2.0, 3.0] * 5})
    with pytest.raises(OptionError, match="auditors: 'mine' failed: out of order"):
        fourfifths.certify(table, protected="g", beta=0.5, auditors={"mine": Broken()}, folds=3)
