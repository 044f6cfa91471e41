"""A chart as a small SVG: shapes have classes, and the page's style sheet has the colours.

Marks differ in shape and curves in dashes, so that nothing rests on colour. The drawing is narrow
and its labels stand above what they name, so that it can be read on a telephone.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup, escape

from fourfifths._report.charts.chart import (
    BarChart,
    Chart,
    Curve,
    CurveChart,
    DotChart,
    Line,
    MarkKind,
)
from fourfifths._text import printable

WIDTH = 520
LEFT, RIGHT, TOP = 8, 512, 22
PLOT_LEFT = 46  # of a chart with numbers on its left
ROW_HEIGHT = 38
CURVE_HEIGHT = 240
LINE_HEIGHT = 18
LETTER_WIDTH = 7.0  # of the widest of the usual fonts
MAX_LABEL = int((RIGHT - LEFT) / LETTER_WIDTH)  # the table beside the chart has the whole name
MAX_LINES = 2  # of the name of an axis, or of an entry of the legend
LABEL_GAP = 8  # between two labels
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "1 2", "12 3", "6 2 1 2")
# For a chart that stands alone; in a page the page's own style sheet is used.
STANDALONE_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1b1f24;paint-order:stroke;stroke:#fff;"
    "stroke-width:3px}.muted{fill:#57606a}"
    ".backing{fill:#fff}.grid{stroke:#d8dee4}.axis{stroke:#57606a}.threshold{stroke:#1b1f24;stroke-width:1.5;"
    "stroke-dasharray:5 3}.mark,.span{stroke:#0b5cad;fill:#0b5cad}.span{stroke-width:3}"
    ".indicated{stroke:#a8201a;fill:#a8201a}.open{fill:#fff}.reference{stroke:#57606a;"
    "fill:#57606a}.curve{fill:none;stroke-width:2}.c0{stroke:#0b5cad}.c1{stroke:#a8201a}"
    ".c2{stroke:#1a7f37}.c3{stroke:#8250df}.band{stroke:none;opacity:.15}.f0{fill:#0b5cad}"
    ".f1{fill:#a8201a}.f2{fill:#1a7f37}.f3{fill:#8250df}.bar{stroke-width:.7}"
    ".b0{fill:#0b5cad;stroke:#0b5cad}.b1{fill:#fff;stroke:#a8201a}.b2{fill:#1a7f37;stroke:#1a7f37}"
    ".b3{fill:#fff;stroke:#8250df}"
)
COLOR_COUNT = 4
MAX_DOTTED_POINTS = 20


@dataclass(kw_only=True)
class Drawing:
    """Shapes that were drawn so far, and how high the picture is."""

    height: float
    shapes: list[str] = field(default_factory=list)

    def next_line(self) -> float:
        """Make room for one more line of the legend; return where it is written."""
        self.height += LINE_HEIGHT
        return self.height - 4

    def legend_text(self, x: float, y: float, text: str) -> None:
        """Write an entry of the legend; a long one goes on below."""
        for index, line in enumerate(text_lines(text, (RIGHT - x) / LETTER_WIDTH)):
            self.text(x, y if index == 0 else self.next_line(), line)

    def axis_name(self, x: float, y: float, text: str) -> None:
        """Write the name of the horizontal axis; a long one goes on below."""
        lines = text_lines(text, 2 * min(x - LEFT, RIGHT - x) / LETTER_WIDTH)
        for index, line in enumerate(lines):
            self.text(x, y + LINE_HEIGHT * index, line, kind="muted", anchor="middle")
        self.height += LINE_HEIGHT * (len(lines) - 1)

    def backing(self, x: float, y: float, text: str) -> None:
        """Hide the lines behind a text, which could not be read across them."""
        width = LETTER_WIDTH * min(len(text), MAX_LABEL)
        self.shapes.append(
            f'<rect x="{x:.1f}" y="{y - 11:.1f}" width="{width:.1f}" height="15" class="backing"/>'
        )

    def text(self, x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> None:
        """Write a short text; a long name is cut off."""
        letters = printable(text)
        if len(letters) > MAX_LABEL:
            letters = f"{letters[: MAX_LABEL - 1]}…"
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(letters)}</text>"
        )

    def line(self, start: tuple[float, float], end: tuple[float, float], *, kind: str) -> None:
        """Draw a straight line."""
        self.shapes.append(
            f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
            f'class="{kind}"/>'
        )

    def mark(self, x: float, y: float, kind: MarkKind) -> None:
        """Draw a mark: square, circle, open circle or diamond."""
        if kind == "indicated":
            shape = f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" class="mark '
            self.shapes.append(f'{shape}indicated"/>')
        elif kind == "reference":
            points = (
                f"{x:.1f},{y - 7:.1f} {x + 7:.1f},{y:.1f} {x:.1f},{y + 7:.1f} {x - 7:.1f},{y:.1f}"
            )
            self.shapes.append(f'<polygon points="{points}" class="mark reference"/>')
        else:
            style = "mark open" if kind == "not judged" else "mark"
            width = ' stroke-width="2"' if kind == "not judged" else ""
            self.shapes.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" class="{style}"{width}/>'
            )

    def path(self, points: Sequence[tuple[float, float]], *, kind: str, dashes: str = "") -> None:
        """Draw a line through points."""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        pattern = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.shapes.append(f'<polyline points="{steps}" class="{kind}"{pattern}/>')

    def area(self, points: Sequence[tuple[float, float]], *, kind: str) -> None:
        """Fill the inside of points."""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polygon points="{steps}" class="{kind}"/>')


def chart_svg(chart: Chart, *, is_standalone: bool = False) -> Markup:
    """Return a chart as an SVG element, whose text alternative states the numbers.

    Parameters
    ----------
    chart : Chart
        Its title is not drawn: it is the caption of the figure.
    is_standalone : bool
        Whether it brings its own colours, for a file of its own or for another format.
    """
    if isinstance(chart, DotChart):
        drawing = draw_dots(chart)
    elif isinstance(chart, CurveChart):
        drawing = draw_curves(chart)
    else:
        drawing = draw_bars(chart)
    style = f"<style>{STANDALONE_STYLE}</style>" if is_standalone else ""
    namespace = ' xmlns="http://www.w3.org/2000/svg"' if is_standalone else ""
    alternative = escape(printable(f"{chart.title}. {chart.alt}"))
    return Markup(
        f'<svg{namespace} viewBox="0 0 {WIDTH} {drawing.height:.0f}" role="img" '
        f'aria-label="{alternative}">{style}{"".join(drawing.shapes)}</svg>'
    )


def text_lines(text: str, room: float) -> list[str]:
    """Return a text in lines of at most `room` letters; a text of too many lines is cut off.

    Examples
    --------
    >>> text_lines("one two three", 7), text_lines("one two three four five", 7)
    (['one two', 'three'], ['one two', 'three…'])
    """
    letters = printable(text)
    wrapped = textwrap.wrap(letters, max(int(room), 2), max_lines=MAX_LINES, placeholder="…")
    return wrapped or [letters]


def scale(limits: tuple[float, float], ends: tuple[float, float]) -> Callable[[float], float]:
    """Return the function from values to positions; values beyond the limits stay at the ends."""
    low, high = limits
    start, end = ends
    width = (high - low) or 1.0

    def position(value: float) -> float:
        return start + (min(max(value, low), high) - low) / width * (end - start)

    return position


def ticks(limits: tuple[float, float], count: int = 5) -> list[float]:
    """Return round values within limits, about `count` of them.

    Examples
    --------
    >>> ticks((0, 1)), ticks((0, 4)), ticks((53.2, 92.8))
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0], [60.0, 70.0, 80.0, 90.0])
    """
    low, high = limits
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def draw_dots(chart: DotChart) -> Drawing:
    """Draw values with intervals, each below its label."""
    bottom = TOP + ROW_HEIGHT * len(chart.marks)
    drawing = Drawing(height=bottom + 42)
    x = scale(chart.limits, (LEFT + 6, RIGHT - 6))
    for tick in ticks(chart.limits):
        drawing.line((x(tick), TOP), (x(tick), bottom), kind="grid")
        drawing.text(x(tick), bottom + 16, f"{tick:g}", kind="muted", anchor="middle")
    draw_vertical_lines(drawing, chart.lines, x, bottom)
    drawing.axis_name((LEFT + RIGHT) / 2, bottom + 34, chart.axis)
    for row, mark in enumerate(chart.marks):
        y = TOP + ROW_HEIGHT * row + 27
        label = printable(mark.label)
        room = MAX_LABEL - len(mark.detail) - 2
        label = label if len(label) <= room else f"{label[: room - 1]}…"
        text = f"{label}: {mark.detail}" if mark.detail else label
        drawing.backing(LEFT, y - 12, text)
        drawing.text(LEFT, y - 12, text)
        kind = mark.kind if mark.kind in ("indicated", "reference") else ""
        if not math.isnan(mark.low):
            is_open = math.isnan(mark.high) or mark.high > chart.limits[1]
            end = x(chart.limits[1] if math.isnan(mark.high) else mark.high)
            drawing.line((x(mark.low), y), (end, y), kind=f"span {kind}".strip())
            if is_open:
                # An arrow: the interval goes on.
                drawing.area(
                    [(end + 5, y), (end - 4, y - 5), (end - 4, y + 5)], kind=f"mark {kind}".strip()
                )
        if math.isnan(mark.value):
            drawing.text(x(0), y + 4, "no ratio", kind="muted")
        else:
            drawing.mark(x(mark.value), y, mark.kind)
    left = float(LEFT)
    top = drawing.height + 12
    for meaning, text in chart.meanings:
        width = 24 + LETTER_WIDTH * len(text) + 14
        if left > LEFT and left + width > RIGHT:
            left, top = LEFT, top + LINE_HEIGHT
        drawing.mark(left + 8, top - 4, meaning)
        drawing.text(left + 20, top, text)
        left += width
    if chart.meanings:
        drawing.height = top + 8
    return drawing


def draw_vertical_lines(
    drawing: Drawing, lines: Sequence[Line], x: Callable[[float], float], bottom: float
) -> None:
    """Draw labelled lines from top to bottom; a label moves aside where it would hide another."""
    ordered = sorted(lines, key=lambda line: line.value)
    lefts = label_lefts(
        [x(line.value) for line in ordered], [LETTER_WIDTH * len(line.label) for line in ordered]
    )
    for line, left in zip(ordered, lefts, strict=True):
        kind = "threshold" if line.is_threshold else "axis"
        drawing.line((x(line.value), TOP - 4), (x(line.value), bottom), kind=kind)
        drawing.text(left, TOP - 8, line.label)


def label_lefts(positions: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return where labels of lines begin: above their line, within the chart, and apart.

    Examples
    --------
    >>> label_lefts([100, 200], [20, 40]), label_lefts([500, 506], [60, 60])
    ([90.0, 180.0], [384.0, 452.0])
    """
    lefts = [position - width / 2 for position, width in zip(positions, widths, strict=True)]
    end = float(LEFT)
    for index, width in enumerate(widths):
        if index and lefts[index] < end:
            # Both give way alike.
            shift = min((end - lefts[index]) / 2, max(lefts[index - 1] - LEFT, 0))
            lefts[index - 1] -= shift
            end -= shift
        lefts[index] = max(lefts[index], end)
        end = lefts[index] + width + LABEL_GAP
    limit = float(RIGHT)
    for index in reversed(range(len(widths))):
        lefts[index] = min(lefts[index], limit - widths[index])
        limit = lefts[index] - LABEL_GAP
    return lefts


