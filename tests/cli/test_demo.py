"""`fourfifths demo`."""

from __future__ import annotations


def test_the_demonstration_runs_on_shipped_data(shell):
    answer = shell("demo")
    assert (answer.code, answer.err) == (0, "")
    assert "0.553" in answer.out  # 9/27 against 41/68
    # 118 rows do not settle four comparisons of three groups.
    assert "inconclusive (rules found by these auditors, beta" in answer.out


def test_the_demonstration_shows_the_three_commands(shell):
    out = shell("demo").out
    for command in (
        "fourfifths audit ricci --within position",
        "fourfifths certify ricci",
        "fourfifths repair ricci repaired.csv --columns oral --columns written",
    ):
        assert command in out
