"""One protected attribute: its groups compared, from counts to the result.

In reading order: what is compared with what (`compare`), which groups can be the reference
(`reference_candidates`), two groups compared, many pairs at once: each group with the reference,
with the largest group, or with every other group (`compare_pairs`), the reason where a figure is
undefined (`reasons`), and the result (`wrap`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._impact.bounds import ratio_bounds
from fourfifths._impact.result import (
    AgainstLargest,
    AttributeImpact,
    GroupImpact,
    IntervalMethod,
    PairImpact,
    Shortfall,
)
from fourfifths._impact.rules import (
    EXCLUDED,
    REFERENCE,
    SIGNIFICANCE_LEVEL,
    Facts,
    Finding,
    Rule,
    deciding_test,
    judge,
    small_share,
)
from fourfifths._impact.scores import ScoreSums, score_differences
from fourfifths._stats.mantel_haenszel import Stratified, compare_within
from fourfifths._stats.proportions import (
    MAX_ROWS_FOR_EXACT,
    chosen_reference_p,
    clopper_pearson,
    cohen_h,
    detectable_ratio,
    divide,
    fisher_test,
    phi,
    range_p,
    range_z,
    ratio_interval,
    score_interval,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import Attribute, Roles, Tally, choose_reference, tally
from fourfifths.errors import GroupError, WeightsError

# Each exact interval takes a few hundredths of a second. Of more pairs than this all intervals are
# score intervals.
MAX_EXACT_INTERVALS = 100
# Figures that compare a group with the reference. The reference itself has none of them.
COMPARISONS = (
    "impact_ratio_interval",
    "likelihood_ratio",
    "z",
    "z_p",
    "standard_deviations",
    "fisher_p",
    "fisher_p_less",
    "mid_p",
    "mid_p_less",
    "choice_p",
    "holm_p",
    "flip",
    "phi",
    "h",
    "detectable_ratio",
    "sensitivity",
    "specificity",
    "balanced_error_rate",
)
# What a group that is excluded from the ratios lacks besides.
EXCLUDED_FIGURES = (
    *COMPARISONS,
    "impact_ratio",
    "impact_ratio_bounds",
    "difference",
    "expected",
    "shortfall_to_reference",
    "shortfall_to_pooled",
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An attribute, its reference, and every figure of its groups.

    Attributes
    ----------
    attribute : Attribute
    tally : Tally
        Rows, weights and selections of each group.
    reference : int
        The index of the reference among the groups.
    is_chosen : bool
        Whether the reference was chosen by its rate, and not designated.
    excluded : bool array
        The groups that the rule excludes from the ratios.
    to_reference : Pairs
        Each group and the reference.
    to_largest : Pairs or None
        Each group and the largest one, tests only; None where that is the reference.
    all_pairs : Pairs or None
        Every two groups, the one with the lower rate first; None where they were not asked for.
    figures : dict of str to float array
        The figures of `GroupImpact` that `to_reference` does not have: of the group alone, or of
        more than two groups.
    stratified : tuple of Stratified or None
        One per group.
    """

    attribute: Attribute
    tally: Tally
    reference: int
    is_chosen: bool
    excluded: BoolArray
    to_reference: Pairs
    to_largest: Pairs | None
    all_pairs: Pairs | None
    figures: dict[str, FloatArray]
    stratified: tuple[Stratified | None, ...]

    @property
    def p(self) -> FloatArray:
        """The p-value of each comparison with the reference, NaN where there is none."""
        return np.where(self.is_compared, self.to_reference.p, np.nan)

    @property
    def is_compared(self) -> BoolArray:
        """The groups that are compared with the reference: all but itself and excluded ones."""
        is_reference = np.arange(self.excluded.size) == self.reference
        return np.asarray(~is_reference & ~self.excluded)

    def numbers(self, holm_p: FloatArray) -> dict[str, list[Any]]:
        """Return every figure as Python's numbers, by the names of the fields, for each group."""
        figures = self.to_reference.figures | self.figures | {"holm_p": holm_p}
        return {name: array.tolist() for name, array in figures.items()}


