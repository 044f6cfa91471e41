"""Values in order, counted or sorted, against np.sort of each stratum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths._arrays import FloatArray
from fourfifths._repair import quantiles as ordering
from fourfifths._repair.quantiles import in_order

WHOLE = st.integers(-40, 40).map(float)
ODD = st.sampled_from([0.5, -1e9, 2.0**53, 1e300, np.inf, -np.inf, np.nan])


def check(values: FloatArray, codes: Any, strata: int) -> None:
    """Compare with each stratum's own sort; what was given stays as it was."""
    codes, before = np.asarray(codes, dtype=np.int16), values.copy()
    order = np.argsort(codes, kind="stable")
    sizes = [int(np.sum(codes == place)) for place in range(strata)]
    found = in_order(values, codes, order[order.size - sum(sizes) :], sizes)
    assert len(found) == strata
    for place, own in enumerate(found):
        np.testing.assert_array_equal(own, np.sort(before[codes == place]))
    np.testing.assert_array_equal(values, before)


@given(st.lists(WHOLE, min_size=1, max_size=200), st.lists(ODD, max_size=2), st.integers(1, 4))
def test_values_are_in_order_whether_they_are_counted_or_sorted(
    whole: list[float], odd: list[float], strata: int
) -> None:
    values = np.array(whole + odd)
    check(values, np.arange(values.size) % (strata + 1) - 1, strata)


def test_whole_numbers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).integers(-10, 10, 1_000).astype(np.float64)
    codes = np.arange(1_000) % 3 - 1
    monkeypatch.setattr(np, "split", None)  # nothing is taken apart to be sorted
    check(values, codes, 2)
    monkeypatch.setattr(ordering, "COUNT_BLOCK", 64)
    check(values, codes, 2)


@pytest.mark.parametrize("block", [64, 131_072])
@pytest.mark.parametrize("last", [2.5, np.nan, np.inf, -np.inf, 1e18])
def test_what_cannot_be_counted_is_seen_far_down(
    block: int, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering, "COUNT_BLOCK", block)
    check(np.append(np.arange(1_000.0) % 7, last), np.arange(1_001) % 2, 2)


@pytest.mark.parametrize("least", [-(2.0**52), 2.0**52, 2.0**62])
def test_large_whole_numbers_keep_every_digit(least: float) -> None:
    step = max(np.spacing(least), 1)
    values = least + step * np.tile([5.0, 1, 3, 1, 0, 9, 2, 2, 4, 8], 2_000)
    check(values, np.arange(values.size) % 2, 2)


def test_fractions_are_seen_where_only_the_least_differs_by_whole_numbers() -> None:
    check(np.array([0.1, 1.1, 2.1, 3.1, 0.1, 4.1]), [0, 1, 0, 1, 0, 1], 2)


@pytest.mark.parametrize("other", [1.0, 0.5], ids=["counted", "sorted"])
def test_there_is_one_zero(other: float) -> None:
    values, codes = np.array([-0.0, other, 0.0, -0.0, 1.0]), np.zeros(5, dtype=np.int16)
    (found,) = in_order(values, codes, np.arange(5), [5])
    assert not np.signbit(found).any()
