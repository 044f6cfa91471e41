"""An audit and the rule that judges it, as pages.

First an `Impact`, one of its attributes, or one of its groups; then a rule: its arithmetic, its
status with source and date, its checklist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from fourfifths._impact.profiles import RULES
from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact, PairImpact
from fourfifths._impact.rules import EXCLUDED, NOT_INDICATED, REFERENCE, Rule
from fourfifths._report.document import (
    Document,
    Section,
    Sentence,
    Sheet,
    SheetTopic,
    to_document,
)
from fourfifths._text import UNDEFINED, alternatives, interval, number, p_value

BELOW_MARK, REFERENCE_BELOW_MARK = " <", " >"
MARKS = {
    BELOW_MARK: "; < marks a ratio below the line",
    REFERENCE_BELOW_MARK: "; > marks where the reference is below the line",
}
INTERVAL_METHODS = {
    "exact": "exact (Agresti and Min)",
    "score": "by the score test (Koopman; Miettinen and Nurminen)",
}
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


@to_document.register
def impact_document(result: Impact) -> Document:
    """Return the page of an audit: the tables and findings of each attribute."""
    return Document(
        headline=(
            f"{result.table}: {result.outcome} = {alternatives(result.favorable)}, "
            f"rule {result.rule.name}, {result.rows:,} rows"
        ),
        sections=(
            *(attribute_section(attribute) for attribute in result.attributes),
            *checklist_sections(result.rule),
        ),
        notes=result.notes,
        details=rule_paragraphs(result.rule),
        closing=(
            rule_line(result.rule),
            legend([group for attribute in result for group in attribute.groups_and_total]),
        ),
    )


@to_document.register
def attribute_document(attribute: AttributeImpact) -> Document:
    """Return the page of one attribute: its own tables and findings."""
    rows = attribute.unknown + sum(group.n for group in attribute.groups)
    return Document(
        headline=(
            f"{attribute.table}: {attribute.outcome} = {alternatives(attribute.favorable)}, "
            f"{attribute.name}, rule {attribute.rule.name}, {rows:,} rows"
        ),
        sections=(attribute_section(attribute), *checklist_sections(attribute.rule)),
        notes=attribute.notes,
        details=rule_paragraphs(attribute.rule),
        closing=(rule_line(attribute.rule), legend(attribute.groups_and_total)),
    )


@to_document.register
def group_document(group: GroupImpact) -> Document:
    """Return the page of one group: its figures below each other."""
    figures = (
        ("selection rate", number(group.selection_rate), interval(group.selection_rate_interval)),
        ("impact ratio", number(group.impact_ratio), interval(group.impact_ratio_interval)),
        *((name, figure(group), "") for name, figure in TEST_FIGURES.items()),
        *((name, figure(group), "") for name, figure in FURTHER_FIGURES.items()),
    )
    return Document(
        headline=f"{group.group}: {group.selected:,} of {group.n:,} selected",
        sections=(
            Section(
                sheets=(Sheet(title="figures", headers=("", "value", "limits"), rows=figures),),
                sentences=tuple(finding_sentences([group])),
            ),
        ),
        closing=(legend([group]),),
    )


def legend(groups: Sequence[GroupImpact]) -> str:
    """Return what the heads of the tables mean, and how the intervals were computed."""
    texts = [
        "points: difference between the selection rates, in percentage points",
        "shortfall: how many more would have been selected at the reference's rate",
        "detectable: the smallest detectable effect: with this many rows, a ratio closer to 1 than "
        "this would probably go unnoticed",
    ]
    if has_choice_p(groups):
        texts.insert(1, "choice p: p adjusted for choosing the reference by its rate")
    methods = sorted({group.interval_method for group in groups if group.interval_method})
    # With both, which is which follows from the numbers of rows and of comparisons.
    where = [
        "where the two groups have at most 200 rows together and at most 100 pairs are compared",
        "elsewhere",
    ]
    sentences = [f"{'; '.join(texts)}."]
    if methods:
        ways = [
            f"{INTERVAL_METHODS[method]}{f' {used_for}' if len(methods) > 1 else ''}"
            for method, used_for in zip(methods, where, strict=False)
        ]
        sentences.append(f"Intervals of the ratios: {', '.join(ways)}.")
    return " ".join([*sentences, "A finding names the test that it rests on. Not legal advice."])


CHOICE_HEAD = "choice p"
# The heads of the tables, and how each figure is written.
TEST_FIGURES: dict[str, Callable[[GroupImpact], str]] = {
    "points": lambda group: number(100 * group.difference, 1),
    "z": lambda group: number(group.z, 2),
    "Fisher p": lambda group: p_value(group.fisher_p),
    CHOICE_HEAD: lambda group: p_value(group.choice_p),
    "Holm p": lambda group: p_value(group.holm_p),
    "shortfall": lambda group: number(group.shortfall.to_reference, 1),
    "detectable": lambda group: number(group.detectable_ratio),
}
FURTHER_FIGURES: dict[str, Callable[[GroupImpact], str]] = {
    "one moved": lambda group: number(group.flip),
    "SD": lambda group: number(group.standard_deviations, 2),
    "one-sided p": lambda group: p_value(group.fisher_p_less),
    "mid-p": lambda group: p_value(group.mid_p),
    "one-sided mid-p": lambda group: p_value(group.mid_p_less),
    "expected": lambda group: number(group.expected, 1),
    "shortfall to pooled": lambda group: number(group.shortfall.to_pooled, 1),
    "phi": lambda group: number(group.phi),
    "h": lambda group: number(group.h),
    "LR+": lambda group: number(group.likelihood_ratio),
    "sensitivity": lambda group: number(group.sensitivity),
    "specificity": lambda group: number(group.specificity),
    "BER": lambda group: number(group.balanced_error_rate),
}


def attribute_section(attribute: AttributeImpact) -> Section:
    """Return the tables of one attribute (rates and ratios first) and its findings."""
    percent = f"{100 * attribute.confidence:g}%"
    compared = [
        group for group in attribute.groups_and_total if group.finding not in (REFERENCE, EXCLUDED)
    ]

    def sheet(
        title: str,
        headers: Sequence[str],
        cells: Callable[[GroupImpact], Sequence[str]],
        *,
        topic: SheetTopic,
        groups: Sequence[GroupImpact] = compared,
        is_detail: bool = False,
    ) -> Sheet:
        return Sheet(
            title=f"{attribute.name}: {title}",
            headers=("group", *headers),
            rows=tuple((group.group, *cells(group)) for group in groups),
            marked=tuple(index for index, group in enumerate(groups) if is_indicated(group)),
            is_detail=is_detail,
            topic=topic,
        )

    # Where the reference was designated, there is no choice to adjust for.
    tests = {
        head: figure
        for head, figure in TEST_FIGURES.items()
        if head != CHOICE_HEAD or has_choice_p(compared)
    }
    sheets = [
        rates_sheet(attribute),
        sheet(
            "tests and sizes",
            tuple(tests),
            lambda group: [figure(group) for figure in tests.values()],
            topic="tests",
        ),
    ]
    if attribute.largest != attribute.reference:
        sheets.append(
            sheet(
                f"compared with the largest group, {attribute.largest}",
                ("ratio", percent, "z", "Fisher p"),
                largest_cells,
                topic="tests",
                groups=[group for group in attribute.groups if group.against_largest],
            )
        )
    if attribute.pairs:
        sheets.append(pairs_sheet(attribute))
    if attribute.unknown:
        sheets.append(
            sheet(
                "ratios that rows of unknown membership could make",
                ("ratio", "at least", "at most"),
                lambda group: (
                    number(group.impact_ratio),
                    *(number(bound) for bound in group.impact_ratio_bounds),
                ),
                topic="unknown",
                groups=[
                    group
                    for group in attribute.groups_and_total
                    if not all(math.isnan(bound) for bound in group.impact_ratio_bounds)
                ],
            )
        )
    if any(group.stratified for group in compared):
        sheets += [
            sheet(
                f"within {attribute.within}: is the odds ratio the same throughout?",
                ("Tarone", "p", "Breslow-Day", "p", "one figure for all"),
                consistency_cells,
                topic="strata",
            ),
            sheet(
                f"within {attribute.within}: ratio and difference of rates, odds ratio, tests",
                (
                    *("ratio", percent, "difference", percent),
                    *("odds ratio", percent, "CMH", "p", "exact p"),
                ),
                within_cells,
                topic="strata",
            ),
            strata_sheet(attribute),
        ]
    if not all(math.isnan(group.mean_difference) for group in compared):
        sheets.append(
            sheet(
                "mean score",
                ("standardised difference", percent),
                lambda group: (
                    number(group.mean_difference),
                    interval(group.mean_difference_interval),
                ),
                topic="scores",
            )
        )
    sheets.append(
        sheet(
            "further figures",
            tuple(FURTHER_FIGURES),
            lambda group: [figure(group) for figure in FURTHER_FIGURES.values()],
            topic="tests",
            is_detail=True,
        )
    )
    return Section(
        sheets=tuple(sheets),
        sentences=(*finding_sentences(attribute.groups_and_total), *pooling_sentences(attribute)),
    )


def rates_sheet(attribute: AttributeImpact) -> Sheet:
    """Return the table of counts, rates and ratios; a mark shows who is below the line."""
    percent = f"{100 * attribute.confidence:g}%"
    rows = []
    for group in attribute.groups_and_total:
        mark = ""
        if group.below_line:
            mark = BELOW_MARK if group.impact_ratio < 1 else REFERENCE_BELOW_MARK
        rows.append(
            (
                group.group,
                f"{group.n:,}",
                f"{group.selected:,}",
                number(group.selection_rate),
                interval(group.selection_rate_interval),
                number(group.impact_ratio) + mark,
                interval(group.impact_ratio_interval),
            )
        )
    if attribute.unknown:
        rate = number(attribute.unknown_selected / attribute.unknown)
        counts = (f"{attribute.unknown:,}", f"{attribute.unknown_selected:,}", rate)
        rows.append(("(unknown)", *counts, UNDEFINED, UNDEFINED, UNDEFINED))
    # Only marks that the table has are explained.
    legend = "".join(text for mark, text in MARKS.items() if any(mark in row[5] for row in rows))
    return Sheet(
        title=f"{attribute.name}, compared with {attribute.reference}{legend}",
        headers=("group", "n", "selected", "rate", percent, "ratio", percent),
        rows=tuple(rows),
        marked=tuple(
            index for index, group in enumerate(attribute.groups_and_total) if is_indicated(group)
        ),
        topic="rates",
    )


def pairs_sheet(attribute: AttributeImpact) -> Sheet:
    """Return the table of every two groups, the one with the lower rate first."""
    return Sheet(
        title=f"{attribute.name}: every pair; adjusted p: Fisher's, adjusted for all pairs",
        headers=(
            "group",
            "compared with",
            "ratio",
            f"{100 * attribute.confidence:g}%",
            "Fisher p",
            "adjusted p",
            "finding",
        ),
        rows=tuple(
            (
                pair.group,
                pair.reference,
                number(pair.impact_ratio) + (BELOW_MARK if pair.below_line else ""),
                interval(pair.impact_ratio_interval),
                p_value(pair.fisher_p),
                p_value(pair.adjusted_p),
                pair.finding.removeprefix("adverse impact is ").partition(" under ")[0],
            )
            for pair in attribute.pairs
        ),
        marked=tuple(index for index, pair in enumerate(attribute.pairs) if is_indicated(pair)),
        name_columns=2,
        topic="pairs",
    )


def finding_sentences(groups: Sequence[GroupImpact]) -> list[Sentence]:
    """Return each finding with its grounds; groups with the same finding share a sentence."""
    alike: dict[tuple[str, str], list[GroupImpact]] = {}
    for group in groups:
        if group.finding != REFERENCE:
            alike.setdefault((group.finding, group.because), []).append(group)
    return [
        Sentence(
            text=f"{', '.join(group.group for group in same)}: {finding}: {because}.",
            is_marked=any(is_indicated(group) for group in same),
        )
        for (finding, because), same in alike.items()
    ]


def is_indicated(compared: GroupImpact | PairImpact) -> bool:
    """Return whether the finding is adverse impact, on the group or on the reference."""
    return "is indicated" in compared.finding and compared.finding != NOT_INDICATED


def has_choice_p(groups: Sequence[GroupImpact]) -> bool:
    """Return whether a p adjusted for choosing the reference is known for any group."""
    return not all(math.isnan(group.choice_p) for group in groups)


def largest_cells(group: GroupImpact) -> tuple[str, ...]:
    """Return the figures of a group from the comparison with the largest one."""
    largest = group.against_largest
    if largest is None:
        return (UNDEFINED,) * 4
    return (
        number(largest.impact_ratio),
        interval(largest.impact_ratio_interval),
        number(largest.z, 2),
        p_value(largest.fisher_p),
    )


def consistency_cells(group: GroupImpact) -> tuple[str, ...]:
    """Return the tests that a group's odds ratio is the same in all strata."""
    within = group.stratified
    if within is None:
        return (UNDEFINED,) * 5
    return (
        number(within.tarone),
        p_value(within.tarone_p),
        number(within.breslow_day),
        p_value(within.breslow_day_p),
        within.pooling,
    )


