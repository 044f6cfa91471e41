"""The picture of a trade-off."""

from __future__ import annotations

from dataclasses import replace

import pytest
from curves import curve, raw_point, repaired_point
from matplotlib.figure import Figure

from fourfifths._plot.tradeoff import draw_panel
from fourfifths.errors import OptionError

TWO_MODELS = curve([raw_point(), repaired_point("LR"), repaired_point("SVM")])


def lines(axis):
    """Return the points of each line that has a name, by its name."""
    containers = {bar.get_label(): bar.lines[0] for bar in axis.containers}
    return {name: list(zip(*line.get_data(), strict=True)) for name, line in containers.items()}


def test_there_is_a_panel_for_each_model():
    figure = TWO_MODELS.plot()
    figure.canvas.draw()
    assert [axis.get_title() for axis in figure.axes] == ["LR", "SVM"]
    assert figure.get_suptitle() == "people: hired by group"
    assert figure.axes[0].get_xlabel() == "impact ratio, against b"


def test_a_line_goes_from_no_repair_to_full_repair():
    half = repaired_point(amount=0.5, impact_ratio=0.7, utility=0.75)
    axis = curve([repaired_point(), raw_point(), half]).plot().axes[0]
    assert lines(axis) == {"random, blocks": [(0.5, 0.8), (0.7, 0.75), (0.9, 0.7)]}


def test_each_repair_has_a_line_of_its_own():
    column = repaired_point(method="geometric", scope="column")
    axis = curve([raw_point(), repaired_point(), column]).plot().axes[0]
    assert set(lines(axis)) == {"random, blocks", "geometric, column"}
    solid = {bar.get_label(): bar.lines[0].get_linestyle() for bar in axis.containers}
    assert solid == {"random, blocks": "--", "geometric, column": "-"}


def test_without_a_raw_point_there_is_none():
    (axis,) = curve([repaired_point()]).plot().axes
    _, labels = axis.get_legend_handles_labels()
    assert labels == ["random, blocks"]


def test_with_an_axis_the_panel_of_the_only_model_is_drawn_there():
    axis = Figure().add_subplot()
    assert curve().plot(ax=axis) is axis
    assert axis.get_title() == "LR"
    assert axis.get_legend() is not None
    axis.figure.canvas.draw()


def test_an_axis_shows_one_model_and_the_error_says_how_to_choose():
    with pytest.raises(OptionError, match=r"2 models, 'LR', 'SVM'.*select\(model='LR'\)"):
        TWO_MODELS.plot(ax=Figure().add_subplot())


def test_the_advice_of_the_error_works():
    chosen = replace(TWO_MODELS, points=TWO_MODELS.select(model="SVM"))
    axis = Figure().add_subplot()
    assert chosen.plot(ax=axis).get_title() == "SVM"


def test_a_panel_has_the_points_of_its_model_with_their_error_bars():
    axis = Figure().add_subplot()
    svm = repaired_point("SVM", utility_interval=(0.65, 0.8), impact_ratio_interval=(0.8, 0.95))
    draw_panel(axis, curve([repaired_point("LR", impact_ratio=0.6), svm]), "SVM")
    assert lines(axis) == {"random, blocks": [(0.9, 0.7)]}
    (container,) = axis.containers
    (x_bar, y_bar) = (bar.get_segments()[0].tolist() for bar in container.lines[2])
    assert x_bar == [pytest.approx([0.8, 0.7]), pytest.approx([0.95, 0.7])]
    assert y_bar == [pytest.approx([0.9, 0.65]), pytest.approx([0.9, 0.8])]
    assert axis.get_title() == "SVM"


def test_only_the_first_panel_names_the_utility_and_the_lines():
    first, second = TWO_MODELS.plot().axes
    assert first.get_ylabel() == "utility (1 - BER of the outcome)"
    assert second.get_ylabel() == ""
    assert (first.get_legend() is None, second.get_legend() is None) == (False, True)
