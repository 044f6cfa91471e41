"""A chart as data, before it is known how it is drawn: what is compared, and what it shows.

`to_charts` turns a result into charts; each kind of result registers its own version in the file
of its name. A renderer (`svg`) knows only charts. The title of a chart states the finding, and its
text alternative states the numbers, so that nobody needs the picture to know what it shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from fourfifths._report.pages import CHARTS, is_loaded_now
from fourfifths._results import Result

# Drawn as different shapes. "indicated": a filled square; "judged": a filled circle; "not judged":
# an open circle; "reference": a diamond.
MarkKind = Literal["indicated", "judged", "not judged", "reference"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A value with its interval, in a row of its own.

    Attributes
    ----------
    label : str
        What the row is about; a name from the data.
    detail : str
        A few figures beside the label: "12 of 34".
    value, low, high : float
        NaN where undefined. An interval with a lower limit only is open above.
    kind : {"indicated", "judged", "not judged", "reference"}
    """

    label: str
    detail: str = ""
    value: float
    low: float = math.nan
    high: float = math.nan
    kind: MarkKind = "judged"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line across the chart at a value, and its label: the 4/5 line, equal rates, beta."""

    value: float
    label: str
    is_threshold: bool = False


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Values along the horizontal axis, with the limits of a band around them if there are any.

    Attributes
    ----------
    label : str
    x, y : tuple of float
        NaN in `y` is a gap.
    low, high : tuple of float
        The band; empty if there is none.
    is_stepped : bool
        Whether a value holds from the x before it up to its own.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    is_stepped: bool = False


@dataclass(frozen=True, kw_only=True)
class Bars:
    """The bars of one group, one for each label of the chart's axis."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class DotChart:
    """Values with intervals, one row each.

    Attributes
    ----------
    title : str
        The finding, in a sentence without a full stop.
    alt : str
        The numbers, in sentences.
    axis : str
        What the values are.
    marks : tuple of Mark
    lines : tuple of Line
        Vertical.
    limits : tuple of float
        The ends of the axis.
    meanings : tuple of (MarkKind, str)
        What the shapes mean in this chart: its legend.
    """

    title: str
    alt: str
    axis: str
    marks: tuple[Mark, ...]
    lines: tuple[Line, ...] = ()
    limits: tuple[float, float]
    meanings: tuple[tuple[MarkKind, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class CurveChart:
    """Curves over a common axis.

    Attributes
    ----------
    title, alt : str
        As in `DotChart`.
    x_axis, y_axis : str
        What the values are.
    curves : tuple of Curve
    x_lines, y_lines : tuple of Line
        Vertical lines at a value of x, horizontal ones at a value of y.
    x_limits, y_limits : tuple of float
    x_labels : tuple of (float, str)
        Names of values of x, as of the stages of a selection; empty: numbers.
    marks : tuple of (float, Mark)
        Single values at an x, drawn with their intervals.
    """

    title: str
    alt: str
    x_axis: str
    y_axis: str
    curves: tuple[Curve, ...]
    x_lines: tuple[Line, ...] = ()
    y_lines: tuple[Line, ...] = ()
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    x_labels: tuple[tuple[float, str], ...] = ()
    marks: tuple[tuple[float, Mark], ...] = ()


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Bars of several groups side by side.

    Attributes
    ----------
    title, alt : str
        As in `DotChart`.
    x_axis, y_axis : str
    labels : tuple of str
        One for each place on the horizontal axis.
    series : tuple of Bars
    y_limits : tuple of float
    """

    title: str
    alt: str
    x_axis: str
    y_axis: str
    labels: tuple[str, ...]
    series: tuple[Bars, ...]
    y_limits: tuple[float, float]


Chart = DotChart | CurveChart | BarChart
# With more curves, a reader could not tell which is which.
MAX_CURVES = 5


@singledispatch
def to_charts(result: Result) -> tuple[Chart, ...]:
    """Return the charts of a result; a kind of result without charts has none."""
    return to_charts(result) if is_loaded_now(result, CHARTS) else ()
