"""A `Monitor` as a page."""

from __future__ import annotations

from fourfifths._impact.analyses.monitor import Monitor, MonitoredGroup
from fourfifths._report.document import Document, Section, Sentence, Sheet, Tone, to_document
from fourfifths._text import UNDEFINED, alternatives, interval, number, number_text, p_value

LARGEST_SHOWN = 1e6
CLOSING = (
    "e below, e above: how many times a stake would have grown in bets against a ratio of at "
    "least, or at most, the line in every batch; p: 1 / the largest e so far, adjusted for all "
    "groups. They and the intervals may be looked at after every batch. Not legal advice."
)


@to_document.register
def monitor_document(result: Monitor) -> Document:
    """Return the page: a line for each group, the last batches, the findings."""
    line = number_text(result.threshold)
    findings = {group.finding for group in result.groups}
    tone: Tone = "open"
    if any(finding.startswith("below") for finding in findings):
        tone = "bad"
    elif findings == {"above"}:
        tone = "good"
    return Document(
        headline=(
            f"{result.table}: {result.outcome} = {alternatives(result.favorable)}, "
            f"{result.protected} compared with {result.reference}, line {line}, "
            f"{len(result.batches)} batches"
        ),
        sections=(
            Section(
                sheets=(groups_sheet(result), *(looks_sheet(group) for group in result.groups)),
                sentences=tuple(
                    Sentence(
                        text=finding_text(group, result),
                        is_marked=group.finding.startswith("below"),
                    )
                    for group in result.groups
                ),
            ),
        ),
        notes=result.notes,
        details=tuple(f"Assumed: {assumption}." for assumption in result.assumptions),
        closing=(CLOSING,),
        tone=tone,
    )


def groups_sheet(result: Monitor) -> Sheet:
    """Return the table of the groups after the last batch."""
    percent = f"{100 * result.confidence:g}%"
    return Sheet(
        title=f"after {result.batches[-1]}",
        headers=("group", "n", "selected", "ratio", percent, "e below", "p", "e above", "p"),
        rows=tuple(
            (
                group.group,
                f"{group.n:,}",
                f"{group.selected:,}",
                number(group.impact_ratio),
                interval(group.ratio_interval, 2),
                evidence(group.evidence_below),
                p_value(group.p_below),
                evidence(group.evidence_above),
                p_value(group.p_above),
            )
            for group in result.groups
        ),
        marked=tuple(
            index for index, group in enumerate(result.groups) if group.finding.startswith("below")
        ),
    )


def looks_sheet(group: MonitoredGroup) -> Sheet:
    """Return the table of a group after each batch, which a terminal leaves out."""
    return Sheet(
        title=f"{group.group}, batch after batch",
        headers=(
            "batch",
            "selected",
            "n",
            "of reference",
            "n",
            "ratio so far",
            "limits",
            "e below",
            "e above",
        ),
        rows=tuple(
            (
                look.batch,
                f"{look.selected:,}",
                f"{look.n:,}",
                f"{look.selected_reference:,}",
                f"{look.n_reference:,}",
                number(look.impact_ratio),
                interval(look.ratio_interval, 2),
                evidence(look.evidence_below),
                evidence(look.evidence_above),
            )
            for look in group.looks
        ),
        is_detail=True,
    )


def finding_text(group: MonitoredGroup, result: Monitor) -> str:
    """Return the finding of a group as a sentence."""
    line, percent = number_text(result.threshold), f"{100 * result.confidence:g}%"
    sentences = []
    if group.below_since is not None:
        sentences.append(
            f"with {percent} confidence the ratio was below {line} in at least some batches (since "
            f"{group.below_since})"
        )
    if group.above_since is not None:
        sentences.append(
            f"with {percent} confidence the ratio was above {line} in at least some batches (since "
            f"{group.above_since})"
        )
    if not sentences:
        sentences.append(
            f"inconclusive: neither a ratio below {line} nor one above it is shown so far"
        )
    return f"{group.group}: {'; '.join(sentences)}."


def evidence(e: float) -> str:
    """Return an e-value for people.

    Examples
    --------
    >>> evidence(0.1234), evidence(31.25), evidence(1e40)
    ('0.12', '31.2', '1e+40')
    """
    if e != e:
        return UNDEFINED
    if e > LARGEST_SHOWN:
        return f"{e:.0e}"
    return number(e, 2 if e < 10 else 1)
