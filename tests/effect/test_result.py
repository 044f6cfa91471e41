"""What a repair did, as text, Markdown and JSON: from figures made by hand."""

from __future__ import annotations

import json
from typing import Any

from fourfifths._effect.result import Audit, ColumnEffect, ModelImpact, RepairEffect

NAN = float("nan")


def model_of(group: str, ratio: float = 0.5) -> ModelImpact:
    return ModelImpact(
        group=group,
        reference="W",
        impact_ratio=ratio,
        impact_ratio_interval=(0.4, 0.6),
        utility=0.75,
    )


def made(before: ModelImpact | None, after: ModelImpact | None, **others: Any) -> RepairEffect:
    """Return an effect made by hand."""
    audits = [
        Audit(
            strongest="trees",
            balanced_error_rate=error,
            interval=(error - 0.1, error + 0.1),
            impact_floor=0.7,
            impact_floor_interval=(0.6, NAN),
            verdict="inconclusive",
            model=model,
        )
        for error, model in ((0.4, before), (0.5, after))
    ]
    column = ColumnEffect(
        column="x", kind="category", changed=1234, rank_moved=NAN, distance=0.25, distance_after=0.0
    )
    values: dict[str, Any] = {
        "table": "t.csv",
        "rows": 2000,
        "rows_changed": 1234,
        "cells": 2000,
        "cells_changed": 1234,
        "columns": (column,),
        "before": audits[0],
        "after": audits[1],
        "raised": False,
        "not_repaired": (),
        "notes": (),
    }
    return RepairEffect(**values | others)


def test_the_page_says_everything_once() -> None:
    text = str(made(model_of("B"), model_of("B", 0.9)))
    assert text.startswith("t.csv: 1,234 of 2,000 rows and 1,234 of 2,000 cells changed\n")
    words = " ".join(text.split())
    for line in (
        "BER of the strongest auditor 0.400 (0.300 to 0.500) 0.500 (0.400 to 0.600)",
        "strongest auditor trees trees",
        "impact floor of that auditor 0.700 (0.600 to ...) 0.700 (0.600 to ...)",
        "impact ratio of a model 0.500 (0.400 to 0.600) 0.900 (0.400 to 0.600)",
        "utility of that model 0.750 0.750",
        "verdict inconclusive inconclusive",
        "x category 1,234 - 0.250 0.000",
        "Note: the model's ratio is the least of a group: B over W.",
    ):
        assert words.count(line) == 1, line


def test_a_ratio_above_1_is_said_the_other_way_round_too() -> None:
    words = " ".join(str(made(model_of("B", 1.25), model_of("B", 0.9))).split())
    assert "the least of a group: B over W (W over B: 0.800), then B over W." in words


def test_a_model_that_selects_no_one_is_a_dash() -> None:
    words = " ".join(str(made(None, None)).split())
    assert "impact ratio of a model - - utility of that model - - verdict" in words


def test_of_many_columns_that_were_not_repaired_ten_are_named() -> None:
    names = tuple(f"col{at}" for at in range(12))
    words = " ".join(str(made(None, None, not_repaired=names)).split())
    assert "not audited here: col0, col1" in words
    assert "col9 and 2 more; a rule that uses them may still have disparate impact." in words
    assert "col10" not in words


def test_both_groups_are_named_where_the_worst_one_changes() -> None:
    words = " ".join(str(made(model_of("B"), model_of("H", 0.9))).split())
    assert "B over W" in words
    assert "H over W" in words


def test_markdown_is_escaped() -> None:
    column = ColumnEffect(
        column="a|b*", kind="number", changed=1, rank_moved=0.5, distance=1.0, distance_after=0.0
    )
    text = made(None, None, columns=(column,), table="<t>.csv").to_markdown()
    assert text.startswith("# &lt;t&gt;.csv: ")
    assert "| a\\|b\\* | number | 1 | 0.500 | 1.000 | 0.000 |" in text


def test_json_has_null_where_a_figure_is_undefined() -> None:
    document = json.loads(made(model_of("B"), None).to_json())
    assert document["schema"] == "fourfifths/repair-effect/1"
    assert document["columns"][0]["rank_moved"] is None
    assert document["before"]["impact_floor_interval"] == [0.6, None]
    assert document["before"]["model"] == {
        "group": "B",
        "reference": "W",
        "impact_ratio": 0.5,
        "impact_ratio_interval": [0.4, 0.6],
        "utility": 0.75,
    }
    assert document["after"]["model"] is None
