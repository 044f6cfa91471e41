"""The figures: points as rows of a CSV, and as a picture that a journal would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fourfifths
from fourfifths._paper.experiments import PAIRS, PLAIN, RULE
from fourfifths._plot.style import LINE

Curves = Mapping[str, fourfifths.Tradeoff]
Row = dict[str, Any]
COLORS = {"combinatorial": "#2166ac", "geometric": "#b2182b", "random": "#1a9850", "none": "black"}
MARKS = {"LR": "o", "SVM": "s", "GNB": "^", RULE: "D", PLAIN: "v"}
OTHER = "other method"
LINES = {"column": "-", "joint": "--"}
THRESHOLD = 0.8
TITLES = {
    "ricci": "Ricci",
    "german": "German",
    "adult": "Adult",
    "german-raw-age": "German by year of age",
}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One figure of the report.

    Attributes
    ----------
    title : str
    needs : tuple of str
        The sweeps that it shows.
    rows : callable
        From those sweeps to the rows of its CSV.
    draw : callable
        From the rows to the picture.
    """

    title: str
    needs: tuple[str, ...]
    rows: Callable[[Curves], list[Row]]
    draw: Callable[[Sequence[Row]], Figure]


def point_rows(curves: Curves) -> list[Row]:
    """Return one row per point, with every auditor's BER and the mean ratio over groups."""
    rows = []
    for name, curve in curves.items():
        for point in curve.points:
            flat: Row = {"sweep": name, "repeats": curve.repeats}
            for figure in ("model", "scope", "method", "amount"):
                flat[figure] = getattr(point, figure)
            for figure in ("impact_ratio", "utility", "accuracy", "parity", "auc"):
                low, high = getattr(point, f"{figure}_interval")
                flat |= {figure: getattr(point, figure), f"{figure}_low": low}
                flat[f"{figure}_high"] = high
            flat["mean_impact_ratio"] = float(np.mean(list(point.impact_ratios.values())))
            for auditor in ("logistic", "svm", "naive-bayes", "trees"):
                flat[f"BER {auditor}"] = point.auditors.get(auditor, float("nan"))
            rows.append(flat)
    return rows


def predictability(rows: Sequence[Row], auditor: str | None = None) -> Figure:
    """Draw BER of predicting the protected attribute against the impact ratio of the class.

    Each model is shown against its like as auditor, or all against the one that is named.
    """
    names = list(dict.fromkeys(row["sweep"].partition("-")[0] for row in rows))
    figure, axes = new_figure(len(names))
    for axis, name in zip(axes, names, strict=True):
        _threshold(axis, name)
        for row in rows:
            if row["sweep"].partition("-")[0] != name or row["model"] not in PAIRS:
                continue
            ber = row[f"BER {auditor or PAIRS[row['model']]}"]
            axis.plot(
                ber,
                row["impact_ratio"],
                MARKS[row["model"]],
                color=COLORS[row["method"]],
                fillstyle="full" if row["scope"] != "joint" else "none",
                markersize=4,
            )
        axis.set(title=TITLES[name], xlabel="BER of predicting the protected attribute")
    axes[0].set_ylabel("impact ratio of predicting the class")
    lines: tuple[tuple[Literal["--", ":"], str], ...]
    lines = (("--", "impact ratio .8"), (":", "BER that certifies"))
    _legend(axes[-1], rows, list(PAIRS), lines)
    return figure


def draw_trees(rows: Sequence[Row]) -> Figure:
    """Draw the same with gradient-boosted trees as auditor."""
    return predictability(rows, "trees")


def by_amount(rows: Sequence[Row]) -> Figure:
    """Draw how well trees tell the protected attribute, by method, scope and amount."""
    figure, axes = new_figure(1, width=4.4)
    raw = [row for row in rows if row["method"] == "none"][:1]
    for scope, method in dict.fromkeys((row["scope"], row["method"]) for row in rows):
        versions = {
            row["amount"]: row
            for row in rows
            if (row["scope"], row["method"]) == (scope, method) and method != "none"
        }
        if versions:
            own = raw + [versions[amount] for amount in sorted(versions)]
            axes[0].plot(
                [row["amount"] for row in own],
                [row["BER trees"] for row in own],
                marker="o",
                markersize=3.5,
                linestyle=LINES[scope],
                color=COLORS[method],
                label=f"{method}, {scope}",
            )
    axes[0].axhline(line_of("adult"), color=LINE, linestyle=":", label="BER that certifies")
    axes[0].set(xlabel="amount of repair", ylabel="BER of trees that predict sex", ylim=(0, 0.52))
    axes[0].legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


