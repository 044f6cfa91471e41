"""The answer to "what does it cost?": a point for each model and repair, and a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fourfifths._arrays import Interval
from fourfifths._results import Record, Result, flat, plain
from fourfifths._tables.groups import check_share

SCHEMA = "fourfifths/tradeoff/1"
# Of the impact ratio: what a repair by blocks is to be proven to keep, and the line of pictures.
THRESHOLD = 0.8


@dataclass(frozen=True, kw_only=True)
class Point:
    """One model on one version of the data, on test rows.

    Attributes
    ----------
    model, method, scope : str
        Without repair, method and scope are "none".
    amount : float
    impact_ratio, impact_ratio_interval
        The impact ratio of the model's selections, for the group with the lowest selection rate.
    impact_ratios : mapping of str to float
        The impact ratio of each group.
    utility, utility_interval
        1 - the balanced error rate of predicting the outcome.
    accuracy, accuracy_interval
    parity, parity_interval
        1 - (the reference's selection rate - the group's), as in Zemel et al. 2013.
    auc, auc_interval
        The area under the ROC curve; NaN for a model without a score.
    balanced_error_rate, balanced_error_rate_interval
        How well the strongest auditor predicts the protected attribute from the repaired columns;
        0.5 is guessing.
    auditor : str
        The strongest auditor: the one with the lowest balanced error rate.
    auditors : mapping of str to float
        The balanced error rate of each auditor.
    changed, changed_interval
        The share of test rows that the repair changed.
    proven_floor : float
        Of a full repair by blocks: no rule on the repaired columns that selects enough of each
        group has a lower impact ratio on new rows, at the confidence of the sweep; the lowest over
        the splits. What is enough is the lowest selection rate of a group among the training rows.
        NaN where nothing is proven: without repair, of a part of the rows, by column, and where
        the strata are not the groups or are more than 40.
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
    proven_floor: float

    def clears(self, threshold: float) -> bool:
        """Return whether the impact ratio's interval lies within [threshold, 1 / threshold]."""
        # A ratio above 1 / threshold harms the reference as much as one below harms the group.
        low, high = self.impact_ratio_interval
        return low >= threshold and high <= 1 / threshold


@dataclass(frozen=True, kw_only=True, repr=False)
class Tradeoff(Result):
    """What repair costs: a point with intervals for each model and version of the data.

    Attributes
    ----------
    table : str
    protected : tuple of str
    reference : str
    outcome : str
    favorable : str or tuple of str
    points : tuple of Point
        Ordered by model, scope, method and amount.
    repeats : int
        How many splits there were.
    intervals : {"over repeats", "bootstrap"}
        "over repeats": an interval holds a share `confidence` of the splits. "bootstrap": there was
        one split, and an interval is over its test rows.
    confidence : float
    rows, test_rows : int
    notes : tuple of str
    """

    table: str
    protected: tuple[str, ...]
    reference: str
    outcome: str
    favorable: str | tuple[str, ...]
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
        """The points that no other point beats in impact ratio and utility together.

        The impact ratio counts by its distance from 1: a ratio above 1 is as far as its inverse.
        """
        return tuple(
            point
            for point in self.points
            if not any(dominates(rival, point) for rival in self.points)
        )

    def choose(self, *, impact_ratio: float = 0.8) -> Point | None:
        """Return the point with the highest utility whose impact ratio is clear of the threshold.

        Parameters
        ----------
        impact_ratio : float
            The threshold. The interval of a point's impact ratio must lie within
            [threshold, 1 / threshold].

        Returns
        -------
        Point or None
            None if no point is clear of the threshold.
        """
        check_share("impact_ratio", impact_ratio, "(0, 1)")
        clear = [point for point in self.points if point.clears(impact_ratio)]
        return max(clear, key=lambda point: point.utility, default=None)

    def select(self, **criteria: Any) -> tuple[Point, ...]:
        """Return the points whose attributes, such as model or method, have the given values."""
        return tuple(
            point
            for point in self.points
            if all(getattr(point, name) == value for name, value in criteria.items())
        )

    def to_records(self) -> list[Record]:
        """Return one flat record per point: intervals spread over two columns."""
        return [flat(plain(point)) for point in self.points]


def dominates(rival: Point, point: Point) -> bool:
    """Return whether a rival is no worse in impact ratio and utility, and better in one."""
    gains = (
        distance_from_one(point.impact_ratio) - distance_from_one(rival.impact_ratio),
        rival.utility - point.utility,
    )
    return min(gains) >= 0 and max(gains) > 0


def distance_from_one(ratio: float) -> float:
    """Return 1 - min(ratio, 1 / ratio): 0 for equal rates, 1 if one of them is 0.

    Examples
    --------
    >>> distance_from_one(0.75), distance_from_one(4.0), distance_from_one(0.0)
    (0.25, 0.75, 1.0)
    """
    return 1 - min(ratio, 1 / ratio) if ratio > 0 else 1.0
