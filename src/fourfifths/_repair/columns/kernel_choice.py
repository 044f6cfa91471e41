"""Which kernels a repair uses: the compiled ones where there are many values."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

from fourfifths._repair.columns.kernels import Kernels

# With fewer values at a time, compiled loops save nothing.
MIN_COMPILED_VALUES = 10_000
# With fewer values in a process, loading numba takes longer than its loops save.
MIN_VALUES_TO_LOAD = 16_000_000
NUMPY_KERNELS = Kernels()


@dataclass(kw_only=True)
class KernelChoice:
    """Chooses kernels, and remembers for how many values it did; all give the same numbers.

    Attributes
    ----------
    value_count : int
        Of the calls with many values so far.
    """

    value_count: int = 0

    def __call__(self, value_count: int) -> Kernels:
        """Return the kernels for so many values: compiled ones where these pay off."""
        if value_count < MIN_COMPILED_VALUES:
            return NUMPY_KERNELS
        self.value_count += value_count
        if "numba" not in sys.modules and self.value_count < MIN_VALUES_TO_LOAD:
            return NUMPY_KERNELS
        return compiled_kernels()


kernels_for = KernelChoice()


@cache
def compiled_kernels() -> Kernels:
    """Return the compiled kernels, or those of numpy if the extra `[fast]` is not installed."""
    try:
        from fourfifths._repair.columns.numba_kernels import NumbaKernels
    except ImportError:  # numba is not installed, or is too old for the installed numpy
        return NUMPY_KERNELS
    return NumbaKernels()
