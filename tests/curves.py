"""Points and curves made by hand, and applicants to run a sweep on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import fourfifths
from fourfifths._tradeoff.result import Point

AUDITORS = ("logistic", "svm", "naive-bayes", "trees", "LR", "SVM", "GNB")
INTERVALS = ("impact_ratio", "utility", "accuracy", "parity", "auc", "balanced_error_rate")


def applicants(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Return applicants whose score is one higher in group b, and who are hired by it."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], rows)
    skill = random.normal(size=rows)
    score = skill + (group == "b")
    hired = np.where(score + 0.5 * random.normal(size=rows) > 0.5, "yes", "no")
    noise = random.normal(size=rows)
    return pd.DataFrame({"group": group, "score": score, "noise": noise, "hired": hired})


def point(
    model: str = "LR",
    method: str = "none",
    amount: float = 0.0,
    *,
    ber: float | Mapping[str, float] = 0.3,
    **figures: Any,
) -> Point:
    """Return a point with the given figures; an interval reaches .1 either way.

    `ber` is that of every auditor, or the BERs by name.
    """
    auditors = dict(ber) if isinstance(ber, Mapping) else dict.fromkeys(AUDITORS, ber)
    strongest = min(auditors, key=lambda name: auditors[name])
    values: dict[str, Any] = {
        "scope": "none" if method == "none" else "column",
        "impact_ratio": 0.7,
        "utility": 0.7,
        "accuracy": 0.8,
        "parity": 0.9,
        "auc": 0.75,
        "balanced_error_rate": auditors[strongest],
        "changed": 0.0 if method == "none" else 1.0,
        "changed_interval": (0.0, 1.0),
        "proven_floor": float("nan"),
        **figures,
    }
    values.setdefault("impact_ratios", {"group": values["impact_ratio"]})
    for name in INTERVALS:
        values.setdefault(f"{name}_interval", (values[name] - 0.1, values[name] + 0.1))
    return Point(
        model=model, method=method, amount=amount, auditor=strongest, auditors=auditors, **values
    )


def raw_point(**figures: Any) -> Point:
    """Return a point without repair that is far from four fifths."""
    return point(**({"impact_ratio": 0.5, "utility": 0.8} | figures))


def repaired_point(
    model: str = "LR", method: str = "random", amount: float = 1.0, **figures: Any
) -> Point:
    """Return a point of repair by blocks that is clear of four fifths; no two figures are equal."""
    values: dict[str, Any] = {
        "scope": "blocks",
        "impact_ratio": 0.9,
        "impact_ratio_interval": (0.85, 0.95),
        "utility": 0.7,
        "accuracy": 0.75,
        "parity": 0.95,
        "auc": 0.8,
        "ber": {"trees": 0.45},
    }
    return point(model, method, amount, **(values | figures))


def curve(points: Iterable[Point] = (), **roles: Any) -> fourfifths.Tradeoff:
    """Return a sweep that has these points, or no repair and full repair of one model."""
    return fourfifths.Tradeoff(
        **{
            "table": "people",
            "protected": ("group",),
            "reference": "b",
            "outcome": "hired",
            "favorable": "yes",
            "points": tuple(points) or (raw_point(), repaired_point()),
            "repeats": 2,
            "intervals": "over repeats",
            "confidence": 0.95,
            "rows": 300,
            "test_rows": 100,
            "notes": (),
            **roles,
        }
    )
