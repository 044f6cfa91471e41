"""The simulated tables of the study, by their moments, and its rows and picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fourfifths._paper import study
from fourfifths._paper.experiments import AUDITORS, Settings
from fourfifths._paper.study import REPAIRS, Features, draw_study, measure, simulated, study_rows


def test_columns_alone_differ_by_their_mean_only_and_pairs_by_their_correlation() -> None:
    features = Features(columns=3, rows=100_000, dependence=0.5, group_share=0.3)
    values, selected, is_reference = simulated(features, seed=0)
    assert is_reference.mean() == pytest.approx(0.7, abs=0.01)
    assert 0.2 < selected.mean() < 0.8
    reference, group = values[is_reference], values[~is_reference]
    np.testing.assert_allclose(reference.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(group.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(values[is_reference].std(axis=0), 1, atol=0.02)
    # Loadings +, -, + in the group: the first and the second column are against each other.
    np.testing.assert_allclose(np.corrcoef(reference.T)[0], [1, 0.5, 0.5], atol=0.02)
    np.testing.assert_allclose(np.corrcoef(group.T)[0], [1, -0.5, 0.5], atol=0.02)


@pytest.mark.slow
def test_full_repair_by_column_leaves_the_dependence_to_trees() -> None:
    features = Features(columns=2, rows=3_000, dependence=0.8, group_share=0.5)
    column = measure(features, "column by column, full", seed=0)
    assert column["BER trees"] < 0.35
    assert column["BER GNB"] > 0.4
    blocks = measure(features, "blocks, full", seed=0)
    assert blocks["BER trees"] > 0.45
    assert {*column} == {*(f"BER {auditor}" for auditor in AUDITORS), "utility"}


@pytest.mark.slow
def test_a_quick_study_has_a_row_for_each_feature_value_and_repair(tmp_path: Path) -> None:
    settings = Settings(amounts=(0.0, 1.0), repeats=1, n_jobs=1, cells=tmp_path, is_quick=True)
    rows = study_rows({}, settings)
    values = sum(len(values) for values in study.QUICK_VARIATIONS.values())
    assert len(rows) == values * len(REPAIRS)


def test_the_picture_has_a_panel_for_each_repair_and_feature() -> None:
    bers = {f"BER {auditor}": 0.3 for auditor in AUDITORS}
    rows = [
        {"feature": feature, "value": value, "repair": repair, "seed": seed, **bers}
        for feature in ("columns", "rows")
        for value in (2, 8)
        for repair in REPAIRS
        for seed in (0, 1)
    ]
    figure = draw_study(rows)
    assert len(figure.axes) == 2 * len(REPAIRS)
    assert [axis.get_title() for axis in figure.axes[:2]] == ["columns", "rows"]
    assert figure.axes[0].get_lines()[0].get_ydata().tolist() == pytest.approx([0.3, 0.3])
