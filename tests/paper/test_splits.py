"""Single splits, from cells made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from fourfifths._paper.splits import split_rows
from fourfifths._tradeoff.store import Record


def cell(repeat: int, counts: list[list[int]], **auditors: Any) -> Record:
    return Record(
        repeat=repeat,
        scope="column",
        method="geometric",
        amount=0.5,
        model="LR",
        rows=20,
        changed=0,
        auditor=auditors,
        counts=counts,
        auc=[0.5, 0.1],
        proven_floor=float("nan"),
    )


def test_a_split_has_its_own_figures() -> None:
    # Selected and right, missed, selected and wrong, passed over. The group: 2 + 1 of 10 selected;
    # the reference: 4 + 1 of 10. 3 of 9 favorable ones are missed, 2 of 11 others selected.
    counts = [[2, 2, 1, 5], [4, 1, 1, 4]]
    second, first = (
        cell(repeat, counts, LR=[3, 10, 1, 10], trees=[0, 10, 0, 10]) for repeat in (1, 0)
    )
    rows = split_rows("ricci", [second, first], reference=1)
    assert [(row["sweep"], row["split"], row["model"]) for row in rows] == [
        ("ricci", 0, "LR"),
        ("ricci", 1, "LR"),
    ]
    assert rows[0]["impact_ratio"] == pytest.approx(3 / 5)
    assert rows[0]["parity"] == pytest.approx(1 - (0.5 - 0.3))
    assert rows[0]["utility"] == pytest.approx(1 - (3 / 9 + 2 / 11) / 2)
    assert rows[0]["accuracy"] == pytest.approx(15 / 20)
    assert (rows[0]["BER LR"], rows[0]["BER trees"]) == (pytest.approx(0.2), 0)
    assert "BER SVM" not in rows[0]  # not among the auditors


def test_with_the_other_reference_the_ratio_is_inverted() -> None:
    (row,) = split_rows("ricci", [cell(0, [[2, 2, 1, 5], [4, 1, 1, 4]])], reference=0)
    assert row["impact_ratio"] == pytest.approx(5 / 3)
