"""From the out-of-fold answers of auditors to limits of the impact floor, a verdict and its reason.

An auditor limits the lowest impact ratio that a rule can reach from two directions. From above: a
rule that it found, whose cut was set on training rows, has a ratio with a score interval; the
lowest ratio is at most the upper limit of that interval. From below: the distribution-free band
around its ROC curve. Each limit is wrong with probability at most (1 - confidence) / (2 auditors)
on each of the two sides, so all of them hold together with the stated confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fourfifths._arrays import BoolArray, Interval
from fourfifths._certify.auditors import OutOfFold
from fourfifths._certify.plan import Beta
from fourfifths._certify.result import Side, Verdict, Witness
from fourfifths._stats.balanced_error import Errors, ber_threshold
from fourfifths._stats.intervals import ratio_interval
from fourfifths._stats.roc import Hull, dkw, hull

MAX_GROWTH = 1e6
GROWTH_PRECISION = 1.005


@dataclass(frozen=True, kw_only=True)
class SideEvidence:
    """What one auditor showed about rules that harm one side.

    Attributes
    ----------
    harmed : {"group", "reference"}
        The side that the rules harm; the other side is favored.
    curve : Hull
        The concave hull of the out-of-fold ROC curve; its `group` is the harmed side.
    floor : float
        The impact floor at beta, from the curve.
    lower_limit, upper_limit : float
        Limits of the lowest impact ratio, harmed over favored, in [0, 1].
    selected_harmed, n_harmed, selected_favored, n_favored : int
        How many rows of each side the rule selects that the auditor found.
    """

    harmed: Side
    curve: Hull
    floor: float
    lower_limit: float
    upper_limit: float
    selected_harmed: int
    n_harmed: int
    selected_favored: int
    n_favored: int

    @property
    def ratio(self) -> float:
        """The impact ratio of the rule, harmed over favored; NaN if no favored row is selected."""
        if not self.selected_favored:
            return float("nan")
        return (self.selected_harmed * self.n_favored) / (self.n_harmed * self.selected_favored)

    @property
    def floor_interval(self) -> Interval:
        """The limits, widened where necessary to contain the estimate of the floor.

        The rule behind the upper limit was chosen on other rows than the curve is made of, so the
        limit may fall below the estimate.
        """
        return min(self.lower_limit, self.floor), max(self.upper_limit, self.floor)


@dataclass(frozen=True, kw_only=True)
class AuditorEvidence:
    """What one auditor showed.

    Attributes
    ----------
    errors : Errors
        Of predicting the group.
    interval : tuple of float
        Of the balanced error rate, at the corrected confidence.
    group, reference : SideEvidence
        About rules that harm the group, and about rules that harm the reference.
    """

    errors: Errors
    interval: Interval
    group: SideEvidence
    reference: SideEvidence

    def ber_lower_limit(self, confidence: float) -> float:
        """Return the lower limit of the BER of the best cut, from the band around the ROC curve.

        The best cut has a BER of (1 - gap) / 2, with gap the largest distance between the two
        distributions of the score; by `dkw`, the true gap is at most `reach` larger.
        """
        curve = self.group.curve
        gap = float(np.max(curve.reference - curve.group))
        reach = dkw(curve.n, confidence) + dkw(curve.n_reference, confidence)
        return max(0.0, (1 - gap - reach) / 2)


Evidence = Mapping[str, AuditorEvidence]


def sides_of(evidence: Evidence) -> Iterator[SideEvidence]:
    """Yield both sides of every auditor's evidence."""
    for auditor_evidence in evidence.values():
        yield auditor_evidence.group
        yield auditor_evidence.reference


