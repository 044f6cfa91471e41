"""`fourfifths demo`."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_the_demonstration_runs_on_shipped_data(shell):
    answer = shell("demo")
    assert (answer.code, answer.err) == (0, "")
    assert "0.553" in answer.out  # 9/27 against 41/68
    assert "\nnot certified (rules found by these auditors, beta 0.109)" in answer.out
    assert "\ncertified, proven for every rule: beta 10.9%" in answer.out


@pytest.mark.slow
def test_the_demonstration_shows_the_three_commands(shell):
    out = shell("demo").out
    for command in (
        "fourfifths audit ricci --within position",
        "fourfifths certify adult --protected sex",
        "fourfifths repair adult repaired.csv --protected sex",
    ):
        assert command in out
