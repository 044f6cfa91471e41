"""Signatures of what is filed: who wrote a file, and about which table.

A signature is a file of its own beside the one that it signs: a DSSE envelope around an in-toto
Statement (v1), signed with Ed25519, which other tools read as well. The statement has two subjects:
first the signed file, then the table that it is about, each by its SHA-256.

References
----------
in-toto Attestation Framework, Statement v1; DSSE 1.0 (Dead Simple Signing Envelope); RFC 8032.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fourfifths._json import canonical_json, parse_json
from fourfifths._tables.files import write_whole
from fourfifths.errors import EvidenceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE_ENDING = ".sig"
PUBLIC_ENDING = ".pub"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:fourfifths:signed-file:1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_ENVELOPE_BYTES = 2**20
MAX_KEY_BYTES = 2**14
MAX_SIGNATURES = 10
OTHERS_MAY_READ_OR_WRITE = 0o077
FileKind = Literal["certificate", "repair", "report", "pack manifest"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A file that a statement is about.

    Attributes
    ----------
    name : str
    sha256 : str
    """

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class SignatureCheck:
    """Whether a trusted key signed a file.

    Attributes
    ----------
    is_valid : bool
    reason : str
        Why not; empty if it is.
    key_id : str
        The SHA-256 of the trusted public key (its DER form).
    about : Subject or None
        The table that the signed file is about. None unless the signature is valid.
    """

    is_valid: bool
    reason: str
    key_id: str
    about: Subject | None = None


# --- keys ---


