"""All groups but the reference as one: the total minority of the OFCCP's impact ratio analysis."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray
from fourfifths._impact.compare import Comparison, Pairs, compare, compare_pairs, wrap_group
from fourfifths._impact.result import GroupImpact
from fourfifths._impact.rules import SIGNIFICANCE_LEVEL, Rule
from fourfifths._impact.scores import SCORE_SUM, sum_scores
from fourfifths._stats.proportions import detectable_ratio
from fourfifths._tables.counts import Counts
from fourfifths._tables.groups import ALL_OTHERS, Attribute, Roles, Tally


def measure_total(
    comparison: Comparison,
    counts: Counts,
    *,
    attribute_of_all: Attribute,
    counts_of_all: Counts,
    selected: BoolArray,
    roles: Roles,
    rule: Rule,
) -> GroupImpact | None:
    """Compare all groups but the reference, as one, with the reference.

    Excluded groups are in it, and rows of unknown membership are not. It is not one of the
    comparisons that Holm's method adjusts for. With two groups it is the comparison that there is
    already, and None is returned; so it is for several columns jointly.

    Parameters
    ----------
    comparison : Comparison
        Of the groups.
    counts : Counts
        Only cells with an outcome.
    attribute_of_all, counts_of_all : Attribute, Counts
        The same with all cells: scores are those of all rows.
    selected : bool array
        Which of the cells with an outcome have the favorable one.
    roles : Roles
    rule : Rule
    """
    if len(comparison.attribute.protected) > 1 or len(comparison.attribute.groups) < 3:
        return None
    reference = comparison.attribute.groups[comparison.reference]
    pairs = comparison.to_reference
    total = compare(
        comparison.attribute.pool_others(reference),
        counts,
        selected=selected,
        scores=sum_scores(attribute_of_all.pool_others(reference), counts_of_all)
        if SCORE_SUM in counts_of_all.sums
        else None,
        # The reference is known by now, and no share of the rows is too small to be in the total.
        roles=replace(
            roles,
            reference={comparison.attribute.name: reference[0]},
            default_reference={},
        ),
        rule=replace(rule, reference="designated", minimum_share=Fraction(0)),
        confidence=pairs.confidence,
        every_pair=False,
    )
    if comparison.is_chosen:
        to_reference = compare_pairs(
            total.tally,
            total.to_reference.group,
            total.to_reference.reference,
            rule=rule,
            exact=counts.exact,
            confidence=pairs.confidence,
            picked_from=pairs.picked_from,
        )
        choice_p = against_the_rest_p(to_reference, picked_from=pairs.picked_from)
        if rule.standard_deviations is None:  # then that p decides
            detectable = against_the_rest_detectable(
                total.tally, picked_from=pairs.picked_from, exact=counts.exact
            )
            figures = to_reference.figures | {"detectable_ratio": detectable}
            to_reference = replace(to_reference, figures=figures)
        total = replace(
            total,
            is_chosen=True,
            to_reference=to_reference,
            figures=total.figures | {"choice_p": choice_p},
        )
    numbers = total.numbers(np.full(2, np.nan))  # Holm's method leaves the total out
    measured = wrap_group(total, counts, group=0, numbers=numbers, roles=roles, rule=rule)
    why = measured.why | {
        "holm_p": "its persons are in the other comparisons, which Holm's method adjusts for",
        "against_largest": "all other groups together are compared with the reference only",
    }
    return replace(measured, group=ALL_OTHERS, values={}, why=why)


def against_the_rest_p(pairs: Pairs, *, picked_from: int) -> FloatArray:
    """Return the p-value of the rest against a reference that was chosen by its rate.

    If all rates are equal, each of the groups has its rest significantly below it, at the one-sided
    level alpha / k, with at most that probability; so one of the k that could be chosen has it with
    probability alpha at most (Bonferroni). NaN where there is nothing to test.

    Parameters
    ----------
    pairs : Pairs
        The rest, and the reference.
    picked_from : int
        From how many groups the reference was chosen.
    """
    z, z_p = pairs.figures["z"], pairs.figures["z_p"]
    one_sided = np.where(z < 0, z_p / 2, 1 - z_p / 2)
    exact = pairs.figures["fisher_p_less"]
    p = np.minimum(picked_from * np.where(np.isnan(exact), one_sided, exact), 1.0)
    return np.where(np.isnan(z), np.nan, p)


def against_the_rest_detectable(sums: Tally, *, picked_from: int, exact: bool) -> FloatArray:
    """Return the smallest effect that the test of `against_the_rest_p` detects.

    Parameters
    ----------
    sums : Tally
        Of the rest, and of the reference.
    picked_from : int
        From how many groups the reference was chosen.
    exact : bool
        Whether persons are counted.
    """
    (size, size_reference), (_, rate_reference) = sums.effective, sums.weight_selected / sums.weight
    ratio = detectable_ratio(
        size,
        size_reference,
        rate_reference=rate_reference,
        confidence=1 - SIGNIFICANCE_LEVEL / picked_from,
        is_exact=exact,
        alternative="less",
    )
    return np.array([float(ratio), np.nan])
