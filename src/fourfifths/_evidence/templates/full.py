"""The full report: everything that was measured, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Mapping

from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.fields import cover_fields
from fourfifths._evidence.finding import finding_paragraphs, finding_tone
from fourfifths._evidence.glossary import terms_of
from fourfifths._evidence.method import limits_of, method_of
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._evidence.templates.parts import (
    attribute_parts,
    further_parts,
    note_part,
    significance_part,
)
from fourfifths._report.impact import checklist_sections

COVER = (
    *("organization", "position", "tool", "tool_version", "distribution_date", "period"),
    *("data_source", "data_kind", "data_reason", "audit_date", "auditor", "independence"),
)


def full_report(
    evidence: Evidence, stated: Mapping[str, str], provenance: tuple[Field, ...]
) -> Report:
    """Return the full report."""
    impact = evidence.impact
    checklist = checklist_sections(impact.rule)
    parts = (
        *attribute_parts(evidence),
        significance_part(evidence),
        *further_parts(evidence),
        *(
            (Part(id="checklist", title="Checklist of the rule", sections=checklist),)
            if checklist
            else ()
        ),
        *note_part(evidence),
    )
    return Report(
        title=f"Adverse impact report: {impact.table}",
        template="full",
        cover=cover_fields(stated, COVER),
        finding=finding_paragraphs(impact),
        tone=finding_tone(impact),
        parts=parts,
        limits=limits_of(evidence),
        method=method_of(evidence),
        terms=terms_of(parts),
        provenance=provenance,
    )
