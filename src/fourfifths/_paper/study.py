"""A study that the paper asks for: auditors by repairs by features of the data.

Tables are simulated, so that one feature at a time can be changed: the number of columns, the
number of rows, how much the dependence between columns differs between the groups, and the group's
share. Half of the rows are for training and half for testing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fourfifths
from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._certify.auditors import quiet
from fourfifths._paper.experiments import AUDITORS, Settings
from fourfifths._paper.panels import OTHER_COLORS, Curves, Row, new_figure
from fourfifths._plot.style import LINE
from fourfifths._tradeoff.models import PaperModel
from fourfifths._tradeoff.versions import chosen_auditors

SEEDS = 3
AUDITOR_OFFSET = 0.05  # between the marks of two auditors in the figure
MEAN_DIFFERENCE = 0.5  # of every column, in standard deviations
REPAIRS: Mapping[str, Mapping[str, object] | None] = {
    "no repair": None,
    "combinatorial, half": {"scope": "column", "method": "combinatorial", "amount": 0.5},
    "geometric, half": {"scope": "column", "method": "geometric", "amount": 0.5},
    "random, half": {"scope": "column", "method": "random", "amount": 0.5},
    "column by column, full": {"scope": "column", "method": "geometric"},
    "blocks, full": {"scope": "blocks"},
}


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features of a simulated table.

    Attributes
    ----------
    columns, rows : int
    dependence : float
        The correlation of two columns in the reference group. In the other group it is the same,
        but negative for every other pair: the columns alone do not show it, pairs do.
    group_share : float
    """

    columns: int = 4
    rows: int = 4_000
    dependence: float = 0.5
    group_share: float = 0.3


VARIATIONS: Mapping[str, tuple[float, ...]] = {
    "columns": (2, 4, 8),
    "rows": (500, 4_000, 16_000),
    "dependence": (0.0, 0.5, 0.8),
    "group_share": (0.1, 0.3, 0.5),
}
LABELS = {
    "columns": "columns",
    "rows": "rows",
    "dependence": "dependence that differs",
    "group_share": "the group's share",
}
QUICK_VARIATIONS: Mapping[str, tuple[float, ...]] = {"columns": (2, 8), "dependence": (0.0, 0.8)}


def study_rows(_: Curves, settings: Settings) -> list[Row]:
    """Return the BER of each auditor and the utility of LR, by feature, repair and seed."""
    variations = QUICK_VARIATIONS if settings.is_quick else VARIATIONS
    tables = {
        (name, value): replace(Features(), **{name: value})  # type: ignore[arg-type]
        for name, values in variations.items()
        for value in values
    }
    seeds = range(1 if settings.is_quick else SEEDS)
    # The unchanged table is in every variation, but is simulated once.
    jobs = list(
        dict.fromkeys(
            (features, repair, seed)
            for features in tables.values()
            for repair in REPAIRS
            for seed in seeds
        )
    )
    measured = dict(
        zip(
            jobs,
            Parallel(n_jobs=settings.n_jobs)(delayed(measure)(*job) for job in jobs),
            strict=True,
        )
    )
    return [
        {"feature": name, "value": value, "repair": repair, "seed": seed}
        | measured[features, repair, seed]
        for (name, value), features in tables.items()
        for repair in REPAIRS
        for seed in seeds
    ]


