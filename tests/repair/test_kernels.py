"""With the extra `[fast]` the same numbers come out, only sooner."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourfifths import Repairer
from fourfifths._repair import kernels as compiled
from fourfifths._repair import numba_kernels as numba_loops
from fourfifths._repair.quantiles import in_order, make_grid, rank_table
from fourfifths._repair.random import spread

ROWS = 3_000
GROUPS = np.random.default_rng(1).integers(0, 3, ROWS)


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "LEAST", 1)
    assert compiled.loops(1) is numba_loops


def without_numba(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(compiled, "_loops", lambda: None)
        assert compiled.loops(ROWS) is None
        return work()


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


@pytest.mark.parametrize("name", tables())
def test_places_are_those_of_searchsorted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    knots = tables()[name]
    random = np.random.default_rng(3)
    between = random.uniform(knots[0] / 2, knots[-1] / 2, ROWS)
    values = np.concatenate([knots, np.nextafter(knots, np.inf), between, [-1.7e308, 1.7e308]])
    grid = make_grid(knots)
    found = grid.places(values)
    np.testing.assert_array_equal(found, np.searchsorted(knots, values, side="right"))
    np.testing.assert_array_equal(found, without_numba(monkeypatch, lambda: grid.places(values)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(), min_size=1, max_size=60), st.integers(1, 8))
def test_floats_of_all_kinds_are_sorted(values: list[float], again: int) -> None:
    array = np.array(values * again)
    expected = np.sort(array)
    rows, codes = np.arange(array.size), np.zeros(array.size, dtype=np.int16)
    (found,) = in_order(array, codes, rows, [array.size])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("cells", [1, 7, 20_000])
def test_draws_are_the_same(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    own = np.random.default_rng(4).integers(0, cells, ROWS)
    found = spread(own, np.random.default_rng(5))
    again = without_numba(monkeypatch, lambda: spread(own, np.random.default_rng(5)))
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("distinct", [3, 300, ROWS])
@pytest.mark.parametrize("seed", [None, 6])
def test_levels_are_the_same(
    distinct: int, seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(7).integers(0, distinct, ROWS) / 4
    ranks = rank_table(np.sort(values), 1_000)

    def levels() -> Any:
        random = None if seed is None else np.random.default_rng(seed)
        return ranks.at_levels(values, random), ranks.at_ranks(values, random)

    for found, again in zip(levels(), without_numba(monkeypatch, levels), strict=True):
        np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("name", tables())
def test_sorted_tables_are_those_of_numpy(name: str) -> None:
    values = np.random.default_rng(9).permutation(tables()[name])
    values = np.concatenate([values, -values[:5], [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]])
    rows, codes = np.arange(values.size), np.zeros(values.size, dtype=np.int16)
    (found,) = in_order(values, codes, rows, [values.size])
    np.testing.assert_array_equal(found, np.sort(values))
    assert not np.signbit(found[found == 0]).any()


def frame() -> pd.DataFrame:
    random = np.random.default_rng(8)
    table = pd.DataFrame(
        {
            "float": random.normal(size=ROWS) * (1 + GROUPS),
            "missing": np.where(random.random(ROWS) < 0.1, np.nan, random.gamma(1 + GROUPS)),
            "whole": random.poisson(3 + GROUPS),
            "zeros": np.where(random.random(ROWS) < 0.9, 0, random.integers(0, 500, ROWS)),
            "letter": random.choice(list("abc"), ROWS),
        }
    )
    return table.assign(group=GROUPS)


@pytest.mark.parametrize("scope", ["column", "joint"])
@pytest.mark.parametrize("method", ["geometric", "combinatorial", "random"])
@pytest.mark.parametrize("ties", ["split", "mid"])
def test_repairs_are_the_same(
    scope: str, method: str, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = frame()
    repairer = Repairer("group", scope=scope, method=method, ties=ties, amount=0.7)
    found = repairer.fit_transform(table)
    again = without_numba(monkeypatch, lambda: repairer.fit_transform(table))
    pd.testing.assert_frame_equal(found, again, check_exact=True)
    assert not found.equals(table)


def test_few_values_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "LEAST", 10)
    assert compiled.loops(10) is numba_loops
    assert compiled.loops(9) is None


def test_numpy_does_it_where_numba_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("fourfifths._repair.numba_kernels")
    monkeypatch.delitem(sys.modules, "fourfifths._repair.numba_kernels")
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled._loops.__wrapped__() is None


def test_it_compiles_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba_loops.njit

    def nowhere(*, nogil: bool, cache: bool = False) -> Any:
        if cache:
            raise RuntimeError("no locator available")
        return real(nogil=nogil)

    monkeypatch.setattr(numba_loops, "njit", nowhere)
    assert numba_loops._compiled(lambda value: value + 1)(1) == 2
