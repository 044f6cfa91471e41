"""What a rule makes of the figures: a reading, and why.

Ratios are compared with a line as fractions of counts, never as floating-point numbers: 3 of 5
against 6 of 8 is exactly four fifths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

from fourfifths.render import p_value
from fourfifths.rules import FOUR_FIFTHS, Rule

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


@dataclass(frozen=True)
class Finding:
    """A reading in the package's fixed words, and the figures it rests on.

    `below_line` says whether the lower rate is under the rule's lowest line of the higher one.
    """

    reading: str
    because: str
    below_line: bool = False


@dataclass(frozen=True)
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
    >>> from fourfifths.rules import RULES
    >>> exactly = Facts(Fraction(3, 5), Fraction(6, 8), Fraction(5, 13), 13, 1.5, -0.57, 0.5,
    ...                 1.28, 0.3, float("nan"))
    >>> judge(RULES["feldman2015"], exactly).reading
    'adverse impact is indicated under feldman2015'
    """
    tiny = facts.share < rule.minimum_share
    below = any(_under(rule, facts, line) for line in rule.lines[:1]) and facts.higher > 0
    share = f"{float(facts.share):.1%} of the rows, under {float(rule.minimum_share):.0%}"
    if rule.decision == "none":
        excluded = f"; {share}: may be excluded from the ratios" if tiny else ""
        return Finding(NO_LINE, f"{rule.name} asks for the ratio and draws no line{excluded}")
    if facts.higher == 0:
        return Finding(UNDEFINED, "no one was selected in the group or in the reference")
    if rule.reference == "highest" and not facts.group_is_lower:
        return Finding(NOT_INDICATED, "the rate is not below the reference's", below_line=False)
    finding = _judge_difference(rule, facts)
    if tiny:
        because = f"{share}, from which on {rule.name} judges; {finding.because}"
        finding = Finding(NOT_JUDGED, because)
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
        return Finding(_indicated(rule, facts), because)
    if rule.decision == "ratio":
        return Finding(NOT_INDICATED, because)
    if crossed is not None and rule.decision == "ratio or test":
        return Finding(SMALL_NUMBERS, f"{because}; {_describe_small(facts)}")
    if significant:
        reading = ABOVE_BUT_SIGNIFICANT if crossed is None else NOT_INDICATED
        return Finding(reading, because)
    if _could_not_tell(facts):
        return Finding(INCONCLUSIVE, f"{because}; {_describe_power(facts)}")
    return Finding(NOT_INDICATED, because)


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
