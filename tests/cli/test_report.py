"""`fourfifths report`."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from parsed_html import ParsedPage

from fourfifths._cli.report import ReportPart, parts_of
from fourfifths.errors import OptionError

UGESP = ("report", "ricci", "--template", "ugesp")


@pytest.mark.slow
def test_a_memo_of_a_shipped_data_set(shell):
    answer = shell(
        *("report", "ricci", "--template", "ugesp", "--out", "ricci.html"),
        *("--field", "prepared_by=Ann Lee", "--score", "combined"),
    )
    assert (answer.code, answer.out, answer.err) == (0, "", "wrote ricci.html\n")
    page = ParsedPage(Path("ricci.html").read_text(encoding="utf-8"))
    assert "Memorandum on adverse impact: ricci" in page.text
    assert "Ann Lee" in page.text
    assert "fourfifths report ricci --template ugesp --out ricci.html" in page.text
    # The notes name options of the shell.
    assert "--reference" in page.text
    assert "reference=" not in page.text


def test_the_figures_as_json_with_provenance(shell):
    assert shell("report", "ricci", "--part", "none", "--out", "r.json").code == 0
    content = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert content["template"] == "full"
    # 6 of 23 against 41 of 68
    (part,) = [part for part in content["parts"] if part["id"] == "by-race"]
    hispanic = next(group for group in part["result"]["groups"] if group["group"] == "H")
    assert hispanic["impact_ratio"] == pytest.approx((6 / 23) / (41 / 68))
    assert len(content["provenance"]["sha256"]) == 64
    assert content["provenance"]["command"] == "fourfifths report ricci --part none --out r.json"


def test_the_summary_for_new_york_and_how_it_is_found(shell):
    Path("fields.toml").write_text(
        "tool = 'Sorter'\naudit_date = 2026-10-01\nreport_url = 'https://example.com/r'\n"
        "job_url = 'https://example.com/j'\n"
    )
    answer = shell(
        *("report", "adult", "--template", "ll144", "--protected", "sex", "--protected", "race"),
        *("--fields", "fields.toml", "--out", "ll.html", "--audits-json", "audits.json"),
    )
    assert answer.err == "wrote ll.html\nwrote audits.json\n"
    tables = ParsedPage(Path("ll.html").read_text(encoding="utf-8")).tables
    assert len(tables) == 3
    # 1,769 of 16,192 and 9,918 of 32,650: 10.9% / 30.4%
    assert ["Female", "16,192", "1,769", "10.9%", "0.360"] in tables[
        "sex: selection rate and impact ratio"
    ]
    content = json.loads(Path("audits.json").read_text(encoding="utf-8"))
    assert content["operations"][0]["urls"] == ["https://example.com/j"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--template", "memo", "--out", "a.html"), "--template memo: no such template"),
        (("--out", "a.doc"), "--out a.doc: a report cannot be written as .doc; expected"),
        (("--out", "no/a.html"), "--out no/a.html: there is no folder"),
        (("--out", "a.html", "--field", "auditr=A"), "--field auditr: no such field"),
        (("--out", "a.html", "--field", "A"), "--field A: expected key=value"),
        (("--out", "a.html", "--fields", "no.toml"), "--fields no.toml: no such file"),
        (("--out", "a.html", "--score", "combine"), "--score combine: no such column"),
        (("--out", "a.html", "--stage", "x"), "--stage x: no such column"),
        (("--out", "a.html", "--audits-json", "b.json"), "belongs to --template ll144"),
        (
            ("--out", "a.html", "--template", "ll144", "--audits-json", "b.json"),
            "audits.json needs 'audit_date', 'job_url', 'report_url', 'tool'",
        ),
        (("--out", "a.html", "--part", "none", "--part", "repair"), "contradicts the other --part"),
        (("--out", "a.html", "--template", "ll144", "--rule", "ugesp"), "--rule ugesp: the templa"),
    ],
)
def test_wrong_input_is_one_line_and_nothing_is_written(shell, arguments, message):
    answer = shell("report", "ricci", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_the_audited_file_is_not_overwritten(shell):
    Path("t.json").write_text('{"g": "a", "y": 1}\n')
    answer = shell("report", "t.json", "--out", "t.json")
    assert answer.code == 2
    assert "is the file that is audited" in answer.err


def test_none_stands_alone():
    with pytest.raises(OptionError, match="contradicts"):
        parts_of([ReportPart.NONE, ReportPart.REPAIR])


def test_a_pack_holds_every_format_and_is_verified(shell, tmp_path):
    assert shell("keygen", "auditor").code == 0
    answer = shell(*UGESP, "--out", "ricci.zip", "--sign", "auditor")
    assert (answer.code, answer.out) == (0, "")
    with zipfile.ZipFile(tmp_path / "ricci.zip") as pack:
        names = set(pack.namelist())
        figures = json.loads(pack.read("report.json"))
    endings = ("html", "pdf", "docx", "xlsx", "md", "json")
    assert names == {f"report.{ending}" for ending in endings} | {
        "manifest.json",
        "manifest.json.sig",
    }
    assert figures["template"] == "ugesp"
    checked = shell("verify", "ricci.zip", "ricci", "--trust", "auditor.pub")
    assert checked.code == 0
    assert checked.out.startswith("verified: ricci.zip is as the trusted key signed it")


def test_a_folder_gets_every_format(shell, tmp_path):
    for _ in range(2):  # a folder that is there already is written to as well
        assert shell(*UGESP, "--out", "all").code == 0
    assert len(list((tmp_path / "all").iterdir())) == 6


def test_only_a_pack_is_signed(shell):
    answer = shell(*UGESP, "--out", "ricci.html", "--sign", "auditor")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "--sign auditor: signs a pack; name one: --out report.zip" in answer.err
