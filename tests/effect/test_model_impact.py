"""The impact of a model of the outcome: by hand, with a model that says what it sees."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from fourfifths._effect.model_impact import model_impact
from fourfifths.errors import OutcomeError

NAN = float("nan")
GROUPS = np.repeat(["a", "b"], 20)
# 10 of 20 of a, 5 of 20 of b.
HIRED = np.concatenate([np.arange(20) < 10, np.arange(20) < 5])


class Echo(BaseEstimator):  # type: ignore[misc]
    """A model that says what it sees."""

    def fit(self, values: Any, truth: Any) -> Echo:
        return self

    def predict(self, values: Any) -> Any:
        return values[:, 0] > 0.5


def model(values: Any, hired: Any = HIRED, groups: Any = GROUPS, **options: Any) -> Any:
    """Return the impact of a model that sees one column."""
    frame = options.pop("frame", None)
    if frame is None:
        frame = pd.DataFrame({"g": groups, "hired": hired})
    chosen: dict[str, Any] = {
        "protected": ["g"],
        "reference": "a",
        "outcome": "hired",
        "favorable": None,
        "random_state": 0,
    } | options
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    categories = chosen.pop("is_category", [False])
    return model_impact(column, categories, nw.from_native(frame, eager_only=True), **chosen)


def echo(*arguments: Any, **options: Any) -> Any:
    """Return the impact of a model that selects whom the column names."""
    return model(*arguments, model=Echo(), **options)


@pytest.mark.parametrize(
    ("hired", "options"),
    [
        (np.where(HIRED, "yes", "no"), {}),
        (HIRED.astype(int), {"favorable": "1", "is_category": [True]}),
    ],
    ids=["text", "numbers"],
)
def test_a_column_that_is_the_outcome(hired: Any, options: dict[str, Any]) -> None:
    found = model(HIRED, hired, **options)
    assert (found.group, found.reference) == ("b", "a")
    assert found.impact_ratio == 0.5  # 5/20 over 10/20
    assert found.impact_ratio_interval[0] < 0.5 < found.impact_ratio_interval[1]
    assert found.utility == 1


def test_the_other_way_round_the_ratio_is_above_1() -> None:
    found = echo(HIRED, reference="b")
    assert (found.group, found.impact_ratio, found.utility) == ("a", 2.0, 1)


def test_utility_is_1_minus_the_balanced_error() -> None:
    # The column says yes of 8 of 10 that were hired, and of 4 of 40 that were not.
    hired = np.repeat([True, False], [10, 40])
    says = np.concatenate([np.arange(10) < 8, np.arange(40) < 4])
    # Half of the 8 and of the 4 are of each group, so the ratio is 1.
    found = echo(says, hired, np.tile(["a", "b"], 25))
    assert found.utility == pytest.approx(1 - (2 / 10 + 4 / 40) / 2)
    assert found.impact_ratio == 1


def test_of_three_groups_the_least_ratio() -> None:
    # 8 of 10 of a, 4 of 10 of b, 6 of 10 of c.
    hired = np.concatenate([np.arange(10) < selected for selected in (8, 4, 6)])
    found = echo(hired, hired, np.repeat(["a", "b", "c"], 10))
    assert (found.group, found.impact_ratio) == ("b", 0.5)


def test_rows_without_an_outcome_are_left_out() -> None:
    hired = np.where(HIRED, "yes", "no").astype(object)
    hired[[0, 1, 39]] = None  # two of a that were hired, one of b that was not
    found = echo(HIRED, hired)
    assert found.impact_ratio == pytest.approx((5 / 19) / (8 / 18))


def test_an_outcome_of_nan_is_missing() -> None:
    hired = HIRED.astype(float)
    hired[[0, 1, 39]] = NAN
    frame = pl.DataFrame({"g": GROUPS, "hired": hired})
    found = model(HIRED, frame=frame)
    assert found.impact_ratio == pytest.approx((5 / 19) / (8 / 18))


def test_a_model_that_takes_all_or_none_has_no_ratio() -> None:
    assert echo(np.zeros(40)) is None


@pytest.mark.parametrize("hired", [np.arange(40) < 4, np.arange(40) >= 4])
def test_an_outcome_too_rare_to_learn(hired: Any) -> None:
    with pytest.raises(OutcomeError, match="outcome='hired': fewer than 5 rows with, or without"):
        model(hired, hired)


def test_an_outcome_of_three_values_needs_the_favorable_one() -> None:
    with pytest.raises(OutcomeError, match="holds 3 values, 'x', 'y', 'z'; say which one is fav"):
        model(HIRED, np.resize(["x", "y", "z"], 40))


def test_of_many_rows_a_sample_is_taken() -> None:
    predicted: list[int] = []

    class Counting(Echo):
        def predict(self, values: Any) -> Any:
            predicted.extend(values[:, 1].astype(int))
            return super().predict(values)

    numbered = np.column_stack([HIRED, np.arange(40)])
    frame = nw.from_native(pd.DataFrame({"g": GROUPS, "hired": HIRED}), eager_only=True)
    roles: dict[str, Any] = {"protected": ["g"], "reference": "a", "outcome": "hired"}
    found = model_impact(
        numbered,
        [False, False],
        frame,
        **roles,
        favorable=None,
        random_state=0,
        model=Counting(),
        max_rows=30,
    )
    assert found is not None
    assert found.utility == 1
    assert len(predicted) == len(set(predicted)) == 30
    sampled = np.array(predicted)
    rates = [HIRED[sampled][GROUPS[sampled] == group].mean() for group in "ab"]
    assert found.impact_ratio == pytest.approx(rates[1] / rates[0])


def test_values_that_mean_missing_are_no_outcome() -> None:
    hired = np.where(HIRED, "yes", "no").astype(object)
    hired[[0, 1, 39]] = "n/a"
    found = echo(HIRED, hired, unknown=("n/a",))
    assert found.impact_ratio == pytest.approx((5 / 19) / (8 / 18))
