"""The results that a report is made of.

Only the audit must succeed. Of any other analysis that cannot be made, the report says why.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any, Literal, TypeVar

from fourfifths._arrays import IntArray
from fourfifths._certify.certify import certify
from fourfifths._certify.result import Certificate
from fourfifths._effect.files import repair_file
from fourfifths._effect.result import RepairEffect
from fourfifths._effect.roles import AuditRoles
from fourfifths._impact.analyses.cuts import Cuts, cuts
from fourfifths._impact.analyses.stages import Stages, stages
from fourfifths._impact.impact import get_rule, impact
from fourfifths._impact.profiles import DEFAULT_RULE, RuleName
from fourfifths._impact.result import Impact
from fourfifths._impact.rules import Rule
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.proof import Proof
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._text import listed
from fourfifths._tradeoff.result import Tradeoff
from fourfifths._tradeoff.tradeoff import tradeoff
from fourfifths.errors import ColumnError, FourfifthsError, OptionError, ReadingWarning

PartName = Literal["certificate", "repair", "tradeoff"]
PART_NAMES: tuple[PartName, ...] = ("certificate", "repair", "tradeoff")
# The sweep of the trade-off in a report: no repair, half and full repair of one model.
TRADEOFF_AMOUNTS = (0.0, 0.5, 1.0)
TRADEOFF_MODELS = ("LR",)
CERTIFICATE_OF = "certificate by"  # and the protected column
NAMED_BY_COLUMN = ("stages", "cuts")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """What a repair by blocks did to the table, and what is proven of it.

    Attributes
    ----------
    effect : RepairEffect
    proof : Proof or None
    counts : int array of shape (strata, blocks), or None
        How many rows of each stratum are in each block.
    labels : tuple of str
        The strata.
    """

    effect: RepairEffect
    proof: Proof | None
    counts: IntArray | None
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was measured, and why the rest could not be.

    Attributes
    ----------
    impact : Impact
    stages : Stages or None
    cuts : Cuts or None
    certificates : mapping of str to Certificate
        By protected column.
    repaired : Repaired or None
    tradeoff : Tradeoff or None
    problems : mapping of str to str
        For each analysis that was asked for and could not be made ("stages", "cuts",
        "certificate by sex", "repair", "tradeoff"), the reason.
    settings : mapping of str to str
        What else the analyses were asked for, for the provenance.
    """

    impact: Impact
    stages: Stages | None = None
    cuts: Cuts | None = None
    certificates: Mapping[str, Certificate] = field(default_factory=dict)
    repaired: Repaired | None = None
    tradeoff: Tradeoff | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


