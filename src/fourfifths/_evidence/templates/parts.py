"""The parts that templates share: each an analysis of the evidence, as sections and charts."""

from __future__ import annotations

from dataclasses import replace

from fourfifths._evidence.evidence import CERTIFICATE_OF, Evidence
from fourfifths._evidence.report import Part, anchor, document_part
from fourfifths._impact.result import AttributeImpact
from fourfifths._report.charts import to_charts
from fourfifths._report.charts.impact import ratio_chart
from fourfifths._report.charts.proof import block_chart
from fourfifths._report.document import Section, SheetTopic, to_document
from fourfifths._report.impact import (
    attribute_section,
    finding_sentences,
    legend,
    pooling_sentences,
    rule_line,
    rule_paragraphs,
)
from fourfifths._results import Result

TITLES = {
    "stages": "Stages of the selection",
    "cuts": "Every cut of the score",
    "certificate": "What a rule on the other columns could do",
    "repair": "What a repair would change",
    "tradeoff": "Search for less discriminatory alternatives",
}

QUESTIONS = {
    "stages": "Where in the process do groups fall behind? Each stage is measured among those who "
    "reached it.",
    "cuts": "What if the cut were higher or lower? The impact ratio is computed at every score at "
    "which a cut could be made.",
    "certificate": "Could a rule that sees only the other columns, and not the group, still select "
    "one group much less often? Classifiers, called auditors here, try to predict the group from "
    "these columns: the better they predict it, the lower the impact ratio that a rule can have. "
    "'Certified' means that none of them found a rule below the threshold.",
    "repair": "What if the columns were changed so that they no longer reveal the group? Nothing "
    "was changed in the file: this shows what a repair would do, and what auditors find before and "
    "after it, on rows that the repair was not fitted to.",
    "proof": "What holds for every rule, also one that nobody has tried? A repair by blocks puts "
    "each row into one of a few blocks, in the same shares for every group, and writes the same "
    "values for all rows of a block. So a rule can select by block only.",
    "tradeoff": "What would a model with less impact cost? A model of the outcome is fitted to the "
    "table with no, half and full repair.",
}


def section_of(attribute: AttributeImpact, *topics: SheetTopic) -> Section:
    """Return the tables of an attribute about some topics, without sentences."""
    sheets = attribute_section(attribute).sheets
    return Section(sheets=tuple(sheet for sheet in sheets if sheet.topic in topics))


def attribute_parts(evidence: Evidence) -> tuple[Part, ...]:
    """Return one part for each attribute: chart, rates, unknown membership, findings."""
    parts: list[Part] = []
    for attribute in evidence.impact:
        taken = tuple(part.id for part in parts)
        section = section_of(attribute, "rates", "unknown", "scores", "pairs")
        sentences = tuple(finding_sentences(attribute.groups_and_total))
        parts.append(
            Part(
                id=anchor(f"by {attribute.name}", taken),
                title=f"By {attribute.name}",
                charts=(ratio_chart(attribute),),
                sections=(replace(section, sentences=sentences),),
                result=attribute,
            )
        )
    return tuple(parts)


def significance_part(evidence: Evidence) -> Part:
    """Return the tests, the effect sizes and the shortfalls of all attributes."""
    groups = [group for attribute in evidence.impact for group in attribute.groups_and_total]
    return Part(
        id="tests",
        title="Tests and practical significance",
        paragraphs=(
            "A difference can be large and due to chance, or small and certain. The tests say "
            "whether chance explains it; the shortfall and the points say how much it matters.",
        ),
        sections=tuple(section_of(attribute, "tests") for attribute in evidence.impact),
        explanations=(legend(groups),),
    )


def strata_parts(evidence: Evidence) -> tuple[Part, ...]:
    """Return the comparison within another column, if there was one."""
    within = evidence.impact.within
    if within is None:
        return ()
    sections = tuple(
        replace(section_of(attribute, "strata"), sentences=tuple(pooling_sentences(attribute)))
        for attribute in evidence.impact
    )
    return (
        Part(
            id="strata",
            title=f"Within each {within}",
            paragraphs=(
                f"Groups may differ in their {within}. Here they are compared within each value of "
                "it, and then together.",
            ),
            sections=sections,
        ),
    )


