"""A `RepairEffect` as text: tables for a terminal, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TextIO

from fourfifths._effect.result import Audit, ModelImpact, RepairEffect
from fourfifths._report.document import Document, Section, Sheet
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import TEXT_WIDTH, document_text, print_document
from fourfifths._text import UNDEFINED, interval, number

SHOWN = 10
LEGEND = (
    "BER: balanced error rate of predicting the stratum from the repaired columns, out of fold, "
    "0.5 is guessing; floor: the least impact ratio of a rule that the auditor could find; model: "
    "a logistic model of the outcome, out of fold; utility: 1 - its BER of the outcome; rank "
    "moved: mean change of rank among all rows; distance: earthmover distance from the largest "
    "stratum (of categories: total variation), of the stratum where it is largest. Changing data "
    "by a protected attribute can itself be disparate treatment (Ricci v. DeStefano): ask a "
    "lawyer. Not legal advice."
)


def effect_text(effect: RepairEffect, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    return document_text(effect_document(effect), width)


def print_effect(effect: RepairEffect, stream: TextIO) -> None:
    """Print the tables; in colour if the stream is a terminal."""
    print_document(effect_document(effect), stream)


def effect_markdown(effect: RepairEffect) -> str:
    """Return the tables as Markdown."""
    return document_markdown(effect_document(effect))


def effect_document(effect: RepairEffect) -> Document:
    """Return the page."""
    headline = (
        f"{effect.table}: {effect.rows_changed:,} of {effect.rows:,} rows and "
        f"{effect.cells_changed:,} of {effect.cells:,} cells changed"
    )
    section = Section(sheets=tuple(_sheets(effect)), lines=tuple(_lines(effect)))
    return Document(
        headline=headline, sections=(section,), notes=tuple(_notes(effect)), closing=(LEGEND,)
    )


def _sheets(effect: RepairEffect) -> Iterator[Sheet]:
    if effect.before is not None and effect.after is not None:
        yield _audit_sheet((effect.before, effect.after), raised=effect.raised)
    yield Sheet(
        title="what was changed",
        headers=("column", "kind", "cells", "rank moved", "distance", "after"),
        rows=tuple(
            (
                each.column,
                each.kind,
                f"{each.changed:,}",
                number(each.rank_moved),
                number(each.distance),
                number(each.distance_after),
            )
            for each in effect.columns
        ),
        marked=(False,) * len(effect.columns),
    )


def _audit_sheet(audits: tuple[Audit, Audit], *, raised: bool) -> Sheet:
    rows = [_row("BER of the strongest auditor", audits, _error)]
    if audits[0].verdict is not None:
        rows.append(_row("impact floor of that auditor", audits, _floor))
        rows.append(_row("impact ratio of a model", audits, _model))
        rows.append(_row("utility of that model", audits, _utility))
        rows.append(("verdict", *(str(each.verdict) for each in audits)))
    return Sheet(
        title="what an auditor finds in the repaired columns",
        headers=("", "before", "after"),
        rows=tuple(rows),
        marked=(raised, *(False,) * (len(rows) - 1)),
        name_width=30,
    )


def _row(name: str, audits: tuple[Audit, ...], shown: Callable[[Audit], str]) -> tuple[str, ...]:
    return (name, *(shown(each) for each in audits))


def _error(audit: Audit) -> str:
    return f"{number(audit.balanced_error_rate)} ({interval(audit.interval)}), {audit.strongest}"


def _floor(audit: Audit) -> str:
    return f"{number(audit.impact_floor)} ({interval(audit.impact_floor_interval)})"


def _model(audit: Audit) -> str:
    if audit.model is None:
        return UNDEFINED
    return f"{number(audit.model.impact_ratio)} ({interval(audit.model.impact_ratio_interval)})"


def _utility(audit: Audit) -> str:
    return UNDEFINED if audit.model is None else number(audit.model.utility)


def _lines(effect: RepairEffect) -> Iterator[tuple[str, bool]]:
    before, after = effect.before, effect.after
    if effect.raised and before is not None and after is not None:
        warning = (
            "Warning: the repair made the strata easier to tell apart: the BER of the strongest "
            f"auditor fell from {number(before.balanced_error_rate)} to "
            f"{number(after.balanced_error_rate)} ({after.strongest}). Values that only one "
            "stratum can have give it away; scope joint with method random makes none."
        )
        yield warning, True


def _notes(effect: RepairEffect) -> Iterator[str]:
    yield from effect.notes
    if effect.not_repaired:
        shown = ", ".join(effect.not_repaired[:SHOWN])
        more = len(effect.not_repaired) - SHOWN
        yield (
            f"not repaired, and not audited here: {shown}"
            + (f" and {more} more" if more > 0 else "")
            + "; a rule that uses them may still have disparate impact"
        )
    models = [each.model for each in (effect.before, effect.after) if each is not None]
    names = dict.fromkeys(_compared(each) for each in models if each)
    if names:
        yield f"the model's ratio is the least of a group: {', then '.join(names)}"


def _compared(model: ModelImpact) -> str:
    """Return whose ratio it is; above 1 the other side's is the lesser one."""
    shown = f"{model.group} over {model.reference}"
    if model.impact_ratio > 1:
        shown += f" ({model.reference} over {model.group}: {number(1 / model.impact_ratio)})"
    return shown
