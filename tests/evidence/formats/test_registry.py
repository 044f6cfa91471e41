"""The formats of a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fourfifths._evidence.formats import registry
from fourfifths._evidence.formats.registry import FORMATS, ReportFormat, format_of, render
from fourfifths._evidence.report import Report
from fourfifths.errors import OptionError

REPORT = Report(title="Türkçe", template="full")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_renders(ending):
    assert "Türkçe" in render(REPORT, format_of(Path(f"a{ending.upper()}"))).decode()


def test_json_is_the_report_itself():
    assert json.loads(render(REPORT, FORMATS[".json"])) == REPORT.to_dict()


def test_a_format_that_needs_more_names_what_to_install(monkeypatch):
    form = ReportFormat(module="no_such_module", function="render", extra="office")
    monkeypatch.setattr(registry, "FORMATS", {".docx": form})
    with pytest.raises(OptionError, match=r"not installed; pip install 'fourfifths\[office\]'"):
        format_of(Path("a.docx"))