def weigh(
    answers: OutOfFold,
    is_reference: BoolArray,
    *,
    betas: Mapping[Side, Beta],
    confidence: float,
) -> AuditorEvidence:
    """Return the limits that the out-of-fold answers of one auditor support.

    Parameters
    ----------
    answers : OutOfFold
    is_reference : bool array
    betas : mapping of {"group", "reference"} to Beta
        The selection rate of the side that is harmed.
    confidence : float
        Corrected for the number of auditors.
    """
    predicted_reference = answers.score > 0
    errors = Errors(
        wrong=int(np.sum(predicted_reference & ~is_reference)),
        n=int(np.sum(~is_reference)),
        wrong_reference=int(np.sum(~predicted_reference & is_reference)),
        n_reference=int(np.sum(is_reference)),
    )
    sides = {}
    for harmed, beta in betas.items():
        is_harmed = is_reference == (harmed == "reference")
        selected = answers.selected[harmed]
        selected_harmed, n_harmed = int(np.sum(selected & is_harmed)), int(np.sum(is_harmed))
        selected_favored, n_favored = int(np.sum(selected & ~is_harmed)), int(np.sum(~is_harmed))
        upper_limit = float(
            ratio_interval(
                selected_harmed, n_harmed, selected_favored, n_favored, confidence=confidence
            )[1]
        )
        # Rules that harm the reference select from the other end of the score.
        curve = hull(answers.score if harmed == "group" else -answers.score, ~is_harmed)
        sides[harmed] = SideEvidence(
            harmed=harmed,
            curve=curve,
            floor=float(curve.floor(beta.rate)),
            # The floor rises with beta, so the cautious floor is at the lower limit of beta.
            lower_limit=float(curve.floor_band(beta.interval[0], confidence)[0]),
            # Selecting everyone has a ratio of 1, so the lowest ratio is never above it.
            upper_limit=1.0 if np.isnan(upper_limit) else min(upper_limit, 1.0),
            selected_harmed=selected_harmed,
            n_harmed=n_harmed,
            selected_favored=selected_favored,
            n_favored=n_favored,
        )
    return AuditorEvidence(
        errors=errors,
        interval=errors.interval(confidence),
        group=sides["group"],
        reference=sides["reference"],
    )


def verdict_of(evidence: Evidence, threshold: float, *, harmed: Side | None = None) -> Verdict:
    """Return the verdict over all auditors, for rules that harm one side or, by default, either."""
    sides = [side for side in sides_of(evidence) if harmed in (None, side.harmed)]
    if any(side.upper_limit < threshold for side in sides):
        return "not certified"
    if all(side.lower_limit >= threshold for side in sides):
        return "certified"
    return "inconclusive"


def paper_verdict(
    evidence: Evidence, betas: Mapping[Side, Beta], *, threshold: float, confidence: float
) -> Verdict:
    """Return the verdict of the paper's test: the lowest BER against its threshold.

    To certify, the lower limit of every auditor's BER must exceed the threshold of both sides. That
    limit comes from the same band as the tight test: it moves the tangent of slope 1 by the width
    of the band, and the ROC curve lies under its tangent. So whatever this test certifies, the
    tight test certifies too.
    """
    thresholds = {
        side: float(ber_threshold(beta.interval[0], threshold)) for side, beta in betas.items()
    }
    auditors = evidence.values()
    if all(auditor.ber_lower_limit(confidence) > max(thresholds.values()) for auditor in auditors):
        return "certified"
    if any(auditor.interval[1] <= thresholds["group"] for auditor in auditors):
        return "not certified"
    return "inconclusive"


def find_witness(evidence: Evidence, *, group: str, reference: str, confidence: float) -> Witness:
    """Return the rule whose impact ratio has the lowest upper limit, over auditors and sides."""
    auditor, side = min(
        (
            (name, side)
            for name, auditor_evidence in evidence.items()
            for side in (auditor_evidence.group, auditor_evidence.reference)
        ),
        key=lambda candidate: candidate[1].upper_limit,
    )
    counts = (side.selected_harmed, side.n_harmed, side.selected_favored, side.n_favored)
    harmed, favored = group, reference
    if side.harmed == "reference":
        # The ratio is that of the group over the reference, whichever of them is harmed.
        counts = (*counts[2:], *counts[:2])
        harmed, favored = reference, group
    selected, n, selected_reference, n_reference = counts
    ratio = float("nan")
    if selected_reference:
        ratio = selected * n_reference / (n * selected_reference)
    low, high = ratio_interval(*counts, confidence=confidence)
    return Witness(
        auditor=auditor,
        harms=harmed,
        rates={group: selected / n, reference: selected_reference / n_reference},
        impact_ratio=ratio,
        impact_ratio_interval=(float(low), float(high)),
        rule=(
            f"select the rows that {auditor} scores as most like {favored}; ties are broken at "
            "random"
        ),
    )


