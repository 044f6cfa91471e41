"""How many persons of each group have each score, in one pass over the table.

A score with few distinct values is counted value by value. One with very many (a probability, say)
is cut into about a thousand levels first, each with about as many rows: between two levels no cut
is tried, but the number of persons beyond the lowest score of a level is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._impact.analyses.counted import count_persons, with_meant_values
from fourfifths._tables.counts import Counts
from fourfifths._tables.groups import Roles
from fourfifths._tables.table import Table
from fourfifths._tables.values import check_limits
from fourfifths.errors import ColumnError

# These rows show whether a score has so many values that it must be cut into levels.
PEEKED_ROWS = 50_000
MAX_PEEKED_SCORES = 25_000
LEVELS = 1000
# A level with more than this share of the rows is cut finer, unless it holds a single score.
MAX_LEVEL_SHARE = 0.01
EQUAL_SEGMENTS, MAX_HEAVY_LEVELS = 16, 10
MAX_REFINEMENTS = 5


@dataclass(frozen=True, kw_only=True)
class ScoreCounts:
    """Persons per group and level of the score.

    Attributes
    ----------
    counts : Counts
        The codes of the score are indices of levels, -1 where there is no score.
    lowest, highest : float array
        The lowest and the highest score of each level, rising.
    is_every_score : bool
        Whether each score is a level.
    """

    counts: Counts
    lowest: FloatArray
    highest: FloatArray
    is_every_score: bool


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A range of scores, and its share of the rows."""

    low: float
    high: float
    share: float


def count_scores(
    table: Table, score: str, *, roles: Roles, edges: Sequence[float] = ()
) -> ScoreCounts:
    """Count the persons of each combination of groups and score.

    Parameters
    ----------
    table : Table
    score : str
    roles : Roles
    edges : sequence of float
        No level reaches from below an edge to above it.
    """
    opened, dtype = table, table.dtype(score)
    if not (dtype.is_integer() or dtype.is_float()):
        table = table.with_missing([score], roles.unknown).with_numbers(score, "score")
    points = table.col(score)
    peeked = table.frame.select(points.alias("points")).head(PEEKED_ROWS)
    # The number of distinct scores alone: fetching them would take longer than counting.
    # Of no rows at all, some engines give no number; that there are none is said by the count.
    distinct = table.rows(peeked.select(nw.col("points").n_unique()))[0][0] or 0
    if distinct <= MAX_PEEKED_SCORES:
        try:
            counts = count_persons(table, [score], roles=roles, opened=opened)
        except ColumnError:  # there are more scores further down
            return count_levels(opened, score, roles=roles, edges=edges)
        if roles.unknown:
            counts = with_meant_values(counts, [score], roles=roles, table=opened)
        scores = np.array(counts.values[score], dtype=np.float64)
        check_scores(score, scores, is_whole=dtype.is_integer())
        return ScoreCounts(counts=counts, lowest=scores, highest=scores, is_every_score=True)
    return count_levels(opened, score, roles=roles, edges=edges)


def count_levels(table: Table, score: str, *, roles: Roles, edges: Sequence[float]) -> ScoreCounts:
    """Count the persons of each group and level of a score that has very many values."""
    opened = table
    table = table.with_missing([score], roles.unknown).with_numbers(score, "score")
    points = table.col(score)
    limits = table.rows(table.frame.select(points.min().alias("low"), points.max().alias("high")))
    low, high = limits[0]
    check_scores(score, np.array([low, high], dtype=np.float64), is_whole=False)
    segments = [Segment(low=low, high=high, share=1.0)]
    for _ in range(MAX_REFINEMENTS):
        level = level_expression(points, segments, edges)
        histogram = np.array(level_histogram(table, points, level))
        is_heavy = histogram[:, 1] > MAX_LEVEL_SHARE * histogram[:, 1].sum()
        if not np.any(is_heavy & (histogram[:, 2] < histogram[:, 3])):
            break
        segments = refined(histogram)
    level = level_expression(points, segments, edges)
    histogram = np.array(level_histogram(table, points, level))
    counts = count_persons(table.with_column(score, level), [score], roles=roles, opened=opened)
    return ScoreCounts(
        counts=counts, lowest=histogram[:, 2], highest=histogram[:, 3], is_every_score=False
    )


def level_expression(
    points: nw.Expr, segments: Sequence[Segment], edges: Sequence[float]
) -> nw.Expr:
    """Return the level of each score: the share of the rows below it, estimated from segments.

    It never falls as the score rises, in floating point either, because each of its steps is a
    rising function. So the scores of different levels do not overlap.
    """
    shares = [
        ((points - segment.low) * (1 / (segment.high - segment.low))).clip(0.0, 1.0) * segment.share
        for segment in segments
        if segment.high > segment.low
    ]
    estimate = nw.sum_horizontal(*shares) * LEVELS
    passed = [(points >= float(edge)).cast(nw.Int64()) for edge in edges]
    level = nw.sum_horizontal(estimate.floor().cast(nw.Int64()), *passed)
    return nw.when(~points.is_null()).then(level)


def level_histogram(
    table: Table, points: nw.Expr, level: nw.Expr
) -> list[tuple[float, float, float, float]]:
    """Return each level with its number of rows, its lowest and its highest score, rising."""
    frame = table.frame.select(level.alias("level"), points.alias("points"))
    grouped = (
        frame.filter(~nw.col("level").is_null())
        .group_by("level")
        .agg(
            nw.len().alias("rows"),
            nw.col("points").min().alias("low"),
            nw.col("points").max().alias("high"),
        )
    )
    return sorted(table.rows(grouped))


def refined(histogram: FloatArray) -> list[Segment]:
    """Return segments with about as many rows each; the largest levels are segments by themselves.

    Within a segment scores are taken to be spread evenly, so the next histogram is finer where
    this one was too coarse.
    """
    rows, low, high = histogram[:, 1], histogram[:, 2], histogram[:, 3]
    share = rows / rows.sum()
    heaviest = np.argsort(rows)[-MAX_HEAVY_LEVELS:]
    is_heavy = np.zeros(rows.size, dtype=bool)
    is_heavy[heaviest] = share[heaviest] > MAX_LEVEL_SHARE
    segment = np.floor((np.cumsum(share) - share) * EQUAL_SEGMENTS)
    is_start = is_heavy | np.concatenate([[True], is_heavy[:-1] | (np.diff(segment) > 0)])
    starts = np.flatnonzero(is_start)
    ends = np.append(starts[1:], rows.size) - 1
    return [
        Segment(
            low=float(low[start]),
            high=float(high[end]),
            share=float(rows[start : end + 1].sum() / rows.sum()),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def check_scores(score: str, scores: FloatArray, *, is_whole: bool) -> None:
    """Raise if there is no score, or if one is infinite or too large to be exact."""
    if not scores.size or np.all(np.isnan(scores)):
        raise ColumnError(f"score={score!r}: no row has a score")
    low, high = float(scores.min()), float(scores.max())
    check_limits(f"score={score!r}", score, low=low, high=high, is_whole=is_whole)
