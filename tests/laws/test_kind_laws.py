"""The same values give the same numbers in every kind of table, to the bit."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from fourfifths import Repairer, certify, impact
from fourfifths._effect.files import repair_file

ROWS = 64
SETTINGS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
START = datetime.datetime(1969, 12, 31, 22)


def table_of(seed: int, scale: int) -> pa.Table:
    """Return rows with every type that libraries store in ways of their own."""
    generator = np.random.default_rng(seed)
    group = np.arange(ROWS) % 2
    hired = generator.random(ROWS) < 0.4 + 0.2 * group
    digits = generator.integers(-9_999, 9_999, ROWS)
    seconds = generator.choice(10**7, ROWS, replace=False) / 4
    return pa.table(
        {
            "sex": np.array(["F", "M"])[group],
            # Both zeros, in any order.
            "zero": generator.choice([0.0, -0.0, 1.5], ROWS),
            "pay": pa.array(
                [Decimal(int(digit)).scaleb(-scale) for digit in digits], pa.decimal128(38, scale)
            ),
            "weight": pa.array(
                [Decimal(int(tenths)) / 10 for tenths in generator.integers(1, 5, ROWS)],
                pa.decimal128(18, 1),
            ),
            "moment": pa.array(
                [START + datetime.timedelta(seconds=second) for second in seconds],
                pa.timestamp("us", "America/New_York"),
            ),
            "spent": pa.array([datetime.timedelta(seconds=second) for second in seconds]),
            "shift": pa.array(
                [(START + datetime.timedelta(seconds=second)).time() for second in seconds // 900]
            ),
            "hired": np.where(hired, "yes", "no"),
        }
    )


def in_memory(table: pa.Table) -> dict[str, Any]:
    return {"arrow": table, "pandas": table.to_pandas(), "polars": pl.DataFrame(table)}


def every_kind(table: pa.Table, folder: Path) -> dict[str, Any]:
    parquet.write_table(table, folder / "table.parquet")
    return in_memory(table) | {"file": folder / "table.parquet"}


def without_name(result: Any) -> str:
    named_after_the_table = {"table": None, "content_sha256": None}
    return json.dumps(json.loads(result.to_json()) | named_after_the_table)


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1, 2, 7, 25]))
@SETTINGS
def test_an_audit_is_the_same_in_every_kind_of_table(seed: int, scale: int, tmp_path: Path) -> None:
    table = table_of(seed, scale)
    # An edge that some rows lie on: they belong to the band above it.
    edge = float(sorted(table["pay"].to_pylist())[ROWS // 2])
    results = {
        kind: without_name(
            impact(
                source,
                protected=["zero", "pay"],
                bands={"pay": [edge]},
                outcome="hired",
                favorable="yes",
                weights="weight",
            )
        )
        for kind, source in every_kind(table, tmp_path).items()
    }
    assert set(results.values()) == {results["arrow"]}
    labels = [group["group"] for group in json.loads(results["arrow"])["attributes"][0]["groups"]]
    assert labels == ["0.0", "1.5"]
    audit = json.loads(results["arrow"])["attributes"][1]["groups"]
    under = [value for value in table["pay"].to_pylist() if float(value) < edge]
    assert audit[0]["n"] == len(under)


@pytest.mark.parametrize("scale", [1, pytest.param(25, marks=pytest.mark.slow)])
def test_a_certificate_is_the_same_in_every_kind_of_table(scale: int, tmp_path: Path) -> None:
    table = table_of(3, scale)
    results = {
        kind: certify(
            source,
            protected="sex",
            outcome="hired",
            favorable="yes",
            columns=["zero", "pay", "moment", "spent", "shift"],
            auditors=["logistic"],
            progress=False,
        )
        for kind, source in every_kind(table, tmp_path).items()
    }
    assert len({result.data_sha256 for result in results.values()}) == 1
    assert len({without_name(result) for result in results.values()}) == 1


@pytest.mark.parametrize("key", ["moment", "spent", "shift", "weight", "pay", None])
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1, 2, 7, 25]))
@settings(SETTINGS, max_examples=3)
def test_a_repair_is_the_same_in_every_kind_of_table(
    seed: int, scale: int, key: str | None, tmp_path: Path
) -> None:
    table = table_of(seed, scale)
    if key == "shift":
        minutes = [datetime.time(row // 60, row % 60, 0, row) for row in range(ROWS)]
        table = table.set_column(table.schema.get_field_index(key), key, pa.array(minutes))
    elif key in ("weight", "pay"):
        amounts = [Decimal(row).scaleb(-1) for row in range(ROWS)]
        column = pa.array(amounts, pa.decimal128(18, 1))
        table = table.set_column(table.schema.get_field_index(key), key, column)
    repaired = "pay" if key != "pay" else "weight"
    written = {}
    for kind, source in in_memory(table).items():
        fitted = Repairer("zero", columns=[repaired], key=key, scope="column", small="pool")
        cells = fitted.fit(source).transform(source)[repaired]
        written[kind] = cells.to_pylist() if kind == "arrow" else cells.to_list()
    assert written["polars"] == written["arrow"]
    # pandas has floats, which are not rounded to the scale of the decimals.
    digits = table.schema.field(repaired).type.scale
    step = Decimal(1).scaleb(-digits)
    rounded = [Decimal(repr(number)).quantize(step) for number in written["pandas"]]
    assert rounded == written["arrow"]
    path = tmp_path / "table.parquet"
    parquet.write_table(table, path, row_group_size=20)
    repair_file(
        path,
        protected=["zero"],
        columns=[repaired],
        options={"key": key, "scope": "column", "small": "pool"},
        memory=1,
    ).write(tmp_path / "repaired.parquet")
    assert (
        parquet.read_table(tmp_path / "repaired.parquet")[repaired].to_pylist() == written["arrow"]
    )