def rows_needed(
    evidence: Evidence, betas: Mapping[Side, Beta], *, threshold: float, confidence: float
) -> int | None:
    """Return how many rows like these would settle an inconclusive verdict.

    All rates are held as observed while all counts grow by the same factor. None means that not
    even a million times as many rows would settle it.
    """
    lowest = min(sides_of(evidence), key=lambda side: np.nan_to_num(side.ratio, nan=1.0))

    def harm_is_shown(growth: float) -> bool:
        upper_limit = ratio_interval(
            growth * lowest.selected_harmed,
            growth * lowest.n_harmed,
            growth * lowest.selected_favored,
            growth * lowest.n_favored,
            confidence=confidence,
        )[1]
        return bool(upper_limit < threshold)

    def floor_is_shown(growth: float) -> bool:
        rates = {side: beta.lower_limit(growth, confidence) for side, beta in betas.items()}
        for side in sides_of(evidence):
            curve = side.curve
            grown = replace(
                curve, n=int(growth * curve.n), n_reference=int(growth * curve.n_reference)
            )
            if not grown.floor_band(rates[side.harmed], confidence)[0] >= threshold:
                return False
        return True

    is_settled = harm_is_shown if lowest.ratio < threshold else floor_is_shown
    if not is_settled(MAX_GROWTH):
        return None
    # Bisection on the logarithm: the answer may be anywhere between 1 and a million times.
    low, high = 1.0, MAX_GROWTH
    while high / low > GROWTH_PRECISION:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_settled(middle) else (middle, high)
    errors = next(iter(evidence.values())).errors
    return int(np.ceil(high * (errors.n + errors.n_reference)))


def reason_for(
    verdict: Verdict,
    evidence: Evidence,
    *,
    paper: Verdict,
    witness: Witness,
    rows: int | None,
    betas: Mapping[Side, Beta],
    threshold: float,
    confidence: float,
) -> str:
    """Return the reason for a verdict: which test decided, and by which figures.

    Parameters
    ----------
    verdict : {"certified", "not certified", "inconclusive"}
    evidence : mapping of auditor to AuditorEvidence
    paper : {"certified", "not certified", "inconclusive"}
        The verdict of the paper's test.
    witness : Witness
    rows : int or None
        As `rows_needed` returns it.
    betas : mapping of {"group", "reference"} to Beta
    threshold, confidence : float
        As the user stated them.
    """
    lower_limit = min(side.lower_limit for side in sides_of(evidence))
    ber = min(auditor.errors.balanced_error_rate for auditor in evidence.values())
    ber_line = float(ber_threshold(betas["group"].interval[0], threshold))
    by_paper = f"by the paper's test it is {paper} (lowest BER {ber:.3f}, threshold {ber_line:.3f})"
    surely = f"with {100 * confidence:g}% confidence"
    if verdict == "not certified":
        rates = " and ".join(f"{rate:.1%} of {name}" for name, rate in witness.rates.items())
        low, high = witness.impact_ratio_interval
        limit = f"at least {low:.3f}, above {1 / threshold:g},"
        if witness.impact_ratio < 1:
            limit = f"at most {high:.3f}, below {threshold:g},"
        return (
            f"decided by the tight test: {witness.auditor} found a rule that selects {rates}, an "
            f"impact ratio of {witness.impact_ratio:.3f} ({limit} {surely}); {by_paper}"
        )
    if verdict == "certified":
        tests = "both tests" if paper == "certified" else "the tight test alone"
        shares = [f"{betas[side].interval[0]:.1%}" for side in ("group", "reference")]
        return (
            f"decided by {tests}: {surely}, no rule that these auditors can find has an impact "
            f"ratio below {lower_limit:.3f}, provided that it selects at least {shares[0]} of the "
            f"group (or, if it harms the reference, at least {shares[1]} of the reference); "
            f"{by_paper}"
        )
    upper_limit = min(side.upper_limit for side in sides_of(evidence))
    remedy = "how many rows would settle it cannot be estimated from this table"
    if rows:
        remedy = f"about {rows:,} rows like these would settle it"
    return (
        f"{surely}, the lowest impact ratio of a rule lies between {lower_limit:.3f} and "
        f"{upper_limit:.3f}, and the threshold {threshold:g} lies between them; {remedy}; "
        f"{by_paper}"
    )
