"""How far rows of unknown membership could move the impact ratios of an attribute."""

from __future__ import annotations

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._stats.proportions import bisect, divide
from fourfifths._tables.counts import Counts
from fourfifths._tables.groups import Attribute, Tally, compatible

LEVEL_HALVINGS = 60
# Where a level was found by halving, a number of rows may miss a whole number by this much.
ROUNDING = 1e-6


def ratio_bounds(
    attribute: Attribute,
    counts: Counts,
    *,
    sums: Tally,
    selected: BoolArray,
    references: BoolArray,
) -> FloatArray:
    """Return the lowest and the highest impact ratio that rows of unknown membership allow.

    The ratio of a group is lowest if every such row that was not selected belongs to the group,
    and every one that was selected belongs to the reference. It is highest if every one that was
    selected belongs to the group, and those that were not selected lower the reference's rate.

    Parameters
    ----------
    attribute : Attribute
    counts : Counts
        Only cells with an outcome.
    sums : Tally
        Of the rows whose membership is known.
    selected : bool array
        Which of the cells have the favorable outcome.
    references : bool array
        The groups that can be the reference. If it is designated it is one group. If it is the
        highest rate, then the reference changes with the rates: the ratio is to the rate that
        is then the highest among these groups, and theirs is 1 at most.

    Returns
    -------
    float array
        One row per group; NaN where there is no bound because no one in the reference would be
        selected. A designated reference has none.

    Notes
    -----
    In a joint attribute, a row may be known in one column and unknown in another, so that some
    groups are ruled out. Then the highest ratio is a bound that need not be reached if several
    groups can be the reference.
    """
    group_count = len(attribute.groups)
    may_join = np.stack([compatible(attribute, counts, group) for group in range(group_count)])
    selected_may_join = may_join @ (counts.weight * selected)
    rejected_may_join = may_join @ (counts.weight * ~selected)
    n, x = sums.weight, sums.weight_selected
    lowest_rate = x / (n + rejected_may_join)
    highest_rate = (x + selected_may_join) / (n + selected_may_join)

    # Row by row, the groups that a group can be compared with other than itself.
    rivals = references & ~np.eye(group_count, dtype=bool)
    highest_reference = np.max(np.where(rivals, highest_rate, 0.0), axis=1)
    # Those who were not selected may join each of these groups, but only one of them.
    may_join_any = np.any(may_join[references], axis=0)
    shared_rows = float(counts.weight[may_join_any & ~selected].sum())
    lowest_reference = np.maximum(
        np.max(np.where(rivals, lowest_rate, 0.0), axis=1),
        lowest_highest_rate(x, n, is_rival=rivals, rows=shared_rows, exact=counts.exact),
    )
    low, high = divide(lowest_rate, highest_reference), divide(highest_rate, lowest_reference)
    if references.sum() > 1:
        # A group that can be the reference is then compared with itself. fmin: also where no one
        # in any other group was selected.
        may_be_one = references & (highest_rate > 0)
        low, high = (np.where(may_be_one, np.fmin(bound, 1.0), bound) for bound in (low, high))
    bounds = np.stack([low, high], axis=1)
    if references.sum() == 1:
        bounds[references] = np.nan
    return bounds


def lowest_highest_rate(
    selected: FloatArray, n: FloatArray, *, is_rival: BoolArray, rows: float, exact: bool
) -> FloatArray:
    """Return how low rows that were not selected can make the highest rate of several groups.

    Parameters
    ----------
    selected, n : float array
        Of each group.
    is_rival : bool array
        One row per answer: the groups it is about.
    rows : float
        How many rows that were not selected can be spread over the groups.
    exact : bool
        Whether they are whole persons.

    Examples
    --------
    Six rows lower 6 of 8 and 3 of 6 to 6 of 13 and 3 of 7, and not further.

    >>> x, n = np.array([6.0, 3.0]), np.array([8.0, 6.0])
    >>> both = np.array([[True, True]])
    >>> level = lowest_highest_rate(x, n, is_rival=both, rows=6, exact=True)
    >>> bool(level[0] == 6 / 13)
    True
    """

    def rows_needed(level: FloatArray) -> FloatArray:
        needed = np.maximum(divide(selected, level[:, None]) - n, 0.0)
        return np.ceil(needed - ROUNDING) if exact else needed

    def is_too_low(level: FloatArray) -> BoolArray:
        total = np.sum(np.where(is_rival, rows_needed(level), 0.0), axis=1)
        return np.asarray(total > rows)

    highest = np.max(np.where(is_rival, selected / n, 0.0), axis=1)
    lowest = bisect(is_too_low, low=np.zeros(highest.shape), high=highest, halvings=LEVEL_HALVINGS)
    # The search ends just below the level: a little above, whole rows are found exactly.
    level = lowest * (1 + 1e-12)
    if not exact:
        return np.asarray(level)
    lowered = selected / (n + np.nan_to_num(rows_needed(level)))
    return np.asarray(np.max(np.where(is_rival, lowered, 0.0), axis=1))
