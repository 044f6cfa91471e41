"""The charts of a `Proof`: the proven floor, and the block shares that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from fourfifths._arrays import IntArray
from fourfifths._repair.proof import Proof
from fourfifths._report.charts.chart import (
    BarChart,
    Bars,
    Curve,
    CurveChart,
    Line,
    Mark,
    to_charts,
)
from fourfifths._text import number

# The bars of more groups than this could not be told apart.
MAX_BAR_GROUPS = 4


@to_charts.register
def proof_charts(proof: Proof) -> tuple[CurveChart, ...]:
    """Return the proven floor over the share that a rule selects; nothing where none is proven."""
    if not proof.pairs:
        return ()
    return (
        CurveChart(
            title=(
                f"No rule on the repaired columns that selects at least {proof.beta:.1%} of each "
                f"group has an impact ratio below {number(proof.impact_floor)} on new rows"
            ),
            alt=" ".join(
                f"Selecting at least {point.beta:.0%}: {number(point.impact_floor)}."
                for point in proof.curve
            ),
            x_axis="share of each group that a rule selects at least",
            y_axis="lowest impact ratio of any rule",
            curves=(
                Curve(
                    label="proven floor, new rows",
                    x=tuple(point.beta for point in proof.curve),
                    y=tuple(point.impact_floor for point in proof.curve),
                ),
            ),
            x_lines=(Line(value=proof.beta, label=f"beta {proof.beta:.3f}"),),
            y_lines=(
                Line(
                    value=proof.threshold,
                    label=f"threshold {proof.threshold:g}",
                    is_threshold=True,
                ),
            ),
            x_limits=(0, 1),
            y_limits=(0, 1),
            marks=(
                (
                    proof.beta,
                    Mark(
                        label=f"floor at beta: {number(proof.impact_floor)}",
                        value=proof.impact_floor,
                        kind="judged" if proof.verdict == "certified" else "not judged",
                    ),
                ),
            ),
        ),
    )


def block_chart(counts: IntArray, *, labels: Sequence[str]) -> BarChart:
    """Return the share of each group's rows in each block: the picture of why no rule can tell.

    Parameters
    ----------
    counts : int array of shape (groups, blocks)
        The rows of the repaired table. If there are more than four groups, the largest are shown.
    labels : sequence of str
        The names of the groups.
    """
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / totals
    largest = sorted(sorted(range(len(labels)), key=lambda row: -totals[row, 0])[:MAX_BAR_GROUPS])
    difference = float((shares.max(axis=0) - shares.min(axis=0)).max())
    return BarChart(
        title=(
            f"The shares of the groups in {counts.shape[1]} blocks differ by at most "
            f"{100 * difference:.2f} percentage points; the less they differ, the less a rule that "
            "sees only the block can tell the groups apart"
        ),
        alt=(
            " ".join(
                f"{labels[row]}: from {shares[row].min():.2%} to {shares[row].max():.2%} of its "
                "rows in a block."
                for row in largest
            )
        ),
        x_axis="block, lowest score first",
        y_axis="share of the group's rows",
        labels=tuple(str(block + 1) for block in range(counts.shape[1])),
        series=tuple(
            Bars(label=labels[row], values=tuple(shares[row].tolist())) for row in largest
        ),
        y_limits=(0, 1.25 * float(shares[largest].max())),
    )
