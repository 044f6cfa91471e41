"""How a result is drawn."""

from __future__ import annotations

# Importing a plot registers it with `draw`.
from fourfifths._plot import certificate, impact, proof, tradeoff
from fourfifths._plot.analyses import adjusted, check, cuts, monitor, share, stages, subgroups
from fourfifths._plot.style import draw, plot

__all__ = [
    "adjusted",
    "certificate",
    "check",
    "cuts",
    "draw",
    "impact",
    "monitor",
    "plot",
    "proof",
    "share",
    "stages",
    "subgroups",
    "tradeoff",
]
