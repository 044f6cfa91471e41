"""The section of a model card."""

from __future__ import annotations

import fourfifths
from fourfifths._evidence.formats.markdown import report_markdown


def test_the_model_card_is_short():
    report = fourfifths.report("adult", template="model-card", fields={"model": "Income 3"})
    markdown = report_markdown(report)
    assert markdown.startswith("# Disparate impact: Income 3\n")
    assert "| Female | 16,192 | 1,769 | 0.109 |" in markdown
    assert not report.terms


def test_the_findings_are_said_once_at_the_top():
    report = fourfifths.report("ricci", template="model-card")
    assert report.finding[0].startswith("Adverse impact is indicated under ugesp for B and H")
    (part,) = [part for part in report.parts if part.id == "by-race"]
    assert [len(section.sheets) for section in part.sections] == [1]
    assert not any(section.sentences for section in part.sections)
