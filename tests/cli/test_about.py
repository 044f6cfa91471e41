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


def test_rules_lists_each_with_its_status(shell):
    answer = shell("rules")
    assert (answer.code, answer.err) == (0, "")
    for name in fourfifths.RULES:
        assert f" {name} " in answer.out
    assert "historical, to 2025-01-21" in answer.out


def test_rules_shows_those_that_are_named_whole(shell):
    answer = shell("rules", "ofccp", "uk-ea-19")
    assert (answer.code, answer.err) == (0, "")
    words = " ".join(answer.out.split())
    for name in ("ofccp", "uk-ea-19"):
        assert fourfifths.RULES[name].status.source in words
        assert fourfifths.RULES[name].status.standing in words
    assert words.count("Checked on 2026-11-18 against") == 2
    assert "ugesp" not in words


def test_a_rule_that_does_not_exist_is_one_line(shell):
    answer = shell("rules", "ofcp")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "did you mean 'ofccp'?" in answer.err


def test_a_data_set_says_its_roles(shell):
    text = shell("datasets").out
    assert "118 rows; protected race" in text
    assert "outcome passed = yes; reference race = W" in text
    assert "protected age, cut at 26" in text
