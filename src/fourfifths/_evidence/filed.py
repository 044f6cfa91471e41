"""Whether what was filed is true, is as it was written, and who signed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fourfifths import datasets
from fourfifths._certify.claim import check_requirements
from fourfifths._certify.stated import read_certificate
from fourfifths._certify.verification import Verification
from fourfifths._certify.verify import verify
from fourfifths._evidence.pack import Pack, is_pack, read_pack
from fourfifths._evidence.signing import (
    FileKind,
    SignatureCheck,
    Subject,
    check_envelope,
    check_file,
    key_id,
    load_private_key,
    load_public_key,
    sign_file,
    signature_path,
)
from fourfifths._json import parse_json
from fourfifths._repair.saved import KIND, MAX_REPAIR_BYTES, load_repair
from fourfifths._results import Result
from fourfifths._tables.files import file_sha256
from fourfifths._tables.table import Table, TableLike, source_files
from fourfifths.errors import EvidenceError, OptionError

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
        Without that a file can only be intact: a forger computes the hashes again.
    certificates : mapping of str to Verification
        The certificates in the file, by name, each run again on the table. Empty if no table was
        named, or if the file itself has problems.
    """

    name: str
    problems: tuple[str, ...]
    facts: tuple[str, ...]
    is_signature_checked: bool
    certificates: Mapping[str, Verification] = field(default_factory=dict)

    _not_in_json: ClassVar[tuple[str, ...]] = ("certificates",)

    @property
    def is_intact(self) -> bool:
        """Whether the file is as it was written, and signed as required."""
        return not self.problems

    @property
    def is_verified(self) -> bool:
        """Whether it is intact, and every certificate in it is the same, and as required."""
        return self.is_intact and all(run.is_verified for run in self.certificates.values())

    def __str__(self) -> str:
        headline = f"not verified: {self.name}"
        if self.is_intact and self.is_signature_checked:
            headline = f"verified: {self.name} is as the trusted key signed it"
        elif self.is_intact:
            headline = f"intact: {self.name} is as it was written; who wrote it was not checked"
        return "\n".join(
            [
                headline,
                *(f"Different: {problem}." for problem in self.problems),
                *(f"{fact}." for fact in self.facts),
            ]
        )


def verify_file(
    path: str | PathLike[str],
    table: TableLike | None = None,
    *,
    require: Mapping[str, Any] | None = None,
    trust: str | PathLike[str] | None = None,
    hive: bool = False,
    progress: bool = True,
) -> FiledVerification:
    """Check what was filed: a certificate, a saved repair or the pack of a report.

    Parameters
    ----------
    path : path
        A certificate (.json), a saved repair (.json) or a pack (.zip).
    table : dataframe, path, str or Dataset, optional
        What it is about. Certificates, also those in a pack, are run again on it; without a table a
        pack is only compared with its manifest.
    require : mapping, optional
        What every certificate must claim, as for `verify`.
    trust : path, optional
        The public key that must have signed it.
    hive : bool
        Whether names of folders, such as ``year=2025``, are columns of the table too.
    progress : bool
        Whether to show a progress bar on a terminal or in a notebook.

    Returns
    -------
    FiledVerification

    Examples
    --------
    >>> import fourfifths, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> certificate = fourfifths.certify("ricci", auditors=["naive-bayes"])
    >>> (folder / "c.json").write_text(certificate.to_json()) > 0
    True
    >>> fourfifths.verify_file(folder / "c.json", "ricci").is_verified
    True
    """
    required = dict(require or {})
    check_requirements(required)
    trusted = None if trust is None else load_public_key(Path(trust))
    source = Path(path)
    check = check_pack if is_pack(source) else check_json
    return check(source, table, require=required, trusted=trusted, hive=hive, progress=progress)


def check_pack(
    path: Path,
    table: TableLike | None,
    *,
    require: Mapping[str, Any],
    trusted: Ed25519PublicKey | None,
    hive: bool,
    progress: bool,
) -> FiledVerification:
    """Compare a pack with its manifest, and run every certificate in it again."""
    pack = read_pack(path)
    if require and (table is None or not pack.certificates):
        remedy = "name the table too" if table is None else "this pack has none"
        raise OptionError(f"require: is about certificates of the pack; {remedy}")
    contents = {
        name: certificate_content(name, pack.certificates[name]) for name in pack.certificates
    }
    subject = None if table is None else subject_of(table)
    result = verify_pack(str(path), pack, table=subject, trusted=trusted)
    if table is None or not result.is_intact:
        return result
    return replace(
        result,
        certificates={
            name: verify(content, table, require=require, hive=hive, progress=progress)
            for name, content in contents.items()
        },
    )