def gather(
    table: TableLike,
    *,
    parts: Sequence[PartName] = (),
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    rule: RuleName | Rule = DEFAULT_RULE,
    columns: Sequence[str] | None = None,
    stage_columns: Sequence[str] = (),
    score: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    random_state: int = 0,
    audit_options: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Evidence:
    """Run the audit, and the further analyses that a report is to have.

    Parameters
    ----------
    table, protected, outcome, favorable, reference, rule, bands, ages, unknown
        As for `impact`.
    parts : sequence of {"certificate", "repair", "tradeoff"}
    columns : sequence of str, optional
        The columns that a rule may use, for the certificate, the repair and the trade-off.
    stage_columns : sequence of str
        The columns of the stages of the selection, in order; adds the stages.
    score : str, optional
        A column of scores; adds the sweep of its cuts. A rule that uses scores is given it as well.
    random_state : int
    audit_options : mapping, optional
        Further arguments of `impact`: weights, counts, within and so on.
    progress : bool
        Whether to show progress bars.
    """
    opened = open_table(table)
    check_names(opened, parts, columns=columns, stages=stage_columns, score=score)
    profile = get_rule(rule)
    options = dict(audit_options or {})
    roles: dict[str, Any] = {"bands": bands, "ages": ages, "unknown": unknown}
    measured = impact(
        opened,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        rule=profile,
        score=score if profile.score != "none" else None,
        **roles,
        **options,
    )
    singles = [attribute.protected[0] for attribute in measured if len(attribute.protected) == 1]
    check_features(columns, protected=singles, outcome=measured.outcome)
    features = feature_columns(
        opened,
        columns,
        left_out=[*stage_columns, options.get("within")],
        roles=[*singles, outcome],
    )
    common = {"protected": protected, "reference": reference, "rule": profile, **roles}
    judged = {"outcome": outcome, "favorable": favorable, "reference": reference}
    analyses: dict[str, Callable[[], Any]] = {}
    if stage_columns:
        analyses["stages"] = lambda: stages(opened, stages=stage_columns, **common)
    if score is not None:
        analyses["cuts"] = lambda: cuts(opened, score=score, **common)
    if "certificate" in parts:
        analyses |= {
            f"{CERTIFICATE_OF} {column}": partial(
                certify,
                opened,
                protected=column,
                outcome=outcome,
                favorable=favorable,
                reference=of_column(reference, column),
                columns=features,
                bands=of_column(bands, column, is_mapping=True),
                ages=of_column(ages, column, is_mapping=True),
                unknown=unknown,
                random_state=random_state,
                progress=progress,
            )
            for column in singles
        }
    shared = {"columns": features, "random_state": random_state, **roles}
    if "repair" in parts:
        analyses["repair"] = lambda: repair(
            opened, protected=singles, roles=AuditRoles(**judged), **shared
        )
    if "tradeoff" in parts:
        analyses["tradeoff"] = lambda: tradeoff(
            opened,
            protected=singles,
            models=TRADEOFF_MODELS,
            amounts=TRADEOFF_AMOUNTS,
            repeats=1,
            progress=progress,
            **judged,
            **shared,
        )
    problems: dict[str, str] = {}
    results = {
        name: attempt(name, problems, analyse, hindrance=hindrance_of(options))
        for name, analyse in analyses.items()
    }
    certificates = {column: results.get(f"{CERTIFICATE_OF} {column}") for column in singles}
    return Evidence(
        impact=measured,
        stages=results.get("stages"),
        cuts=results.get("cuts"),
        certificates={
            column: certificate
            for column, certificate in certificates.items()
            if certificate is not None
        },
        repaired=results.get("repair"),
        tradeoff=results.get("tradeoff"),
        problems=problems,
        settings={"random_state": str(random_state)} if parts else {},
    )


def check_names(table: Table, parts: Sequence[str], **columns: str | Sequence[str] | None) -> None:
    """Refuse a misspelt name: it is an error, and not a part that could not be made."""
    for name in parts:
        if name not in PART_NAMES:
            raise OptionError(f"parts={name!r}: expected one of {listed(PART_NAMES)}")
    for argument, named in columns.items():
        for column in [named] if isinstance(named, str) else named or ():
            table.column(column, argument)


def check_features(
    columns: Sequence[str] | None, *, protected: Sequence[str], outcome: str
) -> None:
    """Refuse a column that no rule may use, before any part is made."""
    for column in (columns,) if isinstance(columns, str) else columns or ():
        if column in (*protected, outcome):
            role = "the outcome" if column == outcome else "protected"
            raise ColumnError(f"columns: {column!r} is {role}; a rule may not use it; leave it out")


def attempt(
    name: str, problems: dict[str, str], analyse: Callable[[], ResultT], *, hindrance: str
) -> ResultT | None:
    """Return a result; where it cannot be made, keep the reason and return None.

    A column of the wrong kind for the stages or the cuts is an error.

    Parameters
    ----------
    name : str
    problems : dict
        Where the reason is kept, by name.
    analyse : callable
    hindrance : str
        Why the analysis is skipped; empty if it is run.
    """
    if hindrance:
        problems[name] = hindrance
        return None
    try:
        with warnings.catch_warnings():
            # What was assumed is among the notes of the audit, which read the same table.
            warnings.simplefilter("ignore", ReadingWarning)
            return analyse()
    except FourfifthsError as error:
        # These columns were named for this part alone, and are wrong.
        if name in NAMED_BY_COLUMN and isinstance(error, ColumnError):
            raise
        problems[name] = str(error)
        return None


def hindrance_of(options: Mapping[str, Any]) -> str:
    """Return why only an audit can be made of this table; empty if more can be made."""
    if options.get("counts"):
        return "the table has one row per group, and no columns that a rule could use"
    if options.get("weights"):
        return "the audit has weights, which this analysis cannot use"
    return ""


def feature_columns(
    table: Table,
    columns: Sequence[str] | None,
    *,
    left_out: Sequence[str | None],
    roles: Sequence[str | None],
) -> Sequence[str] | None:
    """Return the columns that a rule may use; None if that is for each analysis to say.

    Parameters
    ----------
    table : Table
    columns : sequence of str, optional
        Those that were named.
    left_out : sequence of str or None
        Columns that tell what happened later: the stages, the column that is compared within.
    roles : sequence of str or None
        The protected columns and the outcome.
    """
    named = [column for column in left_out if column]
    if columns or not named:
        return columns
    dataset = table.dataset
    protected = () if dataset is None else (*dataset.protected, *dataset.other_protected)
    outcomes = () if dataset is None else (dataset.outcome,)
    taken = {*named, *roles, *protected, *outcomes}
    return [column for column in table.columns if column not in taken]


def of_column(choices: Any, column: str, *, is_mapping: bool = False) -> Any:
    """Return the part of a choice that is about one column; all of it if it is not a mapping.

    Examples
    --------
    >>> of_column({"sex": "Male", "race": "White"}, "race"), of_column("Male", "sex")
    ({'race': 'White'}, 'Male')
    """
    if not isinstance(choices, Mapping):
        return None if is_mapping else choices
    return {column: choices[column]} if column in choices else None


def repair(
    table: Table,
    *,
    protected: Sequence[str],
    columns: Sequence[str] | None,
    roles: AuditRoles,
    random_state: int,
    **reading: Any,
) -> Repaired:
    """Repair the table by blocks; nothing is written."""
    with warnings.catch_warnings():
        # That less is proven than was asked for is the verdict of the proof.
        warnings.filterwarnings("ignore", message="blocks='certified'")
        repaired = repair_file(
            table,
            protected=protected,
            columns=columns,
            roles=roles,
            # Rows of unknown membership are common: they stay as they are, and the report says so.
            options={"random_state": random_state, "unseen": "keep"},
            **reading,
        )
        proof = repaired.proof()
        effect = repaired.effect("full")
    model = repaired.repairer.fitted_.model
    return Repaired(
        effect=effect,
        proof=proof,
        counts=model.table.counts if isinstance(model, BlockModel) else None,
        labels=tuple(repaired.repairer.fitted_.strata.labels),
    )
