"""The answer to "what does it cost?": a point for each model and repair, and which to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fourfifths._arrays import Interval
from fourfifths._results import Result, flat, plain
from fourfifths.errors import OptionError

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


@dataclass(frozen=True, kw_only=True, repr=False)
class Tradeoff(Result):
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

    _schema: ClassVar[str | None] = SCHEMA

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

    def to_records(self) -> list[Record]:
        """Return one flat record per point: intervals spread over two columns."""
        return [flat(plain(point)) for point in self.points]


def _distance(point: Point) -> float:
    """Return how far the impact ratio is from 1, either way."""
    ratio = point.impact_ratio
    return 1 - min(ratio, 1 / ratio) if ratio > 0 else 1.0


def _beats(one: Point, other: Point) -> bool:
    sides = (_distance(other) - _distance(one), one.utility - other.utility)
    return min(sides) >= 0 and max(sides) > 0


Record = dict[str, Any]
