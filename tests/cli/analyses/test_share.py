"""`fourfifths share`."""

from __future__ import annotations

import json

import pytest


def test_castaneda_at_the_shell(shell):
    answer = shell("share", "339", "870", "--share", "0.791")
    assert (answer.code, answer.err) == (0, "")
    assert "Expected 688.17, shortfall 349.17: -29.11 standard deviations" in answer.out


def test_as_json(shell):
    content = json.loads(shell("share", "339", "870", "--share", "0.791", "--format", "json").out)
    assert content["schema"] == "fourfifths/share/1"
    assert content["standard_deviations"] == pytest.approx(-29.11, abs=0.005)


def test_a_percentage_is_refused_in_one_line(shell):
    answer = shell("share", "339", "870", "--share", "79.1")
    assert answer.code == 2
    assert answer.err == (
        "fourfifths: --share 79.1: expected a share between 0 and 1, neither included\n"
    )
