"""The figures: points as the rows of a CSV, and as a picture for print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fourfifths
from fourfifths._arrays import FloatArray
from fourfifths._paper.experiments import (
    AUDITORS,
    PAPER_AUDITORS,
    PASS_RULE,
    PLAIN_LR,
    Settings,
    experiments,
    recorded_rates,
)
from fourfifths._plot.style import LINE, tidy
from fourfifths._stats.balanced_error import Errors
from fourfifths._tradeoff.points import figures
from fourfifths._tradeoff.store import Record

Curves = Mapping[str, fourfifths.Tradeoff]
Row = dict[str, Any]
COLORS = {
    "none": "black",
    "combinatorial": "#2166ac",
    "geometric": "#b2182b",
    "random": "#1a9850",
    "blocks": "#762a83",
}
# For what is not a repair: attributes that are repaired by, and auditors (Okabe and Ito's colors).
OTHER_COLORS = ("#e69f00", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#0072b2", "#999999")
MARKERS = {"LR": "o", "SVM": "s", "GNB": "^", PASS_RULE: "D", PLAIN_LR: "v"}
METHOD_MARKERS = "*PXdh<>p8"
OTHER_METHOD = "other method"
THRESHOLD = 0.8
TITLES = {"ricci": "Ricci", "german": "German", "adult": "Adult"}
HALF_AMOUNT = 0.5
MARKED_AMOUNTS = (0.0, HALF_AMOUNT, 1.0)
# Their offsets, in points.
ABOVE, ABOVE_LEFT, BELOW = (3, 3), (-9, 4), (-3, -9)
MIN_SPACE_BELOW = 0.25  # of ratios, for what is written below the points
FULL_REPAIR = Line2D(
    [],
    [],
    marker="o",
    linestyle="",
    color="white",
    markeredgecolor="black",
    markeredgewidth=0.7,
    markersize=4.5,
    label="black edge: full repair",
)
HALF_REPAIR = Line2D(
    [],
    [],
    marker="o",
    linestyle="",
    color="white",
    markeredgecolor="0.4",
    markeredgewidth=0.8,
    markersize=3.5,
    label="hollow: amount .5",
)
# By amount; None is any other.
MARK_STYLES: Mapping[float | None, Mapping[str, Any]] = {
    None: {"markersize": 3.2, "markeredgewidth": 0},
    HALF_AMOUNT: {"markersize": 3.4, "markeredgewidth": 0.8, "markerfacecolor": "white"},
    1.0: {"markersize": 4, "markeredgewidth": 0.7, "markeredgecolor": "black"},
}
# What a journal sets in two columns is 7 inches wide, with letters of about 8 points.
FULL_WIDTH, COLUMN_WIDTH, PANEL_HEIGHT = 7.0, 3.4, 2.6
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    # The ids in an SVG are drawn at random without it.
    "svg.hashsalt": "fourfifths",
}
ALL_SPLITS = "all"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One figure of the report.

    Attributes
    ----------
    title : str
    caption : str
        What is shown, and which figure of the paper it answers.
    needs : tuple of str
        The sweeps whose points it shows.
    rows : callable
        Makes the rows of its CSV from those sweeps and the settings.
    draw : callable
        Draws the picture from the rows.
    """

    title: str
    caption: str
    needs: tuple[str, ...]
    rows: Callable[[Curves, Settings], list[Row]]
    draw: Callable[[Sequence[Row]], Figure]


def point_rows(curves: Curves) -> list[Row]:
    """Return one row per point, with the BER of every auditor and the mean ratio over groups."""
    rows = []
    for name, curve in curves.items():
        for point in curve.points:
            row: Row = {"sweep": name, "repeats": curve.repeats, "split": ALL_SPLITS}
            for figure in ("model", "scope", "method", "amount"):
                row[figure] = getattr(point, figure)
            for figure in ("impact_ratio", "utility", "accuracy", "parity", "auc"):
                low, high = getattr(point, f"{figure}_interval")
                row |= {figure: getattr(point, figure), f"{figure}_low": low}
                row[f"{figure}_high"] = high
            row["mean_impact_ratio"] = float(np.mean(list(point.impact_ratios.values())))
            for auditor in AUDITORS:
                row[f"BER {auditor}"] = point.auditors.get(auditor, float("nan"))
            row["proven_floor"] = point.proven_floor
            rows.append(row)
    return rows


# --- single splits, as the paper shows them; a sweep's cells keep what was counted in each ---


