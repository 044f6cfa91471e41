"""Why a row was changed: value, rank, level, consensus, repaired value."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fourfifths import Repairer
from fourfifths._repair.columns.model import PlacedValues
from fourfifths._repair.explain import Cell, explain_cell, reason
from fourfifths.errors import TableError

HAND = pd.DataFrame({"x": [1.0, 2, 3, 4, 10, 20, 30, 40], "g": list("aaaabbbb")})
COLUMN: dict[str, Any] = {"scope": "column"}
OPTIONS: dict[str, Any] = {"columns": ["x"], "method": "geometric", "amount": 0.5, **COLUMN}


def hand_repairer(**options: Any) -> Repairer:
    return Repairer("g", **{**OPTIONS, **options}).fit(HAND)


@pytest.mark.parametrize(
    "row", [HAND.iloc[[1]], HAND.iloc[1], pl.from_pandas(HAND)[1], {"x": 2, "g": "a"}]
)
def test_a_row_is_explained_step_by_step(row: Any) -> None:
    found = hand_repairer().explain(row)
    assert found.stratum == "a"
    (cell,) = found.cells
    # The second of four: rank and level (1 + .5) / 4; half of the way from 2 to 11.
    assert (cell.column, cell.value, cell.rank, cell.level) == ("x", 2, 0.375, 0.375)
    assert (cell.consensus, cell.repaired) == (11, 6.5)
    assert "0.5 of the way to the consensus" in found.because
    assert "x: 2.0 (rank 0.375, level 0.375), consensus 11.0: 6.5" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["cells"][0]["repaired"] == 6.5


def test_a_row_of_an_array_is_explained() -> None:
    repairer = Repairer(method="geometric", amount=0.5, **COLUMN)
    repairer.fit(HAND[["x"]].to_numpy(), protected=HAND["g"])
    for value in ("b", ["b"], pd.Series(["b"])):
        for row in (np.array([[20.0]]), np.array([20.0]), [20.0]):
            (cell,) = repairer.explain(row, protected=value).cells
            assert (cell.column, cell.value, cell.consensus, cell.repaired) == ("0", 20, 11, 15.5)


def test_columns_that_are_not_repaired_may_be_left_out_of_a_row() -> None:
    repairer = Repairer("g", **OPTIONS)
    repairer.fit(HAND.assign(id=range(8)))
    for row in ({"x": 2, "g": "a"}, {"x": 2, "g": "a", "id": 1, "other": 7}):
        assert repairer.explain(row).cells[0].repaired == 6.5
    with pytest.raises(TableError, match="row: lacks 'x'; expected a value of each column"):
        repairer.explain({"g": "a", "id": 1})


@pytest.mark.parametrize(
    ("options", "because", "repaired"),
    [
        ({"amount": 0}, "the amount is 0, so nothing is changed", 2),
        ({"amount": 1}, "full repair: each value becomes the consensus of its level", 11),
        (
            {"method": "combinatorial", "amount": 1},
            "the column's value nearest to the consensus",
            10,
        ),
        # From index 1 to that of 10, the value nearest to 11, is 2.5 half of the way: 4, at 3.
        ({"method": "combinatorial"}, "along the column's values", 4),
        ({"method": "definition"}, "what one of the strata has at its level", 2),
        ({"method": "random", "amount": 1e-9}, "the row was not drawn, and is left unchanged", 2),
        (
            {"method": "random", "amount": 1 - 1e-9},
            "the row was drawn, and is repaired in full",
            11,
        ),
    ],
)
def test_the_reason_says_what_was_done(
    options: dict[str, Any], because: str, repaired: float
) -> None:
    found = hand_repairer().set_params(**options).explain({"x": 2, "g": "a"})
    assert because in found.because
    assert found.cells[0].repaired == repaired


def test_a_row_that_is_kept_and_a_missing_value_are_explained() -> None:
    repairer = hand_repairer(unseen="keep")
    assert repairer.explain({"x": 2, "g": "z"}).stratum is None
    (cell,) = repairer.explain({"x": None, "g": "a"}).cells
    assert (cell.value, cell.repaired) == (None, None)
    assert math.isnan(cell.rank)


def test_categories_are_explained_in_their_own_words() -> None:
    frame = pd.DataFrame({"c": ["u"] * 8 + ["v"] * 8, "n": range(16), "g": ["a"] * 8 + ["b"] * 8})
    frame["o"] = pd.Categorical(frame["c"], ordered=True)
    found = Repairer("g", columns=["c", "n", "o"], **COLUMN).fit(frame).explain(frame.iloc[[0]])
    assert [cell.value for cell in found.cells] == ["u", 0, "u"]
    assert all(cell.repaired == cell.consensus for cell in found.cells)
    assert {type(cell.repaired) for cell in found.cells} == {str, int}


def test_the_order_of_a_mapping_does_not_matter() -> None:
    assert hand_repairer().explain({"g": "a", "x": 2}).cells[0].repaired == 6.5


def test_a_missing_category_is_explained() -> None:
    frame = pd.DataFrame({"c": ["u", "v"] * 8, "g": ["a"] * 8 + ["b"] * 8})
    found = Repairer("g", columns=["c"], **COLUMN).fit(frame).explain({"c": None, "g": "a"})
    assert found.cells[0].repaired is None


def test_only_one_row_is_explained() -> None:
    with pytest.raises(ValueError, match="row: 2 rows; expected one"):
        hand_repairer().explain(HAND.iloc[:2])


def as_python(cell: Any) -> Any:
    """Return a cell of a table as plain Python has it, with None for every kind of missing."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    return None if value is None or value != value else value


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, "id"])
@pytest.mark.parametrize(
    ("method", "amount"),
    [("random", 1.0), ("random", 0.5), ("geometric", 0.5), ("combinatorial", 0.7)],
)
def test_what_is_explained_is_what_is_written(method: str, amount: float, key: str | None) -> None:
    random = np.random.default_rng(3)
    group = random.choice(["a", "b"], 300)
    frame = pd.DataFrame(
        {
            "id": np.arange(300),
            "g": group,
            "tied": random.poisson(np.where(group == "a", 2, 5)),
            "zeros": np.where(random.random(300) < 0.7, 0.0, random.normal(size=300)),
            "letter": random.choice(["u", "v", None], 300),
            "order": pd.Categorical(random.choice(["lo", "hi"], 300), ["lo", "hi"], ordered=True),
        }
    )
    frame.loc[::9, "zeros"] = np.nan
    columns = ["tied", "zeros", "letter", "order"]
    repairer = Repairer("g", columns=columns, key=key, method=method, amount=amount, **COLUMN)
    together = repairer.fit_transform(frame)
    changed = 0
    for row in range(0, 300, 3):
        one = frame.iloc[[row]]
        written = (together if key else repairer.transform(one)).loc[row]
        for given in (one, one.iloc[0], one.iloc[0].to_dict()):
            cells = repairer.explain(given).cells
            assert [cell.repaired for cell in cells] == [as_python(written[c]) for c in columns]
        is_drawn = "was not drawn" not in repairer.explain(one).because
        assert is_drawn or all(cell.repaired == cell.value for cell in cells)
        changed += any(cell.repaired != cell.value for cell in cells)
    assert changed > 20


