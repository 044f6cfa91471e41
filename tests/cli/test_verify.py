"""`fourfifths verify` and `fourfifths keygen` at the shell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fourfifths import Repairer
from fourfifths._cli.verify import requirements
from fourfifths._evidence.filed import subject_of
from fourfifths._evidence.pack import write_pack
from fourfifths._evidence.signing import load_private_key
from fourfifths._json import sealed
from fourfifths.errors import OptionError

QUICK = ("--auditor", "naive-bayes", "--folds", "3")
Shell = Callable[..., Any]
MADE: dict[str, bytes] = {}


@pytest.fixture
def filed(shell: Shell) -> Shell:
    """Put a table, a pair of keys and a signed certificate into the folder of the shell."""
    if not MADE:
        make_files(shell)
        MADE.update({path.name: path.read_bytes() for path in Path().iterdir()})
    for name, content in MADE.items():
        Path(name).write_bytes(content)
    Path("k").chmod(0o600)
    return shell


def make_files(shell: Shell) -> None:
    random = np.random.default_rng(0)
    group = np.repeat(["A", "B"], 60)
    table = pd.DataFrame({"group": group, "score": random.normal(size=120).round(3)})
    table["hired"] = np.where(np.arange(120) % 2, "yes", "no")
    table.to_csv("people.csv", index=False)
    shell("keygen", "k")
    roles = ("--protected", "group", "--outcome", "hired")
    answer = shell("certify", "people.csv", *roles, *QUICK, "--out", "c.json", "--sign", "k")
    assert answer.err == "wrote c.json\nwrote c.json.sig\n"


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.slow
def test_a_signed_certificate_is_verified(filed: Shell) -> None:
    answer = filed("verify", "c.json", "people.csv", "--trust", "k.pub")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("verified: the same data, the same certificate")
    assert "Signature: valid, by the trusted key" in words(answer.out)
    assert "about people.csv" in words(answer.out)
    unchecked = filed("verify", "c.json", "people.csv")
    assert "there is one, which was not checked" in words(unchecked.out)


def test_no_line_is_longer_than_the_terminal(filed: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = filed("verify", "c.json", "people.csv", "--trust", "k.pub")
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.slow
def test_a_policy_is_the_verifiers(filed: Shell) -> None:
    met = "threshold=0.8,confidence=0.95,rows=all,features=all,file=same,auditors=naive-bayes"
    assert filed("verify", "c.json", "people.csv", "--require", met).code == 0
    answer = filed("verify", "c.json", "people.csv", "--require", "threshold=0.8,auditors=all")
    assert answer.code == 1
    assert answer.out.startswith("not verified: the same data, the same certificate")
    assert "auditors: 'logistic', 'svm', 'trees'" in words(answer.out)


def test_a_forger_who_computes_the_hash_anew_has_no_signature(filed: Shell) -> None:
    forged = json.loads(Path("c.json").read_text())
    forged["provenance"]["date"] = "2020-01-01 00:00 UTC"
    Path("c.json").write_text(json.dumps(sealed(forged)))
    assert filed("verify", "c.json", "people.csv").code == 0
    answer = filed("verify", "c.json", "people.csv", "--trust", "k.pub")
    assert answer.code == 1
    assert answer.out.startswith("not verified: c.json")
    assert "the signature belongs to another file, or the file was changed" in words(answer.out)


@pytest.mark.parametrize("field", ["command", "date", "version", "file", "sha256"])
def test_a_changed_provenance_is_noticed(filed: Shell, field: str) -> None:
    changed = json.loads(Path("c.json").read_text())
    changed["provenance"][field] += "!"
    Path("c.json").write_text(json.dumps(changed))
    answer = filed("verify", "c.json", "people.csv")
    assert answer.code == 1
    assert "the certificate was changed after it was written" in words(answer.out)


def test_another_key_another_table_and_no_signature(filed: Shell) -> None:
    filed("keygen", "other")
    answer = filed("verify", "c.json", "people.csv", "--trust", "other.pub")
    assert (answer.code, "did not sign this" in answer.out) == (1, True)
    table = pd.read_csv("people.csv")
    table.to_parquet("people.parquet")
    # The same rows, and so the same certificate; but the signature belongs to another file.
    assert filed("verify", "c.json", "people.parquet").code == 0
    answer = filed("verify", "c.json", "people.parquet", "--trust", "k.pub")
    assert answer.code == 1
    assert "the signature is about people.csv with the SHA-256" in words(answer.out)
    Path("c.json.sig").unlink()
    answer = filed("verify", "c.json", "people.csv", "--trust", "k.pub")
    assert (answer.code, "there is no signature c.json.sig" in answer.out) == (1, True)


@pytest.mark.slow
def test_a_pack_and_the_certificate_in_it(filed: Shell) -> None:
    files = {"certificate.json": Path("c.json").read_bytes(), "report.html": b"<p>"}
    key = load_private_key(Path("k"))
    data = subject_of("people.csv")
    write_pack(Path("p.zip"), files, command="fourfifths report", data=data, key=key)
    answer = filed("verify", "p.zip")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("intact: p.zip is as it was written; who wrote it was not checked")
    answer = filed("verify", "p.zip", "people.csv", "--trust", "k.pub", "--require", "rows=all")
    assert answer.code == 0
    assert answer.out.startswith("verified: p.zip is as the trusted key signed it")
    assert "verified: the same data, the same certificate" in answer.out
    assert filed("verify", "p.zip", "people.csv", "--require", "auditors=all").code == 1
    answer = filed("verify", "p.zip", "ricci")
    assert answer.code == 1
    assert "the pack is about people.csv with the SHA-256" in words(answer.out)
    filed("keygen", "other")
    assert filed("verify", "p.zip", "--trust", "other.pub").code == 1
    write_pack(Path("p.zip"), files, command="fourfifths report", data=data)
    answer = filed("verify", "p.zip", "--trust", "k.pub")
    assert (answer.code, "the pack is not signed" in answer.out) == (1, True)


def test_a_saved_repair(filed: Shell) -> None:
    repairer = Repairer("group", columns=["score"], scope="column")
    repairer.fit(pd.read_csv("people.csv")).save("r.json")
    answer = filed("verify", "r.json")
    assert answer.code == 0
    assert answer.out.startswith("intact: r.json is as it was written")
    assert filed("verify", "r.json", "--trust", "k.pub").code == 1
    answer = filed("verify", "r.json", "--require", "threshold=0.8")
    assert answer.err.startswith("fourfifths: --require: is about certificates")
    document = json.loads(Path("r.json").read_text())
    document["columns"][0]["consensus"][-1] += 1
    Path("r.json").write_text(json.dumps(document))
    answer = filed("verify", "r.json")
    assert answer.code == 2
    assert "content_sha256: expected the SHA-256 of the content" in answer.err


def test_a_repair_is_signed_when_it_is_saved(filed: Shell) -> None:
    roles = ("--protected", "group", "--columns", "score", "--scope", "column", "--effect", "none")
    answer = filed("repair", "people.csv", "o.csv", *roles, "--save", "r.json", "--sign", "k")
    assert answer.err == "wrote o.csv\nwrote r.json\nwrote r.json.sig\n"
    answer = filed("verify", "r.json", "people.csv", "--trust", "k.pub")
    assert (answer.code, answer.out.startswith("verified: r.json")) == (0, True)
    assert filed("verify", "r.json", "o.csv", "--trust", "k.pub").code == 1
    answer = filed("repair", "people.csv", "o.csv", *roles, "--sign", "k")
    assert answer.err.startswith("fourfifths: --sign k: signs a saved repair; name it: --save")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c.json"], "c.json: a certificate is checked on its table; name the table too"),
        (["none.json", "people.csv"], "none.json: no such file"),
        (["c.json", "none.csv"], "none.csv: cannot be read: No such file"),
        (["c.json.sig", "people.csv"], "c.json.sig: is a signature; name the file that it signs"),
        (["people.csv", "people.csv"], "people.csv: not JSON"),
        (["k", "people.csv"], "k: not JSON"),
        ([".", "people.csv"], ".: cannot be read: Is a directory"),
        (["c.json", "people.csv", "--trust", "k"], "k: is a private key; expected the public one"),
        (["c.json", "people.csv", "--trust", "x.pub"], "x.pub: no such file; 'fourfifths keygen'"),
        (["c.json", "people.csv", "--trust", "c.json"], "c.json: not a public key of Ed25519"),
        (["c.json", "people.csv", "--require", "x"], "--require x: expected NAME=V,NAME=V"),
        (["c.json", "people.csv", "--require", ""], "--require : expected NAME=V,NAME=V"),
        (["c.json", "people.csv", "--require", "a=1,a=1"], "--require a=1,a=1: a occurs twice"),
        (
            ["c.json", "people.csv", "--require", "color=red"],
            "--require: 'color' cannot be required",
        ),
        (
            ["c.json", "people.csv", "--require", "threshold=-1"],
            "--require: threshold=-1: expected a number above 0 and up to 1",
        ),
        (
            ["c.json", "people.csv", "--require", "auditors=nobody"],
            "--require: auditors=['nobody']: expected 'all', or a list of logistic",
        ),
    ],
)
def test_what_cannot_be_checked_is_one_line(
    filed: Shell, arguments: list[str], message: str
) -> None:
    answer = filed("verify", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert re.fullmatch(rf"fourfifths: {re.escape(message)}.*\n", answer.err)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 10**6, "not JSON: lists or objects are nested more than 100 deep"),
        (b'{"a": 1, "a": 2}', "not JSON: the key 'a' occurs twice"),
        (b"PK\x03\x04 and no more", "not a pack of fourfifths: too short for a zip file"),
        (b"PK\x03\x04" + b"x" * 99, "not a pack of fourfifths: it is cut off"),
        (b"null", "expected a certificate, found NoneType"),
        (b"{}", "certificate: its schema is None"),
        (b"", "not JSON"),
    ],
)
def test_hostile_files_are_one_line(shell: Shell, content: bytes, message: str) -> None:
    Path("x").write_bytes(content)
    answer = shell("verify", "x", "ricci")
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_keys_that_others_may_read_and_outputs_that_cannot_be_signed(filed: Shell) -> None:
    arguments = ("certify", "people.csv", "--protected", "group", "--outcome", "hired", *QUICK)
    Path("k").chmod(0o644)
    answer = filed(*arguments, "--out", "d.json", "--sign", "k")
    assert answer.err.startswith("fourfifths: k: its mode is 644, so others can use this private")
    assert not Path("d.json").exists()
    for options in ((), ("--out", "d.md"), ("--format", "json")):
        answer = filed(*arguments, *options, "--sign", "k")
        assert answer.err.startswith("fourfifths: --sign k: signs a certificate in JSON; name it")
    answer = filed(*arguments, "--out", "k.json", "--sign", "k.json")
    assert "is the name of a file that is written" in answer.err
    assert filed("keygen", "k").err.startswith("fourfifths: k: exists already")


def test_requirements_are_read_as_the_library_takes_them() -> None:
    assert requirements(None) == {}
    assert requirements("threshold=0.8, rows=1000,features=a+b,auditors=all,verdict=certified") == {
        "threshold": 0.8,
        "rows": 1000,
        "features": ["a", "b"],
        "auditors": "all",
        "verdict": "certified",
    }
    with pytest.raises(OptionError, match="expected NAME=V,NAME=V"):
        requirements("threshold=")
