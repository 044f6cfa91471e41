"""`fourfifths datasets` and `fourfifths rules`."""

from __future__ import annotations

import fourfifths
from fourfifths import datasets


def test_datasets_lists_each_with_source_and_licence(shell):
    answer = shell("datasets")
    assert answer.code == 0
    for name in datasets.names():
        assert f"{name}: {datasets.load(name).title}" in answer.out
    assert answer.out.count("CC BY 4.0") == 2


def test_rules_lists_each_with_source_and_status(shell):
    answer = shell("rules")
    assert answer.code == 0
    for rule in fourfifths.RULES.values():
        assert rule.source in answer.out
        assert rule.status in answer.out


def test_a_data_set_says_its_roles(shell):
    text = shell("datasets").out
    assert "118 rows; protected race" in text
    assert "outcome passed = yes; reference race = W" in text
    assert "protected age, cut at 26" in text


def test_a_rule_says_its_line_and_how_it_decides(shell):
    text = shell("rules").out
    assert "compares with: the highest rate; line: below 4/5; decided by: ratio or test" in text
    assert "line: no line; decided by: none" in text
    assert "line: below 4/5 and below 9/10" in text
