"""Draws of rows: by key or content, uniform, independent, and the same in every call."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fourfifths._repair.draws import PURPOSES, draws_of, seed_of, uniform_of
from fourfifths._tables.load import rows_of
from fourfifths.errors import ColumnError

RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(size=(500, 2))
FRAME = pd.DataFrame({"x": VALUES[:, 0], "y": VALUES[:, 1], "id": np.arange(500)})


def drawn(frame: pd.DataFrame, **options: Any) -> Any:
    columns = [frame["x"].to_numpy(), frame["y"].to_numpy()]
    return draws_of(rows_of(frame), columns, **{"seed": 0, "key": None, **options})


# --- numbers ---


@pytest.mark.parametrize("purpose", PURPOSES)
def test_draws_are_uniform(purpose: Any) -> None:
    # Words that count up are the hardest case: they differ in few bits.
    uniforms = uniform_of(np.arange(20_000, dtype=np.uint64), purpose)
    assert stats.kstest(uniforms, "uniform").pvalue > 0.01
    assert uniforms.min() >= 0
    assert uniforms.max() < 1


def test_draws_for_different_purposes_are_independent() -> None:
    words = np.arange(20_000, dtype=np.uint64)
    draws = [uniform_of(words, purpose) for purpose in PURPOSES]
    draws += [uniform_of(words, "column", index) for index in (1, 2, 3)]
    # Of 45 pairs, none beyond four standard errors.
    for first, second in combinations(draws, 2):
        assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(20_000)


def test_draws_of_neighbouring_rows_are_independent() -> None:
    uniforms = uniform_of(np.arange(20_000, dtype=np.uint64), "tie")
    assert abs(np.corrcoef(uniforms[1:], uniforms[:-1])[0, 1]) < 4 / np.sqrt(20_000)


def test_a_draw_has_53_bits() -> None:
    uniforms = uniform_of(np.arange(1_000, dtype=np.uint64), "tie") * 2.0**53
    assert np.all(uniforms == np.floor(uniforms))
    assert 0.4 < np.mean(uniforms % 2) < 0.6


# --- rows ---


def test_the_same_rows_have_the_same_draws_and_another_seed_has_others() -> None:
    first = drawn(FRAME).uniforms("tie")
    assert drawn(FRAME).uniforms("tie").tolist() == first.tolist()
    other = drawn(FRAME, seed=1).uniforms("tie")
    assert not np.any(other == first)
    assert stats.spearmanr(first, other).pvalue > 0.01


def test_without_a_key_a_row_draws_by_its_content_wherever_it_stands() -> None:
    draws = drawn(FRAME)
    assert not draws.is_keyed
    order = RANDOM.permutation(500)
    again = drawn(FRAME.iloc[order])
    assert again.rows.tolist() == draws.rows[order].tolist()
    moved = drawn(FRAME.assign(y=FRAME["y"] + 1e-12))
    assert not np.any(moved.rows == draws.rows)


def test_equal_rows_are_told_apart_by_their_order() -> None:
    twins = pd.concat([FRAME[:3]] * 4, ignore_index=True)
    draws = drawn(twins)
    assert len({*draws.rows.tolist()}) == 12
    assert len({*draws.content.tolist()}) == 3
    assert len({*draws.content_uniforms().tolist()}) == 3
    # The first of the equals draws as it does alone.
    assert draws.rows[:3].tolist() == drawn(FRAME[:3]).rows.tolist()


def test_with_a_key_only_the_key_counts() -> None:
    draws = drawn(FRAME, key="id")
    assert draws.is_keyed
    other_content = drawn(FRAME.assign(x=0.0, y=1.0), key="id")
    assert other_content.rows.tolist() == draws.rows.tolist()
    assert len({*draws.rows.tolist()}) == 500
    same_key = drawn(FRAME[:1].assign(id=7), key="id")
    assert same_key.rows[0] == draws.rows[7]


def test_a_key_that_is_there_twice_is_an_error() -> None:
    twice = FRAME.assign(id=FRAME["id"] % 499)
    with pytest.raises(ColumnError, match="key='id': the key 0 occurs more than once"):
        drawn(twice, key="id")


@pytest.mark.parametrize("positions", [np.array([5, 3]), slice(2, 9)])
def test_some_of_the_rows_have_their_own_draws(positions: Any) -> None:
    draws = drawn(FRAME)
    some = draws.take(positions)
    assert some.uniforms("leaf").tolist() == draws.uniforms("leaf")[positions].tolist()
    assert some.content_uniforms().tolist() == draws.content_uniforms()[positions].tolist()
    assert some.is_keyed == draws.is_keyed


# --- seeds ---


def test_a_seed_is_kept_and_none_is_a_new_one() -> None:
    assert seed_of(7) == 7
    assert type(seed_of(np.int64(7))) is int
    assert seed_of(None) != seed_of(None)
    assert 0 <= seed_of(None) < 2**64


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_any_seed_of_64_bits_draws(seed: int) -> None:
    assert stats.kstest(drawn(FRAME, seed=seed).uniforms("tie"), "uniform").pvalue > 0.001
