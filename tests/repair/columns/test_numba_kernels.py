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
from fourfifths._repair.columns.kernels import Kernels, Steps
from fourfifths._repair.columns.numba_kernels import (
    HALF_BYTES,
    MAX_MOVES_PER_KEY,
    NumbaKernels,
    compile_loop,
    insertion_sort,
    radix_sort,
    sort_by_bytes,
)
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


@pytest.mark.parametrize("kernels", [NUMPY, NUMBA], ids=["numpy", "numba"])
def test_each_value_is_on_a_step_of_its_stratum(kernels: Kernels) -> None:
    # One stratum has the knots 0 and 10, the other only 5.
    steps = Steps(
        tables=[make_grid(np.array([0.0, 10])), make_grid(np.array([5.0]))],
        heights=[np.array([1.0, 2, 3]), np.array([4.0, 5])],
    )
    values = np.array([-1.0, 0, 9.9, 10, 99, 4.9, 5, -7, 7, np.nan, -0.0])
    strata = np.array([0, 0, 0, 0, 0, 1, 1, 1, -1, 1, 0], dtype=np.int16)
    out = np.full(values.size, 0.25)
    kernels.write_steps(values, strata, steps, out=out)
    assert out.tolist() == [1, 2, 2, 3, 3, 4, 5, 4, 0.25, 0.25, 2]


@pytest.mark.parametrize("kernels", [NUMPY, NUMBA], ids=["numpy", "numba"])
@pytest.mark.parametrize("name", tables())
def test_steps_are_found_as_searchsorted_finds_them(kernels: Kernels, name: str) -> None:
    # Beside a stratum of many knots that lie together, whose searches are the longest.
    knots = [tables()[name], np.append(np.arange(40.0), 1e9)]
    heights = [np.arange(part.size + 1.0) + 1e6 * index for index, part in enumerate(knots)]
    random = np.random.default_rng(5)
    strata = random.integers(0, 2, 9_000).astype(np.int16)
    values = np.concatenate([random.choice(knots[0], 4_500), 50 * random.normal(size=4_500)])
    out = np.full(values.size, np.nan)
    steps = Steps(tables=[make_grid(part) for part in knots], heights=heights)
    kernels.write_steps(values, strata, steps, out=out)
    for stratum in (0, 1):
        rows = strata == stratum
        count = np.searchsorted(knots[stratum], values[rows], side="right")
        assert np.array_equal(out[rows], heights[stratum][count])


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


# --- the sort, and its parts ---


def check_sorted(values: np.ndarray) -> None:
    """Check that values are sorted as numpy sorts them, to the bit, with all NaNs last."""
    expected = np.sort(values)
    expected[expected == 0] = 0.0  # numpy leaves either zero where it was
    keys, spare = values.copy().view(np.uint64), np.empty(values.size, dtype=np.uint64)
    radix_sort(keys, spare)
    number_count = int(np.count_nonzero(~np.isnan(values)))
    np.testing.assert_array_equal(keys[:number_count], expected.view(np.uint64)[:number_count])
    assert np.isnan(keys.view(np.float64)[number_count:]).all()


# Up to five keys, even those in reverse order need no more moves than are made.
SORTED_SIZES = (0, 1, 2, 3, 5, 6, 7, 255, 256, 257, 2_000)


def kinds_of_values() -> dict[str, np.ndarray]:
    """Return 2,000 values of each kind, in no order unless the name says so."""
    random = np.random.default_rng(12)
    size = SORTED_SIZES[-1]
    normal = random.normal(size=size)
    tiny = random.integers(-1_000, 1_000, size) * 5e-324
    # 1e9 lies between 2**29 and 2**30, so numbers of one multiple of 2**9 share their high half.
    shared = 2.0**9 * (1e9 // 2**9) + random.random(size) * 2**9
    near = np.sort(shared)
    near[::2], near[1::2] = near[1::2].copy(), near[::2].copy()
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308]
    # The NaNs whose bits are next to those of an infinity.
    special += (
        np.array([0x7FF << 52 | 1, 0xFFF << 52 | 1], dtype=np.uint64).view(np.float64).tolist()
    )
    return {
        "normal": normal,
        "sharing the high half": shared,
        "negative, sharing the high half": -shared,
        "1e9 with noise": 1e9 + normal,
        "neighbours in wrong order": near,
        "all equal": np.full(size, 2.5),
        "all NaN": np.full(size, np.nan),
        "all -0.0": np.full(size, -0.0),
        "two values": random.choice([-1.5, 1e300], size),
        "denormals": tiny,
        "special ones": random.choice(special, size),
        "special ones among others": np.where(
            random.random(size) < 0.3, random.choice(special, size), shared
        ),
        "sorted": np.sort(normal),
        "reversed": np.sort(normal)[::-1].copy(),
        "reversed, sharing the high half": np.sort(shared)[::-1].copy(),
        "any bits": random.integers(0, 2**64, size, dtype=np.uint64).view(np.float64),
    }


