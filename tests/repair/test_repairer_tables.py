"""A dataframe in, the same kind of dataframe out: types, order, index, untouched columns."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fourfifths import Repairer
from fourfifths.errors import TableError

ROWS = 80
GROUP = np.repeat(["a", "b"], ROWS // 2)
RANDOM = np.random.default_rng(0)
# As many missing in either group, so that repaired strata have the same values exactly.
MISSING = np.tile(np.arange(ROWS // 2) % 10 == 3, 2)
NUMBERS = np.concatenate([RANDOM.integers(0, 6, ROWS // 2), RANDOM.integers(4, 12, ROWS // 2)])
ORDER = ["low", "mid", "high"]
GRADES = [ORDER[min(2, number // 4)] for number in NUMBERS]
TEXTS = [None if gone else "uvw"[number % 3] for number, gone in zip(NUMBERS, MISSING, strict=True)]
HOLES = [None if gone else int(number) for number, gone in zip(NUMBERS, MISSING, strict=True)]
TRUTHS = [None if gone else bool(number > 4) for number, gone in zip(NUMBERS, MISSING, strict=True)]
METHODS = ["combinatorial", "geometric", "random"]

PANDAS: dict[str, Any] = {
    "int64": NUMBERS,
    "int8": NUMBERS.astype("int8"),
    "uint16": NUMBERS.astype("uint16"),
    "float32": NUMBERS.astype("float32"),
    "float64": np.where(MISSING, np.nan, NUMBERS / 4),
    "bool": NUMBERS > 4,
    "Int64": pd.array(HOLES, dtype="Int64"),
    "Float32": pd.array(HOLES, dtype="Float32"),
    "boolean": pd.array(TRUTHS, dtype="boolean"),
    "int64[pyarrow]": pd.array(HOLES, dtype="int64[pyarrow]"),
    "double[pyarrow]": pd.array(NUMBERS / 4, dtype="double[pyarrow]"),
    "str": pd.array(TEXTS, dtype="str"),
    "string": pd.array(TEXTS, dtype="string"),
    "object": np.array(TEXTS, dtype=object),
    "ordered": pd.Categorical(GRADES, categories=[*ORDER, "top"], ordered=True),
    "unordered": pd.Categorical(TEXTS, categories=["w", "v", "u", "unused"]),
}
POLARS: dict[str, Any] = {
    "Int64": HOLES,
    "Int8": pl.Series(HOLES, dtype=pl.Int8),
    "UInt64": pl.Series(HOLES, dtype=pl.UInt64),
    "Float32": pl.Series(HOLES, dtype=pl.Float32),
    "Float64": pl.Series(np.where(MISSING, np.nan, NUMBERS / 4)),
    "Boolean": TRUTHS,
    "String": TEXTS,
    "Categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "Enum": pl.Series(GRADES, dtype=pl.Enum(ORDER)),
}
ARROW: dict[str, Any] = {
    "int64": pa.array(HOLES, pa.int64()),
    "int8": pa.array(HOLES, pa.int8()),
    "float": pa.array([None if each is None else each / 4 for each in HOLES], pa.float32()),
    "double": pa.chunked_array([NUMBERS[:7] / 4, NUMBERS[7:] / 4]),
    "bool": pa.array(TRUTHS),
    "string": pa.array(TEXTS),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
}
CATEGORIES = {"str", "string", "object", "unordered", "String", "Categorical", "large_string"}
CATEGORIES |= {"dictionary"}
WHOLE = {name for name in (*PANDAS, *POLARS, *ARROW) if "nt" in name}


def table(library: str, column: str) -> Any:
    """Return a table in which the column to repair stands among others."""
    if library == "pandas":
        index = pd.Index(np.arange(ROWS) // 2, name="twice")
        frame = pd.DataFrame({"before": pd.date_range("2020", periods=ROWS), "g": GROUP})
        frame["x"] = PANDAS[column]
        frame["after"] = [[place] for place in range(ROWS)]
        return frame.set_index(index)
    before = [{"of": place} for place in range(ROWS)]
    if library == "polars":
        return pl.DataFrame({"before": before, "g": GROUP, "x": POLARS[column], "after": TEXTS})
    native = {"before": before, "g": GROUP, "x": ARROW[column], "after": TEXTS}
    return pa.table(native).replace_schema_metadata({"made": "by hand"})


CASES = [
    *[("pandas", name) for name in PANDAS],
    *[("polars", name) for name in POLARS],
    *[("pyarrow", name) for name in ARROW],
]


def cells(library: str, found: Any, column: str = "x") -> list[Any]:
    """Return a column's cells, missing as None."""
    if library == "pyarrow":
        return found[column].to_pylist()
    listed = found[column].tolist() if library == "pandas" else found[column].to_list()
    return [None if each is None or each is pd.NA or each != each else each for each in listed]


