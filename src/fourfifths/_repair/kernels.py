"""The hot loops, compiled where the extra `[fast]` (numba) is installed.

Each does what its caller does with numpy, value by value: the same arithmetic in the same order, so
the same numbers. What is drawn at random is drawn by numpy in both.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

LEAST = 10_000  # values; for fewer, loading takes longer than it saves


def loops(size: int) -> ModuleType | None:
    """Return the compiled loops for so many values, or None where numpy is to do it."""
    return _loops() if size >= LEAST else None


@cache
def _loops() -> ModuleType | None:
    try:
        from fourfifths._repair import numba_kernels as numba_loops
    except ImportError:  # not there, or too old for the numpy that is
        return None
    return numba_loops
