"""The rules by which an impact ratio is read, as data: one profile each.

A profile says which group is the reference, where the line is, which test must agree, and which
groups are too small to judge; `fourfifths.findings` applies it. To change one, use
``dataclasses.replace(rule, ...)`` and pass the result as ``rule=``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from fourfifths._text import p_value
from fourfifths.errors import OptionError, listed, nearest

RuleName = Literal["feldman2015", "ugesp", "ofccp", "nyc-ll144", "lending-air"]
FOUR_FIFTHS = Fraction(4, 5)


@dataclass(frozen=True, kw_only=True)
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


SIGNIFICANCE = 0.05
SIGNIFICANT_Z = float(ndtri(1 - SIGNIFICANCE / 2))
NOT_INDICATED = "not indicated"
SMALL_NUMBERS = "small numbers"
NOT_JUDGED = "not judged: too small a share"
ABOVE_BUT_SIGNIFICANT = "significant although above four fifths"
INCONCLUSIVE = "inconclusive"
NO_LINE = "no line is drawn"
UNDEFINED = "undefined"
REFERENCE = "reference"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A reading in the package's fixed words, and the figures it rests on.

    `below_line` says whether the lower rate is under the rule's lowest line of the higher one.
    """

    reading: str
    because: str
    below_line: bool = False


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a rule needs to know of one group and the reference.

    Attributes
    ----------
    rate, rate_reference : Fraction
    share : Fraction
        The group's share of all rows whose membership is known.
    n : float
        Rows of both groups together.
    least_expected : float
        The smallest expected count of the two-by-two table.
    z, fisher_p, flip, ratio_low, detectable_ratio : float
        NaN where undefined.
    """

    rate: Fraction
    rate_reference: Fraction
    share: Fraction
    n: float
    least_expected: float
    z: float
    fisher_p: float
    flip: float
    ratio_low: float
    detectable_ratio: float

    @property
    def lower(self) -> Fraction:
        """The lower of the two rates."""
        return min(self.rate, self.rate_reference)

    @property
    def higher(self) -> Fraction:
        """The higher of the two rates."""
        return max(self.rate, self.rate_reference)

    @property
    def group_is_lower(self) -> bool:
        """Whether the group, and not the reference, has the lower rate."""
        return self.rate < self.rate_reference

    @property
    def flip_reverses(self) -> bool:
        """Whether one person's outcome decides which rate is the higher."""
        return self.flip > 1 if self.group_is_lower else self.flip < 1


def judge(rule: Rule, facts: Facts) -> Finding:
    """Apply a rule to the figures of one group.

    Examples
    --------
    >>> exactly = Facts(
    ...     rate=Fraction(3, 5), rate_reference=Fraction(6, 8), share=Fraction(5, 13), n=13,
    ...     least_expected=1.5, z=-0.57, fisher_p=0.5, flip=1.28, ratio_low=0.3,
    ...     detectable_ratio=float("nan"),
    ... )
    >>> judge(RULES["feldman2015"], exactly).reading
    'adverse impact is indicated under feldman2015'
    """
    tiny = facts.share < rule.minimum_share
    below = any(_under(rule, facts, line) for line in rule.lines[:1]) and facts.higher > 0
    share = f"{float(facts.share):.1%} of the rows, under {float(rule.minimum_share):.0%}"
    if rule.decision == "none":
        excluded = f"; {share}: may be excluded from the ratios" if tiny else ""
        return Finding(
            reading=NO_LINE, because=f"{rule.name} asks for the ratio and draws no line{excluded}"
        )
    if facts.higher == 0:
        return Finding(
            reading=UNDEFINED, because="no one was selected in the group or in the reference"
        )
    if rule.reference == "highest" and not facts.group_is_lower:
        return Finding(
            reading=NOT_INDICATED, because="the rate is not below the reference's", below_line=False
        )
    finding = _judge_difference(rule, facts)
    if tiny:
        because = f"{share}, from which on {rule.name} judges; {finding.because}"
        finding = Finding(reading=NOT_JUDGED, because=because)
    return replace(finding, below_line=below)