def rows_with_splits(curves: Curves, settings: Settings) -> list[Row]:
    """Return the points of the sweeps, then those of their single splits."""
    rows = point_rows(curves)
    empty = dict.fromkeys(rows[0], float("nan"))
    sweeps = experiments()
    for name, curve in curves.items():
        if curve.repeats > 1:
            # The first line says which sweep it is.
            lines = settings.cells_of(name).read_text(encoding="utf-8").splitlines()[1:]
            records = cast("list[Record]", [json.loads(line) for line in lines])
            reference = sweeps[name].data().reference
            rows += [empty | row for row in split_rows(name, records, reference=reference)]
    return rows


def split_rows(name: str, records: Sequence[Record], *, reference: int) -> list[Row]:
    """Return a row for each cell of a sweep, with the figures of its split alone.

    Parameters
    ----------
    name : str
        The sweep.
    records : sequence of Record
    reference : int
        The code of the reference group.
    """
    rows: list[Row] = []
    for record in sorted(records, key=lambda cell: (cell["model"], cell["method"], cell["repeat"])):
        row: Row = {"sweep": name, "repeats": 1, "split": record["repeat"]}
        row |= {"model": record["model"], "scope": record["scope"]}
        row |= {"method": record["method"], "amount": record["amount"]}
        counted = figures(np.array(record["counts"]), reference)
        row |= {figure: float(value) for figure, value in counted.items()}
        for auditor in AUDITORS:
            if auditor in record["auditor"]:
                wrong, n, wrong_reference, n_reference = record["auditor"][auditor]
                errors = Errors(
                    wrong=wrong, n=n, wrong_reference=wrong_reference, n_reference=n_reference
                )
                row[f"BER {auditor}"] = errors.balanced_error_rate
        rows.append(row)
    return rows


def repair_of(row: Row) -> str:
    """Return what a row's color stands for: the method, or blocks."""
    return "blocks" if row["scope"] == "blocks" else str(row["method"])


# --- figure 2 of the paper, and the same with trees ---


def predictability(rows: Sequence[Row], auditor: str | None = None) -> Figure:
    """Draw how predictable the protected attribute is against the impact ratio of each model.

    Parameters
    ----------
    rows : sequence of rows
        Those of single splits are drawn small and light.
    auditor : str, optional
        The auditor whose BER is shown; by default, for each model the same kind of classifier.
    """
    names = list(dict.fromkeys(row["sweep"].partition("-")[0] for row in rows))
    figure, axes = new_figure(len(names), answers="" if auditor else "figure 2")
    for axis, name in zip(axes, names, strict=True):
        ratio_line(axis, vertical=False)
        ber = certifying_ber(name)
        axis.axvline(ber, color=LINE, linestyle=":", linewidth=1)
        axis.annotate(
            f"certified\nabove {ber:.3f}",
            (ber, 0.02),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            ha="right",
            fontsize="x-small",
            color=LINE,
        )
        panel_rows = [
            row
            for row in rows
            if row["sweep"].partition("-")[0] == name and row["model"] in PAPER_AUDITORS
        ]
        for repair, color in COLORS.items():
            dots = [
                (row[f"BER {auditor or row['model']}"], row["impact_ratio"])
                for row in panel_rows
                if row["split"] != ALL_SPLITS and repair_of(row) == repair
            ]
            if dots:
                axis.plot(
                    *zip(*dots, strict=True),
                    ".",
                    color=color,
                    markersize=2.5,
                    markeredgewidth=0,
                    alpha=0.3,
                    zorder=1,
                )
        points = [row for row in panel_rows if row["split"] == ALL_SPLITS]
        repair_paths(axis, points, x=lambda row: f"BER {auditor or row['model']}", y="impact_ratio")
        axis.set(title=TITLES[name], xlabel=f"BER of {auditor or 'predicting the group'}")
        ratios = [row["impact_ratio"] for row in panel_rows]
        lowest = min((ratio for ratio in ratios if np.isfinite(ratio)), default=1.0)
        axis.set_ylim(max(0, lowest - MIN_SPACE_BELOW), min(2, max(1.2, float(axis.get_ylim()[1]))))
    axes[0].set_ylabel("impact ratio of the model")
    key(figure, rows, models=PAPER_AUDITORS, handles=[HALF_REPAIR, FULL_REPAIR])
    return figure


