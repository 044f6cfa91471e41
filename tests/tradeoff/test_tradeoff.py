"""`tradeoff`: the same numbers however it is run, and points that say what happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from curves import applicants
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fourfifths
from fourfifths._tradeoff.data import Data, read_data
from fourfifths._tradeoff.tradeoff import (
    check_options,
    existing_combinations,
    fingerprint,
    make_repairer,
    proof_notes,
    skipped_notes,
)
from fourfifths.errors import FourfifthsError, OptionError

QUICK: dict[str, Any] = {
    "protected": "group",
    "outcome": "hired",
    "models": ["GNB"],
    "auditors": ["naive-bayes"],
    "amounts": [0, 0.5, 1],
    "repeats": 3,
}


class Scorer(ClassifierMixin, BaseEstimator):
    """Selects by the score itself: what it does can be told by hand."""

    def fit(self, X: Any, y: Any) -> Scorer:
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X["score"] > 0.5)


def test_without_repair_the_point_is_what_the_model_does() -> None:
    table = applicants()
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


@pytest.mark.slow
def test_full_repair_brings_the_ratio_to_one_and_the_auditor_to_guessing() -> None:
    curve = fourfifths.tradeoff(applicants(3_000), **QUICK)
    raw, _, full = sorted(curve.points, key=lambda point: point.amount)
    assert raw.impact_ratio < 0.7
    assert 0.9 < full.impact_ratio < 1.15
    assert raw.balanced_error_rate < 0.35
    assert full.balanced_error_rate > 0.46
    assert full.changed > 0.95
    assert (curve.repeats, curve.intervals) == (3, "over repeats")


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_the_number_of_processes() -> None:
    one, two = (fourfifths.tradeoff(applicants(), **QUICK, n_jobs=jobs) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()


class Counting(Scorer):
    """Counts how often one of its kind is fitted in this process."""

    fits = 0

    def fit(self, X: Any, y: Any) -> Scorer:
        type(self).fits += 1
        return super().fit(X, y)


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_without_redoing_cells(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    options = {**QUICK, "models": {"rule": Counting()}}
    complete = fourfifths.tradeoff(applicants(), **options)
    fourfifths.tradeoff(applicants(), **options, results=path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 3 * 3  # a header, and 3 amounts on 3 splits
    # Stopped after four cells, in the middle of the fifth.
    path.write_text("\n".join([*lines[:5], lines[5][:40]]))
    Counting.fits = 0
    resumed = fourfifths.tradeoff(applicants(), **options, results=path)
    assert Counting.fits == len(lines) - 1 - 4
    assert resumed.to_dict() == complete.to_dict()
    assert all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.slow
def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    fourfifths.tradeoff(applicants(), **QUICK, results=path)
    with pytest.raises(FourfifthsError, match="holds another run"):
        fourfifths.tradeoff(applicants(seed=1), **QUICK, results=path)
    with pytest.raises(FourfifthsError, match="holds another run"):
        fourfifths.tradeoff(applicants(), **QUICK, random_state=1, results=path)


@pytest.mark.slow
def test_more_amounts_go_on_from_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    fourfifths.tradeoff(applicants(), **{**QUICK, "amounts": [0, 1]}, results=path)
    before = len(path.read_text().splitlines())
    fourfifths.tradeoff(applicants(), **QUICK, results=path)
    assert len(path.read_text().splitlines()) == before + 3


def test_any_pipeline_is_a_model_and_gets_a_dataframe() -> None:
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(type(X))
            return super().fit(X, y)

    models = {"spy": Spy(), "scaled": make_pipeline(StandardScaler(), LogisticRegression())}
    curve = fourfifths.tradeoff(applicants(), **{**QUICK, "models": models, "amounts": [1]})
    assert {point.model for point in curve.points} == {"spy", "scaled"}
    assert set(seen) == {pd.DataFrame}


@pytest.mark.slow
def test_an_unrepaired_version_is_run_once_for_all_methods() -> None:
    curve = fourfifths.tradeoff(
        applicants(),
        **QUICK,
        methods=["random", "geometric"],
        scopes=["blocks", "column"],
    )
    assert len(curve.select(method="none")) == 1
    # Amounts .5 and 1, by blocks with one method, by column with two.
    assert len(curve.points) == 1 + 2 * (1 + 2)
    assert (
        "not tried: blocks with geometric; the paper's methods repair columns one by one"
    ) in curve.notes


def test_methods_that_no_scope_has_are_refused_with_the_remedy() -> None:
    with pytest.raises(
        OptionError, match=r"methods=\['geometric'\]: .*; give scopes=\['column'\] too"
    ):
        fourfifths.tradeoff(applicants(), **QUICK, methods=["geometric"])


def test_combinations_are_those_that_exist() -> None:
    assert existing_combinations(("column", "blocks"), ("geometric", "random")) == (
        [("column", "geometric"), ("column", "random"), ("blocks", "random")],
        [("blocks", "geometric")],
    )
    assert existing_combinations(("blocks",), ("random",)) == ([("blocks", "random")], [])
    assert skipped_notes([]) == []


def full(repeat: int, floor: float, **figures: Any) -> Any:
    record = {"repeat": repeat, "scope": "blocks", "amount": 1.0, "proven_floor": floor}
    return {**record, **figures}


@pytest.mark.slow
def test_that_too_little_is_proven_is_a_note_and_no_warning() -> None:
    # 400 training rows prove less than .8; warnings are errors here.
    curve = fourfifths.tradeoff(applicants(), **QUICK)
    (point,) = curve.select(amount=1.0)
    assert 0 < point.proven_floor < 0.8
    assert curve.notes == (
        "full repair by blocks is not proven to keep an impact ratio of 0.8 in 3 of 3 splits; "
        f"the proven floor is {point.proven_floor:.3f}, and more training rows would prove more",
    )


@pytest.mark.parametrize(
    ("records", "stratify_by", "expected"),
    [
        ([full(0, 0.81), full(1, 0.9)], (), []),
        ([full(0, 0.7), full(1, 0.9)], (), ["of 0.8 in 1 of 2 splits; the proven floor is 0.700"]),
        ([full(0, 0.7), full(0, 0.7)], (), ["of 0.8; the proven floor is 0.700"]),  # two models
        ([full(0, np.nan)], (), ["pairs of more than 40 groups are not proven"]),
        ([full(0, np.nan)], ("region",), ["stratified by 'region', so nothing is proven about"]),
        ([full(0, np.nan, scope="column"), full(0, np.nan, amount=0.5)], (), []),
    ],
)
def test_a_note_says_what_is_not_proven(
    records: list[Any], stratify_by: tuple[str, ...], expected: list[str]
) -> None:
    notes = proof_notes(records, stratify_by=stratify_by)
    assert len(notes) == len(expected)
    assert all(text in note for text, note in zip(expected, notes, strict=True))


def test_enough_rows_prove_four_fifths_and_the_models_keep_it() -> None:
    table = applicants(12_000)
    curve = fourfifths.tradeoff(table, **{**QUICK, "amounts": [1], "repeats": 1})
    (point,) = curve.points
    assert 0.8 <= point.proven_floor < 1
    assert curve.notes == ()
    assert point.scope == "blocks"
    # The model selects a larger share than the lowest recorded one, so the proof speaks of it.
    assert point.impact_ratio >= point.proven_floor


@pytest.mark.slow
def test_a_date_can_be_swept_by_blocks_if_it_is_named() -> None:
    table = applicants()
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(table["score"] * 10, unit="D")
    curve = fourfifths.tradeoff(table, **{**QUICK, "amounts": [0, 1]}, columns=["score", "day"])
    assert [point.amount for point in curve.points] == [0, 1]
    with pytest.raises(FourfifthsError, match="'day' holds dates, which are repaired by blocks"):
        fourfifths.tradeoff(table, **QUICK, columns=["score", "day"], scopes=["column"])


@pytest.mark.slow
def test_the_progress_bar_can_be_turned_off_and_changes_no_number() -> None:
    shown, hidden = (
        fourfifths.tradeoff(applicants(), **QUICK, progress=progress) for progress in (True, False)
    )
    assert shown.to_dict() == hidden.to_dict()


@pytest.mark.slow
def test_the_result_prints_and_gives_its_figures(tmp_path: Path) -> None:
    curve = fourfifths.tradeoff(applicants(), **QUICK)
    assert "GNB" in str(curve)
    assert len(curve.to_frame("polars")) == len(curve.points)
    assert json.loads(curve.to_json())["schema"] == "fourfifths/tradeoff/1"
    curve.plot().savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["LDA"]}, "models: 'LDA' is not one of"),
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
        fourfifths.tradeoff(applicants(), **{**QUICK, **options})


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FourfifthsError, match="results="):
        fourfifths.tradeoff(applicants(), **QUICK, results=tmp_path / "no" / "cells.jsonl")


def read(table: pd.DataFrame, **options: Any) -> Data:
    roles = {"protected": "group", "outcome": "hired", "favorable": "yes", "reference": None}
    choices = {"columns": None, "bands": None, "stratify_by": (), "split": None}
    return read_data(table, **{**roles, **choices, **options})


def test_several_favorable_values_are_one_selection() -> None:
    table = applicants()
    halves = table.assign(hired=table["hired"].mask(table.index % 2 == 0, table["hired"] + "!"))
    assert np.array_equal(read(halves, favorable=["yes", "yes!"]).selected, read(table).selected)


def test_the_repair_is_by_the_protected_columns_and_their_bands() -> None:
    table = applicants().assign(age=np.tile([20, 30, 50], 200))
    data = read(table, protected=["group", "age"], bands={"age": [40]})
    options = make_repairer(data, scope="blocks", confidence=0.9, random_state=3).get_params()
    assert (options["protected"], options["bands"]) == (("group", "age"), {"age": [40.0]})
    assert (list(options["columns"]), options["scope"]) == (["score", "noise"], "blocks")
    assert (options["random_state"], options["stratify_by"]) == (3, None)
    assert (options["threshold"], options["confidence"], options["blocks"]) == (
        0.8,
        0.9,
        "certified",
    )


def test_strata_of_other_columns_are_pooled_and_unseen_ones_kept() -> None:
    data = read(applicants().assign(region=np.tile(["n", "s"], 300)), stratify_by=("region",))
    options = make_repairer(data, scope="column", confidence=0.95, random_state=0).get_params()
    assert (options["protected"], options["stratify_by"]) == (None, ("region",))
    assert (options["small"], options["unseen"]) == ("pool", "keep")


def test_the_fingerprint_changes_with_everything_that_the_counts_depend_on() -> None:
    data, splits = read(applicants()), [(np.arange(4), np.arange(4, 6))]
    options: dict[str, Any] = {
        "auditors": ["svm"],
        "models": {"rule": Scorer()},
        "confidence": 0.95,
        "random_state": 0,
    }
    base = fingerprint(data, splits, **options)
    assert fingerprint(read(applicants()), splits, **options) == base
    others = [
        fingerprint(read(applicants(seed=1)), splits, **options),
        fingerprint(data, [(np.arange(3), np.arange(3, 6))], **options),
        fingerprint(data, splits, **{**options, "auditors": ["trees"]}),
        fingerprint(data, splits, **{**options, "models": {"mine": Scorer()}}),
        fingerprint(data, splits, **{**options, "random_state": 1}),
        fingerprint(data, splits, **{**options, "confidence": 0.9}),
    ]
    assert len({base, *others}) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ()}, r"methods=\(\): expected a list of one or more of 'combinatorial', "),
        (
            {"scopes": "blocks"},
            "scopes='blocks': expected a list of one or more of 'blocks', 'column'",
        ),
        ({"scopes": ["joint"]}, r"scopes=\['joint'\]: expected a list of one or more of 'blocks'"),
        ({"amounts": [0.5, "1"]}, r"amounts=\[0.5, '1'\]: expected a list of numbers from 0 to 1"),
        ({"confidence": 95}, "confidence=95: expected a number between 0 and 1"),
        ({"repeats": 1.5}, "repeats=1.5: expected a whole number, 1 or more"),
        ({"random_state": -1}, "random_state=-1: expected a whole number from 0"),
        ({"random_state": 2**32}, r"random_state=4294967296: .* from 0 to 2\*\*32 - 1"),
        ({"amounts": [True]}, r"amounts=\[True\]: expected a list of numbers from 0 to 1"),
        ({"n_jobs": 0}, "n_jobs=0: expected a number of processes, or -1 for all cores"),
    ],
)
def test_an_option_that_cannot_be_used_is_named_with_what_was_expected(
    options: dict[str, Any], message: str
) -> None:
    usable: dict[str, Any] = {
        "methods": ["random"],
        "scopes": ["blocks"],
        "amounts": [0, 1],
        "confidence": 0.9,
        "repeats": None,
        "random_state": 0,
        "n_jobs": -1,
    }
    check_options(**usable)
    with pytest.raises(OptionError, match=message):
        check_options(**{**usable, **options})
