"""A `Tradeoff` as text: tables for a terminal, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TextIO

from fourfifths._report.document import Document, Section, Sheet
from fourfifths._report.terminal import TEXT_WIDTH, document_text, print_document
from fourfifths._text import interval, number
from fourfifths._tradeoff.result import Point, Tradeoff

LEGEND = (
    "Every figure is of test rows; the repair, the models and the auditors were fitted on others. "
    "ratio: impact ratio of the model's selections; utility: 1 - BER of the outcome; parity: 1 - "
    "difference of the selection rates; BER: of the strongest auditor, predicting the protected "
    "attribute, 0.5 is guessing; changed: share of rows; * on the front: no other point is better "
    "in both ratio and utility. Not legal advice."
)


def tradeoff_text(curve: Tradeoff, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    return document_text(tradeoff_document(curve), width)


def print_tradeoff(curve: Tradeoff, stream: TextIO) -> None:
    """Print the tables; in colour if the stream is a terminal."""
    print_document(tradeoff_document(curve), stream)


def tradeoff_csv(curve: Tradeoff) -> str:
    """Return one row per point, undefined figures empty."""
    stream = io.StringIO()
    records = curve.records()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def tradeoff_document(curve: Tradeoff) -> Document:
    """Return the page: a table for each model, and which point to take."""
    models = dict.fromkeys(point.model for point in curve.points)
    sheets = tuple(_sheet(curve, model) for model in models)
    headline = (
        f"{curve.table}: {curve.outcome} = {curve.favorable}, by {' & '.join(curve.protected)}, "
        f"{curve.rows:,} rows, {curve.test_rows:,} of them for testing"
    )
    return Document(
        headline=headline,
        sections=(Section(sheets=sheets, lines=tuple(_lines(curve))),),
        notes=tuple(_notes(curve)),
        closing=(LEGEND,),
    )


def _sheet(curve: Tradeoff, model: str) -> Sheet:
    percent = f"{100 * curve.confidence:g}%"
    points = curve.select(model=model)
    front = {id(point) for point in curve.front}
    return Sheet(
        title=model,
        headers=(
            "repair",
            "amount",
            "ratio",
            percent,
            "utility",
            "acc",
            "parity",
            "AUC",
            "BER",
            "changed",
        ),
        rows=tuple(_row(point, on_front=id(point) in front) for point in points),
        marked=(False,) * len(points),
    )


def _row(point: Point, *, on_front: bool) -> tuple[str, ...]:
    repair = "none" if point.method == "none" else f"{point.scope}, {point.method}"
    return (
        repair,
        f"{point.amount:g}" + (" *" if on_front else ""),
        number(point.impact_ratio),
        interval(point.impact_ratio_interval, 2),
        number(point.utility),
        number(point.accuracy),
        number(point.parity),
        number(point.auc),
        number(point.balanced_error_rate),
        number(point.changed, 2),
    )


def _lines(curve: Tradeoff) -> Iterator[tuple[str, bool]]:
    chosen = curve.choose()
    if chosen is None:
        yield "No point's interval of the impact ratio is within 0.8 to 1.25: none does.", True
        return
    limits = interval(chosen.impact_ratio_interval)
    how = "no repair" if chosen.method == "none" else f"{chosen.scope}, {chosen.method} repair"
    yield (
        (
            f"The highest utility with an impact ratio clear of 0.8: {chosen.model}, {how}, amount "
            f"{chosen.amount:g}: ratio {number(chosen.impact_ratio)} ({limits}), utility "
            f"{number(chosen.utility)}."
        ),
        False,
    )


def _notes(curve: Tradeoff) -> Iterator[str]:
    yield from curve.notes
    if curve.intervals == "bootstrap":
        yield "intervals: bootstrap over the test rows; of the AUC, DeLong's; of the BER, exact"
    else:
        share = f"{100 * curve.confidence:g}%"
        yield (
            f"figures: of {curve.repeats} random splits together (BER and changed: the mean); "
            f"intervals hold {share} of them"
        )