def repair_paths(
    axis: Axes, rows: Sequence[Row], *, x: Callable[[Row], str], y: str, alpha: float = 1
) -> None:
    """Draw a mark for each row, and join those of a model and repair along the amounts.

    The mark of full repair has a black edge, that of amount .5 is hollow; the black mark is
    the data without repair.

    Parameters
    ----------
    axis : Axes
    rows : sequence of rows
        Of one data set.
    x : callable
        Returns the name of the figure of a row that is drawn across.
    y : str
    alpha : float
        Of the marks.
    """
    for model in dict.fromkeys(row["model"] for row in rows):
        model_rows = [row for row in rows if row["model"] == model]
        raw = [row for row in model_rows if row["method"] == "none"][:1]
        for repair in dict.fromkeys(repair_of(row) for row in model_rows):
            repaired = [row for row in model_rows if repair_of(row) == repair]
            line = sorted(
                raw if repair == "none" else raw + repaired, key=lambda row: float(row["amount"])
            )
            path = [(row[x(row)], row[y]) for row in line]
            axis.plot(*zip(*path, strict=True), "-", color=COLORS[repair], lw=0.6, alpha=0.35)
            marks: dict[float | None, list[tuple[float, float]]] = {}
            for row in raw if repair == "none" else repaired:
                marked = row["amount"] if row["amount"] in MARK_STYLES else None
                marks.setdefault(marked, []).append((row[x(row)], row[y]))
            for marked, points in marks.items():
                style = {"color": COLORS[repair], "markeredgecolor": COLORS[repair], "alpha": alpha}
                axis.plot(
                    *zip(*points, strict=True),
                    MARKERS[model],
                    **{**style, "zorder": 2, **MARK_STYLES[marked]},
                )


def draw_trees(rows: Sequence[Row]) -> Figure:
    """Draw the same with gradient-boosted trees as the auditor of every model."""
    return predictability(rows, "trees")


def by_amount(rows: Sequence[Row]) -> Figure:
    """Draw how well trees predict the protected attribute, by method, scope and amount."""
    figure, (axis,) = new_figure(1, answers="")
    raw = [row for row in rows if row["method"] == "none"][:1]
    repairs = dict.fromkeys((row["scope"], row["method"]) for row in rows)
    for scope, method in repairs:
        versions = {
            row["amount"]: row
            for row in rows
            if (row["scope"], row["method"]) == (scope, method) and method != "none"
        }
        if versions:
            line = raw + [versions[amount] for amount in sorted(versions)]
            axis.plot(
                [row["amount"] for row in line],
                [row["BER trees"] for row in line],
                marker="o",
                markersize=3,
                linewidth=1,
                color=COLORS[repair_of(line[-1])],
                label="blocks" if scope == "blocks" else f"{method}, column by column",
            )
    ber = certifying_ber("adult")
    axis.axhline(ber, color=LINE, linestyle=":", linewidth=1, label=f"certified above {ber:.3f}")
    axis.set(xlabel="amount of repair", ylabel="BER of trees that predict sex", ylim=(0, 0.52))
    figure.legend(loc="outside lower center", frameon=False, ncols=2)
    return figure


# --- figure 3: impact ratio and utility ---


def figure_model(name: str) -> str:
    """Return the model that the paper's figure of utility shows for a data set."""
    return PASS_RULE if name == "ricci" else "SVM"


def utility(rows: Sequence[Row]) -> Figure:
    """Draw impact ratio against utility: of SVM, and of Ricci's own rule."""
    names = list(dict.fromkeys(row["sweep"] for row in rows))
    figure, axes = new_figure(len(names), answers="figure 3")
    for axis, name in zip(axes, names, strict=True):
        model = figure_model(name)
        model_rows = [row for row in rows if row["sweep"] == name and row["model"] == model]
        raw = [row for row in model_rows if row["method"] == "none"]
        for method in ("combinatorial", "geometric"):
            line = raw + [row for row in model_rows if row["method"] == method]
            offset = ABOVE if method == "combinatorial" else BELOW
            curve_line(axis, line, color=COLORS[method], ratio="impact_ratio", offset=offset)
        ratio_line(axis, vertical=True)
        axis.set(title=f"{TITLES[name]}, {model}", xlabel="impact ratio")
        # The claims speak of one half, of Adult's two percent of utility only.
        axis.set_ylim(bottom=0.69 if name == "adult" else 0.45)
    axes[0].set_ylabel("utility (1 - BER of the outcome)")
    key(figure, [row for row in rows if row["method"] != "none"], models=())
    return figure


