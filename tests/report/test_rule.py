"""A rule on a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourfifths._impact.profiles import RULES
from fourfifths._report.rule import (
    arithmetic_text,
    checklist_sections,
    rule_document,
    rule_line,
    rule_paragraphs,
    rules_document,
)
from fourfifths._report.terminal import document_text


def test_the_paragraphs_of_a_rule_are_its_source_its_status_and_its_duties():
    rule = RULES["ugesp"]
    source, status, duties = rule_paragraphs(rule)
    assert source == f"Rule ugesp: {rule.title}. {rule.status.source}."
    assert rule.status.standing in status
    assert "Checked on 2026-11-18 against the agenda entries" in status
    assert duties.startswith("Duties. Retain: records of the impact")
    assert ". Search for alternatives: as part of a validity study" in duties


def test_a_rule_without_duties_has_two_paragraphs():
    assert len(rule_paragraphs(RULES["feldman2015"])) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ugesp", "line: below 4/5; test: p below 5%; a group under 2% of the rows is not judged"),
        ("ofccp", "trigger: below 4/5; test: 2 and 3 standard deviations; all other groups"),
        ("nyc-ll144", "compared with the highest rate; a group under 2% of the rows may be excl"),
        ("lending-air", "compared with a designated group; line: below 4/5 and below 9/10; test"),
        ("co-insurance", "compared with a designated group; gap: at least 5 points; test: p be"),
        ("fha", "decided by nothing: the law has no number; a checklist, never a finding."),
    ],
)
def test_the_arithmetic_is_said_in_words(name, words):
    assert words in arithmetic_text(RULES[name])


def test_only_a_law_without_a_number_has_a_checklist_on_the_page_of_an_audit():
    for rule in RULES.values():
        assert bool(checklist_sections(rule)) == rule.is_checklist
    (section,) = checklist_sections(RULES["il-ihra"])
    lines = [sentence.text for sentence in section.sentences]
    assert "and no finding" in lines[0]
    assert lines[-1].startswith("[ ] notify: employees, that artificial intelligence is used")


def test_a_rule_of_ones_own_is_not_said_to_be_listed():
    assert "'fourfifths rules ugesp' says more" in rule_line(RULES["ugesp"])
    assert "says more" not in rule_line(replace(RULES["ugesp"], name="house"))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_of_a_rule_fits_80_columns(rule):
    text = document_text(rule_document(rule), width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert rule.status.source in " ".join(text.split())


def test_the_list_of_rules_fits_80_columns_in_one_table():
    text = document_text(rules_document(RULES.values()), width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    rows = {
        line.split()[0]: line
        for line in text.splitlines()
        if line.startswith(" ") and line[1:2].isalpha()
    }
    assert RULES.keys() <= rows.keys()
    assert "historical, to 2025-01-21" in rows["ofccp"]
    assert "not yet in force: from 2027-01-01  2026-11-18" in rows["co-sb26-189"]
