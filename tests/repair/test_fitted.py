"""A fitted repair as a function of rows: by name or by place, without changing what came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fourfifths import Repairer
from fourfifths._repair.fitted import FittedRepair
from fourfifths._tables.load import rows_of
from fourfifths.errors import ColumnError

# By hand: level by level A and B agree on the midpoints of 1 and 10, 2 and 20, ...
GROUPS = list("AAAABBBB")
SCORES = [1, 2, 3, 4, 10, 20, 30, 40]
FULL = [5.5, 11, 16.5, 22] * 2
TABLE = pd.DataFrame({"group": GROUPS, "kept": range(8), "score": SCORES})
CODES = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int16)


def fitted(table: Any = TABLE, **options: Any) -> FittedRepair:
    repairer = Repairer("group", columns=["score"], scope="column", **options)
    return repairer.fit(table).fitted_


def transform(repair: FittedRepair, table: Any, codes: Any = CODES, **options: Any) -> Any:
    choices: dict[str, Any] = {"method": "geometric", "amount": 1.0}
    return repair.transform(rows_of(table), codes, **choices | options).native()


def test_the_columns_that_a_table_must_have() -> None:
    assert fitted().needed_columns == ("group", "score")
    assert fitted().table_columns == ("group", "kept", "score")


def test_values_that_come_with_the_data_are_no_column() -> None:
    repair = Repairer(columns=["score"], scope="column").fit(TABLE, protected=GROUPS).fitted_
    assert repair.needed_columns == ("score",)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_with_other_columns_in_another_order(make: Any) -> None:
    table = make({"score": SCORES, "more": ["x"] * 8, "group": GROUPS})
    out = transform(fitted(), table)
    assert list(out["score"]) == FULL
    assert list(out["more"]) == ["x"] * 8
    assert list(table["score"]) == SCORES  # what came in is not changed


def test_an_array_has_the_columns_of_the_table_by_place() -> None:
    # As scikit-learn passes a dataframe's values on: the third column is the score.
    array = np.column_stack([np.zeros(8), np.arange(8), SCORES]).astype(float)
    out = transform(fitted(), array)
    assert out[:, 2].tolist() == FULL
    assert out[:, 1].tolist() == list(range(8))
    assert array[:, 2].tolist() == SCORES


def test_a_table_has_the_columns_of_an_array_by_place() -> None:
    array = np.array(SCORES, dtype=float).reshape(-1, 1)
    repair = Repairer(scope="column").fit(array, protected=GROUPS).fitted_
    assert repair.table_columns is None
    assert transform(repair, pd.DataFrame({"any": SCORES}))["any"].tolist() == FULL


@pytest.mark.parametrize(
    ("method", "amount", "dtype"),
    [
        ("geometric", 1.0, "float64"),  # halves of whole numbers are no whole numbers
        ("geometric", 0.0, "int64"),
        ("combinatorial", 1.0, "int64"),
        ("random", 1.0, "int64"),
    ],
)
def test_whole_numbers_stay_whole_unless_the_method_makes_halves(
    method: str, amount: float, dtype: str
) -> None:
    out = transform(fitted(), TABLE, method=method, amount=amount)
    assert str(out["score"].dtype) == dtype
    if amount == 0:
        pd.testing.assert_frame_equal(out, TABLE)


def test_rows_of_no_stratum_and_missing_values_stay() -> None:
    table = TABLE.assign(score=[1.0, np.nan, 3, 4, 10, 20, 30, 40])
    codes = np.where(np.arange(8) == 7, -1, CODES).astype(np.int16)
    out = transform(fitted(), table, codes)["score"]
    assert np.isnan(out[1])
    assert out[7] == 40
    assert out[[0, 2, 3, 4, 5, 6]].tolist() == [5.5, 16.5, 22, 5.5, 11, 16.5]


def test_an_infinite_value_is_an_error() -> None:
    table = TABLE.assign(score=[*map(float, SCORES[:7]), np.inf])
    with pytest.raises(ColumnError, match="column 'score': row 7 is infinite; expected finite"):
        transform(fitted(), table)


def test_text_is_read_as_numbers_where_numbers_were_fitted() -> None:
    table = TABLE.assign(score=[str(score) for score in SCORES])
    assert [number.tolist() for number in fitted().numbers(rows_of(table))] == [SCORES]
    out = transform(fitted(), table)["score"]
    assert [float(cell) for cell in out] == FULL
    assert all(isinstance(cell, str) for cell in out)


def test_one_row_is_explained_as_it_is_transformed() -> None:
    row = TABLE.iloc[[2]]
    options: dict[str, Any] = {"method": "geometric", "amount": 0.5}
    explanation = fitted().explain(rows_of(row), CODES[[2]], **options)
    [cell] = explanation.cells
    out = transform(fitted(), row, CODES[[2]], method="geometric", amount=0.5)
    assert cell.repaired == out["score"].iloc[0] == (3 + 16.5) / 2


@pytest.mark.parametrize("unseen", ["error", "keep"])
@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_no_remedy_is_offered_that_would_not_help(scope: Any, unseen: Any) -> None:
    options = {"scope": scope} if scope == "column" else {"blocks": 2}
    table = pd.DataFrame({"group": GROUPS, "size": ["S", "M", "M", "L"] * 2})
    repairer = Repairer("group", columns={"size": ["S", "M", "L"]}, unseen=unseen, **options)
    repairer.fit(table)
    new = table.assign(size=["XL", *table["size"][1:]])
    if (scope, unseen) == ("blocks", "keep"):
        assert len(repairer.transform(new)) == len(new)
        return
    remedy = ", or fit with them$" if scope == "column" else ", fit with them, or fit with unseen="
    with pytest.raises(ColumnError, match=f"'XL' is not one of .*; leave these rows out{remedy}"):
        repairer.transform(new)
