"""The place of each row among its equals, without having all rows in memory."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from fourfifths._tables.engines.places import EqualRows


def places_by_hand(words: list[int]) -> list[int]:
    """Count the equals before each row, one by one."""
    seen: Counter[int] = Counter()
    places = []
    for word in words:
        places.append(seen[word])
        seen[word] += 1
    return places


@pytest.mark.parametrize("distinct", [1, 5, 400, 10**18])
@pytest.mark.parametrize(("buckets", "block"), [(1, 10**6), (8, 10**6), (4, 64)])
def test_places_are_those_of_counting_one_by_one(distinct: int, buckets: int, block: int) -> None:
    random = np.random.default_rng(3)
    values = random.integers(0, distinct, 1000)
    # Multiplied by an odd number, so that they differ in their first bits too.
    words = values.astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    equal_rows = EqualRows(
        1000, rows_per_bucket=1000 // buckets, entries_per_block=block, entries_per_read=7
    )
    with closing(equal_rows) as rows:
        for start in range(0, 1000, 130):
            rows.add(words[start : start + 130])
        rows.finish()
        expected = places_by_hand(words.tolist())
        for sizes in ([130] * 7 + [90], [1000], [1, 0, 999]):  # as often as one likes
            assert np.concatenate(list(rows.places(sizes))).tolist() == expected
        repeated = [row for row, place in enumerate(expected) if place]
        assert rows.repeated_rows == len(repeated)
        assert rows.first_repeated == (repeated[0] if repeated else None)
