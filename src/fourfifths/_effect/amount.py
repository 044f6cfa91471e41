"""`least_certified_amount`: how much repair it takes until the result is certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import clone

from fourfifths._arrays import Interval
from fourfifths._certify.certify import certify
from fourfifths._certify.plan import MAX_ROWS
from fourfifths._certify.result import Certificate
from fourfifths._effect.held_out import fitted_folds, repaired_folds
from fourfifths._progress import steps
from fourfifths._repair.repairer import Repairer
from fourfifths._results import Record, Result, Verdict, flat, plain
from fourfifths._tables.groups import assign_roles, check_share
from fourfifths._tables.load import load_rows, rows_of
from fourfifths._tables.strata import stratum_names
from fourfifths._tables.table import TableLike, open_table
from fourfifths._tables.values import PLAIN, Reading, occurring_tokens, unknown_tokens
from fourfifths.errors import GroupError


@dataclass(frozen=True, kw_only=True)
class Step:
    """One amount that was tried.

    Attributes
    ----------
    amount : float
    verdict : {"certified", "not certified", "inconclusive"}
    balanced_error_rate : float
        Of the strongest auditor of the worst pair, on held-out rows.
    impact_floor, impact_floor_interval
        The lowest of the auditors of the worst pair.
    """

    amount: float
    verdict: Verdict
    balanced_error_rate: float
    impact_floor: float
    impact_floor_interval: Interval


@dataclass(frozen=True, kw_only=True, repr=False)
class CertifiedAmount(Result):
    """The least amount whose result is certified, and how it was found.

    Attributes
    ----------
    amount : float or None
        None where not even full repair is certified.
    curve : tuple of Step
        Every amount that was tried, in order of amount.
    tolerance : float
        No amount below `amount` - `tolerance` was certified.
    confidence : float
        The confidence with which all the verdicts hold together.
    certificate : Certificate
        The certificate of `amount`; where that is None, of full repair.
    """

    amount: float | None
    curve: tuple[Step, ...]
    tolerance: float
    confidence: float
    certificate: Certificate

    _not_in_json: ClassVar[tuple[str, ...]] = ("certificate",)

    def to_records(self) -> list[Record]:
        """Return one record per amount that was tried, in order of amount."""
        return [flat(plain(step)) for step in self.curve]

    def __str__(self) -> str:
        lines = [
            f"amount {step.amount:.3f}: {step.verdict}, BER {step.balanced_error_rate:.3f}, floor "
            f"{step.impact_floor:.3f} ({step.impact_floor_interval[0]:.3f} to "
            f"{step.impact_floor_interval[1]:.3f})"
            for step in self.curve
        ]
        if self.amount is None:
            headline = "no amount is certified, not even full repair"
        else:
            headline = f"the least certified amount is {self.amount:g}"
        return "\n".join([f"{headline}, on held-out rows", *lines])


def least_certified_amount(
    table: TableLike,
    repairer: Repairer,
    *,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    columns: Sequence[str] | None = None,
    beta: float | tuple[float, float] | None = None,
    threshold: float = 0.8,
    auditors: Sequence[str] | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    tolerance: float = 0.05,
    random_state: int = 0,
    progress: bool = True,
    certify: Callable[..., Certificate] = certify,
) -> CertifiedAmount:
    """Find the least amount of repair whose result is certified on rows that it was not fitted to.

    The rows are split into five folds. Each fold is repaired by a fit to the other four, so every
    row is used and no row is repaired by a fit that has seen it. Full repair is tried first, then
    none, then the amounts between by bisection. The search assumes that what is certified at one
    amount is certified at every larger one. That holds for random repair, because a larger amount
    leaves fewer rows as they were. For the other methods it need not hold; the curve shows the
    verdict of every amount that was tried.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
    repairer : Repairer
        It must name its protected or stratifying columns. Its own amount is not used. A full repair
        by blocks comes with a proof, and needs no search.
    outcome, favorable, reference, beta, threshold, auditors, folds, max_rows : optional
        As for `certify`.
    columns : sequence of str, optional
        The columns that a rule may use; the repaired ones by default.
    confidence : float
        The confidence with which all verdicts hold together: each is made at
        1 - (1 - confidence) / (the most amounts that may be tried).
    tolerance : float
        The search ends when the least amount is known to within this.
    random_state : int
        The seed of the split of the rows.
    progress : bool
        Whether to show a progress bar on a terminal or in a notebook.
    certify : callable
        What certifies each amount: `fourfifths.certify`, or a function like it.

    Returns
    -------
    CertifiedAmount

    Examples
    --------
    >>> import fourfifths
    >>> options = {"columns": ["oral", "written"], "scope": "column", "small": "pool"}
    >>> repairer = fourfifths.Repairer("race", **options)
    >>> found = fourfifths.least_certified_amount("ricci", repairer, auditors=["logistic"])
    >>> found.amount is None, found.curve[-1].amount  # 118 rows certify nothing
    (True, 1.0)
    """
    tolerance = check_share("tolerance", tolerance, "(0, 1)")
    confidence = check_share("confidence", confidence, "(0, 1)")
    stratifying = stratum_names(repairer.protected, repairer.stratify_by)
    if stratifying is None:
        raise GroupError("repairer: name its protected columns, Repairer(protected=...)")
    opened = open_table(table, repairer.reading)
    roles = assign_roles(
        opened,
        protected=stratifying,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        bands=repairer.bands,
        ages=repairer.ages,
        unknown=repairer.unknown,
        outcome_is="needed" if beta is None else "optional",
    )
    frame = load_rows(table).dataframe
    fitted = clone(repairer).fit(frame.to_native())
    folds_of_rows = fitted_folds(frame, fitted, random_state=random_state)
    reference_values = {
        column: group for column, group in roles.designated.items() if column in stratifying
    }
    max_looks = 2 + math.ceil(math.log2(1 / tolerance))
    options: dict[str, Any] = {
        "protected": list(fitted.strata_.by),
        "bands": fitted.bands or {},
        "ages": fitted.ages or {},
        "outcome": roles.outcome,
        "favorable": roles.favorable,
        "reference": reference_values or None,
        "columns": columns or [column.name for column in fitted.column_types_],
        "beta": beta,
        "threshold": threshold,
        "auditors": auditors,
        # Each verdict may err; Bonferroni makes all of them hold with the stated confidence.
        "confidence": 1 - (1 - confidence) / max_looks,
        "folds": folds,
        "max_rows": max_rows,
    }
    certificates: dict[float, Certificate] = {}
    with steps("certifying", max_looks, enabled=progress) as progress_bar:

        def is_certified(amount: float) -> bool:
            repaired = repaired_folds(folds_of_rows, amount=amount)
            formats = {
                column.name: column.number_format
                for column in fitted.column_types_
                if column.number_format != PLAIN
            }
            rows = rows_of(repaired.to_native(), reading=fitted.reading)
            numbers = rows.with_numbers(list(formats), formats=formats).dataframe
            # A token need not be left in a table that was repaired.
            unknown = occurring_tokens(numbers, unknown_tokens(fitted.unknown))
            readable: Any = numbers.to_native()
            if fitted.reading != Reading():
                readable = open_table(readable, fitted.reading)
            certificates[amount] = certify(readable, progress=False, unknown=unknown, **options)
            progress_bar.advance(f"amount {amount:g}")
            return certificates[amount].verdict == "certified"

        least = least_amount(is_certified, tolerance)
    curve = []
    for amount in sorted(certificates):
        worst = certificates[amount].worst
        lowest = min(worst.auditors, key=lambda auditor: auditor.impact_floor)
        step = Step(
            amount=amount,
            verdict=certificates[amount].verdict,
            balanced_error_rate=min(auditor.balanced_error_rate for auditor in worst.auditors),
            impact_floor=lowest.impact_floor,
            impact_floor_interval=lowest.impact_floor_interval,
        )
        curve.append(step)
    return CertifiedAmount(
        amount=least,
        curve=tuple(curve),
        tolerance=tolerance,
        confidence=confidence,
        certificate=certificates[1.0 if least is None else least],
    )


def least_amount(is_certified: Callable[[float], bool], tolerance: float) -> float | None:
    """Return the least certified amount, by bisection to within the tolerance, or None."""
    if not is_certified(1.0):
        return None
    if is_certified(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (low, middle) if is_certified(middle) else (middle, high)
    return high
