"""Columns that are fitted without having them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.columns.gathered import fit_gathered, sort_present
from fourfifths._repair.columns.model import fit_columns
from fourfifths._tables.load import rows_of
from fourfifths._tables.strata import Strata, fit_strata
from fourfifths._tables.types import ColumnType
from fourfifths.errors import ColumnError

CHUNK_ROWS = 70
TYPES = (ColumnType(name=0, kind="number"), ColumnType(name=1, kind="integer"))


def make_columns(row_count: int) -> tuple[list[FloatArray], CodeArray]:
    """Return two columns with ties, missing values and signed zeros, and three strata."""
    random = np.random.default_rng(3)
    numbers = random.normal(size=row_count).round(1)
    numbers[random.random(row_count) < 0.1] = np.nan
    whole = random.integers(-5, 5, row_count).astype(np.float64)
    return [numbers, whole], random.integers(0, 3, row_count).astype(np.int16)


def strata_of(array: FloatArray, codes: CodeArray) -> Strata:
    """Return the strata that codes make of the rows of an array."""
    strata, _ = fit_strata(
        rows_of(array), None, values=codes, bands={}, unseen="error", small="error"
    )
    return strata


# Room for both columns, for one, and for less than a stratum.
@pytest.mark.parametrize("max_values", [2000, 500, 1])
def test_the_fit_is_that_of_columns_in_memory(max_values: int) -> None:
    columns, codes = make_columns(500)
    strata = strata_of(np.stack(columns, axis=1), codes)

    def read_columns(indices: Sequence[int]) -> Iterator[tuple[list[FloatArray], CodeArray]]:
        for start in range(0, codes.size, CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            yield [columns[index][chunk] for index in indices], codes[chunk]

    fitted = fit_gathered(TYPES, read_columns, strata=strata, levels=64, max_values=max_values)
    expected = fit_columns(columns, TYPES, strata=strata, codes=codes, ties="split", levels=64)
    for column, in_memory in zip(fitted, expected.columns, strict=True):
        assert np.array_equal(column.consensus, in_memory.consensus)
        assert np.array_equal(column.values, in_memory.values)
        for ranks, ranks_in_memory in zip(column.strata, in_memory.strata, strict=True):
            assert np.array_equal(ranks.knots, ranks_in_memory.knots)
            assert np.array_equal(ranks.upto, ranks_in_memory.upto)
            assert ranks.size == ranks_in_memory.size


@pytest.mark.parametrize("max_values", [2000, 1])
def test_a_stratum_of_few_values_is_named(max_values: int) -> None:
    values = np.array([1.0, 2, 3, 4, 5, 6, np.nan, np.nan])
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int16)
    strata = strata_of(values[:, None], codes)
    with pytest.raises(ColumnError, match=r"fewer than 4 values .*'1' has 2"):
        fit_gathered(
            TYPES[:1],
            lambda _: iter([([values], codes)]),
            strata=strata,
            levels=8,
            max_values=max_values,
        )


@pytest.mark.parametrize("most", [10**6, 300, 7])
def test_values_are_sorted_in_pieces(most: int) -> None:
    values = np.random.default_rng(0).integers(-9, 9, 1000) / 2
    values[::7] = np.nan
    values[1::7] = -0.0
    expected = sorted(value for value in values.tolist() if value == value)
    ordered = sort_present(values, piece_size=most)
    assert ordered.tolist() == expected
    assert not np.signbit(ordered[ordered == 0]).any()
    assert sort_present(np.empty(0)).size == 0
