"""Results as charts, and charts as SVG."""

from __future__ import annotations

from fourfifths._report.charts.chart import Chart, to_charts
from fourfifths._report.charts.svg import chart_svg

__all__ = ["Chart", "chart_svg", "to_charts"]
