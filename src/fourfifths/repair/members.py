"""Some rows and the stratum of each: all at once, or stratum by stratum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fourfifths.counts import BoolArray, CodeArray, IntArray


@dataclass(frozen=True)
class Members:
    """Some rows and the stratum of each.

    Attributes
    ----------
    rows : int array or slice
        A slice where all are meant: nothing is copied then.
    strata : int array
        The stratum of each of these rows; -1 for rows of none.
    """

    rows: IntArray | slice
    strata: CodeArray

    def some(self, chosen: BoolArray) -> Members:
        """Return those for which it is true; the same object where it is for all."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        return Members(self.at(places), self.strata[places])

    def at(self, places: IntArray) -> IntArray:
        """Return the rows at these places among them."""
        return places + self.rows.start if isinstance(self.rows, slice) else self.rows[places]

    @cached_property
    def by_stratum(self) -> list[tuple[int, IntArray]]:
        """Each stratum that occurs with its places among the rows, in order."""
        order = np.argsort(self.strata, kind="stable")
        ordered = self.strata[order]
        strata = np.arange(int(ordered[-1]) + 1 if ordered.size else 0)
        first = np.searchsorted(ordered, strata, side="left")
        last = np.searchsorted(ordered, strata, side="right")
        return [
            (int(stratum), order[first[stratum] : last[stratum]])
            for stratum in np.flatnonzero(first < last)
        ]


def everyone(strata: CodeArray) -> Members:
    """Return all rows that have a stratum.

    Examples
    --------
    >>> everyone(np.array([1, -1, 0, 1], dtype=np.int16)).by_stratum
    [(0, array([1])), (1, array([0, 2]))]
    """
    return Members(slice(0, strata.size), strata).some(strata >= 0)


def parts(strata: CodeArray, size: int) -> Iterator[Members]:
    """Return the rows that have a stratum in parts of about so many, one after the other.

    A stratum of at most so many rows is in one part, wherever its rows are: what is dealt evenly
    in each part is then dealt evenly in the stratum. Of larger ones each part has its rows of one
    stretch of the table.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 0, 0, 0, 1], dtype=np.int16)
    >>> [part.at(np.arange(part.strata.size)).tolist() for part in parts(codes, 3)]
    [[0, 1], [3, 4, 5], [2, 6]]
    """
    members = everyone(strata)
    if strata.size <= size:
        yield members
        return
    stretches = [slice(start, start + size) for start in range(0, strata.size, size)]
    number = int(strata.max()) + 2  # -1 is counted too
    counts = np.sum([np.bincount(strata[own] + 1, minlength=number) for own in stretches], axis=0)
    is_small = counts[1:] <= size
    for own in stretches:
        codes = strata[own]
        part = Members(own, codes).some((codes >= 0) & ~is_small[codes])
        if part.strata.size:
            yield part
    # Small strata follow each other until they are as many rows as a part has.
    batch = np.cumsum(np.where(is_small, counts[1:], 0)) // size
    small = members.some(is_small[members.strata])
    for _, places in Members(small.rows, batch[small.strata].astype(np.int16)).by_stratum:
        yield Members(small.at(places), small.strata[places])