def make_keys(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write a new private key, which only its owner may read, and its public key; never overwrite.

    Parameters
    ----------
    path : path
        Of the private key; the public one has the same name and ``.pub``.

    Returns
    -------
    tuple of Path
        The private and the public key.
    """
    check_installed()
    path = Path(path)
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    public_path = path.with_name(path.name + PUBLIC_ENDING)
    for name in (path, public_path):
        # A link is refused too, even one to nowhere.
        if name.exists() or name.is_symlink():
            raise EvidenceError(f"{name}: exists already, and a key is never overwritten")
    private_key = ed25519.Ed25519PrivateKey.generate()
    private_text = private_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public_text = private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    for name, text, mode in ((path, private_text, 0o600), (public_path, public_text, 0o644)):
        try:
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except OSError as error:
            raise EvidenceError(f"{name}: cannot be written: {error.strerror}") from error
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
    return path, public_path


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Return a private key; one that others may read is refused, as ssh does."""
    check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    content = _key_text(path)
    if os.name == "posix":
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS_MAY_READ_OR_WRITE:
            raise EvidenceError(
                f"{path}: its mode is {mode:o}, so others can use this private key; chmod 600 "
                "the file, or make a new key if it may be known already"
            )
    try:
        key: object = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise EvidenceError(
            f"{path}: not a private key of Ed25519 in PEM without a password; 'fourfifths keygen' "
            "makes one"
        )
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Return a public key."""
    check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    content = _key_text(path)
    if b"PRIVATE KEY" in content:
        raise EvidenceError(
            f"{path}: is a private key; expected the public one, as in {path}{PUBLIC_ENDING}"
        )
    try:
        key: object = serialization.load_pem_public_key(content)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise EvidenceError(
            f"{path}: not a public key of Ed25519 in PEM, as 'fourfifths keygen' writes"
        )
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key in its DER form."""
    from cryptography.hazmat.primitives import serialization

    content = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(content).hexdigest()


# --- signing ---


def signature_path(path: Path) -> Path:
    """Return where the signature of a file is.

    Examples
    --------
    >>> print(signature_path(Path("certificate.json")))
    certificate.json.sig
    """
    return path.with_name(path.name + SIGNATURE_ENDING)


def sign_file(path: Path, *, kind: FileKind, key: Ed25519PrivateKey, about: Subject | None) -> Path:
    """Write the signature of a file beside it; return its path."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror}") from error
    signature = signature_path(path)
    envelope = envelope_of(content, name=path.name, kind=kind, key=key, about=about)
    write_whole(signature, envelope.decode("ascii"))
    return signature


def envelope_of(
    content: bytes, *, name: str, kind: FileKind, key: Ed25519PrivateKey, about: Subject | None
) -> bytes:
    """Return the signature of a file's content as an envelope; the same for the same input.

    Parameters
    ----------
    content : bytes
        Of the signed file.
    name : str
        Of the signed file.
    kind : {"certificate", "repair", "report", "pack manifest"}
    key : Ed25519PrivateKey
    about : Subject or None
        The table that it is about.
    """
    subjects = [Subject(name=name, sha256=hashlib.sha256(content).hexdigest())]
    subjects += [] if about is None else [about]
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": subject.name, "digest": {"sha256": subject.sha256}} for subject in subjects
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {"kind": kind, "fourfifths": version("fourfifths")},
    }
    payload = canonical_json(statement)
    signature = {
        "keyid": key_id(key.public_key()),
        "sig": base64.b64encode(key.sign(pre_authentication(payload))).decode("ascii"),
    }
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode("ascii"),
        "signatures": [signature],
    }
    return canonical_json(envelope) + b"\n"


def pre_authentication(payload: bytes) -> bytes:
    """Return what is signed: the payload with its type and the lengths of both (DSSE's PAE).

    Examples
    --------
    >>> pre_authentication(b"{}")
    b'DSSEv1 28 application/vnd.in-toto+json 2 {}'
    """
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


# --- checking ---


def check_file(path: Path, *, trusted: Ed25519PublicKey) -> SignatureCheck:
    """Check the signature that is beside a file."""
    signature = signature_path(path)
    try:
        with signature.open("rb") as stream:
            envelope = stream.read(MAX_ENVELOPE_BYTES + 1)
        content = path.read_bytes()
    except FileNotFoundError:
        reason = f"there is no signature {signature}"
        return SignatureCheck(is_valid=False, reason=reason, key_id=key_id(trusted))
    except OSError as error:
        raise EvidenceError(f"{signature}: cannot be read: {error.strerror}") from error
    return check_envelope(envelope, content, trusted=trusted)


def check_envelope(envelope: bytes, content: bytes, *, trusted: Ed25519PublicKey) -> SignatureCheck:
    """Check that a trusted key signed a statement whose first subject is this content.

    Nothing of the statement is looked at before its signature was found to be valid.
    """
    identifier = key_id(trusted)

    def refused(reason: str) -> SignatureCheck:
        return SignatureCheck(is_valid=False, reason=reason, key_id=identifier)

    if len(envelope) > MAX_ENVELOPE_BYTES:
        return refused("the signature is too large")
    try:
        payload, signatures = _opened_envelope(parse_json(envelope))
    except (ValueError, TypeError, KeyError):
        return refused("the signature is not a DSSE envelope of an in-toto statement")
    if not any(_is_signed(trusted, payload, signature) for signature in signatures):
        return refused("the trusted key did not sign this: another key did, or it was changed")
    try:
        subjects = _subjects(parse_json(payload))
    except (ValueError, TypeError, KeyError):
        return refused("the trusted key signed something that fourfifths did not write")
    if subjects[0].sha256 != hashlib.sha256(content).hexdigest():
        return refused("the signature belongs to another file, or the file was changed")
    about = subjects[1] if len(subjects) > 1 else None
    return SignatureCheck(is_valid=True, reason="", key_id=identifier, about=about)


def _opened_envelope(envelope: Any) -> tuple[bytes, list[bytes]]:
    if {*envelope} != {"payloadType", "payload", "signatures"}:
        raise ValueError("not the entries of an envelope")
    signatures = envelope["signatures"]
    if envelope["payloadType"] != PAYLOAD_TYPE or not isinstance(signatures, list):
        raise ValueError("not an in-toto statement")
    if len(signatures) > MAX_SIGNATURES:
        raise ValueError("too many signatures")
    payload = base64.b64decode(envelope["payload"], validate=True)
    return payload, [base64.b64decode(entry["sig"], validate=True) for entry in signatures]


def _is_signed(trusted: Ed25519PublicKey, payload: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        trusted.verify(signature, pre_authentication(payload))
    except InvalidSignature:
        return False
    return True


def _subjects(statement: Any) -> list[Subject]:
    if statement["_type"] != STATEMENT_TYPE or statement["predicateType"] != PREDICATE_TYPE:
        raise ValueError("not our statement")
    subjects = [
        Subject(name=subject["name"], sha256=subject["digest"]["sha256"])
        for subject in statement["subject"]
    ]
    if not 1 <= len(subjects) <= 2:
        raise ValueError("not a file, and what it is about")
    return subjects


def check_installed() -> None:
    """Raise, with how to install it, unless the optional package `cryptography` is there."""
    if find_spec("cryptography") is None:
        raise EvidenceError(
            "signatures need the package cryptography, which is not installed; pip install "
            "'fourfifths[sign]'"
        )


def _key_text(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_KEY_BYTES)
    except FileNotFoundError:
        raise EvidenceError(f"{path}: no such file; make_keys makes a pair of keys") from None
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror}") from error
