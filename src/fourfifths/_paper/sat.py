"""The paper's figure of SAT scores: two Gaussians, and their repair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import fourfifths
from fourfifths._paper.panels import Curves, Row, new_figure


def sat_rows(_: Curves) -> list[Row]:
    """Return the paper's two Gaussians and their repair, as quantiles."""
    level = (np.arange(4000) + 0.5) / 4000
    high, low = norm.ppf(level, 550, 100), norm.ppf(level, 400, 50)
    group = np.repeat(["A", "B"], level.size)
    repairer = fourfifths.Repairer(method="geometric", scope="column")
    full = repairer.fit_transform(np.concatenate([high, low])[:, None], protected=group).ravel()
    half = repairer.set_params(amount=0.5).transform(
        np.concatenate([high, low])[:, None], protected=group
    )
    columns = (level, high, low, full[: level.size], half.ravel()[: level.size])
    names = ("level", "A", "B", "full repair of both", "half repair of A")
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def draw_sat(rows: Sequence[Row]) -> Figure:
    """Draw the densities, from the quantiles' slopes."""
    figure, axes = new_figure(1)
    level = np.array([row["level"] for row in rows])
    for name, color in zip(list(rows[0])[1:], ("C0", "C1", "black", "C2"), strict=True):
        value = np.array([row[name] for row in rows])
        density = np.gradient(level, value)
        axes[0].plot(value, density, color=color, label=name)
    axes[0].set(xlabel="SAT score", ylabel="density")
    axes[0].legend(frameon=False, fontsize="small")
    return figure