def type_of(library: str, found: Any) -> Any:
    return found["x"].type if library == "pyarrow" else found["x"].dtype


def without(library: str, found: Any) -> Any:
    """Return the table without the column that was repaired."""
    return found.drop_columns("x") if library == "pyarrow" else found[["before", "g", "after"]]


@pytest.mark.parametrize(("method", "scope"), [(method, "column") for method in METHODS])
@pytest.mark.parametrize(("library", "column"), CASES)
def test_all_but_the_repaired_cells_come_back_as_they_went_in(
    library: str, column: str, method: str, scope: str
) -> None:
    given = table(library, column)
    kept = given.copy(deep=True) if library == "pandas" else given
    out = Repairer("g", columns=["x"], method=method, scope=scope).fit_transform(given)

    assert type(out) is type(given)
    assert list(getattr(out, "column_names", out.columns)) == ["before", "g", "x", "after"]
    before, after = cells(library, given), cells(library, out)
    assert [each is None for each in after] == [each is None for each in before]
    assert after != before
    if column not in WHOLE or method != "geometric":
        assert type_of(library, out) == type_of(library, given)
        wanted = {type(each) for each in before if each is not None}
        assert {type(each) for each in after if each is not None} == wanted
    if library == "pandas":
        pd.testing.assert_frame_equal(without(library, out), without(library, given))
        pd.testing.assert_frame_equal(given, kept)  # what was given is not changed
    else:
        assert without(library, out).equals(without(library, given))
    if library == "pyarrow":
        assert out.schema.metadata == given.schema.metadata


@pytest.mark.parametrize(("library", "column"), CASES)
def test_the_strata_are_alike_afterwards(library: str, column: str) -> None:
    given = table(library, column)
    repairer = Repairer("g", columns=["x"], scope="column")
    out = cells(library, repairer.fit_transform(given))
    first, second = (Counter(np.array(out, dtype=object)[own == GROUP]) for own in ("a", "b"))
    if column in CATEGORIES:  # each cell of the coupling is rounded to whole rows
        assert all(abs(first[each] - second[each]) <= 3 for each in "uvw")
    else:
        assert first == second


@pytest.mark.parametrize("amount", [0, 0.5, 1])
@pytest.mark.parametrize("scope", ["column"])
def test_every_library_gives_the_same_values(scope: str, amount: float) -> None:
    columns = {"i": HOLES, "f": (NUMBERS / 4).tolist(), "b": TRUTHS, "s": TEXTS, "g": GROUP}
    frames = {
        "pandas": pd.DataFrame(columns).astype({"i": "Int64", "b": "boolean"}),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
    }
    found = {}
    for library, frame in frames.items():
        options: dict[str, Any] = {"scope": scope, "amount": amount, "method": "combinatorial"}
        repairer = Repairer("g", columns=["i", "f", "b", "s"], **options)
        out = repairer.fit_transform(frame)
        found[library] = [cells(library, out, name) for name in columns]
    assert found["pandas"] == found["polars"] == found["pyarrow"]


def test_a_repair_fitted_on_one_library_takes_another() -> None:
    columns = {"i": NUMBERS.tolist(), "s": TEXTS, "g": GROUP.tolist()}
    repairer = Repairer("g", scope="column", method="combinatorial", columns=["i"])
    expected = repairer.fit(pd.DataFrame(columns)).transform(pd.DataFrame(columns))["i"].tolist()
    for kind in (pl.DataFrame, pa.table):
        repairer.fit(pd.DataFrame(columns))
        out = repairer.transform(kind(columns))
        assert type(out) is type(kind(columns))
        assert cells("pyarrow" if kind is pa.table else "polars", out, "i") == expected


