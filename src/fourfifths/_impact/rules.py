"""The rules by which an impact ratio is read: profiles as data, and `judge`, which applies one.

A profile says which group is the reference, which ratio is the line, which test must agree, and
which groups are too small to judge. To change one, use ``dataclasses.replace(rule, ...)`` and pass
the result as ``rule=``.

This module imports neither NumPy nor SciPy, because the shell reads `RULES` for ``--help``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal, get_args

from fourfifths._text import interval, p_value
from fourfifths.errors import OptionError, listed, nearest

RuleName = Literal["feldman2015", "ugesp", "ofccp", "nyc-ll144", "lending-air"]
SmallGroups = Literal["exclude", "include"]
FOUR_FIFTHS = Fraction(4, 5)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A profile.

    Attributes
    ----------
    name, title : str
    reference : {"designated", "highest"}
        Whether the user names the reference, or it is the group with the highest selection rate.
    decision : {"ratio", "ratio or test", "test", "ratio and test", "none"}
        What indicates adverse impact. "ratio": a ratio under the line. "ratio or test": a ratio
        under the line, unless the numbers are small and the test is not significant; a significant
        test above the line is reported as such. "test": a significant test. "ratio and test": both
        together. "none": nothing, because the rule draws no line.
    lines : tuple of Fraction
        The thresholds of the impact ratio, lowest first.
    boundary : {"below", "at or below"}
        Whether a ratio exactly on the line counts as under it.
    standard_deviations : float or None
        The |z| from which a difference is significant. None: a two-sided p below 5%.
    strong_standard_deviations : float or None
        The |z| from which the rule calls a difference strong.
    exact_below_n, exact_below_expected : int
        Fisher's exact test replaces the z-test where the group and the reference together have
        fewer rows, or where the smallest expected count is less.
    minimum_share : Fraction
        What happens to a group with a smaller share of the rows is said by `small_groups`.
    small_groups : {"not judged", "exclude", "include"}
        "not judged": shown with all figures, but not judged and not chosen as the reference.
        "exclude": shown with its counts and its rate, but without a ratio, and not chosen as the
        reference. "include": treated like any other group.
    minimum_rows : int
        A group with fewer rows is not chosen as the reference, provided that at least two groups
        have as many.
    gap : float
        By how much the group's rate must be lower, as a difference of rates (0.1 is 10 points). 0:
        any difference counts.
    total_minority : bool
        Whether all groups but the reference are compared with it as one, too.
    score : {"none", "above median", "mean difference"}
        How the rule uses a score: not at all, as "selected = above the median", or by the
        standardised difference of the means.
    source, date, status : str
        Where the rule is written, the date of that text, and its legal status.
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
    small_groups: Literal["not judged", "exclude", "include"] = "not judged"
    minimum_rows: int = 0
    gap: float = 0.0
    total_minority: bool = False
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
            "small_groups": self.small_groups,
            "minimum_rows": self.minimum_rows,
            "gap": self.gap,
            "total_minority": self.total_minority,
            "score": self.score,
            "source": self.source,
            "date": self.date,
            "status": self.status,
        }


# A reference of fewer rows makes every comparison one of small numbers: one of its two expected
# counts is at most half of its rows, and so below 5 (`exact_below_expected`).
MIN_REFERENCE_ROWS = 10
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
            minimum_rows=MIN_REFERENCE_ROWS,
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
            total_minority=True,
            minimum_share=Fraction(2, 100),
            minimum_rows=MIN_REFERENCE_ROWS,
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
            small_groups="include",
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
    """Return the rule of that name. A `Rule` is returned as it is.

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


SIGNIFICANCE_LEVEL = 0.05
SIGNIFICANT_Z = NormalDist().inv_cdf(1 - SIGNIFICANCE_LEVEL / 2)

