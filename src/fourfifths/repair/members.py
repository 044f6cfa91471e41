"""Some rows and the stratum of each: all at once, or stratum by stratum."""

from __future__ import annotations

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
        """Return those for which it is true."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        return Members(self.at(places), self.strata[places])

    def at(self, places: IntArray) -> IntArray:
        """Return the rows at these places among them."""
        return places if isinstance(self.rows, slice) else self.rows[places]

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
    return Members(slice(None), strata).some(strata >= 0)