@pytest.mark.parametrize("name", kinds_of_values())
def test_values_are_sorted_to_the_bit(name: str) -> None:
    values = kinds_of_values()[name]
    for size in SORTED_SIZES:
        check_sorted(values[:size])


def test_the_values_that_share_their_high_half_do() -> None:
    kinds = kinds_of_values()
    for name in ("sharing the high half", "reversed, sharing the high half"):
        high_halves = kinds[name].view(np.uint64) >> np.uint64(32)
        assert np.unique(high_halves).size == 1, name
        assert np.unique(kinds[name]).size > 1_900, name


FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 5e-324, np.nan, -np.nan, np.inf, -np.inf])
# Floats of these bits have one high half, and any low one.
SHARED_HIGH_HALF = st.integers(0, 2**32 - 1).map(lambda low: (0x41CD_CD65 << 32) + low)


@given(st.lists(FLOATS, max_size=40), st.lists(SHARED_HIGH_HALF, max_size=40), st.booleans())
def test_any_values_are_sorted_to_the_bit(
    values: list[float], bits: list[int], is_negative: bool
) -> None:
    shared = np.array(bits, dtype=np.uint64).view(np.float64)
    array = np.concatenate([np.array(values, dtype=float), -shared if is_negative else shared])
    check_sorted(array)
    check_sorted(array[::-1].copy())


@pytest.mark.parametrize("first_byte", [0, 2, 4])
@pytest.mark.parametrize("byte_count", [1, 3, 4])
@pytest.mark.parametrize("size", [1, 2, 500])
def test_keys_are_sorted_by_their_bytes_and_else_keep_their_order(
    first_byte: int, byte_count: int, size: int
) -> None:
    random = np.random.default_rng(5)
    keys = random.integers(0, 2**64, size, dtype=np.uint64)
    keys &= np.uint64(0x0F00_0303_0103_0007)  # few values of each byte, and one of two bytes
    byte_values = keys.view(np.uint8).reshape(-1, 8)  # of a little-endian machine
    sorted_bytes = range(first_byte, first_byte + byte_count)
    counts = np.stack([np.bincount(byte_values[:, byte], minlength=256) for byte in sorted_bytes])
    mask = (1 << 8 * byte_count) - 1
    expected = sorted(keys.tolist(), key=lambda key: key >> 8 * first_byte & mask)
    source, target = sort_by_bytes(keys.copy(), np.zeros_like(keys), counts, first_byte)
    assert source.tolist() == expected
    assert target.size == size
    assert not np.shares_memory(source, target)


@pytest.mark.parametrize(
    ("size", "is_done"), [(0, True), (1, True), (2, True), (5, True), (6, False), (100, False)]
)
def test_so_many_moves_are_made_and_no_more(size: int, is_done: bool) -> None:
    # Keys in reverse order need n (n - 1) / 2 moves.
    keys = np.arange(size, dtype=np.uint64)[::-1].copy()
    assert (size * (size - 1) // 2 <= MAX_MOVES_PER_KEY * size) == is_done
    assert insertion_sort(keys) == is_done
    assert sorted(keys.tolist()) == list(range(size))  # none was lost
    assert keys.tolist() == list(range(size)) or not is_done
    assert size < 100 or keys[-1] == 0  # it stopped long before


def test_keys_that_are_in_order_need_no_moves() -> None:
    keys = np.sort(np.random.default_rng(1).integers(0, 50, 1_000, dtype=np.uint64))
    keys[-1] = np.uint64(2**64 - 1)
    expected = keys.tolist()
    assert insertion_sort(keys)
    assert keys.tolist() == expected


def test_a_few_keys_out_of_order_are_moved() -> None:
    keys = np.arange(1_000, dtype=np.uint64)
    keys[0], keys[999] = 999, 0  # 999 + 998 moves
    keys[[500, 501]] = keys[[501, 500]]
    assert insertion_sort(keys)
    assert keys.tolist() == list(range(1_000))


def test_nothing_beyond_the_keys_is_read() -> None:
    # Compiled, a loop reads on behind its arrays in silence; Python does not.
    none = np.empty(0, dtype=np.uint64)
    counts = np.zeros((HALF_BYTES, 256), dtype=np.int64)
    source, target = sort_by_bytes.py_func(none, none.copy(), counts, HALF_BYTES)
    assert source.size == target.size == 0


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
