"""The picture of the worst subgroups."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

import fourfifths
from fourfifths._plot.style import BELOW, OTHER


def searched(rows=100, **options):
    table = pd.DataFrame(
        {"sex": list("FFMM"), "hired": ["yes", "no"] * 2, "n": [rows // 10, rows, rows, rows // 2]}
    )
    roles = {"protected": "sex", "outcome": "hired", "persons": "n", "min_rows": 1}
    return fourfifths.subgroups(table, **roles | options)


def test_a_dot_for_the_ratio_and_a_line_to_its_limit():
    result = searched()
    figure = result.plot()
    figure.canvas.draw()
    (axis,) = figure.axes
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    assert dots[0].get_xdata()[0] == pytest.approx((10 / 110) / (100 / 150))
    assert [dot.get_color() for dot in dots] == [BELOW, OTHER]
    ends = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "|"]
    assert ends == [subgroup.ratio_limit for subgroup in result]
    assert axis.get_yticklabels()[0].get_text() == "sex F  10/110"


def test_without_a_limit_the_line_has_no_end():
    axis = Figure().add_subplot()
    assert searched(rows=10).plot(ax=axis) is axis
    # Of the women 1 of 11 was selected, which leaves a ratio of the men to them without a limit.
    assert [line.get_marker() for line in axis.lines].count("|") == 1
