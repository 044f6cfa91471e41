"""What all results have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    pass


def plain(value: Any) -> Any:
    """Return a figure ready for JSON: NaN as None, an interval as a list, a result as a mapping.

    Examples
    --------
    >>> plain((float("nan"), float("nan"))), plain((0.5, float("nan")))
    (None, [0.5, None])
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and not math.isinf(value):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        items = [plain(item) for item in value]
        return None if items and all(item is None for item in items) else items
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return str(value)


FrameKind = Literal["pandas", "polars", "pyarrow"]
