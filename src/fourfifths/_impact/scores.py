"""Scores instead of decisions: the share above the median, and differences of means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._impact.rules import Rule
from fourfifths._stats.means import mean_differences
from fourfifths._stats.proportions import divide
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import Attribute
from fourfifths._tables.table import Table
from fourfifths._text import number_text
from fourfifths.errors import ColumnError, OptionError

# The name of a sum that is there where scores were counted.
SCORE_SUM = "score sum"
MedianOf = Literal["all", "known"]


def check_score(rule: Rule, *, score: str, outcome: str | None, weights: str | None) -> None:
    """Raise if the rule takes no score, or none together with an outcome or weights."""
    if rule.score == "none":
        raise OptionError(
            f"score={score!r}: rule {rule.name!r} takes no score; nyc-ll144, lending-air and "
            "nydfs-cl7 do"
        )
    if rule.score == "above median" and outcome is not None:
        raise OptionError(
            f"score={score!r}, outcome={outcome!r}: {rule.name} takes one of them; a score stands "
            "in for the outcome"
        )
    if rule.score == "above median" and weights is not None:
        raise OptionError(
            f"score={score!r}, weights={weights!r}: {rule.name} takes no weighted median"
        )


def with_above_median(
    table: Table, score: str, *, protected: Sequence[str], median_of: MedianOf
) -> tuple[Table, str]:
    """Add a column that says whether the score is above the median.

    Parameters
    ----------
    table : Table
    score : str
        The column of scores.
    protected : sequence of str
        The protected columns.
    median_of : {"all", "known"}
        Whether the median is that of all rows with a score, or only of those whose membership is
        known in every protected column.

    Returns
    -------
    table : Table
        With the new column; it is missing where the score is.
    name : str
        The name of the new column.
    """
    table = table.with_numbers(score, "score")
    frame = table.frame
    if median_of == "known":
        for column in protected:
            frame = frame.filter(~table.col(column).is_null())
    median = table.rows(frame.select(table.col(score).median()))[0][0]
    if median is None:
        raise ColumnError(f"score={score!r}: no row has a score")
    # Where more than half of the rows have the highest score it is the median: no one is above it.
    above_median = table.frame.filter(table.col(score) > median)
    if not table.rows(above_median.select(table.names[score]).head(1)):
        raise ColumnError(f"score={score!r}: no score is above the median, {number_text(median)}")
    name = f"{score} > {number_text(median)}"
    points = table.col(score)
    return table.with_column(name, nw.when(~points.is_null()).then(points > median)), name


def score_measures(table: Table, score: str, *, weights: str | None) -> dict[str, nw.Expr]:
    """Return the sums over rows from which `score_differences` is computed."""
    points = table.col(score)
    mean = table.rows(table.frame.select(points.mean()))[0][0]
    if mean is None:
        raise ColumnError(f"score={score!r}: no row has a score")
    weight = nw.when(~points.is_null()).then(table.col(weights) if weights else nw.lit(1.0))
    # The variance is a difference of two sums. Without centring, the squares of large scores
    # would leave no digits for it.
    centred = points - mean
    return {
        "score weight": weight,
        "score weight squared": weight * weight,
        SCORE_SUM: weight * centred,
        "score squares": weight * centred * centred,
    }


@dataclass(frozen=True, kw_only=True)
class ScoreSums:
    """The scores of each group, summed over all its rows that have one, with an outcome or not.

    Attributes
    ----------
    weight : float array
        Sums of the weights; numbers of persons where these are counted.
    effective : float array
        The effective numbers of scores, by Kish: (sum of weights)^2 / sum of squared weights.
    total, squares : float array
        Sums of the scores less the mean of all scores, and of their squares.
    """

    weight: FloatArray
    effective: FloatArray
    total: FloatArray
    squares: FloatArray


def sum_scores(attribute: Attribute, counts: Counts) -> ScoreSums:
    """Return the sums of each group's scores."""
    has_group = attribute.codes != MISSING
    weight, weight_squared, total, squares = (
        np.bincount(
            attribute.codes[has_group],
            weights=counts.sums[name][has_group],
            minlength=len(attribute.groups),
        ).astype(np.float64)
        for name in ("score weight", "score weight squared", SCORE_SUM, "score squares")
    )
    # A line of an aggregated table stands for persons, each of weight 1.
    effective = weight if counts.exact else np.nan_to_num(divide(weight**2, weight_squared))
    return ScoreSums(weight=weight, effective=effective, total=total, squares=squares)


def score_differences(
    scores: ScoreSums, kept: BoolArray, *, reference: int, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return (mean of the group - mean of the reference) / standard deviation, and its interval.

    The standard deviation is that of all rows that have a score and whose membership is known. NaN
    where the scores do not vary, and for a group without scores.

    Parameters
    ----------
    scores : ScoreSums
        Of all groups.
    kept : bool array
        The groups that are compared: those with outcomes.
    reference : int
        The index of the reference among these.
    confidence : float

    Returns
    -------
    difference : float array
        One per group that is compared.
    interval : float array
        One pair of limits per group; NaN for the reference, and where the reference or the group
        has fewer than two scores.
    """
    differences = mean_differences(
        scores.weight,
        scores.total,
        scores.squares,
        reference=int(np.flatnonzero(kept)[reference]),
        effective=scores.effective,
        confidence=confidence,
    )
    return differences.difference[kept], np.stack([differences.low, differences.high], axis=1)[kept]