# The readings, in fixed words. "adverse impact is indicated under <rule>" is the remaining one.
NOT_INDICATED = "not indicated"
SMALL_NUMBERS = "small numbers"
NOT_JUDGED = "not judged: too small a share"
EXCLUDED = "excluded: too small a share"
ABOVE_BUT_SIGNIFICANT = "significant although above four fifths"
INCONCLUSIVE = "inconclusive"
NO_LINE = "no line is drawn"
UNDEFINED = "undefined"
REFERENCE = "reference"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A reading, in fixed words, and the figures that it is based on.

    `below_line` says whether the ratio of the lower rate to the higher one is under the lowest line
    of the rule.
    """

    reading: str
    because: str
    below_line: bool = False


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a rule needs to know about one group and the reference.

    Attributes
    ----------
    rate, rate_reference : Fraction
        The selection rates, exact.
    share : Fraction
        The group's share of all rows whose membership is known.
    n : float
        Rows of the group and the reference together.
    least_expected : float
        The smallest expected count of the two-by-two table.
    z, fisher_p, flip, detectable_ratio : float
        The figures of `GroupImpact`. NaN where undefined.
    picked_from : int
        From how many groups these two were picked out by their figures: all, if the reference is
        the highest rate or if every pair is looked at. 0 where the reference was designated.
    adjusted_p : float
        A p-value that allows for how they were picked out; NaN where there is none.
    adjusted_for : str
        What it allows for: "choosing the reference", or "all pairs".
    ratio_interval : tuple of float
        Of the impact ratio.
    confidence : float
        Of the interval.
    """

    rate: Fraction
    rate_reference: Fraction
    share: Fraction
    n: float
    least_expected: float
    z: float
    fisher_p: float
    picked_from: int
    adjusted_p: float
    adjusted_for: str
    flip: float
    ratio_interval: tuple[float, float]
    confidence: float
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
        """Whether the outcome of one person decides which rate is higher."""
        return self.flip > 1 if self.group_is_lower else self.flip < 1

    @property
    def lowest_ratio(self) -> float:
        """The lower limit of the ratio of the lower rate to the higher one.

        It is the same whichever of the two groups is the reference.
        """
        low, high = self.ratio_interval
        # Without an upper limit of the ratio, that of its inverse reaches down to 0.
        inverse_low = 0.0 if math.isnan(high) else 1 / high
        if self.rate == self.rate_reference:
            return min(low, inverse_low)
        return low if self.group_is_lower else inverse_low

    @property
    def interval_has_one(self) -> bool:
        """Whether the interval of the impact ratio contains equal rates."""
        low, high = self.ratio_interval
        return low <= 1 and not high < 1


def judge(rule: Rule, facts: Facts) -> Finding:
    """Apply a rule to the figures of one group.

    Examples
    --------
    >>> nan = float("nan")
    >>> exactly = Facts(
    ...     rate=Fraction(3, 5), rate_reference=Fraction(6, 8), share=Fraction(5, 13), n=13,
    ...     least_expected=1.5, z=-0.57, fisher_p=0.5, picked_from=0, adjusted_p=nan,
    ...     adjusted_for="", flip=1.28, ratio_interval=(0.3, 1.8), confidence=0.95,
    ...     detectable_ratio=nan,
    ... )
    >>> judge(RULES["feldman2015"], exactly).reading
    'adverse impact is indicated under feldman2015'
    """
    is_small = facts.share < rule.minimum_share
    share = small_share(rule, facts.share)
    if rule.decision == "none":
        because = f"{rule.name} asks for the ratio and draws no line"
        if is_small and rule.small_groups == "include":
            because += f"; {share}: may be excluded from the ratios"
        return Finding(reading=NO_LINE, because=because)
    if facts.higher == 0:
        return Finding(
            reading=UNDEFINED, because="no one was selected in the group or in the reference"
        )
    # Under such a rule only the group can be harmed; under the others the reference can be, too.
    if rule.reference == "highest" and not facts.group_is_lower:
        return Finding(reading=NOT_INDICATED, because="the rate is not below the reference's")
    finding = judge_difference(rule, facts)
    # The grounds are shown all the same; only the reading is withheld.
    if is_small and rule.small_groups == "not judged":
        because = f"{share}, the least that {rule.name} judges; {finding.because}"
        return replace(finding, reading=NOT_JUDGED, because=because)
    return finding


