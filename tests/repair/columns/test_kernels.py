"""The loops in numpy, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fourfifths._repair.columns.kernels import (
    VALUES_PER_LOOKUP_CHUNK,
    Kernels,
    cells_of,
    levels_at,
)
from fourfifths._repair.columns.quantiles import make_grid

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("size", [0, 1, 500, 2 * VALUES_PER_LOOKUP_CHUNK + 3])
def test_knots_are_counted_as_searchsorted_counts_them(size: int) -> None:
    knots = np.unique(RANDOM.normal(size=1_000))
    values = np.append(RANDOM.normal(size=size), knots[:size:3])
    counts = Kernels().knots_up_to(values, make_grid(knots))
    np.testing.assert_array_equal(counts, np.searchsorted(knots, values, side="right"))


def test_cells_are_equal_parts_of_the_range_and_the_end_cells_take_what_is_outside() -> None:
    grid = make_grid(np.array([0.0, 3, 7, 10]))  # 8 cells, 1.25 wide
    cells = cells_of(np.array([-1e300, -1, 0, 1.2, 1.3, 9.9, 10, 1e300]), grid)
    assert cells.tolist() == [0, 0, 0, 0, 1, 7, 7, 7]


def test_all_values_are_in_one_cell_where_the_range_is_no_number() -> None:
    grid = make_grid(np.array([-1.7e308, 0, 1.7e308]))
    assert cells_of(np.array([-1.7e308, 0, 1.7e308]), grid).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("size", "level_count"), [(1, 1), (7, 3), (100, 16), (10**6, 16_384)])
def test_the_level_of_a_position_is_its_definition(size: int, level_count: int) -> None:
    positions = np.unique(RANDOM.integers(0, size, 2_000))
    expected = [position * level_count // size for position in positions.tolist()]
    for fraction in (0.0, 0.999):
        assert levels_at(positions + fraction, level_count, size).tolist() == expected


def test_tied_values_have_the_levels_of_the_positions_they_are_given() -> None:
    # 1, 5 x 6, 9 at 4 levels, floor(r 4 / 8): 5 is at positions 1 to 6, so at levels 0 to 3.
    grid = make_grid(np.array([1.0, 5, 9]))
    asked = []

    def positions_of(tied: Any, knots: np.ndarray) -> np.ndarray:
        asked.append((tied.tolist(), knots.tolist()))
        return np.array([6.5, 1.2, 3.9])

    levels = Kernels().levels(
        np.array([0.0, 5, 1, 5, 7, 5, 99]),
        grid,
        level_after=np.array([0, 0, 3, 3]),
        is_shared=np.array([False, False, True, False]),
        positions_of=positions_of,
        level_count=4,
        size=8,
    )
    assert asked == [([1, 3, 5], [1, 1, 1])]
    assert levels.tolist() == [0, 3, 0, 0, 3, 1, 3]


def test_positions_of_a_cell_go_up_by_its_step_from_the_draw_of_its_first_row() -> None:
    positions = Kernels().even_positions(
        np.array([4, 0, 3, 1, 2]),
        np.array([0, 2, 0, 2, 0]),
        uniforms=np.array([0.9, 0.8, 0.7, 0.25, 0.5]),
        counts=np.array([3, 0, 2]),
        step=np.array([1.0, 7.0, 10.0]),
        low=np.array([0.0, 7.0, 100.0]),
        last=np.array([2.4, 7.0, 1e9]),
    )
    # Cell 0 has rows 4, 0, 2 at .5, 1.5 and 2.5, which is cut to 2.4; cell 2 has rows 3 and 1.
    assert positions.tolist() == [1.5, 112.5, 2.4, 102.5, 0.5]


def test_values_are_sorted_with_missing_ones_last() -> None:
    values = np.array([3.0, np.nan, -np.inf, 1, np.inf])
    Kernels().sort(values)
    np.testing.assert_array_equal(values, [-np.inf, 1, 3, np.inf, np.nan])
