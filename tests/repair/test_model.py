"""Rows in parts: each row once, small strata whole, and ties even however many parts there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths import Repairer
from fourfifths._arrays import CodeArray
from fourfifths._repair.model import Members, everyone, parts


def rows_of(part: Members) -> list[int]:
    return part.at(np.arange(part.strata.size)).tolist()


CODES = st.lists(st.integers(-1, 6), min_size=1, max_size=80).map(
    lambda codes: np.array(codes, dtype=np.int16)
)


@given(CODES, st.integers(1, 40))
def test_each_row_that_has_a_stratum_is_in_one_part(codes: CodeArray, size: int) -> None:
    found = list(parts(codes, size))
    rows = [row for part in found for row in rows_of(part)]
    assert sorted(rows) == np.flatnonzero(codes >= 0).tolist()
    for part in found:
        assert part.strata.tolist() == codes[rows_of(part)].tolist()
        assert part.strata.size < 2 * size or codes.size <= size
    assert len(found) <= 2 * np.ceil(codes.size / size)


@given(CODES, st.integers(1, 100))
def test_a_stratum_that_fits_a_part_is_in_one(codes: CodeArray, size: int) -> None:
    where = [{*part.strata.tolist()} for part in parts(codes, size)]
    for stratum in {*codes.tolist()} - {-1}:
        if np.sum(codes == stratum) <= size:
            assert sum(stratum in part for part in where) == 1


def test_small_strata_share_parts() -> None:
    codes = np.arange(100, dtype=np.int16) % 50
    assert [part.strata.size for part in parts(codes, 20)] == [18, 20, 20, 20, 20, 2]


def test_rows_of_no_stratum_are_in_no_part() -> None:
    codes = np.array([-1, 0, 0, 0, -1, 0], dtype=np.int16)
    assert [rows_of(part) for part in parts(codes, 2)] == [[1], [2, 3], [5]]


@given(CODES)
def test_strata_have_their_rows_in_order(codes: CodeArray) -> None:
    members = everyone(codes)
    found = {stratum: members.at(places).tolist() for stratum, places in members.by_stratum}
    strata = sorted({*codes.tolist()} - {-1})
    assert found == {each: np.flatnonzero(codes == each).tolist() for each in strata}


@pytest.mark.parametrize("options", [{"method": "geometric"}, {"method": "random"}])
def test_a_rare_stratum_is_repaired_evenly_over_many_parts(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One row in a hundred, in forty stretches; as many levels as it has rows.
    monkeypatch.setattr("fourfifths._repair.model.CHUNK", 800)
    random = np.random.default_rng(0)
    group = np.arange(32_000) % 100 == 0
    values = random.poisson(np.where(group, 2, 6)).astype(np.float64)[:, None]
    repairer = Repairer(scope="column", **options)
    found = repairer.fit_transform(values, protected=group).ravel()
    assert stats.ks_2samp(found[group], found[~group]).statistic <= 2 / 320
    assert stats.ks_2samp(values[group, 0], values[~group, 0]).statistic > 0.5
