"""What the plots have in common."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
from counted import measure
from matplotlib.figure import Figure

from fourfifths._plot.style import draw, label_line, literal, tidy
from fourfifths._results import Result
from fourfifths.errors import OptionError


@dataclass(frozen=True, kw_only=True, repr=False)
class Other(Result):
    """A result without a picture."""


@pytest.mark.parametrize(("text", "drawn"), [("a", "a"), ("$x$", r"\$x\$"), ("> $50K", r"> \$50K")])
def test_a_dollar_sign_is_literal(text, drawn):
    assert literal(text) == drawn


def test_a_result_without_a_picture_is_an_error():
    with pytest.raises(
        OptionError, match=r"no picture of a Other; there is one of each of these: "
    ):
        draw(Other())


def test_a_panel_is_tidied():
    axis = Figure().add_subplot()
    tidy(axis, grid="x")
    assert not axis.spines["top"].get_visible()
    assert not axis.spines["right"].get_visible()
    assert axis.xaxis.get_gridlines()[0].get_visible()
    assert not axis.yaxis.get_gridlines()[0].get_visible()


def test_the_label_of_a_line_stands_above_it():
    axis = Figure().add_subplot()
    label_line(axis, "4/5", x=0.8)
    (text,) = axis.texts
    assert (text.get_text(), text.xy) == ("4/5", (0.8, 1))


def test_no_plot_needs_pyplot():
    sys.modules.pop("matplotlib.pyplot", None)
    measure({"A": (3, 5), "B": (6, 8)}).plot().canvas.draw()
    assert "matplotlib.pyplot" not in sys.modules
