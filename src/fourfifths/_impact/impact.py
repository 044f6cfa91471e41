"""`impact`: what happened, measured as the law and the paper measure it, and its notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._impact.compare import compare, wrap
from fourfifths._impact.profiles import DEFAULT_RULE, RULES, RuleName
from fourfifths._impact.result import AttributeImpact, Impact
from fourfifths._impact.rules import (
    EXCLUDED,
    FOUR_FIFTHS,
    REFERENCE,
    SIGNIFICANCE_LEVEL,
    Rule,
    SmallGroups,
)
from fourfifths._impact.scores import (
    SCORE_SUM,
    MedianOf,
    check_score,
    score_measures,
    sum_scores,
    with_above_median,
)
from fourfifths._impact.total import measure_total
from fourfifths._stats.proportions import divide, holm
from fourfifths._tables.counts import (
    MISSING,
    CountedColumn,
    Counts,
    WeightKind,
    check_one_row_per_person,
    count,
    count_per_group,
)
from fourfifths._tables.groups import (
    ALL_OTHERS,
    Roles,
    as_meant,
    assign_roles,
    attributes,
    check_choice,
    check_share,
    choose_favorable,
    favorable_cells,
    favorable_names,
    prepare,
    unknown_members,
)
from fourfifths._tables.table import Table, TableLike, Value, open_table
from fourfifths._tables.values import PERHAPS_NOT_KNOWN, folded
from fourfifths._text import listed, nearest, number, p_value, rows_have
from fourfifths.errors import OptionError, OutcomeError, TableError

PairsShown = Literal["reference", "all"]
MAX_GROUPS_IN_NOTE = 5


def impact(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    rule: RuleName | Rule = DEFAULT_RULE,
    weights: str | None = None,
    weights_are: WeightKind = "sampling",
    within: str | None = None,
    score: str | None = None,
    median_of: MedianOf = "all",
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    counts: Mapping[CountedColumn, str] | None = None,
    unknown: str | Sequence[Any] = (),
    pairs: PairsShown = "reference",
    total_minority: bool | None = None,
    small_groups: SmallGroups | None = None,
    confidence: float = 0.95,
) -> Impact:
    """Measure disparate impact: rates, ratios, intervals, tests, and what a rule makes of them.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        Any dataframe that narwhals supports (pandas, polars eager or lazy, pyarrow, a DuckDB
        relation), a CSV, Parquet or JSON lines file, or a shipped data set. A data set supplies the
        roles that are not named here.
    protected : str or sequence of str
        The protected columns. Several are measured each alone, every two jointly, and all jointly.
    outcome : str
        The column that says what happened.
    favorable : value or list of values, optional
        The value of the outcome that means selected, or several, as in
        ``["Hired", "Offer declined"]``. It may be omitted for obvious pairs like 0 and 1, or no and
        yes.
    reference : value or mapping of column to value, optional
        The designated reference group. Without it, a rule that compares with the highest rate takes
        the group with the highest rate, unless it is very small (`Rule.minimum_share`,
        `Rule.minimum_rows`), and any other rule raises an error.
    rule : str or Rule
        The name of one of `fourfifths.RULES`, or a rule of your own.
    weights : str, optional
        A column of weights, 0 or more.
    weights_are : {"sampling", "counts"}
        "sampling": a row represents others like it. Rates are weighted, and tests use the effective
        sample size that follows from the linearised variance of a weighted rate. "counts": the
        table is aggregated, and the weight of a row is a number of persons.
    within : str, optional
        A column (job, exam, department). Groups are compared within each of its values as well.
    score : str, optional
        A column of scores. Under nyc-ll144 "selected" means a score above the median. Under
        lending-air the standardised difference of the mean scores is reported in addition.
    median_of : {"all", "known"}
        Whether the median of the scores is that of all rows, or only of rows of known membership.
    bands : mapping of column to sequence of numbers, optional
        Where to cut a numeric protected column into groups. A value equal to a cut belongs to the
        group above it: ``{"age": [40]}`` makes "under 40" and "40 and over".
    ages : mapping of column to day, optional
        Which protected columns hold dates of birth, and the day on which ages count, as in
        ``{"born": "2026-01-01"}``. `bands` says where the ages, in completed years, are cut.
    counts : mapping, optional
        For a table with one row per group: the column of each number, "n" and "selected", or
        "selected" and "not_selected", as in ``{"n": "Applicants", "selected": "Hired"}``. Such a
        table has no outcome column.
    unknown : str or sequence, optional
        Values that mean missing, in every column, beside null, NaN and empty text; like "?".
    pairs : {"reference", "all"}
        "all": every two groups are compared with each other as well (`AttributeImpact.pairs`).
    total_minority : bool, optional
        Whether all groups of a column but the reference are compared with it as one, too
        (`AttributeImpact.total`). By default as the rule says: ofccp does.
    small_groups : {"include", "exclude"}, optional
        What to do with groups of under 2% of the rows under nyc-ll144, which allows an auditor to
        exclude them. "include", its default: they are treated like any other group. "exclude":
        they are shown with their counts and rates, but without a ratio, and are not the reference.
    confidence : float
        The confidence level of the intervals.

    Returns
    -------
    Impact
        With one protected column, `result[group]` is the `GroupImpact` of a group. With several,
        `result[column]` is the `AttributeImpact` of a column, and `result[column][group]` that of
        a group of it.

    Notes
    -----
    The impact ratio is selection_rate(group) / selection_rate(reference): the disparate impact of
    section 1 of the paper. Rows without an outcome are left out and counted. Rows of unknown
    membership belong to no group, but they are counted, and `GroupImpact.impact_ratio_bounds` says
    between which limits the ratio would lie if their membership were known.

    Examples
    --------
    >>> import fourfifths
    >>> result = fourfifths.impact("ricci", protected="race", outcome="passed")
    >>> black = result["B"]
    >>> black.selected, black.n, round(black.impact_ratio, 3)
    (9, 27, 0.553)
    >>> black.finding
    'adverse impact is indicated under ugesp'

    Several protected columns are measured each alone and jointly:

    >>> adult = fourfifths.impact("adult", protected=["sex", "race"])
    >>> round(adult["sex"]["Female"].impact_ratio, 3)
    0.36
    >>> adult["sex", "race"].reference
    'Male & Asian-Pac-Islander'
    """
    # What needs no table is checked before one is opened, which may be large.
    profile = get_rule(rule)
    for name, value, choices in (
        ("weights_are", weights_are, get_args(WeightKind)),
        ("median_of", median_of, get_args(MedianOf)),
        ("pairs", pairs, get_args(PairsShown)),
        ("total_minority", total_minority, (True, False, None)),
        ("small_groups", small_groups, (*get_args(SmallGroups), None)),
    ):
        check_choice(name, value, choices)
    confidence = check_share("confidence", confidence, "[0.5, 1)")
    if small_groups is not None:
        if profile.small_groups == "not judged":
            raise OptionError(
                f"small_groups={small_groups!r}: rule {profile.name!r} treats small groups in a "
                "fixed way; nyc-ll144 leaves it to the auditor"
            )
        profile = replace(profile, small_groups=small_groups)
    if median_of == "known" and (score is None or profile.score != "above median"):
        raise OptionError(
            "median_of='known': there is no median to take; it needs a score and a rule that "
            "compares with the median, like score=... with rule='nyc-ll144'"
        )

    if score is not None:
        check_score(profile, score=score, outcome=outcome, weights=weights)
    takes_median = score is not None and profile.score == "above median"

    opened = open_table(table).without_empty_rows()
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
        ages=ages,
        counts=counts,
        unknown=unknown,
        outcome_is="the score" if takes_median else "needed",
    )
    cells, roles = count_outcomes(
        opened, roles, rule=profile, weights_are=weights_are, median_of=median_of
    )
    # The values of the outcome are known only now that they are counted.
    favorable_values = choose_favorable(
        str(roles.outcome), roles.favorable, cells.values[str(roles.outcome)]
    )
    blanks = int(cells.rows[cells.codes[str(roles.outcome)] == MISSING].sum())
    if blanks and len(cells.values[str(roles.outcome)]) == 1:
        raise OutcomeError(
            f"outcome={roles.outcome!r}: holds {str(favorable_values[0])!r} and {blanks:,} blanks, "
            "which are missing; if a blank means the opposite, write that value there"
        )
    return measure(
        cells,
        favorable=favorable_values,
        table=opened.name,
        roles=roles,
        rule=profile,
        weights_are=weights_are,
        confidence=confidence,
        every_pair=pairs == "all",
        total_minority=total_minority,
    )


def get_rule(rule: str | Rule) -> Rule:
    """Return the rule of that name. A `Rule` is returned as it is.

    Examples
    --------
    >>> get_rule("ugesp").reference
    'highest'
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str) or rule not in RULES:
        raise OptionError(
            f"rule={rule!r}: no such rule; expected one of {listed(get_args(RuleName))}"
            f"{nearest(rule, RULES)}"
        )
    return RULES[rule]


