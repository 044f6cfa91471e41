"""What a rule is, and `judge`, which applies one.

A rule is an arithmetic (which group is the reference, which ratio is the line, which test must
agree, which groups are too small to judge) with a name and a status (where it is law, since when,
and what else it asks for). `profiles` holds the rules themselves. To change one, use
``dataclasses.replace(rule, ...)`` and pass the result as ``rule=``.

This module imports neither NumPy nor SciPy, because the shell reads the rules for ``--help``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal

from fourfifths._results import Result
from fourfifths._text import interval, p_value

SmallGroups = Literal["exclude", "include"]
FOUR_FIFTHS = Fraction(4, 5)


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """How a rule reads the figures.

    Attributes
    ----------
    reference : {"designated", "highest"}
        Whether the user names the reference, or it is the group with the highest selection rate.
    decision : str
        What indicates adverse impact. "ratio": a ratio under the line. "ratio or test": a ratio
        under the line, unless the numbers are small and the test is not significant; a significant
        test above the line is reported as such. "test": a significant test. "ratio and test": both
        together. "test and gap": a significant test, and a difference of at least `gap`. "none":
        nothing, because the rule asks for the figures and draws no line. "checklist": nothing,
        because the law has no number; it gives a checklist and never a finding.
    lines : tuple of Fraction
        The thresholds of the impact ratio, lowest first.
    line_is : {"decisive", "trigger"}
        Whether a ratio under the line counts towards the finding, or is only a reason to look
        closer.
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
    gap : Fraction
        By how much the group's rate must at least be lower, as a difference of rates (1/20 is 5
        points). 0: any difference counts.
    total_minority : bool
        Whether all groups but the reference are compared with it together as well.
    score : {"none", "above median", "mean difference"}
        How the rule uses a score: not at all, as "selected = above the median", or by the
        standardised difference of the means.
    """

    reference: Literal["designated", "highest"]
    decision: Literal[
        "ratio", "ratio or test", "test", "ratio and test", "test and gap", "none", "checklist"
    ]
    lines: tuple[Fraction, ...] = (FOUR_FIFTHS,)
    line_is: Literal["decisive", "trigger"] = "decisive"
    boundary: Literal["below", "at or below"] = "below"
    standard_deviations: float | None = None
    strong_standard_deviations: float | None = None
    exact_below_n: int = 30
    exact_below_expected: int = 5
    minimum_share: Fraction = Fraction(0)
    small_groups: Literal["not judged", "exclude", "include"] = "not judged"
    minimum_rows: int = 0
    gap: Fraction = Fraction(0)
    total_minority: bool = False
    score: Literal["none", "above median", "mean difference"] = "none"


@dataclass(frozen=True, kw_only=True)
class Duties:
    """What a rule asks for besides the arithmetic, with the provision; empty if it asks nothing."""

    publish: str = ""
    retain: str = ""
    notify: str = ""
    search_for_alternatives: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the duties by their names, ready for JSON."""
        return {
            "publish": self.publish,
            "retain": self.retain,
            "notify": self.notify,
            "search_for_alternatives": self.search_for_alternatives,
        }


