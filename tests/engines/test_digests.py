"""Digests of parts add up to that of the table."""

import pyarrow as pa
import pytest

from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.load import rows_of


def digest_of(cells):
    rows = rows_of(pa.table({"a": cells}))
    digest = ColumnDigest(name="a", column=rows.dataframe["a"].head(0))
    digest.add(rows)
    return digest


@pytest.mark.parametrize(
    "cells",
    [
        ["x", "y", None, "x", "z"],
        [*map(str, range(25_000)), "n/a", None, "007"],  # more than a digest keeps
        [str(number / 4) for number in range(25_000)],
    ],
)
@pytest.mark.parametrize("cut", [0, 1, 20_500])
def test_merged_digests_are_that_of_all_rows(cells, cut):
    whole, first, second = (
        digest_of(pa.array(part, pa.string())) for part in (cells, cells[:cut], cells[cut:])
    )
    first.merge(second)
    assert (first.rows, first.known_rows) == (len(cells), len(cells) - cells.count(None))
    assert first.counts == whole.counts
    assert first.is_complete == whole.is_complete
    assert {*first.shapes} == {*whole.shapes}
    assert (first.low, first.high) == (whole.low, whole.high)


def test_limits_of_whole_numbers_are_merged():
    first, second = digest_of(pa.array([3, 9])), digest_of(pa.array([None, -4]))
    first.merge(second)
    assert (first.low, first.high, first.rows, first.known_rows) == (-4, 9, 4, 3)
