"""From the out-of-fold answers of auditors to limits of the impact floor, a verdict and its reason.

An auditor limits the lowest impact ratio that a rule can reach from two directions. From above: a
rule that it found, whose cut was set on training rows, has a ratio with an interval; the
lowest ratio is at most the upper limit of that interval. From below: lines that the ROC curve
lies under (`_stats/roc.py`).

The two directions are corrected differently. A table is certified only if every auditor's lower
limit passes, on both sides and in every pair. If there is a rule with disparate impact, the limit
of the auditor that finds it passes by mistake with probability at most 1 - confidence, and the
others do not matter. So lower limits are not corrected for their number. One rule that violates is
enough not to certify. So upper limits are corrected for the number of auditors, sides and pairs
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fourfifths._arrays import BoolArray, Interval
from fourfifths._certify.auditors import OutOfFold
from fourfifths._certify.plan import Beta
from fourfifths._certify.result import Side, Witness
from fourfifths._results import Verdict
from fourfifths._stats.balanced_error import Errors, ber_threshold
from fourfifths._stats.proportions import ratio_interval
from fourfifths._stats.roc import (
    Cuts,
    FloorLimit,
    Hull,
    floor_limit,
    hull_of_counts,
    line_slopes,
    score_counts,
)

MAX_GROWTH = 100.0
GROWTH_PRECISION = 1.005
# The slopes must not depend on the rows that are tested, so they cannot follow a beta that is
# estimated from them. The main slope of a beta of a fifth costs few rows from 0 to a third, and the
# others are spread for betas up to a half.
SLOPE_BETA, WIDEST_SLOPE_BETA = 0.2, 0.5


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
    limit : FloorLimit
        The lower limit of the floor at any beta, not corrected.
    paper_intercept : float
        The upper limit of r - b, and so of 1 - 2 BER, at any cut.
    lower_limit, upper_limit : float
        Limits of the lowest impact ratio, harmed over favored, in [0, 1]. The lower one is that of
        `limit` at beta's lower limit; the upper one is corrected.
    selected_harmed, n_harmed, selected_favored, n_favored : int
        How many rows of each side the rule selects that the auditor found.
    """

    harmed: Side
    curve: Hull
    floor: float
    limit: FloorLimit
    paper_intercept: float
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

    @property
    def ber_lower_limit(self) -> float:
        """The lower limit of the BER of the best cut, not corrected.

        The best cut has a BER of (1 - gap) / 2, with gap the largest r - b of any cut.
        """
        return max(0.0, (1 - self.group.paper_intercept) / 2)


Evidence = Mapping[str, AuditorEvidence]


def stronger(first: AuditorEvidence, second: AuditorEvidence) -> AuditorEvidence:
    """Return what two fits of one auditor show together: each figure is that of the stronger fit.

    So a table is certified only by both, and not certified by either.
    """

    def side(harmed: Side) -> SideEvidence:
        sides: list[SideEvidence] = [getattr(shown, harmed) for shown in (first, second)]
        by_rule = min(sides, key=lambda shown: shown.upper_limit)
        return replace(
            min(sides, key=lambda shown: shown.lower_limit),
            paper_intercept=max(shown.paper_intercept for shown in sides),
            upper_limit=by_rule.upper_limit,
            selected_harmed=by_rule.selected_harmed,
            selected_favored=by_rule.selected_favored,
        )

    by_error = min((first, second), key=lambda evidence: evidence.errors.balanced_error_rate)
    return replace(by_error, group=side("group"), reference=side("reference"))


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
    threshold: float,
    confidence: float,
    corrected: float,
) -> AuditorEvidence:
    """Return the limits that the out-of-fold answers of one auditor support.

    Parameters
    ----------
    answers : OutOfFold
    is_reference : bool array
    betas : mapping of {"group", "reference"} to Beta
        The selection rate of the side that is harmed.
    threshold : float
        Of the impact ratio; it sets the slope of the line.
    confidence : float
        Of the lower limits.
    corrected : float
        Of the upper limits and of the interval of the BER, two-sided: `confidence` corrected for
        the number of auditors and pairs.
    """
    predicted_reference = answers.score > 0
    errors = Errors(
        wrong=int(np.sum(predicted_reference & ~is_reference)),
        n=int(np.sum(~is_reference)),
        wrong_reference=int(np.sum(~predicted_reference & is_reference)),
        n_reference=int(np.sum(is_reference)),
    )
    score_cells = score_counts(answers.score, is_reference)
    sides = {}
    for harmed, beta in betas.items():
        is_harmed = is_reference == (harmed == "reference")
        selected = answers.selected[harmed]
        selected_harmed, n_harmed = int(np.sum(selected & is_harmed)), int(np.sum(is_harmed))
        selected_favored, n_favored = int(np.sum(selected & ~is_harmed)), int(np.sum(~is_harmed))
        upper_limit = float(
            ratio_interval(
                selected_harmed, n_harmed, selected_favored, n_favored, confidence=corrected
            )[1]
        )
        harmed_counts, favored_counts = score_cells
        if harmed == "reference":
            # Rules that harm the reference select from the other end of the score.
            favored_counts, harmed_counts = (counts[::-1] for counts in score_cells)
        curve = hull_of_counts(harmed_counts.astype(float), favored_counts.astype(float))
        cuts = [np.append(0, np.cumsum(counts)) for counts in (harmed_counts, favored_counts)]
        cut_confidence = beta.cut_confidence(confidence)
        slopes = line_slopes(beta.rate, threshold)
        if beta.counts:
            slopes = line_slopes(SLOPE_BETA, threshold, widest=WIDEST_SLOPE_BETA)
        limit = floor_limit(
            curve,
            *cuts,
            n=n_harmed,
            n_reference=n_favored,
            slopes=slopes,
            confidence=cut_confidence,
        )
        all_cuts = Cuts(
            selected=cuts[0], selected_reference=cuts[1], n=n_harmed, n_reference=n_favored
        )
        sides[harmed] = SideEvidence(
            harmed=harmed,
            curve=curve,
            floor=float(curve.floor(beta.rate)),
            limit=limit,
            paper_intercept=all_cuts.line(1.0, alpha=1 - cut_confidence),
            # The floor rises with beta, so the cautious floor is at the lower limit of beta.
            lower_limit=float(limit.at(beta.interval[0])),
            # Selecting everyone has a ratio of 1, so the lowest ratio is never above it.
            upper_limit=1.0 if np.isnan(upper_limit) else min(upper_limit, 1.0),
            selected_harmed=selected_harmed,
            n_harmed=n_harmed,
            selected_favored=selected_favored,
            n_favored=n_favored,
        )
    return AuditorEvidence(
        errors=errors,
        interval=errors.interval(corrected),
        group=sides["group"],
        reference=sides["reference"],
    )


