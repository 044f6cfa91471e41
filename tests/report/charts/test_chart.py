"""Charts as data."""

from __future__ import annotations

from counted import measure

from fourfifths._report.charts.chart import to_charts


def test_a_result_without_charts_has_none():
    assert to_charts(measure({"A": (3, 5), "B": (6, 8)})["A"]) == ()
