"""One rule for numbers, missing values and categories, at every door and in every kind of table.

One messy column goes through every function that looks at it. Some infer what it holds: numbers or
categories. Others are asked for numbers by name. What each takes the column for is stated by hand.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds_of_tables import in_memory, kinds
from pyarrow import parquet

import fourfifths
from fourfifths.errors import FourfifthsError

AGES = list(range(20, 60))
INTERVALS = pd.interval_range(20, 60)
PLAIN = [str(age) for age in AGES]
# Of each text four rows: both groups, selected and not. So no value decides the outcome.
ROLES: dict[str, Any] = {"protected": "sex", "outcome": "hired", "favorable": "yes"}


def rows(texts):
    return {
        "sex": ["f", "f", "m", "m"] * len(texts),
        "hired": ["yes", "no"] * 2 * len(texts),
        "x": [text for text in texts for _ in range(4)],
    }


def as_csv(texts, folder):
    path = folder / "t.csv"
    pl.DataFrame(rows(texts)).write_csv(path)
    return path


def as_pandas(dtype):
    return lambda texts, _: pd.DataFrame(rows(texts)).astype({"x": dtype})


def as_polars(dtype):
    return lambda texts, _: pl.DataFrame(rows(texts)).with_columns(pl.col("x").cast(dtype))


def as_dictionary(texts, _):
    table = pa.table(rows(texts))
    return table.set_column(2, "x", table["x"].dictionary_encode())


def as_parquet_dictionary(texts, folder):
    parquet.write_table(as_dictionary(texts, folder), folder / "t.parquet")
    return folder / "t.parquet"


TEXTS: dict[str, Callable[[Any, Path], Any]] = {
    "csv": as_csv,
    "pandas": as_pandas(object),
    "pandas, nullable": as_pandas("string"),
    "polars": as_polars(pl.String),
    "pyarrow": lambda texts, _: pa.table(rows(texts)),
}
DECLARED: dict[str, Callable[[Any, Path], Any]] = {
    "pandas category": as_pandas("category"),
    "polars categorical": as_polars(pl.Categorical),
    "pyarrow dictionary": as_dictionary,
    "parquet dictionary": as_parquet_dictionary,
}


def certify(table, unknown):
    certificate = fourfifths.certify(
        table,
        columns=["x"],
        auditors=["logistic"],
        folds=2,
        leaks=False,
        beta=0.5,
        unknown=unknown,
        **ROLES,
    )
    return certificate.features["x"]


def repair(table, unknown):
    repairer = fourfifths.Repairer(
        "sex", columns=["x"], scope="column", method="combinatorial", unknown=unknown
    )
    with warnings.catch_warnings(action="ignore"):  # notes on what was assumed
        kind = repairer.fit(in_memory(table)).column_types_[0].kind
    return "category" if kind == "category" else "number"


def adjust(table, unknown):
    return fourfifths.adjusted(table, controls="x", unknown=unknown, **ROLES).controls[0].kind


def search(table, unknown):
    found = fourfifths.subgroups(table, columns="x", min_rows=1, unknown=unknown, **ROLES)
    return "number" if found.cuts else "category"


def band(table, unknown):
    """Return the rows below and above each of two edges."""
    roles = {**ROLES, "protected": "x"}
    result = fourfifths.impact(table, bands={"x": [30, 50]}, unknown=unknown, **roles)
    sizes = {group.group: group.n for group in result["x"].groups}
    return tuple(sizes.get(label, 0) for label in ("under 30", "30 to under 50", "50 and over"))


def cut(table, unknown):
    """Return the numbers that a score has."""
    return tuple(fourfifths.cuts(table, score="x", protected="sex", unknown=unknown).cuts)


INFERRING = {"certify": certify, "Repairer": repair, "adjusted": adjust, "subgroups": search}


def outcome_of(door, table, unknown=()):
    """Return what a door took a column for, or its error."""
    try:
        return door(table, unknown)
    except FourfifthsError as error:
        return error


def first(text, texts=PLAIN):
    """Return the texts with another one in the place of the first."""
    return [text, *texts[1:]]


def sizes_of(numbers):
    low, middle = (sum(4 for number in numbers if number < edge) for edge in (30, 50))
    return low, middle - low, 4 * len(numbers) - middle


# The texts, the user's tokens, what they are if nobody says it, and their numbers if asked for: or
# what the errors say.
MESSY: dict[str, tuple[list[str | None], list[Any], str, Any]] = {
    "plain": (PLAIN, [], "number", AGES),
    "missing": (first(None), [], "number", AGES[1:]),
    "not known": (first("n/a"), [], "number", AGES[1:]),
    "a token": (first("absent"), ["absent"], "number", AGES[1:]),
    "a number as token": (first("-999"), [-999], "number", AGES[1:]),
    "percent": ([f"{age}%" for age in AGES], [], "number", AGES),
    "comma": ([f"{age},5" for age in AGES], [], "number", [age + 0.5 for age in AGES]),
    "currency": (["$20", *[f"${text}" for text in PLAIN[1:]]], [], "number", AGES),
    "brackets": (first("(5)"), [], "number", [-5, *AGES[1:]]),
    "a word": (
        first("oops"),
        [],
        r"column 'x': 156 of 160 values are numbers, but 'oops' is not.*unknown=\['oops'\]",
        r"'x': expected numbers, found 'oops'.*unknown=\['oops'\]",
    ),
    "words": (
        ["low", "high", "none of it", *PLAIN[3:]],
        [],
        "category",
        r"'x': expected numbers, found 'high'",
    ),
    "infinity": (first("inf"), [], "'x': expected finite numbers, found 'inf'", "found 'inf'"),
    "too large": (first("1e400"), [], r"'x': .*finite numbers", "expected finite numbers, found"),
    "not exact": (
        first("9007199254740993"),
        [],
        r"column 'x': holds whole numbers beyond 2\*\*53",
        r"column 'x': holds whole numbers beyond 2\*\*53",
    ),
    "codes": ([f"000{age}" for age in AGES], [], "category", AGES),
    "codes, not known": (
        first("n/a", [f"000{age}" for age in AGES]),
        [],
        "category",
        AGES[1:],
    ),
    "units": (first("20%"), [], "'x': .* are in different units", "are in different units"),
    "two readings": (
        [f"1.5{age}" for age in AGES],
        [],
        "'x': '1.520' may be 1.52 or 1520",
        "'x': '1.520' may be 1.52 or 1520",
    ),
}


@pytest.mark.parametrize("kind", kinds(TEXTS))
@pytest.mark.parametrize("case", MESSY)
def test_every_door_takes_a_column_for_the_same(case, kind, tmp_path):
    texts, unknown, expected_kind, numbers = MESSY[case]
    table = TEXTS[kind](texts, tmp_path)
    for name, door in INFERRING.items():
        found = outcome_of(door, table, unknown)
        if isinstance(found, str):
            assert (name, found) == (name, expected_kind)
        else:
            assert re.search(expected_kind, str(found)), (name, found)
    if isinstance(numbers, str):
        for door in (band, cut):
            assert re.search(numbers, str(outcome_of(door, table, unknown)))
        return
    assert outcome_of(band, table, unknown) == sizes_of(numbers)
    assert outcome_of(cut, table, unknown) == tuple(sorted(map(float, numbers)))


@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize("case", ["plain", "missing", "a token", "codes", "a word"])
def test_a_declared_category_stays_one_unless_numbers_are_asked_for(case, kind, tmp_path):
    texts, unknown, _, numbers = MESSY[case]
    table = DECLARED[kind](texts, tmp_path)
    for name, door in INFERRING.items():
        assert (name, outcome_of(door, table, unknown)) == (name, "category")
    if isinstance(numbers, str):
        assert re.search(numbers, str(outcome_of(cut, table, unknown)))
        return
    assert outcome_of(band, table, unknown) == sizes_of(numbers)
    assert outcome_of(cut, table, unknown) == tuple(sorted(map(float, numbers)))


def test_truth_values_among_numbers_are_words_at_every_door():
    table = pd.DataFrame(rows([True, *AGES[1:]])).astype({"x": object})
    for door in INFERRING.values():
        assert re.search(
            "156 of 160 values are numbers, but 'True' is not", str(outcome_of(door, table))
        )
    for door in (band, cut):
        assert re.search("'x': expected numbers, found 'True'", str(outcome_of(door, table)))


@pytest.mark.parametrize(
    "categories", [AGES, pd.interval_range(20, 60)], ids=["numbers", "intervals"]
)
def test_categories_that_are_no_texts_are_categories_at_every_door(categories):
    """And a repaired column has them again."""
    cells = pd.Categorical([value for value in categories for _ in range(4)], categories)
    table = pd.DataFrame(rows(PLAIN)).assign(x=cells)
    assert [outcome_of(door, table) for door in INFERRING.values()] == ["category"] * 4
    repairer = fourfifths.Repairer("sex", columns=["x"], scope="column", method="combinatorial")
    repaired = repairer.fit_transform(table)
    assert repaired["x"].dtype == table["x"].dtype
    assert repaired["x"].notna().all()


def test_dictionaries_of_numbers_come_back_as_they_were():
    table = pa.table({**rows(PLAIN), "x": pa.array(np.repeat(AGES, 4)).dictionary_encode()})
    assert [outcome_of(door, table) for door in INFERRING.values()] == ["category"] * 4
    repairer = fourfifths.Repairer("sex", columns=["x"], scope="column", method="combinatorial")
    repaired = repairer.fit_transform(table)
    assert repaired["x"].type == table["x"].type
    assert set(repaired["x"].to_pylist()) <= set(AGES)


@pytest.mark.parametrize("door", [adjust, search, band, cut, certify])
def test_infinite_numbers_are_refused_with_one_wording(door):
    table = pd.DataFrame(rows([float("inf"), *map(float, AGES[1:])]))
    error = str(outcome_of(door, table))
    assert error.endswith(
        "expected finite numbers, found inf; correct or empty these cells, or leave the column out"
    )