def german_years(rows: Sequence[Row]) -> Figure:
    """Draw German's utility and impact ratio by amount, with each year of age as a stratum."""
    figure, axes = new_figure(2, answers="figure 3 (German)")
    for axis, name in zip(axes, ("utility", "impact_ratio"), strict=True):
        for method in ("combinatorial", "geometric"):
            line = sorted(
                (row for row in rows if row["method"] in (method, "none")),
                key=lambda row: float(row["amount"]),
            )
            amount = [row["amount"] for row in line]
            low, high = ([row[f"{name}_{end}"] for row in line] for end in ("low", "high"))
            axis.fill_between(amount, low, high, color=COLORS[method], alpha=0.12, linewidth=0)
            axis.plot(
                amount,
                [row[name] for row in line],
                "o-",
                color=COLORS[method],
                markersize=3,
                linewidth=1,
            )
        axis.set(xlabel="amount of repair", ylabel=name.replace("_", " "), xlim=(-0.03, 1.03))
        axis.set_title("German, SVM")
    axes[1].set_ylim(bottom=0.4)
    if any(row["amount"] == 1 and np.isnan(row["impact_ratio"]) for row in rows):
        axes[1].annotate(
            "undefined at 1:\nnobody is selected",
            (1, 0.02),
            xycoords=("data", "axes fraction"),
            ha="right",
            fontsize="x-small",
            color=LINE,
        )
    axes[0].axhline(0.5, color=LINE, linestyle=":", linewidth=1)
    axes[0].annotate(
        "guessing",
        (0, 0.5),
        xytext=(0, 2),
        textcoords="offset points",
        fontsize="x-small",
        color=LINE,
    )
    axes[0].set_ylim(0.45, 0.8)
    ratio_line(axes[1], vertical=False)
    key(figure, [row for row in rows if row["method"] != "none"], models=())
    return figure


def several(rows: Sequence[Row]) -> Figure:
    """Draw utility against the mean impact ratio, repaired by sex, by race and by both."""
    labels = {"adult": "sex", "adult-race": "race", "adult-both": "sex and race"}
    figure, axes = new_figure(2, answers="figure 4")
    for axis, method in zip(axes, ("combinatorial", "geometric"), strict=True):
        # The line of race begins at a ratio of .8, where the dashed line is on its right.
        offsets = (ABOVE, ABOVE_LEFT, BELOW)
        for name, color, offset in zip(labels, OTHER_COLORS[3:], offsets, strict=False):
            line = [
                row
                for row in rows
                if (row["sweep"], row["model"]) == (name, "SVM")
                and row["method"] in (method, "none")
            ]
            curve_line(
                axis,
                line,
                color=color,
                ratio="mean_impact_ratio",
                offset=offset,
                label=labels[name],
            )
        ratio_line(axis, vertical=True)
        axis.set(title=f"Adult, SVM, {method}", xlabel="impact ratio, mean over the groups")
    axes[0].set_ylabel("utility (1 - BER of the outcome)")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", frameon=False, ncols=3)
    return figure


def curve_line(
    axis: Axes,
    line: Sequence[Row],
    *,
    color: str,
    ratio: str,
    offset: tuple[int, int],
    label: str | None = None,
) -> None:
    """Draw utility along the amounts, with light bars, and mark the amounts 0, .5 and 1.

    Parameters
    ----------
    axis : Axes
    line : sequence of rows
        Of one method, with the row without repair.
    color : str
    ratio : {"impact_ratio", "mean_impact_ratio"}
        Bars of the ratio are drawn where its limits are known.
    offset : tuple of int
        Of the amounts from their marks, in points; lines that cross have theirs apart.
    label : str, optional
    """
    line = sorted(line, key=lambda row: float(row["amount"]))
    x, y = ([row[name] for row in line] for name in (ratio, "utility"))
    bars: dict[str, Any] = {"fmt": "none", "ecolor": color, "elinewidth": 1, "alpha": 0.18}
    axis.errorbar(x, y, yerr=error_bars(line, "utility"), **bars)
    if ratio == "impact_ratio":
        axis.errorbar(x, y, xerr=error_bars(line, ratio), **bars)
    axis.plot(x, y, "o-", color=color, markersize=2.8, linewidth=1, label=label)
    for row, left, height in zip(line, x, y, strict=True):
        if row["amount"] in MARKED_AMOUNTS:
            axis.annotate(
                f"{row['amount']:g}",
                (left, height),
                xytext=offset,
                textcoords="offset points",
                fontsize="x-small",
                color=color,
            )


# --- figure 5: other methods ---