def small_share(rule: Rule, share: Fraction) -> str:
    """Return in words that a share is below the rule's minimum.

    Examples
    --------
    >>> small_share(RULES["ugesp"], Fraction(1, 51))
    '1.9% of the rows, under 2%'
    """
    # Rounded down: 1.96% is not 2.0%.
    percent = math.floor(1000 * share) / 10
    return f"{percent:.1f}% of the rows, under {float(rule.minimum_share):.0%}"


def judge_difference(rule: Rule, facts: Facts) -> Finding:
    """Apply a rule that draws a line, where the two rates can be compared."""
    # Exact fractions: in floating point 3/5 against 6/8 would fall below four fifths.
    crossed = [
        line
        for line in rule.lines
        if facts.lower < line * facts.higher
        or (rule.boundary == "at or below" and facts.lower == line * facts.higher)
    ]
    is_significant, test = significance(rule, facts)
    ratio = ratio_in_words(rule, facts, crossed=crossed)
    caveat = power_caveat(facts)
    uses_test = rule.decision != "ratio"
    because = f"{ratio}; {test}" if uses_test else ratio
    is_small = facts.flip_reverses or facts.least_expected < rule.exact_below_expected
    has_gap = float(facts.higher - facts.lower) > rule.gap
    is_indicated = {
        "ratio": bool(crossed),
        "ratio or test": bool(crossed) and (is_significant or not is_small),
        "test": is_significant,
        "ratio and test": bool(crossed) and is_significant and has_gap,
    }[rule.decision]

    reading = NOT_INDICATED
    if is_indicated:
        side = "" if facts.group_is_lower else " on the reference"
        reading = f"adverse impact{side} is indicated under {rule.name}"
    elif crossed and rule.decision == "ratio or test":
        reading = SMALL_NUMBERS
        if facts.flip_reverses:
            because += f"; one person's outcome would make the ratio {facts.flip:.2f}"
        else:
            because += f"; only {facts.least_expected:.1f} expected in one cell"
    elif uses_test and is_significant:
        reading = NOT_INDICATED if crossed else ABOVE_BUT_SIGNIFICANT
    elif uses_test and caveat:
        reading = INCONCLUSIVE
        because += f"; {caveat}"
    below_line = bool(crossed) and crossed[0] == rule.lines[0]
    return Finding(reading=reading, because=because, below_line=below_line)


@dataclass(frozen=True, kw_only=True)
class SignificanceTest:
    """One test of equal rates: its figures in words, and whether it rejects them."""

    words: str
    rejects: bool


def deciding_test(
    rule: Rule, *, n: float, least_expected: float, has_fisher: bool, picked_from: int
) -> Literal["adjusted", "fisher", "z"]:
    """Return which test decides.

    A rule that counts standard deviations names its test. Any other leaves the test open: then a
    comparison that was picked out by its figures is decided by the p that allows for this, and
    between two groups by Fisher's. In all other cases Fisher's test decides where rows are few,
    and the z-test where they are many. Fisher's p is undefined with sampling weights; then the
    z-test decides, however few the rows.

    Parameters
    ----------
    rule : Rule
    n : float
        Rows of both groups together.
    least_expected : float
        The smallest expected count of the two-by-two table.
    has_fisher : bool
        Whether Fisher's p is defined.
    picked_from : int
        From how many groups the two were picked out by their figures; 0 if they were not.
    """
    is_open = rule.standard_deviations is None
    if is_open and picked_from > 2:
        return "adjusted"
    is_small = n < rule.exact_below_n or least_expected < rule.exact_below_expected
    is_fisher = is_small or (is_open and picked_from == 2)
    return "fisher" if is_fisher and has_fisher else "z"