def within_cells(group: GroupImpact) -> tuple[str, ...]:
    """Return the figures of a group over all strata; dashes if there were none."""
    within = group.stratified
    if within is None:
        return (UNDEFINED,) * 9
    return (
        number(within.risk_ratio),
        interval(within.risk_ratio_interval),
        number(within.risk_difference),
        interval(within.risk_difference_interval),
        number(within.odds_ratio),
        interval(within.odds_ratio_interval),
        number(within.cmh),
        p_value(within.cmh_p),
        p_value(within.exact_p),
    )


def strata_sheet(attribute: AttributeImpact) -> Sheet:
    """Return each group in each stratum; a terminal leaves it out."""
    return Sheet(
        title=f"{attribute.name}: each {attribute.within}",
        headers=("group", str(attribute.within), "selected", "of", "reference", "of", "ratio"),
        rows=tuple(
            (
                group.group,
                str(stratum["stratum"]),
                f"{stratum['selected']:,}",
                f"{stratum['n']:,}",
                f"{stratum['selected_reference']:,}",
                f"{stratum['n_reference']:,}",
                UNDEFINED if stratum["impact_ratio"] is None else number(stratum["impact_ratio"]),
            )
            for group in attribute.groups_and_total
            if group.stratified is not None
            for stratum in group.stratified.strata
        ),
        name_columns=2,
        is_detail=True,
        topic="strata",
    )


def pooling_sentences(attribute: AttributeImpact) -> list[Sentence]:
    """Say of which groups one figure may stand for all strata, and of which not."""
    texts = {
        "doubtful": f"the odds ratios differ between values of {attribute.within} more than chance "
        "explains (Tarone). One figure for all of them is doubtful: look at each value.",
        "sensible": f"there is no sign that the odds ratio differs between values of "
        f"{attribute.within} (Tarone). One figure for all of them is sensible, as far as this many "
        "rows can show.",
        "not tested": f"whether the odds ratio differs between values of {attribute.within} could "
        "not be tested: fewer than two of them have both groups and both outcomes, or it is 0.",
    }
    sentences = []
    for pooling, text in texts.items():
        groups = [
            f"{group.group} (p {p_value(group.stratified.tarone_p)})"
            if pooling != "not tested"
            else group.group
            for group in attribute.groups_and_total
            if group.stratified is not None and group.stratified.pooling == pooling
        ]
        if groups:
            sentences.append(
                Sentence(
                    text=f"Within {attribute.within}, {', '.join(groups)}: {text}",
                    is_marked=pooling == "doubtful",
                )
            )
    return sentences


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


@to_document.register
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
