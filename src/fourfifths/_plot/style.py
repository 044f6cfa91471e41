"""What the plots have in common: colours, the look of a panel, the choice of the plot, its names.

Figures are made without pyplot: it would keep every figure alive, and choose a window system.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache, singledispatch
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.gridspec import SubplotSpec
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator

from fourfifths._results import Result
from fourfifths.errors import OptionError

BELOW, OTHER, LINE, GRID = "#b2182b", "#2166ac", "#444444", "#dddddd"
MAX_RATIO = 4.0  # the right edge of most panels of impact ratios
LABEL_LETTERS = 30  # a line of a name that is wrapped
MAX_LABEL_LETTERS = 40  # a name that is not
MAX_LINES = 4
MAX_ROW_LINES = 8  # of a name beside its own row: what differs may stand in the middle
MIN_LETTERS = 8
LETTER_INCHES = 0.085  # at the usual size
LINE_INCHES = 0.17
USUAL_LEGEND_INCHES = 1.2
USUAL_NAME_INCHES = 2.8  # names that take no more than this leave a figure as wide as it is
LINE_SPACING = 1.25
LABEL_OF_LINE = "label of a line"


@singledispatch
def draw(result: Result, ax: Axes | None = None) -> Figure | Axes:
    """Draw a result; each kind registers its own plot, in the file of its name.

    Without `ax` all panels in a new Figure; with it, the main panel there.
    """
    del ax
    drawn = sorted(kind.__name__ for kind in draw.registry if kind is not object)
    raise OptionError(
        f"plot: there is no picture of {type(result).__name__}; there is one of each of these: "
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
        gid=LABEL_OF_LINE,
    )


def label_point(
    axis: Axes, text: str, position: tuple[float, float], *, offset: tuple[float, float]
) -> None:
    """Write a text beside a point of a panel, so many points of type away from it."""
    axis.annotate(
        text,
        position,
        xytext=offset,
        textcoords="offset points",
        fontsize="small",
        color=LINE,
        gid=LABEL_OF_LINE,
    )


def plot(result: Result, ax: Axes | None = None) -> Figure | Axes:
    """Draw a result, and make room for its names: they are wrapped, and the figure is widened.

    A figure with short names stays as it is. In a panel of somebody else's figure names are
    wrapped, and the figure keeps its size.
    """
    picture = draw(result, ax)
    families = families_for("".join(text.get_text() for text in texts_of(picture)))
    for text in texts_of(picture) if families else ():
        text.set_fontfamily([*text.get_fontfamily(), *families])
    if isinstance(picture, Figure):
        make_room(picture)
    else:
        wrap_panels(root_of(picture), [picture], may_grow=False)
        part_labels(picture)
    return picture


def make_room(figure: Figure) -> None:
    """Wrap the names and titles of a figure, and make it as large as they need."""
    added_lines = wrap_panels(figure, figure.axes, may_grow=True)
    if added_lines:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + added_lines * LINE_INCHES)
        lay_out(figure)
    heighten(figure)
    for axis in figure.axes:
        part_labels(axis)


def wrap_panels(figure: Figure, panels: Sequence[Axes], *, may_grow: bool) -> int:
    """Wrap names, then titles to the width that is left; return how many lines were added."""
    for axis in panels:
        wrap_names(axis, may_grow=may_grow)
    titles = [text for axis in panels for text in titles_of(axis)]
    if may_grow:
        titles += figure.texts
    # A title that is not wrapped yet would take the room of the panels.
    for text in titles:
        text.set_visible(False)
    lay_out(figure)
    if may_grow:
        widen(figure)
    for text in titles:
        text.set_visible(True)
    line_counts = [line_count(text) for text in titles]
    for axis in panels:
        wrap_titles(axis)
    for text in figure.texts if may_grow else ():
        wrap_to(text, 0.96 * figure.bbox.width)
    lay_out(figure)
    return sum(map(line_count, titles)) - sum(line_counts)


def line_count(text: Text) -> int:
    """Return how many lines a text has."""
    return text.get_text().count("\n") + 1


def texts_of(picture: Figure | Axes) -> list[Text]:
    """Return every text of a picture, those of ticks among them."""
    return [text for text in picture.findobj(Text) if isinstance(text, Text)]


def wrapped(text: str, letters: float, *, max_lines: int = MAX_LINES) -> str:
    r"""Return a text in lines of about so many letters; of a very long one, in a few lines.

    What is left out is in the middle, because counts stand at the end.

    Examples
    --------
    >>> wrapped("Two or More Races (Not Hispanic or Latino)  12/40", 30)
    'Two or More Races (Not\nHispanic or Latino)  12/40'
    >>> wrapped("a" * 99, 8)
    'aaaaaaaa\naaaaaaaa\naaaaaaaa\n…aaaaaaa'
    """
    letters = max(int(letters), MIN_LETTERS)
    lines = []
    for line in text.replace(r"\$", "$").split("\n"):
        # Names of columns are broken behind an underscore.
        parts = wrap(line.replace("_", "_\v"), letters, replace_whitespace=False) or [""]
        rows = [part.replace("\v", "") for part in parts]
        if len(rows) > max_lines:
            end = line[-(letters // (1 if max_lines > 1 else 2) - 1) :].lstrip()
            start = rows[: max_lines - 1] or [line[: letters - len(end) - 1]]
            rows = [*start, f"…{end}"] if max_lines > 1 else [f"{start[0]}…{end}"]
        lines += rows
    return literal("\n".join(lines))


def wrapped_name(name: str, *, max_lines: int = MAX_LINES) -> str:
    """Return a name in lines; one that is hardly longer than a line stays in one."""
    if len(name) <= MAX_LABEL_LETTERS:
        return name
    letters = LABEL_LETTERS if max_lines > 1 else MAX_LABEL_LETTERS
    return wrapped(name, letters, max_lines=max_lines)


def wrap_names(axis: Axes, *, may_grow: bool) -> None:
    """Wrap the names at ticks and in the legend; in no more lines than a row has, unless it grows.

    A legend with wrapped names is put beside the panel: inside, it would hide what is drawn.
    """
    panel, legend = axis.get_window_extent(), axis.get_legend()
    for text in () if legend is None else legend.get_texts():
        text.set_text(wrapped_name(text.get_text()))
    if legend is not None and any(line_count(text) > 1 for text in legend.get_texts()):
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((1.04, 1), transform=axis.transAxes)
    # Other ticks are numbers, of which matplotlib chooses as many as there is room for.
    if isinstance(axis.yaxis.get_major_locator(), FixedLocator):
        labels = [label.get_text() for label in axis.get_yticklabels()]
        row_inches = panel.height / max(len(labels), 1) / inch_of(axis)
        max_lines = MAX_ROW_LINES if may_grow else max(1, int(row_inches / LINE_INCHES / 1.4))
        names = [wrapped_name(label, max_lines=max_lines) for label in labels]
        if names != labels:
            axis.yaxis.set_ticklabels(names)
    if isinstance(axis.xaxis.get_major_locator(), FixedLocator):
        labels = [label.get_text() for label in axis.get_xticklabels()]
        letters = panel.width / inch_of(axis) / max(len(labels), 1) / LETTER_INCHES
        names = [wrapped(label, min(letters, LABEL_LETTERS)) for label in labels]
        if names != labels:  # of panels with one axis only the lowest has labels
            axis.xaxis.set_ticklabels(names)


def widen(figure: Figure) -> None:
    """Widen a figure by what its names take more than usual."""
    excess: dict[int, float] = {}
    for axis in figure.axes:
        panel, legend = axis.get_window_extent(), axis.get_legend()
        widths = [label.get_window_extent().width for label in axis.get_yticklabels()]
        added = max(0.0, max(widths, default=0.0) / inch_of(axis) - USUAL_NAME_INCHES)
        if legend is not None:
            beside = (legend.get_window_extent().x1 - panel.x1) / inch_of(axis)
            added += max(0.0, beside - USUAL_LEGEND_INCHES)
        column = spec_of(axis).colspan.start
        excess[column] = max(excess.get(column, 0.0), added)
    if any(excess.values()):
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + sum(excess.values()), height)
        lay_out(figure)


def heighten(figure: Figure) -> None:
    """Make a figure so high that no wrapped name meets the next."""
    stretch = 1.0
    for axis in figure.axes:
        labels = [label for label in axis.get_yticklabels() if line_count(label) > 1]
        low, high = sorted(axis.get_ylim())
        row_height = axis.get_window_extent().height / (high - low)
        highest = max((label.get_window_extent().height for label in labels), default=0.0)
        stretch = max(stretch, LINE_SPACING * highest / row_height)
    if stretch > 1:
        panels = {spec_of(axis).rowspan.start: axis for axis in figure.axes}.values()
        panel_inches = sum(axis.get_window_extent().height / inch_of(axis) for axis in panels)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + (stretch - 1) * panel_inches)
        lay_out(figure)


def wrap_titles(axis: Axes) -> None:
    """Wrap the titles of a panel and of its axes, so that each is over what it names."""
    panel, legend = axis.get_window_extent(), axis.get_legend()
    width = panel.width
    if legend is not None and legend.get_window_extent().y0 >= panel.y1:
        width -= legend.get_window_extent().width
    for title in titles_of(axis)[:-1]:
        wrap_to(title, width)
    # The label of an axis may be longer than the axis, up to halfway to the next panel.
    figure = root_of(axis)
    others = [other.get_window_extent() for other in figure.axes if other is not axis]
    left = max((box.x1 for box in others if box.x1 <= panel.x0), default=-panel.x0)
    right = min(
        (box.x0 for box in others if box.x0 >= panel.x1), default=2 * figure.bbox.x1 - panel.x1
    )
    wrap_to(axis.xaxis.label, panel.width + 0.7 * min(panel.x0 - left, right - panel.x1))


def titles_of(axis: Axes) -> list[Text]:
    """Return the titles of a panel, in the middle, left and right, and the label below it."""
    titles = [
        child
        for child in axis.get_children()
        if isinstance(child, Text) and child not in axis.texts
    ]
    return [*titles, axis.xaxis.label]


def wrap_to(text: Text, limit: float) -> None:
    """Wrap a text that is longer than there is room for."""
    unwrapped = text.get_text()
    letters = max(len(line) for line in unwrapped.split("\n"))
    while text.get_window_extent().width > limit and letters > MIN_LETTERS:
        letters = min(letters - 1, int(letters * limit / text.get_window_extent().width))
        text.set_text(wrapped(unwrapped, letters))


def part_labels(axis: Axes) -> None:
    """Part the labels of lines from the title above them, and from the legend."""
    legend = axis.get_legend()
    for label in axis.texts:
        if label.get_gid() != LABEL_OF_LINE or not isinstance(label, Annotation):
            continue
        for title in titles_of(axis)[:-1]:
            if title.get_text() and label.get_window_extent().overlaps(title.get_window_extent()):
                title.set_text(f"{title.get_text()}\n")  # the label stands in the empty line
        box = None if legend is None else legend.get_window_extent()
        if box is not None and label.get_window_extent().overlaps(box):
            x, y = label.xyann
            raised = box.y1 - label.get_window_extent().y0 + 1  # a dot apart
            label.xyann = (x, y + 72 * raised / inch_of(axis))


def lay_out(figure: Figure) -> None:
    """Give panels and texts their places, so that they can be measured."""
    with warnings.catch_warnings():
        # There may be too little room yet; and a letter that no font has is drawn as a box.
        warnings.simplefilter("ignore", UserWarning)
        figure.draw_without_rendering()


def spec_of(axis: Axes) -> SubplotSpec:
    """Return the place of a panel in its figure."""
    spec = axis.get_subplotspec()
    assert spec is not None
    return spec


def root_of(axis: Axes) -> Figure:
    """Return the figure that a panel is in, and not only a part of it."""
    figure = axis.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def inch_of(axis: Axes) -> float:
    """Return how many pixels an inch of the figure has."""
    return float(root_of(axis).dpi)


def families_for(text: str) -> list[str]:
    """Return the installed fonts that have the letters which the usual font lacks.

    Examples
    --------
    >>> families_for("White 12/40")
    []
    """
    missing = {ord(letter) for letter in text if letter.isprintable()} - letters_of(usual_font())
    families = []
    for name, path in installed_fonts() if missing else ():
        present = missing & letters_of(path)
        if present:
            families.append(name)
            missing -= present
        if not missing:
            break
    return families


def letters_without_font(picture: Figure) -> str:
    """Return the letters of a picture that no installed font has; they are drawn as boxes."""
    text = "".join(text.get_text() for text in texts_of(picture))
    paths = [path for name, path in installed_fonts() if name in families_for(text)]
    drawn = set.union(*map(letters_of, (usual_font(), *paths)))
    letters = (letter for letter in text if letter.isprintable() and ord(letter) not in drawn)
    return "".join(dict.fromkeys(letters))


def usual_font() -> str:
    """Return the file of the font that figures are drawn with."""
    return str(findfont(FontProperties()))


@cache
def letters_of(path: str) -> set[int]:
    """Return the letters of a font."""
    return set(get_font(path).get_charmap())


def installed_fonts() -> list[tuple[str, str]]:
    """Return the upright fonts of usual weight, those without serifs first."""
    fonts = [
        (font.name, str(font.fname))
        for font in fontManager.ttflist
        # The last has a box for every letter.
        if font.style == "normal" and font.weight in (400, "normal") and "Last" not in font.name
    ]
    return sorted(fonts, key=lambda font: ("Sans" not in font[0], *font))