def significance(rule: Rule, facts: Facts) -> tuple[bool, str]:
    """Return whether the deciding test is significant, and the words that say so.

    The words name the test and its p, and the tests and the interval that disagree with it.
    """
    tests = {}
    if not math.isnan(facts.z):
        critical_z = SIGNIFICANT_Z if rule.standard_deviations is None else rule.standard_deviations
        # The two-sided p of a standard normal statistic.
        words = f"z {facts.z:.2f}, p {p_value(math.erfc(abs(facts.z) / math.sqrt(2)))}"
        strong_z = rule.strong_standard_deviations
        if strong_z and abs(facts.z) >= strong_z:
            words += f", beyond {strong_z:g} standard deviations"
        tests["z"] = SignificanceTest(words=words, rejects=abs(facts.z) >= critical_z)
    for name, p, words in (
        ("fisher", facts.fisher_p, "Fisher p {}"),
        ("adjusted", facts.adjusted_p, f"p {{}} adjusted for {facts.adjusted_for}"),
    ):
        # Of two groups there is nothing to pick, and nothing to adjust for.
        if not math.isnan(p) and (name == "fisher" or facts.picked_from > 2):
            rejects = p < SIGNIFICANCE_LEVEL
            tests[name] = SignificanceTest(words=words.format(p_value(p)), rejects=rejects)
    name = deciding_test(
        rule,
        n=facts.n,
        least_expected=facts.least_expected,
        has_fisher=not math.isnan(facts.fisher_p),
        picked_from=facts.picked_from,
    )
    deciding = tests.pop(name, None)
    if deciding is None:
        return False, "no test: everyone or no one was selected"

    verdict = "significant" if deciding.rejects else "not significant"
    opposite = "not significant" if deciding.rejects else "significant"
    disagreeing = [
        f"{test.words} is {opposite}" for test in tests.values() if test.rejects != deciding.rejects
    ]
    if facts.interval_has_one == deciding.rejects:
        contains = "contains" if facts.interval_has_one else "does not contain"
        limits = interval(facts.ratio_interval)
        disagreeing.append(
            f"the {100 * facts.confidence:g}% interval of the ratio, {limits}, {contains} 1"
        )
    text = f"{verdict} ({deciding.words})"
    if disagreeing:
        text += f"; the tests disagree: {', and '.join(disagreeing)}"
    return deciding.rejects, text


def ratio_in_words(rule: Rule, facts: Facts, *, crossed: list[Fraction]) -> str:
    """Return the ratio of the lower rate to the higher one, and where it is relative to the lines.

    Parameters
    ----------
    rule : Rule
    facts : Facts
    crossed : list of Fraction
        The lines that the ratio is below (or at, if the rule says so), the lowest first.
    """
    ratio = f"{float(facts.lower / facts.higher):.3f}"
    text = f"ratio {ratio}" if facts.group_is_lower else f"reference's rate is {ratio} of this one"
    if rule.decision == "ratio and test":
        text += f", a gap of {100 * float(facts.higher - facts.lower):.1f} points"
    if crossed:
        is_equal = facts.lower == crossed[0] * facts.higher
        text += f", {'exactly' if is_equal else 'below'} {crossed[0]}"
    elif rule.lines:
        text += f", not below {rule.lines[-1]}"
    return text


def power_caveat(facts: Facts) -> str:
    """Return the words about missing power, or nothing where the rows are enough.

    They are not enough if a ratio of four fifths would probably go unnoticed, and the interval does
    not exclude it either.
    """
    line = float(FOUR_FIFTHS)
    if facts.detectable_ratio >= line or facts.lowest_ratio > line:
        return ""
    if math.isnan(facts.detectable_ratio):
        return "with this many rows even a ratio of 0 would go unnoticed more than one time in five"
    return (
        f"with this many rows a ratio closer to 1 than {facts.detectable_ratio:.2f} would probably "
        "go unnoticed"
    )
