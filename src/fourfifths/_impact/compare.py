"""One attribute compared: its groups against its reference, from counts to result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, Interval
from fourfifths._impact.result import AttributeImpact, GroupImpact, Shortfall
from fourfifths._impact.rules import REFERENCE, Facts, Finding, Rule, judge
from fourfifths._impact.scores import mean_differences
from fourfifths._stats.intervals import clopper_pearson, ratio_interval
from fourfifths._stats.mantel_haenszel import Stratified, compare_within
from fourfifths._stats.power import detectable_ratio
from fourfifths._stats.significance import (
    cohen_h,
    divide,
    fisher_test,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths._tables.counts import MISSING, Counts
from fourfifths._tables.groups import Attribute, Tally, compatible, designated_reference, tally
from fourfifths._tables.roles import Roles
from fourfifths.errors import GroupError, WeightsError, listed

NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An attribute with its reference and every figure of its groups."""

    attribute: Attribute
    tally: Tally
    reference: int
    figures: dict[str, FloatArray]

    @property
    def p(self) -> FloatArray:
        """The p that is adjusted for many comparisons; NaN for the reference."""
        fisher = self.figures["fisher_p"]
        p = np.where(np.isnan(fisher), self.figures["z_p"], fisher)
        return np.where(np.arange(p.size) == self.reference, np.nan, p)


