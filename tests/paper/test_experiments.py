"""The paper's data and sweeps."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from curves import applicants

from fourfifths._paper.experiments import (
    Experiment,
    PassMark,
    Settings,
    adult,
    experiments,
    german,
    german_ages,
    recorded_rates,
    ricci,
)


def test_ricci_is_white_and_non_white() -> None:
    table = ricci()
    assert sorted(set(table["race"].to_pylist())) == ["non-white", "white"]
    assert table["race"].to_pylist().count("white") == 68  # of 118, Miao 2010


def test_adult_is_white_and_non_white() -> None:
    table = adult()
    assert table["race"].to_pylist().count("white") == 41_762  # of 48,842, UCI
    # UCI's numeric columns, the sampling weight among them.
    assert table.column_names[:3] == ["age", "fnlwgt", "education-num"]


def test_germans_ordered_categories_are_whole_numbers_from_the_lowest() -> None:
    table = german()
    employment = table["employment"].to_pylist()
    # UCI: A71 unemployed 62, A72 172, A73 339, A74 174, A75 7 years or more 253.
    assert [employment.count(code) for code in range(1, 6)] == [62, 172, 339, 174, 253]
    assert max(table["savings"].to_pylist()) == 5
    assert sum(age <= 25 for age in table["age"].to_pylist()) == 190


def test_german_has_the_categories_whose_codes_have_an_order() -> None:
    features = experiments()["german"].options["columns"]
    assert {"checking_status", "savings", "employment", "job"} <= set(features)
    assert "age" not in features


def test_german_has_53_ages_and_a_single_row_of_one() -> None:
    assert german_ages() == (53, 1)


def test_25_is_the_cut_with_the_largest_difference() -> None:
    # Kamiran and Calders (2009) split German there for that reason. Up to 25, 110 of 190 have good
    # credit, above 590 of 810. Cuts that leave fewer than ten people on a side do not count.
    table = german().to_pandas()
    good, differences = table["credit"] == "good", {}
    for cut in range(18, 80):
        is_young = table["age"] <= cut
        if min(is_young.sum(), (~is_young).sum()) >= 10:
            differences[cut] = good[~is_young].mean() - good[is_young].mean()
    assert max(differences, key=lambda cut: differences[cut]) == 25
    assert differences[25] == pytest.approx(590 / 810 - 110 / 190)


def test_recorded_rates_take_the_groups_together() -> None:
    # Ricci: 9 of 27 Black and 6 of 23 Hispanic candidates passed, 41 of 68 white ones.
    assert recorded_rates("ricci") == (pytest.approx(15 / 50), pytest.approx(41 / 68))
    assert recorded_rates("adult")[0] == pytest.approx(1769 / 16192)


def test_no_feature_of_a_sweep_is_a_protected_attribute_or_the_outcome() -> None:
    for name, experiment in experiments().items():
        features = set(experiment.options["columns"])
        assert not features & {"race", "sex", "age"} or name.startswith("adult"), name
        assert not features & {"race", "sex", "income", "passed", "credit"}, name


def test_the_pass_mark_is_70_combined() -> None:
    table = pd.DataFrame({"combined": [69.999, 70.0, 71.0]})
    assert PassMark().fit(table, None).predict(table).tolist() == [False, True, True]


@pytest.mark.slow
def test_a_sweep_runs_the_settings_and_keeps_its_cells(tmp_path: Path) -> None:
    options = {
        "protected": "group",
        "outcome": "hired",
        "models": ["GNB"],
        "auditors": ["naive-bayes"],
    }
    settings = Settings(amounts=(0.0, 1.0), repeats=2, n_jobs=1, cells=tmp_path / "cells")
    experiment = Experiment(table=applicants, options=options)
    curve = experiment.run("people", settings)
    assert (curve.repeats, curve.test_rows) == (2, 200)
    assert [point.amount for point in curve.points] == [0, 1]
    assert [path.name for path in (tmp_path / "cells").iterdir()] == ["people-2-0-1.jsonl"]
    assert experiment.run("people", settings).to_dict() == curve.to_dict()


def test_a_table_with_its_own_split_is_not_split_at_random(tmp_path: Path) -> None:
    table = applicants().assign(split=["train", "test"] * 300)
    options = {
        "protected": "group",
        "outcome": "hired",
        "models": ["GNB"],
        "auditors": ["naive-bayes"],
        "split": "split",
    }
    settings = Settings(amounts=(0.0,), repeats=5, n_jobs=1, cells=tmp_path)
    curve = Experiment(table=lambda: table, options=options).run("people", settings)
    assert (curve.repeats, curve.test_rows) == (1, 300)