def test_a_row_that_is_explained_needs_its_key() -> None:
    repairer = Repairer("g", columns=["x"], key="id", **COLUMN).fit(HAND.assign(id=range(8)))
    assert repairer.explain({"x": 2, "g": "a", "id": 5}).cells[0].repaired == 11
    with pytest.raises(TableError, match="row: lacks 'id'; expected a value of each column"):
        repairer.explain({"x": 2, "g": "a"})


def hand_cell(value: list[float], level: list[int], repaired: float, method: Any) -> Cell:
    """Explain a value of group a, which has 1, 2, 3, 4; the consensus is 5.5, 11, 16.5, 22."""
    repairer = hand_repairer()
    placed = PlacedValues(
        column=0,
        rows=slice(0, 1),
        strata=np.zeros(len(value), dtype=np.int16),
        values=np.array(value),
        level=np.array(level, dtype=np.int64),
    )
    return explain_cell(
        repairer.model_,
        placed,
        column_type=repairer.column_types_[0],
        repaired=np.array([repaired]),
        stratum=0,
        method=method,
    )


def test_a_cell_has_the_rank_of_the_value_and_the_consensus_of_the_level() -> None:
    # 3 is the third of four, rank 5/8; of tied values each may be placed on another level.
    assert hand_cell([3.0], [3], 12.5, "geometric") == Cell(
        column="x", value=3.0, rank=0.625, level=0.875, consensus=22.0, repaired=12.5
    )


