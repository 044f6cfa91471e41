"""With the extra `[fast]` the same numbers come out, only sooner."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_rows import cell_draws
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from fourfifths import Repairer
from fourfifths._repair.columns.kernel_choice import compiled_kernels, kernels_for
from fourfifths._repair.columns.kernels import Kernels
from fourfifths._repair.columns.numba_kernels import NumbaKernels, compile_loop
from fourfifths._repair.columns.quantiles import make_grid, rank_table

ROWS = 3_000
NUMPY, NUMBA = Kernels(), NumbaKernels()


def tables() -> dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    return {
        "even": np.linspace(-1, 1, 5_000),
        "normal": np.sort(random.normal(size=16_384)),
        "heavy tails": np.sort(random.standard_cauchy(5_000)),
        "one outlier": np.append(np.arange(2_000.0), 1e15),
        "few": np.array([-2.0, 0, 0.5, 7]),
        "one": np.array([3.0]),
        "wider than a number": np.array([-1.7e308, 0, 1.7e308]),
        "neighbours": np.nextafter(1.0, 2) ** np.arange(3_000),
    }


# --- each loop ---


@pytest.mark.parametrize("kernels", [NUMPY, NUMBA], ids=["numpy", "numba"])
def test_values_of_strata_are_gathered_behind_each_other(kernels: Kernels) -> None:
    nan = np.nan
    chunks = [
        ([np.array([1.0, 2, nan, 4, 5]), np.array([nan, 7, 8, 9, 0])], [2, 0, 1, -1, 1]),
        ([np.array([6.0, nan, nan]), np.array([1.0, 2, 3])], [1, -1, 0]),
    ]
    out = [np.zeros(4), np.zeros(4)]
    filled, missing = np.array([0, 3]), np.zeros((2, 3), dtype=np.int64)
    for columns, strata in chunks:
        codes = np.array(strata, dtype=np.int16)
        kernels.gather(columns, codes, range(1, 3), filled=filled, out=out, missing=missing)
    # Stratum 1 has three values, stratum 2 has one.
    assert np.array_equal(out[0], [nan, 5, 6, 1], equal_nan=True)
    assert np.array_equal(out[1], [8, 0, 1, nan], equal_nan=True)
    assert filled.tolist() == [3, 4]
    assert missing.tolist() == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("name", tables())
def test_knots_are_counted_as_searchsorted_counts_them(name: str) -> None:
    knots = tables()[name]
    random = np.random.default_rng(3)
    between = random.uniform(knots[0] / 2, knots[-1] / 2, ROWS)
    values = np.concatenate([knots, np.nextafter(knots, np.inf), between, [-1.7e308, 1.7e308]])
    grid = make_grid(knots)
    counts = NUMBA.knots_up_to(values, grid)
    np.testing.assert_array_equal(counts, np.searchsorted(knots, values, side="right"))
    np.testing.assert_array_equal(counts, NUMPY.knots_up_to(values, grid))


@pytest.mark.parametrize("distinct", [1, 3, 300, ROWS])
@pytest.mark.parametrize("seed", [None, 6])
def test_levels_are_the_same(distinct: int, seed: int | None) -> None:
    values = np.random.default_rng(7).integers(0, distinct, ROWS) / 4
    ranks = rank_table(np.sort(values), 1_000)
    draws = None if seed is None else cell_draws(ROWS, seed)

    def levels(kernels: Kernels) -> Any:
        return kernels.levels(
            values,
            ranks.grid,
            level_after=ranks.level_after,
            is_shared=ranks.is_shared,
            positions_of=partial(ranks._positions, draws=draws),
            level_count=ranks.levels,
            size=ranks.size,
        )

    np.testing.assert_array_equal(levels(NUMBA), levels(NUMPY))
    np.testing.assert_array_equal(levels(NUMBA), ranks.levels_of(values, draws))


@pytest.mark.parametrize("cell_count", [1, 7, 20_000])
def test_positions_are_the_same(cell_count: int) -> None:
    random = np.random.default_rng(4)
    cells = random.integers(0, cell_count, ROWS)
    low = random.normal(size=cell_count)
    options = {
        "uniforms": random.random(ROWS),
        "counts": np.bincount(cells, minlength=cell_count),
        "step": random.random(cell_count),
        "low": low,
        "last": low + random.random(cell_count) * 9,
    }
    order = random.permutation(ROWS)
    before = {name: array.copy() for name, array in options.items()}
    positions = NUMBA.even_positions(order, cells, **options)
    np.testing.assert_array_equal(positions, NUMPY.even_positions(order, cells, **options))
    for name, array in options.items():  # nothing is written to them
        np.testing.assert_array_equal(array, before[name])


@given(st.lists(st.floats(), min_size=1, max_size=60), st.integers(1, 8))
def test_floats_of_all_kinds_are_sorted(values: list[float], repeats: int) -> None:
    array = np.array(values * repeats) + 0.0
    expected = np.sort(array)
    NUMBA.sort(array)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("name", tables())
def test_sorted_tables_are_those_of_numpy(name: str) -> None:
    values = np.random.default_rng(9).permutation(tables()[name])
    values = np.concatenate([values, -values[:5], [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]])
    expected = np.sort(values)
    NUMBA.sort(values)
    np.testing.assert_array_equal(values, expected)
    assert not np.signbit(values[values == 0]).any()


# --- whole repairs ---


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let each test decide when numba cannot be imported any more."""
    yield monkeypatch
    monkeypatch.undo()
    compiled_kernels.cache_clear()


def large_table() -> pd.DataFrame:
    """Return two groups of enough rows for compiled loops."""
    random = np.random.default_rng(8)
    row_count = 24_000
    group = np.arange(row_count) % 2
    return pd.DataFrame(
        {
            "float": random.normal(size=row_count) * (1 + group),
            "missing": np.where(random.random(row_count) < 0.1, np.nan, random.gamma(1 + group)),
            "whole": random.poisson(3 + group),
            "zeros": np.where(random.random(row_count) < 0.9, 0, random.normal(size=row_count)),
            "letter": random.choice(list("abc"), row_count),
            "group": group,
        }
    )


@pytest.mark.parametrize("scope", ["column"])
@pytest.mark.parametrize("method", ["geometric", "combinatorial", "random"])
@pytest.mark.parametrize("ties", ["split", "mid"])
def test_repairs_are_the_same(
    scope: str, method: str, ties: str, without_numba: pytest.MonkeyPatch
) -> None:
    table = large_table()
    columns = [name for name in table.columns if name != "group"]
    options: dict[str, Any] = {"scope": scope, "method": method, "ties": ties, "amount": 0.7}
    repairer = Repairer("group", columns=columns, **options)
    assert type(kernels_for(12_000)) is NumbaKernels
    compiled = repairer.fit_transform(table)
    without_numba.delitem(sys.modules, "fourfifths._repair.columns.numba_kernels")
    without_numba.setitem(sys.modules, "numba", None)
    compiled_kernels.cache_clear()
    assert type(kernels_for(12_000)) is Kernels
    pd.testing.assert_frame_equal(compiled, repairer.fit_transform(table), check_exact=True)
    assert not compiled.equals(table)


# --- compiling ---


def test_it_compiles_where_nothing_can_be_kept() -> None:
    asked = []

    def nowhere(*, nogil: bool, cache: bool = False) -> Any:
        asked.append((nogil, cache))
        if cache:
            raise RuntimeError("no locator available")
        return njit(nogil=nogil)

    assert compile_loop(lambda value: value + 1, compiler=nowhere)(1) == 2
    assert asked == [(True, True), (True, False)]
