"""The answer to "what does it cost?": a point for each model and repair, and which to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import narwhals as nw

from fourfifths._arrays import Interval
from fourfifths._results import FrameKind, plain
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCHEMA = "fourfifths/tradeoff/1"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One model on one version of the data, on test rows.

    Attributes
    ----------
    model, method, scope : str
        Without repair, method and scope are "none".
    amount : float
    impact_ratio, impact_ratio_interval
        Of the model's selections: the group with the lowest rate over the reference.
    impact_ratios : mapping of str to float
        Of each group.
    utility, utility_interval
        1 - the balanced error rate of predicting the outcome.
    accuracy, accuracy_interval
    parity, parity_interval
        1 - (the reference's selection rate - the group's), Zemel's.
    auc, auc_interval
    balanced_error_rate, balanced_error_rate_interval
        Of the strongest auditor, predicting the protected attribute from the repaired columns.
    auditor : str
        Which that is.
    auditors : mapping of str to float
        The balanced error rate of each.
    changed : float
        The share of rows that the repair changed.
    changed_interval
    """

    model: str
    method: str
    scope: str
    amount: float
    impact_ratio: float
    impact_ratio_interval: Interval
    impact_ratios: Mapping[str, float]
    utility: float
    utility_interval: Interval
    accuracy: float
    accuracy_interval: Interval
    parity: float
    parity_interval: Interval
    auc: float
    auc_interval: Interval
    balanced_error_rate: float
    balanced_error_rate_interval: Interval
    auditor: str
    auditors: Mapping[str, float]
    changed: float
    changed_interval: Interval

    def clears(self, threshold: float) -> bool:
        """Return whether the interval of the impact ratio is within [threshold, 1 / threshold]."""
        low, high = self.impact_ratio_interval
        return low >= threshold and high <= 1 / threshold


@dataclass(frozen=True, kw_only=True)
class Tradeoff:
    """What repair costs: points with intervals.

    Attributes
    ----------
    table : str
    protected : tuple of str
    reference : str
    outcome, favorable : str
    points : tuple of Point
        By model, scope, method and amount.
    repeats : int
    intervals : {"over repeats", "bootstrap"}
        Over repeats: what a share `confidence` of the splits gave. Bootstrap: over the test rows of
        the one split there is.
    confidence : float
    rows, test_rows : int
    notes : tuple of str
    """

    table: str
    protected: tuple[str, ...]
    reference: str
    outcome: str
    favorable: str
    points: tuple[Point, ...]
    repeats: int
    intervals: str
    confidence: float
    rows: int
    test_rows: int
    notes: tuple[str, ...]

    @property
    def front(self) -> tuple[Point, ...]:
        """The points that no other beats both in impact ratio and in utility.

        Both sides count: a ratio above 1 is as far from 1 as its inverse.
        """
        return tuple(
            point for point in self.points if not any(_beats(other, point) for other in self.points)
        )

    def choose(self, *, impact_ratio: float = 0.8) -> Point | None:
        """Return the point of the highest utility whose interval clears the threshold.

        The interval of its impact ratio must lie within [threshold, 1 / threshold]. None where
        none does.
        """
        if not 0 < impact_ratio < 1:
            raise OptionError(f"impact_ratio={impact_ratio!r}: expected a number between 0 and 1")
        clear = [point for point in self.points if point.clears(impact_ratio)]
        return max(clear, key=lambda point: point.utility, default=None)

    def select(self, **wanted: Any) -> tuple[Point, ...]:
        """Return the points with the given model, method, scope or amount."""
        return tuple(
            point
            for point in self.points
            if all(getattr(point, name) == value for name, value in wanted.items())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        found: dict[str, Any] = {"schema": SCHEMA, **plain(self)}
        return found

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def records(self) -> list[dict[str, Any]]:
        """Return one flat record per point: intervals spread over two columns."""
        return [_flat(point) for point in self.points]

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """Return one row per point."""
        records = self.records()
        columns = {name: [record[name] for record in records] for name in records[0]}
        return nw.from_dict(columns, backend=kind).to_native()

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw impact ratio against utility; write it to `path` if that is given."""
        from fourfifths._plot.tradeoff import tradeoff_plot

        return tradeoff_plot(self, path)

    def __str__(self) -> str:
        from fourfifths._report.tradeoff import tradeoff_text

        return tradeoff_text(self)


def _distance(point: Point) -> float:
    """Return how far the impact ratio is from 1, either way."""
    ratio = point.impact_ratio
    return 1 - min(ratio, 1 / ratio) if ratio > 0 else 1.0


def _beats(one: Point, other: Point) -> bool:
    sides = (_distance(other) - _distance(one), one.utility - other.utility)
    return min(sides) >= 0 and max(sides) > 0


def _flat(point: Point) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in plain(point).items():
        if name.endswith("_interval"):
            low, high = value or (None, None)
            flat |= {name.replace("interval", "low"): low, name.replace("interval", "high"): high}
        elif isinstance(value, dict):
            flat[name] = "; ".join(f"{key}: {each}" for key, each in value.items())
        else:
            flat[name] = value
    return flat


Record = dict[str, Any]