def draw_axes(
    drawing: Drawing,
    *,
    x_axis: str,
    y_axis: str,
    y_limits: tuple[float, float],
    is_percent: bool,
) -> Callable[[float], float]:
    """Draw the axis of y and the names of both; return the scale of y."""
    bottom = TOP + CURVE_HEIGHT
    y = scale(y_limits, (bottom, TOP))
    for tick in ticks(y_limits):
        drawing.line((PLOT_LEFT, y(tick)), (RIGHT, y(tick)), kind="grid")
        text = f"{100 * tick:g}%" if is_percent else f"{tick:g}"
        drawing.text(PLOT_LEFT - 6, y(tick) + 4, text, kind="muted", anchor="end")
    drawing.text(LEFT, 10, y_axis, kind="muted")
    drawing.axis_name((PLOT_LEFT + RIGHT) / 2, bottom + 36, x_axis)
    return y


def draw_curves(chart: CurveChart) -> Drawing:
    """Draw curves with bands, lines and single marks, and a legend below them."""
    bottom = TOP + CURVE_HEIGHT
    drawing = Drawing(height=bottom + 44)
    y = draw_axes(
        drawing, x_axis=chart.x_axis, y_axis=chart.y_axis, y_limits=chart.y_limits, is_percent=False
    )
    x = scale(chart.x_limits, (PLOT_LEFT, RIGHT - 10))
    draw_x_labels(drawing, chart, x)
    for index, curve in enumerate(chart.curves):
        draw_curve(drawing, curve, index, x=x, y=y)
    for line in chart.y_lines:
        kind = "threshold" if line.is_threshold else "axis"
        drawing.line((PLOT_LEFT, y(line.value)), (RIGHT, y(line.value)), kind=kind)
        drawing.text(RIGHT, y(line.value) - 5, line.label, anchor="end")
    for line in chart.x_lines:
        kind = "threshold" if line.is_threshold else "axis"
        drawing.line((x(line.value), TOP), (x(line.value), bottom), kind=kind)
        is_right = x(line.value) > (PLOT_LEFT + RIGHT) / 2
        offset, anchor = (-5, "end") if is_right else (5, "start")
        drawing.text(x(line.value) + offset, bottom - 8, line.label, anchor=anchor)
    for mark_x, mark in chart.marks:
        kind = "span indicated" if mark.kind == "indicated" else "span"
        if not math.isnan(mark.low):
            drawing.line((x(mark_x), y(mark.low)), (x(mark_x), y(mark.high)), kind=kind)
        if not math.isnan(mark.value):
            drawing.mark(x(mark_x), y(mark.value), mark.kind)
    for index, curve in enumerate(chart.curves):
        top = drawing.next_line()
        drawing.path(
            [(LEFT, top - 4), (LEFT + 30, top - 4)],
            kind=f"curve c{index % COLOR_COUNT}",
            dashes=DASHES[index % len(DASHES)],
        )
        drawing.legend_text(LEFT + 38, top, curve.label)
    for _, mark in chart.marks:
        top = drawing.next_line()
        drawing.mark(LEFT + 15, top - 4, mark.kind)
        drawing.legend_text(LEFT + 38, top, mark.label)
    drawing.height += 6
    return drawing


