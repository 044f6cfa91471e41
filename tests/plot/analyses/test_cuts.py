"""The picture of the cuts of a score."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

import fourfifths
from fourfifths.errors import OptionError

HAND = pd.DataFrame(
    {
        "group": ["women"] * 4 + ["men"] * 4,
        "side": list("abababab"),
        "score": [1, 2, 3, 5, 2, 4, 4, 5],
    }
)


def hand(**options):
    return fourfifths.cuts(HAND, **{"protected": "group", "score": "score"} | options)


def test_the_ratio_the_interval_and_the_band():
    figure = hand(reference="men", select=4).plot()
    figure.canvas.draw()
    (axis,) = figure.axes
    ratio, low, high, line, *_ = axis.lines
    assert ratio.get_xdata().tolist() == [1, 2, 3, 4, 5]
    assert ratio.get_ydata() == pytest.approx([1, 3 / 4, 2 / 3, 1 / 3, 1])
    assert (low.get_linestyle(), high.get_linestyle()) == (":", ":")
    assert line.get_ydata()[0] == 0.8
    assert len(axis.collections) == 1  # the interval
    assert any(mark.get_text() == "4/5" for mark in axis.texts)
    assert axis.lines[-1].get_xdata()[0] == 4  # the chosen cut


def test_one_panel_per_attribute():
    result = hand(protected=["group", "side"])
    figure = result.plot()
    figure.canvas.draw()
    assert len(figure.axes) == 3
    with pytest.raises(OptionError, match="one panel shows one of them"):
        result.plot(ax=Figure().add_subplot())


def test_many_groups_have_no_intervals_and_low_scores_are_drawn():
    adult = fourfifths.cuts("adult", protected="race", score="age", lower_is_better=True)
    axis = Figure().add_subplot()
    assert adult.plot(ax=axis) is axis
    assert not axis.collections
    assert axis.get_xlabel() == "cut: selected if age <= cut"
