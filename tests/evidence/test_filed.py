"""What was filed: packs with several certificates, and signatures, in Python."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._evidence.filed import subject_of
from fourfifths._evidence.pack import write_pack
from fourfifths._evidence.report import Part, Report
from fourfifths._json import sealed
from fourfifths.errors import OptionError

QUICK = {"auditors": ["naive-bayes"], "folds": 3, "leaks": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table, a pair of keys and a certificate for each of two columns."""
    path = tmp_path_factory.mktemp("filed")
    random = np.random.default_rng(0)
    table = pd.DataFrame({"sex": ["F", "M"] * 60, "race": ["A", "A", "B"] * 40})
    table["score"] = random.normal(size=120).round(3)
    table["hired"] = np.where(np.arange(120) % 5 < 3, "yes", "no")
    table.to_csv(path / "people.csv", index=False)
    for number, column in enumerate(("sex", "race"), start=1):
        certificate = fourfifths.certify(
            path / "people.csv", protected=column, outcome="hired", columns=["score"], **QUICK
        )
        (path / f"certificate-{number}.json").write_text(certificate.to_json())
    fourfifths.make_keys(path / "key")
    return path


def packed(folder, **changes):
    """Return the path of a pack of both certificates, some of them with changed fields."""
    files = {}
    for number in (1, 2):
        content = json.loads((folder / f"certificate-{number}.json").read_text())
        fields = changes.get(f"certificate_{number}", {})
        files[f"certificate-{number}.json"] = json.dumps(sealed(content | fields)).encode()
    path = folder / "pack.zip"
    write_pack(path, files, command="", data=subject_of(folder / "people.csv"))
    return path


def test_every_certificate_of_a_pack_is_run_again(folder):
    result = fourfifths.verify_file(packed(folder), folder / "people.csv")
    assert result.is_verified
    assert [*result.certificates] == ["certificate-1.json", "certificate-2.json"]
    assert result.certificates["certificate-2.json"].claim.protected == ("race",)


@pytest.mark.parametrize("number", [1, 2])
def test_a_forged_certificate_of_a_pack_is_noticed(folder, number):
    # Its hash and the manifest are computed anew, as a forger would.
    pack = packed(folder, **{f"certificate_{number}": {"rows": 10_000}})
    result = fourfifths.verify_file(pack, folder / "people.csv")
    assert result.is_intact
    assert not result.is_verified
    runs = result.certificates
    assert [name for name, run in runs.items() if not run.is_verified] == [
        f"certificate-{number}.json"
    ]


def test_requirements_hold_for_every_certificate(folder):
    result = fourfifths.verify_file(
        packed(folder), folder / "people.csv", require={"auditors": "all"}
    )
    assert not result.is_verified
    assert all("auditors:" in run.unmet[0] for run in result.certificates.values())


def test_a_pack_without_its_table_is_only_compared_with_its_manifest(folder):
    result = fourfifths.verify_file(packed(folder))
    assert result.is_verified
    assert not result.certificates
    with pytest.raises(OptionError, match="require: is about certificates of the pack"):
        fourfifths.verify_file(packed(folder), require={"threshold": 0.8})


def test_a_signature_in_python(folder):
    path = folder / "certificate-1.json"
    signature = fourfifths.sign(path, folder / "key", table=folder / "people.csv")
    assert signature.name == "certificate-1.json.sig"
    result = fourfifths.verify_file(path, folder / "people.csv", trust=folder / "key.pub")
    assert result.is_verified
    assert result.is_signature_checked
    fourfifths.make_keys(folder / "other")
    result = fourfifths.verify_file(path, folder / "people.csv", trust=folder / "other.pub")
    assert not result.is_verified
    assert "the trusted key did not sign this" in result.problems[0]


def test_a_table_in_memory_has_no_bytes_to_compare(folder):
    table = pd.read_csv(folder / "people.csv")
    assert subject_of(table) is None
    assert fourfifths.verify_file(packed(folder), table).is_verified


def test_a_table_in_several_files_has_one_hash(folder):
    table = pd.read_csv(folder / "people.csv")
    parts = folder / "parts"
    parts.mkdir()
    table[:50].to_parquet(parts / "a.parquet")
    table[50:].to_parquet(parts / "b.parquet")
    whole = subject_of(parts)
    assert whole is not None
    assert whole.name == "parts"
    assert whole == subject_of(str(parts))
    assert (
        whole.sha256
        == fourfifths.report(parts, protected="sex", outcome="hired", parts=[]).data.sha256
    )


def test_a_signed_report_is_saved_and_verified_in_python(folder):
    report = fourfifths.report(
        folder / "people.csv", protected="sex", outcome="hired", template="ll144"
    )
    report.save(folder / "report.zip", sign=folder / "key")
    result = fourfifths.verify_file(
        folder / "report.zip", folder / "people.csv", trust=folder / "key.pub"
    )
    assert result.is_verified
    assert any("about people.csv" in fact for fact in result.facts)
    with pytest.raises(OptionError, match=r"signs a pack; name one, as in report\.zip"):
        report.save(folder / "report.html", sign=folder / "key")
    assert not (folder / "report.html").exists()


def test_a_verdict_that_was_not_required_is_said(folder):
    claim = {"threshold": 0.8}
    path = folder / "certificate-1.json"
    run = fourfifths.verify_file(path, folder / "people.csv", require=claim).certificates[path.name]
    text = " ".join(str(run).split())
    assert run.is_verified
    assert run.claim.verdict == "inconclusive"
    assert "No verdict was required, and this one is inconclusive" in text
    strict = {"threshold": 0.8, "verdict": "certified"}
    assert not fourfifths.verify_file(path, folder / "people.csv", require=strict).is_verified


def test_a_certificate_in_the_pack_of_a_report_states_the_file(folder):
    certificate = fourfifths.certify(
        folder / "people.csv", protected="sex", outcome="hired", columns=["score"], **QUICK
    )
    part = Part(id="certificate-by-sex", title="By sex", result=certificate)
    data = subject_of(folder / "people.csv")
    Report(title="t", template="full", parts=(part,), data=data).save(folder / "one.zip")
    result = fourfifths.verify_file(
        folder / "one.zip", folder / "people.csv", require={"file": "same"}
    )
    assert result.is_verified
    assert result.certificates["certificate.json"].claim.same_file
