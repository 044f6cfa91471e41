"""A `Check` as a page."""

from __future__ import annotations

from fourfifths._impact.analyses.check import Check, CheckedGroup
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import UNDEFINED, interval, number

WRONG_MARK = " <"
CLOSING = (
    "A printed number stands for all that round to it at the digits of its column. The ratio is "
    "that to the highest rate. Not legal advice."
)


@to_document.register
def check_document(result: Check) -> Document:
    """Return the page: a line for each group, then what is to be said of the table."""
    wrong = [is_wrong(group) for group in result.groups]
    remarks = [
        Sentence(text=f"{group.group}: {remark}.", is_marked=True)
        for group in result.groups
        for remark in group.remarks
    ]
    statements = [
        Sentence(text=f"{statement[0].upper()}{statement[1:]}.") for statement in result.statements
    ]
    headline = f"{result.table}: all printed figures follow"
    if result.errors:
        figures = "figure does" if result.errors == 1 else "figures do"
        headline = f"{result.table}: {result.errors} printed {figures} not follow"
    return Document(
        headline=headline,
        sections=(
            Section(
                sheets=(
                    Sheet(
                        title="recomputed from the counts; < marks what does not follow",
                        headers=headers(result),
                        rows=tuple(cells(group, result) for group in result.groups),
                        marked=tuple(index for index, is_bad in enumerate(wrong) if is_bad),
                    ),
                ),
                sentences=(*remarks, *statements),
            ),
        ),
        notes=result.notes,
        closing=(CLOSING,),
        tone="bad" if result.errors else "good",
    )


def headers(result: Check) -> tuple[str, ...]:
    """Return the heads; bounds only where there are people of unknown group."""
    bounds = ("with unknown",) if result.unknown_count else ()
    return ("group", "n", "selected", "printed", "rate", "printed", "ratio", *bounds)


def cells(group: CheckedGroup, result: Check) -> tuple[str, ...]:
    """Return the line of a group."""

    def printed(text: str | None, verdict: str) -> str:
        return (text or UNDEFINED) + (WRONG_MARK if verdict == "does not follow" else "")

    bounds = (interval(group.impact_ratio_bounds, 2),) if result.unknown_count else ()
    return (
        group.group,
        f"{group.n:,}",
        UNDEFINED if group.selected is None else f"{group.selected:,}",
        printed(group.rate_printed, group.rate_verdict),
        number(group.rate, 4),
        printed(group.ratio_printed, group.ratio_verdict),
        number(group.impact_ratio, 4),
        *bounds,
    )


def is_wrong(group: CheckedGroup) -> bool:
    """Return whether a printed figure of the group does not follow."""
    return "does not follow" in (group.rate_verdict, group.ratio_verdict)
