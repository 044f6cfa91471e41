"""Positions in cells: by the row alone with a key, even together without, uniform one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from drawn_rows import cell_draws
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths._arrays import FloatArray
from fourfifths._repair.columns.cells import row_order
from fourfifths._repair.columns.kernel_choice import MIN_COMPILED_VALUES, compiled_kernels
from fourfifths._repair.draws import Purpose, RowDraws

RANDOM = np.random.default_rng(0)


# --- without a key ---


def test_rows_of_a_cell_take_one_of_each_of_its_parts() -> None:
    cells = RANDOM.integers(0, 9, 500)
    uniforms = cell_draws(500).uniforms(cells)
    for cell in range(9):
        own = np.sort(uniforms[cells == cell])
        assert np.floor(own * own.size).tolist() == list(range(own.size))


def test_a_cell_deals_one_of_each_of_the_parts_between_its_limits() -> None:
    cells, low, high = RANDOM.integers(0, 3, 400), np.array([0, 50, 90]), np.array([50, 90, 95])
    positions = cell_draws(400).positions(cells, low, high=high)
    for cell in range(3):
        own = np.sort(positions[cells == cell])
        part = (own - low[cell]) / (high[cell] - low[cell]) * own.size
        assert np.floor(part).tolist() == list(range(own.size))


def test_one_row_is_uniform_whatever_its_cell_and_place() -> None:
    cells = np.array([0, 0, 0, 1, 2, 2])
    uniforms = np.stack([cell_draws(6, seed).uniforms(cells) for seed in range(2_000)])
    pvalues = [stats.kstest(row, "uniform").pvalue for row in uniforms.T]
    assert min(pvalues) > 0.01
    assert uniforms.min() >= 0
    assert uniforms.max() < 1


def test_every_order_of_a_cell_is_as_likely() -> None:
    cells = np.array([0, 1, 0, 1, 0])
    orders = dict.fromkeys(permutations(range(3)), 0)
    for seed in range(6_000):
        uniforms = cell_draws(5, seed).uniforms(cells)
        orders[tuple(np.argsort(uniforms[cells == 0]).tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > 0.01


def test_the_rows_of_a_cell_are_the_same_whatever_other_cells_there_are() -> None:
    cells = RANDOM.integers(0, 5, 300)
    draws = cell_draws(300)
    uniforms = draws.uniforms(cells)
    for cell in range(5):
        own = np.flatnonzero(cells == cell)
        alone = draws.take(own).uniforms(np.zeros(own.size, dtype=np.int64))
        assert alone.tolist() == uniforms[own].tolist()


@given(st.integers(0, 99), st.integers(1, 60))
def test_a_row_that_is_alone_in_its_cell_goes_where_its_draw_says(seed: int, count: int) -> None:
    # Its position is that of a row with a key, to the bit, also far from 0.
    cells = np.arange(count)
    low = np.arange(count) * 1_000
    high = low + 1 + np.arange(count)
    alone = cell_draws(count, seed).positions(cells, low, high=high)
    keyed = cell_draws(count, seed, is_keyed=True).positions(cells, low, high=high)
    assert alone.tolist() == keyed.tolist()


def test_draws_for_two_columns_are_independent() -> None:
    cells = np.zeros(20_000, dtype=np.int64)
    first, second = (cell_draws(20_000, index=index).uniforms(cells) for index in (0, 1))
    assert stats.spearmanr(first, second).pvalue > 0.01
    assert stats.spearmanr(first, np.arange(cells.size)).pvalue > 0.01


def test_no_rows_have_no_draws() -> None:
    for is_keyed in (False, True):
        draws = cell_draws(0, is_keyed=is_keyed)
        assert draws.uniforms(np.empty(0, dtype=np.int64)).tolist() == []


# --- with a key ---


@pytest.mark.parametrize("cell_count", [1, 7])
def test_with_a_key_the_position_is_a_function_of_the_row(cell_count: int) -> None:
    cells = RANDOM.integers(0, cell_count, 200)
    low, high = np.arange(cell_count) * 10, np.arange(cell_count) * 10 + 5
    draws = cell_draws(200, is_keyed=True)
    positions = draws.positions(cells, low, high=high)
    # The definition: from `low`, the share of the cell that the row's draw says.
    expected = low[cells] + 5 * draws.rows.uniforms("column", 0)
    assert positions == pytest.approx(expected)
    some = RANDOM.permutation(200)[:50]
    again = draws.take(some).positions(cells[some], low, high=high)
    assert again.tolist() == positions[some].tolist()


# --- limits ---


class HighestDraws(RowDraws):
    """Rows that all draw the largest number below 1."""

    def uniforms(self, purpose: Purpose, index: int = 0) -> FloatArray:
        return np.full(self.rows.size, np.nextafter(1.0, 0))


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("times", [1, 1_000], ids=["numpy", "compiled"])
def test_the_upper_limit_is_never_reached(times: int, is_keyed: bool) -> None:
    compiled_kernels()  # loads numba: so few values would not
    cells = np.repeat([0, 1, 2], np.array([3, 7, 49]) * times)
    assert (cells.size >= MIN_COMPILED_VALUES) == (times > 1)
    low, high = np.array([0, 10, 10**6]), np.array([10, 11, 10**6 + 49])
    draws = cell_draws(cells.size, is_keyed=is_keyed)
    draws = replace(draws, rows=HighestDraws(**vars(draws.rows)))
    positions = draws.positions(cells, low, high=high)
    assert (positions < high[cells]).all()
    assert (positions >= low[cells]).all()
    assert (high[cells] - positions).min() < 1e-9


# --- the order of rows ---


def test_rows_are_in_the_order_of_the_last_16_bits_of_their_draws() -> None:
    keys = np.array([300, 2, 65_535, 2, 1])
    uniforms = (RANDOM.integers(0, 2**37, 5) * 2**16 + keys) * 2.0**-53
    assert row_order(uniforms).tolist() == [4, 1, 3, 0, 2]
    assert row_order(np.empty(0)).tolist() == []


def test_the_order_has_every_row_once_and_does_not_follow_the_draw() -> None:
    uniforms = cell_draws(1_001).rows.uniforms("column", 0)
    rows = row_order(uniforms)
    assert sorted(rows.tolist()) == list(range(1_001))
    assert abs(stats.spearmanr(uniforms[rows], np.arange(1_001)).statistic) < 0.1