def utility(rows: Sequence[Row]) -> Figure:
    """Draw impact ratio against utility: SVM, and Ricci's own rule."""
    names = list(dict.fromkeys(row["sweep"] for row in rows))
    figure, axes = new_figure(len(names))
    for axis, name in zip(axes, names, strict=True):
        model = RULE if name == "ricci" else "SVM"
        own = [row for row in rows if row["sweep"] == name and row["model"] == model]
        _curves(axis, own, "impact_ratio", "utility")
        axis.axvline(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
        axis.set(title=f"{TITLES[name]}, {model}", xlabel="impact ratio")
    axes[0].set_ylabel("utility (1 - BER of the class)")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def several(rows: Sequence[Row]) -> Figure:
    """Draw utility against the mean impact ratio, for sex, race and both."""
    figure, axes = new_figure(2)
    for axis, method in zip(axes, ("combinatorial", "geometric"), strict=True):
        for place, name in enumerate(dict.fromkeys(row["sweep"] for row in rows)):
            own = [
                row
                for row in rows
                if row["sweep"] == name
                and row["model"] == "SVM"
                and row["method"] in (method, "none")
            ]
            own = sorted(own, key=lambda row: float(row["amount"]))
            axis.plot(
                [row["mean_impact_ratio"] for row in own],
                [row["utility"] for row in own],
                "o-",
                color=f"C{place}",
                markersize=3.5,
                linewidth=1,
                label={"adult": "sex", "adult-race": "race"}.get(name, "sex and race"),
            )
        axis.axvline(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
        axis.set(title=method, xlabel="impact ratio, mean over groups")
    axes[0].set_ylabel("utility, SVM on Adult")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def comparison(rows: Sequence[Row]) -> Figure:
    """Draw parity against accuracy, repairs as points and other methods by name."""
    figure, axes = new_figure(1, width=5.2)
    for row in rows:
        if row["method"] in COLORS:
            mark = MARKS.get(row["model"], "o")
            axes[0].plot(
                row["parity"], row["accuracy"], mark, color=COLORS[row["method"]], markersize=4
            )
    others = [row for row in rows if row["method"] not in COLORS]
    for place, name in enumerate(dict.fromkeys(row["method"] for row in others)):
        own = [(row["parity"], row["accuracy"]) for row in others if row["method"] == name]
        axes[0].plot(*np.transpose(own), "*", color=f"C{place + 4}", markersize=8, label=name)
    axes[0].set(xlabel="parity, 1 - difference of selection rates", ylabel="accuracy, Adult")
    handles = axes[0].get_legend_handles_labels()[0]
    _legend(axes[0], rows, [*PAIRS, PLAIN], more=handles)
    return figure


def new_figure(panels: int, width: float = 3.4) -> tuple[Figure, Any]:
    """Return a figure of so many axes side by side, with room for a legend."""
    figure = Figure(figsize=(1.8 + width * panels, 3.6), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _threshold(axis: Axes, name: str) -> None:
    """Draw the lines of certification: the ratio, and the BER at the group's own rate."""
    axis.axhline(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
    axis.axvline(line_of(name), color=LINE, linestyle=":", linewidth=1)


def line_of(name: str) -> float:
    """Return the paper's threshold of the BER, at the selection rate of the group."""
    result = fourfifths.impact(name)
    attribute = result.attributes[-1]
    others = [each for each in attribute.groups if each.group != attribute.reference]
    selected = sum(each.selected for each in others)
    return float(fourfifths.ber_threshold(selected / sum(each.n for each in others), THRESHOLD))


def _curves(axis: Axes, rows: Sequence[Row], x: str, y: str) -> None:
    raw = [row for row in rows if row["method"] == "none"]
    for scope, method in dict.fromkeys((row["scope"], row["method"]) for row in rows):
        if method == "none":
            continue
        own = [row for row in rows if (row["scope"], row["method"]) == (scope, method)]
        own = sorted(raw + own, key=lambda row: float(row["amount"]))
        across, up = (np.array([row[figure] for row in own]) for figure in (x, y))
        bars = [_bars(own, figure) for figure in (x, y)]
        axis.errorbar(
            across,
            up,
            xerr=bars[0],
            yerr=bars[1],
            fmt="o",
            linestyle=LINES[scope],
            color=COLORS[method],
            markersize=3.5,
            linewidth=1,
            elinewidth=0.4,
            label=method if scope == "column" else f"{method}, {scope}",
        )


def _bars(rows: Sequence[Row], figure: str) -> Any:
    """Return how far the limits of a figure lie below and above it."""
    limits = np.array([[row[f"{figure}_low"], row[f"{figure}_high"]] for row in rows]).T
    return np.abs(limits - np.array([row[figure] for row in rows]))


def _legend(
    axis: Axes,
    rows: Sequence[Row],
    models: Sequence[str],
    lines: Sequence[tuple[Literal["--", ":"], str]] = (),
    more: Sequence[Any] = (),
) -> None:
    """Say what marks, colors and lines mean, beside the axes."""
    grey: dict[str, Any] = {"color": "0.4", "markersize": 4}
    handles = [
        Line2D([], [], marker=MARKS[model], linestyle="", label=model, **grey)
        for model in models
        if any(row["model"] == model for row in rows)
    ]
    handles += [
        Line2D([], [], marker="o", color=color, linestyle="", markersize=4, label=method)
        for method, color in COLORS.items()
        if any(row["method"] == method for row in rows)
    ]
    if any(row["scope"] == "joint" for row in rows):
        grey |= {"fillstyle": "none"}
        handles.append(Line2D([], [], marker="o", linestyle="", label="joint scope", **grey))
    handles += [Line2D([], [], color=LINE, linestyle=style, label=name) for style, name in lines]
    axis.legend(
        handles=[*handles, *more],
        frameon=False,
        fontsize="x-small",
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
    )
