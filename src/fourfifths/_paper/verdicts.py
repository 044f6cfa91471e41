"""A claim, what was measured, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import fourfifths

Verdict = Literal[
    "holds",
    "holds with a caveat",
    "does not hold",
    "reproduced only with years as strata",
    "too small to judge",
]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper, what was measured, the verdict, and the reason for it.

    Attributes
    ----------
    claim, measured : str
    verdict : str
    why : str
    needs_full_run : bool
        Whether a quick run, with few splits and amounts, is too small to judge it.
    """

    claim: str
    measured: str
    verdict: Verdict
    why: str
    needs_full_run: bool = False


def ends(curve: fourfifths.Tradeoff, model: str, method: str) -> tuple[Any, Any]:
    """Return a model's point without repair and its point with full repair."""
    (before,) = curve.select(model=model, method="none")
    (after,) = curve.select(model=model, method=method, amount=1.0)
    return before, after
