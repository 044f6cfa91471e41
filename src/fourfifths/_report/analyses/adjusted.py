"""`Adjusted` as a page: the controls, and each group without and with them."""

from __future__ import annotations

from fourfifths._impact.analyses.adjusted import Adjusted, AttributeAdjusted, GroupAdjusted
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import alternatives, interval, number, p_value

CLOSING = (
    "A logistic regression of the outcome on the group and the controls. Adjusted rate: the mean "
    "fitted probability if everyone belonged to the group and kept their own controls; the ratio "
    "and the difference compare it with that of the reference. Unadjusted figures are of the same "
    "rows. Intervals are by the delta method. One odds ratio is taken for all values of the "
    "controls; an audit within a control tests that. A regression finds no cause and makes no "
    "finding under a rule. Not legal advice."
)


@to_document.register
def adjusted_document(result: Adjusted) -> Document:
    """Return the result as a page, with a section for each protected attribute."""
    names = ", ".join(control.name for control in result.controls)
    return Document(
        headline=f"{result.table}: {result.outcome} = {alternatives(result.favorable)}, adjusted "
        f"for {names}, {result.rows:,} rows",
        sections=(
            Section(sheets=(controls_sheet(result),)),
            *(attribute_section(attribute) for attribute in result.attributes),
        ),
        notes=result.notes,
        closing=(CLOSING,),
    )


@to_document.register
def attribute_document(attribute: AttributeAdjusted) -> Document:
    """Return the page of one attribute."""
    return Document(
        headline=f"{attribute.name}, adjusted, {attribute.rows:,} rows",
        sections=(attribute_section(attribute),),
        closing=(CLOSING,),
    )


def controls_sheet(result: Adjusted) -> Sheet:
    """Return the controls, and how many rows lack each of them."""
    return Sheet(
        title="controls",
        headers=("control", "taken as", "values", "missing"),
        rows=tuple(
            (control.name, control.kind, f"{control.values:,}", f"{control.missing:,}")
            for control in result.controls
        ),
    )


def attribute_section(attribute: AttributeAdjusted) -> Section:
    """Return the rates and ratios of an attribute's groups, and a sentence for each."""
    percent = f"{100 * attribute.confidence:g}%"
    compared = [group for group in attribute.groups if not group.why]
    title = f"{attribute.name}, compared with {attribute.reference}"
    return Section(
        sheets=(
            Sheet(
                title=f"{title}: rates of {attribute.rows:,} rows",
                headers=("group", "n", "selected", "rate", "adjusted rate", percent),
                rows=tuple(
                    (
                        group.group,
                        f"{group.n:,}",
                        f"{group.selected:,}",
                        number(group.selection_rate),
                        number(group.adjusted_rate),
                        interval(group.adjusted_rate_interval),
                    )
                    for group in attribute.groups
                ),
            ),
            Sheet(
                title=f"{title}: ratio of the rates",
                headers=("group", "unadjusted", percent, "adjusted", percent),
                rows=tuple(
                    (
                        group.group,
                        number(group.unadjusted_ratio),
                        interval(group.unadjusted_ratio_interval),
                        number(group.ratio),
                        interval(group.ratio_interval),
                    )
                    for group in compared
                ),
            ),
            Sheet(
                title=f"{title}: difference of the rates (average marginal effect)",
                headers=("group", "unadjusted", percent, "adjusted", percent),
                rows=tuple(
                    (
                        group.group,
                        number(group.unadjusted_difference),
                        interval(group.unadjusted_difference_interval),
                        number(group.difference),
                        interval(group.difference_interval),
                    )
                    for group in compared
                ),
            ),
            Sheet(
                title=f"{title}: odds ratio at equal controls",
                headers=("group", "odds ratio", percent, "p"),
                rows=tuple(
                    (
                        group.group,
                        number(group.odds_ratio),
                        interval(group.odds_ratio_interval),
                        p_value(group.p),
                    )
                    for group in compared
                ),
            ),
        ),
        sentences=tuple(Sentence(text=change_text(group)) for group in compared),
    )


def change_text(group: GroupAdjusted) -> str:
    """Say how the disparity of a group changes with the controls."""
    low, high = group.ratio_interval
    is_clear = "excludes" if high < 1 or low > 1 else "includes"
    return (
        f"{group.group}: the ratio goes from {number(group.unadjusted_ratio)} to "
        f"{number(group.ratio)} beside the controls, the difference from "
        f"{100 * group.unadjusted_difference:+.1f} to {100 * group.difference:+.1f} percentage "
        f"points; the interval of the adjusted ratio {is_clear} 1."
    )