def compare(
    attribute: Attribute,
    counts: Counts,
    *,
    selected: BoolArray,
    scores: ScoreSums | None,
    roles: Roles,
    rule: Rule,
    confidence: float,
    every_pair: bool,
) -> Comparison:
    """Sum up the groups of an attribute, choose the reference, and compute every figure.

    Parameters
    ----------
    attribute : Attribute
    counts : Counts
        Only cells with an outcome.
    selected : bool array
        Which of the cells have the favorable outcome.
    scores : ScoreSums or None
        The scores of the attribute's groups, with or without an outcome.
    roles : Roles
    rule : Rule
    confidence : float
        Of every interval.
    every_pair : bool
        Whether every two groups are compared, too.
    """
    sums = tally(attribute.codes, counts, selected, len(attribute.groups))
    # A group whose outcomes are all missing has no rate. It is left out, and a note says so.
    present = sums.rows > 0
    if np.sum(present) < 2:
        raise GroupError(
            f"protected={attribute.name!r}: fewer than two groups have rows with "
            "an outcome; expected at least two"
        )
    if not np.all(present):
        attribute = attribute.keep(present)
        sums = tally(attribute.codes, counts, selected, len(attribute.groups))
    if np.any(sums.weight <= 0):
        weightless = attribute.labels[int(np.argmin(sums.weight))]
        raise WeightsError(
            f"weights={roles.weights!r}: the weights of group {weightless!r} sum to 0, so it has "
            "no selection rate; remove its rows or give them a weight"
        )
    excluded = is_small(sums, rule) & (rule.small_groups == "exclude")
    if np.sum(~excluded) < 2:
        raise GroupError(
            f"small_groups='exclude': fewer than two groups of {attribute.name!r} have "
            f"{float(rule.minimum_share):.0%} of the rows; expected at least two"
        )
    candidates = reference_candidates(sums, rule)
    takes_highest = rule.reference == "highest"
    rates = sums.weight_selected / sums.weight
    designated = roles.reference if takes_highest else roles.designated
    reference = choose_reference(
        attribute.protected,
        attribute.groups,
        designated=designated,
        rates=np.where(candidates, rates, np.nan),
        otherwise="highest rate" if takes_highest else "error",
        reason=f"rule {rule.name!r} compares with a designated group",
    )
    if excluded[reference]:
        raise GroupError(
            f"reference: {attribute.labels[reference]!r} has under "
            f"{float(rule.minimum_share):.0%} of the rows and is excluded; name another group, or "
            "pass small_groups='include'"
        )
    is_chosen = takes_highest and not all(column in designated for column in attribute.protected)

    group_count = len(attribute.groups)
    groups = np.arange(group_count)

    kept_count = int(np.sum(~excluded))

    def pairs(group: Any, reference: Any, *, picked_from: int = 0) -> Pairs:
        return compare_pairs(
            sums,
            group,
            reference,
            rule=rule,
            exact=counts.exact,
            confidence=confidence,
            picked_from=picked_from,
        )

    to_reference = pairs(
        groups, np.full(group_count, reference), picked_from=kept_count if is_chosen else 0
    )
    # Of equally large groups the reference, so that nothing is shown twice.
    largest = reference if sums.weight[reference] == sums.weight.max() else np.argmax(sums.weight)
    all_pairs = None
    if every_pair:
        first, second = np.triu_indices(group_count, 1)
        is_kept = ~(excluded[first] | excluded[second])
        first, second = first[is_kept], second[is_kept]
        # As exact as the findings: quotients of counts, multiplied out.
        x, n = sums.weight_selected, sums.weight
        is_higher = x[first] * n[second] > x[second] * n[first]
        all_pairs = pairs(
            np.where(is_higher, second, first),
            np.where(is_higher, first, second),
            picked_from=kept_count,
        )

    size = sums.effective
    rate_limits = clopper_pearson(rates * size, size, confidence=confidence)
    undefined_limits = np.full((group_count, 2), np.nan)
    difference, difference_interval = (
        (undefined_limits[:, 0], undefined_limits)
        if scores is None
        else score_differences(scores, present, reference=reference, confidence=confidence)
    )
    return Comparison(
        attribute=attribute,
        tally=sums,
        reference=reference,
        is_chosen=is_chosen,
        excluded=excluded,
        to_reference=to_reference,
        to_largest=None
        if largest == reference
        else pair_tests(
            sums,
            groups,
            np.full(group_count, largest),
            exact=counts.exact,
            confidence=confidence,
        ),
        all_pairs=all_pairs,
        figures={
            "share": sums.weight / sums.weight.sum(),
            "effective_n": size,
            "selection_rate": divide(sums.weight_selected, sums.weight),
            "selection_rate_interval": np.stack(rate_limits, axis=1),
            "choice_p": choice_p(to_reference, ~excluded, reference=reference, exact=counts.exact)
            if is_chosen
            else np.full(group_count, np.nan),
            "impact_ratio_bounds": ratio_bounds(
                attribute,
                counts,
                sums=sums,
                selected=selected,
                references=candidates if is_chosen else groups == reference,
            )
            if np.any(attribute.codes == MISSING)
            else undefined_limits,
            "mean_difference": difference,
            "mean_difference_interval": difference_interval,
        },
        stratified=stratify(
            attribute,
            counts,
            selected=selected,
            reference=reference,
            within=roles.within,
            confidence=confidence,
        ),
    )


