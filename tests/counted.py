"""Tables made from counts: ``{group: (selected, n)}`` becomes rows, or an aggregated table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pytest

import fourfifths

Groups = Mapping[str, tuple[int, int]]
CELL = ["group", "hired", "count"]


def rows(groups: Groups) -> dict[str, list[Any]]:
    """Return the columns `group` and `hired`, one row per person."""
    names, hired = [], []
    for name, (selected, n) in groups.items():
        names += [name] * n
        hired += ["yes"] * selected + ["no"] * (n - selected)
    return {"group": names, "hired": hired}


def frame(groups: Groups) -> pd.DataFrame:
    return pd.DataFrame(rows(groups))


def cells(groups: Groups) -> list[tuple[str, str, int]]:
    return [
        (name, outcome, count)
        for name, (selected, n) in groups.items()
        for outcome, count in (("yes", selected), ("no", n - selected))
    ]


def aggregated(groups: Groups) -> pd.DataFrame:
    """Return one row per group and outcome, with the number of persons in `count`."""
    return pd.DataFrame(cells(groups), columns=CELL)


def stratified(strata: Mapping[str, Groups]) -> pd.DataFrame:
    """Return rows with a further column `job`."""
    return pd.concat(
        [frame(groups).assign(job=job) for job, groups in strata.items()], ignore_index=True
    )


def measure(groups: Groups, **options: Any) -> fourfifths.Impact:
    """Audit one row per person."""
    return fourfifths.impact(
        pl.DataFrame(rows(groups)), protected="group", outcome="hired", **options
    )


def measure_aggregated(groups: Groups, **options: Any) -> fourfifths.Impact:
    """Audit the same persons as an aggregated table."""
    return fourfifths.impact(
        pl.DataFrame(cells(groups), schema=CELL, orient="row"),
        protected="group",
        outcome="hired",
        weights="count",
        weights_are="counts",
        **options,
    )


def printed(text: str) -> Any:
    """Return what equals a number printed with so many digits: half a unit of the last one."""
    digits = -Decimal(text).as_tuple().exponent
    return pytest.approx(float(text), abs=0.5 * 10.0**-digits + 1e-12, rel=0)
