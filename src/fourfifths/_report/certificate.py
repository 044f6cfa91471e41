"""A `Certificate` as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourfifths._certify.result import (
    Certificate,
    CertificateKind,
    Leak,
    PairCertificate,
)
from fourfifths._report.document import Document, Section, Sentence, Sheet, Tone, to_document
from fourfifths._results import Verdict
from fourfifths._text import UNDEFINED, interval, number

MAX_LEAKS_SHOWN = 10
TONES: Mapping[Verdict, Tone] = {
    "certified": "good",
    "not certified": "bad",
    "inconclusive": "open",
}
GROUNDS: Mapping[CertificateKind, str] = {"found": "found by these auditors"}
LEGEND = (
    "BER: balanced error rate of predicting who is in the group, 0.5 is guessing; bound: the "
    "smallest impact ratio that the BER allows; floor: the smallest that cuts of the auditor's "
    "score allow, at beta; reverse: the floor of rules that harm the reference; witness: the "
    "impact ratio of the most harmful rule found. Not legal advice."
)


@to_document.register
def certificate_document(certificate: Certificate) -> Document:
    """Return the page: the verdict and its grounds, then the tables."""
    grounds = tuple(
        Sentence(text=f"{pair.group} against {pair.reference}: {pair.verdict}, {pair.because}.")
        for pair in certificate.pairs
    )
    sheets: tuple[Sheet, ...] = (
        auditor_sheet(certificate.worst, certificate.threshold),
        comparison_sheet(certificate.worst, certificate.threshold),
    )
    if certificate.leaks:
        sheets += (leak_sheet(certificate.leaks, certificate.worst.strongest),)
    if len(certificate.pairs) > 1:
        sheets = (pair_sheet(certificate.pairs), *sheets)
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    return Document(
        headline=(
            f"{certificate.verdict} (rules {GROUNDS[certificate.kind]}, beta "
            f"{number(certificate.worst.beta)}): {certificate.table}, "
            f"{' & '.join(certificate.protected)}, threshold {certificate.threshold:g}, "
            f"{certificate.rows:,} rows"
        ),
        sections=(Section(sentences=grounds), Section(sheets=sheets)),
        notes=(
            *certificate.notes,
            # With these anyone can run the same certificate again; `verify` does.
            f"data SHA-256 {certificate.data_sha256}, seed {certificate.random_state}, {versions}",
        ),
        closing=(LEGEND,),
        tone=TONES[certificate.verdict],
    )


def pair_sheet(pairs: Sequence[PairCertificate]) -> Sheet:
    """Return the table of all pairs; those that are not certified stand out."""
    return Sheet(
        title="all pairs of groups",
        headers=("group", "against", "n", "beta", "least BER", "witness", "limits", "verdict"),
        rows=tuple(
            (
                pair.group,
                pair.reference,
                f"{pair.n:,}",
                number(pair.beta),
                number(min(auditor.balanced_error_rate for auditor in pair.auditors)),
                number(pair.witness.impact_ratio),
                interval(pair.witness.impact_ratio_interval),
                pair.verdict,
            )
            for pair in pairs
        ),
        marked=tuple(index for index, pair in enumerate(pairs) if pair.verdict == "not certified"),
        name_columns=2,
    )


def auditor_sheet(pair: PairCertificate, threshold: float) -> Sheet:
    """Return the table of the auditors of a pair; those that show harm stand out."""
    return Sheet(
        title=f"{pair.group} against {pair.reference}: predicting membership, out of fold",
        headers=("auditor", "BER", "limits", "bound", "floor", "limits", "reverse"),
        rows=tuple(
            (
                auditor.name,
                number(auditor.balanced_error_rate),
                interval(auditor.interval),
                number(auditor.impact_bound),
                number(auditor.impact_floor),
                interval(auditor.impact_floor_interval),
                number(auditor.reverse_floor),
            )
            for auditor in pair.auditors
        ),
        marked=tuple(
            index
            for index, auditor in enumerate(pair.auditors)
            if auditor.impact_floor_interval[1] < threshold
        ),
    )


def comparison_sheet(pair: PairCertificate, threshold: float) -> Sheet:
    """Return the table of what the two tests compare, and of the Bayesian form."""
    posterior = pair.posterior
    # A beta that was given is one number, and has no limits.
    lower_beta, upper_beta = pair.beta_interval
    beta_limits = UNDEFINED if lower_beta == upper_beta else interval(pair.beta_interval)
    return Sheet(
        title="the two tests and the Bayesian form",
        headers=("", "value", "limits"),
        rows=(
            ("beta, the selection rate of the group", number(pair.beta), beta_limits),
            ("BER must exceed (paper)", number(pair.ber_threshold), UNDEFINED),
            ("ratio must exceed (tight)", number(threshold), UNDEFINED),
            (
                f"posterior BER of {pair.strongest}",
                number(posterior.balanced_error_rate),
                interval(posterior.balanced_error_rate_interval),
            ),
            (
                "posterior bound",
                number(posterior.impact_bound),
                interval(posterior.impact_bound_interval),
            ),
            (
                f"probability that it is below {threshold:g}",
                number(posterior.probability_below),
                UNDEFINED,
            ),
        ),
        name_width=40,
    )


def leak_sheet(leaks: Sequence[Leak], strongest: str) -> Sheet:
    """Return the table of what the features reveal, at most ten of them.

    Parameters
    ----------
    leaks : sequence of Leak
    strongest : str
        The auditor that was fitted without each feature.
    """
    more = f" (the first {MAX_LEAKS_SHOWN})" if len(leaks) > MAX_LEAKS_SHOWN else ""
    return Sheet(
        title=f"how much each feature reveals{more}",
        headers=("feature", "kind", "BER alone", "floor alone", f"{strongest} loses"),
        rows=tuple(
            (
                leak.feature,
                leak.kind,
                number(leak.balanced_error_rate),
                number(leak.impact_floor),
                number(leak.loss),
            )
            for leak in leaks[:MAX_LEAKS_SHOWN]
        ),
    )