def choice_p(pairs: Pairs, kept: BoolArray, *, reference: int, exact: bool) -> FloatArray:
    """Return the p-value of each group, adjusted for choosing the reference by its rate.

    Parameters
    ----------
    pairs : Pairs
        Each group and the reference.
    kept : bool array
        The groups that are compared, the reference included.
    reference : int
        The index of the reference.
    exact : bool
        Whether persons are counted.
    """
    p = np.full(kept.shape, np.nan)
    group_count = int(kept.sum())
    if group_count == 2:  # whichever is chosen, the difference is the same
        p[kept] = pairs.p[kept]
    elif exact:
        sums = pairs.tally
        p[kept] = chosen_reference_p(
            sums.weight_selected[kept],
            sums.weight[kept],
            reference=int(np.sum(kept[:reference])),
            fisher_p=pairs.figures["fisher_p"][kept],
        )
    else:
        p[kept] = range_p(pairs.figures["z"][kept], group_count=group_count)
    # Where everyone or no one was selected in both there is nothing to test.
    return np.where(np.isnan(pairs.figures["z"]), np.nan, p)


def is_small(sums: Tally, rule: Rule) -> BoolArray:
    """Return which groups have a smaller share of the rows than the rule's minimum."""
    share = rule.minimum_share
    # Multiplied out: a share of exactly 2% is not below it, in floating point either.
    return np.asarray(sums.weight * share.denominator < sums.weight.sum() * share.numerator)


def reference_candidates(sums: Tally, rule: Rule) -> BoolArray:
    """Return which groups can be chosen as the reference by their rate.

    A very small group may have the highest rate by chance. So the reference needs the rule's
    share of the rows, unless all groups lack it, and the rule's number of rows, unless this would
    leave a single group and nothing to compare.
    """
    candidates = np.ones(sums.rows.shape, dtype=bool)
    has_share = ~is_small(sums, rule)
    if rule.small_groups != "include" and np.any(has_share):
        candidates = has_share
    has_rows = candidates & (sums.rows >= rule.minimum_rows)
    return has_rows if has_rows.sum() > 1 else candidates