def test_a_cell_without_a_value_has_only_its_column() -> None:
    cell = hand_cell([], [], math.nan, "geometric")
    assert (cell.column, cell.value, cell.consensus, cell.repaired) == ("x", None, None, None)
    assert math.isnan(cell.rank)
    assert math.isnan(cell.level)


@pytest.mark.parametrize(
    ("method", "amount", "is_repaired", "sentence"),
    [
        ("geometric", 0, False, "the amount is 0, so nothing is changed"),
        (
            "random",
            0.25,
            False,
            "random repair, amount 0.25: the row was not drawn, and is left unchanged",
        ),
        (
            "random",
            0.25,
            True,
            "random repair, amount 0.25: the row was drawn, and is repaired in full",
        ),
        ("random", 1, True, "full repair: each value becomes the consensus of its level"),
        (
            "combinatorial",
            1,
            True,
            "full repair: each value becomes the column's value nearest to the consensus",
        ),
        (
            "geometric",
            0.5,
            True,
            "geometric repair: 0.5 of the way to the consensus, along the number line",
        ),
    ],
)
def test_the_reason_is_one_sentence(
    method: Any, amount: float, is_repaired: bool, sentence: str
) -> None:
    assert reason(method, amount, is_repaired=is_repaired) == sentence


class FirstColumn:
    """A guide: the first column is the score."""

    def predict(self, table: Any) -> Any:
        return np.asarray(table)[:, 0].astype(float)


@pytest.mark.parametrize(
    ("value", "standing", "cuts", "words"),
    [
        # 99 rows, 1 to 99, and 100 spacings: four blocks are cut at 25, 50 and 75.
        (3.5, "scores lower than 75%; it was", (np.nan, 25), "up to the cut 25"),
        (30.5, "scores higher than 25% and lower than 50%; it", (25, 50), "the cuts 25 and 50"),
        (98.5, "scores higher than 75%; it was", (75, np.nan), "from the cut 75 on"),
    ],
)
def test_the_score_and_the_cuts_around_it_by_hand(
    value: float, standing: str, cuts: tuple[float, float], words: str
) -> None:
    values = np.tile(np.arange(1.0, 100.0), 2)[:, None]
    group = np.repeat([0, 1], 99)
    repairer: Any = Repairer(guide=FirstColumn(), blocks=4, beta=0.5)
    repairer.fit(values, protected=group)
    explanation = repairer.explain([value], protected=[1])
    assert standing in explanation.because
    assert explanation.scores == (value,)
    assert explanation.cuts == pytest.approx(cuts, nan_ok=True)
    assert f"score {value:g}, " in str(explanation)
    assert words in str(explanation)


def test_several_scores_have_no_single_place() -> None:
    random = np.random.default_rng(0)
    repairer: Any = Repairer(blocks=4, beta=0.5)
    repairer.fit(random.normal(size=(400, 2)), protected=np.repeat([0, 1], 200))
    explanation = repairer.explain([0.5, 0.5], protected=[1])
    assert len(explanation.scores) == 2
    assert explanation.cuts == ()
    assert "by its 2 scores this row is in part" in str(explanation)
