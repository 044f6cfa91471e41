"""Rows in chunks, and repairs of chunks: each row once, ties even, the same on any threads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from drawn_rows import row_draws
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.columns.model import (
    Members,
    Model,
    chunk_numbers,
    fit_columns,
    member_chunks,
    members_of,
    run_all,
)
from fourfifths._repair.draws import RowDraws
from fourfifths._tables.load import Rows
from fourfifths._tables.strata import fit_strata
from fourfifths.errors import ColumnError

# --- chunks ---


def rows_of(chunk: Members) -> list[int]:
    return chunk.row_numbers(np.arange(chunk.strata.size)).tolist()


CODES = st.lists(st.integers(-1, 6), min_size=1, max_size=80).map(
    lambda codes: np.array(codes, dtype=np.int16)
)


@given(CODES, st.integers(1, 40))
def test_each_row_that_has_a_stratum_is_in_one_chunk(codes: CodeArray, size: int) -> None:
    chunks = list(member_chunks(codes, size))
    rows = [row for chunk in chunks for row in rows_of(chunk)]
    assert sorted(rows) == np.flatnonzero(codes >= 0).tolist()
    for chunk in chunks:
        assert chunk.strata.tolist() == codes[rows_of(chunk)].tolist()
        assert chunk.strata.size < 2 * size or codes.size <= size
    assert len(chunks) <= 2 * np.ceil(codes.size / size)


@given(CODES, st.integers(1, 100))
def test_a_stratum_that_fits_a_chunk_is_in_one(codes: CodeArray, size: int) -> None:
    where = [{*chunk.strata.tolist()} for chunk in member_chunks(codes, size)]
    for stratum in {*codes.tolist()} - {-1}:
        if np.sum(codes == stratum) <= size:
            assert sum(stratum in chunk for chunk in where) == 1


def test_small_strata_share_chunks() -> None:
    codes = np.arange(100, dtype=np.int16) % 50
    assert [chunk.strata.size for chunk in member_chunks(codes, 20)] == [20] * 5


def test_rows_of_no_stratum_are_in_no_chunk() -> None:
    codes = np.array([-1, 0, 0, 0, -1, 0], dtype=np.int16)
    assert [rows_of(chunk) for chunk in member_chunks(codes, 2)] == [[1], [2, 3], [5]]


@given(CODES)
def test_strata_have_their_rows_in_order(codes: CodeArray) -> None:
    members = members_of(codes)
    rows = {stratum: members.row_numbers(at).tolist() for stratum, at in members.by_stratum}
    strata = sorted({*codes.tolist()} - {-1})
    assert rows == {code: np.flatnonzero(codes == code).tolist() for code in strata}


# --- repairs ---


def fitted(values: FloatArray, group: Any, **options: Any) -> tuple[Model, CodeArray]:
    """Fit a repair to an array and return it with the stratum of each row."""
    rows = Rows(array=values)
    strata, codes = fit_strata(
        rows, None, values=np.asarray(group), bands={}, unseen="error", small="error"
    )
    column_types = rows.types(dict.fromkeys(range(values.shape[1])))
    settings = {"ties": "split", "levels": 16_384, **options}
    columns = rows.numbers(column_types)
    model = fit_columns(columns, column_types, strata=strata, codes=codes, **settings)
    return model, codes


def applied(
    model: Model,
    values: FloatArray,
    codes: CodeArray,
    method: Any = "random",
    amount: float = 1.0,
    draws: RowDraws | None = None,
    **options: Any,
) -> FloatArray:
    """Return the repaired array."""
    columns = [values[:, column].copy() for column in range(values.shape[1])]
    out = [column.copy() for column in columns]
    draws = draws or row_draws(values.shape[0])
    model.apply(columns, codes, out=out, method=method, amount=amount, draws=draws, **options)
    return np.column_stack(out)


def five_levels(rows: int) -> tuple[FloatArray, FloatArray]:
    """Return a column of 1 to 5 whose two groups lie far apart, and the groups."""
    random = np.random.default_rng(0)
    group = np.arange(rows) % 2
    low, high = [0.5, 0.3, 0.1, 0.06, 0.04], [0.02, 0.08, 0.2, 0.3, 0.4]
    values = np.where(group, random.choice(5, rows, p=high), random.choice(5, rows, p=low)) + 1.0
    return values[:, None], group


@pytest.mark.parametrize("method", ["geometric", "random"])
def test_a_rare_stratum_is_repaired_evenly_over_many_chunks(method: str) -> None:
    # One row in a hundred, in forty stretches; as many levels as it has rows.
    random = np.random.default_rng(0)
    group = np.arange(32_000) % 100 == 0
    values = random.poisson(np.where(group, 2, 6)).astype(np.float64)[:, None]
    model, codes = fitted(values, group)
    repaired = applied(model, values, codes, method, chunk_rows=800).ravel()
    assert stats.ks_2samp(repaired[group], repaired[~group]).statistic <= 2 / 320
    assert stats.ks_2samp(values[group, 0], values[~group, 0]).statistic > 0.5


def test_rows_of_each_chunk_have_draws_of_their_own() -> None:
    # 1 to 4 against 9 four times, in chunks of one row: who stands where is chance.
    values = np.array([1.0, 2, 3, 4, 9, 9, 9, 9])[:, None]
    model, _ = fitted(values, list("aaaabbbb"))
    codes = np.ones(400, dtype=np.int16)
    repaired = applied(model, np.full((400, 1), 9.0), codes, chunk_rows=1)
    counts = np.unique(repaired, return_counts=True)[1]
    assert stats.chisquare(counts, [100] * 4).pvalue > 0.01


@pytest.mark.parametrize("amount", [0.6, 1.0])
def test_any_number_of_threads_gives_the_same_numbers(amount: float) -> None:
    values, group = five_levels(1_000)
    values = np.column_stack([values, values[::-1], np.arange(1_000.0)])
    repairs = []
    for workers in (1, 2, 7, None):
        model, codes = fitted(values, group, workers=workers)
        options = {"chunk_rows": 64, "workers": workers}
        repairs.append(applied(model, values, codes, amount=amount, **options))
    for repaired in repairs[1:]:
        assert np.array_equal(repairs[0], repaired)
    assert not np.array_equal(repairs[0], values)


def test_rows_without_a_stratum_and_missing_values_stay() -> None:
    values, group = five_levels(400)
    model, codes = fitted(values, group)
    before = values.copy()
    before[::10] = np.nan
    codes = np.where(np.arange(400) % 7 == 0, -1, codes).astype(np.int16)
    after = applied(model, before, codes, chunk_rows=50)
    kept = (codes < 0) | np.isnan(before[:, 0])
    np.testing.assert_array_equal(after[kept], before[kept])
    assert not np.array_equal(after[~kept], before[~kept])


def test_a_full_repair_writes_each_group_the_median_of_both() -> None:
    values = np.array([1.0, 2, 3, 4, 10, 20, 30, 40])[:, None]
    model, codes = fitted(values, list("aaaabbbb"))
    assert applied(model, values, codes, "geometric").ravel().tolist() == [5.5, 11, 16.5, 22] * 2


def test_a_share_of_whole_rows_is_drawn_evenly_in_each_stratum() -> None:
    values = np.column_stack([np.arange(200.0), np.arange(200.0)])
    group = np.arange(200) >= 100
    model, codes = fitted(values, group)
    changed = applied(model, values, codes, amount=0.3) != values
    assert np.array_equal(changed[:, 0], changed[:, 1])
    # Between the groups there are 100 values, so every row that is drawn changes.
    assert Counter(codes[changed[:, 0]].tolist()) == {0: 30, 1: 30}


@pytest.mark.parametrize("method", ["geometric", "random"])
def test_with_keys_neither_chunks_nor_the_order_of_rows_matter(method: str) -> None:
    values, group = five_levels(1_000)
    values = np.column_stack([values, values[::-1]])
    model, codes = fitted(values, group)
    draws = row_draws(1_000, is_keyed=True)
    whole = applied(model, values, codes, method, 0.6, draws)
    assert np.array_equal(applied(model, values, codes, method, 0.6, draws, chunk_rows=7), whole)
    order = np.random.default_rng(1).permutation(1_000)[:300]
    some = applied(model, values[order], codes[order], method, 0.6, draws.take(order))
    assert np.array_equal(some, whole[order])
    assert not np.array_equal(whole, values)


def test_who_is_repaired_does_not_depend_on_the_level_that_is_drawn() -> None:
    # Whoever has zeros only is spread evenly over the levels, also if half of the rows are drawn.
    values = np.concatenate([np.zeros(2_000), np.arange(2_000.0)])[:, None]
    group = np.repeat(["a", "b"], 2_000)
    model, codes = fitted(values, group)
    for is_keyed in (False, True):
        draws = row_draws(4_000, is_keyed=is_keyed)
        repaired = applied(model, values, codes, "random", 0.5, draws)[:2_000, 0]
        written = repaired[repaired > 0]
        assert written.size == pytest.approx(1_000, abs=100)
        # Between 0 and 0 to 1,999 lie the consensus 0 to 999.5.
        assert stats.kstest(written, stats.uniform(0, 999.5).cdf).pvalue > 0.01


def test_which_category_is_drawn_does_not_decide_whether_it_is_written() -> None:
    # a has u only and b has v only: half of each should change, and half of these do.
    frame = pd.DataFrame({"c": ["u"] * 2_000 + ["v"] * 2_000})
    rows = Rows(frame=nw.from_native(frame, eager_only=True))
    strata, codes = fit_strata(
        rows, None, values=frame["c"].to_numpy(), bands={}, unseen="error", small="error"
    )
    column_types = rows.types({"c": None})
    values = rows.numbers(column_types)
    model = fit_columns(values, column_types, strata=strata, codes=codes, ties="split", levels=99)
    for is_keyed in (False, True):
        draws = row_draws(4_000, is_keyed=is_keyed)
        repaired = applied(model, values[0][:, None], codes, "geometric", 0.5, draws)
        changed = repaired[:, 0] != values[0]
        for stratum in (0, 1):
            share = int(changed[codes == stratum].sum())
            assert stats.binomtest(share, 2_000, 0.25).pvalue > 0.01


def test_nothing_is_drawn_without_ties_and_shares() -> None:
    distinct, _ = fitted(np.arange(10.0)[:, None], np.arange(10) % 2)
    values, group = five_levels(100)
    tied, _ = fitted(values, group)
    mid, _ = fitted(values, group, ties="mid")
    assert not distinct.needs_draws("geometric", 0.5)
    assert not distinct.needs_draws("random", 1.0)
    assert distinct.needs_draws("random", 0.5)
    assert tied.needs_draws("geometric", 0.5)
    assert not mid.needs_draws("geometric", 0.5)


def test_a_stratum_needs_four_values_of_a_column() -> None:
    values = np.arange(10.0)[:, None]
    values[:3] = np.nan
    expected = "column 0: fewer than 4 values that are not missing in a stratum: 'a' has 2"
    with pytest.raises(ColumnError, match=expected):
        fitted(values, list("aaaaabbbbb"))


# --- threads ---


@pytest.mark.parametrize("workers", [None, 1, 3])
@pytest.mark.parametrize("row_count", [10, 10**6])
def test_results_come_in_the_order_of_the_items(workers: int | None, row_count: int) -> None:
    numbers = iter(range(20))
    squares = run_all(lambda n: n * n, numbers, row_count=row_count, workers=workers)
    assert squares == [number**2 for number in range(20)]


# --- places ---


@pytest.mark.parametrize("ties", ["split", "mid"])
def test_a_column_is_placed_by_the_levels_of_each_stratum(ties: str) -> None:
    values = np.array([4.0, 40, 2, 20, 3, 30, 1, 10])
    model, codes = fitted(values[:, None], list("abababab"), ties=ties)
    codes[0] = -1
    values[1] = np.nan
    placed = model.place(values, members_of(codes), column_index=0, draws=row_draws(8))
    assert np.arange(8)[placed.rows].tolist() == [2, 3, 4, 5, 6, 7]
    assert placed.values.tolist() == [2, 20, 3, 30, 1, 10]
    assert placed.level.tolist() == [1, 1, 2, 2, 0, 0]
    assert placed.column == 0


@pytest.mark.parametrize("chunk_rows", [5, 16, 40, 64, 1000])
def test_chunk_numbers_are_the_chunks_of_memory(chunk_rows: int) -> None:
    random = np.random.default_rng(chunk_rows)
    codes = random.choice(np.arange(-1, 5, dtype=np.int16), 64, p=[0.1, 0.5, 0.2, 0.1, 0.05, 0.05])
    row_counts = np.bincount(codes[codes >= 0], minlength=5)
    numbers = chunk_numbers(codes, np.arange(64), row_counts=row_counts, chunk_rows=chunk_rows)
    chunks = member_chunks(codes, chunk_rows)
    expected = {
        frozenset(chunk.row_numbers(np.arange(chunk.strata.size)).tolist()) for chunk in chunks
    }
    known = np.flatnonzero(codes >= 0)
    actual = {
        frozenset(known[numbers[known] == number].tolist()) for number in np.unique(numbers[known])
    }
    assert actual == expected
