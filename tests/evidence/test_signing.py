"""Signatures: valid for the signed file and the trusted key, and for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fourfifths._evidence.signing import (
    Subject,
    check_envelope,
    check_file,
    envelope_of,
    key_id,
    load_private_key,
    load_public_key,
    make_keys,
    pre_authentication,
    sign_file,
)
from fourfifths.errors import EvidenceError

CONTENT = b'{"verdict": "certified"}'
TABLE = Subject(name="loans.csv", sha256="ab" * 32)
# RFC 8032, section 7.1, test 2.
SECRET = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
PUBLIC = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
KEY = Ed25519PrivateKey.from_private_bytes(SECRET)
TRUSTED = KEY.public_key()
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))


def envelope(key: Ed25519PrivateKey = KEY, about: Subject | None = TABLE) -> dict[str, Any]:
    signed = envelope_of(CONTENT, name="c.json", kind="certificate", key=key, about=about)
    document: dict[str, Any] = json.loads(signed)
    return document


def reason(document: Any, content: bytes = CONTENT) -> str:
    check = check_envelope(json.dumps(document).encode(), content, trusted=TRUSTED)
    assert check.is_valid == (check.reason == "")
    return check.reason


def statement(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.b64decode(document["payload"]))
    return found


def signed_by_hand(content: Any, key: Ed25519PrivateKey = KEY) -> dict[str, Any]:
    """Return an envelope as the DSSE specification describes it."""
    payload = content if isinstance(content, bytes) else json.dumps(content).encode()
    kind = b"application/vnd.in-toto+json"
    message = b" ".join(
        [b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload]
    )
    return {
        "payloadType": kind.decode(),
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"sig": base64.b64encode(key.sign(message)).decode()}],
    }


def test_a_statement_is_laid_out_as_in_toto_says() -> None:
    found = statement(envelope())
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["subject"] == [
        {"name": "c.json", "digest": {"sha256": hashlib.sha256(CONTENT).hexdigest()}},
        {"name": "loans.csv", "digest": {"sha256": "ab" * 32}},
    ]
    assert found["predicate"]["kind"] == "certificate"


def test_the_key_and_what_is_signed_by_hand() -> None:
    raw = TRUSTED.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    assert raw.hex() == PUBLIC
    # RFC 8410: the DER form of an Ed25519 key is these 12 bytes and the key.
    der = bytes.fromhex("302a300506032b6570032100" + PUBLIC)
    assert (
        envelope()["signatures"][0]["keyid"] == hashlib.sha256(der).hexdigest() == key_id(TRUSTED)
    )
    # The example of the DSSE specification has another type: 29 letters.
    assert pre_authentication(b"hello") == b"DSSEv1 28 application/vnd.in-toto+json 5 hello"


def test_a_signature_is_valid_and_the_same_each_time() -> None:
    assert envelope() == envelope()
    check = check_envelope(json.dumps(envelope()).encode(), CONTENT, trusted=TRUSTED)
    assert (check.is_valid, check.reason, check.about) == (True, "", TABLE)
    assert reason(signed_by_hand(statement(envelope()))) == ""


def test_a_signature_of_another_key_is_not_valid() -> None:
    forged = envelope(OTHER)
    assert reason(forged).startswith("the trusted key did not sign this")
    # A forger may name the trusted key.
    forged["signatures"][0]["keyid"] = key_id(TRUSTED)
    assert reason(forged).startswith("the trusted key did not sign this")


def test_one_of_several_signatures_is_enough() -> None:
    several = envelope(OTHER)
    several["signatures"] += envelope()["signatures"]
    assert reason(several) == ""


def test_every_changed_byte_of_the_payload_is_noticed() -> None:
    document = envelope()
    payload = base64.b64decode(document["payload"])
    for place in range(len(payload)):
        changed = bytearray(payload)
        changed[place] ^= 1
        forged = document | {"payload": base64.b64encode(changed).decode()}
        assert reason(forged).startswith("the trusted key did not sign this"), place


def test_every_changed_byte_of_the_signature_is_noticed() -> None:
    document = envelope()
    signature = base64.b64decode(document["signatures"][0]["sig"])
    for place in range(len(signature)):
        changed = bytearray(signature)
        changed[place] ^= 1
        forged = document | {"signatures": [{"sig": base64.b64encode(changed).decode()}]}
        assert reason(forged).startswith("the trusted key did not sign this"), place


def test_a_changed_file_is_noticed() -> None:
    assert reason(envelope(), CONTENT + b" ").startswith("the signature belongs to another file")
    # What it is about is not what it signs.
    table = b"sex,approved\n"
    about = Subject(name="t.csv", sha256=hashlib.sha256(table).hexdigest())
    assert reason(envelope(about=about), table).startswith("the signature belongs to another file")


@pytest.mark.parametrize(
    "change",
    [
        {"payloadType": "application/json"},
        {"payload": "not base64!"},
        {"payload": 5},
        {"signatures": []},
        {"signatures": {}},
        {"signatures": [{}]},
        {"signatures": [None]},
        {"signatures": [{"sig": "AA=="}] * 11},
        {"signatures": [{"sig": "AA=="}]},
        {"more": 1},
    ],
    ids=str,
)
def test_what_is_no_envelope_is_refused(change: dict[str, Any]) -> None:
    assert "signature" in reason(envelope() | change) or "did not sign" in reason(
        envelope() | change
    )


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"5", b"null", b'"x"', b"[" * 10**6, b"{}" * 2**20]
)
def test_bytes_that_are_no_envelope_are_refused(content: bytes) -> None:
    check = check_envelope(content, CONTENT, trusted=TRUSTED)
    assert not check.is_valid
    assert "signature" in check.reason


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v1"},
        {"subject": []},
        {"subject": None},
        {"subject": [{"name": "c.json"}]},
        {"subject": [{"name": "c.json", "digest": {"sha256": "00"}}] * 3},
    ],
    ids=str,
)
def test_what_the_key_signed_elsewhere_is_not_of_fourfifths(change: dict[str, Any]) -> None:
    forged = signed_by_hand(statement(envelope()) | change)
    assert reason(forged) == "the trusted key signed something that fourfifths did not write"


# --- keys and files ---


def test_keys_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        private, public = make_keys(tmp_path / "auditor")
    finally:
        os.umask(old_mask)
    assert (private.name, public.name) == ("auditor", "auditor.pub")
    assert private.stat().st_mode & 0o777 == 0o600
    assert key_id(load_private_key(private).public_key()) == key_id(load_public_key(public))
    before = private.read_bytes()
    with pytest.raises(EvidenceError, match="exists already, and a key is never overwritten"):
        make_keys(tmp_path / "auditor")
    private.unlink()
    with pytest.raises(EvidenceError, match=r"auditor\.pub: exists already"):
        make_keys(tmp_path / "auditor")
    assert not private.exists()
    assert before.startswith(b"-----BEGIN PRIVATE KEY-----")


def test_a_link_is_not_followed_when_keys_are_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EvidenceError, match="exists already"):
        make_keys(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_private_key_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    private, _ = make_keys(tmp_path / "k")
    private.chmod(mode)
    with pytest.raises(EvidenceError, match=f"its mode is {mode:o}, so others can use .*chmod 600"):
        load_private_key(private)


@pytest.mark.parametrize("content", [b"", b"not a key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_what_is_no_private_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "k").write_bytes(content)
    (tmp_path / "k").chmod(0o600)
    with pytest.raises(EvidenceError, match="not a private key of Ed25519"):
        load_private_key(tmp_path / "k")


def test_keys_of_other_kinds_are_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    (tmp_path / "k").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (tmp_path / "k").chmod(0o600)
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    (tmp_path / "k.pub").write_bytes(key.public_key().public_bytes(pem, info))
    with pytest.raises(EvidenceError, match="not a private key of Ed25519"):
        load_private_key(tmp_path / "k")
    with pytest.raises(EvidenceError, match="not a public key of Ed25519"):
        load_public_key(tmp_path / "k.pub")


def test_the_private_key_is_not_what_others_trust(tmp_path: Path) -> None:
    private, _ = make_keys(tmp_path / "k")
    with pytest.raises(
        EvidenceError, match=r"is a private key; expected the public one, as in .*\.pub"
    ):
        load_public_key(private)
    with pytest.raises(EvidenceError, match="no such file; make_keys makes a pair of keys"):
        load_public_key(tmp_path / "none.pub")


def test_a_file_is_signed_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(CONTENT)
    assert check_file(path, trusted=TRUSTED).reason.startswith("there is no signature")
    assert sign_file(path, kind="certificate", key=KEY, about=TABLE) == tmp_path / "c.json.sig"
    assert check_file(path, trusted=TRUSTED).is_valid
    path.write_bytes(CONTENT.replace(b"certified", b"Certified"))
    assert not check_file(path, trusted=TRUSTED).is_valid


def test_without_the_extra_the_error_names_it() -> None:
    program = (
        "import sys; sys.modules['cryptography'] = None\n"
        "sys.argv = ['fourfifths', 'keygen', 'k']\n"
        "from fourfifths._cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "fourfifths: signatures need the package cryptography, which is not installed; pip install "
        "'fourfifths[sign]'\n"
    )
    assert not Path("k").exists()
