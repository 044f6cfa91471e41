"""Results as charts, and charts as SVG."""

from __future__ import annotations

# Importing a kind of result registers it with `to_charts`.
from fourfifths._report.charts import certificate, cuts, impact, proof, stages, tradeoff
from fourfifths._report.charts.chart import Chart, to_charts
from fourfifths._report.charts.svg import chart_svg

__all__ = [
    "Chart",
    "certificate",
    "chart_svg",
    "cuts",
    "impact",
    "proof",
    "stages",
    "to_charts",
    "tradeoff",
]
