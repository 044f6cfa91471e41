"""The rules by which an impact ratio is read, as data: one profile each.

A profile says which group is the reference, where the line is, which test must agree, and which
groups are too small to judge; `fourfifths.findings` applies it. To change one, use
``dataclasses.replace(rule, ...)`` and pass the result as ``rule=``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from fourfifths.errors import OptionError, listed, nearest

RuleName = Literal["feldman2015", "ugesp", "ofccp", "nyc-ll144", "lending-air"]
FOUR_FIFTHS = Fraction(4, 5)


@dataclass(frozen=True)
class Rule:
    """A profile.

    Attributes
    ----------
    name, title : str
    reference : {"designated", "highest"}
        Whether the user names the reference, or the group with the highest rate is it.
    decision : {"ratio", "ratio or test", "test", "ratio and test", "none"}
        What indicates adverse impact: the ratio alone; the ratio, with the test as a second
        opinion; the test alone; both together; or nothing, where the rule draws no line.
    lines : tuple of Fraction
        The thresholds of the impact ratio, lowest first.
    boundary : {"below", "at or below"}
        Whether a ratio exactly on the line counts as under it.
    standard_deviations : float or None
        The z from which a difference counts as significant; None: two-sided p under 5%.
    strong_standard_deviations : float or None
        The z that the rule treats as strong.
    exact_below_n, exact_below_expected : int
        Fisher's exact test decides where the two groups have fewer rows, or the smallest expected
        count is less.
    minimum_share : Fraction
        Groups with a smaller share of the rows are shown and not judged, and are no reference.
    gap : float
        How many points lower the group's rate must be, as a share; 0: any lower.
    score : {"none", "above median", "mean difference"}
        What the rule makes of a score.
    source, date, status : str
        Where it is written, of when that is, and what it is worth in law.
    """

    name: str
    title: str
    reference: Literal["designated", "highest"]
    decision: Literal["ratio", "ratio or test", "test", "ratio and test", "none"]
    source: str
    date: str
    status: str
    lines: tuple[Fraction, ...] = (FOUR_FIFTHS,)
    boundary: Literal["below", "at or below"] = "below"
    standard_deviations: float | None = None
    strong_standard_deviations: float | None = None
    exact_below_n: int = 30
    exact_below_expected: int = 5
    minimum_share: Fraction = Fraction(0)
    gap: float = 0.0
    score: Literal["none", "above median", "mean difference"] = "none"

    def to_dict(self) -> dict[str, Any]:
        """Return the profile, ready for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "reference": self.reference,
            "decision": self.decision,
            "lines": [str(line) for line in self.lines],
            "boundary": self.boundary,
            "standard_deviations": self.standard_deviations,
            "strong_standard_deviations": self.strong_standard_deviations,
            "minimum_share": float(self.minimum_share),
            "gap": self.gap,
            "score": self.score,
            "source": self.source,
            "date": self.date,
            "status": self.status,
        }


STATUS_DATE = "As of 2026-11; check before relying on it."
RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            name="feldman2015",
            title="Disparate impact as the paper defines it",
            reference="designated",
            decision="ratio",
            boundary="at or below",
            source=(
                "Feldman, Friedler, Moeller, Scheidegger, Venkatasubramanian, Certifying and "
                "removing disparate impact, KDD 2015, definition 1.1"
            ),
            date="2015-08-10",
            status="A definition in a paper; it has no standing in law.",
        ),
        Rule(
            name="ugesp",
            title="Uniform Guidelines on Employee Selection Procedures: the four-fifths rule",
            reference="highest",
            decision="ratio or test",
            minimum_share=Fraction(2, 100),
            source="29 CFR 1607.4(D), 1607.15(A)(2); Questions and Answers 44 FR 11996, no. 10-27",
            date="1978-08-25; Questions and Answers 1979-03-02",
            status=(
                "A rule of thumb of the enforcement agencies; courts use it beside significance "
                "tests. Title VII disparate impact itself is statute, 42 U.S.C. 2000e-2(k). "
                "Executive Order 14281 (2025-04-23) told federal agencies to deprioritise its "
                "enforcement, and the EEOC has put the rescission of part 1607 on its agenda (RIN "
                f"3046-AB43). {STATUS_DATE}"
            ),
        ),
        Rule(
            name="ofccp",
            title="OFCCP: two and three standard deviations",
            reference="highest",
            decision="test",
            standard_deviations=2.0,
            strong_standard_deviations=3.0,
            minimum_share=Fraction(2, 100),
            source=(
                "Federal Contract Compliance Manual, chapter 1O (impact ratio and standard "
                "deviation analysis); Hazelwood School District v. United States, 433 U.S. 299, "
                "n. 14 and 17"
            ),
            date="Hazelwood 1977-06-27; the manual as of 2020",
            status=(
                "Agency practice. Executive Order 11246, its main ground, was revoked by Executive "
                "Order 14173 (2025-01-21); the 2020 rule that wrote 2 and 3 standard deviations "
                "into 41 CFR 60 was rescinded on 2023-08-04 (88 FR 51717). Courts still count "
                f"standard deviations. {STATUS_DATE}"
            ),
        ),
        Rule(
            name="nyc-ll144",
            title="New York City Local Law 144: automated employment decision tools",
            reference="highest",
            decision="none",
            lines=(),
            minimum_share=Fraction(2, 100),
            score="above median",
            source="New York City Administrative Code 20-870 to 20-874; 6 RCNY 5-300 to 5-304",
            date="rule of 2023-04-06, enforced from 2023-07-05",
            status=(
                "In force for employers in New York City. It requires that impact ratios be "
                f"published and draws no line between pass and fail. {STATUS_DATE}"
            ),
        ),
        Rule(
            name="lending-air",
            title="Adverse impact ratio in lending",
            reference="designated",
            decision="ratio and test",
            lines=(FOUR_FIFTHS, Fraction(9, 10)),
            score="mean difference",
            source=(
                "Industry practice: Hall, Cox, Dickerson and others, A United States fair lending "
                "perspective on machine learning, Frontiers in Artificial Intelligence 4 (2021)"
            ),
            date="2021-06-07",
            status=(
                "No lending regulator has written the ratio into a rule. Regulation B no longer "
                "provides for an effects test under ECOA (CFPB final rule of 2026-04-22, in force "
                "2026-07-21); the Fair Housing Act and state laws are separate. "
                f"{STATUS_DATE}"
            ),
        ),
    )
}


def get_rule(rule: str | Rule) -> Rule:
    """Return the profile of that name; a profile is returned as it is.

    Examples
    --------
    >>> get_rule("ugesp").reference
    'highest'
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str) or rule not in RULES:
        raise OptionError(
            f"rule={rule!r}: no such rule; expected one of {listed(get_args(RuleName))}"
            f"{nearest(rule, RULES)}"
        )
    return RULES[rule]