def certificate_content(name: str, content: bytes) -> dict[str, Any]:
    """Return a certificate of a pack."""
    try:
        certificate = parse_json(content)
    except ValueError as error:
        raise EvidenceError(f"{name}: not JSON: {error}") from None
    if not isinstance(certificate, dict):
        raise EvidenceError(f"{name}: expected a certificate, found {type(certificate).__name__}")
    return certificate


def check_json(
    path: Path,
    table: TableLike | None,
    *,
    require: Mapping[str, Any],
    trusted: Ed25519PublicKey | None,
    hive: bool,
    progress: bool,
) -> FiledVerification:
    """Check the signature beside a certificate or a saved repair, and run a certificate again."""
    content = read_certificate(path, max_bytes=MAX_REPAIR_BYTES)
    if "payloadType" in content:
        raise EvidenceError(f"{path}: is a signature; name the file that it signs")
    is_repair = content.get("kind") == KIND
    if is_repair:
        if require:
            raise OptionError("require: is about certificates, and this is a saved repair")
        load_repair(path)
    elif table is None:
        raise OptionError(f"{path}: a certificate is checked on its table; name the table too")
    subject = None if table is None else subject_of(table)
    result = verify_signature(path, table=subject, trusted=trusted)
    if is_repair or table is None or not result.is_intact:
        return result
    rerun = verify(content, table, require=require, hive=hive, progress=progress)
    return replace(result, certificates={path.name: rerun})


def sign(
    path: str | PathLike[str],
    key: str | PathLike[str],
    *,
    table: TableLike | None = None,
) -> Path:
    """Write the signature of a certificate or a saved repair beside it.

    A pack is signed when it is written: ``report.save("report.zip", sign=key)``.

    Parameters
    ----------
    path : path
        The file to sign; its signature has the same name and ``.sig``.
    key : path
        The private key, as `make_keys` writes it.
    table : path, str or Dataset, optional
        What the file is about; the signature states its SHA-256.

    Returns
    -------
    Path
        Of the signature.
    """
    private_key = load_private_key(Path(key))
    content = read_certificate(path, max_bytes=MAX_REPAIR_BYTES)
    kind: FileKind = "repair" if content.get("kind") == KIND else "certificate"
    about = None if table is None else subject_of(table)
    return sign_file(Path(path), kind=kind, key=private_key, about=about)


def subject_of(source: TableLike) -> Subject | None:
    """Return a file or a shipped data set as what a statement or a pack is about.

    None for a table in memory: it has no bytes that could be compared.
    """
    if isinstance(source, Table):
        if source.file is None:
            return None
        name = source.file.path.name if source.dataset is None else source.dataset.name
        return Subject(name=name, sha256=file_sha256(*source.file.paths))
    if isinstance(source, datasets.Dataset):
        return Subject(name=source.name, sha256=file_sha256(source.path))
    if not isinstance(source, str | PathLike):
        return None
    # Of several files, of their bytes one after the other, as in a report's provenance.
    return Subject(name=Path(source).name, sha256=file_sha256(*source_files(source)))


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
        problems += table_problems(pack.data, table, kind="pack")
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
        signature_problems, signed = signature_findings(check, pack.data)
        problems += signature_problems
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
    problems = [] if table is None else table_problems(check.about, table, kind="signature")
    about = "" if check.about is None else f", about {check.about.name}"
    fact = f"Signature: valid, by the trusted key with the SHA-256 {check.key_id}{about}"
    return tuple(problems), () if problems else (fact,)


def table_problems(stated: Subject | None, table: Subject, *, kind: str) -> list[str]:
    """Return why a pack or a signature is not about a table; the name of the file may differ."""
    if stated is None:
        return [f"the {kind} names no table that it is about"]
    if stated.sha256 == table.sha256:
        return []
    return [
        f"the {kind} is about {stated.name} with the SHA-256 {stated.sha256}, and {table.name} has "
        f"{table.sha256}"
    ]
