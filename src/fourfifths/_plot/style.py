"""What the plots have in common: colours, the look of a panel, and the choice of the plot.

Figures are made without pyplot: it would keep every figure alive, and choose a window system.
"""

from __future__ import annotations

from functools import singledispatch

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourfifths._results import Result
from fourfifths.errors import OptionError

BELOW, OTHER, LINE, GRID = "#b2182b", "#2166ac", "#444444", "#dddddd"
MAX_RATIO = 4.0  # the right edge of most panels of impact ratios


@singledispatch
def draw(result: Result, ax: Axes | None = None) -> Figure | Axes:
    """Draw a result; each kind registers its own plot, in the file of its name.

    Without `ax` all panels in a new Figure; with it, the main panel there.
    """
    del ax
    drawn = sorted(kind.__name__ for kind in draw.registry if kind is not object)
    raise OptionError(
        f"plot: there is no picture of a {type(result).__name__}; there is one of each of these: "
        f"{', '.join(drawn)}"
    )


def literal(text: str) -> str:
    r"""Keep matplotlib from reading dollar signs in data as mathematics.

    Examples
    --------
    >>> literal("income > $50K")
    'income > \\$50K'
    """
    return text.replace("$", r"\$")


def tidy(axis: Axes, *, grid: str = "both") -> None:
    """Take the frame off a panel and put a light grid behind it."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis=grid, color=GRID, linewidth=0.6)  # type: ignore[arg-type]
    axis.set_axisbelow(True)


def label_line(axis: Axes, text: str, *, x: float, align: str = "center") -> None:
    """Write a text above a panel, at the vertical line at `x`."""
    axis.annotate(
        text,
        (x, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha=align,
        fontsize="small",
        color=LINE,
    )