def note_part(evidence: Evidence) -> tuple[Part, ...]:
    """Return the notes of the audit, if there are any."""
    if not evidence.impact.notes:
        return ()
    return (Part(id="notes", title="Notes on the data", notes=evidence.impact.notes),)


def result_part(evidence: Evidence, name: str, result: Result | None) -> tuple[Part, ...]:
    """Return an analysis as the terminal shows it, with charts; or why it could not be made."""
    heading = TITLES[name]
    if name in evidence.problems:
        return (Part(id=name, title=heading, problem=evidence.problems[name]),)
    if result is None:
        return ()
    # The rule is said once, with the finding.
    rule_texts = {*rule_paragraphs(evidence.impact.rule), rule_line(evidence.impact.rule)}
    document = to_document(result)
    # The bottom line of stages is the audit itself, whose charts are there already.
    audit_charts = {(chart.title, chart.alt) for chart in to_charts(evidence.impact)}
    charts = tuple(
        chart for chart in to_charts(result) if (chart.title, chart.alt) not in audit_charts
    )
    part = document_part(document, id=name, title=heading, charts=charts, result=result)
    explanations = tuple(text for text in part.explanations if text not in rule_texts)
    return (with_question(replace(part, explanations=explanations), name),)


def with_question(part: Part, name: str) -> Part:
    """Return a part that says what it asks after its answer, for readers new to the method."""
    answer, *rest = part.paragraphs
    return replace(part, paragraphs=(answer, QUESTIONS[name], *rest))


def certificate_parts(evidence: Evidence) -> tuple[Part, ...]:
    """Return the certificate of each protected column, with its witness and its leaks."""
    parts: list[Part] = []
    for column, certificate in evidence.certificates.items():
        document = to_document(certificate)
        witness = certificate.worst.witness
        part = document_part(
            document,
            id=anchor(f"{CERTIFICATE_OF} {column}", tuple(part.id for part in parts)),
            title=f"{TITLES['certificate']}, by {column}",
            charts=to_charts(certificate),
            result=certificate,
        )
        rates = ", ".join(f"{group} {rate:.1%}" for group, rate in witness.rates.items())
        sentence = (
            f"The most harmful rule found (the witness), by the auditor {witness.auditor}: "
            f"{witness.rule}. It selects {rates}."
        )
        parts.append(
            with_question(replace(part, paragraphs=(*part.paragraphs, sentence)), "certificate")
        )
    for name, problem in evidence.problems.items():
        if name.startswith(CERTIFICATE_OF):
            title = f"{TITLES['certificate']}, by {name.removeprefix(CERTIFICATE_OF).strip()}"
            taken = tuple(part.id for part in parts)
            parts.append(Part(id=anchor(name, taken), title=title, problem=problem))
    return tuple(parts)


def repair_parts(evidence: Evidence) -> tuple[Part, ...]:
    """Return what a repair would change, and what is proven of it, with the picture of blocks."""
    repaired = evidence.repaired
    if repaired is None:
        return result_part(evidence, "repair", None)
    parts = list(result_part(evidence, "repair", repaired.effect))
    if repaired.proof is not None:
        proof = repaired.proof
        charts = to_charts(proof)
        if repaired.counts is not None and proof.pairs:
            charts = (*charts, block_chart(repaired.counts, labels=repaired.labels))
        part = document_part(
            to_document(proof),
            id="proof",
            title="What is proven of the repaired table",
            charts=charts,
            result=proof,
        )
        parts.append(with_question(part, "proof"))
    return tuple(parts)


def further_parts(evidence: Evidence) -> tuple[Part, ...]:
    """Return everything beside the audit, in the order of a full report."""
    return (
        *result_part(evidence, "stages", evidence.stages),
        *strata_parts(evidence),
        *result_part(evidence, "cuts", evidence.cuts),
        *certificate_parts(evidence),
        *repair_parts(evidence),
        *result_part(evidence, "tradeoff", evidence.tradeoff),
    )
