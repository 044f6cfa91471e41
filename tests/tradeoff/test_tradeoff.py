"""`tradeoff`: the same numbers however it is run, and points that say what happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fourfifths
from fourfifths._tradeoff import models
from fourfifths._tradeoff import versions as cells
from fourfifths._tradeoff.models import PENALTIES, PaperModel
from fourfifths._tradeoff.points import make_point
from fourfifths.errors import FourfifthsError

QUICK: dict[str, Any] = {
    "protected": "group",
    "outcome": "hired",
    "models": ["GNB"],
    "auditors": ["naive-bayes"],
    "amounts": [0, 0.5, 1],
    "repeats": 3,
}


RECORD: dict[str, Any] = {
    "model": "GNB",
    "method": "none",
    "scope": "none",
    "amount": 0.0,
    "auc": [0.5, 0.0],
    "auditor": {"naive-bayes": [1, 2, 1, 2]},
    "rows": 8,
    "changed": 0,
}


def people(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Return applicants whose score is one higher in group b, and who are hired by it."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], rows)
    skill = random.normal(size=rows)
    score = skill + (group == "b")
    hired = np.where(score + 0.5 * random.normal(size=rows) > 0.5, "yes", "no")
    noise = random.normal(size=rows)
    return pd.DataFrame({"group": group, "score": score, "noise": noise, "hired": hired})


class Scorer(ClassifierMixin, BaseEstimator):
    """Selects by the score itself: what it does can be told by hand."""

    def fit(self, X: Any, y: Any) -> Scorer:
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X["score"] > 0.5)


def test_without_repair_the_point_is_what_the_model_does() -> None:
    table = people()
    table["side"] = np.where(np.arange(len(table)) < 300, "train", "test")
    curve = fourfifths.tradeoff(
        table,
        **{**QUICK, "models": {"rule": Scorer()}, "amounts": [0], "repeats": None},
        columns=["score", "noise"],
        split="side",
    )
    test = table[300:]
    picked = test["score"] > 0.5
    rates = picked.groupby(test["group"]).mean()
    (point,) = curve.points
    assert point.impact_ratio == pytest.approx(rates["a"] / rates["b"])
    truth = test["hired"] == "yes"
    assert point.accuracy == pytest.approx((picked == truth).mean())
    missed, wrong = (~picked)[truth].mean(), picked[~truth].mean()
    assert point.utility == pytest.approx(1 - (missed + wrong) / 2)
    assert (point.method, point.changed, curve.intervals) == ("none", 0, "bootstrap")
    assert np.isnan(point.auc)  # the rule has no score


def test_full_repair_brings_the_ratio_to_one_and_the_auditor_to_guessing() -> None:
    curve = fourfifths.tradeoff(people(3_000), **QUICK)
    raw, _, full = sorted(curve.points, key=lambda point: point.amount)
    assert raw.impact_ratio < 0.7
    assert 0.9 < full.impact_ratio < 1.15
    assert raw.balanced_error_rate < 0.35
    assert full.balanced_error_rate > 0.46
    assert full.changed > 0.95
    assert (curve.repeats, curve.intervals) == (3, "over repeats")


def test_choose_takes_the_highest_utility_that_is_clear_or_none() -> None:
    curve = fourfifths.tradeoff(people(3_000), **QUICK)
    chosen = curve.choose(impact_ratio=0.8)
    assert chosen is not None
    clear = [
        point
        for point in curve.points
        if point.impact_ratio_interval[0] >= 0.8 and point.impact_ratio_interval[1] <= 1.25
    ]
    assert chosen.utility == max(point.utility for point in clear)
    assert fourfifths.tradeoff(people(), **{**QUICK, "amounts": [0]}).choose() is None


def test_the_front_has_no_point_that_another_beats() -> None:
    curve = fourfifths.tradeoff(people(), **QUICK)
    for point in curve.front:
        near = min(point.impact_ratio, 1 / point.impact_ratio)
        for other in curve.points:
            theirs = min(other.impact_ratio, 1 / other.impact_ratio)
            assert not (theirs > near and other.utility > point.utility)
    assert curve.front


def test_the_numbers_do_not_depend_on_the_number_of_processes() -> None:
    one, two = (fourfifths.tradeoff(people(), **QUICK, n_jobs=jobs) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_a_run_that_was_stopped_goes_on_without_redoing_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cells.jsonl"
    whole = fourfifths.tradeoff(people(), **QUICK)
    fourfifths.tradeoff(people(), **QUICK, results=path)
    lines = path.read_text().splitlines()
    # Stopped after four cells, in the middle of the fifth.
    path.write_text("\n".join([*lines[:5], lines[5][:40]]))
    ran = []
    true_run = cells.run_version

    def counted(version: Any, *rest: Any) -> Any:
        ran.append(version)
        return true_run(version, *rest)

    monkeypatch.setattr("fourfifths._tradeoff.tradeoff.run_version", counted)
    again = fourfifths.tradeoff(people(), **QUICK, results=path)
    assert len(ran) == len(lines) - 1 - 4
    assert again.to_dict() == whole.to_dict()
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    fourfifths.tradeoff(people(), **QUICK, results=path)
    with pytest.raises(FourfifthsError, match="holds another run"):
        fourfifths.tradeoff(people(seed=1), **QUICK, results=path)
    with pytest.raises(FourfifthsError, match="holds another run"):
        fourfifths.tradeoff(people(), **QUICK, random_state=1, results=path)


def test_more_amounts_go_on_from_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    fourfifths.tradeoff(people(), **{**QUICK, "amounts": [0, 1]}, results=path)
    before = len(path.read_text().splitlines())
    fourfifths.tradeoff(people(), **QUICK, results=path)
    assert len(path.read_text().splitlines()) == before + 3


def test_any_pipeline_is_a_model_and_gets_a_dataframe() -> None:
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(type(X))
            return super().fit(X, y)

    models = {"spy": Spy(), "scaled": make_pipeline(StandardScaler(), LogisticRegression())}
    curve = fourfifths.tradeoff(people(), **{**QUICK, "models": models, "amounts": [1]})
    assert {point.model for point in curve.points} == {"spy", "scaled"}
    assert set(seen) == {pd.DataFrame}


def test_an_unrepaired_version_is_run_once_for_all_methods() -> None:
    curve = fourfifths.tradeoff(
        people(),
        **QUICK,
        methods=["random", "geometric"],
        scopes=["joint", "column"],
    )
    assert len(curve.select(method="none")) == 1
    assert len(curve.points) == 1 + 2 * 2 * 2


def test_the_result_prints_and_gives_its_figures(tmp_path: Path) -> None:
    curve = fourfifths.tradeoff(people(), **QUICK)
    assert "GNB" in str(curve)
    assert len(curve.to_frame("polars")) == len(curve.points)
    assert json.loads(curve.to_json())["schema"] == "fourfifths/tradeoff/1"
    curve.plot().savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["LDA"]}, "models: 'LDA' is none of"),
        ({"models": {"mine": object()}}, "expected a scikit-learn classifier with fit and predict"),
        ({"models": []}, "models: name at least one"),
        ({"methods": ["fast"]}, "methods="),
        ({"methods": "random"}, "methods="),
        ({"scopes": ["row"]}, "scopes="),
        ({"amounts": [2]}, "amounts="),
        ({"amounts": []}, "amounts="),
        ({"split": 1.5}, "split=1.5"),
        ({"split": "side"}, "split='side': no such column"),
        ({"repeats": 0}, "repeats=0"),
        ({"confidence": 1}, "confidence=1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"auditors": ["ghost"]}, "auditors: 'ghost'"),
        ({"outcome": "paid"}, "outcome='paid'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FourfifthsError, match=message):
        fourfifths.tradeoff(people(), **{**QUICK, **options})


def test_too_few_rows_to_split() -> None:
    with pytest.raises(FourfifthsError, match="too few rows to split"):
        fourfifths.tradeoff(people(14), **QUICK)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FourfifthsError, match="results="):
        fourfifths.tradeoff(people(), **QUICK, results=tmp_path / "no" / "cells.jsonl")


def test_a_ratio_over_splits_is_that_of_their_rows_together() -> None:
    # 1 of 4 against 2 of 4, then 4 of 4 against 1 of 4: together 5 of 8 against 3 of 8.
    first, second = [[1, 0, 0, 3], [2, 0, 0, 2]], [[4, 0, 0, 0], [1, 0, 0, 3]]
    splits = [{**RECORD, "counts": counts} for counts in (first, second)]
    point = make_point(splits, ["a", "b"], 1, 0.95, 0)
    assert point.impact_ratio == pytest.approx((5 / 8) / (3 / 8))  # the mean would be 2.25
    assert point.impact_ratios == {"a": pytest.approx(5 / 3)}
    assert point.parity == pytest.approx(1 - (3 / 8 - 5 / 8))


def test_the_interval_over_splits_is_that_of_the_group_with_the_lowest_ratio() -> None:
    # Group a has 2 of 4 in both splits, group b 1 and 4 of 4, the reference 4 of 4: a is lowest,
    # though b has the lowest rate of one split.
    splits = [{**RECORD, "counts": [[2, 0, 0, 2], [b, 0, 0, 4 - b], [4, 0, 0, 0]]} for b in (1, 4)]
    point = make_point(splits, ["a", "b", "c"], 2, 0.95, 0)
    assert point.impact_ratio == pytest.approx(0.5)
    assert point.impact_ratio_interval == pytest.approx((0.5, 0.5))


def test_values_of_c_that_do_not_converge_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people()
    values, hired = table[["score", "noise"]].to_numpy(), (table["hired"] == "yes").to_numpy()
    chosen = PaperModel("SVM", [False, False]).fit(values, hired).classifier_.C
    assert chosen in PENALTIES
    # With so few steps only small values converge: the larger ones are not even tried.
    monkeypatch.setattr(models, "MAX_ITER", 20)
    tried: list[float] = []
    real = PaperModel._error

    def error(model: Any, *rest: Any) -> float | None:
        tried.append(model.C)
        return real(model, *rest)

    monkeypatch.setattr(PaperModel, "_error", staticmethod(error))
    few = PaperModel("SVM", [False, False]).fit(values, hired).classifier_.C
    assert len(tried) < len(PENALTIES)
    assert few < tried[-1]