def draw_x_labels(drawing: Drawing, chart: CurveChart, x: Callable[[float], float]) -> None:
    """Write numbers, or the names of stages, below the horizontal axis."""
    labels = chart.x_labels or tuple((tick, f"{tick:g}") for tick in ticks(chart.x_limits))
    room = max(6, int((RIGHT - PLOT_LEFT) / max(len(labels), 1) / LETTER_WIDTH))
    for index, (value, label) in enumerate(labels):
        anchor = "middle"
        # A name at an end would be cut off in the middle.
        if chart.x_labels and index in (0, len(labels) - 1):
            anchor = "start" if index == 0 else "end"
        label_text = label if len(label) <= room else f"{label[: room - 1]}…"
        drawing.text(x(value), TOP + CURVE_HEIGHT + 18, label_text, kind="muted", anchor=anchor)


def draw_curve(
    drawing: Drawing,
    curve: Curve,
    index: int,
    *,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> None:
    """Draw a curve and its band; colour and dashes follow from its number among the curves."""
    color = index % COLOR_COUNT
    for run in runs(curve, curve.low, curve.high) if curve.low else ():
        lower = [(x(value), y(low)) for value, low, _ in run]
        upper = [(x(value), y(high)) for value, _, high in run]
        drawing.area([*lower, *upper[::-1]], kind=f"band f{color}")
    for run in runs(curve, curve.y, curve.y):
        points = [(x(value), y(height)) for value, height, _ in run]
        drawing.path(points, kind=f"curve c{color}", dashes=DASHES[index % len(DASHES)])
        # Few points are stages or amounts: each is a value of its own.
        if len(curve.x) <= MAX_DOTTED_POINTS and not curve.is_stepped:
            drawing.shapes += [
                f'<circle cx="{left:.1f}" cy="{top:.1f}" r="3" class="f{color}"/>'
                for left, top in points
            ]


def runs(
    curve: Curve, low: Sequence[float], high: Sequence[float]
) -> list[list[tuple[float, float, float]]]:
    """Return the values between gaps; of a stepped curve with the corners of its steps.

    Examples
    --------
    >>> curve = Curve(label="", x=(1, 2, 3), y=(5, 6, math.nan), is_stepped=True)
    >>> runs(curve, curve.y, curve.y)
    [[(1, 5, 5), (1, 6, 6), (2, 6, 6)]]
    """
    segments: list[list[tuple[float, float, float]]] = [[]]
    for value, lower, upper in zip(curve.x, low, high, strict=True):
        if math.isnan(lower) or math.isnan(upper):
            segments.append([])
        else:
            segments[-1].append((value, lower, upper))
    kept = [run for run in segments if run]
    if not curve.is_stepped:
        return kept
    return [
        [
            run[0],
            *(
                corner
                for (value, _, _), following in pairwise(run)
                for corner in ((value, following[1], following[2]), following)
            ),
        ]
        for run in kept
    ]


def draw_bars(chart: BarChart) -> Drawing:
    """Draw the bars of each group beside each other, in the order of the legend."""
    bottom = TOP + CURVE_HEIGHT
    drawing = Drawing(height=bottom + 44)
    y = draw_axes(
        drawing, x_axis=chart.x_axis, y_axis=chart.y_axis, y_limits=chart.y_limits, is_percent=True
    )
    slot = (RIGHT - PLOT_LEFT) / max(len(chart.labels), 1)
    width = 0.86 * slot / max(len(chart.series), 1)
    label_step = max(1, math.ceil(len(chart.labels) * 24 / (RIGHT - PLOT_LEFT)))
    for index, label in enumerate(chart.labels):
        left = PLOT_LEFT + slot * index + 0.07 * slot
        if index % label_step == 0:
            drawing.text(left + slot * 0.43, bottom + 18, label, kind="muted", anchor="middle")
        for order, bars in enumerate(chart.series):
            height = bottom - y(bars.values[index])
            drawing.shapes.append(
                f'<rect x="{left + width * order:.2f}" y="{bottom - height:.1f}" '
                f'width="{width:.2f}" height="{height:.1f}" class="bar b{order % COLOR_COUNT}"/>'
            )
    for order, bars in enumerate(chart.series):
        top = drawing.next_line()
        drawing.shapes.append(
            f'<rect x="{LEFT}" y="{top - 11:.1f}" width="14" height="12" '
            f'class="bar b{order % COLOR_COUNT}"/>'
        )
        ordinal = ("first", "second", "third", "fourth")[order % COLOR_COUNT]
        drawing.legend_text(LEFT + 22, top, f"{bars.label} ({ordinal} bar)")
    drawing.height += 6
    return drawing
