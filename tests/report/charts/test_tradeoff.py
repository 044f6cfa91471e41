"""The charts of a trade-off."""

from __future__ import annotations

from curves import curve, raw_point, repaired_point

from fourfifths._report.charts import to_charts


def test_a_line_goes_from_no_repair_to_the_repair():
    raw, repaired = raw_point(), repaired_point("LR")
    (chart,) = to_charts(curve([raw, repaired]))
    (line,) = chart.curves
    assert line.x == (raw.impact_ratio, repaired.impact_ratio)
    assert line.y == (raw.utility, repaired.utility)
    assert chart.title.startswith("LR: the impact ratio goes from ")
    assert [mark.label for mark in chart.x_lines] == ["4/5", "1"]


def test_each_model_has_a_chart_even_if_nobody_is_selected():
    none_selected = repaired_point("LR", impact_ratio=0.0)
    charts = to_charts(curve([raw_point(), none_selected, repaired_point("SVM")]))
    assert [chart.title.partition(":")[0] for chart in charts] == ["LR", "SVM"]