def is_settled(evidence: Evidence, betas: Mapping[Side, Beta], *, threshold: float) -> bool:
    """Return whether harm is shown by both tests, which no further auditor can change."""
    return (
        verdict_of(evidence, threshold) == "not certified"
        and paper_verdict(evidence, betas, threshold=threshold) == "not certified"
    )


def verdict_of(evidence: Evidence, threshold: float, *, harmed: Side | None = None) -> Verdict:
    """Return the verdict over all auditors, for rules that harm one side or, by default, either."""
    sides = [side for side in sides_of(evidence) if harmed in (None, side.harmed)]
    if any(side.upper_limit < threshold for side in sides):
        return "not certified"
    if all(side.lower_limit >= threshold for side in sides):
        return "certified"
    return "inconclusive"


def paper_verdict(evidence: Evidence, betas: Mapping[Side, Beta], *, threshold: float) -> Verdict:
    """Return the verdict of the paper's test: the lowest BER against its threshold.

    To certify, the lower limit of every auditor's BER must exceed the threshold of both sides. The
    paper's test is the tight test with slope 1. What it shows, the tight test shows with enough
    rows; with few rows, chance may favor either slope. So that one verdict never contradicts the
    other, the paper's test certifies only what the tight test certifies too.
    """
    thresholds = {
        side: float(ber_threshold(beta.interval[0], threshold)) for side, beta in betas.items()
    }
    auditors = evidence.values()
    is_shown = all(auditor.ber_lower_limit > max(thresholds.values()) for auditor in auditors)
    if is_shown and verdict_of(evidence, threshold) == "certified":
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
    evidence: Evidence,
    betas: Mapping[Side, Beta],
    *,
    threshold: float,
    confidence: float,
    corrected: float,
) -> int | None:
    """Return how many rows like these would settle an inconclusive verdict.

    All rates are held as observed while all counts grow by the same factor. None means that not
    even 100 times as many rows would settle it.

    Parameters
    ----------
    evidence : mapping of auditor to AuditorEvidence
    betas : mapping of {"group", "reference"} to Beta
    threshold : float
    confidence, corrected : float
        Of the lower and of the upper limits, as for `weigh`.
    """
    lowest = min(sides_of(evidence), key=lambda side: np.nan_to_num(side.ratio, nan=1.0))

    def harm_is_shown(growth: float) -> bool:
        upper_limit = ratio_interval(
            growth * lowest.selected_harmed,
            growth * lowest.n_harmed,
            growth * lowest.selected_favored,
            growth * lowest.n_favored,
            confidence=corrected,
        )[1]
        return bool(upper_limit < threshold)

    def floor_is_shown(growth: float) -> bool:
        rates = {side: beta.lower_limit(growth, confidence) for side, beta in betas.items()}
        return all(
            grown_limit(side.limit, growth).at(rates[side.harmed]) >= threshold
            for side in sides_of(evidence)
        )

    is_settled = harm_is_shown if lowest.ratio < threshold else floor_is_shown
    if not is_settled(MAX_GROWTH):
        return None
    # Bisection on the logarithm: the answer may be anywhere between 1 and a hundred times.
    low, high = 1.0, MAX_GROWTH
    while high / low > GROWTH_PRECISION:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_settled(middle) else (middle, high)
    errors = next(iter(evidence.values())).errors
    return int(np.ceil(high * (errors.n + errors.n_reference)))


def grown_limit(limit: FloorLimit, growth: float) -> FloorLimit:
    """Return the limit that `growth` times as many rows with the same curve would give.

    Only the corners of the curve are looked at: with many rows, no other cut comes close.
    """
    curve = limit.curve
    n, n_reference = growth * curve.n, growth * curve.n_reference
    return floor_limit(
        curve,
        n * curve.group,
        n_reference * curve.reference,
        n=n,
        n_reference=n_reference,
        slopes=limit.slopes,
        confidence=limit.confidence,
    )


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
            f"decided by {tests}: {surely}, no rule found by these auditors has an impact ratio "
            f"below {lower_limit:.3f}, provided that it selects at least {shares[0]} of the group "
            f"(or, if it harms the reference, at least {shares[1]} of the reference); {by_paper}"
        )
    upper_limit = min(side.upper_limit for side in sides_of(evidence))
    remedy = (
        f"not with this beta: {MAX_GROWTH:.0f} times as many rows like these would not settle it"
    )
    if rows:
        remedy = f"about {rows:,} rows like these would settle it"
    return (
        f"{surely}, the lowest impact ratio of a rule found by these auditors lies between "
        f"{lower_limit:.3f} and {upper_limit:.3f}, and the threshold {threshold:g} lies between "
        f"them; {remedy}; {by_paper}"
    )