@dataclass(frozen=True, kw_only=True)
class Status:
    """What a rule is in law.

    Attributes
    ----------
    kind : {"law", "guidance", "draft", "practice", "definition"}
        "law": a statute or a regulation. "guidance": what an agency says that it does or expects.
        "draft": a proposal that is not in force. "practice": what an industry does. "definition":
        of a paper.
    jurisdiction : str
        Where it holds, and for what.
    source : str
        Where it is written.
    standing : str
        What became of it, in sentences.
    checked_on : datetime.date
        When these statements were checked.
    checked_against : str
        What they were checked against. It says so where the text itself could not be read.
    in_force_from, in_force_to : datetime.date or None
        None where it never was in force, and where no end is known.
    duties : Duties
    questions : tuple of str
        What the rule asks that no figure answers.
    """

    kind: Literal["law", "guidance", "draft", "practice", "definition"]
    jurisdiction: str
    source: str
    standing: str
    checked_on: date
    checked_against: str
    in_force_from: date | None = None
    in_force_to: date | None = None
    duties: Duties = field(default_factory=Duties)
    questions: tuple[str, ...] = ()

    @property
    def period(self) -> str:
        """When the rule is in force, as known on the day of the check, in words."""
        if self.in_force_from is None:
            return "a draft, not in force" if self.kind == "draft" else f"a {self.kind}, not law"
        if self.in_force_to is not None:
            return f"historical: in force from {self.in_force_from} to {self.in_force_to}"
        if self.in_force_from > self.checked_on:
            return f"not yet in force: from {self.in_force_from}"
        return f"in force from {self.in_force_from}"

    def to_dict(self) -> dict[str, Any]:
        """Return the status, ready for JSON."""
        return {
            "kind": self.kind,
            "jurisdiction": self.jurisdiction,
            "in_force_from": self.in_force_from and self.in_force_from.isoformat(),
            "in_force_to": self.in_force_to and self.in_force_to.isoformat(),
            "period": self.period,
            "source": self.source,
            "standing": self.standing,
            "checked_on": self.checked_on.isoformat(),
            "checked_against": self.checked_against,
            "duties": self.duties.to_dict(),
            "questions": list(self.questions),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Rule(Result, Arithmetic):
    """A profile: an arithmetic with a name, a title and a status in law.

    Attributes
    ----------
    name, title : str
    status : Status
    """

    name: str
    title: str
    status: Status

    @property
    def is_checklist(self) -> bool:
        """Whether the law has no number, so that there is a checklist and never a finding."""
        return self.decision == "checklist"

    def to_dict(self) -> dict[str, Any]:
        """Return the profile, ready for JSON: the arithmetic and the status apart."""
        return {
            "name": self.name,
            "title": self.title,
            "arithmetic": {
                "reference": self.reference,
                "decision": self.decision,
                "lines": [str(line) for line in self.lines],
                "line_is": self.line_is,
                "boundary": self.boundary,
                "standard_deviations": self.standard_deviations,
                "strong_standard_deviations": self.strong_standard_deviations,
                "minimum_share": float(self.minimum_share),
                "small_groups": self.small_groups,
                "minimum_rows": self.minimum_rows,
                "gap": float(self.gap),
                "total_minority": self.total_minority,
                "score": self.score,
            },
            "status": self.status.to_dict(),
        }


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
NO_FINDING = "no finding"
UNDEFINED_RATIO = "undefined"
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
    >>> from fourfifths import RULES
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
    if rule.is_checklist:
        return Finding(
            reading=NO_FINDING, because=f"{rule.name} has no number; it gives a checklist"
        )
    is_small = facts.share < rule.minimum_share
    share = small_share(rule, facts.share)
    if rule.decision == "none":
        because = f"{rule.name} asks for the ratio and draws no line"
        if is_small and rule.small_groups == "include":
            because += f"; {share}: may be excluded from the ratios"
        return Finding(reading=NO_LINE, because=because)
    if facts.higher == 0:
        return Finding(
            reading=UNDEFINED_RATIO, because="no one was selected in the group or in the reference"
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
    >>> from fourfifths import RULES
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
    has_gap = facts.higher - facts.lower >= rule.gap
    is_indicated = {
        "ratio": bool(crossed),
        "ratio or test": bool(crossed) and (is_significant or not is_small),
        "test": is_significant,
        "ratio and test": bool(crossed) and is_significant and has_gap,
        "test and gap": is_significant and has_gap,
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
        is_above = bool(rule.lines) and not crossed
        reading = ABOVE_BUT_SIGNIFICANT if is_above else NOT_INDICATED
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
        # With two groups there is nothing to pick, and nothing to adjust for.
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
    if rule.decision in ("ratio and test", "test and gap"):
        text += f", {gap_in_words(rule, facts.higher - facts.lower)}"
    if crossed:
        is_equal = facts.lower == crossed[0] * facts.higher
        text += f", {'exactly' if is_equal else 'below'} {crossed[0]}"
        if rule.line_is == "trigger":
            text += " (the trigger of a closer look)"
    elif rule.lines:
        text += f", not below {rule.lines[-1]}"
    return text


def gap_in_words(rule: Rule, gap: Fraction) -> str:
    """Return a difference of rates in points, and whether it is as large as the rule asks for.

    Examples
    --------
    >>> from fourfifths import RULES
    >>> gap_in_words(RULES["co-insurance"], Fraction(499, 10_000))
    'a gap of 4.9 points, under 5'
    """
    if gap >= rule.gap:
        least = f", at least {100 * float(rule.gap):g}" if rule.gap else ""
        return f"a gap of {100 * float(gap):.1f} points{least}"
    # Rounded down: 4.96 points are not 5.0.
    return f"a gap of {math.floor(1000 * gap) / 10:.1f} points, under {100 * float(rule.gap):g}"


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