def compare(
    attribute: Attribute,
    counts: Counts,
    selected: BoolArray,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> Comparison:
    """Sum up each group, choose the reference, and compute every figure."""
    sums = tally(attribute.codes, counts, selected, len(attribute.groups))
    # A group none of whose rows has an outcome has no rate; a note tells of it.
    present = sums.rows > 0
    if np.sum(present) < 2:
        raise GroupError(
            f"protected={' & '.join(attribute.protected)!r}: fewer than two groups have rows with "
            "an outcome; expected at least two"
        )
    if not np.all(present):
        attribute = attribute.keep(present)
        sums = tally(attribute.codes, counts, selected, len(attribute.groups))
    if np.any(sums.weight <= 0):
        empty = attribute.labels[int(np.argmin(sums.weight))]
        raise WeightsError(
            f"weights={roles.weights!r}: the weights of group {empty!r} sum to 0, so it has no "
            "rate; leave the group out or give it weight"
        )
    reference = _choose_reference(attribute, sums, roles, rule)
    figure = figures(sums, reference, exact=counts.exact, confidence=confidence)
    figure["mean_difference"] = (
        mean_differences(attribute, counts, reference)
        if "score sum" in counts.sums
        else np.full(sums.rows.shape, np.nan)
    )
    return Comparison(attribute=attribute, tally=sums, reference=reference, figures=figure)


def _choose_reference(attribute: Attribute, sums: Tally, roles: Roles, rule: Rule) -> int:
    every = attribute.protected, attribute.groups
    chosen = designated_reference(*every, roles.reference)
    if chosen is None and rule.reference == "designated":
        chosen = designated_reference(*every, {**roles.default_reference, **roles.reference})
        if chosen is None:
            column, first = attribute.protected[0], attribute.groups[0][0]
            raise GroupError(
                f"reference: rule {rule.name!r} compares with a designated group; name it, as in "
                f"reference={{{column!r}: {first!r}}} or --reference '{column}={first}' (groups: "
                f"{listed(attribute.labels)})"
            )
    if chosen is not None:
        return chosen
    large = sums.weight >= float(rule.minimum_share) * sums.weight.sum()
    eligible = large if np.any(large) else np.ones(large.shape, dtype=np.bool_)
    return int(np.argmax(np.where(eligible, sums.weight_selected / sums.weight, -1.0)))


def wrap(
    comparison: Comparison,
    counts: Counts,
    selected: BoolArray,
    holm_p: FloatArray,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> AttributeImpact:
    """Return the attribute's result: one `GroupImpact` per group."""
    attribute = comparison.attribute
    within = _stratify(comparison, counts, selected, roles.within, confidence)
    groups = tuple(
        _wrap_group(
            comparison,
            place,
            float(holm_p[place]),
            _bounds(comparison, counts, selected, place),
            within[place],
            judge(rule, facts(comparison.figures, comparison.tally, place, comparison.reference)),
            Context(
                is_reference=place == comparison.reference,
                exact=counts.exact,
                scored=roles.score is not None,
                stratified=roles.within is not None,
                nothing_selected=not comparison.tally.weight_selected[comparison.reference] > 0,
                any_unknown=bool(np.any(attribute.codes == MISSING)),
            ),
        )
        for place in range(len(attribute.groups))
    )
    missing = attribute.codes == MISSING
    return AttributeImpact(
        protected=attribute.protected,
        reference=attribute.labels[comparison.reference],
        unknown=int(counts.rows[missing].sum()),
        unknown_selected=int(counts.rows[missing & selected].sum()),
        groups=groups,
        rule=rule,
        confidence=confidence,
        within=roles.within,
    )


def _wrap_group(
    comparison: Comparison,
    place: int,
    holm_p: float,
    bounds: Interval,
    within: Stratified | None,
    finding: Finding,
    context: Context,
) -> GroupImpact:
    attribute, sums = comparison.attribute, comparison.tally
    number = {name: float(array[place]) for name, array in comparison.figures.items()}
    named: dict[str, Any] = {
        "selection_rate_interval": (number.pop("rate_low"), number.pop("rate_high")),
        "impact_ratio_interval": (number.pop("ratio_low"), number.pop("ratio_high")),
        "impact_ratio_bounds": bounds,
        "holm_p": holm_p,
    }
    shortfall = Shortfall(
        to_reference=number.pop("to_reference"), to_pooled=number.pop("to_pooled")
    )
    if context.is_reference:
        number |= {name: NAN for name in COMPARISONS if name in number}
        named |= {"impact_ratio_interval": (NAN, NAN), "impact_ratio_bounds": (NAN, NAN)}
        finding = Finding(reading=REFERENCE, because="the others are compared with this group")
    figure = number | named
    return GroupImpact(
        group=attribute.labels[place],
        values=dict(zip(attribute.protected, attribute.groups[place], strict=True)),
        n=int(sums.rows[place]),
        selected=int(sums.rows_selected[place]),
        shortfall=shortfall,
        stratified=within,
        below_line=finding.below_line,
        finding=finding.reading,
        because=finding.because,
        why=reasons(figure, within, context),
        **figure,
    )


def _bounds(comparison: Comparison, counts: Counts, selected: BoolArray, group: int) -> Interval:
    """Return the least and the largest ratio that rows of unknown membership could still make.

    Least: those not selected all join the group, those selected all join the reference. The two
    pools are apart, so both can happen at once. The reference stays the same group.
    """
    sums, reference = comparison.tally, comparison.reference
    if group == reference or not np.any(comparison.attribute.codes == MISSING):
        return NAN, NAN
    ours = compatible(comparison.attribute, counts, group)
    theirs = compatible(comparison.attribute, counts, reference)

    def pool(mask: BoolArray) -> float:
        return float(counts.weight[mask].sum())

    x, n = sums.weight_selected[group], sums.weight[group]
    xr, nr = sums.weight_selected[reference], sums.weight[reference]
    joined, left = pool(theirs & selected), pool(ours & ~selected)
    least = (x / (n + left)) / ((xr + joined) / (nr + joined)) if xr + joined > 0 else NAN
    joined, left = pool(ours & selected), pool(theirs & ~selected)
    most = ((x + joined) / (n + joined)) / (xr / (nr + left)) if xr > 0 else NAN
    return float(least), float(most)


def _stratify(
    comparison: Comparison,
    counts: Counts,
    selected: BoolArray,
    column: str | None,
    confidence: float,
) -> list[Stratified | None]:
    """Compare each group with the reference within strata; rows of unknown stratum are left out."""
    size = len(comparison.attribute.groups)
    if column is None or not counts.exact:
        return [None] * size
    names = counts.values[column]
    cells = np.where(
        (comparison.attribute.codes == MISSING) | (counts.codes[column] == MISSING),
        MISSING,
        comparison.attribute.codes * len(names) + counts.codes[column],
    )
    sums = tally(cells, counts, selected, size * len(names))
    n, x = sums.rows.reshape(size, -1), sums.rows_selected.reshape(size, -1)
    reference = comparison.reference
    return [
        None
        if group == reference or not (n[group].sum() > 0 and n[reference].sum() > 0)
        else compare_within(
            names, x[group], n[group], x[reference], n[reference], confidence=confidence
        )
        for group in range(size)
    ]


# Selected of n, then the same of the reference.
Sizes = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def figures(
    tally: Tally, reference: int, *, exact: bool, confidence: float
) -> dict[str, FloatArray]:
    """Return every figure of every group, as arrays over groups.

    Tests and intervals use the effective sizes; with whole counts those are the counts.
    """
    rate = divide(tally.weight_selected, tally.weight)
    size = tally.effective
    sizes = (rate * size, size, (rate * size)[reference], size[reference])
    return {
        "effective_n": size,
        **_rates(tally, rate, reference),
        **_intervals(sizes, confidence),
        **_tests(sizes),
        **_exact(tally, reference, exact=exact),
        **_paper(tally, rate, reference),
    }


def _rates(tally: Tally, rate: FloatArray, reference: int) -> dict[str, FloatArray]:
    n, x = tally.weight, tally.weight_selected
    pooled = divide(x + x[reference], n + n[reference])
    return {
        "share": n / n.sum(),
        "selection_rate": rate,
        # As one quotient of whole numbers: 3/5 against 6/8 is then 0.8 to the last bit.
        "impact_ratio": divide(x * n[reference], n * x[reference]),
        "likelihood_ratio": divide(n * x[reference], x * n[reference]),
        "difference": rate - rate[reference],
        "expected": n * pooled,
        "to_reference": (n * x[reference] - x * n[reference]) / n[reference],
        "to_pooled": n * pooled - x,
    }


def _intervals(sizes: Sizes, confidence: float) -> dict[str, FloatArray]:
    x, n, x_reference, n_reference = sizes
    low, high = clopper_pearson(x, n, confidence)
    ratio_low, ratio_high = ratio_interval(*sizes, confidence)
    rate_reference = x_reference / n_reference
    return {
        "rate_low": low,
        "rate_high": high,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "detectable_ratio": detectable_ratio(n, n_reference, rate_reference, confidence=confidence),
    }


def _tests(sizes: Sizes) -> dict[str, FloatArray]:
    z = z_statistic(*sizes)
    return {
        "z": z,
        "z_p": two_sided_p(z),
        "standard_deviations": standard_deviations(*sizes),
        "phi": phi(*sizes),
        "h": cohen_h(*sizes),
    }


def _exact(tally: Tally, reference: int, *, exact: bool) -> dict[str, FloatArray]:
    """Return the figures that need whole persons; all NaN where there are none."""
    n, x = tally.weight, tally.weight_selected
    if not exact:
        nothing = np.full(n.shape, np.nan)
        return dict.fromkeys(("fisher_p", "fisher_p_less", "mid_p", "flip"), nothing)
    counts = (x, n, x[reference], n[reference])
    fisher = fisher_test(*counts)
    return {
        "fisher_p": fisher.p,
        "fisher_p_less": fisher.p_less,
        "mid_p": fisher.mid_p,
        "flip": _flip(*counts),
    }


def _paper(tally: Tally, rate: FloatArray, reference: int) -> dict[str, FloatArray]:
    """Return the paper's table 1, and "selected" as a predictor of the reference."""
    n, x = tally.weight, tally.weight_selected
    return {
        "a": n - x,
        "b": np.full(n.shape, n[reference] - x[reference]),
        "c": x,
        "d": np.full(n.shape, x[reference]),
        "sensitivity": np.full(n.shape, rate[reference]),
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate[reference] + rate) / 2,
    }


def facts(figure: dict[str, FloatArray], tally: Tally, group: int, reference: int) -> Facts:
    """Return what a rule needs to know of one group, the rates as exact fractions."""
    n, n_reference = tally.effective[group], tally.effective[reference]
    pooled = (
        figure["selection_rate"][group] * n + figure["selection_rate"][reference] * n_reference
    ) / (n + n_reference)
    return Facts(
        rate=_fraction(tally.weight_selected[group], tally.weight[group]),
        rate_reference=_fraction(tally.weight_selected[reference], tally.weight[reference]),
        share=_fraction(tally.weight[group], float(tally.weight.sum())),
        n=float(n + n_reference),
        least_expected=float(min(n, n_reference) * min(pooled, 1 - pooled)),
        **{
            name: float(figure[name][group])
            for name in ("z", "fisher_p", "flip", "ratio_low", "detectable_ratio")
        },
    )


def _fraction(numerator: float, denominator: float) -> Fraction:
    return Fraction(float(numerator)) / Fraction(float(denominator))


def _flip(x: FloatArray, n: FloatArray, x_reference: float, n_reference: float) -> FloatArray:
    """Return the ratio after one selection has gone to the side with the lower rate."""
    step = np.sign(x_reference * n - x * n_reference)
    moved, moved_reference = x + step, x_reference - step
    possible = (step != 0) & (moved <= n) & (moved_reference > 0) & (moved_reference <= n_reference)
    flipped = divide(moved / n, np.where(possible, moved_reference, 0.0) / n_reference)
    return np.where(possible, flipped, np.nan)


SAME = "this is the reference group"
NO_SELECTION_IN_REFERENCE = "no one in the reference group was selected"
NO_SELECTION_IN_GROUP = "no one in the group was selected"
NO_VARIATION = "everyone or no one was selected in both groups"
NOT_WHOLE = "whole persons are needed; these are sampling weights"
REASONS: Mapping[str, str] = {
    "impact_ratio": NO_SELECTION_IN_REFERENCE,
    "impact_ratio_interval": f"no upper limit: {NO_SELECTION_IN_REFERENCE}",
    "likelihood_ratio": NO_SELECTION_IN_GROUP,
    "z": NO_VARIATION,
    "z_p": NO_VARIATION,
    "standard_deviations": NO_VARIATION,
    "phi": NO_VARIATION,
    "fisher_p": NOT_WHOLE,
    "fisher_p_less": NOT_WHOLE,
    "mid_p": NOT_WHOLE,
    "holm_p": NO_VARIATION,
}
# Figures that compare a group with the reference; the reference has none of them.
COMPARISONS = (
    "impact_ratio_interval",
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
    "impact_ratio_bounds",
    "sensitivity",
    "specificity",
    "balanced_error_rate",
)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the reasons depend on, for one group."""

    is_reference: bool
    exact: bool
    scored: bool
    stratified: bool
    nothing_selected: bool
    any_unknown: bool


def reasons(figures: Mapping[str, Any], within: object, context: Context) -> dict[str, str]:
    """Return the reason for each undefined figure."""
    limits = {
        name: value if isinstance(value, tuple) else (value,) for name, value in figures.items()
    }
    found = {
        name: _reason(name, context)
        for name, values in limits.items()
        if any(math.isnan(value) for value in values)
    }
    if within is None:
        found["stratified"] = _stratified_reason(context)
    return found


def _reason(name: str, context: Context) -> str:
    if context.is_reference and name in COMPARISONS:
        return SAME
    if name == "flip":
        moved = "with one selection moved, there is no one to move or no rate to compare with"
        return moved if context.exact else NOT_WHOLE
    if name == "impact_ratio_bounds":
        if not context.any_unknown:
            return "no membership is unknown"
        return "no bound on one side: no one of the reference might be selected"
    if name == "detectable_ratio":
        few = "so few rows would miss even a ratio of 0 more than one time in five"
        return NO_SELECTION_IN_REFERENCE if context.nothing_selected else few
    if name == "mean_difference":
        return (
            "the score does not vary, or a group has none"
            if context.scored
            else "no score was given"
        )
    return REASONS[name]


def _stratified_reason(context: Context) -> str:
    if not context.stratified:
        return "no column to compare within was named"
    if context.is_reference:
        return SAME
    return "no row of the group has a known stratum" if context.exact else NOT_WHOLE
