"""The section on disparate impact of a model card (Mitchell et al. 2019), meant for Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.fields import cover_fields
from fourfifths._evidence.finding import finding_tone, summary, unknown_paragraph
from fourfifths._evidence.method import CLOSING_LIMIT, LIMITS, METHOD
from fourfifths._evidence.report import Field, Part, Report
from fourfifths._evidence.templates.parts import attribute_parts, further_parts
from fourfifths._report.impact import rule_paragraphs

COVER = ("model", "model_version", "intended_use", "data_source", "period")


def model_card(
    evidence: Evidence, stated: Mapping[str, str], provenance: tuple[Field, ...]
) -> Report:
    """Return the section: who is selected how often, under which rule, and what is open."""
    impact = evidence.impact
    unknown = unknown_paragraph(impact)
    attributes = tuple(attribute_parts(evidence))
    return Report(
        title=f"Disparate impact: {stated.get('model', impact.table)}",
        template="model-card",
        cover=cover_fields(stated, COVER),
        finding=(
            summary(impact),
            *((unknown,) if unknown else ()),
            rule_paragraphs(impact.rule)[0],
        ),
        tone=finding_tone(impact),
        parts=(*(only_rates(part) for part in attributes), *further_parts(evidence)),
        limits=(*LIMITS, CLOSING_LIMIT),
        method=METHOD[:2],
        provenance=tuple(
            field for field in provenance if field.key in ("sha256", "version", "command")
        ),
    )


def only_rates(part: Part) -> Part:
    """Return an attribute with its table of rates; the findings are said once, at the top."""
    sections = tuple(
        replace(section, sheets=section.sheets[:1], sentences=()) for section in part.sections
    )
    return replace(part, sections=sections)
