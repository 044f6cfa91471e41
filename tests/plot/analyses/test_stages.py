"""The picture of a selection in stages."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

import fourfifths
from fourfifths.errors import OptionError

TEAL = pd.DataFrame(
    {
        "race": ["Black"] * 3 + ["White"] * 3,
        "sex": list("FMFMFM"),
        "passed": ["yes", "yes", "no"] * 2,
        "promoted": ["yes", "no", None] * 2,
        "n": [11, 15, 22, 35, 171, 53],
    }
)


def teal(**options):
    roles = {"protected": "race", "stages": ["passed", "promoted"], "persons": "n"}
    return fourfifths.stages(TEAL, **roles | options)


def test_the_funnel_and_the_ratios():
    figure = teal(reference="White").plot()
    figure.canvas.draw()
    funnel, ratios = figure.axes
    black, white = (line.get_ydata() for line in funnel.lines)
    assert black == pytest.approx([1, 26 / 48, 11 / 48])
    assert white == pytest.approx([1, 206 / 259, 35 / 259])
    marks = {
        line.get_marker(): line.get_xdata()[0]
        for line in ratios.lines
        if line.get_marker() in ("s", "o")
    }
    assert marks["s"] == pytest.approx(0.681, abs=0.0005)
    assert marks["o"] == pytest.approx(1.696, abs=0.0005)  # the last of them: the bottom line


def test_each_attribute_has_two_panels():
    figure = teal(protected=["race", "sex"]).plot()
    figure.canvas.draw()
    assert len(figure.axes) == 6


def test_one_panel_shows_one_attribute():
    axis = Figure().add_subplot()
    assert teal().plot(ax=axis) is axis
    assert [label.get_text() for label in axis.get_yticklabels()][-1] == "bottom line"
    with pytest.raises(OptionError, match="one panel shows one of them"):
        teal(protected=["race", "sex"]).plot(ax=axis)


def test_a_step_that_was_not_compared_stays_empty():
    table = pd.DataFrame({"sex": list("FFMM"), "a": list("nnyy"), "b": ["", "", "y", "n"]})
    figure = fourfifths.stages(table, protected="sex", stages=["a", "b"]).plot()
    figure.canvas.draw()
    assert len(figure.axes) == 2
