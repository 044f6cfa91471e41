"""A memo under the Uniform Guidelines: question, short answer, facts, analysis, records."""

from __future__ import annotations

from collections.abc import Mapping

from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.fields import LABELS, cover_fields
from fourfifths._evidence.finding import finding_paragraphs, finding_tone
from fourfifths._evidence.glossary import terms_of
from fourfifths._evidence.method import limits_of, method_of
from fourfifths._evidence.report import NOT_STATED, Field, Part, Report
from fourfifths._evidence.templates.parts import (
    attribute_parts,
    further_parts,
    note_part,
    significance_part,
)
from fourfifths._text import alternatives

COVER = (
    *("prepared_for", "prepared_by", "organization", "position", "tool", "period", "data_source"),
    *("data_kind", "audit_date"),
)
TEAL = (
    "A component of the process can have adverse impact although its bottom line has none: "
    "Connecticut v. Teal, 457 U.S. 440 (1982); 29 CFR 1607.4(C)."
)


def ugesp_memo(
    evidence: Evidence, stated: Mapping[str, str], provenance: tuple[Field, ...]
) -> Report:
    """Return the memo."""
    impact = evidence.impact
    names = ", ".join(attribute.name for attribute in impact)
    question = Field(
        key="question",
        label=LABELS["question"],
        text=stated.get(
            "question",
            f"Did the selection ({impact.outcome}) have an adverse impact by {names} under the "
            "four-fifths rule of the Uniform Guidelines?",
        ),
    )
    facts = Part(
        id="facts",
        title="Facts",
        paragraphs=(
            stated.get("facts", "Facts beside the figures: not stated."),
            f"The file {impact.table} has {impact.rows:,} persons with an outcome. Selected means "
            f"{impact.outcome} = {alternatives(impact.favorable)}."
            + (
                f" {impact.outcome_missing:,} rows without an outcome were left out."
                if impact.outcome_missing
                else ""
            ),
        ),
    )
    components = (
        "The components of the process are measured below, stage by stage."
        if evidence.stages is not None
        else "Only the result of the total process is in these data; its components were not "
        "measured."
    )
    process = Part(
        id="process",
        title="Total process and components",
        paragraphs=(
            "The total selection process is measured first, for each attribute (29 CFR "
            f"1607.4(C)). {components} {TEAL}",
        ),
    )
    records = Part(
        id="records",
        title="Records kept",
        paragraphs=(
            f"Records: {stated.get('records', NOT_STATED)}.",
            f"Evidence of validity: {stated.get('validity', NOT_STATED)}.",
            f"Alternatives considered: {stated.get('alternatives', NOT_STATED)}.",
            "29 CFR 1607.4(A) and 1607.15(A) ask for records by sex, race and ethnic group of "
            "applicants and of those selected. The figures of this memo are those of the file "
            "named under provenance.",
        ),
    )
    parts = (
        facts,
        process,
        *attribute_parts(evidence),
        significance_part(evidence),
        *further_parts(evidence),
        records,
        *note_part(evidence),
    )
    return Report(
        title=f"Memorandum on adverse impact: {impact.table}",
        template="ugesp",
        cover=(*cover_fields(stated, COVER), question),
        finding_title="Short answer",
        finding=finding_paragraphs(impact),
        tone=finding_tone(impact),
        parts=parts,
        limits=limits_of(evidence),
        method=method_of(evidence),
        terms=terms_of(parts),
        provenance=provenance,
    )
