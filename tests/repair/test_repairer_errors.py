"""Bad input: each error names the argument, what came, what was expected and what to do."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hand_table import GROUP, HAND, MAKERS, NAMES, ROWS, VALUES, columns, fitted

import fourfifths
from fourfifths import Repairer
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError, TableError

# --- options ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"amount": 1.01}, r"amount=1.01: expected a number from 0 to 1"),
        ({"amount": -0.01}, r"amount=-0.01: expected a number from 0"),
        ({"amount": float("nan")}, r"amount=nan: expected a number"),
        ({"amount": "half"}, r"amount='half': expected a number"),
        ({"amount": None}, r"amount=None: expected a number"),
        ({"amount": True}, r"amount=True: expected a number"),
        ({"method": "geometrc"}, r"method='geometrc': expected one of .* mean 'geometric'"),
        ({"method": None}, r"method=None: expected one of 'combinatorial'"),
        ({"scope": "rows"}, r"scope='rows': expected one of 'blocks', 'column'"),
        ({"ties": "middle"}, r"ties='middle': expected one of 'split', 'mid'"),
        ({"unseen": "drop"}, r"unseen='drop': expected one of 'error', 'keep'"),
        ({"small": "merge"}, r"small='merge': expected one of 'error', 'pool'"),
        ({"levels": 1}, r"levels=1: expected a whole number, 2 or more"),
        ({"levels": 10.0}, r"levels=10.0: expected a whole number"),
        ({"method": "geometric"}, r"method='geometric': .* give scope='column' too, or leave"),
        ({"ties": "mid"}, r"ties='mid': .* give scope='column' too, or leave it out"),
        ({"levels": 7}, r"levels=7: the paper's methods repair columns one by one; give scope"),
        *(
            ({"scope": "column", name: value}, rf"{name}={value!r}: a repair by column has no .*")
            for name, value in (
                *(("blocks", 2), ("variety", 2), ("favorable", "yes"), ("guide", "a model")),
                *(("beta", 0.3), ("threshold", 0.9), ("confidence", 0.9)),
            )
        ),
        ({"blocks": 1}, r"blocks=1: expected 'certified', or a whole number, 2 or more"),
        ({"blocks": "proven"}, r"blocks='proven': expected 'certified', or a whole number"),
        ({"blocks": True}, r"blocks=True: expected 'certified', or a whole number"),
        ({"variety": 0}, r"variety=0: expected a whole number, 1 or more"),
        ({"drop_protected": "no"}, r"drop_protected='no': expected True or False"),
        ({"beta": 0}, r"beta=0: expected a number between 0 and 1"),
        ({"threshold": 1}, r"threshold=1: expected a number between 0 and 1"),
        ({"confidence": None}, r"confidence=None: expected a number between 0 and 1"),
        ({"confidence": float("nan")}, r"confidence=nan: expected a number between 0 and 1"),
        (
            {"random_state": -1},
            r"random_state=-1: expected a whole number from 0 to 2\*\*64 - 1, or None",
        ),
        ({"random_state": "0"}, r"random_state='0': expected a whole number"),
        ({"protected": "g", "stratify_by": "t"}, r"protected, stratify_by: give one of them"),
    ],
)
def test_an_option_that_is_no_choice_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Repairer(**{"protected": "g", **options}).fit(pd.DataFrame(HAND))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"favorable='v': there is no outcome; expected a single outcome"),
        ({"keep": "n"}, r"favorable='v': never occurs in outcome 'n'"),
        ({"keep": ["t", "n"]}, r"favorable='v': the outcomes are 't', 'n'; expected a single"),
    ],
)
def test_a_favorable_value_that_nothing_has_a_use_for(options: Any, message: str) -> None:
    with pytest.raises(OutcomeError, match=message):
        Repairer("g", columns=["x"], blocks=2, favorable="v", **options).fit(pd.DataFrame(HAND))


def test_an_option_set_after_the_fit_is_checked_too() -> None:
    frame, repairer = pd.DataFrame(HAND), fitted()
    with pytest.raises(OptionError, match="amount=7: expected"):
        repairer.set_params(amount=7).transform(frame)
    with pytest.raises(OptionError, match="method='all': expected"):
        repairer.set_params(amount=1, method="all").explain(frame.iloc[:1])


@pytest.mark.parametrize(
    ("option", "value", "fitted_value"),
    [("scope", "column", "'blocks'"), ("blocks", 3, 2), ("variety", 2, 1), ("beta", 0.3, 0.4)],
)
def test_blocks_cannot_change_after_the_fit(
    option: str, value: Any, fitted_value: Any, tmp_path: Path
) -> None:
    frame = pd.DataFrame(HAND)
    repairer = Repairer("g", columns=["x"], blocks=2, beta=0.4).fit(frame)
    repairer.set_params(**{option: value})
    message = f"{option}={value!r}: the repair was fitted with {fitted_value}; fit it again"
    with pytest.raises(OptionError, match=message):
        repairer.transform(frame)
    with pytest.raises(OptionError, match=message):
        repairer.save(tmp_path / "repair.json")
    with pytest.raises(OptionError, match=message):
        repairer.certificate()


@pytest.mark.parametrize(
    "change",
    [
        {"protected": "n"},
        {"bands": {"n": [2]}},
        {"columns": ["n"]},
        {"keep": "n"},
        {"favorable": 1},
        {"unknown": ["?"]},
        {"guide": object()},
        {"threshold": 0.9},
        {"confidence": 0.9},
        {"levels": 3},
        {"small": "pool"},
        {"ties": "mid"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_was_learned_from_cannot_change_without_a_new_fit(change: Any) -> None:
    frame = pd.DataFrame(HAND)
    repairer = fitted().set_params(**change)
    message = rf"{next(iter(change))}=.*: the repair was fitted with .*; fit it again"
    with pytest.raises(OptionError, match=message):
        repairer.transform(frame)


def test_an_option_with_an_equal_value_is_no_change() -> None:
    frame = pd.DataFrame(HAND)
    repairer = fitted()
    before = repairer.transform(frame)
    columns = repairer.columns
    again = repairer.set_params(columns=type(columns)(columns), unseen="keep").transform(frame)
    assert again.equals(before)


# --- columns ---


@MAKERS
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["y"], r"columns: no column 'y' .columns: 'x', 'n', 't', 'g'"),
        (["gg"], r"columns: no column 'gg'; did you mean 'g'\?"),
        (["x", "g"], r"columns: 'g' is what the strata are made of; it cannot be repaired"),
        ([], r"columns: name at least one column to repair"),
        ({"t": "number"}, r"column 't': expected numbers, found 'u', 'v'; convert the column"),
        ({"t": ["u"]}, r"columns={'t': .*: the order lacks 'v'"),
        ({"t": ["u", "v", "u"]}, r"columns={'t': .*: the order names a category twice"),
        ({"t": "sorted"}, r"columns: 't' is to be repaired as 'sorted'; expected 'number'"),
        ({"x": "category"}, r"columns: 'x' holds 1.0 among its categories; expected text"),
    ],
)
def test_a_column_that_cannot_be_repaired_so_is_named(make: Any, asked: Any, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        Repairer("g", columns=asked).fit(make(HAND))


@pytest.mark.parametrize("asked", [[2], ["x"], [-1]])
def test_a_place_that_is_not_in_the_array_is_named(asked: Any) -> None:
    with pytest.raises(ColumnError, match=r"columns: no column .* .columns: '0', '1'"):
        Repairer(columns=asked).fit(VALUES, protected=GROUP)


def test_an_array_holds_numbers_only() -> None:
    with pytest.raises(ColumnError, match="columns: 0 as 'category': an array holds numbers only"):
        Repairer(columns={0: "category"}).fit(VALUES, protected=GROUP)


@MAKERS
@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_which_columns_are_repaired_must_be_known(make: Any, scope: Any) -> None:
    message = r"columns: which columns to repair is not known; name them, .* or name the outcome"
    with pytest.raises(ColumnError, match=message):
        Repairer("g", scope=scope).fit(make(HAND))


@MAKERS
def test_dates_are_repaired_by_blocks_only(make: Any) -> None:
    days = [dt.datetime(2020, 1, day + 1) for day in range(ROWS)]
    message = "columns: 'x' holds dates, which are repaired by blocks only; leave it out, or give"
    with pytest.raises(ColumnError, match=message):
        Repairer("g", columns=["x"], scope="column").fit(make(columns(x=days)))
    out = Repairer("g", columns=["x"], blocks=2).fit_transform(make(columns(x=days)))
    written = {*(out["x"].to_pylist() if make is pa.table else out["x"].to_list())}
    assert len(written) == 2
    assert written <= {*days}


@MAKERS
@pytest.mark.parametrize("scope", [{"blocks": 2}, {"scope": "column"}], ids=["blocks", "column"])
def test_some_columns_are_repaired_only_if_they_are_named(make: Any, scope: dict[str, Any]) -> None:
    many = 5 * ROWS
    table = {name: values * 5 for name, values in HAND.items() if name != "n"} | {
        "day": [dt.datetime(2020, 1, 1) + dt.timedelta(days=day) for day in range(many)],
        "text_day": [f"2020-01-{row % 28 + 1:02d}" for row in range(many)],
        "applicant": [f"name {row}" for row in range(many)],
        "id": [7 * row for row in range(many)],
        "sex": ["F", "M"] * (many // 2),
        "hired": [0, 0, 1] * (many // 3),
    }
    by_default = Repairer("g", keep="hired", **scope).fit(make(table))
    assert [each.name for each in by_default.column_types_] == ["x", "t"]
    named = Repairer("g", columns=["sex", "id"], keep="hired", **scope)
    assert [each.name for each in named.fit(make(table)).column_types_] == ["sex", "id"]
    with pytest.raises(ColumnError, match="columns: 'hired' is the outcome that is kept; leave it"):
        Repairer("g", columns=["x", "hired"], keep="hired", **scope).fit(make(table))


def test_dates_in_an_array_are_no_column_to_repair() -> None:
    days = np.arange(ROWS).astype("datetime64[D]")[:, None]
    with pytest.raises(ValueError, match="datetime64"):
        Repairer().fit(days, protected=GROUP)


@MAKERS
def test_texts_that_are_no_categories_are_refused(make: Any) -> None:
    names = {"x": [f"name {place}" for place in range(1_001)], "g": ["a"] * 501 + ["b"] * 500}
    with pytest.raises(ColumnError, match=r"'x' has 1,001 different texts, more than 1,000.*leave"):
        Repairer("g", columns=["x"]).fit(make(names))


@MAKERS
@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_whole_numbers_that_floats_cannot_hold_are_refused(make: Any, scope: Any) -> None:
    big = [2**60 + place for place in range(ROWS)]
    with pytest.raises(ColumnError, match=r"'n': holds whole numbers beyond 2\*\*53.*identifier"):
        Repairer("g", columns=["n"], scope=scope).fit(make(columns(n=big)))


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_whole_numbers_that_floats_cannot_hold_are_refused_in_arrays(scope: Any) -> None:
    with pytest.raises(ColumnError, match=r"column 1: holds whole numbers beyond 2\*\*53"):
        Repairer(scope=scope).fit(np.array([[1, -(2**60)]] * ROWS), protected=GROUP)


@MAKERS
def test_a_table_without_columns_to_repair_is_refused(make: Any) -> None:
    with pytest.raises(ColumnError, match="columns: there is no column to repair but the strati"):
        Repairer("g", keep="t").fit(make({"g": HAND["g"], "t": HAND["t"]}))


# --- values ---


@MAKERS
@pytest.mark.parametrize("odd", [float("inf"), float("-inf")])
@pytest.mark.parametrize("scope", [{"blocks": 2}, {"scope": "column"}], ids=["blocks", "column"])
def test_infinities_are_named_with_their_row(make: Any, odd: float, scope: dict[str, Any]) -> None:
    bad = make(columns(x=[*HAND["x"][:7], odd, *HAND["x"][8:]]))
    message = "column 'x': row 7 is infinite; expected finite numbers; make it missing, or leave"
    with pytest.raises(ColumnError, match=message):
        Repairer("g", columns=["x"], **scope).fit(bad)
    repairer = Repairer("g", columns=["x"], **scope).fit(make(HAND))
    with pytest.raises(ColumnError, match=message):
        repairer.transform(bad)


def test_infinities_are_found_beside_missing_values() -> None:
    bad = VALUES.copy()
    bad[0, 0], bad[3, 0] = np.nan, np.inf
    with pytest.raises(ColumnError, match="column 0: row 3 is infinite"):
        Repairer().fit(bad, protected=GROUP)


@MAKERS
@pytest.mark.parametrize("name", ["x", "t"])
def test_a_column_that_is_missing_in_a_stratum_is_named(make: Any, name: str) -> None:
    gone = make(columns(**{name: [None] * 3 + HAND[name][3:6] + HAND[name][6:]}))
    message = f"column '{name}': fewer than 4 values .* in a stratum: 'a' has 3; leave the column"
    with pytest.raises(ColumnError, match=message):
        Repairer("g", columns=NAMES, scope="column").fit(gone)
    all_gone = make(columns(**{name: HAND[name][:6] + [None] * 6}))
    with pytest.raises(ColumnError, match=message.replace("'a' has 3", "'b' has 0")):
        Repairer("g", columns=NAMES, scope="column").fit(all_gone)


@MAKERS
def test_a_text_that_differs_in_most_rows_is_an_identifier(make: Any) -> None:
    table = {"t": [f"u{row % 21}" for row in range(41)], "g": ["a", "b"] * 20 + ["a"]}
    message = "columns: 't' has 21 different texts in 41 rows: an identifier, .*, without it"
    with pytest.raises(ColumnError, match=message):
        Repairer("g", columns=["t"]).fit(make(table))
    for asked in ("category", [f"u{place}" for place in range(21)]):
        repairer = Repairer("g", columns={"t": asked}, blocks=2).fit(make(table))
        assert repairer.column_types_[0].categories
    enough = {name: own + own[-1:] for name, own in table.items()}
    repairer = Repairer("g", columns=["t"], blocks=2).fit(make(enough))
    assert repairer.column_types_[0].kind == "category"


@MAKERS
def test_a_category_that_was_not_fitted_is_named(make: Any) -> None:
    message = (
        "'t': 'w' is not one of the categories 'u', 'v'; leave these rows out, or fit with them"
    )
    with pytest.raises(ColumnError, match=message):
        fitted().transform(make(columns(t=["u", "w"] * 6)))


@MAKERS
@pytest.mark.parametrize(
    "changed",
    [
        {"x": ["one"] * ROWS},
        {"x": [True] * ROWS},
        {"t": list(range(ROWS))},
        {"t": [True] * ROWS},
    ],
)
def test_a_column_that_changed_its_type_is_named(make: Any, changed: Any) -> None:
    with pytest.raises(ColumnError, match=r"column '.': expected .*, found"):
        fitted().transform(make(columns(**changed)))


# --- tables ---


@pytest.mark.parametrize("lazy", [pl.DataFrame(HAND).lazy()])
def test_a_lazy_frame_is_to_be_collected(lazy: Any) -> None:
    with pytest.raises(
        TableError, match="X: the rows of a LazyFrame are not in memory; collect it into"
    ):
        Repairer("g").fit(lazy)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("people.csv", "people.csv"),
        (Path("people.csv"), "people.csv"),
        (fourfifths.datasets.load("ricci"), "a Dataset"),
        (fourfifths.read_table("ricci"), "a Table"),
    ],
)
def test_a_file_is_to_be_read_first(source: Any, name: str) -> None:
    expected = f"X: {name}: expected a dataframe or an array; read the rows into a dataframe first"
    with pytest.raises(TableError, match=expected):
        Repairer("race").fit(source)
    with pytest.raises(TableError, match=expected):
        fitted().transform(source)


@MAKERS
def test_no_rows_make_no_strata(make: Any) -> None:
    empty = make(HAND)[:0] if make is not pa.table else make(HAND).slice(0, 0)
    with pytest.raises(GroupError, match="'g': the column holds nothing but missing values"):
        Repairer("g").fit(empty)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[1, 2], [3]], "inhomogeneous shape"),
        ([1, 2, 3], "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (None, "Expected 2D array"),
        (np.array([["a"], ["b"]]), "not compatible with arrays of bytes/strings"),
        (VALUES.astype(complex), "Complex data not supported"),
        (np.zeros((0, 2)), r"0 sample.s. .* minimum of 2"),
        (np.zeros((2, 0)), r"0 feature.s. .* minimum of 1"),
        (pd.Series([1, 2, 3]), "Expected a 2-dimensional container"),
    ],
)
def test_what_is_no_table_is_refused_in_the_words_of_scikit_learn(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Repairer().fit(given, protected=["a", "b"])


@MAKERS
def test_columns_that_were_not_fitted_are_named(make: Any) -> None:
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- x"):
        fitted().transform(make({name: HAND[name] for name in "ntg"}))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- y"):
        fitted().transform(make(columns(y=HAND["x"])))


def test_a_name_that_is_there_twice_is_named() -> None:
    twice = pd.DataFrame(VALUES, columns=["x", "x"])
    with pytest.raises(TableError, match=r"(?s)X: a column name occurs twice: .*'x'"):
        Repairer().fit(twice, protected=GROUP)


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning")
def test_frames_and_arrays_may_follow_each_other() -> None:
    frame = pd.DataFrame(VALUES, columns=["x", "n"])
    options: dict[str, Any] = {"scope": "column"}
    expected = Repairer(**options).fit_transform(VALUES, protected=GROUP)
    by_frame = Repairer(columns=["x", "n"], **options).fit(frame, protected=GROUP)
    assert np.array_equal(by_frame.transform(VALUES, protected=GROUP), expected)
    by_array = Repairer(**options).fit(VALUES, protected=GROUP)
    assert np.array_equal(by_array.transform(frame, protected=GROUP), expected)
