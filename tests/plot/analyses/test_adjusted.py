"""The picture of the disparity beside controls."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

import fourfifths
from fourfifths.errors import OptionError

TABLE = pd.DataFrame(
    {
        "sex": ["F", "F", "M", "M"] * 2,
        "site": list("uvuvvuvu"),
        "job": ["A"] * 4 + ["C"] * 4,
        "hired": ["yes", "no"] * 4,
        "n": [89, 19, 512, 313, 202, 391, 120, 205],
    }
)


def adjust(**options):
    roles = {"protected": "sex", "outcome": "hired", "controls": "job", "persons": "n"}
    return fourfifths.adjusted(TABLE, **roles | options)


def test_both_ratios_with_their_intervals():
    result = adjust(reference="M")
    figure = result.plot()
    figure.canvas.draw()
    (axis,) = figure.axes
    points = {line.get_marker(): line.get_xdata()[0] for line in axis.lines}
    assert points["o"] == pytest.approx((291 / 701) / (632 / 1150))
    assert points["D"] == result["F"].ratio
    spans = [tuple(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) == 2]
    assert result["F"].ratio_interval in spans
    assert 1 in axis.get_xticks()
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["unadjusted", "adjusted"]


def test_one_panel_shows_one_attribute():
    axis = Figure().add_subplot()
    assert adjust().plot(ax=axis) is axis
    several = adjust(protected=["sex", "site"])
    assert several["sex"].plot(ax=axis) is axis
    assert len(several.plot().axes) == 3
    assert len(several["sex"].plot().axes) == 1
    with pytest.raises(OptionError, match=r"one panel shows one of them; use result\['sex'\]"):
        several.plot(ax=axis)
