"""A repair without scikit-learn is the same repair."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fourfifths import Repairer, datasets
from fourfifths._repair.plain_repairer import PlainRepairer
from fourfifths.errors import OptionError


def test_the_options_are_those_of_the_transformer() -> None:
    assert [*signature(PlainRepairer).parameters] == [*signature(Repairer).parameters]
    assert PlainRepairer().get_params() == Repairer().get_params(deep=False)


def test_a_changed_option_is_what_a_fit_uses() -> None:
    repairer = PlainRepairer("race").set_params(amount=0.25)
    assert repairer.amount == 0.25
    assert repairer.get_params()["amount"] == 0.25


@pytest.mark.parametrize("scope", [{"blocks": 2}, {"scope": "column"}], ids=["blocks", "column"])
def test_what_is_saved_is_what_the_transformer_saves(scope: dict[str, Any], tmp_path: Path) -> None:
    frame = pd.read_parquet(datasets.load("ricci").path)
    options = scope | {"columns": ["oral", "written"]}
    PlainRepairer("race", **options).fit(frame).save(tmp_path / "plain.json")
    Repairer("race", **options).fit(frame).save(tmp_path / "scikit.json")
    assert (tmp_path / "plain.json").read_bytes() == (tmp_path / "scikit.json").read_bytes()
    loaded = PlainRepairer.load(tmp_path / "scikit.json")
    assert loaded.strata_ == Repairer.load(tmp_path / "scikit.json").strata_
    assert list(loaded.feature_names_in_) == list(frame.columns)


def test_an_option_that_is_wrong_is_an_error_before_the_fit() -> None:
    frame = pd.read_parquet(datasets.load("ricci").path)
    with pytest.raises(OptionError, match="amount=2: expected a number from 0"):
        PlainRepairer("race", columns=["oral"], amount=2).fit(frame)


def test_an_option_that_was_changed_after_the_fit_is_not_saved(tmp_path: Path) -> None:
    frame = pd.read_parquet(datasets.load("ricci").path)
    repairer = PlainRepairer("race", scope="column", columns=["oral"]).fit(frame)
    with pytest.raises(OptionError, match="levels=5: the repair was fitted with 16384"):
        repairer.set_params(levels=5).save(tmp_path / "saved.json")


def test_favorable_values_of_a_number_decide_beta() -> None:
    grades = [1, 2, 3, 4] * 25 + [1, 1, 1, 4] * 25
    frame = pd.DataFrame({"g": ["a"] * 100 + ["b"] * 100, "x": range(200), "grade": grades})
    repairer = PlainRepairer("g", columns=["x"], keep="grade", favorable=["3", 4], blocks=2).fit(
        frame
    )
    assert repairer.proof_ is not None
    assert repairer.proof_.beta == 0.25
