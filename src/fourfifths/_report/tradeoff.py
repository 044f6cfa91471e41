"""A `Tradeoff` as a page."""

from __future__ import annotations

import math

from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import alternatives, interval, number
from fourfifths._tradeoff.result import Point, Tradeoff

LEGEND = (
    "All figures are for test rows; the repair, the models and the auditors were fitted on other "
    "rows. ratio: impact ratio of the model's selections; utility: 1 - BER of the outcome; parity: "
    "1 - difference between the selection rates; BER: of the strongest auditor, predicting the "
    "protected attribute, 0.5 is guessing; changed: share of rows; * on the front: no other point "
    "is better in both ratio and utility. Not legal advice."
)
FLOOR = (
    "floor: proven; on new rows, no rule on the repaired columns has a lower impact ratio if it "
    "selects at least the lowest recorded selection rate of each group; only full repair by blocks "
    "has a proof"
)


@to_document.register
def tradeoff_document(curve: Tradeoff) -> Document:
    """Return the page: a table for each model, and which point to take."""
    models = dict.fromkeys(point.model for point in curve.points)
    intervals_note = (
        "intervals: bootstrap over the test rows; of the AUC, DeLong's; of the BER, exact"
        if curve.intervals == "bootstrap"
        else f"figures: of {curve.repeats} random splits together (BER and changed: the mean); "
        f"intervals hold {100 * curve.confidence:g}% of them"
    )
    return Document(
        headline=(
            f"{curve.table}: {curve.outcome} = {alternatives(curve.favorable)}, by "
            f"{' & '.join(curve.protected)}, {curve.rows:,} rows, {curve.test_rows:,} of them for "
            "testing"
        ),
        sections=(
            Section(
                sheets=tuple(model_sheet(curve, model) for model in models),
                sentences=(choice_sentence(curve.choose()),),
            ),
        ),
        notes=(*curve.notes, intervals_note, *((FLOOR,) if has_proof(curve) else ())),
        closing=(LEGEND,),
    )


def model_sheet(curve: Tradeoff, model: str) -> Sheet:
    """Return the table of one model's points; a star marks the points on the front."""
    percent = f"{100 * curve.confidence:g}%"
    # By identity: a point holds mappings, so it cannot be hashed.
    front = {id(point) for point in curve.front}
    return Sheet(
        title=model,
        headers=(
            *("repair", "amount", "ratio", percent, "utility", "acc", "parity", "AUC", "BER"),
            "changed",
            *(("floor",) if has_proof(curve) else ()),
        ),
        name_columns=2,
        rows=tuple(
            (
                "none" if point.method == "none" else f"{point.scope}, {point.method}",
                f"{point.amount:g}" + (" *" if id(point) in front else ""),
                number(point.impact_ratio),
                interval(point.impact_ratio_interval, 2),
                number(point.utility),
                number(point.accuracy),
                number(point.parity),
                number(point.auc),
                number(point.balanced_error_rate),
                number(point.changed, 2),
                *((number(point.proven_floor),) if has_proof(curve) else ()),
            )
            for point in curve.select(model=model)
        ),
    )


def has_proof(curve: Tradeoff) -> bool:
    """Return whether anything is proven of a point; else there is nothing to show."""
    return any(not math.isnan(point.proven_floor) for point in curve.points)


def choice_sentence(chosen: Point | None) -> Sentence:
    """Return which point to take; the sentence stands out if there is none."""
    if chosen is None:
        return Sentence(
            text="No point has an interval of the impact ratio that lies within 0.8 to 1.25.",
            is_marked=True,
        )
    repair = "no repair" if chosen.method == "none" else f"{chosen.scope}, {chosen.method} repair"
    return Sentence(
        text=(
            f"The highest utility with an impact ratio clear of 0.8: {chosen.model}, {repair}, "
            f"amount {chosen.amount:g}: ratio {number(chosen.impact_ratio)} "
            f"({interval(chosen.impact_ratio_interval)}), utility {number(chosen.utility)}."
        )
    )
