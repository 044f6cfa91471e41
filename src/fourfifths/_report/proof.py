"""A `Proof` as a page."""

from __future__ import annotations

from fourfifths._repair.proof import Proof
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import number

LIMITS_LEGEND = (
    "floor: no rule on the repaired columns that selects at least beta of each group has a lower "
    "impact ratio on new rows; reverse: the same if the reference is harmed; table: the lower of "
    "both on the table that the repair was fitted to, counted; BER: the least balanced error rate "
    "with which any classifier can predict the group of new rows, 0.5 is guessing; "
)
LEGEND = (
    "placing rows: the rows by which the group was cut; the score was learned on other rows; "
    "parts: into how many the group was cut; if there are fewer parts than blocks, a draw divides "
    "the rows of a part over its blocks. Not legal advice."
)


@to_document.register
def proof_document(proof: Proof) -> Document:
    """Return the page: what is proven of each pair of groups, and what it rests on."""
    is_proven = proof.verdict == "certified"
    headline = f"{proof.verdict}: nothing is proven of this repair"
    if proof.pairs:
        outlook = (
            "proven for every rule"
            if is_proven
            else f"an impact ratio of {proof.threshold:g} is not proven"
        )
        headline = (
            f"{proof.verdict}, {outlook}: beta {proof.beta:.1%}, no impact ratio below "
            f"{number(proof.impact_floor)} on new rows"
        )
    sheets = []
    if proof.pairs:
        sheets.append(
            Sheet(
                title=f"{proof.blocks} blocks: limits for every rule, {proof.confidence:.0%} "
                "confidence over all pairs",
                headers=("group", "reference", "floor", "reverse", "table", "BER"),
                rows=tuple(
                    (
                        pair.group,
                        pair.reference,
                        number(pair.impact_floor),
                        number(pair.reverse_floor),
                        number(min(pair.table_floor, pair.table_reverse_floor)),
                        number(pair.balanced_error_rate),
                    )
                    for pair in proof.pairs
                ),
                name_columns=2,
            )
        )
    sheets.append(
        Sheet(
            title="how the groups were cut",
            headers=("group", "rows", "placing rows", "parts"),
            rows=tuple(
                (
                    stratum.stratum,
                    f"{stratum.rows:,}",
                    f"{stratum.placing_rows:,}",
                    str(stratum.cells),
                )
                for stratum in proof.strata
            ),
        )
    )
    if proof.curve:
        sheets.append(
            Sheet(
                title="the floor of rules that select at least another share",
                headers=("beta", "floor"),
                rows=tuple(
                    (f"{point.beta:.0%}", number(point.impact_floor)) for point in proof.curve
                ),
                is_detail=True,
            )
        )
    sentence = proof.because[0].upper() + proof.because[1:] + "."
    return Document(
        headline=headline,
        sections=(Section(sheets=tuple(sheets), sentences=(Sentence(text=sentence),)),),
        notes=tuple(f"assumed: {assumption}" for assumption in proof.assumptions),
        # A legend explains only what the page shows.
        closing=(LIMITS_LEGEND + LEGEND if proof.pairs else LEGEND,),
        tone="good" if is_proven else "open",
    )
