"""The formats of a report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fourfifths._cli.main import main
from fourfifths._evidence.formats import registry
from fourfifths._evidence.formats.registry import (
    FORMATS,
    ReportFormat,
    check_all_formats,
    format_of,
    render,
)
from fourfifths._evidence.report import Report
from fourfifths.errors import OptionError

REPORT = Report(title="Türkçe", template="full")


@pytest.mark.parametrize("ending", [".html", ".md", ".json"])
def test_every_format_of_text_renders(ending):
    assert "Türkçe" in render(REPORT, format_of(Path(f"a{ending.upper()}"))).decode()


def test_json_is_the_report_itself():
    assert json.loads(render(REPORT, FORMATS[".json"])) == REPORT.to_dict()


def test_a_format_that_needs_more_names_what_to_install():
    form = ReportFormat(module="no_such_module", function="render", extra="office")
    with pytest.raises(OptionError, match=r"not installed; pip install 'fourfifths\[office\]'"):
        format_of(Path("a.docx"), {".docx": form})


@pytest.mark.parametrize(
    ("ending", "package", "extra"),
    [(".pdf", "typst", "pdf"), (".docx", "docx", "office"), (".xlsx", "xlsxwriter", "office")],
)
def test_a_missing_package_is_one_line_that_names_the_extra(
    ending, package, extra, tmp_path, capsys, monkeypatch
):
    rooms = [name for name in sys.modules if name.startswith(registry.__package__ + ".")]
    for name in (*rooms, *(name for name in sys.modules if name.split(".")[0] == package)):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    out = tmp_path / f"memo{ending}"
    monkeypatch.setattr(sys, "argv", ["fourfifths", "report", "ricci", "--out", str(out)])
    with pytest.raises(SystemExit, match="2"):
        main()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert f"{ending} needs {package}" in said.err
    assert f"pip install 'fourfifths[{extra}]'" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".pdf", ".docx", ".xlsx"])
def test_a_report_is_saved_by_its_ending(ending, tmp_path):
    path = tmp_path / f"memo{ending.upper()}"
    REPORT.save(path, paper="a4")
    start = b"%PDF-1.7" if ending == ".pdf" else b"PK\x03\x04"
    assert path.read_bytes().startswith(start)


def test_a_size_of_paper_that_there_is_not(tmp_path):
    with pytest.raises(OptionError, match=r"paper='A5': expected one of 'letter', 'a4'"):
        REPORT.save(tmp_path / "t.pdf", paper="A5")
    assert list(tmp_path.iterdir()) == []


def test_a_pack_names_all_that_is_to_be_installed():
    forms = {
        ".pdf": ReportFormat(module="no_pdf", function="render", extra="pdf"),
        ".docx": ReportFormat(module="no_docx", function="render", extra="office"),
        ".xlsx": ReportFormat(module="no_xlsx", function="render", extra="office"),
    }
    expected = (
        r"out='r\.zip': the report in every format needs.*pip install 'fourfifths\[pdf,office\]'"
    )
    with pytest.raises(OptionError, match=expected):
        check_all_formats(Path("r.zip"), forms)
