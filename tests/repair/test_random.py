"""Draws: uniform one by one, even together, and each call's own."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from fourfifths._repair.columns.kernels import MIN_COMPILED_VALUES
from fourfifths._repair.random import (
    Calls,
    Draws,
    even_draws,
    even_uniforms,
    fresh_seed,
    shuffled_rows,
)

RANDOM = np.random.default_rng(0)


def test_draws_in_a_cell_take_one_of_each_of_its_parts() -> None:
    cells = RANDOM.integers(0, 9, 500)
    draws = even_uniforms(cells, np.random.default_rng(0))
    for cell in range(9):
        own = np.sort(draws[cells == cell])
        assert np.floor(own * own.size).tolist() == list(range(own.size))


def test_a_draw_alone_is_uniform_whatever_its_cell_and_place() -> None:
    cells = np.array([0, 0, 0, 1, 2, 2])
    draws = np.stack([even_uniforms(cells, np.random.default_rng(seed)) for seed in range(2_000)])
    pvalues = [stats.kstest(row, "uniform").pvalue for row in draws.T]
    assert min(pvalues) > 0.01
    assert draws.min() >= 0
    assert draws.max() < 1


def test_who_of_a_cell_draws_what_does_not_depend_on_the_order_of_rows() -> None:
    # The first row is above the second as often as below it.
    cells = np.zeros(2, dtype=np.int64)
    above = [
        np.diff(even_uniforms(cells, np.random.default_rng(seed)))[0] > 0 for seed in range(2_000)
    ]
    assert stats.binomtest(sum(above), 2_000).pvalue > 0.01


def test_no_rows_have_no_draws() -> None:
    assert even_uniforms(np.empty(0, dtype=np.int64), np.random.default_rng(0)).tolist() == []


def test_each_call_draws_anew_and_the_same_seed_draws_the_same() -> None:
    def first_draws(seed: int) -> list[float]:
        calls = Calls(seed)
        return [calls.next().generator().random() for _ in range(5)]

    assert first_draws(0) == first_draws(0)
    assert len({*first_draws(0), *first_draws(1)}) == 10


def test_parts_of_a_call_draw_apart_from_each_other_and_from_other_calls() -> None:
    draws = [
        Draws(seed=0, key=(1,)),
        Draws(seed=0, key=(1,)).substream(0),
        Draws(seed=0, key=(1,)).substream(1),
        Draws(seed=0, key=(2,)).substream(0),
    ]
    assert len({each.generator().random() for each in draws}) == 4


def test_a_seed_is_kept_and_none_is_a_new_one() -> None:
    assert fresh_seed(7) == 7
    assert fresh_seed(None) != fresh_seed(None)


def test_a_cell_deals_one_of_each_of_the_parts_between_its_limits() -> None:
    cells, low, high = RANDOM.integers(0, 3, 400), np.array([0, 50, 90]), np.array([50, 90, 95])
    draws = even_draws(cells, low, high=high, random=np.random.default_rng(0))
    for cell in range(3):
        own = np.sort(draws[cells == cell])
        part = (own - low[cell]) / (high[cell] - low[cell]) * own.size
        assert np.floor(part).tolist() == list(range(own.size))


class AlmostOne:
    """A source of chance whose draws are as near to 1 as can be."""

    bit_generator = np.random.PCG64(0)

    def random(self, size: int) -> np.ndarray:
        return np.full(size, np.nextafter(1.0, 0))


@pytest.mark.parametrize("times", [1, 1_000], ids=["numpy", "compiled"])
def test_the_upper_limit_is_never_reached(times: int) -> None:
    cells = np.repeat([0, 1, 2], np.array([3, 7, 49]) * times)
    assert (cells.size >= MIN_COMPILED_VALUES) == (times > 1)
    low, high = np.array([0, 10, 10**6]), np.array([10, 11, 10**6 + 49])
    draws = even_draws(cells, low, high=high, random=AlmostOne())
    assert (draws < high[cells]).all()
    assert (draws >= low[cells]).all()
    assert (high[cells] - draws).min() < 1e-9


def test_every_order_of_a_cell_is_as_likely() -> None:
    cells = np.array([0, 1, 0, 1, 0])
    orders = dict.fromkeys(permutations(range(3)), 0)
    for seed in range(6_000):
        draws = even_uniforms(cells, np.random.default_rng(seed))
        orders[tuple(np.argsort(draws[cells == 0]).tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > 0.01


def test_two_draws_of_one_source_are_independent() -> None:
    random, cells = np.random.default_rng(0), np.zeros(20_000, dtype=np.int64)
    first, second = even_uniforms(cells, random), even_uniforms(cells, random)
    assert stats.spearmanr(first, second).pvalue > 0.01
    assert stats.spearmanr(first, np.arange(cells.size)).pvalue > 0.01


class Keys:
    """A source of chance that draws these 16-bit keys, four to a word."""

    def __init__(self, *keys: int) -> None:
        self.words = np.array(keys, dtype=np.uint16).view(np.uint64)
        self.bit_generator = self

    def random_raw(self, word_count: int) -> np.ndarray:
        return self.words[:word_count]


def test_rows_are_shuffled_into_the_order_of_their_keys() -> None:
    keys = Keys(300, 2, 65_535, 2, 1, 0, 0, 0)
    assert shuffled_rows(5, keys).tolist() == [4, 1, 3, 0, 2]
    assert shuffled_rows(0, keys).tolist() == []


def test_a_shuffle_has_every_row_once() -> None:
    rows = shuffled_rows(1_001, np.random.default_rng(0))
    assert sorted(rows.tolist()) == list(range(1_001))
    assert abs(stats.spearmanr(rows, np.arange(1_001)).statistic) < 0.1
