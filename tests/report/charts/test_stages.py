"""The charts of a selection in stages."""

from __future__ import annotations

import pandas as pd
import pytest

import fourfifths
from fourfifths._report.charts import to_charts

# Connecticut v. Teal: 48 Black and 259 White candidates, 26 and 206 passed, 11 and 35 promoted.
TEAL = pd.DataFrame(
    {
        "race": ["Black"] * 3 + ["White"] * 3,
        "passed": ["yes", "yes", "no"] * 2,
        "promoted": ["yes", "no", None] * 2,
        "n": [11, 15, 22, 35, 171, 53],
    }
)


def test_the_funnel_multiplies_the_rates_of_the_steps():
    result = fourfifths.stages(
        TEAL, protected="race", stages=["passed", "promoted"], persons="n", reference="White"
    )
    funnel, bottom_line = to_charts(result)
    black, white = funnel.curves
    assert black.y == pytest.approx((1, 26 / 48, 11 / 48))
    assert white.y == pytest.approx((1, 206 / 259, 35 / 259))
    assert funnel.title == "race: 13.5% of White and 22.9% of Black reach the last stage"
    assert "Black: all rows 100.0%, passed 54.2%, promoted 22.9%." in funnel.alt
    assert [label for _, label in funnel.x_labels] == ["all rows", "passed", "promoted"]
    # (11 / 48) / (35 / 259)
    assert bottom_line.marks[0].value == pytest.approx(1.696, abs=0.001)


def test_of_many_groups_the_highest_and_the_lowest_are_drawn():
    # Of 10 in group k, k pass.
    rows = [
        (f"g{number}", "yes" if index < number else "no")
        for number in range(1, 9)
        for index in range(10)
    ]
    table = pd.DataFrame(rows, columns=["group", "passed"])
    funnel, _ = to_charts(fourfifths.stages(table, protected="group", stages=["passed"]))
    assert [curve.label for curve in funnel.curves] == ["g1", "g2", "g3", "g4", "g8"]
    assert funnel.title.endswith("; the highest and the lowest 4 of 8 groups are drawn")
    assert all(f"g{number}: all rows" in funnel.alt for number in range(1, 9))
