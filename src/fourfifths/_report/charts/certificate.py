"""The charts of a `Certificate`: the floor of the impact ratio, and how well auditors predict."""

from __future__ import annotations

import numpy as np

from fourfifths._certify.result import Certificate, PairCertificate
from fourfifths._report.charts.chart import (
    Chart,
    Curve,
    CurveChart,
    DotChart,
    Line,
    Mark,
    MarkKind,
    to_charts,
)
from fourfifths._text import interval, number

# Rules that select nobody have no ratio, so the curve starts just above 0.
SELECTION_RATES = np.linspace(0.005, 1, 80)


@to_charts.register
def certificate_charts(certificate: Certificate) -> tuple[Chart, ...]:
    """Return the charts of the pair that decides."""
    return floor_chart(certificate, certificate.worst), auditor_chart(certificate.worst)


def floor_chart(certificate: Certificate, pair: PairCertificate) -> CurveChart:
    """Return the lowest impact ratio that a rule can have, over the share that it selects."""
    floor = pair.floor_limit.curve.floor(SELECTION_RATES)
    lower = np.minimum(pair.floor_limit.at(SELECTION_RATES), floor)
    decisive = min(pair.auditors, key=lambda auditor: auditor.impact_floor_interval[1])
    low, high = decisive.impact_floor_interval
    is_below = high < certificate.threshold
    side = "below" if is_below else "not shown to be below"
    # The curve is of rules that harm the group; the verdict may rest on rules that harm the other.
    verdict = (
        f"{pair.verdict}, because of rules that harm {pair.reference}"
        if pair.verdict == "not certified" and not is_below
        else pair.verdict
    )
    return CurveChart(
        title=(
            f"{verdict}: a rule that selects {pair.beta:.1%} of {pair.group} can have an "
            f"impact ratio of {number(decisive.impact_floor)}, {side} {certificate.threshold:g}"
        ),
        alt=(
            f"At a selection rate of {pair.beta:.3f}, the floor that {decisive.name} found is "
            f"{number(decisive.impact_floor)}, limits {interval((low, high))}; the threshold is "
            f"{certificate.threshold:g}."
        ),
        x_axis=f"share of {pair.group} that a rule selects",
        y_axis="lowest impact ratio found",
        curves=(
            Curve(
                label=f"lowest ratio found (auditor {pair.strongest}); shaded to its lower limit",
                x=tuple(SELECTION_RATES.tolist()),
                y=tuple(floor.tolist()),
                low=tuple(lower.tolist()),
                high=tuple(floor.tolist()),
            ),
        ),
        x_lines=(Line(value=pair.beta, label=f"beta {pair.beta:.3f}"),),
        y_lines=(
            Line(
                value=certificate.threshold,
                label=f"threshold {certificate.threshold:g}",
                is_threshold=True,
            ),
        ),
        x_limits=(0, 1),
        y_limits=(0, 1),
        marks=(
            (
                pair.beta,
                Mark(
                    label=f"the ratio at beta and its limits (auditor {decisive.name})",
                    value=decisive.impact_floor,
                    low=low,
                    high=high,
                    kind="indicated" if is_below else "judged",
                ),
            ),
        ),
    )


def auditor_chart(pair: PairCertificate) -> DotChart:
    """Return how well each auditor predicts membership; the shape says on which side it lies."""
    marks = []
    for auditor in pair.auditors:
        low, high = auditor.interval
        kind: MarkKind = "judged" if low > pair.ber_threshold else "not judged"
        marks.append(
            Mark(
                label=auditor.name,
                value=auditor.balanced_error_rate,
                low=low,
                high=high,
                kind="indicated" if high <= pair.ber_threshold else kind,
            )
        )
    strongest = min(pair.auditors, key=lambda auditor: auditor.balanced_error_rate)
    highest = max(auditor.interval[1] for auditor in pair.auditors)
    shown_kinds = {mark.kind for mark in marks}
    meanings: dict[MarkKind, str] = {
        "indicated": "predicts too well",
        "judged": "does not predict well enough",
        "not judged": "inconclusive",
    }
    return DotChart(
        title=(
            f"The auditor {strongest.name} predicts who is {pair.group}: balanced error rate "
            f"{number(strongest.balanced_error_rate)}, where 0.5 is guessing"
        ),
        alt=" ".join(
            f"{auditor.name}: balanced error rate {number(auditor.balanced_error_rate)}, limits "
            f"{interval(auditor.interval)}."
            for auditor in pair.auditors
        ),
        axis="balanced error rate of predicting membership",
        marks=tuple(marks),
        lines=(
            Line(
                value=pair.ber_threshold,
                label=f"must exceed {pair.ber_threshold:.3f}",
                is_threshold=True,
            ),
            Line(value=0.5, label="guessing"),
        ),
        limits=(0, max(0.55, highest + 0.02)),
        meanings=tuple((kind, text) for kind, text in meanings.items() if kind in shown_kinds),
    )
