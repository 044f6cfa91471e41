"""Scores instead of decisions: the share above the median, and differences of means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._impact.rules import Rule
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import Attribute
from fourfifths._tables.table import Table
from fourfifths._text import number_text
from fourfifths.errors import ColumnError, OptionError

MedianOf = Literal["all", "known"]


def check_score(rule: Rule, *, score: str, outcome: str | None, weights: str | None) -> None:
    """Raise if the rule takes no score, or not beside an outcome or weights."""
    if rule.score == "none":
        raise OptionError(
            f"score={score!r}: rule {rule.name!r} takes no score; nyc-ll144 and lending-air do"
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
    """Return the sums over rows from which `mean_differences` is computed."""
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
        "score sum": weight * centred,
        "score squares": weight * centred * centred,
    }


def mean_differences(attribute: Attribute, counts: Counts, *, reference: int) -> FloatArray:
    """Return (mean of the group - mean of the reference) / standard deviation, per group.

    The standard deviation is that of all rows that have a score and whose membership is known. NaN
    where the scores do not vary, and for a group without scores.
    """
    has_group = attribute.codes != MISSING
    weight, total, squares = (
        np.bincount(
            attribute.codes[has_group],
            weights=counts.sums[name][has_group],
            minlength=len(attribute.groups),
        )
        for name in ("score weight", "score sum", "score squares")
    )
    if not weight.sum() > 0:
        return np.full(weight.shape, np.nan)
    mean = np.where(weight > 0, total / np.where(weight > 0, weight, 1), np.nan)
    variance = squares.sum() / weight.sum() - (total.sum() / weight.sum()) ** 2
    if not variance > 0:
        return np.full(weight.shape, np.nan)
    return np.asarray((mean - mean[reference]) / np.sqrt(variance))
