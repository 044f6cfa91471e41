"""Why a certificate says what it says, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourfifths._certify.auditors import Side
from fourfifths._certify.evidence import AuditorEvidence
from fourfifths._certify.plan import Beta, Plan
from fourfifths._certify.result import Leak, PairCertificate, Verdict, Witness
from fourfifths._stats.balanced_error import ber_threshold
from fourfifths._tables.sample import Features
from fourfifths.errors import listed

PROTECTED_WORDS = {
    *("age", "citizenship", "color", "colour", "disability", "ethnicity", "gender", "race"),
    *("national_origin", "nationality", "religion", "sex", "veteran"),
}


def because(
    verdict: Verdict,
    paper: Verdict,
    evidence: Mapping[str, AuditorEvidence],
    witness: Witness,
    needed: int | None,
    betas: Mapping[Side, Beta],
    threshold: float,
    confidence: float,
) -> str:
    """Return the sentence that says which test decided, and on what."""
    least = min(side.least for each in evidence.values() for side in (each.group, each.reference))
    ber = min(each.errors.balanced_error_rate for each in evidence.values())
    line = float(ber_threshold(betas["group"].interval[0], threshold))
    rates = " or ".join(
        f"at least {beta.interval[0]:.1%} of the {side}" for side, beta in betas.items()
    )
    test = f"the paper's test says {paper}: least BER {ber:.3f} against {line:.3f}"
    sure = f"with {100 * confidence:g}% confidence"
    if verdict == "not certified":
        seen = " and ".join(f"{rate:.1%} of {name}" for name, rate in witness.rates.items())
        limit = _limit(witness, threshold)
        return (
            f"decided by the tight test: {witness.auditor} found a rule that selects {seen}, an "
            f"impact ratio of {witness.impact_ratio:.3f} ({limit} {sure}); {test}"
        )
    if verdict == "certified":
        decided = "both tests" if paper == "certified" else "the tight test alone"
        return (
            f"decided by {decided}: no rule that these auditors can find, and that selects {rates} "
            f"(whoever it harms), has an impact ratio under {least:.3f} {sure}; {test}"
        )
    settle = (
        f"about {needed:,} rows like these would settle it"
        if needed
        else "how many rows would settle it cannot be told from these"
    )
    lowest = min(side.most for each in evidence.values() for side in (each.group, each.reference))
    return (
        f"the least impact ratio lies between {least:.3f} and {lowest:.3f} {sure}, on both sides "
        f"of {threshold:g}; {settle}; {test}"
    )


def certificate_notes(
    plan: Plan, read: Features, leaks: Sequence[Leak], pairs: Sequence[PairCertificate]
) -> tuple[str, ...]:
    """Return what a reader must know besides the figures."""
    notes = []
    telling = [leak.feature for leak in leaks if leak.balanced_error_rate == 0]
    if telling:
        notes.append(f"{listed(telling)} tells the protected attribute without an error")
    if plan.left_out:
        notes.append(f"not among the features: {listed(plan.left_out, limit=20)}")
    looks = [name for name in plan.features if name.lower() in PROTECTED_WORDS]
    if looks:
        notes.append(
            f"among the features, and perhaps protected themselves: {listed(looks)}; if a rule may "
            "not use them, name the columns that it may use (columns=)"
        )
    audited, rows = read.groups.size, sum(plan.sizes)
    if audited < rows:
        notes.append(
            f"{audited:,} of {rows:,} rows were audited, chosen at random within groups; that "
            f"alone makes the BER uncertain by {max(pair.sampling_error for pair in pairs):.4f}"
        )
    if len(pairs) > 1:
        notes.append("each pair's verdict holds with the stated confidence on its own")
    notes.append("the claim is about rules that these auditors can find")
    return tuple(notes)


def _limit(witness: Witness, threshold: float) -> str:
    low, high = witness.impact_ratio_interval
    if witness.impact_ratio < 1:
        return f"at most {high:.3f}, below {threshold:g},"
    return f"at least {low:.3f}, above {1 / threshold:g},"
