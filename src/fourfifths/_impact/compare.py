"""One protected attribute: its groups compared with the reference, from counts to the result.

In reading order: what is compared with what (`compare`), every figure of the comparison
(`figures`), the reason where a figure is undefined (`reasons`), and the result (`wrap`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, Interval
from fourfifths._impact.result import AttributeImpact, GroupImpact, Shortfall
from fourfifths._impact.rules import REFERENCE, Facts, Finding, Rule, judge
from fourfifths._impact.scores import mean_differences
from fourfifths._stats.mantel_haenszel import Stratified, compare_within
from fourfifths._stats.proportions import (
    clopper_pearson,
    cohen_h,
    detectable_ratio,
    divide,
    fisher_test,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths._stats.ratio import ratio_interval
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import Attribute, Tally, choose_reference, compatible, tally
from fourfifths._tables.roles import Roles
from fourfifths.errors import GroupError, WeightsError

NAN = float("nan")
# Figures that compare a group with the reference. The reference itself has none of them.
COMPARISONS = (
    "impact_ratio_interval",
    "impact_ratio_bounds",
    "likelihood_ratio",
    "z",
    "z_p",
    "standard_deviations",
    "fisher_p",
    "fisher_p_less",
    "mid_p",
    "holm_p",
    "flip",
    "phi",
    "h",
    "detectable_ratio",
    "sensitivity",
    "specificity",
    "balanced_error_rate",
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
    figures : dict of str to float array
        By the names of the fields of `GroupImpact`: one number per group, or one pair of limits.
    stratified : tuple of Stratified or None
        One per group.
    """

    attribute: Attribute
    tally: Tally
    reference: int
    figures: dict[str, FloatArray]
    stratified: tuple[Stratified | None, ...]

    @property
    def p(self) -> FloatArray:
        """The p-value that Holm's method adjusts: Fisher's, or that of z with sampling weights."""
        fisher = self.figures["fisher_p"]
        return np.where(np.isnan(fisher), self.figures["z_p"], fisher)


