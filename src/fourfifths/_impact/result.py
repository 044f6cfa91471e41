"""The answer to "what happened?": who was compared with whom, and every figure of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fourfifths._arrays import Interval
from fourfifths._impact.rules import Rule
from fourfifths._results import Record, Result
from fourfifths._stats.mantel_haenszel import Stratified

SCHEMA = "fourfifths/impact/1"
# What a flat record holds of a comparison within another column.
STRATIFIED_COLUMNS = ("odds_ratio", "cmh", "cmh_p", "breslow_day", "breslow_day_p")


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """How many more of the group would have been selected at another rate."""

    to_reference: float
    to_pooled: float


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupImpact(Result):
    """One group compared with the reference.

    With x of n selected in the group and x' of n' in the reference. Undefined figures are NaN,
    and `why` says why.

    Attributes
    ----------
    group : str
    values : dict
        The value of each protected column.
    n, selected : int
        Persons. With sampling weights these are rows, and the rates are made of the weights.
    share : float
        Of the rows whose membership is known.
    effective_n : float
        Kish's effective sample size; `n` unless there are sampling weights.
    selection_rate, selection_rate_interval
        x / n, in [0, 1], with its exact (Clopper-Pearson) interval.
    impact_ratio, impact_ratio_interval
        (x / n) / (x' / n'), 0 or more, with its score interval.
    likelihood_ratio : float
        1 / impact_ratio, the paper's LR+.
    difference : float
        x / n - x' / n', in points: -0.25 is 25 points lower.
    z, z_p : float
        Two-sample z with pooled variance, and its two-sided p.
    standard_deviations : float
        The distance of x from what is expected of the pool, hypergeometric.
    fisher_p, fisher_p_less, mid_p : float
        Fisher's exact test: two-sided, one-sided (selected less), and mid-p.
    holm_p : float
        The two-sided p (Fisher's; z's with sampling weights) adjusted for all comparisons made.
    expected : float
        n times the pooled rate of the group and the reference.
    shortfall : Shortfall
    flip : float
        The impact ratio if one selection went to the side with the lower rate instead.
    phi, h : float
        Correlation of membership and selection; difference of arcsines (Cohen).
    a, b, c, d : float
        The paper's table: not selected in the group and the reference, selected in both.
    sensitivity, specificity, balanced_error_rate : float
        Of "selected" as a predictor of the reference: d / (b + d), a / (a + c), and the mean of
        the two errors.
    detectable_ratio : float
        The ratio nearest to 1 that so many rows could tell from 1 with power 0.8.
    impact_ratio_bounds : tuple of float
        The least and the largest ratio that the rows of unknown membership could still make.
    mean_difference : float
        Standardised difference of the mean score, where there is one.
    stratified : Stratified or None
    below_line : bool
        Whether a rate is under the rule's line of the other, compared as exact fractions.
    finding, because : str
        The rule's reading, and the figures it rests on.
    why : dict
        For each undefined figure, the reason.
    """

    group: str
    values: dict[str, Any]
    n: int
    selected: int
    share: float
    effective_n: float
    selection_rate: float
    selection_rate_interval: Interval
    impact_ratio: float
    impact_ratio_interval: Interval
    likelihood_ratio: float
    difference: float
    z: float
    z_p: float
    standard_deviations: float
    fisher_p: float
    fisher_p_less: float
    mid_p: float
    holm_p: float
    expected: float
    shortfall: Shortfall
    flip: float
    phi: float
    h: float
    a: float
    b: float
    c: float
    d: float
    sensitivity: float
    specificity: float
    balanced_error_rate: float
    detectable_ratio: float
    impact_ratio_bounds: Interval
    mean_difference: float
    stratified: Stratified | None
    below_line: bool
    finding: str
    because: str
    why: dict[str, str] = field(default_factory=dict)

    def to_records(self) -> list[Record]:
        """Return one flat record: intervals and nested figures spread over columns."""
        record: Record = {}
        for name, value in self.to_dict().items():
            if isinstance(getattr(self, name), tuple):
                lower, upper = value or (None, None)
                record |= {f"{name}_low": lower, f"{name}_high": upper}
            elif name == "shortfall":
                record |= {f"shortfall_{rate}": persons for rate, persons in value.items()}
            elif name == "stratified":
                figures = value or {}
                record |= {f"stratified_{key}": figures.get(key) for key in STRATIFIED_COLUMNS}
            elif name in ("values", "why"):
                record[name] = "; ".join(f"{key}: {text}" for key, text in value.items())
            else:
                record[name] = value
        return [record]


@dataclass(frozen=True, kw_only=True, repr=False)
class AttributeImpact(Result):
    """One protected column, or several jointly.

    Attributes
    ----------
    protected : tuple of str
    reference : str
        The group that the others are compared with.
    unknown, unknown_selected : int
        Rows whose membership is not known, and how many of those were selected.
    groups : tuple of GroupImpact
        The reference included.
    rule : Rule
    confidence : float
    within : str or None
        The last three as in the `Impact` that it belongs to.
    """

    _not_in_json: ClassVar[tuple[str, ...]] = ("rule", "confidence", "within")

    protected: tuple[str, ...]
    reference: str
    unknown: int
    unknown_selected: int
    groups: tuple[GroupImpact, ...]
    rule: Rule
    confidence: float
    within: str | None

    def __getitem__(self, group: object) -> GroupImpact:
        """Return the group of that name, or of that value."""
        for each in self.groups:
            if each.group == str(group):
                return each
        names = ", ".join(repr(each.group) for each in self.groups)
        raise KeyError(f"no group {group!r}; the groups are {names}")

    def to_records(self) -> list[Record]:
        """Return one flat record per group, intervals and nested figures spread over columns."""
        shared = {
            "rule": self.rule.name,
            "protected": " & ".join(self.protected),
            "reference": self.reference,
            "unknown": self.unknown,
        }
        return [shared | record for group in self.groups for record in group.to_records()]


@dataclass(frozen=True, kw_only=True, repr=False)
class Impact(Result):
    """What happened, under a rule. It prints itself as tables.

    Attributes
    ----------
    rule : Rule
    table : str
        The file or data set, if it has a name.
    rows : int
        Rows used; those without an outcome are in `outcome_missing`.
    outcome, favorable : str
    outcome_missing : int
        Rows left out because the outcome is missing.
    confidence : float
        Of every interval.
    weights, weights_are : str or None
    within : str or None
    attributes : tuple of AttributeImpact
        Each protected column alone, then all of them jointly.
    notes : tuple of str
        What a reader must know besides the figures.
    """

    rule: Rule
    table: str
    rows: int
    outcome: str
    favorable: str
    outcome_missing: int
    confidence: float
    weights: str | None
    weights_are: str | None
    within: str | None
    attributes: tuple[AttributeImpact, ...]
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[AttributeImpact]:
        return iter(self.attributes)

    def __getitem__(self, group: object) -> GroupImpact:
        """Return a group of the only attribute."""
        if len(self.attributes) > 1:
            raise KeyError(f"several attributes; use impact.attributes[i][{group!r}]")
        return self.attributes[0][group]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/impact.schema.json describes it."""
        return {
            "schema": SCHEMA,
            "rule": self.rule.name,
            "rule_profile": self.rule.to_dict(),
            "table": self.table,
            "rows": self.rows,
            "outcome": self.outcome,
            "favorable": self.favorable,
            "outcome_missing": self.outcome_missing,
            "confidence": self.confidence,
            "weights": self.weights,
            "weights_are": self.weights_are,
            "within": self.within,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "notes": list(self.notes),
        }

    def to_records(self) -> list[Record]:
        """Return one flat record per group, intervals and nested figures spread over columns."""
        return [record for attribute in self.attributes for record in attribute.to_records()]
