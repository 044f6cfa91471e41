"""`fourfifths verify` and `fourfifths keygen`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourfifths._cli.options import Format, check_writable, shell_document, show
from fourfifths.errors import EvidenceError, OptionError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from fourfifths._evidence.signing import Subject

NOT_VERIFIED = 1  # the exit code


def verify(
    evidence: Annotated[
        Path,
        typer.Argument(
            metavar="EVIDENCE",
            help="A certificate (.json), a saved repair (.json) or the pack of a report (.zip).",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|DATASET",
            help="The table that it is about. A certificate needs it.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=V,...",
            help="What the claim must be, whatever the certificate's settings are: "
            "verdict=certified, threshold=N or more, confidence=N or more, beta=N or less, "
            "auditors=all or A+B, features=all or A+B, rows=all or N, file=same.",
        ),
    ] = None,
    trust: Annotated[
        Path | None,
        typer.Option(metavar="PUBKEY", help="The public key that must have signed it."),
    ] = None,
) -> None:
    """Check what was filed: run a certificate again, compare a pack with its manifest.

    The exit code is 0 if it is verified, 1 if not, and 2 if it cannot be checked.
    """
    from fourfifths._evidence.filed import subject_of
    from fourfifths._evidence.pack import is_pack

    required = requirements(require)
    trusted = None
    if trust is not None:
        from fourfifths._evidence.signing import load_public_key

        trusted = load_public_key(trust)
    check = pack_is_verified if is_pack(evidence) else json_is_verified
    table = None if source is None else subject_of(source)
    is_verified = check(evidence, source, table=table, required=required, trusted=trusted)
    raise typer.Exit(0 if is_verified else NOT_VERIFIED)


def pack_is_verified(
    path: Path,
    source: str | None,
    *,
    table: Subject | None,
    required: dict[str, Any],
    trusted: Ed25519PublicKey | None,
) -> bool:
    """Compare a pack with its manifest, and run the certificate in it again."""
    from fourfifths._evidence.filed import verify_pack
    from fourfifths._evidence.pack import CERTIFICATE, read_pack
    from fourfifths._json import parse_json

    pack = read_pack(path)
    certificate = pack.files.get(CERTIFICATE)
    if required and (source is None or certificate is None):
        remedy = "name the table too" if source is None else "this pack has none"
        raise OptionError(f"--require: is about the pack's {CERTIFICATE}, run again; {remedy}")
    result = verify_pack(str(path), pack, table=table, trusted=trusted)
    show(result, Format.TABLE)
    if not result.is_verified or source is None or certificate is None:
        return result.is_verified
    try:
        content = parse_json(certificate)
    except ValueError as error:
        raise EvidenceError(f"{path}: {CERTIFICATE}: not JSON: {error}") from None
    return certificate_is_verified(content, source, required=required)


def json_is_verified(
    path: Path,
    source: str | None,
    *,
    table: Subject | None,
    required: dict[str, Any],
    trusted: Ed25519PublicKey | None,
) -> bool:
    """Check a certificate or a saved repair, and the signature beside it."""
    from fourfifths._certify.stated import read_certificate
    from fourfifths._evidence.filed import verify_signature
    from fourfifths._repair.saved import KIND, MAX_REPAIR_BYTES, load_repair

    content = read_certificate(path, max_bytes=MAX_REPAIR_BYTES)
    if "payloadType" in content:
        raise EvidenceError(f"{path}: is a signature; name the file that it signs")
    is_repair = content.get("kind") == KIND
    if is_repair:
        if required:
            raise OptionError("--require: is about certificates, and this is a saved repair")
        load_repair(path)
    elif source is None:
        raise OptionError(
            f"{path}: a certificate is run again on its table; name that too, as in fourfifths "
            "verify c.json loans.csv"
        )
    signature = verify_signature(path, table=table, trusted=trusted)
    if is_repair or not signature.is_verified:
        show(signature, Format.TABLE)
        return signature.is_verified
    return certificate_is_verified(content, str(source), required=required, facts=signature.facts)


def certificate_is_verified(
    content: Any, source: str, *, required: dict[str, Any], facts: Sequence[str] = ()
) -> bool:
    """Run a certificate again and show what comes of it, with facts about its file."""
    from fourfifths._certify.verify import verify as run
    from fourfifths._report import print_document

    if not isinstance(content, dict):
        raise EvidenceError(f"expected a certificate, found {type(content).__name__}")
    result = run(content, source, require=required)
    page = shell_document(result)
    signed = tuple(f"{fact}." for fact in facts)
    print_document(replace(page, closing=(*signed, *page.closing)), sys.stdout)
    return result.is_verified


def requirements(text: str | None) -> dict[str, Any]:
    """Read NAME=V,NAME=V; a list of names is A+B.

    Examples
    --------
    >>> requirements("threshold=0.8,auditors=trees+forest,rows=all")
    {'threshold': 0.8, 'auditors': ['trees', 'forest'], 'rows': 'all'}
    """
    required: dict[str, Any] = {}
    for pair in (text or "").split(",") if text is not None else ():
        name, equals, value = pair.strip().partition("=")
        if not name or not equals or not value:
            raise OptionError(f"--require {text}: expected NAME=V,NAME=V, as in threshold=0.8")
        if name in required:
            raise OptionError(f"--require {text}: {name} is there twice")
        required[name] = required_value(name, value)
    return required


def required_value(name: str, value: str) -> Any:
    """Return a required value as the library takes it."""
    if name in ("auditors", "features") and value != "all":
        return value.split("+")
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def keygen(
    path: Annotated[
        Path,
        typer.Argument(metavar="KEY", help="The private key to write; KEY.pub is the public one."),
    ],
) -> None:
    """Make a pair of keys that sign certificates and reports, and verify them.

    Keep KEY secret: who has it can sign in your name. Give KEY.pub to those who verify.
    """
    from fourfifths._evidence.signing import key_id, load_public_key, make_keys

    check_writable("KEY", path)
    private, public = make_keys(path)
    typer.echo(f"wrote {private} (private: keep it secret) and {public} (public)")
    typer.echo(f"SHA-256 of the public key: {key_id(load_public_key(public))}")
