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


def check_score(rule: Rule, *, score: str | None, outcome: str | None, weights: str | None) -> None:
    """Raise if the rule takes no score, or not beside what else is given."""
    if score is None:
        return
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
    table: Table, score: str, protected: Sequence[str], median_of: MedianOf
) -> tuple[Table, str]:
    """Add a column that says whether the score is above the median; return the table and its name.

    The median is taken over all rows with a score, or over those whose membership is known in
    every protected column. A row with no score has no outcome.
    """
    table = table.with_numbers(score, "score")
    frame = table.frame
    if median_of == "known":
        for column in protected:
            frame = frame.filter(~table.col(column).is_null())
    median = table.rows(frame.select(table.col(score).median()))[0][0]
    if median is None:
        raise ColumnError(f"score={score!r}: no row has a score")
    if not table.rows(
        table.frame.filter(table.col(score) > median).select(table.names[score]).head(1)
    ):
        raise ColumnError(f"score={score!r}: no score is above the median, {number_text(median)}")
    name = f"{score} > {number_text(median)}"
    points = table.col(score)
    return table.with_column(name, nw.when(~points.is_null()).then(points > median)), name


def score_measures(table: Table, score: str, weights: str | None) -> dict[str, nw.Expr]:
    """Return the sums that `mean_differences` needs."""
    points = table.col(score)
    centre = table.rows(table.frame.select(points.mean()))[0][0]
    if centre is None:
        raise ColumnError(f"score={score!r}: no row has a score")
    kept = nw.when(~points.is_null()).then(table.col(weights) if weights else nw.lit(1.0))
    # Centred first, so that the squares of large scores do not swallow their differences.
    centred = points - centre
    return {
        "score weight": kept,
        "score sum": kept * centred,
        "score squares": kept * centred * centred,
    }


def mean_differences(attribute: Attribute, counts: Counts, reference: int) -> FloatArray:
    """Return (mean of the group - mean of the reference) / standard deviation, per group.

    The standard deviation is that of all rows whose membership is known and that have a score.
    """
    known = attribute.codes != MISSING
    size, total, squares = (
        np.bincount(
            attribute.codes[known],
            weights=counts.sums[name][known],
            minlength=len(attribute.groups),
        )
        for name in ("score weight", "score sum", "score squares")
    )
    if not size.sum() > 0:
        return np.full(size.shape, np.nan)
    mean = np.where(size > 0, total / np.where(size > 0, size, 1), np.nan)
    variance = squares.sum() / size.sum() - (total.sum() / size.sum()) ** 2
    if not variance > 0:
        return np.full(size.shape, np.nan)
    return np.asarray((mean - mean[reference]) / np.sqrt(variance))
