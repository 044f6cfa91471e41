"""The picture of a `ShareTest`: standard deviations from the expected number."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._impact.analyses.share import PeriodShare, ShareTest
from fourfifths._plot.style import BELOW, LINE, OTHER, draw, label_line, literal, tidy

SUSPECT = 2  # standard deviations: "two or three" in Castaneda, note 17


@draw.register
def draw_share(result: ShareTest, ax: Axes | None = None) -> Figure | Axes:
    """Draw a bar for each period, and one for all."""
    bars: list[tuple[str, PeriodShare | ShareTest]] = [
        (test.period, test) for test in result.periods
    ]
    bars.append(("all" if bars else "", result))
    figure = None
    if ax is None:
        figure = Figure(figsize=(7, 1.6 + 0.35 * len(bars)), layout="constrained")
        ax = figure.subplots()
    deviations = [test.standard_deviations for _, test in bars]
    colors = [BELOW if value < -SUSPECT else OTHER for value in deviations]
    ax.barh(range(len(bars)), deviations, color=colors, height=0.6)
    labels = [literal(f"{name}  {test.observed:,}/{test.n:,}".strip()) for name, test in bars]
    ax.set_yticks(range(len(bars)), labels)
    ax.invert_yaxis()
    ax.axvline(0, color=LINE, linewidth=0.8)
    reach = 1.08 * max(3.2, *(abs(value) for value in deviations))
    ax.set_xlim(-reach, reach)
    for line in (-SUSPECT, SUSPECT):
        ax.axvline(line, color=LINE, linestyle="--", linewidth=1)
        label_line(ax, f"{line}", x=line)
    ax.set_xlabel("standard deviations from the expected number")
    tidy(ax, grid="x")
    return ax if figure is None else figure
