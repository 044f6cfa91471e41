"""Which kernels a repair uses: the compiled ones where there are many values."""

from __future__ import annotations

from functools import cache

from fourfifths._repair.columns.kernels import Kernels

# With fewer values, loading numba and its compiled loops takes longer than they save.
MIN_COMPILED_VALUES = 10_000
NUMPY_KERNELS = Kernels()


def kernels_for(row_count: int) -> Kernels:
    """Return the fastest kernels for this many rows: compiled ones if there are many."""
    return compiled_kernels() if row_count >= MIN_COMPILED_VALUES else NUMPY_KERNELS


@cache
def compiled_kernels() -> Kernels:
    """Return the compiled kernels, or those of numpy if the extra `[fast]` is not installed."""
    try:
        from fourfifths._repair.columns.numba_kernels import NumbaKernels
    except ImportError:  # numba is not installed, or is too old for the installed numpy
        return NUMPY_KERNELS
    return NumbaKernels()
