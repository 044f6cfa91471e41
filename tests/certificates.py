"""What stands in for slow parts in tests of which they are not the point."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from fourfifths._certify.result import AuditorResult

Interval = tuple[float, float]
NOTHING = float("nan")


def auditor(
    error: float = 0.4,
    interval: Interval = (0.35, 0.45),
    *,
    name: str = "trees",
    floor: float = 0.9,
    floor_interval: Interval = (0.8, 1.0),
) -> AuditorResult:
    """Return what an auditor found; what repairs do not show is NaN."""
    nothing = (NOTHING, NOTHING)
    return AuditorResult(
        name=name,
        balanced_error_rate=error,
        interval=interval,
        impact_bound=NOTHING,
        impact_floor=floor,
        impact_floor_interval=floor_interval,
        reverse_floor=NOTHING,
        reverse_floor_interval=nothing,
    )


def pair(*auditors: AuditorResult) -> Any:
    """Return a pair of groups of which these auditors were asked."""
    strongest = min(auditors, key=lambda result: result.balanced_error_rate)
    return SimpleNamespace(auditors=auditors, strongest=strongest.name)


def certificate(*pairs: Any, verdict: str = "inconclusive", reference: Any = None) -> Any:
    """Return a certificate, the worst pair first."""
    pairs = pairs or (pair(auditor()),)
    settings = {"reference": reference}
    return SimpleNamespace(pairs=pairs, worst=pairs[0], verdict=verdict, settings=settings)


@dataclass
class Asked:
    """A `certify` that runs no auditor, and keeps what it was asked, call by call."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, table: Any, **options: Any) -> Any:
        self.calls.append(options | {"table": table})
        return certificate(reference=options["reference"])
