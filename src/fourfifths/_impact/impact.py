"""`impact`: what happened, measured as the law and the paper do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from fourfifths._impact.compare import compare, wrap
from fourfifths._impact.notes import impact_notes
from fourfifths._impact.result import AttributeImpact, Impact
from fourfifths._impact.rules import Rule, RuleName, get_rule
from fourfifths._impact.scores import MedianOf, check_score, score_measures, with_above_median
from fourfifths._stats.significance import holm
from fourfifths._tables.counts import MISSING, Counts, WeightKind, count
from fourfifths._tables.groups import attributes, name_bands
from fourfifths._tables.roles import Roles, assign_roles, choose_favorable, prepare
from fourfifths._tables.table import Table, TableLike, Value, open_table
from fourfifths.errors import OptionError, TableError, listed


def impact(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    rule: RuleName | Rule = "ugesp",
    weights: str | None = None,
    weights_are: WeightKind = "sampling",
    within: str | None = None,
    score: str | None = None,
    median_of: MedianOf = "all",
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float = 0.95,
) -> Impact:
    """Measure disparate impact: rates, ratios, intervals, tests, and what a rule makes of them.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        Anything narwhals takes (pandas, polars eager or lazy, pyarrow, a DuckDB relation), a CSV,
        Parquet or JSON lines file, or a shipped data set, which supplies the roles not named here.
    protected : str or sequence of str
        The protected columns. Several are measured each alone and jointly.
    outcome : str
        The column that says what happened.
    favorable : value, optional
        The value of the outcome that means selected. May be left out for plain pairs like 0 and 1
        or no and yes.
    reference : value or mapping of column to value, optional
        The designated reference group. Without it, rules that compare with the highest rate do
        so, and the others raise an error.
    rule : {"ugesp", "feldman2015", "ofccp", "nyc-ll144", "lending-air"} or Rule
    weights : str, optional
        A column of weights, 0 or more.
    weights_are : {"sampling", "counts"}
        "sampling": a row stands for others like it; rates are weighted, and tests use Kish's
        effective sample size. "counts": the table is aggregated, and a row is so many persons.
    within : str, optional
        A column (job, exam, department) within which groups are compared as well.
    score : str, optional
        A column of scores. Under nyc-ll144 "selected" is a score above the median; under
        lending-air the standardised mean difference is reported besides.
    median_of : {"all", "known"}
        Whether rows of unknown membership enter the median of the scores.
    bands : mapping of column to sequence of numbers, optional
        Where to cut a numeric protected column into groups; an edge belongs to the group below.
    unknown : str or sequence, optional
        Values of protected columns that mean that membership is not known, like "?".
    confidence : float
        Of the intervals.

    Returns
    -------
    Impact

    Notes
    -----
    The impact ratio is selection_rate(group) / selection_rate(reference): the disparate impact of
    section 1 of the paper. Rows without an outcome are left out and counted. Rows of unknown
    membership are counted, shown, and bounded: `GroupImpact.impact_ratio_bounds` holds the least
    and the largest ratio that they could still make.

    Examples
    --------
    >>> import fourfifths
    >>> result = fourfifths.impact("ricci", protected="race", outcome="passed")
    >>> black = result["B"]
    >>> black.selected, black.n, round(black.impact_ratio, 3)
    (9, 27, 0.553)
    >>> black.finding
    'adverse impact is indicated under ugesp'
    """
    profile = get_rule(rule)
    _check_options(weights_are, median_of, confidence)
    if median_of == "known" and (score is None or profile.score != "above median"):
        raise OptionError(
            "median_of='known': only a score under a rule that takes its median has one, like "
            "rule='nyc-ll144' with score=..."
        )
    check_score(profile, score=score, outcome=outcome, weights=weights)
    opened = open_table(table)
    takes_median = score is not None and profile.score == "above median"
    roles = assign_roles(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        weights=weights,
        within=within,
        score=score,
        bands=bands,
        unknown=unknown,
        outcome_is="the score" if takes_median else "needed",
    )
    counts, roles = _count(opened, roles, profile, weights_are, median_of)
    chosen = choose_favorable(
        str(roles.outcome), roles.favorable, counts.values[str(roles.outcome)]
    )
    known = counts.codes[str(roles.outcome)] != MISSING
    outcome_missing = int(counts.rows[~known].sum())
    used = counts.take(known)
    measured = _measure(used, chosen, roles, profile, confidence)
    return Impact(
        rule=profile,
        table=opened.name,
        rows=int(used.rows.sum()),
        outcome=str(roles.outcome),
        favorable=str(chosen),
        outcome_missing=outcome_missing,
        confidence=confidence,
        weights=roles.weights,
        weights_are=weights_are if roles.weights else None,
        within=roles.within,
        attributes=measured,
        notes=impact_notes(measured, used, roles, profile, weights_are, outcome_missing),
    )


def _measure(
    counts: Counts, favorable: Value, roles: Roles, rule: Rule, confidence: float
) -> tuple[AttributeImpact, ...]:
    """Compare the groups of every attribute, then adjust for all the comparisons made."""
    outcome = str(roles.outcome)
    selected = counts.codes[outcome] == counts.values[outcome].index(favorable)
    compared = [
        compare(attribute, counts, selected, roles, rule, confidence)
        for attribute in attributes(counts, roles.protected)
    ]
    adjusted = holm(np.concatenate([each.p for each in compared]))
    parts = np.split(adjusted, np.cumsum([each.p.size for each in compared])[:-1])
    return tuple(
        wrap(each, counts, selected, holm_p, roles, rule, confidence)
        for each, holm_p in zip(compared, parts, strict=True)
    )


def _check_options(weights_are: str, median_of: str, confidence: float) -> None:
    for name, value, kind in (
        ("weights_are", weights_are, WeightKind),
        ("median_of", median_of, MedianOf),
    ):
        if value not in get_args(kind):
            raise OptionError(f"{name}={value!r}: expected one of {listed(get_args(kind))}")
    if not isinstance(confidence, int | float) or not 0.5 <= confidence < 1:
        raise OptionError(f"confidence={confidence!r}: expected a number from 0.5 to below 1")


def _count(
    table: Table,
    roles: Roles,
    rule: Rule,
    weights_are: WeightKind,
    median_of: MedianOf,
) -> tuple[Counts, Roles]:
    """Prepare the columns and count; a score becomes the outcome where the rule says so."""
    table = prepare(table, roles)
    if roles.weights:
        table = table.with_numbers(roles.weights, "weights")
    measures = {}
    if roles.score and rule.score == "above median":
        table, above = with_above_median(table, roles.score, roles.protected, median_of)
        roles = replace(roles, outcome=above)
    elif roles.score:
        table = table.with_numbers(roles.score, "score")
        measures = score_measures(table, roles.score, roles.weights)
    keys = [*roles.protected, *([roles.within] if roles.within else []), str(roles.outcome)]
    counts = count(table, keys, weights=roles.weights, weights_are=weights_are, measures=measures)
    if not np.any(counts.codes[str(roles.outcome)] != MISSING):
        raise TableError(f"outcome={roles.outcome!r}: every value is missing")
    return name_bands(counts, roles.bands), roles
