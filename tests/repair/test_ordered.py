"""Few values in all strata at once, against the definition: place r is at level floor(r m / n)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths import Repairer
from fourfifths._repair import ordered as module
from fourfifths._repair.ordered import FewValues, few_values_of
from fourfifths._repair.quantiles import rank_table

STRATA = st.lists(st.lists(st.integers(-3, 3), min_size=30, max_size=60), min_size=2, max_size=4)


def cells(parts: list[list[float]], levels: int) -> FewValues:
    found = few_values_of(
        np.unique(np.concatenate(parts).astype(np.float64)),
        [rank_table(np.sort(np.array(part, dtype=np.float64)), levels) for part in parts],
    )
    assert found is not None
    return found


@given(STRATA, st.integers(28, 30), st.integers(0, 9))
def test_each_place_has_the_level_of_its_definition(
    parts: list[list[float]], levels: int, seed: int
) -> None:
    values = np.concatenate(parts).astype(np.float64)
    codes = np.repeat(np.arange(len(parts), dtype=np.int16), [len(part) for part in parts])
    order = np.random.default_rng(seed).permutation(values.size)
    level = cells(parts, levels).at_levels(codes[order], values[order], np.random.default_rng(seed))
    assert level is not None
    for place, part in enumerate(parts):
        own = np.lexsort((level, values[order], codes[order] != place))[: len(part)]
        assert level[own].tolist() == [r * levels // len(part) for r in range(len(part))]


def test_a_value_that_only_others_have_is_at_the_level_before_it() -> None:
    # Of 20 places at 20 levels, 2 has those from 0 to 9 and 5 those from 10 to 19.
    table = cells([[2] * 10 + [5] * 10, [1] * 5 + [3] * 5 + [9] * 10], 20)
    codes = np.zeros(3, dtype=np.int16)
    level = table.at_levels(codes, np.array([1.0, 3, 9]), np.random.default_rng(0))
    assert level is not None
    assert level.tolist() == [0, 9, 19]


def test_a_value_that_no_one_has_is_left_to_the_strata() -> None:
    table = cells([[2] * 20 + [5] * 20, [1] * 40], 40)
    codes = np.zeros(2, dtype=np.int16)
    assert table.at_levels(codes, np.array([2.0, 2.5]), np.random.default_rng(0)) is None


def test_few_rows_of_many_cells_are_left_to_the_strata() -> None:
    table = cells([list(range(20)) * 4] * 10, 80)  # 200 cells
    some, random = np.zeros(25, dtype=np.int16), np.random.default_rng(0)
    assert table.at_levels(some, np.ones(25), random) is not None
    assert table.at_levels(some[:24], np.ones(24), random) is None


def test_many_values_are_left_to_the_strata() -> None:
    values = np.arange(40.0)
    assert few_values_of(values, [rank_table(values, 40)] * 2) is None
    assert few_values_of(values[:10], [rank_table(values[:10].repeat(4), 40)] * 2) is not None


def counts() -> pd.DataFrame:
    """Return few whole numbers, some missing, that two groups have differently often."""
    group = np.repeat(["a", "b"], [300, 500])
    found = np.random.default_rng(0).poisson(np.where(group == "a", 2, 5)).astype(np.float64)
    found[[3, 400]] = np.nan
    return pd.DataFrame({"x": found, "g": group})


@pytest.mark.parametrize("method", ["geometric", "combinatorial", "random"])
def test_at_once_and_one_by_one_the_strata_come_out_alike(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = counts()
    at_once = Repairer("g", scope="column", method=method).fit(table)
    assert at_once.model_.columns[0].few is not None
    found = at_once.transform(table)
    monkeypatch.setattr(module, "FEW", 10**9)
    one_by_one = Repairer("g", scope="column", method=method).fit(table)
    assert one_by_one.model_.columns[0].few is None
    again = one_by_one.transform(table)
    pd.testing.assert_series_equal(
        found.groupby("g")["x"].value_counts(dropna=False).sort_index(),
        again.groupby("g")["x"].value_counts(dropna=False).sort_index(),
    )
    assert not found.equals(table)


def test_rows_that_are_kept_or_missing_stay_where_few_values_are_repaired() -> None:
    table = counts()
    new = table.assign(g=np.where(np.arange(800) % 100 == 0, "c", table["g"]))
    found = Repairer("g", scope="column", unseen="keep").fit(table).transform(new)
    kept = new["g"] == "c"
    assert kept.sum() == 8
    assert found[kept].equals(new[kept])
    assert np.flatnonzero(found["x"].isna()).tolist() == [3, 400]
    assert not found.equals(new)


def test_few_values_in_the_middle_stay_together() -> None:
    # Consensus: 2 at levels 0 to 19, 2.5 at those to 59, 3 at those to 79; in the middle of their
    # places stand 1 (30), 2 (70), 3 (10) and 4 (50).
    values = np.repeat([[1.0], [2], [3], [4]], [60, 20, 20, 60], axis=0)
    group = np.repeat(["a", "b"], 80)
    repairer = Repairer(scope="column", method="geometric", ties="mid")
    found = repairer.fit_transform(values, protected=group).ravel()
    assert found.tolist() == [2.5] * 60 + [3] * 20 + [2] * 20 + [2.5] * 60
