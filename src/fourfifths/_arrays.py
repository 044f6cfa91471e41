"""The types of arrays, and of intervals, that everything else is made of."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int16]  # one small number per row, however many rows
BoolArray: TypeAlias = NDArray[np.bool_]
HashArray: TypeAlias = NDArray[np.uint64]
Interval = tuple[float, float]