def measure(
    cells: Counts,
    *,
    favorable: Sequence[Value],
    table: str,
    roles: Roles,
    rule: Rule,
    weights_are: WeightKind,
    confidence: float,
    every_pair: bool = False,
    total_minority: bool | None = None,
) -> Impact:
    """Measure disparate impact in a table whose rows are counted.

    Parameters
    ----------
    cells : Counts
        Of every combination of groups, stratum and outcome.
    favorable : sequence of value
        The values of the outcome that mean selected.
    table : str
        What the table is called.
    roles : Roles
    rule : Rule
    weights_are : {"sampling", "counts"}
    confidence : float
    every_pair : bool
        Whether every two groups are compared, too.
    total_minority : bool, optional
        As for `impact`.
    """
    outcome_column = str(roles.outcome)
    has_outcome = cells.codes[outcome_column] != MISSING
    outcome_missing = int(cells.rows[~has_outcome].sum())
    # Scores are summed over all rows; everything else is about those with an outcome.
    attributes_of_all = attributes(cells, roles.protected)
    scores = [
        sum_scores(attribute, cells) if SCORE_SUM in cells.sums else None
        for attribute in attributes_of_all
    ]
    cells_of_all, cells = cells, cells.take(has_outcome)
    selected = favorable_cells(cells, outcome_column, favorable)

    comparisons = [
        compare(
            replace(attribute, codes=attribute.codes[has_outcome]),
            cells,
            selected=selected,
            scores=score_sums,
            roles=roles,
            rule=rule,
            confidence=confidence,
            every_pair=every_pair,
        )
        for attribute, score_sums in zip(attributes_of_all, scores, strict=True)
    ]
    # Holm's method adjusts for all comparisons of the audit, not only for those of one attribute.
    holm_p = holm_over([comparison.p for comparison in comparisons])
    pairs_p = holm_over(
        [
            np.empty(0) if comparison.all_pairs is None else comparison.all_pairs.p
            for comparison in comparisons
        ]
    )
    has_total = rule.total_minority if total_minority is None else total_minority
    totals = [
        measure_total(
            comparison,
            cells,
            attribute_of_all=attribute,
            counts_of_all=cells_of_all,
            selected=selected,
            roles=roles,
            rule=rule,
        )
        if has_total
        else None
        for comparison, attribute in zip(comparisons, attributes_of_all, strict=True)
    ]
    measured = tuple(
        wrap(
            comparison,
            cells,
            selected=selected,
            holm_p=holm_p[index],
            pairs_p=pairs_p[index],
            total=totals[index],
            roles=roles,
            rule=rule,
        )
        for index, comparison in enumerate(comparisons)
    )

    return Impact(
        rule=rule,
        table=table,
        rows=int(cells.rows.sum()),
        outcome=outcome_column,
        favorable=favorable_names(favorable),
        outcome_missing=outcome_missing,
        confidence=confidence,
        weights=roles.weights,
        weights_are=weights_are if roles.weights else None,
        within=roles.within,
        attributes=measured,
        notes=(
            *cells.notes,
            *impact_notes(
                measured,
                cells,
                roles=roles,
                rule=rule,
                favorable=favorable,
                total_minority=total_minority,
                weights_are=weights_are,
                outcome_missing=outcome_missing,
            ),
        ),
    )


