"""`Stages` as a page: the funnel, the ratios of all steps side by side, then each step."""

from __future__ import annotations

from dataclasses import replace

from fourfifths._impact.analyses.stages import BOTTOM_LINE, StageImpact, Stages
from fourfifths._impact.result import AttributeImpact
from fourfifths._impact.rules import REFERENCE
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._report.impact import (
    checklist_sections,
    finding_sentences,
    rates_sheet,
    rule_line,
    rule_paragraphs,
)
from fourfifths._text import UNDEFINED, number

CLOSING = (
    "Each step is measured on those who had reached the stage before; the bottom line is the last "
    "stage, of all rows. A step can have an adverse impact that the bottom line does not show: "
    "Connecticut v. Teal, 457 U.S. 440 (1982). Holm's p is adjusted within a step. Not legal "
    "advice."
)


@to_document.register
def stages_document(result: Stages) -> Document:
    """Return the page of a selection in stages."""
    order = " -> ".join((result.steps[0].after, *(step.stage for step in result.steps)))
    names = [attribute.name for attribute in result.bottom_line.impact or ()]
    return Document(
        headline=f"{result.table}: {order}, rule {result.rule.name}, {result.rows:,} rows",
        sections=(
            Section(sheets=(funnel_sheet(result),)),
            *(attribute_section(result, name) for name in names),
            *checklist_sections(result.rule),
        ),
        notes=result.notes,
        details=rule_paragraphs(result.rule),
        closing=(rule_line(result.rule), CLOSING),
    )


@to_document.register
def step_document(step: StageImpact) -> Document:
    """Return the page of one step: that of its comparison, with the step in the headline."""
    headline = f"{step.title}: {step.reached:,} of {step.pool:,}"
    if step.impact is None:
        reason = Sentence(text=f"The groups were not compared: {step.why}.")
        return Document(headline=headline, sections=(Section(sentences=(reason,)),))
    return replace(to_document(step.impact), headline=headline)


def funnel_sheet(result: Stages) -> Sheet:
    """Return how many reached each stage."""
    return Sheet(
        title="who went on",
        headers=("stage", "of", "reached", "rate", "not known"),
        rows=tuple(
            (
                name,
                f"{step.pool:,}",
                f"{step.reached:,}",
                number(step.reached / (step.pool - step.missing))
                if step.pool > step.missing
                else UNDEFINED,
                f"{step.missing:,}",
            )
            for name, step in titled_parts(result).items()
        ),
        name_width=40,
    )


def titled_parts(result: Stages) -> dict[str, StageImpact]:
    """Return the steps by their titles, and the bottom line by its name."""
    bottom_line = result.bottom_line
    titled = {step.title: step for step in result.steps}
    return titled | {f"{BOTTOM_LINE}: {bottom_line.title}": bottom_line}


def attribute_section(result: Stages, name: str) -> Section:
    """Return one attribute: its ratios at all steps, its rates at each step, its findings."""
    compared = {
        title: next(attribute for attribute in step.impact if attribute.name == name)
        for title, step in titled_parts(result).items()
        if step.impact is not None
    }
    sheets = [ratios_sheet(name, compared)]
    sentences: list[Sentence] = []
    for title, attribute in compared.items():
        sheet = rates_sheet(attribute)
        sheets.append(replace(sheet, title=f"{title}; {sheet.title}"))
        sentences += [
            replace(sentence, text=f"{title}: {sentence.text}")
            for sentence in finding_sentences(attribute.groups)
        ]
    return Section(sheets=tuple(sheets), sentences=tuple(sentences))


def ratios_sheet(name: str, compared: dict[str, AttributeImpact]) -> Sheet:
    """Return the impact ratios of all steps: one line per step, one column per group."""
    groups = list(
        dict.fromkeys(group.group for attribute in compared.values() for group in attribute.groups)
    )

    def cell(attribute: AttributeImpact, label: str) -> str:
        for group in attribute.groups:
            if group.group == label and group.finding == REFERENCE:
                return "reference"
            if group.group == label:
                return number(group.impact_ratio) + (" *" if group.below_line else "")
        return UNDEFINED

    rows = tuple(
        (title, *(cell(attribute, label) for label in groups))
        for title, attribute in compared.items()
    )
    is_marked = any(" *" in cell for row in rows for cell in row[1:])
    return Sheet(
        title=f"{name}: impact ratio of each step"
        + ("; * marks a ratio beyond the rule's line" if is_marked else ""),
        headers=("step", *groups),
        rows=rows,
        name_width=40,
    )
