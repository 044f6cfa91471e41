"""A claim, what was measured, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import fourfifths

Verdict = Literal["holds", "holds with a caveat", "does not hold"]
CLOSE = 0.02  # of utilities


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper's, what was measured, the verdict, and why."""

    claim: str
    measured: str
    verdict: Verdict
    why: str


def ends(curve: fourfifths.Tradeoff, model: str, method: str) -> tuple[Any, Any]:
    """Return a model's point without repair, and the one with full repair."""
    (before,) = curve.select(model=model, method="none")
    (after,) = curve.select(model=model, method=method, amount=1.0)
    return before, after
