"""The same columns as every kind of table that the package reads."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fourfifths._tables.load import load_rows

Columns = Mapping[str, Any]


def as_csv(columns: Columns, folder: Path) -> Path:
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def as_parquet(columns: Columns, folder: Path) -> Path:
    pl.DataFrame(columns).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_json_lines(columns: Columns, folder: Path) -> Path:
    pl.DataFrame(columns).write_ndjson(folder / "t.jsonl")
    return folder / "t.jsonl"


DATAFRAMES: dict[str, Callable[[Columns, Path], Any]] = {
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas, nullable": lambda columns, _: pd.DataFrame(columns).convert_dtypes(),
    "pandas, pyarrow": lambda columns, _: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
}
# Tables that know the types of their columns.
TYPED = DATAFRAMES | {
    "polars lazy": lambda columns, _: pl.LazyFrame(columns),
    "duckdb": lambda columns, _: duckdb.connect().from_arrow(pa.table(columns)),
    "parquet": as_parquet,
    "json lines": as_json_lines,
}
# A CSV file holds text only, and cannot tell an empty text from a missing one.
EVERY_KIND = TYPED | {"csv": as_csv}
# One of each way into the package runs with the fast tests, the rest with the slow ones.
FAST_KINDS = ("pandas", "polars", "duckdb", "csv")


def kinds(names: Iterable[str]) -> list[Any]:
    """Return the parameters of a test of these kinds of tables."""
    return [
        name if name in FAST_KINDS else pytest.param(name, marks=pytest.mark.slow) for name in names
    ]


def in_memory(table: Any) -> Any:
    """Return a table as something that a `Repairer` takes: its rows are in memory."""
    if isinstance(table, pd.DataFrame | pl.DataFrame | pa.Table):
        return table
    return load_rows(table).dataframe.to_native()


def cells(table: Any, name: str) -> list[Any]:
    """Return a column's cells as Python values; missing is None."""
    column = nw.from_native(table, eager_only=True)[name]
    return [None if pd.isna(cell) else cell for cell in column.to_list()]