def test_a_column_may_get_missing_values_after_the_fit() -> None:
    # pandas makes whole numbers with missing ones floats: the values are the same.
    whole = pd.DataFrame({"x": [1, 2, 3, 4, 10, 20, 30, 40], "g": list("aaaabbbb")})
    holes = whole.assign(x=whole["x"].where(whole.index != 1))
    repairer = Repairer("g", columns=["x"], scope="column", method="combinatorial").fit(whole)
    expected = [4, None, 20, 20, 4, 10, 20, 20]
    assert cells("pandas", repairer.transform(holes)) == expected


def test_columns_may_be_told_their_kind() -> None:
    frame = pd.DataFrame({"n": NUMBERS, "grade": GRADES, "t": TEXTS, "z": NUMBERS, "g": GROUP})
    asked = {"n": "number", "grade": ORDER, "t": "category"}
    repairer = Repairer("g", scope="column", columns=asked).fit(frame)
    found = [(each.name, each.kind, each.categories) for each in repairer.column_types_]
    assert found == [
        ("n", "integer", ()),
        ("grade", "ordered", tuple(ORDER)),
        ("t", "category", ("u", "v", "w")),
    ]
    out = repairer.transform(frame)
    assert out["z"].equals(frame["z"])
    assert not out["grade"].equals(frame["grade"])


def test_an_enum_may_be_repaired_as_categories_without_order() -> None:
    frame = pl.DataFrame({"x": POLARS["Enum"], "g": GROUP})
    repairer = Repairer("g", scope="column", columns={"x": "category"})
    out = repairer.fit_transform(frame)
    assert repairer.column_types_[0].kind == "category"
    assert out.schema == frame.schema


def test_a_frame_whose_columns_are_numbered_is_refused() -> None:
    frame = pd.DataFrame(np.column_stack([NUMBERS, NUMBERS * 2.0]))
    with pytest.raises(TableError, match="X: a column is called 0; expected names that are text"):
        Repairer(scope="column").fit(frame, protected=GROUP)


def test_a_column_called_protected_is_repaired_like_any_other() -> None:
    frame = pd.DataFrame({"protected": NUMBERS / 4})
    out = Repairer(columns=["protected"], scope="column").fit_transform(frame, protected=GROUP)
    assert sorted(out["protected"][:40]) == sorted(out["protected"][40:])


def test_a_dictionary_with_an_order_is_ordered() -> None:
    codes = pa.array([ORDER.index(grade) for grade in GRADES], pa.int32())
    ordered = pa.DictionaryArray.from_arrays(codes, pa.array(ORDER), ordered=True)
    repairer = Repairer("g", columns=["x"], scope="column").fit(
        pa.table({"x": ordered, "g": GROUP})
    )
    assert (repairer.column_types_[0].kind, repairer.column_types_[0].categories) == (
        "ordered",
        tuple(ORDER),
    )


@pytest.mark.parametrize("library", ["array", "pandas", "polars", "pyarrow"])
def test_new_rows_of_a_narrower_type_are_not_wrapped_round(library: str) -> None:
    wide = np.concatenate([np.arange(40), 10 * np.arange(40)])  # the consensus reaches 214.5
    narrow = (np.arange(ROWS) % 40).astype(np.int8)
    makers = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    columns = [0] if library == "array" else ["x"]
    repairer = Repairer(columns=columns, scope="column", method="combinatorial")
    if library == "array":
        repairer.fit(wide[:, None], protected=GROUP)
        out = repairer.transform(narrow[:, None], protected=GROUP)[:, 0]
    else:
        repairer.fit(makers[library]({"x": wide}), protected=GROUP)
        out = np.asarray(repairer.transform(makers[library]({"x": narrow}), protected=GROUP)["x"])
    assert set(out.tolist()) <= set(wide.tolist())


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_decimals_stay_decimals(library: str) -> None:
    # By hand: the midpoints of 1.25 and 10.30 and so on, 5.775, to two places.
    prices = [*(f"{at}.25" for at in range(1, 5)), *(f"{at}0.30" for at in range(1, 5))]
    price = pa.array([Decimal(each) for each in prices], pa.decimal128(9, 2))
    table = pa.table({"g": list("AAAABBBB"), "price": price})
    given = (
        pl.from_arrow(table) if library == "polars" else table.to_pandas(types_mapper=pd.ArrowDtype)
    )
    found = Repairer("g", columns=["price"], scope="column").fit_transform(given)["price"]
    assert found.dtype == given["price"].dtype
    assert [float(each) for each in found.to_list()] == pytest.approx(
        [5.775, 11.275, 16.775, 22.275] * 2, abs=0.0051
    )
