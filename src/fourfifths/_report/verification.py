"""A `Verification` as a page: the answer, and the claim in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourfifths._certify.verification import Claim, Verification
from fourfifths._report.document import Document, Section, Sentence, to_document


@to_document.register
def verification_document(verification: Verification) -> Document:
    """Return the page: whether it is verified and why not, then what was claimed, and of what."""
    data = "the same data" if verification.same_data else "other data"
    certificate = "the same certificate" if verification.same_certificate else "another certificate"
    answer = "verified" if verification.is_verified else "not verified"
    problems = (
        *(f"Different: {difference}." for difference in verification.differences),
        *(f"Not as required: {shortfall}." for shortfall in verification.unmet),
    )
    sections = [
        Section(sentences=tuple(Sentence(text=text, is_marked=True) for text in problems)),
        Section(sentences=tuple(Sentence(text=text) for text in claim_sentences(verification))),
    ]
    return Document(
        headline=f"{answer}: {data}, {certificate} ({verification.claim.verdict})",
        sections=tuple(section for section in sections if section.sentences),
        notes=verification.remarks,
        closing=(
            "Verified means: this table and these settings give this certificate. Who wrote it is "
            "known only from a signature. Not legal advice.",
        ),
        tone="good" if verification.is_verified else "bad",
    )


def claim_sentences(verification: Verification) -> Iterator[str]:
    """Yield the claim, one sentence for each of its parts."""
    claim = verification.claim
    yield (
        f"Claim: {claim.verdict}, at a threshold of {claim.threshold:g} for the impact ratio, with "
        f"{claim.confidence:.6g} confidence, of rules that select at least {claim.beta:.4g} of "
        "each group (beta)."
    )
    groups = f"Groups: {named(claim.protected)}"
    if claim.outcome is not None:
        groups += f"; outcome: {claim.outcome}, favorable: {claim.favorable}"
    if claim.unknown:
        groups += f"; taken as missing: {named(claim.unknown)}"
    yield f"{groups}."
    asked = f"Auditors: {named(claim.auditors)}"
    yield f"{asked}; not asked: {named(claim.auditors_not_asked)}."
    yield (
        f"Features ({len(claim.features):,}): {named(claim.features)}; columns not audited: "
        f"{named(claim.columns_not_audited)}."
    )
    yield (
        f"Rows audited: {claim.rows_audited:,} of {claim.rows_in_table:,} in the table; rows of "
        f"unknown group: {claim.rows_in_table - claim.rows_of_known_group:,}."
    )
    if claim.is_sample:
        yield (
            f"Only a sample was audited and hashed: the data SHA-256 says nothing about the other "
            f"{claim.rows_of_known_group - claim.rows_audited:,} rows."
        )
    if verification.file_sha256 is not None:
        yield f"{whole_file(claim)} SHA-256 of the whole file: {verification.file_sha256}."
    if verification.require:
        required = ", ".join(
            f"{name} {value if isinstance(value, str | int | float) else '+'.join(value)}"
            for name, value in verification.require.items()
        )
        yield f"Required: {required}: {'not met' if verification.unmet else 'met'}."
        if "verdict" not in verification.require and claim.verdict != "certified":
            yield (
                f"No verdict was required, and this one is {claim.verdict}: the table is not "
                "certified. Require verdict=certified to accept certified tables only."
            )


def whole_file(claim: Claim) -> str:
    """Return whether the file as a whole is the one that was certified."""
    if claim.same_file is None:
        return "The certificate does not state the hash of a file."
    if claim.same_file:
        return "The file is the one that was certified, byte by byte."
    return "The file is not the one that was certified: its bytes differ."


def named(names: Sequence[str]) -> str:
    """Return all names, or the word none."""
    return ", ".join(names) or "none"
