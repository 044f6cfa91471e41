"""The rows of a sweep: which are used, and how they are split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from curves import applicants

from fourfifths._tables.table import open_table
from fourfifths._tradeoff.data import Data, read_data, split_column
from fourfifths.errors import ColumnError, OptionError, TableError


def read(table: Any, **options: Any) -> Data:
    roles: dict[str, Any] = {
        "protected": "group",
        "outcome": "hired",
        "favorable": "yes",
        "reference": None,
        "columns": None,
        "bands": None,
        "stratify_by": (),
        "split": None,
    }
    return read_data(table, **{**roles, **options})


def sided(rows: int = 600) -> pd.DataFrame:
    """Return applicants of whom the first half is for training."""
    return applicants(rows).assign(side=np.where(np.arange(rows) < rows // 2, "train", "test"))


def test_rows_have_a_group_and_an_outcome() -> None:
    table = applicants(100)
    data = read(table)
    labels = np.array(data.strata.labels)[data.group]
    np.testing.assert_array_equal(labels, table["group"])
    np.testing.assert_array_equal(data.selected, table["hired"] == "yes")
    assert data.features == ("score", "noise")
    assert data.notes == ()


def test_the_reference_is_the_group_named_or_the_one_selected_most() -> None:
    table = applicants()
    assert read(table).strata.labels[read(table).reference] == "b"  # scores one higher
    named = read(table, reference="a")
    assert named.strata.labels[named.reference] == "a"


def test_rows_that_cannot_be_used_are_left_out_and_counted() -> None:
    table = sided()
    table.loc[0, "hired"] = None
    table.loc[1, "side"] = "later"
    data = read(table, split="side")
    assert len(data.frame) == 598
    assert data.notes == (
        "2 rows without a group, an outcome or a side of the split were left out",
    )


def test_columns_that_split_or_stratify_are_no_features() -> None:
    table = sided().assign(region=np.tile(["n", "s"], 300))
    data = read(table, split="side", stratify_by=("region",))
    assert data.features == ("score", "noise")
    assert data.frame.columns == ["group", "region", "score", "noise"]


def test_a_split_column_is_one_split() -> None:
    data = read(sided(), split="side")
    ((train, test),) = data.splits("side", 1, 0)
    np.testing.assert_array_equal(train, np.arange(300))
    np.testing.assert_array_equal(test, np.arange(300, 600))


def test_random_splits_keep_the_shares_of_groups_and_outcomes() -> None:
    data = read(applicants())
    splits = data.splits(1 / 3, 4, 0)
    assert len(splits) == 4
    cells = data.group * 2 + data.selected
    for train, test in splits:
        assert not set(train) & set(test)
        assert test.size == 200
        shares = np.bincount(cells[test]) / 200
        np.testing.assert_allclose(shares, np.bincount(cells) / 600, atol=1 / 200)
    assert any(np.any(splits[0][1] != test) for _, test in splits[1:])


def test_the_hash_depends_on_values_groups_and_outcomes() -> None:
    table = applicants(100)
    base = read(table).sha256()
    assert read(table.copy()).sha256() == base
    for column, value in (("score", 0.5), ("group", "a"), ("hired", "yes")):
        row = int(np.argmax(table[column] != value))
        changed = table.copy()
        changed.loc[row, column] = value
        assert read(changed).sha256() != base, column


@pytest.mark.parametrize("split", [0, 1, 1.5, -0.5])
def test_a_share_outside_0_and_1_is_refused(split: float) -> None:
    with pytest.raises(OptionError, match=rf"split={split}: expected the share of test rows, a nu"):
        read(applicants(), split=split)


def test_a_split_column_that_is_not_there_or_lacks_a_side_is_refused() -> None:
    with pytest.raises(ColumnError, match=r"split='side': no such column \(columns: 'group'"):
        read(applicants(), split="side")
    with pytest.raises(ColumnError, match="split='side': no row has the value 'test'; expected"):
        read(applicants().assign(side="train"), split="side")


def test_too_few_rows_to_split_are_refused() -> None:
    data = read(applicants(14))
    with pytest.raises(TableError, match="too few rows to split: each group needs at least 6 rows"):
        data.splits(1 / 3, 2, 0)


def test_six_rows_of_each_group_and_outcome_are_enough_to_split_and_five_are_not() -> None:
    group, hired = np.repeat(["a", "b"], 12), np.tile(["yes", "no"], 12)
    table = pd.DataFrame({"group": group, "score": np.arange(24.0), "hired": hired})
    ((train, test),) = read(table).splits(1 / 3, 1, 0)
    assert (train.size, test.size) == (16, 8)
    with pytest.raises(TableError, match="too few rows to split: each group needs at least 6 rows"):
        read(table[1:]).splits(1 / 3, 1, 0)


def test_a_side_without_one_of_the_outcomes_is_refused() -> None:
    table = sided()
    table.loc[300:, "hired"] = "no"
    data = read(table, split="side")
    with pytest.raises(TableError, match="too few rows to split: among the test rows, a group has"):
        data.splits("side", 1, 0)


def test_identifiers_dates_and_other_groups_are_features_only_if_they_are_named() -> None:
    table = applicants(100).assign(
        applicant_id=np.arange(100), race="x", start=pd.Timestamp("2024-01-01")
    )
    data = read(table)
    assert data.features == ("score", "noise")
    assert data.notes == (
        "left out because not named: 'applicant_id', 'race', 'start' (identifiers, dates, and "
        "columns called like a protected attribute)",
    )
    named = read(table, columns=["score", "start"])
    assert (named.features, named.notes) == (("score", "start"), ())
    assert [column.kind for column in named.column_types] == ["number", "date"]


def test_a_column_of_numbers_and_words_is_noted() -> None:
    table = applicants(100).assign(size=["1", "large"] * 50)
    assert read(pl.from_pandas(table)).notes == (
        "column 'size' holds numbers and words; it is repaired as categories",
    )


def test_a_category_of_any_row_is_known() -> None:
    table = applicants(100).assign(kind=["u"] * 99 + ["v"])
    (kind,) = (
        column for column in read(pl.from_pandas(table)).column_types if column.name == "kind"
    )
    assert kind.categories == ("u", "v")


def test_the_column_of_the_split_is_the_named_one_or_that_of_a_shipped_data_set() -> None:
    table = open_table(sided())
    assert split_column(table, "side") == "side"
    assert split_column(table, 0.25) is None
    assert split_column(table, None) is None
    assert split_column(open_table("adult"), None) == "split"


def test_a_split_that_is_no_column_names_the_nearest():
    with pytest.raises(ColumnError, match=r"split='sides': no such column; did you mean 'side'\?"):
        read(sided(), split="sides")
