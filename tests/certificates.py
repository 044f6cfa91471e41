"""What stands in for slow parts in tests of which they are not the point."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import typer

from fourfifths._certify.result import AuditorResult
from fourfifths._cli.main import app

Interval = tuple[float, float]
NOTHING = float("nan")
CONNECTION = duckdb.connect()
COMMAND = typer.main.get_command(app)


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
    strongest = min(auditors, key=lambda each: each.balanced_error_rate)
    return SimpleNamespace(auditors=auditors, strongest=strongest.name)


def certificate(*pairs: Any, verdict: str = "inconclusive", reference: Any = None) -> Any:
    """Return a certificate, the worst pair first."""
    pairs = pairs or (pair(auditor()),)
    settings = {"reference": reference}
    return SimpleNamespace(pairs=pairs, worst=pairs[0], verdict=verdict, settings=settings)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let no auditor run; return what will be asked of `certify` before and after a repair.

    DuckDB is opened and the command line built once, not for each command: that takes longer than
    all the rest.
    """
    asked: list[dict[str, Any]] = []

    def certify(table: Any, **options: Any) -> Any:
        asked.append(options | {"table": table})
        return certificate(reference=options["reference"])

    monkeypatch.setattr("duckdb.connect", lambda **_: CONNECTION.cursor())
    monkeypatch.setattr("fourfifths._cli.main.app", COMMAND)
    monkeypatch.setattr("fourfifths._effect.effect.certify", certify)
    return asked
