"""A table of twelve rows made by hand, and a repair fitted to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fourfifths import Repairer

ROWS = 12
HAND: dict[str, list[Any]] = {
    "x": [1.0, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60],
    "n": list(range(ROWS)),
    "t": ["u", "v"] * 6,
    "g": ["a"] * 6 + ["b"] * 6,
}
VALUES = np.array([HAND["x"], HAND["n"]]).T
GROUP = np.array(HAND["g"])
NAMES = ["x", "n", "t"]
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
MAKERS = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def columns(**changed: Any) -> dict[str, list[Any]]:
    return {**HAND, **changed}


def fitted(**options: Any) -> Repairer:
    """Return the paper's repair of all columns but the group."""
    return Repairer("g", columns=NAMES, scope="column", **options).fit(pd.DataFrame(HAND))
