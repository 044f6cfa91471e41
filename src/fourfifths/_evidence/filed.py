"""Whether a filed document is what it was when it was written, and who signed it.

Certificates are run again by `fourfifths.verify`; here is what concerns the files themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fourfifths import datasets
from fourfifths._evidence.pack import Pack
from fourfifths._evidence.signing import (
    SignatureCheck,
    Subject,
    check_envelope,
    check_file,
    key_id,
    signature_path,
)
from fourfifths._results import Result
from fourfifths._tables.files import file_sha256

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

NOT_CHECKED = "Signature: there is one, which was not checked; name the key that is trusted"
NO_SIGNATURE = "Signature: none; who wrote this is not known"


@dataclass(frozen=True, kw_only=True, repr=False)
class FiledVerification(Result):
    """Whether a file is as it was written.

    Attributes
    ----------
    name : str
    problems : tuple of str
        What is not as it was written, or not by whom it should be.
    facts : tuple of str
        What the file is and states, in sentences.
    is_signature_checked : bool
        Without that a file can only be intact: a forger computes the hashes anew.
    """

    name: str
    problems: tuple[str, ...]
    facts: tuple[str, ...]
    is_signature_checked: bool

    @property
    def is_verified(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def __str__(self) -> str:
        headline = f"not verified: {self.name}"
        if self.is_verified and self.is_signature_checked:
            headline = f"verified: {self.name} is as the trusted key signed it"
        elif self.is_verified:
            headline = f"intact: {self.name} is as it was written, by whomever"
        return "\n".join(
            [
                headline,
                *(f"Different: {problem}." for problem in self.problems),
                *(f"{fact}." for fact in self.facts),
            ]
        )


def subject_of(source: str) -> Subject:
    """Return a file or a shipped data set as what a statement or a pack is about."""
    if "." not in source and source in datasets.names():
        return Subject(name=source, sha256=file_sha256(datasets.load(source).path))
    return Subject(name=Path(source).name, sha256=file_sha256(source))


def verify_signature(
    path: Path, *, table: Subject | None, trusted: Ed25519PublicKey | None
) -> FiledVerification:
    """Check the signature beside a file.

    Parameters
    ----------
    path : Path
        The signed file.
    table : Subject or None
        What it should be about. None if that is not asked.
    trusted : Ed25519PublicKey or None
        None if no signature is asked for.
    """
    if trusted is None:
        has_signature = signature_path(path).exists()
        fact = NOT_CHECKED if has_signature else NO_SIGNATURE
        return FiledVerification(
            name=str(path), problems=(), facts=(fact,), is_signature_checked=False
        )
    problems, facts = signature_findings(check_file(path, trusted=trusted), table)
    return FiledVerification(
        name=str(path), problems=problems, facts=facts, is_signature_checked=True
    )


def verify_pack(
    name: str, pack: Pack, *, table: Subject | None, trusted: Ed25519PublicKey | None
) -> FiledVerification:
    """Say whether a pack is as its manifest says, about this table, and signed.

    Parameters
    ----------
    name : str
        Of the pack.
    pack : Pack
    table, trusted : optional
        As for `verify_signature`.
    """
    problems = list(pack.problems)
    if table is not None:
        problems += table_problems(pack.data, table, what="pack")
    versions = ", ".join(f"{package} {version}" for package, version in pack.environment.items())
    facts = [f"Files: {', '.join(sorted(pack.files)) or 'none'}"]
    facts.append(f"Command: {pack.command}")
    facts.append(f"Environment: {versions}")
    if pack.data is not None:
        compared = ", not compared" if table is None else ""
        facts.append(f"About: {pack.data.name}, SHA-256 {pack.data.sha256}{compared}")
    if not pack.is_as_written:
        facts.append("The files were zipped again after the pack was written")
    if trusted is None:
        facts.append(NO_SIGNATURE if pack.signature is None else NOT_CHECKED)
    else:
        check = SignatureCheck(
            is_valid=False, reason="the pack is not signed", key_id=key_id(trusted)
        )
        if pack.signature is not None:
            check = check_envelope(pack.signature, pack.manifest, trusted=trusted)
        found, signed = signature_findings(check, pack.data)
        problems += found
        facts += signed
    return FiledVerification(
        name=name,
        problems=tuple(problems),
        facts=tuple(facts),
        is_signature_checked=trusted is not None,
    )


def signature_findings(
    check: SignatureCheck, table: Subject | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is wrong with a signature, and otherwise what it says."""
    if not check.is_valid:
        return (check.reason,), ()
    problems = [] if table is None else table_problems(check.about, table, what="signature")
    about = "" if check.about is None else f", about {check.about.name}"
    fact = f"Signature: valid, by the trusted key with the SHA-256 {check.key_id}{about}"
    return tuple(problems), () if problems else (fact,)


def table_problems(stated: Subject | None, table: Subject, *, what: str) -> list[str]:
    """Return why a pack or a signature is not about a table; the name of the file may differ."""
    if stated is None:
        return [f"the {what} names no table that it is about"]
    if stated.sha256 == table.sha256:
        return []
    return [
        f"the {what} is about {stated.name} with the SHA-256 {stated.sha256}, and {table.name} has "
        f"{table.sha256}"
    ]