def stratify(
    attribute: Attribute,
    counts: Counts,
    *,
    selected: BoolArray,
    reference: int,
    within: str | None,
    confidence: float,
) -> tuple[Stratified | None, ...]:
    """Compare each group with the reference within the values of a column.

    Rows where that column is missing do not count. None for the reference, for a group without
    rows in any stratum, and for all groups if there is no such column or if there are sampling
    weights.
    """
    group_count = len(attribute.groups)
    if within is None or not counts.exact:
        return (None,) * group_count
    strata = counts.values[within]
    # One code for each pair of group and stratum: a single tally counts them all.
    cells = np.where(
        (attribute.codes == MISSING) | (counts.codes[within] == MISSING),
        MISSING,
        attribute.codes * len(strata) + counts.codes[within],
    )
    sums = tally(cells, counts, selected, group_count * len(strata))
    n, x = sums.rows.reshape(group_count, -1), sums.rows_selected.reshape(group_count, -1)
    return tuple(
        None
        if group == reference or not (n[group].sum() > 0 and n[reference].sum() > 0)
        else compare_within(
            strata,
            selected=x[group],
            n=n[group],
            selected_reference=x[reference],
            n_reference=n[reference],
            confidence=confidence,
        )
        for group in range(group_count)
    )


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Pairs of groups of one attribute, and every figure of each pair.

    Attributes
    ----------
    tally : Tally
        Rows, weights and selections of each group.
    group, reference : int array
        The two groups of each pair, by their index.
    figures : dict of str to float array
        By the names of the fields of `GroupImpact` (`shortfall` as its two fields): one number per
        pair, or one pair of limits. `pair_tests` computes some of them, `compare_pairs` all.
    has_exact_interval : bool array
        Whether the interval of the impact ratio is the exact one.
    confidence : float
        Of the intervals.
    picked_from : int
        From how many groups the two of a pair were picked out by their figures; 0 if they were not.
    """

    tally: Tally
    group: IntArray
    reference: IntArray
    figures: dict[str, FloatArray]
    has_exact_interval: BoolArray
    confidence: float
    picked_from: int

    @property
    def p(self) -> FloatArray:
        """The p-value that is adjusted for several comparisons: Fisher's, or that of z."""
        fisher = self.figures["fisher_p"]
        return np.where(np.isnan(fisher), self.figures["z_p"], fisher)

    def interval_method(self, pair: int) -> IntervalMethod:
        """Return how the interval of a pair's impact ratio was computed."""
        return "exact" if self.has_exact_interval[pair] else "score"

    def facts(self, pair: int, *, share: Fraction, adjusted_p: float, adjusted_for: str) -> Facts:
        """Return what a rule needs to know about one pair, the rates as exact fractions."""
        sums, group, reference = self.tally, self.group[pair], self.reference[pair]
        low, high = self.figures["impact_ratio_interval"][pair].tolist()
        least_expected, z, fisher_p, flip, detectable = (
            float(self.figures[name][pair])
            for name in ("least_expected", "z", "fisher_p", "flip", "detectable_ratio")
        )
        return Facts(
            rate=fraction(sums.weight_selected[group], sums.weight[group]),
            rate_reference=fraction(sums.weight_selected[reference], sums.weight[reference]),
            share=share,
            n=float(sums.effective[group] + sums.effective[reference]),
            least_expected=least_expected,
            z=z,
            fisher_p=fisher_p,
            picked_from=self.picked_from,
            adjusted_p=adjusted_p,
            adjusted_for=adjusted_for,
            flip=flip,
            ratio_interval=(low, high),
            confidence=self.confidence,
            detectable_ratio=detectable,
        )


def fraction(numerator: float, denominator: float) -> Fraction:
    """Return a quotient of floats, each of which is itself a fraction: nothing is rounded."""
    return Fraction(float(numerator)) / Fraction(float(denominator))


