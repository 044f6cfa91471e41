"""One version of the data: its key, and what is counted on its test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from fourfifths import Repairer
from fourfifths._tables.types import ColumnType
from fourfifths._tradeoff.versions import (
    SweepRows,
    Version,
    auditor_errors,
    repaired_frame,
    run_version,
)
from fourfifths.errors import OptionError

# Three groups of eight, half of each for training. Group 0 lies far below the others; groups 1
# and 2, the reference, have the same values. Who has a score of 3 or more is selected.
SCORES = {0: [-9, -8, -7, -6], 1: [1, 2, 3, 4], 2: [1, 2, 3, 4]}
FRAME = pd.DataFrame(
    {
        "group": np.repeat(["a", "b", "c"], 8),
        "score": np.concatenate([np.repeat(np.float64(scores), 2) for scores in SCORES.values()]),
    }
)
GROUP = np.repeat([0, 1, 2], 8).astype(np.int16)
TRAIN, TEST = np.arange(0, 24, 2), np.arange(1, 24, 2)
ROWS = SweepRows(
    frame=FRAME,
    group=GROUP,
    selected=(FRAME["score"] >= 3).to_numpy(),
    reference=2,
    groups=3,
    column_types=(ColumnType(name="score", kind="number"),),
)
REPAIRER = Repairer("group", columns=["score"], scope="column").fit(FRAME.iloc[TRAIN])


class Rule(ClassifierMixin, BaseEstimator):
    """Selects a score of 2 or more; has no score of its own."""

    def fit(self, X: Any, y: Any) -> Rule:
        self.classes_ = np.array([False, True])
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X["score"] >= 2)


class Broken(Rule):
    """Cannot predict."""

    def predict(self, X: Any) -> Any:
        raise RuntimeError("out of\norder")


def run(version: Version, models: dict[str, Any], auditors: tuple[str, ...] = ("logistic",)) -> Any:
    return run_version(
        version,
        None if version.amount == 0 else REPAIRER,
        rows=ROWS,
        split=(TRAIN, TEST),
        models=models,
        auditors=auditors,
        random_state=0,
    )


def version(amount: float, method: str = "geometric") -> Version:
    return Version(repeat=0, scope="column", method=method, amount=amount)


def test_without_repair_method_and_scope_make_no_difference() -> None:
    assert version(0, "random").key == version(0, "geometric").key == (0, "none", "none", 0.0)
    assert version(0.5).key == (0, "column", "geometric", 0.5)


def test_the_counts_of_an_unrepaired_version_by_hand() -> None:
    (record,) = run(version(0), {"rule": Rule()})
    # Of scores 1, 2, 3, 4 the rule selects three, two of them rightly.
    assert record["counts"] == [[0, 0, 0, 4], [2, 0, 1, 1], [2, 0, 1, 1]]
    assert (record["rows"], record["changed"], record["model"]) == (12, 0, "rule")
    assert np.isnan(record["auc"]).all()  # the rule has no score


def test_an_auditor_counts_for_the_group_that_it_predicts_best() -> None:
    # Group a can be told from the reference without an error, group b not at all.
    (record,) = run(version(0), {"rule": Rule()})
    assert record["auditor"] == {"logistic": [0, 4, 0, 4]}


def test_full_repair_gives_every_group_the_same_counts_and_changes_rows() -> None:
    (record,) = run(version(1), {"rule": Rule()})
    selected = [row[0] + row[2] for row in record["counts"]]
    assert len(set(selected)) == 1
    # The median of three distributions, two of them equal, is that one: only group a moves.
    assert record["changed"] == 4


def test_each_model_has_a_record_and_one_with_a_score_an_auc() -> None:
    from sklearn.naive_bayes import GaussianNB

    records = run(version(0.5), {"rule": Rule(), "bayes": GaussianNB()})
    assert [record["model"] for record in records] == ["rule", "bayes"]
    assert 0 <= records[1]["auc"][0] <= 1
    assert {record["amount"] for record in records} == {0.5}


def test_a_model_that_fails_is_named_in_one_line() -> None:
    with pytest.raises(OptionError, match="models: 'mine' failed: out of; order"):
        run(version(0), {"mine": Broken()})


def test_the_repaired_frame_moves_each_value_towards_the_median_of_the_groups() -> None:
    repaired = repaired_frame(version(0.5), REPAIRER, rows=ROWS)
    # Of three groups two have 1, 2, 3, 4: these stay, and -9 goes halfway to 1.
    assert repaired["score"].tolist() == [
        *np.repeat([-4.0, -3.0, -2.0, -1.0], 2),
        *np.repeat([1.0, 2.0, 3.0, 4.0], 2),
        *np.repeat([1.0, 2.0, 3.0, 4.0], 2),
    ]
    assert repaired["group"].tolist() == FRAME["group"].tolist()


def test_an_auditors_errors_are_wrong_and_all_rows_of_the_group_and_of_the_reference() -> None:
    # The column is 1 for three of four rows of the group and two of five of the reference, among
    # the training rows and among the test rows: 1 is predicted to be the group, 0 the reference.
    reveals = np.repeat([0.0, 1, 1, 1, 1, 1, 0, 0, 0], 2)
    rows = SweepRows(
        frame=None,
        group=np.repeat([0, 1], [8, 10]),
        selected=np.ones(18, bool),
        reference=1,
        groups=2,
        column_types=(),
    )
    errors = auditor_errors(
        reveals[:, None],
        rows,
        split=(np.arange(0, 18, 2), np.arange(1, 18, 2)),
        is_category=[False],
        auditors=["logistic", "LR"],  # of certify, and the paper's model
        random_state=0,
    )
    assert errors == {"logistic": [1, 4, 2, 5], "LR": [1, 4, 2, 5]}


def people(rows: int = 4_000) -> SweepRows:
    """Return two groups of one law, in which some scores are missing."""
    random = np.random.default_rng(0)
    score = random.normal(size=rows)
    selected = score + random.normal(size=rows) > 0
    score[random.random(rows) < 0.05] = np.nan
    group = random.integers(0, 2, rows)
    return SweepRows(
        frame=pd.DataFrame({"group": np.array(["a", "b"])[group], "score": score}),
        group=group.astype(np.int16),
        selected=selected,
        reference=1,
        groups=2,
        column_types=(ColumnType(name="score", kind="number"),),
    )


def by_blocks(rows: SweepRows, amount: float, **options: Any) -> Any:
    strata = options or {"protected": "group"}
    repairer = Repairer(**strata, columns=["score"], blocks=4, favorable=True)
    train, test = np.arange(0, 4_000, 2), np.arange(1, 4_000, 2)
    repairer.fit(rows.frame.iloc[train], rows.selected[train])
    (record,) = run_version(
        Version(repeat=0, scope="blocks", method="random", amount=amount),
        repairer,
        rows=rows,
        split=(train, test),
        models={"rule": Rule()},
        auditors=("logistic",),
        random_state=0,
    )
    return repairer, record


def test_a_full_repair_by_blocks_has_the_floor_that_is_proven() -> None:
    repairer, record = by_blocks(people(), 1.0)
    assert record["proven_floor"] == repairer.certificate().impact_floor
    assert 0 < record["proven_floor"] < 1


def test_nothing_is_proven_of_a_part_of_the_rows_nor_by_column_nor_of_other_strata() -> None:
    assert np.isnan(by_blocks(people(), 0.5)[1]["proven_floor"])
    assert np.isnan(run(version(1), {"rule": Rule()})[0]["proven_floor"])
    assert np.isnan(by_blocks(people(), 1.0, stratify_by="group")[1]["proven_floor"])


def test_a_missing_value_that_a_block_fills_in_was_changed_and_one_that_stays_was_not() -> None:
    rows = people()
    repairer, record = by_blocks(rows, 1.0)
    before = rows.frame["score"].iloc[1::2]
    after = repairer.transform(rows.frame)["score"].iloc[1::2]
    same = (before == after) | (before.isna() & after.isna())
    assert record["changed"] == int((~same).sum())
    assert (before.isna() & after.notna()).any()
    (raw,) = run(version(0), {"rule": Rule()})
    assert raw["changed"] == 0