def holm_over(p_values: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the p-values of several attributes, adjusted for all of them together."""
    ends = np.cumsum([p.size for p in p_values])
    return np.split(holm(np.concatenate(p_values)), ends[:-1])


def count_outcomes(
    table: Table,
    roles: Roles,
    *,
    rule: Rule,
    weights_are: WeightKind,
    median_of: MedianOf,
) -> tuple[Counts, Roles]:
    """Count the rows of each combination of groups, stratum and outcome.

    Parameters
    ----------
    table : Table
    roles : Roles
    rule : Rule
        If it compares scores with the median, "above the median" becomes the outcome.
    weights_are : {"sampling", "counts"}
    median_of : {"all", "known"}

    Returns
    -------
    counts : Counts
    roles : Roles
        With the outcome that was counted.
    """
    # What is missing comes first: a "?" that means missing is not a wrong number.
    opened, table = table, prepare(table, roles)
    if roles.weights:
        table = table.with_numbers(roles.weights, "weights")
    measures = {}
    if roles.score and rule.score == "above median":
        if median_of == "known":
            table = unknown_members(table, roles)
        table, above_median = with_above_median(
            table, roles.score, protected=roles.protected, median_of=median_of
        )
        roles = replace(roles, outcome=above_median)
    elif roles.score:
        table = table.with_numbers(roles.score, "score")
        measures = score_measures(table, roles.score, weights=roles.weights)
    keys = [*roles.protected, *([roles.within] if roles.within else [])]
    if roles.counts:
        for column in roles.counts.values():
            table = table.with_numbers(column, "counts")
        counts = count_per_group(table, keys, columns=roles.counts)
        return as_meant(counts, roles, opened), roles
    counts = count(
        table,
        [*keys, str(roles.outcome)],
        weights=roles.weights,
        weights_are=weights_are,
        measures=measures,
    )
    if roles.weights is None:
        check_one_row_per_person(opened, counts, [*keys, str(roles.outcome), str(roles.score)])
    counts = as_meant(counts, roles, opened)
    if not np.any(counts.codes[str(roles.outcome)] != MISSING):
        raise TableError(f"outcome={roles.outcome!r}: every value is missing")
    return counts, roles


def impact_notes(
    measured: Sequence[AttributeImpact],
    counts: Counts,
    *,
    roles: Roles,
    rule: Rule,
    favorable: Sequence[Value],
    total_minority: bool | None,
    weights_are: WeightKind,
    outcome_missing: int,
) -> tuple[str, ...]:
    """Return the notes of an audit, the most important first.

    Parameters
    ----------
    measured : sequence of AttributeImpact
    counts : Counts
        Only cells with an outcome.
    roles : Roles
    rule : Rule
    favorable : sequence of value
        The values of the outcome that mean selected.
    total_minority : bool or None
        Whether the user asked for it.
    weights_are : {"sampling", "counts"}
    outcome_missing : int
        Rows that were left out because they have no outcome.
    """
    notes = [
        *simpsons_paradox(measured, roles),
        *reference_not_highest(measured, rule),
        *small_group_notes(measured, rule),
        *rejection_notes(measured),
        *outcome_notes(
            measured, counts, roles=roles, favorable=favorable, outcome_missing=outcome_missing
        ),
        *unknown_notes(measured, counts, roles=roles),
    ]
    if roles.weights and weights_are == "sampling":
        notes.append(
            f"{roles.weights} is taken as sampling weights: rates are weighted, n and selected are "
            "rows, tests use effective sample sizes (linearised variance), and there are no exact "
            "tests and no comparisons within a column; if a weight is a number of persons, pass "
            "weights_are='counts'"
        )
    comparison_count = sum(
        group.finding not in (REFERENCE, EXCLUDED)
        for attribute in measured
        for group in attribute.groups
    )
    if comparison_count > 1:
        notes.append(
            f"{comparison_count} comparisons were made; Holm's p is adjusted for all of them"
        )
    return (*notes, *total_notes(measured, is_asked_for=bool(total_minority)))


def simpsons_paradox(measured: Sequence[AttributeImpact], roles: Roles) -> Iterator[str]:
    """Yield where the pooled rates and the strata point in opposite directions.

    Both are about the same rows: those in strata that have both groups. It is called a paradox
    only where both differences are significant; otherwise one of them may be chance.
    """
    for attribute in measured:
        for group in attribute.groups_and_total:
            within = group.stratified
            if within is None or not within.reversal:
                continue
            strata = [row for row in within.strata if row["n"] and row["n_reference"]]
            x, n, x_reference, n_reference = (
                sum(stratum[count] for stratum in strata)
                for count in ("selected", "n", "selected_reference", "n_reference")
            )
            ratio = float(divide(np.array(x * n_reference), np.array(n * x_reference)))
            figures = (
                f"over all {n + n_reference:,} rows of {group.group} and {attribute.reference} in "
                f"values of {roles.within} that have both, the ratio of their rates is "
                f"{number(ratio)} (p {p_value(within.pooled_p)}), but within {roles.within} the "
                f"common odds ratio is {number(within.odds_ratio)} (p {p_value(within.cmh_p)}), in "
                "the opposite direction"
            )
            if max(within.pooled_p, within.cmh_p) < SIGNIFICANCE_LEVEL:
                yield f"Simpson's paradox: {figures}"
            else:
                yield f"{figures}; not both are significant, so this may be chance"


def reference_not_highest(measured: Sequence[AttributeImpact], rule: Rule) -> Iterator[str]:
    """Yield where a rule that compares with the highest rate has another reference."""
    if rule.reference != "highest":
        return
    for attribute in measured:
        candidates = [group for group in attribute.groups if group.finding != EXCLUDED]
        highest = max(candidates, key=lambda group: group.selection_rate)
        reference = next(group for group in attribute.groups if group.finding == REFERENCE)
        if highest.selection_rate > reference.selection_rate:
            if attribute.reference_is == "designated":
                reason = f"{attribute.reference} was designated"
            elif highest.share < rule.minimum_share:
                reason = f"{highest.group} is under {float(rule.minimum_share):.0%} of the rows"
            else:
                reason = f"{highest.group} has under {rule.minimum_rows} rows"
            if attribute.reference_is != "designated" and not attribute.pairs:
                reason += "; pairs='all' compares every two groups"
            yield (
                f"{rule.name} compares with the highest rate, which is {highest.group}'s; here the "
                f"reference is {attribute.reference}, because {reason}"
            )


def small_group_notes(measured: Sequence[AttributeImpact], rule: Rule) -> Iterator[str]:
    """Yield which groups a rule that leaves it to the auditor excluded, or could exclude."""
    if rule.small_groups == "not judged":
        return
    for attribute in measured:
        small = [group.group for group in attribute.groups if group.share < rule.minimum_share]
        if not small:
            continue
        share = f"under {float(rule.minimum_share):.0%} of the rows"
        groups = f"{listed(small)} of {attribute.name}, {share}"
        if rule.small_groups == "exclude":
            yield (
                f"{groups}: excluded from the ratios; {rule.name} asks for a justification, and "
                "for the counts and rates, which are shown"
            )
        else:
            yield (
                f"{groups}: included in the ratios; {rule.name} allows an auditor to exclude such "
                "groups (small_groups='exclude')"
            )


def rejection_notes(measured: Sequence[AttributeImpact]) -> Iterator[str]:
    """Yield where selection rates are within four fifths of each other, but rejection rates not.

    Only where the difference is significant. The opposite is not news: where selections are rare,
    nearly everyone is rejected in both groups, and the ratio of these rates is close to 1.
    """
    figures = []
    for attribute in measured:
        for group in attribute.groups:
            if group.finding in (REFERENCE, EXCLUDED):
                continue
            p = group.z_p if math.isnan(group.fisher_p) else group.fisher_p
            # The paper's table 1; as exact fractions, because 8 of 10 is four fifths of all. Of
            # weights those of the decimals that they are written as.
            table = (group.a, group.b, group.c, group.d)
            a, b, c, d = (Fraction(repr(float(weight))) for weight in table)
            selection, rejection = (c / (a + c), d / (b + d)), (a / (a + c), b / (b + d))
            if (
                p < SIGNIFICANCE_LEVEL
                and min(selection) >= FOUR_FIFTHS * max(selection)
                and min(rejection) < FOUR_FIFTHS * max(rejection)
            ):
                ratio = float(rejection[0] / rejection[1]) if rejection[1] else math.nan
                figures.append(
                    f"{group.group} against {attribute.reference} {number(group.impact_ratio)} and "
                    f"{number(ratio)} ({float(rejection[0]):.1%} against "
                    f"{float(rejection[1]):.1%} rejected)"
                )
    if figures:
        rest = len(figures) - MAX_GROUPS_IN_NOTE
        more = f"; and {rest} more" if rest > 0 else ""
        yield (
            "the ratios of selection rates and of rejection rates disagree: "
            f"{'; '.join(figures[:MAX_GROUPS_IN_NOTE])}{more}. Where most people are selected, the "
            "same difference is a small part of the selection rates and a large part of the "
            "rejection rates. The four-fifths rule of 29 CFR 1607.4(D) speaks of selection rates; "
            "the difference in points and its tests are the same for both"
        )


def total_notes(measured: Sequence[AttributeImpact], *, is_asked_for: bool) -> Iterator[str]:
    """Yield who is in the total of all groups but the reference, and what it is not."""
    for attribute in measured:
        if attribute.total is None:
            if is_asked_for and len(attribute.groups) == 2 and len(attribute.protected) == 1:
                yield f"{attribute.name} has two groups: all but the reference are one already"
            continue
        excluded = [group.group for group in attribute.groups if group.finding == EXCLUDED]
        text = f"{ALL_OTHERS} of {attribute.name}: all groups but {attribute.reference}, as one"
        if excluded:
            text += f", also {listed(excluded)}"
        if attribute.unknown:
            text += ", without the rows of no known group"
        text += "; Holm's p leaves this comparison out"
        if attribute.reference_is != "designated":
            text += (
                f". {attribute.reference} was chosen by its rate: for a total minority designate "
                "the majority as the reference"
            )
        yield text


def outcome_notes(
    measured: Sequence[AttributeImpact],
    counts: Counts,
    *,
    roles: Roles,
    favorable: Sequence[Value],
    outcome_missing: int,
) -> Iterator[str]:
    """Yield what the values of the outcome, and missing ones, do to the counts."""
    # The single columns come first in `measured`, the joint attribute last.
    for attribute, column in zip(measured, roles.protected, strict=False):
        compared_values = {group.values[column] for group in attribute.groups}
        left_out = [value for value in counts.values[column] if value not in compared_values]
        if left_out:
            yield f"no row of {column} = {listed(left_out)} has an outcome; it is not compared"
    value_count = len(counts.values[str(roles.outcome)])
    if len(favorable) > 1:
        rest = [value for value in counts.values[str(roles.outcome)] if value not in favorable]
        yield (
            f"{listed(favorable)} of {roles.outcome} all count as selected, and {listed(rest)} as "
            "not selected"
        )
    elif value_count > 2:
        yield (
            f"{roles.outcome} has {value_count} values; the {value_count - 1} that are not "
            "favorable all count as not selected"
        )
    if outcome_missing:
        yield f"{rows_have(outcome_missing)} no {roles.outcome} and could not be counted"


def unknown_notes(
    measured: Sequence[AttributeImpact], counts: Counts, *, roles: Roles
) -> Iterator[str]:
    """Yield how many rows have no known group or stratum, and values that may mean the same."""
    for attribute in measured:
        if attribute.unknown:
            yield (
                f"{rows_have(attribute.unknown)} no known {attribute.name} "
                f"({attribute.unknown_selected:,} of them selected) and could not be assigned to a "
                "group; the bounds show how far this could change the ratios"
            )
    # They are only named. "None" may be a group, and to drop it would be a guess.
    for column in roles.protected:
        lookalikes = [
            value for value in counts.values[column] if folded(str(value)) in PERHAPS_NOT_KNOWN
        ]
        if lookalikes:
            yield (
                f"{listed(lookalikes)} in {column} is counted as a group; if it means that "
                f"membership is not known, pass unknown=[{lookalikes[0]!r}]"
            )
    if roles.within:
        unknown = int(counts.rows[counts.codes[roles.within] == MISSING].sum())
        if unknown:
            yield f"{rows_have(unknown)} no {roles.within} and could not be compared within it"