def comparison(rows: Sequence[Row]) -> Figure:
    """Draw parity against accuracy: repairs by model and method, other methods by name."""
    names = list(dict.fromkeys(row["sweep"].partition("-")[0] for row in rows))
    figure, axes = new_figure(len(names), answers="figure 5", height=3.2)
    peers = list(dict.fromkeys(row["method"] for row in rows if row["model"] == OTHER_METHOD))
    for axis, name in zip(axes, names, strict=True):
        panel_rows = [row for row in rows if row["sweep"].partition("-")[0] == name]
        repairs = [row for row in panel_rows if row["model"] != OTHER_METHOD]
        repair_paths(axis, repairs, x=lambda _: "parity", y="accuracy", alpha=0.7)
        for row in panel_rows:
            if row["model"] != OTHER_METHOD:
                continue
            index = peers.index(row["method"])
            axis.plot(
                row["parity"],
                row["accuracy"],
                METHOD_MARKERS[index],
                color=OTHER_COLORS[index % len(OTHER_COLORS)],
                markersize=7,
                markeredgecolor="black",
                markeredgewidth=0.5,
                zorder=3,
            )
        axis.axvline(1, color=LINE, linestyle="--", linewidth=0.8)
        axis.set(title=TITLES[name], xlabel="Zemel fairness (parity of selection rates)")
    axes[0].set_ylabel("accuracy")
    marks = [
        Line2D(
            [],
            [],
            marker=METHOD_MARKERS[index],
            color=OTHER_COLORS[index % len(OTHER_COLORS)],
            markeredgecolor="black",
            markeredgewidth=0.5,
            linestyle="",
            markersize=6,
            label=name,
        )
        for index, name in enumerate(peers)
    ]
    models = [*PAPER_AUDITORS, PLAIN_LR]
    key(figure, rows, models=models, handles=[HALF_REPAIR, FULL_REPAIR, *marks], columns=4)
    return figure


# --- what they share ---


def new_figure(
    panels: int, *, answers: str, height: float = PANEL_HEIGHT, rows: int = 1
) -> tuple[Figure, Any]:
    """Return a figure with this many axes side by side, of a journal's width.

    Parameters
    ----------
    panels : int
    answers : str
        Which figure of the paper it answers; empty for one that is not in the paper.
    height : float
        Of a row of panels, in inches.
    rows : int
        With more than one, the axes are returned as an array of rows.
    """
    width = COLUMN_WIDTH if panels == 1 else FULL_WIDTH
    figure = Figure(figsize=(width, height * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, panels, squeeze=False)
    for axis in axes.flat:
        tidy(axis)
    paper = "Feldman et al. (2015)"
    text = f"answers {answers} of {paper}" if answers else f"not in {paper}"
    figure.suptitle(text, x=0.01, ha="left", fontsize="x-small", color=LINE)
    return figure, axes if rows > 1 else axes[0]


def ratio_line(axis: Axes, *, vertical: bool) -> None:
    """Draw the line at an impact ratio of .8, with its label."""
    draw = axis.axvline if vertical else axis.axhline
    draw(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
    # At an end where no points are: below, or on the right, where ratios are near 1.
    anchor = (THRESHOLD, 0.02) if vertical else (0.99, THRESHOLD)
    axis.annotate(
        ".8",
        anchor,
        xycoords=("data", "axes fraction") if vertical else ("axes fraction", "data"),
        xytext=(2, 2) if vertical else (0, 2),
        ha="left" if vertical else "right",
        textcoords="offset points",
        fontsize="x-small",
        color=LINE,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
    )


def certifying_ber(name: str) -> float:
    """Return the BER above which the paper certifies a data set, at the group's recorded rate."""
    group_rate, _ = recorded_rates(name)
    return float(fourfifths.ber_threshold(group_rate, THRESHOLD))


def error_bars(rows: Sequence[Row], figure: str) -> FloatArray:
    """Return how far the limits of a figure lie below and above it, as two rows."""
    limits = np.array([[row[f"{figure}_low"], row[f"{figure}_high"]] for row in rows]).T
    return np.asarray(np.abs(limits - np.array([row[figure] for row in rows])))


def key(
    figure: Figure,
    rows: Sequence[Row],
    *,
    models: Iterable[str],
    handles: Sequence[Any] = (),
    columns: int = 8,
) -> None:
    """Explain markers and colors below the axes; `handles` are added at the end."""
    entries = [
        Line2D([], [], marker=MARKERS[model], linestyle="", label=model, color="0.4", markersize=4)
        for model in models
        if any(row["model"] == model for row in rows)
    ]
    repairs = {repair_of(row) for row in rows if row["model"] != OTHER_METHOD}
    labels = {"none": "no repair"}
    entries += [
        Line2D([], [], marker="o", color=color, markersize=4, label=labels.get(repair, repair))
        for repair, color in COLORS.items()
        if repair in repairs
    ]
    figure.legend(
        handles=[*entries, *handles],
        loc="outside lower center",
        frameon=False,
        ncols=columns,
        columnspacing=1,
        handletextpad=0.5,
    )
