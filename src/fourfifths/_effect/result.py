"""What a repair did: how much changed, and what auditors find before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fourfifths._arrays import Interval
from fourfifths._results import Record, Result, plain

SCHEMA = "fourfifths/repair-effect/1"


@dataclass(frozen=True, kw_only=True)
class ColumnEffect:
    """What became of one column.

    Attributes
    ----------
    column, kind : str
    changed : int
        How many of its cells changed.
    rank_moved : float
        The mean change of a value's rank among the original values, over the rows that have a
        value, in [0, 1]. NaN for categories without order.
    distance, distance_after : float
        The earthmover distance between the largest stratum and the stratum that is farthest from
        it, in the column's units; for categories without order, the total variation.
    """

    column: str
    kind: str
    changed: int
    rank_moved: float
    distance: float
    distance_after: float


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What the auditors found in the repaired columns, before or after the repair.

    Attributes
    ----------
    strongest : str
    balanced_error_rate, interval
        Of the strongest auditor in the pair of groups where it is lowest, out of fold.
    impact_floor, impact_floor_interval
        The lowest impact ratio of a rule that this auditor can find. NaN without an outcome or
        beta.
    verdict : str or None
        The verdict of the certificate. None without an outcome or beta.
    model : ModelImpact or None
        The impact ratio of a model of the outcome that uses the repaired columns.
    """

    strongest: str
    balanced_error_rate: float
    interval: Interval
    impact_floor: float
    impact_floor_interval: Interval
    verdict: str | None
    model: ModelImpact | None


@dataclass(frozen=True, kw_only=True, repr=False)
class RepairEffect(Result):
    """A table before and after its repair.

    Attributes
    ----------
    table : str
    rows, rows_changed, cells, cells_changed : int
    columns : tuple of ColumnEffect
    before, after : Audit or None
        None where no audit was made; `notes` says why.
    raised : bool
        Whether the repair made the protected attribute easier to predict, by more than chance.
    not_repaired : tuple of str
        The other columns of the table that a rule could use.
    notes : tuple of str
    """

    table: str
    rows: int
    rows_changed: int
    cells: int
    cells_changed: int
    columns: tuple[ColumnEffect, ...]
    before: Audit | None
    after: Audit | None
    raised: bool
    not_repaired: tuple[str, ...]
    notes: tuple[str, ...]

    _schema: ClassVar[str | None] = SCHEMA

    def to_records(self) -> list[Record]:
        """Return one record per repaired column."""
        return [plain(column) for column in self.columns]


@dataclass(frozen=True, kw_only=True)
class ModelImpact:
    """The impact of a logistic model that selects rows that it was not fitted to.

    Attributes
    ----------
    group, reference : str
        The group with the lowest ratio, and the group that it is compared with.
    impact_ratio, impact_ratio_interval
    utility : float
        1 - the balanced error rate of the model's predictions of the outcome.
    """

    group: str
    reference: str
    impact_ratio: float
    impact_ratio_interval: Interval
    utility: float
