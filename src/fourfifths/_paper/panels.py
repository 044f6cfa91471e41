"""The figures: points as the rows of a CSV, and as a picture for print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fourfifths
from fourfifths._arrays import FloatArray
from fourfifths._paper.experiments import AUDITOR_OF_MODEL, PASS_RULE, PLAIN_LR, recorded_rates
from fourfifths._plot.style import LINE

Curves = Mapping[str, fourfifths.Tradeoff]
Row = dict[str, Any]
COLORS = {"combinatorial": "#2166ac", "geometric": "#b2182b", "random": "#1a9850", "none": "black"}
MARKERS = {"LR": "o", "SVM": "s", "GNB": "^", PASS_RULE: "D", PLAIN_LR: "v"}
OTHER_METHOD = "other method"
LINE_STYLES = {"column": "-", "blocks": "--"}
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
        The sweeps whose points it shows.
    rows : callable
        Makes the rows of its CSV from those sweeps.
    draw : callable
        Draws the picture from the rows.
    """

    title: str
    needs: tuple[str, ...]
    rows: Callable[[Curves], list[Row]]
    draw: Callable[[Sequence[Row]], Figure]


def point_rows(curves: Curves) -> list[Row]:
    """Return one row per point, with the BER of every auditor and the mean ratio over groups."""
    rows = []
    for name, curve in curves.items():
        for point in curve.points:
            row: Row = {"sweep": name, "repeats": curve.repeats}
            for figure in ("model", "scope", "method", "amount"):
                row[figure] = getattr(point, figure)
            for figure in ("impact_ratio", "utility", "accuracy", "parity", "auc"):
                low, high = getattr(point, f"{figure}_interval")
                row |= {figure: getattr(point, figure), f"{figure}_low": low}
                row[f"{figure}_high"] = high
            row["mean_impact_ratio"] = float(np.mean(list(point.impact_ratios.values())))
            for auditor in ("logistic", "svm", "naive-bayes", "trees"):
                row[f"BER {auditor}"] = point.auditors.get(auditor, float("nan"))
            row["proven_floor"] = point.proven_floor
            rows.append(row)
    return rows


