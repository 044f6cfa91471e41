"""Pieces of sorted values give the fit of all values; no Spark is needed for it."""

import numpy as np
import pytest

from fourfifths._repair.columns.categories import fit_categories
from fourfifths._repair.columns.model import fit_sorted
from fourfifths._repair.engines.order_statistics import (
    DistinctValues,
    PieceCounts,
    ValueChoice,
    chosen,
    column_of,
    counts_before,
    plan_cells,
)
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import ColumnType
from fourfifths.errors import ColumnError, TableError

STRATA = Strata(by=("sex",), groups=(("F",), ("M",)), pooled=(), rows=(0, 0))


def pieces_of(values, cut_values):
    """Return the distinct values of two strata, cut where Spark would cut them."""
    cells = np.concatenate([np.full(part.size, cell) for cell, part in enumerate(values)])
    distinct = DistinctValues.of(cells, np.concatenate(values))
    keys = list(zip(distinct.cells.tolist(), distinct.values.tolist(), strict=True))
    number = np.array([sum(key >= cut for cut in cut_values) for key in keys])
    return [
        DistinctValues(
            cells=distinct.cells[number == index],
            values=distinct.values[number == index],
            rows=distinct.rows[number == index],
        )
        for index in np.unique(number)
    ]


def counts_of(piece):
    return PieceCounts(
        first=(int(piece.cells[0]), float(piece.values[0])),
        rows={cell: int(rows.sum()) for cell, _, rows in piece.by_cell()},
        distinct={cell: part.size for cell, part, _ in piece.by_cell()},
    )


def fitted(values, kind, *, levels, cuts, categories=()):
    pieces = pieces_of(values, cuts)
    counts = [counts_of(piece) for piece in pieces]
    typed = ColumnType(name="a", kind=kind, categories=categories)
    plans = plan_cells(counts, [typed], strata=STRATA, levels=levels)
    before = counts_before(counts)
    chosen_pieces = {0: [], 1: []}
    for piece, count in zip(pieces, counts, strict=True):
        for cell, part, rows in piece.by_cell():
            result = chosen(plans[cell], part, rows, before=before[count.first][cell])
            chosen_pieces[cell].append(result)
    column = column_of(typed, plans, chosen_pieces, cells=range(2), max_levels=levels)
    return typed, column


@pytest.mark.parametrize("seed", range(12))
def test_fit_is_that_of_all_values(seed):
    random = np.random.default_rng(seed)
    digits, levels = int(random.integers(0, 4)), int(random.integers(2, 80))
    values = [np.sort(random.normal(size=size).round(digits)) + 0.0 for size in (37, 151)]
    cuts = sorted(
        (int(cell), float(random.normal())) for cell in random.integers(0, 2, int(seed) % 5)
    )
    typed, column = fitted(values, "number", levels=levels, cuts=cuts)
    sizes = [part.size for part in values]
    expected = fit_sorted(typed, values, sizes=sizes, strata=STRATA, levels=levels)
    for name in ("values", "consensus", "representatives"):
        assert getattr(column, name).tolist() == getattr(expected, name).tolist(), name
    for ranks, expected_ranks in zip(column.strata, expected.strata, strict=True):
        for name in ("knots", "below", "upto"):
            assert getattr(ranks, name).tolist() == getattr(expected_ranks, name).tolist(), name
        assert (ranks.size, ranks.levels) == (expected_ranks.size, expected_ranks.levels)


def test_categories_are_counted():
    values = [np.array([0.0, 0, 2, 2, 2]), np.array([1.0, 1, 1, 2])]
    _, column = fitted(values, "category", levels=9, cuts=[(0, 1.0)], categories=("x", "y", "z"))
    expected = fit_categories("a", ("x", "y", "z"), counts=[[2, 0, 3], [0, 3, 1]])
    assert column.shares.tolist() == expected.shares.tolist()
    assert column.consensus.tolist() == expected.consensus.tolist()


def test_few_values_are_an_error():
    with pytest.raises(ColumnError, match=r"'a': fewer than 4 values .* 'M' has 3"):
        fitted([np.arange(9.0), np.arange(3.0)], "number", levels=9, cuts=[])


def test_rows_that_changed_between_the_passes_are_an_error():
    from fourfifths._tables.engines.spark_engine import SparkTable, arrow_table

    rows = SparkTable(frame=None).rows(
        arrow_table({"cell": np.array([0]), "value": np.array([1.5]), "rows": np.array([4])})
    )
    with pytest.raises(TableError, match=r"X: its rows changed while they were read"):
        ValueChoice(plans={}, pieces={}, before={})(iter([rows]))
