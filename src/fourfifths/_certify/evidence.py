"""From what auditors said of every row to limits of the impact floor, and a verdict.

An auditor's ratio limits come from two places. At most: the ratio of a rule that it found, whose
cut was set on training rows, by the score interval. At least: the distribution-free band around its
ROC curve. Each limit is set to err with probability (1 - confidence) / (2 auditors), on each of the
two sides; so all hold together with the stated confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fourfifths._arrays import BoolArray
from fourfifths._certify.auditors import OutOfFold, Side
from fourfifths._certify.plan import Beta
from fourfifths._certify.result import Verdict
from fourfifths._stats.balanced_error import Errors, ber_threshold
from fourfifths._stats.intervals import ratio_interval
from fourfifths._stats.roc import Hull, dkw, hull

MAX_GROWTH = 1e6


@dataclass(frozen=True, kw_only=True)
class SideEvidence:
    """What one auditor found on one side.

    Attributes
    ----------
    side : {"group", "reference"}
        Who would be harmed.
    curve : Hull
        The rates on the side that is harmed and on the other.
    floor : float
        The impact floor at beta, from the hull of the out-of-fold ROC curve.
    least, most : float
        Limits of the floor.
    selected, n, selected_other, n_other : int
        What the rule that it found selects of the side that is harmed, and of the other.
    ratio : float
        The rule's impact ratio; NaN if it selects no one of the other side.
    """

    side: Side
    curve: Hull
    floor: float
    least: float
    most: float
    selected: int
    n: int
    selected_other: int
    n_other: int

    @property
    def ratio(self) -> float:
        """The impact ratio of the rule, harmed over other."""
        if not self.selected_other:
            return float("nan")
        return (self.selected * self.n_other) / (self.n * self.selected_other)


@dataclass(frozen=True, kw_only=True)
class AuditorEvidence:
    """What one auditor found.

    Attributes
    ----------
    errors : Errors
    interval : tuple of float
        Of the balanced error rate, at the corrected confidence.
    group, reference : SideEvidence
        Rules that harm the group, and rules that harm the reference.
    """

    errors: Errors
    interval: tuple[float, float]
    group: SideEvidence
    reference: SideEvidence

    def least_ber(self, confidence: float) -> float:
        """Return the lower limit of the BER of the best cut of the score, from the same band."""
        curve = self.group.curve
        gap = float(np.max(curve.reference - curve.group))
        reach = dkw(curve.n, confidence) + dkw(curve.n_reference, confidence)
        return max(0.0, (1 - gap - reach) / 2)


def weigh(
    found: OutOfFold, is_reference: BoolArray, betas: Mapping[Side, Beta], confidence: float
) -> AuditorEvidence:
    """Return the limits that one auditor's out-of-fold answers support."""
    taken = found.score > 0
    errors = Errors(
        wrong=int(np.sum(taken & ~is_reference)),
        n=int(np.sum(~is_reference)),
        wrong_reference=int(np.sum(~taken & is_reference)),
        n_reference=int(np.sum(is_reference)),
    )
    interval = errors.interval(confidence)
    curves = {
        "group": hull(found.score, is_reference),
        "reference": hull(-found.score, ~is_reference),
    }
    chosen = {"group": found.selected, "reference": found.selected_reverse}
    sides = {
        side: _side(
            side,
            curves[side],
            chosen[side],
            is_reference == (side == "reference"),
            betas[side],
            confidence,
        )
        for side in betas
    }
    return AuditorEvidence(
        errors=errors, interval=interval, group=sides["group"], reference=sides["reference"]
    )


def _side(
    side: Side,
    curve: Hull,
    selected: BoolArray,
    harmed: BoolArray,
    beta: Beta,
    confidence: float,
) -> SideEvidence:
    counts = (
        int(np.sum(selected & harmed)),
        int(np.sum(harmed)),
        int(np.sum(selected & ~harmed)),
        int(np.sum(~harmed)),
    )
    most = float(ratio_interval(*counts, confidence)[1])
    selected_harmed, n, selected_other, n_other = counts
    return SideEvidence(
        side=side,
        curve=curve,
        floor=float(curve.floor(beta.rate)),
        least=float(curve.floor_band(beta.interval[0], confidence)[0]),
        most=1.0 if np.isnan(most) else min(most, 1.0),
        selected=selected_harmed,
        n=n,
        selected_other=selected_other,
        n_other=n_other,
    )


def verdict_of(
    evidence: Mapping[str, AuditorEvidence], threshold: float, side: Side | None = None
) -> Verdict:
    """Return the verdict over all auditors, on one side or on both."""
    found = [
        getattr(each, which)
        for each in evidence.values()
        for which in ((side,) if side else ("group", "reference"))
    ]
    if any(each.most < threshold for each in found):
        return "not certified"
    if all(each.least >= threshold for each in found):
        return "certified"
    return "inconclusive"


def paper_verdict(
    evidence: Mapping[str, AuditorEvidence],
    betas: Mapping[Side, Beta],
    threshold: float,
    confidence: float,
) -> Verdict:
    """Return the verdict of the paper's test: the least BER against its threshold, on both sides.

    The band puts the ROC curve under its tangent of slope 1 moved by as much as the band is wide;
    so what this test certifies, the tight test certifies too.
    """
    lines = {
        side: float(ber_threshold(beta.interval[0], threshold)) for side, beta in betas.items()
    }
    if all(each.least_ber(confidence) > max(lines.values()) for each in evidence.values()):
        return "certified"
    if any(each.interval[1] <= lines["group"] for each in evidence.values()):
        return "not certified"
    return "inconclusive"


def rows_needed(
    evidence: Mapping[str, AuditorEvidence],
    betas: Mapping[Side, Beta],
    threshold: float,
    confidence: float,
) -> int | None:
    """Return how many rows like these would settle it; None if not even a million times as many.

    Rates stay as they were seen, and every count grows in step.
    """
    rows = next(iter(evidence.values())).errors
    found = [side for each in evidence.values() for side in (each.group, each.reference)]
    lowest = min(found, key=lambda side: np.nan_to_num(side.ratio, nan=1.0))
    if lowest.ratio < threshold:
        settled = _harm_is_shown(lowest, threshold, confidence)
    else:
        settled = _safety_is_shown(evidence, betas, threshold, confidence)
    if not settled(MAX_GROWTH):
        return None
    low, high = 1.0, MAX_GROWTH
    while high / low > 1.005:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if settled(middle) else (middle, high)
    return int(np.ceil(high * (rows.n + rows.n_reference)))


def _harm_is_shown(
    side: SideEvidence, threshold: float, confidence: float
) -> Callable[[float], bool]:
    def settled(growth: float) -> bool:
        own = (growth * side.selected, growth * side.n)
        other = (growth * side.selected_other, growth * side.n_other)
        return bool(ratio_interval(*own, *other, confidence)[1] < threshold)

    return settled


def _safety_is_shown(
    evidence: Mapping[str, AuditorEvidence],
    betas: Mapping[Side, Beta],
    threshold: float,
    confidence: float,
) -> Callable[[float], bool]:
    def settled(growth: float) -> bool:
        lowest = {side: beta.lower_end(growth, confidence) for side, beta in betas.items()}
        return all(
            _grown(side.curve, growth).floor_band(lowest[side.side], confidence)[0] >= threshold
            for each in evidence.values()
            for side in (each.group, each.reference)
        )

    return settled


def _grown(curve: Hull, growth: float) -> Hull:
    return replace(curve, n=int(growth * curve.n), n_reference=int(growth * curve.n_reference))