def predictability(rows: Sequence[Row], auditor: str | None = None) -> Figure:
    """Draw how predictable the protected attribute is against the impact ratio of each model.

    Parameters
    ----------
    rows : sequence of rows
    auditor : str, optional
        The auditor whose BER is shown; by default, for each model the auditor of the same kind.
    """
    names = list(dict.fromkeys(row["sweep"].partition("-")[0] for row in rows))
    figure, axes = new_figure(len(names))
    for axis, name in zip(axes, names, strict=True):
        axis.axhline(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
        axis.axvline(certifying_ber(name), color=LINE, linestyle=":", linewidth=1)
        for row in rows:
            if row["sweep"].partition("-")[0] != name or row["model"] not in AUDITOR_OF_MODEL:
                continue
            ber = row[f"BER {auditor or AUDITOR_OF_MODEL[row['model']]}"]
            axis.plot(
                ber,
                row["impact_ratio"],
                MARKERS[row["model"]],
                color=COLORS[row["method"]],
                fillstyle="full" if row["scope"] != "blocks" else "none",
                markersize=4,
            )
        axis.set(title=TITLES[name], xlabel="BER of predicting the protected attribute")
    axes[0].set_ylabel("impact ratio of predicting the class")
    handles = (
        Line2D([], [], color=LINE, linestyle="--", label="impact ratio .8"),
        Line2D([], [], color=LINE, linestyle=":", label="BER that certifies"),
    )
    _legend(axes[-1], rows, models=list(AUDITOR_OF_MODEL), handles=handles)
    return figure


def draw_trees(rows: Sequence[Row]) -> Figure:
    """Draw the same with gradient-boosted trees as the auditor of every model."""
    return predictability(rows, "trees")


def by_amount(rows: Sequence[Row]) -> Figure:
    """Draw how well trees predict the protected attribute, by method, scope and amount."""
    figure, axes = new_figure(1, width=4.4)
    raw = [row for row in rows if row["method"] == "none"][:1]
    for scope, method in dict.fromkeys((row["scope"], row["method"]) for row in rows):
        versions = {
            row["amount"]: row
            for row in rows
            if (row["scope"], row["method"]) == (scope, method) and method != "none"
        }
        if versions:
            line = raw + [versions[amount] for amount in sorted(versions)]
            axes[0].plot(
                [row["amount"] for row in line],
                [row["BER trees"] for row in line],
                marker="o",
                markersize=3.5,
                linestyle=LINE_STYLES[scope],
                color=COLORS[method],
                label=f"{method}, {scope}",
            )
    axes[0].axhline(certifying_ber("adult"), color=LINE, linestyle=":", label="BER that certifies")
    axes[0].set(xlabel="amount of repair", ylabel="BER of trees that predict sex", ylim=(0, 0.52))
    axes[0].legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


def utility(rows: Sequence[Row]) -> Figure:
    """Draw impact ratio against utility: of SVM, and of Ricci's own rule."""
    names = list(dict.fromkeys(row["sweep"] for row in rows))
    figure, axes = new_figure(len(names))
    for axis, name in zip(axes, names, strict=True):
        model = PASS_RULE if name == "ricci" else "SVM"
        model_rows = [row for row in rows if row["sweep"] == name and row["model"] == model]
        raw = [row for row in model_rows if row["method"] == "none"]
        for scope, method in dict.fromkeys((row["scope"], row["method"]) for row in model_rows):
            if method == "none":
                continue
            line = [row for row in model_rows if (row["scope"], row["method"]) == (scope, method)]
            line = sorted(raw + line, key=lambda row: float(row["amount"]))
            axis.errorbar(
                [row["impact_ratio"] for row in line],
                [row["utility"] for row in line],
                xerr=error_bars(line, "impact_ratio"),
                yerr=error_bars(line, "utility"),
                fmt="o",
                linestyle=LINE_STYLES[scope],
                color=COLORS[method],
                markersize=3.5,
                linewidth=1,
                elinewidth=0.4,
                label=method if scope == "column" else f"{method}, {scope}",
            )
        axis.axvline(THRESHOLD, color=LINE, linestyle="--", linewidth=0.8)
        axis.set(title=f"{TITLES[name]}, {model}", xlabel="impact ratio")
    axes[0].set_ylabel("utility (1 - BER of the class)")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def several(rows: Sequence[Row]) -> Figure:
    """Draw utility against the mean impact ratio, repaired by sex, by race and by both."""
    figure, axes = new_figure(2)
    for axis, method in zip(axes, ("combinatorial", "geometric"), strict=True):
        for number, name in enumerate(dict.fromkeys(row["sweep"] for row in rows)):
            line = [
                row
                for row in rows
                if row["sweep"] == name
                and row["model"] == "SVM"
                and row["method"] in (method, "none")
            ]
            line = sorted(line, key=lambda row: float(row["amount"]))
            axis.plot(
                [row["mean_impact_ratio"] for row in line],
                [row["utility"] for row in line],
                "o-",
                color=f"C{number}",
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
    """Draw parity against accuracy: repairs by model and method, other methods by name."""
    figure, axes = new_figure(1, width=5.2)
    for row in rows:
        if row["method"] in COLORS:
            marker = MARKERS.get(row["model"], "o")
            axes[0].plot(
                row["parity"], row["accuracy"], marker, color=COLORS[row["method"]], markersize=4
            )
    other_rows = [row for row in rows if row["method"] not in COLORS]
    for number, name in enumerate(dict.fromkeys(row["method"] for row in other_rows)):
        runs = [(row["parity"], row["accuracy"]) for row in other_rows if row["method"] == name]
        # From C4 on, which no repair has.
        axes[0].plot(*np.transpose(runs), "*", color=f"C{number + 4}", markersize=8, label=name)
    axes[0].set(xlabel="parity, 1 - difference of selection rates", ylabel="accuracy, Adult")
    handles = axes[0].get_legend_handles_labels()[0]
    _legend(axes[0], rows, models=[*AUDITOR_OF_MODEL, PLAIN_LR], handles=handles)
    return figure


def new_figure(panels: int, width: float = 3.4) -> tuple[Figure, Any]:
    """Return a figure with this many axes side by side, and room for a legend."""
    figure = Figure(figsize=(1.8 + width * panels, 3.6), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def certifying_ber(name: str) -> float:
    """Return the BER above which the paper certifies a data set, at the group's recorded rate."""
    group_rate, _ = recorded_rates(name)
    return float(fourfifths.ber_threshold(group_rate, THRESHOLD))


def error_bars(rows: Sequence[Row], figure: str) -> FloatArray:
    """Return how far the limits of a figure lie below and above it, as two rows."""
    limits = np.array([[row[f"{figure}_low"], row[f"{figure}_high"]] for row in rows]).T
    return np.asarray(np.abs(limits - np.array([row[figure] for row in rows])))


def _legend(
    axis: Axes,
    rows: Sequence[Row],
    *,
    models: Sequence[str],
    handles: Sequence[Any] = (),
) -> None:
    """Explain markers and colors beside the axes; `handles` are added at the end."""
    grey: dict[str, Any] = {"color": "0.4", "markersize": 4}
    entries = [
        Line2D([], [], marker=MARKERS[model], linestyle="", label=model, **grey)
        for model in models
        if any(row["model"] == model for row in rows)
    ]
    entries += [
        Line2D([], [], marker="o", color=color, linestyle="", markersize=4, label=method)
        for method, color in COLORS.items()
        if any(row["method"] == method for row in rows)
    ]
    if any(row["scope"] == "blocks" for row in rows):
        grey |= {"fillstyle": "none"}
        entries.append(Line2D([], [], marker="o", linestyle="", label="by blocks", **grey))
    axis.legend(
        handles=[*entries, *handles],
        frameon=False,
        fontsize="x-small",
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
    )