def compare_pairs(
    sums: Tally,
    group: IntArray,
    reference: IntArray,
    *,
    rule: Rule,
    exact: bool,
    confidence: float,
    picked_from: int,
) -> Pairs:
    """Compute every figure of pairs of groups.

    Parameters
    ----------
    sums : Tally
    group, reference : int array
        The two groups of each pair, by their index.
    rule : Rule
        It decides which test the smallest detectable effect is about.
    exact : bool
        Whether the counts are persons, so that exact tests apply.
    confidence : float
        Of the intervals.
    picked_from : int
        From how many groups the two of a pair were picked out by their figures: all, if the
        reference is the highest rate or if every pair is looked at; 0 if it was designated.
    """
    tested = pair_tests(sums, group, reference, exact=exact, confidence=confidence)
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    rate, rate_reference = divide(x, n), divide(x_reference, n_reference)
    pooled = divide(x + x_reference, n + n_reference)
    effective = effective_table(sums, group, reference, exact=exact)
    size, size_reference = sums.effective[group], sums.effective[reference]
    effective_pooled = (effective[0] + effective[2]) / (size + size_reference)
    least_expected = np.minimum(size, size_reference) * np.minimum(
        effective_pooled, 1 - effective_pooled
    )
    tests = [
        deciding_test(
            rule,
            n=float(rows),
            least_expected=float(expected),
            has_fisher=exact,
            picked_from=picked_from,
        )
        for rows, expected in zip(size + size_reference, least_expected, strict=True)
    ]
    # A group compared with itself has no detectable effect.
    detectable = np.full(n.shape, np.nan)
    is_pair = group != reference
    detectable[is_pair] = lower_side_detectable(
        rate[is_pair],
        size[is_pair],
        rate_reference[is_pair],
        size_reference[is_pair],
        critical_z=critical_z(rule, picked_from),
        is_fisher=np.array([test == "fisher" for test in tests])[is_pair],
    )
    further = {
        "likelihood_ratio": divide(n * x_reference, x * n_reference),
        "difference": rate - rate_reference,
        "expected": n * pooled / sums.unit,
        "least_expected": least_expected,
        # n x'/n' - x, as one quotient, so that nothing is rounded twice.
        "shortfall_to_reference": (n * x_reference - x * n_reference) / n_reference / sums.unit,
        "shortfall_to_pooled": (n * pooled - x) / sums.unit,
        "detectable_ratio": detectable,
        "standard_deviations": standard_deviations(*effective),
        "phi": phi(*effective),
        "h": cohen_h(*effective),
        # Moving whole persons makes sense only where persons are counted.
        "flip": flip(x, n, x_reference, n_reference) if exact else np.full(n.shape, np.nan),
        # Table 1 of the paper, and "selected" as a predictor of the reference.
        "a": (n - x) / sums.unit,
        "b": (n_reference - x_reference) / sums.unit,
        "c": x / sums.unit,
        "d": x_reference / sums.unit,
        "sensitivity": rate_reference,
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate_reference + rate) / 2,
    }
    return replace(tested, figures=tested.figures | further, picked_from=picked_from)


def pair_tests(
    sums: Tally, group: IntArray, reference: IntArray, *, exact: bool, confidence: float
) -> Pairs:
    """Compute the impact ratio of pairs of groups, its interval and the tests of equal rates.

    The parameters are those of `compare_pairs`.
    """
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    effective = effective_table(sums, group, reference, exact=exact)
    limits = np.stack(score_interval(*effective, confidence=confidence))
    # Sampling weights are not persons, even where an effective size happens to be a whole number.
    is_exact = (n + n_reference <= MAX_ROWS_FOR_EXACT) & (group != reference)
    is_exact &= exact and n.size <= MAX_EXACT_INTERVALS
    if np.any(is_exact):
        limits[:, is_exact] = ratio_interval(
            *(counts[is_exact] for counts in effective), confidence=confidence
        )
    z = z_statistic(*effective)
    # Fisher's test moves whole persons, and a sampling weight is not a number of them.
    fisher = fisher_test(x, n, x_reference, n_reference) if exact else None
    not_tested = np.full(n.shape, np.nan)
    figures = {
        # As one quotient of integers: 3/5 against 6/8 is then 0.8 to the last bit.
        "impact_ratio": divide(x * n_reference, n * x_reference),
        "impact_ratio_interval": limits.T,
        "z": z,
        "z_p": two_sided_p(z),
        "fisher_p": fisher.p if fisher else not_tested,
        "fisher_p_less": fisher.p_less if fisher else not_tested,
        "mid_p": fisher.mid_p if fisher else not_tested,
        "mid_p_less": fisher.mid_p_less if fisher else not_tested,
    }
    return Pairs(
        tally=sums,
        group=group,
        reference=reference,
        figures=figures,
        has_exact_interval=is_exact,
        confidence=confidence,
        picked_from=0,
    )


