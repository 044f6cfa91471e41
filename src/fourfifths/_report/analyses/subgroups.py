"""`Subgroups` as a page: the worst ones, and what holds for the whole search."""

from __future__ import annotations

from fourfifths._impact.analyses.subgroups import Subgroups
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import alternatives, number, number_text, p_value

CLOSING = (
    "A subgroup is compared with all other rows. A low ratio says nothing about its cause: it can "
    "come from one of the columns alone. Which subgroups were searched does not depend on the "
    "outcome. Not legal advice."
)


@to_document.register
def subgroups_document(result: Subgroups) -> Document:
    """Return the result of a search as a page."""
    searched = f"{result.searched:,} subgroup{'s' if result.searched > 1 else ''}"
    left_out = [
        f"{count:,} {reason}"
        for count, reason in (
            (result.too_small, f"have fewer than {result.min_rows:,} rows, or others"),
            (result.repeated, "hold the same rows as one of fewer columns"),
        )
        if count
    ]
    line = number_text(result.threshold)
    sentences = [
        Sentence(
            text=f"{searched} of up to {result.depth} columns searched, each with "
            f"{' or '.join(result.protected)}."
            + (f" Not searched: {'; '.join(left_out)}." if left_out else "")
        ),
        Sentence(
            text=f"{result.surely_below:,} of them {'has' if result.surely_below == 1 else 'have'} "
            f"an upper limit below {line}. All limits hold together with confidence "
            f"{100 * result.confidence:g}%, so also for the worst.",
            is_marked=result.surely_below > 0,
        ),
    ]
    if result.adjusted_by == "permutation":
        sentences.append(
            Sentence(
                text=f"p: in {result.permutations:,} permutations of {result.outcome}, how often "
                "the search finds a subgroup whose exact one-sided p-value is as small."
            )
        )
    return Document(
        headline=f"{result.table}: {result.outcome} = {alternatives(result.favorable)}, "
        f"{result.selected:,} of {result.rows:,} rows, the worst subgroups",
        sections=(Section(sheets=(worst_sheet(result),), sentences=tuple(sentences)),),
        notes=result.notes,
        closing=(CLOSING,),
    )


def worst_sheet(result: Subgroups) -> Sheet:
    """Return the table of the worst subgroups."""
    by = "ratio" if result.order == "ratio" else "upper limit"
    return Sheet(
        title=f"lowest {by} first; limits hold for all that were searched",
        headers=("subgroup", "n", "selected", "rate", "others", "ratio", "limit", "p"),
        rows=tuple(
            (
                subgroup.label,
                f"{subgroup.n:,}",
                f"{subgroup.selected:,}",
                number(subgroup.selection_rate),
                number(subgroup.selection_rate_others),
                number(subgroup.ratio),
                number(subgroup.ratio_limit),
                p_value(subgroup.adjusted_p),
            )
            for subgroup in result
        ),
        marked=tuple(
            index
            for index, subgroup in enumerate(result)
            if subgroup.ratio_limit < result.threshold
        ),
        name_width=22,
    )
