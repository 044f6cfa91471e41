"""The chart of the cuts of a score."""

from __future__ import annotations

import pandas as pd
import pytest

import fourfifths
from fourfifths._report.charts import to_charts

HAND = pd.DataFrame({"group": ["women"] * 4 + ["men"] * 4, "score": [1, 2, 3, 5, 2, 4, 4, 5]})


def test_the_ratio_at_each_cut_and_the_chosen_one():
    result = fourfifths.cuts(HAND, protected="group", score="score", reference="men", select=4)
    (chart,) = to_charts(result)
    (curve,) = chart.curves
    assert curve.x == (1, 2, 3, 4, 5)
    # Of the men 4, 4, 3, 3 and 1 of 4 reach the cut; of the women 4, 3, 2, 1 and 1.
    assert curve.y == pytest.approx((1, 3 / 4, 2 / 3, 1 / 3, 1))
    assert curve.is_stepped
    assert chart.title == "group: women is below 4/5 at 3 of 5 cuts"
    assert "lowest ratio 0.333" in chart.alt
    assert [line.label for line in chart.x_lines] == ["chosen: 4"]


def test_of_many_groups_those_most_often_below_the_line_are_drawn():
    # Group k has the scores 0 and k: at the cut c only the groups from c on are selected.
    rows = [(f"g{number}", score) for number in range(1, 9) for score in (0, number)]
    table = pd.DataFrame(rows, columns=["group", "score"])
    result = fourfifths.cuts(table, protected="group", score="score", reference="g8")
    (chart,) = to_charts(result)
    assert [curve.label for curve in chart.curves] == ["g1", "g2", "g3", "g4", "g5"]
    assert chart.title.endswith("; of 7 groups the lowest 5 are drawn")
    assert "g7: below 4/5 at 1 of 9 cuts" in chart.alt
