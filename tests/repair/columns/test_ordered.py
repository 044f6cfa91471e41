"""Ordered columns by hand, and few values in all strata at once against the definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn_rows import cell_draws
from hypothesis import given
from hypothesis import strategies as st

from fourfifths import Repairer
from fourfifths._repair.columns.ordered import (
    MAX_STEPS,
    FewValues,
    OrderedColumn,
    few_values_of,
    fit_ordered,
)
from fourfifths._repair.columns.quantiles import rank_table

A, B = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])


# --- one column ---


def fitted(kind: str = "number", max_levels: int = 100) -> OrderedColumn:
    categories = tuple(f"c{index}" for index in range(41)) if kind == "ordered" else ()
    return fit_ordered(
        "x",
        kind,
        categories=categories,
        ordered=[A, B],
        level_count=min(max_levels, A.size, B.size),
        max_levels=max_levels,
    )


def test_the_consensus_is_the_midpoint_of_two_strata() -> None:
    column = fitted()
    assert column.levels == 4
    assert column.values.tolist() == [1, 2, 3, 4, 10, 20, 30, 40]
    assert column.consensus.tolist() == [5.5, 11, 16.5, 22]


def test_there_are_no_more_levels_than_asked_for_or_than_the_smallest_stratum_has_values() -> None:
    # Two levels: the medians 1.5 and 3.5 of one stratum, 15 and 35 of the other.
    assert fitted(max_levels=2).consensus.tolist() == [8.25, 19.25]
    ordered = [np.arange(3.0), np.arange(100.0)]
    column = fit_ordered(
        "x",
        "number",
        categories=(),
        ordered=ordered,
        level_count=min(50, *map(len, ordered)),
        max_levels=50,
    )
    assert column.levels == 3
    assert column.values.size == 50


def test_full_repair_keeps_whole_numbers_and_categories_among_the_values() -> None:
    # Nearest to 5.5, 11, 16.5 and 22: 4, 10, 20 and 20.
    assert fitted().full.tolist() == [5.5, 11, 16.5, 22]
    assert fitted().nearest.tolist() == [3, 4, 5, 5]
    for kind in ("integer", "ordered"):
        assert fitted(kind).full.tolist() == [4, 10, 20, 20]


@pytest.mark.parametrize(
    ("kind", "method", "amount", "expected"),
    [
        ("number", "geometric", 1.0, [5.5, 11, 16.5, 22]),
        ("number", "geometric", 0.5, [3.25, 6.5, 9.75, 13]),
        ("integer", "geometric", 0.5, [3.25, 6.5, 9.75, 13]),
        ("integer", "random", 0.5, [4, 10, 20, 20]),
        # Half of the way from index 0, 1, 2, 3 to 3, 4, 5, 5 is 1.5, 2.5, 3.5, 4: 2, 3, 4, 4.
        ("number", "combinatorial", 0.5, [3, 4, 10, 10]),
        # A tenth of the way is .3, 1.3, 2.3, 3.2: nearest 0, 1, 2, 3.
        ("number", "combinatorial", 0.1, [1, 2, 3, 4]),
        # Nearest to 3.25, 6.5, 9.75 and 13 among the codes that occur: 3, 4, 10 and 10.
        ("ordered", "geometric", 0.5, [3, 4, 10, 10]),
        ("ordered", "geometric", 1.0, [4, 10, 20, 20]),
        ("number", "combinatorial", 1.0, [4, 10, 20, 20]),
        # Of two strata, floor(.9 rho + .1 / 2) is 0 for both ranks: the lower one's values.
        ("number", "definition", 0.1, [1, 2, 3, 4]),
        ("number", "definition", 1.0, [1, 2, 3, 4]),
        ("number", "combinatorial", 0.0, [1, 2, 3, 4]),
    ],
)
def test_what_is_written_by_hand(
    kind: str, method: str, amount: float, expected: list[float]
) -> None:
    column = fitted(kind)
    level = column.levels_of(A, 0, draws=cell_draws(4))
    assert level.tolist() == [0, 1, 2, 3]
    strata = np.zeros(4, dtype=np.int16)
    repaired = column.repaired(A, level, strata=strata, method=method, amount=amount)
    assert repaired.tolist() == expected


def test_without_shared_values_a_full_repair_is_a_step_function() -> None:
    # Knots 1, 2, 3, 4 and 10, 20, 30, 40: a value below the first one is at the first level.
    steps = fitted().full_steps("geometric")
    assert steps is not None
    assert [height.tolist() for height in steps.heights] == 2 * [[5.5, 5.5, 11, 16.5, 22]]
    integers = fitted("integer").full_steps("combinatorial")
    assert integers is not None
    assert integers.heights[1].tolist() == [4, 4, 10, 20, 20]
    # By the definition a stratum keeps the lower of both representatives, which is A's.
    definition = fitted().full_steps("definition")
    assert definition is not None
    assert [height.tolist() for height in definition.heights] == 2 * [[1, 1, 2, 3, 4]]


def test_where_levels_share_a_value_a_full_repair_is_no_step_function() -> None:
    column = fit_ordered(
        "x", "number", categories=(), ordered=[np.ones(4), B], level_count=4, max_levels=4
    )
    assert column.full_steps("geometric") is None


def test_many_strata_of_many_levels_are_not_kept_as_steps() -> None:
    values = np.arange(MAX_STEPS / 2 + 1)
    for level_count, is_kept in ((values.size - 1, True), (values.size, False)):
        column = fit_ordered(
            "x",
            "number",
            categories=(),
            ordered=[values, values],
            level_count=level_count,
            max_levels=level_count,
        )
        assert (column.full_steps("geometric") is not None) is is_kept


def test_steps_along_the_values_are_not_lost_by_rounding() -> None:
    # From index 0 to 20; in floats, .3 20 and the like may fall short of a whole index.
    values = np.arange(21.0)
    column = fit_ordered(
        "x",
        "number",
        categories=(),
        ordered=[values, values],
        level_count=min(100, len(values)),
        max_levels=100,
    )
    for amount in (0.1, 0.3, 0.7, 0.9):
        level = np.full(1, column.levels - 1)
        repaired = column.repaired(
            np.zeros(1),
            level,
            strata=np.zeros(1, dtype=np.int16),
            method="combinatorial",
            amount=amount,
        )
        assert repaired.tolist() == [round(20 * amount)]


def by_definition(
    ordered: list[list[float]], amount: float, *, kind: str = "number"
) -> list[list[float]]:
    """Return what the definition writes for the levels of each stratum."""
    column = fit_ordered(
        "x",
        kind,
        categories=(),
        ordered=[np.array(stratum) for stratum in ordered],
        level_count=min(map(len, ordered)),
        max_levels=99,
    )
    return [
        column.repaired(
            np.zeros(column.levels),
            np.arange(column.levels),
            strata=np.full(column.levels, stratum, dtype=np.int16),
            method="definition",
            amount=amount,
        ).tolist()
        for stratum in range(len(ordered))
    ]


def test_by_the_definition_two_strata_are_a_step() -> None:
    # Ranks 0 and 1; floor((1 - amount) rank + amount / 2) is 0 for both, at any amount above 0.
    for amount in (1e-6, 0.5, 1.0):
        assert by_definition([[1.0, 9], [4.0, 6]], amount) == [[1, 6], [1, 6]]


def test_by_the_definition_three_strata_take_one_step() -> None:
    strata = [[0.0, 0, 2], [1.0, 1, 3], [2.0, 3, 4]]
    # floor(amount) = 0, floor(1) = 1, floor(2 - amount) = 1 for 0 < amount < 1.
    for amount in (0.1, 0.9):
        assert by_definition(strata, amount) == [[0, 0, 2], [1, 1, 3], [1, 1, 3]]
    assert by_definition(strata, 1.0) == [[1, 1, 3]] * 3


def test_by_the_definition_five_strata_come_nearer_in_steps() -> None:
    # The median has rank 2. At .5: floor(1), floor(1.5), 2, floor(2.5), floor(3).
    strata = [[10.0 * rank] * 2 for rank in range(5)]
    assert [written[0] for written in by_definition(strata, 0.5)] == [10, 10, 20, 20, 30]
    # Equal representatives have one rank: of 0, 30, 30, 30, 40 these are 0, 1, 1, 1, 4.
    strata = [[value] * 2 for value in (30.0, 0, 30, 40, 30)]
    # At .75: 0 -> floor(1.5), 1 -> floor(1.75), 4 -> floor(2.5).
    assert [written[0] for written in by_definition(strata, 0.75)] == [30, 30, 30, 30, 30]
    # At .25: 0 -> floor(.5), 1 -> floor(1.25), 4 -> floor(3.5).
    assert [written[0] for written in by_definition(strata, 0.25)] == [30, 0, 30, 30, 30]


def test_the_definition_goes_by_the_stratum_not_by_the_value() -> None:
    # Two levels: medians 1.5 and 3.5 of the large stratum, 1 and 2 of the small one. 1 is below
    # its stratum's median but is of the upper stratum all the same.
    assert by_definition([[1.0, 2, 3, 4], [1.0, 2]], 0.5) == [[1, 2], [1, 2]]
    # Whole numbers stay whole: nearest to 1.5 is 1, of two the lower.
    assert by_definition([[1.0, 2, 3, 4], [2.0, 4]], 0.5, kind="integer") == [[1, 3], [1, 3]]


# --- few values ---

STRATA = st.lists(st.lists(st.integers(-3, 3), min_size=30, max_size=60), min_size=2, max_size=4)


def cells(parts: list[list[float]], levels: int) -> FewValues:
    found = few_values_of(
        np.unique(np.concatenate(parts).astype(np.float64)),
        [rank_table(np.sort(np.array(part, dtype=np.float64)), levels) for part in parts],
    )
    assert found is not None
    return found


@given(STRATA, st.integers(28, 30), st.integers(0, 9))
def test_each_place_has_the_level_of_its_definition(
    parts: list[list[float]], levels: int, seed: int
) -> None:
    values = np.concatenate(parts).astype(np.float64)
    codes = np.repeat(np.arange(len(parts), dtype=np.int16), [len(part) for part in parts])
    order = np.random.default_rng(seed).permutation(values.size)
    level = cells(parts, levels).levels_of(
        values[order], codes[order], draws=cell_draws(values.size, seed)
    )
    assert level is not None
    for place, part in enumerate(parts):
        own = np.lexsort((level, values[order], codes[order] != place))[: len(part)]
        assert level[own].tolist() == [r * levels // len(part) for r in range(len(part))]


def test_a_value_that_only_others_have_is_at_the_level_before_it() -> None:
    # Of 20 places at 20 levels, 2 has those from 0 to 9 and 5 those from 10 to 19.
    table = cells([[2] * 10 + [5] * 10, [1] * 5 + [3] * 5 + [9] * 10], 20)
    codes = np.zeros(3, dtype=np.int16)
    level = table.levels_of(np.array([1.0, 3, 9]), codes, draws=cell_draws(3))
    assert level is not None
    assert level.tolist() == [0, 9, 19]


def test_a_value_that_no_one_has_is_left_to_the_strata() -> None:
    table = cells([[2] * 20 + [5] * 20, [1] * 40], 40)
    codes = np.zeros(2, dtype=np.int16)
    assert table.levels_of(np.array([2.0, 2.5]), codes, draws=cell_draws(2)) is None


def test_few_rows_of_many_cells_are_left_to_the_strata() -> None:
    table = cells([list(range(20)) * 4] * 10, 80)  # 200 cells
    codes = np.zeros(25, dtype=np.int16)
    assert table.levels_of(np.ones(25), codes, draws=cell_draws(25)) is not None
    assert table.levels_of(np.ones(24), codes[:24], draws=cell_draws(24)) is None


def test_many_values_are_left_to_the_strata() -> None:
    values = np.arange(40.0)
    assert few_values_of(values, [rank_table(values, 40)] * 2) is None
    assert few_values_of(values[:10], [rank_table(values[:10].repeat(4), 40)] * 2) is not None


def counts() -> pd.DataFrame:
    """Return few whole numbers, some missing, that two groups have differently often."""
    group = np.repeat(["a", "b"], [300, 500])
    found = np.random.default_rng(0).poisson(np.where(group == "a", 2, 5)).astype(np.float64)
    found[[3, 400]] = np.nan
    return pd.DataFrame({"x": found, "g": group})


@pytest.mark.parametrize("is_keyed", [False, True])
def test_at_once_and_one_by_one_each_row_has_the_same_level(is_keyed: bool) -> None:
    table = counts().dropna()
    (column,) = Repairer("g", columns=["x"], scope="column").fit(table).model_.columns
    values, codes = table["x"].to_numpy(), (table["g"] == "b").to_numpy().astype(np.int16)
    draws = cell_draws(values.size, is_keyed=is_keyed)
    at_once = column.levels_in_all_strata(values, codes, draws=draws)
    assert at_once is not None
    for stratum in (0, 1):
        rows = np.flatnonzero(codes == stratum)
        one_by_one = column.levels_of(values[rows], stratum, draws=draws.take(rows))
        assert one_by_one.tolist() == at_once[rows].tolist()


def test_only_values_that_levels_share_are_split() -> None:
    assert not fitted().has_shared_values
    assert not fitted(max_levels=2).has_shared_values
    tied = fit_ordered(
        "x", "number", categories=(), ordered=[A, A * 0], level_count=min(9, A.size), max_levels=9
    )
    assert tied.has_shared_values


def test_rows_that_are_kept_or_missing_stay_where_few_values_are_repaired() -> None:
    table = counts()
    new = table.assign(g=np.where(np.arange(800) % 100 == 0, "c", table["g"]))
    repairer = Repairer("g", columns=["x"], scope="column", unseen="keep").fit(table)
    found = repairer.transform(new)
    kept = new["g"] == "c"
    assert kept.sum() == 8
    assert found[kept].equals(new[kept])
    assert np.flatnonzero(found["x"].isna()).tolist() == [3, 400]
    assert not found.equals(new)


def test_few_values_in_the_middle_stay_together() -> None:
    # Consensus: 2 at levels 0 to 19, 2.5 at those to 59, 3 at those to 79; in the middle of their
    # places stand 1 (30), 2 (70), 3 (10) and 4 (50).
    values = np.repeat([[1.0], [2], [3], [4]], [60, 20, 20, 60], axis=0)
    group = np.repeat(["a", "b"], 80)
    repairer = Repairer(scope="column", method="geometric", ties="mid")
    found = repairer.fit_transform(values, protected=group).ravel()
    assert found.tolist() == [2.5] * 60 + [3] * 20 + [2] * 20 + [2.5] * 60