def compare(
    attribute: Attribute,
    counts: Counts,
    *,
    selected: BoolArray,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> Comparison:
    """Sum up the groups of an attribute, choose the reference, and compute every figure.

    Parameters
    ----------
    attribute : Attribute
    counts : Counts
        Only cells with an outcome.
    selected : bool array
        Which of the cells have the favorable outcome.
    roles : Roles
    rule : Rule
    confidence : float
        Of every interval.
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
    # A very small group may have the highest rate by chance, so it is chosen only if all are small.
    is_large = sums.weight >= float(rule.minimum_share) * sums.weight.sum()
    rates = sums.weight_selected / sums.weight
    takes_highest = rule.reference == "highest"
    reference = choose_reference(
        attribute.protected,
        attribute.groups,
        designated=roles.reference if takes_highest else roles.designated,
        rates=np.where(is_large, rates, np.nan) if np.any(is_large) else rates,
        otherwise="highest rate" if takes_highest else "error",
        reason=f"rule {rule.name!r} compares with a designated group",
    )
    group_figures = figures(sums, reference, exact=counts.exact, confidence=confidence)
    group_figures["mean_difference"] = (
        mean_differences(attribute, counts, reference=reference)
        if "score sum" in counts.sums
        else np.full(sums.rows.shape, np.nan)
    )
    group_figures["impact_ratio_bounds"] = np.array(
        [
            ratio_bounds(
                attribute, counts, sums=sums, selected=selected, group=group, reference=reference
            )
            for group in range(len(attribute.groups))
        ]
    )
    for name in COMPARISONS:
        if name in group_figures:  # Holm's p comes later, when all attributes are compared
            group_figures[name][reference] = np.nan
    return Comparison(
        attribute=attribute,
        tally=sums,
        reference=reference,
        figures=group_figures,
        stratified=stratify(
            attribute,
            counts,
            selected=selected,
            reference=reference,
            within=roles.within,
            confidence=confidence,
        ),
    )


def figures(
    sums: Tally, reference: int, *, exact: bool, confidence: float
) -> dict[str, FloatArray]:
    """Return every figure that follows from the selections of each group.

    Parameters
    ----------
    sums : Tally
    reference : int
        The index of the reference among the groups.
    exact : bool
        Whether the counts are persons, so that exact tests apply.
    confidence : float
        Of the intervals.

    Returns
    -------
    dict of str to float array
        By the names of the fields of `GroupImpact`; `shortfall` as its two fields.
    """
    n, x = sums.weight, sums.weight_selected
    n_reference, x_reference = n[reference], x[reference]
    rate = divide(x, n)
    pooled = divide(x + x_reference, n + n_reference)

    # Tests and intervals take effective sizes; where persons are counted these are the counts.
    size = sums.effective
    effective = (rate * size, size, (rate * size)[reference], size[reference])
    rate_reference = effective[2] / effective[3]
    rate_limits = clopper_pearson(rate * size, size, confidence=confidence)
    ratio_limits = ratio_interval(*effective, confidence=confidence)
    z = z_statistic(*effective)

    # Fisher's test and the flip move whole persons, and a sampling weight is not a number of them.
    if exact:
        persons = (x, n, x_reference, n_reference)
        fisher = fisher_test(*persons)
        fisher_p, fisher_p_less, mid_p = fisher.p, fisher.p_less, fisher.mid_p
        ratio_after_flip = flip(*persons)
    else:
        fisher_p, fisher_p_less, mid_p, ratio_after_flip = np.full((4, n.size), np.nan)

    return {
        "share": n / n.sum(),
        "effective_n": size,
        "selection_rate": rate,
        "selection_rate_interval": np.stack(rate_limits, axis=1),
        # As one quotient of integers: 3/5 against 6/8 is then 0.8 to the last bit.
        "impact_ratio": divide(x * n_reference, n * x_reference),
        "impact_ratio_interval": np.stack(ratio_limits, axis=1),
        "likelihood_ratio": divide(n * x_reference, x * n_reference),
        "difference": rate - rate[reference],
        "expected": n * pooled,
        # n x'/n' - x, as one quotient for the same reason.
        "shortfall_to_reference": (n * x_reference - x * n_reference) / n_reference,
        "shortfall_to_pooled": n * pooled - x,
        "detectable_ratio": detectable_ratio(
            size, size[reference], rate_reference=rate_reference, confidence=confidence
        ),
        "z": z,
        "z_p": two_sided_p(z),
        "standard_deviations": standard_deviations(*effective),
        "phi": phi(*effective),
        "h": cohen_h(*effective),
        "fisher_p": fisher_p,
        "fisher_p_less": fisher_p_less,
        "mid_p": mid_p,
        "flip": ratio_after_flip,
        # Table 1 of the paper, and "selected" as a predictor of the reference.
        "a": n - x,
        "b": np.full(n.shape, n_reference - x_reference),
        "c": x,
        "d": np.full(n.shape, x_reference),
        "sensitivity": np.full(n.shape, rate[reference]),
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate[reference] + rate) / 2,
    }


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


def ratio_bounds(
    attribute: Attribute,
    counts: Counts,
    *,
    sums: Tally,
    selected: BoolArray,
    group: int,
    reference: int,
) -> Interval:
    """Return the lowest and the highest impact ratio that rows of unknown membership allow.

    The ratio is lowest if every such row that was not selected belongs to the group, and every
    one that was selected belongs to the reference. These are different rows, so both can be true
    at once. The reference stays the same group. NaN where no membership is unknown.
    """
    if group == reference or not np.any(attribute.codes == MISSING):
        return NAN, NAN
    may_join_group = compatible(attribute, counts, group)
    may_join_reference = compatible(attribute, counts, reference)

    def weight(cells: BoolArray) -> float:
        return float(counts.weight[cells].sum())

    x, n = sums.weight_selected[group], sums.weight[group]
    xr, nr = sums.weight_selected[reference], sums.weight[reference]
    low = high = NAN
    join_group = weight(may_join_group & ~selected)
    join_reference = weight(may_join_reference & selected)
    if xr + join_reference > 0:
        low = (x / (n + join_group)) / ((xr + join_reference) / (nr + join_reference))
    # Now those who were not selected join the reference, so its selections stay xr.
    join_group = weight(may_join_group & selected)
    join_reference = weight(may_join_reference & ~selected)
    if xr > 0:
        high = ((x + join_group) / (n + join_group)) / (xr / (nr + join_reference))
    return float(low), float(high)


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


def reasons(
    comparison: Comparison, counts: Counts, *, roles: Roles, is_reference: bool
) -> dict[str, str]:
    """Return, for each figure that may be undefined, the reason in case it is."""
    same_group = "this is the reference group"
    no_selection_in_reference = "no one in the reference group was selected"
    no_variation = "everyone or no one was selected in both groups"
    not_persons = "whole persons are needed; these are sampling weights"
    selects_reference = comparison.tally.weight_selected[comparison.reference] > 0
    has_unknown = np.any(comparison.attribute.codes == MISSING)
    mean_reason = "the score does not vary, or a group has no scores"
    if roles.score is None:
        mean_reason = "no score was given"
    elif "score sum" not in counts.sums:
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
        if selects_reference
        else no_selection_in_reference,
        "flip": "the rates are equal, or no one in the reference would remain selected"
        if counts.exact
        else not_persons,
        "mean_difference": mean_reason,
        **dict.fromkeys(("z", "z_p", "standard_deviations", "phi", "holm_p"), no_variation),
        **dict.fromkeys(("fisher_p", "fisher_p_less", "mid_p"), not_persons),
    }
    if is_reference:
        texts |= dict.fromkeys(COMPARISONS, same_group)
    if roles.within is None:
        texts["stratified"] = "no column to compare within was named"
    elif is_reference:
        texts["stratified"] = same_group
    elif counts.exact:
        texts["stratified"] = f"no row of the group has a known {roles.within}"
    else:
        texts["stratified"] = not_persons
    return texts


def facts(comparison: Comparison, group: int) -> Facts:
    """Return what a rule needs to know about one group, the rates as exact fractions."""
    sums, reference = comparison.tally, comparison.reference
    group_figures = {name: array[group] for name, array in comparison.figures.items()}
    rates = comparison.figures["selection_rate"]
    n, n_reference = sums.effective[group], sums.effective[reference]
    pooled = (rates[group] * n + rates[reference] * n_reference) / (n + n_reference)

    def fraction(numerator: float, denominator: float) -> Fraction:
        # A float is itself a fraction, so nothing is rounded here.
        return Fraction(float(numerator)) / Fraction(float(denominator))

    return Facts(
        rate=fraction(sums.weight_selected[group], sums.weight[group]),
        rate_reference=fraction(sums.weight_selected[reference], sums.weight[reference]),
        share=fraction(sums.weight[group], sums.weight.sum()),
        n=float(n + n_reference),
        least_expected=float(min(n, n_reference) * min(pooled, 1 - pooled)),
        z=float(group_figures["z"]),
        fisher_p=float(group_figures["fisher_p"]),
        flip=float(group_figures["flip"]),
        ratio_low=float(group_figures["impact_ratio_interval"][0]),
        detectable_ratio=float(group_figures["detectable_ratio"]),
    )


def wrap(
    comparison: Comparison,
    counts: Counts,
    *,
    selected: BoolArray,
    holm_p: FloatArray,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> AttributeImpact:
    """Return the result: what the rule makes of each group, its figures, and the reasons.

    `holm_p` is the p-value of each group, adjusted for all comparisons of the audit.
    """
    attribute, sums = comparison.attribute, comparison.tally
    groups = []
    for group, label in enumerate(attribute.labels):
        is_reference = group == comparison.reference
        if is_reference:
            because = "the other groups are compared with this one"
            finding = Finding(reading=REFERENCE, because=because)
        else:
            finding = judge(rule, facts(comparison, group))
        # By the names of the fields; a pair of limits is a tuple.
        figure: dict[str, Any] = {
            name: array[group].item() if array.ndim == 1 else tuple(array[group].tolist())
            for name, array in (comparison.figures | {"holm_p": holm_p}).items()
        }
        texts = reasons(comparison, counts, roles=roles, is_reference=is_reference)
        why = {name: texts[name] for name, value in figure.items() if np.any(np.isnan(value))}
        stratified = comparison.stratified[group]
        if stratified is None:
            why["stratified"] = texts["stratified"]
        shortfall = Shortfall(
            to_reference=figure.pop("shortfall_to_reference"),
            to_pooled=figure.pop("shortfall_to_pooled"),
        )
        groups.append(
            GroupImpact(
                group=label,
                values=dict(zip(attribute.protected, attribute.groups[group], strict=True)),
                n=int(sums.rows[group]),
                selected=int(sums.rows_selected[group]),
                shortfall=shortfall,
                stratified=stratified,
                below_line=finding.below_line,
                finding=finding.reading,
                because=finding.because,
                why=why,
                **figure,
            )
        )
    is_unknown = attribute.codes == MISSING
    return AttributeImpact(
        name=attribute.name,
        protected=attribute.protected,
        reference=attribute.labels[comparison.reference],
        unknown=int(counts.rows[is_unknown].sum()),
        unknown_selected=int(counts.rows[is_unknown & selected].sum()),
        groups=tuple(groups),
        rule=rule,
        confidence=confidence,
        within=roles.within,
    )
