"""A rule on a page: its arithmetic, its status with source and date, its checklist."""

from __future__ import annotations

from collections.abc import Iterable

from fourfifths._impact.profiles import RULES
from fourfifths._impact.rules import Rule
from fourfifths._report.document import Document, Section, Sentence, Sheet

DUTY_NAMES = {
    "publish": "publish",
    "retain": "retain",
    "notify": "notify",
    "search_for_alternatives": "search for alternatives",
}
DECISIONS = {
    "ratio": "a ratio under the line",
    "ratio or test": "a ratio under the line, unless numbers are small and not significant",
    "test": "a test",
    "ratio and test": "a ratio under the line and a test together",
    "test and gap": "a test and a gap together",
    "none": "nothing: the figures are asked for, and no line is drawn",
    "checklist": "nothing: the law has no number; a checklist, never a finding",
}
SMALL_GROUPS = {
    "not judged": "is not judged",
    "exclude": "is excluded",
    "include": "may be excluded",
}


def arithmetic_text(rule: Rule) -> str:
    """Return how a rule reads the figures, in one paragraph."""
    if rule.is_checklist:
        return f"decided by {DECISIONS[rule.decision]}."
    clauses = [f"decided by {DECISIONS[rule.decision]}"]
    clauses.append(
        "compared with the highest rate"
        if rule.reference == "highest"
        else "compared with a designated group"
    )
    if rule.lines:
        lines = " and ".join(f"{rule.boundary} {line}" for line in rule.lines)
        clauses.append(f"{'line' if rule.line_is == 'decisive' else 'trigger'}: {lines}")
    if rule.gap:
        clauses.append(f"gap: at least {100 * float(rule.gap):g} points")
    if rule.standard_deviations is not None:
        counts = [rule.standard_deviations, rule.strong_standard_deviations]
        clauses.append(
            f"test: {' and '.join(f'{count:g}' for count in counts if count)} standard deviations"
        )
    elif "test" in rule.decision:
        clauses.append("test: p below 5%")
    if rule.total_minority:
        clauses.append("all other groups together are compared as well")
    if rule.minimum_share:
        share = f"{float(rule.minimum_share):.0%}"
        clauses.append(f"a group under {share} of the rows {SMALL_GROUPS[rule.small_groups]}")
    if rule.minimum_rows:
        clauses.append(f"a reference chosen by its rate has at least {rule.minimum_rows} rows")
    return f"{'; '.join(clauses)}."


def status_text(rule: Rule) -> str:
    """Return what a rule is in law, with the date of the check and what it was checked against."""
    status = rule.status
    return (
        f"{status.jurisdiction}; {status.period}. {status.standing} Checked on {status.checked_on} "
        f"against {status.checked_against}."
    )


def rule_line(rule: Rule) -> str:
    """Return the status of a rule in one line, for the end of a page."""
    # A rule of the user's own is not listed.
    command = f" ('fourfifths rules {rule.name}' says more)" if rule.name in RULES else ""
    return f"Rule {rule.name}: {rule.status.period}; checked on {rule.status.checked_on}{command}."


def duty_lines(rule: Rule) -> list[str]:
    """Return what a rule asks for besides the arithmetic, a line for each duty."""
    duties = rule.status.duties.to_dict()
    return [f"{DUTY_NAMES[name]}: {text}." for name, text in duties.items() if text]


def rule_paragraphs(rule: Rule) -> tuple[str, ...]:
    """Return where a rule comes from, its standing in law, and its duties."""
    # Each duty is a sentence of its own.
    duties = " ".join(f"{line[0].upper()}{line[1:]}" for line in duty_lines(rule))
    return (
        f"Rule {rule.name}: {rule.title}. {rule.status.source}.",
        f"Status: {status_text(rule)}",
        *((f"Duties. {duties}",) if duties else ()),
    )


def checklist_sections(rule: Rule) -> tuple[Section, ...]:
    """Return the checklist of a law without a number; of any other rule nothing."""
    if not rule.is_checklist:
        return ()
    lines = (
        f"{rule.name} has no number, so this page has figures and a checklist, and no finding.",
        *(f"[ ] {question}" for question in rule.status.questions),
        *(f"[ ] {duty}" for duty in duty_lines(rule)),
    )
    return (Section(sentences=tuple(Sentence(text=line) for line in lines)),)


def rule_document(rule: Rule) -> Document:
    """Return the page of one rule."""
    texts = (
        f"Arithmetic: {arithmetic_text(rule)}",
        f"Status: {status_text(rule)}",
        f"Source: {rule.status.source}.",
    )
    checklist = (*rule.status.questions, *duty_lines(rule))
    return Document(
        headline=f"{rule.name}: {rule.title}",
        sections=(
            Section(sentences=tuple(Sentence(text=text) for text in texts)),
            Section(sentences=tuple(Sentence(text=f"[ ] {line}") for line in checklist)),
        ),
        closing=("Not legal advice.",),
    )


def period_cell(rule: Rule) -> str:
    """Return when a rule is in force, short enough for a table."""
    if rule.status.in_force_to is not None:
        return f"historical, to {rule.status.in_force_to}"
    return rule.status.period.removeprefix("in force ")


def rules_document(rules: Iterable[Rule]) -> Document:
    """Return the list of rules: what decides, and whether it is in force."""
    return Document(
        headline="Rules: what decides, and whether the rule is in force",
        sections=(
            Section(
                sheets=(
                    Sheet(
                        title="by 'fourfifths audit --rule NAME'",
                        headers=("rule", "decided by", "in force", "checked"),
                        rows=tuple(
                            (
                                rule.name,
                                rule.decision,
                                period_cell(rule),
                                rule.status.checked_on.isoformat(),
                            )
                            for rule in rules
                        ),
                    ),
                ),
            ),
        ),
        closing=(
            "none: the rule asks for the figures and draws no line. checklist: the law has no "
            "number; it gives a checklist and never a finding. 'fourfifths rules NAME' shows the "
            "arithmetic, the status, the source and the duties of a rule. Not legal advice.",
        ),
    )
