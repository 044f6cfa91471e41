"""Trade-offs made by hand, for tests of how they look."""

from __future__ import annotations

from typing import Any

from fourfifths._tradeoff.result import Point, Tradeoff


def point(model: str = "LR", method: str = "random", amount: float = 1.0, **figures: Any) -> Point:
    """Return a point; figures that are not named are the same for all."""
    values = {
        "scope": "none" if method == "none" else "joint",
        "impact_ratio": 0.9,
        "impact_ratio_interval": (0.85, 0.95),
        "impact_ratios": {"B": 0.9},
        "utility": 0.7,
        "utility_interval": (0.6, 0.8),
        "accuracy": 0.75,
        "accuracy_interval": (0.7, 0.8),
        "parity": 0.95,
        "parity_interval": (0.9, 1.0),
        "auc": 0.8,
        "auc_interval": (0.75, 0.85),
        "balanced_error_rate": 0.45,
        "balanced_error_rate_interval": (0.4, 0.5),
        "auditor": "trees",
        "auditors": {"trees": 0.45},
        "changed": 1.0,
        "changed_interval": (1.0, 1.0),
    }
    return Point(model=model, method=method, amount=amount, **(values | figures))


RAW = {"impact_ratio": 0.5, "impact_ratio_interval": (0.4, 0.6), "utility": 0.8, "changed": 0.0}


def curve(*points: Point, **fields: Any) -> Tradeoff:
    """Return a trade-off with these points, or with no repair and full repair of one model."""
    values = {
        "table": "t.csv",
        "protected": ("race",),
        "reference": "W",
        "outcome": "hired",
        "favorable": "yes",
        "points": points or (point(method="none", amount=0.0, **RAW), point()),
        "repeats": 10,
        "intervals": "over repeats",
        "confidence": 0.95,
        "rows": 3000,
        "test_rows": 1000,
        "notes": (),
    }
    return Tradeoff(**(values | fields))
