"""Charts as SVG: positions, shapes, and names that are data."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from fourfifths._report.charts.chart import (
    BarChart,
    Bars,
    Curve,
    CurveChart,
    DotChart,
    Line,
    Mark,
)
from fourfifths._report.charts.svg import (
    LETTER_WIDTH,
    MAX_LABEL,
    WIDTH,
    chart_svg,
    runs,
    scale,
    ticks,
)

NAN = math.nan
KINDS = ("indicated", "judged", "not judged", "reference")


def dots(*marks, **options):
    return DotChart(title="t", alt="a", axis="x", marks=marks, limits=(0, 1), **options)


def drawn(chart):
    return ET.fromstring(chart_svg(chart))


def test_a_value_lies_between_the_ends_in_proportion():
    position = scale((0, 2), (100, 300))
    assert [position(value) for value in (0, 1, 2, 5, -1)] == [100, 200, 300, 300, 100]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]), ((0, 0.5), [0, 0.1, 0.2, 0.3, 0.4, 0.5]), ((3, 3), [3])],
)
def test_ticks_are_round(limits, expected):
    assert ticks(limits) == pytest.approx(expected)


def test_each_kind_of_mark_has_a_shape_of_its_own():
    shapes = set()
    for kind in KINDS:
        marks = [
            (element.tag, element.get("class"))
            for element in drawn(dots(Mark(label="A", value=0.5, kind=kind)))
            if "mark" in (element.get("class") or "")
        ]
        assert len(marks) == 1
        shapes.update(marks)
    assert len(shapes) == len(KINDS)


def test_an_interval_without_an_upper_limit_ends_in_an_arrow():
    closed = drawn(dots(Mark(label="A", value=0.5, low=0.4, high=0.6)))
    is_open = drawn(dots(Mark(label="A", value=0.5, low=0.4, high=NAN)))
    assert [len(chart.findall("polygon")) for chart in (closed, is_open)] == [0, 1]


def test_an_undefined_value_is_said_and_not_drawn():
    chart = drawn(dots(Mark(label="A", value=NAN)))
    assert "no ratio" in "".join(chart.itertext())
    assert not [element for element in chart if "mark" in (element.get("class") or "")]


def test_names_are_data_and_cut_where_they_are_long():
    hostile = '"><script>alert(1)</script>' + "x" * 10_000
    chart = drawn(dots(Mark(label=hostile, detail="1 of 2", value=0.5)))
    assert chart.find(".//script") is None
    assert all(len(text) <= MAX_LABEL for text in chart.itertext())


def test_the_text_alternative_has_title_and_numbers():
    chart = DotChart(title='<4/5 & "low"', alt="A: 0.5.", axis="x", marks=(), limits=(0, 1))
    assert drawn(chart).get("aria-label") == '<4/5 & "low". A: 0.5.'
    assert drawn(chart).get("role") == "img"


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.48, 0.4999, 0.5, 0.99, 1.4])
def test_labels_of_lines_do_not_overlap_and_stay_in_the_chart(threshold):
    lines = (Line(value=threshold, label="must exceed 0.480"), Line(value=0.5, label="guessing"))
    spans = sorted(
        (float(text.get("x")), float(text.get("x")) + LETTER_WIDTH * len(text.text))
        for text in drawn(dots(lines=lines)).iter("text")
        if text.text in ("must exceed 0.480", "guessing")
    )
    assert spans[0][1] < spans[1][0]
    assert spans[0][0] >= 0
    assert spans[1][1] <= WIDTH


def test_a_gap_divides_a_curve():
    curve = Curve(label="", x=(1, 2, 3), y=(0.1, NAN, 0.3))
    assert runs(curve, curve.y, curve.y) == [[(1, 0.1, 0.1)], [(3, 0.3, 0.3)]]


def test_curves_differ_in_dashes():
    curves = tuple(Curve(label=str(index), x=(0, 1), y=(0, 1)) for index in range(4))
    chart = CurveChart(
        title="t", alt="a", x_axis="x", y_axis="y", curves=curves, x_limits=(0, 1), y_limits=(0, 1),
        x_lines=(Line(value=0.5, label="beta"),),
        marks=((0.5, Mark(label="m", value=0.5, low=0.4, high=0.6)),),
    )  # fmt: skip
    lines = list(drawn(chart).iter("polyline"))
    assert len({line.get("stroke-dasharray") for line in lines}) == 4


def test_bars_are_as_high_as_their_values():
    chart = BarChart(
        title="t", alt="a", x_axis="block", y_axis="share", labels=("1", "2"),
        series=(Bars(label="A", values=(0.5, 0.25)), Bars(label="B", values=(0.5, 0.5))),
        y_limits=(0, 1),
    )  # fmt: skip
    heights = [float(bar.get("height")) for bar in drawn(chart).iter("rect")][:4]
    assert heights[0] == heights[1] == heights[3] == pytest.approx(2 * heights[2])


def test_a_chart_that_stands_alone_brings_its_colours():
    svg = chart_svg(dots(Mark(label="A", value=0.5)), is_standalone=True)
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "<style>" in svg


LONG_GROUP = "Female & Native Hawaiian or Other Pacific Islander"


def words_of(chart):
    return " ".join(text.text for text in drawn(chart).iter("text"))


def test_axes_and_legends_are_whole():
    axis = f"share of {LONG_GROUP} that a rule selects"
    legend = "lowest ratio found (auditor naive-bayes); shaded to its lower limit, as counted"
    curve = Curve(label=legend, x=(0, 1), y=(0, 1))
    curves = CurveChart(
        title="t", alt="a", x_axis=axis, y_axis="y", curves=(curve,), x_limits=(0, 1),
        y_limits=(0, 1), marks=((0.5, Mark(label=f"ratio at beta of {LONG_GROUP} ", value=0.5)),),
    )  # fmt: skip
    assert axis in words_of(curves)
    assert legend in words_of(curves)
    assert f"ratio at beta of {LONG_GROUP}" in words_of(curves)
    compared = f"impact ratio, compared with {LONG_GROUP}"
    dot_chart = DotChart(title="t", alt="a", axis=compared, marks=(), limits=(0, 1))
    assert compared in words_of(dot_chart)
    bars = BarChart(
        title="t", alt="a", x_axis=axis, y_axis="y", labels=("1",), y_limits=(0, 1),
        series=(Bars(label=LONG_GROUP, values=(0.5,)),),
    )  # fmt: skip
    assert f"{LONG_GROUP} (first bar)" in words_of(bars)


def test_every_line_of_text_is_inside_the_drawing():
    axis = f"impact ratio, compared with {LONG_GROUP} and with {LONG_GROUP}"
    kinds = (("judged", "not indicated"), ("reference", "reference"))
    chart = drawn(DotChart(title="t", alt="a", axis=axis, marks=(), limits=(0, 1), meanings=kinds))
    height = float(chart.get("viewBox").split()[-1])
    heights = [float(text.get("y")) for text in chart.iter("text")]
    assert max(heights) < height
    lines = sorted(set(heights))
    assert len(lines) >= 4  # ticks, two lines of the axis, the legend
    # Letters are 13 pixels high, so lines that are closer to each other overlap.
    assert min(below - above for above, below in pairwise(lines)) >= 13
    alone = drawn(DotChart(title="t", alt="a", axis=axis, marks=(), limits=(0, 1)))
    assert max(float(text.get("y")) for text in alone.iter("text")) < float(
        alone.get("viewBox").split()[-1]
    )


def test_no_line_runs_through_the_name_of_a_group():
    mark = Mark(label=LONG_GROUP, detail="6 of 14 selected", value=0.5)
    shapes = list(drawn(dots(mark, lines=(Line(value=0.5, label="4/5", is_threshold=True),))))
    (name,) = (index for index, shape in enumerate(shapes) if LONG_GROUP in (shape.text or ""))
    backing, text = shapes[name - 1], shapes[name]
    assert backing.get("class") == "backing"
    assert float(backing.get("width")) >= 6 * len(text.text)
    assert float(backing.get("y")) < float(text.get("y")) < float(backing.get("y")) + 15
    lines = [index for index, shape in enumerate(shapes) if shape.tag == "line"]
    assert max(lines) < name - 1
