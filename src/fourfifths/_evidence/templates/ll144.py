"""What New York City's Local Law 144 asks to publish, 6 RCNY 5-303(a), and nothing else.

Date, source and explanation of the data, the number of persons in an unknown category, the number
of applicants, the selection or scoring rates, the impact ratios of all categories, and the
distribution date of the tool. Also as ``audits.json`` (draft-dkg-audits-json), by which the
published report is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.fields import LABELS, cover_fields
from fourfifths._evidence.report import Field, Part, Report, anchor
from fourfifths._impact.result import AttributeImpact, Impact
from fourfifths._impact.rules import EXCLUDED
from fourfifths._report.document import Section, Sentence, Sheet
from fourfifths._text import UNDEFINED, listed
from fourfifths.errors import OptionError

COVER = (
    *("organization", "tool", "distribution_date", "audit_date", "auditor", "data_source"),
    *("data_kind", "data_reason"),
)
PROVENANCE = ("sha256", "date", "version")
REGULATION = "https://codelibrary.amlegal.com/codes/newyorkcity/latest/NYCrules/0-0-0-138391"
NEEDED_FOR_AUDITS_JSON = ("audit_date", "job_url", "report_url", "tool")


def ll144_report(
    evidence: Evidence, stated: Mapping[str, str], provenance: tuple[Field, ...]
) -> Report:
    """Return the summary of a bias audit."""
    impact = evidence.impact
    parts: list[Part] = []
    for attribute in impact:
        parts.append(
            Part(
                id=anchor(attribute.name, tuple(part.id for part in parts)),
                title=attribute.name,
                sections=(category_section(impact, attribute, stated),),
                result=attribute,
            )
        )
    cover = (
        *cover_fields(stated, COVER),
        Field(key="applicants", label="Number of applicants", text=f"{impact.rows:,}"),
        Field(key="unknown", label="In an unknown category", text=unknown_counts(impact)),
    )
    return Report(
        title=f"Summary of the bias audit: {stated.get('tool', impact.table)}",
        template="ll144",
        cover=cover,
        finding_title="About these figures",
        finding=(about(impact),),
        parts=tuple(parts),
        # Enough to recognise the data; the rest belongs in a full report.
        provenance=tuple(field for field in provenance if field.key in PROVENANCE),
    )


def unknown_counts(impact: Impact) -> str:
    """Return how many persons are in no category, for each attribute.

    A person is in an unknown category of a joint attribute if either value is unknown.
    """
    return "; ".join(f"{attribute.name}: {attribute.unknown:,}" for attribute in impact)


def about(impact: Impact) -> str:
    """Return what rates and ratios are, in the words of the rule."""
    rate = (
        f"The scoring rate of a category is the share of its applicants with {impact.outcome}, the "
        "median score."
        if is_scored(impact)
        else "The selection rate of a category is the share of its applicants who were selected."
    )
    has_excluded = any(group.finding == EXCLUDED for part in impact for group in part.groups)
    excluded = " of those that are not excluded" if has_excluded else ""
    return (
        f"{rate} The impact ratio is the rate of the category divided by the rate of the category "
        f"with the highest rate{excluded}. Applicants in an unknown category are in none of the "
        "tables."
    )


def is_scored(impact: Impact) -> bool:
    """Return whether "selected" is a score above the median."""
    return impact.rule.score == "above median" and " > " in impact.outcome


def category_section(
    impact: Impact, attribute: AttributeImpact, stated: Mapping[str, str]
) -> Section:
    """Return the categories of an attribute: applicants, rates in percent, ratios."""
    rate = "Scoring rate" if is_scored(impact) else "Selection rate"
    count = "Scored above median" if is_scored(impact) else "Selected"
    sheet = Sheet(
        title=f"{attribute.name}: {rate.lower()} and impact ratio",
        headers=("Category", "Applicants", count, rate, "Impact ratio"),
        rows=tuple(
            (
                group.group,
                f"{group.n:,}",
                f"{group.selected:,}",
                percentage(group.selection_rate),
                "excluded" if group.finding == EXCLUDED else three_digits(group.impact_ratio),
            )
            for group in attribute.groups
        ),
    )
    section = Section(sheets=(sheet,))
    excluded = [group for group in attribute.groups if group.finding == EXCLUDED]
    if not excluded:
        return section
    reason = stated.get("exclusion_reason", "the justification is not stated")
    # Rounded down: 1.96% is under 2%, and 2.0% would not look so.
    names = ", ".join(
        f"{group.group} ({math.floor(1000 * group.share) / 10:.1f}%)" for group in excluded
    )
    sentence = (
        f"Excluded from the impact ratios, each under 2% of the data (6 RCNY 5-301): {names}. "
        f"{LABELS['exclusion_reason']}: {reason.rstrip('.')}."
    )
    return replace(section, sentences=(Sentence(text=sentence),))


def percentage(rate: float) -> str:
    """Return a rate in percent, rounded to one decimal, the most that the rule's tables have.

    Examples
    --------
    >>> percentage(15 / 40), percentage(float("nan"))
    ('37.5%', '-')
    """
    return UNDEFINED if rate != rate else f"{100 * rate:.1f}%"


def three_digits(ratio: float) -> str:
    """Return a ratio rounded to three decimals, the most that the rule's tables have.

    The tables of 6 RCNY 5-301 have two or three. With two, 0.796 would be shown as 0.80.

    Examples
    --------
    >>> three_digits((555 / 1181) / (667 / 1390)), three_digits(float("nan"))
    ('0.979', '-')
    """
    return UNDEFINED if ratio != ratio else f"{ratio:.3f}"


def audits_json(stated: Mapping[str, str]) -> dict[str, Any]:
    """Return the file by which a published report is found: ``/.well-known/audits.json``.

    The structure is that of the Internet-Draft draft-dkg-audits-json-00 (2025-12-04): the job
    listings, the regulation, and the audits with title, date and addresses.

    Parameters
    ----------
    stated : mapping of str to str
        The fields; ``tool``, ``audit_date``, ``report_url`` and ``job_url`` are needed. Several
        addresses are separated by spaces.
    """
    missing = [key for key in NEEDED_FOR_AUDITS_JSON if key not in stated]
    if missing:
        raise OptionError(
            f"fields: audits.json needs {listed(missing)}; state them, as in "
            f"'{missing[0]}=...', or leave audits.json out"
        )
    name = anchor(f"{stated['tool']} {stated['audit_date']}")
    return {
        "operations": [{"urls": stated["job_url"].split(), "regs": [REGULATION], "audits": [name]}],
        "audits": {
            name: {
                "title": stated["tool"],
                "date": stated["audit_date"],
                "urls": stated["report_url"].split(),
            }
        },
    }
