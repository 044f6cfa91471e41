"""What the plots have in common."""

from __future__ import annotations

BELOW, OTHER, LINE = "#b2182b", "#2166ac", "#444444"


def literal(text: str) -> str:
    """Keep matplotlib from reading dollar signs in data as mathematics."""
    return text.replace("$", r"\$")
