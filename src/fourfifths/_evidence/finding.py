"""The finding in plain sentences: what was found, under which rule, and what is open."""

from __future__ import annotations

import math

from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact
from fourfifths._impact.rules import NO_FINDING, NO_LINE, REFERENCE
from fourfifths._report.charts.impact import OPEN_FINDINGS, listed_briefly
from fourfifths._report.document import Tone
from fourfifths._report.impact import is_indicated, rule_paragraphs
from fourfifths._text import interval, number

MAX_DESCRIBED_GROUPS = 3


def finding_paragraphs(result: Impact) -> tuple[str, ...]:
    """Return the finding, what unknown membership could change, and the rule with its status."""
    return (
        summary(result),
        *((text,) if (text := unknown_paragraph(result)) else ()),
        *rule_paragraphs(result.rule),
    )


def finding_tone(result: Impact) -> Tone:
    """Return "bad" if adverse impact is indicated, "open" if nothing could be judged."""
    compared = [group for attribute in result for group in compared_groups(attribute)]
    if any(is_indicated(group) for group in compared):
        return "bad"
    if all(group.finding in OPEN_FINDINGS for group in compared):
        return "open"
    return "plain"


def compared_groups(attribute: AttributeImpact) -> list[GroupImpact]:
    """Return the groups that are compared with the reference."""
    return [group for group in attribute.groups_and_total if group.finding != REFERENCE]


def summary(result: Impact) -> str:
    """Return the finding in one paragraph."""
    compared = [(attribute, group) for attribute in result for group in compared_groups(attribute)]
    indicated = [pair for pair in compared if is_indicated(pair[1])]
    rule = result.rule.name
    is_weighted = result.weights is not None and result.weights_are == "sampling"
    if indicated:
        by_attribute = [
            f"{listed_briefly(names)} (by {attribute.name})"
            for attribute in result
            if (
                names := [
                    group.group for group in attribute.groups_and_total if is_indicated(group)
                ]
            )
        ]
        # The lower of the ratio and its inverse: harm to the reference counts alike.
        worst = sorted(indicated, key=lambda pair: distance_ratio(pair[1]))[:MAX_DESCRIBED_GROUPS]
        sentences = [f"Adverse impact is indicated under {rule} for {'; '.join(by_attribute)}."]
        sentences += [
            group_sentence(attribute, group, is_weighted=is_weighted) for attribute, group in worst
        ]
    elif result.rule.decision in ("none", "checklist"):
        sentences = [
            f"{rule} draws no line between impact ratios, so this report states figures and no "
            "finding."
        ]
        sentences += lowest_sentence(compared, is_weighted=is_weighted)
    else:
        judged = [pair for pair in compared if pair[1].finding not in OPEN_FINDINGS]
        sentences = (
            [f"Adverse impact is not indicated under {rule} for any group that could be judged."]
            if judged
            else [f"No group could be judged under {rule}."]
        )
        sentences += lowest_sentence(compared, is_weighted=is_weighted)
    undecided = [
        group.group
        for _, group in compared
        if group.finding in OPEN_FINDINGS and group.finding not in (NO_LINE, NO_FINDING)
    ]
    if undecided:
        sentences.append(
            f"Not judged, or inconclusive: {listed_briefly(undecided)}; the tables say why."
        )
    return " ".join(sentences)


def distance_ratio(group: GroupImpact) -> float:
    """Return the ratio of the lower rate to the higher one."""
    ratio = group.impact_ratio
    return 1 / ratio if ratio > 1 else ratio


def group_sentence(attribute: AttributeImpact, group: GroupImpact, *, is_weighted: bool) -> str:
    """Return the counts, rates and ratio of a group beside those of its reference.

    A weighted rate is said to be one, since the counts of rows do not give it.
    """
    reference = attribute[attribute.reference]
    kind = "weighted rate " if is_weighted else ""
    return (
        f"Of {group.n:,} {group_name(group)}, {group.selected:,} were selected "
        f"({kind}{group.selection_rate:.1%}); of {reference.n:,} {group_name(reference)}, "
        f"{reference.selected:,} ({kind}{reference.selection_rate:.1%}). The impact ratio is "
        f"{number(group.impact_ratio)} ({100 * attribute.confidence:g}% interval "
        f"{interval(group.impact_ratio_interval)})."
    )


def group_name(group: GroupImpact) -> str:
    """Return a group's name after a number; one that begins with a number is in brackets."""
    return f"({group.group})" if group.group[:1].isdigit() else group.group


def lowest_sentence(
    compared: list[tuple[AttributeImpact, GroupImpact]], *, is_weighted: bool
) -> list[str]:
    """Return the sentences about the lowest ratio, if there is any."""
    defined = [pair for pair in compared if not math.isnan(pair[1].impact_ratio)]
    if not defined:
        return ["No impact ratio could be computed."]
    attribute, group = min(defined, key=lambda pair: pair[1].impact_ratio)
    return [
        f"{group.group} has the lowest impact ratio. "
        f"{group_sentence(attribute, group, is_weighted=is_weighted)}"
    ]


def unknown_paragraph(result: Impact) -> str:
    """Return what persons of unknown membership could change; empty if there are none."""
    sentences = []
    for attribute in result:
        if not attribute.unknown:
            continue
        bounded = [
            group
            for group in compared_groups(attribute)
            if not any(math.isnan(bound) for bound in group.impact_ratio_bounds)
        ]
        text = f"Of {attribute.unknown:,} persons the {attribute.name} is not known."
        if bounded:
            lowest = min(bounded, key=lambda group: group.impact_ratio_bounds[0])
            low, high = lowest.impact_ratio_bounds
            text += (
                f" Whatever groups they belong to, the impact ratio of {lowest.group} lies between "
                f"{number(low)} and {number(high)}."
            )
        sentences.append(text)
    return " ".join(sentences)
