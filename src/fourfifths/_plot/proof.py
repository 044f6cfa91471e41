"""The picture of a `Proof`: the proven floor of the impact ratio, over beta."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._plot.style import BELOW, LINE, OTHER, draw, label_point, tidy
from fourfifths._repair.proof import Proof
from fourfifths._text import number


@draw.register
def draw_proof(proof: Proof, ax: Axes | None = None) -> Figure | Axes:
    """Draw the floor over the share that a rule selects, with beta and the threshold."""
    figure = None
    if ax is None:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        ax = figure.subplots()
    ax.axhline(proof.threshold, color=LINE, linestyle="--", linewidth=1)
    ax.axvline(proof.beta, color=LINE, linewidth=1)
    labels = [
        (f"threshold {proof.threshold:g}", (0.98, proof.threshold), (-72, 4)),
        (f"beta {proof.beta:.3f}", (proof.beta, 0.0), (4, 4)),
    ]
    title = f"{proof.verdict}, nothing is proven"
    if proof.pairs:
        title = f"{proof.verdict}, {proof.blocks} blocks"
        betas = [point.beta for point in proof.curve]
        floors = [point.impact_floor for point in proof.curve]
        curve_style: dict[str, Any] = {"color": OTHER, "marker": "o", "markersize": 3}
        ax.plot(betas, floors, label="proven floor, new rows", **curve_style)
        color = OTHER if proof.verdict == "certified" else BELOW
        ax.plot([proof.beta], [proof.impact_floor], "o", color=color, markersize=8)
        labels.append((number(proof.impact_floor), (proof.beta, proof.impact_floor), (8, -12)))
        ax.legend(loc="lower right", frameon=False, fontsize="small")
    for text, position, offset in labels:
        label_point(ax, text, position, offset=offset)
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1.02),
        xlabel="share of a group that a rule selects at least",
        ylabel="lowest impact ratio of any rule",
    )
    ax.set_title(title, loc="left", fontsize="medium")
    tidy(ax)
    return ax if figure is None else figure
