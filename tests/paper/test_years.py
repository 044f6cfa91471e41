"""German by single years of age."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fourfifths._paper.experiments import Settings
from fourfifths._paper.years import repaired_by_stratum, svm_counts, year_rows


def test_a_stratum_of_one_row_leaves_one_level() -> None:
    # Medians 1.5 and 9, their midpoint 5.25; V = 1, 2, 9, of which 2 is nearest to 5.25.
    values, strata = np.array([[1.0], [2.0], [9.0]]), np.array([0, 0, 1])
    full = repaired_by_stratum(values, strata, method="geometric", amount=1.0)
    assert full.ravel().tolist() == [5.25] * 3
    full = repaired_by_stratum(values, strata, method="combinatorial", amount=1.0)
    assert full.ravel().tolist() == [2] * 3
    # From index 2 to 1 at .4 is 1.6, nearest 2; at .6 it is 1.4, nearest 1.
    for amount, expected in ((0.4, [1, 2, 9]), (0.6, [2, 2, 2])):
        partly = repaired_by_stratum(values, strata, method="combinatorial", amount=amount)
        assert partly.ravel().tolist() == expected


def test_from_one_value_an_svm_only_guesses() -> None:
    selected = np.arange(40) % 4 > 0
    group = (np.arange(40) % 2).astype(np.int16)
    split = (np.arange(20), np.arange(20, 40))
    counts = svm_counts(np.ones((40, 2)), selected, group, split=split)
    right, missed, wrong, passed = counts.sum(axis=0)
    assert right / (right + missed) + passed / (wrong + passed) == 1


@pytest.mark.slow
def test_full_repair_by_years_makes_utility_one_half(tmp_path: Path) -> None:
    settings = Settings(amounts=(0.0, 1.0), repeats=2, n_jobs=1, cells=tmp_path, is_quick=True)
    rows = year_rows({}, settings)
    assert [(row["method"], row["amount"]) for row in rows] == [
        ("none", 0),
        ("combinatorial", 1),
        ("geometric", 1),
    ]
    assert rows[0]["utility"] > 0.64
    assert [row["utility"] for row in rows[1:]] == [0.5, 0.5]