def effective_table(
    sums: Tally, group: IntArray, reference: IntArray, *, exact: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the selections and sizes of pairs that tests and intervals take.

    Where persons are counted these are the counts; otherwise sizes are effective ones.
    """
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    if exact:
        return x, n, x_reference, n_reference
    size, size_reference = sums.effective[group], sums.effective[reference]
    return (
        divide(x, n) * size,
        size,
        divide(x_reference, n_reference) * size_reference,
        size_reference,
    )


def flip(
    x: FloatArray, n: FloatArray, x_reference: FloatArray, n_reference: FloatArray
) -> FloatArray:
    """Return the impact ratio after one selection has moved to the side with the lower rate.

    NaN where the rates are equal, or where no one in the reference would remain selected. There is
    always someone to move: the lower of two rates is below 1, and the higher one is above 0.
    """
    step = np.sign(x_reference * n - x * n_reference)
    ratio = divide((x + step) / n, (x_reference - step) / n_reference)
    return np.where(step == 0, np.nan, ratio)


def critical_z(rule: Rule, picked_from: int) -> float:
    """Return the |z| from which on a difference is significant, where z decides.

    Where the two groups were picked from several, it is that of Tukey's range: close to what the
    simulation of `chosen_reference_p` asks for.
    """
    if rule.standard_deviations is not None:
        return rule.standard_deviations
    return range_z(max(picked_from, 2), confidence=1 - SIGNIFICANCE_LEVEL)


def lower_side_detectable(
    rate: FloatArray,
    n: FloatArray,
    rate_reference: FloatArray,
    n_reference: FloatArray,
    *,
    critical_z: float,
    is_fisher: BoolArray,
) -> FloatArray:
    """Return the smallest detectable effect, as a ratio of the lower rate to the higher one.

    The higher rate is taken as it is. So the answer is the same whichever of the two groups is
    the reference; at equal rates it is the smaller of the two ratios that there are.
    """

    def detectable(is_lower: BoolArray) -> FloatArray:
        return detectable_ratio(
            np.where(is_lower, n, n_reference),
            np.where(is_lower, n_reference, n),
            rate_reference=np.maximum(rate, rate_reference),
            confidence=1 - SIGNIFICANCE_LEVEL,
            critical_z=critical_z,
            is_exact=is_fisher,
        )

    ratio = detectable(rate <= rate_reference)
    if np.any(rate == rate_reference):
        ratio = np.where(
            rate == rate_reference, np.minimum(ratio, detectable(rate < rate_reference)), ratio
        )
    return ratio


def reasons(
    comparison: Comparison, counts: Counts, *, roles: Roles, rule: Rule, group: int
) -> dict[str, str]:
    """Return, for each figure of a group that may be undefined, the reason in case it is."""
    is_reference = group == comparison.reference
    same_group = "this is the reference group"
    no_selection_in_reference = "no one in the reference group was selected"
    no_variation = "everyone or no one was selected in both groups"
    not_persons = "whole persons are needed; these are sampling weights"
    higher = comparison.to_reference.figures
    selects_either = max(higher["c"][group], higher["d"][group]) > 0
    has_unknown = np.any(comparison.attribute.codes == MISSING)
    mean_reason = "the score does not vary, or a group has no scores"
    if roles.score is None:
        mean_reason = "no score was given"
    elif rule.score != "mean difference":
        mean_reason = "the rule compares scores with their median, not by their means"
    texts = {
        "impact_ratio": no_selection_in_reference,
        "impact_ratio_interval": f"no upper limit: {no_selection_in_reference}",
        "impact_ratio_bounds": "no bound on one side: possibly no one in the reference was selected"
        if has_unknown
        else "no membership is unknown",
        "likelihood_ratio": "no one in the group was selected",
        "detectable_ratio": "with this many rows even a ratio of 0 would go unnoticed more than "
        "one time in five"
        if selects_either
        else no_selection_in_reference,
        "flip": "the rates are equal, or no one in the reference would remain selected"
        if counts.exact
        else not_persons,
        "mean_difference": mean_reason,
        "mean_difference_interval": mean_reason.replace("no scores", "fewer than two scores"),
        "choice_p": no_variation
        if comparison.is_chosen
        else "the reference was designated, not chosen by its rate",
        "against_largest": "the largest group is the reference"
        if comparison.to_largest is None
        else "this is the largest group",
        **dict.fromkeys(("z", "z_p", "standard_deviations", "phi", "holm_p"), no_variation),
        **dict.fromkeys(("fisher_p", "fisher_p_less", "mid_p", "mid_p_less"), not_persons),
    }
    if roles.within is None:
        texts["stratified"] = "no column to compare within was named"
    elif is_reference:
        texts["stratified"] = same_group
    elif counts.exact:
        texts["stratified"] = f"no row of the group has a known {roles.within}"
    else:
        texts["stratified"] = not_persons
    if is_reference:
        texts |= dict.fromkeys((*COMPARISONS, "mean_difference_interval"), same_group)
        if not comparison.is_chosen and has_unknown:
            texts["impact_ratio_bounds"] = same_group
    if comparison.excluded[group]:
        excluded = (*EXCLUDED_FIGURES, "against_largest")
        texts |= dict.fromkeys(excluded, "the group is excluded from the ratios")
    return texts


def wrap(
    comparison: Comparison,
    counts: Counts,
    *,
    selected: BoolArray,
    holm_p: FloatArray,
    pairs_p: FloatArray,
    total: GroupImpact | None,
    roles: Roles,
    rule: Rule,
) -> AttributeImpact:
    """Return the result: what the rule makes of each group, its figures, and the reasons.

    `holm_p` is the p-value of each group, adjusted for all comparisons of the audit, and `pairs_p`
    that of each pair of groups, adjusted for all pairs. `total` is all groups but the reference as
    one.
    """
    attribute, reference = comparison.attribute, comparison.reference
    is_unknown = attribute.codes == MISSING
    confidence = comparison.to_reference.confidence
    numbers = comparison.numbers(holm_p)
    return AttributeImpact(
        name=attribute.name,
        protected=attribute.protected,
        reference=attribute.labels[reference],
        reference_is="highest rate" if comparison.is_chosen else "designated",
        largest=attribute.labels[
            reference if comparison.to_largest is None else comparison.to_largest.reference[0]
        ],
        unknown=int(counts.rows[is_unknown].sum()),
        unknown_selected=int(counts.rows[is_unknown & selected].sum()),
        groups=tuple(
            wrap_group(comparison, counts, group=group, numbers=numbers, roles=roles, rule=rule)
            for group in range(len(attribute.groups))
        ),
        pairs=wrap_pairs(comparison, pairs_p=pairs_p, rule=rule),
        total=total,
        rule=rule,
        confidence=confidence,
        within=roles.within,
    )


def wrap_group(
    comparison: Comparison,
    counts: Counts,
    *,
    group: int,
    numbers: dict[str, list[Any]],
    roles: Roles,
    rule: Rule,
) -> GroupImpact:
    """Return one group: its figures, what the rule makes of them, and the reasons.

    `numbers` has every figure of all groups, one number or a pair of limits for each.
    """
    attribute, sums, pairs = comparison.attribute, comparison.tally, comparison.to_reference
    is_excluded = bool(comparison.excluded[group])
    figure: dict[str, Any] = {
        name: tuple(values[group]) if isinstance(values[group], list) else values[group]
        for name, values in numbers.items()
    }
    share = fraction(sums.weight[group], sums.weight.sum())
    not_compared: tuple[str, ...] = EXCLUDED_FIGURES if is_excluded else ()
    if group == comparison.reference:
        because = "the other groups are compared with this one"
        finding = Finding(reading=REFERENCE, because=because)
        not_compared = COMPARISONS
    elif is_excluded:
        because = (
            f"{small_share(rule, share)}; {rule.name} allows such a group to be excluded from the "
            "ratios"
        )
        finding = Finding(reading=EXCLUDED, because=because)
    else:
        finding = judge(
            rule,
            pairs.facts(
                group,
                share=share,
                adjusted_p=figure["choice_p"],
                adjusted_for="choosing the reference",
            ),
        )
    for name in not_compared:
        undefined = (np.nan, np.nan) if isinstance(figure[name], tuple) else np.nan
        figure[name] = undefined
    del figure["least_expected"]  # only the rule needs it
    texts = reasons(comparison, counts, roles=roles, rule=rule, group=group)
    why = {
        name: texts[name]
        for name, value in figure.items()
        if any(map(math.isnan, value if isinstance(value, tuple) else (value,)))
    }
    largest = against_largest(comparison, group)
    stratified = comparison.stratified[group]
    for name, value in (("stratified", stratified), ("against_largest", largest)):
        if value is None:
            why[name] = texts[name]
    shortfall = Shortfall(
        to_reference=figure.pop("shortfall_to_reference"),
        to_pooled=figure.pop("shortfall_to_pooled"),
    )
    return GroupImpact(
        group=attribute.labels[group],
        values=dict(zip(attribute.protected, attribute.groups[group], strict=True)),
        n=int(sums.rows[group]),
        selected=int(sums.rows_selected[group]),
        interval_method=None if not_compared else pairs.interval_method(group),
        shortfall=shortfall,
        against_largest=largest,
        stratified=stratified,
        below_line=finding.below_line,
        finding=finding.reading,
        because=finding.because,
        why=why,
        **figure,
    )


def against_largest(comparison: Comparison, group: int) -> AgainstLargest | None:
    """Return the comparison with the largest group; None for itself, or if it is the reference."""
    pairs = comparison.to_largest
    if pairs is None or pairs.reference[group] == group or comparison.excluded[group]:
        return None
    low, high = pairs.figures["impact_ratio_interval"][group].tolist()
    return AgainstLargest(
        group=comparison.attribute.labels[pairs.reference[group]],
        impact_ratio=float(pairs.figures["impact_ratio"][group]),
        impact_ratio_interval=(low, high),
        interval_method=pairs.interval_method(group),
        z=float(pairs.figures["z"][group]),
        z_p=float(pairs.figures["z_p"][group]),
        fisher_p=float(pairs.figures["fisher_p"][group]),
    )


def wrap_pairs(
    comparison: Comparison, *, pairs_p: FloatArray, rule: Rule
) -> tuple[PairImpact, ...]:
    """Return every pair of groups, and what the rule makes of it."""
    pairs, labels = comparison.all_pairs, comparison.attribute.labels
    if pairs is None:
        return ()
    weight, figures = comparison.tally.weight, pairs.figures
    wrapped = []
    for pair, (group, reference) in enumerate(zip(pairs.group, pairs.reference, strict=True)):
        # Of the two groups the smaller one decides whether the pair is judged.
        share = fraction(min(weight[group], weight[reference]), weight.sum())
        adjusted_p = float(pairs_p[pair])
        facts = pairs.facts(pair, share=share, adjusted_p=adjusted_p, adjusted_for="all pairs")
        finding = judge(rule, facts)
        wrapped.append(
            PairImpact(
                group=labels[group],
                reference=labels[reference],
                impact_ratio=float(figures["impact_ratio"][pair]),
                impact_ratio_interval=facts.ratio_interval,
                interval_method=pairs.interval_method(pair),
                z=facts.z,
                z_p=float(figures["z_p"][pair]),
                fisher_p=facts.fisher_p,
                adjusted_p=adjusted_p,
                below_line=finding.below_line,
                finding=finding.reading,
                because=finding.because,
            )
        )
    return tuple(wrapped)
