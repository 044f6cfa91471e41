"""The answer to "what happened?": which groups were compared, and every figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from fourfifths._arrays import Interval
from fourfifths._impact.rules import Rule
from fourfifths._results import Record, Result, attribute_or_group, entry_of, flat, plain
from fourfifths._stats.mantel_haenszel import Stratified

SCHEMA = "fourfifths/impact/1"
# What a flat record holds of a comparison within another column.
STRATIFIED_COLUMNS = (
    *("tarone", "tarone_p", "breslow_day", "breslow_day_p", "pooling", "odds_ratio", "risk_ratio"),
    *("risk_difference", "cmh", "cmh_p", "exact_p"),
)
# What a flat record holds of the comparison with the largest group.
LARGEST_COLUMNS = ("group", "impact_ratio", "impact_ratio_low", "impact_ratio_high", "fisher_p")
IntervalMethod = Literal["exact", "score"]


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """How many more of the group would have been selected at another rate.

    Attributes
    ----------
    to_reference : float
        At the rate of the reference.
    to_pooled : float
        At the pooled rate of the group and the reference.
    """

    to_reference: float
    to_pooled: float


@dataclass(frozen=True, kw_only=True)
class AgainstLargest:
    """A group compared with the largest one, where that is not the reference.

    Attributes
    ----------
    group : str
        The largest group.
    impact_ratio, impact_ratio_interval, interval_method, z, z_p, fisher_p
        As in `GroupImpact`, with the largest group in the place of the reference.
    """

    group: str
    impact_ratio: float
    impact_ratio_interval: Interval
    interval_method: IntervalMethod
    z: float
    z_p: float
    fisher_p: float


@dataclass(frozen=True, kw_only=True)
class PairImpact:
    """Two groups compared with each other, neither of them the reference of the audit.

    Attributes
    ----------
    group, reference : str
        The group with the lower selection rate, and the one with the higher.
    impact_ratio, impact_ratio_interval, interval_method, z, z_p, fisher_p
        As in `GroupImpact`.
    adjusted_p : float
        The two-sided p-value (Fisher's; that of z with sampling weights), adjusted by Holm's
        method for all pairs of the audit.
    below_line, finding, because
        What the rule makes of the pair. Where the rule leaves the test open, `adjusted_p` decides.
    """

    group: str
    reference: str
    impact_ratio: float
    impact_ratio_interval: Interval
    interval_method: IntervalMethod
    z: float
    z_p: float
    fisher_p: float
    adjusted_p: float
    below_line: bool
    finding: str
    because: str


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupImpact(Result):
    """One group compared with the reference.

    Let x of n be selected in the group and x' of n' in the reference. Undefined figures are NaN,
    and `why` says why.

    Attributes
    ----------
    group : str
    values : dict
        The value of each protected column.
    n, selected : int
        Persons. With sampling weights these are rows, while the rates are weighted.
    share : float
        The group's share of the rows whose membership is known.
    effective_n : float
        The effective sample size: this many persons, each counted once, would give a rate as
        precise as the weighted one. `n` unless there are sampling weights.
    selection_rate, selection_rate_interval
        x / n, in [0, 1], with its exact (Clopper-Pearson) interval.
    impact_ratio, impact_ratio_interval
        (x / n) / (x' / n'), 0 or more, with its interval.
    interval_method : {"exact", "score"} or None
        How that interval was computed: exact (Agresti and Min) where persons are counted and n + n'
        is at most 200, else by the score test (Koopman; Miettinen and Nurminen).
    likelihood_ratio : float
        1 / impact_ratio, the paper's LR+.
    difference : float
        x / n - x' / n': -0.25 is 25 points lower.
    z, z_p : float
        Two-sample z with pooled variance, and its two-sided p-value.
    standard_deviations : float
        How many standard deviations x is from its expected value, if the total number selected is
        fixed: the standard deviation is that of the hypergeometric distribution, as in Fisher's
        test and in that of Mantel and Haenszel. (Castaneda and Hazelwood compare with an outside
        population and take the binomial one: see `against_share`.)
    fisher_p, fisher_p_less : float
        Fisher's exact test: two-sided, and one-sided (the group is selected less often).
    mid_p, mid_p_less : float
        The same with half of the probability of tables that are as likely as this one (two-sided),
        or of this table (one-sided).
    choice_p : float
        The p-value adjusted for choosing the reference: the group with the highest rate is taken
        because of that rate, so the difference to it is larger than that to a group named in
        advance. Undefined where the reference was designated.
    holm_p : float
        The two-sided p-value (Fisher's; that of z with sampling weights), adjusted for all
        comparisons that were made.
    expected : float
        n times the pooled rate of the group and the reference.
    shortfall : Shortfall
        How many more of the group would have been selected at the reference's rate, and at the
        pooled rate.
    flip : float
        The impact ratio if one selection had gone to the side with the lower rate instead.
    phi, h : float
        Effect sizes: the correlation of membership and selection, and Cohen's difference of
        arcsines.
    a, b, c, d : float
        The paper's table 1: not selected in the group and in the reference, selected in the group
        and in the reference.
    sensitivity, specificity, balanced_error_rate : float
        Of "selected" as a predictor of the reference: d / (b + d), a / (a + c), and the mean of
        the two error rates.
    detectable_ratio : float
        The smallest detectable effect: with this many rows, a ratio of the lower rate to the
        higher one that is closer to 1 than this would probably go unnoticed. At this ratio the
        test that decides has power 0.8.
    impact_ratio_bounds : tuple of float
        The lowest and the highest ratio that are possible, whatever groups the rows of unknown
        membership belong to. Where the reference is the group with the highest rate, it is the one
        that would then have it.
    mean_difference, mean_difference_interval
        The standardised difference of the mean scores, if there is a score, over all rows with a
        score, with its interval.
    against_largest : AgainstLargest or None
        The comparison with the largest group, where that is not the reference.
    stratified : Stratified or None
        The comparison within the values of the column `within`.
    below_line : bool
        Whether the ratio of the lower rate to the higher one is under the rule's lowest line,
        compared as exact fractions.
    finding, because : str
        What the rule makes of the group, and the figures that this is based on.
    why : dict
        The reason for each undefined figure.
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
    interval_method: IntervalMethod | None
    likelihood_ratio: float
    difference: float
    z: float
    z_p: float
    standard_deviations: float
    fisher_p: float
    fisher_p_less: float
    mid_p: float
    mid_p_less: float
    choice_p: float
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
    mean_difference_interval: Interval
    against_largest: AgainstLargest | None
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
            elif name == "against_largest":
                figures = flat(value or {})
                record |= {f"largest_{key}": figures.get(key) for key in LARGEST_COLUMNS}
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
    name : str
        The protected column, or several joined by " & ".
    protected : tuple of str
    reference : str
        The group that the other groups are compared with.
    reference_is : {"designated", "highest rate"}
        Whether the reference was designated, or chosen because of its rate.
    largest : str
        The group with the most rows; with sampling weights, with the largest sum of weights.
    unknown, unknown_selected : int
        Rows whose membership is not known, and how many of those were selected.
    groups : tuple of GroupImpact
        The reference included.
    pairs : tuple of PairImpact
        Every two groups compared with each other, if ``pairs="all"`` asked for them.
    total : GroupImpact or None
        All groups but the reference compared with it as one, if the rule or ``total_minority=True``
        asked for it; None with two groups, and for several columns jointly. Its `values` are empty.
    rule : Rule
    confidence : float
    within : str or None
        The last three as in the `Impact` that it belongs to.
    table, outcome : str
    favorable, notes : tuple of str
        As there, so that an attribute can be printed alone.
    """

    _not_in_json: ClassVar[tuple[str, ...]] = (
        *("name", "rule", "confidence", "within"),
        *("table", "outcome", "favorable", "notes"),
    )

    name: str
    protected: tuple[str, ...]
    reference: str
    reference_is: Literal["designated", "highest rate"]
    largest: str
    unknown: int
    unknown_selected: int
    groups: tuple[GroupImpact, ...]
    pairs: tuple[PairImpact, ...]
    total: GroupImpact | None
    rule: Rule
    confidence: float
    within: str | None
    table: str = ""
    outcome: str = ""
    favorable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: object) -> GroupImpact:
        """Return a group by its name or its value; a joint group also by the tuple of its values.

        Examples
        --------
        >>> import fourfifths
        >>> joint = fourfifths.impact("adult", protected=["sex", "race"])["sex & race"]
        >>> joint["Female & Black"] is joint["Female", "Black"]
        True
        """
        for group in self.groups:
            if tuple(group.values.values()) == key:  # the values 1 and "1" have names of their own
                return group
        return entry_of({group.group: group for group in self.groups}, key, "group")

    @property
    def groups_and_total(self) -> tuple[GroupImpact, ...]:
        """The groups, and all but the reference as one, if they were compared."""
        return self.groups if self.total is None else (*self.groups, self.total)

    def to_records(self) -> list[Record]:
        """Return one flat record per group, intervals and nested figures spread over columns.

        The record of all groups but the reference as one has a true `is_total`.
        """
        shared = {
            "rule": self.rule.name,
            "protected": self.name,
            "reference": self.reference,
            "unknown": self.unknown,
        }
        return [
            shared | {"is_total": group is self.total} | record
            for group in self.groups_and_total
            for record in group.to_records()
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class Impact(Result):
    """What happened, and what a rule makes of it. It prints itself as tables.

    Attributes
    ----------
    rule : Rule
    table : str
        The name of the file or the data set, if it has one.
    rows : int
        Rows with an outcome.
    outcome : str
    favorable : str or tuple of str
        The value of the outcome that means selected, or several.
    outcome_missing : int
        Rows that were left out because they have no outcome.
    confidence : float
        The confidence level of the intervals.
    weights, weights_are : str or None
        The column of weights, and whether they are sampling weights or counts.
    within : str or None
        The column within whose values groups are compared as well.
    attributes : tuple of AttributeImpact
        Each protected column alone, then every two jointly, then all of them jointly.
    notes : tuple of str
        What a reader must know besides the figures.
    """

    rule: Rule
    table: str
    rows: int
    outcome: str
    favorable: str | tuple[str, ...]
    outcome_missing: int
    confidence: float
    weights: str | None
    weights_are: str | None
    within: str | None
    attributes: tuple[AttributeImpact, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Tell each attribute what it needs to print itself alone."""
        favorable = (self.favorable,) if isinstance(self.favorable, str) else self.favorable
        attributes = tuple(
            replace(
                attribute,
                table=self.table,
                outcome=self.outcome,
                favorable=favorable,
                notes=self.notes,
            )
            for attribute in self.attributes
        )
        object.__setattr__(self, "attributes", attributes)

    def __iter__(self) -> Iterator[AttributeImpact]:
        return iter(self.attributes)

    def __getitem__(self, key: object) -> Any:
        """Return a protected attribute or, if there is only one, a group of it.

        A key that names an attribute returns its `AttributeImpact`: the name of a protected column,
        a tuple of columns for the joint attribute, or their names joined by " & ". With one
        protected attribute, any other key returns the `GroupImpact` of that name or value. So if a
        group has the name of the attribute, the attribute is returned; ``result["race"]["race"]``
        is then the group.

        Raises
        ------
        KeyError
            If there is no such attribute or group. The message names those that there are.

        Examples
        --------
        >>> import fourfifths
        >>> result = fourfifths.impact("adult", protected=["sex", "race"])
        >>> result["sex"].reference, result["sex", "race"].name
        ('Male', 'sex & race')
        >>> result["sex"]["Female"].n
        16192
        """
        return attribute_or_group(self.attributes, key)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/impact.schema.json describes it."""
        # Not as in the base class, where "rule" would be the whole profile and not its name.
        return {
            "schema": SCHEMA,
            "rule": self.rule.name,
            "rule_profile": self.rule.to_dict(),
            "table": self.table,
            "rows": self.rows,
            "outcome": self.outcome,
            "favorable": plain(self.favorable),
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
