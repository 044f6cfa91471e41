"""What the plots have in common."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd
import pytest
from counted import measure
from matplotlib.figure import Figure

import fourfifths
from fourfifths._plot.style import (
    draw,
    families_for,
    label_line,
    letters_without_font,
    literal,
    tidy,
    wrapped,
)
from fourfifths._results import Result
from fourfifths.errors import OptionError


@dataclass(frozen=True, kw_only=True, repr=False)
class Other(Result):
    """A result without a picture."""


@pytest.mark.parametrize(("text", "drawn"), [("a", "a"), ("$x$", r"\$x\$"), ("> $50K", r"> \$50K")])
def test_a_dollar_sign_is_literal(text, drawn):
    assert literal(text) == drawn


def test_a_result_without_a_picture_is_an_error():
    with pytest.raises(OptionError, match=r"no picture of Other; there is one of each of these: "):
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


# --- room for names ---

EEO = (
    "American Indian or Alaska Native (Not Hispanic or Latino)",
    "Native Hawaiian or Other Pacific Islander (Not Hispanic or Latino)",
    "Black or African American (Not Hispanic or Latino)",
    "White (Not Hispanic or Latino)",
)
SHORT = ("Asian", "Black", "Latino", "White")
LONG = tuple("a name of one hundred and fifty letters " * 4 + f"{row}" for row in range(4))
UNBROKEN = tuple("x" * 150 + f"{row}" for row in range(4))


def audited(names):
    return measure({name: (40 + row, 100) for row, name in enumerate(names)})


def boxes(texts):
    """Return the places of the texts that are shown."""
    return [text.get_window_extent() for text in texts if text.get_text().strip()]


@pytest.mark.parametrize("names", [EEO, LONG, UNBROKEN], ids=["EEO-1", "long", "unbroken"])
def test_long_names_are_whole_and_leave_room_for_the_panels(names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = audited(names).plot()
        figure.draw_without_rendering()
    left, right = figure.axes
    labels = boxes(left.get_yticklabels())
    assert len(labels) == len(names)
    titles = boxes([left.title, *left.get_children()[-4:-1], left.xaxis.label])
    for box in (*labels, *boxes([right.xaxis.label, *right.texts, *figure.texts])):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
    for panel in (left, right):
        assert panel.get_window_extent().width > 0.25 * figure.bbox.width
    for label, following in pairwise(labels):
        assert not label.overlaps(following)
    for line in boxes(right.texts):
        assert not any(line.overlaps(title) for title in titles)
    lines = "\n".join(label.get_text() for label in left.get_yticklabels()).split("\n")
    assert max(map(len, lines)) <= 40
    # The counts at the end are never left out.
    counts = {label.get_text().split()[-1] for label in left.get_yticklabels()}
    assert counts == {"40/100", "41/100", "42/100", "43/100"}


def test_a_figure_with_short_names_keeps_its_size():
    figure = audited(SHORT).plot()
    drawn = draw(audited(SHORT))
    assert tuple(figure.get_size_inches()) == tuple(drawn.get_size_inches())
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        label.get_text() for label in drawn.axes[0].get_yticklabels()
    ]


@pytest.mark.parametrize("names", [EEO, LONG], ids=["EEO-1", "long"])
def test_the_rows_of_a_panel_of_somebody_else_do_not_meet(names):
    figure = Figure(figsize=(6, 3), layout="constrained")
    axis = audited(names).plot(ax=figure.subplots())
    figure.draw_without_rendering()
    assert tuple(figure.get_size_inches()) == (6, 3)
    labels = boxes(axis.get_yticklabels())
    for label, following in pairwise(labels):
        assert not label.overlaps(following)
    assert min(label.x0 for label in labels) >= 0


def test_a_name_is_broken_at_spaces_and_behind_underscores():
    name = "Native Hawaiian or Other Pacific Islander  3/5"
    assert wrapped(name, 30) == "Native Hawaiian or Other\nPacific Islander  3/5"
    assert wrapped("years_of_relevant_experience", 17) == "years_of_\nrelevant_\nexperience"
    assert wrapped("more than $50K a year", 13) == "more than\n\\$50K a year"


def test_the_label_of_a_line_leaves_the_legend_free():
    figure = Figure(figsize=(4, 3), layout="constrained")
    axis = figure.subplots()
    certificate = fourfifths.certify(
        pd.DataFrame({"g": ["a", "b"] * 60, "x": range(120), "y": ["n", "n", "y", "y"] * 30}),
        protected="g",
        outcome="y",
        columns=["x"],
        auditors=["logistic"],
        folds=2,
        leaks=False,
        progress=False,
    )
    assert 0.4 < certificate.worst.beta < 0.6  # where the legend is
    certificate.plot(ax=axis)
    figure.draw_without_rendering()
    legend = axis.get_legend().get_window_extent()
    assert len(axis.texts) == 2
    assert not any(text.get_window_extent().overlaps(legend) for text in axis.texts)


def test_the_usual_font_needs_no_other():
    assert families_for("Łódź, Ελλάδα, Россия: 1/2 …") == []


def test_letters_that_no_font_has_are_named():
    figure, cuneiform = Figure(), "\U00012000"
    figure.text(0.5, 0.5, f"White {cuneiform} and {cuneiform}")
    expected = "" if families_for(cuneiform) else cuneiform
    assert letters_without_font(figure) == expected
