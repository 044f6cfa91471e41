"""One attribute compared: its groups against its reference, from counts to result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourfifths.counts import MISSING, BoolArray, Counts, FloatArray
from fourfifths.errors import GroupError, WeightsError, listed
from fourfifths.figures import facts, figures
from fourfifths.findings import REFERENCE, Finding, judge
from fourfifths.impact_result import AttributeImpact, GroupImpact, Shortfall
from fourfifths.plain import Interval
from fourfifths.roles import Roles
from fourfifths.rules import Rule
from fourfifths.scores import mean_differences
from fourfifths.strata import Attribute, Tally, compatible, designated_reference, tally
from fourfifths.stratified import Stratified, compare_within
from fourfifths.undefined import COMPARISONS, Context, reasons

NAN = float("nan")


@dataclass(frozen=True)
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
    return Comparison(attribute, sums, reference, figure)


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
    within = _stratify(comparison, counts, selected, roles.strata, confidence)
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
                stratified=roles.strata is not None,
                nothing_selected=not comparison.tally.weight_selected[comparison.reference] > 0,
                any_unknown=bool(np.any(attribute.codes == MISSING)),
            ),
        )
        for place in range(len(attribute.groups))
    )
    missing = attribute.codes == MISSING
    return AttributeImpact(
        attribute.protected,
        attribute.labels[comparison.reference],
        int(counts.rows[missing].sum()),
        int(counts.rows[missing & selected].sum()),
        groups,
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
    shortfall = Shortfall(number.pop("to_reference"), number.pop("to_pooled"))
    if context.is_reference:
        number |= {name: NAN for name in COMPARISONS if name in number}
        named |= {"impact_ratio_interval": (NAN, NAN), "impact_ratio_bounds": (NAN, NAN)}
        finding = Finding(REFERENCE, "the others are compared with this group")
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
    strata: str | None,
    confidence: float,
) -> list[Stratified | None]:
    """Compare each group with the reference within strata; rows of unknown stratum are left out."""
    size = len(comparison.attribute.groups)
    if strata is None or not counts.exact:
        return [None] * size
    names = counts.values[strata]
    cells = np.where(
        (comparison.attribute.codes == MISSING) | (counts.codes[strata] == MISSING),
        MISSING,
        comparison.attribute.codes * len(names) + counts.codes[strata],
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
