"""A claim, what was measured, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import fourfifths

Verdict = Literal["holds", "holds with a caveat", "does not hold"]
UTILITY_TOLERANCE = 0.02  # the paper states utilities in whole percents


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper, what was measured, the verdict, and the reason for it."""

    claim: str
    measured: str
    verdict: Verdict
    why: str


def ends(curve: fourfifths.Tradeoff, model: str, method: str) -> tuple[Any, Any]:
    """Return a model's point without repair and its point with full repair."""
    (before,) = curve.select(model=model, method="none")
    (after,) = curve.select(model=model, method=method, amount=1.0)
    return before, after
