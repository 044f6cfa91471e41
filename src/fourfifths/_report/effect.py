"""A `RepairEffect` as a page."""

from __future__ import annotations

from collections.abc import Iterator

from fourfifths._effect.result import Audit, RepairEffect
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import UNDEFINED, interval, number

MAX_COLUMNS_NAMED = 10
AUDIT_LEGEND = (
    "BER: balanced error rate of predicting the stratum from the repaired columns, out of fold, on "
    "rows that the repair was not fitted to, 0.5 is guessing; floor: the smallest impact ratio of "
    "a rule that the auditor could find; "
    "model: a logistic model of the outcome, out of fold; utility: 1 - its BER of the outcome; "
)
LEGEND = (
    "rank moved: mean change of rank among all rows; distance: earthmover distance from the "
    "largest stratum (for categories: total variation), for the stratum where it is largest. "
    "Changing data by a protected attribute can itself be disparate treatment (Ricci v. "
    "DeStefano): ask a lawyer. Not legal advice."
)


@to_document.register
def effect_document(effect: RepairEffect) -> Document:
    """Return the page: what the auditors find before and after, and what was changed."""
    sheets, sentences = [], []
    if effect.before is not None and effect.after is not None:
        sheets.append(audit_sheet(effect.before, effect.after, is_raised=effect.raised))
        if effect.raised:
            warning = (
                "Warning: the repair made the strata easier to tell apart: the BER of the "
                f"strongest auditor fell from {number(effect.before.balanced_error_rate)} to "
                f"{number(effect.after.balanced_error_rate)} ({effect.after.strongest}). Values "
                "that only one stratum can have give it away; a repair by blocks (scope blocks) "
                "writes none of them."
            )
            sentences.append(Sentence(text=warning, is_marked=True))
    sheets.append(
        Sheet(
            title="what was changed",
            headers=("column", "kind", "cells", "rank moved", "distance", "after"),
            rows=tuple(
                (
                    column.column,
                    column.kind,
                    f"{column.changed:,}",
                    number(column.rank_moved),
                    number(column.distance),
                    number(column.distance_after),
                )
                for column in effect.columns
            ),
        )
    )
    return Document(
        headline=(
            f"{effect.table}: {effect.rows_changed:,} of {effect.rows:,} rows and "
            f"{effect.cells_changed:,} of {effect.cells:,} cells changed"
        ),
        sections=(Section(sheets=tuple(sheets), sentences=tuple(sentences)),),
        notes=tuple(effect_notes(effect)),
        # A legend explains only what the page shows.
        closing=(LEGEND if effect.after is None else AUDIT_LEGEND + LEGEND,),
    )


def audit_sheet(before: Audit, after: Audit, *, is_raised: bool) -> Sheet:
    """Return the audits before and after the repair, side by side.

    Parameters
    ----------
    before, after : Audit
    is_raised : bool
        Whether the repair made the strata easier to tell apart; the first row then stands out.
    """
    audits, models = (before, after), (before.model, after.model)
    rows: list[tuple[str, ...]] = [
        (
            "BER of the strongest auditor",
            *(
                f"{number(audit.balanced_error_rate)} ({interval(audit.interval)})"
                for audit in audits
            ),
        ),
        ("strongest auditor", *(audit.strongest for audit in audits)),
    ]
    # Without an outcome there is no beta, so no floor, and no model either.
    if before.verdict is not None:
        rows += [
            (
                "impact floor of that auditor",
                *(
                    f"{number(audit.impact_floor)} ({interval(audit.impact_floor_interval)})"
                    for audit in audits
                ),
            ),
            (
                "impact ratio of a model",
                *(
                    f"{number(model.impact_ratio)} ({interval(model.impact_ratio_interval)})"
                    if model
                    else UNDEFINED
                    for model in models
                ),
            ),
            (
                "utility of that model",
                *(number(model.utility) if model else UNDEFINED for model in models),
            ),
            ("verdict", *(str(audit.verdict) for audit in audits)),
        ]
    return Sheet(
        title="what an auditor finds in the repaired columns",
        headers=("", "before", "after"),
        rows=tuple(rows),
        marked=(0,) if is_raised else (),
        name_width=30,
    )


def effect_notes(effect: RepairEffect) -> Iterator[str]:
    """Yield the notes of the effect, and what its tables leave out."""
    yield from effect.notes
    if effect.not_repaired:
        named = ", ".join(effect.not_repaired[:MAX_COLUMNS_NAMED])
        more = len(effect.not_repaired) - MAX_COLUMNS_NAMED
        yield (
            f"not repaired, and not audited here: {named}"
            + (f" and {more} more" if more > 0 else "")
            + "; a rule that uses them may still have disparate impact"
        )
    compared: dict[str, None] = {}  # each once, in the order before, after
    for audit in (effect.before, effect.after):
        model = None if audit is None else audit.model
        if model is not None:
            ratio = f"{model.group} over {model.reference}"
            # Above 1 it is the reference that is harmed: its ratio is the lower one.
            if model.impact_ratio > 1:
                inverse = number(1 / model.impact_ratio)
                ratio += f" ({model.reference} over {model.group}: {inverse})"
            compared[ratio] = None
    if compared:
        yield f"the model's ratio is the least of a group: {', then '.join(compared)}"