def _judge_difference(rule: Rule, facts: Facts) -> Finding:
    crossed = next((line for line in rule.lines if _under(rule, facts, line)), None)
    significant, test = _significance(rule, facts)
    ratio = _describe_ratio(rule, facts, crossed)
    because = ratio if rule.decision == "ratio" else f"{ratio}; {test}"
    small = facts.flip_reverses or facts.least_expected < rule.exact_below_expected
    gap = float(facts.higher - facts.lower) > rule.gap
    indicated = {
        "ratio": crossed is not None,
        "ratio or test": crossed is not None and (significant or not small),
        "test": significant,
        "ratio and test": crossed is not None and significant and gap,
    }[rule.decision]
    if indicated:
        return Finding(reading=_indicated(rule, facts), because=because)
    if rule.decision == "ratio":
        return Finding(reading=NOT_INDICATED, because=because)
    if crossed is not None and rule.decision == "ratio or test":
        return Finding(reading=SMALL_NUMBERS, because=f"{because}; {_describe_small(facts)}")
    if significant:
        reading = ABOVE_BUT_SIGNIFICANT if crossed is None else NOT_INDICATED
        return Finding(reading=reading, because=because)
    if _could_not_tell(facts):
        return Finding(reading=INCONCLUSIVE, because=f"{because}; {_describe_power(facts)}")
    return Finding(reading=NOT_INDICATED, because=because)


def _under(rule: Rule, facts: Facts, line: Fraction) -> bool:
    bound = line * facts.higher
    return facts.lower <= bound if rule.boundary == "at or below" else facts.lower < bound


def _indicated(rule: Rule, facts: Facts) -> str:
    side = "" if facts.group_is_lower else " on the reference"
    return f"adverse impact{side} is indicated under {rule.name}"


def _significance(rule: Rule, facts: Facts) -> tuple[bool, str]:
    """Return whether the rule's test finds a difference, and the sentence that says so."""
    few = facts.n < rule.exact_below_n or facts.least_expected < rule.exact_below_expected
    if few and not np.isnan(facts.fisher_p):
        significant = facts.fisher_p < SIGNIFICANCE
        return significant, f"{_yes(significant)} (Fisher p {p_value(facts.fisher_p)})"
    if np.isnan(facts.z):
        return False, "no test: everyone or no one was selected"
    needed = SIGNIFICANT_Z if rule.standard_deviations is None else rule.standard_deviations
    significant = abs(facts.z) >= needed
    strong = rule.strong_standard_deviations
    beyond = f", beyond {strong:g} standard deviations" if strong and abs(facts.z) >= strong else ""
    return significant, f"{_yes(significant)} (z {facts.z:.2f}{beyond})"


def _yes(significant: bool) -> str:  # noqa: FBT001 - the word for a truth value
    return "significant" if significant else "not significant"


def _describe_ratio(rule: Rule, facts: Facts, crossed: Fraction | None) -> str:
    ratio = f"{float(facts.lower / facts.higher):.3f}"
    name = f"ratio {ratio}" if facts.group_is_lower else f"reference's rate is {ratio} of this one"
    if rule.decision == "ratio and test":
        name += f", a gap of {100 * float(facts.higher - facts.lower):.1f} points"
    if crossed is None:
        return f"{name}, not below {rule.lines[-1]}"
    exactly = facts.lower == crossed * facts.higher
    return f"{name}, {'exactly' if exactly else 'below'} {crossed}"


def _describe_small(facts: Facts) -> str:
    if facts.flip_reverses:
        return f"one person's outcome would make the ratio {facts.flip:.2f}"
    return f"only {facts.least_expected:.1f} expected in one cell"


def _could_not_tell(facts: Facts) -> bool:
    """Whether the rows could neither tell four fifths from 1 nor exclude it."""
    line = float(FOUR_FIFTHS)
    blind = np.isnan(facts.detectable_ratio) or facts.detectable_ratio < line
    return bool(blind and not facts.ratio_low > line)


def _describe_power(facts: Facts) -> str:
    if np.isnan(facts.detectable_ratio):
        return "so few rows could not tell any ratio from 1"
    return f"so few rows could only tell a ratio under {facts.detectable_ratio:.2f} from 1"
