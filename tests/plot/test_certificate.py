"""The picture of a certificate."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import fourfifths
from fourfifths._plot.certificate import draw_auditors, draw_floor
from fourfifths._plot.style import BELOW, LINE, OTHER


@pytest.fixture(scope="module")
def certificate():
    return fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"], folds=3)


def floor_panel(certificate):
    axis = Figure().add_subplot()
    draw_floor(axis, certificate, certificate.worst)
    return axis


def auditor_panel(pair):
    axis = Figure().add_subplot()
    draw_auditors(axis, pair)
    return axis


def vertical(axis):
    """Return where vertical lines are drawn over the whole height."""
    return [line.get_xdata()[0] for line in axis.lines if list(line.get_ydata()) == [0, 1]]


def test_the_figure_has_the_floor_and_the_auditors(certificate):
    figure = certificate.plot()
    figure.canvas.draw()
    floor, auditors = figure.axes
    assert floor.get_ylabel() == "smallest impact ratio found"
    assert auditors.get_xlabel() == "balanced error rate of predicting membership"
    worst = certificate.worst
    title = f"ricci, {worst.group} against {worst.reference}: {worst.verdict}"
    assert figure.get_suptitle() == title


def test_the_floor_is_the_curves_and_beta_and_the_threshold_are_marked(certificate):
    axis = floor_panel(certificate)
    worst = certificate.worst
    line = next(line for line in axis.lines if line.get_label().startswith("floor"))
    assert list(line.get_ydata()) == pytest.approx(
        list(worst.floor_limit.curve.floor(line.get_xdata()))
    )
    assert vertical(axis) == [worst.beta]
    dashed = next(line for line in axis.lines if line.get_linestyle() == "--")
    assert set(dashed.get_ydata()) == {0.8}


def test_the_limits_at_beta_are_the_lowest_upper_ones(certificate):
    first, second = certificate.worst.auditors
    auditors = (
        replace(first, impact_floor_interval=(0.2, 0.9)),
        replace(second, impact_floor_interval=(0.3, 0.7)),
    )
    axis = Figure().add_subplot()
    draw_floor(axis, certificate, replace(certificate.worst, auditors=auditors))
    thick = next(line for line in axis.lines if line.get_linewidth() == 4)
    assert tuple(thick.get_ydata()) == (0.3, 0.7)
    assert thick.get_label() == f"limits at beta, {second.name}"


def test_every_auditor_has_a_point_and_an_interval(certificate):
    axis = auditor_panel(certificate.worst)
    points = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    found = certificate.worst.auditors
    assert points == [auditor.balanced_error_rate for auditor in found]
    bars = [tuple(line.get_xdata()) for line in axis.lines if line.get_linewidth() == 2]
    assert bars == [auditor.interval for auditor in found]


@pytest.mark.parametrize(
    ("threshold", "color"), [(0.0, OTHER), (1.0, BELOW), (None, LINE)], ids=["above", "below", "on"]
)
def test_an_auditor_is_coloured_by_the_side_of_the_threshold(certificate, threshold, color):
    worst = certificate.worst
    first = worst.auditors[0]
    line = first.balanced_error_rate if threshold is None else threshold
    axis = auditor_panel(replace(worst, ber_threshold=line))
    point = next(line for line in axis.lines if line.get_marker() == "o")
    assert to_hex(point.get_color()) == color


def test_with_an_axis_the_floor_is_drawn_there(certificate):
    axis = Figure().add_subplot()
    assert certificate.plot(ax=axis) is axis
    assert axis.get_ylabel() == "smallest impact ratio found"
    assert axis.get_title(loc="left").startswith("ricci, ")
    axis.figure.canvas.draw()