def measure(features: Features, repair: str, seed: int) -> Row:
    """Return what auditors and a model find in one simulated table after one repair."""
    values, selected, is_reference = simulated(features, seed)
    train, test = np.arange(0, features.rows, 2), np.arange(1, features.rows, 2)
    options = REPAIRS[repair]
    if options is not None:
        group = np.where(is_reference, "reference", "group")
        with warnings.catch_warnings():
            # Few rows prove little; what is measured here is what auditors find.
            warnings.filterwarnings("ignore", "blocks='certified'")
            repairer = fourfifths.Repairer(random_state=seed, **options)  # type: ignore[arg-type]
            target = selected[train] if options["scope"] == "blocks" else None
            repairer.fit(values[train], target, protected=group[train])
        values = np.asarray(repairer.transform(values, protected=group), dtype=np.float64)
    is_category = (False,) * features.columns
    row: Row = {}
    for name, auditor in chosen_auditors(AUDITORS, is_category, random_state=seed).items():
        with quiet():
            predicted = auditor.fit(values[train], is_reference[train]).predict(values[test])
        row[f"BER {name}"] = balanced_error(predicted, is_reference[test])
    model = PaperModel("LR", is_category, random_state=seed).fit(values[train], selected[train])
    row["utility"] = 1 - balanced_error(model.predict(values[test]), selected[test])
    return row


def balanced_error(predicted: BoolArray, truth: BoolArray) -> float:
    """Return the mean of the two class-conditioned errors.

    Examples
    --------
    >>> balanced_error(np.array([True, True, False]), np.array([True, False, False]))
    0.25
    """
    return float(np.mean(~predicted[truth]) + np.mean(predicted[~truth])) / 2


def simulated(features: Features, seed: int) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return the columns, who is selected, and who is of the reference.

    Every column is normal with variance 1 in both groups, and its mean is .5 higher in the
    reference. Columns share a factor; in the group, every other column has it with a minus sign.
    Selected are those whose columns' mean, with noise, is above .25.
    """
    random = np.random.default_rng(seed)
    is_reference = random.random(features.rows) >= features.group_share
    sign = np.where(np.arange(features.columns) % 2, -1.0, 1.0)
    loading = np.where(is_reference[:, None], 1.0, sign) * np.sqrt(features.dependence)
    factor = random.normal(size=(features.rows, 1))
    noise = random.normal(size=(features.rows, features.columns))
    values = loading * factor + np.sqrt(1 - features.dependence) * noise
    values += MEAN_DIFFERENCE * is_reference[:, None]
    score = values.mean(axis=1) + 0.5 * random.normal(size=features.rows)
    return values, score > MEAN_DIFFERENCE / 2, is_reference


def draw_study(rows: Sequence[Row]) -> Figure:
    """Draw BER by feature, a line for each auditor, a row of panels for each repair."""
    features = list(dict.fromkeys(row["feature"] for row in rows))
    answers = "the wish for a study in section 7"
    figure, axes = new_figure(len(features), answers=answers, rows=len(REPAIRS), height=1.15)
    for repair, repair_axes in zip(REPAIRS, axes, strict=True):
        for feature, axis in zip(features, repair_axes, strict=True):
            chosen = [row for row in rows if (row["feature"], row["repair"]) == (feature, repair)]
            values = list(dict.fromkeys(row["value"] for row in chosen))
            for index, (auditor, color) in enumerate(zip(AUDITORS, OTHER_COLORS, strict=False)):
                bers = [
                    np.mean([row[f"BER {auditor}"] for row in chosen if row["value"] == value])
                    for value in values
                ]
                # Side by side, since the paper's three auditors often agree.
                across = np.arange(len(values)) + AUDITOR_OFFSET * (index - 1.5)
                axis.plot(across, bers, "o-", color=color, markersize=2.5, linewidth=0.8)
            axis.set_xticks(range(len(values)), [f"{value:,g}" for value in values])
            axis.set_ylim(0, 0.6)
            axis.axhline(0.5, color=LINE, linestyle=":", linewidth=0.8)
            if repair == next(iter(REPAIRS)):
                axis.set_title(LABELS[feature])
            if axis is not repair_axes[0]:
                axis.set_yticklabels([])
        repair_axes[0].set_ylabel(f"BER\n{repair}", fontsize="x-small")
    handles = [
        Line2D([], [], marker="o", color=color, markersize=3, label=auditor)
        for auditor, color in zip(AUDITORS, OTHER_COLORS, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", frameon=False, ncols=4)
    return figure
